"""Overconstrained mechanisms of many loops: proved, and none of them wrongly."""

from functools import cache
from random import Random

import pytest

from liaison.exact.linear import Series, matrix, primes_from, valuation
from liaison.expr import sqrt
from liaison.freedoms import mobility
from liaison.freedoms.local.curves import proof_of
from liaison.freedoms.local.pairs import tree_proof

from .overconstrained import QUICK, REASONS, RIGID, SHAKY, SLOW, on_line


@pytest.mark.parametrize("name", QUICK)
def test_the_mobility_is_proved(name):
    build, expected = QUICK[name]
    found = mobility(build(), primes=1)
    assert (found.finite, found.finite_complex) == ((expected, expected),) * 2
    assert (found.is_proved, found.is_proved_complex) == (True, True)
    assert f"finite mobility {expected}, proved" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_the_mobility_of_larger_ones_is_proved(name):
    build, expected = SLOW[name]
    found = mobility(build(), primes=2)
    assert (found.finite, found.is_proved) == ((expected, expected), True)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK | SLOW)
def test_three_seeds_agree(name):
    build = (QUICK | SLOW)[name][0]
    seen = [mobility(build(), primes=1, seed=k) for k in (1, 2, 3)]
    assert len({(x.finite, x.is_proved, x.status, x.rank) for x in seen}) == 1


@pytest.mark.parametrize("name", RIGID)
def test_with_one_length_changed_it_does_not_move(name):
    found = mobility(RIGID[name](), primes=1)
    assert (found.finite, found.is_proved) == ((0, 0), True)


@pytest.mark.parametrize("name", SHAKY)
def test_what_gives_way_to_first_order_only_is_not_said_to_move(name):
    found = mobility(SHAKY[name](), primes=1)
    assert (found.first_order, found.finite, found.status) == (1, (0, 0), "shaky")
    assert found.is_proved


@cache
def undecided(name):
    return mobility(REASONS[name][0](), primes=1)


@pytest.mark.parametrize("name", REASONS)
def test_what_is_not_proved_says_why(name):
    _, bounds, words = REASONS[name]
    found = undecided(name)
    assert (found.finite, found.is_proved) == (bounds, False)
    assert words in str(found)


def test_a_branch_is_proved_over_the_complex_numbers_where_signs_are_not_decided():
    found = undecided("flat, with a root, several equations beyond the pivots")
    assert (found.finite, found.finite_complex) == ((0, 1), (1, 1))
    assert found.is_proved_complex
    assert "1 branch followed to order 24 beyond the zeros on its curve" in found.proof


ROOT = sqrt(2)


@pytest.mark.parametrize(
    ("build", "real", "words"),
    [
        (lambda: on_line(0, 1, 1 + ROOT, 3 + ROOT), 0, "a definite second-order form, in balls"),
        (lambda: on_line(0, 1, 1 + ROOT, ROOT), 1, "an indefinite second-order form, in balls"),
    ],
)
def test_signs_of_irrational_numbers_are_decided_in_balls(build, real, words):
    """Bars 1 + √2 + 2 stretched on 3 + √2; a flat parallelogram 1, √2."""
    found = mobility(build(), primes=1)
    assert (found.finite, found.finite_complex) == ((real, real), (1, 1))
    assert found.is_proved
    assert words in found.real_proof


@pytest.mark.parametrize("name", ["Miura 3 x 3", "Burmester's focal mechanism"])
def test_many_loops_are_proved_at_positions_in_floats(name):
    found = mobility(QUICK[name][0](), at={"h0": 0.1}, primes=1)
    assert (found.mode, found.finite, found.is_proved) == ("numeric", (1, 1), True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in QUICK | SLOW if "flat" not in name])
def test_assembly_in_floats_finds_them_moved(name):
    """Two methods: what is proved to move closes elsewhere, too, where the proof is carried to."""
    build, expected = (QUICK | SLOW)[name]
    given = build()
    # both angles of a leg, or assembly lays it along an axis of its joints
    labels = given.coordinates[: 2 if "platform" in name else 1]
    found = mobility(given, at=dict.fromkeys(labels, 0.04), primes=1)
    assert (found.mode, found.finite) == ("numeric", (expected, expected))
    assert found.is_proved, found.proof


def test_an_order_too_low_for_the_proof_is_said_to_be():
    found = mobility(QUICK["Bricard's octahedron I"][0](), primes=1, order=20)
    assert (found.finite, found.is_proved) == ((1, 1), False)
    assert "order 21 would prove" in found.proof


# Curves -------------------------------------------------------------------------------------------

P = next(primes_from(0))


def series(ring, *coefficients):
    return ring.of(list(coefficients))


def root(ring, a):
    """√a, of a series that begins with 1."""
    x = ring.one
    half = pow(2, -1, ring.p)
    for _ in range(10):
        x = ring.mul(x + ring.mul(a, ring.inverse(x)), ring.of([half]))
    return x


def rational(ring, draw, degree):
    """A random quotient of polynomials of a degree that vanishes at 0."""
    top, bottom = ([draw.randrange(1, ring.p) for _ in range(degree + 1)] for _ in range(2))
    return ring.mul(ring.of([0, *top[1:]]), ring.inverse(ring.of(bottom)))


def most_zeros(path, ring):
    """The highest order to which an equation of degree one in each unknown vanishes and is not 0.

    A basis of the products of unknowns in echelon form, by their first terms.
    """
    products = [ring.one]
    for x in path:
        products += [ring.mul(f, x) for f in products]
    rows = [[int(c) for c in f.coeffs()] for f in products]
    table = matrix([r + [0] * (ring.order - len(r)) for r in rows], ring.p)
    reduced, rank = table.rref()
    orders = [next(j for j in range(ring.order) if int(reduced[i, j])) for i in range(rank)]
    return max(orders)


@pytest.mark.parametrize("degrees", [(1, 1), (1, 2, 1), (1, 3, 2)])
def test_no_equation_has_more_zeros_on_a_rational_curve_than_the_proof_asks_for(degrees):
    ring, draw = Series(P, 60), Random(sum(degrees))
    path = [series(ring, 0, 1), *(rational(ring, draw, k) for k in degrees[1:])]
    proof = proof_of(path, ring, [range(len(path))])
    assert proof.order == sum(degrees) + 1
    assert "rational curve" in proof.words
    assert most_zeros(path, ring) < proof.order


def elliptic(ring):
    """s, y = √(1 + s + 3 s³) − 1, and a function of both."""
    s = series(ring, 0, 1)
    y = root(ring, series(ring, 1, 1, 0, 3)) - ring.one
    third = ring.mul(s + y, ring.inverse(ring.one + s * 2 + y))
    return [s, y, third]


def test_nor_on_a_curve_of_two_sheets():
    ring = Series(P, 80)
    path = elliptic(ring)
    proof = proof_of(path, ring, [range(3)])
    assert "2 sheets" in proof.words
    assert most_zeros(path, ring) < proof.order < ring.order


def test_nor_on_one_that_pairs_of_unknowns_define():
    """Roots of their own: the field of all has 2, 4, 8 sheets."""
    ring = Series(P, 72)
    roots = [root(ring, series(ring, 1, 1, k)) - ring.one for k in (2, 5, 11)]
    path = [series(ring, 0, 1), *roots]
    proof = tree_proof(path, ring, [range(4)])
    assert "3 relations between pairs" in proof.words
    assert most_zeros(path, ring) < proof.order < ring.order


def test_a_path_on_no_curve_of_low_degree_has_no_proof():
    ring, draw = Series(P, 48), Random(3)
    wild = ring.of([0, *(draw.randrange(P) for _ in range(47))])
    assert proof_of([series(ring, 0, 1), wild], ring, [[0, 1]]) is None


def test_relations_are_checked_on_all_terms():
    """A path that leaves its curve at order 40 is on none that proves anything at order 48."""
    ring = Series(P, 48)
    path = elliptic(ring)
    path[1] = path[1] + series(ring, *[0] * 40, 1)
    assert valuation(path[1] - elliptic(ring)[1], 48) == 40
    assert proof_of(path, ring, [range(3)]).order > ring.order
    assert proof_of(elliptic(ring), ring, [range(3)]).order < ring.order
