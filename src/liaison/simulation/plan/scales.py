"""Scales of a mechanism with contacts: the units in which its tolerances are measured.

A gap of 1e-9 is none in a mechanism of 1 m; in one of 1 µm it is a thousandth of all there is. So a
tolerance of contacts is a pure number, and what it is compared with has a unit of its own:

    local coordinate i    s_i = 1 rad, or the length L of the mechanism
    block b               ℓ_b = max |D_ri| s_i over its rows: what its gap changes by
    time                  T = 1/max(|u_r|/ℓ_b, √(|a_r|/ℓ_b)) over all rows
    rate, acceleration    ℓ_b/T, ℓ_b/T²
    force                 ℓ_b/(T² D_r M⁻¹ D_rᵀ)                                          (scales-1)

at the start, with the rates u of the rows and their accelerations a without forces of contacts. L
is the largest length of what moves: shapes, markers, sizes of contacts; where the description has
none in numbers, the largest lever arm of the rows, else 1 m. T is at most the duration of the run,
or √L if that is longer. A gap that is an angle, or a formula of any unit, is measured by what it
changes by, as one in m is.

Each is rounded to the nearest power of 2²⁰ (rates and times of √ℓ times such powers, accelerations
of 2⁴⁰, forces of 2⁶⁰). So a mechanism of 1 mm to 1 km has the units of SI, no unit is off by more
than one of that range would be, and a mechanism scaled by 2⁻²⁰ under the same weight has the same
tolerances beside its size.

Public names: NO_FACE, Units, units_of, power_near, fill_scales, fill_run_scales.

Source: docs/theory/one_sided.md (scales-1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program.kernel import Kernel
from liaison.simulation.events.watched import sides_in

from .plan import Plan
from .settings import ATOL

LENGTHS, ACCELERATIONS, FORCES = 20.0, 40.0, 60.0
"""Binary logarithms of what one unit is apart from the next; lengths, rates and times alike."""

NO_FACE = 1.0
"""The gap [m] that stands for none where neither face nor edge is near."""

KEPT = 16
"""Starts whose units a kernel keeps: to run again from one of them costs nothing."""

UNMOVED = 1e-20
"""A row that yields by no more than this part of the most is one that nothing moves."""

SMALL = 1e-12
"""Part of the most that a gap, or a closure, changes by below which what another one does is
rounding."""


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
        acceleration: ℓ/T² of every block.
        force: of every block.
    """

    time: float
    position: Array
    local: Array
    velocity: Array
    closure: Array
    gap: Array
    rate: Array
    acceleration: Array
    force: Array


def units_of(plan: Plan) -> Units:
    """The units of a run, from the state that it begins at; all 1 where nothing is unilateral."""
    kernel = getattr(plan.kernel, "base", plan.kernel)  # a kernel of modes has one without
    state = plan.state
    arrays = state.q, state.v, plan.inputs.held, plan.parameters
    key = (state.t, plan.until, *(np.asarray(x).tobytes() for x in arrays))
    table: dict[Any, Units] = kernel.prepared.setdefault("units", {})
    known = table.get(key)
    if known is None:
        if len(table) >= KEPT:
            table.pop(next(iter(table)), None)
        known = table[key] = _units(plan, kernel)
    return known


def _too_fast(plan: Plan) -> SimulationError:
    """Of speeds whose squares are not finite."""
    k = int(np.argmax(np.abs(plan.state.v)))
    label, speed = plan.program.labels["v"][k], plan.state.v[k]
    return SimulationError(
        f"the start has {label.name} = {speed:.6g} {label.unit}: so fast that impacts cannot be "
        "computed, since squares of speeds are not finite.",
        hint="Give a slower start; look at the unit that it is stated in.",
        status="not finite",
    )


def _units(plan: Plan, kernel: Kernel) -> Units:
    """The units of a run, computed."""
    sides = sides_in(plan.program)
    nv, nc, nb = plan.size("nv"), int(kernel.program.sizes.get("nc", 0)), len(sides)
    ordinary = Units(1.0, *map(np.ones, (plan.size("nq"), nv, nv, nc, nb, nb, nb, nb)))
    if not sides or plan.is_scene or not nv:
        return ordinary
    here: dict[str, Any] = {"t": plan.state.t, "q": plan.state.q, "v": plan.state.v}
    here |= {"u": plan.inputs.held, "p": plan.parameters}
    seen = kernel.call("one_sided", **here)
    D = np.reshape(seen["D"], (-1, nv))
    G, vdot, yields = _free(kernel, here, D)
    slides = np.array([x.unit == "m/s" for x in kernel.program.labels["v"]])
    is_length = np.array([x.unit == "m" for x in kernel.program.labels["q"]])
    length = float(plan.program.facts.get("length", 0.0)) or _arm(D, slides) or 1.0
    s = np.where(slides, length, 1.0)
    rows = np.max(np.abs(D) * s, axis=1)
    rows = np.where(rows > SMALL * np.max(rows), rows, length)
    moves = seen["rate"], D @ vdot + seen["bias"]
    duration = plan.until - plan.state.t
    longest = max(duration if math.isfinite(duration) else 0.0, math.sqrt(length))
    time = _time(rows, *moves, longest)
    if not time**2 > 0.0:
        raise _too_fast(plan)
    blocks = [slice(x[3], x[3] + x[4]) for x in sides]
    size = [float(np.max(rows[x])) for x in blocks]
    least = UNMOVED * float(np.max(yields, initial=0.0))
    forces = [_force(rows[x], yields[x], least) / time**2 for x in blocks]
    closures = np.max(np.abs(G) * s, axis=1, initial=0.0)
    closures = np.where(closures > SMALL * np.max(closures, initial=0.0), closures, length)
    clock = power_near(time, root=power_near(length))
    return Units(
        clock,
        np.where(is_length, power_near(length), 1.0),
        np.where(slides, power_near(length), 1.0),
        np.where(slides, _rate(length, time), 1.0 / clock),
        np.array([power_near(x) for x in closures]),
        np.array([power_near(x) for x in size]),
        np.array([_rate(x, time) for x in size]),
        np.array([power_near(x / time**2, ACCELERATIONS) for x in size]),
        np.array([power_near(x, FORCES) for x in forces]),
    )


def _free(kernel: Kernel, here: Mapping[str, Any], D: Array) -> tuple[Array, Array, Array]:
    """G, M⁻¹ f, and D M⁻¹ Dᵀ of every row; by sweeps over nodes where a kernel has them."""
    nv = D.shape[1]
    if "yields" in kernel.program.entries:
        terms = kernel.call("terms_beside_mass", **here)
        x = np.concatenate([D.ravel(), terms["f"]])
        answer = kernel.call("yields", **here, x=x)
        return np.reshape(terms["G"], (-1, nv)), answer["vdot"], answer["yields"]
    terms = kernel.call("terms", **here)
    M = np.reshape(terms["M"], (nv, nv))
    free = np.linalg.lstsq(M, np.column_stack([terms["f"], D.T]), rcond=None)[0]
    yields = np.einsum("ri,ir->r", D, free[:, 1:])
    return np.reshape(terms["G"], (-1, nv)), np.asarray(free[:, 0], dtype=float), yields


def _arm(D: Array, slides: NDArray[np.bool_]) -> float:
    """The largest lever arm of the rows beside motion along a line; 0 where there is none.

    Of a mechanism that only turns, what gaps change by: a length, or 1 of gaps that are angles.
    """
    along = np.max(np.abs(D[:, slides]), axis=1, initial=0.0)
    arms = np.max(np.abs(D[:, ~slides]), axis=1, initial=0.0)
    if not np.any(slides):
        return float(np.max(arms, initial=0.0))
    return float(np.max(arms[along > 0] / along[along > 0], initial=0.0))


def _time(rows: Array, rates: Array, accelerations: Array, longest: float) -> float:
    """T: how long what is unilateral takes for its lengths."""
    fastest = float(np.max(np.abs(rates) / rows, initial=0.0))
    fastest = max(fastest, math.sqrt(float(np.max(np.abs(accelerations) / rows, initial=0.0))))
    return 1.0 / max(fastest, 1.0 / longest)


def _force(rows: Array, yields: Array, least: float) -> float:
    """ℓ/(D M⁻¹ Dᵀ) of a block, the largest of its rows that can move: by more than rounding."""
    can_move = yields > least
    return float(np.max(rows[can_move] / yields[can_move], initial=0.0))


def _rate(length: float, time: float) -> float:
    """The unit of ℓ/T."""
    return power_near(length / time, root=power_near(length))


def power_near(x: float, step: float = LENGTHS, *, root: float = 1.0) -> float:
    """The power of 2²⁰, or of another step, nearest to a size; times √root; 1 where it is none."""
    if not 0 < x < math.inf:
        return 1.0
    base = math.sqrt(root)
    return base * math.ldexp(1.0, int(step * math.floor(math.log2(x / base) / step + 0.5)))


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
    for name in ("gap", "rate", "acceleration", "force"):
        place = getattr(scales, name)
        place[:] = getattr(units, name)[: len(place)]


def fill_run_scales(run: Any, units: Units, rows: Array) -> None:
    """Units of a run, and the absolute errors that it allows by default."""
    fill_scales(run.scales, units, rows)
    if float(run.atol) == ATOL:
        run.atols[:] = ATOL * np.concatenate([units.local, units.velocity])
