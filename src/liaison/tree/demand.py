"""Which joint coordinates somebody uses: they must exist even where the joint is cut.

Public names: coordinates_in_use, turning_joint.
"""

from __future__ import annotations

from collections.abc import Iterator

from liaison.expr import Expr, symbols_of
from liaison.model import Angle, Joint, Marker, Mechanism
from liaison.spatial.arrays import dot, number


def coordinates_in_use(mechanism: Mechanism) -> frozenset[str]:
    """Names of the joints whose coordinates or rates a load, relation, output or start names."""
    used = {name.rstrip("'") for name in _names(mechanism)}
    return frozenset(
        joint.name
        for joint in mechanism.joints
        if used & {label.rstrip("'") for label in (*joint.coordinates, *joint.speeds)}
    )


def _names(mechanism: Mechanism) -> Iterator[str]:
    """Every name by which the mechanism's records may speak of a coordinate."""
    formulas = [output.formula for output in mechanism.outputs]
    formulas += [event.formula for event in mechanism.events]
    for force in mechanism.forces:
        yield from force.labels()
        formulas += force.formulas()
        measure = force.along()
        told = turning_joint(mechanism, measure) if isinstance(measure, Angle) else None
        yield from (told[0],) if told else ()
    for constraint in mechanism.constraints:
        yield from constraint.labels()
        formulas += constraint.formulas()
    for contact in mechanism.contacts:
        yield from contact.labels()
        formulas += contact.formulas()
    for start in mechanism.starts:
        yield start.label
    for symbol in symbols_of([f for f in formulas if isinstance(f, Expr)]):
        yield symbol.name


def turning_joint(mechanism: Mechanism, angle: Angle) -> tuple[str, int] | None:
    """The coordinate that counts the turns of an angle, and 1 or −1; None where no joint does.

    It is that of a joint between the two bodies that turns about z of the angle's first marker.
    """
    for joint in sorted(mechanism.joints, key=lambda joint: joint.name):
        ends = (joint.predecessor.body, joint.successor.body)
        if joint.type.TURN and {*ends} == {angle.a.body, angle.b.body}:
            forward = ends[0] == angle.a.body
            near = joint.predecessor if forward else joint.successor
            sense = _same_direction(near, angle.a)
            if sense:
                return _turn(joint), sense if forward else -sense
    return None


def _turn(joint: Joint) -> str:
    return joint.coordinates[joint.type.coordinate_names.index(joint.type.TURN)]


def _same_direction(a: Marker, b: Marker) -> int:
    """1 or −1 where the z axes of two markers of one body are along each other, else 0."""
    cosine = number(dot([row[2] for row in a.R], [row[2] for row in b.R]))
    if cosine is None or abs(cosine) < 1 - PARALLEL:
        return 0
    return 1 if cosine > 0 else -1


PARALLEL = 1e-12
"""1 − cos of the angle under which two directions are one: a millionth of a radian."""
