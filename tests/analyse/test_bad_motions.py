"""What cannot move, or not in one way: refused before the run or where it happens, with why."""

import numpy as np
import pytest

import liaison
from liaison.errors import AssemblyError, DerivationError, SimulationError

BODY = "let a = body mass = 1 kg, center = [1, 0, 0] m, inertia = 1 kg*m^2 end ;"
PLANE = BODY + "let A = join earth and a with planar(x, y, angle) end ;"


def test_relations_that_contradict_each_other_are_both_named():
    text = (
        BODY
        + """let A = join earth and a with revolute axis = [0, -1, 0] end ;
    let one = require A = 0 ;
    let two = require A - 1 rad = 0 ;"""
    )
    with pytest.raises(AssemblyError, match=r"the relation 'two' cannot be .* against 'one'"):
        liaison.check(text)


def test_relations_of_rates_that_contradict_each_other_are_both_named():
    text = PLANE + "let one = require A.x' = 0 ; let two = require A.x' - 2 m/s = 0 ;"
    with pytest.raises(AssemblyError, match=r"leave 1 .*'(one|two)', against '(one|two)'"):
        liaison.check(text)


def test_relations_that_part_later_tell_when_and_keep_what_was_good():
    text = (
        PLANE
        + "let one = require A.x' = 0 ; let two = require A.x' - max(0, t - 1 s)*1 m/s^2 = 0 ;"
    )
    with pytest.raises(SimulationError, match=r"'(one|two)'.*against '(one|two)'") as told:
        liaison.simulate(text, until=3)
    assert told.value.t == pytest.approx(1, abs=0.1)
    assert told.value.status
    last = told.value.trajectory
    assert last.t[-1] == pytest.approx(1, abs=0.1)
    assert np.all(np.isfinite(last.q))
    assert np.all(np.isfinite(last.v))


@pytest.mark.parametrize(
    ("body", "joint", "where"),
    [
        # a point on a ball joint, off every axis: M is singular, none of its entries is zero
        ("mass = 1, center = [0.6, 0, -0.8], inertia = 0", "spherical", "(-0.6, 0, 0.8)"),
        ("mass = 1, inertia = [[1, -1, 0], [-1, 1, 0], [0, 0, 2]]", "free", "(0.7071, 0.7071, 0)"),
        ("mass = 1, inertia = [1, 1, 0]", "free", "about its z"),
        ("mass = 0, inertia = 0", "revolute", "about its z"),
    ],
)
def test_a_motion_without_inertia_is_located(body, joint, where):
    text = f"let b = body {body} end ; let J = join earth and b with {joint} end ;"
    with pytest.raises(DerivationError, match="nothing gives") as told:
        liaison.simulate(text, until=1)
    assert "b turns about" in str(told.value)
    assert where in str(told.value)


GROWS = """let a = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and a with prismatic axis = [1, 0, 0] end ;
start A = 1 m ; start A' = 1 m/s ;
"""


@pytest.mark.parametrize(
    ("law", "cause"),
    [("A^3 * 1 N/m^3", "the step became too small"), ("sqrt(2 - A/1 m) * 1 N", "'?A'")],
)
def test_a_run_that_diverges_says_when_and_keeps_what_was_good(law, cause):
    text = GROWS + f"apply actuator force = {law} end on A ;"
    with pytest.raises(SimulationError, match=cause) as told:
        liaison.simulate(text, until=5)
    assert 0 < told.value.t < 5
    last = told.value.trajectory
    assert last.t[-1] <= told.value.t * (1 + 1e-9)
    assert np.all(np.isfinite(last.q))
    assert np.all(np.isfinite(last.v))


def test_a_drive_beyond_reach_says_when_projection_is_lost():
    text = """let a = body mass = 1, center = [0.5, 0, 0], inertia = 1 end ;
    let b = body mass = 1, center = [0.5, 0, 0], inertia = 1 end ;
    let s = body mass = 1, inertia = 1 end ;
    let A = join earth and a with revolute axis = [0, -1, 0] end ;
    let B = join [1, 0, 0] @ a and b with revolute axis = [0, -1, 0] end ;
    let C = join [1, 0, 0] @ b and s with revolute axis = [0, -1, 0] end ;
    let X = join earth and s with prismatic axis = [1, 0, 0] end ;
    impose X = 1.7 m + 0.2 m/s * t ;
    """
    with pytest.raises(SimulationError) as told:  # stretched after 1.5 s
        liaison.simulate(text, until=3)
    assert told.value.t == pytest.approx(1.5, abs=0.05)
    assert np.all(np.isfinite(told.value.trajectory.q))
