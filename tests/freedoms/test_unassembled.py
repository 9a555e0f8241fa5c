"""Rings of hinges given by Denavit–Hartenberg data alone."""

import re
from fractions import Fraction as F

import pytest

import liaison
from liaison.errors import ArgumentError
from liaison.expr import sqrt
from liaison.freedoms.clock import bounded
from liaison.freedoms.engines.engines import MSOLVE, Engine
from liaison.freedoms.engines.ideal import Limits
from liaison.freedoms.unassembled import Link, ring_mobility

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


def test_a_ring_of_large_numbers_is_decided_within_the_limits():
    """A basis in the order lex passed them."""
    links = [(5, F(1, 7)), (2, F(1)), (5, F(1)), (1, F(1, 7))]
    found = ring_mobility(
        [Link(a, (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for a, t in links]
    )
    assert found is not None
    assert not found.is_assembled


def test_a_planar_ring_moves():
    found = ring_mobility([Link(2, 1, 0), Link(6, 1, 0), Link(7, 1, 0), Link(9, 1, 0)])
    assert (found.verdict.rank, found.verdict.low, found.verdict.high) == (3, 1, 1)


def test_limits_give_no_answer_and_the_reason():
    ring = [Link(3, *SHORT), Link(4, *LONG)] * 2
    found = ring_mobility(ring, limits=Limits(2, 2, 5))
    assert (found.is_assembled, found.verdict) == (None, None)
    assert "passes the limits" in found.why


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_slices_say_the_same(seed):
    found = ring_mobility([Link(3, *SHORT), Link(4, *LONG)] * 2, seed=seed)
    assert (found.verdict.low, found.verdict.high) == (1, 1)


# Rings of five and more, through msolve -----------------------------------------------------------

needs_msolve = pytest.mark.skipif(MSOLVE.path() is None, reason="msolve: make algebra")
GENERAL = [Link(2, *SHORT), Link(3, *LONG), Link(4, F(5, 13), F(12, 13)), Link(2, *SHORT, d=1),
           Link(3, 0, 1), Link(1, *LONG), Link(2, *SHORT)]  # fmt: skip


def goldberg():
    """Two of Bennett's rings with a common link taken away: sin α/a = sin β/b = sin γ/c = 1/5."""
    cosine = F(4, 5) * F(12, 13) - F(3, 5) * F(5, 13)
    sine = F(3, 5) * F(12, 13) + F(4, 5) * F(5, 13)
    return [Link(3 + F(25, 13), cosine, sine), Link(4, *LONG), Link(3, *SHORT),
            Link(F(25, 13), F(12, 13), F(5, 13)), Link(4, *LONG)]  # fmt: skip


RINGS = {
    "Goldberg": (goldberg(), 1, 4),
    "Bricard, trihedral": ([Link(1, 0, 1), Link(1, 0, -1)] * 3, 1, 5),
    "five in a plane": ([Link(k, 1, 0) for k in (2, 3, 4, 5, 3)], 2, 3),
    "six in general": (GENERAL[:6], 0, 6),
    "seven in general": (GENERAL, 1, 6),
}


@needs_msolve
@pytest.mark.parametrize("name", RINGS)
def test_larger_rings_are_assembled_modulo_primes(name):
    links, dimension, rank = RINGS[name]
    found = ring_mobility(links)
    assert (found.is_assembled, found.dimension) == (True, dimension)
    assert found.verdict.rank == rank
    assert (found.verdict.low, found.verdict.high) == (dimension, dimension)


@needs_msolve
@pytest.mark.parametrize("seed", [1, 2])
def test_five_in_general_cannot_be_assembled(seed):
    found = ring_mobility(GENERAL[:5], seed=seed)
    assert (found.is_assembled, found.verdict) == (False, None)


@needs_msolve
def test_goldbergs_ring_with_another_length_cannot_be_assembled():
    links = goldberg()
    links[0] = Link(links[0].a + F(1, 1000), links[0].cosine, links[0].sine)
    assert not ring_mobility(links).is_assembled


def test_real_positions_of_six_are_counted_also_without_msolve(monkeypatch):
    monkeypatch.setattr(Engine, "path", lambda self: None)
    found = ring_mobility(GENERAL[:6])
    assert found.is_assembled
    assert found.real is not None
    far = ring_mobility([Link(20, *SHORT), *GENERAL[1:6]])
    assert (far.is_assembled, far.real) == (True, 0)  # over the complex numbers only


def test_without_msolve_others_are_not_computed(monkeypatch):
    monkeypatch.setattr(Engine, "path", lambda self: None)
    for ring in (GENERAL[:5], GENERAL):
        found = ring_mobility(ring)
        assert (found.is_assembled, found.how) == (None, "not computed")
        assert re.match(rf"a ring of {len(ring)} hinges is solved by msolve: .*msolve", found.why)


@needs_msolve
def test_out_of_time_they_are_not_computed():
    with bounded(1e-3):
        found = ring_mobility(GENERAL)
    assert found.is_assembled is None
    assert found.why


def test_numbers_that_are_not_rational_are_named():
    with pytest.raises(ArgumentError, match="link 1 of the ring has cosine"):
        ring_mobility([Link(3, *SHORT), Link(4, sqrt(3) / 2, F(1, 2))] * 2)


def test_psi_of_a_path_is_an_error_that_says_what_to_do():
    with pytest.raises(ArgumentError, match="takes a mechanism, not str"):
        liaison.polynomial_psi("four_bar.lsd")
