"""Real branches of a singular position that leave along rational directions, proved on curves.

At a singular position the leftover equations h have lowest forms F of degree k on the free unknowns
t. With t = s u, at a real u₀ where c derivatives of F are independent and F = 0, c of the equations
h(s u)/s^k = 0 cut out a real manifold N of dimension d − c, the real solution set among it. Where
the other equations vanish on N, too, that is the real dimension. For a rational u₀ this is decided
modulo a prime: N is cut to a curve by a random slice through u₀, the curve is followed as a power
series, and its closure is proved as that of a path (curves.py). Slices in general position sweep
over all of N.

Public names: rational_branch, reduced.

Source: docs/theory/mobility.md (the real numbers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.exact.linear import Series
from liaison.exact.signs import Terms
from liaison.freedoms.clock import go_on
from liaison.freedoms.screws import Factor, LoopSystem

from .curves import proof_of
from .obstruction import branch_along
from .series import Germ

Floats: TypeAlias = NDArray[np.float64]

STARTS = 24
"""Points from which a real direction is looked for."""

DENOMINATOR = 2000
"""Largest denominator of a direction that is taken for a rational one."""

FIRST, LAST = 24, 200
"""Orders to which a branch is followed."""


def rational_branch(exact: LoopSystem, forms: Sequence[Terms], high: int, p: int) -> str | None:
    """How a real branch of dimension `high` is proved; None where none is.

    Args:
        exact: the loops over the rational numbers.
        forms: lowest forms of the leftover equations, with rational coefficients.
        high: a bound of the dimension.
        p: a prime.
    """
    if exact.relations or exact.curved or any(f.pitch is not None for x in exact.loops for f in x):
        return None
    germ = Germ(reduced(exact, p))
    for direction in _directions(forms, germ.dimension, high):
        go_on()
        residues = [x.numerator * pow(x.denominator, -1, p) % p for x in direction]
        order = _proved(germ, residues, high)
        if order is not None:
            return (
                f"a real branch of dimension {high} along a rational direction: followed to order "
                f"{order}, on a curve where no equation that is not 0 has as many zeros"
            )
    return None


def reduced(system: LoopSystem, p: int) -> LoopSystem:
    """Loops of rational screws modulo a prime."""

    def residue(x: Any) -> int:
        exact = Fraction(int(x.p), int(x.q)) if hasattr(x, "q") else Fraction(int(x))
        return exact.numerator * pow(exact.denominator, -1, p) % p

    loops = [[Factor(f.column, f.sign, tuple(residue(x) for x in f.screw)) for f in loop]
             for loop in system.loops]  # fmt: skip
    return LoopSystem(p, system.n, loops)


def _proved(germ: Germ, direction: Sequence[int], high: int) -> int | None:
    """The order that proves the branch in a direction; None where it is not proved."""
    assert isinstance(germ.system, LoopSystem)
    order = FIRST
    while order <= LAST:
        branch = branch_along(germ, direction, high, order)
        if branch is None or branch.rank != germ.system.n - high:
            return None
        # the last terms of a path with divided equations are not yet right
        ring = Series(germ.p, order)
        path = [x.truncate(order) for x in branch.path]
        # the equations of the slice hold the free unknowns
        proof = proof_of(path, ring, [*germ.system.groups_of_columns(), germ.free])
        if proof is not None and proof.order <= order:
            return order
        order = 2 * order if proof is None else max(proof.order, order + 1)
    return None


def _directions(forms: Sequence[Terms], d: int, high: int) -> Iterator[list[Fraction]]:
    """Rational points of linear pieces of the cone on which all forms vanish."""
    table = [[(np.array(e), float(v.p) / float(v.q)) for e, v in form.items()] for form in forms]
    draw = np.random.default_rng(d)
    seen: set[tuple[Fraction, ...]] = set()
    for _ in range(STARTS):
        u = _zero(table, draw.normal(size=d), d - high)
        basis = None if u is None else _rational_kernel(_derivatives(table, u)[1], high)
        if basis is None or basis in seen:
            continue
        seen.add(basis)
        weights = [Fraction(int(w)) for w in draw.integers(1, 8, size=high)]
        yield [sum((w * basis[i * d + j] for i, w in enumerate(weights)), Fraction(0))
               for j in range(d)]  # fmt: skip


def _zero(table: Any, u: Floats, rank: int) -> Floats | None:
    """A zero of the forms by Newton's steps on the `rank` largest singular values."""
    for _ in range(60):
        u = u / np.linalg.norm(u)
        value, J = _derivatives(table, u)
        if np.max(np.abs(value)) < 1e-14:
            break
        U, s, V = np.linalg.svd(J, full_matrices=False)
        if len(s) < rank or s[rank - 1] < 1e-6:
            return None
        u = u - V[:rank].T @ ((U[:, :rank].T @ value) / s[:rank])
    value, J = _derivatives(table, u)
    sizes = np.linalg.svd(J, compute_uv=False)
    is_smooth = bool(np.sum(sizes > 1e-6) == rank)
    return u if np.max(np.abs(value)) < 1e-12 and is_smooth else None


def _derivatives(table: Any, u: Floats) -> tuple[Floats, Floats]:
    value, J = np.zeros(len(table)), np.zeros((len(table), len(u)))
    for i, form in enumerate(table):
        for e, c in form:
            value[i] += c * np.prod(u**e)
            for k in np.flatnonzero(e):
                lower = e.copy()
                lower[k] -= 1
                J[i, k] += c * e[k] * np.prod(u**lower)
    return value, J


def _rational_kernel(J: Floats, size: int) -> tuple[Fraction, ...] | None:
    """A reduced basis of the kernel, row after row, of simple fractions; None if it has none."""
    rows = np.linalg.svd(J)[2][J.shape[1] - size :].copy()
    for i in range(size):
        j = int(np.argmax(np.abs(rows[i])))
        rows[i] = rows[i] / rows[i, j]
        for k in range(size):
            if k != i:
                rows[k] = rows[k] - rows[k, j] * rows[i]
    entries = [Fraction(float(x)).limit_denominator(DENOMINATOR) for x in rows.ravel()]
    close = all(abs(float(f) - x) < 1e-9 for f, x in zip(entries, rows.ravel(), strict=True))
    return tuple(entries) if close else None
