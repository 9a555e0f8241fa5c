"""Write the equations as a C package, or for GPUs.

Public names: build.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli.options import Debug, Json, Model, Values, printed, written
from liaison.errors import NamingError
from liaison.verbs.registry import command


@command
def build(
    file: Model,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder; created if missing.")],
    target: Annotated[
        str,
        typer.Option(help="c: header, source, object; ptx: for GPUs; …: a wrong name lists all."),
    ] = "c",
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="forward, d_forward, …; all but derivatives without it."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Link a shared library too; needs a linker.")
    ] = False,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the equations of motion as a C package without dependencies, or as text for GPUs."""
    from liaison.cli.values import check_word, read_request
    from liaison.model.contacts import left_out
    from liaison.program.back_ends import BACK_ENDS
    from liaison.verbs.derive import compile as verb

    targets = BACK_ENDS.targets
    check_word("--target", target, targets)
    chosen = targets[target]
    if shared and not chosen.links:
        linked = " or ".join(name for name, one in targets.items() if one.links)
        message = f"a library is linked with --target {linked} only."
        raise typer.BadParameter(message, param_hint="--shared")
    mechanism = read_request(file, values).mechanism
    program = verb.compile(mechanism).program
    for name in entry or ():
        if name not in program.entries and name not in chosen.extra:
            unknown = NamingError.unknown("entry", name, program.entries)
            raise typer.BadParameter(str(unknown), param_hint="--entry")
    free = left_out(mechanism.contacts)
    assert chosen.package is not None
    files = written(**chosen.package(program, out, entry or chosen.listed(program), shared))
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{program.name}:\n{text}" + (f"\n{free} {ENTRY_NOTE}" if free else "")
    facts: dict[str, Any] = {"sizes": dict(program.sizes), "note": f"{free} {ENTRY_NOTE}".strip()}
    printed((facts if free else {"sizes": facts["sizes"]}) | files, text, as_json)


ENTRY_NOTE = "The entry one_sided returns its gap, rates and rows."
