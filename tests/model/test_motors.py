"""Stops at joints, servos within their limits, and inertia of rotors that a joint feels."""

import numpy as np
import pytest

import liaison
from liaison.errors import ModelError

ARM = """
gravity = [0, 0, -9.81] m/s^2 ;
let upper = body mass = 2 kg, center = [0.1, 0, -0.3] m, inertia = [0.1, 0.1, 0.02] kg*m^2 end ;
let lower = body mass = 1 kg, center = [0, 0.05, -0.2] m, inertia = [0.03, 0.03, 0.01] kg*m^2 end ;
let A = join earth and upper with revolute axis = [0, 1, 0] end ;
let B = join [0, 0, -0.6] m @ upper and lower with revolute axis = [1, 0, 0] end ;
let C = join earth and slide with prismatic axis = [1, 0, 1] end ;
let slide = body mass = 1 kg, inertia = 1 g*m^2 end ;
"""
STATES = [
    {"A": 0.4, "A'": 1.0, "B": -0.7, "B'": 2.0, "C": 0.1, "C'": -3.0},
    {"A": -2.0, "A'": -6.0, "B": 1.1, "B'": 0.5, "C": 0.0, "C'": 8.0},
]


def acceleration(text, state):
    return np.asarray(liaison.forward_dynamics(liaison.read(ARM + text), state))


def test_an_armature_is_a_rotor_on_the_ground_that_turns_as_the_joint_does():
    rotor = """
    let rotor = body mass = 0, inertia = [0.2, 0.2, 0.3] kg*m^2 end ;
    let R = join earth and rotor with revolute end ;
    require R = B ;
    """
    for state in STATES:
        felt = acceleration("apply armature inertia = 0.3 kg*m^2 end on B ;", state)
        turned = acceleration(rotor, state | {"R": state["B"], "R'": state["B'"]})
        assert felt == pytest.approx(turned[: len(felt)], rel=1e-12)
        assert not np.allclose(felt, acceleration("", state), rtol=1e-3)


def test_an_armature_adds_to_the_diagonal_of_the_mass_matrix_alone():
    text = "apply armature inertia = 0.3 kg*m^2 end on A ; apply armature inertia = 2 kg end on C ;"
    for state in STATES:
        grown = liaison.mass_matrix(liaison.read(ARM + text), state)
        plain = liaison.mass_matrix(liaison.read(ARM), state)
        assert np.asarray(grown) - np.asarray(plain) == pytest.approx(np.diag([0.3, 0, 2]))


def test_every_formalism_has_the_same_armature_and_servo():
    text = """
    apply armature inertia = 0.3 kg*m^2 end on A ;
    apply servo target = 1 rad, stiffness = 5 N*m/rad, damping = 1 N*m*s/rad end on B ;
    """
    assert liaison.compare(liaison.read(ARM + text), timed=False).all_proved


def test_energy_of_an_armature_is_kept():
    text = "apply armature inertia = 0.3 kg*m^2 end on B ; start B = 1 rad ; start A = 0.5 rad ;"
    run = liaison.simulate(liaison.read(ARM + text), until=1.0, rtol=1e-10, atol=1e-12)
    total = run["energy.T"] + run["energy.U"]
    assert np.ptp(total) < 1e-8


LAW = {
    "target": 0.2,
    "speed": -0.5,
    "effort": 0.7,
    "stiffness": 30.0,
    "damping": 4.0,
    "limit": 9.0,
    "least": -2.0,
    "no_load": 5.0,
}


@pytest.mark.parametrize(
    "keys", [(), ("limit",), ("limit", "least"), ("limit", "no_load"), ("least",)]
)
def test_a_servo_gives_its_law_within_its_bounds(keys):
    bounds = {key: LAW[key] for key in keys}
    options = {k: LAW[k] for k in ("target", "speed", "effort", "stiffness", "damping")}
    rod = liaison.body("rod", mass=1, inertia=(1, 2, 3))
    A = liaison.join(liaison.ground, rod, "revolute", name="A")
    m = liaison.mechanism(A, liaison.servo(A, **options, **bounds))
    for q, v in np.random.default_rng(1).uniform(-8, 8, (40, 2)):
        u = 0.7 + 30 * (0.2 - q) + 4 * (-0.5 - v)
        top = bounds.get("limit", np.inf)
        bottom = bounds.get("least", -top)
        if "no_load" in bounds:
            top, bottom = min(top, top * (1 - v / 5)), max(bottom, -top * (1 + v / 5))
        expected = min(max(u, bottom), top) / 3
        assert liaison.forward_dynamics(m, {"A": q, "A'": v})[0] == pytest.approx(expected)


def test_a_servo_reaches_its_target_and_holds_it():
    text = """
    apply servo target = 40 deg, stiffness = 200 N*m/rad, damping = 30 N*m*s/rad end on A ;
    apply servo stiffness = 200 N*m/rad, damping = 30 N*m*s/rad end on B ;
    apply servo stiffness = 2000 N/m, damping = 100 N*s/m, effort = 6.9367 N end on C ;
    """
    run = liaison.simulate(liaison.read(ARM + text), until=4.0)
    sag = 200 * (np.radians(40) - run["A"][-1])  # held up against its weight
    static = liaison.forward_dynamics(
        liaison.read(ARM + "apply motor torque = 0 end on A ;"), {"A": run["A"][-1]}
    )
    assert sag != 0
    assert static[0] * sag < 0
    assert abs(run["A'"][-1]) < 1e-4
    assert abs(run["C"][-1]) < 1e-5


def test_stops_keep_a_joint_in_its_range_and_give_back_what_they_say():
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    for e in (0, 0.6):
        ends = liaison.stops(A, -0.3, 0.5, restitution=e)
        m = liaison.mechanism(A, ends, liaison.start(A, 0.0, 4.0), liaison.gravity())
        run = liaison.simulate(m, until=2.0)
        assert run["A"].min() > -0.3 - 1e-9
        assert run["A"].max() < 0.5 + 1e-9
        first = next(x for x in run.events if x.what == "impact")
        before = np.sqrt(16 - 2 * 9.81 * 0.5 * (1 - np.cos(0.5)) / 0.35)
        after = run["A'"][np.searchsorted(run["t"], first.t, side="right")]
        assert after == pytest.approx(-e * before, abs=0.2)
    names = [x.name for x in liaison.stops("A", lower=-1)]
    assert names == ["A lower stop"]


def test_stops_and_motors_are_written_and_read_back():
    m = liaison.mechanism(
        liaison.read(ARM),
        liaison.stops("A", -1, 1.5, restitution=0.1),
        liaison.servo("A", target="10 deg", stiffness=3, limit=5, no_load="3 rad/s"),
        liaison.armature("C", "3 kg"),
    )
    assert liaison.read(liaison.write_lsd(m)) == m


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: liaison.stops("A", 1, -1), "lower stop must be below"),
        (lambda: liaison.stops("A", 1, 1), "held at 1"),
        (lambda: liaison.stops("A", 0, 1, restitution=2), "above 1"),
        (lambda: liaison.servo("A", limit=1, least=2), "above its limit"),
        (lambda: liaison.servo("A", no_load=2), "needs a limit"),
        (lambda: liaison.servo("A", limit=1, no_load=0), "must be positive"),
        (lambda: liaison.servo("A", stiffness=-1), "must not be negative"),
        (lambda: liaison.armature("A", -1), "must not be negative"),
        (lambda: liaison.mechanism(liaison.read(ARM), liaison.armature("Q", 1)), "Q"),
        (
            lambda: liaison.read(ARM + "apply armature inertia = 1 end on lower and upper ;"),
            "coordinate",
        ),
        (lambda: liaison.read(ARM + "apply armature end on A ;"), "inertia"),
        (lambda: liaison.read(ARM + "apply servo limit = 3 N end on A ;"), "N"),
    ],
)
def test_what_cannot_be_is_rejected(make, message):
    with pytest.raises(liaison.LiaisonError, match=message):
        make()


def test_errors_of_stops_name_the_coordinate():
    with pytest.raises(ModelError, match="'A'"):
        liaison.stops("A", 2, 1)


WITHOUT = [
    ("pid", {}), ("pid", {"target": 1}), ("pid", {"stiffness": 0.0, "limit": 3}),
    ("servo", {}), ("servo", {"target": "90 deg", "damping": 1}),
    ("servo", {"speed": 1, "stiffness": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), WITHOUT)
def test_motors_that_never_follow_what_they_are_given_are_errors(kind, values):
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    with pytest.raises(ModelError, match=r"no gain|and no (stiffness|damping)"):
        getattr(liaison, kind)(A, **values)
    getattr(liaison, kind)(A, effort=1)
    getattr(liaison, kind)(A, damping=2)


def test_a_controller_in_lsd_without_gains_is_an_error_at_its_line():
    with pytest.raises(ModelError, match="no gain and no effort"):
        liaison.read(ARM + "apply pid target = 1 rad end on A ;")
