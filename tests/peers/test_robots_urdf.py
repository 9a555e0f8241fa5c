"""Three published robots with rotors and friction against Pinocchio; `make robots` has them all."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import robots_urdf

FEW = ("panda.urdf", "a1.urdf", "ur5_robot.urdf")


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("floating", [False, True])
def test_a_robot_with_rotors_accelerates_as_in_pinocchio(name, floating):
    pytest.importorskip("pinocchio")
    paths = [x for x in robots_urdf.files_of() if x.name == name]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    row = robots_urdf.row_of(paths[0], floating=floating, states=10)
    assert row["status"] == "equal", row


def test_a_rotor_that_one_side_lacks_is_seen():
    pin = pytest.importorskip("pinocchio")
    paths = [x for x in robots_urdf.files_of() if x.name == "panda.urdf"]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    content = robots_urdf.content_of(paths[0], floating=False)
    mechanism, values = robots_urdf.with_rotors(content.mechanism)
    wrong = values | {"panda_joint2": (0.0, values["panda_joint2"][1])}
    theirs = robots_urdf.Theirs(pin, robots_urdf.bare(paths[0], content), False, wrong)
    assert robots_urdf.largest(robots_urdf.kernel_of(mechanism), theirs, 3) > 1e-3
