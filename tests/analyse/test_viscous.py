"""Theorem 2: unilateral friction approaches the relation it replaces, like 1/α."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.analyse.rest.viscous import rate
from liaison.cli import main
from liaison.errors import ModelError, NamingError
from liaison.model import Dissipation

PLATE = """
let plate = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let S = join earth and plate with planar(x, y, angle) end ;
start S.angle' = 1 rad/s ; start S.x' = -1 m/s ;
"""
ACROSS = "cos(S.angle)*S.y' - sin(S.angle)*S.x'"
"""The velocity u across the blade; from (u, v) = (0, −1) on it presses on the side u > 0."""

ONE, TWO = (
    PLATE + f"let blade = require {ACROSS} <= 0 ;",
    PLATE + f"let blade = require {ACROSS} = 0 ;",
)
FINE = {"rtol": 1e-11, "atol": 1e-13}


def slider(relation, extra=""):
    return f"""
    let b = body mass = 2 kg, inertia = 1 kg*m^2 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ;
    let limit = require {relation} <= 0 ; {extra}
    """


def test_the_load_is_the_one_of_the_theorem():
    alpha, w = 7.0, 0.25
    made = liaison.viscous(slider("3*X' - 0.25 m/s"), alpha)
    (load,) = made.forces
    assert isinstance(load, Dissipation)
    assert load.name == "limit"
    assert not made.contacts
    kernel = liaison.compile(made)
    for v in (-1.0, 0.0, 0.05, 0.2, 3.0):
        excess = max(0.0, 3 * v - w)
        tau = kernel("applied", 0.0, q=np.zeros(1), v=np.array([v]))
        assert_allclose(tau, [-alpha * excess * 3], rtol=1e-14, atol=1e-14)


def test_a_slider_that_is_pushed_against_its_limit_has_a_closed_form():
    push, alpha = 4.0, 50.0  # 2 v' = 4 − 50 (v − 1/4) where v > 1/4
    text = slider("X' - 0.25 m/s", "apply force value = [4, 0, 0] N end on b ;")
    run = liaison.simulate(liaison.viscous(text, alpha), until=2, every=0.05, **FINE)
    entered = 0.25 * 2 / push
    late = run.t > entered
    settled = push / alpha * (1 - np.exp(-alpha / 2 * (run.t[late] - entered)))
    assert_allclose(run["X'"][late], 0.25 + settled, atol=1e-9)


def test_the_printed_form_ends_elsewhere_where_w_is_positive():
    """x' + 1/4 ≤ 0 under a push of 4 N: the document's −α ξ(u·q̇ + h) (u·q̇) u ends at x' = 0."""
    push = "apply force value = [4, 0, 0] N end on b ; start X' = -1 m/s ;"
    text, alpha = slider("X' + 0.25 m/s", push), 1e3
    run = liaison.simulate(liaison.viscous(text, alpha), until=4, every=4, **FINE)
    assert_allclose(run["X'"][-1], -0.25 + 4 / alpha, atol=1e-9)
    friction = "apply motor force = if(X' + 0.25 m/s, -1000 N*s/m*X', 0 N) end on X ;"
    free = text.replace("let limit = require X' + 0.25 m/s <= 0 ;", friction)
    printed = liaison.simulate(free, until=4, every=4, **FINE)
    assert_allclose(printed["X'"][-1], 4 / alpha, atol=1e-9)


def test_distances_fall_like_one_over_alpha_on_the_sleigh():
    alphas = [10.0**k for k in range(1, 7)]
    kept = liaison.simulate(TWO, until=10, every=0.025, only_series=(), **FINE)
    found = liaison.convergence(ONE, alphas, 10, every=0.025, constrained=kept)
    assert found.velocity_rate == pytest.approx(1, abs=0.01)
    assert found.position_rate == pytest.approx(1, abs=0.01)
    for x in found.distances:
        # |Δv| along the blade at t is 1 − exp(−ω² m t/α); a component of it never exceeds that
        assert x.velocity <= 1 - math.exp(-10 / x.alpha) + 1e-9
        assert x.velocity >= 0.9 * (1 - math.exp(-10 / x.alpha))
    assert found.to_dict()["distances"][0]["alpha"] == 10
    assert "falls like alpha^-" in found.text


def test_the_speed_that_is_lost_along_the_blade():
    alpha = 1e4
    run = liaison.simulate(liaison.viscous(ONE, alpha), until=10, every=0.5, method="radau", **FINE)
    along = np.cos(run["S.angle"]) * run["S.x'"] + np.sin(run["S.angle"]) * run["S.y'"]
    assert_allclose(1 + along, 1 - np.exp(-run.t / alpha), rtol=2e-3, atol=1e-8)


def test_every_formalism_and_integrator_takes_it():
    made = liaison.viscous(ONE, 20.0)
    told = [liaison.simulate(made, until=1, every=1, method=x, **FINE).v[-1]
            for x in ("tsitouras", "dormand-prince", "radau")]  # fmt: skip
    assert_allclose(told[1:], [told[0]] * 2, atol=1e-8)
    kernels = [liaison.compile(made, name) for name in ("lagrange", "kane", "newton_euler")]
    state = {"q": np.array([0.1, 0.2, 0.3]), "v": np.array([-1.0, 0.5, 0.7])}
    found = [kernel("forward", 0.0, **state)[:3] for kernel in kernels]
    assert_allclose(found[1:], [found[0]] * 2, atol=1e-12)


def test_only_what_is_named_becomes_friction():
    text = ONE + "let turn = require S.angle' <= 3 rad/s ; let wall = require S.x <= 9 m ;"
    made = liaison.viscous(text, 5, only=["turn"])
    assert [x.name for x in made.contacts] == ["blade", "wall"]
    assert [x.name for x in made.forces] == ["turn"]
    assert [x.name for x in liaison.viscous(text, 5).contacts] == ["wall"]


def test_what_cannot_be_is_refused():
    for alpha in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ModelError, match="positive"):
            liaison.viscous(ONE, alpha)
    with pytest.raises(NamingError, match="did you mean 'blade'"):
        liaison.viscous(ONE, 1, only=["blad"])
    with pytest.raises(ModelError, match="no unilateral relation of rates"):
        liaison.viscous(TWO, 1)
    kept = liaison.simulate(TWO, until=1, every=0.5, only_series=())
    with pytest.raises(ModelError, match="alphas must be positive"):
        liaison.convergence(ONE, [], 1, every=0.5, constrained=kept)


def test_the_rate_is_the_slope():
    alphas = [1.0, 10.0, 100.0, 1e3, 1e4]
    assert rate(alphas, [3 / a**2 for a in alphas]) == pytest.approx(2)
    assert rate(alphas, [3 / (a + 5) for a in alphas]) == pytest.approx(1, abs=0.03)
    assert rate([1.0], [1.0]) is None
    assert rate([1.0, 10.0, 100.0], [6e-11, 5e-11, 6e-11]) is None


def test_a_relation_that_does_not_act_has_no_rate():
    found = liaison.convergence(slider("X' - 5 m/s"), [10, 100], 1)
    assert found.velocity_rate is None
    assert "do not act" in found.text
    assert json.loads(json.dumps(found.to_dict()))["velocity_rate"] is None


RANDOM = """
let b = body mass = 1.3 kg, center = [0.2, 0.1, 0] m, inertia = 0.7 kg*m^2 end ;
let S = join earth and b with planar(x, y, angle) end ;
let r1 = require {} - {} m/s <= 0 ; let r2 = require {} - {} m/s <= 0 ;
apply force value = [{}*cos({} rad/s*t), {}*sin({} rad/s*t), 0] N end on b ;
apply torque value = [0, 0, {}*sin({} rad/s*t)] N*m end on b ;
"""


def row(a):
    turn = f"{a[3]} m*(1 + 0.3*sin(2*S.angle))*S.angle'"
    return f"({a[0]}*cos(S.angle) + {a[1]})*S.x' + {a[2]}*S.y' + {turn}"


@pytest.mark.parametrize("seed", range(4))
def test_two_ways_to_the_same_motion(seed):
    """Active sets by events, and friction that knows of none, agree on random relations."""
    draw = np.random.default_rng(seed)
    a, w = draw.normal(size=(2, 4)).round(3), draw.uniform(0.1, 0.6, 2).round(3)
    force, pace = 2 * draw.normal(size=3).round(3), draw.uniform(0.5, 2, 3).round(3)
    loads = [x for pair in zip(force, pace, strict=True) for x in pair]
    text = RANDOM.format(row(a[0]), w[0], row(a[1]), w[1], *loads)
    run = liaison.simulate(text, until=6, every=6)
    found = liaison.convergence(text, [1e4, 1e5, 1e6], 6)
    assert {x.what for x in run.events} <= {"enters", "leaves"}
    assert found.distances[-1].velocity < 1e-4
    assert not run.events or found.velocity_rate == pytest.approx(1, abs=0.05)


def test_it_is_held_against_the_run_of_the_relation_itself(examples):
    """The offset sleigh flies, catches at π/2 s and is held; friction follows it through that."""
    alphas = [100.0, 1e3, 1e4, 1e5]
    found = liaison.convergence(examples / "chaplygin_unilateral.lsd", alphas, 10)
    assert found.velocity_rate == pytest.approx(1, abs=0.01)
    assert found.position_rate == pytest.approx(1, abs=0.01)
    assert found.distances[-1].position < 1e-4


def test_with_friction_on_the_free_side_it_approaches_both():
    """SK 4.3 with k ≠ 0: the relation, and −k u besides."""
    weak = (
        "apply dissipation value = 0.05 N*s/m * min(0 m/s, " + ACROSS + ")^2 end ;"
        "start S.y' = -0.5 m/s ;"
    )
    found = liaison.convergence(ONE + weak, [1e3, 1e4, 1e5], 10)
    assert found.velocity_rate == pytest.approx(1, abs=0.02)
    alone = liaison.simulate(
        ONE, until=10, every=0.025, start={"S.y'": -0.5}, only_series=(), **FINE
    )
    other = liaison.convergence(ONE + weak, [1e5], 10, every=0.025, constrained=alone)
    assert other.distances[0].position > 50 * found.distances[-1].position  # not to it alone


def test_a_speed_that_must_not_be_exceeded_and_a_body_that_turns():
    push = "apply force value = [4, 0, 0] N end on b ;"
    found = liaison.convergence(slider("X' - 0.25 m/s", push), [1e2, 1e3, 1e4], 2)
    assert found.velocity_rate == pytest.approx(1, abs=0.01)
    assert_allclose([x.velocity * x.alpha for x in found.distances], 4, rtol=1e-3)
    tumbling = """
    let b = body mass = 1 kg, inertia = [1, 2, 3] kg*m^2 end ;
    let S = join earth and b with free end ;
    let slow = require S.wx - 0.5 rad/s <= 0 ;
    start S.wx = 0.2 rad/s ; start S.wy = 1 rad/s ; start S.wz = -1 rad/s ;
    """
    found = liaison.convergence(tumbling, [1e2, 1e3, 1e4], 3)
    assert found.position_rate == pytest.approx(1, abs=0.02)


def said(capsys, *words, status=0):
    with pytest.raises(SystemExit) as left:
        main([str(x) for x in words])
    assert (left.value.code or 0) == status
    return capsys.readouterr()


def test_the_command_line_prints_the_table(capsys, examples):
    path = examples / "chaplygin_unilateral.lsd"
    words = ("convergence", path, "--until", "3", "--alphas", "100,1e3")
    assert "the distance falls like alpha^-0.99" in said(capsys, *words).out
    facts = json.loads(said(capsys, *words, "--json").out)
    assert [x["alpha"] for x in facts["distances"]] == [100, 1000]
    assert facts["velocity_rate"] == pytest.approx(1, abs=0.02)
    words = ("convergence", path, "--until", "3", "--alphas", "100,-1")
    assert "no list of positive numbers" in said(capsys, *words, status=2).err
    found = said(capsys, "convergence", examples / "pendulum.lsd", "--until", "1", status=1)
    assert "no unilateral relation of rates" in found.err
