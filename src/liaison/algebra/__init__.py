"""Formal vectors, matrices, tildes and quaternions: build, differentiate, reduce, print.

a, b, c = vector("a"), vector("b"), vector("c")
reduced(cross(a, cross(b, c)))                      (a · c) b - (a · b) c
is_zero(tilde(cross(a, b)) - (b @ a.T - a @ b.T))   True
"""

from liaison.algebra.rules.reduce import (
    RULES,
    WORD_RULES,
    Step,
    expanded,
    reduced,
    simplified,
    steps,
)
from liaison.algebra.rules.rule import Rule

from .build import (
    axial,
    cross,
    determinant,
    dot,
    dyad,
    inverse,
    matrix,
    mixed,
    rotation_matrix,
    scalar,
    tilde,
    trace,
    vector,
)
from .components import components
from .decide import is_equal, is_zero, is_zero_by_components
from .derivative import derivative
from .identities import IDENTITIES, Identity, ulysse
from .node import IDENTITY, Atom, Formal, as_formal, zero
from .quaternions import (
    Mixed,
    conjugate,
    norm_squared,
    pure,
    quaternion,
    real,
    rotation_of,
    scalar_part,
    to_components,
    to_mixed,
    vector_part,
)
from .substitute import replaced
from .text import to_latex, to_text

__all__ = [
    "IDENTITIES",
    "IDENTITY",
    "RULES",
    "WORD_RULES",
    "Atom",
    "Formal",
    "Identity",
    "Mixed",
    "Rule",
    "Step",
    "as_formal",
    "axial",
    "components",
    "conjugate",
    "cross",
    "derivative",
    "determinant",
    "dot",
    "dyad",
    "expanded",
    "inverse",
    "is_equal",
    "is_zero",
    "is_zero_by_components",
    "matrix",
    "mixed",
    "norm_squared",
    "pure",
    "quaternion",
    "real",
    "reduced",
    "replaced",
    "rotation_matrix",
    "rotation_of",
    "scalar",
    "scalar_part",
    "simplified",
    "steps",
    "tilde",
    "to_components",
    "to_latex",
    "to_mixed",
    "to_text",
    "trace",
    "ulysse",
    "vector",
    "vector_part",
    "zero",
]
