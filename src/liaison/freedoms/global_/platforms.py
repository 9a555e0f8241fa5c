"""All poses of a plate on six legs of given lengths: forty at most, through msolve.

A pose is a dual quaternion q + ε y with q·y = 0, up to a factor. Times |q|², the distance of a foot
a and a head b is quadratic:

    4 |y|² + |q|² (a² + b² − L²) + 4 (q* y)·b − 4 (y q*)·a − 2 a·(q b q*) = 0     (mobility-13)

Why it is here: with joint coordinates as unknowns a Stewart platform has thirty-six of them, and
neither msolve nor Newton's steps from drawn starts (local_modes.py, which finds one pose of eight
where `some_poses` finds six) do much with these.

Public names: PlateAnswer, plate_answer, some_poses.

Source: HUS96 (Study's parameters; forty solutions).
Differs: y here is HUS96's with the sign that makes the translation 2 y q*/|q|².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.balls import BITS, floats_of, precision, rational_of
from liaison.expr import as_expr, evaluate
from liaison.freedoms.clock import go_on
from liaison.freedoms.engines.certify import certified
from liaison.freedoms.engines.quotient import Infinite
from liaison.freedoms.engines.systems import PolynomialSystem, Solution, Solved, solved
from liaison.freedoms.engines.terms import Terms, combined, plain, times, total, unknown
from liaison.spatial import Array, array

from .legs import Leg

UNKNOWNS = 8
"""Three of q, four of y, and 1/|q|²."""

DIGITS = 32
"""Binary digits behind the point that msolve is given of lengths that are not rational."""

MOST = 40
"""Poses of a plate on six legs, at most, if they are finitely many."""

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class PlateAnswer:
    """Poses (R, p) of the plate, each with its certificate."""

    poses: tuple[tuple[Floats, Floats], ...]
    solved: Solved


def plate_answer(legs: Sequence[Leg], seed: int = 0) -> PlateAnswer:
    """All poses of a plate, in ground's axes.

    Raises:
        Infinite: it moves.
        NotThere: msolve is not there.
        Exhausted: out of time or memory.
    """
    if len(legs) < 6:
        raise Infinite("a plate on fewer than six legs moves.")
    chart = _chart(seed)
    near = _rounded(*_data(legs), chart)
    solution = solved(_system(legs, chart), seed=seed, digits=DIGITS, near=near, most=MOST)
    poses = [_pose(s.x, chart, legs[0]) for s in solution.real]
    return PlateAnswer(tuple(poses), solution)


def _chart(seed: int) -> list[Fraction]:
    """Random coefficients of the affine chart in which quaternions are parametrized."""
    draw = Random(seed)
    return [Fraction(draw.randrange(2, 9), draw.randrange(9, 16)) for _ in range(3)]


def _data(legs: Sequence[Leg]) -> tuple[list[Array], list[Array], list[Any]]:
    """Feet and heads relative to those of the first leg, and squares of lengths."""
    feet = [leg.foot - legs[0].foot for leg in legs]
    heads = [leg.head - legs[0].head for leg in legs]
    return feet, heads, [leg.square for leg in legs]


def _system(legs: Sequence[Leg], chart: Sequence[Fraction]) -> PolynomialSystem:
    return PolynomialSystem(UNKNOWNS, tuple(_equations(*_data(legs), chart)))


def _rounded(
    feet: Sequence[Array], heads: Sequence[Array], squares: Sequence[Any], chart: Sequence[Fraction]
) -> PolynomialSystem | None:
    """The equations of a platform of rational data near by; None where the data are rational.

    Equations that are rounded one by one are those of no platform, and have other solutions.
    """
    flat = [*(x for points in (feet, heads) for p in points for x in p), *squares]
    with precision(BITS):
        numbers, exact = rational_of(flat, DIGITS)
    if exact:
        return None
    points = [array(numbers[k : k + 3]) for k in range(0, 6 * len(feet), 3)]
    count = len(feet)
    lengths = numbers[6 * count :]
    equations = _equations(points[:count], points[count:], lengths, chart)
    return PolynomialSystem(UNKNOWNS, tuple(equations))


def _equations(
    feet: Sequence[Array], heads: Sequence[Array], squares: Sequence[Any], chart: Sequence[Fraction]
) -> list[Terms]:
    x = [unknown(k, UNKNOWNS) for k in range(UNKNOWNS)]
    first = combined([1, *(-c for c in chart)], [plain(1, UNKNOWNS), *x[:3]])
    q, y = [first, *x[:3]], x[3:7]
    back = [q[0], *(combined([-1], [part]) for part in q[1:])]
    size = total(*(times(part, part) for part in q))
    whole = total(*(times(part, part) for part in y))
    seen, swapped = _hamilton(back, y), _hamilton(y, back)
    rows = []
    for a, b, square in zip(feet, heads, squares, strict=True):
        turned = _hamilton(_hamilton(q, [{}, *(plain(v, UNKNOWNS) for v in b)]), back)
        apart = _dot(a, a) + _dot(b, b) - square
        parts = [whole, size, *seen[1:], *swapped[1:], *turned[1:]]
        numbers = [4, apart, *(4 * v for v in b), *(-4 * v for v in a), *(-2 * v for v in a)]
        rows.append(combined(numbers, parts))
    study = total(*(times(a, b) for a, b in zip(q, y, strict=True)))
    others = [combined([1, -1], [row, rows[0]]) for row in rows[1:]]
    return [study, rows[0], *others, total(times(size, x[7]), plain(-1, UNKNOWNS))]


def _dot(a: Array, b: Array) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


_SIGNS = ((1, -1, -1, -1), (1, 1, 1, -1), (1, -1, 1, 1), (1, 1, -1, 1))
_PLACES = (
    ((0, 0), (1, 1), (2, 2), (3, 3)),
    ((0, 1), (1, 0), (2, 3), (3, 2)),
    ((0, 2), (1, 3), (2, 0), (3, 1)),
    ((0, 3), (1, 2), (2, 1), (3, 0)),
)


def _hamilton(a: Sequence[Terms], b: Sequence[Terms]) -> list[Terms]:
    """The product of two quaternions of polynomials."""
    return [
        combined(signs, [times(a[i], b[j]) for i, j in places])
        for signs, places in zip(_SIGNS, _PLACES, strict=True)
    ]


def _pose(x: Sequence[float], chart: Sequence[Fraction], leg: Leg) -> tuple[Floats, Floats]:
    """(R, p) of the plate's link from the unknowns; heads are relative to the first one."""
    q = [1 - sum(float(c) * v for c, v in zip(chart, x[:3], strict=True)), *x[:3]]
    w, i, j, k = (v / float(np.linalg.norm(q)) for v in q)
    R = np.array(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
            [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
            [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    size = sum(v * v for v in q)
    y, back = x[3:7], (q[0], -q[1], -q[2], -q[3])
    t = [
        2 * sum(s * y[a] * back[b] for s, (a, b) in zip(signs, places, strict=True)) / size
        for signs, places in zip(_SIGNS[1:], _PLACES[1:], strict=True)
    ]
    foot, head = (np.array([float(evaluate(as_expr(v))) for v in p]) for p in (leg.foot, leg.head))
    return R, np.array(t) + foot - R @ head


def some_poses(legs: Sequence[Leg], seed: int = 0, starts: int = 400) -> PlateAnswer:
    """Certified poses of a plate by Newton's method from random starts; perhaps not all."""
    chart = _chart(seed)
    system = _system(legs, chart)
    with precision(BITS):
        in_balls = system.in_balls()
    solutions: list[Solution] = []
    for x in _arrived(in_balls, np.random.default_rng(seed).normal(size=(starts, UNKNOWNS))):
        if all(np.max(np.abs(np.array(s.x) - x)) > 1e-6 for s in solutions):
            box = certified(in_balls, x.tolist())
            if box is not None:
                solutions.append(Solution(tuple(floats_of(box.box)), "Krawczyk", box.radius, 1))
    poses = [_pose(s.x, chart, legs[0]) for s in solutions]
    solved_some = Solved(tuple(solutions), len(solutions), 0, "Newton's steps", False, DIGITS)
    return PlateAnswer(tuple(poses), solved_some)


def _arrived(system: PolynomialSystem, x: Floats) -> Floats:
    """Where Newton's steps end from many starts at once."""
    numbers = PolynomialSystem(
        system.count,
        tuple({m: float(c.mid()) for m, c in f.items()} for f in system.equations),
    )
    for _ in range(60):
        go_on()
        columns = list(x.T)
        f = np.stack(numbers.values(columns), axis=1)
        J = np.stack([np.stack(row, axis=1) for row in numbers.jacobian(columns)], axis=1)
        step = np.einsum("kij,kj->ki", np.linalg.pinv(J), f)
        step /= np.maximum(1.0, np.max(np.abs(step), axis=1))[:, None]
        x = x - step
        x = x[np.all(np.isfinite(x), axis=1)]
    f = np.stack(numbers.values(list(x.T)), axis=1)
    return np.asarray(x[np.max(np.abs(f), axis=1) < 1e-9])
