"""What SK prints of one-sided relations of rates, against what is so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.numeric.degenerate import degenerate_rule, quadratic_form

FRICTION = "cases/sleigh_friction.lsd"


def slid(examples, u, v, **options):
    """The sleigh of 4.3 for 10 s, from velocities across and along its blade."""
    start = {"S.x'": v, "S.y'": u, "S.angle'": 1.0}
    fine = {"until": 10, "rtol": 1e-10, "atol": 1e-12, "method": "radau", "every": 0.05}
    return liaison.simulate(examples / FRICTION, start=start, **(fine | options))


def test_sk_1_2_the_relation_is_strict_before_it_is_entered(examples):
    run = slid(examples, 0, 1)
    (entered,) = run.t_events["catches"]
    before = (run.t > 0) & (run.t < entered - 1e-6)
    assert np.all(run["u"][before] < 0)  # SK prints = 0 before t* and at t*


def test_sk_2_1_inequality_6_alone_does_not_give_zero():
    """Φ M⁻¹ Φᵀ ν ≤ 0 has solutions other than 0 at any rank; complementarity excludes them."""
    draw = np.random.default_rng(1)
    Phi, M = draw.standard_normal((2, 5)), np.diag(draw.uniform(1, 2, 5))
    S = Phi @ np.linalg.solve(M, Phi.T)
    assert np.linalg.matrix_rank(Phi) == 2
    nu = np.linalg.solve(S, [-1.0, -2.0])
    assert np.all(S @ nu <= 0)
    assert np.max(np.abs(nu)) > 0.1
    assert abs(nu @ (S @ nu)) > 0.1  # with ν·(S ν) = 0 the positive definite S leaves ν = 0 only


def test_sk_2_3_the_reaction_of_the_counterexample_is_not_of_the_form_of_5():
    W, V = np.zeros((1, 2)), np.array([-1.0, 0.5])  # of x ẋ ≤ 0 at x = 0
    rule = degenerate_rule(np.eye(2), quadratic_form(lambda v: v[0] ** 2, 2), V)
    assert_allclose(rule.after, [0.0, 0.5], atol=1e-15)
    left = rule.impulse - W.T @ np.linalg.pinv(W.T) @ rule.impulse
    assert_allclose(left, [1.0, 0.0], atol=1e-15)  # nothing of it is Wᵀ μ


@pytest.mark.parametrize(("w", "corrected", "printed"), [(0.25, -0.25, 0.0), (0.5, -0.5, 0.0)])
def test_sk_3_2_the_friction_of_theorem_2_where_h_is_not_zero(w, corrected, printed):
    text = """
    let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ;
    apply force value = [1, 0, 0] N end on b ; start X' = -1 m/s ;
    """
    friction = f"apply motor force = if(X' + {w} m/s, -1000 N*s/m*X', 0 N) end on X ;"
    as_printed = liaison.simulate(text + friction, until=3, every=3, method="radau")
    assert as_printed["X'"][-1] == pytest.approx(printed + 1e-3, abs=1e-6)
    made = liaison.viscous(text + f"require X' + {w} m/s <= 0 ;", 1000)
    run = liaison.simulate(made, until=3, every=3, method="radau")
    assert run["X'"][-1] == pytest.approx(corrected + 1e-3, abs=1e-6)


def test_sk_4_1_and_4_3_block_opposite_sides(examples):
    """4.1 asks ẋ sin φ − ẏ cos φ ≤ 0, which is u ≥ 0; the friction of 4.3 leaves u < 0 alone."""
    held, free = slid(examples, 0, -1), slid(examples, 0, 1)
    assert np.max(np.abs(held["u"])) < 1.01 / 5000
    assert np.min(free["u"]) < -0.9
    of_4_1 = np.sin(free["S.angle"]) * free["S.x'"] - np.cos(free["S.angle"]) * free["S.y'"]
    assert np.max(of_4_1) > 0.9  # the friction of 4.3 breaks the relation of 4.1


TABLE = {
    10: (-0.367899, -0.065638, -1.342485),
    100: (-0.904919, 0.457011, -1.768986),
    1000: (-0.990051, 0.534946, -1.831799),
    5000: (-0.998002, 0.542199, -1.837612),
}


@pytest.mark.parametrize("N", TABLE)
def test_sk_4_8_ends_where_an_independent_integration_does(examples, N):
    run = slid(examples, 0, -1, parameters={"N": N})
    found = [run[name][-1] for name in ("v", "S.x", "S.y")]
    assert_allclose(found, TABLE[N], atol=6e-7)


def test_sk_4_8_for_ever_larger_N_is_the_circle():
    assert_allclose([-np.sin(10), -(1 - np.cos(10))], [0.544021, -1.839072], atol=6e-7)


def test_sk_4_5_the_sleigh_that_leaves_comes_back(examples):
    run = slid(examples, 0, 1)
    (back,) = run.events
    assert back.t == pytest.approx(3.145527, abs=6e-7)
    along = np.cos(back.q[2]) * back.v[0] + np.sin(back.q[2]) * back.v[1]
    assert along == pytest.approx(-0.854468, abs=6e-7)
