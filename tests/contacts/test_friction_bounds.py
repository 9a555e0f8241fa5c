"""Bounds of friction that change: at rest, in motion, on landing, where a formula falls below 0."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, ModelError, NamingError, SimulationError

PUCK = """
gravity = [0, 0, -9.81] m/s^2 ; parameter e = 0 ; parameter f = 0.1 ;
let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
let F = join earth and puck with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let floor = contact puck and earth with point friction = f, static = 0.4, restitution = e end ;
"""
WAYS = [({}, 1e-9), ({"step": 1e-3, "method": "moreau"}, 1e-2)]


@pytest.mark.parametrize(("options", "atol"), WAYS)
def test_what_lands_in_motion_slips_with_the_friction_of_motion(options, atol):
    run = liaison.simulate(PUCK, until=4, start={"F.z": 1, "F.x'": 3}, **options)
    left = 3 - 0.1 * sqrt(2 * 9.81)
    assert np.isclose(run["F.x"][-1], 3 * sqrt(2 / 9.81) + left**2 / (0.2 * 9.81), atol=atol)
    assert [x.what for x in run.events] == ["impact", "closes", "slips", "sticks"]
    assert list(np.diff([x.t for x in run.events]) >= 0) == [True] * 3


@pytest.mark.parametrize(("options", "atol"), WAYS)
def test_friction_at_rest_alone_holds_and_then_lets_go(options, atol):
    text = PUCK + "apply force value = [2 N/s*t, 0 N, 0 N] end on puck ;"
    run = liaison.simulate(text, until=4, parameters={"f": 0}, **options)
    begins = 0.4 * 9.81 / 2
    free = (4 - begins) ** 3 / 3 + begins * (4 - begins) ** 2
    assert np.isclose(run["F.x"][-1], free, atol=atol)


@pytest.mark.parametrize("options", [{}, {"step": 1e-3, "method": "moreau"}])
def test_a_brake_whose_formula_goes_below_zero_does_not_push(options):
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let weight = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let Z = join earth and weight with prismatic axis = [0, 0, 1] end ;
    apply friction dry = 1 N - 1 N/s*t, smoothing = 0 end on Z ;
    """
    run = liaison.simulate(text, until=2, **options)
    assert np.isclose(run["Z'"][-1], -2 * 9.81 + 0.5, atol=2e-3)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"e": 2}, "restitution of contact 'floor' is 2; above 1"),
        ({"e": -1}, "restitution of contact 'floor' is -1; it must not be negative"),
        ({"f": -1}, "friction of contact 'floor' is -1; it must not be negative"),
        ({"f": 0.8}, "is 0.8 in motion and 0.4 at rest"),
    ],
)
def test_values_of_parameters_that_no_contact_can_have_are_refused(values, why):
    with pytest.raises(ModelError, match=why):
        liaison.simulate(PUCK, until=1, parameters=values)


def test_friction_across_is_refused_on_balls():
    text = PUCK + "let b = contact puck and earth with point outside = 1 cm, across = 0.2 end ;"
    with pytest.raises(ModelError, match="has no x to be across of"):
        liaison.read(text)


def test_laws_of_impact_are_named_and_not_mixed():
    with pytest.raises(NamingError, match="no law of impact is named 'three'"):
        liaison.simulate(PUCK, until=1, impacts="three")
    with pytest.raises(ArgumentError, match="impacts is 3; it must be text"):
        liaison.simulate(PUCK, until=1, impacts=3)
    with pytest.raises(SimulationError, match="has a law of impacts of its own"):
        liaison.simulate(PUCK, until=1, impacts="newton", step=1e-3, method="moreau")


STACK = """
gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 1.5 kg, inertia = 1 kg*m^2 end ;
let b = body mass = 1.6 kg, inertia = 1 kg*m^2 end ;
let X = join earth and a with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let Y = join earth and b with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let lower = contact a and earth with point friction = 0.25, static = 0.28 end ;
let upper = contact b and [0, 0, 10] cm @ a with point friction = 0.073, static = 0.075 end ;
apply force value = [20 N*sin(6.4 rad/s*t), 0, 0] end on a ;
start Y.z = 10 cm ;
"""


def test_friction_where_slip_begins_is_against_it_whatever_the_run_ends_with():
    run = liaison.simulate(STACK, until=1)  # both slip to the right first, to the left last
    for name, normal, coefficient in (("lower", 3.1 * 9.81, -0.25), ("upper", 1.6 * 9.81, 0.073)):
        begin = next(e.t for e in run.events if e.name == f"{name}: sliding")
        after = np.flatnonzero(run.t == begin)[-1]
        force = run[f"contacts.{name}: sliding x"][after]
        assert force == pytest.approx(coefficient * normal, rel=1e-9)


@pytest.mark.parametrize("every", [None, 0.1])
@pytest.mark.parametrize(
    ("name", "push", "away", "force", "kept"),
    [
        ("fx", 4.5, "F.x", "contacts.floor: sliding x", -0.981),
        ("fz", 10.0, "F.z", "contacts.floor", 0),
    ],
)
def test_what_a_controller_lets_go_is_recorded_at_its_instant(every, name, push, away, force, kept):
    text = PUCK + "input fx = 0 N ; input fz = 0 N ; apply force value = [fx, 0, fz] end on puck ;"
    late = {name: (0.1, lambda t, state: push if t > 0.25 else 0.0)}
    run = liaison.simulate(text, until=0.8, every=every, inputs=late)
    rest = push - (0.981 if name == "fx" else 9.81)
    assert run[away][-1] == pytest.approx(0.125 * rest, abs=1e-9)  # from 0.3 s on
    jump = np.isclose(run.t, 0.3, rtol=0, atol=1e-12)
    assert run[force][jump] == pytest.approx(kept, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("f", -0.3, "must not be negative"),
        ("f", 0.5, "at rest, where it must not be less"),
        ("e", 1.5, "above 1"),
        ("e", -0.1, "must not be negative"),
    ],
)
def test_values_that_no_contact_has_are_rejected_in_every_kind_of_run(name, value, message):
    with pytest.raises(ModelError, match=message):
        liaison.simulate(PUCK, until=0.1, parameters={name: value})
    with pytest.raises(ModelError, match=message):
        liaison.simulate(liaison.compile(liaison.read(PUCK)), until=0.1, parameters={name: value})
    with pytest.raises(ModelError, match=f"run 1: .*{message}"):
        liaison.simulate_batch(PUCK, until=0.1, parameters={name: np.array([0.2, value])})
    study = liaison.study(PUCK, until=0.1, vary={name: [0.2, value]}, measure={"z": "final(F.z)"})
    assert study.failures == {"impossible values": 1}


def test_a_wheel_of_negative_radius_is_rejected():
    text = """
    parameter r = 20 cm ;
    let wheel = body mass = 1 kg, inertia = 10 g*m^2 end ;
    let F = join earth and wheel with free end ;
    couple wheel and earth with rolling_disc radius = r, axis = [0, 1, 0] end ;
    guess F.z = r ; start F.wy = 1 rad/s ;
    """
    with pytest.raises(ModelError, match=r"radius .* must not be negative"):
        liaison.simulate(text, until=0.1, parameters={"r": -0.2})
    with pytest.raises(ModelError, match=r"radius .* must not be negative"):
        liaison.pose(text, "wheel", parameters={"r": -0.2})
