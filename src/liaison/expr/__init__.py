"""Scalar formulas as an interned graph: build, differentiate, rewrite, evaluate, print.

x = symbol("x")
f = sin(x) * x**2
gradient(f, [x]), evaluate(f, {x: 0.3}), to_text(f)
"""

from liaison.expr.graph.diff import directional, gradient, jacobian, time_derivative
from liaison.expr.graph.evaluate import ARRAY, FLOAT, FRACTION, Domain, evaluate
from liaison.expr.graph.node import (
    ONE,
    PI,
    ZERO,
    Expr,
    Pi,
    Scalar,
    as_expr,
    constant,
    symbol,
    vanishes,
)
from liaison.expr.graph.ops import OPS, apply, partial
from liaison.expr.graph.pack import Packed, fingerprint, pack, unpack
from liaison.expr.graph.row import Op
from liaison.expr.graph.rules import ROWS as RULES
from liaison.expr.graph.walk import (
    Formulas,
    count_operations,
    rewritten,
    substitute,
    switches,
    symbols_of,
    topological,
)
from liaison.expr.reading.shared import to_latex, to_text
from liaison.expr.reading.sympy import from_sympy, to_sympy

from .bind import bind, expanded, to_floats
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
from .memory import collector_paused, known_nodes
from .smooth import arc_ratio, cos_sqrt, dexpinv_coefficient, sinc_sqrt, stumpff
from .table import Table
from .unknown import Function

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
    "Function",
    "Op",
    "Packed",
    "Pi",
    "Scalar",
    "Table",
    "absolute",
    "acos",
    "apply",
    "arc_ratio",
    "as_expr",
    "asin",
    "atan",
    "atan2",
    "bind",
    "collector_paused",
    "constant",
    "cos",
    "cos_sqrt",
    "count_operations",
    "dexpinv_coefficient",
    "directional",
    "evaluate",
    "exp",
    "expanded",
    "fingerprint",
    "from_sympy",
    "gradient",
    "jacobian",
    "known_nodes",
    "log",
    "maximum",
    "minimum",
    "pack",
    "partial",
    "piecewise",
    "power",
    "rewritten",
    "select",
    "sign",
    "sin",
    "sinc_sqrt",
    "sqrt",
    "stumpff",
    "substitute",
    "switches",
    "symbol",
    "symbols_of",
    "tan",
    "time_derivative",
    "to_floats",
    "to_latex",
    "to_sympy",
    "to_text",
    "topological",
    "unpack",
    "vanishes",
]
