"""Polynomials whose factors are scalars, chains aᵀ W b and mixed products: what rules act on.

A vector expression e is written as the scalar xᵀ e, a row as e y, a matrix as xᵀ e y, with the two
placeholders LEFT = x and RIGHT = y. So a sum of terms of any kind is a polynomial of scalars:

    chain  ("dot", a, W, b)      aᵀ W b, W a word of letters: matrices, transposes, tildes
    triple ("mix", r, s, u)      [r, s, u] of three rays, a ray (W, a) being the vector W a
    word   ("quat", W)           a product of quaternions, their conjugates, and pure ones
    trace  ("trace", W),  ("det", A),  ("scalar", atom),  ("expr", h, f),  ("over", s) for 1/s

What no rule looks into (the inverse of a sum, an operator of the user's own) is a letter, a vector
or a scalar whose name, `Opaque`, leads back to the expression.

A monomial is the sorted tuple of its factors, repeated for powers. All are plain tuples, ordered.

Public names: Letter, Word, Ray, Factor, Monomial, Polynomial, LEFT, RIGHT, and their arithmetic;
Opaque, opaque_polynomial, symbol_of.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, final

from liaison.algebra.node import Atom, Formal, Kind, make
from liaison.errors import DerivationError


class Letter(NamedTuple):
    """A matrix in a word: a symbol, the tilde of a ray (with the name "~"), or a transpose."""

    name: str
    order: int = 0
    traits: tuple[str, ...] = ()
    turned: bool = False
    ray: tuple[Any, ...] = ()


Word: TypeAlias = tuple[Letter, ...]
Ray: TypeAlias = tuple[Word, Atom]
Factor: TypeAlias = tuple[Any, ...]
Monomial: TypeAlias = tuple[Factor, ...]
Coefficient: TypeAlias = int | Fraction | float
Polynomial: TypeAlias = dict[Monomial, Coefficient]

INVERSE = "inverse"
"""The property of a letter that stands for the inverse of its symbol."""

LEFT = Atom("", -1)
RIGHT = Atom("\U0010ffff", -1)


def is_tilde(letter: Letter) -> bool:
    """The tilde of a ray."""
    return letter.name == "~"


def tilde_letter(ray: Ray) -> Letter:
    """The letter of the tilde of a ray."""
    return Letter("~", ray=ray)


def is_orthogonal_letter(letter: Letter) -> bool:
    """Its transpose is its inverse."""
    return is_rotation(letter) or (letter.order == 0 and "orthogonal" in letter.traits)


def is_rotation(letter: Letter) -> bool:
    """Orthogonal, with determinant 1."""
    return letter.order == 0 and "rotation" in letter.traits


def flipped(letter: Letter) -> Letter:
    """The transpose of a letter."""
    return letter._replace(turned=not letter.turned)


def inverted(letter: Letter) -> Letter:
    """The inverse of a letter: of an orthogonal one the transpose."""
    if is_orthogonal_letter(letter):
        return flipped(letter)
    traits = tuple(x for x in letter.traits if x != INVERSE)
    return letter._replace(traits=traits if traits != letter.traits else (*traits, INVERSE))


def transposed(word: Word) -> Word:
    """The transpose of a word, letter by letter."""
    return tuple(flipped(letter) for letter in reversed(word))


# Parts that no rule looks into --------------------------------------------------------------------


@final
class Opaque(str):
    """The name of an expression as a symbol: equal expressions have equal names."""

    node: Formal

    @classmethod
    def of(cls, node: Formal) -> Opaque:
        """The name of an expression; it is the same in every process."""
        name = cls(f"{node.op}#{node.h:x}")
        name.node = node
        return name


def opaque_polynomial(node: Formal) -> Polynomial:
    """An expression as one symbol of its kind."""
    atom = Atom(Opaque.of(node))
    if node.kind == "scalar":
        return {(("scalar", atom),): 1}
    if node.kind == "quaternion":
        return {(("quat", (Letter(*atom),)),): 1}
    if node.kind == "matrix":
        return {(("dot", LEFT, (Letter(*atom),), RIGHT),): 1}
    ends = (LEFT, (), atom) if node.kind == "vector" else (atom, (), RIGHT)
    return {(("dot", *ends),): 1}


def symbol_of(kind: Kind, atom: Atom) -> Formal:
    """The symbol of a name, or the expression that an opaque name stands for."""
    if type(atom.name) is Opaque:
        return atom.name.node
    return make("symbol", kind, (), atom)


# Arithmetic -------------------------------------------------------------------------------------


def monomial(factors: Iterable[Factor]) -> Monomial:
    """The monomial of factors in any order."""
    return tuple(sorted(factors))


def added(*polynomials: Polynomial) -> Polynomial:
    """The sum; what cancels is left out."""
    result: Polynomial = {}
    for polynomial in polynomials:
        for term, coefficient in polynomial.items():
            result[term] = result.get(term, 0) + coefficient
    return {term: c for term, c in result.items() if c != 0}


def scaled(polynomial: Polynomial, factor: Coefficient) -> Polynomial:
    """A number times a polynomial."""
    return {term: factor * c for term, c in polynomial.items()} if factor != 0 else {}


LARGEST = 200_000
"""Terms of a product before it is collected."""


def check_size(p: Polynomial, q: Polynomial) -> None:
    """Raises an error for a product with too many terms."""
    if len(p) * len(q) > LARGEST:
        raise DerivationError(
            f"multiplied out, a product of {len(p)} and {len(q)} terms is too large.",
            hint="is_zero_by_components(x) decides without multiplying out.",
        )


def multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product, term by term."""
    check_size(p, q)
    result: Polynomial = {}
    for left, a in p.items():
        for right, b in q.items():
            term = monomial((*left, *right))
            result[term] = result.get(term, 0) + a * b
    return {term: c for term, c in result.items() if c != 0}


def contracted(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product over the inner index: RIGHT of each term of p joined to LEFT of each of q."""
    check_size(p, q)
    result: Polynomial = {}
    for left, a in p.items():
        for right, b in q.items():
            i = _place(left, 3, RIGHT)
            j = _place(right, 1, LEFT)
            joined = ("dot", left[i][1], left[i][2] + right[j][2], right[j][3])
            rest = (*left[:i], *left[i + 1 :], *right[:j], *right[j + 1 :])
            term = monomial((joined, *rest))
            result[term] = result.get(term, 0) + a * b
    return {term: c for term, c in result.items() if c != 0}


def _place(term: Monomial, end: int, placeholder: Atom) -> int:
    """Which chain of a term ends in a placeholder."""
    for index, factor in enumerate(term):
        if factor[0] == "dot" and factor[end] == placeholder:
            return index
    raise AssertionError(f"no open end in {term}")


def turned(p: Polynomial) -> Polynomial:
    """The transpose: LEFT and RIGHT change places, and the chains that hold them turn round."""
    return added(*({monomial(map(_turned, term)): c} for term, c in p.items()))


_OTHER = {LEFT: RIGHT, RIGHT: LEFT}


def _turned(factor: Factor) -> Factor:
    if factor[0] != "dot" or not {factor[1], factor[3]} & {LEFT, RIGHT}:
        return factor
    _, a, word, b = factor
    return ("dot", _OTHER.get(b, b), transposed(word), _OTHER.get(a, a))


def closed(p: Polynomial) -> Polynomial:
    """The trace: LEFT and RIGHT of each term joined."""
    result: list[Polynomial] = []
    for term, c in p.items():
        i, j = _place(term, 3, RIGHT), _place(term, 1, LEFT)
        if i == j:
            joined: Factor = ("trace", term[i][2])
        else:
            joined = ("dot", term[i][1], term[i][2] + term[j][2], term[j][3])
        rest = (factor for k, factor in enumerate(term) if k not in (i, j))
        result.append({monomial((joined, *rest)): c})
    return added(*result)
