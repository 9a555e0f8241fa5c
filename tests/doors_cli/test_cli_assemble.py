"""The verb `assemble` on the command line."""

import json
import math

import pytest


def test_all_modes_as_text_and_as_json(run, examples):
    file = examples / "four_bar.lsd"
    status, out, _ = run("assemble", file, "--all", "--at", "A=30 deg")
    assert status == 0
    assert "2 assembly modes, all" in out
    status, out, _ = run("assemble", file, "--all", "--at", "A=30 deg", "--json")
    found = json.loads(out)
    assert (found["count"], found["is_complete"], found["complex"]) == (2, True, 2)
    assert found["held"]["A"] == pytest.approx(math.radians(30))
    assert {"label", "coordinates", "residual", "proof", "radius"} <= set(found["modes"][0])


def test_near_the_start_there_is_one(run, examples):
    status, out, _ = run("assemble", examples / "four_bar.lsd", "--at", "A=30 deg", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["coordinates"]["A"] == pytest.approx(math.radians(30))
    assert found["residual"] < 1e-12


def test_a_hand_at_a_place(run, examples):
    words = ["assemble", examples / "arm7.urdf", "--hand", "gripper", "--at", "j3=0.2", "--json"]
    status, out, _ = run(*words, "--position", "[0.4, 0.1, 0.6]")
    found = json.loads(out)
    assert (status, found["count"], found["is_complete"]) == (0, 8, True)
    turned = json.dumps([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    status, out, _ = run(*words, "--position", "[0.4, 0.1, 0.6]", "--rotation", turned)
    assert status == 0
    assert json.loads(out)["is_complete"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--all", "--at", "E=1"], "no coordinate is named 'E'"),
        (["--position", "[1,2,3]"], "needs a body"),
        (["--hand", "rocker"], "give --position"),
        (["--hand", "rocker", "--position", "[1,2]"], "2 numbers, not 3"),
        (["--hand", "rocker", "--position", "here"], "no list of numbers"),
        (["--all", "--time-limit", "-1"], "not a time after 0"),
    ],
)
def test_wrong_command_lines(run, examples, words, message):
    status, _, err = run("assemble", examples / "four_bar.lsd", *words)
    assert status == 2
    assert message in " ".join(err.split())


def test_a_mechanism_that_still_moves_is_refused(run, examples):
    status, _, err = run("assemble", examples / "four_bar.lsd", "--all")
    assert status == 1
    assert "Hold one more of A, B, C, D" in err


def test_mobility_takes_a_time_limit(run, examples):
    file = examples / "bricard_line.lsd"
    status, out, _ = run("mobility", file, "--time-limit", "0.001 ms", "--json")
    found = json.loads(out)
    assert (status, found["status"], found["finite"]) == (0, "undecided", [0, 1])
