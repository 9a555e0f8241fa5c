"""live_module: a mechanism with its time loop as one WebAssembly module.

The module holds everything that a run needs: entries, the loops of its steps, and its blocks as
the first content of memory. The section `liaison` says in JSON where things lie, what they are
called, and how a run can end, in the words of `outcome`.

Public names: live_module, why_not_live, SERIES.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from liaison.contacts.events.series import over_modes
from liaison.errors import SimulationError
from liaison.numeric import State
from liaison.program import Kernel
from liaison.program.instants import Instants
from liaison.program.loops.language import Loop
from liaison.program.wasm.loops import loop_key
from liaison.program.wasm.to_wasm import Builder
from liaison.simulation.assembly import assemble_each
from liaison.simulation.balance import MUCH
from liaison.simulation.events.log import WHATS, Event
from liaison.simulation.events.watched import sides_in
from liaison.simulation.machine import over_saddles
from liaison.simulation.outcome import REASONS, ROUNDING, failure_texts
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.plan.settings import Settings, settings_of
from liaison.simulation.plan.timing import WINDOW
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.layout import Run, row_words

from .package import script_tables
from .places import LiveKernel, Places, Preparation, changed_by
from .starts import ENDS, LiveStarts, assembly_places
from .touching import CONTACTS, LiveMarks, marks_series, touching_places

DEGENERATE = (
    "degenerate",
    "the row of a relation of rates vanishes at {now}, and how the motion goes on is not decided "
    "in a module.",
    "Run it with `liaison simulate`, or state it as a relation of positions.",
)
"""The end of a run whose relation of rates loses its row."""

SERIES = ("poses", "energy", "closure", "outputs")
"""Series that a module has unless others are asked for."""


FORMAT, SENTENCES, FIELDS, LEDGER = script_tables("FORMAT", "SENTENCES", "FIELDS", "LEDGER")
NUMBERS = {sentence: k for k, sentence in enumerate(SENTENCES)}
"""What the script knows: sentences by their numbers, fields of a run and of its balance."""

OF_CONTACTS = (at.NO_MODE, at.BAD_GAP, at.BAD_SIDE, at.SINGULAR_MASS, at.STANDSTILL, at.STEP_UP)
OF_CLOSURES = (at.POSITIONS_LOST, at.VELOCITIES_LOST, at.INCONSISTENT, at.BAD_START,
               at.BAD_START_RATE)  # fmt: skip
"""Ends that only runs with contacts, or with closures, have."""


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
    marks: LiveMarks | None = None,
) -> bytes:
    """The module of runs of a kernel with one choice of options.

    Args:
        kernel: of a program with formulas.
        state: where runs begin unless they are given another start.
        until: when they end, likewise [s].
        settings: method, tolerances, recording, whether the balance of energy is watched.
        inputs: numbers, formulas and tables; see `simulate`.
        parameters: values in the place of the defaults.
        stop: see `simulate`.
        series: entries that are evaluated at recorded states; "contacts": their modes, forces and
            gaps.
        starts: of the mechanism, where runs may be assembled anew.
        marks: formulas that are evaluated there too.

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
    touches = "contacts" in series and has_modes(plan)
    run = Preparation(plan, builder, places, [over_modes] if touches else [])
    roots: dict[Loop[..., Any], Sequence[int | None]] = {run.march: [*run.fill(), None]}
    notes = notes_of(run, series)
    if marks is not None:
        notes["series"]["marks"] = marks_series(marks, run, places)
    exports = builder.assembly.exports
    exports["march"] = loop_key(run.march)
    if touches:
        touching = touching_places(run)
        notes["touching"], notes["series"] = touching.notes, notes["series"] | touching.series
        roots |= touching.roots
        exports["touch"] = loop_key(over_modes)
        if over_saddles in touching.roots:
            exports["saddle"] = loop_key(over_saddles)
    if starts is not None:
        prepared = assembly_places(starts, places, plan.state.t)
        run.freeze(prepared.work, changed_by([assemble_each]))
        ends = [[NUMBERS.get(x, x) for x in row] for row in ENDS]
        notes["assembly"] = prepared.notes | {"ends": ends}
        roots[assemble_each] = prepared.arguments
        exports["assemble"] = loop_key(assemble_each)
    places.store(builder.loops(roots, places.bound))
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


def has_modes(plan: Plan) -> bool:
    """Whether runs go from event to event of contacts."""
    return bool(sides_in(plan.program)) and plan.settings.tableau.scheme != "moreau"


def notes_of(preparation: Preparation, series: Sequence[str]) -> dict[str, Any]:
    """The notes of a prepared run."""
    own, run = preparation.own, preparation.arrays.run
    program, arrays = own.program, preparation.arrays
    place = preparation.places.address
    notes: dict[str, Any] = {
        "format": FORMAT,
        "name": program.name,
        "sizes": {x: own.size(x) for x in ("nq", "nv", "nc", "nphi")} | {"nu": int(run.nu)},
        "labels": _filled({x: _labels(program.labels.get(x, ())) for x in ("q", "v", "u", "p")}),
        "bounds": {x: [_plain(y) for y in pair] for x, pair in _bounds(own).items()},
        "parameters": own.parameters.tolist(),
        "inputs": own.inputs.held.tolist(),
        "driven": [slot for slot, _ in own.inputs.formulas],
        "state": {"t": own.state.t, "q": own.state.q.tolist(), "v": own.state.v.tolist()},
        "until": own.until,
        "method": own.settings.tableau.name,
        "step": own.settings.step,
        "every": own.settings.every if isinstance(own.settings.every, float | int) else None,
        "fields": [run.span(x).start for x in FIELDS],
        "run": [place(run.ints), run.words],
        "sides": _sides(preparation),
        "records": [place(arrays.records), int(run.capacity)],
        "scratch": [place(arrays.scratch), arrays.scratch.size],
        "log": [place(arrays.event_log), row_words(run), Event.header],
        "ends": _ends(preparation.plan, run),
        "ledger": _ledger(run),
        "events": [x.name for x in own.events],
        "blocks": [x[0] for x in sides_in(program)],
        "whats": list(WHATS) if sides_in(program) else [],
        "instants": _instants(own.instants, own),
        "point": _point(preparation),
    }
    return _filled(notes) | _series(preparation, series)


def _filled(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Notes without those that say nothing."""
    return {name: x for name, x in notes.items() if x is not None and x not in ([], {})}


def _labels(labels: Sequence[Any]) -> list[list[str]]:
    return [[x.name, x.unit] for x in labels]


def _bounds(plan: Plan) -> dict[str, Any]:
    return dict(plan.program.facts.get("bounds", {}))


def _plain(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None


def _ledger(run: Run) -> list[float] | None:
    """The part of the balance of energy that no step explains, and words where it lies."""
    if run.ledger.kind == at.NOT_KEPT:
        return None
    first = run.span("ledger").start
    return [MUCH, ROUNDING, *(first + at.Ledger.fields[x].slot for x in LEDGER)]


def _sides(preparation: Preparation) -> list[int] | None:
    """Where the record of contacts lies."""
    if preparation.contacts is None:
        return None
    sides = preparation.contacts.sides
    return [preparation.places.address(sides.ints), sides.words]


def _instants(instants: Instants, plan: Plan) -> dict[str, Any] | None:
    """Instants at which steps end; names of what they follow from."""
    corners = dict(instants.corners)
    is_empty = not (instants.breaks.size or instants.waypoints.size or corners)
    if is_empty and math.isinf(instants.longest):
        return None
    times = instants.breaks.tolist() if plan.settings.is_adaptive else sorted(corners)
    constants = () if plan.timed is None else plan.timed.constants
    return {
        "breaks": times,
        "rows": [corners.get(x, -1) for x in times],
        "waypoints": instants.waypoints.tolist(),
        "reach": [_plain(x) for x in instants.reach.tolist()],
        "longest": _plain(instants.longest),
        "follow": [x.name for x in constants],
        "room": WINDOW,
    }


def _series(preparation: Preparation, names: Sequence[str]) -> dict[str, Any]:
    """Series: names and sizes of their parts; where they are written, and a workspace."""
    own, builder = preparation.own, preparation.builder
    layouts = {x: own.program.entry(x).layout for x in names if _is_there(own, x, names)}
    entries = [*layouts]
    if "reactions" in layouts and not sides_in(own.program):
        entries.append("forward")
    for entry in entries:
        builder.assembly.exports[entry] = builder.entry(own.program, entry)
    out = builder.place(max((len(own.program.entry(x).outputs) for x in entries), default=0))
    work = builder.place(max((builder.work_size(own.program, x) for x in entries), default=0))
    listed = {name: [list(x) for x in layout] for name, layout in layouts.items()}
    return {"series": listed, "area": [out, work]}


def _is_there(plan: Plan, name: str, names: Sequence[str]) -> bool:
    """Whether there is a series.

    Reactions beside contacts follow from their modes, which the series of contacts keep.
    """
    entries = plan.program.entries
    is_known = name in entries and len(entries[name].outputs) > 0 and name not in CONTACTS
    is_beside = name == "reactions" and bool(sides_in(plan.program))
    follows = "contacts" in names and has_modes(plan)
    return is_known and (follows or not is_beside)


def _point(preparation: Preparation) -> dict[str, int]:
    """Where a state is put at which a series is evaluated."""
    own, place = preparation.own, preparation.builder.place
    forces = sum(x[4] for x in sides_in(own.program))
    extra = max(own.size("nx"), own.size("nv") + own.size("nc") + forces)
    sizes = {"q": own.size("nq"), "v": own.size("nv"), "u": own.inputs.held.size, "x": extra}
    return {name: place(size) for name, size in sizes.items()}


def _ends(plan: Plan, run: Run) -> dict[str, Any]:
    """Status -> reason, sentence and advice; rows and names stand as {row}, {event} and {block}."""
    labels = plan.program.labels.get("lam", ())
    texts = failure_texts(plan, run, "{row}", "{size}", event="{event}", block="{block}")
    unknown = {
        *(() if sides_in(plan.program) else OF_CONTACTS),
        *(() if plan.events else (at.CHATTER, at.EVENT_NOT_FINITE)),
        *(() if plan.size("nc") else OF_CLOSURES),
        *(() if plan.settings.is_adaptive else (at.STEP_TOO_SMALL,)),
        *(() if run.is_implicit or run.is_variational or run.is_alpha else (at.NOT_CONVERGED,)),
    }
    listed = {str(x): [REASONS[x], *texts[x]] for x in REASONS if x not in unknown}
    if any(block[2] == "rate" for block in sides_in(plan.program)):
        listed[str(at.DEGENERATE)] = list(DEGENERATE)
    many = listed[str(at.TOO_MANY_STEPS)]
    many[1] = many[1].replace(f"{run.steps} steps", "{steps} steps")
    texts_ = {code: [NUMBERS.get(x, x) for x in row] for code, row in listed.items()}
    return {"texts": texts_, "rows": [x.name for x in labels]}
