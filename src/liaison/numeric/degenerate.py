"""Velocity after a unilateral relation of rates loses its row.

Where the row W of W v + w ≤ 0 vanishes and w with it, no reaction Wᵀ μ is left. The relation still
asks that its rate be no greater than 0, and that rate is a quadratic form there,

    d/dt (W v + w) = v · Q v ≤ 0.                                             (degenerate-1)

A form that is never negative leaves only Q v = 0: velocities jump to the nearest ones of that kind,
in the metric of M, and stay there. Of x ẋ ≤ 0 at x = 0 the form is ẋ², so that ẋ becomes 0.

Public names: DegenerateRule, quadratic_form, degenerate_rule.

Source: SK 2.3 (the counterexample x ẋ ≤ 0), with the reaction named as such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from .state import Array

SMALL = 1e-9
"""Eigenvalues below this share of the largest are zero."""


@final
@dataclass(frozen=True, slots=True)
class DegenerateRule:
    """What becomes of velocities where a relation of rates loses its row.

    Attributes:
        kind: "jump"; "rest" where v is already allowed; "free" where every velocity is;
            "undecided" where the relation leaves velocities of several kinds.
        before: the velocities v⁻.
        after: the velocities v⁺; v⁻ where nothing happens or nothing is decided.
        held: rows H, shape (r, nv), orthonormal: H v = 0 from then on.
        impulse: M (v⁺ − v⁻), which is not of the form Wᵀ μ.
    """

    kind: str
    before: Array
    after: Array
    held: Array
    impulse: Array

    @property
    def jump(self) -> Array:
        """v⁺ − v⁻."""
        return np.asarray(self.after - self.before)


def quadratic_form(bias: Callable[[Array], float], nv: int) -> Array:
    """Q with bias(v) = v · Q v, from values of the bias at unit velocities and their sums.

    Args:
        bias: d/dt (W v + w) where v̇ = 0, at a position where it is quadratic in v.
        nv: how many velocities there are.
    """
    unit = np.eye(nv)
    Q = np.diag([bias(e) for e in unit])
    for i in range(nv):
        for j in range(i):
            Q[i, j] = Q[j, i] = (bias(unit[i] + unit[j]) - Q[i, i] - Q[j, j]) / 2
    return Q


def degenerate_rule(M: Array, Q: Array, v: Array, G: Array | None = None) -> DegenerateRule:
    """The velocity after a relation of rates has lost its row, and what is held from then on.

    Args:
        M: mass matrix.
        Q: of the relation, by (degenerate-1).
        v: velocities before.
        G: rows of bilateral relations, which keep what they have.
    """
    G = np.zeros((0, len(v))) if G is None else G
    Z = _kernel(G)
    values, ways = np.linalg.eigh(Z.T @ Q @ Z)
    large = SMALL * max(float(np.max(np.abs(Q), initial=0.0)), 1e-300)
    held = (Z @ ways[:, values > large]).T
    if not len(held):
        return _rule("free", M, v, v, held)
    if values[0] < -large:
        return _rule("undecided", M, v, v, held[:0])
    if np.max(np.abs(held @ v)) <= SMALL * max(1.0, float(np.max(np.abs(v)))):
        return _rule("rest", M, v, v, held)
    return _rule("jump", M, v, projected(M, v, G, held), held)


def projected(M: Array, v: Array, G: Array, held: Array) -> Array:
    """The velocity nearest to v, in the metric of M, that has H v = 0 and keeps G v."""
    rows = np.vstack([G, held])
    right_side = np.concatenate([np.zeros(len(G)), -held @ v])
    n, m = len(v), len(rows)
    system = np.block([[M, rows.T], [rows, np.zeros((m, m))]])
    change = np.linalg.lstsq(system, np.concatenate([np.zeros(n), right_side]), rcond=None)[0][:n]
    return np.asarray(v + change)


def _rule(kind: str, M: Array, v: Array, after: Array, held: Array) -> DegenerateRule:
    return DegenerateRule(kind, v, after, held, np.asarray(M @ (after - v)))


def _kernel(G: Array) -> Array:
    """Orthonormal columns of the velocities that rows leave free."""
    if not len(G):
        return np.eye(G.shape[1])
    _, sizes, ways = np.linalg.svd(G)
    rank = int(np.sum(sizes > SMALL * max(float(sizes[0]), 1e-300)))
    return np.asarray(ways[rank:].T)
