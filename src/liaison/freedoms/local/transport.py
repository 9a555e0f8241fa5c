"""A proof at an exact position carried along the motion to a position in floats.

At an exact position let the solution set V be proved to be a manifold of dimension d. A path on it,
in floats, leads to the position asked for. Around each piece of the path, with A constant weights
of the equations f and y as many unknowns as A f has entries, Krawczyk's test with parameters

    K = −C A f(t, ȳ(t)) + (1 − C A ∂f/∂y) [−ρ, ρ]  inside (−ρ, ρ)           (mobility-17)

for all t near the piece proves that A f = 0 is there the graph of one analytic function y(t), over
a connected set of t. V lies in it. Where V has dimension d at the beginning of the piece, it is all
of the graph near there, so that f vanishes on an open part of the graph, and by the identity
theorem on all of it. So V has dimension d at the end of the piece and is smooth there, and the next
one begins. Each piece has its own τ, which are 0 at its beginning, so that half turns are nothing
special: with G_j the motion of a loop's joints up to the j-th, from home to the beginning,

    Π (1 + τ_j G_j s_j) K = real,   K the motion of them all.                (mobility-18)

Public names: Carried, carried.

Source: NEU90 §5.1 (Krawczyk's operator); docs/theory/mobility.md (mobility-17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.balls import balls, precision
from liaison.exact.linear import Balls, Reals
from liaison.exact.rigid import Motion3, applied, crossed, dotted, moved, quaternion_of_motion
from liaison.freedoms.clock import Exhausted, go_on
from liaison.freedoms.home import Home
from liaison.freedoms.motions import Transform
from liaison.freedoms.screws import Factor, LoopSystem

from .open_loops import as_floats, fitted, in_floats

Floats: TypeAlias = NDArray[np.float64]

BITS = 96
"""Precision of the balls."""

LONGEST, SHORTEST = 0.2, 1e-4
"""Lengths of a piece of the path, in units of τ."""

PIECES = 600
"""Most pieces of a path."""

NEAR = 1e-9
"""How far beyond the path a graph reaches in its free unknowns."""

ROUND = 1 + 1e-12
"""Covers the rounding of bounds that are added in floats."""

FAR = 10.0
"""Bound of τ = tan(θ/2) in distances to the target."""


@final
@dataclass(frozen=True, slots=True)
class Carried:
    """A proof that was carried along a path."""

    dimension: int
    pieces: int
    radius: float  # within which of the floats, in units of τ, a position exists


def _target(home: Home, poses: Mapping[str, Transform]) -> Floats | None:
    """Ways of all motions, from home to the position of these poses; None where one is not reached.

    With the predecessor brought back to where it is at home, a joint moves its successor by the
    product of its motions.
    """
    ways: list[float] = []
    for joint, group in zip(home.mechanism.joints, home.motions, strict=True):
        a, b = joint.predecessor.body, joint.successor.body
        (A0, B0), (A, B) = ([_pose(x[name]) for name in (a, b)] for x in (home.poses, poses))
        target = _product(_product(A0, _inverse(A)), _product(B, _inverse(B0)))
        screws = [(as_floats(m.direction), None if m.point is None else as_floats(m.point))
                  for m in group]  # fmt: skip
        x = fitted(screws, target, np.zeros(len(group)))
        if x is None:
            return None
        ways += list(x)
    return np.array(ways)


def _pose(X: Transform) -> tuple[Floats, Floats]:
    return as_floats(X[0]), as_floats(X[1])


def _product(X: tuple[Floats, Floats], Y: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return X[0] @ Y[0], X[1] + X[0] @ Y[1]


def _inverse(X: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return X[0].T, -X[0].T @ X[1]


def carried(
    home: Home, dimension: int, poses: Mapping[str, Transform], held: Sequence[str] = ()
) -> Carried | str:
    """Carries a proof from home to a position in floats; or says in words why that fails.

    Args:
        home: an exact position, at which the real solution set is proved to be smooth.
        dimension: that of the solution set there.
        poses: of the bodies in the position asked for.
        held: labels of coordinates that are free unknowns at the end.
    """
    if home.relations.rows or any(m.pitch is not None for m in home.columns):
        return "relations and screw joints are not followed"
    target = _target(home, poses)
    if target is None:
        return "a joint does not reach the position in floats from the exact one"
    last = [k for k, m in enumerate(home.columns) if m.coordinate in set(held)]
    try:
        with precision(BITS):
            path = _Path(home, dimension)
            answer = path.followed(target, last)
            if isinstance(answer, str) and dimension == 1:
                other = path.followed(target, last, sense=-1.0)
                return answer if isinstance(other, str) else other
            return answer
    except Exhausted as error:
        return f"given up: {error.message.rstrip('.')}"


@final
class _Path:
    """A path on the closure, in floats, and the proof of each of its pieces in balls."""

    def __init__(self, home: Home, dimension: int) -> None:
        self.home = home.assembled(0, balls(home.formulas()))
        self.turns = np.array([m.point is not None for m in home.columns])
        self.dimension, self.n = dimension, self.home.n

    def followed(self, target: Floats, held: Sequence[int], sense: float = 1.0) -> Carried | str:
        """From home to the target, piece by piece, each as long as it can be proved.

        Args:
            target: the way of every motion.
            held: unknowns that are free in the last piece, as far as they can be.
            sense: −1 to begin away from the target.
        """
        ways, length, pieces = np.zeros(self.n), LONGEST, 0
        heading = sense * self._ahead(ways, target)
        while pieces < PIECES:
            go_on()
            piece = _Piece(_moved(self.home, ways), self.dimension)
            ahead = self._ahead(ways, target)
            is_last = bool(np.linalg.norm(ahead) <= length)
            step = ahead if is_last else piece.step(heading, length)
            there = None if step is None else piece.corrected(step)
            radius = None if there is None else piece.proved(there, held if is_last else ())
            if there is None or radius is None:
                length /= 2
                if length < SHORTEST:
                    return f"a piece of the path is not proved, after {pieces} that are"
                continue
            pieces += 1
            if is_last:
                return Carried(self.dimension, pieces, radius)
            ways = ways + np.where(self.turns, 2 * np.arctan(there), 2 * there)
            heading = there if self.dimension == 1 else self._ahead(ways, target)
            length = min(LONGEST, 1.5 * length)
        return f"the path is longer than {PIECES} pieces"

    def _ahead(self, ways: Floats, target: Floats) -> Floats:
        """What is left to the target, as τ; large for hinges about half a turn away from it."""
        left = (target - ways) / 2
        return np.where(self.turns, np.clip(np.tan(left), -FAR, FAR), left)


def _moved(home: LoopSystem, ways: Floats) -> LoopSystem:
    """The loops with τ = 0 where the joints have gone these ways from home (mobility-18)."""
    from flint import arb

    loops, ends = [], []
    for loop in home.loops:
        here: Motion3 = ([[arb(int(i == j)) for j in range(3)] for i in range(3)], [arb(0)] * 3)
        factors = []
        for f in loop:
            way = arb(float(ways[f.column])) * f.sign
            here = moved(here, _displacement(f.screw, way))
            turned, shifted = applied(here[0], f.screw[:3]), applied(here[0], f.screw[3:])
            beside = crossed(here[1], turned)
            moment = [x + y for x, y in zip(shifted, beside, strict=True)]
            factors.append(Factor(f.column, f.sign, (*turned, *moment)))
        loops.append(factors)
        ends.append(quaternion_of_motion(here))
    return LoopSystem(0, home.n, loops, ends=ends)


def _displacement(screw: Sequence[Any], way: Any) -> Motion3:
    """The rigid motion along a screw of unit direction: by an angle about it, or a way along it."""
    from flint import arb

    d, moment = list(screw[:3]), list(screw[3:])
    one = [[arb(int(i == j)) for j in range(3)] for i in range(3)]
    if all(x == 0 for x in d):
        return one, [x * way for x in moment]
    x, y, z = d
    K = [[arb(0), -z, y], [z, arb(0), -x], [-y, x, arb(0)]]
    s, c = way.sin(), 1 - way.cos()
    R = [[one[i][j] + s * K[i][j] + c * dotted(K[i], [K[k][j] for k in range(3)])
          for j in range(3)] for i in range(3)]  # fmt: skip
    point = crossed(d, moment)
    return R, [a - b for a, b in zip(point, applied(R, point), strict=True)]


@final
class _Piece:
    """The closure around the beginning of a piece, in balls and in floats."""

    def __init__(self, exact: LoopSystem, dimension: int) -> None:
        self.exact, self.floats, self.dimension = exact, in_floats(exact), dimension
        self.n = exact.n

    def _jacobian(self, x: Floats) -> Floats:
        return np.array(self.floats.jacobian(Reals(), list(x)), dtype=float)

    def step(self, heading: Floats, length: float) -> Floats | None:
        """The part of a direction along the closure, of a length."""
        N = np.linalg.svd(self._jacobian(np.zeros(self.n)))[2][self.n - self.dimension :]
        along = N.T @ (N @ heading)
        size = float(np.linalg.norm(along))
        return along * (length / size) if size > 1e-9 else None

    def corrected(self, x: Floats) -> Floats | None:
        """The point of the closure next to x, by Gauss-Newton."""
        r = self.n - self.dimension
        for _ in range(8):
            f = np.array(self.floats.values(Reals(), list(x)), dtype=float)
            if np.max(np.abs(f)) < 1e-14:
                break
            U, s, V = np.linalg.svd(self._jacobian(x), full_matrices=False)
            x = x - V[:r].T @ ((U[:, :r].T @ f) / s[:r])
        return x if np.max(np.abs(x)) < 1 and np.max(np.abs(f)) < 1e-9 else None

    def proved(self, there: Floats, held: Sequence[int]) -> float | None:
        """The radius at the end of a piece that is proved; None where the test fails."""
        middle, r = there / 2, self.n - self.dimension
        J = self._jacobian(middle)
        A = np.linalg.svd(J)[0][:, :r].T
        columns = _pivots(A @ J, r, held)
        if columns is None:
            return None
        C = np.linalg.inv((A @ J)[:, columns]) @ A
        free = [j for j in range(self.n) if j not in set(columns)]
        wide = np.abs(middle)
        wide[free] += NEAR
        rho = np.zeros(r)
        for _ in range(3):
            box = wide.copy()
            box[columns] += rho
            box = box * ROUND + 1e-14
            G = _weighted(C, self.exact.jacobian(Balls(), _boxed(middle, box)))
            off, spread = self._bounds(there, C, G, (columns, free))
            if np.all((off + spread @ rho) * ROUND < rho):
                return self._end(there, C, spread)
            rho = 2 * (off + spread @ (2 * off)) + 2 * NEAR
            if np.max(rho) > 1.0:
                return None
        return None

    def _bounds(
        self, there: Floats, C: Floats, G: Any, split: tuple[list[int], list[int]]
    ) -> tuple[Floats, Floats]:
        """Bounds of C f along the piece from 0, and of 1 − C ∂f/∂y."""
        from flint import arb

        columns, free = split
        middle = [arb(float(x)) / 2 for x in there]
        value = _weighted(C, [[f] for f in self.exact.values(Balls(), middle)])
        off = np.zeros(len(C))
        spread = np.zeros((len(C), len(C)))
        for i in range(len(C)):
            slope = sum((G[i][j] * arb(float(there[j])) for j in range(self.n)), arb(0))
            aside = sum((abs(G[i][j]) * NEAR for j in free), arb(0))
            off[i] = _upper(abs(value[i][0]) + abs(slope) / 2 + aside)
            for k, j in enumerate(columns):
                spread[i, k] = _upper(abs(G[i][j] - int(i == k)))
        return off, spread

    def _end(self, there: Floats, C: Floats, spread: Floats) -> float | None:
        """How far the end is from the floats, by the same test on a point."""
        from flint import arb

        value = _weighted(C, [[f] for f in self.exact.values(Balls(), [arb(x) for x in there])])
        size = max((_upper(abs(row[0])) for row in value), default=0.0)
        factor = float(np.max(np.sum(spread, axis=1), initial=0.0)) * ROUND
        radius = size / (1 - factor) * ROUND if factor < 1 else np.inf
        return radius if radius < NEAR / 2 else None


def _pivots(M: Floats, r: int, held: Sequence[int]) -> list[int] | None:
    """Columns of a well-conditioned minor; held ones only where it needs them."""
    weights = np.array([1e-4 if j in set(held) else 1.0 for j in range(M.shape[1])])
    work, columns = M * weights, []
    for _ in range(r):
        i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(work)), work.shape))
        if abs(work[i, j]) < 1e-10:
            return None
        columns.append(j)
        work = work - np.outer(work[:, j], work[i]) / work[i, j]
    return sorted(columns)


def _boxed(middle: Floats, radius: Floats) -> list[Any]:
    from flint import arb

    return [arb(float(m), float(r)) for m, r in zip(middle, radius, strict=True)]


def _weighted(C: Floats, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """C times a matrix of balls."""
    from flint import arb_mat

    left = arb_mat(C.shape[0], C.shape[1], [float(x) for x in C.ravel()])
    right = arb_mat(len(rows), len(rows[0]), [x for row in rows for x in row])
    return [list(row) for row in (left * right).tolist()]


def _upper(x: Any) -> float:
    """A float not below the upper end of a ball."""
    return float(np.nextafter(float(x.upper()), np.inf))
