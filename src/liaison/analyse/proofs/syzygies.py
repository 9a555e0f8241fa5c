"""Ψ of a mechanism as polynomials: all velocities its closures allow, on the whole variety at once.

Sines and cosines of the coordinates become unknowns s, c with s² + c² = 1; then the closures are
relations, their rows Δ are matrices of polynomials, and the syzygies of Δ on the variety generate
every ψ with Δ ψ = 0. Other than Ψ by elimination (`reduce`), which divides by pivots, they hold at
every position; there may be more of them than the mechanism has degrees of freedom.

Public names: PolynomialPsi, polynomial_psi.

Source: PA "obtention d'un paramétrage"; docs/theory/mobility.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from liaison.equations import Equations, lagrange
from liaison.errors import ArgumentError, DerivationError
from liaison.expr import ONE, ZERO, Expr, as_expr, constant, rewritten, substitute, symbol
from liaison.expr import cos as cosine
from liaison.expr import sin as sine
from liaison.freedoms.engines.ideal import Limits, syzygies
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.tree import span
from liaison.units import Label

TURNED = {"sin": sine, "cos": cosine}


@final
@dataclass(frozen=True, slots=True, repr=False)
class PolynomialPsi(Shown):
    """Columns ψ with Δ ψ = 0 wherever the closures hold.

    Attributes:
        coordinates: positions, symbols that the formulas refer to.
        velocities: a label for each entry of a column.
        columns: formulas of the coordinates; None: not computed.
        why: the reason, where they are not computed.

    Example:
        >>> import liaison
        >>> psi = liaison.polynomial_psi(liaison.read("examples/four_bar.lsd"))
        >>> psi.columns is None
        False
    """

    coordinates: tuple[Expr, ...]
    velocities: tuple[Label, ...]
    columns: tuple[tuple[Expr, ...], ...] | None
    why: str = ""


def polynomial_psi(mechanism: Mechanism, *, limits: Limits | None = None) -> PolynomialPsi:
    """Ψ by syzygies, within bounds.

    Args:
        mechanism: with closures that are polynomials of its coordinates and of their sines and
            cosines, numbers rational; parameters at their values. Coordinates of joints that are
            cut are not among the unknowns, whoever refers to them.
        limits: of the computation; its own if None.

    Raises:
        DerivationError: closures that are no such polynomials, or none at all.
        ArgumentError: something else than a mechanism.

    Example:
        >>> import liaison
        >>> psi = liaison.polynomial_psi(liaison.read("examples/four_bar.lsd"))
        >>> len(psi.velocities)
        3
    """
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(
            f"polynomial_psi takes a mechanism, not {type(mechanism).__name__} {mechanism!r}.",
            hint="Read a text first: polynomial_psi(liaison.read(path)).",
        )
    bare = replace(mechanism, forces=(), starts=(), outputs=(), events=(), contacts=())
    equations = lagrange(span(bare, exact=True))
    phi, rows = _with_values(mechanism, equations)
    if not phi or len(phi) < len(rows):
        raise DerivationError(
            f"{mechanism.name!r} has no loop, or closures of velocities: there is no variety.",
            hint="liaison.reduce treats these.",
        )
    turns: dict[Expr, Expr] = {}
    width = len(equations.symbols.v)
    flat = _named([*phi, *(x for row in rows for x in row)], turns)
    relations = [*flat[: len(phi)], *_circles(turns)]
    matrix = [flat[k : k + width] for k in range(len(phi), len(flat), width)]
    used = [x for x in equations.symbols.q if _appears(x, flat)]
    generators = syzygies(matrix, relations, [*turns.values(), *used], limits=limits)
    back = {name: node for node, name in turns.items()}
    labels = equations.labels["v"]
    if generators is None:
        why = "the syzygies pass the limits of polynomials, terms or bits; give wider `limits`"
        return PolynomialPsi(equations.symbols.q, labels, None, why)
    columns = tuple(tuple(substitute(column, back)) for column in generators)
    return PolynomialPsi(equations.symbols.q, labels, columns)


def _with_values(mechanism: Mechanism, equations: Equations) -> tuple[list[Expr], list[list[Expr]]]:
    """Φ and the rows of G with parameters at their values, at t = 0."""
    values: dict[Expr, Expr] = {equations.symbols.t: ZERO}
    for parameter in mechanism.parameters:
        if parameter.value is not None:
            values[symbol(parameter.name)] = as_expr(parameter.value)
    closures, width = equations.closures, len(equations.symbols.v)
    count = len(closures.gamma)
    flat = [closures.G.get((i, j), ZERO) for i in range(count) for j in range(width)]
    formulas = substitute([*closures.phi, *flat], values)
    phi, rest = formulas[: len(closures.phi)], formulas[len(closures.phi) :]
    return phi, [rest[k * width : (k + 1) * width] for k in range(count)]


def _named(formulas: list[Expr], turns: dict[Expr, Expr]) -> list[Expr]:
    """Every sine and cosine by a name, its partner too; an error for non-polynomials."""

    def name(node: Expr) -> Expr | None:
        if node.op not in TURNED:
            return None
        angle = node.args[0]
        if angle.op != "symbol":
            raise DerivationError(
                f"a closure contains {node.op}({angle}), which is no coordinate alone."
            )
        for op, function in TURNED.items():
            turns.setdefault(as_expr(function(angle)), symbol(f"{op} of {angle.name}"))
        return turns[node]

    return rewritten(formulas, name)


def _circles(turns: dict[Expr, Expr]) -> list[Expr]:
    """s² + c² = 1 of every angle."""
    angles = dict.fromkeys(node.args[0] for node in turns)
    pairs = [(turns[as_expr(sine(x))], turns[as_expr(cosine(x))]) for x in angles]
    return [as_expr(s * s + c * c - ONE) for s, c in pairs]


def _appears(x: Expr, formulas: list[Expr]) -> bool:
    return any(a is not b for a, b in zip(formulas, substitute(formulas, {x: constant(7)})))
