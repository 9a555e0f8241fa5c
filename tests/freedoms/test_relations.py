"""Relations between coordinates: where they hold, and what they take away from the mobility."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from liaison.errors import AssemblyError
from liaison.expr import acos, cos, exp, log, maximum, sin, sqrt
from liaison.freedoms import mobility
from liaison.model import Prismatic, Revolute
from liaison.model.describe import (
    body,
    coordinate,
    ground,
    holonomic,
    imposed,
    join,
    mechanism,
    nonholonomic,
    rate,
    start,
    time,
)

A, B, X, Y, Z, W = (coordinate(name) for name in "ABXYZW")


def parts(*relations, **starts):
    """Two hinges A and B and a slider X, which share nothing but relations."""
    kinds = {"A": Revolute, "B": Revolute, "X": Prismatic}
    joints = [join(ground, body(x, mass=1), kind, name=x) for x, kind in kinds.items()]
    return mechanism(*joints, *relations, start(starts))


def sliders(formula, **starts):
    """Four sliders, and one relation of their speeds."""
    joints = [join(ground, body(x, mass=1), Prismatic, name=x) for x in "XYZW"]
    return mechanism(*joints, nonholonomic("row", formula), start(starts))


def test_relations_that_repeat_each_other_at_angles_that_no_root_gives():
    """cos(A + B) in two ways, at 3/10 and 1/4 rad: one equation, though angles are divided into 20
    parts in the one and into 10 and 4 in the other."""
    both = (
        holonomic("sum", X - cos(A + B)),
        holonomic("product", X - cos(A) * cos(B) + sin(A) * sin(B)),
    )
    result = mobility(parts(*both, A=F(3, 10), B=F(1, 4), X=cos(F(11, 20))), primes=1)
    assert (result.mode, result.rank, result.finite) == ("exact", 1, (2, 2))
    doubled = (holonomic("r", X - cos(2 * A)), holonomic("s", X - 2 * cos(A) ** 2 + 1))
    result = mobility(parts(*doubled, A=F(3, 10), X=cos(F(3, 5))), primes=1)
    assert (result.mode, result.rank, result.finite) == ("exact", 1, (2, 2))


@pytest.mark.parametrize(
    ("relation", "starts"),
    [(X - cos(A + B), {"A": 0, "B": 0, "X": 7}), (X * X - 4, {"X": 7}), (X * X + 4, {"X": 7})],
)
def test_starts_that_relations_do_not_allow_are_an_error(relation, starts):
    with pytest.raises(AssemblyError):
        mobility(parts(holonomic("tied", relation), **starts))


def test_a_position_is_where_relations_put_it():
    """X² + A = 0 is a fold over X: of rank one where A is imposed as −1, of rank none at 0."""
    fold = holonomic("fold", X * X + A)
    away = parts(fold, imposed("A", -1 + 0 * time), X=1)
    result = mobility(away, primes=1)
    assert (result.rank, result.finite, result.is_proved) == (2, (1, 1), True)
    flat = parts(fold, imposed("A", 0 * time), X=0)
    assert mobility(flat, primes=1).rank == 1


def test_positions_in_floats_follow_curved_relations():
    """A redundant relation of sines at a position that is no exact one changes nothing."""
    links = [body(x, mass=1) for x in ("crank", "slide")]
    ends = [(ground, links[0], Revolute, "A"), (ground, links[1], Prismatic, "X")]
    joints = [join(a, b, kind, name=name) for a, b, kind, name in ends]
    rows = [holonomic("once", X - sin(A) - A), holonomic("twice", (X - sin(A) - A) * (2 + cos(A)))]
    result = mobility(mechanism(*joints, *rows, start({"A": 0.3})))
    assert (result.mode, result.finite, result.is_proved) == ("numeric", (1, 1), False)


NOTHING = [
    exp(Y + Z) - exp(Y) * exp(Z), log(Y * Z) - log(Y) - log(Z), sqrt(Y * Y) - Y,
    sin(X * (Y + Z)) - sin(X * Y + X * Z), Y ** F(1, 3) * Y ** F(2, 3) - Y, maximum(Y, -1) - Y,
]  # fmt: skip


@pytest.mark.parametrize("nothing", NOTHING, ids=str)
def test_a_formula_that_is_zero_in_disguise_frees_nothing(nothing):
    """X′ + 0 W′ = 0 takes one position away, whatever the zero is written as."""
    result = mobility(sliders(rate("X") + nothing * rate("W"), X=3, Y=1, Z=2), primes=1)
    assert result.finite[0] <= 3
    assert not result.is_proved or result.finite == (3, 3)


@pytest.mark.parametrize("y", [-37, -41, -43])
def test_the_root_of_a_square_has_its_sign_at_home(y):
    row = rate("X") + (sqrt(Y * Y) + Y) * rate("W")
    result = mobility(sliders(row, Y=y), primes=1)
    assert result.finite[0] <= 3


def test_imposed_speeds_are_relations_of_positions_and_time():
    """Y X′ = 1: X is ∫ dt/Y, and Y may be anything. X Y′ + Y X′ = 1: X Y − t is constant."""
    free = mobility(sliders(Y * rate("X") - 1, X=3, Y=1), primes=1)
    assert (free.finite, free.is_proved) == ((4, 4), True)
    tied = mobility(sliders(X * rate("Y") + Y * rate("X") - 1, X=3, Y=1), primes=1)
    assert (tied.finite, tied.is_proved) == ((3, 3), True)
    moved = mobility(sliders(Y * rate("X") - sin(time), X=3, Y=1), primes=1)
    assert (moved.finite, moved.is_proved) == ((4, 4), True)


def test_evidence_of_relations_of_speeds_names_the_theorem_and_the_chance():
    tied = mobility(sliders(X * rate("Y") + Y * rate("X"), X=3, Y=1), primes=1).evidence[0]
    assert "Frobenius" in tied.theorem
    assert 0 < tied.chance < 1e-20
    free = mobility(sliders(rate("X") + Y * rate("W"), X=3, Y=1), primes=1).evidence[0]
    assert "Chow" in free.theorem
    assert free.chance == 0


def test_numbers_without_laws_modulo_primes_are_not_ranked_by_them():
    """Two rows that are one: X = 7/√74 A, with 7/√74 the cosine of half of acos(12/37)."""
    rows = (holonomic("r", X - cos(acos(F(12, 37)) / 2) * A), holonomic("s", X - 7 / sqrt(74) * A))
    result = mobility(parts(*rows), primes=1)
    assert result.finite[1] == 2
    twice = replace(parts(holonomic("r", X - exp(3) * A), holonomic("s", X - exp(1) * exp(2) * A)))
    assert mobility(twice, primes=1).finite[1] == 2
