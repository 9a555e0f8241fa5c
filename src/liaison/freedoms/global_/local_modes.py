"""Newton's method from many random starts: certified solutions where possible, perhaps not all.

All joint coordinates of the loops are unknowns. Along a tree of the links every pose is a formula
of them; each joint off the tree asks six equations, each quaternion one. Newton's steps from drawn
starts find solutions; Krawczyk's test proves those that are simple, on as many independent
equations as there are unknowns. Where a mechanism is overconstrained the other equations are seen
to hold in floats only, and the answer says so.

Why it is here: it takes every mechanism, also with ball joints and several loops in space, for
which no complete solver is known.

Public names: LocalAnswer, local_answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.balls import BALL
from liaison.expr import Expr, as_expr, evaluate, jacobian, symbol
from liaison.freedoms.clock import go_on
from liaison.freedoms.engines.certify import Square, certified
from liaison.freedoms.engines.systems import Solution
from liaison.freedoms.motions import Transform
from liaison.spatial import array, compose, identity, inverse, product, zeros

from .links import Links, Passive

ITERATIONS = 60
STARTS = 200
"""Starts drawn, the first of them the mechanism's own."""

CLOSED = 1e-11
"""Largest equation at which Newton's steps count as converged [m, 1]."""

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """Poses of the links at each solution, with certificates."""

    positions: tuple[tuple[dict[int, tuple[Floats, Floats]], Solution], ...]
    starts: int  # tried
    rank: int  # greatest rank of the equations at a position found; −1 if none was
    unknowns: int
    is_redundant: bool  # more equations than unknowns: some hold in floats only
    singular: int = 0  # positions of a smaller rank than there are unknowns


class _Loops:
    """Equations of the loops of some links, as formulas of joint coordinates."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.q = {j.name: [symbol(x) for x in j.joint.coordinates] for j in links.joints}
        self.unknowns = [x for j in links.joints for x in self.q[j.name]]
        self.poses: dict[int, Transform] = {0: (identity(3), zeros(3))}
        waiting = list(links.joints)
        while step := next(
            (j for j in waiting if (j.a in self.poses) != (j.b in self.poses)), None
        ):
            waiting.remove(step)
            self._hang(step)
        rows: list[Any] = []
        self.traces: list[Expr] = []
        for j in waiting:
            rows += self._gap(j)
        rows += [sum((x * x for x in part), -1) for part in self._quaternions()]
        for kind, q in ((j.joint.type, self.q[j.name]) for j in links.joints):
            rows += (kind.residual(*kind.pose(array(q))) or []) if kind.OWN_ROWS else []
        self.equations = [as_expr(row) for row in rows]
        self.partials = jacobian(self.equations, self.unknowns)

    def _hang(self, j: Passive) -> None:
        X = compose(*j.F, *j.joint.type.pose(array(self.q[j.name])))
        across = compose(*X, *inverse(*j.M))
        if j.a in self.poses:
            self.poses[j.b] = compose(*self.poses[j.a], *across)
        else:
            self.poses[j.a] = compose(*self.poses[j.b], *inverse(*across))

    def _gap(self, j: Passive) -> list[Any]:
        """Residual of a joint's closure: rotation and translation."""
        X = compose(*j.F, *j.joint.type.pose(array(self.q[j.name])))
        R, p = compose(*self.poses[j.a], *X)
        S, r = compose(*self.poses[j.b], *j.M)
        turn = product(R.T, S)
        self.traces.append(as_expr(turn[0, 0] + turn[1, 1] + turn[2, 2]))
        vector = [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        return [*vector, *(r - p)]

    def _quaternions(self) -> list[list[Expr]]:
        """Coordinates that make a unit quaternion together."""
        quaternions = []
        for j in self.links.joints:
            place = 0
            for kind, count, _ in j.joint.type.charts:
                part = self.q[j.name][place : place + count]
                place += count
                if kind in ("quaternion", "free"):
                    quaternions.append(part[-4:])
        return quaternions

    def _evaluated(self, formulas: Sequence[Expr], x: Floats) -> Floats:
        """Formulas at many points, a row of x each; shape (points, formulas)."""
        at = {name: x[:, k] for k, name in enumerate(self.unknowns)}
        values = evaluate(list(formulas), at)
        columns = [np.broadcast_to(column, len(x)) for column in values]
        return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))

    def values(self, x: Floats) -> Floats:
        """The equations at many points."""
        return self._evaluated(self.equations, x)

    def is_closed(self, x: Floats) -> NDArray[np.bool_]:
        """No joint is left by half a turn, of which the equations know nothing."""
        return np.asarray(np.all(self._evaluated(self.traces, x) > 2, axis=1))

    def slopes(self, x: Floats) -> Floats:
        """The Jacobians at many points."""
        J = np.zeros((len(x), len(self.equations), len(self.unknowns)))
        values = self._evaluated(list(self.partials.values()), x)
        for column, (i, k) in enumerate(self.partials):
            J[:, i, k] = values[:, column]
        return J

    def placed(self, x: Sequence[float]) -> dict[int, tuple[Floats, Floats]]:
        """Poses of the links."""
        at = dict(zip(self.unknowns, x, strict=True))
        poses = {}
        for link, (R, p) in self.poses.items():
            flat = evaluate([as_expr(v) for v in (*R.reshape(-1), *p)], at)
            poses[link] = np.array(flat[:9]).reshape(3, 3), np.array(flat[9:])
        return poses

    def begun(self, attempt: int, seed: int) -> list[float]:
        """The mechanism's own start, or a drawn one."""
        draw = np.random.default_rng([seed, attempt])
        starts = {s.label: float(evaluate(as_expr(s.value))) for s in self.links.mechanism.starts}
        start: list[float] = []
        for j in self.links.joints:
            neutral = [float(evaluate(as_expr(v))) for v in j.joint.type.neutral()]
            labels = j.joint.coordinates
            own = [starts.get(label, v) for label, v in zip(labels, neutral, strict=True)]
            if attempt:
                own = _drawn(own, j.joint.type.coordinate_units, draw)
            start += own
        return start


def _drawn(own: Sequence[float], units: Sequence[str], draw: Any) -> list[float]:
    values = []
    for value, unit in zip(own, units, strict=True):
        reach = {"rad": math.pi, "": 1.0}.get(unit, 2 * abs(value) + 0.5)
        values.append(float(draw.uniform(-reach, reach)))
    return values


@final
class _Independent(Square):
    """As many independent equations as unknowns, on balls."""

    def __init__(self, loops: _Loops, rows: Sequence[int]) -> None:
        self.loops, self.rows = loops, list(rows)
        self.chosen = [loops.equations[i] for i in self.rows]
        self.keys = [key for key in loops.partials if key[0] in set(self.rows)]

    def values(self, x: Sequence[Any]) -> list[Any]:
        """Those equations."""
        return list(evaluate(self.chosen, dict(zip(self.loops.unknowns, x, strict=True)), BALL))

    def jacobian(self, x: Sequence[Any]) -> list[list[Any]]:
        """Their partial derivatives."""
        at = dict(zip(self.loops.unknowns, x, strict=True))
        values = evaluate([self.loops.partials[key] for key in self.keys], at, BALL)
        place = {row: k for k, row in enumerate(self.rows)}
        J = [[x[0] * 0 for _ in self.loops.unknowns] for _ in self.rows]
        for (i, k), value in zip(self.keys, values, strict=True):
            J[place[i]][k] = value
        return J


def local_answer(links: Links, seed: int = 0, starts: int = STARTS) -> LocalAnswer:
    """Solutions of the loop equations by Newton's method from random starts, until a limit."""
    loops = _Loops(links)
    begun = np.array([loops.begun(k, seed) for k in range(starts)])
    positions: list[list[float]] = []
    for x in _newton(loops, begun).tolist():
        if not any(_are_same(loops, x, y) for y in positions):
            positions.append(x)
    ranks = [_rank(loops, x) for x in positions]
    answers = [(loops.placed(x), _proved(loops, x, rank))
             for x, rank in zip(positions, ranks, strict=True)]  # fmt: skip
    redundant = len(loops.equations) > len(loops.unknowns)
    most, n = max(ranks, default=-1), len(loops.unknowns)
    singular = sum(rank < n for rank in ranks)
    return LocalAnswer(tuple(answers), starts, most, n, redundant, singular)


def _rank(loops: _Loops, x: Sequence[float]) -> int:
    return int(np.linalg.matrix_rank(loops.slopes(np.array([x]))[0], tol=1e-8))


def _newton(loops: _Loops, x: Floats) -> Floats:
    """Gauss–Newton's steps from many starts at once, shortened; those that arrive."""
    for _ in range(ITERATIONS):
        go_on()
        f = loops.values(x)
        is_finite = np.all(np.isfinite(f), axis=1)
        x, f = x[is_finite], f[is_finite]
        if not len(x) or np.all(np.max(np.abs(f), axis=1) < CLOSED):
            break
        step = np.einsum("kij,kj->ki", np.linalg.pinv(loops.slopes(x), rcond=1e-12), f)
        step /= np.maximum(1.0, np.max(np.abs(step), axis=1))[:, None]
        x = x - _shortened(loops, x, step) * step
    last = loops.values(x)
    arrived = np.max(np.abs(last), axis=1, initial=0.0) < CLOSED
    return np.asarray(x[arrived & loops.is_closed(x)])


def _shortened(loops: _Loops, x: Floats, step: Floats) -> Floats:
    """For each start the best of the step, its half, quarter and eighth; shape (points, 1)."""
    scales = np.array([1.0, 0.5, 0.25, 0.125])
    sizes = [np.linalg.norm(loops.values(x - scale * step), axis=1) for scale in scales]
    best = np.argmin(np.nan_to_num(np.array(sizes), nan=np.inf), axis=0)
    return np.asarray(scales[best][:, None])


def _are_same(loops: _Loops, x: Sequence[float], y: Sequence[float]) -> bool:
    """Two positions put every link at the same place."""
    first, second = loops.placed(x), loops.placed(y)
    return all(
        np.max(np.abs(first[k][0] - second[k][0])) < 1e-6
        and np.max(np.abs(first[k][1] - second[k][1])) < 1e-6
        for k in first
    )


def _proved(loops: _Loops, x: Sequence[float], rank: int) -> Solution:
    """The result of Krawczyk's test at a position."""
    n = len(loops.unknowns)
    if rank < n:
        return Solution((), "", 1e-9, 0)
    box = certified(_Independent(loops, _pivot_rows(loops.slopes(np.array([x]))[0])), x)
    return Solution(
        (), "Krawczyk" if box else "", box.radius if box else 1e-9, int(box is not None)
    )


def _pivot_rows(J: Floats) -> list[int]:
    """Rows of a well-conditioned square part."""
    A, rows = J.copy(), list[int]()
    for _ in range(J.shape[1]):
        sizes = np.abs(A)
        sizes[rows] = 0.0
        i, k = (int(v) for v in np.unravel_index(int(np.argmax(sizes)), sizes.shape))
        rows.append(i)
        A = A - np.outer(A[:, k], A[i]) / A[i, k]
    return sorted(rows)
