"""Slip of several components: the way it has, where it ends, and how fast it turns.

Its size never becomes negative, so that no sign shows its end. What shows it is the slip along the
way that it had where the step began. This falls through zero where slip ends, and as well where it
has turned by a right angle; there its size decides, and it goes on another way.

    u = |u| d,   ḋ = P u̇/|u|,   P = 1 − d dᵀ,   h ≤ |u| min(TURN/|P u̇|, STABLE/λ)       (turn-1)

    λ = max_k (D M⁻¹ Dᵀ)_kk μ_k² N/|μ u|

Disturbances across d decay at the rate λ, the faster the slower slip is, and steps of z = λ h blow
them up by z⁴/24 where z is more than a few. Adaptive steps see that by their error; fixed ones are
divided, unless slip goes straight on.

Public names: is_turning, slip_left, renew_ways, go_on_turned, divide_turn.

Source: docs/theory/one_sided.md (turn-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import derivative, refresh
from liaison.simulation.steps.layout import GOOD, Entries, Run
from liaison.simulation.steps.sides_layout import FRICTION, REGULARIZED, SLIP, Sides
from liaison.solvers.linear.dense import dot

from .modal import SLOW, coefficient, compliant, is_pressed, resists, resting_part
from .touching import slip_size

TURN, STABLE = 0.25, 1.0
"""Angle [rad] by which slip turns in a fixed step, and its length in times of decay, at most."""

STRAIGHT = 1e-12
"""Angle [rad] by which slip is off its way, at the end of a step, where it goes straight on."""

LEAST_PART = 1.0 / 4096.0
"""Of a fixed step."""


@loop
def is_turning(sides: Sides, b: i64) -> i64:
    """1 of friction that slips in several components, whose way is a direction and no sign."""
    block = sides.blocks[b]
    is_slip = 1 if block.kind == FRICTION and sides.mode[b] == SLIP else 0
    return 1 if is_slip == 1 and block.rows > 1 and block.law != REGULARIZED else 0


@loop
def slip_left(sides: Sides, b: i64) -> f64:
    """The slip along the way it had where the step began: zero where it ends, or turns aside."""
    block = sides.blocks[b]
    size = 0.0
    along = 0.0
    for k in range(block.rows):
        u = sides.seen.rate[block.first + k]
        size += u * u
        along += u * sides.slip[block.first + k]
    if block.rows > 1 and sqrt(size) >= 10.0 * SLOW * sides.scales.rate[b]:
        sides.fast[b] = 1
    return float(along)


@loop
def renew_ways(sides: Sides, e: Entries, run: Run, scratch: ptr) -> i64:
    """The way of every slip at the beginning of a step; how many are fast enough to have one."""
    turning = 0
    for b in range(sides.nb):
        turning += is_turning(sides, b)
    if turning == 0:
        return 0
    q = run.q
    v = run.v
    refresh(e, run.t, q, v, run, scratch)
    sides.free.one_sided(run.t, q, v, run.u, run.p, q, sides.seen.floats, scratch)
    turning = 0
    for b in range(sides.nb):
        size = slip_size(sides, b) if is_turning(sides, b) == 1 else 0.0
        if size >= SLOW * sides.scales.rate[b]:
            turning += 1
            first = sides.blocks[b].first
            for k in range(sides.blocks[b].rows):
                sides.slip[first + k] = sides.seen.rate[first + k] / size
            if is_pressed(sides, b) == 1 and resists(sides, b) == 1:
                run.before[sides.own + b] = size
                run.sign[sides.own + b] = 1.0
    return turning


@loop
def go_on_turned(sides: Sides) -> None:
    """Slip that passes zero at some distance has not ended: it goes on another way."""
    for b in range(sides.nb):
        is_fast = 1 if slip_size(sides, b) > 2.0 * SLOW * sides.scales.rate[b] else 0
        if is_turning(sides, b) * is_fast == 1 and sides.ended[b] == 1:
            sides.ended[b] = 0


@loop
def divide_turn(sides: Sides, e: Entries, run: Run, scratch: ptr) -> None:
    """A fixed step is taken in parts where slip turns fast in it; its first stage is known then."""
    nv = run.nv
    y = run.stage
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = run.v[i]
    run.is_fresh = 0
    if derivative(e, run.t, y, run.k[0], run, scratch) != GOOD:
        return
    run.is_fresh = 1
    part = run.step
    for b in range(sides.nb):
        size = slip_size(sides, b) if is_turning(sides, b) == 1 else 0.0
        if size >= SLOW * sides.scales.rate[b]:
            part = min(part, part_of_turn(sides, b, size, part))
    if part < run.step:
        part = max(part, LEAST_PART * run.step)
        run.h_part = min(part, run.h_part) if run.h_part > 0.0 else part


@loop
def part_of_turn(sides: Sides, b: i64, size: f64, whole: f64) -> f64:
    """How long a part of a step may be in which slip of this size turns; `whole` if it may."""
    nv = sides.nv
    first = sides.blocks[b].first
    rows = sides.blocks[b].rows
    way = sides.slip[first:]
    along = 0.0
    square = 0.0
    for k in range(rows):
        row = first + k
        rate = dot(nv, sides.seen.D[row], sides.vdot) + sides.seen.bias[row]
        along += rate * way[k]
        square += rate * rate
    across = sqrt(max(square - along * along, 0.0))
    part = TURN * size / across if across > 0.0 else whole
    rate = decay_rate(sides, b, size)
    z = rate * whole
    blown_up = across / max(rate * size, 1e-300) * max(1.0, z * z * z * z / 24.0)
    if blown_up > STRAIGHT:
        part = min(part, STABLE / rate)
    return min(part, whole)


@loop
def decay_rate(sides: Sides, b: i64, size: f64) -> f64:
    """The largest rate at which slip loses what it has across its way, closures kept."""
    block = sides.blocks[b]
    law = sides.seen.laws[b]
    load = sides.load[b]
    if block.load >= 0:
        load = sides.force[sides.blocks[block.load].first]
    part = resting_part(sides, b, size)
    square = 0.0
    most = 0.0
    for k in range(block.rows):
        row = block.first + k
        mu = coefficient(law, k, part)
        square += mu * mu * sides.slip[row] * sides.slip[row]
        compliant(sides, row, sides.in_metric)
        most = max(most, mu * mu * dot(sides.nv, sides.in_metric, sides.in_metric))
    return most * abs(load) / (size * sqrt(square)) if square > 0.0 else 0.0
