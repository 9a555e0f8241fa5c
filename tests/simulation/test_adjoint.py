"""The march back in time is the derivative of the steps themselves, inside them, too."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.simulation.adjoint import Steps, reverse_sweep
from liaison.simulation.steps.rungekutta import DORMAND_PRINCE, EULER, GAUSS_6, RK4, TSITOURAS

ROUNDING = 1e-12
STEPS, WIDTH, G = 20, 0.03, 9.81


@pytest.fixture(scope="module")
def kernel():
    return liaison.compile("examples/pendulum.lsd")


def rate(z, length):
    """A bar about its end."""
    return np.array([z[1], -1.5 * G / length * np.sin(z[0])])


def stepped(tableau, z, length, theta):
    """States at the ends of steps, and at θ inside each, in plain complex numbers."""
    ends, inside = [z], []
    for _ in range(STEPS):
        k = []
        for row in tableau.a:
            shift = sum((float(a) * x for a, x in zip(row, k, strict=False)), np.zeros(2))
            k.append(rate(z + WIDTH * shift, length))
        shares = [sum(float(c) * theta ** (n + 1) for n, c in enumerate(r)) for r in tableau.dense]
        inside.append(z + WIDTH * sum(c * x for c, x in zip(shares, k, strict=True)))
        z = z + WIDTH * sum(float(b) * x for b, x in zip(tableau.b, k, strict=True))
        ends.append(z)
    return np.array(ends), np.array(inside)


def weighed(tableau, start, length, weights):
    """Σ weights · states: inside steps, then at the end."""
    ends, inside = stepped(tableau, start, length, 0.3)
    return np.sum(weights[:-1] * inside) + np.sum(weights[-1] * ends[-1])


@pytest.mark.parametrize(
    "tableau", [EULER, RK4, DORMAND_PRINCE, TSITOURAS], ids=lambda tableau: tableau.name
)
def test_it_is_the_derivative_of_the_steps(kernel, tableau):
    """Against complex steps through the same method, written again in NumPy."""
    start, length = np.array([0.7, -0.4]), 1.3
    weights = np.random.default_rng(1).normal(size=(STEPS + 1, 2))
    ends, _ = stepped(tableau, start, length, 0.3)
    t = WIDTH * np.arange(STEPS + 1)
    instants = np.append(t[:-1] + 0.3 * WIDTH, t[-1])
    names = [x.name for x in kernel.program.labels["p"]]
    p = np.array([{"l": length, "m": 1.0}[x] for x in names])
    swept = reverse_sweep(
        kernel, tableau, Steps(t[:-1], t[1:], ends), (instants, weights[:, None]), (np.zeros(0), p)
    )
    h = 1e-30
    by_start = [
        weighed(tableau, start + 1j * h * np.eye(2)[k], length, weights).imag / h for k in (0, 1)
    ]
    by_length = weighed(tableau, start + 0j, length + 1j * h, weights).imag / h
    assert [swept.q[0, 0], swept.v[0, 0]] == pytest.approx(by_start, rel=ROUNDING)
    assert swept.p[0, names.index("l")] == pytest.approx(by_length, rel=ROUNDING)
    assert swept.p[0, names.index("m")] == pytest.approx(0, abs=ROUNDING)


def test_weights_of_states_that_closures_hold_fast_vanish():
    """A push across the closures changes no state: the projection takes it back (adjoint-2)."""
    given = liaison.check("examples/four_bar.lsd").start.state
    kernel = liaison.compile("examples/four_bar.lsd")
    program = kernel.program
    terms = kernel.call("terms", given.t, q=given.q, v=given.v)
    nq, nv, nc = (program.sizes[x] for x in ("nq", "nv", "nc"))
    G = terms["G"].reshape(nc, nv)
    push = np.random.default_rng(2).normal(size=nc)
    for part, size in ((0, nq), (1, nv)):
        x = np.zeros(nq + nv)
        x[part * nq : part * nq + size] = G.T @ push
        out = kernel.call("adjoint_closing", given.t, q=given.q, v=given.v, x=x)
        assert out["v" if part else "q"] == pytest.approx(0, abs=1e-8 * np.abs(x).max())


def test_plain_python_and_machine_code_agree(kernel):
    run = liaison.simulate("examples/pendulum.lsd", until=0.2, step=0.04, method="rk4")
    states = np.column_stack([run.q, run.v])
    weighted = np.array([0.0, 0.05, 0.08, 0.2]), np.random.default_rng(3).normal(size=(4, 2, 2))
    held = np.zeros(0), program_values(kernel)
    fast, plain = (
        reverse_sweep(
            kernel, RK4, Steps(run.t[:-1], run.t[1:], states), weighted, held, is_compiled=x
        )
        for x in (True, False)
    )
    for name in ("q", "v", "p"):
        assert getattr(plain, name) == pytest.approx(getattr(fast, name), rel=ROUNDING)


def program_values(kernel):
    return np.array(kernel.program.defaults["p"])


def test_an_implicit_method_has_no_march_back(kernel):
    some = np.zeros((2, 2))
    with pytest.raises(SimulationError, match="not explicit"):
        reverse_sweep(
            kernel, GAUSS_6, Steps(np.zeros(1), np.ones(1), some), (np.ones(1), np.ones((1, 1, 2))),
            (np.zeros(0), program_values(kernel)),
        )  # fmt: skip
