"""What the time loop asks of a mechanism, answered in its present mode.

Rows that hold now stand beside the closures: open ones are rows of zeros, which ask nothing. So the
time loop steps, lands on closures and looks for events as it does without contacts; the sign
changes it looks for besides are those at which a mode ends.

Public names: modal_rate, modal_closure, modal_terms, modal_correct_q, modal_correct_v,
modal_events, write_ends, inside, BROKEN.

Source: docs/theory/one_sided.md (modal-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.sides_layout import (
    FRICTION,
    GAP,
    LOCKED,
    OPEN,
    REGULARIZED,
    STICK,
    Asked,
    Sides,
)
from liaison.solvers.linear.dense import dot

from .bearings import solve_motion
from .edges import EDGE, is_past_edge
from .metric import is_along_paths, measure, shortest_way
from .modal import compliant, is_pressed, resists
from .sliding import sliding_margin
from .touching import NO_MOTION, can_stay
from .turning import slip_left

NOT_A_NUMBER = float("nan")

BROKEN = 1e-7
"""Rate W v + w, in its unit, of a relation whose row vanished at which it is not kept."""


@loop
def is_free(sides: Sides) -> i64:
    """1 if all is open and nothing has friction: the mechanism moves as if it were alone."""
    if sides.helds > 0:
        return 0
    for b in range(sides.nb):
        if sides.mode[b] != OPEN:
            return 0
    return 1


@loop
def modal_rate(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """ξ̇, v̇ and what they miss at q ⊞ ξ; not a number where there is no motion in this mode."""
    if is_free(sides) == 1:
        sides.free.rate(t, q, v, u, p, x, out, work)
        return
    nv = sides.nv
    there = sides.there
    sides.free.local_rate(t, q, v, u, p, x, out, work)
    sides.free.retract(t, q, v, u, p, x, there, work)
    measure(sides, t, there, v, u, p, work)
    failed = solve_motion(sides, t, there, v, u, p, work)
    for i in range(nv):
        out[nv + i] = sides.vdot[i] if failed == 0 else NOT_A_NUMBER
    out[2 * nv] = 0.0


@loop
def is_held(sides: Sides, row: i64) -> i64:
    """1 if a unilateral row holds now."""
    b = sides.block_of[row]
    return 1 if sides.mode[b] == STICK and is_past_edge(sides, b) == 0 else 0


@loop
def lock_rate(sides: Sides, lock: i64, v: ptr) -> f64:
    """The rate of a row that is locked since a relation of rates degenerated; 0 of none."""
    if lock >= sides.helds:
        return 0.0
    rate = 0.0
    for i in range(sides.nv):
        rate += sides.held[lock, i] * v[i]
    return rate


@loop
def modal_closure(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """Φ and gaps, then all rates, of rows that hold now."""
    nc = sides.nc
    nphi = sides.nphi
    both = sides.both
    if nc > 0:
        sides.free.closure(t, q, v, u, p, q, both, work)
    sides.free.one_sided(t, q, v, u, p, q, sides.seen.floats, work)
    total = nphi + sides.ngaps
    for k in range(sides.nrows):
        row = sides.row_order[k]
        value = 0.0
        rate = 0.0
        if row < nc:
            value = both[row] if row < nphi else 0.0
            rate = both[nphi + row]
        elif row < nc + sides.nr:
            if is_held(sides, row - nc) == 1:
                value = sides.seen.gap[sides.block_of[row - nc]]
                rate = sides.seen.rate[row - nc]
        else:
            rate = lock_rate(sides, row - nc - sides.nr, v)
        if k < total:
            out[k] = value
        out[total + k] = rate


@loop
def modal_terms(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """M, rows that hold now, f, γ = 0, Φ and gaps, ν: what a projection asks."""
    nv = sides.nv
    nc = sides.nc
    measure(sides, t, q, v, u, p, work)
    terms = sides.terms
    if sides.is_swept > 0:
        sides.free.terms(t, q, v, u, p, q, terms.floats, work)
    asked = Asked(out, sides)
    for i in range(nv):
        asked.f[i] = terms.f[i]
        for j in range(nv):
            asked.M[i, j] = terms.M[i, j]
    for k in range(sides.nrows):
        row = sides.row_order[k]
        is_on = 1
        source = flat(terms.G)[min(row, max(nc - 1, 0)) * nv :]
        value = terms.phi[row] if row < sides.nphi else 0.0
        rate = terms.nu[row] if row < nc else 0.0
        if row >= nc + sides.nr:
            lock = row - nc - sides.nr
            is_on = 1 if lock < sides.helds else 0
            source = flat(sides.held)[lock * nv :]
        elif row >= nc:
            is_on = is_held(sides, row - nc)
            source = sides.seen.D[row - nc]
            value = sides.seen.gap[sides.block_of[row - nc]]
            rate = -sides.seen.rate[row - nc]
            for i in range(nv):
                rate += source[i] * v[i]
        for i in range(nv):
            asked.G[k, i] = source[i] if is_on == 1 else 0.0
        asked.gamma[k] = 0.0
        asked.nu[k] = rate if is_on == 1 else 0.0
        if k < sides.nphi + sides.ngaps:
            asked.phi[k] = value if is_on == 1 else 0.0


@loop
def list_held(sides: Sides, level: i64, v: ptr, G: ptr, right: ptr) -> i64:
    """Rows that hold now and what they ask of positions (0) or velocities (1); how many."""
    nv = sides.nv
    nc = sides.nc
    terms = sides.terms
    seen = sides.seen
    rows = 0
    for k in range(sides.nphi if level == 0 else nc):
        source = terms.G[k]
        ask = -terms.phi[k] if level == 0 else terms.nu[k] - dot(nv, source, v)
        rows = put_held(nv, rows, source, ask, G, right)
    for row in range(sides.nr):
        b = sides.block_of[row]
        is_asked = 1 if level == 1 or sides.blocks[b].kind == GAP else 0
        if is_asked == 1 and is_held(sides, row) == 1:
            ask = -seen.gap[b] if level == 0 else -seen.rate[row]
            rows = put_held(nv, rows, seen.D[row], ask, G, right)
    for lock in range(sides.helds if level == 1 else 0):
        ask = -lock_rate(sides, lock, v)
        rows = put_held(nv, rows, sides.held[lock], ask, G, right)
    return rows


@loop
def put_held(nv: i64, rows: i64, source: ptr, ask: f64, G: ptr, right: ptr) -> i64:
    """One more row; how many there are then."""
    for i in range(nv):
        G[rows * nv + i] = source[i]
    right[rows] = ask
    return rows + 1


@loop
def correct(
    sides: Sides, level: i64, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, out: ptr, work: ptr
) -> None:
    """The shortest δ to where the rows that hold now hold, in the metric of M by sweeps."""
    measure(sides, t, q, v, u, p, work)
    G = sides.area
    right = at(G, sides.nrows * sides.nv)
    rows = list_held(sides, level, v, G, right)
    first = sides.nc if is_along_paths(sides) == 1 and (level == 1 or sides.nphi == sides.nc) else 0
    shortest_way(sides, first, rows, G, right, out, at(right, sides.nrows))


@loop
def modal_correct_q(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """δ of positions."""
    correct(sides, 0, t, q, v, u, p, out, work)


@loop
def modal_correct_v(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """δ of velocities."""
    correct(sides, 1, t, q, v, u, p, out, work)


@loop
def inside(sides: Sides, b: i64) -> f64:
    """How far the force of a sticking block is inside its bound, in units of its load."""
    block = sides.blocks[b]
    law = sides.seen.laws[b]
    load = sides.load[b]
    if block.load >= 0:
        load = sides.force[sides.blocks[block.load].first]
    size = 0.0
    for k in range(block.rows):
        limit = law.static
        if k == 1 and law.dynamic > 0.0:
            limit = limit * law.across / law.dynamic
        part = sides.force[block.first + k] / max(limit, 1e-300)
        size += part * part
    return float(load - sqrt(size))


@loop
def eased(sides: Sides, row: i64) -> f64:
    """How far below zero the force of a row may fall where contacts could not decide at an instant.

    It is what gives the acceleration that counts as none there; 0 where nothing was in doubt.
    """
    if sides.ease <= 1.0:
        return 0.0
    x = sides.in_metric
    compliant(sides, row, x)
    yields = dot(sides.nv, x, x)
    unit = sides.scales.acceleration[sides.block_of[row]]
    return sides.ease * NO_MOTION * unit / yields if yields > 0.0 else 0.0


@loop
def write_ends(sides: Sides, out: ptr) -> None:
    """For every block a number that falls through zero where its mode ends."""
    for b in range(sides.nb):
        block = sides.blocks[b]
        mode = sides.mode[b]
        out[b] = 1.0
        if block.kind != FRICTION:
            if mode == LOCKED:
                # what it forbids is held, so that its rate is none; −u is W v + w
                out[b] = sides.seen.rate[block.first] + BROKEN * sides.scales.rate[b]
            elif mode != OPEN:
                is_past = is_past_edge(sides, b)
                force = sides.force[block.first] + eased(sides, block.first)
                out[b] = (
                    force * sliding_margin(sides, b)
                    if is_past == 0
                    else -EDGE * sides.scales.force[b]
                )
            elif block.kind == GAP:
                out[b] = sides.seen.gap[b] - sides.level[b]
            else:
                out[b] = sides.seen.rate[block.first]
        elif block.law != REGULARIZED and is_pressed(sides, b) == 1 and resists(sides, b) == 1:
            out[b] = inside(sides, b) if mode == STICK else slip_left(sides, b)


@loop
def modal_events(
    sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """Events of the mechanism and of the caller, and ends of modes."""
    if sides.own > 0:
        sides.free.events(t, q, v, u, p, x, out, work)
    failed = 0
    if is_free(sides) == 1:
        sides.free.one_sided(t, q, v, u, p, q, sides.seen.floats, work)
    else:
        measure(sides, t, q, v, u, p, work)
        failed = solve_motion(sides, t, q, v, u, p, work)
    write_ends(sides, at(out, sides.own))
    if sides.watches > 0 and failed == 0:
        stays = can_stay(sides)
        for b in range(sides.nb):
            if sides.watched[b] == 1:
                out[sides.own + b] = stays
    if failed != 0:
        for b in range(sides.nb):
            out[sides.own + b] = NOT_A_NUMBER
