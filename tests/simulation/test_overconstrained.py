"""Loops whose rows depend on each other: what is recorded between steps moves as the steps do."""

import numpy as np
import pytest

import liaison


@pytest.mark.parametrize("model", ["double_cardan", "bennett", "reference/bricard_A04"])
def test_recorded_velocities_do_not_stop(examples, model):
    """The last digits of q tell such rows apart; to obey them all would be to stand still."""
    path = examples / f"{model}.lsd"
    run = liaison.simulate(
        path, until=0.2, every=0.0005, rtol=1e-10, atol=1e-12, series=("energy",)
    )
    jumps = np.abs(np.diff(run.v, axis=0))
    assert np.max(jumps) < 0.02 * (1 + np.max(np.abs(run.v)))
    slope = (run.q[2:] - run.q[:-2]) / 0.001
    assert run.v[1:-1] == pytest.approx(slope, abs=1e-3 * np.max(np.abs(run.v)))
