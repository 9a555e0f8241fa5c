"""Tableaux: order conditions in their own arithmetic, and observed orders on known motions."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from simulate_samples import INERTIA, oscillator, pendulum, start, top

from liaison.errors import NamingError, SimulationError
from liaison.program import to_llvm
from liaison.simulation import simulate
from liaison.simulation.steps.rungekutta import (
    DORMAND_PRINCE,
    RK4,
    TABLEAUX,
    TSITOURAS,
    Tableaux,
    tableau_named,
)

ROUNDING = 5e-13  # of sums of a few coefficients of size 50 in floats


def trees(a, c):
    """Order -> list of (elementary weight of each stage, density); HNW1 table II.2.2."""
    s = len(c)

    def times(*vectors):
        return [_product(x) for x in zip(*vectors, strict=True)]

    def through(x):
        return [sum((row[j] * x[j] for j in range(len(row))), F(0)) for row in a]

    one, ac = [F(1)] * s, through(c)
    acc, aac, cc = through(times(c, c)), through(ac), times(c, c)
    return {
        1: [(one, 1)],
        2: [(c, 2)],
        3: [(cc, 3), (ac, 6)],
        4: [(times(cc, c), 4), (times(c, ac), 8), (acc, 12), (aac, 24)],
        5: [
            (times(cc, cc), 5), (times(cc, ac), 10), (times(ac, ac), 20), (times(c, acc), 15),
            (times(c, aac), 30), (through(times(cc, c)), 20), (through(times(c, ac)), 40),
            (through(acc), 60), (through(aac), 120),
        ],
    }  # fmt: skip


EXPLICIT = [x for x in TABLEAUX.values() if x.scheme == "stages" and not x.is_implicit]


def _product(factors):
    found = F(1)
    for x in factors:
        found = found * x
    return found


def missed(tableau, weights, up_to, target=lambda order, density: F(1, density)):
    """Largest |Σ weights · tree − target| over all trees up to an order."""
    worst = 0
    for order, found in trees(tableau.a, list(tableau.c)).items():
        for weight, density in found if order <= up_to else []:
            total = sum((b * x for b, x in zip(weights, weight, strict=True)), F(0))
            worst = max(worst, abs(total - target(order, density)))
    return worst


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda x: x.name)
def test_order_conditions_hold_up_to_the_order(tableau):
    allowed = ROUNDING if tableau is TSITOURAS else 0  # rational ones exactly
    assert missed(tableau, tableau.b, tableau.order) <= allowed


@pytest.mark.parametrize("tableau", [DORMAND_PRINCE, TSITOURAS], ids=lambda x: x.name)
def test_error_weights_vanish_up_to_the_embedded_order_and_not_beyond(tableau):
    def nothing(order, density):
        return 0

    allowed = ROUNDING if tableau is TSITOURAS else 0
    assert missed(tableau, tableau.e, tableau.order - 1, nothing) <= allowed
    assert missed(tableau, tableau.e, tableau.order, nothing) > 1e-5


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda x: x.name)
@pytest.mark.parametrize("theta", [F(0), F(1, 3), F(7, 8), F(1)], ids=str)
def test_dense_weights_hold_up_to_their_order_at_every_theta(tableau, theta):
    weights = [sum((d * theta ** (k + 1) for k, d in enumerate(x)), F(0)) for x in tableau.dense]
    allowed = ROUNDING if tableau is TSITOURAS else 0
    found = missed(tableau, weights, tableau.dense_order, lambda o, d: theta**o / d)
    assert found <= allowed
    if theta == 1:
        assert max(abs(x - b) for x, b in zip(weights, tableau.b, strict=True)) <= allowed


def test_the_last_row_of_a_method_that_reuses_its_last_stage_is_the_step():
    for tableau in (DORMAND_PRINCE, TSITOURAS):
        assert tuple(tableau.a[-1]) == tableau.b[:-1]
        assert tableau.b[-1] == 0


def test_unknown_method_is_refused_with_a_proposal():
    with pytest.raises(NamingError, match="did you mean 'tsitouras'"):
        tableau_named("tsituras")


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda x: x.name)
def test_error_falls_with_the_promised_order(tableau):
    p = oscillator()
    kernel = to_llvm(p)
    steps = [0.2, 0.1, 0.05]
    errors = []
    for h in steps:
        run = simulate(kernel, start(p, [1], [0]), 4.0, step=h, method=tableau.name)
        errors.append(np.hypot(run.q[-1, 0] - np.cos(4), run.v[-1, 0] + np.sin(4)))
    assert slope(steps, errors) == pytest.approx(tableau.order, abs=0.3)


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda x: x.name)
def test_dense_output_falls_with_its_order(tableau):
    """Error inside one first step from exact data: local order is one more than the order."""
    p = pendulum()
    kernel = to_llvm(p)
    state = start(p, [1.0], [0.5])
    steps = [0.2, 0.1, 0.05]
    errors = []
    for h in steps:
        inner = h * np.array([0.25, 0.5, 0.75])
        rough = simulate(kernel, state, h, step=h, method=tableau.name, every=inner)
        fine = simulate(kernel, state, h, step=h / 64, method="tsitouras", every=inner)
        errors.append(np.max(np.abs(rough.q - fine.q)))
    assert slope(steps, errors) == pytest.approx(tableau.dense_order + 1, abs=0.2)


@pytest.mark.parametrize("tableau", EXPLICIT, ids=lambda x: x.name)
def test_order_carries_over_to_quaternions(tableau):
    p = top()
    kernel = to_llvm(p)
    state = start(p, [1, 0, 0, 0], [0.3, 1.0, -0.2])
    exact = simulate(kernel, state, 4.0, step=2e-3, method="tsitouras").q[-1]
    steps = [0.1, 0.05, 0.025]
    errors = []
    for h in steps:
        run = simulate(kernel, state, 4.0, step=h, method=tableau.name)
        errors.append(np.max(np.abs(run.q[-1] - exact)))
    assert slope(steps, errors) == pytest.approx(tableau.order, abs=0.4)


def turned(q, x):
    """Quaternion w x y z acting on a vector."""
    w, r = q[0], q[1:]
    return x + 2 * np.cross(r, np.cross(r, x) + w * x)


def test_quaternions_stay_unit_and_angular_momentum_stays_put():
    p = top()
    run = simulate(to_llvm(p), start(p, [1, 0, 0, 0], [0.3, 1.0, -0.2]), 20.0)
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1)) < 1e-13  # rounding of 400 products
    L = np.array([turned(q, np.array(INERTIA) * v) for q, v in zip(run.q, run.v, strict=True)])
    assert np.max(np.abs(L - L[0])) < 1e-6  # rtol 1e-8 over 20 s
    T = run["energy"][:, 0]
    assert np.ptp(T) < 1e-7


def test_symmetric_top_precesses_as_known():
    """I = (1, 1, 2): ω₁ + i ω₂ turns at (I₃ − I₁)/I₁ ω₃ in the body."""
    p = top((1.0, 1.0, 2.0))
    w3 = 3.0
    run = simulate(to_llvm(p), start(p, [1, 0, 0, 0], [0.1, 0, w3]), 5.0, rtol=1e-10, atol=1e-12)
    angle = w3 * run.t
    expected = np.column_stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full_like(angle, w3)])
    assert np.max(np.abs(run.v - expected)) < 1e-8


def test_tolerance_steers_the_error():
    p = pendulum()
    kernel = to_llvm(p)
    state = start(p, [2.0], [0.0])
    exact = simulate(kernel, state, 10.0, step=1e-3, method="tsitouras").q[-1, 0]
    errors = [
        abs(simulate(kernel, state, 10.0, rtol=r, atol=r / 100).q[-1, 0] - exact)
        for r in (1e-5, 1e-7, 1e-9)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-7


def test_rk4_counts_four_evaluations_a_step():
    p = oscillator()
    run = simulate(to_llvm(p), start(p, [1], [0]), 1.0, step=0.1)
    assert run.counts["steps"] == 10
    assert run.counts["evaluations"] == 40
    assert RK4.stages == 4


WRONG = {
    "row 1 of two": ({"a": ((), (0.25, 0.25), *RK4.a[2:])}, "the rows of a have 0, 2, 2, 3 "),
    "a short row": ({"a": (*RK4.a[:2], (0.5,), RK4.a[3])}, "the rows of a have 0, 1, 1, 3 "),
    "a last row that is not b": ({"reuses_last": True}, "the last row is not b"),
    "no order": ({"order": 0}, "its order is 0"),
    "an order too high": ({"order": 5}, r"its order is 5, but Σ b_i c_i\^4"),
    "an interpolation of too high order": ({"dense_order": 4}, "its dense_order is 4"),
    "an interpolation of no order": ({"dense_order": 0}, "its dense_order is 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_tableau_that_claims_what_it_is_not_is_rejected(case):
    changes, words = WRONG[case]
    with pytest.raises(SimulationError, match=words):
        Tableaux().add(replace(RK4, **changes))
