"""`to_text`, `to_latex`: formulas in a notation, with names for the parts that they share.

`to_text` and `to_latex` write graphs, naming what is used twice or is too long; `Parts` cuts large
formulas into parts that are each short enough to be read.

Public names: to_text, to_latex, Listing, listing, Parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from liaison.expr.graph import node as _node
from liaison.expr.graph.node import Expr, symbol
from liaison.expr.graph.ops import apply
from liaison.expr.graph.walk import Formulas, listed, topological

from .latex import LATEX
from .notation import Notation, Written
from .text import TEXT


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """Assignments of intermediate quantities, then the formulas in terms of them."""

    assignments: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


def listing(
    fs: Formulas, notation: Notation, *, share: bool = True, prefix: str = "w", width: int = 100,
    limit: int = 1_000_000,
) -> Listing:  # fmt: skip
    """Names for shared and long parts, and the formulas in terms of them."""
    roots = listed(fs)
    order = topological(roots)
    uses = Counter(arg for node in order for arg in set(node.args))
    prefix = _free_prefix(order, prefix)
    written: dict[Expr, Written] = {}
    assignments: list[tuple[str, str]] = []
    top = set(roots)
    for node in order:
        part = _written(node, written, notation)
        is_shared = uses[node] + (node in top) > 1 and node.op != "neg"
        if share and node.args and uses[node] and (is_shared or len(part.text) > width):
            name = notation.name(f"{prefix}{len(assignments) + 1}")
            assignments.append((name, part.text))
            part = Written(name)
        elif len(part.text) > limit:
            raise ValueError(
                f"the formula has more than {limit} characters when nothing is shared; "
                "print it with share=True, or raise the limit"
            )
        written[node] = part
    return Listing(tuple(assignments), tuple(written[root].text for root in roots))


def _written(node: Expr, written: dict[Expr, Written], notation: Notation) -> Written:
    if node.op == "const":
        return notation.number(node.a)
    if node.op == "symbol":
        return Written(notation.name(node.a))
    return notation.operation(node, [written.get(arg, _OMITTED) for arg in node.args])


_OMITTED = Written("…")


def _free_prefix(order: list[Expr], prefix: str) -> str:
    names = {node.a for node in order if node.op == "symbol"}
    while any(re.fullmatch(rf"{re.escape(prefix)}\d+", name) for name in names):
        prefix += "w"
    return prefix


def _result_names(fs: Formulas, count: int, names: Sequence[str] | None) -> list[str]:
    if names is not None:
        if len(names) != count:
            raise ValueError(f"{count} formulas, but {len(names)} names for them")
        return list(names)
    return [""] if type(fs) is Expr else [f"f{i + 1}" for i in range(count)]


def to_text(
    fs: Formulas, *, names: Sequence[str] | None = None, share: bool = True, prefix: str = "w",
    width: int = 100, limit: int = 1_000_000,
) -> str:  # fmt: skip
    """Formulas as readable text, one line each, after the lines of what they share.

    Args:
        fs: one formula (its last line is the formula itself) or several (`f1 = …`).
        names: for the formulas, instead of f1, f2, ….
        share: False writes every formula in full.
        prefix: of the names of intermediate quantities: w1, w2, …
        width: a part longer than this is named too.
        limit: with share=False, the longest text allowed; an error beyond.

    Example:
        >>> import liaison
        >>> x = liaison.symbol("x")
        >>> print(liaison.to_text(liaison.sin(x) / 2))
        1/2*sin(x)
    """
    output = listing(fs, TEXT, share=share, prefix=prefix, width=width, limit=limit)
    titles = _result_names(fs, len(output.results), names)
    lines = [f"{name} = {text}" for name, text in output.assignments]
    lines += [f"{name} = {text}" if name else text for name, text in zip(titles, output.results)]
    return "\n".join(lines)


def to_latex(
    fs: Formulas, *, names: Sequence[str] | None = None, share: bool = True, prefix: str = "w",
    width: int = 200, limit: int = 1_000_000,
) -> str:  # fmt: skip
    """The same as LaTeX; several lines come as the inside of an `aligned` environment.

    Args:
        fs, names, share, prefix, width, limit: as in to_text; names are typeset like symbols.

    Example:
        >>> import liaison
        >>> print(liaison.to_latex(liaison.sin(liaison.symbol("theta1")) / 2))
        \\frac{1}{2}\\,\\sin \\left(\\theta_{1}\\right)
    """
    lines = listing(fs, LATEX, share=share, prefix=prefix, width=width, limit=limit)
    titles = [LATEX.name(n) if n else "" for n in _result_names(fs, len(lines.results), names)]
    if not lines.assignments and titles == [""]:
        return lines.results[0]
    rows = [f"{name} &= {text}" for name, text in lines.assignments]
    rows += [
        f"{name} &= {text}" if name else f"& {text}" for name, text in zip(titles, lines.results)
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


# Named parts ------------------------------------------------------------------------------------

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


# Short form -------------------------------------------------------------------------------------

_SHORT = 60


def _short(root: Expr) -> str:
    """The formula in one line; what lies beyond its first sixty nodes is left out."""
    near: dict[Expr, None] = {root: None}
    queue = [root]
    while queue and len(near) < _SHORT:
        queue += [arg for arg in queue.pop(0).args if arg not in near]
        near.update(dict.fromkeys(queue))
    written: dict[Expr, Written] = {}
    for node in _order_within(root, near):
        part = _written(node, written, TEXT)
        is_short = not node.args or len(part.text) < 500 or node is root
        written[node] = part if is_short else _OMITTED
    return written[root].text


def _order_within(root: Expr, near: dict[Expr, None]) -> list[Expr]:
    """Nodes of a small set, arguments first."""
    order: dict[Expr, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [arg for arg in node.args if arg in near and arg not in order]
        stack += waiting
        if not waiting:
            order[stack.pop()] = None
    return list(order)


def _notebook(root: Expr) -> str:
    return f"$\\displaystyle {to_latex(root)}$"


_node._REPR[:] = [_short, _notebook]
