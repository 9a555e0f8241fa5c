"""Print joint coordinates and attitudes along a run.

Public names: motion.
"""

from __future__ import annotations

import csv as tables
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from liaison.cli.options import RunOption, Until, WithStart, with_options, written
from liaison.errors import Interrupted
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.model import Joint, Mechanism
    from liaison.simulation import Trajectory
    from liaison.simulation.record.series import Series


INSTANTS = 200
"""Number of instants recorded without an interval."""


@command
@with_options
def motion(
    *,
    until: Until = "10",
    joints: Annotated[
        list[str] | None,
        typer.Option("--joint", metavar="NAME", help="A joint; all without it. Repeatable."),
    ] = None,
    bodies: Annotated[
        list[str] | None,
        typer.Option("--body", metavar="NAME", help="Attitude of this body. Repeatable."),
    ] = None,
    attitude: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="quaternion, euler (z-x-z), bryant (x-y-z) or matrix; for all bodies.",
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Save as CSV.")] = None,
    run: RunOption = None,
    call: WithStart,
) -> None:
    """Print joint angles (with full turns), displacements and rates along a run, and attitudes."""
    from liaison.analyse.along.attitude_along import attitudes
    from liaison.cli.running import leave_if_suspect, noted, ran, run_options
    from liaison.cli.values import check_folders, check_names, check_word

    check_folders(csv)
    if attitude is not None:
        check_word("--attitude", attitude, attitudes())
    end, options = run_options(until, run)
    every = end / INSTANTS if options.every is None else options.every
    request = call.request(may_vary=True)
    mechanism = request.mechanism
    check_names("--joint", "joint", joints or (), [x.name for x in mechanism.joints])
    standing = [x.name for x in mechanism.bodies[1:]]
    check_names("--body", "body", bodies or (), standing)
    chosen = bodies or (standing if attitude else [])

    def columns_of(moved: Trajectory) -> list[_Columns]:
        bodies_along = [_body(moved, name, attitude or "quaternion") for name in chosen]
        return _joints(mechanism, moved, joints) + bodies_along

    try:
        moved = ran(request, end, replace(options, every=every, only_series=("poses", "motions")))
    except Interrupted as early:
        if csv and early.trajectory is not None:
            with noted():
                _save(csv, early.trajectory, columns_of(early.trajectory))
        raise
    columns = columns_of(moved)
    if csv:
        _save(csv, moved, columns)
    facts = (
        {"name": mechanism.name, "status": moved.status, "t": moved.t.tolist()}
        | _facts(columns)
        | written(csv=csv)
    )
    call.answer(facts, _table(mechanism.name, moved, columns))
    leave_if_suspect(moved)


@final
@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a joint or a body, with their labels and units."""

    series: Series
    names: tuple[str, ...]
    note: str = ""


def _joints(mechanism: Mechanism, run: Trajectory, names: list[str] | None) -> list[_Columns]:
    """The motion of the joints asked for, or of all that have an angle or a slide.

    Coordinates of a joint by elementary motions do not follow from poses: they are those of the
    run, without accelerations.
    """
    from liaison.analyse.along.joint_motion import has_angle_or_slide, joint_motion
    from liaison.expr import as_expr, evaluate, symbol

    joints = {x.name: x for x in mechanism.joints}
    by_run = {name for name, x in joints.items() if is_by_rates(x) and not has_angle_or_slide(x)}
    chosen = names or [x for x, y in joints.items() if has_angle_or_slide(y) or x in by_run]
    values = {symbol(x): y for x, y in run.meta.get("parameters", {}).items()}
    closing = [x for x in mechanism.starts if x.label not in {y.name for y in run.labels["q"]}]
    about = {x.label: float(evaluate([as_expr(x.value)], values)[0]) for x in closing}
    motions = [
        _of_run(run, joints[name].coordinates)
        if name in by_run
        else joint_motion(mechanism, run, name, start=about)
        for name in chosen
    ]
    return [_Columns(x, x.axes["motion"]) for x in motions]


def is_by_rates(joint: Joint) -> bool:
    """Whether the joint's velocities are the rates of its coordinates, and none is an attitude."""
    kind = joint.type
    return 0 < kind.nq == kind.nv and getattr(kind, "attitude", None) is None


def _of_run(run: Trajectory, coordinates: Sequence[str]) -> Series:
    """Coordinates and rates that a run has itself; none of a joint that the tree cuts."""
    import numpy as np

    from liaison.simulation.record.series import Series

    places = {
        label.name: (values[:, k], label.unit)
        for part, values in (("q", run.q), ("v", run.v))
        for k, label in enumerate(run.labels[part])
    }
    names = [x for name in coordinates for x in (name, f"{name}'") if x in places]
    columns = [places[name][0] for name in names] or [np.empty((len(run.t), 0))]
    units = tuple(places[name][1] for name in names)
    return Series(np.column_stack(columns), units, {"motion": tuple(names)})


def _body(run: Trajectory, name: str, attitude: str) -> _Columns:
    from liaison.analyse.along.attitude_along import attitude_along

    along = attitude_along(run, name, attitude)
    names = tuple(f"{name}.{x}" for x in along.series.axes["coordinate"])
    return _Columns(along.series, names, along.message)


def _units(columns: _Columns) -> tuple[str, ...]:
    unit = columns.series.unit
    return (unit,) * len(columns.names) if isinstance(unit, str) else tuple(unit)


def _facts(groups: list[_Columns]) -> dict[str, Any]:
    """Columns by name with None where a value is not determined, their units, and notes."""
    columns: dict[str, list[float | None]] = {}
    units: dict[str, str] = {}
    for group in groups:
        values = group.series.shown
        for k, name in enumerate(group.names):
            columns[name] = [None if x != x else float(x) for x in values[:, k]]
        units |= zip(group.names, _units(group), strict=True)
    notes = [group.note for group in groups if group.note]
    return {"columns": columns, "units": units, "notes": notes}


def _table(name: str, run: Trajectory, groups: list[_Columns]) -> str:
    """Each column as text: where it begins and ends, its least and largest value."""
    head = f"{'':24}{'unit':9}{'first':>14}{'last':>14}{'least':>14}{'most':>14}"
    lines = [f"{name}: {run.t[0]:g} to {run.t[-1]:g} s in {len(run.t)} instants", head]
    for group in groups:
        for k, (label, unit) in enumerate(zip(group.names, _units(group), strict=True)):
            x = group.series.values[:, k]
            numbers = "".join(f"{y:14.6g}" for y in (x[0], x[-1], x.min(), x.max()))
            lines.append(f"{label:24}{unit:9}{numbers}")
    return "\n".join(lines + [f"Note: {group.note}" for group in groups if group.note])


def _save(path: Path, run: Trajectory, groups: list[_Columns]) -> None:
    """Time and every column, with units in the head."""
    head = ["t [s]"]
    for group in groups:
        pairs = zip(group.names, _units(group), strict=True)
        head += [f"{x} [{unit}]" if unit else x for x, unit in pairs]
    from liaison.simulation.record.files import write_file

    file = io.StringIO(newline="")
    writer = tables.writer(file)
    writer.writerow(head)
    for k, t in enumerate(run.t):
        row = [x for group in groups for x in group.series.values[k]]
        writer.writerow([repr(float(x)) for x in (t, *row)])
    write_file(path, file.getvalue())
