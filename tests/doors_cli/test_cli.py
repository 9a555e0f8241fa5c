"""The command line: what it prints, its exit status, and what it does not import."""

import io
import json
import math
import subprocess
import sys

import pytest

import liaison

SLOW = ["numpy", "scipy", "sympy", "xarray", "pandas", "matplotlib", "llvmlite", "rich"]


@pytest.fixture
def four_bar(examples):
    return examples / "four_bar.lsd"


SWING = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg between 0.1 kg and 10 kg ;
parameter length = 0.5 m ;
let bob = body mass = m, inertia = [0, 0, 0] end ;
let A = join earth and [0, 0, length] @ bob with revolute axis = [0, 1, 0] end ;
start A = 30 deg ;
"""


@pytest.fixture
def swing(tmp_path):
    """A pendulum with two parameters."""
    path = tmp_path / "swing.lsd"
    path.write_text(SWING, encoding="utf-8")
    return path


@pytest.fixture
def broken(tmp_path, four_bar):
    """The four-bar with a joint on a body that is not there."""
    path = tmp_path / "broken.lsd"
    path.write_text(four_bar.read_text(encoding="utf-8").replace("@ coupler", "@ coupeler", 1))
    return path


def imported(*words):
    """Slow modules that a command loads, in a process of its own."""
    code = (
        "import sys, liaison.cli\n"
        f"try: liaison.cli.main({list(words)!r})\n"
        "except SystemExit: pass\n"
        f"print([x for x in {SLOW!r} if x in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["simulate", "--help"]])
def test_help_imports_nothing_slow(words):
    assert imported(*words) == "[]"


def test_check_does_not_import_what_only_pictures_need(four_bar):
    loaded = imported("check", str(four_bar))
    for name in ("matplotlib", "xarray", "pandas", "sympy"):
        assert name not in loaded


def test_version_is_the_one_of_the_package(run):
    status, out, _ = run("--version")
    assert status == 0
    assert out.strip() == f"liaison {liaison.__version__}"


def test_help_names_every_verb(run):
    status, out, _ = run("--help")
    assert status == 0
    assert {"check", "simulate", "animate", "derive"} <= set(out.split())


def test_module_and_command_are_the_same(four_bar):
    done = subprocess.run(
        [sys.executable, "-m", "liaison", "check", str(four_bar), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["bodies"] == 3


def test_check_counts_the_four_bar(run, four_bar):
    status, out, err = run("check", four_bar, "--json")
    assert (status, err) == (0, "")
    facts = json.loads(out)
    # one cut revolute leaves three coordinates and five rows, of which two are independent
    expected = {"bodies": 3, "joints": 4, "loops": 1, "nq": 3, "nv": 3, "closure_rows": 5}
    assert facts | expected == facts
    assert (facts["rank"], facts["freedoms"], facts["gruebler"]) == (2, 1, -2)
    assert facts["unknowns"] == []


def test_check_tells_people_the_same(run, four_bar):
    status, out, _ = run("check", four_bar, "--explain")
    assert status == 0
    assert "3 bodies, 4 joints, 1 loop" in out
    assert "crank on ground by" in out
    assert "The closures" in out


def test_simulate_reports_how_well_it_went(run, four_bar):
    status, out, _ = run("simulate", four_bar, "--until", 1, "--json")
    facts = json.loads(out)
    assert status == 0
    assert facts["status"] == "done"
    assert facts["t"] == 1.0
    assert facts["steps"] > 0
    assert facts["evaluations"] >= facts["steps"]
    # closures as the projection promises; energy with rtol 1e-8 over a second, generously
    assert facts["position_residual"] <= 1e-10
    assert facts["velocity_residual"] <= 1e-10
    assert abs(facts["energy_error"]) < 1e-5
    assert len(facts["q"]) == len(facts["v"]) == 3


@pytest.mark.parametrize(("text", "value"), [("m=2.5", 2.5), ("m=700 g", 0.7), ("m = 1e0 kg", 1.0)])
def test_a_parameter_is_set_by_name_with_its_unit(run, swing, text, value):
    status, out, _ = run("check", swing, "--json", "--set", text)
    assert status == 0
    assert json.loads(out)["parameters"]["m"] == value
    assert json.loads(out)["mass"] == value


def test_a_parameter_changes_the_motion(run, swing):
    def final(*words):
        return json.loads(run("simulate", swing, "--until", 1, "--json", *words)[1])["q"]["A"]

    assert final("--set", "m=5") == pytest.approx(final(), abs=1e-7)
    assert abs(final("--set", "length=25 cm") - final()) > 0.1


def test_a_parameter_outside_its_bounds_is_the_models_fault(run, swing):
    status, _, err = run("check", swing, "--set", "m=11")
    assert status == 1
    assert "bounds" in err


def test_an_unknown_is_named_and_must_be_set_for_a_run(run, swing, tmp_path):
    path = tmp_path / "open.lsd"
    path.write_text(swing.read_text(encoding="utf-8").replace("length = 0.5 m", "length in m"))
    status, out, _ = run("check", path, "--json")
    facts = json.loads(out)
    assert (status, facts["unknowns"], facts["parameters"]["length"]) == (0, ["length"], None)
    assert run("simulate", path, "--until", 1)[0] == 1
    assert run("simulate", path, "--until", 0.1, "--set", "length=0.5 m")[0] == 0


def test_a_start_is_set_in_degrees(run, swing):
    status, out, _ = run("check", swing, "--json", "--start", "A=45 deg", "--start", "A'=2")
    assert status == 0
    assert json.loads(out)["start"] == {"A": pytest.approx(math.pi / 4, abs=1e-15), "A'": 2.0}


def test_files_are_written_where_asked(run, four_bar, tmp_path):
    files = [tmp_path / name for name in ("run.nc", "run.csv", "run.png")]
    options = zip(("--out", "--csv", "--plot"), files, strict=True)
    words = [word for pair in options for word in pair]
    status, out, _ = run("simulate", four_bar, "--until", "200 ms", "--every", 0.01, *words)
    assert status == 0
    for file in files:
        assert file.stat().st_size > 100
        assert str(file) in out


def test_a_page_is_written(run, four_bar, tmp_path):
    page = tmp_path / "page.html"
    status, out, _ = run("animate", four_bar, "--until", 0.2, "--out", page, "--json")
    assert status == 0
    assert json.loads(out)["page"] == str(page)
    assert "<html" in page.read_text(encoding="utf-8").lower()


def test_a_run_tells_how_well_it_kept_what_is_constant(run, examples):
    words = ("simulate", examples / "elliptic_pendulum.lsd", "--until", 1)
    status, out, _ = run(*words)
    assert status == 0
    assert "constant  momentum of y: " in out
    _, out, _ = run(*words, "--json")
    found = json.loads(out)["invariants"]
    assert list(found) == ["energy", "momentum of y"]
    assert found["energy"]["drift"] < 1e-6
    assert found["energy"]["unit"] == "J"


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
def test_equations_are_printed(run, formalism, examples):
    status, out, _ = run("derive", examples / "pendulum.lsd", "--formalism", formalism)
    assert status == 0
    assert "Equations of motion" in out or "M[1,1] =" in out


@pytest.mark.parametrize(("form", "mark"), [("latex", r"\begin{aligned}"), ("c", "void ")])
def test_equations_are_printed_in_other_forms(run, form, mark, examples):
    status, out, _ = run("derive", examples / "pendulum.lsd", "--format", form, "--json")
    assert status == 0
    assert mark in json.loads(out)["text"]


def test_a_broken_model_is_refused_with_its_place(run, broken):
    status, out, err = run("check", broken)
    assert status == 1
    assert out == ""
    assert "broken.lsd, line" in err
    assert "Traceback" not in err


def test_a_refusal_is_json_too(run, broken):
    status, out, _ = run("simulate", broken, "--until", 1, "--json")
    error = json.loads(out)["error"]
    assert status == 1
    assert error["kind"] in ("NamingError", "TextError")
    assert error["file"].endswith("broken.lsd")
    assert error["line"] > 0


WRONG = {
    "no verb": [],
    "an unknown verb": ["fly"],
    "an unknown option": ["check", "FILE", "--wings"],
    "a missing file": ["check", "nowhere.lsd"],
    "a negative time": ["simulate", "FILE", "--until", "-1"],
    "a time that is no number": ["simulate", "FILE", "--until", "soon"],
    "a time in kilograms": ["simulate", "FILE", "--until", "3 kg"],
    "no equal sign": ["check", "FILE", "--set", "mass"],
    "an unknown parameter": ["check", "FILE", "--set", "no_such_thing=1"],
    "an unknown start": ["check", "FILE", "--start", "no_such_thing=1"],
    "a value that is no number": ["check", "SWING", "--set", "m=heavy"],
    "a mass in meters": ["check", "SWING", "--set", "m=2 m"],
    "an angle in seconds": ["check", "SWING", "--start", "A=2 s"],
    "a turning in hertz": ["check", "SWING", "--start", "A'=1 Hz"],
    "an unknown formalism": ["derive", "FILE", "--formalism", "astrology"],
    "an unknown form": ["derive", "FILE", "--format", "runes"],
    "no page": ["animate", "FILE", "--until", "1"],
    "a folder that is not there": ["simulate", "FILE", "--until", "1", "--out", "no/such/run.nc"],
    "an unknown label": ["simulate", "FILE", "--until", "0.1", "--plot", "PNG", "--label", "wing"],
}


def test_a_run_lasts_ten_seconds_where_nothing_is_said(run, swing):
    status, out, _ = run("simulate", str(swing))
    assert status == 0
    assert "reached t = 10 s" in out


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_a_wrong_command_line_leaves_with_2(run, words, four_bar, swing, tmp_path):
    given = {"FILE": str(four_bar), "SWING": str(swing), "PNG": str(tmp_path / "p.png")}
    status, _, err = run(*(given.get(word, word) for word in words))
    assert status == 2, err
    assert "Traceback" not in err


def test_a_wrong_command_line_is_json_too(run, four_bar):
    status, out, _ = run("check", four_bar, "--json", "--set", "no_such_thing=1")
    assert status == 2
    assert "no_such_thing" in json.loads(out)["error"]["message"]


def test_an_unexpected_error_asks_for_a_report(run, four_bar, monkeypatch):
    from liaison.verbs.analyse import check

    def fall(*_):
        raise ZeroDivisionError("a corner nobody thought of")

    monkeypatch.setattr(check, "check", fall)
    status, out, err = run("check", four_bar)
    assert (status, out) == (3, "")
    assert "a corner nobody thought of" in err
    assert "report" in err
    assert "Traceback" not in err
    assert "Traceback" in run("check", four_bar, "--debug")[2]


def test_a_failed_run_leaves_what_it_had(run, four_bar, tmp_path, monkeypatch):
    from liaison import SimulationError, Trajectory
    from liaison.verbs.motion import simulate

    partial = simulate.simulate(four_bar, until=0.05)

    def fail(*_, **__):
        raise SimulationError("lost its way.", status="projection lost", t=0.05, trajectory=partial)

    monkeypatch.setattr(simulate, "simulate", fail)
    path = tmp_path / "partial.nc"
    status, out, err = run("simulate", four_bar, "--until", 1, "--out", path, "--json")
    assert status == 1
    error = json.loads(out)["error"]
    assert (error["status"], error["t"]) == ("projection lost", 0.05)
    assert str(path) in err
    assert Trajectory.load(path).q.tolist() == partial.q.tolist()


def test_an_unwritable_file_is_told_in_one_line(run, four_bar, tmp_path):
    folder = tmp_path / "run.nc"
    folder.mkdir()
    status, _, err = run("simulate", four_bar, "--until", 0.1, "--out", folder)
    assert status in (1, 2)
    assert "Traceback" not in err


def test_a_long_run_writes_no_progress_into_a_pipe(capsys):
    from liaison.cli.running import Bar

    with Bar() as bar:
        bar.PATIENCE = -1.0
        for fraction in (0.31, 0.35, 0.5):
            bar(fraction)
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_progress_is_a_bar(monkeypatch):
    from liaison.cli.running import Bar

    terminal = a_terminal(monkeypatch)
    with Bar() as bar:
        bar.PATIENCE = -1.0
        bar(0.5)
    assert "simulating" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_progress_that_is_switched_off_is_no_bar_either(monkeypatch):
    from liaison.cli.running import Bar

    terminal = a_terminal(monkeypatch)
    liaison.show_progress(False)
    try:
        with Bar() as bar:
            bar.PATIENCE = -1.0
            bar(0.5)
    finally:
        liaison.show_progress(True)
    assert terminal.getvalue() == ""


def a_terminal(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    liaison.show_progress(True)  # a page of the manual that ran before may have turned it off
    return terminal
