"""A contact of two bodies: what touches, and what is touched.

Public names: Contact, contact.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from liaison.arguments import checked
from liaison.errors import ModelError, NamingError, Place
from liaison.lazy import Brief
from liaison.model.acts import NO_UNITS
from liaison.model.kinds import Property
from liaison.model.markers import Marker
from liaison.model.places import line_here, marker_of
from liaison.model.records import Body
from liaison.model.scalars import Triple, pair, scalar, triple
from liaison.model.shapes import Hull, Shape
from liaison.spatial.arrays import Array, number

from .friction import friction_of
from .geometry import check_geometry, geometry_words
from .one_sided import OneSided, Scoped, check_restitution
from .shape import (
    PAIRS,
    SHAPE_KINDS,
    TARGET_KINDS,
    ContactShape,
    ContactTarget,
    Core,
    Pairing,
    Sizes,
    target_of,
)
from .touch import Touching


@final
@dataclass(frozen=True, slots=True, repr=False)
class Contact(OneSided, Brief):
    """A body that stays above a plane or surface, out of or in a ball, or out of a profile.

    The origin of `first` is the point or the center, its z the axis of a disc, cylinder or capsule
    (whose length is that between the centers of its ends), its axes those of a box or ellipsoid. z
    of `second` is the normal of the plane or the axis of the profile, its origin the center of a
    ball. A cylinder touches with its two rims, a capsule with its two ends, a box with its corners;
    a ball from outside they touch wherever they are nearest to it. An edge is along z, and x points
    out of its body. Corners touch a block above its faces, edges another edge where they cross it.
    """

    name: str
    first: Marker
    second: Marker
    kind: str = "point"  # of CONTACT_KINDS
    radius: Any = 0  # [m]
    friction: Any = 0  # a Friction, or Coulomb's coefficient alone
    restitution: Any = 0  # the part of the speed of approach that is given back
    length: Any = 0  # of a cylinder or capsule [m]
    size: Triple = (0, 0, 0)  # of a box, along its axes [m]
    outside: Any = None  # radius of the ball that is touched from outside [m]
    inside: Any = None  # radius of the hollow ball that is touched from inside [m]
    surface: Any = None  # h of the surface z = h(x, y), a formula of SURFACE [m]
    profile: Any = None  # ϱ of the profile about z, a formula of PROFILE [m]
    along: Any = None  # length of the rod or tube that is touched instead of a ball, along z [m]
    block: Any = None  # sides of the block that is touched, along the axes [m]
    edge: Any = None  # length of the edge that is touched, along z [m]
    curve: Any = None  # x and y of a curve that goes on along z, formulas of CURVE [m]
    span: Any = None  # least and greatest parameter of the curve
    more: tuple[tuple[str, Any], ...] = ()  # sizes that other kinds have, by their words
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "contact"
    SCALARS: ClassVar[tuple[str, ...]] = (
        "radius", "restitution", "length",
        "outside", "inside", "surface", "profile", "along", "edge",
    )  # fmt: skip
    OPTIONAL: ClassVar[tuple[str, ...]] = SCALARS[3:]
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("radius", "restitution", "length")

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        for part, convert in (("size", triple), ("block", triple), ("curve", pair), ("span", pair)):
            if (value := getattr(self, part)) is not None:
                what = f"the {part} of contact '{self.name}'"
                exact = convert(value, what, self.place, self.unit_of(part))
                object.__setattr__(self, part, exact)
        object.__setattr__(self, "more", self._checked(dict(self.more)))
        owner = f"contact '{self.name}'"
        object.__setattr__(self, "friction", friction_of(self.friction, owner, self.place))
        check_geometry(self)
        check_restitution(self.restitution, owner, self.place)

    def _checked(self, more: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Further sizes as scalars, or triples of them, in the order of their words."""
        listed = [x for kind in (*SHAPE_KINDS, *TARGET_KINDS) for x in _sizes(kind)]
        known, shaped = [x.key for x in listed], {x.key: x.shape for x in listed if x.shape}
        properties: list[tuple[str, Any]] = []
        for key in sorted(more):
            if key not in known:
                raise NamingError.unknown("property of a contact", key, known, place=self.place)
            what = f"the {key} of contact '{self.name}'"
            if key in shaped:
                make = shaped[key] if callable(shaped[key]) else _hull
                properties.append((key, make(more[key], what, self.place)))
                continue
            convert = triple if isinstance(more[key], tuple | list) else scalar
            properties.append((key, convert(more[key], what, self.place, self.unit_of(key))))
        return tuple(properties)

    def unit_of(self, part: str, units: Mapping[str, str] = NO_UNITS) -> str | None:
        kinds = (*SHAPE_KINDS, *TARGET_KINDS)
        return next((x.unit for kind in kinds for x in _sizes(kind) if x.key == part), "")

    def value_of(self, key: str) -> Any:
        """A size by its word, of what touches or of what is touched; None if it has none."""
        return getattr(self, key) if key in self.__slots__ else dict(self.more).get(key)

    def places(self, R: Array, p: Array, read: Callable[[Any], Any]) -> Sequence[Touching]:
        """Every place at which it may touch: one, two rims or ends, or corners of a box.

        Args:
            R: rotation of the first frame, seen from the second.
            p: its origin, seen from the second [m].
            read: how its sizes enter the formulas.
        """
        return self.pairing.places(Sizes(self, read), R, p)

    @property
    def shape(self) -> type[ContactShape]:
        """The kind of what touches."""
        shape = SHAPE_KINDS.named(self.kind)
        assert shape is not None, self.kind
        return shape

    @property
    def target(self) -> type[ContactTarget]:
        """The kind of what is touched."""
        return target_of(self)

    @property
    def cores(self) -> tuple[Core, Core | None] | None:
        """Both bodies for the loops that find its places; None where formulas have them."""
        sizes = Sizes(self, as_number)
        if not self.pairing.is_by_loops(sizes):
            return None
        return self.shape.core(sizes), self.target.core(sizes)

    @property
    def pairing(self) -> Pairing:
        """The formulas of its pair."""
        return PAIRS[self.kind, self.target.WORD]

    def markers(self) -> tuple[Marker, ...]:
        return (self.first, self.second)

    def formulas(self) -> tuple[Any, ...]:
        return tuple(x for _, entries in self.scoped() for x in entries)

    def scoped(self) -> Iterator[Scoped]:
        lists = (*(self.block or ()), *(self.span or ()))
        touched = (self.outside, self.inside, self.along, self.edge, *lists)
        sizes = (x for x in touched if x is not None)
        plain = (x for _, x in self.more if not isinstance(x, Shape))
        more = (y for x in plain for y in (x if isinstance(x, tuple) else (x,)))
        yield "parameters", (self.radius, self.length, *self.size, *sizes, *more)
        yield "time", (self.restitution, *self.friction.formulas())
        yield "surface", () if self.surface is None else (self.surface,)
        yield "profile", () if self.profile is None else (self.profile,)
        yield "curve", self.curve or ()


def as_number(x: Any) -> float:
    """A size as a number.

    Raises:
        ModelError: it depends on a parameter.
    """
    value = number(x)
    if value is None:
        message = f"a size of what touches a hull is {x}, which depends on a parameter."
        raise ModelError(message, hint="Give it a number: places on hulls are found by loops.")
    return value


def _hull(value: Any, what: str, place: Place | None) -> Hull:
    """A hull, or the hull of points."""
    if isinstance(value, Hull):
        return value
    if isinstance(value, Shape) or not isinstance(value, Sequence | np.ndarray):
        message = f"{what} must be a hull, or points, not a {type(value).__name__}."
        raise ModelError(message, place=place, hint="In LSD: hull([1, 0, 0] m, …), or a file.")
    return Hull(tuple(value))


def _sizes(kind: Any) -> tuple[Property, ...]:
    """The sizes that a shape or a target has."""
    properties: tuple[Property, ...] = kind.SIZES if issubclass(kind, ContactShape) else kind.KEYS
    return properties


@checked
def contact(
    a: Body | Marker,
    b: Body | Marker,
    kind: str = "point",
    *,
    friction: Any = 0,
    restitution: Any = 0,
    name: str = "",
    **geometry: Any,
) -> Contact:
    """A point, ball, disc, cylinder, capsule, box, ellipsoid, edge or hull at a, above z = 0 of b.

    Args:
        a: what touches: its origin, and z as the axis of a disc, cylinder or capsule.
        b: what is touched.
        kind: a word above.
        friction: the coefficient of sliding, or a `Friction` with all of them.
        restitution: the part of the speed of approach that is given back.
        name: by default "contact" and the bodies.
        **geometry: `radius`, `length`, `size` of what touches; instead of the plane `outside` or
            `inside` (radius of a ball about b, of a rod or tube if `along` is its length),
            `surface` (a formula of `SURFACE`), `profile` (a formula of `PROFILE`), `curve` (two
            formulas of `CURVE`, for s within `span`), `block` (three sides), `edge` (a length) or
            `hull` (a `Hull`, or points) or `terrain` (a `HeightField`); of a hull that touches
            its `points`.

    Raises:
        NamingError: a word that a contact does not have.

    Example:
        >>> import liaison
        >>> ball = liaison.body("ball", mass=1, shapes=liaison.Sphere(0.1))
        >>> liaison.contact(ball, liaison.ground, "ball", radius=0.1, restitution=0.8).kind
        'ball'
    """
    words = geometry_words()
    for key in geometry:
        if key not in words:
            known = [*words, "friction", "restitution", "name", "kind"]
            raise NamingError.unknown("property of a contact", key, known, place=line_here())
    first, second = marker_of(a), marker_of(b)
    word = name or f"contact {first.body}-{second.body}"
    own = {key: x for key, x in geometry.items() if key in Contact.__slots__}
    more = tuple((key, x) for key, x in geometry.items() if key not in own)
    options: dict[str, Any] = {"friction": friction, "restitution": restitution, **own}
    return Contact(word, first, second, kind, place=line_here(), more=more, **options)
