"""Derive equations as vectors, as matrices, or as scalars.

Public names: vector_equations, LEVELS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from liaison.arguments import checked
from liaison.equations.vector.scalar_equations import ScalarEquations
from liaison.equations.vector.vector_equations import VectorEquations
from liaison.equations.vector.vector_equations import vector_equations as of_tree
from liaison.errors import NamingError
from liaison.numeric.progress import lasting
from liaison.tree.tree import span
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.gravity import with_named_gravity

LEVELS = ("vector", "matrix", "scalar")


@overload
def vector_equations(
    given: Given,
    level: Literal["vector", "matrix"] = "vector",
    *,
    bodies: Sequence[str] = (),
    point: str | None = None,
    basis: str = "ground",
    expand: Sequence[str] = (),
) -> VectorEquations: ...


@overload
def vector_equations(
    given: Given,
    level: Literal["scalar"],
    *,
    bodies: Sequence[str] = (),
    point: str | None = None,
    basis: str = "ground",
    expand: Sequence[str] = (),
) -> ScalarEquations: ...


@lasting("equations")
@checked
def vector_equations(
    given: Given,
    level: str = "vector",
    *,
    bodies: Sequence[str] = (),
    point: str | None = None,
    basis: str = "ground",
    expand: Sequence[str] = (),
) -> VectorEquations | ScalarEquations:
    """The equations of a mechanism as intrinsic vectors, or as columns in a basis.

    Every body's resultant and moment, what each joint transmits, and the equations of motion;
    or, of `bodies` taken together, the resultant and the moment at `point`. A free fall along
    one axis is called g.

    Args:
        given: the mechanism, the path of its text, or the text.
        level: "vector"; "matrix" for columns, rows and tildes in a basis; "scalar" for the
            components there, developed.
        bodies: of a sub-system, by name.
        point: of its moments: O0, O1, G1, …
        basis: for matrices and scalars, the ground or a body.
        expand: terms to go one level down, in this order: "gamma(G1)".

    Raises:
        NamingError: a level, body, point or term that is not there.
        DerivationError: a term that is made of no others.

    Example:
        >>> import liaison
        >>> print(liaison.vector_equations("examples/pendulum.lsd").text.splitlines()[0])
        pendulum: 0 ground, 1 bar (on A)
    """
    if level not in LEVELS:
        raise NamingError.unknown("level of detail", level, LEVELS)
    mechanism = with_named_gravity(mechanism_of(given))
    vectors = of_tree(span(mechanism, exact=True), bodies, point)
    for name in expand:
        vectors = vectors.expand(name)
    if level == "scalar":
        return vectors.components(basis)
    return vectors.matrices(basis) if level == "matrix" else vectors
