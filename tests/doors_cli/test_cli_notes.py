"""What a reader does not use is printed by every command, once, on stderr."""

import json

import pytest

ROBOT = """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/>
<geom size="0.1" pos="1 0 0" wobble="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "words",
    [("simulate", "--until", 0.01), ("derive",), ("mobility",), ("equilibrium",), ("linearize",)],
)
def test_every_command_prints_the_notes_once(run, tmp_path, words):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT, encoding="utf-8")
    status, out, err = run(words[0], path, *words[1:])
    assert status == 0, err
    assert err.count("note: ") == 1
    assert err.count("'wobble' of <geom> is not used") == 1
    assert "wobble" not in out


def test_json_stays_json(run, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT, encoding="utf-8")
    status, out, err = run("mobility", path, "--json")
    assert status == 0
    assert isinstance(json.loads(out), dict)
    assert "wobble" in err
