"""Pages of the reference made of the code: commands, units, errors, examples."""

from __future__ import annotations

import inspect
from pathlib import Path

from typer.main import get_command

from liaison import errors, units
from liaison.cli.entry import app, commands

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 88
BASES = ("m", "kg", "s", "rad", "cycle")


def cli_page() -> str:
    """Every command, with its help."""
    group = get_command(app)
    context = group.make_context("liaison", ["check"], resilient_parsing=True)
    context.terminal_width = context.max_content_width = WIDTH
    lines = ["# The command line", "", "```text", group.get_help(context), "```", ""]
    for name in commands():
        command = group.get_command(context, name)
        inner = type(context)(command, info_name=name, parent=context)
        inner.terminal_width = inner.max_content_width = WIDTH
        lines += [f"## liaison {name}", "", "```text", command.get_help(inner), "```", ""]
    return "\n".join(lines)


def dimension(unit: units.Unit) -> str:
    """The dimension of a unit in SI units, as m²·kg/s² is written: m^2*kg*s^-2."""
    powers = [(b, e) for b, e in zip(BASES, unit.dimension, strict=True) if e]
    return "*".join(b if e == 1 else f"{b}^{e}" for b, e in powers) or "1"


def units_page() -> str:
    """The units, with their factors."""
    lines = [
        "# Units",
        "",
        "Numbers are kept in SI units; other units are converted exactly where they are read. "
        "Units are combined with `*`, `/` and `^`: `kg*m^2/s`. Angles are pure numbers, so that "
        "`rad/s` and `1/s` agree; `Hz` counts cycles and is no angular velocity.",
        "",
        "| unit | in SI | dimension |",
        "|---|---|---|",
    ]
    for name, unit in units.UNITS.items():
        factor = f"{unit.factor}" + (" π" if unit.pi else "")
        lines.append(f"| `{name}` | {factor} | `{dimension(unit)}` |")
    lines += ["", "Other spellings lead to an error that names the unit:", ""]
    lines += ["| written | meant |", "|---|---|"]
    lines += [f"| `{word}` | `{meant}` |" for word, meant in units.OTHERS.items()]
    return "\n".join([*lines, ""])


REMEDIES = {
    "LiaisonError": "Catch this one to catch all of them.",
    "TextError": "Go to the line and column that the message names; `liaison check --json` lists "
    "all errors of a text, with edits that fix them.",
    "NamingError": "The message proposes the nearest declared name and lists what is declared.",
    "OptionError": "The message lists the keywords that the function takes.",
    "ArgumentError": "Pass a value of the kind that the message names.",
    "ModelError": "Change the description; `liaison check --explain` shows what was deduced.",
    "FrameError": "Express both quantities in the same frame first.",
    "AssemblyError": "Give a `guess` nearer to a closed position, or check the lengths; "
    "`liaison assemble FILE --all` lists every assembly mode.",
    "DerivationError": "Choose another formalism; the message says which condition is not met.",
    "ProgramError": "Install the back end that the message names, or choose another.",
    "MissingModule": "Install the extra that the message names, as `pip install "
    "'liaison-mbd[plots]'`.",
    "SimulationError": "`error.trajectory` holds the run up to `error.t`; a stiff model needs "
    "`method=\"radau\"`, a singular position other coordinates.",
    "ReadingWarning": "Read what is not used; `liaison.reading(file).notes` holds all notes.",
    "Interrupted": "`stop.trajectory` holds what was computed.",
}  # fmt: skip
"""What one does about each."""


def errors_page() -> str:
    """The errors by name."""
    lines = [
        "# Errors by name",
        "",
        "Every error says what was found, where, why it cannot be and how to fix it. Attributes "
        "of all of them: `message`, `place` (file, line, column), `hint`, `cure` (an edit of the "
        "text) and `also` (further errors of the same text). Commands end with status 1 and print "
        "the same; with `--json` as an object.",
        "",
    ]
    for name, remedy in REMEDIES.items():
        kind = getattr(errors, name)
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        doc = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
        lines += [f"## {name}", "", doc, "", f"A kind of {bases}. {remedy}", ""]
    return "\n".join(lines)


def examples_page() -> str:
    """Every example of the language, as text."""
    lines = [
        "# Examples",
        "",
        "The mechanisms in the folder `examples`. Each is checked and simulated by the tests.",
        "",
    ]
    for path in sorted((ROOT / "examples").glob("*.lsd")):
        text = path.read_text(encoding="utf-8").strip()
        lines += [f"## {path.stem}", "", f"`examples/{path.name}`", "", "```lsd", text, "```", ""]
    return "\n".join(lines)


MADE = {
    "reference/cli.md": cli_page,
    "reference/units.md": units_page,
    "reference/errors.md": errors_page,
    "reference/examples.md": examples_page,
}
"""Place of a page -> the function that writes it."""


def reference_pages() -> dict[str, str]:
    """Place -> text of every page."""
    return {place: write() for place, write in MADE.items()}
