"""Rows that may be active with unilateral relations of rates: exact formulas of q and t.

Every bilateral row G v − ν = 0 and every unilateral row W v + w ≤ 0 becomes a row of numbers
(G, −ν) or (W, w) with one column more than there are velocities. Rows that are dependent with that
column are those that can be active together although they depend on each other: rows whose
velocities agree and whose last numbers do not are never active at once.

Public names: RateRows, rate_rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.intervals import Interval
from liaison.expr import (
    ARRAY,
    ZERO,
    Expr,
    as_expr,
    evaluate,
    gradient,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.model import Mechanism, Unilateral
from liaison.tree import Row, Tree, closure_rows, merged, on_symbols, side_blocks, span

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class RateRows:
    """Rows of a mechanism, bilateral ones first.

    Attributes:
        bilateral: names of the rows that always hold.
        one_sided: names of the relations of rates, W v + w ≤ 0.
        rows: for each row its nv + 1 entries.
        biases: d/dt of each row where v̇ = 0.
        conditions: what vanishes at every position: closures, norms of quaternions.
        v: velocities.
        domain: of each symbol of the rows, one period where it only turns something.
        start: of each symbol of rows and biases, as the author gave it, or neutral.
        left_out: other unilateral relations and contacts, whose rows are not here.
    """

    bilateral: tuple[str, ...]
    one_sided: tuple[str, ...]
    rows: tuple[tuple[Expr, ...], ...]
    biases: tuple[Expr, ...]
    conditions: tuple[Expr, ...]
    v: tuple[Expr, ...]
    domain: Mapping[Expr, Interval]
    start: Mapping[Expr, float]
    left_out: tuple[str, ...]

    def with_active(self, names: Sequence[str]) -> RateRows:
        """The bilateral rows and some of the unilateral ones."""
        first = len(self.bilateral)
        kept = [k for k, name in enumerate(self.one_sided) if name in names]
        places = [*range(first), *(first + k for k in kept)]
        return replace(
            self,
            one_sided=tuple(self.one_sided[k] for k in kept),
            rows=tuple(self.rows[k] for k in places),
            biases=tuple(self.biases[k] for k in places),
        )

    def at(self, values: Mapping[Expr, Any]) -> Floats:
        """The rows on numbers, shape (…, rows, nv + 1)."""
        numbers = evaluate(np.array(self.rows, dtype=object), values, ARRAY)
        return np.asarray(numbers, dtype=float)


def rate_rows(mechanism: Mechanism) -> RateRows:
    """The rows of a mechanism's unilateral relations of rates, and of all that always holds."""
    relations = tuple(x for x in mechanism.contacts if isinstance(x, Unilateral))
    tree = merged(span(replace(mechanism, contacts=relations), exact=True))
    kinematics, qdot = on_symbols(tree)
    held = [(label.name, row) for label, row in closure_rows(kinematics, qdot)]
    held = [
        (name, row) for name, row in held if any(as_expr(x) is not ZERO for x in row.G.values())
    ]
    sides = [block for block in side_blocks(kinematics, qdot) if block.kind == "rate"]
    rows = [_dense_row(row, tree.nv, 1) for _, row in held]
    rows += [_dense_row(block.rows[0], tree.nv, -1) for block in sides]
    biases = [as_expr(-row.gamma) for _, row in held]
    biases += [as_expr(block.rows[0].gamma) for block in sides]
    conditions = [as_expr(row.value) for _, row in held if row.value is not None] + _norms(tree)
    parameters = {
        symbol(p.name): as_expr(p.value) for p in mechanism.parameters if p.value is not None
    }
    rows = [substitute(row, parameters) for row in rows]
    conditions, biases = substitute(conditions, parameters), substitute(biases, parameters)
    formulas = [*(x for row in rows for x in row), *conditions]
    names = tuple(block.name for block in sides)
    return RateRows(
        bilateral=tuple(name for name, _ in held),
        one_sided=names,
        rows=tuple(tuple(row) for row in rows),
        biases=tuple(biases),
        conditions=tuple(conditions),
        v=tuple(kinematics.v),
        domain=_domain(formulas),
        start=_starts(tree, parameters, [*formulas, *biases]),
        left_out=tuple(one.name for one in mechanism.contacts if one.name not in names),
    )


def _starts(tree: Tree, parameters: Mapping[Expr, Expr], fs: Sequence[Expr]) -> dict[Expr, float]:
    """The start of each symbol; its neutral position by default."""
    starts = tree.mechanism.starts
    neutral = [float(x) for node in tree.nodes for x in node.joint.type.neutral()]
    positions = {symbol(x.name): y for x, y in zip(tree.position_labels(), neutral, strict=True)}
    values = substitute([as_expr(x.value) for x in starts], parameters)
    for start, value in zip(starts, values, strict=True):
        if not symbols_of([value]):
            positions[symbol(start.label)] = float(evaluate(value, {}))
    return {x: positions.get(x, 0.0) for x in symbols_of(fs)}


def _dense_row(row: Row, nv: int, side: int) -> list[Expr]:
    """(G, −ν); of a unilateral row u = −(W v + w) ≥ 0, (W, w)."""
    entries = [as_expr(side * as_expr(row.G.get(j, ZERO))) for j in range(nv)]
    return [*entries, as_expr(-side * as_expr(row.nu))]


def _norms(tree: Tree) -> list[Expr]:
    """|Q|² − 1 of every quaternion."""
    labels, norms = tree.position_labels(), []
    for node in tree.nodes:
        first = node.q.start
        for kind, nq, _ in node.joint.type.charts:
            if kind in ("quaternion", "free"):
                parts = [symbol(x.name) for x in labels[first : first + nq] if x.unit == ""]
                norms.append(as_expr(sum((x * x for x in parts), ZERO) - 1))
            first += nq
    return norms


def _domain(fs: Sequence[Expr]) -> dict[Expr, Interval]:
    """Every number, but one period for what stands in sines and cosines only."""
    order = topological(list(fs))
    domain = {}
    for x in symbols_of(fs):
        turned = _turned(order, x)
        half = math.inf if turned is None else math.pi * math.lcm(*(s.denominator for s in turned))
        domain[x] = Interval(-half, half if turned is None else math.nextafter(half, math.inf))
    return domain


def _turned(order: Sequence[Expr], x: Expr) -> list[Fraction] | None:
    """By how much x turns each sine and cosine it stands in; None where it stands elsewhere."""
    bare, slopes = {x}, []
    for node in order:
        if not any(argument in bare for argument in node.args):
            continue
        slope = gradient(node.a, [x])[0] if node.op in ("sin", "cos") else x
        if slope.op == "const" and isinstance(slope.a, int | Fraction):
            slopes.append(Fraction(slope.a))
        else:
            bare.add(node)
    roots = set(order) - {argument for node in order for argument in node.args}
    return None if bare & roots else slopes
