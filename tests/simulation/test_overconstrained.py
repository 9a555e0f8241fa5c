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


@pytest.mark.parametrize(("name", "until"), [("goldberg", 0.3), ("bricard_trihedral", 0.2)])
def test_fixed_steps_follow_the_motion_though_their_stages_leave_the_closures(name, until):
    """Beside the closures rows turn apart that are one on them: nobody may hold them all there."""
    path = f"examples/{name}.lsd"
    true = liaison.simulate(path, until=until, every=until, rtol=1e-11, atol=1e-12)
    errors = []
    for step in (2e-3, 1e-3):
        run = liaison.simulate(path, until=until, every=until, step=step, method="rk4")
        errors.append(np.abs(run.q[-1] - true.q[-1]).max())
        assert run.status == "done"
    assert errors[1] < 1e-5
    assert errors[1] < errors[0] / 3  # of second order at least
