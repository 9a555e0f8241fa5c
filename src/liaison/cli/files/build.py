"""Write the equations as a C package, or for GPUs.

Public names: build.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liaison.cli.options import Debug, Json, Model, Values, printed, written
from liaison.errors import NamingError
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.program import Program


@command
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
    from liaison.cli.values import asked, check_word
    from liaison.model.contacts import left_out
    from liaison.program.package import c_package
    from liaison.verbs.derive import compile as verb

    check_word("--target", target, ("c", "ptx"))
    if shared and target != "c":
        raise typer.BadParameter("a library is linked with --target c only.", param_hint="--shared")
    mechanism = asked(file, values).mechanism
    program = verb.compile(mechanism).program
    for name in entry or ():
        if name not in program.entries and (target, name) != ("ptx", "march"):
            unknown = NamingError.unknown("entry", name, program.entries)
            raise typer.BadParameter(str(unknown), param_hint="--entry")
    free = left_out(mechanism.contacts)
    if target == "ptx":
        from liaison.program.to_ptx import ptx_package

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
