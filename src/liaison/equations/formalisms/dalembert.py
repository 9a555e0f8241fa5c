"""D'Alembert: the torsor of inertia forces of a sub-system balances what acts on it from outside.

For each joint the sub-system is all that it carries. With γ_b and δ_b the resultant and the moment
(at P) that the accelerations of body b ask for, and the joint's unit motion (turn e, slide of P s),

    e · Σ δ_b(P) + s(P) · Σ γ_b = e · Σ n(P) + s(P) · Σ f                          (dalembert-1)

whatever P is: on the axis of a hinge s vanishes and moments alone remain; at the mass center of the
sub-system both remain, separately. All vectors are in the ground's axes.

The balance of a chosen sub-system at a chosen point: six scalar equations in the ground's axes.

    Σ m γ = Σ f + weight + reactions,     Σ δ(P) = Σ n(P) + …(P) + reactions(P)       (balance-1)

Reactions are the wrenches through the joints that hold the sub-system to the rest, as unknowns
with names. What acts between two of its bodies is not there.

Public names: dalembert, Balance, balance, Torsor, body_torsor, moved_to.

Source: LL 1.2–1.4 (torseur dynamique, théorèmes du centre d'inertie et du moment dynamique); PA,
« équations de d'Alembert ».
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of
from liaison.errors import DerivationError, NamingError
from liaison.expr import Expr, as_expr, symbol
from liaison.lazy import Shown
from liaison.model.contacts import check_bilateral
from liaison.spatial.arrays import Array, array, cross, dot, is_zero, plus, product, times, zeros
from liaison.spatial.plucker import move_inertia
from liaison.tree import GROUND, Inertia, Motion, Tree, marker_motion

from .formalism import formalism


class Torsor(NamedTuple):
    """Moment at a point the caller knows, and resultant, in the ground's axes [N·m, N]."""

    moment: Array
    force: Array


def body_torsor(inertia: Inertia, frame: Motion, gravity: Array) -> Torsor:
    """The inertia torsor of a body, less its weight, at the origin of its frame.

    f = m (a − g) + α × h + ω × (ω × h),  n = I α + ω × I ω + h × (a − g),  h = m c
    """
    m, h, I = move_inertia(frame.R, zeros(3), *inertia)
    omega, alpha = frame.omega, frame.alpha
    felt = frame.acceleration - gravity
    force = array([times(m, x) for x in felt]) + cross(alpha, h) + cross(omega, cross(omega, h))
    moment = product(I, alpha) + cross(omega, product(I, omega)) + cross(h, felt)
    return Torsor(moment, force)


def moved_to(torsor: Torsor, origin: Array, point: Array) -> Torsor:
    """The torsor at another point: n(P) = n(O) + (O − P) × f."""
    if origin is point:
        return torsor
    return Torsor(torsor.moment + cross(origin - point, torsor.force), torsor.force)


AXES = ("x", "y", "z")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Balance(Shown):
    """Left = right for the resultant and for the moment at P, in the ground's axes."""

    bodies: tuple[str, ...]
    point: tuple[Expr, ...]  # P, of q [m]
    vdot: tuple[Expr, ...]
    resultant: tuple[tuple[Expr, Expr], ...]  # Σ m γ = Σ f + Σ m g + reactions [N]
    moment: tuple[tuple[Expr, Expr], ...]  # Σ δ(P) = … [N·m]
    reactions: dict[str, tuple[Expr, ...]]
    # joint -> moment and force on its successor as unknowns, in M's axes at M: `reports.reactions`


def balance(
    tree: Tree, bodies: Iterable[str], point: tuple[str, Sequence[Any]] | None = None
) -> Balance:
    """The balance of some bodies taken together.

    Args:
        tree: of the mechanism.
        bodies: names of the bodies of the sub-system.
        point: where moments are taken: a body (or "ground") and a place in its axes; the
            ground's origin if not given.

    Raises:
        NamingError: no body has that name.
        DerivationError: no body is named, or the ground is; there is a unilateral constraint.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> type(liaison.balance(tree, ["bar"])).__name__
        'Balance'
    """
    check_bilateral(tree.mechanism.contacts, "balance")
    setting = Setting(tree)
    chosen = _chosen(tree, bodies)
    P = _place(setting, point)
    needed, applied = Torsor(zeros(3), zeros(3)), Torsor(zeros(3), zeros(3))
    for body in chosen:
        i = tree.frames[body][0]
        needed = _sum(needed, _accelerated(setting, i, P))
        applied = _sum(applied, _weight(setting, i, P))
    applied = _sum(applied, _loads(setting, chosen, P))
    sum_of_reactions, reactions = _held(setting, chosen, P)
    applied = _sum(applied, sum_of_reactions)
    return Balance(
        bodies=tuple(chosen),
        point=tuple(map(as_expr, P)),
        vdot=setting.symbols.vdot,
        resultant=_pairs(needed.force, applied.force),
        moment=_pairs(needed.moment, applied.moment),
        reactions=reactions,
    )


def _chosen(tree: Tree, bodies: Iterable[str]) -> list[str]:
    chosen = list(dict.fromkeys(bodies))
    for name in chosen:
        if name not in tree.frames:
            raise NamingError.unknown("body", name, tree.frames)
    if not chosen or "ground" in chosen:
        raise DerivationError(
            "a sub-system is made of bodies that move; "
            "the forces that hold the ground are not described.",
            hint=f"Bodies: {', '.join(sorted(set(tree.frames) - {'ground'}))}.",
        )
    return chosen


def _place(setting: Setting, point: tuple[str, Sequence[Any]] | None) -> Array:
    if point is None:
        return zeros(3)
    body, place = point
    if body not in setting.tree.frames:
        raise NamingError.unknown("body", body, setting.tree.frames)
    node, (R, p) = setting.tree.frames[body]
    frame = setting.kinematics.motion(GROUND, node)
    local = p + product(R, array(list(place)))
    return frame.p + product(frame.R, local)


def _sum(a: Torsor, b: Torsor) -> Torsor:
    return Torsor(a.moment + b.moment, a.force + b.force)


def _pairs(left: Array, right: Array) -> tuple[tuple[Expr, Expr], ...]:
    return tuple((as_expr(a), as_expr(b)) for a, b in zip(left, right, strict=True))


def _accelerated(setting: Setting, i: int, P: Array) -> Torsor:
    """Σ m γ and δ(P) of one body, of q, v and v̇."""
    kinematics, node = setting.kinematics, setting.tree.nodes[i]
    frame = kinematics.motion(GROUND, i)
    total = body_torsor(node.inertia, frame, zeros(3))
    m, h, I = move_inertia(frame.R, zeros(3), *node.inertia)
    for j, (turn, slide) in kinematics.jacobian(GROUND, i, frame.p).items():
        rate = setting.symbols.vdot[j]
        alpha = array([times(rate, x) for x in turn])
        a = array([times(rate, x) for x in slide])
        force = array([times(m, x) for x in a]) + cross(alpha, h)
        total = _sum(total, Torsor(product(I, alpha) + cross(h, a), force))
    return moved_to(total, frame.p, P)


def _weight(setting: Setting, i: int, P: Array) -> Torsor:
    frame, node = setting.kinematics.motion(GROUND, i), setting.tree.nodes[i]
    m, h, _ = node.inertia
    force = array([times(m, x) for x in setting.gravity])
    return moved_to(Torsor(cross(product(frame.R, h), setting.gravity), force), frame.p, P)


def _loads(setting: Setting, chosen: Sequence[str], P: Array) -> Torsor:
    """Every load that pushes on a body of the sub-system; pairs inside it cancel."""
    nodes = {setting.tree.frames[body][0] for body in chosen}
    total = Torsor(zeros(3), zeros(3))
    for load in setting.loads:
        for effort, push in load.pushes:
            if push.node in nodes:
                root = setting.kinematics.motion(GROUND, push.root)
                point = root.p + product(root.R, push.point)
                scaled = [array([times(effort, x) for x in product(root.R, y)])
                          for y in (push.moment, push.force)]  # fmt: skip
                total = _sum(total, moved_to(Torsor(*scaled), point, P))
    return total


def _held(
    setting: Setting, chosen: Sequence[str], P: Array
) -> tuple[Torsor, dict[str, tuple[Expr, ...]]]:
    """What the joints at the border pass on, as unknowns named after them."""
    total, reactions = Torsor(zeros(3), zeros(3)), {}
    for joint in setting.mechanism.joints:
        inside = [end.body in chosen for end in (joint.predecessor, joint.successor)]
        if inside[0] == inside[1]:
            continue
        names = [f"{joint.name}: {word} {axis}" for word in ("moment", "force") for axis in AXES]
        unknown = [symbol(name) for name in names]
        reactions[joint.name] = tuple(unknown)
        M = marker_motion(setting.kinematics, GROUND, setting.tree.located(joint.successor))
        sign = 1 if inside[1] else -1
        parts = [
            product(M.R, array([sign * x for x in part])) for part in (unknown[:3], unknown[3:])
        ]
        total = _sum(total, moved_to(Torsor(*parts), M.p, P))
    return total, reactions


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

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.dalembert(tree)
        <Equations pendulum, by dalembert: 1 equation>
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
