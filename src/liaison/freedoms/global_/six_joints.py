"""Loops of six hinges and sliders where elimination degenerates: all positions through msolve.

The axis of a hinge is read from either side of the loop, as in the elimination, and its point and
direction compared: six equations in the cosines, sines and ways of the other five joints. They are
solved for a loop of rational numbers near by that is exactly rigid; each solution, real or complex,
is then proved on the closure itself.

Public names: joint_positions.

Source: docs/theory/mobility.md (mobility-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liaison.exact.rigid import Motion3, rational_motion, reversed_motion
from liaison.freedoms.clock import go_on
from liaison.freedoms.engines.certify import certified
from liaison.freedoms.engines.finite import Point, all_points
from liaison.freedoms.engines.joint_unknowns import JointUnknowns
from liaison.freedoms.engines.systems import PolynomialSystem
from liaison.freedoms.engines.terms import Terms, combined, total

from .six_hinges import HingeLoop, HingePosition, LoopClosure, angle_of, last_angle

DIGITS = 40
"""Binary digits behind the point that msolve is given of numbers that are not rational."""

FAR = 2.0**20
"""Size beyond which a solution was brought back from infinity by rounding."""


def joint_positions(X: Sequence[Motion3], sliders: Sequence[int], seed: int = 0) -> HingeLoop:
    """All positions of a loop of six joints, at least one of them a hinge.

    Args:
        X: from behind each joint to the next, z its axis; balls.
        sliders: joints that slide along z.
        seed: of what is drawn to separate solutions.

    Raises:
        Infinite: it moves.
        NotThere, Exhausted: not computed.
    """
    last = next(k for k in reversed(range(6)) if k not in sliders)
    order = [(last + 1 + k) % 6 for k in range(6)]
    unknowns = JointUnknowns([j in sliders for j in order[:5]])
    near = [rational_motion(X[j], DIGITS) for j in order]
    system = PolynomialSystem(unknowns.count, tuple(_equations(near, unknowns)))
    points = all_points(system.rational()[0], unknowns.count, seed=seed)
    closure = LoopClosure(X, sliders)
    positions, lost = [], 0
    for point in points.points:
        go_on()
        position = _proved(closure, point, unknowns, order)
        if position is not None:
            positions.append(position)
        elif max(float(abs(x).mid()) for x in point.x) < FAR:
            lost += 1
    complete = lost == 0 and bool(positions)
    return HingeLoop(tuple(positions), complete, len(points.points), lost)


def _equations(X: Sequence[Motion3], unknowns: JointUnknowns) -> list[Terms]:
    """Point and direction of the last axis, from either side, and circles."""
    equations = unknowns.circles()
    for v, is_point in (([0, 0, 0], True), ([0, 0, 1], False)):
        left = _through(X, v, unknowns, is_point)
        right = unknowns.plain(v)
        for step, joint in ((reversed_motion(X[5]), 0), (reversed_motion(X[0]), 1)):
            right = unknowns.moved(
                _step(step, right, unknowns, is_point), joint, -1, is_point=is_point
            )
        equations += [combined((1, -1), pair) for pair in zip(left, right, strict=True)]
    return [f for f in equations if f]


def _through(
    X: Sequence[Motion3], v: Sequence[Any], unknowns: JointUnknowns, is_point: bool
) -> list[Terms]:
    """X2 J3 X3 J4 X4 J5 X5 of a point or a direction."""
    image = _step(X[4], unknowns.plain(v), unknowns, is_point)
    for joint, step in ((4, X[3]), (3, X[2]), (2, X[1])):
        image = _step(step, unknowns.moved(image, joint, is_point=is_point), unknowns, is_point)
    return image


def _step(X: Motion3, v: Sequence[Terms], unknowns: JointUnknowns, is_point: bool) -> list[Terms]:
    R, p = X
    place = unknowns.plain(p if is_point else [0, 0, 0])
    return [total(combined(row, v), x) for row, x in zip(R, place, strict=True)]


def _proved(
    closure: LoopClosure, point: Point, unknowns: JointUnknowns, order: Sequence[int]
) -> HingePosition | None:
    """The position near a solution, proved on the closure."""
    values: list[Any] = [None] * 6
    for j, k, slide in zip(order, unknowns.place, unknowns.slides, strict=False):
        x = point.x[k]
        values[j] = x if slide else angle_of(x, point.x[k + 1], point.is_real)
    values[order[5]] = last_angle(closure, values, order[5], point.is_real)
    box = certified(closure, values)
    if box is None or not closure.holds(box.box):
        return None
    return HingePosition(tuple(complex(x) for x in box.box), box)
