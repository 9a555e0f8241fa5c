"""One formula as a short text on one line.

Public names: short.
"""

from __future__ import annotations

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
