"""Computed torque and gravity compensation: inverse dynamics as feedback, also with closed loops.

With independent velocities i and dependent ones d, G_d v̇_d = γ − G_i v̇_i, and Z the motions that
the closures allow,

    Zᵀ B u = Zᵀ (M v̇ + h − τ₀),   Z = (1, −G_d⁻¹ G_i),                          (control-1)

with τ = τ₀ + B u. Where there are more motors than degrees of freedom, u is the shortest. Bounds of
a servo (its greatest effort, its speed without load) are its own: u is what it is asked for. Linear
systems of formulas are solved without pivots (`equations/motors/shortest.py`).

Public names: ComputedTorque, computed_torque, GravityCompensation, gravity_compensation, Actuation,
actuation, unbounded.

Source: SS09 §8.5.2 (inverse dynamics control), §8.5.1 (gravity compensation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.analyse.rest.local import chosen_rows
from liaison.arguments import checked
from liaison.equations import Equations, newton_euler
from liaison.equations.motors.shortest import Matrix, dot_product, least_squares, shortest
from liaison.errors import ArgumentError, DerivationError, LiaisonError, NamingError
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    evaluate,
    gradient,
    jacobian,
    substitute,
    symbol,
    symbols_of,
)
from liaison.lazy import Brief
from liaison.model import Mechanism, Servo
from liaison.numeric import Array
from liaison.tree import Tree, as_float, assemble, span
from liaison.units import si_value

from .controlled import clipped

RANK = 1e-9
"""Part of the largest singular value below which one counts as zero."""


@final
@dataclass(frozen=True, slots=True)
class Actuation:
    """How motors act on the motions that the closures of a mechanism leave.

    Attributes:
        equations: of the mechanism.
        inputs: the motors.
        chosen: places in v of the independent velocities.
        rest: of the dependent ones.
        rows: of the closures that are independent.
    """

    equations: Equations
    inputs: tuple[str, ...]
    chosen: tuple[int, ...]
    rest: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the independent velocities."""
        names = [x.name for x in self.equations.labels["v"]]
        return tuple(names[j] for j in self.chosen)

    def efforts(self, accelerations: Sequence[Expr], *, at_rest: bool = False) -> dict[str, Expr]:
        """Formulas of the inputs that give the independent velocities these accelerations.

        Args:
            accelerations: v̇ of the independent velocities, in order.
            at_rest: as if all velocities were zero: what holds the position.
        """
        symbols, dynamics = self.equations.symbols, self.equations.dynamics
        ways, offset = self._motions(accelerations)
        u = [x for x in symbols.u if x.name in self.inputs]
        still: dict[Expr, Expr] = dict.fromkeys(u, ZERO)
        need = substitute(list(dynamics.inverse), dict(zip(symbols.vdot, offset, strict=True)))
        slopes = jacobian(list(dynamics.tau), u)
        self._check_affine(slopes, u)
        B = [[slopes.get((j, k), ZERO) for k in range(len(u))] for j in range(len(offset))]
        moving = [*self.chosen, *self.rest]
        across = [
            [dot_product([(z[j], B[j][k]) for j in moving]) for k in range(len(u))] for z in ways
        ]
        right = [dot_product([(z[j], need[j]) for j in moving]) for z in ways]
        formulas = [*(x for row in across for x in row), *right]
        if at_rest:
            still |= dict.fromkeys(symbols.v, ZERO)
        formulas = substitute(formulas, still)
        count = len(ways) * len(u)
        K = [formulas[k * len(u) : (k + 1) * len(u)] for k in range(len(ways))]
        solution = shortest(K, [[x] for x in formulas[count:]])
        return {x.name: row[0] for x, row in zip(u, solution, strict=True)}

    def _motions(self, accelerations: Sequence[Expr]) -> tuple[Matrix, list[Expr]]:
        """Z column by column, and v̇ of all velocities; states of loads keep 0."""
        closures = self.equations.closures
        nv = len(self.equations.symbols.v)
        G = {(k, j): closures.G.get((k, j), ZERO) for k in self.rows for j in range(nv)}
        ways = [[ZERO] * nv for _ in self.chosen]
        for way, j in zip(ways, self.chosen, strict=True):
            way[j] = as_expr(1)
        whole = [ZERO] * nv
        for j, a in zip(self.chosen, accelerations, strict=True):
            whole[j] = as_expr(a)
        if self.rest:
            K = [[G[k, j] for j in self.rest] for k in self.rows]
            moved = [dot_product([(G[k, j], whole[j]) for j in self.chosen]) for k in self.rows]
            sides = [
                [*(-G[k, j] for j in self.chosen), closures.gamma[k] - x]
                for k, x in zip(self.rows, moved, strict=True)
            ]
            for j, row in zip(self.rest, least_squares(K, sides), strict=True):
                whole[j] = row[-1]
                for way, entry in zip(ways, row, strict=False):
                    way[j] = entry
        return ways, whole

    def _check_affine(self, slopes: Mapping[tuple[int, int], Expr], u: Sequence[Expr]) -> None:
        """Raises an error for a motor whose effect is not proportional to its input."""
        for (_, k), slope in slopes.items():
            if {*u} & {*symbols_of([slope])}:
                raise DerivationError(
                    f"what input {u[k].name!r} does is not proportional to it: no formula gives "
                    "the input that an effort needs.",
                    hint="Take motors whose effort is the input, or a multiple of it.",
                )


def actuation(
    mechanism: Mechanism, inputs: Sequence[str] = (), preferred: Sequence[str] = ()
) -> Actuation:
    """The motors of a mechanism, and independent velocities at its start.

    Args:
        mechanism: with the inputs.
        inputs: those that are motors; all that act if not given.
        preferred: coordinates to be independent; all of them must be so.

    Raises:
        NamingError: an input or a coordinate that the mechanism does not have.
        DerivationError: there are fewer motors than degrees of freedom, or preferred coordinates
            are not independent.
    """
    tree = span(unbounded(mechanism))
    equations = newton_euler(tree)
    chosen, rest, rows = _independent(tree, equations, preferred)
    motors = _motors(equations, inputs)
    if len(motors) < len(chosen):
        names = [equations.labels["v"][j].name for j in chosen]
        raise DerivationError(
            f"{mechanism.name!r} is under-actuated: {len(motors)} motors "
            f"({', '.join(motors) or 'none'}) for {len(chosen)} degrees of freedom "
            f"({', '.join(names)}).",
            hint="Give it a motor with an input for each, or control it about an equilibrium by "
            "lqr(…).",
        )
    return Actuation(equations, motors, chosen, rest, rows)


def unbounded(mechanism: Mechanism) -> Mechanism:
    """The same, its motors with inputs without bounds: these clip what the controller asks for."""
    inputs = {x.name for x in mechanism.inputs}

    def has_input(load: Servo) -> bool:
        parts = [as_expr(x) for x in (load.effort, load.target, load.speed)]
        return bool(inputs & {x.name for x in symbols_of(parts)})

    forces = tuple(
        replace(x, limit=None, least=None, no_load=None)
        if isinstance(x, Servo) and has_input(x)
        else x
        for x in mechanism.forces
    )
    return mechanism if forces == mechanism.forces else replace(mechanism, forces=forces)


def _motors(equations: Equations, inputs: Sequence[str]) -> tuple[str, ...]:
    known = [x.name for x in equations.symbols.u]
    for name in inputs:
        if name not in known:
            raise NamingError.unknown("input", name, known)
    acting = {x.name for x in symbols_of(list(equations.dynamics.tau))}
    return tuple(x for x in known if (x in inputs if inputs else x in acting))


def _independent(
    tree: Tree, equations: Equations, preferred: Sequence[str]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Places of independent and dependent velocities, and independent rows, at the start."""
    names = [x.name for x in equations.labels["v"]]
    states = {x.name for x in tree.mechanism.states}
    moving = [j for j, name in enumerate(names) if name not in states]
    for label in preferred:
        if f"{label}'" not in names:
            rated = [x[:-1] for x in names if x.endswith("'")]
            raise NamingError.unknown("coordinate with a rate", label, rated)
    wanted = [names.index(f"{label}'") for label in preferred]
    G = _rows_at_start(tree, equations)
    if not len(G):
        chosen = moving
    else:
        _, s, Vt = np.linalg.svd(G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300))
        rank = int(np.count_nonzero(s > RANK * s[0]))
        Z = Vt[rank:].T
        Z = Z[:, np.linalg.norm(Z[moving], axis=0) > RANK] if states else Z
        free = _orthonormal(Z[moving])
        chosen = [moving[k] for k in chosen_rows(free, [moving.index(j) for j in wanted])]
    _check_tracked(tree.mechanism, names, chosen, wanted)
    rest = tuple(j for j in moving if j not in chosen)
    return tuple(chosen), rest, _kept_rows(G[:, list(rest)]) if rest else ()


def _orthonormal(Z: Array) -> Array:
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return np.asarray(U[:, s > RANK * max(float(s[0]), 1e-300)]) if s.size else Z


def _check_tracked(
    mechanism: Mechanism, names: Sequence[str], chosen: Sequence[int], wanted: Sequence[int]
) -> None:
    """Raises an error where coordinates to follow are not those that determine the motion."""
    if not wanted or sorted(wanted) == sorted(chosen):
        return
    free = [names[j] for j in chosen]
    missing = [names[j] for j in chosen if j not in wanted]
    dependent = [names[j].removesuffix("'") for j in wanted if j not in chosen]
    if dependent:
        why = f"{dependent[0]!r} depends on the others at the start"
    else:
        why = f"{missing[0].removesuffix(chr(39))!r} has no target"
    raise DerivationError(
        f"{mechanism.name!r} has {len(free)} degrees of freedom ({', '.join(free)}), and targets "
        f"are given for {len(wanted)} coordinates: {why}.",
        hint="Give a target to as many independent coordinates as there are degrees of freedom.",
    )


def _rows_at_start(tree: Tree, equations: Equations) -> Array:
    """G at the assembled start."""
    closures, symbols = equations.closures, equations.symbols
    nv, nc = len(symbols.v), len(closures.nu)
    G = np.zeros((nc, nv))
    if not nc:
        return G
    state = assemble(tree)
    values = {symbols.t: state.t}
    values |= dict(zip(symbols.q, state.q.tolist(), strict=True))
    values |= dict(zip(symbols.v, state.v.tolist(), strict=True))
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    for x, parameter in zip(symbols.p, tree.mechanism.parameters, strict=True):
        if parameter.value is not None:
            values[x] = float(as_float(parameter.value))
    keys = [*closures.G]
    try:
        numbers = evaluate([closures.G[key] for key in keys], values)
    except LiaisonError as error:
        raise DerivationError(
            "independent velocities are chosen at the start, where the closures have no numbers: "
            f"{error.message}",
            hint="Give all parameters values.",
        ) from None
    for key, value in zip(keys, numbers, strict=True):
        G[key] = float(value)
    return G


def _kept_rows(K: Array) -> tuple[int, ...]:
    """Rows of K that are independent, as many as it has columns."""
    length = np.linalg.norm(K, axis=1, keepdims=True)
    return tuple(chosen_rows(_orthonormal(K / np.maximum(length, 1e-300)), ()))


T = symbol("t")


@final
@dataclass(frozen=True, slots=True, repr=False)
class ComputedTorque(Brief):
    """Motors that make coordinates follow targets, with errors that decay linearly.

    The inputs are those with which ë + damping ė + stiffness e = 0 for every e = target − x.

    Args:
        targets: by coordinate; numbers, formulas of time, or tables.
        stiffness: [1/s²], one for all or by coordinate.
        damping: [1/s], likewise.
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.
    """

    targets: Mapping[str, Any]
    stiffness: Any
    damping: Any
    inputs: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    def formulas(self, mechanism: Mechanism) -> dict[str, Expr]:
        """Input -> formula; see `Controller`."""
        targets = {label: _target(label, x, mechanism) for label, x in self.targets.items()}
        _check_gains("stiffness", self.stiffness, targets)
        _check_gains("damping", self.damping, targets)
        motors = actuation(mechanism, self.inputs, tuple(targets))
        asked = [self._asked(speed.removesuffix("'"), targets) for speed in motors.labels]
        return clipped(motors.efforts(asked), self.limits, mechanism)

    def _asked(self, label: str, targets: Mapping[str, Expr]) -> Expr:
        """The acceleration by which the error of a coordinate decays."""
        target = targets[label]
        rate = gradient(target, [T])[0]
        e, e_rate = target - symbol(label), rate - symbol(f"{label}'")
        kp, kd = (x[label] if isinstance(x, Mapping) else x for x in (self.stiffness, self.damping))
        return as_expr(gradient(rate, [T])[0] + kd * e_rate + kp * e)


def _target(label: str, value: Any, mechanism: Mechanism) -> Expr:
    """A number, a text with a unit, a table or a formula of time."""
    if isinstance(value, str):
        units = dict(_units(mechanism))
        return as_expr(float(si_value(value, units.get(label, ""), f"the target of {label!r}")))
    formula = value(T) if callable(value) and hasattr(value, "breaks") else as_expr(value)
    moving = {*mechanism.coordinates, *mechanism.speeds} | {x.name for x in mechanism.inputs}
    names = [x.name for x in symbols_of([formula]) if x.name in moving]
    if names:
        raise ArgumentError(
            f"the target of {label!r} depends on {names[0]!r}; it must be a formula of time and "
            "parameters, whose rates are known.",
        )
    return as_expr(formula)


def _units(mechanism: Mechanism) -> list[tuple[str, str]]:
    return [
        pair
        for joint in mechanism.joints
        for pair in zip(joint.coordinates, joint.type.coordinate_units, strict=True)
    ]


def _check_gains(what: str, gains: Any, targets: Mapping[str, Any]) -> None:
    """Raises an error where coordinates have no gain."""
    for label in targets if isinstance(gains, Mapping) else ():
        if label not in gains:
            raise ArgumentError(
                f"computed_torque: no {what} is given for {label!r}.",
                hint="Give one number for all, or one for each coordinate with a target.",
            )


@final
@dataclass(frozen=True, slots=True, repr=False)
class GravityCompensation(Brief):
    """Motors that hold every position: what gravity, springs and other loads need at rest.

    Args:
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.
    """

    inputs: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    def formulas(self, mechanism: Mechanism) -> dict[str, Expr]:
        """Input -> formula; see `Controller`."""
        motors: Actuation = actuation(mechanism, self.inputs, ())
        efforts = motors.efforts([ZERO] * len(motors.chosen), at_rest=True)
        return clipped(efforts, self.limits, mechanism)


def named(inputs: Sequence[str] | str) -> tuple[str, ...]:
    """Names of inputs, one or several."""
    return (inputs,) if isinstance(inputs, str) else tuple(inputs)


@checked
def computed_torque(
    targets: Mapping[str, Any],
    *,
    stiffness: Any,
    damping: Any,
    inputs: Sequence[str] | str = (),
    limits: Mapping[str, Any] | None = None,
) -> ComputedTorque:
    """A controller that makes coordinates follow targets by the mechanism's own inverse dynamics.

    Errors obey ë + damping ė + stiffness e = 0, also in closed loops, where targets are given to as
    many independent coordinates as there are degrees of freedom.

    Args:
        targets: by coordinate; numbers, texts with a unit, formulas of time, or tables.
        stiffness: [1/s²], one for all or by coordinate.
        damping: [1/s], likewise; 2 √stiffness damps critically.
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> follow = liaison.computed_torque({"A": "90 deg"}, stiffness=25, damping=10)
        >>> run = liaison.simulate(m, until=4, controller=follow)
        >>> print(run["A"][-1].round(4), run["drive"][-1].round(3))
        1.5708 4.905
    """
    return ComputedTorque(
        MappingProxyType(dict(targets)), stiffness, damping, named(inputs),
        MappingProxyType(dict(limits or {})),
    )  # fmt: skip


@checked
def gravity_compensation(
    inputs: Sequence[str] | str = (), *, limits: Mapping[str, Any] | None = None
) -> GravityCompensation:
    """A controller that holds every position: motors balance gravity and all other loads at rest.

    Args:
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> hold = liaison.gravity_compensation()
        >>> run = liaison.simulate(m, until=2, start={"A": 1.0}, controller=hold)
        >>> print(run["A"][-1].round(9))
        1.0
    """
    return GravityCompensation(named(inputs), MappingProxyType(dict(limits or {})))
