"""Normal forms: rules applied to every term until none applies, and what follows from that.

Polynomials of chains written as expressions again: terms collected by their non-scalar factors.

Expressions as polynomials of chains: sums multiplied out, products joined, nothing else.

Public names: expanded, reduced, simplified, reduces_to_zero, steps, Step, RULES, WORD_RULES,
to_formal, flatten, axial_atom, reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import groupby
from itertools import product as combinations
from typing import final

from liaison.algebra.build import axial, mixed, tilde
from liaison.algebra.build import dot as dot_product
from liaison.algebra.node import (
    IDENTITY,
    Atom,
    Formal,
    Kind,
    inverse,
    make,
    make_one,
    number,
    power,
    product,
    topological,
    total,
    transpose,
    zero,
)
from liaison.errors import DerivationError
from liaison.expr import Expr, Pi
from liaison.expr import topological as expr_order
from liaison.lazy import Shown

from . import quaternions as rules_quaternions
from . import space as rules_space
from . import words as rules_words
from .rule import Rule, measure
from .space import four_vectors
from .terms import (
    INVERSE,
    LEFT,
    RIGHT,
    Coefficient,
    Factor,
    Letter,
    Monomial,
    Opaque,
    Polynomial,
    Ray,
    Word,
    added,
    closed,
    contracted,
    inverted,
    is_tilde,
    monomial,
    multiplied,
    opaque_polynomial,
    scaled,
    symbol_of,
    tilde_letter,
    transposed,
    turned,
)

ONE: Polynomial = {(): 1}
_LARGEST_POWER = 64


def flatten(root: Formal) -> Polynomial:
    """The polynomial of an expression, with the placeholders of its kind."""
    done: dict[Formal, Polynomial] = {}
    for node in topological(root):
        done[node] = _BY_OP[node.op](node, [done[arg] for arg in node.args])
    return done[root]


def _sum(node: Formal, args: list[Polynomial]) -> Polynomial:
    return added(*args)


def _product(node: Formal, args: list[Polynomial]) -> Polynomial:
    if node.kind == "quaternion":
        return reduce(_quaternion_product, args, ONE)
    result, opens = ONE, False
    for arg, value in _without_inverses(node, args):
        joins = opens and arg.kind in ("vector", "matrix")
        result = contracted(result, value) if joins else multiplied(result, value)
        if arg.kind != "scalar":
            opens = arg.kind in ("row", "matrix")
    return result


def _without_inverses(node: Formal, args: list[Polynomial]) -> list[tuple[Formal, Polynomial]]:
    """The factors of a product without neighbours X and X⁻¹, X being a sum."""
    factors: list[tuple[Formal, Polynomial]] = []
    for arg, value in zip(node.args, args, strict=True):
        if factors and (_inverts(arg, factors[-1][1]) or _inverts(factors[-1][0], value)):
            factors[-1] = (IDENTITY, flatten(IDENTITY))
        else:
            factors.append((arg, value))
    return factors


def _inverts(x: Formal, value: Polynomial) -> bool:
    """Whether x is the inverse of a sum that is that polynomial."""
    return x.op == "inverse" and x.args[0].op == "sum" and flatten(x.args[0]) == value


def _inverse(node: Formal, args: list[Polynomial]) -> Polynomial:
    value = _normal(args[0], RULES)
    terms = [[f for f in term if _is_open(f)] for term in value]
    if not value or (len(value) == 1 and _is_singular(terms[0])):
        raise ValueError(f"{node.args[0]} has the determinant 0: it has no inverse")
    if len(value) == 1 and not any(type(x.name) is Opaque for x in terms[0][0][2]):
        ((term, c),) = value.items()
        rest = [f for f in term if not _is_open(f)]
        word = tuple(inverted(letter) for letter in reversed(terms[0][0][2]))
        over = _reciprocal(node.args[0], {monomial(rest): c})
        return multiplied(over, {(("dot", LEFT, word, RIGHT),): 1})
    first = value[min(value)]
    inner = to_formal(scaled(value, reciprocal(first)), "matrix")
    return scaled(opaque_polynomial(make("inverse", "matrix", (inner,))), reciprocal(first))


def _is_singular(opened: list[Factor]) -> bool:
    """A dyad, or a word with a tilde in it."""
    if len(opened) != 1 or opened[0][0] != "dot":
        return True
    return any(is_tilde(letter) for letter in opened[0][2])


def _operator(node: Formal, args: list[Polynomial]) -> Polynomial:
    """An operator of the user's own, by its properties; what is left is one symbol."""
    values = [_normal(arg, RULES) for arg in args]
    if "linear" not in node.data.properties:
        kinds = [x.kind for x in node.args]
        whole = (to_formal(value, kind) for value, kind in zip(values, kinds, strict=True))
        return _operated(node, tuple(whole))
    parts: list[Polynomial] = []
    for chosen in combinations(*(value.items() for value in values)):
        rest = [f for term, _ in chosen for f in term if not _is_open(f)]
        inner = tuple(
            to_formal({tuple(f for f in term if _is_open(f)): 1}, arg.kind)
            for (term, _), arg in zip(chosen, node.args, strict=True)
        )
        part = multiplied({monomial(rest): 1}, _operated(node, inner))
        parts.append(reduce(scaled, (c for _, c in chosen), part))
    return added(*parts)


def _operated(node: Formal, args: tuple[Formal, ...]) -> Polynomial:
    """The operator on arguments that are normal: involutions undone, arguments in order."""
    properties, sign = node.data.properties, 1
    nested = args[0].op == "operator" and args[0].data == node.data
    if nested and "involutive" in properties:
        return flatten(args[0].args[0])
    if nested and "idempotent" in properties:
        return opaque_polynomial(args[0])
    if {"commutative", "antisymmetric"} & {*properties}:
        in_order = tuple(sorted(args, key=lambda x: (repr(x), x.h)))
        if "antisymmetric" in properties:
            if args[0] is args[1]:
                return {}
            sign = 1 if in_order == args else -1
        args = in_order
    return scaled(opaque_polynomial(make("operator", node.kind, args, node.data)), sign)


def _determinant(node: Formal, args: list[Polynomial]) -> Polynomial:
    """Of a symbol or of an inverse: one letter."""
    ((term, c),) = args[0].items()
    ((_, _, word, _),) = term
    if c != 1 or len(word) != 1:
        raise ValueError(f"{node}: only the determinant of a symbol or of its inverse is known")
    return {(("det", word[0]),): 1}


def _power(node: Formal, args: list[Polynomial]) -> Polynomial:
    exponent: int = node.data
    if abs(exponent) > _LARGEST_POWER:
        raise ValueError(f"{node}: powers above {_LARGEST_POWER} are not multiplied out")
    if exponent < 0:
        return _power_of(_reciprocal(node.args[0], args[0]), -exponent, multiplied)
    if node.kind == "quaternion":
        return _power_of(args[0], exponent, _quaternion_product)
    return _power_of(args[0], exponent, contracted if node.kind == "matrix" else multiplied)


def _power_of(
    base: Polynomial, exponent: int, times: Callable[[Polynomial, Polynomial], Polynomial]
) -> Polynomial:
    return reduce(times, [base] * (exponent - 1), base)


def _reciprocal(node: Formal, value: Polynomial) -> Polynomial:
    if len(value) == 1:
        ((term, c),) = value.items()
        if all(factor[0] in ("expr", "scalar", "over", "det") for factor in term):
            return {monomial(map(_over, term)): reciprocal(c)}
    raise ValueError(f"1/({node}): only one term made of scalar symbols can divide")


def _over(factor: Factor) -> Factor:
    under: Factor = factor[1]
    return under if factor[0] == "over" else ("over", factor)


def reciprocal(c: Coefficient) -> Coefficient:
    """1/c, exact where c is."""
    return 1 / c if type(c) is float else Fraction(1) / c


def _symbol(node: Formal, args: list[Polynomial]) -> Polynomial:
    atom: Atom = node.data
    if node.kind == "scalar":
        return {(("scalar", atom),): 1}
    if node.kind == "vector":
        return {(("dot", LEFT, (), atom),): 1}
    if node.kind == "quaternion":
        return {(("quat", (Letter(*atom),)),): 1}
    if "antisymmetric" in atom.traits:
        return {(("dot", LEFT, (tilde_letter(((), axial_atom(atom))),), RIGHT),): 1}
    return {(("dot", LEFT, (Letter(*atom),), RIGHT),): 1}


def axial_atom(atom: Atom) -> Atom:
    """The vector of an antisymmetric symbol."""
    return atom._replace(traits=("axial", *atom.traits))


def _axial(node: Formal, args: list[Polynomial]) -> Polynomial:
    return {(("dot", LEFT, (), axial_atom(node.args[0].data)),): 1}


def _tilde(node: Formal, args: list[Polynomial]) -> Polynomial:
    return _tilde_of(args[0])


def _tilde_of(value: Polynomial) -> Polynomial:
    result: list[Polynomial] = []
    for term, c in value.items():
        (open_chain,) = [f for f in term if f[0] == "dot" and f[1] == LEFT]
        rest = [f for f in term if f is not open_chain]
        letter = tilde_letter((open_chain[2], open_chain[3]))
        result.append({monomial((("dot", LEFT, (letter,), RIGHT), *rest)): c})
    return added(*result)


def _cross(node: Formal, args: list[Polynomial]) -> Polynomial:
    return contracted(_tilde_of(args[0]), args[1])


def _dot(node: Formal, args: list[Polynomial]) -> Polynomial:
    return contracted(turned(args[0]), args[1])


def _mixed(node: Formal, args: list[Polynomial]) -> Polynomial:
    return contracted(turned(args[0]), contracted(_tilde_of(args[1]), args[2]))


# Quaternions: words of symbols, conjugates (turned letters) and pure ones (letters "^") ---------


def _quaternion_product(p: Polynomial, q: Polynomial) -> Polynomial:
    parts: list[Polynomial] = []
    for left, a in p.items():
        for right, b in q.items():
            words = [f[1] for f in (*left, *right) if f[0] == "quat"]
            rest = [f for f in (*left, *right) if f[0] != "quat"]
            word: Word = tuple(letter for some in words for letter in some)
            parts.append({monomial((*rest, *((("quat", word),) if words else ()))): a * b})
    return added(*parts)


def _pure(node: Formal, args: list[Polynomial]) -> Polynomial:
    parts: list[Polynomial] = []
    for term, c in args[0].items():
        (open_chain,) = [f for f in term if f[0] == "dot" and f[1] == LEFT]
        rest = [f for f in term if f is not open_chain]
        letter = Letter("^", ray=(open_chain[2], open_chain[3]))
        parts.append({monomial((*rest, ("quat", (letter,)))): c})
    return added(*parts)


def _conjugate(node: Formal, args: list[Polynomial]) -> Polynomial:
    return added(*({monomial(map(_conjugated, term)): c} for term, c in args[0].items()))


def _conjugated(factor: Factor) -> Factor:
    return ("quat", transposed(factor[1])) if factor[0] == "quat" else factor


# Formulas ---------------------------------------------------------------------------------------


def _expr(node: Formal, args: list[Polynomial]) -> Polynomial:
    return _from_expr(node.data)


def _from_expr(root: Expr) -> Polynomial:
    """A scalar formula expanded; anything but sums, products and integer powers is one factor."""
    done: dict[Expr, Polynomial] = {}
    for node in expr_order(root):
        done[node] = _expr_value(node, [done[arg] for arg in node.args])
    return done[root]


def _expr_value(node: Expr, args: list[Polynomial]) -> Polynomial:
    op = node.op
    if op == "const" and not isinstance(node.value, Pi):
        return {(): node.value} if node.value != 0 else {}
    if op in ("add", "sub"):
        return added(args[0], scaled(args[1], 1 if op == "add" else -1))
    if op == "neg":
        return scaled(args[0], -1)
    if op == "mul":
        return multiplied(*args)
    whole = op == "pow" and node.args[1].op == "const" and type(node.args[1].value) is int
    if whole and 0 < (exponent := int(node.args[1])) <= _LARGEST_POWER:  # type: ignore[call-overload]
        return _power_of(args[0], exponent, multiplied)
    if op == "div" and node.args[1].op in ("symbol", "const"):
        ((under, c),) = args[1].items()
        return multiplied(args[0], {monomial(map(_over, under)): reciprocal(c)})
    return {(("expr", node.h, node),): 1}


_BY_OP: dict[str, Callable[[Formal, list[Polynomial]], Polynomial]] = {
    "axial": _axial,
    "conjugate": _conjugate,
    "cross": _cross,
    "determinant": _determinant,
    "dot": _dot,
    "expr": _expr,
    "identity": lambda node, args: {(("dot", LEFT, (), RIGHT),): 1},
    "inverse": _inverse,
    "mixed": _mixed,
    "operator": _operator,
    "one": lambda node, args: {(("quat", ()),): 1},
    "power": _power,
    "product": _product,
    "pure": _pure,
    "sum": _sum,
    "symbol": _symbol,
    "tilde": _tilde,
    "trace": lambda node, args: closed(args[0]),
    "transpose": lambda node, args: turned(args[0]),
    "zero": lambda node, args: {},
}


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
        return symbol_of("scalar", factor[1])
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
        plain = symbol_of("quaternion", Atom(letter.name, letter.order, letter.traits))
    return make("conjugate", "quaternion", (plain,)) if letter.turned else plain


# Letters ----------------------------------------------------------------------------------------


def _vector(atom: Atom) -> Formal:
    if "axial" in atom.traits:
        traits = tuple(trait for trait in atom.traits if trait != "axial")
        return axial(make("symbol", "matrix", (), atom._replace(traits=traits)))
    return symbol_of("vector", atom)


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
        plain = _matrix_symbol(letter)
    is_turned = letter.turned and "symmetric" not in letter.traits
    return transpose(plain) if is_turned else plain


def _matrix_symbol(letter: Letter) -> Formal:
    traits = tuple(x for x in letter.traits if x != INVERSE)
    plain = symbol_of("matrix", Atom(letter.name, letter.order, traits))
    return plain if traits == letter.traits else inverse(plain)


def axial_matrix(atom: Atom) -> Formal:
    """The antisymmetric matrix of its axial vector."""
    return _vector(atom).args[0]


def _letters(word: Word) -> list[Formal]:
    return [power(_letter(letter), len(list(same))) for letter, same in groupby(word)]


def _product_of(word: Word) -> Formal:
    return product(IDENTITY, *_letters(word))


WORD_RULES: tuple[Rule, ...] = (
    *rules_words.ROWS,
    *rules_quaternions.ROWS,
)
_OPENING: tuple[Rule, ...] = (*WORD_RULES, *rules_space.ROWS)
_MEMORY = 1 << 14
LIMIT = 20_000
"""Terms looked at on the way to a normal form: some ten seconds."""


def _applied(term: Monomial, rules: Sequence[Rule]) -> tuple[Rule, Polynomial] | None:
    for rule in rules:
        result = rule.apply(term)
        if result is not None:
            return rule, result
    return None


def _normal(polynomial: Polynomial, rules: Sequence[Rule]) -> Polynomial:
    """Rules applied until none applies."""
    result: Polynomial = {}
    waiting = dict(polynomial)
    for _ in range(LIMIT):
        if not waiting:
            return {term: c for term, c in result.items() if c != 0}
        term, c = waiting.popitem()
        applied = _applied(term, rules) if c != 0 else None
        if applied is None:
            result[term] = result.get(term, 0) + c
        else:
            for new, factor in applied[1].items():
                waiting[new] = waiting.get(new, 0) + c * factor
    raise DerivationError(
        f"the normal form is not reached in {LIMIT} steps: the expression is too large.",
        hint="is_zero_by_components(x) decides without multiplying out.",
    )


@lru_cache(maxsize=_MEMORY)
def _opened(term: Monomial) -> tuple[tuple[Monomial, int], ...]:
    return tuple(_normal({term: 1}, _OPENING).items())  # type: ignore[arg-type]


@lru_cache(maxsize=_MEMORY)
def _four(term: Monomial) -> Polynomial | None:
    return four_vectors(term, lambda other: dict(_opened(other)))


FOUR = Rule("four vectors", "four vectors of space are dependent", _four)
RULES: tuple[Rule, ...] = (*_OPENING, FOUR)


def expanded(x: Formal) -> Formal:
    """Multiplied out and collected by the rules of words; tildes and products stay as they are."""
    return to_formal(_normal(flatten(x), WORD_RULES), x.kind)


def reduced(x: Formal) -> Formal:
    """The normal form by all rules: identities of vectors and tildes become zero.

    Raises:
        DerivationError: multiplied out, the expression has too many terms.
    """
    return to_formal(_normal(flatten(x), RULES), x.kind)


def reduces_to_zero(x: Formal) -> bool:
    """No term is left by the rules."""
    return not _normal(flatten(x), RULES)


def simplified(x: Formal) -> Formal:
    """The shortest of `expanded`, `reduced` and x itself."""
    return min((expanded(x), reduced(x), x), key=length)


def length(x: Formal) -> int:
    """Leaves and operations, each as often as it is written."""
    sizes: dict[Formal, int] = {}
    for node in topological(x):
        sizes[node] = 1 + sum(sizes[arg] for arg in node.args)
    return sizes[x]


# Step by step -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True, repr=False)
class Step(Shown):
    """One rule applied wherever it does, and what the expression is then."""

    rule: Rule
    result: Formal

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.result}"


def steps(x: Formal, rules: Sequence[Rule] = RULES) -> list[Step]:
    """How x comes to its normal form: each step applies the first rule that applies anywhere."""
    value = flatten(x)
    rewriting: list[Step] = []
    while True:
        for rule in rules:
            changes = {term: rule.apply(term) for term in value}
            if any(new is not None for new in changes.values()):
                break
        else:
            return rewriting
        parts = []
        for term, new in changes.items():
            parts.append(scaled({term: 1} if new is None else new, value[term]))
        value = added(*parts)
        rewriting.append(Step(rule, to_formal(value, x.kind)))
