"""Formal vectors, matrices, tildes and quaternions: build, differentiate, reduce, print.

a, b, c = vector("a"), vector("b"), vector("c")
reduced(cross(a, cross(b, c)))                      (a · c) b - (a · b) c
is_zero(tilde(cross(a, b)) - (b @ a.T - a @ b.T))   True
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "build": "axial cross determinant dot dyad matrix mixed rotation_matrix scalar "
        "tilde trace vector",
        "components": "components",
        "decide": "is_equal is_zero is_zero_by_components",
        "derivative": "derivative",
        "identities": "IDENTITIES Identity ulysse",
        "node": "Atom Formal IDENTITY as_formal inverse zero",
        "own.operators": "Operator operator",
        "own.rewriting": "RewriteRule RewriteStep anything rewriting rewritten",
        "own.sheets": "Sheet expression read_sheet",
        "quaternions": "Mixed conjugate norm_squared pure quaternion real rotation_of scalar_part "
        "to_components to_mixed vector_part",
        "rules.reduce": "RULES Step WORD_RULES expanded reduced simplified steps",
        "rules.rule": "Rule",
        "substitute": "replaced",
        "sympy": "to_sympy",
        "text": "to_latex to_mathml to_text",
    },
)
