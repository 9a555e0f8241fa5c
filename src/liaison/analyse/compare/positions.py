"""Where a mechanism is assembled: in floats, as simple exact numbers near by, and along a path.

Nothing recognized is trusted: an exact position counts only where every closure holds modulo the
primes used. From there Newton's steps lift a random direction to a path q(s) on which the closures
hold modulo s^order.

Public names: Position, assembled_position, lifted_point, ORDER.

Source: docs/theory/formalisms.md (equality-3); JB94 §5.3 for dependent coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.equations import Equations
from liaison.errors import LiaisonError
from liaison.exact.recognize import float_of, simple_angle, simple_number
from liaison.exact.residues import Ordered, Residues
from liaison.exact.series import Lifted, PathDomain
from liaison.expr import Expr, as_expr, evaluate, substitute, symbols_of
from liaison.tree import Tree, assemble


@final
@dataclass(frozen=True, slots=True)
class Position:
    """A position by label, that satisfies the closures at an instant."""

    at: Mapping[str, float]
    exact: Mapping[str, Expr] | None = None  # None where a coordinate is no simple number
    t: float = 0.0


def assembled_position(tree: Tree) -> Position | None:
    """Where the mechanism starts; None where it cannot be assembled."""
    try:
        state = assemble(tree)
    except LiaisonError:
        return None
    labels = tree.position_labels()
    at = {label.name: float(x) for label, x in zip(labels, state.q, strict=True)}
    starts = {start.label: start.value for start in tree.mechanism.starts}
    exact = {label.name: _exact(at[label.name], label.unit, starts.get(label.name))
             for label in labels}  # fmt: skip
    known = {name: as_expr(x) for name, x in exact.items() if x is not None}
    return Position(at, known if len(known) == len(at) and state.t == 0 else None, state.t)


def _exact(x: float, unit: str, start: Any) -> Any:
    """What the author wrote, where assembly kept it; a simple number otherwise."""
    is_stated = start is not None and not _has_symbols(start)
    if is_stated and abs(float_of(start) - x) < 1e-9 * max(1.0, abs(x)):
        return start
    return simple_angle(x) if unit == "rad" else simple_number(x)


def _has_symbols(x: Any) -> bool:
    return isinstance(x, Expr) and bool(symbols_of([x]))


# Along a path -----------------------------------------------------------------------------------

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
