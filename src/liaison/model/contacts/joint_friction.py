"""Dry friction that holds a joint at rest: by a bound of its own, or by what the joint carries.

`JointFriction` of loads/friction.py is smooth and creeps; these stick and slip exactly.

Public names: DryFriction, BearingFriction, bearing.

Source: LL 1.5.1 (friction on the free components of ball, pivot and slider), LL 3.2.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.places import line_here
from liaison.model.records import Joint

from .friction import LAWS, check_speed, not_less_at_rest
from .one_sided import OneSided, Scoped


class _Dry(OneSided):
    """What both share: a law, and what holds at rest."""

    __slots__ = ()

    WORD: ClassVar[str] = "friction"
    OPTIONAL: ClassVar[tuple[str, ...]] = ("static", "radius")
    MOVING: ClassVar[str] = "dry"  # the field of the friction in motion

    law: str
    speed: Any
    static: Any

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        owner = f"friction '{self.name}'"
        if self.law not in LAWS:
            message = f"the law of {owner} is {self.law!r}; it must be one of {', '.join(LAWS)}."
            raise ModelError(message, place=self.place)
        if self.has_texts():
            return
        check_speed(self.law, 1, self.speed, "speed", owner, self.place)
        moving = getattr(self, self.MOVING)
        word = "dry part" if self.MOVING == "dry" else self.MOVING
        not_less_at_rest(moving, self.static, word, owner, self.place)


@final
@dataclass(frozen=True, slots=True, repr=False)
class DryFriction(_Dry, Brief):
    """Friction against the rate of a coordinate that holds it where it can (frottement sec).

    |effort| ≤ static at rest, −dry · sign of the rate − viscous · rate in motion; the bounds may be
    formulas, of time as those of a brake.
    """

    name: str
    coordinate: str
    dry: Any = 0  # [N] or [N·m]
    static: Any = None  # at rest; None: as in motion
    viscous: Any = 0  # [N·s/m] or [N·m·s/rad]
    law: str = "coulomb"  # or "stribeck", "regularized"
    speed: Any = 0  # of the law [m/s] or [rad/s]
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("dry", "static", "viscous", "speed")
    QUANTITIES: ClassVar[tuple[Property, ...]] = (
        Property("dry", "N", "N*m"),
        Property("static", "N", "N*m"),
        Property("viscous", "N*s/m", "N*m*s/rad"),
        Property("speed", "m/s", "rad/s"),
    )
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = SCALARS

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def scoped(self) -> Iterator[Scoped]:
        yield "anything", self.formulas()


@final
@dataclass(frozen=True, slots=True, repr=False)
class BearingFriction(_Dry, Brief):
    """Friction in a pivot, a ball or a slider that grows with the force R it carries.

    A pivot and a ball feel the torque coefficient · radius · ‖R‖, a slider coefficient · ‖R‖.
    """

    name: str
    joint: str
    coefficient: Any = 0  # f
    static: Any = None  # f₀ at rest; None: as in motion
    radius: Any = None  # of the bearing or the ball [m]; a slider has none
    law: str = "coulomb"
    speed: Any = 0  # of the law [m/s] or [rad/s]
    place: Place | None = field(default=None, compare=False, repr=False)

    MOVING: ClassVar[str] = "coefficient"
    SCALARS: ClassVar[tuple[str, ...]] = ("coefficient", "static", "radius", "speed")
    QUANTITIES: ClassVar[tuple[Property, ...]] = (Property("radius", "m"),)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = SCALARS


@checked
def bearing(
    of: str | Joint, coefficient: Any, *, radius: Any = None, static: Any = None, name: str = ""
) -> BearingFriction:
    """Friction of a pivot or a ball (with its radius) or of a slider that grows with its load.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> liaison.bearing(A, 0.1, radius="1 cm").joint
        'A'
    """
    joint = of if isinstance(of, str) else of.name
    word = name or f"bearing {joint}"
    return BearingFriction(word, joint, coefficient, static, radius, place=line_here())
