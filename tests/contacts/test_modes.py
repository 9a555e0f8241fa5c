"""Modes of contacts: repeated ones, passing ones, impacts until rest, and joints beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError

GRAVITY = "apply gravity value = [0, 0, -9.81] m/s^2 end ;"
BOX = """
let b = body mass = 1 kg, inertia = [1, 2, 3] g*m^2 end ;
let J = join earth and b with free end ;
"""


def total(run):
    """T + U at every recorded instant."""
    return run.series["energy"].values.sum(axis=1)


def test_a_box_slips_at_the_angle_of_friction_whatever_its_corners_share():
    # the weight turns by 0.1 rad/s; four corners, twelve rows, six freedoms
    text = """
    let b = body mass = 1 kg, inertia = [3, 4, 5] g*m^2 end ;
    let J = join [0, 0, 0.05] m @ earth and b with free end ;
    let floor = contact b and earth with box size = [0.3, 0.2, 0.1] m, friction = 0.5 end ;
    apply force value = [9.81*sin(0.1 rad/s*t), 0, -9.81*cos(0.1 rad/s*t)] N end on b ;
    """
    run = liaison.simulate(text, until=5)
    assert {event.what for event in run.events} == {"slips"}
    assert len(run.events) == 4
    # accelerations below 1e-9 of the weight's are none: 1e-8 s at 1 m/s³
    assert run.events[0].t == pytest.approx(np.arctan(0.5) / 0.1, abs=3e-8)
    assert run.v[-1, 4] == pytest.approx(0.0, abs=1e-9)


def test_balls_that_pass_through_each_other_between_two_looks_are_seen():
    text = """
    let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let b = body mass = 2 kg, inertia = 1 g*m^2 end ;
    let J = join earth and a with free end ;
    let K = join earth and b with free end ;
    let hit = contact a and b with ball radius = 10 cm, outside = 10 cm, restitution = 0.8 end ;
    start K.x = 1 m ;
    start J.vx = 1 m/s ;
    start J.y = 5 cm ;
    """
    run = liaison.simulate(text, until=3, series=("energy", "momentum", "contacts"))
    (impact,) = run.events
    assert impact.t == pytest.approx(1 - np.sqrt(0.2**2 - 0.05**2), abs=1e-12)
    momentum = run.series["momentum"].values
    assert np.allclose(momentum, momentum[0], atol=1e-12)
    # e of the relative speed along the line of centers, which is at 1 − t, −0.05
    normal = np.array([np.sqrt(0.0375), -0.05, 0]) / 0.2
    closing, parting = ((v[9:12] - v[3:6]) @ normal for v in (impact.before, impact.v))
    assert parting == pytest.approx(-0.8 * closing, abs=1e-12)


def test_a_box_that_falls_comes_to_rest_and_never_gains_energy():
    text = f"""{BOX} {GRAVITY}
    let floor = contact b and earth with
      box size = [0.1, 0.15, 0.2] m, friction = 0.4, restitution = 0.3 end ;
    start J.z = 0.5 m ; start J.wx = 3 rad/s ; start J.wy = -2 rad/s ; start J.vx = 1 m/s ;
    """
    run = liaison.simulate(text, until=3)
    # error of a step: 1e-8 of the energies
    assert np.max(np.diff(total(run))) < 1e-7
    assert np.max(np.abs(run.v[-1])) < 1e-20
    assert np.min(np.abs(run.q[-1, 2] - np.array([0.05, 0.075, 0.1]))) < 1e-9
    assert np.min(run.series["gaps"].values) > -1e-8


def test_a_rod_that_lands_on_both_ends_comes_to_rest():
    ends = "".join(
        f"let {name} = contact [0, 0, {z}] m @ b and earth with point friction = 0.4, "
        "restitution = 0.5 end ;"
        for name, z in (("p", -0.5), ("o", 0.5))
    )
    rod = BOX.replace("[1, 2, 3] g*m^2", "[0.08, 0.08, 0.0001] kg*m^2")
    starts = (
        "start J.z = 1 m ; start J.wx = 1 rad/s ; start J.wy = 2 rad/s ; start J.vx = 0.5 m/s ;"
    )
    run = liaison.simulate(rod + GRAVITY + ends + starts, until=5)
    assert np.max(np.diff(total(run))) < 1e-7
    assert np.max(np.abs(run.v[-1, 2:])) < 1e-9
    assert {event.what for event in run.events} >= {"impact", "rests", "closes", "sticks"}


def test_a_free_joint_transmits_nothing_where_contacts_carry_the_body():
    text = f"""{BOX} {GRAVITY}
    let floor = contact b and earth with ball radius = 10 cm, friction = 0.2, rolling = 1 mm end ;
    start J.z = 10 cm ; start J.vx = 1 m/s ;
    """
    run = liaison.simulate(text, until=0.5, series=("contacts", "reactions"))
    assert np.max(np.abs(run.series["reactions"].values)) < 1e-9
    assert np.allclose(run.series["contacts"].values[:, 0], 9.81, rtol=1e-9)
    # what friction takes, group by group, is its force times its rate
    lost = run.series["dissipated"].values
    assert lost.shape[1] == 2
    assert np.all(lost > -1e-12)


def test_a_closed_loop_runs_against_a_stop_and_stays_there():
    four_bar = Path("examples/four_bar.lsd").read_text(encoding="utf-8")
    run = liaison.simulate(four_bar + "let stop = require A <= 200 deg ;", until=1)
    assert [event.what for event in run.events] == ["impact", "closes"]
    assert run.q[-1, 0] == pytest.approx(np.deg2rad(200), abs=1e-12)
    assert np.max(np.abs(run.v[-1])) < 1e-12
    assert np.max(run.series["position_residual"].values) < 1e-9
    pushed = run.series["contacts"].values[-1, 0]
    assert pushed > 0


def test_a_start_that_penetrates_is_refused_with_the_distance():
    text = f"""{BOX} {GRAVITY}
    let floor = contact b and earth with ball radius = 10 cm end ;
    start J.z = 9 cm ;
    """
    with pytest.raises(SimulationError, match=r"'floor' is violated by 0\.01 m"):
        liaison.simulate(text, until=1)


def test_a_start_on_the_forbidden_side_of_a_rate_is_refused():
    text = f"{BOX} let slow = require J.wx <= 1 rad/s ; start J.wx = 2 rad/s ;"
    with pytest.raises(SimulationError, match=r"rate of 'slow' is on the forbidden side by 1"):
        liaison.simulate(text, until=1)


def test_methods_that_cannot_find_contacts_are_refused_by_name():
    floor = "let floor = contact b and earth with point restitution = 0.5 end ;"
    with pytest.raises(SimulationError, match="'radau' does not find where contacts close"):
        liaison.simulate(BOX + floor + "start J.z = 1 m ;", until=1, method="radau")


def test_a_box_tumbles_over_hills_until_three_corners_carry_it():
    run = liaison.simulate("examples/contact/box_on_hills.lsd", until=1, series=("contacts",))
    assert np.max(np.abs(run.v[-1])) < 1e-12
    pressed = run.series["contacts"].values[-1]
    names = run.series["contacts"].axes["contact"]
    loads = [f for name, f in zip(names, pressed, strict=True) if "sliding" not in name]
    assert np.count_nonzero(loads) == 3


def test_a_start_a_little_inside_is_brought_out_with_the_distance_said():
    text = f"""{BOX} {GRAVITY}
    let floor = contact b and earth with ball radius = 10 cm end ;
    start J.z = 0.0999995 m ;
    """
    run = liaison.simulate(text, until=0.1)
    assert "The start was 5e-07 m inside a contact and was brought out." in run.message
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-12)


def test_friction_of_stribeck_that_vanishes_in_fast_slip_resists_slow_slip():
    text = f"""{BOX} {GRAVITY}
    let floor = contact b and earth with ball radius = 10 cm, friction = 0, static = 0.4,
      stribeck = 0.5 m/s end ;
    start J.z = 0.1 m ; start J.vx = 0.5 m/s ;
    """
    run = liaison.simulate(text, until=0.01, series=("contacts",), rtol=1e-10)
    assert run.series["contacts"].values[0, 1] == pytest.approx(-0.4 * np.exp(-1) * 9.81, rel=1e-9)
