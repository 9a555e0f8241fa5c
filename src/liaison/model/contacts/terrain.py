"""Height fields that are touched: surfaces of triangles over a grid, the solid below them.

Where a body touches is found by compiled loops, as of two convex bodies: its corners above
triangles, peaks below its faces, ridges across its edges, up to eight at once.

Public names: Terrain.

Source: docs/theory/convex.md (field-1), (convex-4).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from typing import Any, ClassVar, final

from liaison.model.kinds import Property
from liaison.model.shapes import terrain_of

from .hull import slots
from .shape import ContactTarget, Core, Sizes, target_kind, touching


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
