"""Minimax polynomials of the elementary functions, by the exchange of Remez, at 200 bits.

    python tests/program/minimax.py        prints the coefficients and the errors

Each polynomial P of degree n minimises the largest |w(z) (P(z) − f(z))| over an interval; the
weight w makes this the relative error of the function it serves. Coefficients are rounded to
doubles in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.prec = 200
QUARTER, LOG2 = mp.pi / 4, mp.log(2)


@dataclass(frozen=True)
class Fit:
    """A function, a weight, an interval of z and a degree."""

    f: Any
    weight: Any
    low: Any
    high: Any
    degree: int


def remez(fit: Fit, rounds: int = 8) -> tuple[list[Any], Any]:
    """Coefficients and the error."""
    count = fit.degree + 1
    low, high = mp.mpf(fit.low), mp.mpf(fit.high)
    nodes = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / count) for i in range(count + 1)
    ]
    for _ in range(rounds):
        a, b = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, z in enumerate(nodes):
            for j in range(count):
                a[i, j] = z**j
            a[i, count] = (-1) ** i / fit.weight(z)
            b[i] = fit.f(z)
        solution = mp.lu_solve(a, b)
        c = [solution[j] for j in range(count)]
        nodes = extrema(
            lambda z, c=c: fit.weight(z) * (mp.polyval(c[::-1], z) - fit.f(z)), low, high, count + 1
        )
    return c, abs(solution[count])


def extrema(g: Any, low: Any, high: Any, wanted: int) -> list[Any]:
    """Points of alternating sign where |g| is largest."""
    count = 20 * wanted
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * i / count) for i in range(count + 1)]
    values = [g(z) for z in grid]
    best: list[tuple[Any, Any]] = []
    for z, y in zip(grid, values, strict=True):
        if best and (y > 0) == (best[-1][1] > 0):
            if abs(y) > abs(best[-1][1]):
                best[-1] = z, y
        else:
            best.append((z, y))
    while len(best) > wanted:
        best.pop(0 if abs(best[0][1]) < abs(best[-1][1]) else -1)
    if len(best) < wanted:
        raise ValueError(f"{len(best)} extrema, not {wanted}: more bits, or another degree")
    return [z for z, _ in best]


def rounded(fit: Fit) -> tuple[list[float], Any]:
    """Coefficients as doubles, and the error that they have."""
    c = [float(x) for x in remez(fit)[0]]
    return c, error(fit, c)


def error(fit: Fit, c: Sequence[float], points: int = 400) -> Any:
    """The largest weighted error of a polynomial over the interval."""
    low, high = mp.mpf(fit.low), mp.mpf(fit.high)
    exact = [mp.mpf(x) for x in reversed(c)]
    grid = [low + (high - low) * i / points for i in range(1, points + 1)]
    return max(abs(fit.weight(z) * (mp.polyval(exact, z) - fit.f(z))) for z in grid)


def series(terms: Any, count: int = 60) -> Any:
    """Σ terms(k) zᵏ."""
    listed = [mp.mpf(terms(k)) for k in range(count)]
    return lambda z: mp.polyval(listed[::-1], z)


def root(z: Any) -> Any:
    return mp.sqrt(z)


FITS = {
    # (sin r − r)/r³ in z = r²
    "SINE": Fit(
        series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3)),
        lambda z: z * root(z) / mp.sin(root(z)) if z else mp.mpf(0) + z,
        mp.mpf(2) ** -40, (QUARTER * 1.001) ** 2, 5,
    ),
    # (cos r − 1 + r²/2)/r⁴ in z = r²
    "COSINE": Fit(
        series(lambda k: (-1) ** k / mp.factorial(2 * k + 4)),
        lambda z: z * z / mp.cos(root(z)),
        mp.mpf(2) ** -40, (QUARTER * 1.001) ** 2, 5,
    ),
    # (exp r − 1 − r)/r²
    "EXPONENTIAL": Fit(
        series(lambda k: 1 / mp.factorial(k + 2)),
        lambda r: mp.mpf(0.12),
        -LOG2 / 2 * 1.001, LOG2 / 2 * 1.001, 10,
    ),
    # (2 artanh s − 2 s)/s³ in z = s², for s up to (√2 − 1)/(√2 + 1)
    "LOGARITHM": Fit(
        series(lambda k: mp.mpf(2) / (2 * k + 3)),
        lambda z: z,
        mp.mpf(2) ** -40, ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * 1.001, 7,
    ),
    # the same for s up to 1/88, beside a knot i/32
    "NARROW": Fit(
        series(lambda k: mp.mpf(2) / (2 * k + 3)),
        lambda z: z,
        mp.mpf(2) ** -40, mp.mpf(1) / 88**2, 3,
    ),
    # (atan t − t)/t³ in z = t², |t| ≤ 7/16
    "ARCTANGENT": Fit(
        series(lambda k: mp.mpf(-1) ** (k + 1) / (2 * k + 3), 160),
        lambda z: z,
        mp.mpf(2) ** -40, (mp.mpf(7) / 16) ** 2 * 1.001, 11,
    ),
    # (asin x − x)/x³ in z = x², |x| ≤ 1/2
    "ARCSINE": Fit(
        series(lambda k: mp.binomial(2 * k + 2, k + 1) / mp.mpf(4) ** (k + 1) / (2 * k + 3), 200),
        lambda z: z,
        mp.mpf(2) ** -40, mp.mpf(1) / 4 * 1.001, 13,
    ),
}  # fmt: skip


if __name__ == "__main__":
    for name, fit in FITS.items():
        coefficients, worst = rounded(fit)
        print(f"{name} = (  # 2^{float(mp.log(worst, 2)):.1f}")
        print("".join(f"    {c!r},\n" for c in coefficients) + ")", flush=True)
