"""Rules of inverses: A A⁻¹ = 1, also around a trace, and det A⁻¹ = 1/det A.

Public names: ROWS.
"""

from __future__ import annotations

from itertools import pairwise

from .rule import Rows
from .terms import INVERSE, Factor, Letter, Monomial, Polynomial, Word, inverted
from .words import in_factors, in_words

ROWS = Rows()


def _are_inverse(a: Letter, b: Letter) -> bool:
    return INVERSE in (*a.traits, *b.traits) and a == inverted(b)


def _cancelled(word: Word) -> tuple[int, Word] | None:
    for i, (a, b) in enumerate(pairwise(word)):
        if _are_inverse(a, b):
            return 1, (*word[:i], *word[i + 2 :])
    return None


@ROWS.rule("inverse", "A A⁻¹ = A⁻¹ A = 1")
def _inverse(term: Monomial) -> Polynomial | None:
    return in_words(term, _cancelled)


def _similar(factor: Factor) -> Polynomial | None:
    word: Word = factor[1]
    if len(word) > 1 and _are_inverse(word[0], word[-1]):
        return {(("trace", word[1:-1]),): 1}
    return None


@ROWS.rule("similar", "tr A⁻¹ B A = tr B")
def _trace(term: Monomial) -> Polynomial | None:
    return in_factors(term, "trace", _similar)


def _over(factor: Factor) -> Polynomial | None:
    letter: Letter = factor[1]
    if INVERSE not in letter.traits:
        return None
    return {(("over", ("det", inverted(letter))),): 1}


@ROWS.rule("determinant of an inverse", "det A⁻¹ = 1/det A")
def _determinant(term: Monomial) -> Polynomial | None:
    return in_factors(term, "det", _over)
