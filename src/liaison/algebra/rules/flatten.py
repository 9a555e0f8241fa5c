"""Expressions as polynomials of chains: sums multiplied out, products joined, nothing else.

Public names: flatten, axial_atom, reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from liaison.algebra.node import Atom, Formal, topological
from liaison.expr import Expr, Pi
from liaison.expr import topological as expr_order

from .terms import (
    LEFT,
    RIGHT,
    Coefficient,
    Factor,
    Letter,
    Polynomial,
    Word,
    added,
    closed,
    contracted,
    monomial,
    multiplied,
    scaled,
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
    for arg, value in zip(node.args, args, strict=True):
        joins = opens and arg.kind in ("vector", "matrix")
        result = contracted(result, value) if joins else multiplied(result, value)
        if arg.kind != "scalar":
            opens = arg.kind in ("row", "matrix")
    return result


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
        if all(factor[0] in ("expr", "scalar", "over") for factor in term):
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
    "determinant": lambda node, args: {(("det", Letter(*node.args[0].data)),): 1},
    "dot": _dot,
    "expr": _expr,
    "identity": lambda node, args: {(("dot", LEFT, (), RIGHT),): 1},
    "mixed": _mixed,
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
