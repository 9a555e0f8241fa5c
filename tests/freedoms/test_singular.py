"""Dead points and bifurcations along the motion of linkages with one freedom."""

from fractions import Fraction as F
from math import atan2, cos, pi

import pytest

import liaison
from liaison.errors import DerivationError
from liaison.freedoms.home import home_of
from liaison.freedoms.singular import singular_positions

from .built import mechanism_of
from .linkages import CASES


def test_a_four_bars_rocker_stops_where_crank_and_coupler_align(examples):
    """Crank 2, coupler 6, rocker 7, ground 9: the law of cosines gives the rocker's extremes."""
    found = singular_positions(home_of(liaison.read(examples / "four_bar.lsd")))
    assert found.is_closed
    assert "A" not in found.dead_points  # the crank turns all the way
    assert not found.bifurcations
    start = atan2(4, -3)
    extremes = sorted(cos(start + stop["D"]) for stop in found.dead_points["D"])
    expected = sorted(-(9**2 + 7**2 - reach**2) / (2 * 9 * 7) for reach in (6 + 2, 6 - 2))
    assert extremes == pytest.approx(expected, abs=1e-9)  # quadratic at an extreme


def test_a_slider_stops_at_its_dead_centers(examples):
    found = singular_positions(home_of(liaison.read(examples / "slider_crank.lsd")))
    angles = sorted((pi / 2 + stop["A"]) % (2 * pi) for stop in found.dead_points["x"])
    assert [round(angle / pi, 6) % 2 for angle in angles] in ([0, 1], [1, 0])


def test_a_parallelogram_branches_where_it_is_flat():
    """Sides 5 and 7, crank upright at (3, 4): flat at two positions of the crank."""
    case = CASES["four_bar"]
    points = [(0, 0, 0), (3, 4, 0), (10, 4, 0), (7, 0, 0)]
    joints = [{**case["joints"][0], "point": [F(x) for x in p]} for p in points]
    found = singular_positions(home_of(mechanism_of({**case, "joints": joints})))
    start = atan2(4, 3)
    flat = [(start + place["j0"]) % pi for place in found.bifurcations]
    assert len(flat) >= 2
    assert all(min(angle, pi - angle) < 1e-4 for angle in flat)


def test_other_mobilities_are_refused():
    with pytest.raises(DerivationError, match="is 3, not 1"):
        singular_positions(home_of(mechanism_of(CASES["three_upu"])))


LINKAGE = """
%s
let crank = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let coupler = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let rocker = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [a, 0, 0] @ crank and coupler with revolute end ;
let C = join [30, 0, 0] cm @ coupler and [35, 0, 0] cm @ rocker with revolute end ;
let D = join [45, 0, 0] cm @ earth and rocker with revolute end ;
start A = 1 rad ; guess D = 2 rad ;
"""


def test_a_length_that_is_a_parameter_counts_with_its_value():
    """Dead points of the linkage are those of the same length written as a number."""
    as_parameter = liaison.read(LINKAGE % "parameter a = 10 cm ;")
    as_number = liaison.read(LINKAGE % "let a = 10 cm ;")
    found, wanted = (liaison.singularities(m, step=0.1) for m in (as_parameter, as_number))
    assert found.is_closed
    assert found.dead_points.keys() == wanted.dead_points.keys()
    assert found.length == pytest.approx(wanted.length, rel=1e-6)
    for name, places in wanted.dead_points.items():
        for one, other in zip(found.dead_points[name], places, strict=True):
            assert dict(one) == pytest.approx(dict(other), abs=1e-6)


def test_a_driven_linkage_is_followed_without_its_drive():
    free = liaison.read(LINKAGE % "let a = 10 cm ;")
    driven = liaison.read(LINKAGE % "let a = 10 cm ; let turn = impose A = 1 rad + 2 rad/s * t ;")
    found = liaison.singularities(driven, step=0.1)
    assert found.left_out == ("turn",)
    assert "without what drives it: turn" in str(found)
    assert found.dead_points == liaison.singularities(free, step=0.1).dead_points
    assert "turn, imposed over time" in liaison.mobility(driven).notes[-1]


def test_a_linkage_that_is_held_is_not_set_free():
    held = liaison.read(LINKAGE % "let a = 10 cm ; let lock = impose A = 1 rad ;")
    with pytest.raises(DerivationError, match="mobility here is 0"):
        liaison.singularities(held)
