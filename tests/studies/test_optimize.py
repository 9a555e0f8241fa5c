"""Searches: exact gradients against differences, optima against closed forms, fronts."""

import math
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError, NamingError
from liaison.studies.search import Goal, Limit, Problem, descend, draw, front_of, is_dominated
from liaison.verbs.studies._asked import asked_of
from liaison.verbs.studies._gradients import Gradients, differences
from liaison.verbs.studies.optimize import _Making
from liaison.verbs.studies.study import with_reference

FOUR_BAR, PATH = "examples/four_bar.lsd", "examples/path_linkage.lsd"


def problem_of(path, varied, measure, until, **shared):
    shared = {"start": {}, "guess": {}, "parameters": {}} | shared
    asked = asked_of(
        path, varied, measure, until=until, every=until / 40, record=None, options={}, **shared
    )
    values = {x.name: float(liaison.spatial.number(x.value)) for x in liaison.read(path).parameters}
    points = liaison.studies.variations.Points(
        tuple(varied), np.array([[values[x] for x in varied]]), ""
    )
    asked, family = with_reference(asked, points)
    return asked, family, points.values[0]


@pytest.mark.parametrize(
    ("path", "varied", "measure", "until"),
    [
        (
            PATH,
            ["a", "b", "c", "d", "x0", "z0", "tilt", "phase", "px", "pz"],
            {"x": "rms(position(tip).x - 0.1 m) in mm", "v": "max(norm(velocity(tip)))"},
            1.0,
        ),
        (FOUR_BAR, ["a", "b", "c", "d"], {"D": "rms(D)", "w": "final(A')*a", "m": "max(D')"}, 0.2),
        ("examples/quarter_car.lsd", ["k_spring", "c_damper"], {"Z": "max(Z)"}, 1.0),
        ("examples/pendulum.lsd", ["l", "m"], {"A": "at(A, 0.5 s)", "E": "mean(A'*A'*m)"}, 1.0),
    ],
)
def test_exact_gradients_are_limits_of_differences(path, varied, measure, until):
    asked, family, values = problem_of(path, varied, measure, until)
    making = _Making(asked, family, np.zeros((1, len(varied))), "mean", (), ())
    measures, exact = Gradients(asked, family)(values)
    same, near = differences(making.table, values, np.maximum(np.abs(values), 0.1))
    assert measures == pytest.approx(same, rel=1e-9)
    size = np.max(np.abs(exact), axis=1, keepdims=True)
    assert np.max(np.abs(exact - near) / size) < 1e-5  # of the differences: tolerance of the runs


def test_the_length_of_a_pendulum_follows_from_its_period():
    """At small angles it stands still half a period after the start."""
    found = liaison.optimize(
        "examples/pendulum.lsd", vary={"l": "1 m .. 2 m"}, until=1, start={"A": 1e-3},
        measure={"miss": "(at(A', 1 s)*1e3)**2"}, minimize="miss", every=0.1,
    )  # fmt: skip
    # a bar about its end: T = 2π √(2 l/3 g)
    assert found.values["l"] == pytest.approx(1.5 * 9.81 / math.pi**2, rel=1e-3)
    assert found.success
    assert found.gradient == "exact"
    text = liaison.read(found.lsd)
    assert float(text.parameters[1].value) == found.values["l"]
    assert found.history["miss"].min() == pytest.approx(found.measures["miss"], abs=1e-9)
    assert "exact" in str(found)


def test_a_linkage_that_drew_a_path_is_found_again():
    true = {"a": 0.12, "b": 0.32, "px": 0.18, "pz": 0.07}
    run = liaison.simulate(PATH, until=1, every=1 / 20, parameters=true, only_series=["outputs"])
    terms = "+".join(
        f"(at(position(tip).x, {t:.6g} s) - {float(x) / 1e3!r})**2"
        f"+(at(position(tip).z, {t:.6g} s) - {float(z) / 1e3!r})**2"
        for t, x, z in zip(run.t[:12:2], run["x"][:12:2], run["z"][:12:2], strict=True)
    )
    bounds = {x: (0.8 * y, 1.2 * y) for x, y in true.items()}
    found = liaison.optimize(
        PATH, vary=bounds, measure={"miss": f"1e4*({terms})"}, minimize="miss", until=1, every=0.1
    )
    assert found.measures["miss"] < 1e-6
    for name, value in true.items():
        assert found.values[name] == pytest.approx(value, rel=1e-3)


def test_constraints_hold_at_the_optimum():
    vary = {"a": "5 cm .. 15 cm", "b": "25 cm .. 35 cm", "c": "30 cm .. 40 cm"}
    found = liaison.optimize(
        FOUR_BAR, vary=vary, until=0.2, measure={"swing": "range(D) in deg", "size": "a+b+c"},
        minimize="size", subject={"swing": ">= 30 deg"}, every=0.01,
    )  # fmt: skip
    assert found.success
    assert found.measures["swing"] == pytest.approx(30, abs=1e-3)


CIRCLE = np.array([1.0, 0.5])


def circle(several=False, slopes=True):
    """x² + y² and (x − 1)² + (y − ½)²: the front is the line between the two least points."""

    def evaluate(x):
        return np.array([x @ x, (x - CIRCLE) @ (x - CIRCLE)])

    def by(x):
        return evaluate(x), np.array([2 * x, 2 * (x - CIRCLE)])

    goals = (Goal(0), Goal(1)) if several else (Goal(0),)
    low, high = np.array([-2.0, -2.0]), np.array([2.0, 2.0])
    return Problem(low, high, goals, (), evaluate, by if slopes else None)


def test_searches_end_at_least_values():
    one = descend(circle(), np.array([1.5, -1.0]))
    assert one.values == pytest.approx([0, 0], abs=1e-4)
    limited = Problem(
        np.array([-2.0, -2.0]), np.array([2.0, 2.0]), (Goal(0),), (Limit(1, 1.0, 0.25),),
        circle().evaluate, circle().slopes,
    )  # fmt: skip
    found = descend(limited, np.array([1.5, -1.0]))
    nearest = CIRCLE * (1 - 0.5 / np.linalg.norm(CIRCLE))
    assert found.values == pytest.approx(nearest, abs=1e-4)


def test_a_front_lies_between_the_least_points():
    front = front_of(circle(several=True), [np.array([1.5, -1.0])], 6)
    values = np.array([x.values for x in front])
    assert len(front) >= 6
    distance = np.abs(values[:, 0] * CIRCLE[1] - values[:, 1] * CIRCLE[0])
    assert distance.max() < 1e-3
    table = np.array([x.measures for x in front])
    assert not any(is_dominated(x, table) for x in table)


def test_samplers_come_near():
    pytest.importorskip("optuna")
    (found,) = draw(circle(slopes=False), 150, seed=1)
    assert found.measures[0] < 0.05
    front = draw(circle(several=True, slopes=False), 100, seed=1)
    assert len(front) > 3


def test_a_robust_optimum_stays_away_from_the_edge():
    """The worst over deviations keeps the constraint that the nominal optimum only touches."""
    vary = {"a": "5 cm .. 20 cm"}
    how = {
        "until": 0.1, "measure": {"swing": "range(D) in deg", "size": "a"}, "minimize": "size",
        "subject": {"swing": ">= 15 deg"}, "every": 0.02,
    }  # fmt: skip
    plain = liaison.optimize(FOUR_BAR, vary=vary, **how)
    safe = liaison.optimize(FOUR_BAR, vary=vary, deviations={"a": "± 5 mm"}, **how)
    assert safe.values["a"] > plain.values["a"] + 2e-3
    assert safe.measures["swing"] == pytest.approx(15, abs=1e-2)


def test_measures_of_events_take_differences():
    found = liaison.optimize(
        FOUR_BAR, vary={"d": "43 cm .. 47 cm"}, until=0.8, measure={"turn": "time(full_turn)"},
        maximize="turn", every=0.1, iterations=5,
    )  # fmt: skip
    assert found.gradient == "differences"


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ({}, ArgumentError, "no goal"),
        ({"minimize": "swin"}, NamingError, "swing"),
        ({"minimize": "swing", "subject": {"swing": "about 3"}}, ArgumentError, "constraint"),
        ({"minimize": "swing", "subject": {"x": "<= 3"}}, NamingError, "'x'"),
        ({"minimize": "swing", "starts": 0}, ArgumentError, "positive"),
        ({"minimize": "swing", "gradient": "adjiont"}, NamingError, "adjoint"),
        ({"minimize": "swing", "robust": "worse"}, NamingError, "worst"),
        ({"minimize": "swing", "deviations": {"b": "± 1 mm"}}, NamingError, "'b'"),
        ({"minimize": "turn", "gradient": "exact"}, LiaisonError, "no exact gradient"),
    ],
)
def test_bad_requests_are_rejected(more, kind, words):
    measure = {"swing": "range(D)", "turn": "time(full_turn)"}
    with pytest.raises(kind) as error:
        liaison.optimize(FOUR_BAR, vary={"a": "9 cm .. 11 cm"}, measure=measure, until=0.1, **more)
    assert words in str(error.value)


PENDULUM = Path("examples/pendulum.lsd").read_text()
NOT_SMOOTH = {
    "stopped": PENDULUM + "\nevent low when A falling stop ;\n",
    "impact": PENDULUM + "\nlet wall = require A >= -10 deg with restitution = 0.8 end ;\n",
    "jump": PENDULUM + "\napply motor torque = -sign(A)*1 N*m end on A ;\n",
}


@pytest.mark.parametrize("name", NOT_SMOOTH)
def test_motions_whose_bends_move_with_the_values_have_no_exact_gradient(name):
    text = NOT_SMOOTH[name]
    with pytest.raises(LiaisonError, match=r"no exact gradient|unilateral|accelerations jump"):
        liaison.measure_gradients(text, measure={"x": "final(A)"}, by=["l"], until=1)


def test_a_search_over_runs_that_an_event_stops_takes_differences():
    best = liaison.optimize(
        NOT_SMOOTH["stopped"], vary={"l": "0.5 m .. 2 m"}, until=1, minimize="miss",
        measure={"miss": "(max(abs(A')) - 1.9)**2"}, every=0.05,
    )  # fmt: skip
    assert best.gradient == "differences"
    expected = 3 * 9.81 * (1 - np.cos(np.pi / 6)) / 1.9**2  # ½·(m l²/3)·ω² = m g (l/2)(1 − cos A)
    assert best.values["l"] == pytest.approx(expected, rel=1e-4)
