"""Scales of a mechanism with contacts: the units in which its tolerances are measured.

A gap of 1e-9 is none in a mechanism of 1 m; in one of 1 µm it is a thousandth of all there is. So a
tolerance of contacts is a pure number, and what it is compared with has a unit of its own:

    local coordinate i    s_i = 1 rad, or the length L of the mechanism
    block b               ℓ_b = max |D_ri| s_i over its rows: what its gap changes by
    time                  T = 1/max(√(|a_i|/s_i), |v_i|/s_i), from free accelerations and velocities
    force of a block      F_b = ℓ_b/(T² D_r M⁻¹ D_rᵀ)                                     (scales-1)

all at the start. L is the largest of the coordinates in m, of the gaps and of the lever arms of the
rows (of a mechanism that only turns, of what gaps change by); where a start has no length all units
are 1. Each is rounded to a power of 2²⁰ (T to √L times such a power, forces to powers of 2⁶⁰),
so that a mechanism of 1 mm to 1 km has the unit 1 m, and one that is scaled by 2⁻²⁰ has the same
tolerances beside its size. A gap that is an angle, or a formula of any unit, is measured by what it changes
by, as one in m is.

Public names: NO_FACE, Units, units_of, fill_scales, fill_run_scales.

Source: docs/theory/one_sided.md (scales-1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.simulation.events.happenings import sides_in

from .plan import Plan
from .settings import ATOL

STEP, FORCES = 20.0, 60.0
"""Binary logarithm of what one unit is apart from the next: of lengths and times, and of forces."""


NO_FACE = 1.0
"""The gap [m] that stands for none where neither face nor edge is near: no length."""


@final
@dataclass(frozen=True, slots=True)
class Units:
    """What tolerances of a run are multiplied by.

    Attributes:
        time: T [s].
        position: of every entry of q.
        local: s of every local coordinate.
        velocity: s/T of every entry of v.
        closure: max |G_ki| s_i of every closure.
        gap: ℓ of every block.
        rate: ℓ/T of every block.
        force: F of every block.
    """

    time: float
    position: Array
    local: Array
    velocity: Array
    closure: Array
    gap: Array
    rate: Array
    force: Array


def units_of(plan: Plan) -> Units:
    """The units of a run, from the state that it begins at; all 1 where nothing is unilateral."""
    sides = sides_in(plan.program)
    kernel = getattr(plan.kernel, "base", plan.kernel)  # a kernel of modes has one without
    nv, nc = plan.size("nv"), int(kernel.program.sizes.get("nc", 0))
    counts = (plan.size("nq"), nv, nv, nc, len(sides), len(sides), len(sides))
    ordinary = Units(1.0, *map(np.ones, counts))
    if not sides or plan.is_scene or not nv:
        return ordinary
    here: dict[str, Any] = {"t": plan.state.t, "q": plan.state.q, "v": plan.state.v}
    here |= {"u": plan.inputs.held, "p": plan.parameters}
    seen, terms = kernel.call("one_sided", **here), kernel.call("terms", **here)
    D, G = np.reshape(seen["D"], (-1, nv)), np.reshape(terms["G"], (nc, nv))
    slides = np.array([x.unit == "m/s" for x in kernel.program.labels["v"]])
    is_length = np.array([x.unit == "m" for x in kernel.program.labels["q"]])
    length = _length(D, seen["gap"], sides, slides, np.abs(plan.state.q[is_length]))
    if not 0 < length < math.inf:
        return ordinary
    s, unit = np.where(slides, length, 1.0), _power(length)
    M = np.reshape(terms["M"], (nv, nv))
    free = np.linalg.lstsq(M, np.column_stack([terms["f"], D.T]), rcond=None)[0]
    time = _time(np.abs(free[:, 0]) / s, np.abs(plan.state.v) / s, unit)
    rows, yields = np.max(np.abs(D) * s, axis=1), np.einsum("ri,ir->r", D, free[:, 1:])
    blocks = [slice(x[3], x[3] + x[4]) for x in sides]
    gap = np.array([_power(float(np.max(rows[x], initial=0.0)) or length) for x in blocks])
    force = np.array([_force(rows[x], yields[x], time) for x in blocks])
    moved = np.max(np.abs(G) * s, axis=1, initial=0.0)
    closure = np.array([_power(float(x) or length) for x in moved])
    local, position = np.where(slides, unit, 1.0), np.where(is_length, unit, 1.0)
    return Units(time, position, local, local / time, closure, gap, gap / time, force)


def _length(
    D: Array, gaps: Array, sides: Any, slides: NDArray[np.bool_], coordinates: Array
) -> float:
    """L: coordinates in m, gaps, lever arms, beside motion along a line; 0 where none is known."""
    along = np.max(np.abs(D[:, slides]), axis=1, initial=0.0)
    arms = np.max(np.abs(D[:, ~slides]), axis=1, initial=0.0)
    if not np.any(slides):
        return float(np.max(arms, initial=0.0))  # lengths, or 1 of gaps that are angles
    found = [0.0, *coordinates, *(arms[along > 0] / along[along > 0])]
    for b, (_, _, kind, first, *_) in enumerate(sides):
        if kind == "gap" and along[first] > 0 and gaps[b] != NO_FACE:
            found.append(abs(float(gaps[b])) / along[first])
    return float(max(found))


def _power(x: float, step: float = STEP) -> float:
    """The power of 2²⁰, or of another step, nearest to a size; 1 where it is none."""
    if not 0 < x < math.inf:
        return 1.0
    return math.ldexp(1.0, int(step * math.floor(math.log2(x) / step + 0.5)))


def _time(accelerations: Array, velocities: Array, length: float) -> float:
    """T: √L times a power of 2²⁰; √L where nothing moves at the start."""
    fastest = math.sqrt(float(np.max(accelerations, initial=0.0)))
    fastest = max(fastest, float(np.max(velocities, initial=0.0)))
    usual = math.sqrt(length)
    return usual * _power(1.0 / (fastest * usual)) if fastest > 0 else usual


def _force(rows: Array, yields: Array, time: float) -> float:
    """F of a block, the largest of its rows: a power of 2⁶⁰."""
    can_move = (yields > 0) & (rows > 0)
    most = np.max(rows[can_move] / yields[can_move], initial=0.0) / time**2
    return _power(float(most), FORCES)


def fill_scales(scales: Any, units: Units, rows: Array) -> None:
    """Writes the units into the record of a run or of its contacts.

    Args:
        scales: the record.
        units: of the run.
        rows: units of the closures and of all rows that stand beside them, in their order.
    """
    scales.closure[:] = rows[: len(scales.closure)]
    scales.closure_rate[:] = rows / units.time
    scales.time[0] = units.time
    for name in ("position", "local", "velocity"):
        getattr(scales, name)[:] = getattr(units, name)
    for name in ("gap", "rate", "force"):
        place = getattr(scales, name)
        place[:] = getattr(units, name)[: len(place)]


def fill_run_scales(run: Any, units: Units, rows: Array) -> None:
    """Units of a run, and the absolute errors that it allows by default."""
    fill_scales(run.scales, units, rows)
    if float(run.atol) == ATOL:
        run.atols[:] = ATOL * np.concatenate([units.local, units.velocity])
