"""Edges of what is touched: a contact opens where a surface falls, and refuses one that rises."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError

TABLE = Path(__file__).parents[2] / "examples" / "contact" / "table_edge.lsd"
SPEED = sqrt(0.5**2 - 2 * 0.05 * 9.81 * 0.1)
LEAVES = (0.5 - SPEED) / (0.05 * 9.81)
LANDS = LEAVES + sqrt(2 * 0.8 / 9.81)


@pytest.mark.parametrize("options", [{}, {"step": 1e-3}])
def test_a_puck_leaves_the_table_at_its_edge_and_falls(options: dict[str, float]) -> None:
    run = liaison.simulate(TABLE, until=1.0, **options)
    opens = next(x for x in run.events if x.what == "opens")
    hit = next(x for x in run.events if x.what == "impact")
    assert np.isclose(opens.t, LEAVES, atol=1e-9)
    assert np.isclose(hit.t, LANDS, atol=1e-9)
    assert np.diff(run["energy"].sum(axis=1)).max() < 1e-12


def test_fixed_steps_through_everything_find_the_edge_within_a_step() -> None:
    run = liaison.simulate(TABLE, until=1.0, step=1e-4, method="moreau")
    hit = next(x for x in run.events if x.what == "impact")
    assert np.isclose(hit.t, LANDS, atol=2e-4)
    assert np.diff(run["energy"].sum(axis=1)).max() < 1e-12


def test_a_surface_that_jumps_up_is_refused_with_its_height() -> None:
    text = TABLE.read_text(encoding="utf-8").replace("if(x, -h, 0 m)", "if(x, 5 cm, 0 m)")
    with pytest.raises(SimulationError, match=r"'ground_below' touches jumps up by 0.05 m") as told:
        liaison.simulate(text, until=1.0)
    assert told.value.status == "step up"
    assert np.isclose(told.value.t, LEAVES, atol=1e-8)
