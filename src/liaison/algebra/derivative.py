"""Time derivatives of formal expressions, by the laws of sums and products.

A symbol that is not constant becomes the symbol of its derivative; a rotation R turns with its
angular velocity, Ṙ = ω̃ R, where ω is the one it was declared with, or the symbol omega(R).

Public names: derivative.
"""

from __future__ import annotations

from collections.abc import Callable

from liaison.expr import symbol, symbols_of
from liaison.expr import time_derivative as expr_derivative

from .build import tilde, vector
from .node import Atom, Formal, is_orthogonal, make, number, power, product, total, transpose, zero


def derivative(x: Formal, times: int = 1) -> Formal:
    """The time derivative of an expression, `times` times.

    In a plain formula of `expr` every symbol moves but the time t; scalar(name, constant=True)
    is one that does not.
    """
    for _ in range(times):
        x = _once(x)
    return x


def _once(root: Formal) -> Formal:
    done: dict[Formal, Formal] = {}
    waiting = [root]
    while waiting:
        node = waiting[-1]
        missing = [arg for arg in node.args if arg not in done] if node.op in _BY_OP else []
        if missing:
            waiting += missing
        else:
            done[waiting.pop()] = _derivative(node, done)
    return done[root]


def _derivative(node: Formal, done: dict[Formal, Formal]) -> Formal:
    if node.op == "symbol":
        return _of_symbol(node)
    if node.op == "expr":
        rates = {s: symbol(s.name + "'") for s in symbols_of(node.data) if s.name != "t"}
        return number(expr_derivative(node.data, rates)[0])
    if node.op in ("zero", "identity", "one"):
        return zero(node.kind)
    if node.op not in _BY_OP:
        raise ValueError(f"the time derivative of {node} is not known; write it in other terms")
    return _BY_OP[node.op](node, done)


def _of_symbol(node: Formal) -> Formal:
    atom: Atom = node.data
    if "constant" in atom.traits:
        return zero(node.kind)
    if node.kind == "matrix" and is_orthogonal(node) and atom.order == 0:
        omega = node.args[0] if node.args else vector(f"omega({atom.name})")
        return product(tilde(omega), node)
    return make("symbol", node.kind, (), atom._replace(order=atom.order + 1))


def _by_leibniz(node: Formal, done: dict[Formal, Formal]) -> Formal:
    """One argument differentiated at a time."""
    terms = []
    for i, arg in enumerate(node.args):
        if done[arg].op != "zero" and done[arg] is not number(0):
            args = (*node.args[:i], done[arg], *node.args[i + 1 :])
            is_product = node.op == "product"
            terms.append(
                product(*args) if is_product else make(node.op, node.kind, args, node.data)
            )
    return total(*terms) if terms else zero(node.kind)


def _of_power(node: Formal, done: dict[Formal, Formal]) -> Formal:
    base, n = node.args[0], node.data
    if node.kind == "scalar":
        return product(number(n), power(base, n - 1), done[base])
    places = ((base,) * i + (done[base],) + (base,) * (n - 1 - i) for i in range(n))
    return total(*(product(*factors) for factors in places))


def _of_inverse(node: Formal, done: dict[Formal, Formal]) -> Formal:
    """d(A⁻¹)/dt = −A⁻¹ Ȧ A⁻¹."""
    return product(number(-1), node, done[node.args[0]], node)


def _of_operator(node: Formal, done: dict[Formal, Formal]) -> Formal:
    """Argument by argument for a linear operator; of others only that of constants is known."""
    if "linear" in node.data.properties or all(done[x] is zero(x.kind) for x in node.args):
        return _by_leibniz(node, done)
    raise ValueError(
        f"the time derivative of {node} is not known: declare {node.data.name} linear, or write "
        "the rate as an operator of its own"
    )


_BY_OP: dict[str, Callable[[Formal, dict[Formal, Formal]], Formal]] = {
    "axial": _by_leibniz,
    "conjugate": _by_leibniz,
    "cross": _by_leibniz,
    "dot": _by_leibniz,
    "inverse": _of_inverse,
    "mixed": _by_leibniz,
    "operator": _of_operator,
    "power": _of_power,
    "product": _by_leibniz,
    "pure": _by_leibniz,
    "sum": lambda node, done: total(*(done[arg] for arg in node.args)),
    "tilde": _by_leibniz,
    "trace": _by_leibniz,
    "transpose": lambda node, done: transpose(done[node.args[0]]),
}
