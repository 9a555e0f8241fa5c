"""A run between its recorded instants: on its closures, on the right side of impacts, as it was."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.expr import sin, symbol

CRANK = """
gravity = [0, 0, -9.81] m/s^2 ;
let crank = body mass = 2 kg, center = [2.5, 0, 0] cm, inertia = [2, 4, 2] g*m^2 end ;
let rod = body mass = 0.3 kg, center = [6.5, 0, 0] cm, inertia = [0.1, 0.4, 0.4] g*m^2 end ;
let piston = body mass = 0.4 kg, inertia = 0 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [5, 0, 0] cm @ crank and rod with revolute axis = [0, -1, 0] end ;
let P = join [13, 0, 0] cm @ rod and piston with revolute axis = [0, -1, 0] end ;
let x = join earth and piston with prismatic axis = [1, 0, 0] end ;
let drive = apply motor end on A ;
start A = 90 deg ; start A' = 10 rad/s ; start x = 12 cm ;
"""

BALL = """
gravity = [0, 0, -10] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0 end ;
let Z = join earth and ball with prismatic axis = [0, 0, 1] end ;
require Z >= 0 m with restitution = 1 end ;
start Z = 5 m ;
"""


def test_a_loop_stays_closed_and_the_motion_is_the_one_of_a_finer_record():
    inputs = {"drive": 0.5 * sin(5 * symbol("t"))}
    coarse, fine = (liaison.simulate(CRANK, until=2.0, every=h, inputs=inputs, rtol=1e-11,
                                     atol=1e-13) for h in (0.5, 0.01))  # fmt: skip
    between = coarse.resample(fine.t)
    np.testing.assert_allclose(between.q, fine.q, atol=1e-8)
    np.testing.assert_allclose(between.v, fine.v, atol=1e-6)
    np.testing.assert_allclose(between["energy"], fine["energy"], atol=1e-7)
    np.testing.assert_allclose(between["inputs.drive"], 0.5 * np.sin(5 * fine.t), atol=1e-14)
    assert np.max(between["position_residual"]) < 1e-12
    np.testing.assert_array_equal(coarse.resample(coarse.t).q, coarse.q)
    np.testing.assert_allclose(coarse.sol(0.77), fine.sol(0.77), atol=1e-6)
    assert max(coarse.compare(fine).values()) < 1e-6


def test_a_record_that_is_too_coarse_is_not_interpolated(tmp_path):
    """From a file there are no equations: refuse what cubics would get wrong, and say nothing of
    residuals."""
    for every, is_fine in ((0.5, False), (0.002, True)):
        liaison.simulate(CRANK, until=2.0, every=every).save(tmp_path / "run.nc")
        kept = liaison.load(tmp_path / "run.nc")
        if is_fine:
            assert "position_residual" not in kept.resample([0.3331]).series
        else:
            with pytest.raises(SimulationError, match="recorded too seldom"):
                kept.resample([0.3331])
            assert len(kept.resample([0.3331], rough=True).t) == 1


def test_impacts_between_instants_are_not_smoothed_over():
    """A ball from 5 m, g = 10 m/s²: impacts at 1, 3, 5 s, ±10 m/s."""
    run = liaison.simulate(BALL, until=4.0, every=0.5, rtol=1e-11, atol=1e-13)
    times = np.array([0.9, 0.999, 1.001, 1.1, 2.9, 2.9995, 3.0005])
    since = times % 2 - 1
    got = run.resample(times)
    np.testing.assert_allclose(got["Z"], 10 * np.abs(since) - 5 * since**2, atol=1e-6)
    np.testing.assert_allclose(got["Z'"], np.where(since < 0, -10 - 10 * since, 10 - 10 * since),
                               atol=1e-5)  # fmt: skip
    energy = got["energy.T"] + got["energy.U"]
    np.testing.assert_allclose(energy, 50.0, atol=1e-4)


def test_an_impact_at_a_recorded_instant_and_at_the_end():
    """Impacts at 1 s and 3 s, recorded each second, to 3 s: on both sides, and after at the end."""
    run = liaison.simulate(BALL, until=3.0, every=0.25, rtol=1e-11, atol=1e-13)
    for start, sign in ((1.0, 1), (3.0, -1)):
        times = np.sort(start + sign * np.array([1e-6, 1e-3, 0.1]))
        got = run.resample(times)
        np.testing.assert_allclose(got["Z'"], sign * (10 - 10 * np.abs(times - start)), atol=1e-5)
    assert np.abs(run.resample([3.0])["Z'"]) == pytest.approx(10, rel=1e-6)


def test_two_records_of_one_bouncing_motion_are_the_same():
    exact = {"rtol": 1e-11, "atol": 1e-13}
    whole = liaison.simulate(BALL, until=4.0, **exact)
    coarse = liaison.simulate(BALL, until=4.0, every=0.25, **exact)
    other = liaison.simulate(BALL, until=4.0, every=0.25, rtol=1e-10, atol=1e-12)
    for a, b in ((whole, coarse), (coarse, whole), (whole, other), (other, whole)):
        worst = a.compare(b)
        assert max(worst["Z"], worst["Z'"]) < 1e-4
    # gaps between instants are of no cubic through the neighbors: they are compared where both are
    other = liaison.simulate(BALL, until=4.0, every=0.3, **exact)
    worst = coarse.compare(other)
    assert "gaps.floor" in worst or any(name.startswith("gaps") for name in worst)
    assert max(worst.values()) < 1e-4


def test_held_inputs_stay_held():
    """A controller that switches between 0 and 1: never 1.1, and new from its instant on."""
    text = BALL.replace("require", "let push = apply motor end on Z ;\nrequire")
    inputs = {"push": (0.2, lambda t, s: float(round(t / 0.2) % 2))}
    run = liaison.simulate(text, until=0.8, every=0.05, inputs=inputs)
    times = 0.005 + 0.01 * np.arange(79)
    u = run.resample(times)["inputs.push"]
    np.testing.assert_array_equal(u, np.floor(times / 0.2) % 2)
    np.testing.assert_array_equal(run["inputs.push"][:16], np.arange(16) // 4 % 2)


def test_formulas_that_read_a_controlled_input_are_recorded_with_the_new_one():
    text = """
    let b = body mass = 1 kg, inertia = 0 end ;
    let Z = join earth and b with prismatic axis = [0, 0, 1] end ;
    let push = apply motor end on Z ;
    let pull = apply motor end on Z ;
    """
    inputs = {"push": (0.2, lambda t, s: 1 + round(t / 0.2)), "pull": -3 * symbol("push")}
    run = liaison.simulate(text, until=0.7, every=0.1, inputs=inputs)
    np.testing.assert_array_equal(run["inputs.push"], [1, 1, 2, 2, 3, 3, 4, 4])
    np.testing.assert_array_equal(run["inputs.pull"], -3 * run["inputs.push"])


def test_a_run_that_an_event_stops_ends_there_also_with_a_list_of_instants():
    text = BALL.replace("require", "event low when Z - 3 m crossing stop ;\nrequire")
    for every in (0.1, [0.0, 0.1, 0.2, 3.0], None):
        run = liaison.simulate(text, until=4.0, every=every)
        assert run.status == "stopped"
        assert run.t[-1] == pytest.approx(np.sqrt(0.4), rel=1e-9)
        assert run["Z"][-1] == pytest.approx(3, rel=1e-9)
        assert np.all(np.diff(run.t) > 0)


def test_between_instants_many_fixed_steps_apart_a_run_takes_the_same_steps():
    """It costs what the run did, and a stiff run keeps its method."""
    for method, step in (("rk4", 0.02), ("gauss4", 0.02)):
        chosen = {"until": 1.0, "method": method, "step": step}
        often = liaison.simulate(CRANK, every=0.1, **chosen)
        seldom = liaison.simulate(CRANK, every=0.2, **chosen)
        between = seldom.resample(often.t)
        np.testing.assert_allclose(between.q, often.q, atol=1e-12)
        bare = seldom.resample(often.t, series=False)
        assert not bare.series
        assert np.array_equal(bare.q, between.q)
