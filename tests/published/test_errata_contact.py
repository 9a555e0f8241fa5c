"""Formulas of contact that LL 1.5.1 prints wrongly: the code agrees with the corrected ones."""

import numpy as np
import pytest

import liaison

BALL = """
gravity = [0, 0, -10] m/s^2 ;
let ball = body mass = 1 kg, inertia = 4 g*m^2 end ;
let F = join earth and ball with free end ;
let floor = contact ball and earth with ball
  radius = 10 cm, friction = 0.5, rolling = 2 mm, pivoting = 3 mm, static_pivoting = 4 mm end ;
start F.z = 10 cm ;
"""


@pytest.mark.parametrize("way", [1, -1])
def test_ll_1_5_1_pivoting_is_held_by_the_size_of_its_moment(way):
    """Printed m_n < p₀ |R_n| would hold a moment of the other sign for ever."""
    twist = f"apply torque value = [0 N*m, 0 N*m, {way} * 0.01 N*m/s * t] end on ball ;"
    run = liaison.simulate(BALL + twist, until=5, series=("contacts",))
    (loose,) = [x for x in run.events if x.what == "slips"]
    assert (loose.name, loose.t) == ("floor: pivoting", pytest.approx(4.0, abs=1e-8))
    # then against ω_n: 4 g·m² ω̇ = 0.01 t − 0.03, from t = 4 s
    assert run["F.wz"][-1] == pytest.approx(way * 0.015 / 0.004, abs=1e-7)
    assert run["contacts.floor: pivoting"][-1] == pytest.approx(-way * 0.03, abs=1e-12)


def test_ll_1_5_1_the_moment_at_the_point_has_both_parts():
    """M_I = M_t + m_n u, where M_t = M_t + m_n u is printed."""
    spin = "start F.vx = 1 m/s ; start F.wy = 10 rad/s ; start F.wz = 5 rad/s ;"
    model = liaison.read(BALL + spin)
    run = liaison.simulate(model, until=0.1, every=0.05)
    (floor,) = liaison.contact_points(model, run)
    # rolls along x: M_t = −r R_n along y, and pivots: m_n = −p R_n
    assert np.allclose(floor.moment, [0, -0.02, -0.03], atol=1e-10)
