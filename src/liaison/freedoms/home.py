"""A mechanism in an assembled position with exact numbers: its joints as screws, its loops.

Bodies are placed along the tree by the author's starts; coordinates that assembly found instead
are recognized as simple exact numbers, or the body's place is. Nothing recognized is trusted: the
position counts as exact only where every joint holds modulo the primes used.

Public names: Home, home_of, numeric_home.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import Expr, as_expr, evaluate
from liaison.freedoms.local.curved import Curved
from liaison.model import Mechanism
from liaison.spatial import array, zeros

from .cycles import Step, loops_of
from .motions import Motion, Transform, motions_of
from .placing import Placing, markers_of, valued
from .relations import Relations, relations_of
from .screws import Factor, LoopSystem


@final
@dataclass(frozen=True, slots=True)
class Home:
    """What is known of a mechanism in one assembled position."""

    mechanism: Mechanism
    motions: tuple[tuple[Motion, ...], ...]  # of each joint
    loops: tuple[tuple[Step, ...], ...]
    markers: tuple[Transform, ...]  # of each joint on its predecessor, ground's axes
    closure: tuple[Expr, ...]  # what must vanish for the position to be exact
    relations: Relations
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[Motion, ...]:
        """All motions, joint after joint."""
        return tuple(motion for group in self.motions for motion in group)

    def formulas(self) -> list[Expr]:
        """Seven numbers for each motion (direction, point, pitch), then ratios, then closure."""
        found: list[Any] = []
        for motion in self.columns:
            point = zeros(3) if motion.point is None else motion.point
            found += [*motion.direction, *point, 0 if motion.pitch is None else motion.pitch]
        found += [ratio for row in self.relations.rows for _, ratio, _ in row]
        return [as_expr(x) for x in (*found, *self.closure)]

    def system(self, p: int) -> LoopSystem | None:
        """The loops modulo p; None where p lacks a root, or the position is not exact."""
        try:
            numbers = [int(x) for x in evaluate(self.formulas(), domain=residues(p))]
        except (DerivationError, ValueError):
            return None
        if self.closure and any(numbers[-len(self.closure) :]):
            return None
        return self.assembled(p, numbers)

    def assembled(self, p: int, numbers: Sequence[int]) -> LoopSystem:
        """The system from the numbers of `formulas`."""
        screws = [_screws(m, numbers[7 * k : 7 * k + 7], p) for k, m in enumerate(self.columns)]
        first, places = 0, []
        for group in self.motions:
            places.append(range(first, first + len(group)))
            first += len(group)
        loops = [
            [f for joint, sign in loop for f in _factors(places[joint], sign, screws)]
            for loop in self.loops
        ]
        ratios = iter(numbers[7 * first :])
        rows = [[(column, next(ratios), angle) for column, _, angle in row]
                for row in self.relations.rows]  # fmt: skip
        if not self.relations.curved:
            return LoopSystem(p, first, loops, rows, is_first_order=bool(self.relations.tangent))
        linear = rows[: len(self.relations.linear)]
        return LoopSystem(p, first, loops, linear, Curved(self.relations.curved, first))


def _screws(motion: Motion, numbers: Sequence[int], p: int) -> list[tuple[Any, int | None]]:
    """The screws of a motion with their pitches: one, or two for a screw joint."""
    d, q, pitch = numbers[:3], numbers[3:6], numbers[6]
    slide = (0, 0, 0, *d)
    if motion.point is None:
        return [(slide, None)]
    turn = (*d, *(x % p if p else x for x in _cross(q, d)))
    return [(turn, None)] if motion.pitch is None else [(turn, None), (slide, pitch)]


def _cross(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _factors(places: range, sign: int, screws: Sequence[Any]) -> list[Factor]:
    found = [Factor(k, sign, s, pitch) for k in places for s, pitch in screws[k]]
    return found if sign > 0 else found[::-1]


def _flat(groups: Sequence[Sequence[Motion]]) -> list[Motion]:
    return [motion for group in groups for motion in group]


def home_of(
    mechanism: Mechanism,
    q: Mapping[str, float] | None = None,
    poses: Mapping[str, Any] | None = None,
) -> Home:
    """The exact position that the starts give, or the one near a position assembled in floats.

    Args:
        mechanism: with parameters that have values.
        q: each coordinate that assembly knows, by label; if not given, starts and zeros are taken.
        poses: (R, p) of each body in ground's axes, in floats.

    Raises:
        DerivationError: nothing simple and exact is near.
    """
    notes: list[str] = []
    mechanism = valued(mechanism, notes)
    placing = Placing(mechanism, q, poses, notes)
    placing.place()
    if q is None and not placing.is_upright():
        raise DerivationError("the starts put a joint together the wrong way round.")
    motions = tuple(placing.motions(joint) for joint in mechanism.joints)
    relations = relations_of(mechanism, _flat(motions), placing.known())
    return Home(
        mechanism=mechanism,
        motions=motions,
        loops=loops_of(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=tuple(placing.closure()),
        relations=relations,
        notes=(*notes, *relations.notes),
    )


def numeric_home(mechanism: Mechanism, q: Mapping[str, float], poses: Mapping[str, Any]) -> Home:
    """A position in floats, where none that is exact is near."""
    notes: list[str] = []
    mechanism = valued(mechanism, notes, rounded=True)
    placing = Placing(mechanism, q, poses, notes)
    placing.poses |= {body: (array(R), array(p)) for body, (R, p) in poses.items()}
    motions = []
    for joint in mechanism.joints:
        F, M = markers_of(joint, placing.poses)
        near = [q.get(label, 0.0) for label in joint.coordinates]
        motions.append(tuple(motions_of(joint, F, M, near)))
    relations = relations_of(mechanism, _flat(motions), q)
    return Home(
        mechanism=mechanism,
        motions=tuple(motions),
        loops=loops_of(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=tuple(placing.closure()),
        relations=relations,
        notes=(*notes, *relations.notes),
    )
