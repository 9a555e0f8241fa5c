"""Loads and relations on planar hinges and sliders rewritten in x, y and θ of the bodies.

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

from liaison.expr import PI, Expr, as_expr, directional, substitute, symbol, symbols_of
from liaison.model import (
    AlongMeasure,
    Constraint,
    Coordinate,
    Dissipation,
    Force,
    Holonomic,
    Joint,
    JointType,
    Marker,
    Mechanism,
    Nonholonomic,
    OfCoordinates,
    PointWrench,
    Potential,
)
from liaison.spatial.arrays import array, identity, zeros
from liaison.spatial.plucker import compose, inverse
from liaison.tree.tree import Transform

from .plane_of_motion import Floats, Standing

PARTS = {"turn": "moment", "slide": "force"}
"""What an effort along the only coordinate of a joint is, by the joint's bearing."""


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
    uses = _Rewriter(mechanism, planes, stands, starts, n)
    return replace(
        mechanism,
        joints=(*mechanism.joints, *planes.values()),
        starts=(),
        forces=tuple(new for force in mechanism.forces for new in uses.force(force)),
        constraints=tuple(map(uses.constraint, mechanism.constraints)),
        outputs=tuple(replace(x, formula=uses.formula(x.formula)) for x in mechanism.outputs),
        events=tuple(replace(x, formula=uses.formula(x.formula)) for x in mechanism.events),
    )


class _Rewriter:
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
        self.pairs = {x.coordinates[0]: x for x in explicit if _is_pair(x.type)}
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
        """Its coordinates are formulas of x, y, θ of its bodies."""
        kind = joint.type
        turns = [
            (label, name)
            for label, name, unit in zip(
                joint.coordinates, kind.coordinate_names, kind.coordinate_units, strict=True
            )
            if unit == "rad"
        ]
        is_counted = all(name == kind.TURN and label in self.angles for label, name in turns)
        has_coordinates = kind.coordinates_of(identity(), zeros(3), kind.neutral()) is not None
        return kind.nq > 0 and kind.has_rates and is_counted and has_coordinates

    def formula(self, formula: Any) -> Any:
        """The formula in the new coordinates."""
        if not isinstance(formula, Expr) or not {*symbols_of([formula])} & {*self.put}:
            return formula
        return substitute([formula], self.put)[0]

    def _values(self, joint: Joint) -> list[Expr]:
        """The coordinates of a joint, by (cartesian-1)."""
        R, p = compose(*inverse(*self._pose(joint.predecessor)), *self._pose(joint.successor))
        kind = joint.type
        values: Any = kind.coordinates_of(R, p, kind.neutral())
        return [
            self._angle(joint, label) if name == kind.TURN else as_expr(x)
            for label, name, x in zip(joint.coordinates, kind.coordinate_names, values, strict=True)
        ]

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

    def constraint(self, relation: Constraint) -> Constraint:
        """A relation between the new coordinates."""
        labels = set(relation.labels())
        if isinstance(relation, OfCoordinates) and labels and labels <= self.known:
            record = Nonholonomic if relation.OF_SPEEDS else Holonomic
            return record(relation.name, self.formula(relation.vanishing()), relation.place)
        rewritten_relation: Constraint = self._substituted(relation)
        return rewritten_relation

    def _substituted(self, act: Any) -> Any:
        """The same record with its formulas in the new coordinates."""
        new = {part: self.formula(getattr(act, part)) for part in act.SCALARS}
        new |= {part: tuple(map(self.formula, getattr(act, part))) for part in act.TRIPLES}
        changed = {part: x for part, x in new.items() if x is not getattr(act, part)}
        return replace(act, **changed) if changed else act

    def force(self, force: Force) -> Iterator[Force]:
        """A load in the new coordinates: an effort along a joint acts on its two bodies."""
        measure = force.along()
        if not (isinstance(force, AlongMeasure) and isinstance(measure, Coordinate)):
            yield self._substituted(force)
            return
        label = measure.label
        stored, lost = self._functions(force, label)
        is_effort = stored is None and lost is None
        if label not in (self.pairs if is_effort else self.known):
            yield self._substituted(force)
        elif is_effort:
            q, rate = self._seen(label)
            drag = force.effort_at(q, rate, self.formula)
            yield from self._pair(force, self.pairs[label], drag)
        if stored is not None and label in self.known:
            yield Potential(force.name, stored, force.place)
        if lost is not None and label in self.known:
            name = force.name if stored is None else f"{force.name} dissipation"
            yield Dissipation(name, lost, force.place)

    def _seen(self, label: str) -> tuple[Any, Any]:
        """A coordinate and its rate as formulas of the new ones, or as they are."""
        named = symbol(label), symbol(f"{label}'")
        return self.put.get(named[0], named[0]), self.put.get(named[1], named[1])

    def _functions(self, force: AlongMeasure, label: str) -> tuple[Any, Any]:
        """The energy and the dissipation of a load along a coordinate; None of those it has not."""
        q, rate = self._seen(label)
        return force.energy_at(q, self.formula), force.dissipation_at(rate, self.formula)

    def _pair(self, force: Force, joint: Joint, effort: Any) -> Iterator[Force]:
        """The effort on the successor, and its opposite on the predecessor."""
        F, M = joint.predecessor, joint.successor
        part = PARTS[joint.type.BEARING]
        for marker, sign in ((M, 1), (F, -1)):
            if marker.body != "ground":
                name = f"{force.name} on {marker.body}"
                wrench = {part: (0, 0, sign * effort)}
                yield PointWrench(name, marker, axes=F, place=force.place, **wrench)


def _is_pair(kind: JointType) -> bool:
    """An effort along its coordinate is a moment about z, or a force along z."""
    return kind.nv == 1 and kind.BEARING in PARTS


def _turns(angle: float) -> Any:
    """An angle as a simple part of π where it is one within rounding."""
    part = Fraction(angle / float(PI)).limit_denominator(24)
    near = PI * part
    return near if abs(float(part) * 3.141592653589793 - angle) < 1e-9 else angle
