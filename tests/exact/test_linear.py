"""Arithmetic modulo primes: primes, matrices, quotient rings, linear parts of systems."""

from fractions import Fraction as F
from itertools import islice
from random import Random

import pytest
import sympy

from liaison.exact.arithmetic import Modular
from liaison.exact.linear import PRIME_STEP, is_prime, kernel, primes_from, rank
from liaison.exact.residues import DEFAULT_PRIME, residues
from liaison.freedoms.engines.linear_part import without_linear
from liaison.freedoms.engines.quotient import rational_quotient, residue_quotient

STRONG_PSEUDOPRIME = 3215031751
"""151 · 751 · 28351, 3 modulo 4: bases 2, 3, 5 and 7 take it for a prime."""


@pytest.mark.parametrize("seed", range(3))
def test_primes_have_the_roots_asked_for(seed):
    squares = [2, 5, 37, -41]
    for p in islice(primes_from(seed, squares), 3):
        assert sympy.isprime(p)
        assert 2**60 < p < 2**61
        assert (p + 1) % PRIME_STEP == 0
        assert all(pow(abs(n), (p - 1) // 2, p) == 1 for n in squares)
    assert list(islice(primes_from(seed), 2)) == list(islice(primes_from(seed), 2))


def test_primality_is_not_taken_on_trust():
    """Residues modulo such a number were accepted."""
    assert sympy.factorint(STRONG_PSEUDOPRIME) == {151: 1, 751: 1, 28351: 1}
    assert not is_prime(STRONG_PSEUDOPRIME)
    with pytest.raises(ValueError, match="residues need a prime"):
        residues(STRONG_PSEUDOPRIME)
    assert [n for n in range(30) if is_prime(n)] == list(sympy.primerange(30))


def test_linear_systems_modulo_a_prime():
    p, draw = DEFAULT_PRIME, Random(3)
    field = Modular(p, residues(p), 1)
    left = [[draw.randrange(p) for _ in range(3)] for _ in range(4)]
    right = [[draw.randrange(p) for _ in range(6)] for _ in range(3)]
    A = [[sum(a * b for a, b in zip(row, column)) % p for column in zip(*right)] for row in left]
    assert rank(A, p) == 3
    assert len(kernel(A, p, 6)) == 3
    x = [draw.randrange(p) for _ in range(6)]
    b = [sum(a * v for a, v in zip(row, x)) % p for row in A]
    solution = field.solved(A, b, 6)
    assert solution != x  # one of many, drawn
    assert [sum(a * v for a, v in zip(row, solution)) % p for row in A] == b
    assert field.solved(A, [b[0] + 1, *b[1:]], 6) is None


# Quotient rings ---------------------------------------------------------------------------------


def basis_of(equations, unknowns, p=0):
    """A reduced standard basis by SymPy, order degrevlex."""
    options = {"modulus": p} if p else {"domain": "QQ"}
    ideal = sympy.groebner(equations, *unknowns, order="grevlex", **options)
    return [sympy.Poly(f, *unknowns, **options) for f in ideal.exprs]


def test_the_quotient_ring_is_the_same_over_the_rationals_and_modulo_a_prime():
    x, y = unknowns = sympy.symbols("x y")
    equations = [(x - 3) * (x - y) + y - 4, 2 * (y - 4) * (y - 9) + x - 3]
    p = 10007
    whole = []
    for f in basis_of(equations, unknowns):
        terms = sympy.Poly(f.clear_denoms()[1], *unknowns).terms(order="grevlex")
        whole.append([(list(m), str(c)) for m, c in terms])
    modular = [{m: int(c) % p for m, c in f.terms()} for f in basis_of(equations, unknowns, p)]
    first, second = rational_quotient(whole, 2), residue_quotient(modular, 2, p)
    assert first.monomials == second.monomials
    assert first.size == 4
    for i in range(2):
        M, N = first.multiplication(i), second.multiplication(i)
        for k in range(16):
            c = M[k // 4, k % 4]
            assert int(c.p) * pow(int(c.q), -1, p) % p == int(N[k // 4, k % 4])
    # multiplication is commutative, as it is in a ring
    assert first.multiplication(0) * first.multiplication(1) == (
        first.multiplication(1) * first.multiplication(0)
    )


# Linear parts -----------------------------------------------------------------------------------


def value(f, x):
    total = F(0)
    for m, c in f.items():
        for v, e in zip(x, m, strict=True):
            c = c * v**e
        total += c
    return total


@pytest.mark.parametrize("seed", range(4))
def test_linear_equations_are_eliminated_and_solutions_come_back(seed):
    """A system with a known rational solution has it before and after."""
    draw, n = Random(seed), 6
    x = [F(draw.randrange(-9, 10), draw.randrange(1, 5)) for _ in range(n)]
    system = []
    for degree in (1, 1, 1, 2, 2):
        f = {}
        for _ in range(5):
            m = [0] * n
            for _ in range(degree):
                m[draw.randrange(n)] += 1
            f[tuple(m)] = F(draw.randrange(1, 9), draw.randrange(1, 5))
        system.append(f | {(0,) * n: -value(f, x)})
    reduced = without_linear(system, n)
    assert len(reduced.remaining) == n - len(reduced.solved) == 3
    rest = [x[k] for k in reduced.remaining]
    assert all(value(f, rest) == 0 for f in reduced.polynomials)
    assert [float(v) for v in reduced.completed(rest_in_balls(rest))] == pytest.approx(
        [float(v) for v in x], rel=1e-12
    )


def rest_in_balls(rest):
    from liaison.exact.balls import ball_of

    return [ball_of(v) for v in rest]


def test_linear_equations_that_depend_on_each_other_are_counted_once():
    one = {(1, 0, 0): F(1), (0, 1, 0): F(2), (0, 0, 0): F(-3)}
    twice = {m: 2 * c for m, c in one.items()}
    reduced = without_linear([one, twice, {(2, 0, 0): F(1), (0, 0, 2): F(-1)}], 3)
    assert len(reduced.remaining) == 2
    contradicted = without_linear([one, {**twice, (0, 0, 0): F(1)}], 3)
    assert [list(f) for f in contradicted.polynomials] == [[(0,) * len(contradicted.remaining)]]
