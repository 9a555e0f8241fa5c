"""Gaps and rates alone where a step ends: the motion of steps that ask for everything there."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.simulation.plan import plan

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"


@pytest.fixture(scope="module")
def quadruped():
    return liaison.read(
        ROBOTS / "quadruped.urdf", ground=True, floating=True, motors="position",
        srdf=ROBOTS / "quadruped.srdf", pose="stand",
    )  # fmt: skip


def test_a_quadruped_that_lands_moves_as_with_all_rows(quadruped, monkeypatch):
    """Both entries have the same formulas; compiled code may fuse other products in each."""
    start = {"root.z": 0.45, "root.vx": 0.5}
    runs = []
    for many in (plan.MANY_NUMBERS, 10**9):
        monkeypatch.setattr(plan, "MANY_NUMBERS", many)
        kernel = liaison.compile(quadruped)
        assert plan.has_gaps(kernel.program) == (many < 10**9)
        runs.append(liaison.simulate(kernel, until=0.25, step="1 ms", method="moreau", start=start))
    alone, whole = runs
    assert [(x.name, x.what) for x in alone.events] == [(x.name, x.what) for x in whole.events]
    assert len(alone.events) > 4  # it lands
    assert np.max(np.abs(alone.q - whole.q)) < 1e-11
    assert np.max(np.abs(alone.v - whole.v)) < 1e-9
    assert alone.meta["penetration"] < 1e-12
