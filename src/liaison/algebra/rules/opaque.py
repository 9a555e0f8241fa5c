"""Parts of an expression that no rule looks into: names that remember what they stand for.

The inverse of a sum, and an operator of the user's own on its arguments, are letters, vectors and
scalars like symbols; their names are ordered, and lead back to the expression.

Public names: Opaque, opaque_polynomial, symbol_of.
"""

from __future__ import annotations

from typing import final

from liaison.algebra.node import Atom, Formal, Kind, make

from .terms import LEFT, RIGHT, Letter, Polynomial


@final
class Opaque(str):
    """The name of an expression as a symbol: equal expressions have equal names."""

    node: Formal

    @classmethod
    def of(cls, node: Formal) -> Opaque:
        """The name of an expression; it is the same in every process."""
        name = cls(f"{node.op}#{node.h:x}")
        name.node = node
        return name


def opaque_polynomial(node: Formal) -> Polynomial:
    """An expression as one symbol of its kind."""
    atom = Atom(Opaque.of(node))
    if node.kind == "scalar":
        return {(("scalar", atom),): 1}
    if node.kind == "quaternion":
        return {(("quat", (Letter(*atom),)),): 1}
    if node.kind == "matrix":
        return {(("dot", LEFT, (Letter(*atom),), RIGHT),): 1}
    ends = (LEFT, (), atom) if node.kind == "vector" else (atom, (), RIGHT)
    return {(("dot", *ends),): 1}


def symbol_of(kind: Kind, atom: Atom) -> Formal:
    """The symbol of a name, or the expression that an opaque name stands for."""
    if type(atom.name) is Opaque:
        return atom.name.node
    return make("symbol", kind, (), atom)
