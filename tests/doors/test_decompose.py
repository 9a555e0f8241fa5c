"""Concave meshes that touch by their convex parts: what is reported, bounded, refused.

The package that takes meshes apart is played by a file here, so that the tests need none; the last
ones take the package itself where it is installed.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import MissingModule, OptionError
from liaison.formats.decompose import Decomposition
from liaison.numeric import decompose
from liaison.numeric.decompose import _kept, _key, convex_parts, volume_of
from liaison.numeric.meshes import MeshFile, read_mesh
from liaison.numeric.progress import store

OUTLINE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
PLAYED = """
import numpy as np
class Mesh:
    def __init__(self, vertices, indices):
        self.vertices, self.indices = vertices, indices
def set_log_level(level): pass
def run_coacd(mesh, threshold, max_convex_hull, **search):
    {action}
    v = np.asarray(mesh.vertices)
    low, high = v.min(axis=0), v.max(axis=0)
    middle = (low[0] + high[0]) / 2
    left = [p for p in v if p[0] <= middle + 1e-9] + [[middle, low[1], p[2]] for p in v]
    right = [p for p in v if p[1] < high[1] - 1e-9 and p[0] >= middle - 1e-9]
    right += [[middle, low[1], p[2]] for p in v]
    return [(np.array(left), None), (np.array(right), None)][:max_convex_hull]
"""


def angle(flip: bool = False, size: float = 0.1) -> MeshFile:
    """A prism over an L of volume 3 size³."""
    rows = [[x * size, y * size, z * size] for z in (0, 1) for x, y in OUTLINE]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(a, c, b) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return MeshFile(np.array(rows), np.array(faces)[:, ::-1] if flip else np.array(faces))


def obj_in(folder: Path, mesh: MeshFile) -> Path:
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.triangles]
    (folder / "angle.obj").write_text("\n".join(lines))
    return folder / "angle.obj"


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The package, played; by default it cuts the L into two boxes."""
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path / "cache"))

    def play(action: str = "pass") -> None:
        home = tmp_path / "played"
        home.mkdir()
        (home / "coacd.py").write_text(PLAYED.format(action=action))
        monkeypatch.syspath_prepend(str(home))
        monkeypatch.delitem(sys.modules, "coacd", raising=False)

    yield play
    sys.modules.pop("coacd", None)


def robot(folder: Path, first: str = "angle.obj") -> str:
    """Three links in a row; the first and the last may touch."""
    (folder / "pkg").mkdir(exist_ok=True)
    obj_in(folder / "pkg", angle())
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'  # noqa: E501
    mesh = f'<collision><geometry><mesh filename="package://pkg/{first}"/></geometry></collision>'
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    joint = (
        '<joint name="{n}" type="prismatic"><parent link="{p}"/><child link="{c}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    return (
        f'<robot name="r"><link name="a">{inertial}{mesh}</link><link name="b">{inertial}</link>'
        f'<link name="c">{inertial}{ball}</link>'
        + joint.format(n="j", p="a", c="b")
        + joint.format(n="k", p="b", c="c")
        + "</robot>"
    )


def test_the_volume_of_a_mesh_is_known_where_it_closes() -> None:
    assert volume_of(angle()) == pytest.approx(3e-3)
    assert volume_of(angle(flip=True)) == pytest.approx(3e-3)
    mesh = angle()
    loose = MeshFile(mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(60).reshape(-1, 3))
    assert volume_of(loose) == pytest.approx(3e-3)  # corners of its own for every triangle
    assert volume_of(MeshFile(mesh.vertices, mesh.triangles[1:])) is None


def test_parts_are_reported_with_their_volume(played: Any, tmp_path: Path) -> None:
    played()
    hulls = li.Hull.parts(str(obj_in(tmp_path, angle())), scale=(2, 2, 2))
    assert len(hulls) == 2
    assert sum(float(x.volume()) for x in hulls) == pytest.approx(8 * 3e-3)
    assert "into 2 convex parts" in hulls[0].notes[0]
    assert "of its hull 17 %" in hulls[0].notes[0]


@pytest.mark.parametrize("wish", [{"most": 0}, {"most": 2.5}, {"seconds": float("nan")},
                                  {"seconds": 0.0}, {"threshold": 2.0}])  # fmt: skip
def test_numbers_that_cannot_be_are_refused(played: Any, tmp_path: Path, wish: Any) -> None:
    played()
    with pytest.raises(li.ModelError, match="a mesh is taken apart"):
        li.Hull.parts(str(obj_in(tmp_path, angle())), **wish)


def test_what_is_convex_stays_whole(played: Any, tmp_path: Path) -> None:
    played("raise SystemExit('not called')")
    corners = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    hull = li.Hull(corners).polytope()
    parts = convex_parts(MeshFile(hull.vertices, np.asarray(hull.triangles())), 16, 0.05)
    assert len(parts.points) == 1


def test_links_touch_by_parts_of_meshes(played: Any, tmp_path: Path) -> None:
    played()
    text = robot(tmp_path)
    options: dict[str, Any] = {"package_root": tmp_path, "self_collision": True}
    whole = li.reading(text, **options)
    parts = li.reading(text, **options, decompose=True)
    assert [len(x.mechanism.contacts) for x in (whole, parts)] == [1, 2]
    assert any("'angle.obj' is taken apart into 2 convex parts" in x for x in parts.notes)
    one = li.reading(text, **options, decompose=1)
    assert len(one.mechanism.contacts) == 1


def test_geoms_touch_by_parts_of_meshes(played: Any, tmp_path: Path) -> None:
    """But a plane touches the hull, which is the same there."""
    played()
    obj_in(tmp_path, angle())
    (tmp_path / "m.xml").write_text(
        '<mujoco><asset><mesh name="angle" file="angle.obj"/></asset><worldbody>'
        '<geom type="plane" size="1 1 1"/>'
        '<body pos="0 0 1"><freejoint/><geom name="m" type="mesh" mesh="angle"/></body>'
        '<body pos="0 0 2"><freejoint/><geom name="b" type="sphere" size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    counts = [
        len(li.read(tmp_path / "m.xml", contacts=True, **x).contacts)
        for x in ({}, {"decompose": True})
    ]
    assert counts == [3, 4]


@pytest.mark.parametrize(("action", "words"), [
    ("import time; time.sleep(60)", "could not be taken apart within 0.4 s"),
    ("raise ValueError('no volume')", "ValueError: no volume"),
    ("import os; os.abort()", "could not be taken apart"),
    ("return []", "nothing of it is left"),
])  # fmt: skip
def test_what_fails_touches_by_its_hull(played: Any, action: str, words: str) -> None:
    played(action)
    mesh, notes = angle(), list[str]()
    whole = li.Hull(mesh.vertices.tolist())
    work = Decomposition(16, seconds=0.4 if "sleep" in action else 20)
    assert work.hulls("k", mesh, whole, "the mesh 'x'", notes) == (whole,)
    assert words in notes[0]
    assert notes[0].endswith("; it touches by its hull")
    if "sleep" in action:
        assert work.hulls("l", mesh, whole, "the mesh 'y'", notes) == (whole,)
        assert "the time for all meshes is over" in notes[1]


def test_options_that_say_nothing_are_refused(played: Any, tmp_path: Path) -> None:
    played()
    with pytest.raises(OptionError, match="touched by a mesh as by its hull"):
        li.read(robot(tmp_path), package_root=tmp_path, ground=True, decompose=True)
    with pytest.raises(OptionError, match="no contacts are read"):
        li.read("<mujoco><worldbody/></mujoco>", decompose=True)
    with pytest.raises(OptionError, match="a number of parts from 1"):
        li.read(robot(tmp_path), package_root=tmp_path, self_collision=True, decompose=0)


def test_without_the_package_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(MissingModule) as error:
        li.read(robot(tmp_path), package_root=tmp_path, self_collision=True, decompose=True)
    assert 'pip install "liaison-mbd[meshes]"' in str(error.value)


@pytest.fixture
def counted(played: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a mesh was taken apart, without a process of its own."""
    played()
    calls: list[int] = []

    def halves(mesh: MeshFile, most: int, *_: Any) -> Any:
        calls.append(most)
        x = mesh.vertices
        return x[x[:, 0] <= 0.1 + 1e-9], x[x[:, 1] <= 0.1 + 1e-9]

    monkeypatch.setattr(decompose, "_taken_apart", halves)
    return calls


def test_parts_are_kept_on_disk(counted: list[int], tmp_path: Path) -> None:
    first, again = (convex_parts(angle(), 16, 0.05) for _ in range(2))
    assert len(counted) == 1
    assert [x.tolist() for x in first.points] == [x.tolist() for x in again.points]
    assert (first.error, first.before) == (again.error, again.before)
    # another mesh, number or threshold is another decomposition
    turned = MeshFile(angle().vertices[:, [1, 0, 2]], angle().triangles)
    for mesh, most, threshold in ((turned, 16, 0.05), (angle(), 2, 0.05), (angle(), 16, 0.06)):
        convex_parts(mesh, most, threshold)
    assert len(counted) == 4
    assert len(list((tmp_path / "cache").glob("*.parts"))) == 4


@pytest.mark.parametrize("damage", [
    lambda x: x[: len(x) // 2], lambda x: b"", lambda x: x[:-8] + bytes(8), lambda x: x + b"more",
])  # fmt: skip
def test_damaged_parts_are_made_again(counted: list[int], tmp_path: Path, damage: Any) -> None:
    convex_parts(angle(), 16, 0.05)
    (file,) = (tmp_path / "cache").glob("*.parts")
    file.write_bytes(damage(file.read_bytes()))
    convex_parts(angle(), 16, 0.05)
    assert len(counted) == 2
    convex_parts(angle(), 16, 0.05)
    assert len(counted) == 2


@pytest.mark.parametrize("words", [[0], [1], [2, 1], [1, -1], [1, 1, 0, 0], [2**62, 1, 1]])
def test_numbers_that_are_no_parts_are_not_taken(played: Any, words: list[int]) -> None:
    """Though they are whole: under the key of the mesh, with the right digest."""
    played()
    key = _key(angle(), 16, 0.05)
    store(key, np.array(words, dtype="<i8").tobytes(), ".parts")
    assert _kept(key) is None
    store(key, np.array([1, 1], "<i8").tobytes() + np.array([1, 2, np.nan]).tobytes(), ".parts")
    assert _kept(key) is None


def test_failures_are_not_kept(played: Any, tmp_path: Path) -> None:
    played("raise ValueError('no volume')")
    with pytest.raises(li.ModelError, match="no volume"):
        convex_parts(angle(), 16, 0.05)
    assert not list((tmp_path / "cache").glob("*.parts"))


@pytest.mark.skipif(find_spec("coacd") is None, reason="coacd is not installed")
def test_the_package_takes_an_angle_apart(tmp_path: Path) -> None:
    hulls = li.Hull.parts(str(obj_in(tmp_path, angle())))
    assert len(hulls) >= 2
    total = sum(float(x.volume()) for x in hulls)
    assert total == pytest.approx(3e-3, rel=0.02)
    assert read_mesh(tmp_path / "angle.obj").vertices.shape == (12, 3)
