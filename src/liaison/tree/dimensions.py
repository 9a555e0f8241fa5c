"""Dimensions of formulas, as far as their names have units: of a relation, and of its multiplier.

Numbers of a formula have lost their units: a product with one has no known dimension, a sum that
of those of its terms that have one. The multiplier of Φ(q, t) times Φ̇ is a power, and so is that
of Φ(q, q̇, t) times Φ.

Public names: dimension_of, multiplier_unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from liaison.errors import NamingError, TextError
from liaison.expr import Expr, topological
from liaison.model import OfCoordinates
from liaison.units import PURE, TIME, Dimension, si_unit, unit_of

from .tree import Tree

ENERGY: Final[Dimension] = (2, 1, -2, 0, 0)
POWER: Final[Dimension] = (2, 1, -3, 0, 0)

Known: TypeAlias = Dimension | None
"""None: not known."""

ALIKE = ("add", "sub", "min", "max", "neg", "abs", "select")
"""Operations on things of one dimension, which the result has; the first of `select` decides."""

ANGLES = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "sign")
"""Functions whose values are pure numbers, or angles."""


def dimension_of(formula: Expr, known: Mapping[str, Dimension]) -> Known:
    """The dimension of a formula whose names have these; None where it does not follow."""
    dimensions: dict[Expr, Known] = {}
    for node in topological([formula]):
        dimensions[node] = _dimension(node, [dimensions[x] for x in node.args], known)
    return dimensions[formula]


def _dimension(node: Expr, parts: list[Known], known: Mapping[str, Dimension]) -> Known:
    if node.op == "symbol":
        return known.get(str(node.a))
    if node.op in ANGLES:
        return PURE
    if node.op in ALIKE:
        listed = {_plain(x) for x in (parts[1:] if node.op == "select" else parts) if x is not None}
        return listed.pop() if len(listed) == 1 else None
    if node.op in ("mul", "div") and parts[0] is not None and parts[1] is not None:
        return _times(parts[0], parts[1], 1 if node.op == "mul" else -1)
    if node.op == "pow" and parts[0] is not None and type(node.args[1].a) is int:
        return _times(PURE, parts[0], node.args[1].a)
    if node.op == "sqrt" and parts[0] is not None and not any(n % 2 for n in parts[0]):
        a, b, c, d, e = (n // 2 for n in parts[0])
        return a, b, c, d, e
    return None


def _plain(x: Dimension) -> Dimension:
    """The same with angles as pure numbers."""
    return (x[0], x[1], x[2], 0, x[4])


def _times(x: Dimension, y: Dimension, power: int) -> Dimension:
    a, b, c, d, e = (m + power * n for m, n in zip(x, y, strict=True))
    return a, b, c, d, e


def multiplier_unit(tree: Tree, relation: OfCoordinates) -> str:
    """The SI unit of a relation's multiplier; "" where it does not follow from its names."""
    labels = [*tree.position_labels(), *tree.velocity_labels()]
    named = [(x.name, x.unit) for x in labels]
    mechanism = tree.mechanism
    named += [(x.name, x.unit) for x in (*mechanism.parameters, *mechanism.inputs)]
    known = {"t": TIME}
    for name, unit in named:
        try:
            known[name] = unit_of(unit).dimension
        except (NamingError, TextError):
            continue
    dimension = dimension_of(relation.vanishing(), known)
    if dimension is None:
        return ""
    work = POWER if relation.OF_SPEEDS else ENERGY
    return si_unit(_times(work, _plain(dimension), -1))
