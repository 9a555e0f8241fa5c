"""Decision whether an expression is zero: by rules, and by its components as reference.

Public names: is_zero, is_equal, is_zero_by_components.
"""

from __future__ import annotations

from itertools import product as combinations

import numpy as np

from liaison.algebra.rules.reduce import reduces_to_zero
from liaison.exact.residues import residues
from liaison.expr import as_expr, evaluate

from .components import components, sign_of
from .node import Formal, topological
from .quaternions import to_components, to_mixed


def is_zero(x: Formal) -> bool:
    """The rules reduce x to zero; a quaternion, as its scalar and its vector.

    True is a proof. For vectors, their products and tildes False is one too; where matrices, unit
    vectors or quaternions take part, is_zero_by_components gives a second opinion.
    """
    if x.kind == "quaternion":
        parts = to_mixed(x)
        return reduces_to_zero(parts.scalar) and reduces_to_zero(parts.vector)
    return reduces_to_zero(x)


def is_equal(x: Formal, y: Formal) -> bool:
    """The rules reduce x − y to zero."""
    return is_zero(x - y)


def is_zero_by_components(x: Formal, *, tries: int = 2) -> bool:
    """Whether x is zero for all values of its symbols that have their properties.

    Every component is a rational function of scalars; it is evaluated at random points modulo a
    prime of 61 bits. A function that is not zero passes one try with probability below d / 2⁶⁰,
    d its degree: with two tries and d < 1000, below 10⁻³⁰. Functions such as sin are points of
    the circle, as `expr` has them.
    """
    formulas = to_components(x) if x.kind == "quaternion" else components(x)
    entries = [as_expr(f) for f in np.ravel(formulas)]
    signs = sorted({sign_of(n.data) for n in topological(x) if _is_improper(n)}, key=lambda s: s.h)
    for seed in range(tries):
        for choice in combinations((1, -1), repeat=len(signs)):
            values = dict(zip(signs, choice, strict=True))
            if any(evaluate(entries, values, residues(seed=seed))):
                return False
    return True


def _is_improper(node: Formal) -> bool:
    return node.op == "symbol" and node.kind == "matrix" and "orthogonal" in node.data.traits
