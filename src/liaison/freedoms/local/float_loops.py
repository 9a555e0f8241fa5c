"""Loops of screws in floats: twists, the loop matrix, second derivatives, and the mobility.

Nothing can prove an equality in floats; what is certified is that the rank is at least what is
stated, for every geometry within RADIUS of the one described.

Public names: twists_of, loop_matrix, second_derivatives, FloatVerdict, float_verdict,
certified_rank, second_order_forms, definite_combination, is_isolated_over_reals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.linear import Reals
from liaison.expr import as_expr, evaluate
from liaison.freedoms.home import Home
from liaison.freedoms.screws import LoopSystem

from .formulas import tau, taylor

Floats = NDArray[np.float64]


def numbers(values: Any) -> Floats:
    """Exact constants as floats."""
    return np.array(evaluate([as_expr(x) for x in values]), dtype=float)


def twists_of(home: Home) -> list[list[Floats]]:
    """Twists of each joint's motions, angular first, at ground's origin."""
    values = numbers(home.formulas())
    by_joint, k = [], 0
    for group in home.motions:
        twists = []
        for motion in group:
            d, point, pitch = np.split(values[7 * k : 7 * k + 7], (3, 6))
            slide = np.concatenate([np.zeros(3), d])
            turn = np.concatenate([d, np.cross(point, d) + pitch * d])
            twists.append(slide if motion.point is None else turn)
            k += 1
        by_joint.append(twists)
    return by_joint


def loop_matrix(home: Home, twists: list[list[Floats]]) -> Floats:
    """Six rows a loop, a column for each joint freedom; then the relations."""
    starts = np.cumsum([0, *map(len, twists)])
    J = np.zeros((6 * len(home.loops) + len(home.relations.rows), int(starts[-1])))
    for i, loop in enumerate(home.loops):
        for joint, sign in loop:
            for k, twist in enumerate(twists[joint]):
                J[6 * i : 6 * i + 6, starts[joint] + k] += sign * twist
    for i, relation in enumerate(home.relations.rows):
        for column, ratio, _ in relation:
            J[6 * len(home.loops) + i, column] += float(evaluate(ratio))
    return J


def second_derivatives(home: Home, twists: list[list[Floats]]) -> list[Floats]:
    """Of each loop equation in the τ's: s_i s_j for i before j around the loop.

    The advance of a screw joint and gears between angles have no second derivative at home.
    """
    starts = np.cumsum([0, *map(len, twists)])
    n = int(starts[-1])
    derivatives = []
    for loop in home.loops:
        listed = []
        for joint, sign in loop:
            group = [(starts[joint] + k, sign * s) for k, s in enumerate(twists[joint])]
            listed += group if sign > 0 else group[::-1]
        rows = np.zeros((6, n, n))
        for a, (i, s) in enumerate(listed):
            for j, t in listed[a + 1 :]:
                product = _vector_part(s, t)
                rows[:, i, j] += product
                rows[:, j, i] += product
        derivatives += list(rows)
    linear = len(home.relations.rows) - len(home.relations.curved)
    return derivatives + [np.zeros((n, n)) for _ in range(linear)] + _bent(home, n)


def _bent(home: Home, n: int) -> list[Floats]:
    """Second derivatives of relations that are formulas of τ, by the factor of their gradients."""
    if not home.relations.curved:
        return []
    _, second = taylor(home.relations.curved, {tau(k): 0 for k in range(n)})
    return [x / 2 for x in second]


def _vector_part(s: Floats, t: Floats) -> Floats:
    """Of the product of two screws as dual quaternions."""
    dual = np.cross(s[:3], t[3:]) + np.cross(s[3:], t[:3])
    return np.concatenate([np.cross(s[:3], t[:3]), dual])


# The mobility in floats --------------------------------------------------------------------------

MARGIN = 1e-7
"""Least eigenvalue, relative to the largest, at which a form counts as definite."""


def second_order_forms(J: Floats, second: Sequence[Floats], rank: int) -> list[Floats]:
    """Quadratic forms on the kernel of J that must vanish along any motion.

    Args:
        J: the Jacobian at the point, shape (equations, unknowns).
        second: the second derivatives of each equation there.
        rank: of J, known.
    """
    left, _, right = np.linalg.svd(J)
    N = right[rank:].T
    forms = []
    for combination in left[:, rank:].T:
        H = sum((c * Q for c, Q in zip(combination, second, strict=True)), np.zeros_like(second[0]))
        form = N.T @ H @ N
        if np.max(np.abs(form), initial=0.0) > 1e-9:
            forms.append(form)
    return forms


def definite_combination(forms: Sequence[Floats], steps: int = 300) -> Floats | None:
    """Weights of a positive definite combination, by ascent of the least eigenvalue; None if none.

    What it finds is definite; that it finds none is no proof that there is none.
    """
    if not forms:
        return None
    stack = np.array(forms)
    for start in (*np.eye(len(forms)), *(-np.eye(len(forms))), np.ones(len(forms))):
        weights = start / np.linalg.norm(start)
        for k in range(steps):
            values, vectors = np.linalg.eigh(np.tensordot(weights, stack, 1))
            if values[0] > MARGIN * max(abs(values[-1]), 1e-300):
                return np.asarray(weights, dtype=float)
            slope = np.einsum("kij,i,j->k", stack, vectors[:, 0], vectors[:, 0])
            weights = weights + slope / (k + 1)
            size = float(np.linalg.norm(weights))
            if size < MARGIN:
                break  # the opposite of where it began: nothing to climb
            weights /= size
    return None


def is_isolated_over_reals(J: Floats, second: Sequence[Floats], rank: int) -> bool:
    """A definite second-order form leaves no real motion through the point."""
    if J.shape[1] == rank or not len(second):
        return False
    return definite_combination(second_order_forms(J, second, rank)) is not None


RADIUS = 1e-12
"""Uncertainty of each entry of the Jacobian for which its rank is certified."""

SMALL = 1e-9
"""Singular values below this, relative to the largest, are taken for zero."""

WEAK = 1e-6
"""The same below which a rank is not relied on: next to a singular position the floats are off by
the root of their precision."""

STEP_ALONG = 0.05
"""Length of the step along W, in units of tan(θ/2) and of half the way of a slider [m]."""


@final
@dataclass(frozen=True, slots=True)
class FloatVerdict:
    """Ranks, bounds and reasons, in floats."""

    naive_rank: int
    rank: int
    low: int
    high: int
    status: str
    proof: str


def _rank(J: Floats, small: float = SMALL) -> int:
    sizes = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
    return int(np.sum(sizes > small * max(1.0, float(np.max(sizes, initial=0.0)))))


def _pivots(J: Floats, rank: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a well-conditioned minor, by complete pivoting."""
    A, rows, columns = J.copy(), [], []
    for _ in range(rank):
        i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(A)), A.shape))
        rows.append(i)
        columns.append(j)
        A = A - np.outer(A[:, j], A[i]) / A[i, j]
    return sorted(rows), sorted(columns)


def certified_rank(J: Floats, rows: list[int], columns: list[int]) -> bool:
    """The minor is invertible for all matrices within RADIUS of J."""
    from flint import arb, arb_mat

    if not rows:
        return True
    entries = [arb(float(J[i, j]), RADIUS) for i in rows for j in columns]
    return 0 not in arb_mat(len(rows), len(columns), entries).det()


def float_verdict(home: Home) -> FloatVerdict:
    """Examines a position in floats."""
    J = loop_matrix(home, twists_of(home))
    rank, n = _rank(J), J.shape[1]
    rows, columns = _pivots(J, rank)
    sure = "certified" if certified_rank(J, rows, columns) else "not certified"
    residual = float(np.max(np.abs(numbers(home.closure)), initial=0.0)) if home.closure else 0.0
    bound = f"rank at least {rank}, {sure} for entries within {RADIUS:g}; residual {residual:.1e}"
    system = _system(home)
    away = list(np.random.default_rng(1).normal(size=(n,)))
    naive = _rank(np.array(system.jacobian(Reals(), away)))
    first = n - rank
    sure_rank = _rank(J, WEAK)
    if sure_rank < rank:
        text = (
            f"{bound}; {rank - sure_rank} of it by less than {WEAK:g}: a singular position is near"
        )
        least = max(0, n - J.shape[0])
        return FloatVerdict(naive, sure_rank, least, n - sure_rank, "undecided", text)
    if first == 0 or rank == J.shape[0]:
        return FloatVerdict(naive, rank, first, first, "regular", bound)
    if system.is_first_order:
        text = f"{bound}; some relations are known to first order only"
        return FloatVerdict(naive, rank, max(0, n - J.shape[0]), first, "undecided", text)
    left = _after_step(system, J, rows, columns)
    if left < 1e-10:
        text = f"{bound}; after a step of {STEP_ALONG} the other equations hold to {left:.1e}"
        return FloatVerdict(naive, rank, first, first, "regular", text)
    text = f"{bound}; a step of {STEP_ALONG} leaves {left:.1e} in the other equations"
    low = max(0, n - J.shape[0])
    status = "shaky" if first == 1 else "undecided"
    return FloatVerdict(naive, rank, low, first - 1, status, text)


def _system(home: Home) -> LoopSystem:
    values: list[Any] = [float(x) for x in numbers(home.formulas())]
    return home.assembled(0, values)


def _after_step(system: LoopSystem, J: Floats, rows: list[int], columns: list[int]) -> float:
    """The largest leftover equation after a random step on the pivot equations."""
    ring, n = Reals(), system.n
    free = [j for j in range(n) if j not in columns]
    x = np.zeros(n)
    draw = np.random.default_rng(2).normal(size=len(free))
    x[free] = STEP_ALONG * draw / np.linalg.norm(draw)
    for _ in range(50):
        f = np.array(system.values(ring, list(x)))
        if np.max(np.abs(f[rows]), initial=0.0) < 1e-14:
            break
        slope = np.array(system.jacobian(ring, list(x)))[np.ix_(rows, columns)]
        x[columns] -= np.linalg.solve(slope, f[rows])
    left = [i for i in range(system.size) if i not in rows]
    return float(np.max(np.abs(np.array(system.values(ring, list(x)))[left]), initial=0.0))
