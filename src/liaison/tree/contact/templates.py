"""One place of contact as templates of rows: its gap, its slips, its turning.

A template is (value or None, n, g, Q): the rate is n · ω + g · ṗ, and Q how it changes where ω and
ṗ do not. Where the place depends on a foot, Q follows the foot as it moves, and its values are put
in at the end: no formula is differentiated through the steps that find it.

Public names: Touch, gap_template, slip_templates, turn_templates, rate_template.

Source: docs/theory/contacts.md (contact-2), (foot-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from liaison.expr import Expr, as_expr, directional, gradient
from liaison.spatial.arrays import Array, cross, zeros
from liaison.tree.closure import OMEGA, V, derived, rate_along, second_order

from .feet import Foot

Template: TypeAlias = tuple[Any, ...]


class Touch(NamedTuple):
    """One place of contact, as formulas of the relative pose, in the second frame's axes."""

    gap: Expr
    point: Array  # ρ, from the origin of the first frame
    normal: Array
    tangents: tuple[Array, Array]
    foot: Foot | None = None  # on whose parameters the others depend
    center: Array | None = None  # ρ of what is at a distance: the gap changes by n · (ṗ + ω × ρ)
    radius: Any = 0  # where there is a center, ρ = center − radius n
    shown: Expr | None = None  # the gap as people read it, where it has cases

    def evaluated(self) -> Touch:
        """The place with the foot's values in it."""
        if self.foot is None:
            return self
        flat = [self.gap, *self.point, *self.normal, *self.tangents[0], *self.tangents[1]]
        values = self.foot.put(flat)
        point, normal, first, second = (_array(values[k : k + 3]) for k in (1, 4, 7, 10))
        return Touch(values[0], point, normal, (first, second))


def _array(entries: Sequence[Expr]) -> Array:
    vector = zeros(3)
    vector[:] = entries
    return vector


def gap_template(touch: Touch) -> Template:
    """The template of the gap."""
    if touch.center is not None:
        n = touch.normal
        return _template(touch.gap, cross(touch.center, n), n, touch.foot)
    if touch.foot is None:
        return (touch.gap, *derived(touch.gap))
    (rate,) = directional([touch.gap], touch.foot.flow)
    partial = gradient(rate, [*OMEGA, *V])
    return _template(touch.gap, partial[:3], partial[3:], touch.foot)


def slip_templates(touch: Touch) -> list[Template]:
    """Templates of the slip along both tangents: t · (ṗ + ω × ρ), with t₁ × t₂ = n."""
    first, second = touch.tangents
    if touch.center is None:
        arms = [cross(touch.point, t) for t in touch.tangents]
    else:
        # n × t₁ = t₂ and n × t₂ = −t₁ make formulas short
        arms = [
            cross(touch.center, first) - touch.radius * second,
            cross(touch.center, second) + touch.radius * first,
        ]
    pairs = zip(arms, touch.tangents, strict=True)
    return [rate_template(arm, t, touch.foot) for arm, t in pairs]


def turn_templates(directions: Sequence[Any], foot: Foot | None = None) -> list[Template]:
    """Templates of the angular velocity along directions."""
    return [rate_template(t, zeros(3), foot) for t in directions]


def rate_template(turn: Any, slide: Any, foot: Foot | None = None) -> Template:
    """The template of n · ω + g · ṗ, a rate."""
    return _template(None, turn, slide, foot)


def _template(value: Expr | None, turn: Any, slide: Any, foot: Foot | None) -> Template:
    n, g = (tuple(as_expr(x) for x in v) for v in (turn, slide))
    if foot is None:
        return value, n, g, second_order(n, g)
    (quadratic,) = directional([rate_along(n, g)], foot.flow)
    values = foot.put([*n, *g, quadratic, *([] if value is None else [value])])
    return (
        values[7] if value is not None else None,
        tuple(values[:3]),
        tuple(values[3:6]),
        values[6],
    )
