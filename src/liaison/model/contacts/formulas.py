"""Unilateral constraints by formulas: limits, and contacts with a gap and slips.

Public names: Unilateral, at_most, stops, GapContact, touch.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import symbol
from liaison.lazy import Brief
from liaison.model.places import label_of, line_here
from liaison.model.records import Joint
from liaison.model.scalars import scalar
from liaison.spatial import number

from .friction import friction_of
from .one_sided import OneSided, Scoped, check_restitution


@final
@dataclass(frozen=True, slots=True, repr=False)
class Unilateral(OneSided, Brief):
    """A formula that never becomes positive: Φ(q, t) ≤ 0, or W(q, t) q̇ + h(q, t) ≤ 0."""

    name: str
    formula: Any
    restitution: Any = 0  # of positions: the part of the speed of approach that is given back
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "unilateral"
    SCALARS: ClassVar[tuple[str, ...]] = ("formula", "restitution")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("restitution",)

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        check_restitution(self.restitution, f"unilateral '{self.name}'", self.place)

    def scoped(self) -> Iterator[Scoped]:
        yield "motion", (self.formula,)
        yield "time", (self.restitution,)

    def rates(self) -> tuple[Any, ...]:
        return (self.formula,)


@checked
def at_most(name: str, formula: Any, *, restitution: Any = 0) -> Unilateral:
    """A formula that never becomes positive: of positions, or linear in the rates.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> stop = liaison.at_most("stop", liaison.coordinate(A) - 1, restitution=0.5)
        >>> m = liaison.mechanism(A, stop, liaison.start(A, 0.9, 1.0))
        >>> [x.what for x in liaison.simulate(m, until=0.2).events]
        ['impact']
    """
    return Unilateral(name, formula, restitution, line_here())


@checked
def stops(
    on: str | Joint,
    lower: Any = None,
    upper: Any = None,
    *,
    restitution: Any = 0,
    name: str = "",
    place: Place | None = None,
) -> tuple[Unilateral, ...]:
    """Stops at the ends of a coordinate's range: lower ≤ q ≤ upper.

    Args:
        on: a joint of one coordinate, or the label of a coordinate.
        lower: least value [rad or m]; None: no stop there.
        upper: greatest value; None likewise.
        restitution: the part of the speed that is given back, 0 … 1.
        name: by default the coordinate; the stops are called "NAME lower stop", "NAME upper stop".
        place: where the author said it.

    Raises:
        ModelError: the lower end is above the upper, or they are one.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.stops(A, -1, 1), liaison.start(A, 0.9, 1.0))
        >>> [x.what for x in liaison.simulate(m, until=0.2).events]
        ['impact', 'closes']
    """
    label, where = label_of(on), place or line_here()
    ends = [None if x is None else scalar(x, f"a stop of {label!r}", where) for x in (lower, upper)]
    low, high = (None if x is None else number(x) for x in ends)
    if low is not None and high is not None and low >= high:
        what = "held at" if low == high else "between the stops"
        raise ModelError(
            f"coordinate {label!r} would be {what} {low:g} and {high:g}; the lower stop must be "
            "below the upper.",
            place=where,
            hint="Impose a constant motion to hold it." if low == high else "Exchange them.",
        )
    q, called = symbol(label), name or label
    sides = zip(("lower", "upper"), ends, (-1, 1), strict=True)
    return tuple(
        Unilateral(f"{called} {side} stop", (q - end) * sign, restitution, where)
        for side, end, sign in sides
        if end is not None
    )


@final
@dataclass(frozen=True, slots=True, repr=False)
class GapContact(OneSided, Brief):
    """A contact defined by formulas: a gap that stays ≥ 0, and the slip where it touches, as rates.

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
        slips = tuple(scalar(x, f"a slip of {owner}", self.place) for x in self.slips)
        object.__setattr__(self, "slips", slips)
        object.__setattr__(self, "friction", friction_of(self.friction, owner, self.place))
        check_restitution(self.restitution, owner, self.place)
        self._check_slips(owner)

    def _check_slips(self, owner: str) -> None:
        if len(self.slips) > 2:
            message = f"{owner} has {len(self.slips)} slips; a surface has two directions at most."
            raise ModelError(message, place=self.place)
        slides = self.friction.resists("sliding", "viscous")
        if slides and not self.slips:
            message = f"{owner} has friction but no slip; give the rate at which it slips."
            raise ModelError(message, place=self.place)
        if any(self.friction.resists(x, f"viscous_{x}") for x in ("rolling", "pivoting")):
            raise ModelError(
                f"{owner} is defined by formulas, which do not describe rolling and pivoting; "
                "define it by frames.",
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


@checked
def touch(name: str, gap: Any, *slips: Any, friction: Any = 0, restitution: Any = 0) -> GapContact:
    """A contact defined by formulas: a gap that stays ≥ 0, and the rates at which it slips.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> wall = liaison.touch("wall", 1 - liaison.coordinate(A), restitution=0.5)
        >>> m = liaison.mechanism(A, wall, liaison.start(A, 0.9, 1.0))
        >>> [x.what for x in liaison.simulate(m, until=0.2).events]
        ['impact']
    """
    return GapContact(name, gap, slips, friction, restitution, line_here())
