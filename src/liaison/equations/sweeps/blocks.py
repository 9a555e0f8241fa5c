"""Blocks of a closed mechanism as formulas of one node and of one closure, ready to be looped.

Each body keeps its six accelerations, each joint its rows: what is unknown is how far accelerations
ΔA = A − Ā are from those Ā that velocities alone cause,

    I ΔA + Jᵀ y = Zᵀ τ − f(Ā),   J ΔA = γ,   v̇ = Z ΔA,   y = −λ                 (blocks-1)

in the ground's axes at the origin of each node. Rows of the joints of the tree have γ = 0.

Public names: BlockClass, ClosureClass, block_class, keeping_class, closure_classes, local_steps,
moved_state, Ends, seen_from, tied, STATE, ROWS_SLOT.

Source: docs/theory/closures.md (closure-1), for the rows of a cut joint; RBDA §5.3 for f.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, directional, jacobian, substitute, symbol
from liaison.model import JointType
from liaison.spatial.arrays import Array, array, cross, dot, minus, product, tilde, times
from liaison.spatial.arrays import number as number_of
from liaison.spatial.plucker import compose
from liaison.tree import Tree
from liaison.tree.closure import WELDED, P, R, pinned, residual_template

from .classes import NodeClass, above, number
from .recursion import Link

STATE = 24
"""Numbers of a node's state: R, p, then ω, v, α, a, all in the ground's axes."""

ROWS_SLOT = STATE + 36 + 6 + 2
"""Where the rows begin in a record, after the inertia, f, and how much rows may lend."""


@final
@dataclass(frozen=True, slots=True)
class BlockClass:
    """What a node of a class computes: state, inertia, f, weights, then pairs of six numbers.

    Pairs are a direction on the node and on its parent: rows that the joint holds, then those
    that take v̇ out of accelerations, along which τ pushes.

    Attributes:
        formulas: of all that.
        rows: that the joint holds.
        retract: q ⊞ ξ, on the symbols `q 0`, …, `xi 0`, ….
        rate: ξ̇ of q, ξ and `v 0`, ….
    """

    formulas: tuple[Expr, ...]
    rows: int
    retract: tuple[Expr, ...]
    rate: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class ClosureClass:
    """What closures of a class compute of their two nodes.

    J on each of them, then what is left over of the rows at three levels: Φ̈ at Ā, Φ and Φ̇.

    Attributes:
        formulas: rows, then ties, at each level.
        rows: that hold the two markers.
        ties: that define the coordinates of a joint that keeps them, as (closure-2) has them.
        members: closures of the class.
        constants: of each member.
    """

    formulas: tuple[Expr, ...]
    rows: int
    ties: int
    members: tuple[int, ...]
    constants: tuple[tuple[float, ...], ...]


def block_class(one: NodeClass) -> BlockClass:
    """The formulas of a class of nodes."""
    S = one.link.S
    axes = _axes(one)
    x = array([above(k) for k in range(STATE)])
    state, arm = moved_state(x, one.link)
    turned, wrench, weights = _inertia(one, state)
    formulas = [*_flat(state), *turned.flat, *wrench, *weights]
    held = [[int(j == k) for j in range(6)] for k in range(6) if k not in axes]
    pulls = _inverse([[S[k, c] for c in range(S.shape[1])] for k in axes])
    pulled = [[row[axes.index(k)] if k in axes else 0 for k in range(6)] for row in pulls]
    for direction in (*held, *pulled):
        formulas += _pair(state[0], arm, array(list(direction)))
    return BlockClass(tuple(map(as_expr, formulas)), len(held), *local_steps(one.joint))


def keeping_class(one: NodeClass) -> BlockClass:
    """The class of nodes that keep coordinates of cut joints, without equations of their own."""
    return BlockClass((), 0, *local_steps(one.joint))


def local_steps(kind: JointType) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """q ⊞ ξ and ξ̇ of a joint."""
    q = array([symbol(f"q {k}") for k in range(kind.nq)])
    v, xi = (array([symbol(f"{name} {k}") for k in range(kind.nv)]) for name in ("v", "xi"))
    moved, rate = kind.retract(q, xi), kind.local_rate(q, xi, v)
    return tuple(map(as_expr, moved)), tuple(map(as_expr, rate))


def _axes(one: NodeClass) -> list[int]:
    """The axes of the node along which its joint moves, 0 to 5; all others are held."""
    S = one.link.S
    axes = [k for k in range(6) if any(number_of(x) != 0.0 for x in S[k])]
    if len(axes) != S.shape[1] or (len(axes) > 3 and not _is_identity(S[axes])):
        raise DerivationError(
            f"looped loops know joints that move along as many axes of their marker as they "
            f"have degrees of freedom, not {one.joint.name}{' reversed' * one.is_reversed}.",
            hint="Derive the equations by newton_euler.",
        )
    return axes


def _is_identity(A: Array) -> bool:
    n = len(A)
    return all(number_of(A[i, j]) == float(i == j) for i in range(n) for j in range(n))


def _inverse(A: list[list[Any]]) -> list[list[Any]]:
    """The inverse of a matrix of up to three rows; larger ones are identities."""
    n = len(A)
    if n > 3:
        return A
    if n < 2:
        return [[as_expr(1) / as_expr(x) for x in row] for row in A]
    if n == 2:
        (a, b), (c, d) = A
        minors = [[d, minus(0, b)], [minus(0, c), a]]
        whole = minus(times(a, d), times(b, c))
    else:
        columns = [array([A[i][j] for i in range(3)]) for j in range(3)]
        minors = [list(cross(columns[(k + 1) % 3], columns[(k + 2) % 3])) for k in range(3)]
        whole = dot(columns[0], minors[0])
    return [[as_expr(x) / as_expr(whole) for x in row] for row in minors]


def moved_state(x: Array, link: Link) -> tuple[list[Array], Array]:
    """The state of a node from its parent's, v̇ = 0; and the arm from the parent's origin."""
    above_R, above_p = x[:9].reshape(3, 3), x[9:12]
    omega, v, alpha, a = x[12:15], x[15:18], x[18:21], x[21:24]
    R, p = compose(above_R, above_p, *link.pose)
    arm = product(above_R, link.pose[1])
    turn, slide = product(R, link.twist[:3]), product(R, link.twist[3:])
    bias = [product(R, link.bias[:3]), product(R, link.bias[3:])]
    faster = omega + turn
    rate = alpha + cross(omega, turn) + bias[0]
    push = a + cross(alpha, arm) + cross(omega, cross(omega, arm)) + bias[1]
    push = push + cross(omega + faster, slide)
    return [R, p, faster, v + cross(omega, arm) + slide, rate, push], arm


def _inertia(one: NodeClass, state: list[Array]) -> tuple[Array, list[Any], list[Any]]:
    """The six by six inertia of a node, the wrench it needs for Ā, and what its rows may lend."""
    m, mc, I = one.link.inertia
    R, _, omega, _, alpha, a = state
    h, J = product(R, mc), product(product(R, I), R.T)
    block = array([[0] * 6 for _ in range(6)]).astype(object)
    block[:3, :3], block[:3, 3:], block[3:, :3] = J, tilde(h), -tilde(h)
    for k in range(3):
        block[3 + k, 3 + k] = m
    moment = product(J, alpha) + cross(omega, product(J, omega)) + cross(h, a)
    force = array([times(m, x) for x in a]) + cross(alpha, h) + cross(omega, cross(omega, h))
    trace = I[0, 0] + I[1, 1] + I[2, 2]
    return block, [*moment, *force], [trace, m]


def _pair(R: Array, arm: Array, direction: Array) -> list[Any]:
    """A direction of the node as a row on its own accelerations, and on its parent's."""
    turn, slide = product(R, direction[:3]), product(R, direction[3:])
    carried = turn + cross(arm, slide)
    return [*turn, *slide, *(minus(0, x) for x in carried), *(minus(0, x) for x in slide)]


def _flat(parts: Sequence[Array]) -> list[Any]:
    return [x for part in parts for x in part.flat]


def closure_classes(tree: Tree, values: Mapping[Expr, Any]) -> tuple[ClosureClass, ...]:
    """The closures of a tree by the types of their joints, and whether these keep coordinates."""
    kinds: dict[tuple[JointType, bool], list[int]] = {}
    for k, closure in enumerate(tree.closures):
        kind = closure.joint.type.mapped(lambda x: number(x, values))
        kinds.setdefault((kind, closure.ghost is not None), []).append(k)
    return tuple(_closure_class(tree, kind, listed, values) for kind, listed in kinds.items())


def _closure_class(
    tree: Tree, kind: tuple[JointType, bool], listed: list[int], values: Mapping[Expr, Any]
) -> ClosureClass:
    classes = []
    for k in listed:
        ends = (tree.closures[k].predecessor[1], tree.closures[k].successor[1])
        flat = [x for R_, p_ in ends for x in (*R_.flat, *p_)]
        classes.append(tuple(float(number(x, values)) for x in flat))
    columns = list(zip(*classes, strict=True))
    varying = [c for c, column in enumerate(columns) if len(set(column)) > 1]
    entries: list[Any] = [column[0] for column in columns]
    for place, c in enumerate(varying):
        entries[c] = symbol(f"constant {place}")
    constants = tuple(tuple(row[c] for c in varying) for row in classes)
    both = Ends(entries)
    rows = _held(kind[0], both)
    kept = tied(kind[0], both) if kind[1] else []
    return ClosureClass(_closure(both, rows, kept), len(rows), len(kept), tuple(listed), constants)


class Ends:
    """The two markers of a closure, on the symbols of the states of their nodes."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self.frames: list[tuple[Array, Array]] = []
        self.twists: list[tuple[Array, Array]] = []
        self.flow: dict[Expr, Expr] = {}
        self.second: dict[Expr, Expr] = {}
        self.accelerations: list[Expr] = []
        for name, start in (("first", 0), ("second", 12)):
            x = array([symbol(f"{name} {k}") for k in range(STATE)])
            R_, p_ = x[:9].reshape(3, 3), x[9:12]
            marker = array(entries[start : start + 9]).reshape(3, 3)
            self.frames.append(compose(R_, p_, marker, array(entries[start + 9 : start + 12])))
            omega, arm = x[12:15], self.frames[-1][1] - p_
            self.twists.append((omega, x[15:18] + cross(omega, arm)))
            spin = [cross(x[12:15], R_[:, j]) for j in range(3)]
            self.flow |= {R_[i, j]: as_expr(spin[j][i]) for i in range(3) for j in range(3)}
            self.flow |= dict(zip(p_, map(as_expr, x[15:18]), strict=True))
            self.second |= dict(zip(x[12:18], x[18:24], strict=True))
            self.accelerations += list(x[18:24])

    def pose(self) -> tuple[Array, Array]:
        """The second marker seen from the first."""
        (R_F, p_F), (R_M, p_M) = self.frames
        return product(R_F.T, R_M), product(R_F.T, p_M - p_F)

    def twist(self) -> list[Expr]:
        """How the second marker moves as seen from the first, in its own axes."""
        (_, p_F), (R_M, p_M) = self.frames
        (omega_F, v_F), (omega_M, v_M) = self.twists
        slip = v_M - v_F - cross(omega_F, p_M - p_F)
        return [as_expr(x) for x in (*product(R_M.T, omega_M - omega_F), *product(R_M.T, slip))]


def seen_from(pose: tuple[Array, Array], formulas: Sequence[Expr]) -> list[Expr]:
    """Formulas of a relative pose at this one."""
    entries = map(as_expr, [*pose[0].flat, *pose[1]])
    return substitute(list(formulas), dict(zip([*R.flat, *P], entries, strict=True)))


def _held(kind: JointType, ends: Ends) -> list[Expr]:
    """Φ of a cut joint: rows that pin its origin in the ground's axes, the others in F's."""
    pins = pinned(kind)
    apart = [as_expr(x) for x in ends.frames[1][1] - ends.frames[0][1]] if pins else []
    return apart + seen_from(ends.pose(), residual_template(kind)[pins:])


def tied(kind: JointType, ends: Ends) -> list[tuple[Expr, Expr]]:
    """Residuals of position and rate for each velocity that a joint keeps.

    A coordinate q is tied by c(R, p) − q; an attitude by the pose of the second marker in the one
    that is kept, its rate by the twist of the marker less the velocity kept.
    """
    q = array([symbol(f"kept q {k}") for k in range(kind.nq)])
    coordinates = kind.coordinates_of(R, P, q)
    R_G, p_G = kind.pose(q)
    R_M, p_M = ends.pose()
    apart = (product(R_G.T, R_M), product(R_G.T, p_M - p_G))
    twist, pairs = ends.twist(), []
    for k, name in enumerate(kind.speed_names):
        if name in kind.coordinate_names and coordinates is not None:
            i = kind.coordinate_names.index(name)
            value = seen_from(ends.pose(), [as_expr(coordinates[i])])[0]
            left, rate = value - q[i], directional([value], ends.flow)[0]
        else:
            left = seen_from(apart, [WELDED[name]])[0]
            rate = twist[list(WELDED).index(name)]
        pairs.append((as_expr(left), as_expr(rate - symbol(f"kept v {k}"))))
    return pairs


def _closure(ends: Ends, held: list[Expr], kept: list[tuple[Expr, Expr]]) -> tuple[Expr, ...]:
    """J on both nodes, then Φ̈ at Ā, Φ and Φ̇, of rows that hold and of those that tie."""
    first = [*directional(held, ends.flow), *(rate for _, rate in kept)]
    second = directional(first, {**ends.flow, **ends.second})
    J = jacobian(second, ends.accelerations)
    rows = range(len(first))
    formulas = [
        J.get((i, c), as_expr(0)) for half in (0, 6) for i in rows for c in range(half, half + 6)
    ]
    return (*formulas, *second, *held, *(left for left, _ in kept), *first)
