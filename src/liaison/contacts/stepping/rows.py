"""Rows of contacts in the metric of M, with closures taken out, and the free motion beside them.

With M = L Lᵀ and Q an orthonormal basis of the rows of closures L⁻¹Gᵀ,

    X = (1 − Q Qᵀ) L⁻¹Dᵀ,   A = XᵀX,   v = v_f + L⁻ᵀ X P                        (stepping-1)

so that impulses P of unilateral rows change their rates by A P and leave those of closures alone.

Public names: one_sided, one_sided_at_end, rows_at_end, forget_end, is_at_end, metric_of,
free_motion, forget_rows, rows_in_metric, part_left, delassus, pushed, adopt.

Source: GVL13 §5.4.2 (QR with column pivoting), §6.1 (least squares in a metric).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import Entries, Law, OneSided, Run
from liaison.simulation.steps.sides_layout import FRICTION
from liaison.solvers.linear.dense import (
    dot,
    metric,
    pivoted_qr,
    scaled_rows,
    solve_rows,
)
from liaison.solvers.linear.eights import (
    cholesky_of_columns,
    pack,
    panel_numbers,
    panels,
    products,
    solve_panels,
    take_out,
    unpack,
)

NOT_YET = 1e300
"""In the place of the first number of a row whose X is not computed."""

NOWHERE = -1.0
"""The key of a place that is the same at no other state."""

LAW = Law.header


@loop
def one_sided(e: Entries, t: f64, q: ptr, v: ptr, out: OneSided, run: Run, scratch: ptr) -> None:
    """Gaps, rates, D and coefficients of every block, in a step from `run.q` on."""
    e.one_sided(t, q, v, run.u, run.p, run.q, out.floats, scratch)


@loop
def one_sided_at_end(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """The same at the end of a step, into `run.end`, unless that is of this state already.

    Of many rows gaps and rates alone: see `rows_at_end`.
    """
    if is_at_end(t, q, v, run) == 0:
        if run.has_gaps == 1:
            e.gaps(t, q, v, run.u, run.p, run.q, run.end.floats, scratch)
            run.end_rows = 0
        else:
            one_sided(e, t, q, v, run.end, run, scratch)
        run.free.t_end[0] = t
        for i in range(run.nq):
            run.free.q_end[i] = q[i]
        for i in range(run.nv):
            run.free.v_end[i] = v[i]


@loop
def rows_at_end(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """D and laws of the state that `run.end` is of."""
    if run.has_gaps == 1 and run.end_rows == 0:
        one_sided(e, t, q, v, run.end, run, scratch)
        run.end_rows = 1


@loop
def forget_end(run: Run) -> None:
    """`run.end` is of no state: what comes may have other parameters and inputs."""
    run.free.t_end[0] = NOT_YET


@loop
def is_at_end(t: f64, q: ptr, v: ptr, run: Run) -> i64:
    """1 if `run.end` is of this state; inputs that are formulas may be others there."""
    if run.ni > 0 or t != run.free.t_end[0]:
        return 0
    for i in range(run.nq):
        if q[i] != run.free.q_end[i]:
            return 0
    for i in range(run.nv):
        if v[i] != run.free.v_end[i]:
            return 0
    return 1


@loop
def metric_of(rows: i64, M: ptr, G: ptr, tolerance: f64, run: Run) -> i64:
    """L and the basis Q of `rows` rows into `run.metric`; their rank, or -1 without metric.

    A row whose part independent of the others is below `tolerance` is redundant.
    """
    nv = run.nv
    L = run.metric
    Q = at(L, nv * nv + 1)
    R = at(Q, rows * nv)
    order = at(R, rows * rows)
    for i in range(nv * nv):
        L[i] = M[i]
    # where M alone is none, rows of closures help
    L[nv * nv] = metric(nv, rows, M, G, L) if cholesky_of_columns(nv, L) != 0 else 0.0
    if L[nv * nv] < 0.0:
        return -1
    for i in range(nv):
        run.inverse[i] = 1.0 / L[i * nv + i]
    scaled_rows(nv, rows, G, L, Q, at(order, 3 * rows + 1))
    return pivoted_qr(rows, nv, Q, R, order, tolerance)


@loop
def forward(x: ptr, run: Run) -> None:
    """x := L⁻¹x by the inverses of the diagonal: divisions one after the other would take long."""
    nv = run.nv
    L = run.metric
    for i in range(nv):
        x[i] = (x[i] - dot(i, at(L, i * nv), x)) * run.inverse[i]


@loop
def backward(x: ptr, run: Run) -> None:
    """x := L⁻ᵀx likewise."""
    nv = run.nv
    L = run.metric
    for back in range(nv):
        i = nv - 1 - back
        last = x[i] * run.inverse[i]
        x[i] = last
        for j in range(i):
            x[j] -= L[i * nv + j] * last


@loop
def free_motion(rows: i64, rank: i64, G: ptr, force: ptr, right: ptr, x: ptr, run: Run) -> None:
    """x with M x = force + Gᵀλ and G x = right, by what `metric_of` left."""
    nv = run.nv
    L = run.metric
    Q = at(L, nv * nv + 1)
    R = at(Q, rows * nv)
    order = at(R, rows * rows)
    b = at(order, rows)
    y = at(b, rows)
    scale = at(y, rows + 1)
    alpha = L[nv * nv]
    for i in range(nv):
        x[i] = force[i]
        for k in range(rows):
            x[i] += alpha * G[k * nv + i] * right[k]
    forward(x, run)
    for k in range(rank):
        # the part along closures follows from them alone
        along = dot(nv, at(Q, k * nv), x)
        for i in range(nv):
            x[i] -= along * Q[k * nv + i]
    for k in range(rows):
        b[k] = right[k] * scale[k]
    solve_rows(rows, rank, R, order, b, y)
    for k in range(rank):
        for i in range(nv):
            x[i] += y[k] * Q[k * nv + i]
    backward(x, run)


@loop
def forget_rows(run: Run) -> None:
    """No row has its X yet."""
    for r in range(run.nr):
        run.in_metric[r, 0] = NOT_YET


@loop
def rows_in_metric(m: i64, chosen: iptr, rank: i64, D: ptr, run: Run) -> None:
    """X of the rows chosen into `run.in_metric`, of those that have none yet, side by side."""
    nv = run.nv
    B = run.area
    count = 0
    for j in range(m):
        if run.in_metric[chosen[j], 0] == NOT_YET:
            pack(count, nv, at(D, chosen[j] * nv), B)
            count += 1
    if count == 0:
        return
    room = at(B, panel_numbers(count, nv))
    solve_panels(nv, panels(count), run.metric, run.inverse, B, room)
    Q = at(run.metric, nv * nv + 1)
    for k in range(rank):
        take_out(nv, panels(count), at(Q, k * nv), B, room)
    count = 0
    for j in range(m):
        if run.in_metric[chosen[j], 0] == NOT_YET:
            unpack(count, nv, B, run.in_metric[chosen[j]])
            count += 1


@loop
def row_in_metric(r: i64, rank: i64, D: ptr, run: Run) -> None:
    """X of one row."""
    nv = run.nv
    L = run.metric
    Q = at(L, nv * nv + 1)
    x = run.in_metric[r]
    for i in range(nv):
        x[i] = D[r * nv + i]
    forward(x, run)
    for k in range(rank):
        along = dot(nv, at(Q, k * nv), x)
        for i in range(nv):
            x[i] -= along * Q[k * nv + i]


@loop
def part_left(r: i64, rank: i64, D: ptr, run: Run) -> f64:
    """X of one row, and how long it is beside L⁻¹Dᵀ: rounding where the row follows from Q."""
    nv = run.nv
    row_in_metric(r, 0, D, run)
    whole = dot(nv, run.in_metric[r], run.in_metric[r])
    row_in_metric(r, rank, D, run)
    left = dot(nv, run.in_metric[r], run.in_metric[r])
    return sqrt(left / whole) if whole > 0.0 else 0.0


@loop
def delassus(m: i64, chosen: iptr, A: ptr, run: Run) -> None:
    """A of the rows chosen."""
    nv = run.nv
    B = run.area
    for j in range(m):
        pack(j, nv, run.in_metric[chosen[j]], B)
    products(m, nv, B, A, at(B, panel_numbers(m, nv)))


@loop
def pushed(m: i64, chosen: iptr, f: ptr, x: ptr, run: Run) -> None:
    """x := L⁻ᵀ X f of the rows chosen."""
    nv = run.nv
    for i in range(nv):
        x[i] = 0.0
    for k in range(m):
        row = run.in_metric[chosen[k]]
        for i in range(nv):
            x[i] += f[k] * row[i]
    backward(x, run)


@loop
def adopt(k: i64, run: Run) -> None:
    """Rows of a place that is there only at the end of the step, in the place of those midway.

    A corner or edge that comes to the ground while the body turns is met by an impulse along its
    own normal. Its rates are those of the velocities before the step.
    """
    run.mid.gap[k] = run.end.gap[k]
    for b in range(run.nb):
        if b == k or (run.blocks[b].kind == FRICTION and run.blocks[b].load == k):
            adopt_rows(b, run)
    run.mid.laws[k].spare[0] = NOWHERE


@loop
def adopt_rows(b: i64, run: Run) -> None:
    """The same of one block."""
    nv = run.nv
    mid = run.mid
    end = run.end
    for i in range(LAW):
        mid.laws[b].floats[i] = end.laws[b].floats[i]
    for r in range(run.blocks[b].first, run.blocks[b].first + run.blocks[b].rows):
        mid.rate[r] = end.rate[r]
        for i in range(nv):
            mid.D[r, i] = end.D[r, i]
            mid.rate[r] -= end.D[r, i] * (run.y[nv + i] - run.v[i])
        run.in_metric[r, 0] = NOT_YET
    run.is_damped = 1  # it may be
