"""Writes docs/documents.md: what the five French documents describe, row by row, with a command.

python docs/seed_rows.py          (or: make docs)

Each row is a command of `liaison`, run here, and those lines of what it prints that show the row.
`--only D1,E6` runs these and prints them, and writes nothing.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from liaison.cli import main as liaison

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "documents.md"
LONGEST = 150
"""Characters of a printed line; what is longer is cut."""

HEAD = """# The documents, row by row

Five French documents describe one system: **NS** non-serial systems, **DC** constrained dynamics
(Pontonnier), **LL** multibody modelling (Llibre), **PA** formal tools (Papegay, 1992), **SK**
unilateral differential constraints (Salnikova and Kugushev). This page lists what they describe,
with one command for each row and lines of what it prints (~0 is a rounding error); `make docs` runs
all of them and writes it. What is wrong in the documents is in [errata](errata.md);
[python](python.md) has the functions behind the commands.

"""


@dataclass(frozen=True)
class Row:
    """One thing that the documents describe.

    Attributes:
        key: of the row.
        what: it is, with its place in the documents.
        command: words behind `liaison`; several with " && " between them.
        shows: patterns, in the order of the output; of each, the first line that it fits is shown,
            or of that its group.
        page: of docs/ that explains it.
    """

    key: str
    what: str
    command: str
    shows: tuple[str, ...]
    page: str


WAYS = ("augmented", "schur", "null_space", "pseudo_inverse", "partition", "projector")
"""Ways in which `solutions` solves the constrained system."""

ROWS = (
    # Describe
    Row("D1", "LSD, the language; the satellite as printed (PA)",
        "check docs/cases/satellite_printed.lsd", ("4 bodies", "parameters", "inputs"), "lsd.md"),
    Row("D2", "the compiled form: declared, deduced, unknown (PA)",
        "check docs/cases/satellite_printed.lsd --explain",
        ("declared  mass = 0", "it has no mass", "unknown .reflecteur.iframe.z",
         "unknown law .satellite"), "lsd.md"),
    Row("D3", "joint catalogue (PA; LL 4.5)", "check examples/double_wishbone.lsd --explain",
        ("by B ", "by W ", "joint 'C'", "joint 'T'"), "lsd.md"),
    Row("D4", "attitudes: Euler, Bryant, quaternion, matrix (PA; LL 4.2.2)",
        "motion examples/cases/free_body.lsd --until 1 --attitude bryant",
        ("(solid.angle_x +rad)", r"(solid.angle_y +rad +\S+ +\S+)", "(solid.angle_z +rad)"),
        "theory/tree.md"),
    Row("D5", "loads: springs, wrenches, laws; potentials V(q, q̇, t) (LL 2.2.3, 4.2.3; DC)",
        "check examples/quarter_car.lsd"
        " && derive docs/cases/charged_particle.lsd --own --formalism hamilton",
        ("forces", "H = ", "p_P.x = "), "theory/formalisms.md"),
    Row("D6", "motors with transmissions and rotors (LL 3.2)", "motors examples/geared_arm.lsd",
        ("elbow_motor", "M33", "Q A'"), "theory/motors.md"),
    Row("D7", "motion in explicit time: imposed, or in a joint's own motions (LL 2.2.7, 4.2)",
        "derive docs/cases/turning_frame.lsd --formalism lagrange",
        (r"R\.dof1:", r"R\.s:", "Painlevé"), "theory/tree.md"),
    Row("D8", "relations beyond joints, bilateral and unilateral (NS; LL 1.5; SK)",
        "check examples/chaplygin_unilateral.lsd", ("unilateral", "entry"),
        "theory/unilateral.md"),
    # Analyse
    Row("A1", "topology: graph, spanning tree, loops, Grübler (DC; PA)",
        "check examples/four_bar.lsd --explain",
        ("closures", "mobility", "by A ", "C: force along x"), "theory/tree.md"),
    Row("A2", "mobility on the variety; the double antenna mesh (PA)",
        "mobility examples/antenna_double.lsd", ("finite mobility", "rank 14", "Why"),
        "theory/mobility.md"),
    Row("A3", "standard bases, syzygies, Hilbert function, Ψ (PA)",
        "standard_basis X^5 'X^3*Y - Y^2' --divide 'X^6*Y^3 + X^5*Y - X^2*Y^2'"
        " && psi examples/slider_crank.lsd",
        (r"^ +X\^5$", r"X\^3\*Y - Y\^2$", r"^ +X\^2\*Y\^2$", r"^ +Y\^3$", "Hilbert",
         "by the basis", "columns"), "theory/mobility.md"),
    Row("A4", "elimination with cases (PA, gausselim)",
        "gausselim '[[x(t),1,0],[0,0,1],[1,y,1]]'", ("≠ 0: rank", "= 0: rank 2", "^x.t. = 0"),
        "theory/virtual_power.md"),
    Row("A5", "redundant constraints named; singular positions (LL 1.5.2, 4.4.1)",
        "mobility examples/four_bar.lsd && singular examples/slider_crank.lsd",
        ("redundant", "Not determined", "redundancy goes", "dead point of x", "rank drops"),
        "theory/mobility.md"),
    Row("A6", "first integrals (LL 1.3.4, 2.2.7–2.2.9)",
        "derive examples/elliptic_pendulum.lsd --formalism lagrange",
        ("energy:", "momentum of y"), "theory/first_integrals.md"),
    Row("A7", "mass geometry: I, P, Huygens, principal frame, ellipsoid (LL 1.4)",
        "inertia examples/pendulum.lsd --point 0,0,0 --direction 0,1,0",
        ("center", "I about it", "I at point", "ellipsoid", "axis "), "theory/spatial.md"),
    Row("A8", "torsors, and the general theorems as checks on a run (LL 1.2, 1.3)",
        "torsors examples/double_pendulum.lsd --start \"A=0.3 rad\" --start \"A'=2\""
        " && verify examples/double_pendulum.lsd",
        ("^all", "kinetic ", "dynamic ", "every theorem"), "theory/spatial.md"),
    Row("A9", "direct and inverse kinematics, all assembly modes (PA)",
        "assemble examples/four_bar.lsd --all --at 'A=90 deg'",
        ("2 assembly", "mode 1", "mode 2", "proved over"), "theory/mobility.md"),
    # Equations
    Row("E1", "formalisms, proved equal; virtual power of a part (PA; LL 2)",
        "derive examples/double_pendulum.lsd --compare"
        " && virtual_power examples/pendulum.lsd --velocity \"A'\"",
        ("proved equal", "inertia =", "gravity ="), "theory/formalisms.md"),
    Row("E2", "the satellite in each formalism (PA)", "derive examples/satellite.lsd --compare",
        ("proved equal",), "theory/satellite.md"),
    Row("E3", "parametrizations: strict, joint, full joint, Cartesian (NS)",
        "parametrizations examples/slider_crank.lsd",
        ("minimal", "parameters", "algebraic constraints"), "theory/parametrizations.md"),
    Row("E4", "the generation algorithm, Ψ breadth first (PA)",
        "derive examples/four_bar.lsd --steps", (r"\(6\)", "Ψ = ", "M = ", r"\(8\)"),
        "theory/generation.md"),
    Row("E5", "levels of detail: vectors, matrices, scalars (PA)",
        "derive examples/double_pendulum.lsd --level vector --body upper --body lower"
        " --expand 'gamma(G2)'", (r"m₁ g \+ m₂ g",), "theory/algebra.md"),
    Row("E6", "formal algebra: vectors, tildes, inverses, quaternions; ULYSSE (PA)",
        "rewrite examples/ulysse.alg --expression 'In10 In10^-1' --expression '(In10^-1)^T In10^T'",
        ("= 0$", "^In₁₀ In₁₀", "ᵀ In₁₀ᵀ"), "theory/algebra.md"),
    Row("E7", "structure M q̈ + B, Christoffel symbols (LL 3.1)",
        "derive examples/double_pendulum.lsd --formalism lagrange",
        ("M₁₁", "C₁₁", "C₁₂", "G₁"), "theory/formalisms.md"),
    Row("E8", "generated code (PA)", "derive examples/pendulum.lsd --format c",
        ("pendulum, by", r"(void \w*forward.double t)"), "house.md"),
    Row("E9", "a constraint eliminated, with a multiplier, or with its reaction (LL 2.2.10; PA)",
        "derive examples/pendulum.lsd --treat A=reaction --parametrization cartesian",
        (r"bar\.x:", r"bar\.y:", "X_A is"), "theory/parametrizations.md"),
    # Solve
    Row("S1", "recursive Newton–Euler with motors (LL 3.2.1)", "motors examples/geared_arm.lsd",
        ("Rotors", "shoulder_motor"), "theory/motors.md"),
    Row("S2", "Mampey's recursion for the mass matrix (LL 3.2.2; DC)",
        "motors examples/geared_arm.lsd", ("Mampey", "M21", "M22"), "theory/motors.md"),
    Row("S3", "the constrained system by every method (NS; DC; LL 4.4)",
        "solutions examples/four_bar.lsd",
        ("closure rows", *(rf"({way} +\S+ +\S+)" for way in WAYS)), "theory/solutions.md"),
    Row("S4", "dynamics in reduced form (NS)", "reduce examples/four_bar.lsd --independent A",
        ("independent velocities",), "theory/analysis.md"),
    Row("S5", "implicit and explicit constraints (DC)",
        "derive examples/four_bar.lsd --treat C=eliminate", ("velocities", "Ψ.B", "Ψ.D"),
        "theory/parametrizations.md"),
    Row("S6", "maximal coordinates; angles with turns counted (LL 4.5)",
        "derive examples/pendulum.lsd --parametrization cartesian"
        " && motion examples/slider_crank.lsd --until 2 --joint A",
        ("force along x", r"^A +rad "), "theory/maximal.md"),
    Row("S7", "stabilization: Baumgarte, projection (DC; LL 4.4.4)",
        "baumgarte examples/slider_crank.lsd --until 1",
        ("largest", "neither", "Baumgarte", "projection"), "theory/projection.md"),
    Row("S8", "attitudes integrated multiplicatively; Edwards' correction, Euler (LL 4.4.5)",
        "simulate examples/cases/free_body.lsd --until 1 --step '5 ms' --method edwards"
        " && simulate examples/cases/free_body.lsd --until 1 --step '5 ms' --method euler",
        (r"(\d+ steps, \d+ evaluations)", r"(energy .* at the end)", r"(energy .* at the end)"),
        "theory/integrators.md"),
    Row("S9", "contact, viscous and dry friction, stick and slip (LL 1.5.1)",
        "simulate examples/contact/stick_slip.lsd --until 2", ("contacts", "0.504", "0.911"),
        "theory/contacts.md"),
    Row("S10", "unilateral relations of rates; freedom from impact (SK 1, 2)",
        "check examples/degenerate_unilateral.lsd", ("unilateral  ", "warning"),
        "theory/unilateral.md"),
    Row("S11", "their realization by viscous friction (SK 3, 4)",
        "convergence examples/chaplygin_unilateral.lsd", ("unilateral friction", "falls like"),
        "theory/unilateral.md"),
    Row("S12", "worked cases: cylinder, elliptic pendulum, free body, ball (LL 2.2.10, 2.3)",
        "derive examples/cases/cylinder_multiplier.lsd --formalism lagrange"
        " && simulate examples/cases/cylinder_sliding.lsd --until 1",
        (r"J\.x:", r"J\.θ:", "Rx:", "turns at"), "errata.md"),
    # In the documents, and in no row
    Row("X1", "operators and rewriting rules of one's own (PA, ULYSSE)",
        "rewrite examples/own_operators.alg", ("star", "par", "u · par"), "theory/algebra.md"),
    Row("X2", "the compiled form as a file of assignments, read back (PA, LSD)",
        "derive examples/four_bar.lsd --assignments $OUT/four_bar.assign"
        " && evaluate $OUT/four_bar.assign --at 'A=90 deg'", ("written", "^mu = ", "^M = "),
        "theory/generation.md"),
    Row("X3", "terms that open one by one (PA, architecture); at a terminal: --interactive",
        "derive examples/pendulum.lsd --level vector --expand 'gamma(G1)'", (r"m₁ g \+ F\(A\)",),
        "theory/algebra.md"),
    Row("X4", "T₂, T₁, T₀ (LL 2.2.7)", "energy_parts docs/cases/turning_frame.lsd",
        ("functions of time", "T₂ =", "T₁ =", "T₀ ="), "theory/first_integrals.md"),
    Row("X5", "relations that are not linear in the rates, by Chetaev's rule (PA; NS)",
        "derive examples/cases/appell.lsd --formalism lagrange",
        (r"F\.x:", "thread:", "a choice"), "theory/closures.md"),
    Row("X6", "every tool on the command line (PA, architecture)", "--help",
        ("psi", "gausselim", "rewrite"), "python.md"),
)  # fmt: skip

GROUPS = {
    "D": "Describe",
    "A": "Analyse",
    "E": "Equations",
    "S": "Solve",
    "X": "Further",
}


def printed(row: Row) -> list[str]:
    """The lines of the row's commands that show it.

    Raises:
        RuntimeError: a command that fails, or a line that it does not print.
    """
    text = "".join(answer(words) for words in row.command.split(" && "))
    lines, waiting = [], text.splitlines()
    for pattern in row.shows:
        places = [k for k, line in enumerate(waiting) if re.search(pattern, line)]
        if not places:
            raise RuntimeError(f"{row.key}: no line of {row.command!r} has {pattern!r}:\n{text}")
        match = re.search(pattern, waiting[places[0]])
        assert match is not None
        lines.append(_cut(match[1] if match.groups() else waiting[places[0]]))
        waiting = waiting[places[0] + 1 :]
    return lines


def answer(command: str) -> str:
    """What a command prints, run in the root of the project."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            liaison(shlex.split(command.replace("$OUT", _folder())))
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"liaison {command}: {err.getvalue()}") from None
    finally:
        os.chdir(before)
    return out.getvalue()


@cache
def _folder() -> str:
    """One folder for the files of all commands, removed at the end."""
    kept = tempfile.TemporaryDirectory()
    atexit.register(kept.cleanup)
    return kept.name


def _cut(line: str) -> str:
    """One line: rounding errors as ~0, files without folders, no more than LONGEST characters."""
    line = " ".join(line.split())
    line = re.sub(r"(?<![\w.])\d(\.\d+)?e-(09|1\d)\b", "~0", line)
    line = re.sub(r"/\S*/(?=[\w.]+: written)", "", line)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def table_row(row: Row, lines: list[str]) -> str:
    """The row as Markdown."""
    commands = "<br>".join(_code(f"liaison {x}") for x in row.command.split(" && "))
    shown = "<br>".join(_code(x) for x in lines)
    link = f"[{Path(row.page).stem}]({row.page})"
    return f"| {row.key} | {row.what} ({link}) | {commands} | {shown} |"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def page(lines_of: dict[str, list[str]]) -> str:
    """The whole page."""
    parts = [HEAD.rstrip()]
    for letter, title in GROUPS.items():
        parts += ["", f"## {title}", "", "| | what | command | prints |", "|---|---|---|---|"]
        parts += [table_row(x, lines_of[x.key]) for x in ROWS if x.key[0] == letter]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Runs every command and writes the page; or only some, and prints them."""
    parser = argparse.ArgumentParser(description="The table of the documents' rows.")
    parser.add_argument("--only", default="", help="keys of rows, with commas")
    keys = [x for x in parser.parse_args().only.split(",") if x]
    if keys:
        for row in ROWS:
            if row.key in keys:
                print(row.key, *printed(row), sep="\n    ")
        return
    PAGE.write_text(page({row.key: printed(row) for row in ROWS}), encoding="utf-8")


if __name__ == "__main__":
    main()
