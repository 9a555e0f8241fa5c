"""RATTLE: order, closures, symmetry, symplectic form, momentum, and no trend in the energy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.simulation import Run, Settings
from liaison.solvers.linear.pivoting import factorize_completely, solve_completely

EXAMPLES = Path(__file__).parents[2] / "examples"


def ready(name):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    return liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))


def rattle(kernel, state, steps, h, **options):
    return liaison.simulate(kernel, state, until=steps * h, step=h, method="rattle", **options)


def test_complete_pivoting_solves_what_can_be_solved():
    rng = np.random.default_rng(0)
    for m, rank in ((1, 1), (3, 3), (8, 8), (8, 5), (20, 13)):
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, m))
        b = A @ rng.normal(size=m)
        flat, order, x = A.ravel().copy(), np.zeros(2 * m), b.copy()
        assert factorize_completely(m, flat, order) == rank
        solve_completely(m, rank, flat, order, x)
        np.testing.assert_allclose(A @ x, b, atol=1e-9)
        assert np.count_nonzero(x) <= rank


# a tree, a ball, a loop, a free body off its center, redundant rows, dampers, an imposed motion
SAMPLES = {
    "double_pendulum": 0.2,
    "spinning_top": 0.2,
    "four_bar": 0.2,
    "reference/torque_free_box": 0.5,
    "bennett": 0.2,
    "double_wishbone": 0.2,
    "cam": 0.1,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_error_falls_with_order_two(name):
    kernel, state = ready(name)
    end, counts = SAMPLES[name], (100, 200, 400)
    exact = liaison.simulate(kernel, state, until=end, rtol=1e-12, atol=1e-13)
    errors = []
    for steps in counts:
        run = rattle(kernel, state, steps, end / steps)
        errors.append(np.max(np.abs(np.hstack([run.q[-1] - exact.q[-1], run.v[-1] - exact.v[-1]]))))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)


HIGHER = {"double_pendulum": (10, 20, 40), "spinning_top": (25, 50, 100), "four_bar": (25, 50, 100)}


@pytest.mark.parametrize("name", HIGHER)
@pytest.mark.parametrize(("method", "order"), [("rattle4", 4), ("rattle6", 6)])
def test_composed_steps_have_their_order(name, method, order):
    kernel, state = ready(name)
    exact = liaison.simulate(kernel, state, until=0.2, rtol=1e-13, atol=1e-14)
    errors = []
    for steps in HIGHER[name]:
        run = liaison.simulate(kernel, state, until=0.2, step=0.2 / steps, method=method)
        errors.append(np.max(np.abs(run.v[-1] - exact.v[-1])))
    slope = -np.polyfit(np.log(HIGHER[name]), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("method", ["rattle4", "rattle6"])
def test_composed_steps_keep_energy_and_come_home(method):
    kernel, state = ready("slider_crank")
    h, steps = 0.004, 20_000
    energies = {}
    for name in ("rattle", method):
        run = liaison.simulate(kernel, state, until=steps * h, step=h, method=name, every=50 * h)
        energies[name] = run.series["energy"].values.sum(axis=1)
        assert np.max(run.series["position_residual"].values) < 1e-12
    assert np.ptp(energies[method]) < 0.01 * np.ptp(energies["rattle"])
    first, last = np.split(energies[method][:400], 2)
    assert abs(last.mean() - first.mean()) <= 0.2 * np.ptp(first)
    there = liaison.simulate(kernel, state, until=1.0, step=h, method=method)
    turned = liaison.State(0.0, there.q[-1], -there.v[-1], state.labels)
    back = liaison.simulate(kernel, turned, until=1.0, step=h, method=method)
    np.testing.assert_allclose(back.q[-1], state.q, atol=1e-11)


def test_composed_steps_are_interpolated_with_accelerations():
    kernel, state = ready("spinning_top")
    every = np.linspace(0, 0.08, 38)
    exact = liaison.simulate(kernel, state, until=0.08, rtol=1e-12, atol=1e-13, every=every)
    errors = []
    for steps in (40, 80, 160):
        run = liaison.simulate(
            kernel, state, until=0.08, step=0.08 / steps, method="rattle4", every=every
        )
        errors.append(np.max(np.abs(run.v - exact.v)))
    assert errors[0] / errors[2] > 150


def a_free_body():
    """Off its center of mass, pulled by a spring: momenta of turning and moving are coupled."""
    base, box = (
        liaison.ground,
        liaison.body("box", mass=2, center=(0.1, 0.2, -0.1), inertia=(0.1, 0.2, 0.25)),
    )
    A = liaison.join(base, box, liaison.Free(), name="A")
    return liaison.mechanism(
        A,
        liaison.gravity((0, 0, -9.81)),
        liaison.spring(base, box, stiffness=50, rest=0.3),
        liaison.start({"A.z": -0.5, "A.wx": 4, "A.wy": 3, "A.vx": 1}),
        name="free",
    )


LONG = {"pendulum": 0.02, "four_bar": 0.002, "spinning_top": 0.002, "slider_crank": 0.002}


def long_run(name, steps):
    """The energy at 800 instants of a run, which are steps and fall in with no period of it."""
    kernel, state = ready(name)
    h = LONG[name]
    chosen = np.random.default_rng(1).choice(steps - 1, 798, replace=False) + 1
    every = np.sort([0, *chosen, steps]) * h
    return rattle(kernel, state, steps, h, every=every)


def assert_kept(run):
    energy = run.series["energy"].values.sum(axis=1)
    error = energy - energy[0]
    first, last = error[:400], error[400:]
    # later the error lies where it lay before: what is left of a trend is below its own scatter
    spread = np.ptp(first)
    assert np.ptp(last) <= 1.2 * spread
    assert abs(last.mean() - first.mean()) <= 5 * error.std() / np.sqrt(400)
    assert spread <= 1e-3 * max(np.abs(run.series["energy"].values).max(), 1.0)
    # an angle that counts 5000 turns is itself rounded to 4e-12
    sizes = {"position_residual": 1 + np.abs(run.q).max(), "velocity_residual": 1.0}
    for name, limit in (("position_residual", 1e-15), ("velocity_residual", 1e-10)):
        if name in run.series:
            assert np.max(np.abs(run.series[name].values)) <= limit * sizes[name]


@pytest.mark.parametrize("name", LONG)
def test_a_hundred_thousand_steps_keep_energy_and_closures(name):
    assert_kept(long_run(name, 100_000))


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_million_steps_keep_energy_and_closures(name):
    assert_kept(long_run(name, 1_000_000))


@pytest.mark.parametrize("name", [*LONG, "stewart"])
def test_a_run_turned_back_comes_home(name):
    kernel, state = ready(name)
    h, steps = LONG.get(name, 0.002), 300
    there = rattle(kernel, state, steps, h, every=[0, steps * h])
    turned = liaison.State(0.0, there.q[-1], -there.v[-1], state.labels)
    back = rattle(kernel, turned, steps, h, every=[0, steps * h])
    np.testing.assert_allclose(back.q[-1], state.q, atol=1e-11)
    np.testing.assert_allclose(back.v[-1], -state.v, atol=1e-10)


def test_the_moment_that_nothing_changes_is_kept_to_rounding():
    """Gravity has no moment about the vertical: Noether's theorem of the discrete action."""
    kernel, state = ready("spinning_top")
    run = rattle(kernel, state, 20_000, 0.002, every=0.1, series=("momentum",))
    about_z = run.series["momentum"].values[:, 2]
    np.testing.assert_allclose(about_z, about_z[0], rtol=1e-11)
    gauss = liaison.simulate(
        kernel, state, until=40, step=0.002, method="rk4", every=0.1, series=("momentum",)
    )
    assert np.ptp(gauss.series["momentum"].values[:, 2]) > 1e-9 * abs(about_z[0])


def test_a_step_keeps_the_symplectic_form():
    """DᵀΩD = Ω for the derivative D of (q, p) ↦ (q₁, p₁); for RK4 it is far off."""
    kernel, state = ready("double_pendulum")
    h, d = 0.05, 1e-5

    def moved(z, method):
        M = kernel("mass_matrix", q=z[:2]).reshape(2, 2)
        start = liaison.State(0.0, z[:2], np.linalg.solve(M, z[2:]), state.labels)
        end = liaison.simulate(kernel, start, until=h, step=h, method=method, only_series=())
        M = kernel("mass_matrix", q=end.q[-1]).reshape(2, 2)
        return np.hstack([end.q[-1], M @ end.v[-1]])

    def lost(method):
        z = np.array([0.4, 0.9, 0.3, -0.2])
        steps = [d * row for row in np.eye(4)]
        D = np.array([(moved(z + s, method) - moved(z - s, method)) / (2 * d) for s in steps]).T
        omega = np.kron([[0, 1], [-1, 0]], np.eye(2))
        return np.max(np.abs(D.T @ omega @ D - omega))

    assert lost("rattle") < 1e-8
    assert lost("rk4") > 1e-7


def test_a_free_body_off_its_center_keeps_energy():
    mechanism = a_free_body()
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    ranges = []
    for steps in (20_000, 200_000):
        run = rattle(kernel, state, steps, 0.002, every=0.002 * steps / 500)
        ranges.append(np.ptp(run.series["energy"].values.sum(axis=1)))
    # its motion is irregular, and visits more in ten times the time
    assert ranges[0] < 1e-3
    assert ranges[1] < 2 * ranges[0]
    exact = liaison.simulate(kernel, state, until=0.4, rtol=1e-12, atol=1e-13)
    errors = [
        np.max(np.abs(rattle(kernel, state, n, 0.4 / n).q[-1] - exact.q[-1])) for n in (200, 400)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


def test_states_between_steps_are_interpolated_to_order_two():
    kernel, state = ready("four_bar")
    every = [0.0, 0.0135, 0.0301, 0.0577, 0.08]
    exact = liaison.simulate(kernel, state, until=0.08, rtol=1e-12, atol=1e-13, every=every)
    errors = []
    for steps in (20, 40, 80):
        run = rattle(kernel, state, steps, 0.08 / steps, every=every)
        errors.append(np.max(np.abs(run.v - exact.v)))
        assert np.max(np.abs(run.series["position_residual"].values)) < 1e-12
    assert errors[0] / errors[2] > 11


def test_compiled_and_plain_loops_do_the_same():
    kernel, state = ready("four_bar")
    settings = Settings(method="rattle", step=0.004)
    runs = [Run(kernel, state, 0.04, settings, is_compiled=c).finish() for c in (True, False)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=1e-12, atol=1e-13)


def test_a_checkpoint_goes_on_bit_by_bit():
    kernel, state = ready("four_bar")
    settings = Settings(method="rattle", step=0.002)
    whole = Run(kernel, state, 0.4, settings).finish()
    first = Run(kernel, state, 0.4, settings)
    first.go(40)
    second = Run(kernel, state, 0.4, settings)
    second.restore(first.checkpoint())
    np.testing.assert_array_equal(second.finish().q, whole.q)


# a disc, a driven table, a floe that moves by itself, redundant rows, a loop of positions beside
ROLLING = {
    "rolling_disc": 0.4,
    "rolling_ball": 0.5,
    "moving_ice": 1.0,
    "wheel_set": 0.5,
    "bicycle": 0.3,
}


@pytest.mark.parametrize("name", ROLLING)
def test_closures_of_velocities_are_met_with_order_two(name):
    kernel, state = ready(name)
    end, counts, errors = ROLLING[name], (50, 100, 200), []
    exact = liaison.simulate(kernel, state, until=end, rtol=1e-12, atol=1e-14)
    for steps in counts:
        run = rattle(kernel, state, steps, end / steps)
        errors.append(np.max(np.abs(np.hstack([run.q[-1] - exact.q[-1], run.v[-1] - exact.v[-1]]))))
        assert np.max(run.series["position_residual"].values) < 1e-13
        assert np.max(run.series["velocity_residual"].values) < 1e-11
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("name", ["rolling_disc", "chaplygin", "wheel_set"])
@pytest.mark.parametrize("method", ["rattle", "rattle4"])
def test_what_rolls_comes_home_when_time_is_turned(name, method):
    kernel, state = ready(name)
    options = {"until": 1.0, "step": 0.005, "method": method}
    there = liaison.simulate(kernel, state, **options)
    turned = liaison.State(0.0, there.q[-1], -there.v[-1], state.labels)
    back = liaison.simulate(kernel, turned, **options)
    np.testing.assert_allclose(back.q[-1], state.q, atol=1e-10)
    np.testing.assert_allclose(back.v[-1], -state.v, atol=1e-10)


def test_the_energy_of_a_rolling_disc_has_no_trend():
    """Over 400 s; with gauss4, which is not symmetric once it is projected, it drifts steadily."""
    kernel, state = ready("rolling_disc")
    means = {}
    for method in ("rattle", "gauss4"):
        run = liaison.simulate(kernel, state, until=400, step=0.004, method=method, every=0.2)
        energy = run.series["energy"].values.sum(axis=1)
        parts = np.array([x.mean() for x in np.array_split(energy - energy[0], 8)])
        means[method] = parts - parts[0], np.ptp(energy)
    change, width = means["rattle"]
    assert np.max(np.abs(change)) < 0.05 * width
    change, width = means["gauss4"]
    assert np.all(np.diff(change) * change[-1] > 0)
    assert abs(change[-1]) > 0.5 * width


def test_a_step_must_be_given():
    kernel, state = ready("pendulum")
    with pytest.raises(SimulationError, match="fixed step"):
        liaison.simulate(kernel, state, until=1.0, method="rattle")


def test_a_step_too_long_is_told():
    kernel, state = ready("four_bar")
    with pytest.raises(SimulationError) as raised:
        rattle(kernel, state, 10, 0.2)
    assert raised.value.status in ("not converged", "not finite")
