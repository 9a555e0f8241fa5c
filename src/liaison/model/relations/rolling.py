"""A wheel or a ball that rolls on a plane without slip, as formulas of the relative pose.

Seen from the plane's marker, with the center at p, the axis a of the disc and the arm ρ from the
center to the lowest point of the rim,

    ρ = r (a_z a − e_z)/√(1 − a_z²)   (of a ball ρ = −r e_z),                    (rolling-1)

the point touches, p_z + ρ_z = 0, and does not slip, e_k · (ṗ + ω × ρ) = 0 for k = x, y.

Public names: Rolling, rolling.

Source: docs/theory/closures.md (rolling-1).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import as_expr, sqrt
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Marker
from liaison.model.places import line_here, marker_of
from liaison.model.records import Body
from liaison.spatial import number
from liaison.spatial.arrays import Array, array, cross, identity

from .relation import BetweenFrames, Constraint, PoseRow, Read, relation_kind


@relation_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Rolling(BetweenFrames, Brief):
    """A wheel or a ball that rolls on a plane and does not slip (roulement sans glissement).

    The origin of `wheel` is its center, z of a disc its axis; z of `plane` is the plane's normal,
    on the side where the wheel is. It touches, and the point of it that touches does not slip: one
    relation of positions, two of velocities.
    """

    name: str
    wheel: Marker
    radius: Any  # [m]
    plane: Marker
    kind: str = "disc"  # with a sharp edge, or "ball"
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "rolling"
    PYTHON: ClassVar[str] = "rolling"
    SYMBOL: ClassVar[str] = "wheel"
    COMPONENTS: ClassVar[tuple[str, str, str]] = ("slip along x", "slip along y", "contact")
    SCALARS: ClassVar[tuple[str, ...]] = ("radius",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("radius",)
    QUANTITIES: ClassVar[tuple[Property, ...]] = (Property("radius", "m"),)
    ROWS: ClassVar[int] = 3

    def __post_init__(self) -> None:
        radius = number(self.radius)
        if radius is not None and not radius > 0:
            raise ModelError(
                f"the radius of rolling '{self.name}' is {radius:g} m; it must be positive.",
                place=self.place,
            )
        Constraint.__post_init__(self)
        if self.kind not in ("disc", "ball"):
            raise ModelError(
                f"rolling '{self.name}' is of a {self.kind!r}; it must be of a disc or a ball.",
                place=self.place,
            )
        if self.wheel.body == self.plane.body:
            raise ModelError(
                f"rolling '{self.name}' is of body '{self.wheel.body}' on itself.", place=self.place
            )

    def markers(self) -> tuple[Marker, ...]:
        return (self.wheel, self.plane)

    def frames(self) -> tuple[Marker, Marker]:
        return self.plane, self.wheel

    def rows(self, R: Array, p: Array, read: Read) -> Sequence[PoseRow]:
        rho = self.arm(R, read)
        rows = [PoseRow("contact", as_expr(p[2] + rho[2]))]
        for word, axis in zip(("slip along x", "slip along y"), identity()[:2], strict=True):
            turn = tuple(as_expr(x) for x in cross(rho, axis))
            rows.append(PoseRow(word, None, turn, tuple(as_expr(x) for x in axis)))
        return rows

    def arm(self, R: Array, read: Read) -> Array:
        radius = read(self.radius)
        if self.kind == "ball":
            return array([0, 0, -radius])
        x, y, z = R[:, 2]
        level = as_expr(sqrt(x * x + y * y))
        return array([radius * z * x / level, radius * z * y / level, -(radius * level)])


@checked
def rolling(
    wheel: Body | Marker, plane: Body | Marker, radius: Any, *, kind: str = "disc", name: str = ""
) -> Rolling:
    """A disc (about z of its marker) or a ball that rolls on the plane z = 0 of a marker.

    Example:
        >>> import liaison
        >>> disc = liaison.body("disc", mass=1, inertia=(0.1, 0.1, 0.2))
        >>> J = liaison.join(liaison.ground, disc, "free", name="J")
        >>> m = liaison.mechanism(J, liaison.rolling(disc, liaison.ground, 0.3))
        >>> len(m.constraints)
        1
    """
    a, b = marker_of(wheel), marker_of(plane)
    return Rolling(name or f"rolling {a.body}-{b.body}", a, radius, b, kind, line_here())
