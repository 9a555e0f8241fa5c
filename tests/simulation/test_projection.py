"""Projection to closures: tolerances, idempotence, the pivoted way, and refusals."""

import numpy as np
import pytest
from simulate_samples import hanging, start, symbols

from liaison.errors import SimulationError
from liaison.expr import ZERO
from liaison.program import Entry, Program, to_llvm
from liaison.simulation import Projection, Run, Settings, simulate
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.projection import project


def with_entries(program, **entries):
    """A copy of a program with some entries given anew."""
    made = {k: Entry(k, tuple(v)) for k, v in entries.items()}
    return Program(
        program.name, {**program.entries, **made}, program.inputs, program.sizes, program.labels
    )


def projected(kernel, run, q, v, pivots=0):
    """q and v after `project` in plain Python; the status."""
    run.arrays.run.pivots_left = pivots
    run.arrays.run.has_correct[:] = run.arrays.run.has_terms = 1
    run._machine.add(kernel, "retract", "closure", "correct_q", "correct_v", "terms")
    a, entries = run.arrays, run._machine.entries
    q, v = np.array(q, float), np.array(v, float)
    status = project(entries, 0.0, q, v, a.run, a.scratch)
    return q, v, status


def residuals(kernel, q, v):
    return np.abs(kernel("closure", q=q, v=v))


@pytest.fixture
def rod():
    p = hanging()
    return p, to_llvm(p)


@pytest.mark.parametrize("pivots", [0, 1000], ids=["generated", "pivoted"])
def test_projection_meets_its_tolerances_and_is_idempotent(rod, pivots):
    p, kernel = rod
    run = Run(kernel, start(p, [1, 0], [0, 0]), 1.0)
    q, v, status = projected(kernel, run, [1.02, 0.01], [0.3, 1.0], pivots)
    assert status == at.GOOD
    assert np.all(residuals(kernel, q, v) <= 1e-11 * 3)
    again_q, again_v, _ = projected(kernel, run, q, v, pivots)
    assert np.array_equal(q, again_q)
    assert np.array_equal(v, again_v)


def test_projection_takes_the_shortest_way(rod):
    p, kernel = rod
    run = Run(kernel, start(p, [1, 0], [0, 0]), 1.0)
    q, v, _ = projected(kernel, run, [1.02, 0.0], [0.5, 1.0])
    assert q == pytest.approx([1.0, 0.0], abs=1e-10)
    assert v == pytest.approx([0.0, 1.0], abs=1e-10)


def test_the_pivoted_way_takes_over_where_the_generated_one_stalls(rod):
    p, _ = rod
    useless = with_entries(p, correct_q=[ZERO] * 3, correct_v=[ZERO] * 3)
    kernel = to_llvm(useless)
    run = Run(kernel, start(p, [1, 0], [0, 0]), 1.0)
    q, v, status = projected(kernel, run, [1.02, 0.0], [0.5, 1.0])
    assert status == at.GOOD
    assert q == pytest.approx([1.0, 0.0], abs=1e-10)
    assert v == pytest.approx([0.0, 1.0], abs=1e-10)
    assert run.arrays.run.fallbacks == 2


def test_residuals_stay_small_and_energy_is_kept(rod):
    p, kernel = rod
    for method in ({"step": 0.01}, {}):
        run = simulate(kernel, start(p, [1, 0], [0, 0]), 10.0, **method)
        assert np.max(run["position_residual"]) <= 1e-10
        assert np.max(run["velocity_residual"]) <= 1e-10
        assert np.ptp(run["energy"].sum(axis=1)) < 1e-7
        assert run.counts["projections"] > 0


def test_recorded_instants_inside_steps_are_projected_too(rod):
    p, kernel = rod
    run = simulate(kernel, start(p, [1, 0], [0, 0]), 2.0, step=0.05, every=0.013)
    assert np.max(run["position_residual"]) <= 1e-10
    assert np.max(run["velocity_residual"]) <= 1e-10


def test_a_loose_tolerance_projects_less_often(rod):
    p, kernel = rod
    state = start(p, [1, 0], [0, 0])
    tight = simulate(kernel, state, 5.0, step=0.01)
    loose = simulate(
        kernel, state, 5.0, step=0.01, projection=Projection(position=1e-7, velocity=1e-7)
    )
    assert loose.counts["projections"] < tight.counts["projections"] / 2


def test_an_inconsistent_start_is_refused_by_the_name_of_its_row(rod):
    p, kernel = rod
    cases = {"hold: closure row": ([1.1, 0], [0, 0]), "the rate of closure row": ([1, 0], [0.2, 0])}
    for words, (q, v) in cases.items():
        with pytest.raises(SimulationError, match=f"{words} 'rod' is off") as found:
            simulate(kernel, start(p, q, v), 1.0)
        assert found.value.status == "inconsistent start"


def test_a_projection_that_cannot_converge_is_lost(rod):
    """A rod whose length jumps at t = 0.5: no motion follows."""
    from liaison.expr import select, symbol

    p, _ = rod
    (x, y), t = symbols("q", 2), symbol("t")
    jump = select(t - 0.5, x * 0 + y * 0 + 1, (x * x + y * y - 1) / 2)
    broken = with_entries(p, closure=[jump, p.entries["closure"].outputs[1]])
    with pytest.raises(SimulationError, match="projection lost") as found:
        simulate(to_llvm(broken), start(p, [1, 0], [0, 0]), 1.0, step=0.1, series=("energy",))
    error = found.value
    assert error.status == "projection lost"
    assert "'rod'" in str(error)
    assert error.t == pytest.approx(0.5)
    assert error.trajectory.t[-1] == pytest.approx(0.5)


def test_tolerances_are_checked():
    with pytest.raises(SimulationError, match="position"):
        Projection(position=0)
    with pytest.raises(SimulationError, match="iteration"):
        Projection(iterations=0)
    assert Settings().projection.lost > Projection().position
