"""Ψ: as many columns as the finite mobility, in the kernel of the closure, with names."""

import numpy as np
import pytest

import liaison
from liaison.freedoms import mobility

from .built import mechanism_of
from .linkages import CASES


def test_the_slider_cranks_stroke_follows_the_crank(examples):
    """Crank 5 cm upright, rod 13 cm, a triangle 5-12-13: the piston moves at −5 cm per radian."""
    psi = mobility(liaison.read(examples / "slider_crank.lsd"), primes=1).psi
    assert psi.independent == ("A",)
    rates = psi.rates(1.0)
    assert rates["x"] == pytest.approx(-0.05, abs=1e-12)  # exact geometry, rounding only
    assert rates["A"] + rates["B"] + rates["P"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["antenna_mesh", "antenna_shared", "antenna_double"])
def test_on_non_reduced_components_it_has_the_columns_of_the_finite_mobility(name):
    found = mobility(mechanism_of(CASES[name]), primes=1)
    assert found.psi.matrix.shape == (found.unknowns, found.finite[0])
    assert found.finite[0] == found.first_order - 1
    # each side of a mesh stays parallel to itself: its three turns cancel
    sides = found.psi.matrix[:9].reshape(3, 3, -1).sum(axis=1)
    assert np.max(np.abs(sides)) < 1e-9


def test_where_branches_meet_there_is_none():
    assert mobility(mechanism_of(CASES["parallelogram_flat"]), primes=1).psi is None


def test_what_cannot_move_has_no_columns():
    psi = mobility(mechanism_of(CASES["generic_6r"]), primes=1).psi
    assert psi.matrix.shape == (6, 0)
