"""Print joint coordinates and attitudes along a run.

Public names: motion.
"""

from __future__ import annotations

import csv as tables
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from liaison.cli.options import (
    Debug,
    Json,
    Model,
    RunOption,
    Starts,
    Until,
    Values,
    printed,
    with_run_options,
    written,
)
from liaison.errors import Interrupted
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.model import Mechanism
    from liaison.simulation import Trajectory
    from liaison.simulation.record.series import Series


INSTANTS = 200
"""Number of instants recorded without an interval."""


@command
@with_run_options
def motion(
    file: Model,
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
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print joint angles (with full turns), displacements and rates along a run, and attitudes."""
    from liaison.analyse.along.attitude_along import attitudes
    from liaison.cli.running import noted, ran, run_options
    from liaison.cli.values import asked, check_folders, check_names, check_word

    check_folders(csv)
    if attitude is not None:
        check_word("--attitude", attitude, attitudes())
    end, options = run_options(until, run)
    every = end / INSTANTS if options.every is None else options.every
    given = asked(file, values, start)
    mechanism = given.mechanism
    check_names("--joint", "joint", joints or (), [x.name for x in mechanism.joints])
    standing = [x.name for x in mechanism.bodies[1:]]
    check_names("--body", "body", bodies or (), standing)
    chosen = bodies or (standing if attitude else [])

    def columns(moved: Trajectory) -> list[_Columns]:
        found = _joints(mechanism, moved, joints)
        return found + [_body(moved, name, attitude or "quaternion") for name in chosen]

    try:
        moved = ran(given, end, replace(options, every=every, series=("poses", "motions")))
    except Interrupted as early:
        if csv and early.trajectory is not None:
            with noted():
                _save(csv, early.trajectory, columns(early.trajectory))
        raise
    found = columns(moved)
    if csv:
        _save(csv, moved, found)
    facts = {"name": mechanism.name, "t": moved.t.tolist()} | _facts(found) | written(csv=csv)
    printed(facts, _table(mechanism.name, moved, found), as_json)


@final
@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a joint or a body, with their labels and units."""

    series: Series
    names: tuple[str, ...]
    note: str = ""


def _joints(mechanism: Mechanism, run: Trajectory, wanted: list[str] | None) -> list[_Columns]:
    """The motion of the joints asked for, or of all that have an angle or a slide."""
    from liaison.analyse.along.joint_motion import has_angle_or_slide, joint_motion

    chosen = wanted or [x.name for x in mechanism.joints if has_angle_or_slide(x)]
    about = {x.label: float(x.value) for x in mechanism.starts if isinstance(x.value, int | float)}
    found = [joint_motion(mechanism, run, name, start=about) for name in chosen]
    return [_Columns(x, x.axes["motion"]) for x in found]


def _body(run: Trajectory, name: str, attitude: str) -> _Columns:
    from liaison.analyse.along.attitude_along import attitude_along

    told = attitude_along(run, name, attitude)
    names = tuple(f"{name}.{x}" for x in told.series.axes["coordinate"])
    return _Columns(told.series, names, told.message)


def _units(told: _Columns) -> tuple[str, ...]:
    unit = told.series.unit
    return (unit,) * len(told.names) if isinstance(unit, str) else tuple(unit)


def _facts(found: list[_Columns]) -> dict[str, Any]:
    """Columns by name with None where a value is not determined, their units, and notes."""
    columns: dict[str, list[float | None]] = {}
    units: dict[str, str] = {}
    for told in found:
        shown = told.series.shown
        for k, name in enumerate(told.names):
            columns[name] = [None if x != x else float(x) for x in shown[:, k]]
        units |= zip(told.names, _units(told), strict=True)
    notes = [told.note for told in found if told.note]
    return {"columns": columns, "units": units, "notes": notes}


def _table(name: str, run: Trajectory, found: list[_Columns]) -> str:
    """Each column as text: where it begins and ends, its least and largest value."""
    head = f"{'':24}{'unit':9}{'first':>14}{'last':>14}{'least':>14}{'most':>14}"
    lines = [f"{name}: {run.t[0]:g} to {run.t[-1]:g} s in {len(run.t)} instants", head]
    for told in found:
        for k, (label, unit) in enumerate(zip(told.names, _units(told), strict=True)):
            x = told.series.values[:, k]
            numbers = "".join(f"{y:14.6g}" for y in (x[0], x[-1], x.min(), x.max()))
            lines.append(f"{label:24}{unit:9}{numbers}")
    return "\n".join(lines + [f"Note: {told.note}" for told in found if told.note])


def _save(path: Path, run: Trajectory, found: list[_Columns]) -> None:
    """Time and every column, with units in the head."""
    head = ["t [s]"]
    for told in found:
        pairs = zip(told.names, _units(told), strict=True)
        head += [f"{x} [{unit}]" if unit else x for x, unit in pairs]
    from liaison.simulation.record.files import write_file

    file = io.StringIO(newline="")
    writer = tables.writer(file)
    writer.writerow(head)
    for k, t in enumerate(run.t):
        row = [x for told in found for x in told.series.values[k]]
        writer.writerow([repr(float(x)) for x in (t, *row)])
    write_file(path, file.getvalue())
