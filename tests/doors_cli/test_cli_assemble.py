"""The verb `assemble` on the command line."""

import cmath
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


def test_a_guess_chooses_the_branch(run, examples):
    """With the crank up the rocker stands at one of two angles: the guess says near which."""
    ends = []
    for rocker in ("120 deg", "-120 deg"):
        words = ["assemble", examples / "four_bar.lsd", "--guess", f"D={rocker}", "--json"]
        status, out, _ = run(*words, "--guess", "B=0")
        closed = json.loads(out)["coordinates"]
        assert status == 0
        gap = 0.1j + 0.3 * cmath.exp(1j * (closed["A"] + closed["B"]))
        gap -= 0.45 + 0.35 * cmath.exp(1j * closed["D"])
        assert abs(gap) < 1e-9
        ends.append(math.degrees(closed["D"]))
    assert ends[0] == pytest.approx(math.degrees(math.atan2(4, -3)))
    assert abs(ends[1] - ends[0]) > 10


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
        (["--all", "--guess", "D=2"], "find all solutions"),
        (["--guess", "E=2"], "'E'"),
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
