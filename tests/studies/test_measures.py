"""Measures: values against NumPy on the whole trajectory, and texts that are none."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, NamingError, TextError
from liaison.studies.measures import MOST_TEXT, read_measure

MEASURES = {
    "highest": "max(A)",
    "lowest": "min(A) in deg",
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
        ("(max(A) - min(A)) in deg", LiaisonError, "is not known"),
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
            samples(p, q), lambda name: slope, lambda name: np.array([1.0, 0.0])
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
