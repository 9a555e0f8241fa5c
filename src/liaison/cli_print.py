"""The verbs that write a mechanism or its equations as files: format, build.

Public names: format_, build.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli_options import (
    Debug,
    Floating,
    Json,
    Lenient,
    Merged,
    Model,
    Values,
    printed,
    written,
)
from liaison.errors import NamingError


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
    from liaison.cli_values import check_folders, reader_options
    from liaison.formats import reading
    from liaison.formats.lsd_write import write_lsd

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
    target: Annotated[
        str,
        typer.Option(help="c: header, source, object; ptx: for GPUs; …: a wrong name lists all."),
    ] = "c",
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
    from liaison.cli_values import asked, check_word
    from liaison.model.contacts import left_out
    from liaison.program.back_ends import BACK_ENDS

    targets = BACK_ENDS.targets
    check_word("--target", target, targets)
    chosen = targets[target]
    if shared and not chosen.links:
        linked = " or ".join(name for name, one in targets.items() if one.links)
        message = f"a library is linked with --target {linked} only."
        raise typer.BadParameter(message, param_hint="--shared")
    mechanism = asked(file, values).mechanism
    program = corridor.compile(mechanism).program
    for name in entry or ():
        if name not in program.entries and name not in chosen.extra:
            unknown = NamingError.unknown("entry", name, program.entries)
            raise typer.BadParameter(str(unknown), param_hint="--entry")
    free = left_out(mechanism.contacts)
    assert chosen.package is not None
    files = written(**chosen.package(program, out, entry or chosen.listed(program), shared))
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{program.name}:\n{text}" + (f"\n{free} {TELLS}" if free else "")
    facts: dict[str, Any] = {"sizes": dict(program.sizes), "note": f"{free} {TELLS}".strip()}
    printed((facts if free else {"sizes": facts["sizes"]}) | files, text, as_json)


TELLS = "The entry one_sided tells its gap, rates and rows."
