"""Contact targets: planes, balls, rods, drums, surfaces, profiles, blocks, edges, curves.

Public names: SURFACE, PROFILE, CURVE, Plane, Ball, HollowBall, Rod, Tube, Surface, Profile, Block,
Edge, Curve, Drum.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.expr import symbol
from liaison.model.kinds import Property
from liaison.spatial import is_zero, number

from .shape import ContactTarget, Core, Sizes, corners, target_kind

SURFACE = (symbol("'x"), symbol("'y"))
"""x and y of the second frame, in the formula of a surface z = h(x, y).

Example:
    >>> import liaison
    >>> x, y = liaison.SURFACE
    >>> type(0.1 * x * y).__name__
    'Expr'
"""
PROFILE = symbol("'angle")
"""The angle about z of the second frame, from its x, in the formula of a profile ϱ(angle).

Example:
    >>> import liaison
    >>> rho = 0.1 + 0.02 * liaison.cos(2 * liaison.PROFILE)
    >>> type(rho).__name__
    'Expr'
"""
CURVE = symbol("'s")
"""The parameter of a curve x(s), y(s).

Example:
    >>> import liaison
    >>> bowl = 0.5 * liaison.cos(liaison.CURVE)
    >>> type(bowl).__name__
    'Expr'
"""


@target_kind
@final
class Plane(ContactTarget):
    """The plane z = 0."""

    WORD: ClassVar[str] = "plane"
    SYMBOL: ClassVar[str] = "plane"


@target_kind
@final
class Ball(ContactTarget):
    """A ball about the origin, touched from outside."""

    WORD: ClassVar[str] = "ball"
    SYMBOL: ClassVar[str] = "sphere"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("outside", "m"),)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        check_room(one, "outside")

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(((0, 0, 0),), sizes("outside"))


@target_kind
@final
class HollowBall(ContactTarget):
    """A hollow ball about the origin, touched from inside."""

    WORD: ClassVar[str] = "hollow ball"
    SYMBOL: ClassVar[str] = "hollow"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("inside", "m"),)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        check_room(one, "inside", number(one.radius) or 0)


@target_kind
@final
class Surface(ContactTarget):
    """A surface z = h(x, y)."""

    WORD: ClassVar[str] = "surface"
    SYMBOL: ClassVar[str] = "surface"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("surface", "m"),)


@target_kind
@final
class Profile(ContactTarget):
    """A profile ϱ(angle) about z."""

    WORD: ClassVar[str] = "profile"
    SYMBOL: ClassVar[str] = "cam"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("profile", "m"),)


@target_kind
@final
class Block(ContactTarget):
    """A block about the origin, by its sides."""

    WORD: ClassVar[str] = "block"
    SYMBOL: ClassVar[str] = "box"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("block", "m", vector=True),)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        if sum(map(is_zero, one.block)) > 1 or any((number(x) or 0) < 0 for x in one.block):
            message = f"the block of contact '{one.name}' is {written(one.block)} m; "
            message += "no side may be negative, and one alone may be 0."
            raise ModelError(message, place=one.place)

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        sides = sizes.halves("block")
        if not all(x > 0 for x in sides):
            one = sizes.contact
            raise ModelError(
                f"the block of contact '{one.name}' is {written(one.block)} m; only points, balls "
                "and boxes touch one that is flat.",
                place=one.place,
                hint="Give it some thickness.",
            )
        return Core(tuple(map(tuple, corners(sides))))


@target_kind
@final
class Edge(ContactTarget):
    """An edge along z about the origin; x points out of its body."""

    WORD: ClassVar[str] = "edge"
    SYMBOL: ClassVar[str] = "edge"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("edge", "m"),)

    @classmethod
    def check(cls, one: Any) -> None:
        check_room(one, "edge")


@target_kind
@final
class Curve(ContactTarget):
    """A curve x(s), y(s) that goes on along z, for s within a span."""

    WORD: ClassVar[str] = "curve"
    SYMBOL: ClassVar[str] = "ribbon"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("curve", "m"), Property("span", "rad"))


@target_kind
@final
class Rod(ContactTarget):
    """A rod along z with round ends, touched from outside."""

    WORD: ClassVar[str] = "rod"
    SYMBOL: ClassVar[str] = "capsule"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("outside", "m"), Property("along", "m"))
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        check_room(one, "along")

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        half = sizes("along") / 2
        return Core(((0, 0, -half), (0, 0, half)), sizes("outside"))


@target_kind
@final
class Tube(ContactTarget):
    """A hollow rod along z, touched from inside."""

    WORD: ClassVar[str] = "tube"
    SYMBOL: ClassVar[str] = "hollow"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("inside", "m"), Property("along", "m"))
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        check_room(one, "along")


@target_kind
@final
class Drum(ContactTarget):
    """A cylinder along z with flat ends, touched from outside."""

    WORD: ClassVar[str] = "drum"
    SYMBOL: ClassVar[str] = "cylinder"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("drum", "m"), Property("height", "m"))
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        if one.value_of("height") is None:
            message = f"contact '{one.name}' has a drum, but not its height."
            raise ModelError(message, place=one.place, hint="Give drum = RADIUS, height = LENGTH.")
        for key in ("drum", "height"):
            check_room(one, key)

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(disc=sizes("drum"), half=sizes("height") / 2)


def check_room(one: Any, key: str, least: float = 0) -> None:
    """Rejects a length of a target that is not larger than what has to fit."""
    size = number(one.value_of(key))
    if size is not None and not size > least:
        why = f"larger than {least:g} m, the radius inside" if least else "positive"
        raise ModelError(
            f"the {key} of contact '{one.name}' is {size:g} m; it must be {why}.",
            place=one.place,
        )


def written(value: Any) -> str:
    """Numbers of a size, for a message."""
    entries = value if isinstance(value, tuple) else (value,)
    texts = [f"{size:g}" if (size := number(x)) is not None else "…" for x in entries]
    return f"[{', '.join(texts)}]" if isinstance(value, tuple) else texts[0]
