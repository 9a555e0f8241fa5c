"""Expressions drawn at random: of any kind, of vectors alone or with matrices too."""

from hypothesis import strategies as st

from liaison.algebra import (
    IDENTITY,
    as_formal,
    cross,
    dot,
    matrix,
    mixed,
    rotation_matrix,
    scalar,
    tilde,
    trace,
    vector,
)

VECTORS = tuple(map(vector, "abcde"))
UNIT = vector("u", unit=True)
SCALARS = (scalar("s"), as_formal(2), as_formal(-1))
MATRICES = (
    matrix("A"),
    matrix("S", symmetric=True),
    matrix("W", antisymmetric=True),
    matrix("O", orthogonal=True),
    rotation_matrix("R"),
    rotation_matrix("Q"),
)


@st.composite
def expressions(draw, kind=None, depth=3, with_matrices=False):
    """An expression of a kind, at most `depth` operations deep."""
    kind = kind or draw(st.sampled_from(("scalar", "vector", "matrix")))
    below = lambda other: draw(expressions(other, depth - 1, with_matrices))  # noqa: E731
    if depth == 0:
        return draw(_leaves(kind, with_matrices))
    return draw(st.sampled_from(_MAKERS[kind]))(below)


def _leaves(kind, with_matrices):
    if kind == "scalar":
        return st.sampled_from(SCALARS)
    if kind == "vector":
        return st.sampled_from((*VECTORS, UNIT) if with_matrices else VECTORS)
    if with_matrices:
        return st.sampled_from((*MATRICES, *(m.T for m in MATRICES), IDENTITY))
    return st.sampled_from((IDENTITY, *map(tilde, VECTORS)))


_MAKERS = {
    "scalar": (
        lambda of: dot(of("vector"), of("vector")),
        lambda of: mixed(of("vector"), of("vector"), of("vector")),
        lambda of: of("vector").T @ of("matrix") @ of("vector"),
        lambda of: trace(of("matrix")),
        lambda of: of("scalar") + of("scalar"),
    ),
    "vector": (
        lambda of: cross(of("vector"), of("vector")),
        lambda of: of("matrix") @ of("vector"),
        lambda of: of("scalar") * of("vector"),
        lambda of: of("vector") - of("vector"),
    ),
    "matrix": (
        lambda of: tilde(of("vector")),
        lambda of: of("matrix") @ of("matrix"),
        lambda of: of("matrix").T,
        lambda of: of("vector") @ of("vector").T,
        lambda of: of("matrix") + of("scalar") * of("matrix"),
    ),
}
