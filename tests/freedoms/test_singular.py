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
