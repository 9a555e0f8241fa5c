"""The shape of a row of the table of operations, and of a rewriting rule.

Public names: Op, Rule, Rewritten, Rows; how tightly a text binds: SUM, SIGNED, CROSS, PRODUCT,
SIGN, POWER, ATOM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from .node import Expr

SUM, SIGNED, CROSS, PRODUCT, SIGN, POWER, ATOM = 1, 2, 3, 4, 5, 6, 9
"""How tightly a text binds, least first: a sum; a product of vectors with a sign, −a b; a product
of two vectors, a × b; a product or quotient; a sign that belongs to its factor; a power; a name or
a function call."""

Rewritten: TypeAlias = Expr | None
Example: TypeAlias = Callable[[Expr, Expr, Expr], tuple[Expr, ...]]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """One row: on `op` of arguments of these kinds, `apply` gives a formula or None.

    `example(x, y, z)` gives arguments, made of any three formulas, on which the rule acts. Rules
    of a commutative operation are tried with the arguments in both orders.
    """

    name: str
    op: str
    kinds: tuple[str, ...]
    apply: Callable[..., Rewritten]
    example: Example


@final
class Rows(list[Rule]):
    """Rules in the order in which they are tried."""

    def rule(
        self, name: str, op: str, kinds: str, apply: Callable[..., Rewritten], example: Example
    ) -> None:
        """Add a row; `kinds` are separated by blanks."""
        self.append(Rule(name, op, tuple(kinds.split()), apply, example))


Partial = Callable[..., Expr]


@final
@dataclass(frozen=True, slots=True)
class Op:
    """A row: one operation.

    Attributes:
        arity: number of arguments; -1 where it varies.
        value: on floats (IEEE 754, never raises); rows with data take the data first.
        array: on NumPy arrays, broadcasting.
        partials: derivative in each argument, as functions of the arguments (data first).
        c: C99 expression with {} for each argument; empty where `expand` or data is needed.
        latex, text: the same for reading.
        rank: how tightly it binds when printed.
        sympy: the function of SymPy with these arguments, by its name; "" where there is none.
        build: makes the node of rows with data, folding what is known: build(data, *args).
        expand: the same as a formula of other rows, None for plain rows: expand(data, *args).
        token: content of the data as text, for hashes; what stands before "#" is printed.
    """

    arity: int
    value: Callable[..., Any]
    array: Callable[..., Any]
    partials: tuple[Partial, ...]
    c: str
    latex: str
    text: str
    rank: int = ATOM
    sympy: str = ""
    build: Callable[..., Expr] | None = None
    expand: Callable[..., Expr] | None = None
    token: Callable[[Any], str] = str
