"""Many copies of one solid as one node of a viser scene: bodies of a crowd, dots and arrows.

A node for each would cost a message a picture each, and a drawing by itself.

Public names: Batch, Copies, Crowd, MarkBatches, is_plain, linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.simulation.record.resampling import quaternion_of

from .links import along
from .marks import IMPACT, MOMENT_COLOR, STATE_COLORS, Mark
from .solids import Color, Piece, Surface, cone, cube, globe, pillar

Array = NDArray[np.float64]

SHAFT, HEAD, HEAD_LENGTH = 0.011, 0.028, 0.075  # of arrows, in sizes of the scene
AGAIN = 0.8  # how far behind its first head the second of a moment stands, in heads
SWOLLEN = 1.7  # a dot at an impact
KINDS = {"sphere": globe(12, 18), "box": cube(), "cylinder": pillar()}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Where copies of a unit solid stand at one picture, each with a row."""

    position: Array
    wxyz: Array
    scale: Array
    color: Array  # red, green, blue as people see them, 0 to 255


@final
class Batch:
    """A node of copies; what does not change from picture to picture is not sent again."""

    def __init__(self, scene: Any, name: str, solid: Surface, first: Copies, **look: Any) -> None:
        self._now = self._told(first)
        self._handle = scene.add_batched_meshes_simple(
            name, solid.vertices, solid.faces, **self._now, lod="off",
            flat_shading=not solid.is_smooth, **look,
        )  # fmt: skip

    def show(self, copies: Copies) -> None:
        """The copies where they are at another picture."""
        for key, value in self._told(copies).items():
            if not np.array_equal(value, self._now[key]):
                setattr(self._handle, key, value)
                self._now[key] = value

    def _told(self, copies: Copies) -> dict[str, Any]:
        return {
            "batched_wxyzs": np.asarray(copies.wxyz, dtype=np.float32),
            "batched_positions": np.asarray(copies.position, dtype=np.float32),
            "batched_scales": np.asarray(copies.scale, dtype=np.float32),
            "batched_colors": linear(copies.color),
        }


def linear(color: Array | Sequence[Color] | Color) -> NDArray[np.uint8]:
    """Colors as viser's batches and arrows take them: intensities of light.

    The inverse of the transfer function of sRGB, as IEC 61966-2-1 defines it.
    """
    c = np.asarray(color, dtype=float) / 255
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.round(255 * light), dtype=np.uint8)


# Bodies of a crowd ------------------------------------------------------------------------------


@final
class Crowd:
    """All bodies made of plain solids, one node for each kind of solid."""

    def __init__(
        self,
        scene: Any,
        pieces: Mapping[str, Sequence[Piece]],
        poses: Mapping[str, Array],
        hits: Mapping[str, NDArray[np.bool_]],
    ) -> None:
        self._parts: list[tuple[Batch, list[tuple[str, Piece]]]] = []
        self._poses, self._hits = poses, hits
        for kind, solid in KINDS.items():
            mine = [(b, x) for b, found in pieces.items() for x in found if x.kind == kind]
            if mine:
                batch = Batch(scene, f"/bodies/{kind}", solid, self._copies(mine, 0))
                self._parts.append((batch, mine))

    def show(self, k: int) -> None:
        """All of them at picture k."""
        for batch, mine in self._parts:
            batch.show(self._copies(mine, k))

    def _copies(self, mine: list[tuple[str, Piece]], k: int) -> Copies:
        X = np.stack([self._poses[body][k] for body, _ in mine])
        R = np.stack([piece.R for _, piece in mine])
        p = np.stack([piece.p for _, piece in mine])
        return Copies(
            np.einsum("nij,nj->ni", X[..., :3], p) + X[..., 3],
            quaternion_of(np.ascontiguousarray(X[..., :3] @ R)),
            np.array([_sides(piece) for _, piece in mine]),
            np.array([self._color(body, piece, k) for body, piece in mine], dtype=float),
        )

    def _color(self, body: str, piece: Piece, k: int) -> Color:
        """Its own, tinged by that of an impact for a while after one."""
        if not self._hits[body][k]:
            return piece.color
        red, green, blue = (
            (a + 2 * b) // 3 for a, b in zip(piece.color, STATE_COLORS[IMPACT], strict=True)
        )
        return red, green, blue

    @property
    def is_struck(self) -> bool:
        """True if a body flashes at all."""
        return any(bool(np.any(x)) for x in self._hits.values())


def _sides(piece: Piece) -> tuple[float, ...]:
    """How a unit solid becomes a piece, along its three axes."""
    if piece.kind == "sphere":
        return piece.size * 3
    return piece.size if piece.kind == "box" else (piece.size[0], piece.size[0], piece.size[1])


def is_plain(pieces: Sequence[Piece]) -> bool:
    """True if a body can stand in a crowd."""
    return all(x.kind in KINDS and x.opacity == 1 for x in pieces)


# Dots and arrows --------------------------------------------------------------------------------


@final
class MarkBatches:
    """Places of contact as three nodes: dots, shafts of arrows and heads of arrows."""

    def __init__(self, scene: Any, path: str, found: Sequence[Mark], size: float) -> None:
        self.found, self._size = tuple(found), size
        self._colors = [m.colors() for m in found]
        self._turning = [m for m in found if np.any(m.moment)]
        solids = {"points": globe(8, 12), "shafts": pillar(), "heads": cone(1.0, 1.0)}
        self._batches = [
            Batch(scene, f"{path}/{name}", solid, copies, cast_shadow=False, receive_shadow=False)
            for (name, solid), copies in zip(solids.items(), self.at(0), strict=True)
        ]

    def show(self, k: int) -> None:
        """All of them at picture k."""
        for batch, copies in zip(self._batches, self.at(k), strict=True):
            batch.show(copies)

    def at(self, k: int) -> tuple[Copies, Copies, Copies]:
        """Dots, shafts and heads at picture k."""
        color = np.stack([colors[k] for colors in self._colors]).astype(float)
        radius = [m.radius * (SWOLLEN if m.is_hit[k] else 1.0) for m in self.found]
        point = np.stack([m.point[k] for m in self.found])
        dots = Copies(point, _upright(len(point)), np.array(radius)[:, None] * np.ones(3), color)
        shafts, heads = _arrows(point, np.stack([m.force[k] for m in self.found]), self._size)
        bars, tips = [(shafts, color)], [(heads, color)]
        if self._turning:
            start = np.stack([m.point[k] for m in self._turning])
            vector = np.stack([m.moment[k] for m in self._turning])
            shafts, heads = _arrows(start, vector, self._size)
            violet = np.tile(np.array(MOMENT_COLOR, dtype=float), (len(start), 1))
            bars, tips = [*bars, (shafts, violet)], [*tips, (heads, violet)]
            tips.append((_behind(heads, vector), violet))
        return dots, _joined(bars), _joined(tips)


Placed = tuple[Array, Array, Array]
"""Positions, attitudes and scales of copies."""


def _arrows(start: Array, vector: Array, size: float) -> tuple[Placed, Placed]:
    """Shafts and heads of arrows; those that are short have small heads, those of 0 nothing."""
    length = np.linalg.norm(vector, axis=1)
    way = vector / np.where(length > 0, length, 1.0)[:, None]
    head = np.minimum(HEAD_LENGTH * size, 0.5 * length)
    wide = head / HEAD_LENGTH
    bar = length - head
    shaft = np.stack([SHAFT * wide, SHAFT * wide, bar], axis=1)
    tip = np.stack([HEAD * wide, HEAD * wide, head], axis=1)
    turn = along(vector)
    return (start + way * bar[:, None] / 2, turn, shaft), (start + way * bar[:, None], turn, tip)


def _behind(heads: Placed, vector: Array) -> Placed:
    """Second heads."""
    position, turn, scale = heads
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    way = vector / np.where(length > 0, length, 1.0)
    return position - AGAIN * scale[:, 2:] * way, turn, scale


def _joined(parts: Sequence[tuple[Placed, Array]]) -> Copies:
    position, wxyz, scale = (
        np.concatenate(x) for x in zip(*(placed for placed, _ in parts), strict=True)
    )
    return Copies(position, wxyz, scale, np.concatenate([color for _, color in parts]))


def _upright(count: int) -> Array:
    return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
