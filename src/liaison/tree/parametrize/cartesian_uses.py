"""What a mechanism says of hinges and sliders in a plane, said of x, y and θ of its bodies.

    angle = s (θ_successor − θ_predecessor) + a,    slide = z_F · (p_M − p_F)         (cartesian-1)

s = ±1 as the hinge's axis is along the plane's normal or against it. Turns are counted: θ is not
taken modulo 2π. An effort along a coordinate becomes a couple, or two forces along one line.

Public names: rewritten.

Source: docs/theory/parametrizations.md (cartesian-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from liaison.expr import PI, Expr, as_expr, directional, sqrt, substitute, symbol, symbols_of
from liaison.model import (
    Actuator,
    Constraint,
    Coordinate,
    Coupling,
    Damper,
    Dissipation,
    Force,
    Holonomic,
    Joint,
    JointFriction,
    Law,
    Marker,
    Mechanism,
    Planar,
    PointWrench,
    Potential,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Spring,
)
from liaison.spatial.arrays import array, identity, zeros
from liaison.spatial.plucker import compose, inverse
from liaison.tree.tree import Transform

from .plane_of_motion import Floats, Standing

EXPLICIT = (Revolute, Prismatic, Planar)
"""Joints whose coordinates are formulas of x, y, θ of its bodies."""


def rewritten(
    mechanism: Mechanism,
    planes: Mapping[str, Joint],
    stands: Standing,
    starts: Mapping[str, float],
    n: Floats,
) -> Mechanism:
    """The mechanism on its new joints; loads, relations, outputs and events name x, y, θ.

    Args:
        mechanism: that moves along a plane.
        planes: body -> its own joint to the ground.
        stands: the mechanism, assembled.
        starts: where x, y and θ begin.
        n: the plane's normal.
    """
    told = _Told(mechanism, planes, stands, starts, n)
    return replace(
        mechanism,
        joints=(*mechanism.joints, *planes.values()),
        starts=(),
        forces=tuple(new for force in mechanism.forces for new in told.force(force)),
        constraints=tuple(map(told.constraint, mechanism.constraints)),
        outputs=tuple(replace(x, formula=told.formula(x.formula)) for x in mechanism.outputs),
        events=tuple(replace(x, formula=told.formula(x.formula)) for x in mechanism.events),
    )


class _Told:
    """Coordinates of hinges and sliders as formulas."""

    def __init__(
        self,
        mechanism: Mechanism,
        planes: Mapping[str, Joint],
        stands: Standing,
        starts: Mapping[str, float],
        n: Floats,
    ) -> None:
        self.planes, self.stands, self.starts, self.n = planes, stands, starts, n
        state = stands.state
        self.angles = {x.name: q for x, q in zip(state.labels["q"], state.q, strict=True)}
        explicit = [joint for joint in mechanism.joints if self._is_explicit(joint)]
        self.pairs = {x.coordinates[0]: x for x in explicit if not isinstance(x.type, Planar)}
        flow = {
            symbol(q): symbol(v)
            for plane in planes.values()
            for q, v in zip(plane.coordinates, plane.speeds, strict=True)
        }
        self.put: dict[Expr, Expr] = {}
        for joint in explicit:
            for label, value in zip(joint.coordinates, self._values(joint), strict=True):
                self.put[symbol(label)] = value
                self.put[symbol(f"{label}'")] = as_expr(directional([value], flow)[0])
        self.known = {x.name for x in self.put}

    def _is_explicit(self, joint: Joint) -> bool:
        turns = [
            x for x, unit in zip(joint.coordinates, joint.type.coordinate_units) if unit == "rad"
        ]
        return isinstance(joint.type, EXPLICIT) and all(label in self.angles for label in turns)

    def formula(self, formula: Any) -> Any:
        """The formula in the new coordinates."""
        if not isinstance(formula, Expr) or not {*symbols_of([formula])} & {*self.put}:
            return formula
        return substitute([formula], self.put)[0]

    def _values(self, joint: Joint) -> list[Expr]:
        """The coordinates of a joint, by (cartesian-1)."""
        _, p = compose(*inverse(*self._pose(joint.predecessor)), *self._pose(joint.successor))
        match joint.type:
            case Prismatic():
                return [as_expr(p[2])]
            case Planar():
                return [as_expr(p[0]), as_expr(p[1]), self._angle(joint, joint.coordinates[2])]
        return [self._angle(joint, joint.coordinates[0])]

    def _angle(self, joint: Joint, label: str) -> Expr:
        """How far the successor is turned, turns counted."""
        sense = 1 if self.stands.axes(joint)[:, 2] @ self.n > 0 else -1
        first, a = self._turn(joint.predecessor.body)
        second, b = self._turn(joint.successor.body)
        offset = self.angles[label] - sense * (b - a)
        return as_expr(sense * (second - first) + _turns(offset))

    def _turn(self, body: str) -> tuple[Any, float]:
        """θ of a body: its symbol, and its start."""
        if body == "ground":
            return 0, 0.0
        label = self.planes[body].coordinates[2]
        return symbol(label), self.starts[label]

    def _pose(self, marker: Marker) -> Transform:
        """A marker in the ground's axes, as formulas."""
        here = (array(marker.R), array(marker.p))
        if marker.body == "ground":
            return compose(identity(), zeros(3), *here)
        plane = self.planes[marker.body]
        pose = plane.type.pose(array([symbol(x) for x in plane.coordinates]))
        F, M = plane.predecessor, plane.successor
        X = compose(*compose(array(F.R), array(F.p), *pose), *inverse(array(M.R), array(M.p)))
        return compose(*X, *here)

    def constraint(self, given: Constraint) -> Constraint:
        """A relation between the new coordinates."""
        match given:
            case PrescribedMotion(coordinate=label) if label in self.known:
                return Holonomic(given.name, self.formula(symbol(label) - given.law), given.place)
            case Coupling(coordinate=label, other=other) if {label, other} <= self.known:
                tied = symbol(label) - (given.ratio * symbol(other) + given.offset)
                return Holonomic(given.name, self.formula(tied), given.place)
        found: Constraint = self._substituted(given)
        return found

    def _substituted(self, act: Any) -> Any:
        """The same record with its formulas in the new coordinates."""
        new = {part: self.formula(getattr(act, part)) for part in act.SCALARS}
        if isinstance(act, PointWrench):
            new = {
                part: tuple(map(self.formula, getattr(act, part))) for part in ("force", "moment")
            }
        changed = {part: x for part, x in new.items() if x is not getattr(act, part)}
        return replace(act, **changed) if changed else act

    def force(self, force: Force) -> Iterator[Force]:
        """A load in the new coordinates: an effort along a joint acts on its two bodies."""
        label: str = getattr(force, "coordinate", "")
        measure = getattr(force, "measure", None)
        if isinstance(measure, Coordinate):
            label = measure.label
        is_effort = isinstance(force, Actuator | Law | JointFriction)
        if label not in (self.pairs if is_effort else self.known):
            yield self._substituted(force)
            return
        q, rate = self.put[symbol(label)], self.put[symbol(f"{label}'")]
        match force:
            case Spring(stiffness=k, rest=rest):
                yield Potential(force.name, k * (q - rest) * (q - rest) / 2, force.place)
            case Damper(coefficient=c):
                yield Dissipation(force.name, c * rate * rate / 2, force.place)
            case Actuator(effort=effort) | Law(effort=effort):
                yield from self._pair(force, self.pairs[label], self.formula(effort))
            case JointFriction(viscous=c, dry=dry, smoothing=slow):
                drag = -(c * rate + dry * rate / sqrt(rate * rate + slow * slow))
                yield from self._pair(force, self.pairs[label], drag)

    def _pair(self, force: Force, joint: Joint, effort: Any) -> Iterator[Force]:
        """The effort on the successor, and its opposite on the predecessor."""
        F, M = joint.predecessor, joint.successor
        part = "moment" if isinstance(joint.type, Revolute) else "force"
        for marker, sign in ((M, 1), (F, -1)):
            if marker.body != "ground":
                name = f"{force.name} on {marker.body}"
                told = {part: (0, 0, sign * effort)}
                yield PointWrench(name, marker, axes=F, place=force.place, **told)


def _turns(angle: float) -> Any:
    """An angle as a simple part of π where it is one within rounding."""
    part = Fraction(angle / float(PI)).limit_denominator(24)
    near = PI * part
    return near if abs(float(part) * 3.141592653589793 - angle) < 1e-9 else angle
