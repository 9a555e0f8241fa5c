"""Height fields: as a plane where they are flat, solid where they are not, read and refused."""

from __future__ import annotations

import struct
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import LiaisonError, ModelError
from liaison.formats import read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.numeric.height_fields import png_heights, read_heights
from liaison.view.drawing import drawing

FLAT = li.HeightField(x=4, y=4, heights=np.zeros((41, 37)))
SLOPE = 0.2
TILTED = li.HeightField(x=4, y=4, heights=np.tile(SLOPE * np.linspace(-2, 2, 37), (41, 1)))
ROUGH = li.HeightField(x=3, y=3, heights=np.random.default_rng(1).uniform(0, 0.3, (16, 16)))
BRICK = li.Hull([*product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1))])
TABLE = li.Hull([*product((-3, 3), (-3, 3), (-0.5, 0))])
SIZES: dict[str, dict[str, Any]] = {
    "ball": {"radius": 0.1},
    "capsule": {"radius": 0.07, "length": 0.3},
    "box": {"size": (0.4, 0.3, 0.2)},
    "cylinder": {"radius": 0.1, "length": 0.2},
    "hull": {"points": BRICK},
}


MADE: dict[Any, Any] = {}
"""Mechanisms by what they are made of: each is derived and compiled once."""


def mechanism(kind: str, **options: Any) -> Any:
    key = (kind, *((word, id(x)) for word, x in sorted(options.items())))
    if key not in MADE:
        MADE[key] = (made(kind, **options), options)
    return MADE[key][0]


def made(kind: str, **options: Any) -> Any:
    body = li.body("b", mass=2, inertia=(0.01, 0.02, 0.03))
    free = li.join(li.ground, body, "free", name="F")
    sizes = {"friction": 0.3, "name": "floor", **SIZES[kind], **options}
    return li.mechanism(free, li.contact(body, li.ground, kind, **sizes), li.gravity((0, 0, -9.81)))


def run(one: Any, start: dict[str, float], until: float = 0.3, **options: Any) -> Any:
    return li.simulate(one, until=until, start=start, method="moreau", step=1e-3, **options)


def force(result: Any) -> float:
    """Of all contacts along their normals, at the end."""
    (names,) = result.series["contacts"].axes.values()
    rows = [k for k, x in enumerate(names) if "sliding" not in x]
    return float(result["contacts"][-1][rows].sum())


def height(field: li.HeightField, x: Any, y: Any) -> Any:
    """Of the surface, by its definition."""
    grid = field.grid
    rows, columns = grid.heights.shape
    s, t = (x / grid.x + 0.5) * (columns - 1), (y / grid.y + 0.5) * (rows - 1)
    i = np.clip(np.floor(s).astype(int), 0, columns - 2)
    j = np.clip(np.floor(t).astype(int), 0, rows - 2)
    a, b = grid.heights[j, i], grid.heights[j, i + 1]
    d, c = grid.heights[j + 1, i], grid.heights[j + 1, i + 1]
    s, t = s - i, t - j
    return np.where(s >= t, a + s * (b - a) + t * (c - b), a + t * (d - a) + s * (c - d))


def points_of(result: Any, samples: Any) -> Any:
    """Points of the body at all recorded states."""
    w, x, y, z = result.q[:, 3:].T
    o = np.zeros_like(w)
    turn = np.array([[o, -z, y], [z, o, -x], [-y, x, o]]).transpose(2, 0, 1)
    R = np.eye(3) + 2 * w[:, None, None] * turn + 2 * turn @ turn
    return np.einsum("nij,kj->nki", R, samples) + result.q[:, None, :3]


@pytest.mark.parametrize(
    ("kind", "low", "spin"), [("ball", 0.1, 7.0), ("capsule", 0.22, 3.0), ("box", 0.1, 0.0)]
)
def test_a_flat_field_of_many_cells_is_a_plane(kind: str, low: float, spin: float) -> None:
    """Nothing catches on inner edges: one second over some twenty cells."""
    start = {"F.z": low, "F.vx": 1.0, "F.vy": 0.31, "F.wx": spin}
    plane, field = (run(mechanism(kind, **x), start, 1) for x in ({}, {"terrain": FLAT}))
    assert np.abs(plane.q - field.q).max() < 1e-9
    assert field.meta["penetration"] < 1e-12


def test_a_cylinder_on_a_flat_field_moves_as_on_a_hull() -> None:
    half = np.sqrt(0.5)
    rolling = {"F.z": 0.1, "F.qw": half, "F.qx": half, "F.vx": 1.0, "F.wz": -10.0}
    for start in ({"F.z": 0.1, "F.vx": 1.0, "F.vy": 0.3}, rolling):
        hull, field = (
            run(mechanism("cylinder", **x), start, 0.15)
            for x in ({"hull": TABLE}, {"terrain": FLAT})
        )
        assert np.abs(hull.q - field.q).max() < 1e-9
        assert field.q[-1, 2] == pytest.approx(0.1, abs=1e-9)


def test_a_ball_rolls_down_a_tilted_field_as_down_a_tilted_plane() -> None:
    """Without slip: a = g sin α/(1 + I/(m r²)), with I/(m r²) = 1 about y."""
    angle = np.arctan(SLOPE)
    result = run(mechanism("ball", terrain=TILTED), {"F.z": 0.1 / np.cos(angle)}, 1)
    way = -0.5 * 9.81 * np.sin(angle) / 2  # I = 0.02 kg m², m r² = 0.02 kg m²
    assert result.q[-1, 0] == pytest.approx(way * np.cos(angle), rel=2e-6)
    assert force(result) == pytest.approx(2 * 9.81 * np.cos(angle), rel=1e-9)
    assert result.meta["penetration"] < 1e-12


@pytest.mark.parametrize("kind", ["box", "cylinder", "hull"])
def test_a_body_at_rest_on_a_tilted_field_carries_its_weight(kind: str) -> None:
    angle = np.arctan(SLOPE)
    start = {"F.x": -0.1 * np.sin(angle), "F.z": 0.1 * np.cos(angle),
             "F.qw": np.cos(angle / 2), "F.qy": -np.sin(angle / 2)}  # fmt: skip
    result = run(mechanism(kind, terrain=TILTED), start)
    assert np.abs(result.q[-1] - result.q[0]).max() < 1e-12
    assert force(result) == pytest.approx(2 * 9.81 * np.cos(angle), rel=1e-12)


def samples(kind: str) -> Any:
    """Points of the surface of a shape."""
    draw = np.random.default_rng(5)
    p = draw.normal(size=(800, 3))
    p /= np.linalg.norm(p, axis=1)[:, None]
    if kind == "ball":
        return 0.1 * p
    if kind == "capsule":
        return 0.07 * p + [0, 0, 1] * draw.uniform(-0.15, 0.15, (800, 1))
    turn = 2 * np.pi * draw.uniform(size=(400, 1))
    if kind == "cylinder":
        rim = np.hstack([0.1 * np.cos(turn), 0.1 * np.sin(turn)])
        return np.hstack([rim, np.where(turn > 3, 0.1, -0.1)])
    p = p / np.abs(p).max(axis=1)[:, None]
    edges = np.sign(p[:400]) * np.where(np.arange(3) == draw.integers(0, 3, (400, 1)), p[:400], 1)
    return np.vstack([p, edges]) * [0.2, 0.15, 0.1]


@pytest.mark.parametrize(("kind", "depth"), [
    ("ball", 1e-9), ("capsule", 1e-9), ("box", 1e-9), ("hull", 1e-9),
    ("cylinder", 5e-4),  # of a rim on a ridge: a polygon of 32 corners, 0.1 m (1 − cos(π/32))
])  # fmt: skip
def test_what_tumbles_over_peaks_and_ridges_stays_above(kind: str, depth: float) -> None:
    field = ROUGH
    start = {"F.z": 0.7, "F.vx": 0.5, "F.wx": 3.0, "F.wy": 1.0}
    result = run(mechanism(kind, terrain=field), start, 1.2, every=0.01)
    x = points_of(result, samples(kind))
    above = x[..., 2] - height(field, x[..., 0], x[..., 1])
    assert above.min() > -depth
    assert above[-1].min() < 0.02  # it is there
    energy = result["energy"].sum(axis=1)
    assert np.diff(energy).max() < 1e-5 * energy[0]


def test_a_box_larger_than_the_field_rests_on_its_border() -> None:
    small = li.HeightField(x=0.2, y=0.2, heights=[[0, 0], [0, 0]])
    result = run(mechanism("box", terrain=small), {"F.z": 0.1})
    assert np.abs(result.q[-1, :3] - [0, 0, 0.1]).max() < 1e-12
    assert force(result) == pytest.approx(2 * 9.81, rel=1e-12)


def test_nothing_is_beside_a_field() -> None:
    result = run(mechanism("ball", terrain=FLAT), {"F.x": 3.0, "F.z": 0.1}, 0.1)
    assert result.q[-1, 2] == pytest.approx(0.1 - 0.5 * 9.81 * 0.01, abs=1e-3)


def test_a_ball_in_a_groove_touches_both_sides() -> None:
    groove = li.HeightField(x=2, y=2, heights=[[1, 0, 1], [1, 0, 1]])
    result = run(mechanism("ball", terrain=groove, friction=0), {"F.z": 0.1 * np.sqrt(2)})
    assert np.abs(result.q[-1, :3] - result.q[0, :3]).max() < 1e-12
    assert force(result) == pytest.approx(2 * 9.81 * np.sqrt(2), rel=1e-9)


LSD = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = [0.004, 0.004, 0.004] kg*m^2 end ;
let F = join earth and ball with free end ;
let floor = contact ball and earth with ball radius = 10 cm, terrain = FIELD end ;
"""
FIELD = "height_field(size = [4, 2] m, heights = [[0, 10, 0], [20, 0, 1/3]] cm)"


def test_a_field_is_read_written_and_drawn() -> None:
    one = read_lsd(LSD.replace("FIELD", FIELD))
    again = read_lsd(write_lsd(one))
    assert again.contacts == one.contacts
    assert again.contacts[0].value_of("terrain").grid.heights[1, 0] == 0.2
    result = run(one, {"F.z": 0.5}, 0.05)
    (piece,) = drawing(result, one).pieces["ground"]
    assert piece.surface is not None
    assert len(piece.surface.faces) == 4
    assert piece.surface.vertices[:, 2].max() == 0.2


@pytest.mark.parametrize(("text", "message"), [
    ("height_field(size = [4, 2] m, heights = [[0, 1], [0]] m)", "different lengths"),
    ("height_field(size = [4, 2] m, heights = [[0, 1]] m)", "two rows of two heights"),
    ("height_field(size = [4, 2] m, heights = [0, 1] m)", "rows of lengths"),
    ("height_field(size = [4, 2] m, heights = [[0, 1], [0, 1]] kg)", "a length"),
    ("height_field(size = [4, 0] m, heights = [[0, 1], [0, 1]] m)", "must be positive"),
    ("height_field(size = [4, 2] m, file = \"../a.txt\")", "not in the model's folder"),
    ("height_field(size = [4, 2] m, file = \"a.txt\", heights = [[0]] m)", "not of both"),
    ("sphere(radius = 1 m)", "must be a height field"),
])  # fmt: skip
def test_fields_that_cannot_be_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 1\n0 1\n")
    (tmp_path / "in").mkdir()
    with pytest.raises(LiaisonError, match=message):
        read_lsd(LSD.replace("FIELD", text), folder=tmp_path / "in")


def test_pairs_and_methods_that_are_not_there_are_named() -> None:
    body = li.body("b", mass=1)
    with pytest.raises(ModelError, match="point with a height field"):
        li.contact(body, li.ground, "point", terrain=FLAT)
    with pytest.raises(LiaisonError, match="moreau"):
        li.simulate(mechanism("ball", terrain=FLAT), until=0.1)


def test_fields_among_what_collides_are_refused() -> None:
    ball = li.body("b", mass=1, shapes=li.Sphere(0.1))
    ground = li.body("c", mass=1, shapes=(li.Sphere(0.1), FLAT))
    free = [li.join(li.ground, x, "free") for x in (ball, ground)]
    with pytest.raises(ModelError, match="touched where a statement names it"):
        li.mechanism(*free, li.collision(ball, ground))


def png(values: Any, depth: int, filters: bool = True) -> bytes:
    """A grey picture, its lines by one filter after the other."""
    count = depth // 8
    raw = values.astype(">u2" if count == 2 else "u1").view("u1").reshape(len(values), -1)
    lines, above = b"", np.zeros(raw.shape[1], dtype=int)
    for k, row in enumerate(raw.astype(int)):
        left, corner = (np.concatenate([np.zeros(count, dtype=int), x[:-count]])
                        for x in (row, above))  # fmt: skip
        guess = left + above - corner
        far = [abs(guess - x) for x in (left, above, corner)]
        paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), left,
                         np.where(far[1] <= far[2], above, corner))  # fmt: skip
        kind = k % 5 if filters else 0
        less = (0 * row, left, above, (left + above) // 2, paeth)[kind]
        lines += bytes([kind]) + bytes(((row - less) % 256).tolist())
        above = row
    header = struct.pack(">IIBBBBB", values.shape[1], len(values), depth, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    packed = (
        struct.pack(">I", len(x)) + k + x + struct.pack(">I", zlib.crc32(k + x)) for k, x in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize("depth", [8, 16])
def test_pictures_are_read_by_all_filters(depth: int, tmp_path: Path) -> None:
    most = 2**depth - 1
    values = np.random.default_rng(3).integers(0, most + 1, (7, 6))
    file = tmp_path / "a.png"
    file.write_bytes(png(values, depth))
    assert np.array_equal(read_heights(file), values[::-1] / most)
    field = li.HeightField(x=1, y=1, file=str(file), scale=0.5)
    assert field.grid.heights.max() == 0.5 * values.max() / most


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    data = png(np.zeros((3, 3)), 8)
    for bad in (data[:-30], data[:40], b"", data[:25] + b"\x02" + data[26:], b"\x89PNG"):
        with pytest.raises(ModelError):
            png_heights(bad, "it")
    for name, text in (("a.txt", "1 2\n3 x"), ("b.txt", "1 2\n3"), ("c.bin", "1"), ("d.txt", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError):
            li.HeightField(x=1, y=1, file=str(tmp_path / name))
    (tmp_path / "e.csv").write_text("0,1\n2,nan\n")
    with pytest.raises(ModelError, match="height 2 in row 2"):
        li.HeightField(x=1, y=1, file=str(tmp_path / "e.csv"))
