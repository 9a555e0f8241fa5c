"""Relations between coordinates as rows beside the loops: gears, imposed motions, any Φ(q, t) = 0.

A relation that is linear in the coordinates is a row to all orders: Σ c g(τ) = 0, g = atan for
angles. Another one is a formula of τ, to all orders too, where it is made of coordinates and of
sines and cosines of their whole sums. Else it is known to first order only, by its gradient at
home; that decides the mobility where all rows are independent, and only there.

Public names: Relations, relations_of, Terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.expr import ZERO, Expr, as_expr, gradient, substitute, symbol, symbols_of
from liaison.freedoms.local.curved import in_tau
from liaison.model import Constraint, Coupling, Holonomic, Mechanism, Nonholonomic, PrescribedMotion

from .motions import Motion

Terms: TypeAlias = tuple[tuple[int, Expr, bool], ...]
"""(column, coefficient, is an angle) for each term of a row."""


@final
@dataclass(frozen=True, slots=True)
class Relations:
    """What the constraints of a mechanism say of its joint freedoms."""

    linear: tuple[Terms, ...] = ()  # to all orders
    tangent: tuple[Terms, ...] = ()  # to first order
    curved: tuple[Expr, ...] = ()  # the tangent ones as formulas of τ; empty if one of them is none
    uncounted: tuple[str, ...] = ()  # names of relations of positions that are left out
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Terms, ...]:
        """All rows, those to all orders first."""
        return self.linear + self.tangent


def relations_of(
    mechanism: Mechanism, columns: Sequence[Motion], at: Mapping[str, Any]
) -> Relations:
    """Rows of a mechanism's constraints.

    Args:
        mechanism: with its constraints and the values of its parameters.
        columns: its joint freedoms, in order.
        at: the coordinates at home, by label, as far as they are known.
    """
    place = {motion.coordinate: k for k, motion in enumerate(columns) if motion.coordinate}
    values = {symbol(x.name): as_expr(x.value) for x in mechanism.parameters if x.value is not None}
    rows: dict[bool, list[Terms]] = {True: [], False: []}
    uncounted, notes = [], []
    curved: list[Expr | None] = []
    for relation in mechanism.constraints:
        if isinstance(relation, Nonholonomic):
            notes.append(f"the relation '{relation.name}' holds speeds and is not counted")
            continue
        formula = _formula(relation)
        terms, is_linear = None, False
        if formula is not None:
            terms, is_linear = _terms(substitute([formula], values)[0], place, columns, at)
        if terms is None:
            uncounted.append(relation.name)
            notes.append(f"the relation '{relation.name}' is not counted: the mobility may be less")
        else:
            rows[is_linear].append(terms)
            if not is_linear and formula is not None:
                curved.append(_in_tau(substitute([formula], values)[0], place, columns, at))
    told = tuple(f for f in curved if f is not None)
    kept = told if len(told) == len(curved) else ()
    return Relations(tuple(rows[True]), tuple(rows[False]), kept, tuple(uncounted), tuple(notes))


def _in_tau(
    formula: Expr, place: Mapping[str, int], columns: Sequence[Motion], at: Mapping[str, Any]
) -> Expr | None:
    """The relation of an instant as a formula of τ."""
    return in_tau(substitute([formula], {symbol("t"): ZERO})[0], place, columns, at)


def _formula(relation: Constraint) -> Expr | None:
    """What vanishes, up to what depends on time only; None for kinds that are not known here."""
    match relation:
        case PrescribedMotion(coordinate=label):
            return symbol(label)
        case Coupling(coordinate=label, ratio=ratio, other=other):
            return as_expr(symbol(label) - ratio * symbol(other))
        case Holonomic(formula=formula):
            return as_expr(formula)
    return None


def _terms(
    formula: Expr, place: Mapping[str, int], columns: Sequence[Motion], at: Mapping[str, Any]
) -> tuple[Terms | None, bool]:
    """Terms of a formula's row, and whether they hold to all orders; None if they are not known."""
    unknowns = [x for x in symbols_of([formula]) if str(x.a) != "t"]
    if any(str(x.a) not in place for x in unknowns):
        return None, False
    slopes = gradient(formula, unknowns) if unknowns else []
    is_linear = not any(symbols_of([slope]) for slope in slopes)
    known = {x: as_expr(at[str(x.a)]) for x in unknowns if str(x.a) in at}
    known[symbol("t")] = ZERO
    slopes = substitute(slopes, known) if slopes else []
    if any(symbols_of([slope]) for slope in slopes):
        return None, False
    columns_of = [place[str(x.a)] for x in unknowns]
    terms = list(zip(columns_of, slopes, strict=True))
    # a single angle that is held is τ = 0, without arc tangent
    turns = len(terms) > 1
    return tuple((k, c, turns and columns[k].is_angle) for k, c in terms), is_linear
