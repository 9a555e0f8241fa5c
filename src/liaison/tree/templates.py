"""Formulas of a relative pose (R, p), their gradient and their second-order part, once for all.

A row of a closure is a formula over these symbols; where it is needed, they are replaced by the
motion of one marker seen from the other.

Public names: R, P, OMEGA, V, FLOW, ORIGIN, WELDED, template, residual_template, derived,
second_order, rate_along, at.

Source: docs/theory/closures.md (closure-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from liaison.expr import ZERO, Expr, as_expr, directional, gradient, substitute, symbol
from liaison.model import JointType
from liaison.spatial.arrays import Array, array, cross, dot, zeros

R = array([[symbol(f"closure.R{i}{j}") for j in range(3)] for i in range(3)])
P = array([symbol(f"closure.p{i}") for i in range(3)])
OMEGA = array([symbol(f"closure.omega{i}") for i in range(3)])
V = array([symbol(f"closure.v{i}") for i in range(3)])
ORIGIN = tuple(P)
FLOW: dict[Expr, Expr] = {
    **{R[i, j]: as_expr(cross(OMEGA, R[:, j])[i]) for i in range(3) for j in range(3)},
    **dict(zip(P, V, strict=True)),
}
"""How R and p change: Ṙ = ω × R, ṗ."""
WELDED: dict[str, Expr] = {
    "wx": -R[1, 2],
    "wy": R[0, 2],
    "wz": R[1, 0],
    "vx": P[0],
    "vy": P[1],
    "vz": P[2],
}
"""What vanishes of the successor seen from the ghost, by the ghost's velocity that it ties."""


def template() -> tuple[Array, Array]:
    """The symbols (R, p) over which `relative_rows` takes its formulas."""
    return R, P


def residual_template(kind: JointType) -> tuple[Expr, ...]:
    """What must vanish of the relative pose, as formulas of the template's symbols."""
    return _residual(kind, tuple(map(type, kind.parameters())))


@lru_cache(maxsize=256)
def _residual(kind: JointType, numbers: tuple[type, ...]) -> tuple[Expr, ...]:
    # a pitch of 1/2 and one of 0.5 are equal, but only the former gives exact formulas
    return tuple(as_expr(x) for x in kind.residual(R, P) or ())


@lru_cache(maxsize=1024)
def derived(formula: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...], Expr]:
    """Moment n, force g and second-order part Q of a formula of (R, p), in F's axes."""
    partial = gradient(formula, [*R.flat, *P])
    by_R, by_p = array(partial[:9]).reshape(3, 3), partial[9:]
    turn = zeros(3)
    for j in range(3):
        turn = turn + cross(R[:, j], by_R[:, j])
    moment = tuple(as_expr(x) for x in turn)
    return moment, tuple(by_p), second_order(moment, tuple(by_p))


@lru_cache(maxsize=1024)
def second_order(turn: tuple[Expr, ...], slide: tuple[Expr, ...]) -> Expr:
    """How n · ω + g · ṗ changes where ω and ṗ do not."""
    return directional([rate_along(turn, slide)], FLOW)[0]


def rate_along(turn: Sequence[Expr], slide: Sequence[Expr]) -> Expr:
    """n · ω + g · ṗ."""
    return as_expr(dot(list(turn), list(OMEGA)) + dot(list(slide), list(V)))


def at(
    seen: Any,
    formula: Expr | None,
    turn: Sequence[Expr],
    slide: Sequence[Expr],
    quadratic: Expr,
) -> tuple[Any, Array, Array, Any]:
    """Value, moment, force and second-order part of a template at a relative motion."""
    values = dict(zip(R.flat, seen.R.flat, strict=True))
    for symbols, numbers in ((P, seen.p), (OMEGA, seen.omega), (V, seen.velocity)):
        values |= dict(zip(symbols, numbers, strict=True))
    values = {key: as_expr(value) for key, value in values.items()}
    values_there = substitute(
        [ZERO if formula is None else formula, *turn, *slide, quadratic], values
    )
    value = None if formula is None else values_there[0]
    return value, array(values_there[1:4]), array(values_there[4:7]), values_there[7]
