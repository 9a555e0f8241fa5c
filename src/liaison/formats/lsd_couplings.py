"""`impose A = 3*B + 1`: a coordinate in proportion to another is a coupling of the two.

Public names: coupling_of.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from liaison.expr import ZERO, Expr, as_expr, gradient, substitute, symbols_of
from liaison.model import Coupling


def coupling_of(name: str, label: str, law: Any, labels: Container[str]) -> Coupling | None:
    """The coupling that a law of a coordinate says; None where no coordinate is in it.

    Where it is not in proportion, None as well: the checks of the description refuse the law.
    """
    others = [x for x in symbols_of([as_expr(law)]) if x.name in labels]
    if len(others) != 1:
        return None
    (other,) = others
    ratio = gradient(as_expr(law), [other])[0]
    if other in symbols_of([ratio]):
        return None
    offset = substitute([as_expr(law)], {other: ZERO})[0]
    return Coupling(name, label, _plain(ratio), other.name, _plain(offset))


def _plain(x: Expr) -> Any:
    return x.value if x.op == "const" and type(x.value) in (int, float) else x
