"""Every column of a run as a curve to choose: values, unit, and units to show it in.

Public names: column_entries, unit_choices, MOST_ROWS, MOST_NUMBERS.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.simulation.record.trajectory import Trajectory
from liaison.units import Label, unit_of
from liaison.view.drawing import body_poses

from .packing import Pack

Array = NDArray[np.float64]
Entry = dict[str, Any]
Columns = dict[str, tuple[str, Label, Array]]

MOST_ROWS, MOST_NUMBERS = 2000, 250_000
"""Instants of a curve; numbers of all curves."""

FEW_NUMBERS, FEW_BITS = 60_000, 15
"""Where there are more numbers than the first, mantissas have so many bits."""

MOST_PLACES = 16
"""Bodies whose places are curves too."""

MOST_CHOSEN = 3
FAMILIES = (
    ("rad", "deg", "rev"), ("rad/s", "deg/s", "rpm"), ("rad/s^2", "deg/s^2"),
    ("m", "mm", "cm", "inch"), ("m/s", "mm/s", "km/h"), ("m/s^2", "mm/s^2"), ("N", "kN", "mN"),
    ("N*m", "N*mm", "kN*m"), ("J", "kJ"), ("W", "kW"), ("Pa", "bar", "MPa"),
)  # fmt: skip
"""Units of one quantity; a curve in one of them can be shown in the others."""


def column_entries(run: Trajectory, pack: Pack) -> Entry:
    """Instants and columns; which of them are shown to begin with; and the relative error.

    Args:
        run: as it was recorded.
        pack: to which the numbers are added.
    """
    columns = _columns(run)
    most = min(MOST_ROWS, max(2, MOST_NUMBERS // max(1, len(columns))))
    rows = np.arange(len(run))
    if len(run) > most:
        rows = np.unique(np.linspace(0, len(run) - 1, most).round().astype(np.int64))
    bits = 23 if len(rows) * len(columns) <= FEW_NUMBERS else FEW_BITS
    return {
        "times": pack.floats(run.t[rows]),
        "columns": [
            {"name": name, "group": group, "unit": label.unit, "values": pack.floats(x[rows], bits)}
            for name, (group, label, x) in columns.items()
        ],
        "chosen": _chosen(columns),
        "recorded": len(run),
        "error": 2.0 ** -(bits + 1),
        "units": unit_choices(label.unit for _, label, _ in columns.values()),
    }


def unit_choices(units: Iterable[str]) -> dict[str, list[tuple[str, float]]]:
    """Units in which columns can be shown, each with the factor of the values."""
    choices: dict[str, list[tuple[str, float]]] = {}
    for unit in dict.fromkeys(units):
        family = next((x for x in FAMILIES if unit in x), ())
        choices[unit] = [(unit, 1.0), *((x, _factor(unit, x)) for x in family if x != unit)]
    return choices


def _factor(unit: str, other: str) -> float:
    """The value in the other unit of 1 in the unit."""
    a, b = unit_of(unit), unit_of(other)
    return float(a.factor / b.factor) * math.pi ** (a.pi - b.pi)


def _columns(run: Trajectory) -> Columns:
    """Group, label and values of every column, by name."""
    known = run.shown_columns()
    groups = {x.name: "coordinates" for x in run.labels.get("q", ())}
    groups |= {x.name: "velocities" for x in run.labels.get("v", ())}
    columns: Columns = {
        name: (groups.get(name, name.partition(".")[0].replace("_", " ")), label, x)
        for name, (label, x) in known.items()
    }
    if "energy.T" in known and "energy.U" in known:
        label, T = known["energy.T"]
        columns["energy.T+U"] = (
            "energy",
            Label("energy.T+U", label.unit),
            T + known["energy.U"][1],
        )
    return columns | _places(run)


def _places(run: Trajectory) -> Columns:
    """Where the origins of the bodies are [m]."""
    poses = body_poses(run)
    if len(poses) > MOST_PLACES:
        return {}
    return {
        f"{body}.{axis}": ("places of bodies", Label(f"{body}.{axis}", "m"), X[:, k, 3])
        for body, X in poses.items()
        for k, axis in enumerate("xyz")
    }


def _chosen(columns: Mapping[str, tuple[str, Label, Array]]) -> list[str]:
    """A few curves of one unit, outputs before coordinates, and the energy."""
    moving = {name: x for name, x in columns.items() if np.ptp(np.nan_to_num(x[2])) > 0}
    wanted = [x for x in moving if moving[x][0] == "outputs"]
    wanted += [x for x in moving if moving[x][0] == "coordinates"]
    first = [x for x in wanted if moving[x][1].unit == moving[wanted[0]][1].unit][:MOST_CHOSEN]
    return first + [x for x in columns if columns[x][0] == "energy"]
