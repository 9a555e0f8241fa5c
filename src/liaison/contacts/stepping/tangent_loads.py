"""Loads that follow what they act along, in the derivative of a step; and directions of entries.

The effort that a step applies is linear about the velocities before it, or, where a law bends,
about those at its end. With a = J Δ, c = w s + θ² h k and r = θ² h,

    E = e(x, ẋ) − c a             dE = de − dc a − c da                          (slopes-4)
    E = e(x + r a, ẋ + w a)       dE = de along (dx + r da, dẋ + w da + a dw)

and dw = (1 − w)²/3 h d(s a′), a′ the inverse inertia of (loads-3). The part of da by dΔ is in the
factors of the step. The effort at the mean velocities, which f holds, is taken out.

Public names: direct, note_mean, note_loads, note_weights, has_grown, change_slopes, loads_along.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import GOOD, SINGULAR_MASS, Entries, Run
from liaison.solvers.linear.dense import dot

from .loads import reach_of
from .moreau import into_metric
from .rows import delassus, rows_in_metric
from .tangents import Column, Room, TangentEntries


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
def note_mean(mean: ptr, after: ptr, room: Room, run: Run) -> None:
    """Keeps the velocities that forces are of, and the efforts in f: laws are at hand there."""
    for i in range(run.nv):
        room.mean[i] = mean[i]
        room.earlier[i] = after[i] - run.v[i]
    for k in range(run.nf):
        room.mean_effort[k] = run.load_laws.effort[k]


@loop
def note_loads(e: Entries, room: Room, run: Run, scratch: ptr) -> None:
    """Keeps the efforts that a round applies, and the slopes of laws where they are linear."""
    loads = run.loads
    t = run.t + run.theta * run.h
    for k in range(run.nf):
        a = dot(run.nv, run.load_rows.J[k], room.change)
        room.applied[k] = loads.effort[k] - loads.slope[k] * (a - loads.change[k])
        point_of(k, a, room, run)
    e.load_laws(t, run.free.q, run.v, run.u, run.p, room.at, room.effort, scratch)
    is_bent = room.is_bent[0]
    for k in range(run.nf):
        # about the end laws have their own slopes, which the step took from near it
        room.s[k] = room.damping[k] if is_bent == 1.0 else max(room.damping[k], 0.0)
        room.k[k] = room.stiffness[k] if is_bent == 1.0 else max(room.stiffness[k], 0.0)


@loop
def note_weights(room: Room, run: Run) -> None:
    """Keeps the weights of damping at the beginning of the step."""
    for k in range(run.nf):
        room.first_weight[k] = run.loads.weight[k]


@loop
def has_grown(room: Room, run: Run) -> i64:
    """1 if a weight of damping is another than at the beginning of the step."""
    for k in range(run.nf):
        if run.loads.weight[k] != room.first_weight[k]:
            return 1
    return 0


@loop
def change_slopes(sign: f64, room: Room, run: Run) -> i64:
    """Puts slopes of laws at the end into the metric in the place of those of the step, or back."""
    nv = run.nv
    for k in range(run.nf):
        J = run.load_rows.J[k]
        c = run.loads.weight[k] * room.s[k] + reach_of(run) * room.k[k]
        rest = sign * run.h * (c - run.loads.slope[k])
        for i in range(nv):
            for j in range(nv):
                run.terms.M[i, j] += rest * J[i] * J[j]
    if into_metric(run) != GOOD:
        return SINGULAR_MASS
    rows_in_metric(run.rows_chosen, run.chosen, run.rank, flat(run.mid.D), run)
    delassus(run.rows_chosen, run.chosen, run.problem.A, run)
    return GOOD


@loop
def point_of(k: i64, a: f64, room: Room, run: Run) -> None:
    """Measure and rate at which the law of a load is linear."""
    part = room.is_bent[0] * a
    room.at[k] = run.load_rows.x[k] + reach_of(run) * part
    room.at[run.nf + k] = run.load_rows.rate[k] + run.loads.weight[k] * part


@loop
def loads_along(e: Entries, column: Column, room: Room, run: Run, scratch: ptr) -> None:
    """What loads add to the force of a column, their slopes by Δ left out."""
    nv = run.nv
    nf = run.nf
    t = run.t + run.theta * run.h
    tangents = TangentEntries(e.others)
    direct(e, t, run.free.q, run.v, column.mid, column.v, column, room, run, scratch)
    for i in range(nv):
        room.a[i] = room.change[i]
        room.w[i] = room.earlier[i]
    for k in range(nf):
        room.F[k] = room.applied[k] - room.mean_effort[k]
    tangents.loads(t, run.free.q, run.v, run.u, run.p, room.floats, room.load_pushed, scratch)
    for i in range(nv):
        room.force[i] += run.h * room.load_pushed[i]
    for k in range(nf):
        J = run.load_rows.J[k]
        turned = room.load_before[k] + dot(nv, J, column.fed) - dot(nv, J, column.v)
        room.at[k] = run.load_rows.x[k]
        room.at[nf + k] = run.load_rows.rate[k] + run.theta * dot(nv, J, room.earlier)
        room.dat[k] = room.load_x[k]
        room.dat[nf + k] = room.load_rate[k] + run.theta * turned
    tangents.laws(t, run.free.q, run.v, run.u, run.p, room.floats, room.effort, scratch)
    for k in range(nf):
        room.F[k] = -room.effort[k]
    if room.is_bent[0] == 1.0:
        # the damping at the beginning, which made the weight
        for k in range(nf):
            room.at[nf + k] = run.load_rows.rate[k]
            room.dat[nf + k] = room.load_rate[k]
        tangents.laws(t, run.free.q, run.v, run.u, run.p, room.floats, room.effort, scratch)
    for k in range(nf):
        turn_point(k, room, run)
    tangents.laws(t, run.free.q, run.v, run.u, run.p, room.floats, room.effort, scratch)
    for k in range(nf):
        F = run.h * (room.F[k] + effort_along(k, room, run))
        for i in range(nv):
            room.force[i] += F * run.load_rows.J[k, i]


@loop
def weight_along(k: i64, s: f64, ds: f64, room: Room, run: Run) -> f64:
    """dw, with a damping and its change."""
    rest = 1.0 - run.loads.weight[k]
    d = ds * run.loads.light[k] + s * room.light[k]
    return float(rest * rest / 3.0 * run.h * d)


@loop
def turn_point(k: i64, room: Room, run: Run) -> None:
    """The point at which a law is linear, and how it changes while Δ does not."""
    a = dot(run.nv, run.load_rows.J[k], room.change)
    point_of(k, a, room, run)
    room.dat[k] = room.load_x[k]
    room.dat[run.nf + k] = room.load_rate[k]
    if room.is_bent[0] == 1.0:
        w = run.loads.weight[k]
        dw = weight_along(k, room.s[k], 0.0, room, run)
        if w == room.first_weight[k]:
            z = (6.0 * w - 3.0) / (1.0 - w)
            size = run.h * run.loads.light[k]
            dw = weight_along(k, z / size if size > 0.0 else 0.0, room.damping[k], room, run)
        room.dat[k] += reach_of(run) * room.load_turned[k]
        room.dat[run.nf + k] += w * room.load_turned[k] + a * dw


@loop
def effort_along(k: i64, room: Room, run: Run) -> f64:
    """dE of (slopes-4) without what is by dΔ."""
    d = room.effort[k]
    if room.is_bent[0] == 1.0:
        return float(d)
    a = dot(run.nv, run.load_rows.J[k], room.change)
    ds = room.damping[k] if room.s[k] > 0.0 else 0.0
    dk = room.stiffness[k] if room.k[k] > 0.0 else 0.0
    dc = run.loads.weight[k] * ds + reach_of(run) * dk
    dc += weight_along(k, room.s[k], ds, room, run) * room.s[k]
    return float(d - dc * a - run.loads.slope[k] * room.load_turned[k])
