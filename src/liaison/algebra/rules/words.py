"""Rules of words: transposes, orthogonal matrices, inverses, tildes, unit vectors.

They shorten or order a term without opening tildes; each gives one term or none, but for those
of unit vectors, sines and unit quaternions.

Public names: ROWS, best_chain, in_factors, vector_atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import comb

from liaison.algebra.node import Atom
from liaison.expr import cos

from .rule import Rows
from .terms import (
    INVERSE,
    Factor,
    Letter,
    Monomial,
    Polynomial,
    Ray,
    Word,
    added,
    flipped,
    inverted,
    is_orthogonal_letter,
    is_rotation,
    is_tilde,
    monomial,
    tilde_letter,
    transposed,
)

ROWS = Rows()


# Words wherever they stand ----------------------------------------------------------------------

WordRule = Callable[[Word], tuple[int, Word] | None]


def in_words(term: Monomial, change: WordRule) -> Polynomial | None:
    """The term with `change` applied to the first word that it fits: a sign and a word."""
    for index, factor in enumerate(term):
        for rebuilt, word in _with_places(factor):
            changed = _deep(word, change)
            if changed is not None:
                sign, new = changed
                return {monomial((*term[:index], rebuilt(new), *term[index + 1 :])): sign}
    return None


def _with_places(factor: Factor) -> Iterator[tuple[Callable[[Word], Factor], Word]]:
    """Each word of a factor, and a function that rebuilds the factor with another word."""
    if factor[0] == "dot":
        yield lambda word: ("dot", factor[1], word, factor[3]), factor[2]
    elif factor[0] == "trace":
        yield lambda word: ("trace", word), factor[1]
    elif factor[0] == "mix":
        for i in (1, 2, 3):
            yield _at_place(factor, i), factor[i][0]


def _at_place(factor: Factor, i: int) -> Callable[[Word], Factor]:
    return lambda word: (*factor[:i], (word, factor[i][1]), *factor[i + 1 :])


def _deep(word: Word, change: WordRule) -> tuple[int, Word] | None:
    """The change applied to a word, or to the ray of one of its tildes."""
    changed = change(word)
    if changed is not None:
        return changed
    for i, letter in enumerate(word):
        if is_tilde(letter):
            inner = _deep(letter.ray[0], change)
            if inner is not None:
                new = letter._replace(ray=(inner[1], letter.ray[1]))
                return inner[0], (*word[:i], new, *word[i + 1 :])
    return None


def _straight(word: Word) -> tuple[int, Word] | None:
    for i, letter in enumerate(word):
        if letter.turned and (is_tilde(letter) or "symmetric" in letter.traits):
            sign = -1 if is_tilde(letter) else 1
            return sign, (*word[:i], flipped(letter), *word[i + 1 :])
    return None


@ROWS.rule("transposes", "ãᵀ = −ã, and Sᵀ = S for S symmetric")
def _transposes(term: Monomial) -> Polynomial | None:
    return in_words(term, _straight)


def cancelled(word: Word) -> tuple[int, Word] | None:
    """The word without its first R Rᵀ."""
    for i, (a, b) in enumerate(pairwise(word)):
        if is_orthogonal_letter(a) and a == flipped(b):
            return 1, (*word[:i], *word[i + 2 :])
    return None


@ROWS.rule("orthogonal", "R Rᵀ = Rᵀ R = 1 for R orthogonal")
def _orthogonal(term: Monomial) -> Polynomial | None:
    return in_words(term, cancelled)


def _turned_tilde(word: Word) -> tuple[int, Word] | None:
    for i in range(len(word) - 2):
        a, middle, b = word[i : i + 3]
        if is_rotation(a) and a == flipped(b) and is_tilde(middle):
            new = tilde_letter(((a, *middle.ray[0]), middle.ray[1]))
            return 1, (*word[:i], new, *word[i + 3 :])
    return None


@ROWS.rule("turned tilde", "R ã Rᵀ = (R a)~ for R a rotation")
def _rotated(term: Monomial) -> Polynomial | None:
    return in_words(term, _turned_tilde)


# Chains and traces ------------------------------------------------------------------------------


def in_factors(
    term: Monomial, tag: str, change: Callable[[Factor], Polynomial | None]
) -> Polynomial | None:
    """The term with the first factor of that tag that changes replaced by what it is equal to."""
    for index, factor in enumerate(term):
        if factor[0] == tag:
            changed = change(factor)
            if changed is not None:
                rest = (*term[:index], *term[index + 1 :])
                return added(*({monomial((*rest, *new)): c} for new, c in changed.items()))
    return None


def _ends_in(word: Word, end: Ray) -> bool:
    """A tilde of the word meets the very vector it is the tilde of: ã … with … = a."""
    return any(
        is_tilde(letter) and letter.ray == ((*word[i + 1 :], *end[0]), end[1])
        for i, letter in enumerate(word)
    )


def _own_vector(factor: Factor) -> Polynomial | None:
    _, a, word, b = factor
    is_zero = _ends_in(word, ((), b)) or _ends_in(_plain(transposed(word))[1], ((), a))
    return {} if is_zero or any(_is_null(letter) for letter in word) else None


def _is_null(letter: Letter) -> bool:
    """A tilde of a vector that is zero: of a × a."""
    return is_tilde(letter) and _ends_in(letter.ray[0], ((), letter.ray[1]))


@ROWS.rule("own vector", "ã a = 0 and aᵀ ã = 0")
def _meets_itself(term: Monomial) -> Polynomial | None:
    return in_factors(term, "dot", _own_vector)


def _plain(word: Word) -> tuple[int, Word]:
    """The word without transposes of symmetric matrices and tildes, and the resulting sign."""
    sign = 1
    while (straight := _straight(word)) is not None:
        sign, word = sign * straight[0], straight[1]
    return sign, word


def best_chain(a: Factor, word: Word, b: Factor) -> tuple[int, Factor]:
    """aᵀ W b or bᵀ Wᵀ a, whichever comes first; sign 0 where each is the negative of the other."""
    if not word:
        return 1, ("dot", a, word, b) if a <= b else ("dot", b, word, a)
    sign, back = _plain(transposed(word))
    here, there = ("dot", a, word, b), ("dot", b, back, a)
    if here == there and sign < 0:
        return 0, here
    return (sign, there) if there < here else (1, here)


def _turned_chain(factor: Factor) -> Polynomial | None:
    sign, best = best_chain(factor[1], factor[2], factor[3])
    if sign == 0:
        return {}
    return None if best == factor else {(best,): sign}


@ROWS.rule("both ways", "aᵀ W b = bᵀ Wᵀ a, so aᵀ A a = 0 for A antisymmetric")
def _both_ways(term: Monomial) -> Polynomial | None:
    return in_factors(term, "dot", _turned_chain)


def _turned_trace(factor: Factor) -> Polynomial | None:
    word: Word = factor[1]
    if not word:
        return {(): 3}
    if len(word) > 1 and is_orthogonal_letter(word[0]) and word[-1] == flipped(word[0]):
        return {(("trace", word[1:-1]),): 1}
    sign, back = _plain(transposed(word))
    turns = [word[i:] + word[:i] for i in range(len(word))]
    backs = [back[i:] + back[:i] for i in range(len(back))]
    if sign < 0 and word in backs:
        return {}
    best = min(turns + backs)
    if best == word:
        return None
    return {(("trace", best),): 1 if best in turns else sign}


@ROWS.rule("cyclic", "tr A B = tr B A = tr Bᵀ Aᵀ, and tr 1 = 3")
def _cyclic(term: Monomial) -> Polynomial | None:
    return in_factors(term, "trace", _turned_trace)


def _unit_determinant(factor: Factor) -> Polynomial | None:
    return {(): 1} if is_rotation(factor[1]) else None


@ROWS.rule("determinant of a rotation", "det R = 1 for R a rotation")
def _determinant(term: Monomial) -> Polynomial | None:
    return in_factors(term, "det", _unit_determinant)


# Inverses ----------------------------------------------------------------------------------------


def _are_inverse(a: Letter, b: Letter) -> bool:
    return INVERSE in (*a.traits, *b.traits) and a == inverted(b)


def _without_inverse(word: Word) -> tuple[int, Word] | None:
    for i, (a, b) in enumerate(pairwise(word)):
        if _are_inverse(a, b):
            return 1, (*word[:i], *word[i + 2 :])
    return None


@ROWS.rule("inverse", "A A⁻¹ = A⁻¹ A = 1")
def _inverse_pair(term: Monomial) -> Polynomial | None:
    return in_words(term, _without_inverse)


def _similar(factor: Factor) -> Polynomial | None:
    word: Word = factor[1]
    if len(word) > 1 and _are_inverse(word[0], word[-1]):
        return {(("trace", word[1:-1]),): 1}
    return None


@ROWS.rule("similar", "tr A⁻¹ B A = tr B")
def _similar_trace(term: Monomial) -> Polynomial | None:
    return in_factors(term, "trace", _similar)


def _over_determinant(factor: Factor) -> Polynomial | None:
    letter: Letter = factor[1]
    if INVERSE not in letter.traits:
        return None
    return {(("over", ("det", inverted(letter))),): 1}


@ROWS.rule("determinant of an inverse", "det A⁻¹ = 1/det A")
def _inverse_determinant(term: Monomial) -> Polynomial | None:
    return in_factors(term, "det", _over_determinant)


# Unit vectors, sines, divisions -----------------------------------------------------------------


def _unit_chain(factor: Factor) -> Polynomial | None:
    _, a, word, b = factor
    if word or "unit" not in a.traits or a.name != b.name or a.order:
        return None
    if b.order == 0:
        return {(): 1} if a == b else None
    if a._replace(order=b.order) != b:
        return None
    n = b.order
    pairs: list[Polynomial] = []
    for k in range(1, n):
        ends = sorted((a._replace(order=k), a._replace(order=n - k)))
        pairs.append({(("dot", ends[0], (), ends[1]),): -comb(n, k)})
    return {term: c / 2 if c % 2 else c // 2 for term, c in added(*pairs).items()}


@ROWS.rule("unit", "u · u = 1 and u · u̇ = 0 for u a unit vector, and so on by derivation")
def _unit(term: Monomial) -> Polynomial | None:
    return in_factors(term, "dot", _unit_chain)


def _twice(term: Monomial, index: int) -> bool:
    return index + 1 < len(term) and term[index] == term[index + 1]


@ROWS.rule("sine", "sin² x = 1 − cos² x")
def _sine(term: Monomial) -> Polynomial | None:
    for i, factor in enumerate(term):
        if factor[0] == "expr" and factor[2].op == "sin" and _twice(term, i):
            rest = (*term[:i], *term[i + 2 :])
            c = cos(factor[2].args[0])
            other = ("expr", c.h, c)
            return {rest: 1, monomial((*rest, other, other)): -1}
    return None


@ROWS.rule("division", "x · 1/x = 1")
def _division(term: Monomial) -> Polynomial | None:
    for factor in term:
        if factor[0] == "over" and factor[1] in term:
            rest = list(term)
            rest.remove(factor)
            rest.remove(factor[1])
            return {tuple(rest): 1}
    return None


def vector_atom(scalar_part: Atom) -> Atom:
    """Of the scalar part of a quaternion's symbol, its vector part."""
    return scalar_part._replace(name=scalar_part.name.removesuffix("_0") + "_v")


def _without(term: Monomial, *factors: Factor) -> Monomial:
    left = list(term)
    for factor in factors:
        left.remove(factor)
    return tuple(left)


@ROWS.rule("unit quaternion", "s² + v · v = 1 and s ṡ + v · v̇ = 0 for a unit quaternion (s, v)")
def _unit_quaternion(term: Monomial) -> Polynomial | None:
    for i, s in enumerate(term):
        if s[0] != "scalar" or "unit quaternion" not in s[1].traits or s[1].order:
            continue
        v = vector_atom(s[1])
        rate, vdot = ("scalar", s[1]._replace(order=1)), v._replace(order=1)
        square, moving = ("dot", v, (), v), ("dot", v, (), vdot)
        if _twice(term, i):
            rest = _without(term, s, s)
            return {rest: 1, monomial((*rest, square)): -1}
        if rate in term:
            return {monomial((*_without(term, s, rate), moving)): -1}
        if moving in term:
            rest = monomial((*_without(term, s, moving), rate))
            return {rest: -1, monomial((*rest, square)): 1}
    return None
