"""Drift off closures: without a remedy, with Baumgarte's terms, projected when asked or always."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler, stabilized
from liaison.errors import DerivationError
from liaison.program import lower, to_llvm
from liaison.program.ggl import ggl
from liaison.simulation import Projection

EXAMPLES = Path(__file__).parents[2] / "examples"
NONE = Projection(position=1e6, velocity=1e6, lost=1e9)
WHEN_ASKED = Projection(position=1e-6, velocity=1e-5)


@cache
def ready(name, stab=None, way=stabilized):
    tree = liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))
    equations = newton_euler(tree)
    if stab is not None:
        equations = way(equations, stab)
    return to_llvm(lower(equations)), liaison.assemble(tree)


def drift(name, projection, stab=None, way=stabilized):
    """Largest |Φ| and |G v| of a run, beside 1 + |q| and 1 + |v|; how often it was projected."""
    run = liaison.simulate(
        *ready(name, stab, way), until=20, step=5e-3, method="rk4", projection=projection, every=0.1
    )
    phi = run.series["position_residual"].values.max() / (1 + np.abs(run.q).max())
    rate = run.series["velocity_residual"].values.max() / (1 + np.abs(run.v).max())
    return phi, rate, run.counts["projections"]


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_each_remedy_keeps_what_it_promises(name):
    free, free_rate, _ = drift(name, NONE)
    held, held_rate, _ = drift(name, NONE, stab=0.1)
    asked, asked_rate, few = drift(name, WHEN_ASKED)
    exact, exact_rate, many = drift(name, Projection())
    assert free > 1e-5  # or there would be nothing to show
    assert free_rate > 1e-5
    assert held < 1e-3 * free
    assert held_rate < 0.1 * free_rate
    assert asked <= 1e-6
    assert asked_rate <= 1e-5
    assert exact < 1e-15
    assert exact_rate < 1e-15
    assert 0 < few < 0.02 * many


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_two_multipliers_hold_positions_better_than_baumgarte(name):
    free, free_rate, _ = drift(name, NONE)
    held, _, _ = drift(name, NONE, stab=0.1)
    both, both_rate, projections = drift(name, NONE, stab=0.1, way=ggl)
    assert both < 0.5 * held
    assert both < 1e-3 * free
    assert both_rate < 0.1 * free_rate
    assert projections == 0


def off(name, time):
    """A state 1e-4 off its closures, at rest, and its residuals over 0.25 s."""
    kernel, state = ready(name, time, ggl)
    q = np.array(state.q)
    q[0] += 1e-4
    begun = liaison.State(0.0, q, np.zeros_like(state.v), kernel.program.labels)
    loose = Projection(position=1e3, velocity=1e3, lost=1e4, start=1.0)
    run = liaison.simulate(
        kernel, begun, until=0.25, step=1e-4, method="rk4", projection=loose, every=0.05
    )
    return run.t, run.series["position_residual"].values


def test_positions_come_back_with_first_order():
    """Φ̇ = −Φ/T: Φ₀ e^(−t/T); what is nonlinear is (1e-4)²."""
    t, phi = off("slider_crank", 0.05)
    np.testing.assert_allclose(phi, phi[0] * np.exp(-t / 0.05), atol=2e-8)


def test_where_closures_hold_both_multipliers_change_nothing():
    plain, state = ready("slider_crank")
    other, _ = ready("slider_crank", 0.02, ggl)
    given = {"q": state.q, "v": state.v, "x": np.zeros(plain.program.sizes["nx"])}
    expected, found = (kernel.call("rate", **given) for kernel in (plain, other))
    for name in ("xidot", "vdot"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-9)


def test_the_time_is_positive():
    with pytest.raises(DerivationError, match="positive"):
        ggl(newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))), 0.0)
