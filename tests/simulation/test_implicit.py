"""Implicit steps: their coefficients, their order, stiff systems, and no trend in the energy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sla

import liaison
from liaison.errors import SimulationError
from liaison.simulation import Run, Settings
from liaison.simulation.steps.rungekutta import GAUSS_4, GAUSS_6, RADAU, TABLEAUX
from liaison.solvers.linear.pivoting import factorize, solve_factorized

EXAMPLES = Path(__file__).parents[2] / "examples"
IMPLICIT = [tableau for tableau in TABLEAUX.values() if tableau.is_implicit]
names = pytest.mark.parametrize("tableau", IMPLICIT, ids=lambda x: x.name)


def ready(name):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    return liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))


@names
def test_simplifying_conditions_give_the_order(tableau):
    """B(p): Σ b c^(k−1) = 1/k; C(s): Σ a c^(k−1) = c^k/k. Butcher: B(p), C(s), D(p − s) give p."""
    s = tableau.stages - 1
    c = np.array(tableau.c[1:], dtype=float)
    b = np.array(tableau.b[1:], dtype=float)
    A = np.array([row[1:] for row in tableau.a[1:]], dtype=float)
    for k in range(1, tableau.order + 1):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-14)
    for k in range(1, s + 1):
        np.testing.assert_allclose(A @ c ** (k - 1), c**k / k, atol=1e-14)
    for k in range(1, tableau.order - s + 1):
        np.testing.assert_allclose((b * c ** (k - 1)) @ A, b * (1 - c**k) / k, atol=1e-14)
    assert abs(b @ c**tableau.order - 1 / (tableau.order + 1)) > 1e-5  # and no more


def test_gauss_is_symmetric_and_symplectic():
    for tableau in (GAUSS_4, GAUSS_6):
        b = np.array(tableau.b[1:], dtype=float)
        A = np.array([row[1:] for row in tableau.a[1:]], dtype=float)
        np.testing.assert_allclose(A + A[::-1, ::-1], np.tile(b, (len(b), 1)), atol=1e-15)
        np.testing.assert_allclose(b[:, None] * A + (b[:, None] * A).T, np.outer(b, b), atol=1e-15)


def test_radau_is_stiffly_accurate_and_its_error_weights_hold_to_order_three():
    assert tuple(RADAU.a[-1]) == tuple(RADAU.b)
    c, e = np.array(RADAU.c, dtype=float), np.array(RADAU.e)
    for k in (1, 2, 3):
        assert e @ np.where(k == 1, 1.0, c ** (k - 1)) == pytest.approx(0, abs=1e-14)
    assert abs(e @ c**3) > 1e-3


def test_factors_solve_what_lapack_solves():
    rng = np.random.default_rng(0)
    for m in (1, 2, 7, 20):
        A, b = rng.normal(size=(m, m)), rng.normal(size=m)
        flat, order, x = A.ravel().copy(), np.zeros(m), b.copy()
        assert factorize(m, flat, order) == 0
        solve_factorized(m, flat, order, x)
        np.testing.assert_allclose(x, sla.solve(A, b), rtol=1e-10, atol=1e-12)
    assert factorize(2, np.array([1.0, 2.0, 2.0, 4.0]), np.zeros(2)) == 1


STEPS = {"double_pendulum": (0.02, 0.01, 0.005), "spinning_top": (0.004, 0.002, 0.001)}


@names
@pytest.mark.parametrize("name", STEPS)
def test_error_falls_with_the_promised_order(tableau, name):
    kernel, state = ready(name)
    exact = liaison.simulate(kernel, state, until=0.2, rtol=1e-13, atol=1e-14).v[-1]
    errors = [
        np.abs(
            liaison.simulate(kernel, state, until=0.2, step=h, method=tableau.name).v[-1] - exact
        )
        for h in STEPS[name]
    ]
    sizes = [np.max(error) for error in errors]
    slope = np.polyfit(np.log(STEPS[name]), np.log(sizes), 1)[0]
    assert slope == pytest.approx(tableau.order, abs=0.4)


def test_loops_are_closed_with_the_order_too():
    kernel, state = ready("slider_crank")
    exact = liaison.simulate(kernel, state, until=0.1, rtol=1e-13, atol=1e-14).v[-1]
    steps = (4e-3, 2e-3, 1e-3)
    errors = [
        np.max(
            np.abs(liaison.simulate(kernel, state, until=0.1, step=h, method="radau").v[-1] - exact)
        )
        for h in steps
    ]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] > 4.3


def stiff(k):
    """A pendulum on a stiff damped slide: a slow motion and a decay within c/k seconds."""
    b, slide, bob = (
        liaison.ground,
        liaison.body("slide", mass=1),
        liaison.body("bob", mass=1, center=(0, -1, 0), inertia=(0.1, 0.1, 0.1)),
    )
    A = liaison.join(b, slide, liaison.Prismatic(), name="A", axis=(1, 0, 0))
    B = liaison.join(slide, bob, liaison.Revolute(), name="B", axis=(0, 0, 1))
    return liaison.mechanism(
        A,
        B,
        liaison.gravity((0, -9.81, 0)),
        liaison.spring("A", stiffness=k),
        liaison.damper("A", coefficient=k / 100),
        liaison.start("B", 1.0),
        name="stiff",
    )


def test_a_stiff_slide_costs_radau_no_more_steps_than_a_softer_one():
    counts = {}
    for k in (1e6, 1e9):
        mechanism = stiff(k)
        run = liaison.simulate(mechanism, until=2.0, method="radau", rtol=1e-6, atol=1e-8)
        counts[k] = run.counts["steps"]
        soft = liaison.simulate(mechanism, until=2.0, method="radau", rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(run.q[-1], soft.q[-1], atol=3e-5)
    assert counts[1e9] <= 2 * counts[1e6]
    explicit = liaison.simulate(stiff(1e6), until=0.2, rtol=1e-6, atol=1e-8)
    assert explicit.counts["steps"] > 3 * counts[1e6]  # in a tenth of the time


def test_explicit_and_implicit_agree_where_both_can():
    kernel, state = ready("quarter_car")
    one = liaison.simulate(kernel, state, until=1.0, rtol=1e-9, atol=1e-11, every=0.1)
    other = liaison.simulate(
        kernel, state, until=1.0, rtol=1e-9, atol=1e-11, every=0.1, method="radau"
    )
    np.testing.assert_allclose(one.q, other.q, atol=1e-7)


def swing(method, steps):
    """The range of the energy's error over a run of the pendulum."""
    kernel, state = ready("pendulum")
    end = 0.02 * steps
    run = liaison.simulate(kernel, state, until=end, step=0.02, method=method, every=end / 400)
    return np.ptp(run.series["energy"].values.sum(axis=1))


def test_gauss_keeps_the_energy_without_a_trend():
    """Ten times as long, the energy errs within the same range; with Radau it errs tenfold."""
    assert swing("gauss4", 100_000) <= 2 * swing("gauss4", 10_000)
    assert swing("radau", 100_000) >= 8 * swing("radau", 10_000)


def test_compiled_and_plain_loops_do_the_same():
    kernel, state = ready("double_pendulum")
    settings = Settings(method="radau", rtol=1e-5, atol=1e-7)
    runs = [Run(kernel, state, 0.05, settings, is_compiled=c).finish() for c in (True, False)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=1e-9, atol=1e-12)


def test_a_step_too_long_for_its_stages_is_told():
    kernel, state = ready("spinning_top")
    with pytest.raises(SimulationError, match="stages of an implicit step") as raised:
        liaison.simulate(kernel, state, until=1.0, step=0.2, method="gauss4")
    assert raised.value.status == "not converged"


def test_gauss_needs_a_step():
    kernel, state = ready("pendulum")
    with pytest.raises(SimulationError, match="fixed step"):
        liaison.simulate(kernel, state, until=1.0, method="gauss6")


def test_a_checkpoint_of_an_implicit_run_goes_on_bit_by_bit(tmp_path):
    kernel, state = ready("four_bar")
    settings = Settings(method="radau", every=0.05)
    whole = Run(kernel, state, 0.4, settings).finish()
    first = Run(kernel, state, 0.4, settings)
    first.go(40)
    kept = first.checkpoint()
    second = Run(kernel, state, 0.4, settings)
    second.restore(kept)
    np.testing.assert_array_equal(second.finish().q, whole.q)


@pytest.mark.parametrize("method", ["gauss4", "radau"])
def test_stages_are_found_where_rows_depend_on_each_other(method):
    """A wheel set: one of six rows is redundant, and accelerations are known to 1e-11 or so."""
    mechanism = liaison.read(EXAMPLES / "wheel_set.lsd")
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    run = liaison.simulate(kernel, state, until=3, step=0.005, method=method)
    exact = liaison.simulate(kernel, state, until=3, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-9)
