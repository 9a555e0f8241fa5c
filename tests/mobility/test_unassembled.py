"""Rings of hinges given by Denavit–Hartenberg data alone."""

from fractions import Fraction as F

import pytest

from liaison.mobility.ideal import Limits
from liaison.mobility.unassembled import Link, ring_mobility

SHORT, LONG = (F(4, 5), F(3, 5)), (F(3, 5), F(4, 5))


def test_bennetts_ring_is_assembled_and_moves():
    """a sin β = b sin α: 3 · 4/5 = 4 · 3/5."""
    found = ring_mobility([Link(3, *SHORT), Link(4, *LONG)] * 2)
    assert found.is_assembled
    assert (found.verdict.rank, found.verdict.low, found.verdict.high) == (3, 1, 1)


def test_a_ring_with_other_lengths_cannot_be_assembled():
    found = ring_mobility([Link(3, *SHORT), Link(5, *LONG), Link(3, *SHORT), Link(4, *LONG)])
    assert found is not None
    assert not found.is_assembled


def test_a_planar_ring_moves():
    found = ring_mobility([Link(2, 1, 0), Link(6, 1, 0), Link(7, 1, 0), Link(9, 1, 0)])
    assert (found.verdict.rank, found.verdict.low, found.verdict.high) == (3, 1, 1)


def test_limits_give_no_answer():
    ring = [Link(3, *SHORT), Link(4, *LONG)] * 2
    assert ring_mobility(ring, limits=Limits(2, 2, 5)) is None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_slices_say_the_same(seed):
    found = ring_mobility([Link(3, *SHORT), Link(4, *LONG)] * 2, seed=seed)
    assert (found.verdict.low, found.verdict.high) == (1, 1)
