"""The whole contract of Equations around a formalism's M, h and τ.

Unilateral rows of a mechanism as formulas: gaps, rates, slips, and what bounds their forces.

Loads whose efforts follow what they act along: servos, springs, dampers. Steps of a fixed size take
such an effort at the end that it leads to itself, and need it apart from the other forces,

    τ = Jᵀ e(x, ẋ),   ẋ = J v + ẋ₀,   s = −∂e/∂ẋ,   k = −∂e/∂x                     (loads-1)

with e at any x and ẋ.

Public names: completed, plain_dynamics, sides_of, with_inertia, with_states, ImplicitLoad,
ImplicitLoads, ImplicitLaw, implicit_law, measured, measure_symbols.

Source: docs/theory/one_sided.md; docs/theory/time_stepping.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, final

from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    as_expr,
    gradient,
    substitute,
    switches,
    symbol,
    vanishes,
)
from liaison.model import AlongMeasure, Mechanism
from liaison.model.markers import Coordinate, Measure
from liaison.tree import Tree, as_float
from liaison.tree.closure import is_curved
from liaison.units import FORCE, MOMENT, Label, effort_along

from .equations import COEFFICIENTS, Dynamics, Equations, EventFormula, Side, Sides
from .reports import TreeReports
from .setting import Setting, measure_row, reading, slope_without_length

if TYPE_CHECKING:
    from liaison.tree import SideBlock

DIRECTIONS = ("x", "y", "z")


def sides_of(blocks: Sequence[SideBlock], speeds: Sequence[Label]) -> Sides:
    """The blocks of a mechanism as one contract: every row by its number.

    Args:
        blocks: a load before the friction that it bounds.
        speeds: a name and a unit for every velocity.
    """
    rows = [row for block in blocks for row in block.rows]
    D = {
        (k, j): as_expr(entry)
        for k, row in enumerate(rows)
        for j, entry in sorted(row.G.items())
        if not vanishes(entry)
    }
    return Sides(
        blocks=_numbered(blocks),
        D=MappingProxyType(D),
        rate=tuple(as_expr(row.rate) for row in rows),
        bias=tuple(-as_expr(row.gamma) for row in rows),
        labels=tuple(label for block in blocks for label in _labels(block, speeds)),
        pairs=tuple(block.pair for block in blocks if block.pair is not None),
    )


def _numbered(blocks: Sequence[SideBlock]) -> tuple[Side, ...]:
    numbered: list[Side] = []
    first = 0
    for block in blocks:
        side = Side(
            name=block.name,
            owner=block.owner,
            kind=block.kind,
            first=first,
            rows=len(block.rows),
            load=-1 if block.load is None else block.load,
            joint=block.joint,
            law=block.law,
            gap=ZERO if block.kind != "gap" else as_expr(block.rows[0].value),
            coefficients=_coefficients(block),
            reading=block.reading,
        )
        numbered.append(side)
        first += len(block.rows)
    return tuple(numbered)


def _coefficients(block: SideBlock) -> tuple[Expr, ...]:
    """Values in the order of COEFFICIENTS; the dynamic coefficient by default."""
    coefficients: dict[str, Any] = {name: getattr(block, name) for name in COEFFICIENTS}
    for name in ("static", "across"):
        coefficients[name] = block.friction if coefficients[name] is None else coefficients[name]
    for name in ("friction", "static", "across") if block.joint else ():
        coefficients[name] = coefficients[name] * block.arm
    return tuple(as_expr(coefficients[name]) for name in COEFFICIENTS)


def _labels(block: SideBlock, speeds: Sequence[Label]) -> list[Label]:
    """A name and a unit for the force of every row."""
    unit = MOMENT if block.name.endswith((": rolling", ": pivoting")) or block.joint else FORCE
    if block.load is None and len(block.rows[0].G) == 1:
        ((place, slope),) = block.rows[0].G.items()
        # friction in a joint, or a stop of a coordinate
        if block.kind == "friction" or as_expr(slope) in (as_expr(1), as_expr(-1)):
            unit = effort_along(speeds[place].unit)
    if len(block.rows) == 1:
        return [Label(block.name, unit)]
    return [Label(f"{block.name} {x}", unit) for x in DIRECTIONS[: len(block.rows)]]


def completed(
    formalism: str,
    tree: Tree,
    setting: Setting,
    dynamics: Dynamics,
    native: Mapping[str, Any] | None = None,
    *,
    is_whole: bool = False,
) -> Equations:
    """The whole contract around a formalism's M, h and τ.

    Args:
        formalism: its name.
        tree: of the mechanism, with every weld in it.
        setting: of the tree the formalism worked on.
        dynamics: M, h and τ.
        native: what the formalism knows in its own words.
        is_whole: M has the inertia of potentials of velocities already; it is added otherwise.
    """
    dynamics = dynamics if is_whole else with_inertia(setting, dynamics)
    dynamics = with_states(setting, dynamics)
    kept, vanished = setting.rows
    mechanism, closures = setting.mechanism, setting.closures()
    lam = tuple(symbol(f"lambda {label.name}") for label, _ in kept)
    stress = tuple(symbol(f"'stress {label.name}") for label, _ in (*kept, *vanished))
    sides = sides_of(setting.side_blocks, setting.tree.velocity_labels())
    force = tuple(symbol(f"force {label.name}") for label in sides.labels)
    return Equations(
        name=mechanism.name,
        formalism=formalism,
        symbols=replace(setting.symbols, lam=lam, stress=stress, force=force),
        kinematics=setting.kinematic(),
        dynamics=dynamics,
        closures=closures,
        reports=TreeReports(setting if tree is setting.tree else Setting(tree), lam, stress, force),
        outputs=MappingProxyType({x.name: setting.expressed(x.formula) for x in mechanism.outputs}),
        labels=MappingProxyType({**labels_of(setting), "force": sides.labels}),
        defaults=defaults_of(mechanism),
        sides=sides,
        switches=tuple(switches([*dynamics.f, *closures.gamma])),
        events=tuple(
            EventFormula(x.name, setting.expressed(x.formula), x.direction, x.action)
            for x in mechanism.events
        ),
        native=MappingProxyType(dict(native or {})),
        facts=MappingProxyType(
            {
                "mechanism": mechanism,
                "bounds": bounds_of(mechanism),
                "length": length_of(mechanism) if sides.blocks else 0.0,
                "rate_potentials": tuple(
                    x.name for x in setting.loads if x.rate_potential is not None
                ),
                "nonlinear_rates": nonlinear_rates(setting),
                "implicit_loads": ImplicitLoads(setting),
            }
        ),
    )


def nonlinear_rates(setting: Setting) -> tuple[str, ...]:
    """Names of relations that are not linear in velocities."""
    rows = [(label, row) for label, row in setting.rows[0] if row.value is None]
    return tuple(label.name for label, row in rows if is_curved(row.G, list(setting.v)))


def with_inertia(setting: Setting, dynamics: Dynamics) -> Dynamics:
    """The inertia −∂²V/∂v² of potentials of velocities in M and in inverse dynamics."""
    added = [entry for load in setting.loads for entry in load.inertia]
    if not added:
        return dynamics
    M, inverse = dict(dynamics.M), list(dynamics.inverse)
    for (i, j), entry in added:
        M[i, j] = M.get((i, j), ZERO) + entry
        inverse[i] = inverse[i] + entry * setting.symbols.vdot[j]
        if i != j:
            inverse[j] = inverse[j] + entry * setting.symbols.vdot[i]
    return replace(
        dynamics, M=MappingProxyType(M), inverse=tuple(inverse), articulated=None, swept=None
    )


def with_states(setting: Setting, dynamics: Dynamics) -> Dynamics:
    """The rows 1 · ż = f of the states of loads, which no mass and no other force enters."""
    states = setting.states
    if not states:
        return dynamics
    M = {k: x for k, x in dynamics.M.items() if not states.keys() & {*k}}
    M |= {(j, j): ONE for j in states}
    vdot = setting.symbols.vdot

    def rows(plain: Sequence[Expr], ours: Callable[[int], Expr]) -> tuple[Expr, ...]:
        return tuple(ours(j) if j in states else as_expr(x) for j, x in enumerate(plain))

    recursion = dynamics.articulated
    return replace(
        dynamics,
        M=MappingProxyType(M),
        h=rows(dynamics.h, lambda j: ZERO),
        tau=rows(dynamics.tau, lambda j: states[j]),
        f=rows(dynamics.f, lambda j: states[j]),
        inverse=rows(dynamics.inverse, lambda j: vdot[j] - states[j]),
        articulated=recursion and partial(_recursed, recursion, states),
        swept=None,
    )


def _recursed(recursion: Callable[[], list[Expr]], states: Mapping[int, Expr]) -> list[Expr]:
    """v̇ by a recursion, with the rates of states."""
    return [states.get(j, x) for j, x in enumerate(recursion())]


def plain_dynamics(
    vdot: Sequence[Expr],
    M: Mapping[tuple[int, int], Expr],
    h: Sequence[Expr],
    tau: Sequence[Expr],
) -> Dynamics:
    """M by its lower triangle, from that or from all of M; inverse dynamics as plain product."""
    lower = {(i, j): entry for (i, j), entry in M.items() if i >= j}
    inverse = [a - b for a, b in zip(h, tau, strict=True)]
    for (i, j), entry in lower.items():
        inverse[i] = inverse[i] + entry * vdot[j]
        if i != j:
            inverse[j] = inverse[j] + entry * vdot[i]
    f = tuple(a - b for a, b in zip(tau, h, strict=True))
    return Dynamics(lower, tuple(h), tuple(tau), f, tuple(inverse))


def labels_of(setting: Setting) -> Mapping[str, tuple[Label, ...]]:
    """A name and a unit for every entry of q, v, u, p, λ and of the outputs."""
    mechanism, tree = setting.mechanism, setting.tree
    return MappingProxyType(
        {
            "q": tree.position_labels(),
            "v": tree.velocity_labels(),
            "u": tuple(Label(x.name, x.unit) for x in mechanism.inputs),
            "p": tuple(Label(x.name, x.unit) for x in mechanism.parameters),
            "lam": tuple(label for label, _ in setting.rows[0]),
            "outputs": tuple(Label(x.name, x.unit) for x in mechanism.outputs),
        }
    )


def defaults_of(mechanism: Mechanism) -> Mapping[str, tuple[float, ...]]:
    """Values of inputs and parameters; NaN where a parameter is unknown."""
    return MappingProxyType(
        {
            "u": tuple(float(as_float(x.default)) for x in mechanism.inputs),
            "p": tuple(
                math.nan if x.value is None else float(as_float(x.value))
                for x in mechanism.parameters
            ),
        }
    )


def bounds_of(mechanism: Mechanism) -> Mapping[str, tuple[float, float]]:
    """Parameter -> least and greatest value allowed, of those that have a bound."""
    return MappingProxyType(
        {
            x.name: (
                -math.inf if x.low is None else float(as_float(x.low)),
                math.inf if x.high is None else float(as_float(x.high)),
            )
            for x in mechanism.parameters
            if not (x.low is None and x.high is None)
        }
    )


ROUNDED = 1e-12
"""Lengths [m] below this are what rounding left of 0."""


def length_of(mechanism: Mechanism) -> float:
    """The largest length of what moves [m]: shapes, centers, markers, sizes of contacts.

    Lengths that are formulas of parameters are left out; 0 where no other is known.
    """
    moving = {x.name for x in mechanism.bodies if x.name != "ground"}
    lengths: list[Any] = []
    for body in mechanism.bodies:
        if body.name in moving:
            lengths += body.com
            lengths += [getattr(x, part) for x in body.shapes for part in getattr(x, "SIZES", ())]
            lengths += [y for x in body.shapes for point in _corners(x) for y in point]
    for joint in mechanism.joints:
        for marker in (joint.predecessor, joint.successor):
            lengths += marker.p if marker.body in moving else ()
    for contact in mechanism.contacts:
        lengths += [getattr(contact, x, 0) for x in ("radius", "length")]
        lengths += getattr(contact, "size", ())
        corners = _corners(dict(getattr(contact, "more", ())).get("points"))
        lengths += [x for point in corners for x in point]
        first = getattr(contact, "first", None)
        lengths += first.p if first is not None and first.body in moving else ()
    numbers = [abs(float(x)) for x in lengths if x is not None and not isinstance(x, Expr)]
    return max((x for x in numbers if x > ROUNDED), default=0.0)


def _corners(shape: Any) -> tuple[Any, ...]:
    """The points of a hull; of other shapes none."""
    return tuple(getattr(shape, "points", ()))


@final
@dataclass(frozen=True, slots=True)
class ImplicitLoad:
    """One load of (loads-1)."""

    name: str
    value: Expr  # x
    rate: Expr  # ẋ
    J: Mapping[int, Expr]  # velocity -> entry
    effort: Expr  # of `measure_symbols`
    damping: Expr  # s
    stiffness: Expr  # k
    is_stored: bool = False  # its work is in U


def measured(mechanism: Mechanism) -> list[AlongMeasure]:
    """Loads that act along a measure, in order."""
    return [force for force in mechanism.forces if isinstance(force, AlongMeasure)]


def measure_symbols(name: str) -> tuple[Expr, Expr]:
    """x and ẋ of a load in its law."""
    return symbol(f"'measure of {name}"), symbol(f"'rate of {name}")


@final
class ImplicitLoads:
    """A row for each load along a measure, derived when first asked for.

    A row is empty where the effort does not follow the measure.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @cached_property
    def rows(self) -> tuple[ImplicitLoad, ...]:
        """In the order of the mechanism."""
        return tuple(_implicit(self.setting, x) for x in measured(self.setting.mechanism))


def _own_symbols(setting: Setting, measure: Measure) -> tuple[Expr, ...]:
    """x and ẋ of a coordinate as formulas name them: a motor may be given by a law of its own."""
    if not isinstance(measure, Coordinate):
        return ()
    row = measure_row(setting.kinematics, measure)
    return as_expr(row.value), as_expr(row.rate)


@final
class ImplicitLaw(NamedTuple):
    """The effort of a load of `measure_symbols`, s and k of (loads-1), and where its work is."""

    effort: Expr
    damping: Expr
    stiffness: Expr
    is_stored: bool  # in U


def implicit_law(setting: Setting, force: AlongMeasure) -> ImplicitLaw | None:
    """How the effort of a load follows what it acts along; None where it does not."""
    read = reading(setting.kinematics, setting)
    x, rate = measure_symbols(force.name)
    own = _own_symbols(setting, force.along())
    effort = as_expr(force.effort_at(x, rate, read))
    effort = substitute([effort], dict(zip(own, (x, rate), strict=False)))[0] if own else effort
    stiffness, damping = (-y for y in gradient(effort, [x, rate]))
    is_free_of_it = vanishes(stiffness) and vanishes(damping)
    if is_free_of_it or slope_without_length(force, read) is not None:
        return None
    return ImplicitLaw(effort, damping, stiffness, force.energy_at(x, read) is not None)


def _implicit(setting: Setting, force: AlongMeasure) -> ImplicitLoad:
    """One of them."""
    law = implicit_law(setting, force)
    if law is None:
        return ImplicitLoad(force.name, ZERO, ZERO, MappingProxyType({}), ZERO, ZERO, ZERO)
    row = measure_row(setting.kinematics, force.along())
    J = {j: as_expr(y) for j, y in row.G.items() if not vanishes(y)}
    return ImplicitLoad(
        force.name, as_expr(row.value), as_expr(row.rate), MappingProxyType(J), *law[:3],
        is_stored=law.is_stored,
    )  # fmt: skip
