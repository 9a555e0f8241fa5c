"""The two sides of the general theorems, as formulas: what changes, and what should change it.

    d/dt (moment, momentum) = wrench from outside,   Ṫ = power of all that acts       (theorems-1)

The left sides are time derivatives of momentum and kinetic energy on the graph; the right sides
are what joints report, loads, gravity. Neither uses the other, so that their agreement says
something.

The balance of energy needs one power alone, of all that is not stored:

    d/dt (T + U) = P + λ·ν,   P = Σ τ·v of loads without energy
                                + Σ (what a load with energy V dissipates + ∂V/∂t)     (theorems-2)

What a potential does is in U and nowhere else, so that a wrong U is seen.

Public names: balance, whole_mass, unstored_power.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from liaison.errors import DerivationError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    as_expr,
    directional,
    gradient,
    substitute,
    symbol,
    symbols_of,
)
from liaison.model import AlongMeasure, Field, OfMechanism
from liaison.spatial.arrays import Array, array, cross, dot, plus, product, times, zeros
from liaison.spatial.plucker import act_force
from liaison.tree import GROUND, Push, Row

from .setting import Load, Setting, measure_row, reading


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
        **_powers(setting, lam, center, _side_powers(setting, force)),
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
    for x, (label, row) in zip(lam, setting.rows[0], strict=True):
        if label.name.rpartition(": ")[0] not in joints:
            efforts += [(x, push) for push in row.pushes]
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


def _powers(
    setting: Setting, lam: tuple[Expr, ...], center: Array, sides: Mapping[str, list[Expr]]
) -> dict[str, list[Expr]]:
    """What each load, gravity, closures that move with time, and contacts do, by name [W]."""
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
        powers[_own("power of gravity", powers)] = [as_expr(dot(setting.gravity, array(fall)))]
    if lam:
        rows = zip(lam, setting.rows[0], strict=True)
        total = sum((x * row.nu for x, (_, row) in rows), as_expr(0))
        powers[_own("power of closures", powers)] = [total]
    for name, power in sides.items():
        powers[_own(name, powers)] = power
    return powers


def _own(name: str, taken: Collection[str]) -> str:
    """The name, or one with a number where something else of the mechanism has it."""
    names = (name if k == 1 else f"{name} ({k})" for k in count(1))
    return next(x for x in names if x not in taken)


def _inertial_power(setting: Setting, load: Load) -> Expr:
    """v · I v̇ of the inertia I of a potential of velocities [W]."""
    v, vdot = setting.symbols.v, setting.symbols.vdot
    total = as_expr(0)
    for (i, j), entry in load.inertia:
        total = total + entry * (v[i] * vdot[j] + (v[j] * vdot[i] if i != j else 0))
    return total


def unstored_power(setting: Setting) -> Expr:
    """P of all loads: what changes T + U besides closures that move and contacts [W]."""
    forces = [x for x in setting.mechanism.forces if not isinstance(x, Field)]
    powers = (_unstored(setting, *pair) for pair in zip(forces, setting.loads, strict=True))
    return sum(powers, as_expr(0))


def _unstored(setting: Setting, force: Any, load: Load) -> Expr:
    """The power of one load that its energy does not hold."""
    v = setting.symbols.v
    if as_expr(load.potential) is ZERO and load.rate_potential is None:
        return sum((as_expr(x * v[j]) for j, x in load.tau.items()), as_expr(0))
    if isinstance(force, OfMechanism):
        lost = force.rayleigh()
        drag = [] if lost is None else gradient(setting.expressed(lost), list(v))
        own = -sum((x * y for x, y in zip(drag, v, strict=False)), as_expr(0))
        whole = load.potential if load.rate_potential is None else load.rate_potential
        return own + gradient(as_expr(whole), [setting.symbols.t])[0]
    if isinstance(force, AlongMeasure):
        return _along_measure(setting, force)
    raise DerivationError(f"the power of {force.name!r}, which stores energy, is not known.")


def _along_measure(setting: Setting, force: AlongMeasure) -> Expr:
    """What an effort dissipates, and how its energy changes while its measure stays."""
    read = reading(setting.kinematics, setting)
    x, rate = symbol("'measure"), symbol("'rate")
    effort, held = (as_expr(force.effort_at(x, y, read)) for y in (rate, 0))
    stored = as_expr(force.energy_at(x, read))
    used = symbols_of([stored])
    if any(y.name in setting.kinematics.places for y in used):
        raise DerivationError(f"the energy of {force.name!r} depends on velocities.")
    lost = ZERO if effort is held else (effort - held) * rate
    moved = gradient(stored, [setting.symbols.t])[0]
    if any(y in setting.carriers for y in used):
        flows = zip(setting.flows(stored), setting.symbols.v, strict=True)
        moved = sum((a * b for a, b in flows), moved)
    if lost is ZERO and moved is ZERO:
        return ZERO
    row = measure_row(setting.kinematics, force.along())
    return substitute([lost + moved], {x: as_expr(row.value), rate: as_expr(row.rate)})[0]
