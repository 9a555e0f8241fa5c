"""Relations of velocities with b ≠ 0, and forces where something rolls: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.errors import AssemblyError

SERIES = ("energy", "poses", "reactions", "lam", "motions")
GRAVITY = 9.81


def run(path, **options):
    tight = {"rtol": 1e-11, "atol": 1e-13, "every": 0.05}
    return liaison.simulate(path, until=5, series=SERIES, **tight | options)


def test_a_skate_on_moving_ice_is_one_on_an_incline_seen_from_the_ice(examples):
    """b = a t sin(angle): the drift of the skate on an incline , and λ = −2 m a sin(Ω t)."""
    found, a, m, turn = run(examples / "moving_ice.lsd"), 0.5, 2.0, 2.0
    t, size = found.t, a / (2 * turn**2)
    behind = found["S.x"] - a * t**2 / 2
    np.testing.assert_allclose(behind, -size * np.sin(turn * t) ** 2, atol=1e-10)
    aside = -size * (turn * t - np.sin(2 * turn * t) / 2)
    np.testing.assert_allclose(found["S.y"], aside, atol=1e-10)
    np.testing.assert_allclose(found["lam"][:, 0], -2 * m * a * np.sin(turn * t), atol=1e-9)
    assert liaison.verify(examples / "moving_ice.lsd", found).holds


def test_a_ball_on_a_turntable_runs_on_a_circle_at_two_sevenths_and_friction_holds_it_there(
    examples,
):
    found, mass, rate = run(examples / "rolling_ball.lsd"), 0.5, 2.0 * 2 / 7
    place = found["F.x"] + 1j * found["F.y"]
    speed = found["motions.ball.vx"] + 1j * found["motions.ball.vy"]
    center = (place - speed / (1j * rate))[0]
    expected = center + (place[0] - center) * np.exp(1j * rate * found.t)
    np.testing.assert_allclose(place, expected, atol=1e-9)
    force = found.reaction("contact_point", frame="ground").values
    pull = -mass * rate**2 * (expected - center)
    np.testing.assert_allclose(force[:, 3] + 1j * force[:, 4], pull, atol=1e-9)
    np.testing.assert_allclose(force[:, 5], mass * GRAVITY, atol=1e-9)
    np.testing.assert_allclose(force[:, :3], 0, atol=1e-15)


def test_the_force_at_a_contact_is_told_in_any_axes_and_on_either_side(examples):
    found = run(examples / "rolling_ball.lsd")
    on_ball = found.reaction("contact_point", frame="ground")
    on_table = found.reaction("contact_point", frame="ground", on="predecessor")
    np.testing.assert_array_equal(on_ball.values, -on_table.values)
    turning = found.reaction("contact_point").values  # in the axes of the table
    length = np.linalg.norm(on_ball.values[:, 3:5], axis=1)
    np.testing.assert_allclose(np.linalg.norm(turning[:, 3:5], axis=1), length, atol=1e-12)
    assert np.max(np.abs(turning[:, 3:5] - on_ball.values[:, 3:5])) > 0.01
    center = found.reaction("contact_point", frame="ground", at="ball").values
    arm = np.array([0, 0, -0.03])
    np.testing.assert_allclose(center[:, :3], np.cross(arm, center[:, 3:]), atol=1e-12)


def test_a_wheel_set_drifts_along_the_slope_and_its_wheels_share_what_is_not_determined(examples):
    """(m + 2 I/r²) u̇ = m g sin α cos θ, θ = Ω t; across, m u Ω = Σ force − m g sin α sin θ."""
    found = run(examples / "wheel_set.lsd")
    t, turn, mass, pull = found.t, 1.5, 4.0, GRAVITY * np.sin(np.radians(20))
    share = mass / (mass + 2 * 0.005 / 0.1**2)
    size = share * pull / (2 * turn**2)
    np.testing.assert_allclose(found["F.x"], size * np.sin(turn * t) ** 2, atol=1e-9)
    y = size * (turn * t - np.sin(2 * turn * t) / 2)
    np.testing.assert_allclose(found["F.y"], y, atol=1e-9)
    wheels = [found.reaction(f"{x}_contact", frame="ground") for x in ("left", "right")]
    total = sum(x.values for x in wheels)
    across = -np.sin(turn * t) * total[:, 3] + np.cos(turn * t) * total[:, 4]
    np.testing.assert_allclose(across, mass * pull * np.sin(turn * t) * (1 + share), atol=1e-7)
    np.testing.assert_allclose(total[:, 5], mass * GRAVITY * np.cos(np.radians(20)), atol=1e-7)
    for name in ("left_contact", "right_contact"):
        loose = found.reaction(name, frame="axle").undetermined
        assert loose[:, 4].all()  # along the axle
        assert not loose[:, [3, 5]].any()  # along and across the plane
    assert liaison.verify(examples / "wheel_set.lsd", found).holds


def test_rest_tells_what_the_contacts_bear(examples):
    found = liaison.equilibrium(examples / "rolling_disc.lsd", kind="nearest")
    assert "edge" in found.to_dict()["reactions"]


def test_a_disc_that_lies_flat_is_refused_by_name():
    flat = """name = "flat" ;
    let w = body mass = 1 kg, inertia = [1, 1, 2] kg*m^2 end ;
    let F = join earth and w with free end ;
    let c = couple w and earth with rolling_disc radius = 10 cm end ;
    """
    with pytest.raises(AssemblyError, match=r"'c: contact' has no value at the start"):
        liaison.check(flat)


def test_a_hound_runs_along_bouguers_curve():
    """A(q, t) q̇ = 0, the hare at (0, u t): a force across its way leaves the hound its speed."""
    a, u, w = 10.0, 1.0, 2.0
    text = f"""
    let hound = body mass = 30 kg, inertia = 1 kg*m^2 end ;
    let H = join earth and hound with planar(x, y, angle) end ;
    let eye = require H.x*H.y' + ({u} m/s*t - H.y)*H.x' = 0 ;
    start H.x = {a} m ; start H.y = 0 ; start H.angle = 0 ;
    start H.x' = -{w} m/s ; start H.angle' = 0 ;
    """
    found = liaison.simulate(text, until=6, every=0.1, rtol=1e-12, atol=1e-13)
    x, y, k = found["H.x"], found["H.y"], u / w
    part = x / a
    curve = a / 2 * (part ** (1 + k) / (1 + k) - part ** (1 - k) / (1 - k)) + a * k / (1 - k**2)
    np.testing.assert_allclose(y, curve, atol=1e-9)
    np.testing.assert_allclose(np.hypot(found["H.x'"], found["H.y'"]), w, rtol=1e-10)
    assert x[-1] < 0.1 * a
