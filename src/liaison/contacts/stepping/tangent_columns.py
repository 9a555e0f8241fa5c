"""Columns of the derivative of a step: a small change of the state or of an input, carried along.

Of every round of the step, with the change of P left out at first,

    M dΔ − Gᵀdλ = −d(M Δ − h f − Gᵀλ) + dDᵀP,   θ G dΔ = dν − dG (v + θ Δ) − G dv        (slopes-2)

by the factors that the step itself used; then dP by (slopes-1) with what y changes by, and the
velocities that dP gives. Viscous friction, which is implicit, has its terms on both sides.

Public names: begin_column, velocities_along, end_along.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import Entries, Run
from liaison.simulation.steps.sides_layout import FRICTION, STRIBECK
from liaison.solvers.linear.dense import backward_solve, dot

from .rows import free_motion
from .tangents import (
    FALLING,
    FREE,
    HELD,
    STATIC,
    Column,
    Room,
    TangentEntries,
    slip_part,
    solved_modes,
)


@loop
def begin_column(c: i64, e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """Column c of all: a change of a position by its velocity coordinate, a velocity, an input."""
    nv = run.nv
    for i in range(nv):
        room.xi[i] = 0.0
        room.dxi[i] = 1.0 if i == c else 0.0
        column.v[i] = 1.0 if nv + i == c else 0.0
    for i in range(run.nu):
        column.u[i] = 1.0 if 2 * nv + i == c else 0.0
    for i in range(run.ni):
        # overwritten by its formula
        column.u[run.input[i]] = 0.0
    for i in range(run.nq):
        room.q[i] = 0.0
    TangentEntries(e.others).retract(
        run.t, run.q, run.v, run.u, run.p, room.floats, column.q, scratch
    )


@loop
def direct(
    e: Entries, t: f64, q: ptr, v: ptr, dq: ptr, dv: ptr, column: Column, room: Room, run: Run,
    scratch: ptr,
) -> None:  # fmt: skip
    """The direction of a state into x, with inputs that are formulas; they are refreshed."""
    for i in range(run.nq):
        room.q[i] = dq[i]
    for i in range(run.nv):
        room.v[i] = dv[i]
    for i in range(run.nu):
        room.u[i] = column.u[i]
    refresh(e, t, q, v, run, scratch)
    if run.ni > 0:
        TangentEntries(e.others).inputs(t, q, v, run.u, run.p, room.floats, run.formulas, scratch)
        for i in range(run.ni):
            room.u[run.input[i]] = run.formulas[i]


@loop
def velocities_along(e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """The change of v₁ into the column."""
    nv = run.nv
    theta = run.theta
    tangents = TangentEntries(e.others)
    direct(e, run.t, run.q, run.v, column.q, column.v, column, room, run, scratch)
    if run.nr > 0:
        tangents.rates(run.t, run.q, run.v, run.u, run.p, room.floats, room.before, scratch)
    for i in range(nv):
        room.xi[i] = theta * run.h * run.v[i]
        room.dxi[i] = theta * run.h * column.v[i]
    tangents.retract(
        run.t + theta * run.h, run.q, run.v, run.u, run.p, room.floats, column.mid, scratch
    )
    for i in range(nv):
        column.after[i] = column.v[i]
    round_along(0, e, column, room, run, scratch)
    if run.rows_chosen == 0:
        round_along(1, e, column, room, run, scratch)
        return
    if has_stribeck(run) == 1:
        first_coefficients(e, column, room, run, scratch)
    round_along(2, e, column, room, run, scratch)
    for i in range(nv):
        room.earlier[i] = column.after[i] - column.v[i]
    round_along(3, e, column, room, run, scratch)


@loop
def has_stribeck(run: Run) -> i64:
    """1 if a coefficient of friction depends on the speed."""
    for k in range(run.nb):
        if run.blocks[k].kind == FRICTION and run.blocks[k].law == STRIBECK:
            return 1
    return 0


@loop
def first_coefficients(e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """The change of the free velocities, of which coefficients of the first impulses are."""
    for i in range(run.nv):
        column.end_v[i] = column.after[i]
    round_along(1, e, column, room, run, scratch)
    for i in range(run.nv):
        room.earlier[i] = column.after[i] - column.v[i]
        column.after[i] = column.end_v[i]


@loop
def round_along(n: i64, e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """(slopes-2) of round n: the change of its velocities from that of those before, `after`."""
    nv = run.nv
    theta = run.theta
    t = run.t + theta * run.h
    mean = room.mean[n]
    for i in range(nv):
        # the first round has the forces of v
        rest = column.after[i] - column.v[i] if n > 0 else 0.0
        room.force[i] = column.v[i] + theta * rest
        room.a[i] = room.change[n, i]
        room.w[i] = run.v[i] + theta * room.change[n, i]
    for k in range(run.nc):
        room.lam[k] = room.lams[n, k]
    room.h[0] = run.h
    direct(e, t, run.free.q, mean, column.mid, room.force, column, room, run, scratch)
    TangentEntries(e.others).motion(
        t, run.free.q, mean, run.u, run.p, room.floats, room.pushed, scratch
    )
    for i in range(nv):
        room.force[i] = -room.pushed[i]
    for k in range(run.nc):
        along = room.nu[k] - room.turned[k] - dot(nv, run.terms.G[k], column.v)
        room.right[k] = along / theta
    if run.nr > 0:
        sides_along(n, e, column, room, run, scratch)
    free_motion(run.nc, run.rank, flat(run.terms.G), room.force, room.right, room.changed, run)
    if n > 1:
        impulses_along(n - 2, n, room, run)
    for i in range(nv):
        column.after[i] = column.v[i] + room.changed[i]


@loop
def sides_along(n: i64, e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """Changes of unilateral rows midway; dDᵀP and what is viscous beside the force."""
    nv = run.nv
    mid = run.mid
    t = run.t + run.theta * run.h
    direct(e, t, run.free.q, run.v, column.mid, column.v, column, room, run, scratch)
    for k in range(run.nb):
        c = room.damped[k]
        for r in range(run.blocks[k].first, run.blocks[k].first + run.blocks[k].rows):
            room.P[r] = room.pushes[n, r]
            if c > 0.0:
                room.P[r] -= run.h * c * viscous_rate(n, r, room, run)
    if n > 1 and has_stribeck(run) == 1:
        for i in range(nv):
            room.w[i] = room.change[n - 1, i]
        TangentEntries(e.others).sides(
            t, run.free.q, run.v, run.u, run.p, room.floats, room.side_pushed, scratch
        )
        for r in range(run.nr):
            room.falling[r] = room.side_turned[r]
    for i in range(nv):
        room.w[i] = room.change[n, i]
    TangentEntries(e.others).sides(
        t, run.free.q, run.v, run.u, run.p, room.floats, room.side_pushed, scratch
    )
    for i in range(nv):
        room.force[i] += room.side_pushed[i]
    for k in range(run.nb):
        c = room.damped[k]
        if c > 0.0:
            for r in range(run.blocks[k].first, run.blocks[k].first + run.blocks[k].rows):
                rate = c * (run.theta * room.side_turned[r] + room.rate[r])
                rate += room.laws[k].viscous * viscous_rate(n, r, room, run)
                for i in range(nv):
                    room.force[i] -= run.h * rate * mid.D[r, i]


@loop
def viscous_rate(n: i64, r: i64, room: Room, run: Run) -> f64:
    """The rate that viscous friction of a row is of: midway between both velocities."""
    return float(run.mid.rate[r] + run.theta * dot(run.nv, run.mid.D[r], room.change[n]))


@loop
def impulses_along(s: i64, n: i64, room: Room, run: Run) -> None:
    """dP in the modes of round s of two, and what it does to the velocities."""
    nv = run.nv
    m = int(room.count[s])
    right = room.extra
    for i in range(m):
        room.dP[i] = rate_along(s, i, room, run)
    for i in range(m):
        right[i] = 0.0
        if room.kind[s, i] == HELD:
            right[i] = -room.dP[i]
        elif room.kind[s, i] != FREE:
            right[i] = slip_along(s, i, n, room, run)
    solved_modes(s, right, room.dP, room, run)
    for i in range(nv):
        room.force[i] = 0.0
    for k in range(m):
        row = run.in_metric[int(room.chosen[s, k])]
        for i in range(nv):
            room.force[i] += room.dP[k] * row[i]
    backward_solve(nv, run.metric, room.force)
    for i in range(nv):
        room.changed[i] += room.force[i]


@loop
def rate_along(s: i64, i: i64, room: Room, run: Run) -> f64:
    """The change of y of a row, its impulses held."""
    ahead = (1.0 - run.theta) / run.theta
    r = int(room.chosen[s, i])
    y = room.side_turned[r] + dot(run.nv, run.mid.D[r], room.changed)
    y += (1.0 + ahead) * room.rate[r] - ahead * room.before[r]
    if room.disc[s, i] < 0.0:
        k = block_of(r, run)
        y += room.bounce[s, k] * room.before[r]
        if room.hit[s, k] == 1.0:
            y += room.laws[k].restitution * run.sides.rate[r]
    return float(y)


@loop
def block_of(r: i64, run: Run) -> i64:
    """The block whose first row this is."""
    for k in range(run.nb):
        if run.blocks[k].first == r:
            return k
    return 0


@loop
def slip_along(s: i64, i: i64, n: i64, room: Room, run: Run) -> f64:
    """What an equation of slip has on its right: by rates, and by coefficients that change."""
    total = -room.along[s, i] * bound_along(s, i, n, room, run)
    turn = room.axis[s, i] * room.slow[s, i]
    for l in range(max(i - 1, 0), min(i + 2, int(room.count[s]))):
        across = slip_part(s, i, l, room, run)
        if across != 0.0:
            change = room.slip[s, l] * bound_along(s, l, n, room, run)
            total -= turn * across * (change + room.axis[s, l] * room.dP[l])
    return float(total)


@loop
def bound_along(s: i64, i: i64, n: i64, room: Room, run: Run) -> f64:
    """The change of a half axis by that of its coefficient alone."""
    k = int(room.disc[s, i])
    law = run.mid.laws[k]
    change = room.laws[k]
    d = change.dynamic
    along = law.dynamic
    if room.source[s, k] == STATIC:
        d = change.static
        along = law.static
    elif room.source[s, k] == FALLING:
        d = stribeck_along(s, k, n, room, run)
        along = room.steep[s, first_place(s, k, room, run)]
    pressed = 0.0
    if room.load[s, i] >= 0.0:
        pressed = room.pushes[n, int(room.chosen[s, int(room.load[s, i])])]
    else:
        return float(d * run.h)
    if i > first_place(s, k, room, run) and law.dynamic > 0.0:
        ratio = law.across / law.dynamic
        d = d * ratio + along * (change.across - ratio * change.dynamic) / law.dynamic
    return float(d * pressed)


@loop
def first_place(s: i64, k: i64, room: Room, run: Run) -> i64:
    """The place of the first row of a block of friction."""
    for i in range(int(room.count[s])):
        if room.disc[s, i] == float(k):
            return i
    return 0


@loop
def stribeck_along(s: i64, k: i64, n: i64, room: Room, run: Run) -> f64:
    """The change of a coefficient that falls with the speed midway of the round before."""
    law = run.mid.laws[k]
    change = room.laws[k]
    total = 0.0
    square = 0.0
    for r in range(run.blocks[k].first, run.blocks[k].first + run.blocks[k].rows):
        D = run.mid.D[r]
        u = run.mid.rate[r] + run.theta * dot(run.nv, D, room.change[n - 1])
        du = room.rate[r] + run.theta * (room.falling[r] + dot(run.nv, D, room.earlier))
        total += u * du
        square += u * u
    speed = sqrt(square)
    ratio = speed / law.speed
    falls = exp(-ratio * ratio)
    d = total / speed if speed > 0.0 else 0.0
    d = (d - ratio * change.speed) / law.speed
    rest = (1.0 - falls) * change.dynamic + falls * change.static
    return float(rest - 2.0 * ratio * d * falls * (law.static - law.dynamic))


@loop
def end_along(e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """The change of where the step ends, before it is placed; `run.y` is ξ and v₁."""
    nv = run.nv
    theta = run.theta
    tangents = TangentEntries(e.others)
    for i in range(nv):
        room.force[i] = (1.0 - theta) * run.v[i] + theta * run.y[nv + i]
        room.v[i] = (1.0 - theta) * column.v[i] + theta * column.after[i]
        room.dxi[i] = run.h * room.v[i]
        column.end_v[i] = column.after[i]
    for i in range(run.nq):
        room.q[i] = column.q[i]
    if run.turns > 0:
        for i in range(nv):
            room.xi[i] = theta * run.h * room.force[i]
            room.dxi[i] = theta * room.dxi[i]
        t = run.t + theta * run.h
        tangents.local_rate(t, run.q, room.force, run.u, run.p, room.floats, room.changed, scratch)
        for i in range(nv):
            room.dxi[i] = run.h * room.changed[i]
    for i in range(nv):
        room.xi[i] = run.y[i]
    tangents.retract(run.t_new, run.q, run.v, run.u, run.p, room.floats, column.end_q, scratch)
