"""Placing a state with its derivative: out of penetration, onto closures, velocities onto them.

Each correction is the shortest way in the metric of M onto rows that are met,

    M δ = Hᵀμ,   H δ = r:      M dδ − Hᵀdμ = −dM δ + dHᵀμ,   H dδ = dr − dH δ         (slopes-3)

so that the change of δ follows from the same factors. What the change still misses of contacts that
stay closed and of closures is taken out once more after the last of them: a state that happens to
meet its tolerances is placed as its neighbours are.

Public names: placed, projected, rates_projected.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, NOT_FINITE, POSITIONS_LOST, Entries, Run
from liaison.solvers.linear.dense import dot, largest_in

from .moreau import redundant_part
from .phases import (
    ROUNDS,
    SHALLOW,
    SHORTER,
    STRETCHED,
    held_rows,
    hovering,
    is_guarded,
    is_held,
    penetration,
    shortest_way,
)
from .rows import forget_end, free_motion, metric_of, one_sided_at_end, rows_at_end
from .tangent_loads import direct
from .tangents import Column, Room, TangentEntries, column_at, multipliers

CORRECTIONS = 4
"""Of positions onto closures at most: they are Newton's."""

HALF = 0.5
"""A correction that leaves more than this part has met rounding."""


@loop
def placed(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """q out of penetration, as `place` takes it there, with all columns."""
    q = run.landed.q
    v = run.landed.v
    for turn in range(ROUNDS):
        one_sided_at_end(e, run.t_new, q, v, run, scratch)
        deepest = penetration(run)
        off = 0.0 if turn > 1 else hovering(run)
        if not (max(deepest, off) > run.gap_tolerance):
            break
        rows_at_end(e, run.t_new, q, v, run, scratch)
        holds = 1 if off > run.gap_tolerance else 0
        rows = rows_met(e, holds, deepest, room, run, scratch)
        if rows < 0:
            return NOT_FINITE
        correct(e, rows, 1, columns, room, run, scratch)
    one_sided_at_end(e, run.t_new, q, v, run, scratch)
    return settled(e, columns, room, run, scratch)


@loop
def ways_held(holds: i64, deepest: f64, run: Run) -> i64:
    """1 if `push_out` holds closed gaps, 0 if they may open, −1 without metric; δ is found."""
    delta = run.free.v
    if shortest_way(holds, deepest, run) != GOOD:
        return -1
    if holds == 1 and deepest > SHALLOW:
        long = largest_in(run.nv, delta, run.scales.local)
        if long > STRETCHED * deepest:
            shortest_way(0, deepest, run)
            if not (largest_in(run.nv, delta, run.scales.local) > SHORTER * long):
                return 0
            shortest_way(1, deepest, run)
    return holds


@loop
def rows_met(e: Entries, holds: i64, deepest: f64, room: Room, run: Run, scratch: ptr) -> i64:
    """Rows of one correction into `run.held`, and what they ask; how many, −1 without metric."""
    nv = run.nv
    held = run.held
    right = at(held, (run.nphi + run.nb) * nv)
    q = run.landed.q
    e.terms(run.t_new, q, run.landed.v, run.u, run.p, q, run.terms.floats, scratch)
    holds = ways_held(holds, deepest, run)
    if holds < 0:
        return -1
    rows = held_rows(holds, held, run)
    guarded = 0
    met = 0
    for k in range(run.nb):
        if holds == 1 and is_held(k, run) == 1:
            room.rows_held[met] = float(k)
            met += 1
    for k in range(run.nb):
        row = run.blocks[k].first
        if is_guarded(k, holds, deepest, run) == 0 or run.chosen[guarded] != row:
            continue
        if run.problem.P[guarded] > 0.0:
            add_row(rows, k, right, run)
            room.rows_held[met] = float(k)
            met += 1
            rows += 1
        guarded += 1
    return rows


@loop
def add_row(rows: i64, k: i64, right: ptr, run: Run) -> None:
    """The row of a gap that is to be closed, after the others."""
    D = run.end.D[run.blocks[k].first]
    for i in range(run.nv):
        run.held[rows * run.nv + i] = D[i]
    right[rows] = -run.end.gap[k]


@loop
def correct(
    e: Entries, rows: i64, moves: i64, columns: i64, room: Room, run: Run, scratch: ptr
) -> None:
    """q and all columns by δ onto the rows in `run.held`; only columns where nothing moves."""
    nv = run.nv
    right = at(run.held, (run.nphi + run.nb) * nv)
    rank = metric_of(rows, flat(run.terms.M), run.held, redundant_part(run), run)
    for i in range(nv):
        room.force[i] = 0.0
        room.delta[i] = 0.0
    if moves == 1:
        free_motion(rows, rank, run.held, room.force, right, room.delta, run)
    for i in range(nv):
        room.force[i] = dot(nv, run.terms.M[i], room.delta)
    multipliers(rows, rank, room.force, room.mu, run)
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        correct_column(e, rows, rank, column, room, run, scratch)
    if moves == 1:
        q = run.landed.q
        e.retract(run.t_new, q, run.landed.v, run.u, run.p, room.delta, run.free.q, scratch)
        for i in range(run.nq):
            q[i] = run.free.q[i]
        forget_end(run)


@loop
def correct_column(
    e: Entries, rows: i64, rank: i64, column: Column, room: Room, run: Run, scratch: ptr
) -> None:
    """The change of q ⊞ δ, with that of δ."""
    nv = run.nv
    q = run.landed.q
    v = run.landed.v
    t = run.t_new
    tangents = TangentEntries(e.others)
    direct(e, t, q, v, column.end_q, column.end_v, column, room, run, scratch)
    room.h[0] = 0.0
    for i in range(nv):
        room.a[i] = room.delta[i]
        room.w[i] = room.delta[i]
    for k in range(run.nc):
        room.lam[k] = room.mu[k] if k < run.nphi else 0.0
    tangents.motion(t, q, v, run.u, run.p, room.floats, room.pushed, scratch)
    for i in range(nv):
        room.force[i] = -room.pushed[i]
    for k in range(run.nphi):
        room.right[k] = -room.phi[k] - room.turned[k]
    if rows > run.nphi:
        for r in range(run.nr):
            room.P[r] = 0.0
        for k in range(run.nphi, rows):
            b = int(room.rows_held[k - run.nphi])
            room.P[run.blocks[b].first] = room.mu[k]
        tangents.sides(t, q, v, run.u, run.p, room.floats, room.side_pushed, scratch)
        for i in range(nv):
            room.force[i] += room.side_pushed[i]
        for k in range(run.nphi, rows):
            b = int(room.rows_held[k - run.nphi])
            room.right[k] = -room.gap[b] - room.side_turned[run.blocks[b].first]
    free_motion(rows, rank, run.held, room.force, room.right, room.changed, run)
    for i in range(nv):
        room.xi[i] = room.delta[i]
        room.dxi[i] = room.changed[i]
    tangents.retract(t, q, v, run.u, run.p, room.floats, column.mid, scratch)
    for i in range(run.nq):
        column.end_q[i] = column.mid[i]


@loop
def settled(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """All columns onto contacts that stay closed, with the closures."""
    nv = run.nv
    right = at(run.held, (run.nphi + run.nb) * nv)
    met = 0
    q = run.landed.q
    e.terms(run.t_new, q, run.landed.v, run.u, run.p, q, run.terms.floats, scratch)
    rows = held_rows(0, run.held, run)
    for k in range(run.nb):
        if is_held(k, run) == 1:
            add_row(rows, k, right, run)
            room.rows_held[met] = float(k)
            met += 1
            rows += 1
    if met > 0:
        correct(e, rows, 0, columns, room, run, scratch)
    return GOOD


@loop
def projected(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """q onto closures, with all columns; then v and all columns onto their rates."""
    if run.nc == 0:
        return GOOD
    q = run.landed.q
    v = run.landed.v
    before = 1e300
    for _ in range(CORRECTIONS):
        e.terms(run.t_new, q, v, run.u, run.p, q, run.terms.floats, scratch)
        worst = largest_in(run.nphi, run.terms.phi, run.scales.closure)
        size = 1.0 + largest_in(run.nq, q, run.scales.position)
        held_rows(0, run.held, run)
        if worst <= run.tolerance[0] * size or not (worst < HALF * before):
            break
        before = worst
        correct(e, run.nphi, 1, columns, room, run, scratch)
    if not (worst <= run.lost * size):
        return POSITIONS_LOST
    if run.nphi > 0:
        correct(e, run.nphi, 0, columns, room, run, scratch)
    rates_projected(e, columns, room, run, scratch)
    return GOOD


@loop
def rates_projected(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> None:
    """v := v + δ with G δ = ν − G v, with all columns."""
    nv = run.nv
    nc = run.nc
    q = run.landed.q
    v = run.landed.v
    terms = run.terms
    e.terms(run.t_new, q, v, run.u, run.p, q, terms.floats, scratch)
    rank = metric_of(nc, flat(terms.M), flat(terms.G), redundant_part(run), run)
    for k in range(nc):
        room.right[k] = terms.nu[k] - dot(nv, terms.G[k], v)
    for i in range(nv):
        room.force[i] = 0.0
    free_motion(nc, rank, flat(terms.G), room.force, room.right, room.delta, run)
    for i in range(nv):
        room.force[i] = dot(nv, terms.M[i], room.delta)
    multipliers(nc, rank, room.force, room.mu, run)
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        rate_column(e, rank, column, room, run, scratch)
    for i in range(nv):
        v[i] += room.delta[i]


@loop
def rate_column(e: Entries, rank: i64, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """The change of v + δ."""
    nv = run.nv
    q = run.landed.q
    v = run.landed.v
    t = run.t_new
    direct(e, t, q, v, column.end_q, column.end_v, column, room, run, scratch)
    room.h[0] = 0.0
    for i in range(nv):
        room.a[i] = room.delta[i]
        room.w[i] = v[i] + room.delta[i]
    for k in range(run.nc):
        room.lam[k] = room.mu[k]
    TangentEntries(e.others).motion(t, q, v, run.u, run.p, room.floats, room.pushed, scratch)
    for i in range(nv):
        room.force[i] = -room.pushed[i]
    for k in range(run.nc):
        along = room.nu[k] - room.turned[k]
        room.right[k] = along - dot(nv, run.terms.G[k], column.end_v)
    free_motion(run.nc, rank, flat(run.terms.G), room.force, room.right, room.changed, run)
    for i in range(nv):
        column.end_v[i] += room.changed[i]
