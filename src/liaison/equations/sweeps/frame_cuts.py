"""Relations between frames, such as wheels that roll, as formulas of two nodes, ready to be looped.

They are rows of a relative pose as those of cut joints are, in the axes of the first frame; some of
them hold rates only. Numbers in which relations of a kind differ, such as radii, are constants.

Public names: FrameKind, frame_kind, frame_numbers, frame_formulas, touching.

Source: docs/theory/closures.md (closure-1, rolling-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.expr import ZERO, Expr, as_expr, directional, jacobian, substitute, symbol
from liaison.model import BetweenFrames
from liaison.spatial.arrays import array, cross, dot, product
from liaison.tree.closure import P, R
from liaison.units import Label

from .blocks import Ends, seen_from
from .classes import number


@final
@dataclass(frozen=True, slots=True)
class FrameKind:
    """What relations of a kind have in common: formulas of (R, p) and of the numbers they read.

    Attributes:
        rows: name, unit of the multiplier, Φ (None of rates), n and g of each.
        arm: from the second frame to where its force acts, in the axes of the first.
        components: rows whose multipliers are the force along x, y and z; −1 of none.
    """

    rows: tuple[tuple[str, str, Expr | None, tuple[Expr, ...], tuple[Expr, ...]], ...]
    arm: tuple[Expr, ...]
    components: tuple[int, ...]

    @property
    def are_rates(self) -> tuple[bool, ...]:
        """Which rows hold rates only."""
        return tuple(phi is None for _, _, phi, _, _ in self.rows)

    def labels(self, name: str) -> list[Label]:
        """Of the multipliers of a relation of this kind."""
        return [Label(f"{name}: {word}", unit) for word, unit, *_ in self.rows]


def frame_kind(relation: BetweenFrames) -> tuple[FrameKind, list[Any]]:
    """The kind of a relation, and the numbers that it reads, in their order."""
    reads: list[Any] = []

    def read(x: Any) -> Expr:
        reads.append(x)
        return _read(len(reads) - 1)

    listed = relation.rows(R, P, read)
    names = [x.name for x in listed]
    kind = FrameKind(
        rows=tuple((x.name, x.unit, x.value, x.turn, x.slide) for x in listed),
        arm=tuple(as_expr(x) for x in relation.arm(R, read)),
        components=tuple(names.index(x) if x in names else -1 for x in relation.COMPONENTS),
    )
    return kind, reads


def frame_numbers(ends: Sequence[Any], reads: Sequence[Any], values: Mapping[Expr, Any]) -> Any:
    """R and p of both frames in their nodes, then what the relation reads."""
    flat = [x for _, (R_, p_) in ends for x in (*R_.flat, *p_)]
    return tuple(float(number(x, values)) for x in (*flat, *reads))


def frame_formulas(kind: FrameKind, entries: Sequence[Any]) -> tuple[Expr, ...]:
    """J on two nodes and nothing on a third, then Φ̈, Φ (0 of rates) and Φ̇ of all rows."""
    ends, known = Ends(entries), _known(entries)
    pose, (omega, slip) = ends.pose(), _seen(ends)
    held, rate = [], []
    for _, _, phi, turn, slide in kind.rows:
        if phi is None:
            along = seen_from(pose, substitute([*turn, *slide], known))
            held.append(ZERO)
            rate.append(as_expr(dot(along[:3], omega) + dot(along[3:], slip)))
        else:
            held += seen_from(pose, substitute([phi], known))
            rate += directional(held[-1:], ends.flow)
    faster = directional(rate, {**ends.flow, **ends.second})
    J = jacobian(faster, ends.accelerations)
    rows = range(len(rate))
    formulas = [J.get((i, c), ZERO) for end in (0, 6) for i in rows for c in range(end, end + 6)]
    return (*formulas, *[ZERO] * (6 * len(rate)), *faster, *held, *rate)


def touching(kind: FrameKind, entries: Sequence[Any]) -> tuple[Expr, ...]:
    """R row by row of the first frame, and p of the point at which the force acts."""
    ends = Ends(entries)
    (R_F, _), (_, center) = ends.frames
    arm = seen_from(ends.pose(), substitute(list(kind.arm), _known(entries)))
    return tuple(as_expr(x) for x in (*R_F.flat, *(center + product(R_F, array(arm)))))


def _read(k: int) -> Expr:
    return symbol(f"number {k} of a relation")


def _known(entries: Sequence[Any]) -> dict[Expr, Expr]:
    return {_read(k): as_expr(x) for k, x in enumerate(entries[24:])}


def _seen(ends: Ends) -> tuple[Any, Any]:
    """ω and ṗ of the second frame as seen from the first, in its axes."""
    (R_F, p_F), (_, p_M) = ends.frames
    (omega_F, v_F), (omega_M, v_M) = ends.twists
    slip = v_M - v_F - cross(omega_F, p_M - p_F)
    return product(R_F.T, omega_M - omega_F), product(R_F.T, slip)
