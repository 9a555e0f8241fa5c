"""Where a mechanism is assembled: in floats, and as simple exact numbers where they are near.

Nothing recognized is trusted: an exact position counts only where every closure holds modulo the
primes used.

Public names: Position, assembled_position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import LiaisonError
from liaison.exact.recognize import float_of, simple_angle, simple_number
from liaison.expr import Expr, as_expr, symbols_of
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
