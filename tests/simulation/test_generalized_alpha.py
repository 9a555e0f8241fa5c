"""Generalized α: its order, its damping of fast vibrations, closures of both kinds, stiffness."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import maximal
from liaison.equations.formalisms.maximal import star
from liaison.errors import SimulationError
from liaison.program import lower, to_llvm
from liaison.simulation import Run, Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
METHOD = "generalized-alpha"

# a tree, a ball, a loop, redundant rows, an imposed motion, rolling, dampers
SAMPLES = {
    "double_pendulum": 0.2,
    "spinning_top": 0.1,
    "four_bar": 0.2,
    "bennett": 0.2,
    "cam": 0.1,
    "rolling_disc": 0.2,
    "chaplygin": 0.2,
    "reference/torque_free_box": 0.2,
    "double_wishbone": 0.2,
}


def ready(mechanism):
    if isinstance(mechanism, str):
        mechanism = liaison.read(EXAMPLES / f"{mechanism}.lsd")
    return liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("radius", [0.0, 0.8])
def test_error_falls_with_order_two(name, radius):
    kernel, state = ready(name)
    end, counts = SAMPLES[name], (100, 200, 400)
    exact = liaison.simulate(kernel, state, until=end, rtol=1e-12, atol=1e-13)
    errors = []
    for steps in counts:
        run = liaison.simulate(
            kernel, state, until=end, step=end / steps, method=METHOD, spectral_radius=radius
        )
        errors.append(np.max(np.abs(np.hstack([run.q[-1] - exact.q[-1], run.v[-1] - exact.v[-1]]))))
        for series, limit in (("position_residual", 1e-12), ("velocity_residual", 1e-10)):
            if series in run.series:
                assert np.max(np.abs(run.series[series].values)) < limit
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(2, abs=0.15)


def test_maximal_coordinates_with_rows_that_repeat_keep_the_order():
    """A four-bar in space has 23 rows for 20 constraints."""
    attitude = liaison.Quaternion()
    tree = liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))
    kernel = to_llvm(lower(maximal(tree, attitude=attitude)))
    state = liaison.assemble(star(tree, attitude))
    exact = liaison.simulate(kernel, state, until=0.1, rtol=1e-11, atol=1e-12)
    for method in (METHOD, "rattle"):
        errors = []
        for steps in (50, 100, 200):
            run = liaison.simulate(kernel, state, until=0.1, step=0.1 / steps, method=method)
            errors.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
        assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2, abs=0.1)


def oscillator(k):
    slide = liaison.body("slide", mass=1)
    A = liaison.join(liaison.ground, slide, liaison.Prismatic(), name="A", axis=(1, 0, 0))
    return liaison.mechanism(
        A, liaison.spring("A", stiffness=k), liaison.start("A", 1.0), name="oscillator"
    )


@pytest.mark.parametrize("radius", [0.3, 0.6, 0.8, 0.95])
def test_a_vibration_too_fast_for_the_step_shrinks_by_the_spectral_radius(radius):
    """With h ω = 1e4 the amplitude falls by ρ a step; a slow vibration hardly does."""
    h = 0.01
    kernel, state = ready(oscillator(1e12))
    run = liaison.simulate(
        kernel, state, until=60 * h, step=h, method=METHOD, spectral_radius=radius
    )
    energy = run.series["energy"].values.sum(axis=1)
    rate = (energy[60] / energy[30]) ** (1 / 60)
    assert rate == pytest.approx(radius, rel=0.06)
    kernel, state = ready(oscillator(1.0))
    slow = liaison.simulate(kernel, state, until=10, step=h, method=METHOD, spectral_radius=radius)
    energy = slow.series["energy"].values.sum(axis=1)
    assert energy[-1] == pytest.approx(energy[0], rel=1e-4)


def stiff_loop():
    """A crank and slide with a weight on a spring of 1e8 N/m: fast beside slow."""
    crank = liaison.body("crank", mass=1, center=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    rod = liaison.body("rod", mass=1, center=(0.3, 0, 0), inertia=(0.02, 0.02, 0.02))
    slide = liaison.body("slide", mass=1)
    foot = liaison.body("foot", mass=0.1)
    A = liaison.join(liaison.ground, crank, liaison.Revolute(), name="A", axis=(0, 0, 1))
    B = liaison.join(crank.at((0.2, 0, 0)), rod, liaison.Revolute(), name="B", axis=(0, 0, 1))
    C = liaison.join(rod.at((0.6, 0, 0)), slide, liaison.Revolute(), name="C", axis=(0, 0, 1))
    D = liaison.join(liaison.ground, slide, liaison.Prismatic(), name="D", axis=(1, 0, 0))
    E = liaison.join(slide, foot, liaison.Prismatic(), name="E", axis=(1, 0, 0))
    return liaison.mechanism(
        A, B, C, D, E,
        liaison.gravity((0, -9.81, 0)),
        liaison.spring("E", stiffness=1e8),
        liaison.start({"A": 1.0, "A'": 3.0}),
        name="stiff loop",
    )  # fmt: skip


def test_a_stiff_spring_in_a_loop_does_not_shorten_the_step():
    """Its period is 0.2 ms; steps of 2 ms follow the slow motion all the same."""
    kernel, state = ready(stiff_loop())
    exact = liaison.simulate(kernel, state, until=0.2, method="radau", rtol=1e-7, atol=1e-9)
    errors = []
    for steps in (50, 100, 200):
        run = liaison.simulate(kernel, state, until=0.2, step=0.2 / steps, method=METHOD)
        errors.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
    assert errors[-1] < 1e-6
    assert errors[0] / errors[-1] > 10


def test_compiled_and_plain_loops_do_the_same():
    kernel, state = ready("four_bar")
    settings = Settings(method=METHOD, step=0.004)
    runs = [Run(kernel, state, 0.04, settings, is_compiled=c).finish() for c in (True, False)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=1e-11, atol=1e-12)


def test_a_checkpoint_goes_on_bit_by_bit():
    kernel, state = ready("four_bar")
    settings = Settings(method=METHOD, step=0.002)
    whole = Run(kernel, state, 0.4, settings).finish()
    first = Run(kernel, state, 0.4, settings)
    first.go(40)
    second = Run(kernel, state, 0.4, settings)
    second.restore(first.checkpoint())
    np.testing.assert_array_equal(second.finish().q, whole.q)
    other = Run(kernel, state, 0.4, Settings(method=METHOD, step=0.002, spectral_radius=0.5))
    with pytest.raises(SimulationError, match="spectral radius"):
        other.restore(first.checkpoint())


def test_a_spectral_radius_beyond_its_bounds_is_refused():
    with pytest.raises(SimulationError, match="between 0 and 1"):
        Settings(method=METHOD, step=0.01, spectral_radius=1.5)
