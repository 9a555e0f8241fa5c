"""Friction in a joint that is smooth: viscous, and dry friction that creeps below a small speed.

Friction that holds at rest is in contacts/joint_friction.py.

Public names: JointFriction, friction.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import as_expr, sqrt
from liaison.lazy import Brief
from liaison.model.contacts.joint_friction import DryFriction
from liaison.model.kinds import Property
from liaison.model.markers import Coordinate, Measure
from liaison.model.places import label_of, line_here
from liaison.model.records import Joint
from liaison.spatial import number

from .load import AlongMeasure, Force, Read, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class JointFriction(AlongMeasure, Brief):
    """Friction against the rate of a coordinate: viscous, and dry (frottement sec) smoothed.

    effort = −viscous v − dry v/√(v² + smoothing²): below the smoothing speed the joint creeps.
    """

    name: str
    coordinate: str
    viscous: Any = 0  # [N·s/m] or [N·m·s/rad]
    dry: Any = 0  # [N] or [N·m]
    smoothing: Any = Fraction(1, 1000)  # [m/s] or [rad/s]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "friction"
    LSD: ClassVar[str] = "friction"
    PYTHON: ClassVar[str] = "friction"
    SYMBOL: ClassVar[str] = "none"
    ON: ClassVar[str] = "coordinate"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("viscous", "N*s/m", "N*m*s/rad", optional=True),
        Property("dry", "N", "N*m", optional=True),
        Property("smoothing", "m/s", "rad/s", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = ("viscous", "dry", "smoothing")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("viscous", "dry", "smoothing")

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        if not self.has_texts() and number(self.smoothing) == 0:
            raise ModelError(
                f"the smoothing of friction '{self.name}' is 0; it must be a positive speed.",
                place=self.place,
            )

    def along(self) -> Measure:
        return Coordinate(self.coordinate)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        speed, slow = as_expr(rate), read(self.smoothing)
        side = speed / sqrt(speed * speed + slow * slow)
        return -(read(self.viscous) * speed + read(self.dry) * side)


@checked
def friction(
    on: str | Joint,
    *,
    viscous: Any = 0,
    dry: Any = None,
    static: Any = None,
    smoothing: Any = None,
    name: str = "",
) -> JointFriction | DryFriction:
    """Friction in a joint: smoothed, or held at rest where `static` is given or `smoothing` is 0.

    Dry and static friction in N or N·m, the latter at rest; smoothing is the speed below which dry
    friction creeps.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.friction(A, viscous=0.1, dry=0.05, smoothing=0.01))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-0.999998])
    """
    label = label_of(on)
    word, here = name or f"friction {label}", line_here()
    if static is not None and dry is None:
        message = f"friction '{word}' has a static part, but no dry part in motion; give both."
        raise ModelError(message, place=here)
    dry = 0 if dry is None else dry
    if static is not None or smoothing == 0:
        return DryFriction(word, label, dry, static, viscous, place=here)
    options = {} if smoothing is None else {"smoothing": smoothing}
    return JointFriction(word, label, viscous, dry, place=here, **options)
