"""Reactions in any axes, at any point; how bodies and joints accelerate."""

import numpy as np
import pytest

import liaison
from liaison.errors import NamingError, SimulationError

SERIES = ("poses", "reactions", "motions", "accelerations", "energy")

ARM = """
gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 2 kg, center = [0.5, 0, 0] m, inertia = [0, 0.2, 0.2] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let A = join [0, 0, 2] m @ earth and a with revolute axis = [0, 1, 0] end ;
let B = join [1, 0, 0] m @ a and b with spherical end ;
start A = 0.3 rad ; start A' = 2 rad/s ; start B.wx = 3 rad/s ; start B.wz = -2 rad/s ;
"""


@pytest.fixture(scope="module")
def run():
    return liaison.simulate(ARM, until=0.5, every=0.01, series=SERIES, rtol=1e-11, atol=1e-13)


def test_newton_and_euler_hold_for_the_last_body(run):
    """The force in B moves b; its moment about b's mass center turns it."""
    pose, motion = run.series["poses"].values[:, 1], run.series["motions"].values[:, 1]
    R, r = pose[:, :, :3], pose[:, :, :3] @ np.array([0.3, 0.1, 0.0])
    omega, alpha, a = motion[:, :3], motion[:, 6:9], motion[:, 9:]
    at_center = a + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    found = run.reaction("B", frame="ground", at=("b", (0.3, 0.1, 0.0)))
    weight = np.array([0, 0, -9.81])
    assert found.values[:, 3:] == pytest.approx(at_center - weight, abs=1e-9)
    I = R @ np.diag([0.01, 0.1, 0.1]) @ np.swapaxes(R, 1, 2)
    spin = np.einsum("nij,nj->ni", I, alpha)
    spin += np.cross(omega, np.einsum("nij,nj->ni", I, omega))
    assert found.values[:, :3] == pytest.approx(spin, abs=1e-9)


def test_a_wrench_moves_by_its_arm_and_turns_with_the_axes(run):
    own, told = run.reaction("A"), run.reaction("A", frame="ground", at=(1.0, 2.0, 3.0))
    R, p = np.split(run.series["markers"].values[:, 0], [3], axis=2)
    force = np.einsum("nij,nj->ni", R, own.values[:, 3:])
    moment = np.einsum("nij,nj->ni", R, own.values[:, :3])
    moment += np.cross(p[:, :, 0] - [1, 2, 3], force)
    assert told.values == pytest.approx(np.hstack([moment, force]), abs=1e-12)
    other = run.reaction("A", frame="ground", at=(1.0, 2.0, 3.0), on="predecessor")
    assert other.values == pytest.approx(-told.values)
    assert run.reaction("A", frame="b", at="b").values.shape == own.values.shape


def test_motions_are_the_derivatives_of_poses(run):
    fine = liaison.simulate(
        ARM, until=0.02, every=1e-4, series=SERIES, rtol=1e-12, atol=1e-14, method="dormand-prince"
    )
    p, motion = fine.series["poses"].values[:, :, :, 3], fine.series["motions"].values
    slope = (p[2:] - p[:-2]) / 2e-4
    assert motion[1:-1, :, 3:6] == pytest.approx(slope, abs=1e-6)
    rates = (motion[2:, :, :6] - motion[:-2, :, :6]) / 2e-4
    assert motion[1:-1, :, 6:] == pytest.approx(rates, abs=2e-5)
    assert fine["A''"][1:-1] == pytest.approx((fine["A'"][2:] - fine["A'"][:-2]) / 2e-4, abs=1e-5)
    assert fine.unit("A''") == "rad/s2"


def test_what_is_not_determined_stays_marked(examples):
    run = liaison.simulate(examples / "four_bar.lsd", until=0.1, every=0.05, series=SERIES)
    told = run.reaction("A", frame="ground", at=(0.2, 0.0, 0.1))
    loose = np.array([True, False, True, False, True, False])  # Mx, Mz, Fy of a planar loop
    assert np.array_equal(told.undetermined[0], loose)
    assert np.all(np.isnan(told.shown[0]) == loose)
    assert np.all(np.isfinite(told.values))  # the least-norm rest is there


def test_names_and_series_that_are_missing(run):
    with pytest.raises(NamingError, match="'C'"):
        run.reaction("C")
    with pytest.raises(NamingError, match="bodyy"):
        run.reaction("A", frame="bodyy")
    with pytest.raises(NamingError, match="side"):
        run.reaction("A", on="both")
    bare = liaison.simulate(ARM, until=0.1, only_series=())
    with pytest.raises(SimulationError, match="no series 'reactions'"):
        bare.reaction("A")


def test_a_run_with_reactions_is_saved_whole(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    again = liaison.load(tmp_path / "arm.nc")
    assert np.array_equal(
        again.reaction("A", frame="ground").values, run.reaction("A", frame="ground").values
    )


STRUT = """
let plate = body mass = 2 kg, inertia = 1 kg*m^2 end ;
let A = join earth and plate with spherical end ;
let B = join [0, 0, 1] m @ earth and [0, 0, 1] m ++ 30 deg || [1, 0, 0] @ plate with spherical end ;
start A.wz = 1 rad/s ;
"""


def test_only_what_self_stress_changes_is_marked():
    """Two balls pull at each other along their line: in the ground's axes that is one component."""
    run = liaison.simulate(STRUT, until=0.1, every=0.05, series=SERIES)
    in_marker = run.reaction("B").undetermined[0]
    assert in_marker.sum() == 2  # its marker is turned against the line
    in_ground = run.reaction("B", frame="ground").undetermined[0]
    assert list(in_ground) == [False, False, False, False, False, True]
