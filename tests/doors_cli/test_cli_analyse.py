"""The verbs that analyse a motion, for people and as JSON."""

import json

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
    assert "2.47159 Hz" in text
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
    assert "--target c only" in said(capsys, "build", four_bar, *words, status=2).err
    assert "greater" in said(capsys, "mobility", four_bar, "--order", "-3", status=2).err
    words = ("--until", "1", "--out", tmp_path / "x.html", "--method", "rattle")
    assert "fixed --step" in said(capsys, "animate", four_bar, *words, status=2).err


def test_stability_is_not_told_of_a_motion_that_changes(capsys, examples):
    text = said(capsys, "linearize", examples / "four_bar.lsd").out
    assert text.rstrip().endswith("they change along it")
    assert said(capsys, "linearize", examples / "four_bar.lsd", "--rest").out.endswith("stable\n")


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
