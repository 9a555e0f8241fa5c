"""Order: sums and operations arranged so that few values wait, for machines with few registers.

Chained: sums written one term after the other, so that every product fuses with an addition.

(a b + c d) + (e f + g h) takes two products, two fused multiply-adds and a sum; as a chain
((a b + c d) + e f) + g h one product and three fused multiply-adds. A chain waits longer for its
end, which does not matter where other threads fill the time. Sums that are used more than
once stay sums of their own.

Compact: an order of operations that keeps few values alive.

Depth first from the outputs, the argument with more below it first. Greedy orders that look at what
is alive keep fewer values by count, and were no faster on a GPU.

Arrivals: where the place of each input is known, inputs come joint after joint, and a value comes
with the last of its inputs. A chain begins with the terms that come first, so that of a sum over a
body and those it carries one number waits, not all its terms; operations are ordered likewise.
This is the order of the recursive algorithm: outwards along a limb, back from its end, then the
next limb.

Source: SU70; RBDA §5.3 (the recursive algorithm).
Differs: formulas are shared, so that the order is not optimal.

Public names: Arrivals, arrivals, chained, compact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from liaison.expr import Expr, topological
from liaison.expr.graph.ops import apply
from liaison.program.plan import Item, Piece

MANY = 1 << 60  # paths through a graph may be more than anyone can count
START = -MANY  # before the first joint: time, parameters and numbers

Arrivals: TypeAlias = Mapping[Expr, int]
"""Formula -> when the last of its inputs comes."""

Inputs: TypeAlias = Mapping[Expr, tuple[str, int]]
"""Symbol -> its array and its index there."""

JOINTS = ("q", "v", "u", "x")  # arrays that go joint by joint


def arrivals(order: Sequence[Expr], inputs: Inputs) -> Arrivals:
    """When each value comes.

    Arrays are counted from their ends, since a body that is free has four numbers of attitude and
    no motor.

    Args:
        order: formulas, each after its arguments.
        inputs: places of symbols; those without one come first.
    """
    ends: dict[str, int] = {}
    for array, index in inputs.values():
        ends[array] = max(ends.get(array, 0), index + 1)
    comes: dict[Expr, int] = {}
    for node in order:
        array, index = inputs.get(node, ("", 0))
        start = index - ends[array] if array in JOINTS else START
        comes[node] = max((comes[arg] for arg in node.args), default=start)
    return comes


def compact(piece: Piece, comes: Arrivals | None = None) -> tuple[Item, ...]:
    """The items of a piece, each after what it needs, with few values alive at any time."""
    needs = _needs(piece.items)
    used = {other for ks in needs for other in ks}
    order = _depth_first(needs, [k for k in range(len(needs)) if k not in used])
    if comes is not None:
        when = [max(comes[node] for node in item) for item in piece.items]
        order = _depth_first(needs, sorted(order, key=when.__getitem__))
    return tuple(piece.items[k] for k in order)


def _needs(items: Sequence[Item]) -> list[list[int]]:
    """Of each item, the other items it takes values from."""
    home: dict[Expr, int] = {node: k for k, item in enumerate(items) for node in item}
    return [
        sorted({home[arg] for node in item for arg in node.args if home.get(arg, k) != k})
        for k, item in enumerate(items)
    ]


def _depth_first(needs: list[list[int]], roots: Sequence[int]) -> list[int]:
    """Each root after what it needs, the argument with more below it first."""
    below: list[int] = []
    for ks in needs:
        below.append(min(MANY, 1 + sum(below[other] for other in ks)))
    done: dict[int, None] = {}
    for root in roots:
        stack = [root] if root not in done else []
        while stack:
            missing = [other for other in needs[stack[-1]] if other not in done]
            if missing:
                stack.append(max(missing, key=below.__getitem__))
            else:
                done[stack.pop()] = None
    return list(done)


Term: TypeAlias = tuple[int, Expr]

SUMS = frozenset({"add", "sub", "neg"})


def chained(outputs: Sequence[Expr], inputs: Inputs | None = None) -> tuple[Expr, ...]:
    """The same formulas with each sum as a chain, products last.

    Args:
        outputs: the formulas.
        inputs: places of symbols, where terms that come first are to be first.
    """
    order = topological(outputs)
    comes = arrivals(order, inputs or {})
    uses = Counter(arg for node in order for arg in node.args)
    uses.update(outputs)
    new: dict[Expr, Expr] = {}
    for node in order:
        if node.op in SUMS:
            new[node] = _chain(_terms(node, uses), uses, new, comes)
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


def _chain(
    terms: list[Term], uses: Mapping[Expr, int], new: Mapping[Expr, Expr], comes: Arrivals
) -> Expr:
    """One term after the other as they come: of those that come together, products of their own
    last, a positive one first."""

    def key(term: Term) -> tuple[int, bool, bool]:
        return comes[term[1]], _fuses(term[1], uses), term[0] < 0

    (sign, first), *others = sorted(terms, key=key)
    total = new[first] if sign > 0 else apply("neg", (new[first],), None)
    for sign, term in others:
        total = apply("add" if sign > 0 else "sub", (total, new[term]), None)
    return total


def _fuses(term: Expr, uses: Mapping[Expr, int]) -> bool:
    return term.op == "mul" and uses[term] == 1
