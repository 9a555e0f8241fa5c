"""The metric of M in a mode: L of M = L Lᵀ as a dense factor, or as sweeps over nodes.

Mechanisms of many bodies have sweeps: L⁻¹ x and L⁻ᵀ x in time linear in the bodies, and no M.

Public names: measure, into_metric, out_of_metric, is_along_paths, hold_closures, leave_closures,
factor_metric, scaled_in_metric, shortest_way.

Source: docs/theory/one_sided.md (modal-1); docs/theory/closures.md (half-1).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.sides_layout import Sides
from liaison.solvers.linear.dense import (
    RANK_TOLERANCE,
    backward_solve,
    dot,
    forward_solve,
    metric,
    pivoted_qr,
    remove,
    scaled_rows,
    solve_rows,
    unit_rows,
)


@loop
def measure(sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> None:
    """The numbers of the free mechanism and of all unilateral rows at a state."""
    if sides.is_swept > 0:
        sides.free.terms_beside_mass(t, q, v, u, p, q, sides.terms.floats, work)
        sides.free.factor(t, q, v, u, p, q, sides.L, work)
    else:
        sides.free.terms(t, q, v, u, p, q, sides.terms.floats, work)
    sides.free.one_sided(t, q, v, u, p, q, sides.seen.floats, work)


@loop
def into_metric(sides: Sides, x: ptr) -> None:
    """x := L⁻¹ x."""
    if sides.is_swept > 0:
        sides.free.half(0.0, sides.L, x, x, x, x, x, sides.L)
    else:
        forward_solve(sides.nv, sides.L, x)


@loop
def out_of_metric(sides: Sides, x: ptr) -> None:
    """x := L⁻ᵀ x."""
    if sides.is_swept > 0:
        sides.free.back(0.0, sides.L, x, x, x, x, x, sides.L)
    else:
        backward_solve(sides.nv, sides.L, x)


@loop
def is_along_paths(sides: Sides) -> i64:
    """1 if closures are met along their paths; 0 where a basis of their rows is made.

    Where paths contradict each other (`prepare`) there is a basis all the same, of rank > 0.
    """
    return 1 if sides.is_swept > 0 and sides.helds == 0 else 0


@loop
def hold_closures(sides: Sides, b: ptr, x: ptr) -> None:
    """x in the metric := the nearest to it with G L⁻ᵀ x = b, along paths."""
    if sides.nc > 0:
        sides.free.hold(0.0, sides.L, b, x, x, x, x, sides.L)


@loop
def leave_closures(sides: Sides, x: ptr) -> None:
    """Takes from x in the metric its part along the closures."""
    if is_along_paths(sides) == 1 and sides.rank == 0 and sides.nc > 0:
        for k in range(sides.nc):
            sides.both[k] = 0.0
        hold_closures(sides, sides.both, x)
    for k in range(sides.rank):
        remove(sides.nv, sides.Q[k], x)


@loop
def factor_metric(sides: Sides, rows: i64, G: ptr) -> f64:
    """L of what was measured; α as `metric` returns it. Sweeps have theirs already."""
    if sides.is_swept > 0:
        return 0.0
    return float(metric(sides.nv, rows, flat(sides.terms.M), G, sides.L))


@loop
def scaled_in_metric(sides: Sides, rows: i64, G: ptr, A: ptr, scale: ptr) -> None:
    """As `scaled_rows`: rows of A = scale_k L⁻¹ G_kᵀ, of length 1; 0 of what is rounding."""
    nv = sides.nv
    if sides.is_swept == 0:
        scaled_rows(nv, rows, G, sides.L, A, scale)
        return
    for k in range(rows):
        row = at(A, k * nv)
        for i in range(nv):
            row[i] = G[k * nv + i]
        into_metric(sides, row)
    unit_rows(nv, rows, A, scale)


@loop
def shortest_way(
    sides: Sides, first: i64, rows: i64, G: ptr, right: ptr, delta: ptr, area: ptr
) -> None:
    """δ with G δ = right and δᵀM δ least, whatever the rank of G.

    The first rows are those of closures that are met along their paths. `area` holds
    rows (nv + rows + 5) doubles.
    """
    nv = sides.nv
    for i in range(nv):
        delta[i] = 0.0
    sides.rank = 0
    if first > 0:
        hold_closures(sides, right, delta)
    G = at(G, first * nv)
    right = at(right, first)
    rows -= first
    A = area
    R = at(A, nv * rows)
    order = at(R, rows * rows)
    b = at(order, rows)
    y = at(b, rows)
    scale = at(y, rows + 1)
    scaled_in_metric(sides, rows, G, A, scale)
    for k in range(rows):
        b[k] = right[k] * scale[k] - dot(nv, at(A, k * nv), delta)
        if first > 0:
            leave_closures(sides, at(A, k * nv))
    rank = pivoted_qr(rows, nv, A, R, order, RANK_TOLERANCE)
    solve_rows(rows, rank, R, order, b, y)
    for i in range(nv):
        for k in range(rank):
            delta[i] += y[k] * A[k * nv + i]
    out_of_metric(sides, delta)
