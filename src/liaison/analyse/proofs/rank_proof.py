"""Proofs that rows are independent wherever a mechanism can be.

First by the determinant of their Gram matrix, in normal form: a positive number is a proof. Then by
intervals: positions are cut into boxes, and in each the rows are multiplied by a right inverse of
theirs at the middle. Where what comes out is dominated by its diagonal all over the box, the rows
are independent in all of it, rounding included; boxes in which a closure cannot hold do not count.

Public names: independent_everywhere.

Source: NEU90 (regular interval matrices, by a preconditioner and strict dominance of the diagonal).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from liaison.exact.intervals import INTERVAL, Interval
from liaison.expr import Expr, as_expr, evaluate
from liaison.expr.reading.reading import Number
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode

from .rate_rows import RateRows

Box: TypeAlias = Mapping[Expr, Interval]

MOST_ROWS = 3
"""Gram determinants of more rows are too long to be proved this way."""

MOST_BOXES = 2000

SLACK = 1e-14
"""More than all rounding of a product and of a sum of less than forty terms."""

SINGULAR = 1e-7
"""Rows whose least singular value in the middle of a box is below this are not inverted there."""


def independent_everywhere(rates: RateRows, boxes: int = MOST_BOXES) -> str | None:
    """How it is proved that the rows are independent at every position; None where it is not."""
    return by_gram_determinant(rates) or by_boxes(rates, boxes)


def by_gram_determinant(rates: RateRows) -> str | None:
    """A determinant that is a positive number; of the velocities alone, or with the last column."""
    if len(rates.rows) > MOST_ROWS:
        return None
    for width in (-1, None):
        rows = [row[:width] for row in rates.rows]
        try:
            value = simplified(gram_determinant(rows))
        except TooLarge:
            return None
        if isinstance(value, Number) and value.value > 0:
            return f"the Gram determinant of the rows is {to_unicode(value)} everywhere"
    return None


def gram_determinant(rows: Sequence[Sequence[Expr]]) -> Expr:
    """det B Bᵀ as a formula."""
    gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]
    return as_expr(_determinant(gram))


def _determinant(matrix: list[list[Any]]) -> Any:
    if not matrix:
        return 1
    total: Any = 0
    for j, entry in enumerate(matrix[0]):
        rest = [row[:j] + row[j + 1 :] for row in matrix[1:]]
        total = total + (-1) ** j * entry * _determinant(rest)
    return total


def by_boxes(rates: RateRows, most: int = MOST_BOXES) -> str | None:
    """Boxes of positions in each of which the rows are independent, or a closure cannot hold."""
    boxes: list[Box] = [dict(rates.domain)]
    for count in range(1, most + 2):
        if not boxes:
            number = "one interval" if count == 2 else f"{count - 1} boxes"
            return f"interval arithmetic on {number} of positions"
        box = boxes.pop()
        if not _is_settled(rates, box):
            halves = _halved(box)
            if halves is None:
                return None
            boxes += halves
    return None


def _is_settled(rates: RateRows, box: Box) -> bool:
    """Whether the rows are independent in the whole box, or no position in it can be."""
    for value in evaluate(list(rates.conditions), box, INTERVAL):
        if not value.is_empty and (value.low > 0 or value.high < 0):
            return True
    middle = rates.at({x: np.array(_middle(part)) for x, part in box.items()})
    if not np.all(np.isfinite(middle)):
        return False
    left, sizes, right = np.linalg.svd(middle, full_matrices=False)
    if sizes.size and sizes[-1] <= SINGULAR * max(1.0, sizes[0]):
        return False
    inverse = right.T / sizes @ left.T
    entries = evaluate(np.array(rates.rows, dtype=object), box, INTERVAL)
    return _is_dominated(entries, inverse)


def _is_dominated(entries: Any, inverse: Any) -> bool:
    """Whether entries times the inverse are dominated by the diagonal, for all of the intervals."""
    for i, row in enumerate(entries):
        outside = 0.0
        for k in range(inverse.shape[1]):
            total = _summed(row, inverse[:, k])
            if i == k:
                inside = max(total.low, -total.high)
            else:
                outside += max(abs(total.low), abs(total.high))
        if not inside > outside * (1 + 1e-12):
            return False
    return True


def _summed(row: Any, column: Any) -> Interval:
    """Σ intervals times floats, rounded outwards."""
    low = high = 0.0
    for entry, x in zip(row, column, strict=True):
        if x == 0 or entry.low == entry.high == 0:
            continue
        least, most = sorted((entry.low * x, entry.high * x))
        low += least - SLACK * abs(least)
        high += most + SLACK * abs(most)
    return Interval(low - SLACK * abs(low), high + SLACK * abs(high))


def _middle(part: Interval) -> float:
    """A number inside; of what has no end, one beyond its other end."""
    if math.isinf(part.low):
        return 0.0 if part.high > 0 else 2 * part.high - 1
    return 2 * part.low + 1 if math.isinf(part.high) else (part.low + part.high) / 2


def _halved(box: Box) -> list[Box] | None:
    """Two halves across its widest side; None where it is too small to be cut."""
    if not box:
        return None
    x = max(box, key=lambda name: box[name].width)
    part, middle = box[x], _middle(box[x])
    if part.width < 1e-6 or abs(middle) > 1e6:
        return None
    return [{**box, x: Interval(part.low, middle)}, {**box, x: Interval(middle, part.high)}]
