"""Print a mechanism as canonical LSD.

Public names: format_.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import Call, with_options, written
from liaison.verbs.registry import command


@command
@with_options
def format_(
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.lsd", help="Write to this file.")
    ] = None,
    is_check: Annotated[
        bool, typer.Option("--check", help="Only check whether the file is canonical.")
    ] = False,
    call: Call,
) -> None:
    """Print a mechanism as canonical LSD, which reads back as the same mechanism."""
    from liaison.cli.values import check_folders, reader_options
    from liaison.formats.lsd.write.write import write_lsd
    from liaison.formats.read import reading

    check_folders(out)
    file = call.file
    content = reading(file, **reader_options(file, call.robot))
    text = write_lsd(content.mechanism)
    if is_check:
        same = file.read_text(encoding="utf-8") == text
        verb = "is" if same else "is not"
        call.answer({"file": str(file), "canonical": same}, f"{file} {verb} in canonical form")
        raise typer.Exit(0 if same else 1)
    if out:
        from liaison.simulation.record.files import write_file

        write_file(out, text)
    for note in content.notes:
        print(f"note: {note}", file=sys.stderr)
    facts = {"text": text, "notes": list(content.notes)} | written(out=out)
    call.answer(facts, f"{out}: written" if out else text.rstrip("\n"))
