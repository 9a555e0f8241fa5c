"""Ctrl-C on the command line: exit status 130, and what was computed is saved where asked for."""

import json

import pytest

import liaison
from liaison.cli import running

LONG = ("--until", "1e4", "--step", "1e-6", "--max-steps", "100000000000", "--every", "0.02")


def control_c(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture
def stopped(monkeypatch):
    """Ctrl-C as soon as a run shows its progress."""
    monkeypatch.setattr(running.Bar, "__call__", control_c)


@pytest.fixture
def pendulum(examples):
    return examples / "pendulum.lsd"


def test_a_run_is_saved(run, stopped, pendulum, tmp_path):
    files = ("--out", tmp_path / "a.nc", "--csv", tmp_path / "a.csv")
    status, out, err = run("simulate", pendulum, *LONG, *files, "--json")
    assert status == 130
    assert json.loads(out)["error"]["kind"] == "Interrupted"
    assert "interrupted at t =" in err
    found = liaison.load(tmp_path / "a.nc")
    assert found.status == "interrupted"
    assert 0 < found.t[-1] < 1e6
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 2


def test_a_motion_is_saved(run, stopped, pendulum, tmp_path):
    status, _, err = run("motion", pendulum, *LONG, "--csv", tmp_path / "a.csv")
    assert (status, "interrupted at t =" in err) == (130, True), err
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 2


def test_a_page_is_written(run, stopped, pendulum, tmp_path):
    page = tmp_path / "a.html"
    status, _, err = run("animate", pendulum, *LONG, "--out", page)
    assert (status, "interrupted at t =" in err) == (130, True), err
    assert page.stat().st_size > 1000


def test_mobility_is_left(run, pendulum, monkeypatch):
    from liaison.verbs.freedoms import mobility

    monkeypatch.setattr(mobility, "examine", control_c)
    status, out, err = run("mobility", pendulum)
    assert (status, out) == (130, "")
    assert err.strip() == "the computation of mobility was interrupted."
