"""Redundant closures: which reactions are not determined, and which freer joints determine them.

A self-stress is a wrench in each loop that no joint of it can feel as power. Its dimension is the
number of redundant rows. A component of the reaction in a joint is determined exactly where every
self-stress, modulo a prime, leaves it zero; joints are made freer where self-stresses act.

Public names: Redundancy, redundancy_of, Flow, freer_joints, stressed.

Source: LL §1.5.2 (redundant constraints); docs/theory/mobility.md (mobility-5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import as_expr, evaluate
from liaison.freedoms.local.float_loops import loop_matrix, numbers, twists_of
from liaison.freedoms.local.series import Germ
from liaison.lazy import Shown, listed

from .home import Home
from .screws import System

Numbers = Sequence[int]


TRIALS = 24
"""Primes tried until each joint's axes have residues: half of all lack a given square root."""


def stressed(
    home: Home, source: Iterator[System], joints: Sequence[int]
) -> dict[int, tuple[bool, ...]]:
    """For each joint, which of its six reaction components some self-stress reaches.

    Moments about and forces along the axes of the joint's first marker, at its origin. Zero modulo
    a prime of 61 bits: equal to zero unless the prime divides one fixed number.

    Args:
        home: the position.
        source: its loops modulo one prime after the other.
        joints: places of the joints.

    Returns:
        Place -> components; joints are missing whose axes have roots that no prime tried has.
    """
    components: dict[int, tuple[bool, ...]] = {}
    for system in islice(source, TRIALS if joints else 0):
        stresses = [[int(x) for x in row] for row in Germ(system).combinations().tolist()]
        for k in joints:
            frame = _frame(home, k, system.p) if k not in components else None
            if frame is not None:
                components[k] = _reached_exactly(home, k, frame, stresses, system.p)
        if len(components) == len(joints):
            break
    return components


def _frame(home: Home, k: int, p: int) -> list[int] | None:
    """R row by row, then the origin, of a joint's first marker; None if p lacks a root."""
    R, origin = home.markers[k]
    try:
        numbers = evaluate([as_expr(x) for x in (*R.ravel(), *origin)], domain=residues(p))
    except (DerivationError, ValueError):
        return None
    return [int(x) for x in numbers]


def _reached_exactly(
    home: Home, joint: int, frame: Numbers, stresses: Sequence[Numbers], p: int
) -> tuple[bool, ...]:
    passes = [sum(sign for k, sign in loop if k == joint) for loop in home.loops]
    is_reached = [False] * 6
    for stress in stresses:
        total = [sum(way * stress[6 * i + m] for i, way in enumerate(passes)) for m in range(6)]
        for m, x in enumerate(_in_frame(total, frame)):
            is_reached[m] = is_reached[m] or bool(x % p)
    return tuple(is_reached)


def _in_frame(wrench: Numbers, frame: Numbers) -> list[int]:
    """Moment at the marker's origin and force, in its axes."""
    R, q = frame[:9], frame[9:]
    force: Any = wrench[3:]
    arm = (q[1] * force[2] - q[2] * force[1], q[2] * force[0] - q[0] * force[2],
           q[0] * force[1] - q[1] * force[0])  # fmt: skip
    moment = [a - b for a, b in zip(wrench[:3], arm, strict=True)]
    return [sum(R[3 * i + k] * part[i] for i in range(3)) for part in (moment, force)
            for k in range(3)]  # fmt: skip


FELT = 1e-7
"""Least size of what unit self-stresses do along a freedom for it to count as felt."""

REMOVED = "taken away"


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
    """Joints removed or freed further, one after the other, while the motion stays the same.

    A change that takes away fewer self-stresses than it frees would add a motion; what fails once
    fails for fewer self-stresses too, so that one pass over the joints does.

    Returns:
        (joint, what it becomes) for each change, and how many rows stay redundant.
    """
    changes: dict[int, str] = {}
    for removing in (True, False):
        for k, joint in enumerate(home.mechanism.joints):
            locked = joint.type.LOCKED
            removed = ((REMOVED, locked),) if locked else ()
            for kind, freed in removed if removing else joint.type.FREER:
                # taking a joint away is for a loop on more joints than it can feel
                enough = len(stresses) > (5 if removing else 0)
                left = _relieved(flow.reactions(k, stresses), stresses, freed) if enough else None
                if left is not None and k not in changes:
                    changes[k], stresses = kind, left
    for k, kind in changes.items():
        if kind == "Spherical" and len(stresses):
            left = _relieved(flow.reactions(k, stresses), stresses, "sz")
            if left is not None:
                changes[k], stresses = "PointOnLine", left
    named = tuple((home.mechanism.joints[k].name, kind) for k, kind in changes.items())
    return named, len(stresses)


def _relieved(reactions: Floats, stresses: Floats, freed: str) -> Floats | None:
    """Self-stresses without effort along some coordinates; None if there are none."""
    places = [("t", "s").index(word[0]) * 3 + "xyz".index(word[1]) for word in freed.split()]
    felt: Any = reactions[:, places]
    if len(stresses) < len(places) or np.linalg.eigvalsh(felt.T @ felt)[0] < FELT**2:
        return None
    left, _ = np.linalg.qr(felt, mode="complete")
    return np.asarray(left[:, len(places) :].T @ stresses, dtype=float)


Floats = NDArray[np.float64]
Named: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Joint -> components of its reaction."""

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


LOOPS = 12
"""Loops that have a sentence each."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Redundancy(Shown):
    """Redundant closures of a mechanism: reactions that are undetermined."""

    count: int  # redundant rows
    families: tuple[str, ...]  # what kind of motion each loop is confined to
    undetermined: Named  # joint -> reaction components
    determined: Named  # the others that joints of loops transmit
    is_exact: bool  # the components are computed exactly, not in floats
    proposal: tuple[tuple[str, str], ...]  # joint -> type that would free it
    remaining: int  # redundant rows after the proposal

    def sentences(self) -> list[str]:
        """As sentences."""
        if not self.count:
            return ["No closure equation is redundant: every reaction is determined."]
        verb = "is" if self.count == 1 else "are"
        lines = [f"{self.count} of the closure equations {verb} redundant."]
        loops = [text for text in self.families if text]
        lines += loops[:LOOPS]
        lines += [f"… and {len(loops) - LOOPS} more loops."] if len(loops) > LOOPS else []
        for parts in dict.fromkeys(parts for _, parts in self.undetermined):
            joints = [joint for joint, components in self.undetermined if components == parts]
            word = "joint" if len(joints) == 1 else "joints"
            lines.append(f"Not determined in {word} {listed(joints)}: {', '.join(parts)}.")
        if self.proposal:
            change = listed([f"{joint} {kind}" for joint, kind in self.proposal])
            rest = "" if not self.remaining else f" ({self.remaining} would remain)"
            lines.append(f"The motion stays and the redundancy goes with: {change}{rest}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "count": self.count,
            "loops": list(self.families),
            "undetermined": {joint: list(parts) for joint, parts in self.undetermined},
            "determined": {joint: list(parts) for joint, parts in self.determined},
            "is_exact": self.is_exact,
            "proposal": dict(self.proposal),
            "remaining": self.remaining,
        }


def redundancy_of(
    home: Home, rank: int, *, is_regular: bool = True, source: Iterator[System] | None = None
) -> Redundancy:
    """The redundant closures of a mechanism in its home position.

    Args:
        home: the position.
        rank: of the closure equations there, known exactly.
        is_regular: the finite mobility is the first-order one; only then can a joint be made
            freer without changing the motion.
        source: its loops modulo one prime after the other; components are computed in floats if not
            given.
    """
    twists = twists_of(home)
    stresses = _left_kernel(loop_matrix(home, twists), rank)
    flow = Flow(home)
    free = [flow.freedoms(k, group) for k, group in enumerate(twists)]
    reached = [_reached(flow, k, stresses) for k in range(len(twists))]
    # what is far from zero is not zero; what is near must be shown to be
    joints = [k for k in sorted({k for loop in home.loops for k, _ in loop}) if len(stresses)
             and not all(a or b for a, b in zip(reached[k], free[k], strict=True))]  # fmt: skip
    exact = stressed(home, source or iter(()), joints)
    reached = [exact.get(k, flags) for k, flags in enumerate(reached)]
    proposal: tuple[tuple[str, str], ...] = ()
    remaining = len(stresses)
    if remaining and is_regular:
        proposal, remaining = freer_joints(home, flow, stresses)
    return Redundancy(
        count=len(stresses),
        families=tuple(_families(home, twists)),
        undetermined=_listed(home, reached),
        determined=_listed(home, _others(home, free, reached)),
        is_exact=source is not None and len(exact) == len(joints),
        proposal=proposal,
        remaining=remaining,
    )


def _reached(flow: Flow, k: int, stresses: Floats) -> tuple[bool, ...]:
    """Which components of a joint's reaction unit self-stresses reach, in floats."""
    sizes = np.max(np.abs(flow.reactions(k, stresses)), axis=0, initial=0.0)
    return tuple(bool(size > ZERO) for size in sizes)


def _listed(home: Home, parts: Sequence[tuple[bool, ...]]) -> Named:
    """Joint -> names of its components, of joints that have some."""
    named = []
    for joint, flags in zip(home.mechanism.joints, parts, strict=True):
        names = tuple(name for name, flag in zip(COMPONENTS, flags, strict=True) if flag)
        if names:
            named.append((joint.name, names))
    return tuple(named)


def _others(
    home: Home, free: Sequence[tuple[bool, ...]], reached: Sequence[tuple[bool, ...]]
) -> list[tuple[bool, ...]]:
    """Components that joints of loops transmit and no self-stress reaches."""
    in_loops = {joint for loop in home.loops for joint, _ in loop}
    return [
        tuple(k in in_loops and not a and not b for a, b in zip(flags, free[k], strict=True))
        for k, flags in enumerate(reached)
    ]


def _left_kernel(J: Floats, rank: int) -> Floats:
    """Rows that span the combinations of equations that vanish."""
    if not J.size:
        return np.zeros((J.shape[0] - rank, J.shape[0]))
    left = np.linalg.svd(J)[0]
    return left[:, rank:].T


def _families(home: Home, twists: list[list[Floats]]) -> list[str]:
    """What each loop is confined to, where that is less than space."""
    sentences = []
    for loop in home.loops:
        names = [home.mechanism.joints[k].name for k, _ in loop]
        size, turns = _group([t for k, _ in loop for t in twists[k]])
        if size < 6:
            kind = FAMILIES.get((size, turns), "within a smaller group of motions")
            sentences.append(f"Loop {'-'.join(names)} is {kind}; it closes with {size}, not 6.")
    return sentences


def _group(twists: list[Floats]) -> tuple[int, int]:
    """Dimensions of the group of motions of a loop's joints and of its rotations, in floats."""
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
