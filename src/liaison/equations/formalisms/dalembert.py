"""D'Alembert: the torsor of inertia forces of a sub-system balances what acts on it from outside.

For each joint the sub-system is all that it carries. With γ_b and δ_b the resultant and the moment
(at P) that the accelerations of body b ask for, and the joint's unit motion (turn e, slide of P s),

    e · Σ δ_b(P) + s(P) · Σ γ_b = e · Σ n(P) + s(P) · Σ f                          (dalembert-1)

whatever P is: on the axis of a hinge s vanishes and moments alone remain; at the mass center of the
sub-system both remain, separately. All vectors are in the ground's axes.

Public names: dalembert, Balance, balance.

Source: LL 1.3–1.4 (théorème du centre d'inertie, du moment dynamique); PA, « équations de
d'Alembert ».
"""

from __future__ import annotations

from typing import Any

from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of
from liaison.equations.torsors import Torsor, body_torsor, moved_to
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr
from liaison.spatial.arrays import Array, array, cross, dot, is_zero, plus, product, times, zeros
from liaison.spatial.plucker import move_inertia
from liaison.tree import GROUND, Inertia, Motion, Tree

from .balance import Balance, balance
from .formalism import formalism

POINTS = ("joint", "center", "ground")


@formalism(rank=1)
def dalembert(tree: Tree, *, moment_point: str = "joint") -> Equations:
    """The equations of motion as balances of sub-systems, one for each velocity of a joint.

    Args:
        tree: of the mechanism.
        moment_point: where moments are taken: "joint", the origin of the joint's marker; "center",
            the mass center of what the joint carries; "ground", the ground's origin. The
            equations are the same, their terms are not.

    Raises:
        DerivationError: another point is asked for, or a mass center where there is no mass.
    """
    if moment_point not in POINTS:
        raise DerivationError(
            f"no moment point is called {moment_point!r}; known are {', '.join(POINTS)}.",
            hint="For a sub-system and a point of your own, use liaison.balance.",
        )
    setting = setting_of(tree, regroup=moment_point != "center")
    carried = _carried(setting)
    points = [_point(setting, carried, i, moment_point) for i in range(len(carried))]
    h = _balances(setting, _needed(setting), points)
    M = _mass_matrix(setting, carried, points)
    dynamics = plain_dynamics(setting.symbols.vdot, M, h, setting.applied())
    return completed("dalembert", tree, setting, dynamics, {"moment_points": tuple(points)})


def _frame(setting: Setting, i: int) -> Motion:
    return setting.kinematics.motion(GROUND, i)


def _carried(setting: Setting) -> list[Inertia]:
    """Mass, first moment and inertia of what each joint carries: at its origin, ground's axes."""
    nodes = setting.tree.nodes
    total = [move_inertia(_frame(setting, i).R, zeros(3), *nodes[i].inertia)
             for i in range(len(nodes))]  # fmt: skip
    for i in range(len(nodes) - 1, -1, -1):
        parent = nodes[i].parent
        if parent != GROUND:
            offset = _frame(setting, i).p - _frame(setting, parent).p
            total[parent] = _joined(total[parent], total[i], offset)
    return total


def _joined(a: Inertia, b: Inertia, offset: Array) -> Inertia:
    """Two bodies as one: b's inertia about a's origin, by the parallel-axis theorem (Huygens)."""
    m, h, I = move_inertia(array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), offset, *b)
    return plus(a[0], m), a[1] + h, a[2] + I


def _point(setting: Setting, carried: list[Inertia], i: int, where: str) -> Array:
    """The moment point of the sub-system that joint i carries."""
    origin = _frame(setting, i).p
    if where == "joint":
        return origin
    if where == "ground":
        return zeros(3)
    m, h, _ = carried[i]
    if is_zero(m):
        name = setting.tree.nodes[i].joint.name
        raise DerivationError(
            f"what joint {name!r} carries has no mass, hence no mass center.",
            hint='Take moments at the joints: moment_point="joint".',
        )
    return array([a + b / as_expr(m) for a, b in zip(origin, h, strict=True)])


def _needed(setting: Setting) -> list[Torsor]:
    """Inertia torsor of each sub-system at v̇ = 0, less its weight, at its joint's origin."""
    nodes = setting.tree.nodes
    torsors = [
        body_torsor(nodes[i].inertia, _frame(setting, i), setting.gravity)
        for i in range(len(nodes))
    ]
    for i in range(len(nodes) - 1, -1, -1):
        parent = nodes[i].parent
        if parent != GROUND:
            there = moved_to(torsors[i], _frame(setting, i).p, _frame(setting, parent).p)
            torsors[parent] = Torsor(torsors[parent].moment + there.moment,
                                   torsors[parent].force + there.force)  # fmt: skip
    return torsors


def _unit_motions(setting: Setting, i: int, point: Array) -> list[tuple[Array, Array]]:
    """For each velocity of a joint: how it turns, and how it moves a point of what it carries."""
    frame, S = _frame(setting, i), setting.kinematics.subspace(i)
    motions = []
    for k in range(S.shape[1]):
        turn, slide = product(frame.R, S[:3, k]), product(frame.R, S[3:, k])
        motions.append((turn, slide + cross(turn, point - frame.p)))
    return motions


def _work(motion: tuple[Array, Array], torsor: Torsor) -> Any:
    return plus(dot(motion[0], torsor.moment), dot(motion[1], torsor.force))


def _balances(setting: Setting, needed: list[Torsor], points: list[Array]) -> list[Expr]:
    """The left side of (dalembert-1) where v̇ = 0, less weight."""
    h: list[Any] = []
    for i, torsor in enumerate(needed):
        there = moved_to(torsor, _frame(setting, i).p, points[i])
        h += [_work(motion, there) for motion in _unit_motions(setting, i, points[i])]
    return [as_expr(x) for x in h]


def _mass_matrix(
    setting: Setting, carried: list[Inertia], points: list[Array]
) -> dict[tuple[int, int], Expr]:
    """What a unit of v̇_j asks of the sub-system of joint i, which it moves as one solid."""
    nodes = setting.tree.nodes
    M: dict[tuple[int, int], Expr] = {}
    for i, (m, h, I) in enumerate(carried):
        origin = _frame(setting, i).p
        rows = _unit_motions(setting, i, points[i])
        for j in setting.tree.path(i):
            for n, (turn, slide) in enumerate(_unit_motions(setting, j, origin)):
                force = array([times(m, x) for x in slide]) + cross(turn, h)
                torsor = Torsor(product(I, turn) + cross(h, slide), force)
                there = moved_to(torsor, origin, points[i])
                for k, motion in enumerate(rows):
                    row, column = nodes[i].v.start + k, nodes[j].v.start + n
                    if column <= row:
                        M[row, column] = as_expr(_work(motion, there))
    return M


__all__ = ["Balance", "balance", "dalembert"]
