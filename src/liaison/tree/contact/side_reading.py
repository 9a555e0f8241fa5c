"""A place of contact as people read it: its gap without cases, its foot, its directions.

Public names: SideReading, pose_seen, side_reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from liaison.expr import Expr, as_expr, substitute
from liaison.tree.closure import Located, marker_motion, relative
from liaison.tree.kinematics import Kinematics
from liaison.tree.templates import P, R

from .templates import Touch


class SideReading(NamedTuple):
    """What is told of a gap besides its rows; every formula of q."""

    gap: Expr  # the regular case of it
    feet: tuple[tuple[Expr, Expr, Expr], ...] = ()  # value in the rows, symbol, what vanishes
    axes: tuple[tuple[Expr, ...], ...] = ()  # normal and tangents, in the second frame


def pose_seen(kinematics: Kinematics, second: Located, first: Located) -> dict[Expr, Expr]:
    """What stands for the template's (R, p): the first marker seen from the second."""
    root = kinematics.tree.common_ancestor(second[0], first[0])
    seen = relative(*(marker_motion(kinematics, root, x) for x in (second, first)))
    return dict(zip([*R.flat, *P], map(as_expr, [*seen.R.flat, *seen.p]), strict=True))


def side_reading(touch: Touch, pose: Mapping[Expr, Expr]) -> SideReading:
    """The reading of one place of contact."""
    found = touch.found()
    axes = substitute([x for v in (found.normal, *found.tangents) for x in map(as_expr, v)], pose)
    listed = (tuple(axes[:3]), tuple(axes[3:6]), tuple(axes[6:]))
    gap = touch.gap if touch.shown is None else touch.shown
    if touch.foot is None:
        return SideReading(substitute([gap], pose)[0], (), listed)
    values = substitute(touch.foot.values, pose)
    # a parameter that needs no steps is put in; the others stay as symbols
    plain = {a: x for a, x in zip(touch.foot.parameters, values, strict=True) if x.op != "select"}
    told = substitute([gap, *touch.foot.conditions], {**pose, **plain})
    feet = zip(values, touch.foot.parameters, told[1:], strict=True)
    return SideReading(told[0], tuple(x for x in feet if x[1] not in plain), listed)
