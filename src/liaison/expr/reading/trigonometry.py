"""Polynomials in sines and cosines in their shortest form: s² + c² = 1 used where it helps, and
sums of products taken together as sines and cosines of sums.

An angle is a vector of whole multiples of base angles. Candidates are made for each polynomial with
rational coefficients, and the one with the fewest terms is kept; among those the one with plain
angles and low degree.

Public names: Angle, Factor, TrigPolynomial, shortest, fourier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TypeAlias

Angle: TypeAlias = tuple[int, ...]
Factor: TypeAlias = tuple[str, Angle]  # ("sin" or "cos", angle)
TrigMonomial: TypeAlias = tuple[tuple[Factor, int], ...]  # sorted, whole powers above zero
TrigPolynomial: TypeAlias = dict[TrigMonomial, Fraction]

MOST_TERMS = 4096
"""Up to this many terms before like ones are collected a sum of sines and cosines is tried."""


def shortest(p: TrigPolynomial) -> TrigPolynomial:
    """The shortest of some forms of the same function; p may have squares of sines or not."""
    by_angle = _per_angle(p)
    candidates = [p, by_angle, _recombined(p), _recombined(by_angle)]
    # a product of n factors has up to 2ⁿ⁻¹ terms as a sum: hardly shorter where they are many
    if sum(2 ** sum(e for _, e in m) for m in p) <= MOST_TERMS:
        candidates.append(fourier(p))
    return min(candidates, key=_cost)


def _cost(p: TrigPolynomial) -> tuple[int, int, int]:
    factors = [(angle, e) for m in p for (_, angle), e in m]
    composed = sum(sum(map(abs, angle)) - 1 for angle, _ in factors)
    return len(p), composed, sum(e for _, e in factors)


def _add(p: TrigPolynomial, m: TrigMonomial, c: Fraction) -> None:
    total = p.get(m, Fraction(0)) + c
    if total:
        p[m] = total
    else:
        p.pop(m, None)


def _monomial(powers: Mapping[Factor, int]) -> TrigMonomial:
    return tuple(sorted((f, e) for f, e in powers.items() if e))


# s² + c² = 1 ------------------------------------------------------------------------------------


def _per_angle(p: TrigPolynomial) -> TrigPolynomial:
    """Angle by angle, and for each product of the others, the shortest of three forms."""
    for angle in sorted({angle for m in p for (_, angle), _ in m}):
        parts: dict[tuple[TrigMonomial, int], dict[tuple[int, int], Fraction]] = {}
        for m, c in p.items():
            powers = dict(m)
            s, k = powers.pop(("sin", angle), 0), powers.pop(("cos", angle), 0)
            parts.setdefault((_monomial(powers), (s + k) % 2), {})[s, k] = c
        polynomial: TrigPolynomial = {}
        for (rest, _), part in parts.items():
            for (s, k), c in _shortest_pair(part).items():
                powers = dict(rest) | {("sin", angle): s, ("cos", angle): k}
                _add(polynomial, _monomial(powers), c)
        p = polynomial
    return p


Pair: TypeAlias = dict[tuple[int, int], Fraction]  # powers of sine and cosine of one angle


def _shortest_pair(p: Pair) -> Pair:
    forms = [p, _without(p, 0), _without(p, 1), _homogeneous(p)]
    return min(forms, key=lambda f: (len(f), sum(s + k for s, k in f)))


def _without(p: Pair, which: int) -> Pair:
    """No square of the sine (0) or of the cosine (1)."""
    pair: Pair = {}
    for powers, c in p.items():
        e, other = powers[which], powers[1 - which]
        for j in range(e // 2 + 1):
            new = (e % 2, other + 2 * j) if which == 0 else (other + 2 * j, e % 2)
            _add_pair(pair, new, c * comb(e // 2, j) * (-1) ** j)
    return pair


def _homogeneous(p: Pair) -> Pair:
    """All terms of the highest degree; the degrees differ by even numbers."""
    degree = max(s + k for s, k in p)
    pair: Pair = {}
    for (s, k), c in p.items():
        n = (degree - s - k) // 2
        for j in range(n + 1):
            _add_pair(pair, (s + 2 * j, k + 2 * (n - j)), c * comb(n, j))
    return pair


def _add_pair(p: Pair, powers: tuple[int, int], c: Fraction) -> None:
    total = p.get(powers, Fraction(0)) + c
    if total:
        p[powers] = total
    else:
        p.pop(powers, None)


# Sums of angles ---------------------------------------------------------------------------------


def _signed(angle: Iterable[int]) -> tuple[Angle, int]:
    """The angle or its opposite, whichever begins with a positive number, and which it was."""
    signed = tuple(angle)
    first = next((n for n in signed if n), 1)
    return (signed, 1) if first > 0 else (tuple(-n for n in signed), -1)


def _recombined(p: TrigPolynomial) -> TrigPolynomial:
    """Pairs such as cos a cos b − sin a sin b taken together, until there are none."""
    polynomial = dict(p)
    while True:
        pair = _a_pair(polynomial)
        if pair is None:
            return polynomial
        first, second, new, c = pair
        del polynomial[first], polynomial[second]
        _add(polynomial, new, c)


def _a_pair(
    p: TrigPolynomial,
) -> tuple[TrigMonomial, TrigMonomial, TrigMonomial, Fraction] | None:
    for m in sorted(p):
        for (f, _), (g, _) in combinations(m, 2):
            if f[1] == g[1]:
                continue
            other = _partner(m, f, g)
            if other in p and other != m and abs(p[other]) == abs(p[m]):
                new, c = _together(m, f, g, p[m], p[other])
                return m, other, new, c
    return None


_TURNED = {"sin": "cos", "cos": "sin"}


def _partner(m: TrigMonomial, f: Factor, g: Factor) -> TrigMonomial:
    """The monomial with sine and cosine of these two angles exchanged."""
    powers = dict(m)
    for old in (f, g):
        powers[old] -= 1
        new = (_TURNED[old[0]], old[1])
        powers[new] = powers.get(new, 0) + 1
    return _monomial(powers)


def _together(
    m: TrigMonomial, f: Factor, g: Factor, c: Fraction, d: Fraction
) -> tuple[TrigMonomial, Fraction]:
    """c (f g …) + d (turned f, turned g …) with |c| = |d|, as one term."""
    powers = dict(m)
    powers[f] -= 1
    powers[g] -= 1
    (kind, a), (other, b) = f, g
    if kind == other:  # cos a cos b ± sin a sin b
        cosine = c if kind == "cos" else d
        sine = d if kind == "cos" else c
        turn = 1 if cosine == -sine else -1
        angle, _ = _signed(x + turn * y for x, y in zip(a, b, strict=True))
        new, value = ("cos", angle), cosine
    else:  # sin a cos b ± cos a sin b
        if kind == "cos":
            a, b = b, a
        turn = 1 if c == d else -1
        angle, sign = _signed(x + turn * y for x, y in zip(a, b, strict=True))
        new, value = ("sin", angle), c * sign
    powers[new] = powers.get(new, 0) + 1
    return _monomial(powers), value


def fourier(p: TrigPolynomial) -> TrigPolynomial:
    """No products: a sum of sines and cosines of sums of angles."""
    polynomial: TrigPolynomial = {}
    for m, c in p.items():
        terms: TrigPolynomial = {(): c}
        for factor, e in m:
            for _ in range(e):
                terms = _multiplied(terms, factor)
        for new, d in terms.items():
            _add(polynomial, new, d)
    return polynomial


def _multiplied(p: TrigPolynomial, factor: Factor) -> TrigPolynomial:
    """A polynomial without products by a sine or cosine, again without products."""
    product: TrigPolynomial = {}
    kind, b = factor
    for m, c in p.items():
        if not m:
            _add(product, ((factor, 1),), c)
            continue
        ((other, a), _), half = m[0], c / 2
        plus = _signed(x + y for x, y in zip(a, b, strict=True))
        minus = _signed(x - y for x, y in zip(a, b, strict=True))
        for (angle, sign), new, d in _product_rule(other, kind, plus, minus, half):
            if not any(angle):
                _add(product, (), d if new == "cos" else Fraction(0))
            else:
                _add(product, (((new, angle), 1),), d * (sign if new == "sin" else 1))
    return {m: c for m, c in product.items() if c}


def _product_rule(
    first: str, second: str, plus: tuple[Angle, int], minus: tuple[Angle, int], half: Fraction
) -> list[tuple[tuple[Angle, int], str, Fraction]]:
    """first(a) second(b) by a + b and a − b."""
    if first == second:
        sign = 1 if first == "cos" else -1
        return [(minus, "cos", half), (plus, "cos", sign * half)]
    sign = 1 if first == "sin" else -1
    return [(plus, "sin", half), (minus, "sin", sign * half)]
