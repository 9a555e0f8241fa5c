"""Rows of contacts in the metric of M, with closures taken out, and the free motion beside them.

With M = L Lᵀ and Q an orthonormal basis of the rows of closures L⁻¹Gᵀ,

    X = (1 − Q Qᵀ) L⁻¹Dᵀ,   A = XᵀX,   v = v_f + L⁻ᵀ X P                        (stepping-1)

so that impulses P of unilateral rows change their rates by A P and leave those of closures alone.

Public names: one_sided, one_sided_at_end, forget_end, is_at_end, metric_of, free_motion,
forget_rows, rows_in_metric, delassus, pushed.

Source: GVL13 §5.4.2 (QR with column pivoting), §6.1 (least squares in a metric).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import Entries, OneSided, Run
from liaison.solvers.linear.dense import (
    backward_solve,
    dot,
    forward_solve,
    metric,
    pivoted_qr,
    scaled_rows,
    solve_rows,
)

NOT_YET = 1e300
"""In the place of the first number of a row whose X is not computed."""


@loop
def one_sided(e: Entries, t: f64, q: ptr, v: ptr, out: OneSided, run: Run, scratch: ptr) -> None:
    """Gaps, rates, D and coefficients of every block, in a step from `run.q` on."""
    e.one_sided(t, q, v, run.u, run.p, run.q, out.floats, scratch)


@loop
def one_sided_at_end(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """The same at the end of a step, into `run.end`, unless that is of this state already."""
    if is_at_end(t, q, v, run) == 0:
        one_sided(e, t, q, v, run.end, run, scratch)
        run.free.t_end[0] = t
        for i in range(run.nq):
            run.free.q_end[i] = q[i]
        for i in range(run.nv):
            run.free.v_end[i] = v[i]


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
    L[nv * nv] = metric(nv, rows, M, G, L)
    if L[nv * nv] < 0.0:
        return -1
    scaled_rows(nv, rows, G, L, Q, at(order, 3 * rows + 1))
    return pivoted_qr(rows, nv, Q, R, order, tolerance)


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
    forward_solve(nv, L, x)
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
    backward_solve(nv, L, x)


@loop
def forget_rows(run: Run) -> None:
    """No row has its X yet."""
    for r in range(run.nr):
        run.in_metric[r, 0] = NOT_YET


@loop
def rows_in_metric(m: i64, chosen: iptr, rank: i64, D: ptr, run: Run) -> None:
    """X of the rows chosen into `run.in_metric`, of those that have none yet."""
    nv = run.nv
    L = run.metric
    Q = at(L, nv * nv + 1)
    for j in range(m):
        r = chosen[j]
        x = run.in_metric[r]
        if x[0] == NOT_YET:
            for i in range(nv):
                x[i] = D[r * nv + i]
            forward_solve(nv, L, x)
            for k in range(rank):
                along = dot(nv, at(Q, k * nv), x)
                for i in range(nv):
                    x[i] -= along * Q[k * nv + i]


@loop
def delassus(m: i64, chosen: iptr, A: ptr, run: Run) -> None:
    """A of the rows chosen."""
    nv = run.nv
    for i in range(m):
        x = run.in_metric[chosen[i]]
        for j in range(i + 1):
            A[i * m + j] = dot(nv, x, run.in_metric[chosen[j]])
            A[j * m + i] = A[i * m + j]


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
    backward_solve(nv, run.metric, x)
