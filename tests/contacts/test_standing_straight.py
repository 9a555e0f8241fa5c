"""Legs that stand straight: feet slide on each other at rates that friction hardly changes."""

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd

H = 1e-3
BIPED = """
name = "biped" ;
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 10 kg, inertia = [0.2, 0.2, 0.1] kg*m^2, center = [0, 0, 20] cm end ;
let F = join earth and trunk with free end ;
for i = 1 to 2
  let leg[i] = body
    mass = 3 kg, center = [0, 0, -20] cm, inertia = [0.05, 0.05, 0.01] kg*m^2
  end ;
  let foot[i] = body
    mass = 1 kg, center = [0, 0, -4] cm, inertia = [0.002, 0.004, 0.004] kg*m^2
  end ;
  let arm[i] = body
    mass = 1 kg, center = [0, 0, -10] cm, inertia = [0.01, 0.01, 0.001] kg*m^2
  end ;
  let R[i] = join [0, (-1)^i * 10 cm, 0] @ trunk and leg[i] with revolute axis = [1, 0, 0] end ;
  let A[i] = join [0, (-1)^i * 15 cm, 40 cm] @ trunk and arm[i] with
    revolute axis = [0, 1, 0] end ;
  let S[i] = join [0, 0, -40 cm] @ leg[i] and foot[i] with universal end ;
  for k = 1 to 5
    let p[5*i + k] = contact [10 cm * cos(72 deg*k + 0.3), 5 cm * sin(72 deg*k + 0.3), -5 cm]
      @ foot[i] and earth with point friction = 1 end ;
  end ;
end ;
start F = [0, 0, 45 cm] ;
"""


TURNING = ("R1", "R2", "S1.angle_x", "S1.angle_y", "S2.angle_x", "S2.angle_y")
RATES = np.random.default_rng(4).uniform(-0.1, 0.1, (16, len(TURNING)))


@pytest.mark.parametrize("k", [2, 7, 13])
def test_impulses_are_found(k):
    """30 rows of 14 velocities, whose least mobility is 10⁻¹² of the others'."""
    start = {f"{name}'": rate for name, rate in zip(TURNING, RATES[k], strict=True)}
    run = liaison.simulate(
        read_lsd(BIPED), start=start, until=20 * H, step=H, method="moreau", every=20 * H
    )
    assert run.status == "done"
    assert run.meta["complementarity"] <= 1e-6
    assert run.meta["penetration"] <= 1e-9


@pytest.mark.slow
def test_worlds_find_them():
    worlds = liaison.worlds(read_lsd(BIPED), 256, step=H, device="processor")
    worlds.reset(spread=0.02, seed=2)
    worlds.step(60)
    assert worlds.lost == 0
    assert worlds.residuals.max() <= 1e-6
    assert worlds.penetrations.max() <= 1e-12


LEGS = """
name = "four legs" ;
gravity = [0.4, 0.2, -9.81] m/s^2 ;
let trunk = body mass = 8 kg, inertia = [0.1, 0.2, 0.25] kg*m^2 end ;
let F = join earth and trunk with free end ;
for i = 1 to 4
  let thigh[i] = body mass = 0.8 kg, center = [2, 0, -10] cm, inertia = [4, 4, 1] g*m^2 end ;
  let shank[i] = body mass = 0.3 kg, center = [0, 0, -10] cm, inertia = [1, 1, 0.2] g*m^2 end ;
  let H[i] = join [25 cm * (-1)^(i*(i + 1)/2), 15 cm * (-1)^i, 0] @ trunk and thigh[i] with
    revolute axis = [0, 1, 0] end ;
  let K[i] = join [0, 0, -22] cm @ thigh[i] and shank[i] with revolute axis = [0, 1, 0] end ;
  let foot[i] = contact [0, 0, -22] cm @ shank[i] and earth with
    ball radius = 2 cm, friction = 0.5 end ;
  start H[i] = 0.3 rad ;
  start K[i] = -0.7 rad ;
  start H[i]' = 0.3 rad/s * i ;
  start K[i]' = -0.5 rad/s ;
  DRY
end ;
start F = [0, 0, 43.3 cm] ;
start F' = [0.2,0.1,-0.2,0,0,0] ;
"""
DRY = """
  apply friction dry = 1e-9 N*m, smoothing = 0 end on H[i] ;
  apply friction dry = 1e-9 N*m, smoothing = 0 end on K[i] ;
"""


def test_friction_that_cannot_be_felt_is_not_felt():
    """Rates of joints with friction have no part in what contacts ask of each other."""
    free, dry = (
        liaison.simulate(
            read_lsd(LEGS.replace("DRY", more)), until=4 * H, step=H, method="moreau", every=H
        )
        for more in ("", DRY)
    )
    # 1e-9 N m on 1e-3 kg m² changes rates by 1e-9 rad/s in a step of 1 ms
    assert np.max(np.abs(free.v - dry.v)) <= 1e-7


def test_derivatives_of_steps_leave_out_what_steps_leave_out():
    """Four feet in the plane of their legs: sideways they repeat each other, 14 velocities."""
    description = read_lsd(LEGS.replace("DRY", DRY))
    one = liaison.worlds(description, 1, step=H, device="processor")
    one.step(6)
    slopes = one.derivatives()
    assert slopes.lost == 0
    nv, size = one.v.shape[0], 1e-6
    moved = liaison.worlds(description, 2 * nv, step=H, device="processor")
    moved.reset(q=np.repeat(one.q, 2 * nv, axis=1), v=np.repeat(one.v, 2 * nv, axis=1))
    moved.v[:] += size * np.hstack([np.eye(nv), -np.eye(nv)])
    moved.step(1)
    differences = (moved.v[:, :nv] - moved.v[:, nv:]) / (2 * size)
    exact = slopes.A[nv:, nv:, 0]
    # the change of what is left out is itself left out: by the square of a step
    assert np.max(np.abs(differences - exact)) <= 1e-5 * np.max(np.abs(exact))
