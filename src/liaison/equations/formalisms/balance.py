"""The balance of a chosen sub-system at a chosen point: six scalar equations in the ground's axes.

    Σ m γ = Σ f + weight + reactions,     Σ δ(P) = Σ n(P) + …(P) + reactions(P)       (balance-1)

Reactions are the wrenches through the joints that hold the sub-system to the rest, as unknowns
with names. What acts between two of its bodies is not there.

Public names: Balance, balance.

Source: LL 1.4; PA, « équations de d'Alembert ».
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.setting import Setting
from liaison.equations.torsors import Torsor, body_torsor, moved_to
from liaison.errors import DerivationError, NamingError
from liaison.expr import Expr, as_expr, symbol
from liaison.model.contacts import refuse_sides
from liaison.spatial.arrays import Array, array, cross, product, times, zeros
from liaison.spatial.plucker import move_inertia
from liaison.tree import GROUND, Tree, marker_motion

AXES = ("x", "y", "z")


@final
@dataclass(frozen=True, slots=True)
class Balance:
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
        DerivationError: no body is named, or the ground is; something holds on one side only.
    """
    refuse_sides(tree.mechanism.contacts, "balance")
    setting = Setting(tree)
    chosen = _chosen(tree, bodies)
    P = _place(setting, point)
    needed, applied = Torsor(zeros(3), zeros(3)), Torsor(zeros(3), zeros(3))
    for body in chosen:
        i = tree.frames[body][0]
        needed = _sum(needed, _accelerated(setting, i, P))
        applied = _sum(applied, _weight(setting, i, P))
    applied = _sum(applied, _loads(setting, chosen, P))
    held, reactions = _held(setting, chosen, P)
    applied = _sum(applied, held)
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
