"""The verbs that analyse a motion, for people and as JSON."""

import json
import math

import pytest

from liaison.cli import main
from liaison.simulation import load


def said(capsys, *words, status=0):
    with pytest.raises(SystemExit) as left:
        main([str(x) for x in words])
    assert (left.value.code or 0) == status
    return capsys.readouterr()


def test_equilibrium(capsys, examples):
    text = said(capsys, "equilibrium", examples / "four_bar.lsd").out
    assert text.startswith("stable")
    assert "frequency [Hz]" in text
    assert " 2.47159 " in text
    assert "is not determined: closures are redundant" in text
    facts = json.loads(said(capsys, "equilibrium", examples / "four_bar.lsd", "--json").out)
    assert facts["is_stable"] is True
    assert facts["reactions"]["A"].count(None) == 3
    up = said(capsys, "equilibrium", examples / "spinning_top.lsd", "--nearest").out
    assert up.startswith("not stable")


def test_what_would_be_ignored_is_refused(capsys, examples, tmp_path):
    four_bar = examples / "four_bar.lsd"
    found = said(capsys, "linearize", four_bar, "--independent", "Q", status=2)
    assert "Declared: A, B, D" in found.err
    found = said(capsys, "reduce", four_bar, "--independent", "Q", status=2)
    assert "Declared: A, B, D" in found.err
    words = ("--out", tmp_path / "x", "--target", "ptx", "--shared")
    assert "--target portable or c only" in said(capsys, "build", four_bar, *words, status=2).err
    assert "--order" in said(capsys, "mobility", four_bar, "--order", "-3", status=2).err
    words = ("--until", "1", "--out", tmp_path / "x.html", "--method", "rattle")
    assert "fixed --step" in said(capsys, "animate", four_bar, *words, status=2).err


def test_stability_is_not_told_of_a_motion_that_changes(capsys, examples):
    text = said(capsys, "linearize", examples / "four_bar.lsd").out
    assert text.rstrip().endswith("they change along it.")
    assert said(capsys, "linearize", examples / "four_bar.lsd", "--rest").out.startswith("stable: ")


def test_an_input_must_stand_still(capsys, examples):
    found = said(
        capsys,
        "equilibrium",
        examples / "slider_crank.lsd",
        "--set",
        "drive=2 N*m*sin(t*1 rad/s)",
        status=2,
    )
    assert "not a formula of time" in found.err


def test_linearize(capsys, examples):
    path = examples / "four_bar.lsd"
    text = said(capsys, "linearize", path, "--rest").out
    assert "15.5294514i" in text
    facts = json.loads(said(capsys, "linearize", path, "--independent", "D", "--json").out)
    assert facts["states"] == ["D [rad]", "D' [rad/s]"]
    assert facts["steadiness"] > 0


def test_verify_a_new_run_and_a_saved_one(capsys, examples, tmp_path):
    path, saved = examples / "double_pendulum.lsd", tmp_path / "run.nc"
    assert said(capsys, "verify", path, "--until", "200 ms").out.startswith("every theorem holds")
    said(capsys, "simulate", path, "--until", "0.2", "--every", "1 ms", "--out", saved)
    facts = json.loads(said(capsys, "verify", path, "--run", saved, "--json").out)
    assert facts["holds"] is True
    found = said(capsys, "verify", examples / "four_bar.lsd", "--run", saved, status=1)
    assert "another mechanism" in found.err


def test_accelerations_are_found_by_label_and_by_series(capsys, examples, tmp_path):
    path, saved = examples / "four_bar.lsd", tmp_path / "run.nc"
    words = ["--until", "0.1", "--series", "motions", "--out", saved]
    said(capsys, "simulate", path, *words, "--plot", tmp_path / "x.png", "--label", "A''")
    run = load(saved)
    assert run["A''"].shape == run.t.shape
    assert run.unit("motions.crank.vx'") == "m/s2"


def test_evidence_is_printed_on_demand_and_always_in_json(run, examples):
    file = examples / "four_bar.lsd"
    for words in (["mobility", file], ["assemble", file, "--all", "--at", "A=0.3"]):
        assert "Theorem: " not in run(*words)[1]
        assert "Proved: four bar: " in run(*words, "--evidence")[1]
        assert json.loads(run(*words, "--json")[1])["evidence"][0]["theorem"]


def test_evidence_of_a_comparison_needs_the_comparison(run, examples):
    file = examples / "elliptic_pendulum.lsd"
    status, _, err = run("derive", file, "--evidence")
    assert (status, "--compare" in err) == (2, True)
    status, out, _ = run("derive", file, "--compare", "--evidence")
    assert status == 0
    assert "is equivalent to newton_euler" in out


def test_evidence_of_everything(run, examples):
    status, out, _ = run("evidence", examples / "elliptic_pendulum.lsd", "--json")
    facts = json.loads(out)
    assert (status, facts["missing"]) == (0, [])
    assert all(x["is_proved"] and x["repeat"] for x in facts["evidence"])


DRIVEN = """
gravity = [0, 0, -9.81] m/s^2 ; parameter w = 300 in mm ; input u = 1 N*m ;
let bob = body mass = 1 kg, center = [0, 0, -1] m, inertia = 0 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
apply motor torque = u end on A ;
start A = 400 deg ;
"""
IGNORED = [
    ("torsors", "--set", "u=3 N*m/s*t", "not a formula of time"),
    ("reduce", "--set", "u=3 N*m/s*t", "not a formula of time"),
    ("parametrizations", "--set", "u=3 N*m/s*t", "not a formula of time"),
    ("simulate", "--set", "w=2*3", "the text gives w in mm"),
    ("simulate", "--set", "w=(5)", "the text gives w in mm"),
    ("simulate", "--start", "A=60", "the text gives A in deg"),
    ("equilibrium", "--guess", "A=60", "the text gives A in deg"),
    ("simulate", "--set", "w=1 m", "--set", "w=2 m", "w is set twice"),
    ("check", "--start", "A=1 rad", "--start", "A=2 rad", "A is set twice"),
    ("inertia", "--point", "1 kg,0,0", "is in kg"),
    ("virtual_power", "--point", "1,0,0", "--rotation"),
    ("assemble", "--evidence", "--all"),
    ("assemble", "--all", "--hand", "bob", "--position", "[0,0,0]", "leave out --all"),
    ("derive", "--level", "vector", "--formalism", "lagrange", "--level has no use for it"),
    ("derive", "--own", "--formalism", "hamilton", "--format", "latex", "--own has no use for it"),
]


@pytest.mark.parametrize("case", IGNORED, ids=" ".join)
def test_an_option_without_effect_is_refused(capsys, tmp_path, case):
    path = tmp_path / "driven.lsd"
    path.write_text(DRIVEN)
    command, *options, words = case
    assert words in said(capsys, command, path, *options, status=2).err.replace("\n", " ")


def test_a_saved_run_has_its_own_values(capsys, tmp_path, examples):
    path, saved = examples / "four_bar.lsd", tmp_path / "run.nc"
    said(capsys, "simulate", path, "--until", "0.02", "--every", "0.01", "--out", saved)
    for words in (("--set", "a=0.31"), ("--start", "A=1 rad"), ("--until", "3")):
        assert "has its own" in said(capsys, "verify", path, "--run", saved, *words, status=2).err
    for words in (("--set", "a=0.31"), ("--at", "A=1")):
        found = said(capsys, "singular", path, "--along", saved, *words, status=2)
        assert "has its own" in found.err
    assert "rank" in said(capsys, "singular", path, "--along", saved).out


def test_the_equilibrium_near_another_start_is_linearized(capsys, tmp_path):
    path = tmp_path / "driven.lsd"
    path.write_text(DRIVEN)
    words = ("linearize", path, "--rest", "--start", "A=0.1 rad", "--set", "u=0", "--json")
    eigenvalues = json.loads(said(capsys, *words).out)["eigenvalues"]
    assert max(map(math.hypot, *eigenvalues)) == pytest.approx(9.81**0.5)


def test_motion_begins_with_the_turns_of_the_start(capsys, tmp_path):
    path = tmp_path / "driven.lsd"
    path.write_text(DRIVEN)
    found = json.loads(said(capsys, "motion", path, "--until", "0.1", "--json").out)
    assert found["columns"]["A"][0] == pytest.approx(math.radians(400))


def test_names_of_series_may_be_names_of_joints(capsys, tmp_path):
    path = tmp_path / "driven.lsd"
    path.write_text(DRIVEN.replace("let A", "let energy").replace("on A", "on energy")
                    .replace("start A", "output gaps = energy in deg ; start energy"))  # fmt: skip
    facts = json.loads(said(capsys, "simulate", path, "--until", "0.01", "--json").out)
    assert facts["q"]["energy"] == pytest.approx(math.radians(400), abs=1e-2)
    assert facts["energy"] < 0  # T + U, far below the hinge


def drift(capsys, path, *words):
    return json.loads(said(capsys, "baumgarte", path, "--json", *words).out)


def test_baumgarte_follows_formulas_of_inputs_and_takes_times_with_units(capsys, examples):
    path = examples / "slider_crank.lsd"
    words = ("--until", "20ms", "--step", "2 ms", "--time", "0.01")
    formula = "drive=3 N*m/s*t + 1 N*m"
    driven = drift(capsys, path, *words, "--set", formula)
    constant = drift(capsys, path, *words, "--set", "drive=1 N*m")
    same = drift(capsys, path, *words, "--set", "drive=0 N*m/s*t + 1 N*m")
    assert (driven["step"], driven["time"]) == (0.002, 0.01)
    assert driven["neither"] != constant["neither"] == same["neither"]
    short = ("--until", "1 kg")
    assert "is in kg" in said(capsys, "baumgarte", path, *short, status=2).err
