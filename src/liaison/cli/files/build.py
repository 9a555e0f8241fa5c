"""Write the equations as C, as FMU, for GPUs or browsers.

Public names: build.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli.options import Call, WithValues, with_options, written
from liaison.errors import LiaisonError, NamingError
from liaison.verbs.registry import command


@command
@with_options
def build(
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Output folder, created if missing; NAME.fmu of an FMU."),
    ],
    target: Annotated[
        str,
        typer.Option(
            help="c: header, source, object; portable: the same, with the same bits everywhere; "
            "ptx: for GPUs; wasm: a module that simulates; fmu2, fmu3: for other simulators; "
            "…: a wrong name lists all."
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
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="single|double",
            help="c: a step of fixed cost for small machines, with closures, in this precision.",
        ),
    ] = None,
    no_libm: Annotated[
        bool, typer.Option("--no-libm", help="With --precision: no function of libm is called.")
    ] = False,
    corrections: Annotated[
        int, typer.Option(metavar="N", help="With --precision: corrections of closures in a step.")
    ] = 1,
    call: WithValues,
) -> None:
    """Write the equations of motion as a C package without dependencies, as text for GPUs, with
    their time loop as a module that simulates in a browser, or as an FMU for other simulators.
    """
    from liaison.cli.values import check_word
    from liaison.program.back_ends import BACK_ENDS

    check_word("--target", target, [*BACK_ENDS.targets, *FMUS])
    of_runs = {"until": until, "step": step, "method": method}
    named = {name: x for name, x in of_runs.items() if x is not None}
    if precision is None and (no_libm or corrections != 1):
        name = "--no-libm" if no_libm else "--corrections"
        raise typer.BadParameter("it belongs to a step: --precision.", param_hint=name)
    if target in FMUS:
        _check_fmu(entry, shared, precision)
        _build_fmu(call, out, target, named)
    elif precision is not None:
        _check_step(target, entry, shared, precision)
        options = {"precision": precision, "libm": not no_libm, "iterations": corrections}
        _build_step(call, out, options)
    elif BACK_ENDS.targets[target].simulates and not entry:
        _check_linked(target, shared)
        _build_run(call, out, named)
    else:
        _check_linked(target, shared)
        for name in named:
            raise typer.BadParameter("it is of a target that simulates: --target wasm, without "
                                     "--entry, fmu2 or fmu3.", param_hint=f"--{name}")  # fmt: skip
        _build_code(call, out, target, entry, shared)


def _check_linked(target: str, shared: bool) -> None:
    """Raises where a library is asked for that the target does not link."""
    from liaison.program.back_ends import BACK_ENDS

    if shared and not BACK_ENDS.targets[target].links:
        linked = " or ".join(name for name, one in BACK_ENDS.targets.items() if one.links)
        message = f"a library is linked with --target {linked} only."
        raise typer.BadParameter(message, param_hint="--shared")


def _build_code(call: Call, out: Path, target: str, entry: list[str] | None, shared: bool) -> None:
    """Writes entries as code: C, portable C, PTX, …"""
    from liaison.model.contacts import left_out
    from liaison.program.back_ends import BACK_ENDS
    from liaison.verbs.derive import compile as verb

    mechanism = call.request().mechanism
    chosen = BACK_ENDS.targets[target]
    program = _with_start(verb.compile(mechanism))
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
    call.answer((facts if free else {"sizes": facts["sizes"]}) | files, text)


def _with_start(kernel: Any) -> Any:
    """The program of a kernel, with the state in which its mechanism starts, where it has one."""
    from liaison.verbs.ready import start_for

    program = kernel.program
    try:
        state = start_for("build", kernel, None, start=None, guess=None, parameters=None)
    except LiaisonError:  # a parameter without a value, loops that do not close
        return program
    return replace(program, defaults={**program.defaults, "q": state.q, "v": state.v})


def _check_fmu(entry: list[str] | None, shared: bool, precision: str | None) -> None:
    """Raises where options do not go with an FMU."""
    for is_wrong, name in ((bool(entry), "--entry"), (shared, "--shared")):
        if is_wrong:
            raise typer.BadParameter("an FMU has all entries, and its libraries.", param_hint=name)
    if precision is not None:
        raise typer.BadParameter("an FMU computes in double precision.", param_hint="--precision")


def _build_run(call: Call, out: Path, options: dict[str, Any]) -> None:
    """Writes a module that simulates, with the script that runs it."""
    from liaison.simulation.live.package import live_package
    from liaison.verbs.motion.live_module import live_module

    request = call.request(may_vary=True)
    name, options = request.mechanism.name, _in_seconds(options)
    module = live_module(request.mechanism, inputs=request.inputs or None, **options)
    files = written(**live_package(module, name, out))
    size = {"bytes": len(module), "compressed": len(gzip.compress(module, 9))}
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{name}: {size['compressed'] / 1000:.1f} kB compressed\n{text}"
    call.answer(size | files, text)


def _in_seconds(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a run with their times as numbers."""
    from liaison.cli.values import seconds

    times = {x: seconds(f"--{x}", options[x]) for x in ("until", "step") if x in options}
    return options | times


def _build_fmu(call: Call, out: Path, target: str, options: dict[str, Any]) -> None:
    """Writes an FMU."""
    from liaison.fmi.archive import identifier
    from liaison.verbs.derive.to_fmu import to_fmu

    request = call.request(may_vary=True)
    mechanism, options = request.mechanism, _in_seconds(options)
    path = out if out.suffix == ".fmu" else out / f"{identifier(mechanism.name)}.fmu"
    done = to_fmu(mechanism, path, version=FMUS[target], inputs=request.inputs or None, **options)
    files = written(fmu=done.path)
    facts = {"version": done.version, "bytes": done.size, "variables": done.variables,
             "token": done.token, "files": dict(done.files)}  # fmt: skip
    rows = "\n".join(f"  {size:9} {name}" for name, size in done.files.items())
    text = f"{mechanism.name}: FMI {done.version}, {done.size / 1000:.1f} kB, {done.path}\n{rows}"
    call.answer(facts | files, text)


FMUS = {"fmu2": "2.0", "fmu3": "3.0"}
"""Targets that are versions of FMI."""


def _check_step(target: str, entry: list[str] | None, shared: bool, precision: str) -> None:
    """Raises where options do not go with a step for small machines."""
    from liaison.cli.values import check_word
    from liaison.program.c.small import PRECISIONS

    check_word("--precision", precision, PRECISIONS)
    for is_wrong, name in (
        (target != "c", "--target"),
        (bool(entry), "--entry"),
        (shared, "--shared"),
    ):
        if is_wrong:
            message = "a step in a precision is C source with all it calls: --target c alone."
            raise typer.BadParameter(message, param_hint=name)


def _build_step(call: Call, out: Path, options: dict[str, Any]) -> None:
    """Writes a step for small machines; says what single precision costs."""
    from liaison.program.c.precision import check_precision, check_step, precision_error
    from liaison.program.c.small import small_package, step_parts
    from liaison.verbs.ready import ready_for

    kernel, state = ready_for(call.request().mechanism, None, None, None)
    parts = step_parts(kernel.program, options.pop("iterations"))
    check_step(parts, state)
    error = precision_error(parts, state) if options["precision"] == "single" else None
    if error is not None:
        check_precision(parts, error)
    note = "" if error is None else f"{error}."
    package = small_package(parts, out, state, **options, note=note)
    files = written(header=package.header, source=package.source, cmake=package.cmake)
    total = sum(package.operations.values())
    text = "\n".join(f"  {kind:8} {path}" for kind, path in files.items())
    text = f"{kernel.program.name}: {total} operations a step\n{text}" + (
        f"\n{note}" if note else ""
    )
    facts: dict[str, Any] = {"operations": dict(package.operations)}
    if error is not None:
        facts |= {"error": error.position, "closure": error.closure, "steps": error.steps}
    call.answer(facts | files, text)


ENTRY_NOTE = "The entry one_sided returns its gap, rates and rows."
