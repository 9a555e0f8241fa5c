"""Scalar formulas as an interned graph: build, differentiate, rewrite, evaluate, print.

    x = symbol("x")
    f = sin(x) * x**2
    gradient(f, [x]), evaluate(f, {x: 0.3}), to_text(f)
"""

from .diff import directional, gradient, jacobian
from .evaluate import ARRAY, FLOAT, FRACTION, Domain, evaluate
from .functions import (
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    piecewise,
    power,
    select,
    sign,
    sin,
    sqrt,
    tan,
)
from .graph import (
    Formulas,
    count_operations,
    rewritten,
    substitute,
    switches,
    symbols_of,
    topological,
)
from .node import (
    ONE,
    PI,
    ZERO,
    Expr,
    Pi,
    Scalar,
    as_expr,
    collector_paused,
    constant,
    symbol,
)
from .ops import OPS, Op, apply
from .rules import ROWS as RULES

__all__ = [
    "ARRAY",
    "FLOAT",
    "FRACTION",
    "ONE",
    "OPS",
    "PI",
    "RULES",
    "ZERO",
    "Domain",
    "Expr",
    "Formulas",
    "Op",
    "Pi",
    "Scalar",
    "absolute",
    "acos",
    "apply",
    "as_expr",
    "asin",
    "atan",
    "atan2",
    "collector_paused",
    "constant",
    "cos",
    "count_operations",
    "directional",
    "evaluate",
    "exp",
    "gradient",
    "jacobian",
    "log",
    "maximum",
    "minimum",
    "piecewise",
    "power",
    "rewritten",
    "select",
    "sign",
    "sin",
    "sqrt",
    "substitute",
    "switches",
    "symbol",
    "symbols_of",
    "tan",
    "topological",
]
