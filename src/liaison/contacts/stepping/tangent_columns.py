"""Columns of the derivative of a step: a small change of the state or of an input, carried along.

Of every round of the step, with the change of P left out at first,

    M dΔ − Gᵀdλ = −d(M Δ − h f − Gᵀλ) + dDᵀP,   θ G dΔ = dν − dG (v + θ Δ) − G dv        (slopes-2)

by the factors that the step itself used; then dP by (slopes-1) with what y changes by, and the
velocities that dP gives. Viscous friction, which is implicit, has its terms on both sides.

Public names: begin_column, direct, begin_rounds, round_along, end_along, has_stribeck.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.layout import Entries, Run
from liaison.simulation.steps.sides_layout import FRICTION, STRIBECK
from liaison.solvers.cones.cones import reachable_factor, reachable_numbers, take_reachable
from liaison.solvers.linear.dense import backward_solve, dot

from .modes import SLOW
from .moreau import FEW_VELOCITIES
from .rows import free_motion
from .tangent_loads import direct, loads_along
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
def begin_rounds(e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """The changes of the rates at the beginning and of q_θ, before the first round."""
    nv = run.nv
    theta = run.theta
    tangents = TangentEntries(e.others)
    direct(e, run.t, run.q, run.v, column.q, column.v, column, room, run, scratch)
    if run.nr > 0:
        tangents.rates(run.t, run.q, run.v, run.u, run.p, room.floats, column.before, scratch)
    for i in range(nv):
        room.xi[i] = theta * run.h * run.v[i]
        room.dxi[i] = theta * run.h * column.v[i]
        column.fed[i] = column.v[i]
        column.after[i] = column.v[i]
    tangents.retract(
        run.t + theta * run.h, run.q, run.v, run.u, run.p, room.floats, column.mid, scratch
    )


@loop
def has_stribeck(run: Run) -> i64:
    """1 if a coefficient of friction depends on the speed."""
    for k in range(run.nb):
        if run.blocks[k].kind == FRICTION and run.blocks[k].law == STRIBECK:
            return 1
    return 0


@loop
def round_along(
    pushes: i64, e: Entries, column: Column, room: Room, run: Run, scratch: ptr
) -> None:
    """(slopes-2) of a round, and (slopes-1) where it has impulses: the change of its velocities."""
    nv = run.nv
    theta = run.theta
    t = run.t + theta * run.h
    for i in range(nv):
        column.last[i] = column.after[i]
        room.force[i] = column.v[i] + theta * (column.fed[i] - column.v[i])
        room.a[i] = room.change[i]
        room.w[i] = run.v[i] + theta * room.change[i]
    for k in range(run.nc):
        room.lam[k] = room.lams[k]
    room.h[0] = run.h
    direct(e, t, run.free.q, room.mean, column.mid, room.force, column, room, run, scratch)
    TangentEntries(e.others).motion(
        t, run.free.q, room.mean, run.u, run.p, room.floats, room.pushed, scratch
    )
    for i in range(nv):
        room.force[i] = -room.pushed[i]
    for k in range(run.nc):
        along = room.nu[k] - room.turned[k] - dot(nv, run.terms.G[k], column.v)
        room.right[k] = along / theta
    if run.nf > 0:
        loads_along(e, column, room, run, scratch)
    if run.nr > 0:
        sides_along(pushes, e, column, room, run, scratch)
    free_motion(run.nc, run.rank, flat(run.terms.G), room.force, room.right, room.changed, run)
    if pushes == 1 and room.count[0] > 0.0:
        impulses_along(column, room, run)
    for i in range(nv):
        column.after[i] = column.v[i] + room.changed[i]


@loop
def sides_along(
    pushes: i64, e: Entries, column: Column, room: Room, run: Run, scratch: ptr
) -> None:
    """Changes of unilateral rows midway; dDᵀP and what is viscous beside the force."""
    nv = run.nv
    mid = run.mid
    t = run.t + run.theta * run.h
    direct(e, t, run.free.q, run.v, column.mid, column.v, column, room, run, scratch)
    for k in range(run.nb):
        c = room.damped[k]
        for r in range(run.blocks[k].first, run.blocks[k].first + run.blocks[k].rows):
            room.P[r] = room.pushes[r]
            if c > 0.0:
                room.P[r] -= run.h * c * viscous_rate(r, room, run)
    if pushes == 1 and has_stribeck(run) == 1:
        for i in range(nv):
            room.w[i] = room.last[i]
        TangentEntries(e.others).sides(
            t, run.free.q, run.v, run.u, run.p, room.floats, room.side_pushed, scratch
        )
        for r in range(run.nr):
            room.falling[r] = room.side_turned[r]
    for i in range(nv):
        room.w[i] = room.change[i]
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
                rate += room.laws[k].viscous * viscous_rate(r, room, run)
                for i in range(nv):
                    room.force[i] -= run.h * rate * mid.D[r, i]


@loop
def viscous_rate(r: i64, room: Room, run: Run) -> f64:
    """The rate that viscous friction of a row is of: midway between both velocities."""
    return float(run.mid.rate[r] + run.theta * dot(run.nv, run.mid.D[r], room.change))


@loop
def impulses_along(column: Column, room: Room, run: Run) -> None:
    """dP in the modes of the round, and what it does to the velocities."""
    nv = run.nv
    m = int(room.count[0])
    right = room.extra
    for i in range(m):
        room.dP[i] = rate_along(i, column, room, run)
    if run.nv > FEW_VELOCITIES:
        leave_out_along(m, column, room, run)
    for i in range(m):
        right[i] = 0.0
        if room.kind[i] == HELD:
            right[i] = -room.dP[i]
        elif room.kind[i] != FREE:
            right[i] = slip_along(i, column, room, run)
    solved_modes(right, room.dP, room, run)
    for i in range(nv):
        room.force[i] = 0.0
    for k in range(m):
        row = run.in_metric[int(room.chosen[k])]
        for i in range(nv):
            room.force[i] += room.dP[k] * row[i]
    backward_solve(nv, run.metric, room.force)
    for i in range(nv):
        room.changed[i] += room.force[i]


@loop
def leave_out_along(m: i64, column: Column, room: Room, run: Run) -> None:
    """What rates change by to the end of the step, as far as forces can, as `taken_on` has it.

    What these forces are is taken as it is: what is left out is small, and its change smaller.
    """
    ahead = (1.0 - run.theta) / run.theta
    A = run.problem.A
    taken = at(run.area, reachable_numbers(m))
    change = at(taken, m)
    for i in range(m):
        r = int(room.chosen[i])
        taken[i] = ahead * (run.mid.rate[r] - run.sides.rate[r])
        change[i] = ahead * (room.rate[r] - column.before[r])
        if room.disc[i] < 0.0:
            k = block_of(r, run)
            u = run.sides.rate[r]
            if u >= 0.0 and u < SLOW * run.scales.rate[k]:
                taken[i] += room.bounce[k] * u
                change[i] += room.bounce[k] * column.before[r]
    if reachable_factor(m, A, taken, run.area) == 1:
        for i in range(m):
            room.dP[i] -= change[i]
        take_reachable(m, A, taken, change, run.area)
        for i in range(m):
            room.dP[i] += change[i]


@loop
def rate_along(i: i64, column: Column, room: Room, run: Run) -> f64:
    """The change of y of a row, its impulses held."""
    ahead = (1.0 - run.theta) / run.theta
    r = int(room.chosen[i])
    y = room.side_turned[r] + dot(run.nv, run.mid.D[r], room.changed)
    y += (1.0 + ahead) * room.rate[r] - ahead * column.before[r]
    if room.disc[i] < 0.0:
        k = block_of(r, run)
        y += room.bounce[k] * column.before[r]
        if room.hit[k] == 1.0:
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
def slip_along(i: i64, column: Column, room: Room, run: Run) -> f64:
    """What an equation of slip has on its right: by rates, and by coefficients that change."""
    total = -room.along[i] * bound_along(i, column, room, run)
    turn = room.axis[i] * room.slow[i]
    for l in range(max(i - 1, 0), min(i + 2, int(room.count[0]))):
        across = slip_part(i, l, room, run)
        if across != 0.0:
            change = room.slip[l] * bound_along(l, column, room, run)
            total -= turn * across * (change + room.axis[l] * room.dP[l])
    return float(total)


@loop
def bound_along(i: i64, column: Column, room: Room, run: Run) -> f64:
    """The change of a half axis by that of its coefficient alone."""
    k = int(room.disc[i])
    law = run.mid.laws[k]
    change = room.laws[k]
    d = change.dynamic
    along = law.dynamic
    if room.source[k] == STATIC:
        d = change.static
        along = law.static
    elif room.source[k] == FALLING:
        d = stribeck_along(k, column, room, run)
        along = room.steep[first_place(k, room, run)]
    pressed = 0.0
    if room.load[i] >= 0.0:
        pressed = room.pushes[int(room.chosen[int(room.load[i])])]
    else:
        return float(d * run.h)
    if i > first_place(k, room, run) and law.dynamic > 0.0:
        ratio = law.across / law.dynamic
        d = d * ratio + along * (change.across - ratio * change.dynamic) / law.dynamic
    return float(d * pressed)


@loop
def first_place(k: i64, room: Room, run: Run) -> i64:
    """The place of the first row of a block of friction."""
    for i in range(int(room.count[0])):
        if room.disc[i] == float(k):
            return i
    return 0


@loop
def stribeck_along(k: i64, column: Column, room: Room, run: Run) -> f64:
    """The change of a coefficient that falls with the speed midway of the round before."""
    law = run.mid.laws[k]
    change = room.laws[k]
    total = 0.0
    square = 0.0
    for r in range(run.blocks[k].first, run.blocks[k].first + run.blocks[k].rows):
        D = run.mid.D[r]
        u = run.mid.rate[r] + run.theta * dot(run.nv, D, room.last)
        du = room.rate[r] + run.theta * (room.falling[r] + slip_before(D, column, run))
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
def slip_before(D: ptr, column: Column, run: Run) -> f64:
    """The change of a rate by that of the velocities of the round before."""
    return float(dot(run.nv, D, column.last) - dot(run.nv, D, column.v))


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
