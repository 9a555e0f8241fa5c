"""`liaison report`: files, options, numbers as JSON, inputs that are formulas, wrong options."""

import json
from pathlib import Path

import numpy as np
import pytest

WHEEL = """name = "wheel" ;
input push = 0 N*m ;
let wheel = body mass = 1 kg, inertia = [1, 2, 1] kg*m^2 end ;
let A = join earth and wheel with revolute axis = [0, 1, 0] end ;
let motor = apply motor torque = push end on A ;
"""


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wheel.lsd"
    path.write_text(WHEEL, encoding="utf-8")
    return path


def test_it_writes_a_page_beside_and_leaves_sections_out(run, wheel):
    short = ("--until", "0.1", "--leave-out", "equations", "--leave-out", "mobility")
    status, out, err = run("report", wheel, *short, "--title", "The wheel", "--author", "me, today")
    assert status == 0, err
    assert "wheel.report.html" in out
    html = (wheel.parent / "wheel.report.html").read_text(encoding="utf-8")
    assert "<h1>The wheel</h1>" in html
    assert "me, today" in html
    assert 'id="reactions"' in html
    assert 'id="equations"' not in html


def test_json_has_the_numbers_and_inputs_may_be_formulas(run, wheel):
    words = ("--set", "push=4 N*m * t/(1 s)", "--every", "0.1", "--leave-out", "equations")
    status, out, err = run("report", wheel, "--until", "1", "--json", *words)
    assert status == 0, err
    facts = json.loads(out)
    assert facts["drives"]["motor"]["effort"] == pytest.approx(4)
    assert facts["drives"]["motor"]["power"] == pytest.approx(4 * 1.0)  # ω = t² rad/s
    assert facts["versions"]["versions"]["file"] == "wheel.lsd"
    assert list(wheel.parent.iterdir()) == [wheel]


def slider_crank_energy(A, speed):
    """T + U [J] of examples/slider_crank.lsd, its crank turning at a speed, in plain formulas."""
    r, l, rod, piston = 0.05, 0.13, 0.3, 0.4
    tilt = np.arcsin(r * np.sin(A) / l)  # of the rod, down to the piston
    rate = r * np.cos(A) * speed / (l * np.cos(tilt))
    slide = -r * np.sin(A) * speed - l * np.sin(tilt) * rate
    middle = np.hypot(-r * np.sin(A) * speed - l / 2 * np.sin(tilt) * rate,
                      r * np.cos(A) * speed - l / 2 * np.cos(tilt) * rate)  # fmt: skip
    T = (0.004 * speed**2 + rod * middle**2 + rod * l**2 / 12 * rate**2 + piston * slide**2) / 2
    return T + rod * 9.81 * (r * np.sin(A) - l / 2 * np.sin(tilt))


def test_drives_of_a_report_have_the_torque_power_and_work_of_the_energy(run, tmp_path):
    """τ ω = d(T + U)/dt at a steady speed; the work does not depend on what is recorded."""
    text = Path("examples/slider_crank.lsd").read_text(encoding="utf-8")
    text = text.replace("start A = 90 deg ;", "let turn = impose A = 90 deg + 30 rad/s*t ;")
    text = text.replace("start A' = 30 rad/s ;", "").replace("start", "guess")
    path = tmp_path / "driven.lsd"
    path.write_text(text, encoding="utf-8")
    leave_out = [word for x in ("equations", "mobility") for word in ("--leave-out", x)]
    words = ("--until", "0.93", "--every", "0.05", "--json", "--out", tmp_path / "x.html")
    status, out, err = run("report", path, *words, *leave_out)
    assert status == 0, err
    turn = json.loads(out)["drives"]["turn"]
    t, h = np.arange(0, 0.93 + 1e-9, 0.05), 1e-5
    before, after = (slider_crank_energy(np.pi / 2 + 30 * t + x, 30.0) for x in (-h, h))
    torque = (after - before) / (2 * h)
    k = np.abs(torque).argmax()
    assert turn["unit"] == "N·m"
    assert (turn["effort"], turn["power"]) == pytest.approx((torque[k], 30 * torque[k]), rel=1e-6)
    assert turn["effort_at"] == pytest.approx(t[k])
    ends = slider_crank_energy(np.pi / 2 + 30 * np.array([0, 0.93]), 30.0)
    assert turn["work"] == pytest.approx(ends[1] - ends[0], abs=1e-7)
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "torque [N·m]" in page
    assert "force [N·m]" not in page


def test_the_work_of_a_motor_is_one_number_in_all_of_the_report(run, wheel):
    """∫ 4 sin(9 t) ω dt with ω = (4/18) (1 − cos 9 t): recorded every 0.2 s, off by a tenth."""
    words = ("--set", "push=4 N*m * sin(9 rad/s*t)", "--every", "0.2", "--leave-out", "equations")
    status, out, err = run("report", wheel, "--until", "1", "--json", *words)
    assert status == 0, err
    facts = json.loads(out)
    speed = 4 / 18 * (1 - np.cos(9.0))
    assert facts["drives"]["motor"]["work"] == pytest.approx(speed**2, rel=1e-6)
    assert facts["drives"]["motor"]["work"] == facts["energy"]["work"]["motor"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--leave-out", "plots"), "section"),
        (("--out", "x.doc"), ".html"),
        (("--pdf", "no/folder/x.pdf"), "no folder"),
        (("--until", "-1"), "not a time after 0"),
    ],
)
def test_wrong_options_are_rejected_before_anything_runs(run, wheel, words, message):
    status, _, err = run("report", wheel, *words)
    assert status == 2
    assert message in err
    assert list(wheel.parent.iterdir()) == [wheel]
