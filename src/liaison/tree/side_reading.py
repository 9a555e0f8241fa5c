"""A place of contact as people read it: its gap without cases, its foot, its directions.

Public names: SideReading, side_reading.
"""

from __future__ import annotations

from typing import NamedTuple

from liaison.expr import Expr, as_expr, substitute
from liaison.model import Contact

from .closure import marker_motion, relative
from .contact_templates import Touch
from .kinematics import Kinematics
from .templates import P, R


class SideReading(NamedTuple):
    """What is told of a gap besides its rows; every formula of q."""

    gap: Expr  # the regular case of it
    feet: tuple[tuple[Expr, Expr, Expr], ...] = ()  # value in the rows, symbol, what vanishes
    axes: tuple[tuple[Expr, ...], ...] = ()  # normal and tangents, in the second frame


def side_reading(kinematics: Kinematics, contact: Contact, touch: Touch) -> SideReading:
    """The reading of one place of contact."""
    tree = kinematics.tree
    second, first = tree.located(contact.second), tree.located(contact.first)
    root = tree.common_ancestor(second[0], first[0])
    seen = relative(*(marker_motion(kinematics, root, x) for x in (second, first)))
    pose = dict(zip([*R.flat, *P], map(as_expr, [*seen.R.flat, *seen.p]), strict=True))
    axes = [tuple(substitute([as_expr(x) for x in v], pose))
            for v in (touch.found().normal, *touch.found().tangents)]  # fmt: skip
    gap = touch.gap if touch.shown is None else touch.shown
    if touch.foot is None:
        return SideReading(substitute([gap], pose)[0], (), tuple(axes))
    values = substitute(touch.foot.values, pose)
    # a parameter that needs no steps is put in; the others stay as symbols
    plain = {a: x for a, x in zip(touch.foot.parameters, values, strict=True) if x.op != "select"}
    told = substitute([gap, *touch.foot.conditions], pose | plain)
    feet = zip(values, touch.foot.parameters, told[1:], strict=True)
    return SideReading(told[0], tuple(x for x in feet if x[1] not in plain), tuple(axes))
