"""How high the degree of a formula is, as a rational function of the residues that are drawn.

By Schwartz and Zippel a polynomial of degree d that is not zero vanishes at a random point modulo p
with a probability of at most d/p. A formula is numerator over a product of divisors; a sine or a
cosine is a polynomial of degree one in points of circles, which are of degree two.

Public names: degree_bound.

Source: SCH80; docs/theory/formalisms.md (equality-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from liaison.expr import Expr, topological

Divisors: TypeAlias = Mapping[Expr, int]
NONE: Divisors = {}

PER_SYMBOL = 4
"""A coordinate of an attitude is a quotient of degree two, counted for both its parts."""


def degree_bound(*groups: Sequence[Expr], order: Sequence[Expr] | None = None) -> int:
    """A bound of the degree of the difference of any two formulas, one of each of two groups.

    Numerators and denominators count. Square roots double it, since each is one of two.

    Args:
        groups: of formulas.
        order: their nodes, arguments first, where that is known.
    """
    table = _Degrees()
    order = order or topological([f for group in groups for f in group])
    for node in order:
        table.take(node)
    roots = sum(node.op == "sqrt" and node.a.op != "const" for node in order)
    highest = sorted(max((table.total(f) for f in group), default=0) for group in groups)
    return int(PER_SYMBOL * sum(highest[-2:]) * 2 ** min(roots, 30)) or 1


class _Degrees:
    """Degree of the numerator of each node, and its divisors with their powers."""

    def __init__(self) -> None:
        self.top: dict[Expr, int] = {}
        self.below: dict[Expr, Divisors] = {}

    def total(self, node: Expr) -> int:
        """Numerator and denominator together."""
        return self.top[node] + self._size(self.below[node])

    def _size(self, divisors: Divisors) -> int:
        return sum(power * self.top[divisor] for divisor, power in divisors.items())

    def take(self, node: Expr) -> None:
        """One more node, whose arguments are known."""
        top, below = self._computed(node)
        self.top[node], self.below[node] = top, below

    def _computed(self, node: Expr) -> tuple[int, Divisors]:
        if node.op in ("const", "symbol"):
            return int(node.op == "symbol"), NONE
        if node.op in ("add", "sub"):
            return self._sum(node.a, node.b)
        if node.op == "neg":
            return self.top[node.a], self.below[node.a]
        if node.op == "mul":
            return self.top[node.a] + self.top[node.b], self._joined(node.a, node.b)
        if node.op == "div":
            up = self.top[node.a] + self._size(self.below[node.b])
            return up, self._with(self.below[node.a], node.b, 1)
        if node.op == "pow" and node.b.op == "const" and isinstance(node.b.a, int):
            return self._power(node.a, node.b.a)
        if node.op in ("sin", "cos", "tan"):
            return 2 * _atoms(node.a), NONE
        # a residue drawn from the arguments, a root, or a choice between them
        return max([1, *(self.total(arg) for arg in node.args)]), NONE

    def _sum(self, a: Expr, b: Expr) -> tuple[int, Divisors]:
        left, right = self.below[a], self.below[b]
        if left is right:
            return max(self.top[a], self.top[b]), left
        both = {d: max(left.get(d, 0), right.get(d, 0)) for d in {**left, **right}}
        whole = self._size(both)
        up = max(self.top[x] + whole - self._size(self.below[x]) for x in (a, b))
        return up, both

    def _joined(self, a: Expr, b: Expr) -> Divisors:
        left, right = self.below[a], self.below[b]
        if not left or not right:
            return left or right
        return {d: left.get(d, 0) + right.get(d, 0) for d in {**left, **right}}

    def _with(self, divisors: Divisors, node: Expr, power: int) -> Divisors:
        return {**divisors, node: divisors.get(node, 0) + power}

    def _power(self, base: Expr, n: int) -> tuple[int, Divisors]:
        if n >= 0:
            return n * self.top[base], {d: n * k for d, k in self.below[base].items()}
        up = -n * self._size(self.below[base])
        return up, {base: -n}


def _atoms(angle: Expr) -> int:
    """How many angles are turned one after another, halves counted twice."""
    total, stack = 0, [angle]
    while stack:
        node = stack.pop()
        if node.op in ("add", "sub", "neg"):
            stack += [arg for arg in node.args if arg.op != "const"]
        elif node.op == "mul" and node.a.op == "const" and isinstance(node.a.a, int):
            total += abs(node.a.a) * 2
        elif node.op != "const":
            total += 2
    return total
