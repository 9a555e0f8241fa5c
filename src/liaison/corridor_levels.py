"""The equations of a mechanism at a level of detail: vectors, matrices in a basis, scalars.

Public names: vector_equations, LEVELS.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, overload

from liaison.equations.vector.scalar_equations import ScalarEquations
from liaison.equations.vector.vector_equations import VectorEquations
from liaison.equations.vector.vector_equations import vector_equations as of_tree
from liaison.formats.read import read

from .corridor_reading import with_named_gravity
from .errors import NamingError
from .model import Mechanism
from .tree import span

LEVELS = ("vector", "matrix", "scalar")


Given: TypeAlias = Mechanism | str | Path


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
    """
    if level not in LEVELS:
        raise NamingError.unknown("level of detail", level, LEVELS)
    mechanism = with_named_gravity(given if isinstance(given, Mechanism) else read(given))
    found = of_tree(span(mechanism, exact=True), bodies, point)
    for name in expand:
        found = found.expand(name)
    if level == "scalar":
        return found.components(basis)
    return found.matrices(basis) if level == "matrix" else found
