"""Drift off closures: without a remedy, with Baumgarte's terms, projected when asked or always."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler, stabilized
from liaison.program import lower, to_llvm
from liaison.simulate import Projection

EXAMPLES = Path(__file__).parents[2] / "examples"
NONE = Projection(position=1e6, velocity=1e6, lost=1e9)
WHEN_ASKED = Projection(position=1e-6, velocity=1e-5)


@cache
def ready(name, stab=None):
    tree = liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))
    equations = newton_euler(tree)
    if stab is not None:
        equations = stabilized(equations, stab)
    return to_llvm(lower(equations)), liaison.assemble(tree)


def drift(name, projection, stab=None):
    """Largest |Φ| and |G v| of a run, beside 1 + |q| and 1 + |v|; how often it was projected."""
    run = liaison.simulate(
        *ready(name, stab), until=20, step=5e-3, method="rk4", projection=projection, every=0.1
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
