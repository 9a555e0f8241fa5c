"""The kinds of bad URDF through the command line: refused with exit status 1, never a traceback."""

import json
import time

import pytest

from doors.test_hostile import BOMB
from doors.test_urdf import REFUSED, chain, robot
from doors.test_write_cli import run
from liaison.formats import reading


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_robot_leaves_with_one(kind, tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(REFUSED[kind][0])
    status, _, said = run(capsys, "check", path)
    assert status == 1
    assert REFUSED[kind][1] in said
    assert f"{path}, line " in said
    assert "Traceback" not in said


def test_a_mesh_outside_the_folder_is_named_in_a_note(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    mesh = '<visual><geometry><mesh filename="../../secret.stl"/></geometry></visual>'
    path.write_text(robot().replace("</link>\n<joint", f"{mesh}</link>\n<joint"))
    status, said, _ = run(capsys, "check", path)
    assert status == 0
    assert "the mesh '../../secret.stl' leaves the model's folder (line 3)" in said


def test_an_impossible_inertia_is_repaired_when_told_so(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(REFUSED["triangle"][0])
    status, said, _ = run(capsys, "check", path, "--lenient")
    assert status == 0
    assert "The nearest possible one is taken" in said


def test_a_floating_base_has_six_more_velocities(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(robot())
    assert "8 positions, 7 velocities" in run(capsys, "check", path, "--floating")[1]


def test_collisions_and_textures_are_named():
    more = "<collision/><visual><material name='m'><texture/></material></visual>"
    notes = reading(robot().replace("</link>\n<joint", f"{more}</link>\n<joint")).notes
    asked = "ground=True (--ground) lets it touch"
    assert f"<collision> in <link> is not used; {asked}" in notes
    assert "<texture> in <material> is not used" in notes


def test_a_chain_of_3000_links_is_accepted(tmp_path):
    path = tmp_path / "chain.urdf"
    path.write_text(chain(3000))
    assert len(reading(path).mechanism.bodies) == 3001


MESH = '<visual><geometry><mesh filename="../../secret.stl"/></geometry></visual>'
BAD = (
    "binary", "comma_decimal", "deep", "dup_link", "empty", "inf_inertia", "loop", "missing_child",
    "nan_mass", "neg_inertia", "neg_mass", "no_inertial_leaf", "self_parent", "text_mass",
    "triangle", "trunc", "zero_axis", "zero_mass_leaf",
)  # fmt: skip
KINDS = {kind: (REFUSED[kind][0], 1) for kind in (*BAD, "xxe")} | {
    "bomb": (BOMB, 1),
    "traversal_mesh": (robot().replace("</link>\n<joint", f"{MESH}</link>\n<joint"), 0),
    "ok": (robot(), 0),
    "huge_chain": (chain(3000), 0),
}


def test_the_kinds_that_other_readers_were_tried_with(tmp_path, capsys):
    """One line for each kind: its exit status, its seconds, and what is said."""
    lines = []
    for kind, (text, expected) in KINDS.items():
        path = tmp_path / f"{kind}.urdf"
        path.write_text(text)
        begin = time.process_time()
        status, said, refused = run(capsys, "check", path)
        taken = time.process_time() - begin
        told = [x for x in (refused or said).replace(f"{tmp_path}/", "").splitlines() if x]
        note = [x.strip() for x in told if "leaves the model's folder" in x]
        lines.append(f"{kind:17} exit {status}  {taken:4.1f} s  {(note or told)[0][:150]}")
        assert status == expected, lines[-1]
        assert "Traceback" not in said + refused
        if expected:
            assert f"{kind}.urdf, line " in refused
    print("\n".join(lines))
    assert len(lines) == 23
    assert any("secret.stl" in line for line in lines)


def test_notes_name_the_file_once(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(robot().replace("</robot>", "<sensor/><plugin/></robot>"))
    _, _, notes = run(capsys, "simulate", path, "--until", "0.001")
    assert len([x for x in notes.splitlines() if x.startswith("note: ")]) >= 2
    assert notes.count(str(path)) == 1


def test_many_stops_are_one_line(capsys):
    file = "examples/robots/quadruped.urdf"
    _, text, _ = run(capsys, "check", file, "--limits", "--motors", "position")
    (line,) = [x for x in text.splitlines() if "stops" in x]
    assert line.split()[:3] == ["stops", "24:", "front_left_roll"]
    assert "-0.8 … 0.8 rad" in line
    assert line.endswith("and 6 more")
    _, facts, _ = run(capsys, "check", file, "--limits", "--json")
    assert sum("limit" in x for x in json.loads(facts)["contacts"]) == 24


def test_a_stop_that_is_closed_keeps_its_line(capsys):
    file, start = "examples/robots/quadruped.urdf", "front_left_knee=-0.3"
    _, text, _ = run(capsys, "check", file, "--limits", "--explain", "--start", start)
    assert "front_left_knee upper stop" in text
    assert text.split("Stops, as the coordinates")[1].count("_knee -2.7 … -0.3 rad") == 4
