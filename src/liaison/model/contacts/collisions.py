"""Contact among many: every pair of the bodies that are named, by their shapes, and with planes.

Public names: Collision, collision, Surfaces, surfaces_of, touching, plane_names, collisions.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import Any, ClassVar, NamedTuple, Protocol, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.lazy import Brief
from liaison.model.markers import Marker
from liaison.model.places import line_here, marker_of
from liaison.model.records import Body, Joint
from liaison.model.scalars import UPRIGHT
from liaison.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    HeightField,
    Hull,
    Shape,
    Sphere,
    terrain_of,
)

from .friction import friction_of
from .one_sided import OneSided, Scoped, check_restitution


class Described(Protocol):
    """The parts of a mechanism that define who collides."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Ground first."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """What connects the bodies."""

    @property
    def contacts(self) -> tuple[OneSided, ...]:
        """Relations of one side."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Collision(OneSided, Brief):
    """A contact between every two of some bodies, or between those of two groups.

    A body touches with its spheres, capsules, boxes, cylinders and hulls; a frame on the ground is
    the plane z = 0 of it, or where there is a `terrain` the place of that height field. Two bodies
    that a joint connects pass through each other.
    """

    name: str
    parts: tuple[Marker, ...]  # of bodies their own frames, of the ground any
    others: tuple[Marker, ...] = ()  # with whom; with each other if there are none
    friction: Any = 0  # a Friction, or Coulomb's coefficient alone
    restitution: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)
    terrain: HeightField | None = None

    WORD: ClassVar[str] = "collide"
    SCALARS: ClassVar[tuple[str, ...]] = ("restitution",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("restitution",)

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        owner = f"collide '{self.name}'"
        object.__setattr__(self, "friction", friction_of(self.friction, owner, self.place))
        check_restitution(self.restitution, owner, self.place)
        for kind in ("parts", "others"):
            group = tuple(getattr(self, kind))
            object.__setattr__(self, kind, group)
            self._check_group(group)
        if self.terrain is not None:
            self._check_terrain(owner)
        if self.friction.across is not None:
            message = f"{owner} has friction across, but balls have no x to be across of."
            hint = "Give 'across' to contacts with planes, one by one."
            raise ModelError(message, hint=hint, place=self.place)

    def _check_terrain(self, owner: str) -> None:
        """An upright height field, and a frame on the ground at which it is."""
        terrain_of(self.terrain, f"the terrain of {owner}", self.place)
        if not any(one.body == "ground" for one in self.markers()):
            raise ModelError(
                f"{owner} has a height field, but names no frame on the ground at which it is.",
                place=self.place,
                hint="Name 'ground', or a frame on it.",
            )

    def _check_group(self, group: tuple[Marker, ...]) -> None:
        """Bodies by themselves, planes on the ground, each once."""
        seen = set()
        for one in group:
            if one.body != "ground" and (one.R, one.p) != (UPRIGHT, (0, 0, 0)):
                raise ModelError(
                    f"collide '{self.name}' names a frame on body '{one.body}'; a body touches "
                    "with its shapes, wherever they are on it.",
                    place=one.place or self.place,
                    hint=f"Name '{one.body}' itself; a plane that moves is written with 'contact'.",
                )
            if one in seen:
                member = "the same plane" if one.body == "ground" else f"'{one.body}'"
                message = f"collide '{self.name}' names {member} twice."
                raise ModelError(message, place=one.place or self.place)
            seen.add(one)

    def markers(self) -> tuple[Marker, ...]:
        return (*self.parts, *self.others)

    def formulas(self) -> tuple[Any, ...]:
        return (self.restitution, *self.friction.formulas())

    def scoped(self) -> Iterator[Scoped]:
        yield "time", self.formulas()

    def on(self, owners: dict[str, str]) -> Collision:
        """The same with other bodies in the place of some, by name."""
        parts, others = (
            tuple(dict.fromkeys(_renamed(x, owners) for x in group))
            for group in (self.parts, self.others)
        )
        return replace(self, parts=parts, others=others)


@checked
def collision(
    *bodies: Body | Marker,
    against: Iterable[Body | Marker] = (),
    friction: Any = 0,
    restitution: Any = 0,
    terrain: HeightField | None = None,
    name: str = "collision",
) -> Collision:
    """Contact between every two of these, or of these with those they are `against`.

    Args:
        *bodies: each touches with its spheres, capsules, boxes, cylinders and hulls; `ground`, or a
            frame on it, with the plane z = 0 of that frame.
        against: another group.
        friction: the coefficient of sliding, or a `Friction` with all of them.
        restitution: the part of the speed of approach that is given back.
        terrain: a height field, at the frames on the ground, in the place of their planes.
        name: of them all; contacts are named 'a-b'.

    Example:
        >>> import liaison
        >>> balls = [liaison.body(f"b{k}", mass=1, shapes=liaison.Sphere(0.1)) for k in range(3)]
        >>> len(liaison.collision(*balls, against=[liaison.ground]).markers())
        4
    """
    parts, others = (tuple(map(marker_of, group)) for group in (bodies, against))
    return Collision(name, parts, others, friction, restitution, line_here(), terrain)


def _renamed(marker: Marker, owners: dict[str, str]) -> Marker:
    return replace(marker, body=owners.get(marker.body, marker.body))


class Surfaces(NamedTuple):
    """Bodies and planes by classes of equal surfaces, and which law two classes have.

    Attributes:
        members: of each class: bodies, or planes of the ground.
        laws: of two classes, the smaller number first; none where they pass through each other.
        pairs: how many may touch; those that a joint connects do not.
        terrains: height fields, by their frames on the ground.
    """

    members: tuple[tuple[Marker, ...], ...]
    laws: dict[tuple[int, int], Collision]
    pairs: int
    terrains: dict[Marker, HeightField]

    def on_ground(self) -> list[Marker]:
        """The frames of planes, then those of height fields."""
        every = [x for group in self.members for x in group if x.body == "ground"]
        return sorted(every, key=lambda x: x in self.terrains)


def collisions(mechanism: Described) -> list[Collision]:
    """Those of a mechanism."""
    return [x for x in mechanism.contacts if isinstance(x, Collision)]


TOUCHING: tuple[type[Shape], ...] = (Sphere, Capsule, Box, Cylinder, Hull)
"""Shapes with which bodies collide."""


def touching(body: Body) -> list[Any]:
    """The shapes with which a body touches."""
    return [x for x in body.shapes if isinstance(x, TOUCHING)]


def plane_names(surfaces: Surfaces) -> dict[Marker, str]:
    """Words for planes and height fields of the ground, each its own: names, or 'earth', …."""
    names: dict[Marker, str] = {}
    for one in surfaces.on_ground():
        word, count = one.name or "earth", 1
        while word in names.values():
            count += 1
            word = f"{one.name or 'earth'} {count}"
        names[one] = word
    return names


def surfaces_of(mechanism: Described) -> Surfaces:
    """Who may touch whom, by which law.

    Raises:
        ModelError: a pair that two statements name, a body without a shape that touches, a frame
            of the ground that is a plane and a height field, or a statement that names nothing that
            could touch.
    """
    by_key: dict[Any, tuple[Marker, set[tuple[int, int]]]] = {}
    laws = collisions(mechanism)
    bodies = {body.name: body for body in mechanism.bodies}
    fields: dict[Any, HeightField | None] = {}
    for k, law in enumerate(laws):
        for side, group in enumerate((law.parts, law.others)):
            for one in group:
                _check_shapes(bodies[one.body], one, law)
                key = (one.body, one.R, one.p) if one.body == "ground" else one.body
                by_key.setdefault(key, (one, set()))[1].add((k, side))
                if one.body == "ground" and fields.setdefault(key, law.terrain) != law.terrain:
                    raise _two_surfaces(one, law)
    groups: dict[Any, list[Marker]] = {}
    for one, roles in by_key.values():
        groups.setdefault((one.body == "ground", frozenset(roles)), []).append(one)
    table = _table(list(groups), list(groups.values()), laws)
    members = tuple(map(tuple, groups.values()))
    terrains = {by_key[key][0]: x for key, x in fields.items() if x is not None}
    return Surfaces(members, table, _count(members, table, mechanism.joints), terrains)


def _two_surfaces(one: Marker, law: Collision) -> ModelError:
    return ModelError(
        f"collide '{law.name}' takes a frame on the ground for another surface than a statement "
        "before: it is a plane, or the place of one height field.",
        place=one.place or law.place,
        hint="Name another frame, with another place.",
    )


def _table(
    roles: list[Any], members: list[list[Marker]], laws: list[Collision]
) -> dict[tuple[int, int], Collision]:
    """The law of every two classes that have one; rejects two, and statements without a pair."""
    pairs: dict[tuple[int, int], Collision] = {}
    for a, b in combinations_with_replacement(range(len(roles)), 2):
        lone = a == b and len(members[a]) < 2
        if lone or (roles[a][0] and roles[b][0]):
            continue
        matching = [law for k, law in enumerate(laws) if _meet(k, law, roles[a][1], roles[b][1])]
        if len(matching) > 1:
            pair = f"'{members[a][0].body}' and '{members[b][-1].body}'"
            hint = "Say 'collide a, b and c, d' for pairs of one group with another."
            problem = f"{pair} are a pair of '{matching[0].name}' and of '{matching[1].name}'"
            raise ModelError(
                f"{problem}; one law holds for it.", hint=hint, place=matching[1].place
            )
        if matching:
            pairs[a, b] = matching[0]
    for law in laws:
        if not any(law is x for x in pairs.values()):
            problem = f"collide '{law.name}' names nothing that could touch"
            raise ModelError(f"{problem}: two bodies, or a body and a plane.", place=law.place)
    return pairs


def _meet(k: int, law: Collision, one: set[Any], other: set[Any]) -> bool:
    """Whether a statement is of pairs of these two classes."""
    if not law.others:
        return (k, 0) in one and (k, 0) in other
    return ((k, 0) in one and (k, 1) in other) or ((k, 1) in one and (k, 0) in other)


def _count(
    members: tuple[tuple[Marker, ...], ...], laws: dict[tuple[int, int], Collision],
    joints: tuple[Joint, ...],
) -> int:  # fmt: skip
    sizes = [len(x) for x in members]
    total = sum(sizes[a] * (sizes[a] - 1) // 2 if a == b else sizes[a] * sizes[b] for a, b in laws)
    place = {one.body: k for k, group in enumerate(members) for one in group}
    joined = {frozenset((x.predecessor.body, x.successor.body)) - {"ground"} for x in joints}
    known = [sorted(place[x] for x in pair) for pair in joined if len(pair & place.keys()) == 2]
    return total - sum((a, b) in laws for a, b in known)


def _check_shapes(body: Body, marker: Marker, law: Collision) -> None:
    if law.terrain is None and any(isinstance(x, HeightField) for x in body.shapes):
        raise ModelError(
            f"collide '{law.name}' names '{body.name}', which has a height field for a shape; a "
            "height field is touched where a statement names it.",
            place=marker.place or law.place,
            hint="Write 'collide … and ground with terrain = height_field(…) end'.",
        )
    if body.name != "ground" and not touching(body):
        raise ModelError(
            f"collide '{law.name}' names body '{body.name}', which has no sphere, capsule, box, "
            "cylinder or hull.",
            place=marker.place or law.place,
            hint="Give it a shape; what touches are spheres, capsules, boxes, cylinders and hulls.",
        )
