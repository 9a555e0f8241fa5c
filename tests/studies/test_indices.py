"""Sobol' indices against Ishigami's function in closed form, and a quarter car by quadrature."""

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError
from liaison.studies.indices import indices_of, saltelli_points
from liaison.studies.variations import Interval

PERCENT = 0.01


def test_ishigamis_function():
    a, b = 7.0, 0.1
    kinds = {x: Interval(-np.pi, np.pi) for x in "xyz"}
    points = saltelli_points(kinds, 2**14, seed=1)
    x, y, z = points.values.T
    f = np.sin(x) + a * np.sin(y) ** 2 + b * z**4 * np.sin(x)
    found = indices_of("xyz", {"f": f})
    spread = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5
    first = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0.0]) / spread
    both = 8 * b**2 * np.pi**8 / 225 / spread
    total = first + np.array([both, 0.0, both])
    assert np.allclose(found.first[0], first, atol=PERCENT * first.max())
    assert np.allclose(found.total[0], total, atol=PERCENT * total.max())
    assert np.all(found.first_error < 0.05)
    assert np.all(np.abs(found.first[0] - first) < found.first_error[0])


QUARTER_CAR = "examples/quarter_car.lsd"


def test_a_quarter_car_against_quadrature():
    """Conditional means by Gauss and Legendre's nodes in every direction, on a grid of runs."""
    vary = {"k_spring": (15e3, 25e3), "c_damper": (800.0, 2200.0), "k_tyre": (150e3, 210e3)}
    measure = {"high": "max(Z)"}
    found = liaison.sobol_indices(
        QUARTER_CAR, vary=vary, measure=measure, until=1.2, count=512, every=0.02, seed=3
    )
    nodes, weights = np.polynomial.legendre.leggauss(7)
    w = weights / 2
    grid = {x: (0.5 * (a + b) + 0.5 * (b - a) * nodes).tolist() for x, (a, b) in vary.items()}
    runs = liaison.study(
        QUARTER_CAR, vary=grid, measure=measure, until=1.2, design="grid", every=0.02
    )
    f = runs["high"].reshape(7, 7, 7)
    mean = np.einsum("ijk,i,j,k", f, w, w, w)
    spread = np.einsum("ijk,i,j,k", (f - mean) ** 2, w, w, w)
    alone = [np.einsum(x, f, w, w) for x in ("ijk,j,k->i", "ijk,i,k->j", "ijk,i,j->k")]
    rest = [np.einsum(x, f, w) for x in ("ijk,i->jk", "ijk,j->ik", "ijk,k->ij")]
    first = [np.sum(w * (x - mean) ** 2) / spread for x in alone]
    total = [1 - np.einsum("ij,i,j", (x - mean) ** 2, w, w) / spread for x in rest]
    assert np.allclose(found.first[0], first, atol=PERCENT)
    assert np.allclose(found.total[0], total, atol=PERCENT)
    assert "first order" in str(found)


def test_what_has_no_indices_is_rejected():
    with pytest.raises(LiaisonError, match="independently"):
        liaison.study(
            "examples/pendulum.lsd", vary={"l": (1.0, 2.0), "m": (1.0, 2.0)}, until=1,
            design="sobol indices", correlation={"l m": 0.5},
        )  # fmt: skip
    kinds = {"x": Interval(0, 1)}
    with pytest.raises(ArgumentError, match="power of 2"):
        saltelli_points(kinds, 100, 0)
    with pytest.raises(LiaisonError, match="does not vary"):
        indices_of("x", {"f": np.ones(3 * 8)})
    with pytest.raises(LiaisonError, match="has a value in 0 of 8 rows"):
        indices_of("x", {"f": np.full(3 * 8, np.nan)})
