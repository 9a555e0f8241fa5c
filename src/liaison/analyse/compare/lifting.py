"""Positions near an exact one: power series over residues that satisfy the closures to any order.

From a position where every closure holds modulo p, Newton's steps lift a random direction to a path
q(s) on which they hold modulo s^order.

Public names: lifted_point.

Source: docs/theory/formalisms.md (equality-3); JB94 §5.3 for dependent coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.equations import Equations
from liaison.exact.residues import Ordered, Residues
from liaison.exact.series import Lifted, PathDomain
from liaison.expr import Expr, evaluate, substitute

ORDER = 8
"""Terms of the series that must agree."""


def lifted_point(
    equations: Equations, residues: Residues, home: Mapping[Expr, Expr], firm: Mapping[Expr, int]
) -> tuple[Lifted, dict[Expr, Any]] | None:
    """A path from an exact position along which every closure of positions holds.

    Args:
        equations: of the tree.
        residues: modulo which prime, and what is drawn.
        home: an exact value for each position, and for t.
        firm: a residue for each input and parameter.

    Returns:
        The arithmetic, and values of t, q, inputs and parameters; None where the position is not
        exact or not regular.
    """
    arithmetic = Lifted(PathDomain(residues, ORDER, home, firm), residues.seed)
    symbols, closures = equations.symbols, equations.closures
    begin = evaluate(substitute(list(home), dict(home)), dict(firm), residues)
    base = {x: arithmetic.domain.from_value(int(b)) for x, b in zip(home, begin, strict=True)}
    base |= {x: arithmetic.domain.from_value(value) for x, value in firm.items()}
    base[symbols.t] = base[symbols.t] + arithmetic.drawn(1)
    rows = [[0] * len(symbols.v) for _ in closures.phi]
    numbers = arithmetic.numbers(Ordered(list(closures.G.values())), base)
    for (k, j), x in zip(closures.G, numbers, strict=True):
        if k < len(rows):
            rows[k][j] = x.first

    retract, phi = Ordered(equations.kinematics.retract), Ordered(closures.phi)

    def moved(xi: list[Any]) -> dict[Expr, Any]:
        at = base | dict(zip(symbols.xi, xi, strict=True))
        q = arithmetic.numbers(retract, at)
        return base | dict(zip(symbols.q, q, strict=True))

    xi = arithmetic.corrected(
        [arithmetic.drawn(1) for _ in symbols.v],
        rows,
        lambda xi: arithmetic.numbers(phi, moved(xi)),
    )
    return None if xi is None else (arithmetic, moved(xi))
