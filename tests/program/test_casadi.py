"""CasADi sees the same formulas: values, derivatives, steps and optima agree with liaison's own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from program_samples import program_of
from test_backends import MORE, ROWS

import liaison
from liaison.errors import ArgumentError, NamingError, ProgramError
from liaison.program import to_casadi, to_numpy

EXAMPLES = Path(__file__).parents[2] / "examples"
SAME = 1e-13
"""The same operations in another order of additions: some units in the last place."""


@pytest.fixture(scope="module")
def casadi():
    return pytest.importorskip("casadi", reason="casadi is not installed")


@pytest.fixture(scope="module", params=["four_bar", "spinning_top", "slider_crank", "satellite"])
def case(casadi, request):
    """A kernel, and a state of a run: closures, a quaternion, inputs."""
    kernel = liaison.to_kernel(EXAMPLES / f"{request.param}.lsd")
    return kernel, liaison.simulate(kernel, until=0.1, every=0.1).state(-1)


def flat(function, **arrays):
    """All results of a CasADi function one after another."""
    out = function(**arrays)
    return np.concatenate([np.array(out[name]).ravel() for name in function.name_out()])


@pytest.mark.parametrize("name", [*ROWS, *MORE])
def test_every_operation_has_a_form(casadi, name):
    program = program_of([{**ROWS, **MORE}[name]])
    for point in np.random.default_rng(7).uniform(0.1, 0.9, (5, 8)):
        expected = to_numpy(program)("f", q=point)
        q = point[: max(1, program.reads("f")["q"])]
        np.testing.assert_allclose(flat(to_casadi(program, "f"), q=q), expected, rtol=SAME)


def test_every_entry_is_that_of_the_kernel(case):
    kernel, state = case
    program, rng = kernel.program, np.random.default_rng(3)
    u = rng.normal(size=program.sizes["nu"])
    for entry in [name for name in program.entries if program.entry(name).outputs]:
        function = liaison.to_casadi(kernel, entry)
        reads_x = "x" in function.name_in()
        x = 0.1 * rng.normal(size=function.size1_in("x") if reads_x else 0)
        x = state.q if entry == "difference" else x
        more = {"x": x} if reads_x else {}
        found = flat(function, t=0.1, q=state.q, v=state.v, u=u, **more)
        expected = kernel(entry, 0.1, q=state.q, v=state.v, u=u, x=x)
        np.testing.assert_allclose(found, expected, rtol=0, atol=SAME * (1 + abs(expected).max()))


def test_parameters_are_an_argument_where_asked_for(casadi):
    kernel = liaison.to_kernel(EXAMPLES / "four_bar.lsd")
    state = liaison.simulate(kernel, until=1e-9).state(0)
    p = kernel.program.defaults["p"] * 1.1
    function = liaison.to_casadi(kernel, "mass_matrix", parameters=True)
    assert function.name_in() == ["t", "q", "v", "u", "p"]
    expected = kernel("mass_matrix", q=state.q, p=p)
    np.testing.assert_allclose(flat(function, q=state.q, p=p), expected, rtol=SAME)
    assert "p" not in liaison.to_casadi(kernel, "mass_matrix").name_in()


def test_arguments_bear_labels_and_results_the_names_of_blocks(casadi):
    function = liaison.to_casadi(EXAMPLES / "four_bar.lsd", "forward")
    assert function.name_out() == ["vdot", "lam", "residual"]
    assert [str(x) for x in casadi.vertsplit(function.sx_in("q"))] == ["A", "B", "D"]
    retract = liaison.to_casadi(EXAMPLES / "four_bar.lsd", "retract")
    assert retract.name_out() == ["q_out"]


def test_derivatives_by_casadi_are_ours(casadi):
    kernel = liaison.to_kernel(EXAMPLES / "satellite.lsd")
    rng, sizes = np.random.default_rng(5), kernel.program.sizes
    q, v, u = (0.3 * rng.normal(size=sizes[n]) for n in ("nq", "nv", "nu"))
    forward = liaison.to_casadi(kernel, "forward")
    expected = kernel.call("d_forward", q=q, v=v, u=u)
    arguments = forward.sx_in()
    vdot = forward(*arguments)[0]
    for i, name in ((2, "v"), (3, "u")):
        slopes = casadi.Function("J", arguments, [casadi.jacobian(vdot, arguments[i])])
        found = np.array(slopes(0, q, v, u))
        np.testing.assert_allclose(found.ravel(), expected[f"vdot_{name}"], atol=1e-10)


def test_derivatives_along_a_closed_loop_are_ours(casadi):
    kernel = liaison.to_kernel(EXAMPLES / "four_bar.lsd")
    state = liaison.simulate(kernel, until=0.1, every=0.1).state(-1)
    forward = liaison.to_casadi(kernel, "forward")
    arguments = forward.sx_in()
    slope = casadi.jtimes(forward(*arguments)[0], arguments[1], casadi.DM(state.v))
    found = casadi.Function("J", arguments, [slope])(0, state.q, state.v, [])
    expected = kernel.call("d_forward", q=state.q, v=state.v)["vdot_q"].reshape(3, 3) @ state.v
    np.testing.assert_allclose(np.array(found).ravel(), expected, rtol=1e-10)


@pytest.mark.parametrize("method", ["rk4", "tsitouras", "gauss4", "radau"])
def test_steps_are_those_of_a_run(case, method):
    kernel, state = case
    h, count = 1e-3, 5
    step = liaison.to_casadi(kernel, "step", method=method)
    q, v = state.q, state.v
    for k in range(count):
        after = step(t=state.t + k * h, q=q, v=v, h=h, u=kernel.program.defaults["u"])
        q, v = after["q_next"], after["v_next"]
    run = liaison.simulate(kernel, state, until=state.t + count * h, step=h, method=method)
    np.testing.assert_allclose(np.array(q).ravel(), run.q[-1], atol=1e-11)
    np.testing.assert_allclose(np.array(v).ravel(), run.v[-1], atol=1e-10)


@pytest.mark.parametrize("method", ["midpoint", "trapezoidal"])
def test_methods_of_order_two_gain_a_factor_four(casadi, method):
    kernel = liaison.to_kernel(EXAMPLES / "four_bar.lsd")
    run = liaison.simulate(kernel, until=0.1, rtol=1e-12, atol=1e-13, every=0.1)
    step = liaison.to_casadi(kernel, "step", method=method)
    errors = []
    for count in (20, 40):
        q, v = run.q[0], run.v[0]
        for _ in range(count):
            q, v = step(0, q, v, [], 0.1 / count)
        errors.append(abs(np.array(q).ravel() - run.q[-1]).max())
    assert 3.6 < errors[0] / errors[1] < 4.4


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_derivatives_of_a_step_are_differences_of_steps(casadi, method):
    kernel = liaison.to_kernel(EXAMPLES / "slider_crank.lsd")
    state = liaison.simulate(kernel, until=0.1, every=0.1).state(-1)
    step = liaison.to_casadi(kernel, "step", method=method)
    u = np.array([0.7])
    slopes = np.array(step.jacobian()(0, state.q, state.v, u, 0.01, 0, 0)[8])
    name = step.jacobian().name_out()[8]
    assert name == "jac_v_next_u", name
    after = [np.array(step(0, state.q, state.v, u + e, 0.01)[1]) for e in (1e-3, -1e-3)]
    np.testing.assert_allclose(slopes, (after[0] - after[1]) / 2e-3, rtol=1e-7, atol=1e-9)


def test_a_crank_from_rest_to_rest(casadi):
    """The optimum is a motion of liaison.simulate, and another discretisation's, too."""
    path = EXAMPLES / "studies" / "optimal_control.py"
    spec = importlib.util.spec_from_file_location("optimal_control", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    solution = example.solved(example.CRANK, 25)
    run = example.simulated(example.CRANK, solution, method="rk4", step=solution.t[1])
    np.testing.assert_allclose(run.q, solution.q, atol=1e-8)
    np.testing.assert_allclose(run.v, solution.v, atol=1e-6)
    np.testing.assert_allclose(solution.q[-1, 0], 1.5 * np.pi, atol=1e-9)
    other = example.solved(example.CRANK, 25, "gauss4")
    assert solution.effort == pytest.approx(other.effort, rel=1e-2)


@pytest.mark.slow
def test_an_arm_under_limits_of_torque(casadi):
    path = EXAMPLES / "studies" / "optimal_control.py"
    spec = importlib.util.spec_from_file_location("optimal_control", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    solution = example.solved(example.SWING, 80)
    run = example.simulated(example.SWING, solution, method="rk4", step=solution.t[1])
    np.testing.assert_allclose(run.q, solution.q, atol=1e-7)
    limits = np.array(example.SWING.limits)
    assert (abs(solution.u) <= limits * (1 + 1e-7)).all()
    assert (abs(solution.u).max(axis=0) > 0.999 * limits).all()  # both are reached
    other = example.solved(example.SWING, 160, "midpoint")
    assert solution.effort == pytest.approx(other.effort, rel=1e-3)


def test_what_is_no_formula_is_rejected(casadi):
    with pytest.raises(ProgramError, match="has events"):
        liaison.to_casadi(EXAMPLES / "chaplygin_unilateral.lsd", "step")
    with pytest.raises(NamingError, match="rk5"):
        liaison.to_casadi(EXAMPLES / "pendulum.lsd", "step", method="rk5")
    with pytest.raises(NamingError, match="rattle"):
        liaison.to_casadi(EXAMPLES / "pendulum.lsd", "step", method="rattle")
    with pytest.raises(ArgumentError, match="for a time step"):
        liaison.to_casadi(EXAMPLES / "pendulum.lsd", "forward", method="rk4")
    with pytest.raises(ProgramError, match="corrections is -1"):
        liaison.to_casadi(EXAMPLES / "pendulum.lsd", "step", corrections=-1)
