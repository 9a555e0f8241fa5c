"""What a run shows on the command line: units, formulas for inputs, events, outputs, reactions."""

import json
import math

import pytest

import liaison

SWING = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter gap in mm ;
parameter w = 60 rpm ;
input drive = 0 N*m ;
let bob = body mass = 2 kg, center = [0, 0, -0.5] m, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
apply motor torque = drive end on A ;
start A = 30 deg ;
output tip = -0.5 m * cos(A) in mm ;
event down when A crossing ;
event side when A + 20 deg falling stop ;
"""

TURNED = """
let wheel = body mass = 1 kg, inertia = [1, 1, 2] kg*m^2 end ;
let A = join earth and wheel with revolute end ;
let drive = impose A = 90 deg * (t / (1 s))^2 ;
"""


@pytest.fixture
def swing(tmp_path):
    path = tmp_path / "swing.lsd"
    path.write_text(SWING, encoding="utf-8")
    return path


@pytest.fixture
def turned(tmp_path):
    path = tmp_path / "turned.lsd"
    path.write_text(TURNED, encoding="utf-8")
    return path


def test_check_says_the_units(run, swing):
    status, out, err = run("check", swing, "--set", "gap=3m")
    assert status == 0, err
    for said in ("gap = 3 m", "w = 6.28319 rad/s", "drive [N*m]", "tip [mm]", "A = 0.523599 rad"):
        assert said in out
    assert "gap = unknown [m]" in run("check", swing)[1]
    units = json.loads(run("check", swing, "--json")[1])["units"]
    assert units == {
        "gap": "m", "w": "rad/s", "drive": "N*m", "tip": "mm", "A": "rad", "A'": "rad/s"
    }  # fmt: skip


def test_a_value_with_a_unit_is_converted_and_hertz_are_no_radians(run, swing):
    facts = json.loads(run("check", swing, "--json", "--set", "gap=3 mm", "--set", "w=1 rev/s")[1])
    assert facts["parameters"] == {"gap": 0.003, "w": 2 * math.pi}
    status, _, err = run("check", swing, "--set", "w=1 Hz")
    assert status == 2
    assert "rev/s" in err


def test_a_number_alone_is_not_taken_for_si_where_the_text_has_another_unit(run, tmp_path):
    path = tmp_path / "bob.lsd"
    path.write_text(
        "let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;\n"
        "let A = join earth and b with revolute end ;\n"
        "parameter g = 5 in mm ; parameter th = 30 deg ; parameter l = 2 m ; input f = 1 in kN ;\n"
        "output z = g + l ; output y = th + A ; output x = f ;",
        encoding="utf-8",
    )
    for name, value, unit in (("g", "5", "mm"), ("th", "45", "deg"), ("f", "2", "kN")):
        status, _, err = run("check", path, "--set", f"{name}={value}")
        assert status == 2
        assert f"{name}={value}{unit}" in err
        assert run("check", path, "--set", f"{name}={value}{unit}")[0] == 0
    assert run("check", path, "--set", "l=3", "--set", "g=0")[0] == 0


def final(run, swing, *words):
    out = run("simulate", swing, "--until", 0.2, "--json", "--set", "gap=1m", *words)[1]
    return json.loads(out)["q"]["A"]


def test_an_input_is_a_formula_of_time_and_of_the_state(run, swing):
    plain = final(run, swing)
    assert abs(final(run, swing, "--set", "drive=3 N*m * sin(2 rad/s * t)") - plain) > 1e-3
    held = final(run, swing, "--set", "drive=2 N*m")
    assert final(run, swing, "--set", "drive=2 N*m + 0*t*1 N*m/s") == pytest.approx(held, abs=1e-9)
    damped = final(run, swing, "--set", "drive=-0.5 N*m*s/rad * A' + 0 N*m * w * 1 s")
    assert abs(damped - plain) > 1e-3


WRONG = {
    "a formula for a parameter": ["--set", "w=t*1 rad/s^2"],
    "a formula for a start": ["--start", "A=t*1 rad/s"],
    "a formula of a stranger": ["--set", "drive=nobody*3"],
    "an input of another dimension": ["--set", "drive=3 N*t"],
    "a time that runs": ["--until", "t"],
    "a step that runs": ["--step", "t"],
    "a tolerance of a fixed step": ["--step", "0.01", "--rtol", "1e-6"],
    "a label without a plot": ["--label", "A"],
    "an unknown form of plot": ["--plot", "DIR/x.xyz"],
    "results that are no netCDF": ["--out", "DIR/x.txt"],
    "an unknown series": ["--series", "tea"],
    "an unknown method": ["--method", "tea"],
    "a method without its step": ["--method", "rk4"],
    "a limit that is no time": ["--time-limit", "3 m"],
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_what_makes_no_run_is_refused_in_words(run, swing, tmp_path, words):
    words = [word.replace("DIR", str(tmp_path)) for word in words]
    until = [] if "--until" in words else ["--until", "0.1"]
    status, out, err = run("simulate", swing, "--set", "gap=1m", *until, *words)
    assert (status, out) == (2, "")
    assert "failed" not in err


def test_a_method_and_a_time_limit_are_taken(run, swing):
    words = ("simulate", swing, "--set", "gap=1m", "--json")
    facts = [
        json.loads(run(*words, "--until", 0.5, *more)[1])
        for more in ((), ("--method", "dormand-prince"), ("--method", "rk4", "--step", 0.01))
    ]
    assert len({(x["steps"], x["evaluations"]) for x in facts}) == 3
    status, out, _ = run(*words, "--until", 1e9, "--every", 1e8, "--time-limit", "100 ms",
                         "--start", "A=5 deg", "--start", "A'=0")  # fmt: skip
    assert status == 1
    assert json.loads(out)["error"]["status"] == "time limit"


def test_a_run_names_its_events_and_outputs(run, swing):
    words = ("simulate", swing, "--until", 5, "--set", "gap=1m")
    facts = json.loads(run(*words, "--json")[1])
    assert facts["status"] == "stopped"
    assert [x["name"] for x in facts["events"]] == ["down", "side"]
    assert 0 < facts["events"][0]["t"] < facts["events"][1]["t"] == pytest.approx(facts["t"])
    assert facts["outputs"] == {"tip": pytest.approx(-500 * math.cos(math.radians(20)), abs=1e-4)}
    text = run(*words)[1]
    assert "stopped by event 'side'" in text
    (tip,) = [line.split() for line in text.splitlines() if line.split()[:1] == ["tip"]]
    assert tip[1] == "mm"
    assert tip[3] == "-469.846"  # at the end
    assert "down at" in text


def test_reactions_and_drives_are_found_by_label(run, turned, tmp_path):
    import liaison

    plot, results = tmp_path / "x.png", tmp_path / "x.nc"
    words = ("simulate", turned, "--until", 0.5, "--plot", plot, "--out", results)
    status, _, err = run(*words, "--label", "reactions.A.*", "--label", "lam.*")
    assert status == 0, err
    kept = liaison.load(results)
    # 2 kg·m² turned with π rad/s²
    assert kept["lam.drive"] == pytest.approx(2 * math.pi, rel=1e-9)
    assert "reactions.A.Fz" in kept.columns("reactions.*")
    plain = tmp_path / "y.nc"
    assert run("simulate", turned, "--until", 0.1, "--out", plain, "--series", "lam")[0] == 0
    assert set(liaison.load(plain).series) >= {"lam"}
    assert "reactions" not in liaison.load(plain).series


def test_a_page_draws_forces_and_fast_bodies(run, tmp_path):
    fast = tmp_path / "fast.lsd"
    fast.write_text(TURNED.replace("90 deg * (t / (1 s))^2", "3000 rpm * t"), encoding="utf-8")
    page = tmp_path / "page.html"
    status, _, err = run("animate", fast, "--until", 0.5, "--out", page, "--forces")
    assert status == 0, err
    assert page.stat().st_size > 1000


def test_a_page_is_refused_before_the_run(run, turned, tmp_path):
    page = ["animate", turned, "--until", 0.1, "--out"]
    status, _, err = run(*page, tmp_path / "p.html", "--trace", "whel")
    assert status == 2
    assert "wheel" in err
    assert run(*page, tmp_path / "p.txt")[0] == 2


def test_a_page_that_simulates_is_written(run, turned, tmp_path):
    words = ["animate", turned, "--until", 0.1, "--live-page"]
    status, _, err = run(*words, "--out", tmp_path / "p.html")
    assert status == 0, err
    assert 'id="module"' in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert run(*words, "--out", tmp_path / "q.html", "--forces")[0] == 2
    assert run(*words, "--live")[0] == 2


def test_a_live_view_says_where_it_is(run, turned, monkeypatch):
    from liaison.view import LiveView

    monkeypatch.setattr(LiveView, "wait", LiveView.close)
    status, out, _ = run("animate", turned, "--until", 0.1, "--live")
    assert status == 0
    assert "http://127.0.0.1:" in out


def test_a_value_that_is_missing_is_asked_for_as_it_is_given_here(run, swing):
    status, _, err = run("simulate", swing, "--until", 0.1)
    assert status == 1
    assert "'gap' [m] has no value" in err
    assert "--set gap=" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--csv", "a.nc"), "has the name of another kind"),
        (("--set", "mu=0.3 m"), "the value of mu is a number alone"),
        (("--step", "0.01", "--max-step", "1e-3"), "a fixed step has no tolerance"),
        (("--step", "3"), "step is 3 s, longer than the run"),
        (("--impacts", "newton"), "has no contacts"),
    ],
)
def test_options_without_effect_are_refused(run, swing, words, said):
    swing.write_text(swing.read_text() + "parameter mu = 0.3 ;")
    status, _, err = run("simulate", swing, "--until", "1", "--set", "gap=1mm", *words)
    assert status != 0
    assert said in " ".join(err.replace("│", " ").split())


def test_angles_of_relations_are_numbers(run):
    _, out, _ = run("check", "examples/contact/stops.lsd")
    assert "A − 0.436332 ≤ 0" in out
    assert "π" not in out


def test_a_back_end_by_its_name(run, examples):
    words = ("simulate", examples / "pendulum.lsd", "--until", "0.5", "--json", "--back-end")
    status, out, err = run(*words, "portable")
    assert status == 0, err
    kernel = liaison.compile(examples / "pendulum.lsd", back_end="portable")
    assert json.loads(out)["q"]["A"] == liaison.simulate(kernel, until=0.5).q[-1, 0]
    status, _, err = run(*words, "fortran")
    assert status == 2
    assert "'fortran' is none of llvm, portable, c, numpy" in err
