"""Layout of height fields, and the workspace in which places on them are gathered.

Public names: Field, Fields, Found, fields_of, ROOM, NUMBERS.

Source: docs/theory/convex.md, height fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from liaison.numeric.height_fields import HeightGrid
from liaison.program.loops.language import f64, i64, iptr, ptr
from liaison.program.loops.records import Record, Rows, inline, rows, size, sized

ROOM = 128
"""Places that are gathered at most; of more, the lowest."""
NUMBERS = 16
"""Numbers of a place that was found: n, a, b, the spot, radius, gap, key, owner."""


@final
class Field(Record):
    """A grid of heights: columns along x, rows along y, both by their points."""

    columns: i64
    rows: i64
    dx: f64
    dy: f64
    x: f64  # of the first column
    y: f64
    low: f64
    high: f64
    first: i64  # height
    first_plane: i64  # of two triangles to a cell


@final
class Fields(Record):
    """All height fields of a run."""

    grids: i64 = size()
    heights: i64 = size()
    triangles: i64 = size()
    field: Rows[Field] = rows("grids")
    height: ptr = sized("heights")
    plane: iptr = sized("triangles")  # the same number where neighbours lie in one plane


@final
class Found(Record):
    """The places that a body has on a field, and what is worked in."""

    count: i64
    number: ptr = inline(ROOM, NUMBERS)
    chosen: iptr = inline(8)
    # the body, seen from the field
    center: ptr = inline(3)
    reach: f64
    margin: f64
    corner: ptr = inline(256, 3)
    # a triangle of the field: its corners and its normal
    triangle: ptr = inline(9)
    normal: ptr = inline(3)
    other: ptr = inline(9)
    # points and directions
    near: ptr = inline(3)
    again: ptr = inline(3)
    n: ptr = inline(3)
    spot: ptr = inline(3)
    one: ptr = inline(3)
    two: ptr = inline(3)
    three: ptr = inline(3)
    four: ptr = inline(3)
    least: f64


def fields_of(grids: Sequence[HeightGrid]) -> Fields:
    """The block of these height fields."""
    block = Fields.new(
        grids=len(grids), heights=sum(x.heights.size for x in grids),
        triangles=sum(x.planes.size for x in grids),
    )  # fmt: skip
    height = plane = 0
    for grid, field in zip(grids, block.field, strict=True):
        field.rows, field.columns = grid.heights.shape
        field.dx, field.dy = grid.x / (field.columns - 1), grid.y / (field.rows - 1)
        field.x, field.y = -grid.x / 2, -grid.y / 2
        field.low, field.high = float(grid.heights.min()), float(grid.heights.max())
        field.first, field.first_plane = height, plane
        block.height[height : height + grid.heights.size] = grid.heights.ravel()
        block.plane[plane : plane + grid.planes.size] = grid.planes.ravel()
        height, plane = height + grid.heights.size, plane + grid.planes.size
    return block
