"""The constrained linear system, solved in seven ways that must agree.

    M a = f + Gᵀ λ,    G a = γ                                               (constrained-1)

γ holds whatever does not depend on a: Coriolis terms, and explicit time in rheonomic closures, so
every way is valid for these too. Rows of G may depend on each other: then λ is the one of least
norm among those that act alike, and a is the same as ever, if γ does not contradict itself.

Public names: Solution, METHODS, Partition, RANK, Unsolvable, full_pivoting, udu, solve_udu.

Source: docs/theory/solutions.md; GVL13 §5.5 (rank), §4.2 (factorisations).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.errors import LiaisonError

from .state import Array

RANK = 1e-9
"""Pivots and singular values below this part of the largest count as zero: closures hold to 1e-14,
and a well-built G has values above 1e-6 away from singular positions."""

SQUARED = 1e-13
"""The same for G M⁻¹ Gᵀ, whose values are squares: those beyond are rounding."""

PROXIMAL, ROUNDS = 1e-4, 100
"""ρ of the proximal rows, relative to G M⁻¹ Gᵀ, and how often its error is taken off at most."""


LISTED = 4
"""So many velocities are named where several are at fault; the others are counted."""


class Unsolvable(LiaisonError):
    """A way of solving that does not apply here, with what would.

    Attributes:
        velocities: indices of those at fault, most of it first; the message has {} for them.
    """

    def __init__(self, pattern: str, *, hint: str = "", velocities: Sequence[int] = ()) -> None:
        self.pattern, self.velocities = pattern, tuple(velocities)
        super().__init__(
            self.named([f"velocity {k}" for k in range(max(velocities, default=0) + 1)])
        )
        self.hint = hint

    def named(self, names: Sequence[str]) -> str:
        """The message with velocities called by these names."""
        listed = [names[k] for k in self.velocities[:LISTED]]
        rest = len(self.velocities) - len(listed)
        return self.pattern.format(", ".join(listed) + (f" and {rest} more" if rest else ""))


@final
@dataclass(frozen=True, slots=True)
class Solution:
    """Accelerations and multipliers of one way.

    Attributes:
        a: accelerations, shape (nv,).
        lam: multipliers, shape (nc,).
        rank: of G, as this way found or assumed it.
        condition: of the largest matrix it inverted.
        chosen: indices of independent coordinates, where the way has them.
    """

    a: Array
    lam: Array
    rank: int
    condition: float
    chosen: tuple[int, ...] = ()


def augmented(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """[M Gᵀ; G 0] [a; −λ] = [f; γ], symmetric and indefinite: Bunch and Kaufman's L D Lᵀ.

    Invertible if and only if G has full row rank and M is positive on what G leaves free.
    """
    import scipy.linalg as sla

    nv, nc = len(f), len(gamma)
    _need_independent(G, "the augmented matrix")
    K = np.block([[M, G.T], [G, np.zeros((nc, nc))]])
    scale = 1.0 / np.sqrt(np.maximum(np.abs(K).max(axis=1), np.finfo(float).tiny))
    K = K * np.outer(scale, scale)
    condition = float(np.linalg.cond(K))
    if not condition * np.finfo(float).eps < 1:
        raise _massless(M, G)
    unknowns = scale * sla.solve(K, scale * np.concatenate([f, gamma]), assume_a="sym")
    return Solution(unknowns[:nv], -unknowns[nv:], nc, condition)


def schur(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """λ = (G M⁻¹ Gᵀ)⁻¹ (γ − G M⁻¹ f), both by U D Uᵀ."""
    _need_independent(G, "G M⁻¹ Gᵀ")
    factor = _inertia(M)
    S = G @ solve_udu(factor, G.T)
    free = solve_udu(factor, f)
    lam = solve_udu(udu(S), gamma - G @ free) if len(gamma) else gamma
    a = free + solve_udu(factor, G.T @ lam)
    return Solution(a, lam, len(gamma), max(_condition(M), _condition(S)))


def null_space(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """a = a₀ + Z z with G a₀ = γ, G Z = 0: (Zᵀ M Z) z = Zᵀ (f − M a₀); independent rows of G."""
    rows = _independent_rows(G)
    Q, R = np.linalg.qr(G[rows].T, mode="complete")
    rank = len(rows)
    Y, Z, L = Q[:, :rank], Q[:, rank:], R[:rank].T
    start = Y @ np.linalg.solve(L, gamma[rows]) if rank else np.zeros(len(f))
    inner = Z.T @ M @ Z
    _need_inertia(inner, Z)
    a = start + Z @ np.linalg.solve(inner, Z.T @ (f - M @ start))
    return Solution(a, _shortest(G, M @ a - f), rank, _condition(inner))


def pseudo_inverse(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """λ = (G M⁻¹ Gᵀ)⁺ (γ − G M⁻¹ f) by singular values: rows may depend on each other."""
    factor = _inertia(M)
    S = G @ solve_udu(factor, G.T)
    free = solve_udu(factor, f)
    inverse, rank, condition = _pinv(S)
    a = free + solve_udu(factor, G.T @ (inverse @ (gamma - G @ free)))
    return Solution(a, _shortest(G, M @ a - f), rank, max(condition, _condition(M)))


def partition(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """a = (a_de, a_in), a_de = G_de⁻¹ (γ − G_in a_in), chosen by full pivoting of G."""
    return Partition().solve(M, G, f, gamma)


@final
class Partition:
    """Dependent and independent coordinates, kept from one state to the next while they serve.

    Attributes:
        choices: how often they were chosen.
    """

    def __init__(self, limit: float = 1e6) -> None:
        self.limit, self.choices = limit, 0
        self._kept: tuple[Array, Array] | None = None

    def solve(self, M: Array, G: Array, f: Array, gamma: Array) -> Solution:
        """The solution, with coordinates chosen anew where G_de is worse than the limit."""
        rows, dependent, inner = self._chosen(G)
        rest = np.setdiff1d(np.arange(G.shape[1]), dependent)
        N, start = np.zeros((len(f), len(rest))), np.zeros(len(f))
        N[rest] = np.eye(len(rest))
        if len(rows):
            N[dependent] = -np.linalg.solve(inner, G[np.ix_(rows, rest)])
            start[dependent] = np.linalg.solve(inner, gamma[rows])
        reduced = N.T @ M @ N
        _need_inertia(reduced, N)
        a = start + N @ np.linalg.solve(reduced, N.T @ (f - M @ start))
        condition = max(_condition(inner), _condition(reduced))
        chosen = tuple(int(k) for k in rest)
        return Solution(a, _shortest(G, M @ a - f), len(rows), condition, chosen)

    def _chosen(self, G: Array) -> tuple[Array, Array, Array]:
        if self._kept is not None:
            inner = G[np.ix_(*self._kept)]
            if _condition(inner) <= self.limit:
                return (*self._kept, inner)
        self.choices += 1
        self._kept = full_pivoting(G)
        return (*self._kept, G[np.ix_(*self._kept)])


def projector(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """a = P M⁻¹ f + D γ, D = M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺, P = 1 − D G: oblique, along M⁻¹ Gᵀ."""
    factor = _inertia(M)
    forced = solve_udu(factor, G.T)
    inverse, rank, condition = _pinv(G @ forced)
    D = forced @ inverse
    P = np.eye(len(f)) - D @ G
    a = P @ solve_udu(factor, f) + D @ gamma
    return Solution(a, _shortest(G, M @ a - f), rank, max(condition, _condition(M)))


def proximal(M: Array, G: Array, f: Array, gamma: Array) -> Solution:
    """[M Gᵀ; G −ρ] with its error taken off: converges also where rows depend on each other."""
    nv, nc = len(f), len(gamma)
    length = np.linalg.norm(G, axis=1)
    rows = np.where(length > 0, length, 1.0)
    weight = np.trace(M) / max(nv, 1)
    G1, target = G / rows[:, None], gamma / rows
    rho = PROXIMAL / weight
    inner = M + G1.T @ G1 / rho
    _need_inertia(inner, np.eye(nv))
    factor = udu(inner)
    lam, a = np.zeros(nc), np.zeros(nv)
    for _ in range(ROUNDS):
        a = solve_udu(factor, f + G1.T @ (lam + target / rho))
        step = (target - G1 @ a) / rho
        lam = lam + step
        if np.abs(step).max(initial=0.0) <= 1e-14 * np.abs(lam).max(initial=1.0):
            break
    rank = len(_independent_rows(G))
    lam = lam / rows if rank == nc else _shortest(G, M @ a - f)
    return Solution(a, lam, rank, float(np.linalg.cond(inner)))


METHODS: dict[str, Callable[[Array, Array, Array, Array], Solution]] = {
    "augmented": augmented,
    "schur": schur,
    "null_space": null_space,
    "pseudo_inverse": pseudo_inverse,
    "partition": partition,
    "projector": projector,
    "proximal": proximal,
}
"""Ways to solve (constrained-1), by name."""


def udu(A: Array) -> tuple[Array, Array]:
    """U, D of A = U D Uᵀ, U upper triangular with ones, for symmetric positive A.

    Raises:
        Unsolvable: a pivot is not positive.
    """
    n = len(A)
    U, D, rest = np.eye(n), np.zeros(n), np.array(A, dtype=float)
    least = np.finfo(float).eps * n * np.abs(np.diag(A)).max(initial=0.0)
    for j in range(n - 1, -1, -1):
        D[j] = rest[j, j]
        if not D[j] > least:
            raise Unsolvable(f"pivot {j} of U D Uᵀ is {D[j]:.2g}: the matrix is not positive.")
        U[:j, j] = rest[:j, j] / D[j]
        rest[:j, :j] -= D[j] * np.outer(U[:j, j], U[:j, j])
    return U, D


def solve_udu(factor: tuple[Array, Array], b: Array) -> Array:
    """x of U D Uᵀ x = b; b may be a matrix."""
    U, D = factor
    x = np.array(b, dtype=float)
    for i in range(len(D) - 1, -1, -1):
        x[:i] -= np.multiply.outer(U[:i, i], x[i])
    x = x / (D[:, None] if b.ndim > 1 else D)
    for i in range(len(D)):
        x[i + 1 :] -= np.multiply.outer(U[i, i + 1 :], x[i])
    return x


def full_pivoting(G: Array) -> tuple[Array, Array]:
    """Rows and columns that Gauss's elimination with full pivoting takes: a regular square of G."""
    rest = np.array(G, dtype=float)
    length = np.linalg.norm(rest, axis=1, keepdims=True)
    rest = rest / np.where(length > 0, length, 1.0)
    rows, columns = [], []
    largest = np.abs(rest).max(initial=0.0)
    for _ in range(min(rest.shape)):
        i, j = np.unravel_index(np.abs(rest).argmax(), rest.shape)
        if not abs(rest[i, j]) > RANK * largest:
            break
        rows.append(int(i))
        columns.append(int(j))
        rest = rest - np.outer(rest[:, j], rest[i] / rest[i, j])
        rest[i], rest[:, j] = 0.0, 0.0
    return np.array(rows, dtype=int), np.array(columns, dtype=int)


def _independent_rows(G: Array) -> Array:
    return np.sort(full_pivoting(G)[0])


def _need_independent(G: Array, what: str) -> None:
    rank = len(_independent_rows(G))
    if rank < len(G):
        raise Unsolvable(
            f"{len(G) - rank} of {len(G)} rows depend on the others: {what} has no inverse.",
            hint="Take 'pseudo_inverse', 'null_space', 'partition' or 'proximal'.",
        )


def _inertia(M: Array) -> tuple[Array, Array]:
    try:
        return udu(M)
    except Unsolvable:
        raise Unsolvable(
            "M has no inverse: without inertia of their own are {}.",
            hint="Take 'augmented', 'null_space' or 'partition', which need none.",
            velocities=_at_fault(M),
        ) from None


def _at_fault(M: Array) -> tuple[int, ...]:
    """Velocities that take part in motions without inertia, those that are most of one first."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    scale[np.diag(M) <= RANK * np.diag(M).max(initial=0.0)] = 1.0
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    still = vectors[:, values <= max(SQUARED * abs(values[-1]), values[0])]
    part = np.sum(still**2, axis=1)
    return tuple(int(k) for k in np.argsort(-part, kind="stable") if part[k] > 0.25)


def _need_inertia(inner: Array, basis: Array) -> None:
    if inner.size and not np.linalg.cond(inner) * np.finfo(float).eps < 0.01:
        worst = int(np.abs(basis @ np.linalg.eigh(inner)[1][:, 0]).argmax())
        raise Unsolvable(
            "a motion that the closures allow has no inertia, most of it {}.", velocities=[worst]
        )


def _massless(M: Array, G: Array) -> Unsolvable:
    _, values, vectors = np.linalg.svd(np.vstack([M, G]))
    if values[-1] > RANK * values[0]:
        return Unsolvable("the augmented matrix is singular to working precision.")
    worst = int(np.abs(vectors[-1]).argmax())
    return Unsolvable("{} is free and has no inertia.", velocities=[worst])


def _shortest(G: Array, push: Array) -> Array:
    """λ of least norm with Gᵀ λ = M a − f."""
    if not len(G):
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(G.T, push, rcond=RANK)[0])


def _pinv(S: Array) -> tuple[Array, int, float]:
    """Pseudo-inverse of a symmetric matrix, its rank, and the condition of what was inverted."""
    if not len(S):
        return S, 0, 1.0
    scale = 1.0 / np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    scale[np.diag(S) <= 0] = 1.0
    values, vectors = np.linalg.eigh(S * np.outer(scale, scale))
    regular = values > SQUARED * values[-1]
    part, V = values[regular], vectors[:, regular] * scale[:, None]
    inverse = (V / part) @ V.T
    return inverse, int(regular.sum()), float(part[-1] / part[0]) if part.size else 1.0


def _condition(A: Array) -> float:
    return float(np.linalg.cond(A)) if A.size else 1.0
