"""Whole runs beside Exudyn, MuJoCo and SUNDIALS: of the same models, so errors go with steps."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import bench_equal_error as equal

pytestmark = pytest.mark.peers


def errors(peer, problem, steps):
    """Errors of a peer's runs of a problem."""
    model = equal.PROBLEMS[problem][0]()
    kernel = equal.to_llvm(equal.lower(equal.newton_euler(model.tree)))
    tight = {"rtol": 1e-12, "atol": 1e-14, "every": [model.until], "series": ()}
    run = equal.simulate(kernel, model.state, model.until, **tight)
    exact = equal.placed(kernel, model, run)
    return [equal.error(equal.theirs(peer, model, step)[1], exact) for step in steps]


@pytest.mark.parametrize("problem", [*equal.PROBLEMS])
def test_exudyn_comes_nearer_as_its_step_squared(problem):
    pytest.importorskip("exudyn")
    step = equal.PROBLEMS[problem][1]["Exudyn"][0]
    coarse, fine = errors("Exudyn", problem, (step, step / 2))
    assert 2.5 < coarse / fine < 6
    assert fine < 5e-3


@pytest.mark.parametrize("problem", [x for x in equal.PROBLEMS if "rolling" not in x])
def test_mujoco_comes_nearer(problem):
    pytest.importorskip("mujoco")
    step = equal.PROBLEMS[problem][1]["MuJoCo"][0]
    coarse, fine = errors("MuJoCo", problem, (step, step / 2))
    assert coarse / fine > 2.5
    assert fine < 5e-4


@pytest.mark.parametrize("form", ["index 1", "GGL"])
def test_idas_finds_the_four_bar_in_both_forms(form):
    pytest.importorskip("casadi")
    import bench_idas

    equations, kernel, state = bench_idas.ready("four_bar", False)
    peer = bench_idas.Idas(equations, state, 1.0, ggl=form == "GGL")
    exact = equal.simulate(kernel, state, 1.0, rtol=1e-12, atol=1e-14, every=[1.0], series=()).q[-1]
    forward = kernel("forward", state.t, q=state.q, v=state.v)[:-1]
    assert bench_idas.error(peer.run(forward, 1e-6)[1], exact) < 1e-3
