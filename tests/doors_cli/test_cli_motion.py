"""What joints, bodies and motors do, on the command line; and options that do not go together."""

import csv
import json

import numpy as np
import pytest

import liaison
from liaison.cli import main
from liaison.errors import SimulationError


def said(capsys, *words, status=0):
    with pytest.raises(SystemExit) as left:
        main([str(x) for x in words])
    assert (left.value.code or 0) == status
    return capsys.readouterr()


def facts_of(capsys, *words):
    return json.loads(said(capsys, *words, "--json").out)


def test_angles_are_told_with_their_turns(capsys, examples, tmp_path):
    path, table = examples / "four_bar.lsd", tmp_path / "motion.csv"
    found = facts_of(capsys, "motion", path, "--until", "2", "--csv", table)
    run = liaison.simulate(path, until=2, every=0.01)
    assert found["columns"]["A"][-1] > 5 * 2 * np.pi
    np.testing.assert_allclose(found["columns"]["A"], run["A"], atol=1e-6)
    np.testing.assert_allclose(found["columns"]["D'"], run["D'"], atol=1e-5)
    assert found["units"]["C''"] == "rad/s2"
    assert {*found["columns"]} == {f"{x}{dots}" for x in "ABCD" for dots in ("", "'", "''")}
    rows = list(csv.reader(table.read_text().splitlines()))
    assert rows[0][:3] == ["t [s]", "A [rad]", "A' [rad/s]"]
    assert float(rows[-1][1]) == found["columns"]["A"][-1]


def test_one_joint_for_people(capsys, examples):
    path = examples / "slider_crank.lsd"
    name = liaison.read(path).joints[-1].name
    text = said(capsys, "motion", path, "--until", "100 ms", "--joint", name).out
    assert [line.split()[0] for line in text.splitlines()[2:]] == [name, f"{name}'", f"{name}''"]


@pytest.mark.parametrize(
    ("attitude", "columns"), [("quaternion", 4), ("euler", 3), ("bryant", 3), ("matrix", 9)]
)
def test_attitudes_in_four_ways(capsys, examples, attitude, columns):
    path = examples / "spinning_top.lsd"
    found = facts_of(capsys, "motion", path, "--until", "0.5", "--attitude", attitude)
    assert len(found["columns"]) == columns
    assert all(name.startswith("top.") for name in found["columns"])
    if attitude == "euler":
        run = liaison.simulate(path, until=0.5, every=0.0025, series=("poses",))
        tilt = np.arccos(run.series["poses"].values[:, 0, 2, 2])
        np.testing.assert_allclose(found["columns"]["top.nutation"], tilt, atol=1e-7)


def test_singular_attitudes_are_told(capsys, examples):
    words = ("motion", examples / "rolling_ball.lsd", "--until", "0.2", "--attitude", "euler")
    found = facts_of(capsys, *words, "--body", "ball")
    assert found["columns"]["ball.precession"][0] is None
    assert "are singular at 0 s" in found["notes"][0]
    assert "Note: the angles" in said(capsys, *words, "--body", "ball").out


def test_motors_by_their_recursion(capsys, examples):
    path = examples / "geared_arm.lsd"
    found = facts_of(capsys, "motors", path)
    assert found["formulas"]["Mass matrix by Mampey's recursion, rotors included"]["M21"] == (
        "−0.00384"  # 80 · 0.8 kg·cm² · 0.6: docs/theory/motors.md
    )
    assert [x["drives"] for x in found["rotors"]] == ["C", "B", "A"]
    text = said(capsys, "motors", path, "--motor-coordinates").out
    assert "Torques that hold the arm" in text
    assert "has no motor" in said(capsys, "motors", examples / "pendulum.lsd", status=1).err


REFUSED = {
    "--about": ("verify", "four_bar", "--about", "nobody"),
    "--independent": ("linearize", "four_bar", "--independent", "Q"),
    "--attitude": ("motion", "four_bar", "--until", "1", "--attitude", "foo"),
    "--joint": ("motion", "four_bar", "--until", "1", "--joint", "X"),
    "--body": ("motion", "four_bar", "--until", "1", "--body", "X"),
    "--every": ("simulate", "pendulum", "--until", "1", "--every", "1e-12"),
    "--step": ("simulate", "pendulum", "--until", "1", "--step", "1e-30"),
    "--max-steps": ("simulate", "pendulum", "--until", "1", "--max-steps", "0"),
    "--spectral-radius": ("simulate", "pendulum", "--until", "1", "--spectral-radius", "0.5"),
    "--theta": ("simulate", "pendulum", "--method", "moreau", "--step", "1 ms", "--theta", "0.2"),
    "--facets": ("simulate", "pendulum", "--facets", "8"),
    "--point": ("derive", "pendulum", "--point", "G1"),
    "--expand": ("derive", "pendulum", "--expand", "gamma(G1)"),
    "--basis": ("derive", "pendulum", "--basis", "bar"),
    "--steps": ("derive", "pendulum", "--compare", "--steps"),
    "--own": ("derive", "pendulum", "--compare", "--own"),
    "--level": ("derive", "pendulum", "--level", "vector", "--point", "X9"),
    "--treat": ("derive", "four_bar", "--treat", "A=eliminate"),
    "--parametrization": ("derive", "four_bar", "--parametrization", "foo"),
}


@pytest.mark.parametrize("option", REFUSED)
def test_wrong_options_are_mistakes_of_the_command_line(capsys, examples, option):
    verb, model, *rest = REFUSED[option]
    assert option in said(capsys, verb, examples / f"{model}.lsd", *rest, status=2).err


def test_a_run_stops_after_so_many_steps(capsys, examples):
    words = ("simulate", examples / "pendulum.lsd", "--until", "10", "--max-steps", "5")
    assert "5 steps were not enough" in said(capsys, *words, status=1).err


def test_a_spectral_radius_is_of_one_method_only(examples):
    with pytest.raises(SimulationError, match="'tsitouras' has none"):
        liaison.simulate(examples / "pendulum.lsd", until=1, spectral_radius=0.5)
    options = {"until": 0.1, "step": 0.01, "method": "generalized-alpha"}
    alike = [
        liaison.simulate(examples / "pendulum.lsd", **options, **more).q[-1]
        for more in ({}, {"spectral_radius": 0.8})
    ]
    np.testing.assert_array_equal(*alike)


def test_a_page_takes_the_path_of_a_mechanism(examples, tmp_path):
    path = examples / "pendulum.lsd"
    run = liaison.simulate(path, until=0.1, every=0.05)
    liaison.page(run, path, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
