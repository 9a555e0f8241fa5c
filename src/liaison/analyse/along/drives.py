"""Efforts and powers of drives and motors along a run.

The effort of a motor is a formula of the description, recorded as one more output of the run; that
of an imposed motion is the multiplier of its row. Power is effort times rate,

    P = λ q̇   of an imposed motion,   P = τ ẋ   of a motor along x,

positive where the mechanism takes energy.

Public names: DriveAlong, with_efforts, is_effort, drives_along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from liaison.model.loads.efforts import Actuator
from liaison.model.markers import Angle, Cable, Coordinate, Distance, Measure
from liaison.model.mechanism import Mechanism
from liaison.model.records import Output
from liaison.model.relations.imposed import PrescribedMotion
from liaison.numeric import Array
from liaison.simulation import Series, Trajectory

from .verify import integral

CLOSURES = "closures"
"""Name of the power of all closures that move with time."""

EFFORT = "effort of {}"
"""Name of the output that records the effort of a motor."""
WORDS: dict[type[Measure], str] = {Distance: "a distance", Cable: "a cable", Angle: "an angle"}
"""What a motor acts along, where that is no coordinate."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class DriveAlong:
    """What a drive or a motor does along a run.

    Attributes:
        name: of the drive.
        kind: "imposed motion" or "motor".
        on: the coordinate that it acts on; "a distance" or "an angle" where it is none.
        unit: of the effort.
        effort: at every instant; NaN where it is not determined.
        power: at every instant [W]; None where it is not known.
        work: over the run [J]; None where it is not known.
    """

    name: str
    kind: str
    on: str
    unit: str
    effort: Array
    power: Array | None
    work: float | None


def is_effort(output: str) -> bool:
    """Whether an output, or its column in a run, is the effort of a motor."""
    return output.removeprefix("outputs.").startswith(EFFORT.format(""))


def _motors(mechanism: Mechanism) -> list[Actuator]:
    return [x for x in mechanism.forces if isinstance(x, Actuator)]


def with_efforts(mechanism: Mechanism) -> Mechanism:
    """The mechanism with one more output for each motor: its effort [N, N·m]."""
    taken = {x.name for x in mechanism.outputs}
    more = tuple(
        Output(EFFORT.format(x.name), x.effort, _unit(mechanism, x))
        for x in _motors(mechanism)
        if EFFORT.format(x.name) not in taken
    )
    return replace(mechanism, outputs=mechanism.outputs + more)


def _unit(mechanism: Mechanism, motor: Actuator) -> str:
    """Of an effort: along a length, or about an axis."""
    if isinstance(motor.measure, Coordinate):
        label = motor.measure.label
        units = {
            name: unit
            for joint in mechanism.joints
            for name, unit in zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        }
        return "N" if units.get(label) == "m" else "N*m"
    return "N" if isinstance(motor.measure, Distance | Cable) else "N*m"


def drives_along(
    mechanism: Mechanism,
    run: Trajectory,
    powers: Mapping[str, Array] | None = None,
    works: Mapping[str, float] | None = None,
) -> list[DriveAlong]:
    """Every imposed motion and every motor of a run of a mechanism `with_efforts`.

    Args:
        mechanism: that moved.
        run: with the series "outputs" and, for imposed motions, "lam".
        powers: of loads by name [W], for motors that act on no coordinate.
        works: of loads by name [J], as `verify` integrates them.
    """
    powers, works = powers or {}, works or {}
    imposed = [x for x in mechanism.constraints if isinstance(x, PrescribedMotion)]
    listed = [_imposed(run, x, powers, works) for x in imposed]
    for motor in _motors(mechanism):
        effort = run[f"outputs.{EFFORT.format(motor.name)}"]
        on = motor.measure
        if isinstance(on, Coordinate):
            power = _power(run, on.label, effort)
            words = on.label
        else:
            power = powers.get(motor.name)
            words = WORDS[type(on)]
        unit = _unit(mechanism, motor).replace("*", "·")
        work = works.get(motor.name, _integral(run, power))
        listed.append(DriveAlong(motor.name, "motor", words, unit, effort, power, work))
    return listed


def _integral(run: Trajectory, power: Array | None) -> float | None:
    """∫ P dt over the recorded instants [J]; None where P is not known at all of them."""
    if power is None or not np.all(np.isfinite(power)):
        return None
    return float(integral(run.t, power))


def _imposed(
    run: Trajectory,
    drive: PrescribedMotion,
    powers: Mapping[str, Array],
    works: Mapping[str, float],
) -> DriveAlong:
    """Multiplier and power of an imposed motion; NaN where its row is not determined."""
    series = run.series.get("lam", Series(np.zeros((len(run), 0)), axes={"row": ()}))
    rows = next(iter(series.axes.values()))
    if drive.name in rows:
        k = rows.index(drive.name)
        effort = np.asarray(series.shown[:, k], dtype=float)
        unit = (series.unit if isinstance(series.unit, str) else series.unit[k]) or "N"
    else:
        effort, unit = np.full(len(run), np.nan), ""
    power = _power(run, drive.coordinate, effort)
    unit = unit.replace("*", "·")
    work = _integral(run, power)
    others = powers.get(CLOSURES)
    if power is not None and others is not None and np.allclose(power, others, rtol=1e-9):
        work = works.get(CLOSURES, work)  # it alone moves the closures
    return DriveAlong(drive.name, "imposed motion", drive.coordinate, unit, effort, power, work)


def _power(run: Trajectory, coordinate: str, effort: Array) -> Array | None:
    rates = [x.name for x in run.labels["v"]]
    name = f"{coordinate}'"
    return effort * run.v[:, rates.index(name)] if name in rates else None
