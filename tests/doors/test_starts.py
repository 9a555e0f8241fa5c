"""Starts of whole joints: one meaning for every attitude, in the axes that are written."""

import math

import numpy as np
import pytest

from liaison import simulate
from liaison.errors import TextError
from liaison.formats.lsd.read import read_lsd
from liaison.spatial import euler_zxz_of, number, rotation_about

BODY = "let b = body mass = 2 kg, inertia = [1, 2, 2.5] g*m^2, center = [1, 2, 3] cm end ; "
ATTITUDES = ("quaternion", "matrix", "bryant", "euler")
SAME = 1e-8
"""Poses after a tenth of a second, integrated to 1e-10."""


def pose(text: str, until: float = 0.0) -> np.ndarray:
    """The pose of b, 3 × 4, at the start or later."""
    run = simulate(read_lsd(BODY + text), until=max(until, 1e-6), rtol=1e-10, series=("poses",))
    return run.series["poses"].values[-1 if until else 0, -1]


def started(text: str) -> dict[str, float]:
    return {x.label: number(x.value) for x in read_lsd(BODY + text).starts}


@pytest.mark.parametrize("kind", ["spherical", "free", "point_on_plane", "point_on_line"])
def test_the_same_start_moves_alike_in_every_attitude(kind):
    """S = pose and S' = (velocities, ω) mean one motion, whatever the coordinates."""
    rates = {"spherical": "", "free": "0.3, -0.2, 0.1, ", "point_on_plane": "0.3, -0.2, "}
    rates |= {"point_on_line": "0.3, "}
    text = f"let S = join earth and b with {kind} attitude = %s end ; start S = 40 deg || [1, 2, 3]"
    text += f" ; start S' = [{rates[kind]}3, -2, 5] ; "
    first = pose(text % ATTITUDES[0], 0.1)
    for other in ATTITUDES[1:]:
        assert np.allclose(pose(text % other, 0.1), first, atol=SAME)


def test_a_free_body_begins_with_its_velocity_then_its_angular_velocity():
    """ẋ = R v and Ṙ = R ω̃ at the start, v and ω in the body's axes."""
    text = "let F = join earth and b with free attitude = %s end ; "
    text += "start F = [1, 2, 3] m ++ 30 deg || [0, 0, 1] ; start F' = [1, 0, 0, 0, 0, 3] ; "
    for attitude in ATTITUDES[:3]:
        begun, later = pose(text % attitude), pose(text % attitude, 1e-6)
        rate = (later - begun) / 1e-6
        R = begun[:, :3]
        assert rate[:, 3] == pytest.approx(R @ [1, 0, 0], abs=1e-5)
        assert R.T @ rate[:, :3] == pytest.approx(
            np.array([[0, -3, 0], [3, 0, 0], [0, 0, 0]]), abs=1e-5
        )


def test_rates_of_angles_have_their_own_names():
    starts = started(
        "let S = join earth and b with spherical attitude = bryant end ; start S.angle_x' = 2 ; "
    )
    assert starts == {"S.angle_x'": 2}


def test_angular_velocities_wait_for_positions_in_any_order():
    text = "let S = join earth and b with spherical attitude = bryant end ; "
    rate, place = "start S' = [1, 2, 3] ; ", "start S = 40 deg || [1, 2, 3] ; "
    assert started(text + rate + place) == started(text + place + rate)


def test_angles_without_rates_are_refused():
    with pytest.raises(TextError, match="have no rates for this angular velocity"):
        read_lsd(
            BODY + "let S = join earth and b with spherical attitude = euler end ; "
            "start S' = [0, 0, 5] ; "
        )


def test_euler_starts_on_the_usual_branch():
    """Nutation from 0 to π, as `euler_zxz_of` gives it."""
    starts = started(
        "let S = join earth and b with spherical attitude = euler end ; start S = 40 deg || [1,2,3]"
        " ; "
    )
    n = np.array([1.0, 2.0, 3.0]) / math.sqrt(14.0)
    usual = euler_zxz_of(rotation_about(n.tolist(), math.radians(40)))
    assert list(starts.values()) == pytest.approx([usual[0], usual[1], usual[2]], abs=1e-12)


@pytest.mark.parametrize("axis", ["[0, 0, 1]", "[1, 0, 0]", "[1, 2, 2]"])
@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_half_a_turn_is_a_start(kind, axis):
    text = f"let F = join earth and b with {kind} end ; start F = 180 deg || {axis} ; "
    n = np.array([float(x) for x in axis.strip("[]").split(",")])
    n /= np.linalg.norm(n)
    assert pose(text)[:, :3] == pytest.approx(2 * np.outer(n, n) - np.eye(3), abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "start", "place", "turned"),
    [
        ("parallel_axes axis = [1,0,0]", "[1, 2, 3] cm", (1, 2, 3), 0),
        ("parallel_axes axis = [1,0,0]", "[1, 2, 3] cm ++ 30 deg || [1,0,0]", (1, 2, 3), 30),
        ("cylindrical axis = [1,0,0]", "[5, 0, 0] cm ++ 30 deg || [1,0,0]", (5, 0, 0), 30),
        ("point_on_line axis = [1,0,0]", "[5, 0, 0] cm ++ 30 deg || [1,0,0]", (5, 0, 0), 30),
        ("point_on_plane axis = [1,0,0]", "[0, 2, 3] cm ++ 30 deg || [1,0,0]", (0, 2, 3), 30),
        ("planar axis = [1,0,0]", "[0, 2, 3] cm ++ 30 deg || [1,0,0]", (0, 2, 3), 30),
    ],
)
def test_poses_are_read_in_the_axes_that_are_written(kind, start, place, turned):
    found = pose(f"let F = join earth and b with {kind} end ; start F = {start} ; ")
    assert found[:, 3] == pytest.approx(np.array(place) / 100, abs=1e-12)
    a = math.radians(turned)
    R = [[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]]
    assert found[:, :3] == pytest.approx(np.array(R), abs=1e-12)


def test_a_pose_that_the_joint_does_not_allow_is_refused_in_the_written_axes():
    with pytest.raises(TextError, match="does not let its frames be so"):
        read_lsd(
            BODY + "let F = join earth and b with cylindrical axis = [1,0,0] end ; "
            "start F = [0, 0, 5] cm ++ 30 deg || [1,0,0] ; "
        )
