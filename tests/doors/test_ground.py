"""`ground=` of every reader: what stands on the plane weighs on it as mechanics says."""

import numpy as np
import pytest

import liaison
from doors.test_examples import EXAMPLES
from doors.test_write_cli import run as run_command
from liaison.errors import ModelError, OptionError

G = 9.81
BALL = """<mujoco><worldbody>{plane}<body pos="0 0 0.5"><freejoint name="F"/>
<geom name="b" type="sphere" size="0.1" density="1000"/></body></worldbody></mujoco>"""
PLANE = '<geom type="plane" size="1 1 1" pos="0 0 {z}" friction="{mu}"/>'
FALLING = """gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 2 kg, shape = sphere(radius = 10 cm) end ;
let F = join earth and b with free end ;
start F = [0, 0, 50] cm ;
"""


def test_a_plane_that_is_asked_for_is_that_of_a_file_with_one():
    asked = liaison.read(BALL.format(plane=""), ground=0.125, friction=0.5)
    written = liaison.read(BALL.format(plane=PLANE.format(z=0.125, mu=0.5)), contacts=True)
    runs = [
        liaison.simulate(m, until=0.6, method="moreau", step="1 ms", start={"F.vx": 1.0})
        for m in (asked, written)
    ]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert runs[0]["F.z"][-1] == pytest.approx(0.225, abs=1e-9)


def test_a_file_with_a_plane_of_its_own_stands_on_that():
    text = BALL.format(plane=PLANE.format(z=0, mu=0.5))
    content = liaison.reading(text, ground=True)
    assert any("the ground is the plane of the file" in x for x in content.notes)
    assert len(content.mechanism.contacts) == 1
    for word in ("height", "friction"):
        options = {"ground": 0.1} if word == "height" else {"ground": True, "friction": 0.3}
        with pytest.raises(OptionError, match=f"{word} of the ground is given, but the file"):
            liaison.read(text, **options)


def test_what_lsd_describes_falls_onto_a_ground():
    m = liaison.read(FALLING, ground=-1, friction=0.3)
    fall = np.sqrt(2 * 1.4 / G)  # from 0.5 to -1 + 0.1
    run = liaison.simulate(m, until=1.0)
    assert next(x.t for x in run.events if x.what == "impact") == pytest.approx(fall, abs=1e-9)
    assert run["F.z"][-1] == pytest.approx(-0.9, abs=1e-9)
    assert m.contacts[-1].friction.sliding == 0.3


def test_the_plate_of_a_delta_comes_to_rest_on_a_table():
    m = liaison.read(EXAMPLES / "robots" / "delta.lsd", ground=-0.58)
    press = {f"target{i}": 1.0 for i in (1, 2, 3)}
    run = liaison.simulate(m, until=0.5, inputs=press, method="moreau", step="1 ms")
    assert run["F.z"][-1] == pytest.approx(-0.575, abs=1e-9)  # half of its 1 cm above
    again = liaison.simulate(m, until=0.5, inputs=press)
    assert again["F.z"][-1] == pytest.approx(-0.575, abs=1e-9)


def test_a_gripper_stands_on_its_palm_and_closes_its_fingers():
    path = EXAMPLES / "robots" / "gripper.urdf"
    m = liaison.read(path, floating=True, ground=True, motors="position")
    run = liaison.simulate(m, until=0.5, method="moreau", step="1 ms")
    assert np.abs(run["root.z"]).max() < 1e-9
    m = liaison.read(path, self_collision=True, motors="position")
    run = liaison.simulate(
        m, until=0.5, method="moreau", step="1 ms", inputs={"left_drive.target": -0.6}
    )
    # fingers stand 30 mm off the middle, their inner faces 18 mm nearer to it, on cranks of 60 mm
    assert np.sin(-run["left_drive"][-1]) == pytest.approx(0.012 / 0.06, abs=1e-9)


def test_what_has_no_shape_is_named(capsys, tmp_path):
    bare = FALLING.replace(", shape = sphere(radius = 10 cm)", "")
    with pytest.raises(ModelError, match="no body that moves has a shape to touch it"):
        liaison.read(bare, ground=True)
    with pytest.raises(OptionError, match="but no ground"):
        liaison.read(FALLING, friction=0.3)
    path = tmp_path / "b.lsd"
    path.write_text(FALLING, encoding="utf-8")
    status, text, _ = run_command(capsys, "check", path, "--ground-height", "-10 cm")
    assert status == 0
    assert "collide of 1 body and 1 plane, sliding 0.8" in text
    for wrong in ("1 kg", "t", "nan"):
        assert run_command(capsys, "check", path, "--ground-height", wrong)[0] in (1, 2)
