"""The shape of a rewriting rule.

Public names: Rule, Found, Rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from .node import Expr

Found: TypeAlias = Expr | None
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
    apply: Callable[..., Found]
    example: Example


@final
class Rows(list[Rule]):
    """Rules in the order in which they are tried."""

    def rule(
        self, name: str, op: str, kinds: str, apply: Callable[..., Found], example: Example
    ) -> None:
        """Add a row; `kinds` are separated by blanks."""
        self.append(Rule(name, op, tuple(kinds.split()), apply, example))
