"""Scalars and vectors as LSD writes them, with units, so that reading gives the same values back.

Formulas in which symbols occur stand in si(…), where every quantity counts as its number; what is
long and shared, or too deep, becomes a definition.

Public names: Writer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from liaison.expr import PI, Expr, symbols_of, topological
from liaison.expr.graph.row import ATOM, SIGN
from liaison.formats.lsd.formulas.values import known_dimension

from .formulas import LSD, exact, label_of

DEEP, LONG = 60, 8_000
"""Levels and characters past which a part of a formula gets a name."""
SHARED, CHAIN = 24, 40
"""Characters past which a part that is used twice gets a name; names that hang on one another."""


class Writer:
    """Writes scalars; parts of long formulas become definitions, kept in `lets`."""

    def __init__(
        self, units: dict[str, str], taken: Iterable[str] = (), *, plain: bool = False
    ) -> None:
        self.plain = plain  # for reading: without si(…)
        self.units = units  # of parameters, by name
        self.taken = set(taken)
        self.lets: list[str] = []
        self.named: dict[Expr, _Written] = {}
        self.uses: Counter[Expr] = Counter()

    def scalar(self, x: Any, unit: str = "") -> str:
        """A number with its unit, or a formula."""
        if isinstance(x, Expr):
            return (self.angle(x) if unit == "rad" else "") or self.formula(x, unit)
        text = self.number(x)
        return f"{text} {unit}" if unit and text != "0" else text

    def number(self, x: Any) -> str:
        """A number without a unit."""
        if isinstance(x, float):
            return f"{x!r}f"
        return exact(x).text

    def angle(self, x: Expr) -> str:
        """A rational multiple of π in degrees, "" for anything else."""
        degrees = _degrees(x)
        return "" if degrees is None else f"{exact(degrees).text} deg"

    def formula(self, x: Any, unit: str = "") -> str:
        """A formula: with symbols in it, inside si(…), unless it is a parameter of that unit."""
        if not isinstance(x, Expr):
            return self.number(x)
        if not symbols_of([x]) and not _has_calls(x):
            return self.text(x)
        if x.op == "symbol" and self.fits(x.name, unit):
            return label_of(x.name)
        return self.text(x) if self.plain else f"si({self.text(x)})"

    def fits(self, name: str, unit: str) -> bool:
        """Whether a parameter has the dimension of a unit."""
        return bool(unit) and known_dimension(self.units.get(name, "")) == known_dimension(unit)

    def vector(self, entries: Iterable[Any], unit: str = "") -> str:
        """[x, y, z] with its unit behind."""
        texts = [self.formula(x, unit) for x in entries]
        zero = all(text == "0" for text in texts)
        return f"[{', '.join(texts)}]" + (f" {unit}" if unit and not zero else "")

    def share(self, formulas: Iterable[Expr]) -> None:
        """Counts how often each part of these formulas is used, so that long ones get a name."""
        roots = list(formulas)
        self.uses = Counter(roots)
        self.uses.update(arg for node in topological(roots) for arg in set(node.args))

    def text(self, root: Expr) -> str:
        """The operations of a formula; what is long and shared, or too deep, by its name."""
        written: dict[Expr, _Written] = {}
        for node in topological([root]):
            part = self.node(node, written)
            is_shared = self.uses[node] > 1 and len(part.text) > SHARED and part.chain < CHAIN
            is_large = node is not root and (part.depth > DEEP or len(part.text) > LONG)
            if node in self.named or is_shared or is_large:
                part = self.let(node, part)
            written[node] = part
        return written[root].text

    def let(self, node: Expr, part: _Written) -> _Written:
        """A part of a formula by its name."""
        if node not in self.named:
            name = f"w{len(self.named) + 1}"
            while name in self.taken:
                name += "_"
            self.named[node] = _Written(name, ATOM, 1, part.chain + 1)
            is_constant = not symbols_of([node]) and not _has_calls(node)
            text = part.text if is_constant else f"si({part.text})"
            self.lets.append(f"let {name} = {text} ;")
        return self.named[node]

    def node(self, node: Expr, written: dict[Expr, _Written]) -> _Written:
        """An operation on written arguments."""
        if node.op == "const":
            return _Written(*LSD.number(node.value))
        if node.op == "symbol":
            return _Written(LSD.name(node.name), ATOM)
        parts = [written[arg] for arg in node.args]
        text, rank = LSD.operation(node, parts)
        return _Written(text, rank, _depth(node, parts), max(part.chain for part in parts))


class _Written(NamedTuple):
    """A text, how strongly it binds, how deep it is, and how many names hang on one another."""

    text: str
    rank: int
    depth: int = 1
    chain: int = 0


def _depth(node: Expr, parts: list[_Written]) -> int:
    """Levels of parentheses and calls; a longer chain of sums or products is no deeper."""
    rank = LSD.rank(node.op)
    if rank == ATOM:
        return (3 if node.data is not None else 2) + max(part.depth for part in parts)
    if rank < SIGN:
        first, second = parts[::-1] if LSD.is_turned(node.op, parts) else parts
        if first.rank == rank:
            return max(first.depth, 1 + second.depth)
    return 1 + max(part.depth for part in parts)


def _degrees(x: Expr) -> int | Fraction | None:
    """The degrees of a rational multiple of π."""
    if x is PI:
        return 180
    if x.op == "neg" and x.args[0] is PI:
        return -180
    if x.op != "mul" or x.args[1] is not PI or x.args[0].op != "const":
        return None
    factor = x.args[0].value
    return 180 * Fraction(factor) if isinstance(factor, int | Fraction) else None


def _has_calls(x: Expr) -> bool:
    return any(node.op == "call" for node in topological([x]))
