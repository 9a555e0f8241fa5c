"""Assembly modes of one loop of hinges and sliders: which solver takes it, poses from its answer.

Three hinges that meet, a loop with a wrist (triples.py), six hinges by elimination (six_hinges.py);
whatever is left of six joints goes to msolve. For that the axis of a hinge is read from either side
of the loop, and its point and direction compared: six equations in the cosines, sines and ways of
the other five joints, solved for a loop of rational numbers near by that is exactly rigid; each
solution, real or complex, is then proved on the closure itself.

Why msolve is not enough: without it the first three kinds are still solved completely.

Public names: HingeAnswer, hinge_answer, joint_positions.

Source: docs/theory/mobility.md (mobility-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.balls import precision
from liaison.exact.rigid import Motion3, in_balls, moved, rational_motion, reversed_motion, turn_z
from liaison.freedoms.clock import Exhausted, go_on
from liaison.freedoms.engines.certify import certified
from liaison.freedoms.engines.engines import EngineError, NotThere
from liaison.freedoms.engines.finite import Point, all_points
from liaison.freedoms.engines.joint_unknowns import JointUnknowns
from liaison.freedoms.engines.systems import PolynomialSystem, Solution
from liaison.freedoms.engines.terms import Terms, combined, total
from liaison.freedoms.motions import Transform
from liaison.model import Prismatic, Revolute
from liaison.spatial import compose, inverse

from .links import Links, Passive
from .six_hinges import (
    PRECISION,
    HingeLoop,
    HingePosition,
    LoopClosure,
    angle_of,
    hinge_positions,
    last_angle,
)
from .triples import Triple, three_that_meet, triple_of, triple_positions

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


Floats: TypeAlias = NDArray[np.float64]
Step: TypeAlias = tuple[Passive, Transform, Transform, int]
"""A hinge of the loop: its marker on this side, on the far side, and the far link."""


@final
@dataclass(frozen=True, slots=True)
class HingeAnswer:
    """Poses of the links at each position with certificates, and whether the list is complete."""

    positions: tuple[tuple[dict[int, tuple[Floats, Floats]], Solution], ...]
    is_complete: bool
    why: str
    method: str
    complex: int | None


def hinge_answer(links: Links, seed: int = 0) -> HingeAnswer | None:
    """All positions of such a loop; None where the links are none, or it degenerates.

    Raises:
        Infinite: it moves.
        NotThere, Exhausted: not computed.
    """
    steps = _loop(links)
    if steps is None or len(steps) not in (3, 6):
        return None
    with precision(PRECISION):
        X = [in_balls(x) for x in _between(steps)]
    sliders = [k for k, step in enumerate(steps) if isinstance(step[0].joint.type, Prismatic)]
    if len(steps) == 3:
        return None if sliders else _about_a_point(X, steps)
    if (triple := triple_of(X, sliders)) is not None:
        return _with_a_wrist(X, triple, sliders, steps, seed)
    loop = None if sliders else hinge_positions(X)
    if loop is not None and loop.is_complete:
        why = "all of them, proved by elimination in balls: each root has at most one position"
        return _loop_answer(loop, steps, why, "six hinges")
    return _in_general(X, sliders, steps, seed, loop)


def _in_general(
    X: Sequence[Motion3], sliders: Sequence[int], steps: Sequence[Step], seed: int,
    part: HingeLoop | None,
) -> HingeAnswer | None:  # fmt: skip
    """A general loop, solved by msolve; None, or an incomplete answer, where msolve is missing."""
    if len(sliders) == 6:
        return None
    try:
        with precision(PRECISION):
            loop = joint_positions(X, sliders, seed)
    except (NotThere, EngineError, Exhausted):
        if part is None:
            raise
        return _loop_answer(part, steps, UNDECIDED.format(part.open_roots), "six hinges")
    why = "all of them for data rounded to 2⁻⁴⁰, each proved for the data, if msolve is right"
    why = why if loop.is_complete else UNDECIDED.format(loop.open_roots)
    return _loop_answer(loop, steps, why, "six joints, msolve")


UNDECIDED = "not proved to be all: {} complex solutions are undecided"


def _loop_answer(loop: HingeLoop, steps: Sequence[Step], why: str, method: str) -> HingeAnswer:
    real = [(_poses(steps, [x.real for x in at.angles]), Solution((), "Krawczyk", at.box.radius, 1))
            for at in loop.real]  # fmt: skip
    return HingeAnswer(tuple(real), loop.is_complete, why, method, len(loop.positions))


def _about_a_point(X: Sequence[Motion3], steps: Sequence[Step]) -> HingeAnswer | None:
    """Three hinges whose axes meet, as in a spherical four-bar of which one is held."""
    near = three_that_meet(X)
    if near is None:
        return None
    angles, sure = near
    proved = [(at, *_certified(X, at)) for at in angles]
    positions = [(_poses(steps, exact), solution) for _, exact, solution in proved]
    gap = max((float(abs(x).mid()) for at in angles for x in _left_over(X, at)), default=0.0)
    if gap > NEAR:
        return HingeAnswer((), True, f"none: the axes miss each other by {gap:.3g} m", METHOD, 0)
    sure = sure and all(solution.proof for _, solution in positions)
    why = "all of them, proved: a spherical triangle has two, for axes that meet to 1e-12 m"
    return HingeAnswer(tuple(positions), sure, why if sure else SINGULAR, METHOD, 2)


METHOD = "three hinges whose axes meet"
SINGULAR = "not proved to be all: some are near a singular position"
NEAR = 1e-9
"""Gap beyond which a loop whose axes meet stays open [m]."""


def _left_over(X: Sequence[Motion3], angles: Sequence[float]) -> list[Any]:
    """The way that is left around the loop."""
    from flint import arb

    here = turn_z(arb(0))
    for angle, step in zip(angles, X, strict=True):
        here = moved(moved(here, turn_z(arb(angle))), step)
    return here[1]


def _certified(
    X: Sequence[Motion3], near: Sequence[float], sliders: Sequence[int] = ()
) -> tuple[Sequence[float], Solution]:
    """Joint values of a position and their certificate."""
    closure = LoopClosure(X, sliders)
    with precision(PRECISION):
        box = certified(closure, near)
    if box is None or not closure.holds(box.box):
        return near, Solution((), "", 1e-9, 0)
    return [float(x.mid()) for x in box.box], Solution((), "Krawczyk", box.radius, 1)


def _with_a_wrist(
    X: Sequence[Motion3], triple: Triple, sliders: Sequence[int], steps: Sequence[Step], seed: int
) -> HingeAnswer:
    """A loop of which three axes meet, or are parallel."""
    with precision(PRECISION):
        near = triple_positions(X, triple, sliders=sliders, seed=seed)
    proved = [_certified(X, values, sliders) for values in near.angles]
    positions = [(_poses(steps, exact), solution) for exact, solution in proved]
    sure = near.is_sure and all(solution.proof for _, solution in positions)
    kind = "three axes that meet" if triple.meets else "three parallel axes"
    joints = "six joints" if sliders else "six hinges"
    method = f"{joints}, {kind}, {near.engine}"
    why = (
        "all of them for data rounded to 2⁻⁹⁶, each proved for the data themselves"
        if sure
        else SINGULAR
    )
    count = near.complex if triple.meets else None
    return HingeAnswer(tuple(positions), sure, why, method, count)


def _loop(links: Links) -> list[Step] | None:
    """The one loop through the ground, hinge after hinge; None where it is not one."""
    waiting = list(links.joints)
    if not all(isinstance(j.joint.type, Revolute | Prismatic) for j in waiting):
        return None
    steps: list[Step] = []
    here = 0
    while waiting:
        touching = [j for j in waiting if here in (j.a, j.b)]
        if not touching or (here and len(touching) != 1) or (not here and len(touching) != 2):
            return None
        j = touching[0]
        waiting.remove(j)
        steps.append((j, j.F, j.M, j.b) if j.a == here else (j, j.M, j.F, j.a))
        here = steps[-1][3]
        if here == 0 and waiting:
            return None
    return steps if here == 0 else None


def _between(steps: Sequence[Step]) -> list[Transform]:
    """From behind each hinge to the next, across the link."""
    after = [*steps[1:], steps[0]]
    return [compose(*inverse(*step[2]), *then[1]) for step, then in zip(steps, after, strict=True)]


def _poses(steps: Sequence[Step], values: Sequence[float]) -> dict[int, tuple[Floats, Floats]]:
    """Poses of the links in ground's axes."""
    R, p = np.eye(3), np.zeros(3)
    poses = {}
    for (j, F, M, far), value in zip(steps, values, strict=True):
        angle, way = (0.0, value) if isinstance(j.joint.type, Prismatic) else (value, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        for turned, place in (_floats(F), (turn, np.array([0, 0, way])), _floats(inverse(*M))):
            R, p = R @ turned, R @ place + p
        poses[far] = R, p
    return poses


def _floats(X: Transform) -> tuple[Floats, Floats]:
    turned, place = in_balls(X)
    return np.array([[float(x) for x in row] for row in turned]), np.array(
        [float(x) for x in place]
    )
