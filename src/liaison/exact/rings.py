"""Numbers on which closures are evaluated: residues mod p, and power series over them.

Elements add and subtract by themselves; only products need the ring, which truncates them.

Public names: Ring, Field, Reals, Series, primes_from, PRIME_STEP.
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
    draw = Random(seed)
    wanted = sorted({abs(n) for n in squares} - {0, 1})
    while True:
        p = draw.randrange(2**60 // PRIME_STEP + 1, 2**61 // PRIME_STEP) * PRIME_STEP - 1
        if all(jacobi(n, p) == 1 for n in wanted) and is_prime(p):
            yield p


def jacobi(a: int, n: int) -> int:
    """Jacobi's symbol (a/n) of an odd n: for a prime n, 1 exactly for squares other than 0."""
    a, sign = a % n, 1
    while a:
        shift = (a & -a).bit_length() - 1
        a >>= shift
        if shift & 1 and n % 8 in (3, 5):
            sign = -sign
        if a % 4 == 3 and n % 4 == 3:
            sign = -sign
        a, n = n % a, a
    return sign if n == 1 else 0


def is_prime(n: int) -> bool:
    """Whether n is prime, without doubt: Miller and Rabin's test to twelve bases, n < 2⁶⁴."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if n < 2 or any(n % b == 0 for b in bases):
        return n in bases
    shift = ((n - 1) & (1 - n)).bit_length() - 1
    odd = (n - 1) >> shift
    return all(_passes(pow(b, odd, n), shift, n) for b in bases)


def _passes(x: int, shift: int, n: int) -> bool:
    if x in (1, n - 1):
        return True
    for _ in range(shift - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


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
