"""Assembly modes of a single loop of six hinges, and of three that meet: links to balls and back.

Public names: HingeAnswer, hinge_answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.model import Revolute
from liaison.spatial import compose, inverse

from .balls import precision
from .certify import certified
from .links import Links, Passive
from .motions import Transform
from .rigid import Motion3, in_balls
from .six_hinges import PRECISION, LoopClosure, hinge_positions
from .systems import Solution
from .triples import triple_of, triple_positions

Floats: TypeAlias = NDArray[np.float64]
Step: TypeAlias = tuple[Passive, Transform, Transform, int]
"""A hinge of the loop: its marker on this side, on the far side, and the far link."""


@final
@dataclass(frozen=True, slots=True)
class HingeAnswer:
    """Poses of the links at each position, what is proved of it, and of all of them."""

    found: tuple[tuple[dict[int, tuple[Floats, Floats]], Solution], ...]
    is_complete: bool
    why: str
    method: str
    complex: int | None


def hinge_answer(links: Links, seed: int = 0) -> HingeAnswer | None:
    """All positions of a loop of six hinges; None where the links are none, or it degenerates.

    Raises:
        Infinite: it moves.
        NotThere, Exhausted: not computed.
    """
    steps = _loop(links)
    if steps is None or len(steps) != 6:
        return None
    with precision(PRECISION):
        X = [in_balls(x) for x in _between(steps)]
    if (triple := triple_of(X)) is not None:
        return _with_a_wrist(X, triple, steps, seed)
    found = hinge_positions(X)
    if found is None:
        return None
    real = [(_poses(steps, [x.real for x in at.angles]), Solution((), "Krawczyk", at.box.radius, 1))
            for at in found.real]  # fmt: skip
    if found.is_complete:
        why = "all of them, proved by elimination in balls: each root has at most one position"
    else:
        why = f"not proved to be all: {found.open_roots} of {found.roots} roots are undecided"
    return HingeAnswer(tuple(real), found.is_complete, why, "six hinges", len(found.positions))


def _with_a_wrist(
    X: Sequence[Motion3], triple: Any, steps: Sequence[Step], seed: int
) -> HingeAnswer:
    """A loop of which three axes meet, or are parallel."""
    near = triple_positions(X, triple, seed=seed)
    closure = LoopClosure(X)
    found, lost = [], 0
    for angles in near.angles:
        with precision(PRECISION):
            box = certified(closure, angles)
        if box is None or not closure.holds(box.box):
            lost += 1
        proof = Solution((), "Krawczyk" if box else "", box.radius if box else 1e-9, 1)
        exact = [float(x.mid()) for x in box.box] if box else angles
        found.append((_poses(steps, exact), proof))
    kind = "three axes that meet" if triple.meets else "three parallel axes"
    method = f"six hinges, {kind}, {near.engine}"
    why = "all of them, proved for coefficients rounded to 2⁻⁹⁶"
    if not near.is_sure or lost:
        why = "not proved to be all: some are near a singular position"
    count = near.complex if triple.meets else None
    return HingeAnswer(tuple(found), near.is_sure and not lost, why, method, count)


def _loop(links: Links) -> list[Step] | None:
    """The one loop through the ground, hinge after hinge; None where it is not one."""
    waiting = list(links.joints)
    if not all(isinstance(j.joint.type, Revolute) for j in waiting):
        return None
    found: list[Step] = []
    here = 0
    while waiting:
        touching = [j for j in waiting if here in (j.a, j.b)]
        if not touching or (here and len(touching) != 1) or (not here and len(touching) != 2):
            return None
        j = touching[0]
        waiting.remove(j)
        found.append((j, j.F, j.M, j.b) if j.a == here else (j, j.M, j.F, j.a))
        here = found[-1][3]
        if here == 0 and waiting:
            return None
    return found if here == 0 else None


def _between(steps: Sequence[Step]) -> list[Transform]:
    """From behind each hinge to the next, across the link."""
    after = [*steps[1:], steps[0]]
    return [compose(*inverse(*step[2]), *then[1]) for step, then in zip(steps, after, strict=True)]


def _poses(steps: Sequence[Step], angles: Sequence[float]) -> dict[int, tuple[Floats, Floats]]:
    """Poses of the links in ground's axes."""
    R, p = np.eye(3), np.zeros(3)
    found = {}
    for (_, F, M, far), angle in zip(steps, angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        for turned, place in (_floats(F), (turn, np.zeros(3)), _floats(inverse(*M))):
            R, p = R @ turned, R @ place + p
        found[far] = R, p
    return found


def _floats(X: Transform) -> tuple[Floats, Floats]:
    turned, place = in_balls(X)
    return np.array([[float(x) for x in row] for row in turned]), np.array(
        [float(x) for x in place]
    )
