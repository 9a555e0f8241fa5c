"""Redundant closures in mechanical words: which reactions are not determined, and how to free them.

A self-stress is a wrench in each loop that no joint of it can feel as power. Its dimension is the
number of redundant rows. A component of the reaction in a joint is determined exactly where every
self-stress leaves it zero.

Public names: Redundancy, redundancy_of.

Source: LL §1.5.2 (redundant constraints); docs/theory/mobility.md (mobility-5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.model import Cylindrical, Prismatic, Revolute

from .float_loops import loop_matrix, numbers, twists_of
from .home import Home

Floats = NDArray[np.float64]

ZERO = 1e-9
"""A component of a unit self-stress below this is zero; its count is known exactly."""

COMPONENTS = ("moment about x", "moment about y", "moment about z",
              "force along x", "force along y", "force along z")  # fmt: skip

FAMILIES = {
    (1, 1): "a single hinge",
    (1, 0): "a single slider",
    (2, 0): "purely translating in a plane",
    (2, 1): "cylindrical: all axes are one",
    (3, 0): "purely translating",
    (3, 1): "planar: all axes are parallel, all slides across them",
    (3, 3): "spherical: all axes meet in a point",
    (4, 1): "Schoenflies: all axes are parallel",
}
"""Dimension of the group of motions, and of its rotations -> in words."""


@final
@dataclass(frozen=True, slots=True)
class Redundancy:
    """What the closures leave undetermined."""

    count: int  # redundant rows
    families: tuple[str, ...]  # what kind of motion each loop is confined to
    undetermined: tuple[tuple[str, tuple[str, ...]], ...]  # joint -> reaction components
    proposal: tuple[tuple[str, str], ...]  # joint -> type that would free it
    remaining: int  # redundant rows after the proposal

    def sentences(self) -> list[str]:
        """For people."""
        verb = "is" if self.count == 1 else "are"
        lines = [f"{self.count} of the closure equations {verb} redundant."]
        lines += [text for text in self.families if text]
        for joint, parts in self.undetermined:
            lines.append(f"Not determined in joint {joint}: {', '.join(parts)}.")
        if self.proposal:
            change = ", ".join(f"{joint} {kind}" for joint, kind in self.proposal)
            rest = "" if not self.remaining else f" ({self.remaining} would remain)"
            lines.append(f"The motion stays and the redundancy goes with: {change}{rest}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "count": self.count,
            "loops": list(self.families),
            "undetermined": {joint: list(parts) for joint, parts in self.undetermined},
            "proposal": dict(self.proposal),
            "remaining": self.remaining,
        }


def redundancy_of(home: Home, rank: int, *, is_regular: bool = True) -> Redundancy:
    """What the closures of a mechanism leave undetermined in its home position.

    Args:
        home: the position.
        rank: of the closure equations there, known exactly.
        is_regular: the finite mobility is the first-order one; only then can a joint be made
            freer without changing the motion.
    """
    screws = twists_of(home)
    J = loop_matrix(home, screws)
    stresses = _left_kernel(J, rank)
    found = []
    for k, joint in enumerate(home.mechanism.joints):
        parts = _undetermined(home, k, stresses)
        if parts:
            found.append((joint.name, tuple(parts)))
    freed = _proposal(home, J, rank) if len(stresses) and is_regular else ((), len(stresses))
    proposal, remaining = freed
    return Redundancy(len(stresses), tuple(_families(home)), tuple(found), proposal, remaining)


def _left_kernel(J: Floats, rank: int) -> Floats:
    """Rows that span the combinations of equations that vanish."""
    if not J.size:
        return np.zeros((J.shape[0] - rank, J.shape[0]))
    left = np.linalg.svd(J)[0]
    return left[:, rank:].T


def _undetermined(home: Home, k: int, stresses: Floats) -> list[str]:
    """Reaction components of a joint that some self-stress makes, in its first marker's axes."""
    R, p = _marker(home, k)
    found = np.zeros(6)
    for stress in stresses:
        total = np.zeros(6)
        for i, loop in enumerate(home.loops):
            total += sum(sign for joint, sign in loop if joint == k) * stress[6 * i : 6 * i + 6]
        moment, force = total[:3] - np.cross(p, total[3:]), total[3:]
        found = np.maximum(found, np.abs(np.concatenate([R.T @ moment, R.T @ force])))
    return [name for name, size in zip(COMPONENTS, found, strict=True) if size > ZERO]


def _marker(home: Home, k: int) -> tuple[Floats, Floats]:
    F = home.markers[k]
    return numbers(F[0].ravel()).reshape(3, 3), numbers(F[1])


def _families(home: Home) -> list[str]:
    """What each loop is confined to, where that is less than space."""
    found = []
    for loop in home.loops:
        names = [home.mechanism.joints[k].name for k, _ in loop]
        size, turns = _group(home, loop)
        if size < 6:
            kind = FAMILIES.get((size, turns), "within a smaller group of motions")
            found.append(f"Loop {'-'.join(names)} is {kind}; it closes with {size}, not 6.")
    return found


def _group(home: Home, loop: Any) -> tuple[int, int]:
    """Dimensions of the group of motions of a loop's joints and of its rotations, in floats."""
    screws = twists_of(home)
    twists = [t for k, _ in loop for t in screws[k]]
    basis: list[Floats] = []
    waiting = list(twists)
    while waiting and len(basis) < 6:
        s = waiting.pop()
        if np.linalg.matrix_rank(np.array([*basis, s]), tol=1e-8) > len(basis):
            waiting += [_bracket(s, other) for other in basis]
            basis.append(s / np.linalg.norm(s))
    turns = np.array([s[:3] for s in basis]) if basis else np.zeros((1, 3))
    return len(basis), int(np.linalg.matrix_rank(turns, tol=1e-8))


def _bracket(a: Floats, b: Floats) -> Floats:
    turn = np.cross(a[:3], b[:3])
    return np.concatenate([turn, np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])])


OPTIONS: tuple[tuple[type, tuple[tuple[str, str], ...]], ...] = (
    (Revolute, (("Spherical", "tx ty"), ("Cylindrical", "sz"), ("PointOnLine", "sz tx ty"),
                ("Universal (about z and x)", "tx"), ("Universal (about z and y)", "ty"))),
    (Prismatic, (("Cylindrical", "tz"), ("Planar", "tx sy"), ("PointOnLine", "tx ty tz"))),
    (Cylindrical, (("PointOnLine", "tx ty"),)),
)  # fmt: skip
REMOVED: tuple[tuple[type, tuple[tuple[str, str], ...]], ...] = (
    (Revolute, (("taken away", "tx ty sx sy sz"),)),
    (Prismatic, (("taken away", "tx ty tz sx sy"),)),
)
"""For a loop that hangs on more joints than it can feel."""


def _proposal(home: Home, J: Floats, rank: int) -> tuple[tuple[tuple[str, str], ...], int]:
    """Joints taken away or made freer, one after the other, as long as the motion stays."""
    found: dict[int, str] = {}
    while rank < J.shape[0]:
        best = None
        if J.shape[0] - rank > 5:
            best = _change(home, J, rank, found, REMOVED)
        best = best or _change(home, J, rank, found, OPTIONS)
        best = best or _upgrade(home, J, rank, found)
        if best is None:
            break
        k, kind, J, rank = best
        found[k] = kind
    named = tuple((home.mechanism.joints[k].name, kind) for k, kind in found.items())
    return named, J.shape[0] - rank


def _upgrade(home: Home, J: Floats, rank: int, found: dict[int, str]) -> Any:
    """A ball that was proposed, let slide along its axis as well."""
    for k, kind in found.items():
        if kind == "Spherical":
            wider = np.hstack([J, _freed(home, k, "sz")])
            if int(np.linalg.matrix_rank(wider, tol=1e-8)) > rank:
                return k, "PointOnLine", wider, rank + 1
    return None


def _change(home: Home, J: Floats, rank: int, taken: dict[int, str], table: Any) -> Any:
    """The first change in a table that takes away as many rows as it frees."""
    for k, joint in enumerate(home.mechanism.joints):
        options = next((found for known, found in table if isinstance(joint.type, known)), ())
        for kind, freed in options if k not in taken else ():
            wider = np.hstack([J, _freed(home, k, freed)])
            gain = int(np.linalg.matrix_rank(wider, tol=1e-8)) - rank
            if gain == len(freed.split()):
                return k, kind, wider, rank + gain
    return None


def _freed(home: Home, k: int, freed: str) -> Floats:
    """Columns of extra freedoms in a joint, about its first marker's axes."""
    R, p = _marker(home, k)
    columns = []
    for word in freed.split():
        d = R[:, "xyz".index(word[1])]
        twist = np.concatenate([d, np.cross(p, d)] if word[0] == "t" else [np.zeros(3), d])
        column = np.zeros(6 * len(home.loops) + len(home.relations.rows))
        for i, loop in enumerate(home.loops):
            for joint, sign in loop:
                if joint == k:
                    column[6 * i : 6 * i + 6] += sign * twist
        columns.append(column)
    return np.array(columns).T
