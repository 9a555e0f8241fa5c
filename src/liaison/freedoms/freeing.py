"""Joints made freer so that nothing is redundant: what each self-stress does in each joint.

Public names: Flow, freer_joints.

Source: docs/theory/mobility.md (mobility-5).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.freedoms.local.float_loops import numbers
from liaison.model import Cylindrical, Prismatic, Revolute

from .home import Home

Floats = NDArray[np.float64]

FELT = 1e-7
"""Least size of what unit self-stresses do along a freedom for it to count as felt."""

OPTIONS: tuple[tuple[type, tuple[tuple[str, str], ...]], ...] = (
    (Revolute, (("Spherical", "tx ty"), ("Cylindrical", "sz"), ("PointOnLine", "sz tx ty"),
                ("Universal (about z and x)", "tx"), ("Universal (about z and y)", "ty"))),
    (Prismatic, (("Cylindrical", "tz"), ("Planar", "tx sy"), ("PointOnLine", "tx ty tz"))),
    (Cylindrical, (("PointOnLine", "tx ty"),)),
)  # fmt: skip
"""What a joint can be made, and which turns (t) and slides (s) along its axes that frees."""

REMOVED: tuple[tuple[type, tuple[tuple[str, str], ...]], ...] = (
    (Revolute, (("taken away", "tx ty sx sy sz"),)),
    (Prismatic, (("taken away", "tx ty tz sx sy"),)),
)
"""For a loop that hangs on more joints than it can feel."""


@final
class Flow:
    """How wrenches that circulate in the loops pass through the joints."""

    def __init__(self, home: Home) -> None:
        self.markers = [(numbers(R.ravel()).reshape(3, 3), numbers(p)) for R, p in home.markers]
        self.passes = np.zeros((len(home.mechanism.joints), len(home.loops)))
        for i, loop in enumerate(home.loops):
            for joint, sign in loop:
                self.passes[joint, i] += sign

    def reactions(self, k: int, stresses: Floats) -> Floats:
        """Moment and force in joint k of each self-stress, in its first marker's axes."""
        R, p = self.markers[k]
        loops = self.passes.shape[1]
        wrenches = stresses[:, : 6 * loops].reshape(len(stresses), loops, 6)
        total = np.einsum("i,sij->sj", self.passes[k], wrenches)
        moment = total[:, :3] - np.cross(p, total[:, 3:])
        return np.hstack([moment @ R, total[:, 3:] @ R])

    def freedoms(self, k: int, twists: list[Floats]) -> tuple[bool, ...]:
        """Turns about and slides along which of its first marker's axes joint k leaves free."""
        if not twists:
            return (False,) * 6
        R, p = self.markers[k]
        seen = np.array([[*(s[:3] @ R), *((s[3:] + np.cross(s[:3], p)) @ R)] for s in twists])
        basis = np.linalg.svd(seen)[2][: np.linalg.matrix_rank(seen, tol=FELT)]
        return tuple(bool(abs(np.linalg.norm(column) - 1) < FELT) for column in basis.T)


def freer_joints(
    home: Home, flow: Flow, stresses: Floats
) -> tuple[tuple[tuple[str, str], ...], int]:
    """Joints taken away or made freer, one after the other, as long as the motion stays.

    A change that takes away fewer self-stresses than it frees would add a motion; what fails once
    fails for fewer self-stresses too, so that one pass over the joints does.

    Returns:
        (joint, what it becomes) for each change, and how many rows stay redundant.
    """
    found: dict[int, str] = {}
    for table in (REMOVED, OPTIONS):
        for k, joint in enumerate(home.mechanism.joints):
            options = next((x for known, x in table if isinstance(joint.type, known)), ())
            for kind, freed in options:
                enough = len(stresses) > (5 if table is REMOVED else 0)
                left = _relieved(flow.reactions(k, stresses), stresses, freed) if enough else None
                if left is not None and k not in found:
                    found[k], stresses = kind, left
    for k, kind in found.items():
        if kind == "Spherical" and len(stresses):
            left = _relieved(flow.reactions(k, stresses), stresses, "sz")
            if left is not None:
                found[k], stresses = "PointOnLine", left
    named = tuple((home.mechanism.joints[k].name, kind) for k, kind in found.items())
    return named, len(stresses)


def _relieved(reactions: Floats, stresses: Floats, freed: str) -> Floats | None:
    """The self-stresses that do not feel some freedoms; None if the freedoms are not all felt."""
    places = [("t", "s").index(word[0]) * 3 + "xyz".index(word[1]) for word in freed.split()]
    felt: Any = reactions[:, places]
    if len(stresses) < len(places) or np.linalg.eigvalsh(felt.T @ felt)[0] < FELT**2:
        return None
    left, _ = np.linalg.qr(felt, mode="complete")
    return np.asarray(left[:, len(places) :].T @ stresses, dtype=float)
