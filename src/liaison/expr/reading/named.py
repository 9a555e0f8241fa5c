"""Large formulas cut into named parts, each short enough to be read.

Public names: Parts.
"""

from __future__ import annotations

from typing import final

from liaison.expr.graph.node import Expr, symbol
from liaison.expr.graph.ops import apply
from liaison.expr.graph.walk import topological

MOST = 12
"""Terms that a part may have when it is multiplied out."""

LEAVES = 4
"""Names and numbers of a part for each of those terms."""


@final
class Parts:
    """Formulas cut one after another; a part that was named once keeps its name.

    Args:
        prefix: of the names: w1, w2, …
        most: terms of a part when it is multiplied out.

    Attributes:
        names: of the parts, with their formulas, in the order in which they can be computed.
    """

    def __init__(self, prefix: str = "w", most: int = MOST) -> None:
        self.prefix, self.most = prefix, most
        self.names: list[tuple[str, Expr]] = []
        self.new: dict[Expr, Expr] = {}
        self.terms: dict[Expr, int] = {}
        self.leaves: dict[Expr, int] = {}
        self._count = 0

    def cut(self, f: Expr) -> Expr:
        """The formula in terms of named parts; new parts come after all that is named so far."""
        for node in topological([f]):
            if node not in self.new:
                self.take(node)
        return self.new[f]

    def named(self, name: str, f: Expr) -> None:
        """Enters a quantity with a name of its own, after the parts it needs."""
        self.names.append((name, self.cut(f)))

    def take(self, node: Expr) -> None:
        """One more node, whose arguments are done: large arguments are named until it is short."""
        if not node.args:
            self.new[node], self.terms[node], self.leaves[node] = node, 1, 1
            return
        while self._terms(node) > self.most or self._leaves(node) > LEAVES * self.most:
            largest = max(node.args, key=lambda x: (self.terms[x], self.leaves[x]))
            if self.leaves[largest] == 1:
                break
            self._name(largest)
        args = tuple(self.new[x] for x in node.args)
        same = all(x is y for x, y in zip(args, node.args, strict=True))
        self.new[node] = node if same else apply(node.op, args, node.data)
        self.terms[node], self.leaves[node] = self._terms(node), self._leaves(node)

    def _terms(self, node: Expr) -> int:
        sizes = [self.terms[x] for x in node.args]
        if node.op in ("add", "sub"):
            return sizes[0] + sizes[1]
        if node.op == "mul":
            return sizes[0] * sizes[1]
        if node.op == "pow" and node.b.op == "const" and isinstance(node.b.a, int):
            return int(min(sizes[0] ** min(abs(node.b.a), 8), 10**9))
        return max(sizes)

    def _leaves(self, node: Expr) -> int:
        return sum(self.leaves[x] for x in node.args) + (len(node.args) == 1)

    def _name(self, node: Expr) -> None:
        self._count += 1
        name = f"{self.prefix}{self._count}"
        self.names.append((name, self.new[node]))
        self.new[node], self.terms[node], self.leaves[node] = symbol(name), 1, 1
