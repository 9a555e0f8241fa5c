"""Where bodies touch along a run: points, forces against the weight, the three velocities at I."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd

BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 2 kg, inertia = 8 g*m^2 end ;
let F = join earth and ball with free end ;
let c = contact ball and earth with ball radius = 10 cm, friction = 0.5, rolling = 5 mm end ;
start F.z = 10 cm ; start F.vx = 1 m/s ; start F.wy = 10 rad/s ;
"""


def test_a_ball_that_rolls_stands_where_it_touches():
    mechanism = read_lsd(BALL)
    run = liaison.simulate(mechanism, until=0.5, every=0.1)
    (c,) = liaison.contact_points(mechanism, run)
    assert (c.name, c.bodies) == ("c", ("ball", "ground"))
    assert c.is_closed.all()
    assert np.allclose(c.point[:, 0], run["F.x"])
    assert np.allclose(c.point[:, 1:], 0, atol=1e-12)
    assert np.allclose(c.on_first, 0, atol=1e-9)
    assert not c.on_second.any()
    assert np.allclose(c.geometric[:, 0], 0.1 * run["F.wy"], atol=1e-9)
    assert np.allclose(c.force[:, 2], 2 * 9.81)
    # r R_n against the rolling, about y
    assert np.allclose(c.moment, [0, -0.005 * 2 * 9.81, 0], atol=1e-9)


def test_forces_carry_the_weight_in_a_tilted_bowl():
    text = BALL.replace(
        "and earth with ball", "and 40 deg || [1, 2, 0] @ earth with ball inside = 1 m,"
    )
    text = text.replace("start F.z = 10 cm", "start F.z = -90 cm").replace("1 m/s", "0.2 m/s")
    text = text.replace("10 rad/s", "2 rad/s")
    mechanism = read_lsd(text)
    run = liaison.simulate(mechanism, until=0.2, every=0.01)
    (c,) = liaison.contact_points(mechanism, run)
    q = np.stack([run[f"F.{x}"] for x in "xyz"], axis=1)
    assert np.allclose(np.linalg.norm(c.point, axis=1), 1.0)
    assert np.allclose(c.point, q - 0.1 * c.normal)
    assert np.allclose(c.normal, -q / 0.9)
    # m g and the force give the acceleration of the center, by differences of its velocity
    velocity = np.gradient(q, run.t, axis=0, edge_order=2)
    pull = np.gradient(velocity, run.t, axis=0, edge_order=2)
    free = c.force / 2 + [0, 0, -9.81]
    assert np.allclose(free[2:-2], pull[2:-2], atol=1e-3)


def test_open_contacts_carry_nothing():
    mechanism = read_lsd(BALL.replace("start F.z = 10 cm", "start F.z = 1 m"))
    run = liaison.simulate(mechanism, until=0.3, every=0.1)
    (c,) = liaison.contact_points(mechanism, run)
    assert not c.is_closed.any()
    assert not c.force.any()
    assert np.allclose(c.point[:, 2], run["F.z"] - 0.1)


def test_every_corner_has_its_point():
    text = BALL.replace("ball radius = 10 cm,", "box size = [20, 40, 20] cm,")
    mechanism = read_lsd(text.partition("start F.vx")[0])
    run = liaison.simulate(mechanism, until=0.1, every=0.1)
    corners = liaison.contact_points(mechanism, run)
    assert [c.name for c in corners] == [f"c[{k}]" for k in range(1, 9)]
    low = [c.point[-1] for c in corners if c.is_closed[-1]]
    assert {tuple(np.round(x, 6)) for x in low} == {
        (x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.2, 0.2)}  # fmt: skip
    assert sum(c.force[-1] for c in corners) == pytest.approx([0, 0, 2 * 9.81], abs=1e-6)


def test_a_run_of_something_else_is_refused():
    mechanism = read_lsd(BALL)
    other = liaison.simulate(read_lsd(BALL.partition("let c")[0]), until=0.1)
    with pytest.raises(SimulationError, match="has no contacts of this mechanism"):
        liaison.contact_points(mechanism, other)


def test_the_roller_of_a_cam_touches_it_on_its_profile(examples):
    cam = liaison.read(examples / "contact/cam_lift_off.lsd")  # its speed is exact: 30 π rad/s
    run = liaison.simulate(cam, until=0.01)
    (lobes,) = liaison.contact_points(cam, run)
    assert lobes.is_closed.all()
    angle = np.arctan2(lobes.point[:, 2], lobes.point[:, 0]) - run["C"]
    far = np.hypot(lobes.point[:, 2], lobes.point[:, 0])
    assert far == pytest.approx(0.04 + 0.006 * np.cos(2 * angle), abs=1e-10)
    # the follower's point goes with it, the cam's turns; along the normal both go alike
    across = lobes.on_first - lobes.on_second
    assert np.einsum("ij,ij->i", across, lobes.normal) == pytest.approx(0, abs=1e-8)
