"""Cut joints of a tree of many bodies as formulas of three nodes, ready to be looped.

A cut joint sees the nodes of its two markers, and their common ancestor, in whose axes the rows are
that pin its origin. Of their states in the ground's axes it computes its rows J on each of the
three, and what is left over at three levels: Φ̈ with the accelerations that are there, Φ and Φ̇.
They are the rows of (closure-1), in the same order and axes as unrolled code has them. Relations
between frames, such as wheels that roll, follow the cut joints as further ones: rows of a relative
pose in the axes of the first frame, some of which hold rates only. Numbers in which those of a kind
differ, such as radii, are constants.

Public names: Cuts, CutClass, OneCut, FrameKind, cuts_of, tabled, frame_numbers, known_reads,
read_symbol, seen_rates, LEVELS.

Source: docs/theory/closures.md (closure-1, rolling-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, final

import numpy as np

from liaison.expr import ZERO, Expr, as_expr, directional, jacobian, substitute, symbol
from liaison.model import BetweenFrames, JointType
from liaison.spatial.arrays import array, cross, dot, product
from liaison.tree import GROUND, Closure, Tree
from liaison.tree.closure import P, R, joint_labels, pinned, residual_template, tie_labels
from liaison.units import MOMENT, Label

from .blocks import STATE, Ends, seen_from, tied
from .classes import constant, number
from .rest import RestRow

LEVELS = ("second", "phi", "rate")
"""What is left over of a row: Φ̈, Φ, Φ̇; in this order behind J on three nodes."""


@final
@dataclass(frozen=True, slots=True)
class CutClass:
    """Cut joints with one formula.

    Attributes:
        formulas: J on first, second and root, each row by row; then Φ̈, Φ and Φ̇ of all rows.
        rows: that hold the two markers.
        ties: that define the velocities of a joint that keeps its coordinates, by (closure-2).
        touch: of a relation between frames, where its force acts: R row by row, p.
    """

    formulas: tuple[Expr, ...]
    rows: int
    ties: int
    touch: tuple[Expr, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Cuts:
    """Cut joints of a tree by class, with tables.

    Attributes:
        classes: what they compute.
        table: a row for each, relations between frames last: class, nodes of the predecessor's
            and the successor's marker, their common ancestor (−1 the ground), starts of its
            constants and of the q and v it keeps, and how many of q.
        constants: of all.
        inputs: symbol -> (array, index): states of the nodes in q, v and p, constants in u; in x
            the positions that it keeps, and from 12 on the velocities.
        markers: of successors: node and pose in it, 13 numbers each.
        joints: names.
        frames: names of relations between frames.
        components: of these, rows whose multipliers are the force along x, y and z; −1 of none.
        labels: of all rows, one joint after another.
        are_rates: which rows hold rates only.
        reach: how large the entries of each row can be by rad/s.
        relations: rows that are written out, those of positions first.
        order: all rows, those of relations last, in the order of their multipliers.
    """

    classes: tuple[CutClass, ...]
    table: np.ndarray[Any, np.dtype[np.int64]]
    constants: np.ndarray[Any, np.dtype[np.float64]]
    inputs: Mapping[Expr, tuple[str, int]]
    markers: np.ndarray[Any, np.dtype[np.float64]]
    joints: tuple[str, ...]
    frames: tuple[str, ...]
    components: np.ndarray[Any, np.dtype[np.int64]]
    labels: tuple[Label, ...]
    are_rates: tuple[bool, ...]
    reach: tuple[float, ...]
    relations: tuple[RestRow, ...]
    order: tuple[int, ...]

    @staticmethod
    def none() -> Cuts:
        """Of nothing."""
        return tabled([], joints=(), frames=(), components=(), relations=(), order=())


def cuts_of(tree: Tree, values: Mapping[Expr, Any], relations: tuple[RestRow, ...] = ()) -> Cuts:
    """The cut joints of a tree, parameters replaced by their values, and its relations."""
    constraints = tree.mechanism.constraints
    framed = [x for x in constraints if isinstance(x, BetweenFrames)]
    listed = [_cut_joint(tree, closure, values) for closure in tree.closures]
    listed += [_frame_cut(tree, relation, values) for relation in framed]
    kinds = [x.kind for x in listed[len(tree.closures) :] if isinstance(x.kind, FrameKind)]
    return tabled(
        listed,
        joints=tuple(x.joint.name for x in tree.closures),
        frames=tuple(x.name for x in framed),
        components=[x.components for x in kinds],
        relations=relations,
        order=_order(tree, listed, relations),
    )


def tabled(
    listed: Sequence[OneCut],
    *,
    joints: tuple[str, ...],
    frames: tuple[str, ...],
    components: Sequence[Sequence[int]],
    relations: tuple[RestRow, ...],
    order: tuple[int, ...],
) -> Cuts:
    """Cut joints and what is like them, by class; each class is derived once.

    Args:
        listed: all of them, joints first.
        joints: names.
        frames: names of the others.
        components: of these, as in `Cuts`.
        relations: rows that are written out.
        order: all rows in the order of their multipliers.
    """
    numbered = {one.kind: c for c, one in enumerate({x.kind: x for x in listed}.values())}
    members = [numbered[one.kind] for one in listed]
    alike: list[list[tuple[float, ...]]] = [[] for _ in numbered]
    for one, c in zip(listed, members, strict=True):
        alike[c].append(one.numbers)
    entries = [_entries(own) for own in alike]
    varying = [places for _, places in entries]
    read = [[one.numbers[k] for k in varying[c]] for one, c in zip(listed, members, strict=True)]
    starts = np.cumsum([0, *map(len, read)])[:-1]
    rows = [
        (c, *one.nodes, int(start), *one.kept)
        for c, one, start in zip(members, listed, starts, strict=True)
    ]
    marks = [[one.nodes[1], *one.numbers[12:24]] for one in listed]
    return Cuts(
        classes=tuple(k.derived(own) for k, (own, _) in zip(numbered, entries, strict=True)),
        table=np.array(rows, dtype=np.int64).reshape(-1, 8),
        constants=np.array([x for row in read for x in row], dtype=float),
        inputs=MappingProxyType(_places(max(map(len, varying), default=0))),
        markers=np.array(marks, dtype=float).reshape(-1, 13),
        joints=joints,
        frames=frames,
        components=np.array(components, dtype=np.int64).reshape(-1, 3),
        labels=tuple(label for one in listed for label in one.labels),
        are_rates=tuple(x for one in listed for x in one.are_rates),
        reach=tuple(
            1.0 if label.unit == MOMENT else one.arm for one in listed for label in one.labels
        ),
        relations=relations,
        order=order,
    )


class CutKind(Protocol):
    """What cut joints of a class have in common; the same for all of them."""

    def derived(self, entries: Sequence[Any]) -> CutClass:
        """The formulas of the class, with the numbers of its markers."""


@final
@dataclass(frozen=True, slots=True)
class OneCut:
    """A cut joint, or a relation between frames."""

    kind: CutKind
    numbers: tuple[float, ...]
    nodes: tuple[int, int, int]
    kept: tuple[int, int, int]
    labels: list[Label]
    are_rates: tuple[bool, ...]
    arm: float
    name: str


def _cut_joint(tree: Tree, closure: Closure, values: Mapping[Expr, Any]) -> OneCut:
    joint, is_kept = closure.joint, closure.ghost is not None
    root = tree.carrier(tree.common_ancestor(closure.predecessor[0], closure.successor[0]))
    labels = joint_labels(tree, closure, root) + (tie_labels(joint) if is_kept else [])
    return OneCut(
        kind=_JointKind(joint.type.mapped(lambda x: number(x, values)), root != GROUND, is_kept),
        numbers=frame_numbers((closure.predecessor, closure.successor), (), values),
        nodes=(closure.predecessor[0], closure.successor[0], root),
        kept=_kept_places(tree, closure.ghost),
        labels=labels,
        are_rates=(False,) * len(labels),
        arm=_arm(tree, closure, root, values),
        name="",
    )


def _frame_cut(tree: Tree, relation: BetweenFrames, values: Mapping[Expr, Any]) -> OneCut:
    kind, reads = frame_kind(relation)
    ends = [tree.located(x) for x in relation.frames()]
    return OneCut(
        kind=kind,
        numbers=frame_numbers(ends, reads, values),
        nodes=(ends[0][0], ends[1][0], GROUND),
        kept=(0, 0, 0),
        labels=kind.labels(relation.name),
        are_rates=kind.are_rates,
        arm=1.0,
        name=relation.name,
    )


def _order(tree: Tree, listed: Sequence[OneCut], relations: Sequence[RestRow]) -> tuple[int, ...]:
    """Rows as unrolled code has them: of positions first; cut joints, then relations as written."""
    written = {x.name: k for k, x in enumerate(tree.mechanism.constraints)}
    keys = [(is_rate, written.get(one.name, -1)) for one in listed for is_rate in one.are_rates]
    keys += [(row.phi is None, written[row.label.name]) for row in relations]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


@final
@dataclass(frozen=True, slots=True)
class _JointKind:
    """A joint type, whether it has a root, whether it keeps its coordinates."""

    joint: JointType
    is_rooted: bool
    is_kept: bool

    def derived(self, entries: Sequence[Any]) -> CutClass:
        return _cut_class(self.joint, self.is_rooted, self.is_kept, entries)


def _entries(rows: Sequence[Sequence[float]]) -> tuple[list[Any], list[int]]:
    """Numbers that cut joints share, constants in place of the others; and which those are."""
    columns = [*zip(*rows, strict=True)]
    varying = [k for k, column in enumerate(columns) if len(set(column)) > 1]
    entries: list[Any] = [column[0] for column in columns]
    for place, k in enumerate(varying):
        entries[k] = constant(place)
    return entries, varying


def _kept_places(tree: Tree, ghost: int | None) -> tuple[int, int, int]:
    """Where the positions and velocities lie that a cut joint keeps, and how many positions."""
    if ghost is None:
        return (0, 0, 0)
    node = tree.nodes[ghost]
    return node.q.start, node.v.start, node.joint.type.nq


def _arm(tree: Tree, closure: Closure, root: int, values: Mapping[Expr, Any]) -> float:
    """The longest offset from a joint of a loop outwards [m]; 1 of none."""
    longest = 0.0
    for node, (_, p) in (closure.predecessor, closure.successor):
        longest = max([longest, *(abs(float(number(x, values))) for x in p)])
        while node not in (root, GROUND):
            above = tree.nodes[node].parent
            if above != root:
                offset = tree.nodes[node].X_PJ[1]
                longest = max([longest, *(abs(float(number(x, values))) for x in offset)])
            node = above
    return longest or 1.0


def _places(constants: int) -> dict[Expr, tuple[str, int]]:
    places: dict[Expr, tuple[str, int]] = {constant(k): ("u", k) for k in range(constants)}
    for k in range(STATE):
        places |= {symbol(f"first {k}"): ("q", k), symbol(f"second {k}"): ("v", k)}
        places |= {symbol(f"root {k}"): ("p", k)}
    places |= {symbol(f"kept q {k}"): ("x", k) for k in range(12)}
    return places | {symbol(f"kept v {k}"): ("x", 12 + k) for k in range(6)}


def _cut_class(kind: JointType, is_rooted: bool, is_kept: bool, entries: Sequence[Any]) -> CutClass:
    """The formulas of a joint between two nodes; pinned in the axes of a third, or the ground's."""
    ends = Ends(entries)
    flow, second = dict(ends.flow), dict(ends.second)
    accelerations = list(ends.accelerations)
    x = array([symbol(f"root {k}") for k in range(STATE)])
    R_root, omega = x[:9].reshape(3, 3), x[12:15]
    if is_rooted:
        spin = [cross(omega, R_root[:, j]) for j in range(3)]
        flow |= {R_root[i, j]: as_expr(spin[j][i]) for i in range(3) for j in range(3)}
        second |= dict(zip(x[12:18], x[18:24], strict=True))
    accelerations += list(x[18:24])
    pins = pinned(kind)
    apart = ends.frames[1][1] - ends.frames[0][1]
    apart = product(R_root.T, apart) if is_rooted else apart
    held = [as_expr(x) for x in apart] if pins else []
    held += seen_from(ends.pose(), residual_template(kind)[pins:])
    ties = tied(kind, ends) if is_kept else []
    rate = [*directional(held, flow), *(x for _, x in ties)]
    faster = directional(rate, {**flow, **second})
    J = jacobian(faster, accelerations)
    rows = range(len(rate))
    formulas = [
        J.get((i, c), as_expr(0)) for end in (0, 6, 12) for i in rows for c in range(end, end + 6)
    ]
    left = (*held, *(x for x, _ in ties))
    return CutClass((*formulas, *faster, *left, *rate), len(held), len(ties))


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

    def derived(self, entries: Sequence[Any]) -> CutClass:
        """The formulas of a class of them."""
        return CutClass(frame_formulas(self, entries), len(self.rows), 0, touching(self, entries))


def frame_kind(relation: BetweenFrames) -> tuple[FrameKind, list[Any]]:
    """The kind of a relation, and the numbers that it reads, in their order."""
    reads: list[Any] = []

    def read(x: Any) -> Expr:
        reads.append(x)
        return read_symbol(len(reads) - 1)

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
    ends, known = Ends(entries), known_reads(entries)
    pose, (omega, slip) = ends.pose(), seen_rates(ends)
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
    arm = seen_from(ends.pose(), substitute(list(kind.arm), known_reads(entries)))
    return tuple(as_expr(x) for x in (*R_F.flat, *(center + product(R_F, array(arm)))))


def read_symbol(k: int) -> Expr:
    """In the place of a number that a relation reads."""
    return symbol(f"number {k} of a relation")


def known_reads(entries: Sequence[Any]) -> dict[Expr, Expr]:
    """These symbols -> numbers, or constants, of a class."""
    return {read_symbol(k): as_expr(x) for k, x in enumerate(entries[24:])}


def seen_rates(ends: Ends) -> tuple[Any, Any]:
    """ω and ṗ of the second frame as seen from the first, in its axes."""
    (R_F, p_F), (_, p_M) = ends.frames
    (omega_F, v_F), (omega_M, v_M) = ends.twists
    slip = v_M - v_F - cross(omega_F, p_M - p_F)
    return product(R_F.T, omega_M - omega_F), product(R_F.T, slip)
