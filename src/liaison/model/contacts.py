"""What holds on one side only: unilateral relations, and contacts of bodies.

Public names: OneSided, Unilateral, Contact, GapContact, SURFACE, PROFILE, CURVE, ONE_MODE,
refuse_sides, left_out.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, final

from liaison.errors import DerivationError, ModelError, Place
from liaison.expr import symbol
from liaison.spatial import number

from .acts import Act
from .contact_geometry import check_geometry
from .friction import Friction
from .markers import Marker
from .scalars import Triple, pair, scalar, triple

SURFACE = (symbol("'x"), symbol("'y"))
"""x and y of the second frame, in the formula of a surface z = h(x, y)."""
PROFILE = symbol("'angle")
"""The angle about z of the second frame, from its x, in the formula of a profile ϱ(angle)."""
CURVE = symbol("'s")
"""The parameter of a curve x(s), y(s)."""
Scoped: TypeAlias = tuple[str, tuple[Any, ...]]
"""Where formulas may look (a scope of the checks), and formulas."""


class OneSided(Act):
    """A relation that may be left on one side (liaison unilatérale), or friction that may hold."""

    __slots__ = ()

    def scoped(self) -> Iterator[Scoped]:
        """Its formulas by what they may depend on."""
        yield "time", self.formulas()

    def rates(self) -> tuple[Any, ...]:
        """Formulas of rates, which must be linear in them."""
        return ()


@final
@dataclass(frozen=True, slots=True)
class Unilateral(OneSided):
    """A formula that never becomes positive: Φ(q, t) ≤ 0, or W(q, t) q̇ + h(q, t) ≤ 0."""

    name: str
    formula: Any
    restitution: Any = 0  # of positions: the part of the speed of approach that is given back
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("formula", "restitution")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("restitution",)

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        _check_restitution(self.restitution, f"unilateral '{self.name}'", self.place)

    def scoped(self) -> Iterator[Scoped]:
        yield "motion", (self.formula,)
        yield "time", (self.restitution,)

    def rates(self) -> tuple[Any, ...]:
        return (self.formula,)


@final
@dataclass(frozen=True, slots=True)
class Contact(OneSided):
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
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = (
        "radius", "restitution", "length",
        "outside", "inside", "surface", "profile", "along", "edge",
    )  # fmt: skip
    OPTIONAL: ClassVar[tuple[str, ...]] = SCALARS[3:]
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("radius", "restitution", "length")

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        for part, made in (("size", triple), ("block", triple), ("curve", pair), ("span", pair)):
            if (given := getattr(self, part)) is not None:
                kept = made(given, f"the {part} of contact '{self.name}'", self.place)
                object.__setattr__(self, part, kept)
        owner = f"contact '{self.name}'"
        object.__setattr__(self, "friction", _friction(self.friction, owner, self.place))
        check_geometry(self)
        _check_restitution(self.restitution, owner, self.place)

    def markers(self) -> tuple[Marker, ...]:
        return (self.first, self.second)

    def formulas(self) -> tuple[Any, ...]:
        return tuple(x for _, entries in self.scoped() for x in entries)

    def scoped(self) -> Iterator[Scoped]:
        lists = (*(self.block or ()), *(self.span or ()))
        touched = (self.outside, self.inside, self.along, self.edge, *lists)
        given = (x for x in touched if x is not None)
        yield "parameters", (self.radius, self.length, *self.size, *given)
        yield "time", (self.restitution, *self.friction.formulas())
        yield "surface", () if self.surface is None else (self.surface,)
        yield "profile", () if self.profile is None else (self.profile,)
        yield "curve", self.curve or ()


@final
@dataclass(frozen=True, slots=True)
class GapContact(OneSided):
    """A contact told by formulas: a gap that stays ≥ 0, and the slip where it touches, as rates.

    The force along the gap is that of the unit of work: f · d(gap); friction works likewise on the
    slips, of which there are one or two.
    """

    name: str
    gap: Any  # [m]
    slips: tuple[Any, ...] = ()  # linear in the rates [m/s]
    friction: Any = 0  # a Friction of sliding, or Coulomb's coefficient alone
    restitution: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "contact"
    SCALARS: ClassVar[tuple[str, ...]] = ("gap", "restitution")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("restitution",)

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        owner = f"contact '{self.name}'"
        kept = tuple(scalar(x, f"a slip of {owner}", self.place) for x in self.slips)
        object.__setattr__(self, "slips", kept)
        object.__setattr__(self, "friction", _friction(self.friction, owner, self.place))
        _check_restitution(self.restitution, owner, self.place)
        self._check_slips(owner)

    def _check_slips(self, owner: str) -> None:
        if len(self.slips) > 2:
            said = f"{owner} has {len(self.slips)} slips; a surface has two directions at most."
            raise ModelError(said, place=self.place)
        slides = self.friction.resists("sliding", "viscous")
        if slides and not self.slips:
            said = f"{owner} has friction but no slip; give the rate at which it slips."
            raise ModelError(said, place=self.place)
        if any(self.friction.resists(x, f"viscous_{x}") for x in ("rolling", "pivoting")):
            raise ModelError(
                f"{owner} is told by formulas, which say nothing of rolling and pivoting; "
                "tell it by frames.",
                place=self.place,
            )

    def formulas(self) -> tuple[Any, ...]:
        return (self.gap, *self.slips, self.restitution, *self.friction.formulas())

    def scoped(self) -> Iterator[Scoped]:
        yield "positions", (self.gap,)
        yield "motion", self.slips
        yield "time", (self.restitution, *self.friction.formulas())

    def rates(self) -> tuple[Any, ...]:
        return self.slips


def refuse_sides(contacts: Sequence[OneSided], verb: str) -> None:
    """Refuses what holds on one side only, in the name of what does not look at it.

    Raises:
        DerivationError: there is something.
    """
    for one in contacts:
        said = f"{one.name!r} holds on one side only; {verb} does not look at such relations."
        raise DerivationError(said, hint=ONE_MODE, place=one.place)


ONE_MODE = (
    "Ask about one mode: require its limit with '=' where it is closed, leave it out where it is "
    "open."
)


def left_out(contacts: Sequence[OneSided]) -> str:
    """A sentence that says what an answer about the free mechanism leaves out; "" if nothing."""
    if not contacts:
        return ""
    names = [repr(one.name) for one in contacts]
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"Without {listed}, which {'holds' if len(names) == 1 else 'hold'} on one side only."


def _friction(given: Any, owner: str, place: Place | None) -> Friction:
    """What the author gave: all coefficients, or that of sliding alone."""
    found = given if isinstance(given, Friction) else Friction(given)
    return found.checked(owner, place)


def _check_restitution(e: Any, owner: str, place: Place | None) -> None:
    value = number(e)
    if value is not None and value > 1:
        raise ModelError(
            f"the restitution of {owner} is {value:g}; above 1 an impact would give energy.",
            place=place,
        )
