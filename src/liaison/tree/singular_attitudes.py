"""Starts at which the angles of a joint are singular: an error before any division by zero.

Public names: check_attitudes.

Source: LL 4.2.2.
"""

from __future__ import annotations

from liaison.errors import AssemblyError
from liaison.model import Attitude, Joint
from liaison.numeric import State
from liaison.spatial.rotations import SINGULAR

from .tree import Tree


def check_attitudes(tree: Tree, state: State) -> None:
    """Raises an error for a state in which the angles of a joint have no rates.

    Raises:
        AssemblyError: the outer two axes of such a joint are one.
    """
    for node in tree.nodes:
        attitude = getattr(node.joint.type, "attitude", None)
        if not isinstance(attitude, Attitude):
            continue
        e = [float(x) for x in state.q[node.q][-len(attitude.NAMES) :]]
        if abs(float(attitude.regularity(e))) < SINGULAR:
            raise _singular(node.joint, e[1])


def _singular(joint: Joint, middle: float) -> AssemblyError:
    first, second, third = joint.coordinates[-3:]
    return AssemblyError(
        f"the angles of joint {joint.name!r} are singular where it starts: at {second} = "
        f"{middle:g} rad, {first} and {third} turn about one axis, and their rates have no values.",
        place=joint.place,
        hint=f"Start at another {second}, or take its attitude as a quaternion or a matrix.",
    )
