"""start_gaps: how far apart, or how far inside, contacts and limits are in a state.

Public names: start_gaps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from liaison.expr import Expr, as_expr, evaluate, symbol, symbols_of
from liaison.model import Collision, Contact, Mechanism
from liaison.numeric import State
from liaison.tree import as_float, on_symbols, span
from liaison.tree.contact.sides import side_blocks


def start_gaps(mechanism: Mechanism, state: State) -> dict[str, float]:
    """The least gap of every contact and limit of positions, by its name [m, rad].

    What depends on a parameter without a value is left out, what collides in pairs, and contacts
    whose places loops find, for which there is no formula.

    Args:
        mechanism: with its contacts.
        state: in the coordinates of its joints.
    """
    tree = span(replace(mechanism, contacts=tuple(filter(_has_formula, mechanism.contacts))))
    moves, qdot = on_symbols(tree)
    known: dict[Expr, float] = dict(zip([*moves.q, *moves.v], [*state.q, *state.v], strict=True))
    known |= {symbol("t"): float(state.t)}
    valued = [x for x in mechanism.parameters if x.value is not None]
    known |= {symbol(x.name): float(as_float(x.value)) for x in valued}
    gaps: dict[str, float] = {}
    for block in side_blocks(moves, qdot):
        gap = as_expr(block.rows[0].value) if block.kind == "gap" else None
        if gap is not None and all(name in known for name in symbols_of([gap])):
            value = float(evaluate([gap], known)[0])
            if math.isfinite(value):
                gaps[block.owner] = min(gaps.get(block.owner, math.inf), value)
    return gaps


def _has_formula(one: Any) -> bool:
    """Whether the gap of a contact is a formula."""
    return not (isinstance(one, Collision) or (isinstance(one, Contact) and one.cores is not None))
