"""Unilateral constraints as formulas of named forces: all modes at once, or one of them.

Of every row k the force is called f_k, of relations of rates μ_k = −f_k ≤ 0, and the slip u_k:

    M v̇ + h = τ + Gᵀ λ + Dᵀ f                                                      (modes-1)
    closed, sticks:  D v̇ = −bias;    open:  f = 0;    slips:  f = −μ f_n u/|u| − c u

Public names: MODES, Named, named_rows, chosen_modes, efforts_in, resting_rows, friction_of,
size_of.

Source: docs/theory/contacts.md (contact-2); the law of slipping as in contacts/events/modal.py
(modal-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from liaison.errors import DerivationError, NamingError
from liaison.expr import ZERO, Expr, absolute, as_expr, exp, sign, sqrt, symbol, vanishes

from .equations import COEFFICIENTS, Equations, Side
from .letters import free_letter, names_in_use

MODES = {"gap": ("open", "closed"), "rate": ("open", "closed"), "friction": ("sticks", "slips")}
"""Modes of each kind of block, by their words."""


@final
@dataclass(frozen=True, slots=True)
class Named:
    """Rows by the names they have on a page.

    Attributes:
        force: of every row, as it enters (modes-1); 0 of rows that nothing moves.
        effort: its symbol: f_k, or μ_k of a relation of rates.
        slip: u_k.
        gap: d_k of every block; 0 of those without.
    """

    force: tuple[Expr, ...]
    effort: tuple[Expr, ...]
    slip: tuple[Expr, ...]
    gap: tuple[Expr, ...]


def named_rows(equations: Equations) -> Named:
    """Names f1, u1, d1, mu1 for rows, with another letter where the mechanism has such names."""
    sides = equations.sides
    kinds = [side.kind for side in sides.blocks for _ in range(side.rows)]
    in_use = names_in_use(equations.symbols)
    f, mu, u, g = (free_letter(in_use, x) for x in ("f R", "mu nu", "u s", "d g"))
    unknowns = [symbol(f"{mu if x == 'rate' else f}{k + 1}") for k, x in enumerate(kinds)]
    moving = {k for k, _ in sides.D} | {k for k, x in enumerate(sides.rate) if not vanishes(x)}
    force = [ZERO if k not in moving else -x if kinds[k] == "rate" else x
             for k, x in enumerate(unknowns)]  # fmt: skip
    return Named(
        tuple(force),
        tuple(unknowns),
        tuple(symbol(f"{u}{k + 1}") for k in range(len(kinds))),
        tuple(symbol(f"{g}{x.first + 1}") if x.kind == "gap" else ZERO for x in sides.blocks),
    )


def chosen_modes(equations: Equations, modes: Mapping[str, str]) -> list[str]:
    """The mode of every block; of those not named open, or sticking where the load is closed.

    Where the friction of a contact is named, the contact is closed unless it is named open.

    Raises:
        NamingError: no block has that name, or the block has no such mode.
        DerivationError: friction of a contact that is open.
    """
    blocks = equations.sides.blocks
    known = [side.name for side in blocks]
    for name in modes:
        if name not in known:
            raise NamingError.unknown("contact, unilateral relation or friction", name, known)
    pressed = {blocks[x.load].name for x in blocks if x.load >= 0 and x.name in modes}
    chosen: list[str] = []
    for side in blocks:
        unsaid = "closed" if side.name in pressed else MODES[side.kind][0]
        word = modes.get(side.name, unsaid)
        if word not in MODES[side.kind]:
            raise NamingError.unknown(f"mode of {side.name!r}", word, MODES[side.kind])
        if side.load >= 0 and chosen[side.load] == "open":
            if side.name in modes:
                raise DerivationError(
                    f"{side.name!r} {word} only where {blocks[side.load].name!r} is closed.",
                    hint=f'Give "{blocks[side.load].name}=closed", or leave it out.',
                )
            word = "open"
        chosen.append(word)
    return chosen


def efforts_in(equations: Equations, named: Named, words: Sequence[str] | None) -> list[Expr]:
    """f of every row: its symbol in any mode, or its formula in one mode."""
    if words is None:
        return list(named.force)
    efforts = [ZERO] * len(named.force)
    for side, word in zip(equations.sides.blocks, words, strict=True):
        rows = range(side.first, side.first + side.rows)
        if word in ("closed", "sticks"):
            for k in rows:
                efforts[k] = named.force[k]
        elif word == "slips":
            for k, x in zip(rows, friction_of(equations, side, named), strict=True):
                efforts[k] = x
    return efforts


def resting_rows(equations: Equations, words: Sequence[str]) -> list[int]:
    """Rows that do not accelerate in a mode, but those that nothing moves."""
    moving = {k for k, _ in equations.sides.D}
    return [
        k
        for side, word in zip(equations.sides.blocks, words, strict=True)
        if word in ("closed", "sticks")
        for k in range(side.first, side.first + side.rows)
        if k in moving
    ]


def size_of(named: Named, side: Side, parts: Sequence[Expr]) -> Expr:
    """√(x² + y²) of what moves of a block, |x| of one row."""
    rows = range(side.first, side.first + side.rows)
    nonzero = [x for k, x in zip(rows, parts, strict=True) if not vanishes(named.force[k])]
    if len(nonzero) == 1:
        return absolute(nonzero[0])
    return sqrt(as_expr(sum((x * x for x in nonzero), ZERO)))


def friction_of(
    equations: Equations, side: Side, named: Named, *, viscous: bool = True
) -> list[Expr]:
    """f of every row while the block slips, of its load and its slips; the dry part alone if so."""
    coefficients = dict(zip(COEFFICIENTS, side.coefficients, strict=True))
    rows = range(side.first, side.first + side.rows)
    load = load_of(equations, side, named)
    slips = [named.slip[k] for k in rows]
    mu = [coefficients["friction"] if k == 0 else coefficients["across"] for k in range(side.rows)]
    moving = [not vanishes(named.force[k]) for k in rows]
    alike = all(x is mu[0] for x in mu)
    weighed = [u if alike else as_expr(m * u) for m, u in zip(mu, slips, strict=True)]
    size = size_of(named, side, weighed)
    efforts = []
    for m, u, is_moving in zip(mu, slips, moving, strict=True):
        way = u / size if sum(moving) > 1 else sign(u)
        if side.law == "regularized":
            way = u / sqrt(as_expr(sum((x * x for x, y in zip(slips, moving) if y), ZERO))
                           + coefficients["speed"] * coefficients["speed"])  # fmt: skip
        dry = (
            m
            * _factor(side, coefficients, size_of(named, side, slips))
            * (way if alike else m * way)
        )
        total = -(dry * load) - (coefficients["viscous"] * u if viscous else ZERO)
        efforts.append(as_expr(total) if is_moving else ZERO)
    return efforts


def load_of(equations: Equations, side: Side, named: Named) -> Expr:
    """What presses: the force of the load, that of a joint, or 1 where the bound is its own."""
    if side.load >= 0:
        return named.effort[equations.sides.blocks[side.load].first]
    return symbol(f"R_{side.joint}") if side.joint else as_expr(1)


def _factor(side: Side, coefficients: Mapping[str, Expr], size: Expr) -> Expr:
    """1 + (μ₀/μ − 1) exp(−(u/s)²) of Stribeck's law; 1 of the others."""
    if side.law != "stribeck":
        return as_expr(1)
    ratio = size / coefficients["speed"]
    return as_expr(
        1 + (coefficients["static"] / coefficients["friction"] - 1) * exp(-(ratio * ratio))
    )
