"""The same mechanism told otherwise."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from liaison.freedoms.placing import valued
from liaison.model import Angle, Distance, Gravity, Marker, PointWrench

from .drawing import Pose, Sample, compose, pose_of
from .numbers import floats


def moved_world(s: Sample, X: Pose) -> Sample:
    """The same mechanism seen from another ground frame: X is the old one in the new one."""

    def seen(marker: Marker) -> Marker:
        if marker.body != "ground":
            return marker
        R, p = compose(X, pose_of(marker))
        return replace(marker, R=R.tolist(), p=p.tolist())

    def force(f: Any) -> Any:
        if isinstance(f, Gravity):
            return replace(f, vector=tuple(X[0] @ floats(f.vector)))
        if isinstance(f, PointWrench):
            axes = Marker("ground") if f.axes is None else f.axes
            return replace(f, marker=seen(f.marker), axes=seen(axes))
        measure = getattr(f, "measure", None)
        if isinstance(measure, Distance | Angle):
            return replace(f, measure=type(measure)(seen(measure.a), seen(measure.b)))
        return f

    def relation(constraint: Any) -> Any:
        given = {part.name: getattr(constraint, part.name) for part in fields(constraint)}
        moved = {name: seen(x) for name, x in given.items() if isinstance(x, Marker)}
        return replace(constraint, **moved)

    # lengths that are parameters have their values
    m = valued(s.mechanism, []) if s.mechanism.parameters else s.mechanism
    joints = tuple(
        replace(j, predecessor=seen(j.predecessor), successor=seen(j.successor)) for j in m.joints
    )
    told = replace(
        m,
        joints=joints,
        forces=tuple(map(force, m.forces)),
        constraints=tuple(map(relation, m.constraints)),
    )
    return replace(s, mechanism=told)
