"""Checkpoints: the arrays of a run as bytes, with a fingerprint of the run.

Public names: Kept, to_bytes, from_bytes, check_like.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.program.extend import identity
from liaison.simulation.events.log import Event
from liaison.simulation.plan.plan import Plan
from liaison.simulation.record.files import plain
from liaison.simulation.steps.layout import Run
from liaison.simulation.steps.sides_layout import Sides

SHOWN = ("mechanism", "arithmetic", "end", "step")
"""Marks whose values are said where they differ."""

LAYOUT = "layout"
"""The mark of how a run is laid out; it is looked at before all others."""


ARITHMETIC = "arithmetic"
"""The mark of how results are rounded; checkpoints without it were made by NATIVE code."""

PORTABLE, NATIVE = "portable", "of the machine"


@final
@dataclass(frozen=True, slots=True)
class Kept:
    """What a run consists of: its block, rows drained, calls of controllers, status."""

    arrays: dict[str, Any]
    calls: list[int]
    status: int


def to_bytes(plan: Plan, kept: Kept) -> bytes:
    """The run and its marks in one NumPy archive."""
    buffer = io.BytesIO()
    np.savez(
        buffer, allow_pickle=False, **kept.arrays, calls=np.array(kept.calls, dtype=np.int64),
        status=np.array([kept.status]), marks=np.array(json.dumps(marks(plan))),
    )  # fmt: skip
    return buffer.getvalue()


def from_bytes(plan: Plan, data: bytes) -> Kept:
    """The run in the bytes; raises an error for those of another one, with what differs.

    Raises:
        SimulationError: the bytes are damaged, or those of another run.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as saved:
            arrays = {name: _array(name, values) for name, values in saved.items()}
        saved_marks = dict(json.loads(arrays.pop("marks").item()))
        calls = [int(x) for x in arrays.pop("calls")]
        status = int(arrays.pop("status")[0])
    except Exception as error:
        raise SimulationError(
            f"these bytes are no checkpoint of a run: {type(error).__name__}: {error}.",
            hint="Checkpoints are made by Run.checkpoint and Run.keep.",
        ) from error
    saved_marks.setdefault(ARITHMETIC, NATIVE)
    _check_same(saved_marks, json.loads(json.dumps(marks(plan))))
    return Kept(arrays, calls, status)


def _array(name: str, values: object) -> NDArray[Any]:
    """A member of the archive; what does not begin as an array comes from NumPy as bytes."""
    if not isinstance(values, np.ndarray):
        raise ValueError(f"{name!r} is no array")
    return values


def check_like(kept: Kept, here: dict[str, Any], calls: int) -> None:
    """Raises an error unless each array has the shape and the type of the one it replaces.

    Args:
        kept: the run of a checkpoint.
        here: arrays by name of the run that takes it up; rows of tables may be more or fewer.
        calls: how many controllers there are.
    """
    for name, mine in here.items():
        first = 1 if name in ("rows", "event_rows") else 0
        there, own = _form(kept.arrays.get(name), first), _form(mine, first)
        if there != own:
            raise SimulationError(
                f"this checkpoint is damaged: {name!r} is {there}, not {own}.",
                hint="Checkpoints are made by Run.checkpoint and Run.keep.",
            )
    if len(kept.calls) != calls:
        raise SimulationError(
            f"this checkpoint is damaged: it has {len(kept.calls)} controllers, not {calls}."
        )


def marks(plan: Plan) -> dict[str, Any]:
    """What must agree for a run to be taken up: equations, extras, numbers, settings."""
    added = None if plan.added is None else plan.added.program
    settings = plan.settings
    # accelerations alone are the same for motions imposed by other polygons
    further = [x for x in ("closure", "events", "one_sided") if x in plan.program.entries]
    return {
        LAYOUT: [Run.mark(), Sides.mark(), Event.mark()],
        ARITHMETIC: PORTABLE if plan.kernel.portable else NATIVE,
        "mechanism": plan.program.name,
        "equations": identity(plan.program, "rate", "retract", *further),
        "formulas of inputs and stops": "" if added is None else identity(added, *added.entries),
        "events": [[x.name, x.direction, x.stops] for x in plan.events],
        "parameters": plan.parameters.tolist(),
        "inputs": plan.inputs.held.tolist(),
        "controllers": [[x.name, x.period] for x in plan.inputs.controllers],
        "start": [plan.state.t, *plan.state.q.tolist(), *plan.state.v.tolist()],
        "end": plan.until,
        "method": settings.tableau.name,
        "step": settings.step,
        "spectral radius": settings.radius,
        "tolerances": [settings.rtol, settings.atol, settings.max_step, settings.residual],
        "projection": plain(settings.projection),
        "recorded instants": plain(settings.every),
        "steps allowed": settings.max_steps,
        "law of impacts": settings.impacts,
        "theta": settings.theta,
        "facets": settings.facets,
    }


def _check_same(saved: dict[str, Any], own: dict[str, Any]) -> None:
    other = [name for name, value in own.items() if saved.get(name) != value]
    if LAYOUT in other:
        raise SimulationError(
            "this checkpoint was written by a version of liaison that lays out a run in another "
            "way, so that its numbers mean something else here.",
            status="inconsistent",
            hint="Take it up with the version that wrote it, or begin the run anew.",
        )
    if other:
        short = {x: (saved.get(x), own[x]) for x in other if x in SHOWN}
        words = "; ".join(f"{x} {had!r} there, {has!r} here" for x, (had, has) in short.items())
        raise SimulationError(
            f"this checkpoint belongs to another run: not the same {', '.join(other)}"
            + (f" ({words})." if words else "."),
            status="inconsistent",
            hint="Make the run with the arguments of the one that was kept.",
        )


def _form(array: Any, first: int) -> str:
    """Type and shape of an array, axes before `first` left out."""
    if array is None:
        return "missing"
    return f"{array.ndim} axes of {array.dtype}, shape {('…',) * first + array.shape[first:]}"
