"""Surfaces of models are looked for in the folder of the model, wherever one works."""

import pytest

import liaison
from doors.test_write_cli import run as run_command
from liaison.errors import ModelError, ReadingWarning
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


def test_a_picture_says_once_which_surfaces_it_lacks(models, capsys):
    (models / "a.urdf").write_text(URDF.format(name="parts/none.stl"))
    words = "1 surface is not drawn, as there is no file that can be read: 'parts/none.stl'"
    mechanism = liaison.read(models / "a.urdf")
    run = liaison.simulate(mechanism, until=1e-3)
    with pytest.warns(ReadingWarning, match=words):
        liaison.page(run, mechanism, models / "a.html")
    out = models / "b.html"
    code, _, notes = run_command(capsys, "animate", models / "a.urdf", "--until", "0.01",
                                 "--out", out)  # fmt: skip
    assert (code, notes.count(words)) == (0, 1)


def link_with(tag):
    """The model, its mesh drawn, or touching the ground as well."""
    shape = '<{0}><geometry><mesh filename="{1}"/></geometry></{0}>'
    floor = URDF.replace("continuous", "floating")
    drawn = shape.format("visual", "{name}")
    return floor if tag == "visual" else floor.replace(drawn, shape.format("collision", "{name}"))


SOLID = """v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 2 3 4
f 1 4 3
"""


@pytest.mark.parametrize("uri", ["{}", "file://{}", "file://localhost{}", "file:{}"])
def test_paths_and_uris_of_files_in_known_folders_are_opened(models, tmp_path, uri):
    other = tmp_path / "my packages"
    other.mkdir()
    for folder, options in ((models, {}), (other, {"package_root": other})):
        (folder / "s.obj").write_text(SOLID)
        path = str(folder / "s.obj")
        name = uri.format(path if uri == "{}" else path.replace(" ", "%20"))
        assert not missing(models / "a.urdf", link_with("visual").format(name=name), **options)
        (models / "a.urdf").write_text(link_with("collision").format(name=name))
        content = liaison.reading(models / "a.urdf", ground=True, **options)
        assert "1 mesh touches the ground by its hull" in content.notes
        assert not [x for x in content.notes if "leaves" in x or "outside" in x]


@pytest.mark.parametrize(
    "name", ["file:///{}/s.obj", "{}/s.obj", "file://host/{}/s.obj", "file:%00"]
)
def test_files_elsewhere_are_named_alike_whether_drawn_or_touching(models, tmp_path, name):
    (tmp_path / "s.obj").write_text(SOLID)
    name = name.format(tmp_path)
    assert missing(models / "a.urdf", link_with("visual").format(name=name)) == (name,)
    (models / "a.urdf").write_text(link_with("collision").format(name=name))
    with pytest.raises(ModelError, match="it is outside the folder of the model"):
        liaison.read(models / "a.urdf", ground=True)
    notes = liaison.reading(models / "a.urdf").notes
    assert f"the mesh {name!r} leaves the model's folder (line 3)" in notes
