"""Full rank proved at any position: loops opened at neutral joints, exact without closing.

Every joint of a loop is put into its neutral position, so that all screws s and the displacement K
from one end of the opened loop to the other are exact numbers. The loop closes where

    Π (1 + τ_j s_j)^±1 K  =  real                                           (mobility-10)

with τ the displacements from neutral. The joints generate the same group of motions G at every
position, because each moves the later axes by an element of G; K must lie in G. Then a loop is
dim G equations. A solution near a position in floats is proved to exist by Krawczyk's test on as
many unknowns, the others held; the test proves the minor invertible as well. So by the implicit
function theorem the real solution set is smooth there, of dimension n − Σ dim G.

Public names: Anywhere, full_rank_near, group_sizes, displacement, fitted, as_floats, in_floats.

Source: SEL05 ch. 4; NEU90 §5.1; docs/theory/mobility.md (mobility-10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.balls import BITS, balls, precision
from liaison.exact.choices import check_laws, square_numbers
from liaison.exact.linear import Balls, Reals, kernel, primes_from, rank
from liaison.exact.residues import residues
from liaison.exact.rigid import in_balls, quaternion_of_motion
from liaison.expr import Expr, as_expr, evaluate
from liaison.freedoms.engines.certify import Square, certified
from liaison.freedoms.home import Home
from liaison.freedoms.motions import Motion, Transform, motions_of
from liaison.freedoms.placing import across, markers_of
from liaison.freedoms.screws import Factor, LoopSystem, algebra
from liaison.model import Joint, Mechanism
from liaison.spatial import array, compose, identity, inverse, zeros

Floats: TypeAlias = NDArray[np.float64]

SEEDS = (0, 1)
"""Of the primes modulo which a loop's group is computed."""

TRIALS = 40
"""Primes tried for the numbers of a loop."""

CLOSED = 1e-3
"""Largest residual of a loop at the floats next to which a position is looked for."""

NEAR = 1e-6
"""Distance in τ beyond which a position that exists is not the one asked for."""

STARTS = 8
"""Points from which the displacements are looked for."""


@final
@dataclass(frozen=True, slots=True)
class _Open:
    """A loop opened at neutral joints: (joint, sign, its motions) in order, and K."""

    steps: tuple[tuple[int, int, tuple[Motion, ...]], ...]
    K: Transform


@final
@dataclass(frozen=True, slots=True)
class Anywhere:
    """What is proved at a position in floats."""

    dimension: int
    groups: tuple[int, ...]
    radius: float  # within which of the floats, in units of τ, a position exists


def _opened(mechanism: Mechanism, loop: Sequence[tuple[int, int]]) -> _Open:
    here: Transform = (identity(3), zeros(3))
    steps = []
    for k, sign in loop:
        joint = mechanism.joints[k]
        X = across(joint, list(joint.type.neutral()))
        there = compose(*here, *(X if sign > 0 else inverse(*X)))
        first, second = (here, there) if sign > 0 else (there, here)
        steps.append((k, sign, tuple(_neutral_motions(joint, first, second))))
        here = there
    return _Open(tuple(steps), here)


def _neutral_motions(joint: Joint, first: Transform, second: Transform) -> list[Motion]:
    a, b = joint.predecessor, joint.successor
    # a joint from a body to itself would have one pose for both ends
    F = compose(*first, a.rotation, a.position)
    M = compose(*second, b.rotation, b.position)
    return motions_of(joint, F, M, list(joint.type.neutral()))


def _numbers(motion: Motion) -> list[Any]:
    point = zeros(3) if motion.point is None else motion.point
    return [as_expr(_exact(x)) for x in (*motion.direction, *point)]


def _exact(x: Any) -> Any:
    return Fraction(x) if isinstance(x, float) else x


def _flat(K: Transform) -> list[Expr]:
    return [as_expr(_exact(x)) for x in (*(x for row in K[0] for x in row), *K[1])]


def _screw(motion: Motion, numbers: Sequence[Any]) -> tuple[Any, ...]:
    d, q = numbers[:3], numbers[3:6]
    if motion.point is None:
        zero = d[0] * 0
        return (zero, zero, zero, *d)
    return (*d, q[1] * d[2] - q[2] * d[1], q[2] * d[0] - q[0] * d[2], q[0] * d[1] - q[1] * d[0])


# Groups -----------------------------------------------------------------------------------------


def _group(loop: _Open) -> tuple[int, list[int]] | None:
    """The dimension of a loop's group and rows that are coordinates of it; None if K is outside.

    Computed modulo two primes, which must agree: a rank modulo p is at most the rank itself, and
    less only where p divides a fixed number. Parameters without value are drawn at random.
    """
    motions = [m for _, _, group in loop.steps for m in group]
    if any(m.pitch is not None for m in motions):
        return None
    formulas = [x for m in motions for x in _numbers(m)] + _flat(loop.K)
    groups = [_group_modulo(motions, *_residues(formulas, seed)) for seed in SEEDS]
    return groups[0] if groups[0] == groups[1] else None


def _group_modulo(
    motions: Sequence[Motion], p: int, values: Sequence[int]
) -> tuple[int, list[int]] | None:
    screws = [tuple(x % p for x in _screw(m, values[6 * k : 6 * k + 6]))
              for k, m in enumerate(motions)]  # fmt: skip
    basis = algebra(screws, p)
    K = list(values[6 * len(motions) :])
    if not _holds(basis, [K[0:3], K[3:6], K[6:9]], K[9:12], p):
        return None
    return len(basis), _coordinates(basis, p)


def _residues(formulas: Sequence[Expr], seed: int) -> tuple[int, list[int]]:
    """Constants modulo a prime that has the square roots among them.

    Raises:
        DerivationError: none of many primes has them, or laws of a function are lost modulo primes.
    """
    check_laws(formulas)
    for p in islice(primes_from(seed, square_numbers(formulas)), TRIALS):
        try:
            return p, [int(x) for x in evaluate(list(formulas), domain=residues(p, seed))]
        except DerivationError:
            continue
    raise DerivationError("some numbers of the description have no value modulo any prime tried.")


def _coordinates(basis: Sequence[Sequence[int]], p: int) -> list[int]:
    """Entries of a screw that fix an element of the algebra."""
    rows: list[int] = []
    for k in range(6):
        chosen = [[b[j] for j in (*rows, k)] for b in basis]
        if rank(chosen, p) > len(rows):
            rows.append(k)
    return rows


def _holds(basis: Sequence[Sequence[int]], R: list[list[int]], t: list[int], p: int) -> bool:
    """The rigid motion (R, t) is an element of the group of the algebra, for the groups known."""
    if len(basis) == 6:
        return True
    turns = rank([b[:3] for b in basis], p)
    shifts = _translations(basis, p)
    if turns == 3 and len(basis) == 3:
        return _fixes_center(basis, R, t, p)
    still = all((R[i][j] - (i == j)) % p == 0 for i in range(3) for j in range(3))
    if turns == 0:
        return still and rank([*shifts, t], p) == len(shifts)
    if turns != 1 or len(shifts) not in (2, 3):
        return False
    n = next(b[:3] for b in basis if any(b[:3]))
    if any((sum(R[i][j] * n[j] for j in range(3)) - n[i]) % p for i in range(3)):
        return False
    pitches = [sum(x * y for x, y in zip(n, b[3:], strict=True)) % p for b in basis]
    return len(shifts) == 3 or (not any(pitches) and rank([*shifts, t], p) == 2)


def _translations(basis: Sequence[Sequence[int]], p: int) -> list[list[int]]:
    """A basis of the elements without turn, as vectors."""
    columns = [[b[i] for b in basis] for i in range(3)]
    return [[sum(c * b[3 + i] for c, b in zip(weights, basis, strict=True)) % p for i in range(3)]
            for weights in kernel(columns, p, len(basis))]  # fmt: skip


def _fixes_center(basis: Sequence[Sequence[int]], R: list[list[int]], t: list[int], p: int) -> bool:
    """Of turns about one point c: moment = c × direction, and R c + t = c."""
    rows, right = [], []
    for b in basis:
        x, y, z = b[:3]
        rows += [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        right += list(b[3:])
    table = [[*row, -value % p] for row, value in zip(rows, right, strict=True)]
    solution = [v for v in kernel(table, p, 4) if v[3] % p]
    if len(solution) != 1:
        return False
    scale = pow(solution[0][3], -1, p)
    c = [x * scale % p for x in solution[0][:3]]
    return all((sum(R[i][j] * c[j] for j in range(3)) + t[i] - c[i]) % p == 0 for i in range(3))


def group_sizes(mechanism: Mechanism, loops: Sequence[Any]) -> list[int] | None:
    """Dimensions of the loops' groups; None where one is not known, or does not hold its K."""
    try:
        groups = [_group(_opened(mechanism, loop)) for loop in loops]
    except (DerivationError, ValueError, ZeroDivisionError):
        return None
    return None if any(g is None for g in groups) else [g[0] for g in groups if g is not None]


# The position -----------------------------------------------------------------------------------


def full_rank_near(
    home: Home, poses: Mapping[str, Transform], held: Sequence[str] = ()
) -> Anywhere | None:
    """Proves the dimension near a position in floats; None where the rank is not full, or unknown.

    Args:
        home: the position in floats, of a mechanism whose numbers are exact.
        poses: of its bodies.
        held: labels of coordinates that are held where the position allows it.
    """
    if home.mechanism.constraints:
        return None
    try:
        loops = [_opened(home.mechanism, loop) for loop in home.loops]
        groups = [_group(loop) for loop in loops]
    except (DerivationError, ValueError, ZeroDivisionError):
        return None
    known = [g for g in groups if g is not None]
    if len(known) < len(groups):
        return None
    rows = [6 * i + k for i, (_, entries) in enumerate(known) for k in entries]
    n = len(home.columns)
    if not rows:  # no loop: every joint moves freely
        return Anywhere(n, (), 0.0)
    sizes = tuple(size for size, _ in known)
    with precision(BITS):
        system = _system(home, loops)
        near = _displacements(home, loops, poses)
        columns = None if near is None else _chosen(home, system, rows, near, held)
        if near is None or columns is None:
            return None
        box = certified(_Held(system, rows, columns, near), [near[j] for j in columns])
        if box is None:
            return None
        away = [abs(x - near[j]).upper() for x, j in zip(box.box, columns, strict=True)]
        radius = max(map(float, away), default=0.0)
    if not radius < NEAR:
        return None
    return Anywhere(n - len(rows), sizes, radius)


def _first(home: Home) -> list[int]:
    starts, total = [], 0
    for group in home.motions:
        starts.append(total)
        total += len(group)
    return starts


def _system(home: Home, loops: Sequence[_Open]) -> LoopSystem:
    first, factors, ends = _first(home), [], []
    for loop in loops:
        line = []
        for k, sign, motions in loop.steps:
            screws = [_screw(m, balls(_numbers(m))) for m in motions]
            group = [Factor(first[k] + i, sign, s) for i, s in enumerate(screws)]
            line += group if sign > 0 else group[::-1]
        factors.append(line)
        ends.append(quaternion_of_motion(in_balls(loop.K)))
    return LoopSystem(0, len(home.columns), factors, ends=ends)


def _displacements(
    home: Home, loops: Sequence[_Open], poses: Mapping[str, Transform]
) -> list[float] | None:
    """τ of every joint in a loop, from the poses in floats; None where one is not reached."""
    first = _first(home)
    near = [0.0] * len(home.columns)
    done: set[int] = set()
    for loop in loops:
        for k, _, motions in loop.steps:
            if k in done:
                continue
            done.add(k)
            joint = home.mechanism.joints[k]
            tau = displacement(joint, motions, markers_of(joint, poses))
            if tau is None:
                return None
            near[first[k] : first[k] + len(tau)] = tau
    return near


def _chosen(
    home: Home, system: LoopSystem, rows: Sequence[int], near: list[float], held: Sequence[str]
) -> list[int] | None:
    """Unknowns of a well-conditioned minor of the rows; held ones last. None if floats are far."""
    floats = in_floats(system)
    value = np.array(floats.values(Reals(), near), dtype=float)[list(rows)]
    if not np.max(np.abs(value), initial=0.0) < CLOSED:
        return None
    last = {k for k, m in enumerate(home.columns) if m.coordinate in set(held)}
    J = np.array(floats.jacobian(Reals(), near), dtype=float)[list(rows)]
    if not np.all(np.isfinite(J)):
        return None
    weights = np.array([1e-4 if j in last else 1.0 for j in range(J.shape[1])])
    A, columns = J * weights, []
    for _ in range(len(rows)):
        i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(A)), A.shape))
        if abs(A[i, j]) < 1e-9:
            return None
        columns.append(j)
        A = A - np.outer(A[:, j], A[i]) / A[i, j]
    return sorted(columns)


def in_floats(system: LoopSystem) -> LoopSystem:
    """The same loops with the middles of their balls."""
    loops = [[Factor(f.column, f.sign, tuple(float(x) for x in f.screw)) for f in loop]  # type: ignore[misc]
             for loop in system.loops]  # fmt: skip
    ends = [[float(x) for x in end] for end in system.ends or ()]
    return LoopSystem(0, system.n, loops, ends=ends)


@final
class _Held(Square):
    """Some rows of the closure in some unknowns, the others held."""

    def __init__(
        self, system: LoopSystem, rows: Sequence[int], columns: Sequence[int], near: Sequence[float]
    ) -> None:
        self.system, self.rows, self.columns, self.near = system, rows, columns, near

    def _full(self, x: Sequence[Any]) -> list[Any]:
        from flint import arb

        full = [arb(value) for value in self.near]
        for j, value in zip(self.columns, x, strict=True):
            full[j] = value
        return full

    def values(self, x: Sequence[Any]) -> list[Any]:
        """The chosen rows of the closure."""
        values = self.system.values(Balls(), self._full(x))
        return [values[i] for i in self.rows]

    def jacobian(self, x: Sequence[Any]) -> list[list[Any]]:
        """Their derivatives in the chosen unknowns."""
        J = self.system.jacobian(Balls(), self._full(x))
        return [[J[i][j] for j in self.columns] for i in self.rows]


# Displacements of a joint in floats ---------------------------------------------------------------


def displacement(
    joint: Joint, motions: Sequence[Motion], markers: tuple[Transform, Transform]
) -> list[float] | None:
    """τ of each motion, so that their product takes the neutral pose of M in F to the one seen.

    Args:
        joint: whose coordinates are near `motions`' neutral ones.
        motions: as in an opened loop; their number must be that of the joint's.
        markers: poses of F and M in floats.
    """
    neutral = list(joint.type.neutral())
    R0, p0 = joint.type.pose(array(neutral))
    own = motions_of(joint, (identity(3), zeros(3)), (R0, p0), neutral)
    if len(own) != len(motions):
        return None
    (RF, pF), (RM, pM) = (tuple(as_floats(x) for x in X) for X in markers)
    R, p = RF.T @ RM, RF.T @ (pM - pF)
    N, c = as_floats(R0), as_floats(p0)
    turned = R @ N.T  # of M from neutral, in F
    target = (turned, p - turned @ c)
    screws = [
        (as_floats(m.direction), None if m.point is None else as_floats(m.point)) for m in own
    ]
    draw = np.random.default_rng(5)
    for k in range(STARTS):
        x = np.zeros(len(own)) if k == 0 else draw.uniform(-3, 3, size=len(own))
        solution = fitted(screws, target, x)
        if solution is not None:
            return [float(np.tan(q / 2)) if point is not None else float(q / 2)
                    for q, (_, point) in zip(solution, screws, strict=True)]  # fmt: skip
    return None


def as_floats(x: Any) -> Floats:
    """Exact numbers of any shape in floats."""
    shape = np.shape(x)
    return np.array(evaluate([as_expr(e) for e in np.ravel(x)]), dtype=float).reshape(shape)


def _moved(screws: Sequence[Any], x: Floats) -> tuple[Floats, Floats]:
    R, p = np.eye(3), np.zeros(3)
    for (d, point), q in zip(screws, x, strict=True):
        if point is None:
            p = p + R @ (d * q)
            continue
        K = np.array([[0, -d[2], d[1]], [d[2], 0, -d[0]], [-d[1], d[0], 0]])
        turn = np.eye(3) + np.sin(q) * K + (1 - np.cos(q)) * K @ K
        R, p = R @ turn, p + R @ (point - turn @ point)
    return R, p


def fitted(screws: Sequence[Any], target: tuple[Floats, Floats], x: Floats) -> Floats | None:
    """Ways along screws whose product is a displacement, by Gauss-Newton; None where it fails.

    Args:
        screws: (direction, point) of each, the point None for a slide.
        target: rotation and translation.
        x: where to begin.
    """

    def residual(x: Floats) -> Floats:
        R, p = _moved(screws, x)
        return np.concatenate([(R - target[0]).ravel(), p - target[1]])

    for _ in range(40):
        f = residual(x)
        if np.max(np.abs(f)) < 1e-11:
            return x
        J = np.array([(residual(x + 1e-7 * e) - f) / 1e-7 for e in np.eye(len(x))]).T
        step = np.linalg.lstsq(J, f, rcond=1e-10)[0]
        x = x - step * min(1.0, 1.0 / max(float(np.linalg.norm(step)), 1e-300))
    return x if np.max(np.abs(residual(x))) < 1e-6 else None
