"""Uniform gravity.

Public names: Gravity, gravity.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import Place
from liaison.model.kinds import Property
from liaison.model.places import line_here
from liaison.model.scalars import Triple, triple
from liaison.spatial import Array, array

from .load import Field, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True)
class Gravity(Field):
    """Uniform gravity [m/s²], in ground's axes."""

    vector: Triple = (0, 0, Fraction(-981, 100))
    name: str = "gravity"
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "gravity"
    LSD: ClassVar[str] = "gravity"
    PYTHON: ClassVar[str] = "gravity"
    SYMBOL: ClassVar[str] = "field"
    SCOPE: ClassVar[str] = "parameters"
    KEEPS_ENERGY: ClassVar[bool] = True
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("value", "m/s^2", field="vector", vector=True),
    )
    TRIPLES: ClassVar[tuple[str, ...]] = ("vector",)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "vector", triple(self.vector, "gravity", self.place, self.unit_of("vector"))
        )

    def formulas(self) -> tuple[Any, ...]:
        return self.vector

    @property
    def acceleration(self) -> Array:
        """The vector as an array."""
        return array(self.vector)


@checked
def gravity(*vector: Any) -> Gravity:
    """Uniform gravity: three components, or nothing for 9.81 m/s² along −z.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.gravity(0, 0, -9.81))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-9.406329])
    """
    components = vector[0] if len(vector) == 1 else vector
    return Gravity(components, place=line_here()) if vector else Gravity(place=line_here())
