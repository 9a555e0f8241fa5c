"""Height fields: grids of heights over a rectangle, from numbers and from files of numbers.

Each cell is two triangles, parted by the diagonal from its corner of least x and y. Neighbouring
triangles of one plane have the same number, so that a body that goes from one to the other stays
where it is.

A text has a row of heights in each line, that of the least y first; a PNG is the field as seen
from above, grey, of 8 or 16 bits, not interlaced: black is 0 and white 1.

Public names: HeightGrid, checked_heights, read_heights, png_heights, MOST_HEIGHTS.

Source: docs/theory/convex.md, height fields; PNG 1.2 §2 to §6.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ModelError

from .state import Array

Bytes = NDArray[np.uint8]
MOST_HEIGHTS = 4_000_000
"""Heights of a field at most."""
MOST_BYTES = 64 * 2**20
FLAT = 1e-12
"""Sine of the angle by which two triangles of one plane may differ."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"


@final
@dataclass(frozen=True, slots=True, eq=False)
class HeightGrid:
    """Heights over a rectangle about the origin.

    Attributes:
        x: side along x [m].
        y: side along y [m].
        heights: rows along y, columns along x, shape (m, n) [m].
        planes: number of the plane of both triangles of each cell, shape (m − 1, n − 1, 2).
        scale: by which the heights were multiplied.
    """

    x: float
    y: float
    heights: Array
    planes: NDArray[np.int64]
    scale: float = 1.0

    @classmethod
    def of(cls, x: float, y: float, heights: Array, scale: float = 1.0) -> HeightGrid:
        """The grid of heights times a scale, with its planes."""
        scaled = heights * scale
        return cls(x, y, scaled, _planes(x, y, scaled), scale)

    def is_of(self, x: float, y: float, scale: float) -> bool:
        """Whether it has these sides and this scale."""
        return (self.x, self.y, self.scale) == (x, y, scale)

    def vertices(self) -> Array:
        """Corners, row by row, shape (m n, 3) [m]."""
        rows, columns = self.heights.shape
        x, y = np.meshgrid(
            np.linspace(-self.x / 2, self.x / 2, columns),
            np.linspace(-self.y / 2, self.y / 2, rows),
        )
        return np.stack([x.ravel(), y.ravel(), self.heights.ravel()], axis=1)

    def triangles(self) -> NDArray[np.int64]:
        """Corners of both triangles of every cell, upwards, shape (2 (m − 1)(n − 1), 3)."""
        rows, columns = self.heights.shape
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        lower = np.stack([first, first + 1, first + columns + 1], axis=1)
        upper = np.stack([first, first + columns + 1, first + columns], axis=1)
        return np.concatenate([lower, upper])


def _planes(x: float, y: float, heights: Array) -> NDArray[np.int64]:
    """Numbers of planes: neighbours that lie in one have the same."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = heights.shape
    dx, dy = x / (columns - 1), y / (rows - 1)
    slope = np.empty((rows - 1, columns - 1, 2, 2))
    along, across = np.diff(heights, axis=1) / dx, np.diff(heights, axis=0) / dy
    slope[..., 0, :] = np.stack([along[:-1], across[:, 1:]], axis=-1)  # below the diagonal
    slope[..., 1, :] = np.stack([along[1:], across[:, :-1]], axis=-1)  # above it
    number = np.arange(slope[..., 0].size).reshape(slope.shape[:3])
    # across the diagonal, along x and along y
    sides = [
        (np.s_[:, :, 0], np.s_[:, :, 1]),
        (np.s_[:, :-1, 0], np.s_[:, 1:, 1]),
        (np.s_[1:, :, 0], np.s_[:-1, :, 1]),
    ]
    links = []
    for one, other in sides:
        steep = 1 + np.abs(slope[one]).max(axis=-1)
        is_flat = np.abs(slope[one] - slope[other]).max(axis=-1) <= FLAT * steep
        links.append(np.stack([number[one][is_flat], number[other][is_flat]]))
    a, b = np.concatenate(links, axis=1)
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(number.size, number.size))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels, dtype=np.int64).reshape(number.shape)


def checked_heights(rows: Any) -> Array:
    """Rows of heights as an array.

    Raises:
        ModelError: fewer than two rows or columns, too many, or what is not finite.
    """
    if len({len(row) for row in rows}) > 1:
        raise ModelError("the rows of a height field have different lengths.")
    heights = np.array([[float(x) for x in row] for row in rows], dtype=float)
    if heights.ndim != 2 or min(heights.shape) < 2:
        shape = " x ".join(map(str, heights.shape))
        raise ModelError(
            f"a height field has {shape} heights; it takes two rows of two heights or more.",
            hint="Give heights = [[…], […]], a row for each y.",
        )
    if heights.size > MOST_HEIGHTS:
        raise ModelError(f"a height field has {heights.size} heights; the limit is {MOST_HEIGHTS}.")
    if not np.isfinite(heights).all():
        j, i = np.argwhere(~np.isfinite(heights))[0]
        raise ModelError(f"height {i + 1} in row {j + 1} of a height field is {heights[j, i]}.")
    return heights


def read_heights(path: str | Path) -> Array:
    """Heights of a file: a text of rows of numbers, or a grey PNG (0 … 1), rows along y.

    Raises:
        ModelError: no such file, or none of heights.
    """
    file = Path(path)
    owner = f"the height field {file.name!r}"
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ModelError(f"{owner} has more than {MOST_BYTES >> 20} MiB.")
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"{owner} cannot be read: {error.strerror}.") from None
    if file.suffix.lower() == ".png":
        return png_heights(data, owner)
    if file.suffix.lower() not in (".txt", ".csv", ".dat"):
        raise ModelError(
            f"{owner} is of no known kind.",
            hint="Give a .txt or .csv of rows of numbers, or a grey .png.",
        )
    return _text_heights(data, owner)


def _text_heights(data: bytes, owner: str) -> Array:
    try:
        lines = data.decode("utf-8").replace(",", " ").replace(";", " ").splitlines()
        listed = [[float(x) for x in line.split()] for line in lines if line.strip()]
    except (UnicodeDecodeError, ValueError) as error:
        raise ModelError(f"{owner} has what is no number: {error}.") from None
    if len({len(row) for row in listed}) > 1:
        raise ModelError(f"{owner} has rows of different lengths.")
    return np.array(listed, dtype=float)


def png_heights(data: bytes, owner: str) -> Array:
    """Heights 0 … 1 of a grey PNG, its lowest row first.

    Raises:
        ModelError: no such picture.
    """
    try:
        width, height, depth, packed = _png_parts(data, owner)
        count = depth // 8
        stride = width * count
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(packed, height * (stride + 1))
    except (struct.error, zlib.error, IndexError) as error:
        raise ModelError(f"{owner} is a damaged PNG: {error}.") from None
    if len(raw) != height * (stride + 1):
        raise ModelError(f"{owner} is a damaged PNG: its data end early.")
    lines = np.frombuffer(raw, dtype=np.uint8).reshape(height, stride + 1)
    rows = np.zeros((height + 1, stride), dtype=np.uint8)
    for k in range(height):
        rows[k + 1] = _unfiltered(int(lines[k, 0]), lines[k, 1:], rows[k], count, owner)
    grey = rows[1:].reshape(height, width, count).astype(float)
    values = grey[..., 0] / 255 if count == 1 else (256 * grey[..., 0] + grey[..., 1]) / 65535
    return np.ascontiguousarray(values[::-1])


def _png_parts(data: bytes, owner: str) -> tuple[int, int, int, bytes]:
    """Width, height, bits and packed lines of a picture."""
    if not data.startswith(SIGNATURE):
        raise ModelError(f"{owner} is no PNG.")
    place, packed, header = len(SIGNATURE), [], b""
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        part = data[place + 8 : place + 8 + size]
        if len(part) < size:
            raise ModelError(f"{owner} is a damaged PNG: its data end early.")
        if kind == b"IHDR":
            header = part
        elif kind == b"IDAT":
            packed.append(part)
        elif kind == b"IEND":
            break
        place += 12 + size
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if color != 0 or depth not in (8, 16) or interlaced:
        raise ModelError(
            f"{owner} is a PNG of another kind.",
            hint="Save it in grey, with 8 or 16 bits, not interlaced.",
        )
    if not 4 <= width * height <= MOST_HEIGHTS:
        raise ModelError(f"{owner} has {width} x {height} points; {MOST_HEIGHTS} are the limit.")
    return width, height, depth, b"".join(packed)


def _unfiltered(kind: int, line: Bytes, above: Bytes, count: int, owner: str) -> Bytes:
    """A line of a PNG without its filter."""
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    if kind not in (1, 3, 4):
        raise ModelError(f"{owner} is a damaged PNG: filter {kind}.")
    out = line.astype(np.int64)
    up = above.astype(np.int64)
    for k in range(len(out)):
        left = int(out[k - count]) if k >= count else 0
        corner = int(up[k - count]) if k >= count else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + int(up[k])) // 2
        else:
            guess = _nearest(left, int(up[k]), corner)
        out[k] = (out[k] + guess) & 255
    return out.astype(np.uint8)


def _nearest(left: int, above: int, corner: int) -> int:
    """Paeth's choice: which of the three is nearest to left + above − corner."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda x: abs(guess - x))
