"""The verbs that write a mechanism or its equations as files: format, build.

Public names: format_, build.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_options import Debug, Floating, Json, Lenient, Merged, Model, Values, printed, written
from .errors import NamingError

if TYPE_CHECKING:
    from .program import Program


def format_(
    file: Model,
    out: Annotated[Path | None, typer.Option(metavar="FILE.lsd", help="Write there.")] = None,
    is_check: Annotated[
        bool, typer.Option("--check", help="Only say whether the file is in this form.")
    ] = False,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print a mechanism as canonical LSD, which reads back as the same mechanism."""
    from liaison.formats.lsd.write.write import write_lsd

    from .cli_values import check_folders, reader_options
    from .formats import reading

    check_folders(out)
    found = reading(file, **reader_options(file, lenient, floating, merge_fixed))
    text = write_lsd(found.mechanism)
    if is_check:
        same = file.read_text(encoding="utf-8") == text
        said = "is" if same else "is not"
        printed({"file": str(file), "canonical": same}, f"{file} {said} in canonical form", as_json)
        raise typer.Exit(0 if same else 1)
    if out:
        out.write_text(text, encoding="utf-8")
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    facts = {"text": text, "notes": list(found.notes)} | written(out=out)
    printed(facts, f"{out}: written" if out else text.rstrip("\n"), as_json)


def build(
    file: Model,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; made if missing.")],
    target: Annotated[str, typer.Option(help="c: header, source, object; ptx: for GPUs.")] = "c",
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="forward, d_forward, …; all but derivatives if none."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Link a shared library too; needs a linker.")
    ] = False,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the equations of motion as a C package without dependencies, or as text for GPUs."""
    from liaison import corridor
    from liaison.model.contacts import left_out
    from liaison.program.gpu.to_ptx import ptx_package

    from .cli_values import asked, check_word
    from .program import c_package

    check_word("--target", target, ("c", "ptx"))
    if shared and target != "c":
        raise typer.BadParameter("a library is linked with --target c only.", param_hint="--shared")
    mechanism = asked(file, values).mechanism
    program = corridor.compile(mechanism).program
    for name in entry or ():
        if name not in program.entries and (target, name) != ("ptx", "march"):
            unknown = NamingError.unknown("entry", name, program.entries)
            raise typer.BadParameter(str(unknown), param_hint="--entry")
    free = left_out(mechanism.contacts)
    if target == "ptx":
        whole = ("forward", "inverse", "one_sided" if free else "march")
        files = written(**ptx_package(program, out, entry or whole))
    else:
        made = c_package(program, out, entry or _listed(program), shared=shared)
        files = written(
            header=made.header, source=made.source, object=made.object, library=made.library
        )
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{program.name}:\n{text}" + (f"\n{free} {TELLS}" if free else "")
    facts: dict[str, Any] = {"sizes": dict(program.sizes), "note": f"{free} {TELLS}".strip()}
    printed((facts if free else {"sizes": facts["sizes"]}) | files, text, as_json)


TELLS = "The entry one_sided tells its gap, rates and rows."


def _listed(program: Program) -> list[str]:
    """Every entry that gives something, and what is one-sided, which solves nothing by itself."""
    known = [*program.entries, *(["one_sided"] if program.facts.get("sides") else [])]
    return [name for name in known if program.entry(name).outputs]
