"""Putting expressions in the place of symbols, or of any part of an expression.

Public names: replaced.
"""

from __future__ import annotations

from collections.abc import Mapping

from .node import Formal, inverse, make, power, product, topological, total, transpose


def replaced(x: Formal, parts: Mapping[Formal, Formal]) -> Formal:
    """The expression with every part that `parts` names replaced by what it names."""
    for old, new in parts.items():
        if old.kind != new.kind:
            raise TypeError(f"the {old.kind} {old} cannot become the {new.kind} {new}")
    done: dict[Formal, Formal] = {}
    for node in topological(x):
        if node in parts:
            done[node] = parts[node]
        else:
            done[node] = _again(node, tuple(done[arg] for arg in node.args))
    return done[x]


def _again(node: Formal, args: tuple[Formal, ...]) -> Formal:
    if args == node.args:
        return node
    if node.op == "sum":
        return total(*args)
    if node.op == "product":
        return product(*args)
    if node.op == "power":
        return power(args[0], node.data)
    if node.op == "transpose":
        return transpose(args[0])
    if node.op == "inverse":
        return inverse(args[0])
    return make(node.op, node.kind, args, node.data)
