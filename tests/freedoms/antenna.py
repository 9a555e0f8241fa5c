"""Antenna meshes: triangles of folding sides, in the plane x + y + z = 0 where 120° is rational."""

from fractions import Fraction as F
from itertools import pairwise
from typing import Any

UP = (1, 1, 1)


def _cross(a: Any, b: Any) -> tuple[Any, ...]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _side(a: Any, b: Any) -> list[dict[str, Any]]:
    """Three parallel hinges: near a, in the middle and lowered, near b."""
    along = tuple(y - x for x, y in zip(a, b, strict=True))
    d = _cross(UP, along)
    places = [
        tuple(x + F(k, 4) * l - drop * u for x, l, u in zip(a, along, UP, strict=True))
        for k, drop in ((1, 0), (2, F(1, 3)), (3, 0))
    ]
    return [{"type": "revolute", "direction": d, "point": place} for place in places]


def patch(triangles: int) -> dict[str, Any]:
    """Triangles around a common vertex, neighbours sharing a side; six close the hexagon."""
    e, f = (2, -2, 0), (0, 2, -2)  # two sides of a triangle, 120° apart
    ring = [e, (2, 0, -2), f, (-2, 2, 0), (-2, 0, 2), (0, -2, 2)]
    center = (0, 0, 0)
    closed = triangles == 6
    rim = ring if closed else ring[: triangles + 1]
    joints: list[dict[str, Any]] = []
    spokes = []
    for corner in rim:
        spokes.append(range(len(joints), len(joints) + 3))
        joints += _side(center, corner)
    loops = []
    pairs = list(pairwise(range(len(rim)))) + ([(5, 0)] if closed else [])
    for i, j in pairs:
        outer = range(len(joints), len(joints) + 3)
        joints += _side(rim[i], rim[j])
        out = [[k, 1] for k in (*spokes[i], *outer)]
        loops.append(out + [[k, -1] for k in reversed(spokes[j])])
    return {"id": f"patch of {triangles}", "joints": joints, "loops": loops}
