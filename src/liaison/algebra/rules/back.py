"""Polynomials of chains written as expressions again: terms collected by their non-scalar factors.

Public names: to_formal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from liaison.algebra.build import axial, mixed, tilde
from liaison.algebra.build import dot as dot_product
from liaison.algebra.node import (
    IDENTITY,
    Atom,
    Formal,
    Kind,
    make,
    make_one,
    number,
    power,
    product,
    total,
    transpose,
    zero,
)

from .rule import measure
from .terms import (
    LEFT,
    RIGHT,
    Factor,
    Letter,
    Monomial,
    Polynomial,
    Ray,
    Word,
    is_tilde,
    transposed,
)

Open = tuple[Factor, ...]


def to_formal(polynomial: Polynomial, kind: Kind) -> Formal:
    """The expression of a polynomial whose placeholders are those of `kind`."""
    by_open: dict[Open, list[tuple[Monomial, int | float]]] = {}
    for term, c in sorted(polynomial.items(), key=lambda item: _reading(item[0])):
        opened = tuple(f for f in term if _is_open(f))
        closed = tuple(f for f in term if not _is_open(f))
        by_open.setdefault(opened, []).append((closed, c))  # type: ignore[arg-type]
    if not by_open:
        return zero(kind)
    return total(*(_collected(opened, terms) for opened, terms in by_open.items()))


def _reading(term: Monomial) -> tuple[int, Monomial]:
    """Long terms first."""
    return -measure(term)[3], term


def _collected(opened: Open, terms: Sequence[tuple[Monomial, int | float]]) -> Formal:
    sum_of_scalars = total(*(_scalar_term(closed, c) for closed, c in terms))
    return product(sum_of_scalars, *_open_part(opened)) if opened else sum_of_scalars


def _scalar_term(closed: Monomial, c: int | float) -> Formal:
    ordered = sorted(closed, key=lambda f: f[0] not in ("expr", "over", "scalar"))
    factors = [power(_scalar(f), len(list(same))) for f, same in groupby(ordered)]
    return product(number(c), *factors)


def _is_open(factor: Factor) -> bool:
    if factor[0] == "dot":
        return bool({factor[1], factor[3]} & {LEFT, RIGHT})
    if factor[0] == "quat":
        return True
    return factor[0] == "mix" and any(ray[1] in (LEFT, RIGHT) for ray in factor[1:])


# Scalars ----------------------------------------------------------------------------------------


def _scalar(factor: Factor) -> Formal:
    tag = factor[0]
    if tag == "dot":
        return _chain(factor)
    if tag == "mix":
        return mixed(*map(_ray, factor[1:]))
    if tag == "scalar":
        return make("symbol", "scalar", (), factor[1])
    if tag == "expr":
        return number(factor[2])
    if tag == "over":
        return power(_scalar(factor[1]), -1)
    if tag == "det":
        return make("determinant", "scalar", (_letter(factor[1]),))
    return make("trace", "scalar", (_product_of(factor[1]),))


def _chain(factor: Factor) -> Formal:
    _, a, word, b = factor
    if not word:
        return dot_product(_vector(a), _vector(b))
    return product(transpose(_vector(a)), *_letters(word), _vector(b))


# Vectors, rows and matrices ---------------------------------------------------------------------


def _open_part(opened: Open) -> list[Formal]:
    """The factors of the open chains and triple, in the order in which they multiply."""
    if len(opened) == 1:
        factor = opened[0]
        if factor[0] == "quat":
            return _quaternions(factor[1])
        return _open_chain(factor) if factor[0] == "dot" else _open_triple(factor)
    first, second = sorted(opened, key=lambda f: not _holds(f, LEFT))
    return [*_one_side(first, LEFT), *_one_side(second, RIGHT)]


def _holds(factor: Factor, placeholder: Atom) -> bool:
    ends = (factor[1], factor[3]) if factor[0] == "dot" else [ray[1] for ray in factor[1:]]
    return placeholder in ends


def _one_side(factor: Factor, placeholder: Atom) -> list[Formal]:
    """The vector of a factor with one placeholder, as a column for LEFT or a row for RIGHT."""
    if factor[0] == "dot":
        return _open_chain(_oriented(factor))
    parts = _cross_part(factor, placeholder)
    return parts if placeholder == LEFT else [transpose(product(*parts))]


def _oriented(factor: Factor) -> Factor:
    _, a, word, b = factor
    is_right = a == RIGHT or b == LEFT
    return ("dot", b, transposed(word), a) if is_right else factor


def _open_chain(factor: Factor) -> list[Formal]:
    _, a, word, b = _oriented(factor)
    left = [] if a == LEFT else [transpose(_vector(a))]
    right = [] if b == RIGHT else [_vector(b)]
    parts = [*left, *_letters(word), *right]
    return parts or [IDENTITY]


def _open_triple(factor: Factor) -> list[Formal]:
    rays = list(factor[1:])
    ends = [ray[1] for ray in rays]
    if LEFT in ends and RIGHT in ends:
        i, j = ends.index(LEFT), ends.index(RIGHT)
        (k,) = {0, 1, 2} - {i, j}
        # [W x, r, V y] = xᵀ Wᵀ r̃ V y
        sign = 1 if (i, k, j) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1
        parts = [*_letters(transposed(rays[i][0])), tilde(_ray(rays[k])), *_letters(rays[j][0])]
        return parts if sign > 0 else [number(-1), *parts]
    return _one_side(factor, LEFT if LEFT in ends else RIGHT)


def _cross_part(factor: Factor, placeholder: Atom) -> list[Formal]:
    """[W x, r, s] as the vector Wᵀ (r × s)."""
    rays = list(factor[1:])
    i = next(k for k, ray in enumerate(rays) if ray[1] == placeholder)
    r, s = rays[(i + 1) % 3], rays[(i + 2) % 3]
    crossed = make("cross", "vector", (_ray(r), _ray(s)))
    return [*_letters(transposed(rays[i][0])), crossed]


def _quaternions(word: Word) -> list[Formal]:
    letters = [power(_quaternion(letter), len(list(same))) for letter, same in groupby(word)]
    return letters or [make_one("quaternion")]


def _quaternion(letter: Letter) -> Formal:
    if letter.name == "^":
        plain = make("pure", "quaternion", (_ray(letter.ray),))
    else:
        plain = make("symbol", "quaternion", (), Atom(letter.name, letter.order, letter.traits))
    return make("conjugate", "quaternion", (plain,)) if letter.turned else plain


# Letters ----------------------------------------------------------------------------------------


def _vector(atom: Atom) -> Formal:
    if "axial" in atom.traits:
        traits = tuple(trait for trait in atom.traits if trait != "axial")
        return axial(make("symbol", "matrix", (), atom._replace(traits=traits)))
    return make("symbol", "vector", (), atom)


def _ray(ray: Ray) -> Formal:
    word, atom = ray
    return product(*_letters(word), _vector(atom))


def _letter(letter: Letter) -> Formal:
    if is_tilde(letter):
        word, atom = letter.ray
        if not word and "axial" in atom.traits:
            plain = axial_matrix(atom)
        else:
            plain = tilde(_ray(letter.ray))
    else:
        plain = make("symbol", "matrix", (), Atom(letter.name, letter.order, letter.traits))
    is_turned = letter.turned and "symmetric" not in letter.traits
    return transpose(plain) if is_turned else plain


def axial_matrix(atom: Atom) -> Formal:
    """The antisymmetric matrix of its axial vector."""
    return _vector(atom).args[0]


def _letters(word: Word) -> list[Formal]:
    return [power(_letter(letter), len(list(same))) for letter, same in groupby(word)]


def _product_of(word: Word) -> Formal:
    return product(IDENTITY, *_letters(word))
