"""Surfaces of models are looked for in the folder of the model, wherever one works."""

import pytest

import liaison
from liaison.view.drawing import drawing

STL = """solid s
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid s
"""
MJCF = """<mujoco><compiler meshdir="{under}"/><asset><mesh name="m" file="{name}"/></asset>
<worldbody><body><joint/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="{name}"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
LSD = """let b = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2, shape = mesh("{name}") end ;
let J = join earth and b with revolute end ;"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder with models and a surface; another one, in which one works."""
    folder = tmp_path / "models"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "s.stl").write_text(STL)
    (tmp_path / "secret.stl").write_text(STL)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return folder


def missing(path, text, **options):
    path.write_text(text)
    mechanism = liaison.read(path, **options)
    return drawing(liaison.simulate(mechanism, until=1e-3), mechanism).missing


def test_surfaces_are_found_beside_their_model(models):
    assert not missing(models / "a.xml", MJCF.format(under="parts", name="s.stl"))
    assert not missing(models / "a.urdf", URDF.format(name="parts/s.stl"))
    assert not missing(models / "a.lsd", LSD.format(name="parts/s.stl"))
    parts = {"package_root": models.parent}
    for name in ("package://models/parts/s.stl", "package:///models/parts/s.stl"):
        assert not missing(models / "a.urdf", URDF.format(name=name), **parts)


@pytest.mark.parametrize("outside", ["../secret.stl", "{}/secret.stl", "parts/link.stl"])
def test_surfaces_outside_the_folder_are_not_opened(models, outside):
    (models / "parts" / "link.stl").symlink_to(models.parent / "secret.stl")
    name = outside.format(models.parent)
    assert missing(models / "a.urdf", URDF.format(name=name)) == (name,)
    assert missing(models / "a.lsd", LSD.format(name=name)) == (name,)
    assert len(missing(models / "a.xml", MJCF.format(under="", name=name))) == 1


def test_a_wider_folder_for_mjcf(models):
    text = MJCF.format(under="", name="../secret.stl")
    assert not missing(models / "a.xml", text, folder=models.parent)
