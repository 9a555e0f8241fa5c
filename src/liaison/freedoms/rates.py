"""Relations of speeds: which integrate to relations of positions, and which take none away.

A relation Σ a_k(q) q̇_k = b(t) with constant a integrates by itself. Others are decided together, on
a mechanism without loops and other relations: the vector fields that satisfy them (of positions,
and of time where b is not zero), and brackets of these, span at home the directions of all
positions that can be reached (Chow and Rashevsky). Where they span everything, nothing is taken
away; where the brackets of the fields are combinations of them everywhere, the relations integrate
(Frobenius), each to one equation. What neither decides is named, and the mobility is a pair of
bounds.

Public names: Rates, rates_of.

Source: MON02 §2 (Chow's theorem, Frobenius' theorem).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError
from liaison.exact.choices import points_for_choices, square_numbers
from liaison.exact.degrees import degree_bound
from liaison.exact.linear import pivots, primes_from, rank
from liaison.exact.residues import keeps_laws, residues
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    evaluate,
    gradient,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.model import OfCoordinates

Field: TypeAlias = list[Expr]
"""A vector field: an entry for each unknown."""

DEPTH = 5
"""Brackets of brackets that are computed."""

MOST = 24
"""Fields beyond which no more brackets are computed."""

POINTS = 2
"""Random points at which relations of speeds that integrate satisfy Frobenius' condition."""

SMOOTH = frozenset({"add", "sub", "neg", "mul", "div", "pow", "sin", "cos", "tan", "sqrt", "exp",
                    "symbol", "const"})  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Rates:
    """Relations of speeds as rows on coordinates, by label."""

    linear: tuple[dict[str, Expr], ...] = ()  # they integrate, with constant coefficients
    tangent: tuple[dict[str, Expr], ...] = ()  # they integrate; their gradients at home
    undecided: tuple[str, ...] = ()  # names of those that are not decided
    notes: tuple[str, ...] = ()


def rates_of(
    relations: Sequence[OfCoordinates],
    values: Mapping[Expr, Expr],
    at: Mapping[str, Any],
    *,
    is_alone: bool,
) -> Rates:
    """Decides relations of speeds.

    Args:
        relations: of speeds.
        values: of parameters.
        at: coordinates at home, by label.
        is_alone: there are no loops and no other relations.
    """
    linear, pending, undecided, notes = [], [], [], []
    for relation in relations:
        row = _coefficients(substitute([relation.vanishing()], dict(values))[0])
        if row is None:
            undecided.append(relation.name)
        elif any(symbols_of([c]) for c in _of_positions(row).values()):
            pending.append((relation.name, row))
        else:
            linear.append(_of_positions(row))
            notes.append(f"the relation '{relation.name}' of speeds integrates, and is counted")
    rows = [row for _, row in pending]
    names = [name for name, _ in pending]
    word = _decided(rows, at) if is_alone and not linear and not undecided else ""
    tangent = _at_home(rows, at) if word == "integrable" else []
    for name in names:
        if word == "integrable":
            notes.append(f"the relation '{name}' of speeds integrates (Frobenius: {_size(rows)}), "
                         "and is counted")  # fmt: skip
        elif word == "free":
            notes.append(
                f"the relation '{name}' of speeds takes no position away (its vector fields and "
                "their brackets span every direction), and is not counted; `check` counts free "
                "velocities"
            )
    undecided += [] if word else names
    notes += [f"the relation '{name}' holds speeds; it is not decided whether it integrates, and "
              "the mobility may be less" for name in undecided]  # fmt: skip
    return Rates(tuple(linear), tuple(tangent), tuple(undecided), tuple(notes))


def _coefficients(formula: Expr) -> dict[str, Expr] | None:
    """Factors of the rates by label, and that of dt as "t"; None where the rest depends on
    positions, or factors on time or rates."""
    rates = [x for x in symbols_of([formula]) if str(x.a).endswith("'")]
    if not rates:
        return None
    slopes = gradient(formula, rates)
    rest = substitute([formula], dict.fromkeys(rates, ZERO))[0]
    if any(str(x.a) != "t" for x in symbols_of([rest])):
        return None
    if any(str(x.a) == "t" or str(x.a).endswith("'") for x in symbols_of(slopes)):
        return None
    row = {str(x.a).removesuffix("'"): c for x, c in zip(rates, slopes, strict=True)}
    return row if rest is ZERO else row | {"t": rest}


def _size(rows: Sequence[Mapping[str, Expr]]) -> str:
    """Bounds the degree of what must vanish: minors of fields, of Cramer's rule, and brackets."""
    entries = [x for row in rows for x in row.values()]
    names = {name for row in rows for name in row} | {str(x.a) for x in symbols_of(entries)}
    degree = degree_bound(entries) * 2 * len(rows) * (len(names) - len(rows) + 1)
    return f"minors of degree at most {degree} vanish at {POINTS} random points"


def _of_positions(row: Mapping[str, Expr]) -> dict[str, Expr]:
    return {name: c for name, c in row.items() if name != "t"}


def _at_home(rows: Sequence[dict[str, Expr]], at: Mapping[str, Any]) -> list[dict[str, Expr]]:
    home = {symbol(name): as_expr(x) for name, x in at.items()}
    return [{name: substitute([c], home)[0] for name, c in _of_positions(row).items()}
            for row in rows]  # fmt: skip


def _decided(rows: Sequence[dict[str, Expr]], at: Mapping[str, Any]) -> str:
    """ "free", "integrable", or "" where neither is shown.

    Where speeds are imposed, Σ a q̇ + b(t) = 0, the fields are those of positions and time.
    """
    entries = [c for row in rows for c in row.values()]
    used = {str(x.a) for x in symbols_of(entries)} | {name for row in rows for name in row}
    smooth = all(node.op in SMOOTH for node in topological(entries))
    here = {**at, "t": 0}
    if not rows or len(rows) > 3 or not smooth or any(name not in here for name in used):
        return ""
    names = sorted(used)
    unknowns = [symbol(name) for name in names]
    A = [[row.get(name, ZERO) for name in names] for row in rows]
    home = {x: as_expr(here[name]) for x, name in zip(unknowns, names, strict=True)}
    try:
        return _spanned(A, unknowns, home)
    except (DerivationError, ValueError, ZeroDivisionError):
        return ""


def _spanned(A: list[Field], unknowns: list[Expr], home: Mapping[Expr, Expr]) -> str:
    p, at_home = _residues(A, home)
    rows, columns = pivots(at_home, p)
    if len(rows) < len(A):
        return ""
    fields = _fields(A, columns)
    if keeps_laws([x for row in A for x in row]) and _span_all(fields, unknowns, home):
        return "free"
    first = [_bracket(X, Y, unknowns) for i, X in enumerate(fields) for Y in fields[:i]]
    table = [*fields, *first]
    points = points_for_choices([x for row in table for x in row], POINTS)
    if points is None:
        return ""
    generic = (_residues(table, None, seed) for seed in range(points))
    return "integrable" if all(rank(M, p) == len(fields) for p, M in generic) else ""


def _span_all(fields: list[Field], unknowns: list[Expr], home: Mapping[Expr, Expr]) -> bool:
    """Vector fields and brackets of these span every direction at home."""
    every, last = list(fields), list(fields)
    for _ in range(DEPTH):
        last = [_bracket(X, Y, unknowns) for X in fields for Y in last if X is not Y]
        every += last
        p, M = _residues(every, home)
        if rank(M, p) == len(unknowns):
            return True
        if len(every) > MOST:
            break
    return False


def _residues(
    table: Sequence[Field], home: Mapping[Expr, Expr] | None, seed: int = 0
) -> tuple[int, list[list[int]]]:
    """A prime, and entries modulo it, at home or at a random point.

    Raises:
        DerivationError: a root of theirs has no residue.
    """
    flat = [x for row in table for x in row]
    if home is not None:
        flat = substitute(flat, dict(home))
    p = next(primes_from(0, square_numbers(flat)))
    values = [int(x) for x in evaluate(flat, domain=residues(p, seed))]
    width = len(table[0])
    return p, [values[i : i + width] for i in range(0, len(values), width)]


def _fields(A: list[Field], columns: list[int]) -> list[Field]:
    """Vector fields in the kernel of A, without division: Cramer's rule on the pivot columns."""
    fields = []
    for free in (j for j in range(len(A[0])) if j not in columns):
        field = [ZERO] * len(A[0])
        field[free] = _determinant([[row[j] for j in columns] for row in A])
        for k, column in enumerate(columns):
            swapped = [[row[free] if i == k else row[j] for i, j in enumerate(columns)]
                       for row in A]  # fmt: skip
            field[column] = -_determinant(swapped)
        fields.append(field)
    return fields


def _determinant(M: list[Field]) -> Expr:
    if len(M) == 1:
        return M[0][0]
    total = ZERO
    for j, x in enumerate(M[0]):
        minor = [[c for k, c in enumerate(row) if k != j] for row in M[1:]]
        total = total + x * _determinant(minor) * (-1) ** j
    return total


def _bracket(X: Field, Y: Field, unknowns: list[Expr]) -> Field:
    """X·∇Y − Y·∇X."""
    entries = []
    for x, y in zip(X, Y, strict=True):
        total = ZERO
        slopes = zip(gradient(y, unknowns), gradient(x, unknowns), X, Y, strict=True)
        for dy, dx, a, b in slopes:
            total = total + a * dy - b * dx
        entries.append(total)
    return entries
