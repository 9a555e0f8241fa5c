"""Scalar formulas as an interned graph: build, differentiate, rewrite, evaluate, print.

x = symbol("x")
f = sin(x) * x**2
gradient(f, [x]), evaluate(f, {x: 0.3}), to_text(f)
"""

from liaison.lazy import offer

from . import rules as _rules  # they act on every formula that is built  # noqa: F401

__all__ = offer(
    __name__,
    {
        "bind": "bind expanded to_floats",
        "diff": "directional gradient jacobian time_derivative",
        "evaluate": "ARRAY Domain FLOAT FRACTION evaluate",
        "functions": "absolute acos asin atan atan2 cos exp log maximum minimum piecewise power "
        "select sign sin sqrt tan",
        "graph": "Formulas count_operations rewritten substitute switches symbols_of topological",
        "intervals": "INTERVAL Interval",
        "memory": "collector_paused known_nodes",
        "node": "Expr ONE PI Pi Scalar ZERO as_expr constant symbol vanishes",
        "ops": "OPS apply partial",
        "pack": "Packed fingerprint pack unpack",
        "residues": "DEFAULT_PRIME residues",
        "row": "Op",
        "smooth": "arc_ratio cos_sqrt dexpinv_coefficient sinc_sqrt stumpff",
        "table": "Table",
        "text": "to_latex to_text",
        "to_sympy": "from_sympy to_sympy",
        "unknown": "Function",
    },
)
