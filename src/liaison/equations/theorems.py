"""The two sides of the general theorems, as formulas: what changes, and what should change it.

    d/dt (moment, momentum) = wrench from outside,   Ṫ = power of all that acts       (theorems-1)

The left sides are time derivatives of momentum and kinetic energy on the graph; the right sides
are what joints report, loads, gravity. Neither uses the other, so that their agreement says
something.

Public names: balance, whole_mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.expr import ONE, Expr, as_expr, directional
from liaison.spatial.arrays import Array, array, cross, dot, plus, product, times, zeros
from liaison.spatial.plucker import act_force
from liaison.tree import GROUND, Push, Row

from .setting import Load, Setting


def balance(
    setting: Setting,
    lam: tuple[Expr, ...],
    momentum: tuple[Expr, ...],
    energy: Expr,
    joints: tuple[Mapping[str, tuple[Expr, ...]], Mapping[str, tuple[Expr, ...]]],
    force: tuple[Expr, ...] = (),
) -> dict[str, tuple[Expr, ...]]:
    """Name -> formulas of q, v, v̇, λ and f; wrenches and momenta about the ground's origin.

    Args:
        setting: of the tree.
        lam: symbols of the multipliers.
        momentum: moment, then resultant.
        energy: kinetic.
        joints: reactions and markers of the joints.
        force: symbols of the forces of unilateral rows.

    Returns:
        mass, center (of mass, times mass), momentum, momentum_rate, outside, kinetic, kinetic_rate,
        and "power of NAME" for every load, contact and friction, gravity and moving closures.
    """
    mass, center = whole_mass(setting)
    rates = along_the_motion(setting, [*momentum, energy])
    outside = _gravity(setting, mass, center) + _joints(setting, *joints)
    efforts = _efforts(setting, lam, {joint.name for joint in setting.mechanism.joints})
    efforts += [(f, push) for f, row in _sided(setting, force) for push in row.pushes]
    outside = outside + _pushes(setting, efforts)
    formulas = {
        "mass": [mass], "center": [*center], "momentum": momentum, "momentum_rate": rates[:6],
        "outside": [*outside], "kinetic": [energy], "kinetic_rate": rates[6:],
        **_powers(setting, lam, center), **_side_powers(setting, force),
    }  # fmt: skip
    return {name: tuple(as_expr(x) for x in values) for name, values in formulas.items()}


def along_the_motion(setting: Setting, formulas: list[Expr]) -> list[Expr]:
    """Time derivatives with q̇ = N v and v̇ as they are."""
    symbols = setting.symbols
    ways = dict(zip(symbols.q, setting.qdot, strict=True))
    ways |= dict(zip(symbols.v, symbols.vdot, strict=True))
    return directional(formulas, ways | {symbols.t: ONE})


def whole_mass(setting: Setting) -> tuple[Any, Array]:
    """The whole mass, and mass times the place of its center."""
    mass: Any = 0
    center = zeros(3)
    for i, node in enumerate(setting.tree.nodes):
        frame = setting.kinematics.motion(GROUND, i)
        m, h, _ = node.inertia
        mass = plus(mass, m)
        center = center + array([times(m, x) for x in frame.p]) + product(frame.R, h)
    return mass, center


def _gravity(setting: Setting, mass: Any, center: Array) -> Array:
    force = [times(mass, x) for x in setting.gravity]
    return array([*cross(center, setting.gravity), *force])


def _joints(
    setting: Setting,
    reactions: Mapping[str, tuple[Expr, ...]],
    markers: Mapping[str, tuple[Expr, ...]],
) -> Array:
    """What the joints on the ground put on the mechanism."""
    total = zeros(6)
    for joint in setting.mechanism.joints:
        nodes = [setting.tree.located(x)[0] for x in (joint.predecessor, joint.successor)]
        if joint.name not in reactions or nodes.count(GROUND) != 1:
            continue
        pose = markers[joint.name]
        R, p = array(list(pose[:9])).reshape(3, 3), array(list(pose[9:]))
        wrench = act_force(R, p, array(list(reactions[joint.name])))
        total = total + wrench if nodes[0] == GROUND else total - wrench
    return total


def _efforts(setting: Setting, lam: tuple[Expr, ...], joints: set[str]) -> list[tuple[Any, Push]]:
    """Loads, and relations that are no joint."""
    efforts = [pair for load in setting.loads for pair in load.pushes]
    for symbol, (label, row) in zip(lam, setting.rows[0], strict=True):
        if label.name.rpartition(": ")[0] not in joints:
            efforts += [(symbol, push) for push in row.pushes]
    return efforts


def _sided(setting: Setting, force: tuple[Expr, ...]) -> list[tuple[Expr, Row]]:
    """Unilateral rows with the symbols of their forces, where there are any."""
    rows = [row for block in setting.side_blocks for row in block.rows] if force else []
    return list(zip(force, rows, strict=True))


def _side_powers(setting: Setting, force: tuple[Expr, ...]) -> dict[str, list[Expr]]:
    """What contacts and friction give, block by block [W]."""
    pairs, v = iter(_sided(setting, force)), setting.symbols.v
    return {
        f"power of {block.name}": [
            sum(
                (as_expr(f * x * v[j]) for _ in block.rows for f, row in (next(pairs),)
                 for j, x in row.G.items()),
                as_expr(0),
            )
        ]
        for block in (setting.side_blocks if force else ())
    }  # fmt: skip


def _pushes(setting: Setting, efforts: list[tuple[Any, Push]]) -> Array:
    """Total wrench of the efforts on all bodies: internal ones cancel."""
    total = zeros(6)
    for effort, push in efforts:
        if push.node != GROUND:
            wrench = _about_ground(setting, push)
            total = total + array([times(effort, x) for x in wrench])
    return total


def _about_ground(setting: Setting, push: Push) -> Array:
    """A push as moment about the ground's origin and force, in the ground's axes."""
    root = setting.kinematics.motion(GROUND, push.root)
    moment = push.moment + cross(push.point, push.force)
    return act_force(root.R, root.p, array([*moment, *push.force]))


def _powers(setting: Setting, lam: tuple[Expr, ...], center: Array) -> dict[str, list[Expr]]:
    """What each load, gravity and the closures that move with time do, by name [W]."""
    v = setting.symbols.v
    powers = {
        f"power of {load.name}": [
            sum((x * v[j] for j, x in load.tau.items()), as_expr(0))
            - _inertial_power(setting, load)
        ]
        for load in setting.loads
    }
    fall = along_the_motion(setting, [as_expr(x) for x in center])
    if any(x != 0 for x in setting.gravity):
        powers["power of gravity"] = [as_expr(dot(setting.gravity, array(fall)))]
    if lam:
        rows = zip(lam, setting.rows[0], strict=True)
        powers["power of closures"] = [sum((x * row.nu for x, (_, row) in rows), as_expr(0))]
    return powers


def _inertial_power(setting: Setting, load: Load) -> Expr:
    """v · I v̇ of the inertia I of a potential of velocities [W]."""
    v, vdot = setting.symbols.v, setting.symbols.vdot
    total = as_expr(0)
    for (i, j), entry in load.inertia:
        total = total + entry * (v[i] * vdot[j] + (v[j] * vdot[i] if i != j else 0))
    return total
