"""A mode as a motion: small, it is the motion that a simulation finds; large, loops stay closed."""

import numpy as np
import pytest

import liaison
from liaison.analyse.rest.mode_motion import PICTURES
from liaison.errors import ArgumentError


@pytest.fixture(scope="module")
def double(examples):
    return liaison.read(examples / "double_pendulum.lsd")


@pytest.fixture(scope="module")
def rest(double):
    return liaison.equilibrium(double).state


@pytest.mark.parametrize("mode", [0, 1])
def test_a_small_mode_is_the_motion_of_a_simulation(double, rest, mode):
    size = 1e-3
    shape = liaison.mode_shape(double, rest, mode=mode, amplitude=size)
    assert np.abs(shape.q - rest.q).max() == pytest.approx(size, rel=1e-9)
    start = shape.state(0)
    run = liaison.simulate(double, start, until=float(shape.t[-1]), every=shape.t, rtol=1e-11)
    # what the linear motion leaves out is of third order in a symmetric system
    assert shape.q == pytest.approx(run.q, abs=10 * size**3)
    assert shape.v == pytest.approx(run.v, abs=100 * size**3)
    poses = run.series["poses"].values
    assert shape.series["poses"].values == pytest.approx(poses, abs=20 * size**3)


def test_modes_are_counted_from_the_slowest(double, rest):
    frequencies = np.unique(liaison.linearize(double, rest).frequencies.round(9))
    periods = [liaison.mode_shape(double, rest, mode=k).t[-1] for k in range(2)]
    assert 1 / np.array(periods) == pytest.approx(frequencies, rel=1e-9)
    with pytest.raises(ArgumentError, match=r"mode 2: there are 2, from 0 on, of 0\.6363"):
        liaison.mode_shape(double, rest, mode=2)


def test_loops_stay_closed_in_a_large_motion(examples):
    four_bar = liaison.read(examples / "four_bar.lsd")
    rest = liaison.equilibrium(four_bar).state
    run = liaison.mode_shape(four_bar, rest, amplitude="40 deg")
    coupler, rocker = run.pose("coupler"), run.pose("rocker")
    gap = coupler @ [0.3, 0, 0, 1] - rocker @ [0.35, 0, 0, 1]
    assert np.abs(gap).max() < 1e-9
    assert len(run) == PICTURES + 1
    assert np.ptp(run["A"]) > np.radians(70)
    assert run.mechanism.name == "four bar"
    assert run.meta["speed"] == pytest.approx(run.t[-1] / 2)


def test_a_mode_that_decays_is_shown_without_time_of_its_own(examples):
    car = liaison.read(examples / "quarter_car.lsd")
    rest = liaison.equilibrium(car).state
    linear = liaison.linearize(car, rest)
    still = np.abs(linear.eigenvalues.imag) < 1e-9
    run = liaison.mode_shape(car, rest, mode=0)
    assert ("no oscillation" in run.name) == bool(still.any())


@pytest.mark.parametrize("amplitude", [0.0, -1.0, "0 deg"])
def test_an_amplitude_is_positive(double, rest, amplitude):
    with pytest.raises(ArgumentError, match="must be positive"):
        liaison.mode_shape(double, rest, amplitude=amplitude)
