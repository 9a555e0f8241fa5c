"""Stages: the pivoted solver where the generated one fails; plain loops against compiled."""

import numpy as np
import pytest
from simulate_samples import driven, hanging, pendulum, start, top

from liaison.errors import SimulationError
from liaison.expr import ONE, ZERO, as_expr, log, select, symbol
from liaison.program import Entry, Program, to_llvm, to_numpy
from liaison.simulation import Run, Settings, simulate


def with_rate(program, rate, **entries):
    made = {"rate": Entry("rate", tuple(as_expr(x) for x in rate))}
    made |= {k: Entry(k, tuple(as_expr(x) for x in v)) for k, v in entries.items()}
    return Program(
        program.name, {**program.entries, **made}, program.inputs, program.sizes, program.labels
    )


def wrong_where(program, condition):
    """The same program, its v̇ useless and its residual large where the condition is positive."""
    *good, _ = program.entries["rate"].outputs
    nv = program.sizes["nv"]
    spoiled = [select(condition, ZERO, x) for x in good[nv:]]
    return with_rate(program, [*good[:nv], *spoiled, select(condition, ONE, ZERO)])


def test_the_pivoted_solver_gives_the_same_motion():
    p = hanging()
    state = start(p, [1, 0], [0, 0])
    good = simulate(to_llvm(p), state, 3.0, step=0.01)
    spoiled = wrong_where(p, symbol("t") - 1)
    other = simulate(to_llvm(spoiled), state, 3.0, step=0.01)
    assert np.max(np.abs(good.q - other.q)) < 1e-10
    assert good.counts["fallbacks"] == 0
    assert other.counts["fallbacks"] > 700  # four stages of 200 steps


def test_contradicting_closures_are_refused_with_the_row_and_the_last_good_state():
    p = hanging()
    *terms, phi, nu = p.entries["terms"].outputs
    late = symbol("t") - 0.5
    zeros = [select(late, ZERO, x) for x in terms[4:6]]  # then 0 · v̇ = −1
    terms = [*terms[:4], *zeros, *terms[6:8], select(late, -ONE, terms[8]), phi, nu]
    broken = with_rate(p, wrong_where(p, late).entries["rate"].outputs, terms=terms)
    for method in ({"step": 0.1}, {}):
        with pytest.raises(SimulationError, match="no acceleration meets closure row 'rod'") as e:
            simulate(to_llvm(broken), start(p, [1, 0], [0, 0]), 1.0, **method)
        assert e.value.status == "inconsistent closures"
        assert e.value.t == pytest.approx(0.5, abs=0.11)
        assert np.all(np.isfinite(e.value.trajectory.q))


def test_an_acceleration_that_is_not_finite_is_solved_again():
    p = hanging()
    state = start(p, [1, 0], [0, 0])
    *good, residual = p.entries["rate"].outputs
    late = symbol("t") - 1
    nothing = log(select(late, -ONE, ONE))  # NaN after one second, and a residual that says nothing
    spoiled = with_rate(p, [*good[:2], *(x + nothing for x in good[2:]), residual])
    for method in ({"step": 0.01}, {}):
        expected = simulate(to_llvm(p), state, 3.0, **method)
        run = simulate(to_llvm(spoiled), state, 3.0, **method)
        assert run.counts["fallbacks"] > 0
        assert run.q[-1] == pytest.approx(expected.q[-1], abs=1e-8)


CASES = {
    "pendulum": (pendulum, [1.0], [0.0]),
    "hanging": (hanging, [1.0, 0.0], [0.0, 0.0]),
    "top": (top, [1.0, 0, 0, 0], [0.3, 1.0, -0.2]),
    "driven": (driven, [1.0], [0.0]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("settings", [Settings(step=0.05, every=0.02), Settings(every=0.07)])
def test_plain_python_and_machine_code_walk_the_same_way(name, settings):
    """The same loops on the same entries; contraction to fused operations leaves rounding."""
    make, q, v = CASES[name]
    p = make()
    kernel = to_llvm(p)
    more = {"inputs": {"motor": ([0.0, 0.5], [0.0, 1.0])}} if name == "driven" else {}
    runs = [
        Run(kernel, start(p, q, v), 0.5, settings, is_compiled=c, **more) for c in (True, False)
    ]
    found = [run.finish(series=()) for run in runs]
    assert found[0].t == pytest.approx(found[1].t, abs=1e-12)
    assert np.max(np.abs(found[0].q - found[1].q)) < 1e-10
    assert np.max(np.abs(found[0].v - found[1].v)) < 1e-10
    steps = [run.arrays.run.steps for run in runs]
    assert steps[0] == steps[1]


def test_an_interpreted_kernel_walks_too():
    p = hanging()
    state = start(p, [1, 0], [0, 0])
    a = simulate(to_llvm(p), state, 0.2, step=0.02)
    b = simulate(to_numpy(p), state, 0.2, step=0.02)
    assert np.max(np.abs(a.q - b.q)) < 1e-13
    assert np.max(np.abs(a["energy"] - b["energy"])) < 1e-13
