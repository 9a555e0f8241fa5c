"""Baumgarte's terms: closures that are off come back, and those that hold are left as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import stabilized
from liaison.errors import DerivationError
from liaison.program import lower, to_llvm
from liaison.simulation import Projection

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOSE = Projection(position=1e3, velocity=1e3, lost=1e4, start=1.0)


def ready(name, time=None):
    tree = liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))
    equations = liaison.newton_euler(tree)
    if time is not None:
        equations = stabilized(equations, time)
    return to_llvm(lower(equations), cache=False), liaison.assemble(tree)


def drift(kernel, state, until=5.0):
    """Largest |Φ| of a run that is never projected, over its first and over its last part."""
    run = liaison.simulate(
        kernel, state, until=until, step=5e-3, method="rk4", projection=LOOSE, every=0.05
    )
    size = run.series["position_residual"].values  # the largest |Φ| of each instant
    return size[: len(size) // 5].max(), size[-len(size) // 5 :].max()


def test_drift_grows_without_and_stays_with_stabilisation():
    _, free = drift(*ready("slider_crank"))
    _, held = drift(*ready("slider_crank", 0.02))
    assert held <= 0.02 * free


def test_where_closures_hold_nothing_changes():
    kernel, state = ready("slider_crank")
    other, _ = ready("slider_crank", 0.02)
    given = {"q": state.q, "v": state.v}
    expected = kernel.call("forward", **given)["vdot"]
    found = other.call("forward", **given)["vdot"]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_what_is_off_decays_within_a_few_times():
    """Φ̈ + 2Φ̇/T + Φ/T² = 0 from Φ₀: Φ₀ (1 + t/T) e^(−t/T)."""
    kernel, state = ready("slider_crank", 0.05)
    q = np.array(state.q)
    q[0] += 1e-4
    begun = liaison.State(0.0, q, np.zeros_like(state.v), kernel.program.labels)
    run = liaison.simulate(
        kernel, begun, until=0.25, step=1e-4, method="rk4", projection=LOOSE, every=0.05
    )
    phi = run.series["position_residual"].values
    expected = phi[0] * (1 + run.t / 0.05) * np.exp(-run.t / 0.05)
    np.testing.assert_allclose(phi, expected, atol=2e-8)  # Φ is nonlinear: (1e-4)²


@pytest.mark.parametrize("options", [{"time": 0.0}, {"time": -1.0}, {"time": 1.0, "damping": 0.0}])
def test_times_are_positive(options):
    equations = liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd")))
    with pytest.raises(DerivationError, match="positive"):
        stabilized(equations, **options)
