"""Hulls of points and of mesh files: corners, faces and inertia; bad meshes refused or replaced."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import LiaisonError, ModelError
from liaison.numeric import meshes
from liaison.numeric.hulls import MOST_CORNERS, convex_hull
from samples.polytopes import random_rotation

CUBE = [*product((0.0, 1.0), repeat=3)]
SQUARES = ("0 1 3 2", "4 6 7 5", "0 4 5 1", "2 3 7 6", "0 2 6 4", "1 5 7 3")
NAN = float("nan")


def obj(points: Sequence[Sequence[Any]], faces: Sequence[str] = SQUARES) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in points]
    lines += ["f " + " ".join(str(int(k) + 1) for k in face.split()) for face in faces]
    return "\n".join(lines).encode()


def stl(corners: Any, count: int | None = None) -> bytes:
    facets = np.array(corners, dtype=float).reshape(-1, 9)
    head = bytes(80) + struct.pack("<I", len(facets) if count is None else count)
    return head + b"".join(struct.pack("<12fH", 0, 0, 1, *row, 0) for row in facets)


TEXT_STL = "solid s\n facet normal 0 0 1\n  outer loop\n{}\n  endloop\n endfacet\nendsolid s\n"
FLAT = [(x, y, 0) for x, y in product((0, 1), repeat=2)]
BAD: dict[str, tuple[str, bytes, str]] = {
    "empty STL": ("a.stl", b"", "damaged"),
    "empty OBJ": ("a.obj", b"", "no face in it"),
    "points without faces": ("a.obj", obj(CUBE, ()), "no face in it"),
    "half an STL": ("a.stl", stl(np.ones((4, 9)))[:-70], "counts 4 triangles"),
    "more bytes than triangles": ("a.stl", stl(np.ones((4, 9))) + b"x", "counts 4 triangles"),
    "a billion triangles in its head": ("a.stl", stl(np.ones((4, 9)), 10**9), "1000000000"),
    "no triangle": ("a.stl", stl([]), "damaged"),
    "NaN, binary": ("a.stl", stl([[0, 0, 0, 1, 0, 0, 0, 1, NAN]] * 4), "point 3 is"),
    "infinity, binary": ("a.stl", stl([[0, 0, 0, 1, 0, 0, 0, 1, np.inf]] * 4), "point 3 is"),
    "NaN, text": ("a.stl", TEXT_STL.format("vertex nan 0 0\n" * 3).encode(), "point 1 is"),
    "words for numbers": ("a.stl", TEXT_STL.format("vertex a b c\n" * 3).encode(), "damaged"),
    "ends within a triangle": ("a.stl", TEXT_STL.format("vertex 0 0 0\n").encode(), "within a"),
    "text without triangles": ("a.stl", b"solid s\nendsolid s\n", "no triangle"),
    "NaN, OBJ": ("a.obj", obj([*CUBE[:7], (NAN, 0, 0)]), "point 8 is"),
    "two numbers": ("a.obj", b"v 0 0\nf 1 1 1", "is no point"),
    "words, OBJ": ("a.obj", b"v 0 0 zero\nf 1 1 1", "damaged"),
    "a corner that is not there": ("a.obj", obj(CUBE, ["0 1 99"]), "not there"),
    "corner 0": ("a.obj", obj(CUBE, ["0 1 -1"]), "not there"),
    "a face of words": ("a.obj", obj(CUBE) + b"\nf a b c", "damaged"),
    "one triangle": ("a.stl", stl([[0, 0, 0, 1, 0, 0, 0, 1, 0]]), "four or more"),
    "zero volume": ("a.obj", obj(FLAT, ["0 1 3", "0 3 2"]), "lie in a plane"),
    "a needle": ("a.obj", obj([(k, 2 * k, 3 * k) for k in range(8)]), "lie in a plane"),
    "one point eight times": ("a.obj", obj([(1, 1, 1)] * 8), "no size of a body"),
    "too small": ("a.obj", obj([[1e-12 * x for x in p] for p in CUBE]), "no size of a body"),
    "too large": ("a.obj", obj([[1e30 * x for x in p] for p in CUBE]), "no size of a body"),
    "another kind": ("a.dae", b"<COLLADA/>", "neither .stl nor .obj"),
    "no suffix": ("mesh", obj(CUBE), "neither .stl nor .obj"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_meshes_are_refused_by_name(case: str, tmp_path: Path) -> None:
    name, data, words = BAD[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=words) as caught:
        li.Hull(file=str(tmp_path / name))
    assert name in str(caught.value)


def test_missing_folders_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.stl").mkdir()
    for name, words in (("none.stl", "No such file"), ("folder.stl", "no file")):
        with pytest.raises(ModelError, match=words):
            li.Hull(file=str(tmp_path / name))
    (tmp_path / "large.obj").write_bytes(obj(CUBE))
    monkeypatch.setattr(meshes, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match="limit"):
        li.Hull(file=str(tmp_path / "large.obj"))


@pytest.mark.parametrize("scale", [(0, 1, 1), (1, 1, NAN)])
def test_scales_of_nothing(scale: Any, tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(obj(CUBE))
    with pytest.raises(ModelError, match="scale"):
        li.Hull(file=str(tmp_path / "a.obj"), scale=scale)


def test_what_is_repaired_or_replaced_is_reported(tmp_path: Path) -> None:
    two = obj([*CUBE, *[(x + 2, y, z) for x, y, z in CUBE]], [*SQUARES, "8 9 11 10"])
    cases = {
        "open.obj": (obj(CUBE, SQUARES[:4]), 8, ()),
        "not a manifold.obj": (obj(CUBE, [*SQUARES, "0 1 7", "0 1 6"]), 8, ()),
        "twice.obj": (obj([*CUBE, *CUBE], SQUARES), 8, ("8 of 16 points",)),
        "two bodies.obj": (two, 8, ("8 of 16 points",)),
        "with a thin triangle.obj": (obj(CUBE, [*SQUARES, "0 0 1"]), 8, ()),
    }
    for name, (data, corners, notes) in cases.items():
        (tmp_path / name).write_bytes(data)
        hull = li.Hull(file=str(tmp_path / name))
        assert len(hull.points) == corners, name
        assert len(hull.notes) == len(notes), (name, hull.notes)
        assert all(x in y for x, y in zip(notes, hull.notes, strict=True))


def test_a_mirrored_mesh_in_millimeters(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(obj(CUBE))
    hull = li.Hull(file=str(tmp_path / "a.obj"), scale=(-0.001, 0.001, 0.002))
    assert float(hull.volume()) == pytest.approx(2e-9)
    assert min(x for x, _, _ in hull.points) == -0.001


def test_a_fine_ball_is_replaced_and_the_loss_reported() -> None:
    draw = np.random.default_rng(3)
    points = draw.normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = convex_hull(points, "the ball")
    assert len(hull.vertices) <= MOST_CORNERS
    assert "the ball is replaced by the hull of" in hull.notes[0]
    off = np.max(points @ hull.normals.T - hull.offsets)
    assert f"{off:.3g} m" in hull.notes[0]
    assert off < 0.03


def test_what_is_left_out_of_a_flat_body_with_many_corners_is_little() -> None:
    """Corners extreme in even directions alone leave out three times as much of it."""
    points = np.random.default_rng(4).normal(size=(3000, 3))
    points *= np.array([1, 0.5, 0.05]) / np.linalg.norm(points, axis=1)[:, None]
    hull = convex_hull(points)
    assert len(hull.vertices) <= 256
    assert np.max(points @ hull.normals.T - hull.offsets) < 0.01


@pytest.mark.slow
def test_a_million_triangles_in_bounded_time(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    facets = np.zeros(1_000_000, meshes.STL_FACET)
    points = draw.normal(size=(1_000_000, 3, 3))
    facets["corners"] = points / np.linalg.norm(points, axis=2)[..., None]
    head = bytes(80) + struct.pack("<I", len(facets))
    (tmp_path / "large.stl").write_bytes(head + facets.tobytes())
    begin = time.process_time()
    hull = li.Hull(file=str(tmp_path / "large.stl"))
    assert time.process_time() - begin < 120
    assert "is replaced" in hull.notes[0]


def test_faces_are_merged_and_moments_exact() -> None:
    """A box, turned and moved, among points inside, on its faces and on its edges."""
    draw = np.random.default_rng(5)
    sides = np.array([1.0, 0.5, 0.25])
    corners = np.array([*product((-0.5, 0.5), repeat=3)])
    inside = draw.uniform(-0.5, 0.5, (50, 3))
    on_faces = inside.copy()
    on_faces[:25, 0], on_faces[25:, 1] = 0.5, -0.5
    on_edges = on_faces.copy()
    on_edges[:25, 1], on_edges[25:, 2] = -0.5, 0.5
    R, p = random_rotation(draw), np.array([1.0, 2.0, 3.0])
    hull = convex_hull(np.concatenate([inside, on_faces, on_edges, corners]) * sides @ R.T + p)
    assert sorted(map(len, hull.faces)) == [4] * 6
    assert len(hull.vertices) == 8
    assert hull.volume == pytest.approx(0.125)
    assert hull.center == pytest.approx(p)
    second = R @ np.diag(sides**2) @ R.T * 0.125 / 12
    assert hull.second == pytest.approx(second, abs=1e-15)


def test_inertia_of_a_body_of_a_hull_is_that_of_its_box() -> None:
    points = [*product((-0.5, 0.5), (-0.25, 0.25), (-0.125, 0.125))]
    one, two = (
        li.body("b", shapes=x, density=800) for x in (li.Hull(points), li.Box(1, 0.5, 0.25))
    )
    assert float(one.mass) == pytest.approx(float(two.mass))
    tensors = [np.array(x.inertia, dtype=float) for x in (one, two)]
    assert tensors[0] == pytest.approx(tensors[1], abs=1e-12)


def test_lsd_reads_writes_and_reports_hulls(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_bytes(obj([*CUBE, (0.5, 0.5, 0.5)]))
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let b = body density = 500 kg/m^3, shape = hull("part.obj", scale = [0.1, 0.1, 0.1]) end ;
    let c = body mass = 1 kg, inertia = 1 g*m^2, shape = hull([0,0,0] m, [1,0,0] m, [0,1,0] m, [0,0,1] m) end ;
    let F = join earth and b with free end ;
    let G = join earth and c with free end ;
    collide b, c, earth with friction = 0.3 end ;
    """  # noqa: E501
    (tmp_path / "model.lsd").write_text(text)
    content = li.reading(tmp_path / "model.lsd")
    assert any("1 of 9 points" in x for x in content.notes)
    again = li.write_lsd(content.mechanism)
    assert 'hull("part.obj", scale = [0.1, 0.1, 0.1])' in again
    (tmp_path / "again.lsd").write_text(again)
    assert li.read(tmp_path / "again.lsd").bodies[1:] == content.mechanism.bodies[1:]


@pytest.mark.parametrize("name", ["../part.obj", "/etc/hosts.stl", "none.obj", "link.obj"])
def test_lsd_opens_no_mesh_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "part.obj").write_bytes(obj(CUBE))
    (folder / "link.obj").symlink_to(tmp_path / "part.obj")
    text = f'let b = body mass = 1 kg, shape = hull("{name}") end ; let F = join earth and b with free end ;'  # noqa: E501
    (folder / "a.lsd").write_text(text)
    with pytest.raises(LiaisonError, match="folder"):
        li.read(folder / "a.lsd")
    with pytest.raises(LiaisonError, match="no folder"):
        li.read(text)
