"""Linear algebra modulo a prime, on FLINT: primes, residues, power series over them, matrices.

Formulas are evaluated on the elements of a ring: residues, series or floats. Elements add and
subtract by themselves; only products need the ring, which reduces or truncates them. A matrix of
series is a list of its coefficient matrices, lowest order first.

Public names: matrix, rank, pivots, kernel, inverse, coefficients, series_inverse, series_product,
block, valued_rank, valuation, Ring, Field, Reals, Balls, Series, primes_from, coprime_base,
is_prime, PRIME_STEP.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from random import Random
from typing import Any, final

PRIME_STEP = 4_813_451_763_120
"""lcm(1, …, 17, 19, 23, 29, 31): modulo p = −1 of it, √2, …, √31 and the points π/n exist."""


def primes_from(seed: int, squares: Sequence[int] = ()) -> Iterator[int]:
    """Random primes of 61 bits, −1 modulo PRIME_STEP; the same ones for the same seed.

    Args:
        seed: of the draw.
        squares: whole numbers that are to be squares modulo each prime.
    """
    from flint import fmpz

    draw = Random(seed)
    radicands = [fmpz(n) for n in coprime_base(squares)]
    while True:
        p = draw.randrange(2**60 // PRIME_STEP + 1, 2**61 // PRIME_STEP) * PRIME_STEP - 1
        if all(n.jacobi(p) == 1 for n in radicands) and is_prime(p):
            yield p


def coprime_base(numbers: Sequence[int]) -> list[int]:
    """Pairwise coprime numbers, none a square, of which all the others are products.

    Where each of them is a square modulo p, roots of the others multiply as they should: √a √b = c
    with c² = a b is then the root that is a square itself.
    """
    base: list[int] = []
    waiting = [abs(n) for n in numbers if abs(n) > 1]
    while waiting:
        n = waiting.pop()
        while n > 1 and math.isqrt(n) ** 2 == n:
            n = math.isqrt(n)
        other = next((b for b in base if math.gcd(n, b) > 1), None)
        if n == 1 or other == n:
            continue
        if other is None:
            base.append(n)
            continue
        base.remove(other)
        common = math.gcd(n, other)
        waiting += [x for x in (common, n // common, other // common) if x > 1]
    return sorted(base)


def is_prime(n: int) -> bool:
    """Whether n is prime, without doubt."""
    from flint import fmpz

    return bool(fmpz(n).is_prime())


class Ring(ABC):
    """Where closures are evaluated."""

    p: int
    zero: Any
    one: Any

    @abstractmethod
    def mul(self, a: Any, b: Any) -> Any:
        """The product, reduced."""

    @abstractmethod
    def atan(self, a: Any) -> Any:
        """The arc tangent: of a series without constant term, or a stand-in that is drawn."""

    @abstractmethod
    def inverse(self, a: Any) -> Any:
        """1/a."""


@final
class Field(Ring):
    """Residues modulo a prime, as whole numbers."""

    def __init__(self, p: int) -> None:
        self.p, self.zero, self.one = p, 0, 1

    def mul(self, a: Any, b: Any) -> Any:
        """The product modulo p."""
        return a * b % self.p

    def atan(self, a: Any) -> Any:
        """A residue drawn from a: off the variety only that it is always the same matters."""
        word = blake2b(repr((self.p, a % self.p)).encode(), digest_size=16).digest()
        return int.from_bytes(word, "little") % self.p if a % self.p else 0

    def inverse(self, a: Any) -> Any:
        """By Euclid's algorithm."""
        return pow(a, -1, self.p)


@final
class Reals(Ring):
    """Floats."""

    def __init__(self) -> None:
        self.p, self.zero, self.one = 0, 0.0, 1.0

    def mul(self, a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    def inverse(self, a: Any) -> Any:
        """1/a."""
        return 1.0 / a

    def atan(self, a: Any) -> Any:
        """The arc tangent [rad]."""
        return math.atan(a)


@final
class Balls(Ring):
    """Real balls of the present precision."""

    def __init__(self) -> None:
        from flint import arb

        self.p, self.zero, self.one = 0, arb(0), arb(1)

    def mul(self, a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    def inverse(self, a: Any) -> Any:
        """1/a."""
        return 1 / a

    def atan(self, a: Any) -> Any:
        """The arc tangent [rad]."""
        return a.atan()


@final
class Series(Ring):
    """Power series in s over the residues, known modulo s^order."""

    def __init__(self, p: int, order: int) -> None:
        from flint import nmod_poly

        self.p, self.order, self._poly = p, order, nmod_poly
        self.zero, self.one = nmod_poly([0], p), nmod_poly([1], p)

    def of(self, coefficients: Any) -> Any:
        """The series of these coefficients, lowest first."""
        return self._poly([int(c) % self.p for c in coefficients], self.p).truncate(self.order)

    def mul(self, a: Any, b: Any) -> Any:
        """The product modulo s^order."""
        return a.mul_low(b, self.order)

    def inverse(self, a: Any) -> Any:
        """The reciprocal; the constant term must not be zero."""
        return a.inverse_series_trunc(self.order)

    def atan(self, a: Any) -> Any:
        """∫ a′/(1 + a²), of a series without constant term."""
        slope = self.mul(a.derivative(), self.inverse(self.one + self.mul(a, a)))
        return slope.integral().truncate(self.order)


def matrix(rows: Sequence[Sequence[int]], p: int, columns: int | None = None) -> Any:
    """A matrix modulo p; `columns` is needed where there are no rows."""
    from flint import nmod_mat

    width = len(rows[0]) if rows else columns or 0
    return nmod_mat(len(rows), width, [int(x) % p for row in rows for x in row], p)


def rank(rows: Sequence[Sequence[int]], p: int) -> int:
    """The rank modulo p."""
    return int(matrix(rows, p).rank()) if rows and rows[0] else 0


def pivots(rows: Sequence[Sequence[int]], p: int) -> tuple[list[int], list[int]]:
    """Rows and columns of an invertible minor of full rank, first ones preferred."""
    if not rows or not rows[0]:
        return [], []
    M = matrix(rows, p)
    return _leading(M.transpose()), _leading(M)


def _leading(M: Any) -> list[int]:
    """Columns of M that are no combination of those before them."""
    reduced, size = M.rref()
    columns, column = [], 0
    for row in range(size):
        while int(reduced[row, column]) == 0:
            column += 1
        columns.append(column)
    return columns


def kernel(rows: Sequence[Sequence[int]], p: int, columns: int) -> list[list[int]]:
    """A basis of the vectors x with M x = 0."""
    if not rows:
        return [[int(i == j) for i in range(columns)] for j in range(columns)]
    X, nullity = matrix(rows, p).nullspace()
    return [[int(X[i, j]) for i in range(columns)] for j in range(nullity)]


def inverse(rows: Sequence[Sequence[int]], p: int) -> Any:
    """The inverse of a square matrix modulo p."""
    return matrix(rows, p).inv() if rows else matrix([], p, 0)


def coefficients(rows: Sequence[Sequence[Any]], ring: Series) -> list[Any]:
    """Coefficient matrices of a matrix of series."""
    width = len(rows[0]) if rows else 0
    lists = [[[int(c) for c in x.coeffs()] for x in row] for row in rows]
    return [
        matrix([[x[k] if k < len(x) else 0 for x in row] for row in lists], ring.p, width)
        for k in range(ring.order)
    ]


def block(M: Any, rows: Sequence[int], columns: Sequence[int], p: int) -> Any:
    """A submatrix."""
    return matrix([[int(M[i, j]) for j in columns] for i in rows], p, len(columns))


def series_product(A: list[Any], B: list[Any]) -> list[Any]:
    """A B, to the order of the shorter."""
    order = min(len(A), len(B))
    return [_sum(A[i] * B[k - i] for i in range(k + 1)) for k in range(order)]


def series_inverse(A: list[Any]) -> list[Any]:
    """A⁻¹, where the constant term can be inverted."""
    coefficients_of_inverse = [A[0].inv()]
    for k in range(1, len(A)):
        total = _sum(A[i] * coefficients_of_inverse[k - i] for i in range(1, k + 1))
        coefficients_of_inverse.append(coefficients_of_inverse[0] * total * -1)
    return coefficients_of_inverse


def _sum(matrices: Any) -> Any:
    total = None
    for M in matrices:
        total = M if total is None else total + M
    return total


def valued_rank(rows: Sequence[Sequence[Any]], ring: Series) -> int:
    """The rank over the field of series of a matrix known modulo s^order.

    Elimination with the pivot of least valuation; what is zero to the known order counts as zero.
    """
    left = [list(row) for row in rows]
    count = 0
    while left:
        places = [(valuation(x, ring.order), i, j) for i, row in enumerate(left)
                  for j, x in enumerate(row)]  # fmt: skip
        least, i, j = min(places, default=(ring.order, 0, 0))
        if least >= ring.order:
            return count
        pivot = left.pop(i)
        scale = ring.inverse(pivot[j].right_shift(least))
        for row in left:
            factor = ring.mul(row[j].right_shift(least), scale)
            for k, x in enumerate(pivot):
                row[k] = row[k] - ring.mul(factor, x)
        count += 1
    return count


def valuation(x: Any, order: int) -> int:
    """The order of the first coefficient that is not zero."""
    for k, c in enumerate(x.coeffs()[:order]):
        if int(c):
            return k
    return order
