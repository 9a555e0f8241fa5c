"""Loads as rows: what a force does is its effort times the rate of what it acts along.

A spring, a damper or an actuator acts along a *measure* (a distance, an angle, a coordinate); the
measure's row on v turns the effort into generalised forces, and its pushes into wrenches on
bodies.

    τ = Σ rowᵀ effort − Nᵀ ∂V/∂q − ∂R/∂v                                        (loads-1)

Public names: Load, Calculus, loads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, final

from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, atan2, cos, gradient, sin, symbol, symbols_of
from liaison.model import (
    AlongMeasure,
    Angle,
    AtMarker,
    Coordinate,
    Distance,
    Field,
    Force,
    Measure,
    OfMechanism,
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
    """Expression and differentiation of formulas of the description."""

    def expressed(self, formula: Any) -> Expr:
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
    listed = []
    for force in forces:
        if isinstance(force, Field):
            continue
        try:
            listed.append(load(kinematics, force, calculus))
        except ZeroDivisionError as error:
            raise DerivationError(
                f"what {force.name!r} acts along has no direction, wherever the mechanism is.",
                place=force.place,
                hint="The markers of a distance must not stay at one point, nor may x of the "
                "second marker of an angle stay along z of the first.",
            ) from error
    return listed


def load(kinematics: Kinematics, force: Force, calculus: Calculus) -> Load:
    """One force of the mechanism as a load, by the way in which it acts."""
    if isinstance(force, AlongMeasure):
        row = measure_row(kinematics, force.along())
        read = reading(kinematics, calculus)
        effort, stored = (
            force.effort_at(row.value, row.rate, read),
            force.energy_at(row.value, read),
        )
        return along(force.name, row, effort, potential=0 if stored is None else stored)
    if isinstance(force, AtMarker):
        return point_load(kinematics, force, calculus)
    if isinstance(force, OfMechanism):
        return function_load(kinematics, force, calculus)
    raise DerivationError(
        f"no formula is known for the force {force.name!r}: {type(force).__name__} is neither "
        "AlongMeasure, AtMarker, OfMechanism nor Field.",
        place=force.place,
    )


def reading(kinematics: Kinematics, calculus: Calculus) -> Callable[[Any], Any]:
    """How fields of a load enter its formulas: numbers of the tree, symbols of the equations."""
    numbers = kinematics.tree.numbers

    def read(x: Any) -> Any:
        known = numbers(x)
        return calculus.expressed(known) if isinstance(known, Expr) else known

    return read


def function_load(kinematics: Kinematics, force: OfMechanism, calculus: Calculus) -> Load:
    """A potential V or a dissipation D of the mechanism: −Nᵀ ∂V/∂q − ∂D/∂v."""
    potential_formula, lost = force.potential(), force.rayleigh()
    if potential_formula is None and lost is None:
        said = f"the force {force.name!r} has neither a potential nor a dissipation."
        raise DerivationError(said, place=force.place)
    potential: Any = 0
    parts: list[list[Expr]] = []
    if potential_formula is not None:
        potential = calculus.expressed(potential_formula)
        check_potential(force.name, potential, kinematics)
        parts.append([-x for x in calculus.flows(potential)])
    if lost is not None:
        drag = gradient(calculus.expressed(lost), list(kinematics.v))
        parts.append([-x for x in drag])
    pull = parts[0] if len(parts) == 1 else [x + y for x, y in zip(*parts, strict=True)]
    return Load(force.name, nonzero(pull), potential=potential)


def check_potential(name: str, potential: Expr, kinematics: Kinematics) -> None:
    """Raises an error for a potential of speeds, which would add inertia."""
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


def point_load(kinematics: Kinematics, force: AtMarker, calculus: Calculus) -> Load:
    """A force and a moment at a marker, in the ground's axes or another marker's."""
    tree, numbers = kinematics.tree, kinematics.tree.numbers
    place, turned = tree.located(force.at()), force.turned_with()
    at = marker_motion(kinematics, GROUND, place)
    axes = marker_motion(kinematics, GROUND, tree.located(turned)).R if turned else None
    components = [[numbers(x) for x in part] for part in force.wrench()]
    parts = [
        array([calculus.expressed(x) if isinstance(x, Expr) else x for x in part])
        for part in components
    ]
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
    """The angle of b's x about z of a; turns are counted by a joint between the two."""
    tree = kinematics.tree
    first, second = tree.located(angle.a), tree.located(angle.b)
    R, _ = template()
    turned = as_expr(atan2(R[1, 0], R[0, 0]))
    joint = turning_joint(tree.mechanism, angle)
    if joint is None:
        return relative_rows(kinematics, first, second, [turned])[0]
    near = symbol(joint[0]) * joint[1]
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
