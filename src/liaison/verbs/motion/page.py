"""Write a 3D page of a run, or one that simulates.

Public names: page.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from liaison.analyse.along.contact_marks import ContactMark, contact_marks
from liaison.arguments import checked
from liaison.errors import LiaisonError, SimulationError
from liaison.expr import symbol
from liaison.freedoms.global_.assembly import AssemblyModes
from liaison.model import Input, Marker, Mechanism, Parameter, wrench
from liaison.model.pairing import drawn, is_scene
from liaison.model.values import floats
from liaison.numeric.progress import lasting
from liaison.numeric.state import State
from liaison.program.extend import formula_from_plain
from liaison.simulation.live.module import SERIES
from liaison.simulation.live.package import live_script
from liaison.simulation.live.touching import LiveMarks
from liaison.simulation.record.trajectory import Trajectory
from liaison.spatial.arrays import is_zero
from liaison.tree.assemble import assemble
from liaison.tree.starts import Starts
from liaison.tree.tree import span
from liaison.verbs.derive.derive import derive
from liaison.verbs.freedoms.assembly_modes import assembly_modes
from liaison.verbs.freedoms.mobility import mobility
from liaison.verbs.given import Given, mechanism_of, with_starts, with_values
from liaison.verbs.motion.live_module import LiveKeywords, live_module
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.pages.document import Live
from liaison.view.scene import page as written_page

HAND = "drag"
"""How inputs of the force of a hand begin."""

MOST_EQUATIONS = 60_000
"""Letters of equations that are put into a page."""

MOST_DRAGGED = 24
"""Bodies with such inputs; of more, none has any."""


MODES_TIME, MOST_MODES = 5.0, 24
"""Seconds of a search for assembly modes, and modes to choose from."""

MOST_NAMED = 3
"""Coordinates in the title of an assembly mode."""

SAME_START = 1e-7
"""Relative difference up to which a run began at the mechanism's own start."""

SAME_MODE = 1e-6
"""Largest difference of coordinates of one assembly mode, angles up to whole turns [m, rad]."""


@lasting("view")
@checked
def page(
    trajectory: Trajectory,
    given: Given,
    path: str | os.PathLike[str],
    *,
    live: bool = False,
    **options: Unpack[PictureKeywords],
) -> None:
    """One HTML file with the motion, its curves and its player, that makes no request.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        path: the file, written whole or not at all; its folder must exist.
        live: the file simulates the mechanism from the first state of the run, with its inputs
            and parameters, and has sliders for them and for starts.
        **options: speed, fps, trace, forces, frames, labels, contacts: see `PictureKeywords`.

    Raises:
        OSError: there is no such folder, or the file cannot be written.
        SimulationError: live, and runs of this mechanism need Python between their steps.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=0.5, every=0.05)
        >>> liaison.page(run, "examples/pendulum.lsd", "swing.html")
    """
    own = mechanism_of(given)
    mechanism = drawn(own)
    look = picture_options("page", mechanism, options, ("live",), moved=own)
    simulates = _live(trajectory, own, bool(look.get("forces"))) if live else None
    written_page(trajectory, mechanism, path, live=simulates, **look)


def _live(run: Trajectory, mechanism: Mechanism, has_forces: bool) -> Live:
    """The mechanism as a module, and sliders of its parameters."""
    values = {x: float(value) for x, value in run.meta.get("parameters", {}).items()}
    mechanism = _begun(run, mechanism, values)
    dragged, inputs = _with_hand(mechanism)
    marks = _contact_marks(run, mechanism)
    series = [*SERIES, *(["contacts"] if marks else []), *(["reactions"] if has_forces else [])]
    physics: LiveKeywords = {"impacts": run.meta["impacts"]} if "impacts" in run.meta else {}
    module = live_module(
        dragged, until=float(run.t[-1]) + 1.0, parameters=values or None, series=series,
        inputs=_inputs_of(run) or None, marks=_flattened(marks) if marks else None, **physics,
    )  # fmt: skip
    known = {x.name: x for x in mechanism.parameters}
    ranges = {x: _range(value, known.get(x)) for x, value in values.items()}
    about, freedoms = _about(mechanism)
    modes, note = _modes(with_values(mechanism, values), freedoms)
    return Live(
        module, live_script(), ranges, inputs, about | {"modes": note}, modes,
        tuple(_plain(x) for x in marks),
    )  # fmt: skip


def _begun(run: Trajectory, mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with the first state of the run as its start, where its own is another."""
    labels = (*run.labels.get("q", ()), *run.labels.get("v", ()))
    first = {x.name: float(y) for x, y in zip(labels, (*run.q[0], *run.v[0]), strict=True)}
    try:
        own = assemble(span(with_values(mechanism, values)))
        if all(abs(own[x] - y) <= SAME_START * (1 + abs(y)) for x, y in first.items()):
            return mechanism
    except LiaisonError:
        pass
    held = {x: y for x, y in first.items() if x in run.meta.get("starts", {})}
    return with_starts(mechanism, held, {x: y for x, y in first.items() if x not in held})


def _inputs_of(run: Trajectory) -> dict[str, Any]:
    """Inputs as the run had them: numbers and formulas.

    Raises:
        SimulationError: one came from a Python function.
    """
    inputs: dict[str, Any] = {}
    for name, what in run.meta.get("inputs", {}).items():
        if isinstance(what, Mapping) and "formula" not in what:
            raise SimulationError(
                f"{run.name!r} cannot run in a page: the input {name!r} came from a Python "
                "function.",
                status="not live",
                hint="Give it as a formula of coordinates, rates and time, or as a table.",
            )
        inputs[name] = formula_from_plain(what["formula"]) if isinstance(what, Mapping) else what
    return inputs


def _about(mechanism: Mechanism) -> tuple[dict[str, str], int | None]:
    """Mobility and equations, where they are known and not too long; and degrees of freedom."""
    freedoms = None
    try:
        known = mobility(mechanism)
        proved = str(known)
        freedoms = known.finite[0] if known.finite[0] == known.finite[1] else None
    except LiaisonError as error:
        proved = f"not known: {error.message}"
    equations = derive(mechanism).html().partition("<body>")[2].partition("</body>")[0]
    note = ""
    if len(equations) > MOST_EQUATIONS:
        note = (
            f"The equations take {len(equations) / 1e6:.1f} MB and are not in this page; "
            "`liaison derive` writes them."
        )
        equations = ""
    return {"mobility": proved, "equations": equations, "note": note}, freedoms


def _contact_marks(run: Trajectory, mechanism: Mechanism) -> tuple[ContactMark, ...]:
    """Places of contact as formulas, where the run has contacts."""
    if "contacts" not in run.series or run.meta.get("scene"):
        return ()
    (labels,) = run.series["contacts"].axes.values()
    return contact_marks(mechanism, labels)


def _flattened(marks: Sequence[ContactMark]) -> LiveMarks:
    """All formulas of all places: the point, its speed over the body, and six for each row."""
    formulas = []
    layout = []
    for mark in marks:
        own = [*mark.point, *([] if mark.over is None else [mark.over])]
        own += [x for force, moment in mark.rows.values() for x in (*force, *moment)]
        formulas += own
        layout.append((mark.name, len(own)))
    return LiveMarks(formulas, layout)


def _plain(mark: ContactMark) -> dict[str, Any]:
    """What the front end has to know of a place of contact."""
    return {
        "name": mark.name,
        "block": mark.block,
        "sliding": mark.sliding,
        "rolls": mark.over is not None,
        "pushes": any(not is_zero(x) for force, _ in mark.rows.values() for x in force),
        "turns": any(not is_zero(x) for _, moment in mark.rows.values() for x in moment),
        "rows": list(mark.rows),
    }


def _modes(mechanism: Mechanism, freedoms: int | None) -> tuple[list[dict[str, Any]], str]:
    """Assembly modes to choose from, the mechanism's own first, and a note on them."""
    tree = span(mechanism)
    if not tree.closures or freedoms is None:
        return [], ""
    try:
        own = assemble(tree)
        held = _held(mechanism, own, freedoms)
        known = assembly_modes(mechanism, at=held, time_limit=MODES_TIME)
    except LiaisonError:
        return [], ""
    states = [x.state for x in known.modes if x.state.labels["q"] == own.labels["q"]]
    others = [x for x in states if not _is_same(x, own)]
    if len(others) in (0, len(states)):  # it is alone, or is not among them
        return [], ""
    chosen = [own, *others][:MOST_MODES]
    titles = _titles(chosen, held)
    entries = [
        {"title": title, "q": x.q.tolist(), "held": list(held)}
        for title, x in zip(titles, chosen, strict=True)
    ]
    return entries, _modes_note(known, len(chosen), held)


def _modes_note(known: AssemblyModes, shown: int, held: Mapping[str, float]) -> str:
    count = "all modes" if known.is_complete else "perhaps not all modes"
    count = f"{shown} of {len(known.modes)} modes" if shown < len(known.modes) else count
    names = list(held)
    at = ", ".join(names) if len(names) < 4 else f"{names[0]}, …, {names[-1]}"
    return f"{count} with the start's {at}" if at else count


def _held(mechanism: Mechanism, own: State, freedoms: int) -> dict[str, float]:
    """As many coordinates as degrees of freedom: simple joints, and those with starts, first."""
    names = [x.name for x in own.labels["q"]]
    simple = {joint.coordinates[0] for joint in mechanism.joints if joint.type.nq == 1}
    started = {x for x, (_, is_guess) in Starts(span(mechanism)).own.items() if not is_guess}
    ranked = sorted(names, key=lambda x: (x not in simple, x not in started))
    chosen = set(ranked[:freedoms])
    return {x: float(own[x]) for x in names if x in chosen}


def _is_same(a: State, b: State) -> bool:
    """Whether two states are one position: angles up to whole turns, quaternions up to sign."""
    for label, x, y in zip(a.labels["q"], a.q, b.q, strict=True):
        turned = math.remainder(x - y, 2 * math.pi) if label.unit == "rad" else x - y
        is_part = label.name.rpartition(".")[2] in ("qw", "qx", "qy", "qz")
        if min(abs(turned), abs(x + y) if is_part else math.inf) > SAME_MODE:
            return False
    return True


def _titles(states: Sequence[State], held: Mapping[str, float]) -> list[str]:
    """A number and a few coordinates, as many as distinguish the modes."""
    labels = states[0].labels["q"]
    angles = [x.unit == "rad" for x in labels]
    table = np.array([np.where(angles, np.cos(x.q) + 2 * np.sin(x.q), x.q) for x in states])
    spread = np.ptp(table, axis=0)
    free = [j for j, x in enumerate(labels) if x.name not in held and spread[j] > SAME_MODE]
    chosen: list[int] = []
    texts = [""] * len(states)
    for j in sorted(free, key=lambda k: -spread[k]):
        more = [_value(x, j) for x in states]
        longer = [f"{text}, {new}" if text else new for text, new in zip(texts, more, strict=True)]
        if len(set(longer)) > len(set(texts)):
            texts, chosen = longer, [*chosen, j]
        if len(chosen) == MOST_NAMED:
            break
    own = ["1: as described", *(f"{k + 2}" for k in range(len(states) - 1))]
    return [f"{number}: {text}" if k else number
            for k, (number, text) in enumerate(zip(own, texts, strict=True))]  # fmt: skip


def _value(state: State, j: int) -> str:
    label, x = state.labels["q"][j], float(state.q[j])
    if label.unit == "rad":
        text = f"{round(math.degrees(math.remainder(x, 2 * math.pi)))}°"
    else:
        text = f"{round(x, 6) + 0.0:.3g} {label.unit}".rstrip()
    return f"{label.name} = {text.replace('-', '−')}"


def _inputs(body: str) -> tuple[str, str, str]:
    return f"{HAND} {body} x", f"{HAND} {body} y", f"{HAND} {body} z"


def _with_hand(mechanism: Mechanism) -> tuple[Mechanism, dict[str, tuple[str, str, str]]]:
    """The mechanism with a force on every body that has mass, by inputs, and their names."""
    heavy = [x for x in mechanism.bodies if x.name != "ground" and x.mass != 0]
    if len(heavy) > MOST_DRAGGED or is_scene(mechanism):
        return mechanism, {}
    names = {x.name: _inputs(x.name) for x in heavy}
    forces = [
        wrench(Marker(x.name, p=x.com), force=[symbol(y) for y in names[x.name]],
               name=f"{HAND} {x.name}")
        for x in heavy
    ]  # fmt: skip
    inputs = tuple(Input(y, "N") for x in heavy for y in names[x.name])
    return replace(
        mechanism, forces=(*mechanism.forces, *forces), inputs=mechanism.inputs + inputs
    ), names


def _range(value: float, of: Parameter | None) -> tuple[float, float, float]:
    """A slider: from bound to bound, or half of the value to either side."""
    unit = "" if of is None else of.unit
    reach = 0.5 * abs(value) or (math.pi if unit == "rad" else 1.0)
    low, high = (None, None) if of is None else (of.low, of.high)
    least = value - reach if low is None else float(floats(low, {}))
    return least, value, value + reach if high is None else float(floats(high, {}))
