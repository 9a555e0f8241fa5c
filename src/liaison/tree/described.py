"""described: where coordinates begin that nobody gave, as the other joints have it.

Some joint of every loop follows from the others: a description that closes says its coordinates
without naming them. Joints with a start place the bodies first, then the others in the order of
the description, in which a joint that closes a loop comes last (a <loop> of URDF, an <equality> of
MJCF). The coordinates of a joint that is left are those of its markers as they are seen then,

    q_j = c_j(X_FM),   X_FM = X_GF⁻¹ X_GM,                                       (described-1)

where they fit far better than its zero position. A start that closes its loops stays as it is, to
the last bit.

Public names: Described, elsewhere.

Source: docs/theory/closures.md has c(R, p).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import Expr, as_expr, evaluate, symbols_of
from liaison.model import Joint

from .tree import Tree, marker_pose, other_body

Floats = NDArray[np.float64]
Pose = tuple[Floats, Floats]

BETTER = 0.5
"""Part of the misfit of the zero position that described coordinates may leave."""

FITTING = 1e-9
"""Misfit up to which coordinates are left as they are [sizes of the mechanism, rad]."""

MOVED = 1e-6
"""Change of a coordinate that is more than the rounding of printed lengths and angles [m, rad]."""


class Step(NamedTuple):
    """A joint that places one of its bodies by the other one."""

    joint: Joint
    near: str
    far: str


class Order(NamedTuple):
    """How bodies are placed, and what follows from that."""

    steps: tuple[Step, ...]  # outwards
    left: tuple[Joint, ...]  # joints with coordinates and without a start that place nothing
    around: Mapping[str, frozenset[str]]  # each of these -> coordinates of the loop that it closes


@final
class Described:
    """Where coordinates of a tree begin that have no start.

    Args:
        tree: any; without loops, all stay as they are.

    Attributes:
        parameters: names on which they may depend.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.joints = tree.mechanism.joints if tree.loops > 0 else ()
        self.places = {node.joint.name: node.q for node in tree.nodes}
        self.parameters = frozenset(x.name for x in symbols_of([*_formulas(self.joints)]))
        self._orders: dict[frozenset[str], Order] = {}
        self._constant: dict[str, tuple[Pose, Pose]] = {}

    def positions(
        self,
        q: Floats,
        named: Collection[str],
        held: Collection[str],
        fixed: Mapping[Expr, float],
    ) -> Floats:
        """Positions with described coordinates, where these fit far better.

        A single coordinate that alone may move in its loop is left to what closes it.

        Args:
            q: positions: starts, and zero where there is none.
            named: labels of those with a start, a guess, or that follow from some.
            held: labels of those that may not move.
            fixed: the time and the parameters.
        """
        order = self._order(named)
        left = [x for x in order.left if x.type.nq > 1 or not order.around[x.name] <= {*held}]
        if not left:
            return q
        try:
            poses = self._poses(order.steps, q, fixed)
            size = self._size(fixed)
            moved = {x.name: self._described(x, poses, q, fixed, size) for x in left}
        except KeyError:  # a parameter has no value
            return q
        q = q.copy()
        for name, values in moved.items():
            q[self.places[name]] = values
        return q

    def following(self, named: Collection[str]) -> frozenset[str]:
        """Coordinates that may begin elsewhere than at their starts and at zero."""
        return frozenset(y for x in self._order(named).left for y in x.coordinates)

    def _order(self, named: Collection[str]) -> Order:
        """Joints with a start place bodies first, then the others as they come."""
        firm = frozenset(x.name for x in self.joints if any(y in named for y in x.coordinates))
        if firm not in self._orders:
            first = sorted(self.joints, key=lambda x: x.name not in firm)
            chosen = _forest(first)
            steps = _outwards([x for x in first if x.name in chosen])
            others = [x for x in self.joints if x.name not in chosen | firm]
            left = tuple(x for x in others if x.type.nq and x.name in self.places)
            around = {x.name: _around(steps, x) for x in left}
            self._orders[firm] = Order(tuple(steps), left, around)
        return self._orders[firm]

    def _poses(
        self, steps: Collection[Step], q: Floats, fixed: Mapping[Expr, float]
    ) -> dict[str, Pose]:
        """Where the bodies are, in the ground's axes."""
        poses: dict[str, Pose] = {"ground": (np.eye(3), np.zeros(3))}
        for joint, near, far in steps:
            place = self.places.get(joint.name)
            at = joint.type.neutral() if place is None else q[place]
            F, M = self._markers(joint, fixed)
            X = _after(_after(F, _numbers(joint.type.pose(at), fixed)), _back(M))
            poses[far] = _after(poses[near], X if near == joint.predecessor.body else _back(X))
        return poses

    def _size(self, fixed: Mapping[Expr, float]) -> float:
        """The largest distance of two markers on a body that moves [m]; 1 if there is none."""
        places: dict[str, list[Floats]] = {}
        for joint in self.joints:
            ends = zip(
                (joint.predecessor, joint.successor), self._markers(joint, fixed), strict=True
            )
            for marker, (_, p) in ends:
                if marker.body != "ground":
                    places.setdefault(marker.body, []).append(p)
        spans = (np.linalg.norm(np.ptp(np.array(x), axis=0)) for x in places.values())
        return float(max(spans, default=0.0)) or 1.0

    def _described(
        self,
        joint: Joint,
        poses: Mapping[str, Pose],
        q: Floats,
        fixed: Mapping[Expr, float],
        size: float,
    ) -> Floats:
        """The coordinates of a joint by (described-1), or as they are."""
        F, M = self._markers(joint, fixed)
        F, M = _after(poses[joint.predecessor.body], F), _after(poses[joint.successor.body], M)
        seen, own, kind = _after(_back(F), M), q[self.places[joint.name]], joint.type
        misfit = _misfit(_numbers(kind.pose(own), fixed), seen, size)
        values = None if misfit <= FITTING else kind.coordinates_of(*seen, own)
        if values is None:
            return own
        numbers = np.array(evaluate([as_expr(x) for x in values], dict(fixed)), dtype=float)
        left = _misfit(_numbers(kind.pose(numbers), fixed), seen, size)
        return numbers if left <= BETTER * misfit else own  # False of NaN

    def _markers(self, joint: Joint, fixed: Mapping[Expr, float]) -> tuple[Pose, Pose]:
        """Both markers of a joint, on their bodies."""
        if joint.name in self._constant:
            return self._constant[joint.name]
        F, M = (marker_pose(x, self.tree.numbers) for x in (joint.predecessor, joint.successor))
        ends = _numbers(F, fixed), _numbers(M, fixed)
        if not self.parameters:
            self._constant[joint.name] = ends
        return ends


def _around(steps: Collection[Step], joint: Joint) -> frozenset[str]:
    """Coordinates of the other joints of the loop that a joint closes."""
    carrier = {step.far: step for step in steps}
    paths: list[set[str]] = []
    for body in (joint.predecessor.body, joint.successor.body):
        path: set[str] = set()
        while body in carrier:
            path |= {*carrier[body].joint.coordinates}
            body = carrier[body].near
        paths.append(path)
    return frozenset(paths[0] ^ paths[1])


def elsewhere(
    names: Collection[str], first: Floats, q: Floats, but: Collection[str]
) -> dict[str, tuple[float, float]]:
    """Coordinates that are not where they began, by more than printed digits: both values.

    Args:
        names: of all, in order.
        first: where they began.
        q: where they are.
        but: names that do not count.
    """
    places = zip(names, first.tolist(), q.tolist(), strict=True)
    moved = ((name, x, y) for name, x, y in places if abs(y - x) > MOVED)
    return {name: (x, y) for name, x, y in moved if name not in but}


def _formulas(joints: Collection[Joint]) -> Iterator[Expr]:
    """What is written as a formula of joints: of their markers and types."""
    for joint in joints:
        entries = [*joint.type.parameters()]
        for marker in (joint.predecessor, joint.successor):
            entries += [*marker.p, *(x for row in marker.R for x in row)]
        yield from (x for x in entries if isinstance(x, Expr))


def _forest(joints: Collection[Joint]) -> set[str]:
    """The first joints that hold all bodies together, without a loop."""
    group: dict[str, str] = {}

    def first(body: str) -> str:
        while group.get(body, body) != body:
            group[body] = body = group.get(group[body], group[body])
        return body

    chosen: set[str] = set()
    for joint in joints:
        one, other = (first(x.body) for x in (joint.predecessor, joint.successor))
        if one != other:
            group[other] = one
            chosen.add(joint.name)
    return chosen


def _outwards(joints: Collection[Joint]) -> list[Step]:
    """The joints of a tree from the ground outwards."""
    touching: dict[str, list[Joint]] = {}
    for joint in joints:
        for marker in (joint.predecessor, joint.successor):
            touching.setdefault(marker.body, []).append(joint)
    steps: list[Step] = []
    placed, front = {"ground"}, ["ground"]
    while front:
        near = front.pop()
        for joint in touching.get(near, ()):
            far = other_body(joint, near)
            if far not in placed:
                placed.add(far)
                front.append(far)
                steps.append(Step(joint, near, far))
    return steps


def _numbers(pose: Any, fixed: Mapping[Expr, float]) -> Pose:
    """A pose as floats."""
    R, p = pose
    if any(isinstance(x, Expr) for x in (*R.flat, *p)):
        flat = evaluate([as_expr(x) for x in (*R.flat, *p)], dict(fixed))
        return np.array(flat[:9], dtype=float).reshape(3, 3), np.array(flat[9:], dtype=float)
    return np.array(R, dtype=float), np.array(p, dtype=float)


def _after(X: Pose, Y: Pose) -> Pose:
    return X[0] @ Y[0], X[0] @ Y[1] + X[1]


def _back(X: Pose) -> Pose:
    return X[0].T, -X[0].T @ X[1]


def _misfit(X: Pose, Y: Pose, size: float) -> float:
    """How far two poses are apart [sizes of a mechanism, rad for small turns]."""
    turned = np.linalg.norm(X[0] - Y[0]) / np.sqrt(2.0)
    return float(np.hypot(turned, np.linalg.norm(X[1] - Y[1]) / size))
