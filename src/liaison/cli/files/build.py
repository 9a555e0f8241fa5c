"""Write the equations as C, as FMU, for GPUs or browsers.

Public names: build.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli.options import Debug, Json, Model, Values, printed, written
from liaison.errors import NamingError
from liaison.verbs.registry import command


@command
def build(
    file: Model,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Output folder, created if missing; NAME.fmu of an FMU."),
    ],
    target: Annotated[
        str,
        typer.Option(
            help="c: header, source, object; ptx: for GPUs; wasm: a module that simulates; fmu2, "
            "fmu3: for other simulators; …: a wrong name lists all."
        ),
    ] = "c",
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="forward, d_forward, …; all but derivatives without it."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Link a shared library too; needs a linker.")
    ] = False,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="wasm, fmu: when runs end; 10 s.")
    ] = None,
    step: Annotated[
        str | None, typer.Option(metavar="TIME", help="wasm, fmu: fixed step; adaptive without it.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="wasm, fmu: method of integration, as for simulate.")
    ] = None,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the equations of motion as a C package without dependencies, as text for GPUs, with
    their time loop as a module that simulates in a browser, or as an FMU for other simulators.
    """
    from liaison.cli.values import check_word, read_request
    from liaison.model.contacts import left_out
    from liaison.program.back_ends import BACK_ENDS
    from liaison.verbs.derive import compile as verb

    targets = BACK_ENDS.targets
    check_word("--target", target, [*targets, *FMUS])
    of_runs = {"until": until, "step": step, "method": method}
    named = {name: x for name, x in of_runs.items() if x is not None}
    if target in FMUS:
        if entry or shared:
            raise typer.BadParameter("an FMU has all entries, and its libraries.",
                                     param_hint="--entry" if entry else "--shared")  # fmt: skip
        _build_fmu(read_request(file, values, may_vary=True), out, target, named, as_json)
        return
    chosen = targets[target]
    if shared and not chosen.links:
        linked = " or ".join(name for name, one in targets.items() if one.links)
        message = f"a library is linked with --target {linked} only."
        raise typer.BadParameter(message, param_hint="--shared")
    if chosen.simulates and not entry:
        _build_run(read_request(file, values, may_vary=True), out, named, as_json)
        return
    for name in named:
        raise typer.BadParameter("it is of a target that simulates: --target wasm, without "
                                 "--entry, fmu2 or fmu3.", param_hint=f"--{name}")  # fmt: skip
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


def _build_run(request: Any, out: Path, options: dict[str, Any], as_json: bool) -> None:
    """Writes a module that simulates, with the script that runs it."""
    from liaison.cli.values import seconds
    from liaison.simulation.live.package import live_package
    from liaison.verbs.motion.live_module import live_module

    name = request.mechanism.name
    for time in ("until", "step"):
        if time in options:
            options[time] = seconds(f"--{time}", options[time])
    module = live_module(request.mechanism, inputs=request.inputs or None, **options)
    files = written(**live_package(module, name, out))
    size = {"bytes": len(module), "compressed": len(gzip.compress(module, 9))}
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{name}: {size['compressed'] / 1000:.1f} kB compressed\n{text}"
    printed(size | files, text, as_json)


def _build_fmu(
    request: Any, out: Path, target: str, options: dict[str, Any], as_json: bool
) -> None:
    """Writes an FMU."""
    from liaison.cli.values import seconds
    from liaison.fmi.archive import identifier
    from liaison.verbs.derive.to_fmu import to_fmu

    for time in ("until", "step"):
        if time in options:
            options[time] = seconds(f"--{time}", options[time])
    mechanism = request.mechanism
    path = out if out.suffix == ".fmu" else out / f"{identifier(mechanism.name)}.fmu"
    done = to_fmu(mechanism, path, version=FMUS[target], inputs=request.inputs or None, **options)
    files = written(fmu=done.path)
    facts = {"version": done.version, "bytes": done.size, "variables": done.variables,
             "token": done.token, "files": dict(done.files)}  # fmt: skip
    rows = "\n".join(f"  {size:9} {name}" for name, size in done.files.items())
    text = f"{mechanism.name}: FMI {done.version}, {done.size / 1000:.1f} kB, {done.path}\n{rows}"
    printed(facts | files, text, as_json)


FMUS = {"fmu2": "2.0", "fmu3": "3.0"}
"""Targets that are versions of FMI."""

ENTRY_NOTE = "The entry one_sided returns its gap, rates and rows."
