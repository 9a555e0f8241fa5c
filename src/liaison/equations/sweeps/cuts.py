"""Cut joints of a tree of many bodies as formulas of three nodes, ready to be looped.

A cut joint sees the nodes of its two markers, and their common ancestor, in whose axes the rows are
that pin its origin. Of their states in the ground's axes it computes its rows J on each of the
three, and what is left over at three levels: Φ̈ with the accelerations that are there, Φ and Φ̇.
They are the rows of (closure-1), in the same order and axes as unrolled code has them.

Public names: Cuts, CutClass, cuts_of, LEVELS.

Source: docs/theory/closures.md (closure-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.expr import Expr, as_expr, directional, jacobian, symbol
from liaison.model import JointType
from liaison.spatial.arrays import array, cross, product
from liaison.tree import GROUND, Kinematics, Tree
from liaison.tree.closure import joint_labels, pinned, residual_template, tie_labels
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
    """

    formulas: tuple[Expr, ...]
    rows: int
    ties: int


@final
@dataclass(frozen=True, slots=True)
class Cuts:
    """Cut joints of a tree by class, with tables.

    Attributes:
        classes: what they compute.
        table: a row for each: class, nodes of the predecessor's and the successor's marker, their
            common ancestor (−1 the ground), starts of its constants and of the q and v it keeps,
            and how many of q.
        constants: of all.
        inputs: symbol -> (array, index): states of the nodes in q, v and p, constants in u; in x
            the positions that it keeps, and from 12 on the velocities.
        markers: of successors: node and pose in it, 13 numbers each.
        joints: names.
        labels: of all rows, one joint after another.
        reach: how large the entries of each row can be by rad/s.
        relations: rows that are written out, those of positions first.
    """

    classes: tuple[CutClass, ...]
    table: np.ndarray[Any, np.dtype[np.int64]]
    constants: np.ndarray[Any, np.dtype[np.float64]]
    inputs: Mapping[Expr, tuple[str, int]]
    markers: np.ndarray[Any, np.dtype[np.float64]]
    joints: tuple[str, ...]
    labels: tuple[Label, ...]
    reach: tuple[float, ...]
    relations: tuple[RestRow, ...] = ()


def cuts_of(tree: Tree, values: Mapping[Expr, Any], relations: tuple[RestRow, ...] = ()) -> Cuts:
    """The cut joints of a tree, parameters replaced by their values, and its relations."""
    numbers = [_numbers(closure, values) for closure in tree.closures]
    roots = [tree.common_ancestor(x.predecessor[0], x.successor[0]) for x in tree.closures]
    kinds = [
        (
            closure.joint.type.mapped(lambda x: number(x, values)),
            root != GROUND,
            closure.ghost is not None,
        )
        for closure, root in zip(tree.closures, roots, strict=True)
    ]
    order = {kind: c for c, kind in enumerate(dict.fromkeys(kinds))}
    members = [order[kind] for kind in kinds]
    classes, varying = [], []
    for c, kind in enumerate(order):
        entries, places = _entries([x for x, own in zip(numbers, members, strict=True) if own == c])
        varying.append(places)
        classes.append(_cut_class(*kind, entries))
    read = [[x[k] for k in varying[c]] for x, c in zip(numbers, members, strict=True)]
    starts = np.cumsum([0, *map(len, read)])[:-1]
    rows = [
        (c, x.predecessor[0], x.successor[0], root, int(start), *_kept_places(tree, x.ghost))
        for c, x, root, start in zip(members, tree.closures, roots, starts, strict=True)
    ]
    marks = [[x.successor[0], *own[12:]] for x, own in zip(tree.closures, numbers, strict=True)]
    labels = _labels(tree)
    return Cuts(
        classes=tuple(classes),
        table=np.array(rows, dtype=np.int64).reshape(-1, 8),
        constants=np.array([x for row in read for x in row], dtype=float),
        inputs=MappingProxyType(_places(max(map(len, varying), default=0))),
        markers=np.array(marks, dtype=float).reshape(-1, 13),
        joints=tuple(x.joint.name for x in tree.closures),
        labels=tuple(label for own in labels for label in own),
        reach=tuple(
            1.0 if label.unit == MOMENT else arm
            for own, arm in zip(labels, _arms(tree, roots, values), strict=True)
            for label in own
        ),
        relations=relations,
    )


def _entries(rows: Sequence[Sequence[float]]) -> tuple[list[Any], list[int]]:
    """Numbers that cut joints share, constants in place of the others; and which those are."""
    columns = [*zip(*rows, strict=True)]
    varying = [k for k, column in enumerate(columns) if len(set(column)) > 1]
    entries: list[Any] = [column[0] for column in columns]
    for place, k in enumerate(varying):
        entries[k] = constant(place)
    return entries, varying


def _numbers(closure: Any, values: Mapping[Expr, Any]) -> tuple[float, ...]:
    """R and p of both markers in their nodes."""
    ends = (closure.predecessor[1], closure.successor[1])
    return tuple(float(number(x, values)) for R, p in ends for x in (*R.flat, *p))


def _kept_places(tree: Tree, ghost: int | None) -> tuple[int, int, int]:
    """Where the positions and velocities lie that a cut joint keeps, and how many positions."""
    if ghost is None:
        return (0, 0, 0)
    node = tree.nodes[ghost]
    return node.q.start, node.v.start, node.joint.type.nq


def _labels(tree: Tree) -> list[list[Label]]:
    q = array([symbol(label.name) for label in tree.position_labels()])
    kinematics = Kinematics(tree, q)
    return [
        joint_labels(kinematics, x) + ([] if x.ghost is None else tie_labels(x.joint))
        for x in tree.closures
    ]


def _arms(tree: Tree, roots: Sequence[int], values: Mapping[Expr, Any]) -> list[float]:
    """For each cut joint the longest offset from a joint of its loop outwards [m]; 1 of none."""
    arms = []
    for closure, root in zip(tree.closures, roots, strict=True):
        longest = 0.0
        for node, (_, p) in (closure.predecessor, closure.successor):
            longest = max([longest, *(abs(float(number(x, values))) for x in p)])
            while node not in (root, GROUND):
                above = tree.nodes[node].parent
                if above != root:
                    offset = tree.nodes[node].X_PJ[1]
                    longest = max([longest, *(abs(float(number(x, values))) for x in offset)])
                node = above
        arms.append(longest or 1.0)
    return arms


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
