"""live_module: a mechanism with its time loop as one WebAssembly module.

The module holds everything that a run needs: entries, the loops of its steps, and its blocks as
the first content of memory. The section `liaison` says in JSON where things lie, what they are
called, and how a run can end.

Public names: live_module, why_not_live, SERIES.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from liaison.errors import SimulationError
from liaison.numeric import State
from liaison.program import Kernel
from liaison.program.loops.language import Loop
from liaison.program.wasm.loops import loop_key
from liaison.program.wasm.to_wasm import Builder
from liaison.simulation.assembly import assemble_each
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.plan.settings import Settings, settings_of

from .notes import notes_of
from .places import LiveKernel, Places
from .prepare import Preparation, changed_by
from .starts import LiveStarts, assembly_places

SERIES = ("poses", "energy", "closure", "outputs")
"""Series that a module has unless others are asked for."""


def live_module(
    kernel: Kernel,
    state: State,
    until: float,
    settings: Settings | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    stop: Any = None,
    series: Sequence[str] = SERIES,
    starts: LiveStarts | None = None,
) -> bytes:
    """The module of runs of a kernel with one choice of options.

    Args:
        kernel: of a program with formulas.
        state: where runs begin unless they are given another start.
        until: when they end, likewise [s].
        settings: method, tolerances, recording.
        inputs: numbers, formulas and tables; see `simulate`.
        parameters: values in the place of the defaults.
        stop: see `simulate`.
        series: entries that are evaluated at recorded states.
        starts: of the mechanism, where runs may be assembled anew.

    Raises:
        SimulationError: runs that need Python between their steps.
    """
    plan = plan_of(
        kernel, state, until, settings or settings_of(), inputs=inputs, parameters=parameters,
        stop=stop,
    )  # fmt: skip
    why = why_not_live(plan)
    if why:
        raise SimulationError(f"{plan.program.name!r} cannot run in a module: {why}.",
                              status="not live")  # fmt: skip
    builder = Builder()
    places = Places(builder)
    added = None if plan.added is None else LiveKernel(plan.added, places)
    plan = replace(plan, kernel=LiveKernel(kernel, places), added=added)
    run = Preparation(plan, builder, places)
    roots: dict[Loop[..., Any], Sequence[int | None]] = {run.march: [*run.fill(), None]}
    notes = notes_of(run, series)
    exports = builder.assembly.exports
    exports["march"] = loop_key(run.march)
    if starts is not None:
        prepared = assembly_places(starts, places, plan.state.t)
        run.freeze(prepared.work, changed_by([assemble_each]))
        notes["assembly"] = prepared.notes
        roots[assemble_each] = prepared.arguments
        exports["assemble"] = loop_key(assemble_each)
    places.store()
    builder.loops(roots, places.bound)
    return builder.module(notes)


def why_not_live(plan: Plan) -> str:
    """Why runs of a plan need Python between their steps; empty if they do not."""
    program = plan.program
    if plan.is_scene:
        return "a scene makes room for more contacts while it moves"
    if plan.settings.grid:
        return "it records at instants that are listed one by one: give every= a period"
    if plan.inputs.controllers:
        return f"the input {plan.inputs.controllers[0].name!r} is a function of Python"
    if "sparse" in str(program.facts.get("formalism", "")):
        return "its entries are loops over bodies, without formulas"
    return ""
