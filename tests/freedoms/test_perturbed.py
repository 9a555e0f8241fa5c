"""Special geometry spoiled by a millionth: what moved by it does not move any more."""

from fractions import Fraction
from itertools import islice

import pytest

import liaison
from liaison.exact.residues import residues
from liaison.expr import evaluate
from liaison.freedoms import mobility_of_systems
from liaison.freedoms.home import home_of
from liaison.freedoms.mobility import systems

from .antenna import patch
from .built import mechanism_of
from .linkages import CASES, bars, formula_systems, platform

MILLIONTH = Fraction(1, 10**6)
EXAMPLES = ["four_bar", "slider_crank", "saliere", "bennett",
            "goldberg", "bricard_line", "bricard_trihedral", "sarrus", "double_cardan", "door",
            "antenna_shared", "antenna_double"]  # fmt: skip
SPECIAL = [name for name, case in CASES.items()
           if case["expected"]["mobility"] > max(0, case["expected"]["n"] - case["expected"]["neq"])
           ]  # fmt: skip


def spoiled(home, size):
    """The loops with every axis moved and tilted a little, modulo one prime after the other.

    Each joint changes by itself, on both its bodies: the position stays assembled.
    """
    for p in (system.p for system in systems(home)):
        numbers = [int(x) for x in evaluate(home.formulas(), domain=residues(p))]
        small = pow(10**6, -1, p) if size else 0
        for k in range(7 * len(home.columns)):
            if k % 7 < 6:
                numbers[k] = (numbers[k] + small * ((k * k + 3 * k) % 17 - 8)) % p
        yield home.assembled(p, numbers)


def check(home):
    before = mobility_of_systems("special", spoiled(home, 0), primes=1, order=130)
    after = mobility_of_systems("spoiled", spoiled(home, 1), primes=2, order=130)
    generic = max(0, before.unknowns - before.equations)
    assert before.finite[0] == before.finite[1] > generic
    assert after.finite == (generic, generic)
    assert (after.status, after.is_proved) == ("regular", True)


@pytest.mark.parametrize("name", SPECIAL)
def test_a_linkage_keeps_what_counting_gives_and_no_more(name):
    check(home_of(mechanism_of(CASES[name])))


@pytest.mark.parametrize("name", EXAMPLES)
def test_so_do_the_examples(name, examples):
    check(home_of(liaison.read(examples / f"{name}.lsd")))


def test_so_does_the_hexagon_of_six_triangles():
    check(home_of(mechanism_of(patch(6))))


@pytest.mark.parametrize("name", ["antenna_mesh", "triangle_flat"])
def test_a_closure_made_reduced_loses_its_false_freedom_only(name, examples):
    """The mobility stays; spoiled, the first-order mobility equals it."""
    (system,) = islice(spoiled(home_of(liaison.read(examples / f"{name}.lsd")), 1), 1)
    found = mobility_of_systems(name, iter([system]), primes=1)
    assert (found.first_order, found.finite, found.status) == (3, (3, 3), "regular")


def test_a_platform_on_bars_of_almost_equal_lengths_is_shaky():
    """Still parallel, so that the velocity remains; unequal by a millionth, so that it locks."""
    formulas, point = platform((1, 1, 1 + MILLIONTH))
    found = mobility_of_systems("platform", formula_systems(formulas, point), primes=2)
    assert (found.first_order, found.finite, found.status) == (1, (0, 0), "shaky")


def test_a_point_beside_the_line_of_two_bars_is_held():
    places = [(0, MILLIONTH), (-1, 0), (1, 0)]
    formulas, point = bars(places, [(0, 1), (0, 2)], (1, 2))
    found = mobility_of_systems("bars", formula_systems(formulas, point), primes=2)
    assert (found.first_order, found.finite, found.is_proved) == (0, (0, 0), True)
