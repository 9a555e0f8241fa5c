"""Walking a graph of formulas without recursion.

Public names: Formulas, listed, topological, symbols_of, count_operations, substitute, rewritten,
switches, depends_on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .node import Expr, Scalar, as_expr
from .ops import apply

Formulas: TypeAlias = Expr | Iterable[Any] | np.ndarray[Any, Any]


def listed(fs: Formulas) -> list[Expr]:
    """The formulas of a scalar, a sequence or an array of any shape, in order."""
    if type(fs) is Expr or isinstance(fs, int | float):
        return [as_expr(fs)]
    if isinstance(fs, np.ndarray):
        fs = fs.ravel().tolist()
    return [f if type(f) is Expr else as_expr(f) for f in fs]


def topological(fs: Formulas) -> list[Expr]:
    """Every node once, arguments before what uses them; the order depends on structure only."""
    done: set[Expr] = set()
    order: list[Expr] = []
    stack = listed(fs)[::-1]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        size = len(stack)
        b = node.b
        if type(b) is Expr:
            if b not in done:
                stack.append(b)
            if node.a not in done:
                stack.append(node.a)
        elif type(b) is tuple:
            stack.extend(arg for arg in reversed(b) if arg not in done)
        elif type(node.a) is Expr and node.a not in done:
            stack.append(node.a)
        if len(stack) == size:
            stack.pop()
            done.add(node)
            order.append(node)
    return order


def symbols_of(fs: Formulas) -> list[Expr]:
    """The symbols in the formulas, sorted by name."""
    return sorted((n for n in topological(fs) if n.op == "symbol"), key=lambda node: str(node.a))


def count_operations(fs: Formulas) -> Counter[str]:
    """How often each operation is done when every shared node is computed once."""
    counted = (node.op for node in topological(fs))
    return Counter(op for op in counted if op not in ("const", "symbol"))


def rewritten(fs: Formulas, change: Callable[[Expr], Expr | None]) -> list[Expr]:
    """The formulas built again from the leaves, each node replaced where `change` gives another.

    `change` sees a node of the given graph whose arguments may have been replaced already, unless
    a rule made another operation of it; the formula it returns is taken as it is.
    """
    roots = listed(fs)
    new: dict[Expr, Expr] = {}
    for node in topological(roots):
        args = node.args
        fresh = tuple([new[arg] for arg in args])
        if any(x is not y for x, y in zip(args, fresh)):
            built = apply(node.op, fresh, node.data)
        else:
            built = node
        changed = change(built) if built.op == node.op else None
        new[node] = built if changed is None else changed
    return [new[root] for root in roots]


def substitute(fs: Formulas, values: Mapping[Expr, Scalar]) -> list[Expr]:
    """The formulas with nodes (symbols, mostly) replaced, all at once."""
    roots = listed(fs)
    new: dict[Expr, Expr] = {node: as_expr(value) for node, value in values.items()}
    for node in topological(roots):
        if node in new:
            continue
        args = node.args
        fresh = tuple([new[arg] for arg in args])
        changed = any(x is not y for x, y in zip(args, fresh))
        new[node] = apply(node.op, fresh, node.data) if changed else node
    return [new[root] for root in roots]


def depends_on(order: Iterable[Expr], xs: Iterable[Expr]) -> set[Expr]:
    """The nodes of a topological order whose value depends on one of xs."""
    active = set(xs)
    for node in order:
        b = node.b
        if type(b) is tuple:
            if not active.isdisjoint(b):
                active.add(node)
        elif type(node.a) is Expr and (node.a in active or b in active):
            active.add(node)
    return active


_SWITCHING: dict[str, Callable[[Expr], Expr]] = {
    "abs": lambda node: node.a,
    "sign": lambda node: node.a,
    "min": lambda node: node.a - node.b,
    "max": lambda node: node.a - node.b,
    "select": lambda node: node.b[0],
}


def switches(fs: Formulas) -> list[Expr]:
    """Formulas whose change of sign marks a kink or a jump.

    Arguments of abs and sign, conditions of select, differences of min and max: each once, in
    topological order.
    """
    arguments = {
        _SWITCHING[node.op](node): None for node in topological(fs) if node.op in _SWITCHING
    }
    return [f for f in arguments if f.op != "const"]
