"""Controllers and states in LSD: read, written back, and rejected at the place of the mistake."""

import numpy as np
import pytest

import liaison

TEXT = """
name = "arm" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter kp = 20 N*m/rad ;
let rod = body mass = 1 kg, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let A = join earth and [0, 0, 0.5] m @ rod with revolute axis = [0, 1, 0] end ;
let P = apply pid target = 90 deg, stiffness = kp, integral = 20 N*m/rad/s,
  damping = 5 N*m*s/rad, limit = 8 N*m, filter = 10 ms end on A ;
let current = apply state rate = (12 - 2*current)/0.5, unit = "A" end ;
let slow = apply state rate = (A' - slow)/(0.1 s), unit = "rad/s" end ;
start P.integral = 0.1 rad*s ;
start current = 1 ;
output shown = P.integral ;
"""


def test_text_reads_back_as_the_same_mechanism():
    m = liaison.read(TEXT)
    assert [str(x) for x in m.states] == [
        "P.integral [rad*s]", "P.rate [rad/s]", "current [A]", "slow [rad/s]",
    ]  # fmt: skip
    assert liaison.read(liaison.write_lsd(m)) == m


def test_states_run_and_begin_where_the_text_says():
    run = liaison.simulate(liaison.read(TEXT), until=12)
    assert run["P.integral"][0] == run["shown"][0] == 0.1
    assert run["current"][-1] == pytest.approx(6, abs=1e-6)
    assert run["A"][-1] == pytest.approx(np.pi / 2, abs=1e-6)


def test_gravity_compensation_reads_back():
    text = TEXT.split("let P")[0] + "apply gravity_compensation end on A ;"
    m = liaison.read(text)
    assert liaison.read(liaison.write_lsd(m)) == m
    assert liaison.forward_dynamics(m, {"A": 0.5}) == pytest.approx([0], abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("stiffness = kp", "stiffness = 2 kg", "stiffness of pid 'P' must be a torque", 7),
        ("0.1 rad*s", "0.1 m", "start of 'P.integral' must be a time", 11),
        ("limit = 8", "limits = 8", "did you mean 'limit'?", 8),
        ("= P.integral", "= P.integra", "did you mean 'P.integral'?", 13),
        ("90 deg", "A", "follows 'A', whose rate is not that of time alone", 7),
        ('unit = "A" end', 'unit = "A" end on A', "state 'current' is on nothing", 9),
        ('unit = "A" end', "unit = 3 end", "is a text in quotes", 9),
        ("10 ms", "0 s", "has a filter of 0 s", 7),
        ("stiffness = kp, ", "", "say by its `tracking` time", 7),
        ("limit = 8 N*m", "limit = 8 N*m, least = 9 N*m", "above its limit", 7),
        ('unit = "rad/s"', 'unit = "deg/s"', "states are in SI: 'rad/s'", 10),
        ('unit = "rad/s"', 'unit = "m"', "cannot be subtracted from an angular velocity", 10),
        ("start current", "start curent", "did you mean 'current'?", 12),
        ("let current", "let A.current", "", 9),
    ],
)
def test_mistakes_are_rejected_where_they_stand(old, new, message, line):
    assert old in TEXT
    with pytest.raises(liaison.LiaisonError) as caught:
        liaison.read(TEXT.replace(old, new, 1))
    assert message in str(caught.value)
    assert f"line {line}" in str(caught.value)


def test_two_states_of_one_name_are_rejected():
    rod = liaison.body("rod", mass=1)
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    with pytest.raises(liaison.NamingError, match="'A'"):
        liaison.mechanism(A, liaison.memory("A", rate=1))
    with pytest.raises(liaison.NamingError, match="'z'"):
        liaison.mechanism(A, liaison.memory("z", rate=1), liaison.parameter("z", 1))
