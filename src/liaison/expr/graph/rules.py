"""Local rules applied while building, as rows; one test checks each against evaluation.

A row says which operation on which kinds of arguments it looks at (the name of the argument's
operation, "any", or "same" for two identical arguments), what it makes of them (None: nothing) and
an example on which it acts. Rules look at most two operations deep and never search, so building
stays cheap. What they keep:

- exact numbers fold with exact ones exactly, a float makes a float, never the other way round;
- signs move outwards: (-x) y = -(x y), and a constant factor is positive and comes first;
- division by an exact constant is multiplication by its inverse; 1/x stays, to be shared.

Public names: ROWS.
"""

from __future__ import annotations

from collections.abc import Callable

from .node import COMMUTATIVE, RULES, RULES_ONE, RULES_SAME, Expr
from .ops import OPS
from .row import Rule
from .rules_arithmetic import ARITHMETIC
from .rules_functions import FUNCTIONS

ROWS: tuple[Rule, ...] = (*ARITHMETIC, *FUNCTIONS)
_KINDS = ("const", "symbol", *OPS)


def _swapped(rule: Callable[..., Expr | None]) -> Callable[..., Expr | None]:
    return lambda a, b: rule(b, a)


def _install(rows: tuple[Rule, ...]) -> None:
    """Write the rows into the tables of node.py, in their order."""
    plain = {name: row.arity for name, row in OPS.items() if row.build is None}
    for op in (name for name, arity in plain.items() if arity == 2):
        RULES[op] = {a: dict.fromkeys(_KINDS, ()) for a in _KINDS}
    for op in (name for name, arity in plain.items() if arity == 1):
        RULES_ONE[op] = dict.fromkeys(_KINDS, ())
    for row in rows:
        if row.kinds == ("same",):
            RULES_SAME[row.op] = row.apply
        elif len(row.kinds) == 1:
            RULES_ONE[row.op][row.kinds[0]] += (row.apply,)
        else:
            _install_pair(row)


def _install_pair(row: Rule) -> None:
    table = RULES[row.op]
    first, second = (_KINDS if kind == "any" else (kind,) for kind in row.kinds)
    is_turned = row.op in COMMUTATIVE and row.kinds[0] != row.kinds[1]
    turned = _swapped(row.apply)
    for a in first:
        for b in second:
            if row.apply not in table[a][b]:
                table[a][b] += (row.apply,)
                if is_turned:
                    table[b][a] += (turned,)


_install(ROWS)
