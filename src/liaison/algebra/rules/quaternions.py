"""Rules of quaternions as symbols: conjugates, norms, squares of pure ones.

Public names: ROWS.
"""

from __future__ import annotations

from itertools import pairwise

from liaison.algebra.node import Atom

from .rule import Rows
from .terms import Factor, Letter, Monomial, Polynomial, flipped, monomial, transposed
from .words import in_factors, vector_atom

ROWS = Rows()


def _is_pure(letter: Letter) -> bool:
    return letter.name == "^"


def _straight(factor: Factor) -> Polynomial | None:
    word = factor[1]
    for i, letter in enumerate(word):
        if letter.turned and _is_pure(letter):
            return {(("quat", (*word[:i], flipped(letter), *word[i + 1 :])),): -1}
    return None


@ROWS.rule("conjugate of a pure quaternion", "a* = −a for a pure")
def _conjugates(term: Monomial) -> Polynomial | None:
    return in_factors(term, "quat", _straight)


def _norm(factor: Factor) -> Polynomial | None:
    word = factor[1]
    for i, (a, b) in enumerate(pairwise(word)):
        rest = ("quat", (*word[:i], *word[i + 2 :]))
        if a == flipped(b) and not _is_pure(a):
            return _times_norm(rest, a)
        if a == b and _is_pure(a):
            inner, atom = a.ray
            return {monomial((rest, ("dot", atom, (*transposed(inner), *inner), atom))): -1}
    return None


def _times_norm(rest: Factor, letter: Letter) -> Polynomial:
    if "unit" in letter.traits and letter.order == 0:
        return {(rest,): 1}
    s, v = parts(Atom(letter.name, letter.order, letter.traits))
    square = ("scalar", s)
    return {monomial((rest, square, square)): 1, monomial((rest, ("dot", v, (), v))): 1}


@ROWS.rule("norm", "q q* = q* q = s² + v · v, which is 1 for q unit; a a = −a · a for a pure")
def _norms(term: Monomial) -> Polynomial | None:
    return in_factors(term, "quat", _norm)


def parts(atom: Atom) -> tuple[Atom, Atom]:
    """The scalar and the vector part of a quaternion's symbol."""
    traits = tuple("unit quaternion" if trait == "unit" else trait for trait in atom.traits)
    s = Atom(atom.name + "_0", atom.order, tuple(sorted(traits)))
    return s, vector_atom(s)
