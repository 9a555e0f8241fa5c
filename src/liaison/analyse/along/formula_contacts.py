"""formula_contacts: unilateral constraints by formulas, at the last joint in the formula.

A formula has no place. Where it contains one joint only, its force on the coordinates of that
joint is a wrench between the joint's two bodies; it is expressed at the successor's marker.

Public names: FormulaAlong, formula_contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import as_expr, evaluate, symbol
from liaison.model import Contact, Joint, Mechanism
from liaison.model.values import floats
from liaison.numeric import Array
from liaison.simulation import Trajectory
from liaison.tree import Kinematics, Node, on_symbols, span
from liaison.tree.contact.sides import SideBlock, side_blocks

from .contact_points import parameters_had


@final
@dataclass(frozen=True, slots=True)
class FormulaAlong:
    """A unilateral constraint by a formula along a run; one row per instant.

    Attributes:
        name: of the contact, relation or friction.
        joint: the last one whose coordinates it holds.
        is_placed: True if that joint is the only one in it, so that it acts there.
        is_closed: when it acts.
        point: the marker of that joint on its successor, in the ground's axes [m].
        force: on the successor there [N]; 0 where other joints are in the formula too.
        moment: the same [N·m].
    """

    name: str
    joint: str
    is_placed: bool
    is_closed: NDArray[np.bool_]
    point: Array
    force: Array
    moment: Array


def formula_contacts(mechanism: Mechanism, run: Trajectory) -> tuple[FormulaAlong, ...]:
    """Every unilateral constraint and friction that is no contact of two frames.

    Nothing of a run in other coordinates.

    Args:
        mechanism: that was run.
        run: of it, in the coordinates of its joints, with forces of contacts and poses.
    """
    tree = span(mechanism)
    labels = (tree.position_labels(), tree.velocity_labels())
    is_of_it = labels == (run.labels.get("q"), run.labels.get("v"))
    if not is_of_it or not {"contacts", "modes", "poses"} <= set(run.series):
        return ()
    moves, qdot = on_symbols(tree)
    placed = {x.name for x in mechanism.contacts if isinstance(x, Contact)}
    owned: dict[str, list[SideBlock]] = {}
    for block in side_blocks(moves, qdot):
        if block.owner not in placed:
            owned.setdefault(block.owner, []).append(block)
    seen = _Seen(mechanism, moves, run)
    return tuple(x for owner, blocks in owned.items() for x in seen.along(owner, blocks))


class _Seen:
    """A run with the symbols of its coordinates."""

    def __init__(self, mechanism: Mechanism, moves: Kinematics, run: Trajectory) -> None:
        self.tree, self.run = moves.tree, run
        # of a joint that is cut the tree has a massless body, which has no pose
        self.joints = {x.name: x for x in mechanism.joints}
        known = parameters_had(mechanism, run)
        self.parameters = {x.name: value for x, value in known.items()}
        self.values: dict[Any, Any] = known | {symbol("t"): run.t}
        self.values |= dict(zip([*moves.q, *moves.v], [*run.q.T, *run.v.T], strict=True))

    def along(self, owner: str, blocks: Sequence[SideBlock]) -> list[FormulaAlong]:
        """The relation at its joint; nothing where it holds no velocity of the tree."""
        effort = np.zeros((len(self.run.t), len(self.run.labels["v"])))
        reached: set[int] = set()
        for block in blocks:
            reached |= {k for row in block.rows for k in row.G}
            effort += self.effort(block)
        nodes = [node for node in self.tree.nodes if reached & set(range(len(effort[0]))[node.v])]
        if not nodes:
            return []
        node = nodes[-1]
        point, R = self.marker(node.joint)
        wrench = np.zeros((len(effort), 6))
        if len(nodes) == 1:
            wrench = self.wrench(node, effort[:, node.v])
        moment, force = (np.einsum("nij,nj->ni", R, x) for x in (wrench[:, :3], wrench[:, 3:]))
        closed = self.column("modes", blocks[0].name) > 0
        where = owner, node.joint.name, len(nodes) == 1
        return [FormulaAlong(*where, closed, point, force, moment)]

    def effort(self, block: SideBlock) -> Array:
        """Dᵀ f of a block on the velocities of the tree."""
        effort = np.zeros((len(self.run.t), len(self.run.labels["v"])))
        sign = -1.0 if block.kind == "rate" else 1.0  # as the author wrote it, with μ ≤ 0
        names = self.rows(block)
        for name, row in zip(names, block.rows, strict=True):
            values = evaluate([as_expr(x) for x in row.G.values()], self.values)
            for k, D in zip(row.G, values, strict=True):
                effort[:, k] += sign * D * self.column("contacts", name)
        return effort

    def rows(self, block: SideBlock) -> list[str]:
        """Labels of the forces of a block."""
        (known,) = self.run.series["contacts"].axes.values()
        if block.name in known:
            return [block.name]
        return [x for x in known if x.startswith(f"{block.name} ")]

    def column(self, series: str, name: str) -> Array:
        recorded = self.run.series[series]
        (names,) = recorded.axes.values()
        return np.asarray(recorded.values[:, names.index(name)])

    def marker(self, joint: Joint) -> tuple[Array, Array]:
        """Where the successor's marker is, and its axes."""
        M, series = self.joints.get(joint.name, joint).successor, self.run.series["poses"]
        names = next(iter(series.axes.values()))
        if M.body not in names:  # the ground does not move
            X = np.tile(np.eye(3, 4), (len(self.run.t), 1, 1))
        else:
            X = series.values[:, names.index(M.body)]
        p, R = floats(M.p, self.parameters), floats(M.R, self.parameters)
        return X[..., :3] @ p + X[..., 3], X[..., :3] @ R

    def wrench(self, node: Node, effort: Array) -> Array:
        """The least wrench on the joint's M, in its axes, that does the same work: Sᵀ F = τ."""
        wrench = np.zeros((len(effort), 6))
        for k in np.flatnonzero(effort.any(axis=1)):
            S = floats(node.joint.type.subspace(list(self.run.q[k, node.q])), self.parameters)
            wrench[k] = np.linalg.lstsq(S.T, effort[k], rcond=None)[0]
        return wrench
