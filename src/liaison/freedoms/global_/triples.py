"""Loops of six joints with a wrist: three hinges through one point, or three parallel ones.

Three neighbouring hinges of either kind leave a point, or a plane, where it is. What the other
three, hinges or sliders, must do then is three equations in three unknowns; over each of their
solutions the special three have two positions, from the two ways a triangle closes. Most arms of
industry are such.

Why it is here: the elimination of six_hinges.py degenerates for these loops, and without msolve
nothing else knows all their positions.

Public names: Triple, TriplePositions, triple_of, triple_positions, three_that_meet, OtherThree,
left_in_place.

Source: PIE68 (wrists); docs/theory/mobility.md, "All assembly modes".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.balls import ROUNDED, rounded
from liaison.exact.rigid import Motion3, applied, crossed, dotted, rational_motion, reversed_motion
from liaison.freedoms.engines.joint_unknowns import JointUnknowns
from liaison.freedoms.engines.systems import PolynomialSystem, solved
from liaison.freedoms.engines.terms import Terms, combined, plain, raised, times, total


@final
class OtherThree(JointUnknowns):
    """Equations of the three joints that are not special, in their cosines, sines and slides."""

    def _through(self, X: Sequence[Motion3], v: Sequence[Any], *, is_point: bool) -> list[Terms]:
        """X1 J2 X2 J3 X3 of a point, or of a direction."""
        steps = self.plain(v)
        for joint, (R, p) in ((None, X[2]), (2, X[1]), (1, X[0])):
            if joint is not None:
                steps = self.moved(steps, joint, is_point=is_point)
            place = self.plain(p if is_point else [0, 0, 0])
            steps = [total(combined(row, steps), x) for row, x in zip(R, place, strict=True)]
        return steps

    def meeting(self, X: Sequence[Motion3], points: Sequence[Any]) -> list[Terms]:
        """The point where the special axes meet stays: X1 J2 X2 J3 X3 w = J1⁻¹ X6⁻¹ w′."""
        right = self.moved(self.plain(points[3:]), 0, -1, is_point=True)
        left = self._through(X, points[:3], is_point=True)
        gaps = [combined((1, -1), pair) for pair in zip(left, right, strict=True)]
        return self.circles() + gaps

    def parallel(self, X: Sequence[Motion3], plane: Sequence[Any]) -> list[Terms]:
        """The plane across the special axes stays: its normal up to sign, and its place."""
        n, height = plane[:3], plane[3]
        first = crossed(n, [1, 0, 0] if abs(float(n[0])) < 0.7 else [0, 1, 0])
        left = self._through(X, [0, 0, 1], is_point=False)
        equations = [
            _dot(left, self.moved(self.plain(e), 0, -1, is_point=False))
            for e in (first, crossed(n, first))
        ]
        place = self._through(X, [0, 0, 0], is_point=True)
        along = raised(plain(n[2], self.count), self.place[0]) if self.slides[0] else {}
        normal = self.moved(self.plain(n), 0, -1, is_point=False)
        last = total(_dot(place, normal), along, plain(height, self.count))
        return [*self.circles(), *equations, last]


def left_in_place(X: Sequence[Motion3], meets: bool) -> list[Any]:
    """Numbers of what the special three leave where it is: two points, or two planes."""
    if meets:
        start, end = _ends(X)
        return [*start, *_point(reversed_motion(X[5]), end)]
    from flint import arb

    back = reversed_motion(X[5])
    sign = _sign(X[3]) * _sign(X[4])
    n = [sign * x for x in applied(back[0], [arb(0), arb(0), arb(1)])]
    height = X[3][1][2] + _sign(X[3]) * X[4][1][2]
    return [*n, height - dotted(back[1], n)]


def _ends(X: Sequence[Motion3]) -> tuple[list[Any], list[Any]]:
    """Where the special axes meet: before the first of them turns, and behind the last."""
    from flint import arb

    middle = [arb(0), arb(0), _axis_point(X[4])]  # on the middle axis, in its frame
    return _point(X[3], middle), _point(reversed_motion(X[4]), middle)


def _axis_point(X: Motion3) -> Any:
    """The height at which the next axis, z behind X, meets this one."""
    d, p = [row[2] for row in X[0]], X[1]
    k = 0 if abs(float(d[0])) > abs(float(d[1])) else 1
    return p[2] - p[k] * d[2] / d[k]


def _point(X: Motion3, v: Sequence[Any]) -> list[Any]:
    return [a + b for a, b in zip(applied(X[0], v), X[1], strict=True)]


def _sign(X: Motion3) -> int:
    return 1 if float(X[0][2][2]) > 0 else -1


def _dot(a: Sequence[Terms], b: Sequence[Terms]) -> Terms:
    return total(*(times(f, g) for f, g in zip(a, b, strict=True)))


NEAR = 1e-12
"""Gap below which axes count as meeting, and sine below which they count as parallel."""

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Triple:
    """Three special hinges: the first of them, and whether their axes meet (or are parallel)."""

    first: int
    meets: bool


@final
@dataclass(frozen=True, slots=True)
class TriplePositions:
    """Angles of all six hinges near each position, and how many there are over the complex."""

    angles: tuple[tuple[float, ...], ...]
    complex: int
    is_sure: bool  # every triangle is clearly open or clearly impossible
    engine: str


def triple_of(X: Sequence[Motion3], sliders: Sequence[int] = ()) -> Triple | None:
    """The special three hinges of a loop of six joints; None where there are none."""
    numbers = [_floats(x) for x in X]
    for first in range(6):
        if any((first + k) % 6 in sliders for k in range(3)):
            continue
        before, after = numbers[first], numbers[(first + 1) % 6]
        height = _meeting(before[0].T @ [0, 0, 1], -before[0].T @ before[1])
        other = _meeting(after[0] @ [0, 0, 1], after[1])
        if height is not None and other is not None and abs(height - other) < NEAR:
            return Triple(first, True)
        if all(_is_upright(x[0]) for x in (before, after)):
            return Triple(first, False)
    return None


def _meeting(direction: Floats, point: Floats) -> float | None:
    """Where a line meets the z axis; None where it does not, or everywhere."""
    size = float(direction[0] ** 2 + direction[1] ** 2)
    if size < NEAR:
        return None
    t = -float(direction[:2] @ point[:2]) / size
    meeting = point + t * direction
    return float(meeting[2]) if math.hypot(meeting[0], meeting[1]) < NEAR else None


def _is_upright(R: Floats) -> bool:
    return math.hypot(R[0, 2], R[1, 2]) < NEAR


def _floats(X: Motion3) -> tuple[Floats, Floats]:
    return np.array([[float(x) for x in row] for row in X[0]]), np.array([float(x) for x in X[1]])


def triple_positions(
    X: Sequence[Motion3], triple: Triple, *, sliders: Sequence[int] = (), seed: int = 0
) -> TriplePositions:
    """All positions of a loop with a wrist, near enough for Newton's steps.

    Args:
        X: from behind each joint to the next, z its axis.
        triple: the special three.
        sliders: joints that slide along z instead of turning about it.
        seed: of everything drawn.

    Raises:
        Infinite: it moves.
        NotThere, Exhausted: not computed.
    """
    order = [(triple.first + 3 + k) % 6 for k in range(6)]  # the special three last
    read = [X[j] for j in order]
    others = OtherThree([order[k] in sliders for k in range(3)])
    equations = others.meeting if triple.meets else others.parallel
    fixed = left_in_place(read, triple.meets)
    near = [rational_motion(x, ROUNDED) for x in read[:3]]
    rounded_values = [rounded(x, ROUNDED) for x in fixed]
    answer = solved(
        PolynomialSystem(others.count, tuple(equations(read, fixed))),
        near=PolynomialSystem(others.count, tuple(equations(near, rounded_values))),
        seed=seed,
    )
    numbers = [_floats(x) for x in read]
    listed, sure = [], answer.is_stable
    for solution in answer.real:
        first = others.values(solution.x)
        ends, clear = _special_angles(numbers, others, first, triple.meets)
        sure = sure and clear
        for end in ends:
            angles = [0.0] * 6
            for j, angle in zip(order, [*first, *end], strict=True):
                angles[j] = angle
            listed.append(tuple(angles))
    return TriplePositions(tuple(listed), 2 * answer.multiplicity, sure, answer.engine)


# The special three ------------------------------------------------------------------------------


def _special_angles(
    X: Sequence[tuple[Floats, Floats]], others: OtherThree, first: Sequence[float], meets: bool
) -> tuple[list[tuple[float, float, float]], bool]:
    """Angles of the special three behind three known ones, and whether their number is clear."""
    T = np.eye(4)
    for value, slide, step in zip(first, others.slides, X[:3], strict=True):
        turn, way = (0.0, value) if slide else (value, 0.0)
        T = T @ _matrix(_about_z(turn), np.array([0.0, 0.0, way])) @ _matrix(*step)
    G: Floats = np.asarray(np.linalg.inv(_matrix(*X[5]) @ T), dtype=float)
    return _closing(_matrix(*X[3]), _matrix(*X[4]), G, meets)


def three_that_meet(X: Sequence[Motion3]) -> tuple[list[tuple[float, float, float]], bool] | None:
    """Angles with which three hinges whose axes meet close a loop; None where they do not meet."""
    before, after, last = (_floats(x) for x in X)
    height = _meeting(before[0].T @ [0, 0, 1], -before[0].T @ before[1])
    other = _meeting(after[0] @ [0, 0, 1], after[1])
    if height is None or other is None or abs(height - other) > NEAR:
        return None
    G: Floats = np.asarray(np.linalg.inv(_matrix(*last)), dtype=float)
    return _closing(_matrix(*before), _matrix(*after), G, True)


def _closing(
    A: Floats, B: Floats, G: Floats, meets: bool
) -> tuple[list[tuple[float, float, float]], bool]:
    """All a, b, c with R_z(a) A R_z(b) B R_z(c) = G, and whether their number is clear."""
    if meets:
        z = np.array([0.0, 0.0, 1.0])
        u, v, goal = A[:3, :3].T @ z, B[:3, :3] @ z, float(G[2, 2])
        terms = (float(u[:2] @ v[:2]), float(u[1] * v[0] - u[0] * v[1]), float(u[2] * v[2]) - goal)
    else:
        if G[2, 2] * A[2, 2] * B[2, 2] < 0:
            return [], True
        u, v = A[:3, :3].T @ A[:3, 3], B[:3, 3]
        size = float(A[:2, 3] @ A[:2, 3] + v[:2] @ v[:2] - G[:2, 3] @ G[:2, 3])
        terms = (2 * float(u[:2] @ v[:2]), 2 * float(u[1] * v[0] - u[0] * v[1]), size)
    middles, clear = _two_angles(*terms)
    return [_around(A, B, G, b, meets) for b in middles], clear


def _two_angles(a: float, b: float, c: float) -> tuple[list[float], bool]:
    """Angles with a cos + b sin + c = 0, and whether their number is beyond rounding."""
    size = math.hypot(a, b)
    if size < 1e-12:
        return [], abs(c) > 1e-9
    ratio = -c / size
    clear = abs(abs(ratio) - 1) > 1e-9
    if abs(ratio) > 1:
        return [], clear
    middle, half = math.atan2(b, a), math.acos(ratio)
    return [middle + half, middle - half], clear


def _around(A: Floats, B: Floats, G: Floats, b: float, meets: bool) -> tuple[float, float, float]:
    """The first and last angle of the special three, the middle one known."""
    inner = A @ _matrix(_about_z(b), np.zeros(3)) @ B
    seen, goal = (inner[:2, 2], G[:2, 2]) if meets else (inner[:2, 3], G[:2, 3])
    a = math.atan2(goal[1], goal[0]) - math.atan2(seen[1], seen[0])
    rest = (_matrix(_about_z(a), np.zeros(3)) @ inner)[:3, :3].T @ G[:3, :3]
    return a, b, math.atan2(rest[1, 0], rest[0, 0])


def _about_z(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _matrix(R: Floats, p: Floats) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = R, p
    return matrix
