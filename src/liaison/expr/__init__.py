"""Scalar formulas as an interned graph: build, differentiate, rewrite, evaluate, print.

x = symbol("x")
f = sin(x) * x**2
gradient(f, [x]), evaluate(f, {x: 0.3}), to_text(f)
"""

# rules act on every formula that is built
from liaison.expr.graph import rules as _rules  # noqa: F401
from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "bind": "bind expanded to_floats",
        "graph.diff": "directional gradient jacobian time_derivative",
        "graph.evaluate": "ARRAY Domain FLOAT FRACTION evaluate",
        "functions": "absolute acos asin atan atan2 cos exp log maximum minimum piecewise power "
        "select sign sin sqrt tan",
        "graph.walk": "Formulas count_operations rewritten substitute switches symbols_of "
        "topological",
        "graph.node": "Expr ONE PI Pi Scalar ZERO as_expr collector_paused constant "
        "known_nodes symbol vanishes",
        "graph.ops": "OPS apply partial",
        "graph.pack": "Packed fingerprint pack unpack",
        "graph.row": "Op",
        "periodic": "is_periodic",
        "smooth": "arc_ratio cos_sqrt dexpinv_coefficient sinc_sqrt stumpff",
        "table": "Table",
        "reading.shared": "to_latex to_text",
        "reading.sympy": "from_sympy to_sympy",
        "unknown": "Function",
    },
)
