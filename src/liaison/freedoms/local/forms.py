"""Homogeneous parts of the leftover equations, and points of the cones they cut out, modulo p.

A form is a dictionary from exponents to residues. The forms of h on a linear slice of W are
interpolated from paths: the coefficient of s^k along the direction u is the k-th form at u.

Public names: Form, monomials, forms_on, multiplicity, cone_points, gradient_at.

Source: CLO05 §2.4 (points from eigenvectors of multiplication), §4.2 (local multiplicity).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Any, TypeAlias

from liaison.exact.linear import inverse, kernel, matrix, pivots, rank
from liaison.exact.rings import Series
from liaison.freedoms.clock import go_on

from .series import Germ

Form: TypeAlias = dict[tuple[int, ...], int]


@lru_cache(maxsize=256)
def monomials(variables: int, degree: int) -> tuple[tuple[int, ...], ...]:
    """Exponents of all monomials of one degree."""
    if variables == 1:
        return ((degree,),)
    return tuple(
        (first, *rest)
        for first in range(degree, -1, -1)
        for rest in monomials(variables - 1, degree - first)
    )


def evaluated(exponents: Sequence[tuple[int, ...]], u: Sequence[int], p: int) -> list[int]:
    """The monomials at a point."""
    found = []
    for powers in exponents:
        value = 1
        for x, e in zip(u, powers, strict=True):
            value = value * pow(x, e, p) % p
        found.append(value)
    return found


def forms_on(
    germ: Germ, basis: Sequence[Sequence[int]], weights: Sequence[Sequence[int]], degree: int
) -> list[list[Form]]:
    """Forms of combinations of h on a slice of W, up to a degree.

    Args:
        germ: W and its leftover equations h.
        basis: vectors of free unknowns that span the slice.
        weights: a combination of the leftover equations in each row.
        degree: the highest wanted.

    Returns:
        For each combination its forms of degree 0, 1, …, degree in coordinates of the basis.
    """
    p, s = germ.p, len(basis)
    ring = Series(p, degree + 1)
    draw = Random(s * 7919 + degree)
    count = len(monomials(s, degree))
    points = [[draw.randrange(p) for _ in range(s)] for _ in range(count)]
    samples = [_along(germ, ring, _combined(basis, u, p), weights) for u in points]
    return [
        [_fitted(points, [sample[j][k] for sample in samples], s, k, p) for k in range(degree + 1)]
        for j in range(len(weights))
    ]


def _combined(basis: Sequence[Sequence[int]], u: Sequence[int], p: int) -> list[int]:
    return [sum(a * b for a, b in zip(u, column, strict=True)) % p
            for column in zip(*basis, strict=True)]  # fmt: skip


def _along(
    germ: Germ, ring: Series, t: Sequence[int], weights: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Coefficients of combinations of h along a straight line of free unknowns."""
    x = germ.lift(ring, [ring.of([0, v]) for v in t])
    h = [[int(c) for c in f.coeffs()] for f in germ.leftover(ring, x)]
    padded = [c + [0] * (ring.order - len(c)) for c in h]
    return [
        [sum(w * c[k] for w, c in zip(row, padded, strict=True)) % germ.p
         for k in range(ring.order)] for row in weights
    ]  # fmt: skip


def _fitted(
    points: Sequence[Sequence[int]], values: Sequence[int], s: int, degree: int, p: int
) -> Form:
    """The form that takes these values at the first points."""
    exponents = monomials(s, degree)
    if not any(values):
        return {}
    table = [evaluated(exponents, u, p) for u in points[: len(exponents)]]
    solution = matrix(table, p).solve(matrix([[v] for v in values[: len(exponents)]], p))
    found = {e: int(solution[i, 0]) for i, e in enumerate(exponents)}
    return {e: c for e, c in found.items() if c}


def multiplicity(forms: Sequence[Sequence[Form]], variables: int, p: int) -> int | None:
    """dim F_p[[u]]/(h), if the forms known prove it finite; None if they do not.

    D_k = dim F_p[u]/((h) + m^{k+1}) stops growing exactly when m^k lies in the ideal (Nakayama).
    """
    degree = len(forms[0]) - 1 if forms else 0
    before = 1
    for k in range(1, degree + 1):
        go_on()
        size = _quotient(forms, variables, k, p)
        if size == before:
            return size
        before = size
    return None


def _quotient(forms: Sequence[Sequence[Form]], variables: int, k: int, p: int) -> int:
    """D_k, from the rank of a Macaulay matrix."""
    columns = {e: i for i, e in enumerate(
        [e for d in range(k + 1) for e in monomials(variables, d)])}  # fmt: skip
    rows = []
    for parts in forms:
        lowest = next((d for d, part in enumerate(parts) if part), k + 1)
        for d in range(k - lowest + 1):
            for shift in monomials(variables, d):
                rows.append(_shifted(parts[: k - d + 1], shift, columns))
    return len(columns) - rank(rows, p)


def _shifted(
    parts: Sequence[Form], shift: tuple[int, ...], columns: dict[tuple[int, ...], int]
) -> list[int]:
    row = [0] * len(columns)
    for part in parts:
        for e, c in part.items():
            row[columns[tuple(a + b for a, b in zip(e, shift, strict=True))]] = c
    return row


def gradient_at(form: Form, u: Sequence[int], p: int) -> list[int]:
    """∂form/∂u at a point."""
    found = []
    for i in range(len(u)):
        total = 0
        for e, c in form.items():
            if e[i]:
                lower = (*e[:i], e[i] - 1, *e[i + 1 :])
                total += c * e[i] * evaluated([lower], u, p)[0]
        found.append(total % p)
    return found


def cone_points(forms: Sequence[Form], variables: int, p: int) -> list[list[int]]:
    """Points over F_p of a finite set in projective space, those of multiplicity one only.

    The kernel of a Macaulay matrix of high degree is spanned by the monomials at the points; two
    linear functions on it have the points as common eigenvectors.
    """
    degree = max(sum(e) for form in forms for e in form)
    if variables == 1:
        return []
    for D in range(degree, degree * variables + 3):
        go_on()
        K = _macaulay_kernel(forms, variables, D, p)
        L = _macaulay_kernel(forms, variables, D + 1, p)
        if len(K) == len(L):
            return _eigenpoints(L, variables, D, p)
    return []


def _macaulay_kernel(forms: Sequence[Form], variables: int, D: int, p: int) -> list[list[int]]:
    columns = {e: i for i, e in enumerate(monomials(variables, D))}
    rows = []
    for form in forms:
        degree = sum(next(iter(form))) if form else D + 1
        if degree <= D:
            rows += [_shifted([form], shift, columns) for shift in monomials(variables, D - degree)]
    return kernel(rows, p, len(columns))


def _eigenpoints(K: list[list[int]], variables: int, D: int, p: int) -> list[list[int]]:
    """Points from the kernel in degree D + 1, through eigenvectors of one coordinate function."""
    draw = Random(variables + 31 * D)
    columns = {e: i for i, e in enumerate(monomials(variables, D + 1))}
    small = monomials(variables, D)
    A, B = (_restricted(K, small, columns, [draw.randrange(p) for _ in range(variables)], p)
            for _ in range(2))  # fmt: skip
    rows, kept = pivots(A, p)
    if len(kept) < len(K):
        return []
    M = inverse([A[i] for i in rows], p) * matrix([B[i] for i in rows], p)
    found = []
    for root, power in M.charpoly().roots():
        if power == 1:
            shifted = [[int(M[i, j]) - (int(root) if i == j else 0) for j in range(len(K))]
                       for i in range(len(K))]  # fmt: skip
            c = kernel(shifted, p, len(K))[0]
            found.append(
                _point(
                    [
                        sum(a * b for a, b in zip(c, column, strict=True)) % p
                        for column in zip(*K, strict=True)
                    ],
                    columns,
                    variables,
                    p,
                )
            )
    return found  # fmt: skip


def _restricted(
    K: list[list[int]], small: Any, columns: dict[tuple[int, ...], int], linear: list[int], p: int
) -> list[list[int]]:
    """Rows: monomials of degree D times a linear form; columns: kernel vectors."""
    found = []
    for e in small:
        places = [columns[(*e[:i], e[i] + 1, *e[i + 1 :])] for i in range(len(e))]
        found.append([sum(c * vector[j] for c, j in zip(linear, places, strict=True)) % p
                      for vector in K])  # fmt: skip
    return found


def _point(
    values: list[int], columns: dict[tuple[int, ...], int], variables: int, p: int
) -> list[int]:
    """The point at which the monomials take these values, up to a factor."""
    total = sum(next(iter(columns)))
    for i in range(variables):
        power = tuple(total if j == i else 0 for j in range(variables))
        if values[columns[power]]:
            return [values[columns[_exchanged(power, i, j)]] for j in range(variables)]
    return [0] * variables


def _exchanged(power: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    """x_i^d with one factor x_i changed to x_j."""
    listed = list(power)
    listed[i] -= 1
    listed[j] += 1
    return tuple(listed)
