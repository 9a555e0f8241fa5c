"""JAX sees the same formulas: values and gradients agree with liaison's own."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
import pytest
from program_samples import program_of
from test_backends import MORE, ROWS

import liaison
from liaison.errors import NamingError, ProgramError
from liaison.program import lower, to_jax, to_llvm, to_numpy

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def jax():
    found = pytest.importorskip("jax", reason="jax is not installed")
    found.config.update("jax_enable_x64", True)
    return found


@pytest.mark.peers
@pytest.mark.parametrize("name", [*ROWS, *MORE])
def test_every_operation_has_a_form(jax, name):
    program = program_of([{**ROWS, **MORE}[name]])
    points = np.random.default_rng(7).uniform(0.1, 0.9, (50, 8))
    expected = to_numpy(program)("f", q=points)
    np.testing.assert_allclose(to_jax(program, "f")(q=points), expected, rtol=1e-13)


@pytest.mark.peers
def test_derivatives_by_jax_are_ours(jax):
    program = lower(liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))))
    kernel, rng = to_llvm(program, cache=False), np.random.default_rng(2)
    q, v, x = (rng.normal(size=program.sizes["nv"]) for _ in range(3))
    f = to_jax(program, "inverse")
    found = jax.jacobian(lambda q: f(q=q, v=v, x=x))(q)
    np.testing.assert_allclose(f(q=q, v=v, x=x), kernel("inverse", q=q, v=v, x=x), rtol=1e-12)
    expected = kernel.call("d_inverse", q=q, v=v, x=x)["tau_q"].reshape(found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.peers
def test_blocks_have_their_names(jax):
    program = lower(liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))))
    q, v = np.full(program.sizes["nq"], 0.3), np.ones(program.sizes["nv"])
    named = jax.jit(to_jax(program, "forward", named=True))(q=q, v=v)
    assert sorted(named) == sorted(name for name, _ in program.entry("forward").layout)
    expected = to_llvm(program, cache=False).call("forward", q=q, v=v)
    for name, block in expected.items():
        np.testing.assert_allclose(named[name], block, rtol=1e-9, atol=1e-9)
    whole = to_jax(program, "forward")(q=q, v=v)
    np.testing.assert_array_equal(np.concatenate(list(named.values())).shape, whole.shape)


@pytest.mark.peers
def test_jit_and_vmap_change_nothing(jax):
    program = program_of(list(ROWS.values())[:5])
    points = np.random.default_rng(1).uniform(0.1, 0.9, (6, 8))
    f = to_jax(program, "f")
    mapped = jax.jit(jax.vmap(lambda q: f(q=q)))(points)
    np.testing.assert_allclose(mapped, f(q=points), rtol=1e-15)


@pytest.fixture(scope="module", params=["double_pendulum", "spinning_top", "slider_crank"])
def case(jax, request):
    """A kernel, and a state of a run: a tree, a quaternion, a closed loop with an input."""
    kernel = liaison.to_kernel(EXAMPLES / f"{request.param}.lsd")
    return kernel, liaison.simulate(kernel, until=0.1, every=0.1).state(-1)


@pytest.mark.peers
@pytest.mark.parametrize("entry", ["forward", "inverse", "energy", "poses", "correct_q"])
def test_machine_code_and_formulas_have_the_same_slopes(jax, case, entry):
    """Along changes of q by velocities; machine code by our Jacobians, formulas by JAX itself."""
    kernel, state = case
    rng, nv = np.random.default_rng(4), kernel.program.sizes["nv"]
    u = rng.normal(size=kernel.program.sizes["nu"])
    qdot = np.array(jax.jvp(lambda x: to_jax(kernel, "retract")(q=state.q, x=x),
                            (np.zeros(nv),), (state.v,))[1])  # fmt: skip
    x = rng.normal(size=nv) if entry == "inverse" else np.zeros(0)
    p = kernel.program.defaults["p"]
    point = (state.q, state.v, u, p, x)
    change = (qdot, rng.normal(size=nv), np.ones_like(u), 0.1 * p, 0 * x + 1)
    results = []
    for code in ("machine", "formulas"):
        f = to_jax(kernel, entry, code=code)
        results.append(jax.jvp(lambda *a, f=f: f(0.1, *a), point, change))
    size = 1 + abs(np.array(results[1][1])).max()
    np.testing.assert_array_equal(results[0][0], kernel(entry, 0.1, q=state.q, v=state.v, u=u, x=x))
    held = slice(None, -1) if entry in ("forward", "correct_q") else slice(None)
    np.testing.assert_allclose(results[0][1][held], results[1][1][held], atol=1e-10 * size)


@pytest.mark.peers
def test_reverse_and_forward_modes_agree_over_batches(jax, case):
    kernel, state = case
    f = to_jax(kernel, "forward", named=True)
    g = lambda q, v: f(q=q, v=v)["vdot"]  # noqa: E731
    qs, vs = np.stack([state.q] * 3), np.stack([state.v, 2 * state.v, -state.v])
    forward = jax.vmap(jax.jacfwd(g, argnums=(0, 1)))(qs, vs)
    backward = jax.vmap(jax.jacrev(g, argnums=(0, 1)))(qs, vs)
    for a, b in zip(forward, backward, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * (1 + abs(np.array(b)).max()))
    expected = kernel.call("d_forward", q=qs, v=vs)["vdot_v"].reshape(3, vs.shape[1], -1)
    np.testing.assert_array_equal(forward[1], expected)
    np.testing.assert_array_equal(g(qs[None], vs[0])[0], jax.vmap(lambda q: g(q, vs[0]))(qs))


@pytest.mark.peers
def test_a_seven_axis_arm_compiles_at_once(jax):
    kernel = liaison.to_kernel(liaison.read(EXAMPLES / "arm7.urdf"))
    f = to_jax(kernel, "forward")
    q = np.linspace(0.1, 0.7, 7)
    kernel("d_forward", q=q, v=q)  # our own machine code, kept on disk
    begin = process_time()
    jacobian = jax.jit(jax.jacobian(lambda q: f(q=q, v=q)))(q)
    assert process_time() - begin < 5
    expected = kernel.call("d_forward", q=q, v=q)
    found = (expected["vdot_q"] + expected["vdot_v"]).reshape(7, 7)
    np.testing.assert_allclose(jacobian[:7], found, rtol=1e-14)


@pytest.mark.peers
@pytest.mark.parametrize(("name", "parameter"), [("pendulum", "l"), ("four_bar", "b")])
def test_slopes_of_a_run_are_those_of_sensitivities(jax, name, parameter):
    """Six stages of order 5 in steps of 1 ms: the error of the method is below 1e-8."""
    path, h, steps = EXAMPLES / f"{name}.lsd", 1e-3, 100
    kernel = liaison.to_kernel(path)
    exact = liaison.simulate(path, until=h * steps, every=h * steps, rtol=1e-12, atol=1e-13)
    slopes = liaison.sensitivities(path, exact, [parameter]).values[:, :, 0]
    run = liaison.to_jax(kernel, "run", method="tsitouras")
    nq, p = len(exact.q[0]), kernel.program.defaults["p"]
    names = [x.name for x in kernel.program.labels["p"]]
    change = (slopes[0, :nq], slopes[0, nq:], np.eye(len(p))[names.index(parameter)])

    def ends(q, v, p):
        qs, vs = run(q, v, p=p, h=h, steps=steps)
        return jax.numpy.concatenate([qs[-1], vs[-1]])

    value, found = jax.jvp(ends, (exact.q[0], exact.v[0], p), change)
    np.testing.assert_allclose(value, [*exact.q[-1], *exact.v[-1]], atol=1e-8)
    np.testing.assert_allclose(found, slopes[-1], atol=1e-8 * (1 + abs(slopes[-1]).max()))
    pulled = jax.vjp(ends, exact.q[0], exact.v[0], p)[1](np.ones(len(found)))
    product = sum(float(np.dot(a, b)) for a, b in zip(pulled, change, strict=True))
    assert product == pytest.approx(float(found.sum()), rel=1e-10)


@pytest.mark.peers
def test_a_run_takes_inputs_of_each_step_and_its_gradient_is_a_difference(jax):
    kernel = liaison.to_kernel(EXAMPLES / "slider_crank.lsd")
    state = liaison.simulate(kernel, until=1e-9).state(0)
    run = liaison.to_jax(kernel, "run")
    last = jax.jit(lambda u: run(state.q, state.v, u, h=2e-3, steps=20)[1][-1, 0])
    u = np.full((20, 1), 0.5)
    slopes = jax.grad(last)(u)
    held = run(state.q, state.v, u[0], h=2e-3, steps=20)[1][-1, 0]
    np.testing.assert_allclose(last(u), held, rtol=1e-14)
    for k in (0, 7, 19):
        e = np.zeros_like(u)
        e[k] = 1e-3
        difference = (8 * (last(u + e) - last(u - e)) - (last(u + 2 * e) - last(u - 2 * e))) / 12e-3
        np.testing.assert_allclose(slopes[k, 0], difference, rtol=1e-8, atol=1e-9)


@pytest.mark.peers
def test_what_machine_code_cannot_do_is_said(jax):
    program = lower(liaison.derive(liaison.read(EXAMPLES / "double_pendulum.lsd")))
    f = to_jax(program, "forward")
    q = np.array([0.3, 0.2])
    with pytest.raises(ProgramError, match="first derivatives only"):
        jax.hessian(lambda q: f(q=q, v=q)[0])(q)
    smooth = to_jax(program, "forward", code="formulas")
    assert np.isfinite(jax.hessian(lambda q: smooth(q=q, v=q)[0])(q)).all()
    with pytest.raises(ProgramError, match="takes 2 numbers in 'q', not 1"):
        f(q=q[:1], v=q)
    with pytest.raises(NamingError, match="fortran"):
        to_jax(program, "forward", code="fortran")
    with pytest.raises(ProgramError, match="implicit method"):
        liaison.to_jax(program, "step", method="gauss4")
    with pytest.raises(ProgramError, match="has events"):
        liaison.to_jax(EXAMPLES / "chaplygin_unilateral.lsd", "run")
    jax.config.update("jax_enable_x64", False)
    try:
        assert to_jax(program, "forward")(q=q, v=q).dtype == np.float32
        with pytest.raises(ProgramError, match="JAX works in singles"):
            to_jax(program, "forward", code="machine")
        with pytest.raises(ProgramError, match="singles"):
            f(q=q, v=q)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_without_jax_it_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(ProgramError, match=r"needs jax.*, which is not installed"):
        to_jax(program_of([ROWS["add"]]), "f")
