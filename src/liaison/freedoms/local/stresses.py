"""Self-stresses modulo a prime: which components of which reactions they reach, exactly.

Public names: stressed.

Source: docs/theory/mobility.md (mobility-5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import as_expr, evaluate
from liaison.freedoms.home import Home
from liaison.freedoms.screws import System

from .series import Germ

Numbers = Sequence[int]


TRIALS = 24
"""Primes tried until each joint's axes have residues: half of all lack a given square root."""


def stressed(
    home: Home, source: Iterator[System], asked: Sequence[int]
) -> dict[int, tuple[bool, ...]]:
    """For each joint, which of its six reaction components some self-stress reaches.

    Moments about and forces along the axes of the joint's first marker, at its origin. Zero modulo
    a prime of 61 bits: equal to zero unless the prime divides one fixed number.

    Args:
        home: the position.
        source: its loops modulo one prime after the other.
        asked: places of the joints.

    Returns:
        Place -> components; joints are missing whose axes have roots that no prime tried has.
    """
    components: dict[int, tuple[bool, ...]] = {}
    for system in islice(source, TRIALS if asked else 0):
        stresses = [[int(x) for x in row] for row in Germ(system).combinations().tolist()]
        for k in asked:
            frame = _frame(home, k, system.p) if k not in components else None
            if frame is not None:
                components[k] = _reached(home, k, frame, stresses, system.p)
        if len(components) == len(asked):
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


def _reached(
    home: Home, joint: int, frame: Numbers, stresses: Sequence[Numbers], p: int
) -> tuple[bool, ...]:
    passes = [sum(sign for k, sign in loop if k == joint) for loop in home.loops]
    reached = [False] * 6
    for stress in stresses:
        total = [sum(way * stress[6 * i + m] for i, way in enumerate(passes)) for m in range(6)]
        for m, x in enumerate(_in_frame(total, frame)):
            reached[m] = reached[m] or bool(x % p)
    return tuple(reached)


def _in_frame(wrench: Numbers, frame: Numbers) -> list[int]:
    """Moment at the marker's origin and force, in its axes."""
    R, q = frame[:9], frame[9:]
    force: Any = wrench[3:]
    arm = (q[1] * force[2] - q[2] * force[1], q[2] * force[0] - q[0] * force[2],
           q[0] * force[1] - q[1] * force[0])  # fmt: skip
    moment = [a - b for a, b in zip(wrench[:3], arm, strict=True)]
    return [sum(R[3 * i + k] * part[i] for i in range(3)) for part in (moment, force)
            for k in range(3)]  # fmt: skip
