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
so that a mechanism of 1 mm to 1 km has the unit 1 m, and one that is scaled by 2⁻²⁰ moves as it
does bit by bit. A gap that is an angle, or a formula of any unit, is measured by what it changes
by, as one in m is.

Public names: Units, units_of, fill_scales, fill_run_scales.

Source: docs/theory/one_sided.md (scales-1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.numeric import Array
from liaison.simulation.events.happenings import sides_in

from .plan import Plan
from .settings import ATOL

STEP, FORCES = 20.0, 60.0
"""Binary logarithm of what one unit is apart from the next: of lengths and times, and of forces."""


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

    @property
    def is_ordinary(self) -> bool:
        """All are 1."""
        arrays = (self.position, self.local, self.gap, self.force)
        return self.time == 1.0 and all(np.all(x == 1.0) for x in arrays)


def units_of(plan: Plan) -> Units:
    """The units of a run, from the state that it begins at; all 1 where nothing is unilateral."""
    sides = sides_in(plan.program)
    nq, nv, nb = plan.size("nq"), plan.size("nv"), len(sides)
    kernel = getattr(plan.kernel, "base", plan.kernel)
    nc = int(kernel.program.sizes.get("nc", 0))
    ordinary = Units(1.0, *(np.ones(n) for n in (nq, nv, nv, nc, nb, nb, nb)))
    if not sides or plan.is_scene or not nv:
        return ordinary
    here: dict[str, Any] = {"t": plan.state.t, "q": plan.state.q, "v": plan.state.v}
    here |= {"u": plan.inputs.held, "p": plan.parameters}
    seen, terms = kernel.call("one_sided", **here), kernel.call("terms", **here)
    D, M = np.reshape(seen["D"], (-1, nv)), np.reshape(terms["M"], (nv, nv))
    slides = np.array([x.unit == "m/s" for x in kernel.program.labels["v"]])
    is_length = np.array([x.unit == "m" for x in kernel.program.labels["q"]])
    length = _length(D, seen["gap"], sides, slides, np.abs(plan.state.q[is_length]))
    if not 0 < length < math.inf:
        return ordinary
    s = np.where(slides, length, 1.0)
    free = np.linalg.lstsq(M, np.column_stack([terms["f"], D.T]), rcond=None)[0]
    rows = np.max(np.abs(D) * s, axis=1)
    blocks = [slice(x[3], x[3] + x[4]) for x in sides]
    gap = np.array([_rounded(np.max(rows[x], initial=0.0), length) for x in blocks])
    time = _time(np.abs(free[:, 0]) / s, np.abs(plan.state.v) / s, _rounded(length))
    yields = np.einsum("ri,ir->r", D, free[:, 1:])
    force = [_force(rows[x], yields[x], time) for x in blocks]
    unit = _rounded(length)
    local = np.where(slides, unit, 1.0)
    position = np.where(is_length, unit, 1.0)
    G = np.reshape(terms["G"], (nc, nv))
    closure = np.array([_rounded(x, length) for x in np.max(np.abs(G) * s, axis=1, initial=0.0)])
    return Units(time, position, local, local / time, closure, gap, gap / time, np.array(force))


def _length(D: Array, gaps: Array, sides: Any, slides: Array, coordinates: Array) -> float:
    """L: coordinates in m, gaps, lever arms, beside motion along a line; 0 where none is known."""
    along = np.max(np.abs(D[:, slides]), axis=1, initial=0.0)
    arms = np.max(np.abs(D[:, ~slides]), axis=1, initial=0.0)
    if not np.any(slides):
        return float(np.max(arms, initial=0.0))  # lengths, or 1 of gaps that are angles
    found = [0.0, *coordinates, *(arms[along > 0] / along[along > 0])]
    for b, (_, _, kind, first, *_) in enumerate(sides):
        if kind == "gap" and along[first] > 0:
            found.append(abs(float(gaps[b])) / along[first])
    return float(max(found))


def _rounded(x: float, otherwise: float = 1.0) -> float:
    """The power of 2²⁰ nearest to a size; of another one, where it is none."""
    if not 0 < x < math.inf:
        return _rounded(otherwise) if 0 < otherwise < math.inf and otherwise != x else 1.0
    return 2.0 ** (STEP * math.floor(math.log2(x) / STEP + 0.5))


def _time(accelerations: Array, velocities: Array, length: float) -> float:
    """T: √L times a power of 2²⁰; as if weight moved it where nothing does at the start."""
    fastest = math.sqrt(np.max(accelerations, initial=0.0))
    fastest = max(fastest, float(np.max(velocities, initial=0.0)))
    usual = math.sqrt(length)
    if not 0 < fastest < math.inf:
        return usual
    return usual * _rounded(1.0 / fastest / usual)


def _force(rows: Array, yields: Array, time: float) -> float:
    """F of a block, the largest of its rows: a power of 2⁶⁰."""
    can_move = (yields > 0) & (rows > 0)
    if not np.any(can_move):
        return 1.0
    most = float(np.max(rows[can_move] / yields[can_move])) / time**2
    return 2.0 ** (FORCES * math.floor(math.log2(most) / FORCES + 0.5))


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
