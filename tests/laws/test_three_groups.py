"""Sliding, rolling and pivoting friction at once, each group held or slipping by its norm."""

import numpy as np
import pytest
from scipy.integrate import simpson

import liaison

G, M, R = 9.81, 2.0, 0.1
J = 2 / 5 * M * R**2
N = M * G

TABLE = f"""
gravity = [0, 0, -{G}] m/s^2 ;
let ball = body mass = {M} kg, inertia = {J} kg*m^2 end ;
let F = join earth and ball with free end ;
let table = contact ball and earth with ball radius = {R} m, friction = 0.2, static = 0.3,
  rolling = 4 mm, static_rolling = 6 mm, pivoting = 2 mm, static_pivoting = 3 mm end ;
start F.z = {R} m ;
"""


def events(run):
    return [(x.name.removeprefix("table: "), x.what) for x in run.events]


def test_a_ball_struck_with_side_spin_stops_in_three_ways():
    """It slides and begins to roll at once, then rolls against resistance; its spin ends apart."""
    v, spin = 3.0, 40.0
    run = liaison.simulate(
        TABLE + f"start F.vx = {v} m/s ; start F.wz = {spin} rad/s ;",
        until=12, rtol=1e-10, atol=1e-12, series=("contacts", "energy"),
    )  # fmt: skip
    slowing = 0.2 * N / M
    turning = (R * 0.2 - 0.004) * N / J
    slid = v / (slowing + R * turning)
    rolling = 0.004 * N * R / (J + M * R**2)
    ends = {
        "sliding": slid,
        "pivoting": spin * J / (0.002 * N),
        "rolling": slid + (v - slowing * slid) / rolling,
    }
    assert sorted(events(run)) == [(x, "sticks") for x in ("pivoting", "rolling", "sliding")]
    for event in run.events:
        # instants of a slip in the plane are known to the step at which it is slow, 1e-6 m/s
        name = event.name.removeprefix("table: ")
        assert event.t == pytest.approx(ends[name], abs=1e-6)
    # each group takes its share of what there was
    lost = {
        "sliding": 0.2 * N * (v * slid - (slowing + R * turning) * slid**2 / 2),
        "pivoting": J * spin**2 / 2,
    }
    lost["rolling"] = M * v**2 / 2 - lost["sliding"]
    for k, name in enumerate(("sliding", "rolling", "pivoting")):
        power = run["dissipated"][:, k]
        parts = np.split(np.arange(len(run.t)), np.flatnonzero(np.diff(run.t) == 0) + 1)
        taken = sum(simpson(power[p], x=run.t[p]) for p in parts if len(p) > 1)
        assert taken == pytest.approx(lost[name], rel=1e-4)  # steps are those of the run
    assert run["energy"][-1].sum() == pytest.approx(M * G * R, abs=1e-12)


@pytest.mark.parametrize(("radius", "group"), [(0.1, "rolling"), (0.01, "sliding")])
def test_what_yields_first_is_the_group_whose_norm_reaches_its_bound(radius, group):
    """A pull of components 3 : 4 at the center, growing by 1 N/s: ‖R_t‖ = t, ‖M_t‖ = radius t.

    Held by components it would let go a quarter later.
    """
    pull = "apply force value = [0.6 N/s*t, 0.8 N/s*t, 0 N], body = earth end on ball ;"
    text = TABLE.replace(f"{R} m", f"{radius} m") + pull
    until = 1.05 * min(0.3 * N, 0.006 * N / radius)
    run = liaison.simulate(text, until=until, rtol=1e-10, atol=1e-12, series=("contacts",))
    first = run.events[0]
    assert (first.name, first.what) == (f"table: {group}", "slips")
    assert first.t == pytest.approx(until / 1.05, rel=1e-9)
    held = run.t < first.t - 1e-6
    force = np.hypot(run["contacts.table: sliding x"], run["contacts.table: sliding y"])
    moment = np.hypot(run["contacts.table: rolling x"], run["contacts.table: rolling y"])
    assert np.allclose(force[held], run.t[held], atol=1e-9)
    assert np.allclose(moment[held], radius * run.t[held], atol=1e-9)
    # then it goes straight, along the pull
    assert run["F.y"][-1] == pytest.approx(4 / 3 * run["F.x"][-1], rel=1e-6)
