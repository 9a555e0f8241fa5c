"""Symbols of joints as data: simple solids at the predecessor's marker, drawn by the room `view`.

Lengths are in radii of a joint's pin, so that a symbol scales with the scene it stands in.

Public names: Tube, Ball, Block, Rail, Strut, Primitive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class Tube:
    """A cylinder about an axis of the marker."""

    radius: float = 1.0
    length: float = 4.5
    axis: str = "z"


@final
@dataclass(frozen=True, slots=True)
class Ball:
    """A sphere at the marker's origin."""

    radius: float = 1.5


@final
@dataclass(frozen=True, slots=True)
class Block:
    """A box along the marker's axes."""

    sides: tuple[float, float, float]
    opacity: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class Rail:
    """A thin rod along an axis of the marker, as long as the way of the successor on it."""

    axis: str = "z"


@final
@dataclass(frozen=True, slots=True)
class Strut:
    """A line from the predecessor's marker to the successor's."""


Primitive: TypeAlias = Tube | Ball | Block | Rail | Strut
