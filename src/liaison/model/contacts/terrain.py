"""Height fields that are touched: surfaces of triangles over a grid, the solid below them.

Where a body touches is found by compiled loops, as of two convex bodies: its corners above
triangles, peaks below its faces, ridges across its edges, up to eight at once.

Public names: Terrain.

Source: docs/theory/convex.md (field-1), (convex-4).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.model.kinds import Property
from liaison.model.scalars import UPRIGHT
from liaison.model.shapes import HeightField

from .hull import slots
from .shape import ContactTarget, Core, Sizes, target_kind, touching


def terrain_of(value: Any, what: str, place: Place | None) -> HeightField:
    """A height field, upright at its frame.

    Raises:
        ModelError: something else, or one that is turned or moved.
    """
    if not isinstance(value, HeightField):
        message = f"{what} must be a height field, not a {type(value).__name__}."
        hint = "In LSD: height_field(size = [4, 4] m, heights = [[0, 0], [0, 1]] m), or a file."
        raise ModelError(message, place=place, hint=hint)
    if (value.R, value.p) != (UPRIGHT, (0, 0, 0)):
        message = f"{what} stands at the frame that is touched; it has no place of its own."
        raise ModelError(message, place=place, hint="Move the frame instead.")
    return value


@target_kind
@final
class Terrain(ContactTarget):
    """The surface of a height field; solid below it, nothing beside it."""

    WORD: ClassVar[str] = "height field"
    SYMBOL: ClassVar[str] = "terrain"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("terrain", "m", shape=terrain_of),)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        """What is wrong with its heights is an error where it is made."""

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(grid=sizes.contact.value_of("terrain").grid)


touching("ball capsule box cylinder hull", "height field", by_loops=True)(slots)
