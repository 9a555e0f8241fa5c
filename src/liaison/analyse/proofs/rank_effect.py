"""What follows where active rows of rates are dependent: a jump, nothing, or nothing decided.

No acceleration changes Σ c_k d/dt(row k) = v · Q v where Σ c_k row k = 0. If c pushes all
unilateral rows to one side, the form must not be positive, and the relation itself says what the
velocity is (see `numeric.degenerate`).

Public names: Loss, losses_at, reduced.

Source: docs/theory/unilateral.md (degenerate-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import ZERO, Expr, as_expr, evaluate
from liaison.numeric.degenerate import degenerate_rule, quadratic_form

from .rate_rows import RateRows

Floats = NDArray[np.float64]

DEPENDENT = 1e-9
"""Least singular value at which rows count as dependent."""

NEAR = 1e-3
"""How far forms are looked at where they vanish with the row [m, rad]."""


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """A position where rows that can be active depend on each other.

    Attributes:
        rows: names of the rows whose combination vanishes.
        position: coordinates (and time) by label.
        is_exact: whether they depend there exactly, by proof; otherwise up to rounding.
        size: least singular value of the rows there.
        effect: "jump", "free" or "undecided", as `numeric.degenerate_rule` says.
        form: Q of the rate of the combination, over the velocities.
        held: rows over the velocities that are zero from there on.
        after: the same with the rows that were active, each for one velocity as far as they go.
    """

    rows: tuple[str, ...]
    position: Mapping[str, Any]
    is_exact: bool
    size: float
    effect: str
    form: Floats
    held: Floats
    after: Floats


def losses_at(
    rates: RateRows, place: Mapping[Expr, Any], *, is_exact: bool, everywhere: bool = False
) -> list[Loss]:
    """Losses of rank at a position: rows that vanish one by one, or else their combination."""
    values = {x: float(evaluate(as_expr(value), {})) for x, value in place.items()}
    matrix = rates.at({x: np.array(value) for x, value in values.items()})
    names = (*rates.bilateral, *rates.one_sided)
    gone = [k for k in range(len(names)) if np.max(np.abs(matrix[k])) <= DEPENDENT]
    ways = [np.eye(len(names))[k] for k in gone]
    if not ways:
        ways = [np.linalg.svd(matrix)[0][:, -1]]
    position = {} if everywhere else {x.name: value for x, value in place.items()}
    return [_loss(rates, matrix, values, position, c, is_exact=is_exact) for c in ways]


def _loss(
    rates: RateRows,
    matrix: Floats,
    values: Mapping[Expr, float],
    position: Mapping[str, Any],
    way: Floats,
    *,
    is_exact: bool,
) -> Loss:
    """The loss of one combination of rows."""
    c = np.where(np.abs(way) > 1e-6, way, 0.0)
    names = (*rates.bilateral, *rates.one_sided)
    part = tuple(name for name, x in zip(names, c, strict=True) if x)
    effect, form, held = _effect(rates, matrix, values, c)
    active = _active(rates, c)
    kept = active if len(held) and np.max(np.abs(matrix[active, -1])) <= DEPENDENT else []
    after = reduced(np.vstack([matrix[kept, :-1], held]))
    return Loss(
        part, position, is_exact, float(np.linalg.norm(c @ matrix)), effect, form, held, after
    )


def _active(rates: RateRows, c: Floats) -> list[int]:
    """Bilateral rows, and those that a combination takes part of."""
    return [k for k in range(len(c)) if k < len(rates.bilateral) or c[k]]


def reduced(rows: Floats) -> Floats:
    """Rows of the same span with a 1 and zeros above and below it, as far as they go."""
    rows = np.array(rows, dtype=float)
    done = 0
    for j in range(rows.shape[1]):
        if done == len(rows):
            break
        k = done + int(np.argmax(np.abs(rows[done:, j])))
        if abs(rows[k, j]) < 1e-9:
            continue
        rows[[done, k]] = rows[[k, done]]
        rows[done] /= rows[done, j]
        for i in range(len(rows)):
            if i != done:
                rows[i] -= rows[i, j] * rows[done]
        done += 1
    return np.where(np.abs(rows[:done]) > 1e-9, rows[:done], 0.0)


def _effect(
    rates: RateRows, matrix: Floats, values: Mapping[Expr, float], c: Floats
) -> tuple[str, Floats, Floats]:
    """Whether velocities must jump there, Q, and the constraint afterwards."""
    first, nv = len(rates.bilateral), len(rates.v)
    pushed = c[first:]
    if np.any(pushed > 0) and np.any(pushed < 0):
        return "free", np.zeros((nv, nv)), np.zeros((0, nv))
    c = c if np.sum(pushed) >= 0 else -c
    form = _form(rates, values, c)
    if form is None:
        return "undecided", np.zeros((nv, nv)), np.zeros((0, nv))
    if not np.any(form) and values:
        return _beyond(rates, values, c)
    rows = matrix[_active(rates, c), :-1]
    rule = degenerate_rule(
        np.eye(nv), form, np.ones(nv), np.where(np.abs(rows) > DEPENDENT, rows, 0.0)
    )
    return ("jump" if rule.kind == "rest" else rule.kind), form, rule.held


def _form(rates: RateRows, values: Mapping[Expr, float], c: Floats) -> Floats | None:
    """Q of the rate of a combination at a place; None where it is no quadratic form of v."""
    total = as_expr(sum((as_expr(float(x)) * b for x, b in zip(c, rates.biases)), ZERO))
    nv = len(rates.v)

    def rate(v: Floats) -> float:
        there = {**rates.start, **values, **dict(zip(rates.v, v.tolist()))}
        return float(evaluate(total, there))

    form = quadratic_form(rate, nv)
    probe = np.arange(1.0, nv + 1)
    is_form = abs(rate(probe) - probe @ form @ probe) <= 1e-9 * (1 + abs(rate(probe)))
    return np.where(np.abs(form) > 1e-12, form, 0.0) if is_form else None


def _beyond(rates: RateRows, values: Mapping[Expr, float], c: Floats) -> tuple[str, Floats, Floats]:
    """The same where Q vanishes, by Q beside the place: of x³ ẋ ≤ 0 it is 3 x² ẋ²."""
    nv = len(rates.v)
    nothing = np.zeros((nv, nv)), np.zeros((0, nv))
    beside = [_form(rates, {**values, x: values[x] + e}, c) for x in values for e in (-NEAR, NEAR)]
    forms = [Q for Q in beside if Q is not None]
    if rates.conditions or len(forms) < len(beside):
        return "undecided", *nothing
    rules = [degenerate_rule(np.eye(nv), Q, np.ones(nv)).kind for Q in forms]
    if all(kind == "free" for kind in rules):
        return "free", *nothing
    total = np.asarray(sum(forms))
    if all(np.linalg.eigvalsh(Q)[0] >= -1e-9 * np.max(np.abs(total)) for Q in forms):
        return "jump", nothing[0], degenerate_rule(np.eye(nv), total, np.ones(nv)).held
    return ("undecided" if _is_barred(rates, values, c) else "free"), *nothing


def _is_barred(relations: RateRows, values: Mapping[Expr, float], c: Floats) -> bool:
    """Whether some motion straight through the place keeps the relation before it only."""
    draw = np.random.default_rng(0)
    for v in draw.standard_normal((200, len(relations.v))):
        rates = {str(x.name).removesuffix("'"): y for x, y in zip(relations.v, v, strict=True)}
        sides = []
        for s in (-NEAR, NEAR):
            there = {x: np.array(z + s * rates.get(str(x.name), 0.0)) for x, z in values.items()}
            sides.append(float(c @ (relations.at(there) @ np.append(v, 1.0))))
        if sides[0] <= 0 < sides[1]:
            return True
    return False
