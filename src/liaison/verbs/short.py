"""One formula, or a row of numbers, as a short text on one line.

Public names: short, row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import SupportsFloat

from liaison.errors import DerivationError
from liaison.expr import Expr, to_text
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode


def short(x: Expr) -> str:
    """The formula made short, where that can be done; else as it is."""
    try:
        return to_unicode(simplified(x))
    except (TooLarge, DerivationError):
        return to_text(x, share=False)


ROUNDING = 1e-14
"""Part of the largest number of a row that counts as zero."""


def row(numbers: Iterable[SupportsFloat]) -> str:
    """Numbers in parentheses; what rounding left beside the largest of them is 0."""
    values = [float(x) for x in numbers]
    largest = max((abs(x) for x in values if math.isfinite(x)), default=0.0)
    return "(" + ", ".join(f"{_plain(x, ROUNDING * largest):.9g}" for x in values) + ")"


def _plain(x: float, rounding: float) -> float:
    return 0.0 if abs(x) <= rounding else x
