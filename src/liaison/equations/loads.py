"""Loads as rows: what a force does is its effort times the rate of what it acts along.

A spring, a damper or an actuator acts along a *measure* (a distance, an angle, a coordinate); the
measure's row on v turns the effort into generalised forces, and its pushes into wrenches on
bodies.

    τ = Σ rowᵀ effort − Nᵀ ∂V/∂q − ∂R/∂v                                        (loads-1)

Public names: Load, Calculus, loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, final

from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, atan2, cos, gradient, sin, sqrt, symbol, symbols_of
from liaison.model import (
    Actuator,
    Angle,
    Coordinate,
    Damper,
    Dissipation,
    Distance,
    Force,
    Gravity,
    JointFriction,
    Law,
    Measure,
    PointWrench,
    Potential,
    Spring,
)
from liaison.spatial.arrays import array, product
from liaison.tree import (
    GROUND,
    Kinematics,
    Push,
    Row,
    distance_row,
    marker_motion,
    power_row,
    relative_rows,
    template,
    turning_joint,
)


@final
@dataclass(frozen=True, slots=True)
class Load:
    """One load: generalised forces, wrenches on bodies, stored energy."""

    name: str
    tau: dict[int, Any]
    pushes: tuple[tuple[Any, Push], ...] = ()  # effort and the push it scales
    potential: Any = 0


class Calculus(Protocol):
    """How formulas of the description are told and differentiated."""

    def told(self, formula: Any) -> Expr:
        """A formula of the description in the symbols of the equations."""

    def flows(self, potential: Expr) -> list[Expr]:
        """V -> ∂V along each velocity, the list of Nᵀ ∂V/∂q."""


def loads(kinematics: Kinematics, forces: Sequence[Force], calculus: Calculus) -> list[Load]:
    """Every load but gravity, which is an acceleration of the ground.

    Args:
        kinematics: of the tree, on formulas.
        forces: of the mechanism.
        calculus: of the equations these loads enter.
    """
    found = []
    for force in forces:
        if isinstance(force, Gravity):
            continue
        try:
            found.append(load(kinematics, force, calculus))
        except ZeroDivisionError as error:
            raise DerivationError(
                f"what {force.name!r} acts along has no direction, wherever the mechanism is.",
                place=force.place,
                hint="The markers of a distance must not stay at one point, nor may x of the "
                "second marker of an angle stay along z of the first.",
            ) from error
    return found


def load(kinematics: Kinematics, force: Force, calculus: Calculus) -> Load:
    """One force of the mechanism as a load."""
    numbers = kinematics.tree.numbers
    match force:
        case Spring(measure=measure, stiffness=stiffness, rest=rest):
            row = measure_row(kinematics, measure)
            k, stretch = numbers(stiffness), row.value - numbers(rest)
            return along(force.name, row, -(k * stretch), potential=k * stretch * stretch / 2)
        case Damper(measure=measure, coefficient=coefficient):
            row = measure_row(kinematics, measure)
            return along(force.name, row, -(numbers(coefficient) * row.rate))
        case Actuator(measure=measure, effort=effort) | Law(measure=measure, effort=effort):
            effort = calculus.told(numbers(effort))
            return along(force.name, measure_row(kinematics, measure), effort)
        case JointFriction():
            return along(*friction(kinematics, force))
        case PointWrench():
            return point_load(kinematics, force, calculus)
        case Potential(formula=formula):
            potential = calculus.told(formula)
            check_potential(force.name, potential, kinematics)
            pull = [-x for x in calculus.flows(potential)]
            return Load(force.name, nonzero(pull), potential=potential)
        case Dissipation(formula=formula):
            drag = gradient(calculus.told(formula), list(kinematics.v))
            return Load(force.name, nonzero([-x for x in drag]))
    raise DerivationError(f"no formula is known for the force {type(force).__name__}.")


def check_potential(name: str, potential: Expr, kinematics: Kinematics) -> None:
    """A potential of speeds would have to give inertia, too; it is refused."""
    speeds = sorted({x.name for x in symbols_of([potential])} & {x.name for x in kinematics.v})
    if speeds:
        raise DerivationError(
            f"the potential {name!r} depends on the speed {speeds[0]!r}; it may depend on "
            "positions and time only.",
            hint="Give what it does as a force law or as a dissipation.",
        )


def along(name: str, row: Row, effort: Any, potential: Any = 0) -> Load:
    """An effort along a measure."""
    tau = {j: entry * effort for j, entry in row.G.items()}
    return Load(name, tau, tuple((effort, push) for push in row.pushes), potential)


def friction(kinematics: Kinematics, force: JointFriction) -> tuple[str, Row, Any]:
    """Viscous friction, and dry friction made smooth below a small speed s: x/√(x² + s²)."""
    numbers = kinematics.tree.numbers
    row = measure_row(kinematics, Coordinate(force.coordinate))
    speed, slow = as_expr(row.rate), numbers(force.smoothing)
    side = speed / sqrt(speed * speed + slow * slow)
    effort = -(numbers(force.viscous) * speed + numbers(force.dry) * side)
    return force.name, row, effort


def point_load(kinematics: Kinematics, force: PointWrench, calculus: Calculus) -> Load:
    """A force and a moment at a marker, given in the ground's axes or another marker's."""
    tree, numbers = kinematics.tree, kinematics.tree.numbers
    place = tree.located(force.marker)
    at = marker_motion(kinematics, GROUND, place)
    axes = marker_motion(kinematics, GROUND, tree.located(force.axes)).R if force.axes else None
    told = [[numbers(x) for x in part] for part in (force.moment, force.force)]
    parts = [array([calculus.told(x) if isinstance(x, Expr) else x for x in part]) for part in told]
    moment, pull = parts if axes is None else [product(axes, part) for part in parts]
    push = Push(place[0], GROUND, at.p, moment, pull)
    return Load(force.name, power_row(kinematics, (push,)), ((1, push),))


def measure_row(kinematics: Kinematics, measure: Measure) -> Row:
    """Value, rate and row on v of what a load acts along."""
    tree = kinematics.tree
    match measure:
        case Coordinate(label=label):
            return coordinate_row(kinematics, label)
        case Distance(a=a, b=b):
            return distance_row(kinematics, tree.located(a), tree.located(b))
        case Angle():
            return angle_row(kinematics, measure)
    raise DerivationError(f"no row is known for the measure {type(measure).__name__}.")


def angle_row(kinematics: Kinematics, angle: Angle) -> Row:
    """The angle of b's x about z of a; turns count where a joint between the two tells them."""
    tree = kinematics.tree
    first, second = tree.located(angle.a), tree.located(angle.b)
    R, _ = template()
    turned = as_expr(atan2(R[1, 0], R[0, 0]))
    told = turning_joint(tree.mechanism, angle)
    if told is None:
        return relative_rows(kinematics, first, second, [turned])[0]
    near = symbol(told[0]) * told[1]
    c, s = cos(near), sin(near)
    rest = as_expr(atan2(R[1, 0] * c - R[0, 0] * s, R[0, 0] * c + R[1, 0] * s))
    plain, counted = relative_rows(kinematics, first, second, [turned, rest])
    return replace(plain, value=near + counted.value)


def coordinate_row(kinematics: Kinematics, label: str) -> Row:
    """A joint coordinate as a measure."""
    if f"{label}'" not in kinematics.places:
        raise DerivationError(
            f"{label!r} has no rate of its own, so nothing can act along it.",
            hint="Act along a coordinate whose velocity is its rate, or apply a wrench.",
        )
    j = kinematics.places[f"{label}'"]
    return Row(symbol(label), {j: 1}, kinematics.v[j], 0, 0)


def nonzero(entries: Sequence[Expr]) -> dict[int, Expr]:
    """Index -> entry, zeros left out."""
    return {j: entry for j, entry in enumerate(entries) if entry is not ZERO}
