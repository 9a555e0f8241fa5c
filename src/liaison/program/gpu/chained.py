"""Chained: sums written one term after the other, so that every product fuses with an addition.

(a b + c d) + (e f + g h) takes two products, two fused multiply-adds and a sum; as a chain
((a b + c d) + e f) + g h one product and three fused multiply-adds. A chain waits longer for its
end, which does not matter where other threads fill the time. Sums that are used more than
once stay sums of their own.

Public names: chained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from liaison.expr import Expr, topological
from liaison.expr.graph.ops import apply

Term: TypeAlias = tuple[int, Expr]

SUMS = frozenset({"add", "sub", "neg"})


def chained(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The same formulas with each sum as a chain, products last."""
    order = topological(outputs)
    uses = Counter(arg for node in order for arg in node.args)
    uses.update(outputs)
    new: dict[Expr, Expr] = {}
    for node in order:
        if node.op in SUMS:
            new[node] = _chain(_terms(node, uses), uses, new)
        else:
            fresh = tuple(new[arg] for arg in node.args)
            same = all(x is y for x, y in zip(node.args, fresh, strict=True))
            new[node] = node if same else apply(node.op, fresh, node.data)
    return tuple(new[output] for output in outputs)


def _terms(node: Expr, uses: Mapping[Expr, int]) -> list[Term]:
    """Signs and terms of a sum, sums within it opened where nobody else uses them."""
    terms: list[Term] = []
    stack: list[Term] = [(1, node)]
    while stack:
        sign, term = stack.pop()
        if term.op not in SUMS or (term is not node and uses[term] > 1):
            terms.append((sign, term))
            continue
        signs = {"add": (sign, sign), "sub": (sign, -sign), "neg": (-sign,)}[term.op]
        stack += reversed(list(zip(signs, term.args, strict=True)))
    return terms


def _chain(terms: list[Term], uses: Mapping[Expr, int], new: Mapping[Expr, Expr]) -> Expr:
    """One term after the other: those that are no product of their own first, a positive one."""
    ordered = sorted(terms, key=lambda term: (_fuses(term[1], uses), term[0] < 0))
    sign, first = ordered[0]
    total = new[first] if sign > 0 else apply("neg", (new[first],), None)
    for sign, term in ordered[1:]:
        total = apply("add" if sign > 0 else "sub", (total, new[term]), None)
    return total


def _fuses(term: Expr, uses: Mapping[Expr, int]) -> bool:
    return term.op == "mul" and uses[term] == 1
