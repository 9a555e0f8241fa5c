"""Operators of the user's own: a name, kinds of arguments and result, and properties.

    star = operator("star", ("matrix",), "matrix", "linear", "involutive")
    reduced(star(star(A) + 2 * B))                        A + 2 star(B)

What an operator is worth is not known, only what its properties and rules say.

    linear          in every argument; differentiated in time argument by argument
    commutative     f(x, y) = f(y, x)
    antisymmetric   f(x, y) = −f(y, x), so f(x, x) = 0
    involutive      f(f(x)) = x
    idempotent      f(f(x)) = f(x)

Source: PA, manipulation en ULYSSE (« définition des opérateurs par propriété »).

Public names: Operator, operator, PROPERTIES, KINDS.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from liaison.algebra.node import Formal, Kind, as_formal, make
from liaison.errors import ArgumentError, NamingError

KINDS = ("scalar", "vector", "matrix", "quaternion")
PROPERTIES = ("linear", "commutative", "antisymmetric", "involutive", "idempotent")


class Operator(NamedTuple):
    """An operator; two with the same entries are the same. Calling it makes an expression."""

    name: str
    takes: tuple[str, ...]
    gives: str
    properties: tuple[str, ...] = ()

    def __call__(self, *args: Formal) -> Formal:
        """The operator applied to arguments of its kinds."""
        formal = tuple(as_formal(x) for x in args)
        kinds = tuple(x.kind for x in formal)
        if kinds != self.takes:
            listed = " and ".join(f"the {x.kind} {x}" for x in formal) or "nothing"
            wanted = ", ".join(self.takes)
            raise TypeError(f"{self.name}({wanted}) is applied to {listed}")
        return make("operator", cast(Kind, self.gives), formal, self)


def operator(name: str, takes: tuple[str, ...], gives: str, *properties: str) -> Operator:
    """A new operator.

    Args:
        name: of letters, digits and underscores.
        takes: kinds of its arguments.
        gives: kind of its result.
        properties: of PROPERTIES.

    Raises:
        ArgumentError: a property that these kinds cannot have.
    """
    for kind in (*takes, gives):
        if kind not in KINDS:
            raise NamingError.unknown("kind", kind, KINDS)
    for x in properties:
        if x not in PROPERTIES:
            raise NamingError.unknown("property of operators", x, PROPERTIES)
    if not name.isidentifier() or not takes:
        raise ArgumentError(
            f"operator: {name!r} of {len(takes)} arguments; it needs a name of letters, digits and "
            "underscores, and at least one argument."
        )
    _check_properties(name, takes, gives, properties)
    return Operator(name, tuple(takes), gives, tuple(sorted({*properties})))


def _check_properties(
    name: str, takes: tuple[str, ...], gives: str, properties: tuple[str, ...]
) -> None:
    """Raises an error for properties that contradict each other or the kinds."""
    paired = {"commutative", "antisymmetric"} & {*properties}
    nested = {"involutive", "idempotent"} & {*properties}
    if paired and (len(takes) != 2 or takes[0] != takes[1]):
        raise ArgumentError(
            f"operator {name}: {min(paired)} is a property of two arguments of one kind, and it "
            f"takes {', '.join(takes)}."
        )
    if nested and takes != (gives,):
        raise ArgumentError(
            f"operator {name}: {min(nested)} is a property of one argument of the kind of the "
            f"result; it takes {', '.join(takes)} and gives a {gives}."
        )
    for both in (paired, nested):
        if len(both) == 2:
            raise ArgumentError(f"operator {name}: it is {' and '.join(sorted(both))}; give one.")
