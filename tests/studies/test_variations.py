"""Variations and designs: quantiles against SciPy, points against their definitions."""

import numpy as np
import pytest
from scipy import stats

from liaison.errors import ArgumentError, LiaisonError, NamingError
from liaison.studies.variations import (
    Interval,
    Listed,
    Lognormal,
    Normal,
    Triangular,
    points_of,
    variation_of,
)

U = np.linspace(0.001, 0.999, 41)
ROUNDING = 1e-12


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9 cm .. 11 cm", Interval(0.09, 0.11)),
        ("9 cm … 11 cm", Interval(0.09, 0.11)),
        ("uniform(9 cm, 11 cm)", Interval(0.09, 0.11)),
        ("normal(10 cm, 1 mm)", Normal(0.1, 0.001)),
        ("triangular(9 cm, 10 cm, 12 cm)", Triangular(0.09, 0.1, 0.12)),
        ("lognormal(10 cm, 10 %)", Lognormal(0.1, 0.1)),
        ("20 cm ± 3 mm", Normal(0.2, 0.001, 0.197, 0.203)),
        (["9 cm", "11 cm"], Listed((0.09, 0.11))),
        ((0.09, "11 cm"), Interval(0.09, 0.11)),
    ],
)
def test_texts_are_variations(text, expected):
    read = variation_of(text, "m", 0.1, "vary: 'a'")
    assert type(read) is type(expected)
    assert np.allclose(read.ends(), expected.ends(), rtol=ROUNDING)
    assert np.allclose(read.quantile(U), expected.quantile(U), rtol=ROUNDING)


def test_a_tolerance_without_a_number_is_about_the_value_of_the_mechanism():
    read = variation_of("± 3 %", "m", 0.2, "vary: 'a'")
    assert np.allclose(read.ends(), (0.194, 0.206))
    assert read.middle == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("own", "peer"),
    [
        (Interval(1, 3), stats.uniform(1, 2)),
        (Normal(2, 0.5), stats.norm(2, 0.5)),
        (Normal(2, 0.5, 1.5, 3), stats.truncnorm(-1, 2, 2, 0.5)),
        (Normal(0, 1, 8, 9), stats.truncnorm(8, 9)),
        (Normal(0, 1, -9, -8), stats.truncnorm(-9, -8)),
        (Triangular(1, 2, 5), stats.triang(0.25, 1, 4)),
        (Lognormal(2, 0.3), stats.lognorm(0.3, scale=2)),
    ],
)
def test_quantiles_are_those_of_scipy(own, peer):
    assert np.allclose(own.quantile(U), peer.ppf(U), rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("11 cm .. 9 cm", "the first must be smaller"),
        ("normal(10 cm, 0 mm)", "must be positive"),
        ("normal(10 cm)", "takes 2 numbers, not 1"),
        ("nromal(1 cm, 1 mm)", "did you mean 'normal'"),
        ("9 kg .. 11 cm", "converts"),
        ("about 3", "no variation"),
        ([], "empty"),
        (("9 cm", float("inf")), "finite"),
        (3.0, "must be a text"),
        ("90 % .. 110 %", "not clear of what"),
        ("truncated(1 m, 1 mm, 2 m, 3 m)", "is never between"),
    ],
)
def test_what_is_no_variation_is_rejected_by_name(text, words):
    with pytest.raises(ArgumentError) as error:
        variation_of(text, "m", 0.1, "vary: 'a'")
    assert words in str(error.value)
    assert "vary: 'a'" in str(error.value)


KINDS = {"a": Interval(0, 1), "b": Normal(5, 2)}


def test_grids_and_corners_have_every_combination():
    grid = points_of({"a": Listed((1, 2, 3)), "b": Interval(0, 1)}, "grid", levels=2)
    assert grid.values.tolist() == [[1, 0], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1]]
    corners = points_of(KINDS, "corners")
    assert corners.values.tolist() == [[0, -1], [0, 11], [1, -1], [1, 11]]


def test_the_ends_of_a_tail_are_its_bounds():
    assert Normal(0, 1, 4, 5).ends() == (4, 5)
    assert Normal(0, 1, -5, -4).ends() == (-5, -4)
    assert Normal(0, 1, -1, 9).ends() == (-1, 3)


def test_the_deviation_of_a_normal_value_may_be_a_part_of_its_mean():
    assert variation_of("normal(10 cm, 1 %)", "m", 5.0, "a") == Normal(0.1, 0.001)


def test_one_at_a_time_moves_one_name_from_the_middle():
    points = points_of(KINDS, "one at a time", levels=3)
    middle = points.values[0]
    assert middle.tolist() == pytest.approx([0.5, 5])
    assert len(points) == 7
    assert np.max(np.sum(points.values != middle, axis=1)) == 1


@pytest.mark.parametrize("design", ["latin hypercube", "sobol", "monte carlo"])
def test_drawn_points_have_the_distributions_and_depend_on_the_seed_alone(design):
    points = points_of(KINDS, design, count=4096, seed=7)
    again = points_of(KINDS, design, count=4096, seed=7)
    other = points_of(KINDS, design, count=4096, seed=8)
    assert points.values.tobytes() == again.values.tobytes()
    assert points.values.tobytes() != other.values.tobytes()
    assert stats.kstest(points.values[:, 0], stats.uniform.cdf).pvalue > 0.01
    assert stats.kstest(points.values[:, 1], stats.norm(5, 2).cdf).pvalue > 0.01


def test_a_latin_hypercube_has_one_point_in_every_slice():
    points = points_of({"a": Interval(0, 1)}, "latin hypercube", count=100)
    assert sorted((points.values[:, 0] * 100).astype(int)) == list(range(100))


def test_correlated_values_have_their_correlation():
    kinds = {"a": Normal(0, 1), "b": Normal(3, 2), "c": Normal(0, 1)}
    points = points_of(kinds, "monte carlo", count=40_000, correlation={"a b": 0.8, "b c": -0.3})
    measured = np.corrcoef(points.values.T)
    deviation = 3 / np.sqrt(40_000)
    assert measured[0, 1] == pytest.approx(0.8, abs=deviation)
    assert measured[1, 2] == pytest.approx(-0.3, abs=deviation)
    assert measured[0, 2] == pytest.approx(0.0, abs=deviation)


def test_impossible_designs_are_rejected():
    with pytest.raises(NamingError, match="sobol"):
        points_of(KINDS, "soboll")
    with pytest.raises(ArgumentError, match="nothing varies"):
        points_of({})
    with pytest.raises(ArgumentError, match="10000000 at most"):
        points_of({str(k): Interval(0, 1) for k in range(30)}, "corners")
    with pytest.raises(ArgumentError, match="has no effect"):
        points_of(KINDS, "grid", count=3)
    with pytest.raises(ArgumentError, match="has no effect"):
        points_of(KINDS, "grid", correlation={"a b": 0.5})
    with pytest.raises(NamingError, match="'x'"):
        points_of(KINDS, "monte carlo", correlation={"a x": 0.5})
    with pytest.raises(ArgumentError, match="named twice"):
        points_of(KINDS, "monte carlo", correlation={"a b": 0.5, "b a": -0.5})
    with pytest.raises(ArgumentError, match="seed is -1"):
        points_of(KINDS, "monte carlo", seed=-1)
    signs = {"a b": 0.9, "b c": 0.9, "a c": -0.9}
    with pytest.raises(LiaisonError, match="contradict"):
        points_of({x: Normal(0, 1) for x in "abc"}, "monte carlo", correlation=signs)
