"""Through singular positions: the N-four-bar against its exact motion of one degree of freedom."""

import importlib.util

import numpy as np
import pytest
from simulate_samples import plain
from simulate_samples import start as state_of

from liaison.equations import newton_euler
from liaison.expr import sin
from liaison.numeric import State
from liaison.program import to_llvm
from liaison.program.lower import lower
from liaison.simulation import simulate, stepper
from liaison.tree import assemble, span

N, GRAVITY = 4, 9.81
INERTIA = (N + 1) / 3 + N  # N + 1 rods about their ends, N rods carried along
WEIGHT = ((N + 1) / 2 + N) * GRAVITY


@pytest.fixture(scope="module")
def linkage(examples):
    path = examples / "n_four_bar.py"
    spec = importlib.util.spec_from_file_location("n_four_bar", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tree = span(module.n_four_bar(N))
    return to_llvm(lower(newton_euler(tree))), assemble(tree)


@pytest.fixture(scope="module")
def crank():
    """The exact motion: angle of the crank after one second."""
    p = plain("crank", lambda q, v: [sin(q[0]) * (WEIGHT / INERTIA)])
    robot = stepper(to_llvm(p), state_of(p, [0], [0]), rtol=1e-13, atol=1e-14)

    def after_a_second(angle, rate):
        robot.reset(state_of(p, [angle], [rate]))
        return robot.step(None, 1.0)["A"]

    return after_a_second


def parallel(kernel, angle, rate):
    """All standing rods at one angle, the others level."""
    labels = kernel.program.labels
    signs = np.array([-1.0 if x.name.startswith("B") else 1.0 for x in labels["q"]])
    return State(0.0, angle * signs, rate * signs, {x: labels[x] for x in "qv"})


def test_energy_is_kept_through_the_flat_position(linkage):
    kernel, state = linkage
    run = simulate(kernel, state, 1.0, step=1e-3)
    assert run["A0"][-1] < -np.pi / 2  # it has passed
    assert np.ptp(run["energy"].sum(axis=1)) < 1e-8
    assert np.max(run["position_residual"]) < 1e-12
    assert np.max(run["velocity_residual"]) < 1e-12


@pytest.mark.parametrize("method", [{"step": 1e-3}, {}], ids=["rk4", "adaptive"])
def test_every_start_near_the_flat_position_follows_the_exact_motion(linkage, crank, method):
    """256 starts from 3e-7 to 0.3 rad off flat; 1e-6 rad is what the house promises."""
    kernel, _ = linkage
    rng = np.random.default_rng(8)
    for k in range(256):
        side = np.pi / 2 if k % 2 else -np.pi / 2
        angle = side + rng.normal() * 0.3 * 10 ** rng.uniform(-6, 0)
        rate = 3 * rng.normal()
        run = simulate(kernel, parallel(kernel, angle, rate), 1.0, series=(), **method)
        assert run["A0"][-1] == pytest.approx(crank(angle, rate), abs=1e-6), (angle, rate)


@pytest.mark.parametrize("rate", [1.0, 0.1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("side", [np.pi / 2, -np.pi / 2])
def test_a_fixed_step_from_the_flat_position_is_divided(linkage, crank, side, rate):
    """There v̇ is not determined, and a whole first step is wrong by 2e-5 rad after a second."""
    kernel, _ = linkage
    for off in (0.0, 1e-12, 1e-9):
        angle, down = side + np.sign(side) * off, np.sign(side) * rate
        run = simulate(kernel, parallel(kernel, angle, down), 1.0, series=(), step=1e-3)
        assert run["A0"][-1] == pytest.approx(crank(angle, down), abs=1e-6)
        assert len(run.t) == 1001  # parts are not recorded
        assert run.t == pytest.approx(np.arange(1001) * 1e-3, abs=1e-12)


@pytest.mark.parametrize("rtol", [1e-8, 1e-9, 1e-10])
def test_a_tighter_tolerance_is_nearer_to_the_exact_motion(linkage, crank, rtol):
    """Closures off by 4e-14 would part the rods near the flat position, and lead it astray."""
    kernel, _ = linkage
    for angle in (0.3, 0.7, -1.2):
        start = parallel(kernel, angle, 4.0)
        run = simulate(kernel, start, 1.0, series=(), rtol=rtol, atol=rtol / 10)
        assert run["A0"][-1] == pytest.approx(crank(angle, 4.0), abs=100 * rtol)
