"""A mechanism in an assembled position with exact numbers: its joints as screws, its loops.

Bodies are placed along the tree by the author's starts; coordinates that assembly found instead
are recognized as simple exact numbers, or the body's place is. Nothing recognized is trusted: the
position counts as exact only where every joint holds modulo the primes used.

Public names: Home, home_of, graph_loops, markers_of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, constant, evaluate, residues, substitute, symbol, symbols_of
from liaison.model import (
    Coupling,
    Cylindrical,
    Helical,
    Joint,
    Marker,
    Mechanism,
    Nonholonomic,
    PrescribedMotion,
    Prismatic,
    Revolute,
)
from liaison.spatial import (
    array,
    compose,
    identity,
    inverse,
    product,
    rotation_about,
    zeros,
)
from liaison.spatial.arrays import cross

from .motions import Motion, Transform, motions_of
from .recognize import float_of, simple_angle, simple_number, simple_rotation
from .screws import Factor, LoopSystem

Step: TypeAlias = tuple[int, int]
"""A joint on the way around a loop, and +1 from predecessor to successor, −1 back."""


@final
@dataclass(frozen=True, slots=True)
class Home:
    """What is known of a mechanism in one assembled position."""

    mechanism: Mechanism
    motions: tuple[tuple[Motion, ...], ...]  # of each joint
    loops: tuple[tuple[Step, ...], ...]
    markers: tuple[Transform, ...]  # of each joint on its predecessor, ground's axes
    closure: tuple[Expr, ...]  # what must vanish for the position to be exact
    relations: tuple[tuple[tuple[int, Expr, bool], ...], ...]
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
        found += [ratio for relation in self.relations for _, ratio, _ in relation]
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
        relations = [[(column, next(ratios), angle) for column, _, angle in relation]
                     for relation in self.relations]  # fmt: skip
        return LoopSystem(p, first, loops, relations)


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


def graph_loops(mechanism: Mechanism) -> tuple[tuple[Step, ...], ...]:
    """A loop for each joint off a breadth-first tree: down to it, across, and back."""
    way: dict[str, tuple[Step, ...]] = {"ground": ()}
    level, used = ["ground"], set()
    while level:
        found = []
        for body in level:
            for k, joint in enumerate(mechanism.joints):
                ends = joint.predecessor.body, joint.successor.body
                for near, far, sign in ((*ends, 1), (*ends[::-1], -1)):
                    if near == body and far not in way:
                        way[far] = (*way[body], (k, sign))
                        used.add(k)
                        found.append(far)
        level = found
    loops = []
    for k, joint in enumerate(mechanism.joints):
        if k not in used:
            down, back = way[joint.predecessor.body], way[joint.successor.body]
            while down and back and down[0] == back[0]:
                down, back = down[1:], back[1:]
            loops.append((*down, (k, 1), *((j, -sign) for j, sign in reversed(back))))
    return tuple(loops)


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
    mechanism = _valued(mechanism, notes)
    placing = _Placing(mechanism, q, poses, notes)
    placing.place()
    if q is None and not placing.is_upright():
        raise DerivationError("the starts put a joint together the wrong way round.")
    motions = tuple(placing.motions(joint) for joint in mechanism.joints)
    return Home(
        mechanism=mechanism,
        motions=motions,
        loops=graph_loops(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=tuple(placing.closure()),
        relations=tuple(_relations(mechanism, motions, notes)),
        notes=tuple(notes),
    )


def numeric_home(mechanism: Mechanism, q: Mapping[str, float], poses: Mapping[str, Any]) -> Home:
    """A position in floats, where none that is exact is near."""
    notes: list[str] = []
    mechanism = _valued(mechanism, notes, rounded=True)
    placing = _Placing(mechanism, q, poses, notes)
    placing.poses |= {body: (array(R), array(p)) for body, (R, p) in poses.items()}
    motions = []
    for joint in mechanism.joints:
        F, M = markers_of(joint, placing.poses)
        near = [q.get(label, 0.0) for label in joint.coordinates]
        motions.append(tuple(motions_of(joint, F, M, near)))
    return Home(
        mechanism=mechanism,
        motions=tuple(motions),
        loops=graph_loops(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=tuple(placing.closure()),
        relations=tuple(_relations(mechanism, motions, notes)),
        notes=tuple(notes),
    )


def _valued(mechanism: Mechanism, notes: list[str], *, rounded: bool = False) -> Mechanism:
    """Parameters replaced by their values; floats by simple exact numbers, or all by floats."""
    values = {symbol(x.name): as_expr(x.value) for x in mechanism.parameters if x.value is not None}
    scalars = [x for joint in mechanism.joints for m in (joint.predecessor, joint.successor)
               for x in m.scalars()]  # fmt: skip
    if not rounded and not values and not any(isinstance(x, float) for x in scalars):
        return mechanism
    change: Any = _Exact(values, notes)
    if rounded:
        exact = _Exact(values, [])
        change = lambda x: float_of(exact(x))  # noqa: E731
    joints = tuple(
        replace(joint, type=joint.type.mapped(change),
                predecessor=_mapped(joint.predecessor, change),
                successor=_mapped(joint.successor, change))
        for joint in mechanism.joints
    )  # fmt: skip
    starts = tuple(replace(start, value=change(start.value)) for start in mechanism.starts)
    return replace(mechanism, joints=joints, starts=starts)


def _mapped(marker: Marker, change: Any) -> Marker:
    R = tuple(tuple(change(x) for x in row) for row in marker.R)
    return replace(marker, R=R, p=tuple(change(x) for x in marker.p))  # type: ignore[arg-type]


class _Exact:
    """Takes a scalar of a description to an exact one."""

    def __init__(self, values: Mapping[Expr, Expr], notes: list[str]) -> None:
        self.values, self.notes = values, notes

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Expr):
            known = {s: self.values[s] for s in symbols_of([x]) if s in self.values}
            return substitute([x], known)[0]
        if not isinstance(x, float):
            return x
        guess = simple_number(x)
        note = "floats of the description were taken for the simple exact numbers near them"
        if guess is not None and note not in self.notes:
            self.notes.append(note)
        return x if guess is None else guess


@final
class _Placing:
    """Bodies being placed, one after the other."""

    def __init__(
        self, mechanism: Mechanism, q: Mapping[str, float] | None,
        poses: Mapping[str, Any] | None, notes: list[str],
    ) -> None:  # fmt: skip
        self.mechanism, self.q, self.near, self.notes = mechanism, q, poses, notes
        self.starts = {start.label: start.value for start in mechanism.starts}
        self.poses: dict[str, Transform] = {"ground": (identity(3), zeros(3))}

    def place(self) -> None:
        """Places every body: along a joint whose coordinates are exact, or where it lies."""
        self._spread(told=True)
        self._spread(told=False)
        for body in self.mechanism.bodies:
            if body.name not in self.poses:
                self._lying(body.name)
                self._spread(told=False)

    def _spread(self, *, told: bool) -> None:
        """Places bodies along joints, from those placed; `told`: only where starts are given."""
        count = 0
        while count < len(self.poses):
            count = len(self.poses)
            for joint in self.mechanism.joints:
                if not told or all(label in self.starts for label in joint.coordinates):
                    self._along(joint)

    def _along(self, joint: Joint) -> None:
        a, b = joint.predecessor.body, joint.successor.body
        if (a in self.poses) == (b in self.poses):
            return
        q = self.coordinates(joint)
        if q is None:
            return
        X = across(joint, q)
        if a in self.poses:
            self.poses[b] = compose(*self.poses[a], *X)
        else:
            self.poses[a] = compose(*self.poses[b], *inverse(*X))

    def _lying(self, body: str) -> None:
        """Takes the body where floats say it lies."""
        if self.near is None:
            raise DerivationError(f"body '{body}' is nowhere by the starts alone.")
        R, p = self.near[body]
        turned, at = simple_rotation(R), [simple_number(float(x)) for x in p]
        if turned is None or any(x is None for x in at):
            raise DerivationError(f"no simple exact place is near that of body '{body}'.")
        self.notes.append(f"body '{body}' was taken to lie exactly where assembly put it")
        self.poses[body] = turned, array(at)

    def coordinates(self, joint: Joint) -> list[Any] | None:
        """Exact coordinates of a joint near those assembled; None if some are not simple."""
        if joint.type.nq != joint.type.nv:
            return self._neutral(joint)
        found = []
        units = joint.type.coordinate_units
        for label, unit in zip(joint.coordinates, units, strict=True):
            value = self._coordinate(label, unit)
            if value is None:
                return None
            found.append(value)
        return found

    def _neutral(self, joint: Joint) -> list[Any] | None:
        """The zero position of a joint with an attitude, where nothing else is said."""
        if self.q is not None or any(label in self.starts for label in joint.coordinates):
            return None
        return list(joint.type.neutral())

    def _coordinate(self, label: str, unit: str) -> Any:
        given = self.starts.get(label, 0)
        if self.q is None:
            return given
        if label not in self.q:
            return given if label in self.starts else None
        x = self.q[label]
        if abs(float_of(given) - x) < 1e-9 * max(1.0, abs(x)):
            return given
        guess = simple_angle(x) if unit == "rad" else simple_number(x)
        note = f"coordinate '{label}' = {x:.12g} was taken for a simple number"
        if guess is not None and note not in self.notes:
            self.notes.append(note)
        return guess

    def motions(self, joint: Joint) -> tuple[Motion, ...]:
        """Its elementary motions, at home."""
        F, M = markers_of(joint, self.poses)
        return tuple(motions_of(joint, F, M, self.coordinates(joint)))

    def closure(self) -> list[Expr]:
        """What each joint asks to vanish, and that markers' axes are perpendicular."""
        found: list[Any] = []
        for joint in self.mechanism.joints:
            F, M = markers_of(joint, self.poses)
            if isinstance(joint.type, Revolute):
                found += [*(M[1] - F[1]), *cross(F[0][:, 2], M[0][:, 2])]
            else:
                found += joint.type.residual(*compose(*inverse(*F), *M)) or []
        return [as_expr(x) for x in found if not _is_zero(x)]

    def is_upright(self) -> bool:
        """No joint is put together the wrong way round."""
        found: list[Any] = []
        for joint in self.mechanism.joints:
            F, M = markers_of(joint, self.poses)
            found += joint.type.positive(*compose(*inverse(*F), *M))
        return all(float_of(x) > 0 for x in found)


def markers_of(joint: Joint, poses: Mapping[str, Transform]) -> tuple[Transform, Transform]:
    """The poses of a joint's two markers."""
    first, second = joint.predecessor, joint.successor
    F = compose(*poses[first.body], first.rotation, first.position)
    return F, compose(*poses[second.body], second.rotation, second.position)


def across(joint: Joint, q: Sequence[Any]) -> Transform:
    """The successor body in the predecessor's axes; without roots where both markers are alike."""
    first, second = joint.predecessor, joint.successor
    alike = first.R == second.R and isinstance(
        joint.type, Revolute | Prismatic | Cylindrical | Helical
    )
    if not alike:
        X = compose(first.rotation, first.position, *joint.type.pose(array(list(q))))
        return compose(*X, *inverse(second.rotation, second.position))
    axis = first.rotation[:, 2]
    slide = joint.type.pose(array(list(q)))[1][2]
    turn = 0 if isinstance(joint.type, Prismatic) else q[0]
    R = identity(3) if isinstance(turn, int) and turn == 0 else rotation_about(axis, turn)
    shift = array([a * slide for a in axis]) if not _is_zero(slide) else zeros(3)
    return R, first.position + shift - product(R, second.position)


def _is_zero(x: Any) -> bool:
    return isinstance(x, int) and x == 0


def _relations(
    mechanism: Mechanism, motions: Sequence[Sequence[Motion]], notes: list[str]
) -> list[tuple[tuple[int, Expr, bool], ...]]:
    """Rows of gears and of imposed motions, on the columns of their coordinates."""
    columns = [motion for group in motions for motion in group]
    place = {motion.coordinate: k for k, motion in enumerate(columns) if motion.coordinate}
    found: list[tuple[tuple[int, Expr, bool], ...]] = []
    for relation in mechanism.constraints:
        labels = relation.labels()
        if isinstance(relation, PrescribedMotion) and labels[0] in place:
            found.append(((place[labels[0]], constant(1), False),))
        elif isinstance(relation, Coupling) and all(label in place for label in labels):
            a, b = (place[label] for label in labels)
            ratio = as_expr(-1 * as_expr(relation.ratio))
            found.append(((a, constant(1), columns[a].is_angle), (b, ratio, columns[b].is_angle)))
        else:
            kind = "speeds" if isinstance(relation, Nonholonomic) else "positions"
            notes.append(f"the relation '{relation.name}' of {kind} is not counted")
    return found
