"""Long runs of rolling bodies: closures of both kinds hold, and the energy stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liaison

EXAMPLES = Path(__file__).parents[2] / "examples"
names = pytest.mark.parametrize("name", ["rolling_disc", "bicycle"])


def run(name, method, steps, **options):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    end = 0.002 * steps
    return liaison.simulate(
        kernel, state, until=end, step=0.002, method=method, every=end / 200, **options
    )


def assert_closed(found):
    size = 1 + np.abs(found.q).max(), 1 + np.abs(found.v).max()
    assert np.max(found.series["position_residual"].values) <= 1e-12 * size[0]
    assert np.max(found.series["velocity_residual"].values) <= 1e-10 * size[1]


@names
def test_twenty_seconds_keep_the_energy_to_nine_digits(name):
    found = run(name, "gauss4", 10_000)
    energy = found.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) <= 1e-9 * np.abs(energy[0])
    assert_closed(found)


@pytest.mark.slow
@names
def test_a_million_steps_keep_the_closures(name):
    assert_closed(run(name, "rk4", 1_000_000))
