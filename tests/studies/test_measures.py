"""Measures: values against NumPy on the whole trajectory, and texts that are none."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, NamingError, TextError
from liaison.studies.measures import MOST_TEXT, read_measure

MEASURES = {
    "highest": "max(A)",
    "lowest": "min(A) in deg",
    "between": "(max(A) - min(A)) in deg",
    "span": "range(A)",
    "average": "mean(abs(A'))",
    "rms": "rms(A')",
    "work": "integral(A'*A')",
    "first": "initial(A)",
    "last": "final(A)",
    "then": "at(A, 0.3 s)",
    "when": "time_of_max(A')",
    "mixed": "2*max(A)**2 - sqrt(abs(min(A))) + max(1, 3)/4",
    "length": "l + 5 cm",
    "energy": "max(energy.T) - min(energy.T)",
    "force": "max(reactions.A.Fx)",
}


@pytest.fixture(scope="module")
def swings():
    return liaison.study(
        "examples/pendulum.lsd", vary={"l": [0.5, 1.0]}, measure=MEASURES, until=1.0, every=0.01,
        start={"A": 1.0},
    )  # fmt: skip


@pytest.fixture(scope="module", params=[0, 1])
def pair(request, swings):
    k, length = request.param, [0.5, 1.0][request.param]
    run = liaison.simulate(
        "examples/pendulum.lsd", until=1.0, every=0.01, start={"A": 1.0}, parameters={"l": length},
        series=["reactions"],
    )  # fmt: skip
    return {x: swings[x][k] for x in MEASURES}, run


def test_measures_are_those_of_the_trajectory(pair):
    measured, run = pair
    t, A, rate = run.t, run["A"], run["A'"]
    expected = {
        "highest": A.max(), "lowest": np.degrees(A.min()), "span": np.ptp(A),
        "between": np.degrees(np.ptp(A)),
        "average": np.trapezoid(abs(rate), t) / 1.0, "rms": np.sqrt(np.trapezoid(rate**2, t)),
        "work": np.trapezoid(rate**2, t), "first": A[0], "last": A[-1], "then": A[30],
        "when": t[np.argmax(rate)], "energy": np.ptp(run["energy.T"]),
        "mixed": 2 * A.max() ** 2 - np.sqrt(abs(A.min())) + 0.75,
        "length": run.meta["parameters"]["l"] + 0.05,
        "force": run["reactions.A.Fx"].max(),
    }  # fmt: skip
    assert expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measured[name] == pytest.approx(value, rel=1e-10), name


def test_units_follow_from_the_formulas(swings):
    assert swings.unit("highest") == "rad"
    assert swings.unit("lowest") == "deg"
    assert swings.unit("rms") == "rad/s"


def test_measures_at_events_are_those_at_the_event():
    measure = {
        "t": "time(full_turn)", "second": "time(full_turn, 2)", "count": "count(full_turn)",
        "rocker": "at(D', full_turn)",
    }  # fmt: skip
    four_bar = "examples/four_bar.lsd"
    study = liaison.study(four_bar, vary={"A'": [10.0, 20.0]}, measure=measure, until=0.8)
    for k, speed in enumerate((10.0, 20.0)):
        run = liaison.simulate(four_bar, until=0.8, start={"A'": speed})
        turns = [x for x in run.events if x.name == "full_turn"]
        assert study["count"][k] == len(turns)
        assert study["t"][k] == pytest.approx(turns[0].t, rel=1e-9)
        j = [x.name for x in run.labels["v"]].index("D'")
        assert study["rocker"][k] == pytest.approx(turns[0].v[j], rel=1e-7)
        expected = turns[1].t if len(turns) > 1 else np.nan
        assert study["second"][k] == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_a_run_that_an_event_stops_is_measured_up_to_its_end():
    text = Path("examples/pendulum.lsd").read_text() + "\nevent low when A falling stop ;\n"
    study = liaison.study(
        text, vary={"l": [0.5, 1.0]}, measure={"end": "final(A)", "fast": "min(A')"}, until=2.0,
        start={"A": 1.0}, every=0.05,
    )  # fmt: skip
    assert study["status"].tolist() == ["stopped", "stopped"]
    assert np.abs(study["end"]).max() < 1e-9
    run = liaison.simulate(text, until=2.0, start={"A": 1.0}, parameters={"l": 0.5})
    assert study["fast"][0] == pytest.approx(run["A'"][-1], rel=1e-7)


def test_columns_of_a_run_that_an_event_stops_go_to_its_end():
    text = Path("examples/pendulum.lsd").read_text() + "\nevent low when A falling stop ;\n"
    measure = {
        "end": "final(energy.T)", "most": "max(energy.T)", "work": "integral(energy.T)",
        "force": "final(reactions.A.Fx)", "there": "at(abs(reactions.A.Fx), low)",
    }  # fmt: skip
    how = {"until": 2.0, "start": {"A": 1.0}, "every": 0.05}
    study = liaison.study(text, vary={"l": [0.5, 1.0]}, measure=measure, **how)
    for k, length in enumerate((0.5, 1.0)):
        run = liaison.simulate(text, parameters={"l": length}, series=["reactions"], **how)
        kinetic, force = run["energy.T"], run["reactions.A.Fx"]
        assert run.status == "stopped"
        assert study["end"][k] == pytest.approx(kinetic[-1], rel=1e-7)
        assert study["most"][k] == pytest.approx(kinetic.max(), rel=1e-7)
        assert study["work"][k] == pytest.approx(np.trapezoid(kinetic, run.t), rel=1e-7)
        assert study["force"][k] == pytest.approx(force[-1], rel=1e-7)
        assert study["there"][k] == pytest.approx(abs(force[-1]), rel=1e-7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max(A", "not closed"),
        ("max(A) +", "not the end"),
        ("max(A) in furlong", "furlong"),
        ("biggest(A)", "no function of a run"),
        ("max(A; gravity = 0)", "no formula"),
        ("max(A)) ", "not expected"),
        ("at(A)", "an instant or the name of an event"),
        ("time(full_turn, 0)", "the first is 1"),
        ("(" * 60 + "1" + ")" * 60, "brackets inside brackets"),
        ("__import__('os')", "no function of a run"),
        ("atan2(max(A))", "takes 2 numbers"),
        ("-" * 1500 + "1", "brackets inside brackets"),
        ("2**" * 600 + "1", "brackets inside brackets"),
        ("1" + "+1" * 900, "operations"),
        ("time(full_turn, ²)", "the first is 1"),
        ("1e999", "too large"),
    ],
)
def test_what_is_no_measure_is_rejected_at_its_place(text, words):
    with pytest.raises(LiaisonError) as error:
        read_measure("m", text)
    assert words in str(error.value)
    assert error.value.place is not None


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("max(AA)", NamingError, "AA"),
        ("max(A + 1 kg)", TextError, ""),
        ("l2", NamingError, "l2"),
        ("time(turn)", NamingError, "turn"),
        ("max(A) in kg", LiaisonError, "does not convert"),
        ("2*max(A) in deg", LiaisonError, "is not known"),
    ],
)
def test_formulas_that_the_mechanism_cannot_have_are_rejected(text, kind, words):
    with pytest.raises(kind) as error:
        liaison.study("examples/pendulum.lsd", vary={"l": [1]}, measure={"m": text}, until=1)
    assert words in str(error.value)
    assert "measure 'm'" in str(error.value)


def test_a_text_that_is_too_long_is_rejected():
    with pytest.raises(LiaisonError, match=f"{MOST_TEXT} are allowed"):
        read_measure("m", "1" + "+1" * MOST_TEXT)


def test_gradients_are_limits_of_differences():
    """Every rule of differentiation against complex-free central differences of `values`."""
    from liaison.studies.measures import Samples

    texts = [
        "max(x)", "min(x)", "mean(x)", "rms(x)", "integral(x)", "final(x) - initial(x)",
        "range(x)*p", "at(x, 0.5 s)/p", "sqrt(max(x))", "exp(mean(x)) + log(max(x))",
        "atan2(max(x), p)", "max(x)**3", "2**mean(x)", "abs(min(x))", "max(mean(x), min(x))",
        "sin(max(x))*cos(p) + tan(p)",
    ]  # fmt: skip
    t = np.linspace(0, 1, 11)

    def samples(p, q):
        return Samples(
            t[None, :], lambda text: (1.5 + np.sin(3 * p * t) * q)[None, :],
            lambda *args: np.zeros(1), lambda name: [], lambda name: np.array([p]),
        )  # fmt: skip

    p, q, h = 0.7, 0.9, 1e-6
    slope = np.column_stack([3 * t * np.cos(3 * p * t) * q, np.sin(3 * p * t)])
    for text in texts:
        measure = read_measure("m", text)
        value, gradient = measure.gradient(
            samples(p, q), lambda name, w: w @ slope, lambda name: np.array([1.0, 0.0])
        )
        assert value == measure.values(samples(p, q))[0]
        for k, (dp, dq) in enumerate(((h, 0), (0, h))):
            up = measure.values(samples(p + dp, q + dq))[0]
            down = measure.values(samples(p - dp, q - dq))[0]
            assert gradient[k] == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-8), text


def test_a_run_that_failed_changes_no_measure_of_the_others():
    measures = {"mean": "mean(A)", "rms": "rms(A)", "range": "range(A)"}
    alone, beside = (
        liaison.study("examples/pendulum.lsd", vary={"l": x}, measure=measures, until=1)
        for x in ([1.0, 2.0], [1.0, -1.0, 2.0])
    )
    assert beside["status"].tolist() == ["done", "failed", "done"]
    for name in measures:
        assert beside[name][[0, 2]].tolist() == alone[name].tolist()
        assert np.isnan(beside[name][1])


def test_a_run_that_ended_before_has_no_value_at_an_instant():
    text = Path("examples/pendulum.lsd").read_text() + "\nevent low when A falling stop ;\n"
    measures = {
        "at": "at(A, 0.9 s)", "before": "at(A, 0.2 s)", "last": "final(energy.T)",
        "pull": "final(reactions.A.Fz)", "mean": "mean(energy.T)",
    }  # fmt: skip
    study = liaison.study(text, vary={"l": [1.0]}, measure=measures, until=1.0, every=0.01)
    run = liaison.simulate(text, until=1.0, every=0.01, series=["energy", "reactions"])
    assert run.status == "stopped"
    assert np.isnan(study["at"][0])
    assert study["before"][0] == pytest.approx(run["A"][20], rel=1e-9)
    assert study["last"][0] == pytest.approx(run["energy.T"][-1], rel=1e-9)
    assert study["pull"][0] == pytest.approx(run["reactions.A.Fz"][-1], rel=1e-9)
    expected = np.trapezoid(run["energy.T"], run.t) / run.t[-1]
    assert study["mean"][0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["l", "status"])
def test_a_measure_has_no_name_of_another_column(name):
    with pytest.raises(LiaisonError, match="has the name of what"):
        liaison.study("examples/pendulum.lsd", vary={"l": [1]}, measure={name: "max(A)"}, until=1)


def test_instants_without_end_are_rejected():
    how = {"vary": {"l": [1]}, "measure": {"x": "max(A)"}, "until": 1}
    with pytest.raises(LiaisonError, match="are allowed"):
        liaison.study("examples/pendulum.lsd", **how, every=1e-13)
    with pytest.raises(LiaisonError, match="threads is -5"):
        liaison.study("examples/pendulum.lsd", **how, threads=-5)
    with pytest.raises(NamingError, match="__class__"):
        liaison.study("examples/pendulum.lsd", **how, series=["__class__"])


DRIVEN = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg ;
parameter l = 1 m ;
let arm = body mass = m, center = [l, 0, 0], inertia = 0 end ;
let A = join earth and arm with revolute axis = [0, -1, 0] end ;
let drive = impose A = 2 rad/s * t ;
start A = 0 ;
"""


def test_columns_of_series_stand_in_formulas():
    """The torque of a drive that turns a weight: m g l cos(2 t)."""
    measure = {
        "peak": "max(abs(lam.drive))", "power": "mean(lam.drive*A')", "high": "max(m*lam.drive)",
        "above": "max(abs(lam.drive) - 5 N*m) in Nm", "both": "max(max(lam.drive), 3) in kN*m",
        "moved": "max(sqrt(lam.drive^2)*norm(velocity(arm.iframe)))",
    }  # fmt: skip
    study = liaison.study(DRIVEN, vary={"m": [1.0, 3.0]}, measure=measure, until=3.0, every=0.01)
    t = np.arange(301) * 0.01
    for k, m in enumerate((1.0, 3.0)):
        torque = m * 9.81 * np.cos(2 * t)
        expected = {
            "peak": abs(torque).max(), "power": np.trapezoid(2 * torque, t) / 3,
            "high": m * torque.max(), "above": abs(torque).max() - 5,
            "both": torque.max() / 1000, "moved": 2 * abs(torque).max(),
        }  # fmt: skip
        for name, value in expected.items():
            assert study[name][k] == pytest.approx(value, rel=1e-9, abs=1e-9), name
    assert [study.unit(x) for x in ("peak", "power", "above")] == ["N*m", "", "Nm"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("max(abs(lam.drive)*B)", "'B'"), ("max(abs(lam.drive) ! 3)", "'!' is not expected"),
     ("max(atan2(lam.drive))", "takes 2 numbers"), ("max(abs(lam.drve))", "did you mean")],
)  # fmt: skip
def test_mistakes_beside_columns_are_named(text, said):
    with pytest.raises(LiaisonError, match=said):
        liaison.study(DRIVEN, vary={"m": [1.0]}, measure={"x": text}, until=0.1)


def test_units_of_numbers_are_read_as_in_lsd():
    """Also where a parameter has the name of a unit."""
    measure = {"x": "m/(4 N*m)", "y": "m/(5 mm^2)", "z": "m - 2 kg*m^2/s^2 * m", "sum": "l + 2 mm"}
    study = liaison.study(DRIVEN, vary={"m": [3.0]}, measure=measure, until=0.1)
    assert study["x"][0] == pytest.approx(3 / 4)
    assert study["y"][0] == pytest.approx(3 / 5e-6)
    assert study["z"][0] == pytest.approx(3 - 6)
    assert study.unit("sum") == "m"


def test_plots_of_what_spreads():
    pytest.importorskip("matplotlib")
    few = {"vary": {"l": "1 m ± 1 mm"}, "design": "monte carlo", "count": 20, "until": 1.0}
    study = liaison.study(DRIVEN, measure={"peak": "max(abs(lam.drive))"}, every=0.1, **few)
    axes = study.plot("histogram").axes
    assert sum(x.get_height() for x in axes[0].patches if x.get_height() > 0) >= 20
    with pytest.raises(LiaisonError, match="kept their starts and ends"):
        study.plot("envelope", y="A")
    kept = liaison.study(DRIVEN, measure={}, record=0.1, **few)
    assert len(kept.plot("envelope", y="A").axes[0].lines[0].get_xdata()) == 11


def test_reactions_of_a_run_do_not_depend_on_the_runs_beside_it(monkeypatch):
    """All are found at once, a few states at a time, and each is that of the run alone."""
    measure = {"pull": "max(reactions.A.Fx)", "lost": "final(reactions.C.Fz)"}
    how = {"measure": measure, "until": 0.05, "every": 0.01}
    monkeypatch.setattr(import_module("liaison.verbs.studies._family"), "FORWARD_ROWS", 14)
    rows = [0.09, 0.1, 0.9, 0.11, 0.105]  # the third cannot be assembled
    study = liaison.study("examples/four_bar.lsd", vary={"a": rows}, **how)
    assert study["status"].tolist() == ["done", "done", "failed", "done", "done"]
    for k in (0, 1, 3, 4):
        run = liaison.simulate(
            "examples/four_bar.lsd", until=0.05, every=0.01, parameters={"a": rows[k]},
            series=["reactions"],
        )  # fmt: skip
        assert study["pull"][k] == np.max(run["reactions.A.Fx"])
        assert np.isnan(study["lost"][k])  # hinges with parallel axes do not determine it
