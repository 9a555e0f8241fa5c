"""Gradients back in time: the same as those with the motion, and as differences of runs."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError
from liaison.verbs.studies import _gradients

SHARP = {"rtol": 1e-12, "atol": 1e-14}
AGREE = 1e-10  # both are limits of the same run: what is left is its tolerance, added up

TOP = "parameter I3 = 6 kg*cm^2 ; parameter height = 6 cm ;\n" + Path(
    "examples/spinning_top.lsd"
).read_text(encoding="utf-8").replace(
    "[0, 0, 6] cm,\n  inertia", "[0, 0, height],\n  inertia"
).replace("[4, 4, 6] kg*cm^2", "[4 kg*cm^2, 4 kg*cm^2, I3]")
DISC = Path("examples/rolling_disc.lsd").read_text(encoding="utf-8")
ALL = {
    "end": "final(A)", "at": "at(A, 0.3 s)", "most": "max(A')", "mean": "mean(A*A)",
    "rms": "rms(A')", "sum": "integral(A)*l",
}  # fmt: skip


def both(given, measure, by, until, **how):
    """Derivatives with the motion and back in time, and the largest difference, relatively."""
    tables = []
    for gradient in ("forward", "adjoint"):
        slopes = liaison.measure_gradients(
            given, measure=measure, by=by, until=until, gradient=gradient, **{**SHARP, **how}
        )
        tables.append(np.array([list(x.values()) for x in slopes.values()]))
    forward, adjoint = tables
    size = np.max(np.abs(forward), axis=1, keepdims=True)
    return forward, adjoint, np.max(np.abs(forward - adjoint) / size)


@pytest.mark.parametrize(
    ("given", "measure", "by", "until"),
    [
        ("examples/pendulum.lsd", ALL, ["l", "m", "A", "A'"], 1.0),
        ("examples/four_bar.lsd", {"D": "rms(D)", "w": "max(D')"}, ["a", "b", "c", "d", "A'"], 0.2),
        (
            "examples/path_linkage.lsd",
            {"x": "rms(position(tip).x) in mm", "v": "max(norm(velocity(tip)))"},
            ["a", "b", "c", "d", "x0", "z0", "tilt", "phase", "px", "pz"],
            1.0,
        ),
        (TOP, {"x": "final(axis_x)", "z": "rms(axis_z)"}, ["I3", "height", "S.wz"], 0.1),
        (DISC, {"x": "final(x)", "h": "mean(height)"}, ["F.wx", "F.wy"], 0.2),
    ],
    ids=["pendulum", "four-bar", "path", "attitude", "rolling"],
)
def test_gradients_back_in_time_are_those_with_the_motion(given, measure, by, until):
    forward, _, difference = both(given, measure, by, until, every=until / 40)
    assert np.all(np.any(forward != 0, axis=1))
    assert difference < AGREE


def test_gradients_by_starts_are_limits_of_differences():
    start, step = {"A": 1.5, "A'": 9.0}, 1e-4
    slopes = liaison.measure_gradients(
        "examples/four_bar.lsd", measure={"D": "final(D)"}, by=["A", "A'", "d"], until=0.2,
        start=start, gradient="adjoint", **SHARP,
    )["D"]  # fmt: skip
    for name, value in start.items():
        ends = [
            liaison.simulate("examples/four_bar.lsd", until=0.2, start={**start, name: x}, **SHARP)
            for x in (value + step, value - step)
        ]
        difference = (ends[0]["D"][-1] - ends[1]["D"][-1]) / (2 * step)
        assert slopes[name] == pytest.approx(difference, rel=1e-7)


@pytest.mark.parametrize(
    "method", [{"method": "rk4", "step": 2e-3}, {"method": "gauss6", "step": 0.02}]
)
def test_other_methods_have_gradients_back_in_time(method):
    """Fixed steps are taken back as they are; of implicit methods the motion is, by others."""
    how = {"measure": ALL, "by": ["l", "A"], "until": 0.6, "every": 0.1}
    exact, own = (
        liaison.measure_gradients("examples/pendulum.lsd", gradient="adjoint", **how, **x)
        for x in (SHARP, method)
    )
    for name in ALL:
        assert own[name] == pytest.approx(exact[name], rel=1e-6)


def chain(count):
    """Masses on a line, each with a spring of its own to the one before."""
    text = 'name = "chain" ; gravity = [0, 0, -9.81] m/s^2 ;\n'
    for k in range(count):
        before = f"b{k - 1}" if k else "earth"
        text += (
            f"parameter m{k} = {1 + k / count} kg ; parameter k{k} = {100 + k} N/m ;\n"
            f"let b{k} = body mass = m{k}, inertia = 1 g*m^2 end ;\n"
            f"let S{k} = join {before} and b{k} with prismatic axis = [0, 0, 1] end ;\n"
            f"apply motor force = -k{k}*S{k} end on S{k} ;\nstart S{k} = 0 ; start S{k}' = 0 ;\n"
        )
    return text


def test_many_values_are_differentiated_back_in_time(monkeypatch):
    """No change of the motion is integrated where one march back is shorter."""
    text, names = chain(6), [f"{x}{k}" for x in "mk" for k in range(6)]
    how = {"measure": {"low": "final(S0)"}, "by": names, "until": 0.5, **SHARP}
    forward = liaison.measure_gradients(text, gradient="forward", **how)["low"]
    monkeypatch.setattr(_gradients, "simulate_batch", None)
    assert liaison.measure_gradients(text, **how)["low"] == pytest.approx(forward, rel=1e-8)
    with pytest.raises(TypeError):  # of few values they are
        liaison.measure_gradients(text, **{**how, "by": names[:2]})


def test_a_sample_without_a_derivative_matters_where_it_has_a_weight():
    """The speed of a bar at rest has a corner at zero."""
    measure = {"end": "final(sqrt(A'^2))", "most": "max(sqrt(A'^2))"}
    _, adjoint, difference = both("examples/pendulum.lsd", measure, ["l"], 0.3)
    assert np.all(np.isfinite(adjoint))
    assert difference < AGREE


def test_a_search_back_in_time_reaches_values_and_starts():
    true = {"l": 1.3, "m": 3.0}
    run = liaison.simulate(
        "examples/pendulum.lsd", until=0.6, parameters=true, start={"A'": 0.4}, every=0.3
    )
    terms = [f"(at(A, {t} s) - {float(run['A'][k])!r})**2" for k, t in ((1, 0.3), (2, 0.6))]
    how = {
        "vary": {"l": "1 m .. 2 m", "A'": "-1 rad/s .. 1 rad/s"}, "until": 0.6, "minimize": "miss",
        "measure": {"miss": f"100*({'+'.join(terms)})"}, "parameters": {"m": 3.0},
    }  # fmt: skip
    best = liaison.optimize("examples/pendulum.lsd", gradient="adjoint", **how)
    assert best.gradient == "exact"
    assert best.values == pytest.approx({"l": 1.3, "A'": 0.4}, rel=1e-4)
    # the text has the start that was reached, and the values of all runs
    again = liaison.simulate(best.lsd, until=0.6, every=0.3)
    assert again["A"] == pytest.approx(run["A"], abs=1e-4)
    assert float(liaison.read(best.lsd).parameters[0].value) == 3.0


PENDULUM = Path("examples/pendulum.lsd").read_text(encoding="utf-8") + "parameter T = 2 N*m ;\n"


def pushed(torque):
    return f"{PENDULUM}\napply motor torque = {torque} end on A ;\n"


@pytest.mark.parametrize("torque", ["T*sign(t - 0.351 s)", "T*abs(t - 0.351 s)/(1 s)"])
def test_forces_that_time_alone_makes_jump_or_bend(torque):
    """Steps end before such an instant and go on after it, on the other side."""
    _, _, difference = both(pushed(torque), {"x": "final(A)"}, ["l", "T"], 1.0)
    assert difference < AGREE


BENT = ("-T*max(A, 0)/(1 rad)", 'T*table(A/(1 rad), [-2, 0.1, 2], [1, 0, -3], "linear")')


@pytest.mark.parametrize("torque", BENT)
def test_where_a_force_bends_changes_are_integrated_with_the_motion(torque):
    """The step that ends at a bend moves with the values, which a march back does not see."""
    how = {"measure": {"x": "final(A)"}, "by": ["l", "m", "T", "A"], "until": 0.8}
    forward = liaison.measure_gradients(pushed(torque), gradient="forward", **how)
    assert liaison.measure_gradients(pushed(torque), **how) == forward
    with pytest.raises(LiaisonError, match="a force may bend"):
        liaison.measure_gradients(pushed(torque), gradient="adjoint", **how)


CART = """name = "cart" ; gravity = [0, 0, -9.81] m/s^2 ;
parameter l = 0.5 m ;
let cart = body mass = 1 kg, inertia = 1 g*m^2 end ;
let bar = body mass = 1 kg, center = [0, 0, -l], inertia = 1 g*m^2 end ;
let X = join earth and cart with prismatic axis = [1, 0, 0] end ;
let A = join cart and bar with revolute axis = [0, -1, 0] end ;
impose X = abs(t - 0.3 s)*1 m/s ;
start A = 20 deg ; start A' = 0 ;
"""


@pytest.mark.parametrize("gradient", ["forward", "adjoint"])
@pytest.mark.parametrize(
    ("text", "words"),
    [(pushed("-T*sign(A)"), "accelerations jump"), (CART, "rate of 'imposed_X' jumps")],
)
def test_jumps_have_no_gradient(text, words, gradient):
    with pytest.raises(LiaisonError, match=words):
        liaison.measure_gradients(
            text, measure={"x": "final(A)"}, by=["l"], until=0.8, gradient=gradient
        )


def test_one_number_of_an_attitude_is_no_start_to_differentiate_by():
    with pytest.raises(ArgumentError, match="attitude"):
        liaison.measure_gradients(
            TOP, measure={"x": "final(axis_x)"}, by=["S.qx"], until=0.1, gradient="adjoint"
        )
