"""Find joint coordinates that lead a body along poses.

Public names: joint_path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liaison.analyse.control.reach import JointPath, Target, limits_of
from liaison.analyse.control.reach import joint_path as path_of
from liaison.arguments import checked
from liaison.errors import ArgumentError, NamingError
from liaison.expr import as_expr, evaluate, symbol, symbols_of
from liaison.model.scalars import scalar
from liaison.numeric import Array
from liaison.numeric.progress import lasting
from liaison.units import si_values
from liaison.verbs.at_state import point_of
from liaison.verbs.given import Given, Value, in_si, mechanism_of
from liaison.verbs.ready import ready_for

ORTHONORMAL = 1e-9
"""By how much the columns of a rotation may miss length 1 and right angles."""


@lasting("analyse")
@checked
def joint_path(
    given: Given,
    body: str,
    *,
    position: Sequence[Any],
    rotation: Sequence[Sequence[Any]] | None = None,
    times: Sequence[Value] | Value = 0.0,
    point: Sequence[float | str] = (0.0, 0.0, 0.0),
    limits: Mapping[str, tuple[Any, Any]] | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    tolerance: float = 1e-10,
) -> JointPath:
    """Coordinates that put a point of a body at a place that moves with time, loops closed.

    By damped least squares on exact Jacobians, each instant from where the one before ended, so
    that the path stays on one branch; `inverse_kinematics` finds all branches of a single pose.

    Args:
        given: the mechanism, or the path of its text.
        body: its name.
        position: of the point, in ground's axes [m]: three numbers, formulas of time, or tables.
        rotation: the body's axes as columns, in ground's axes, likewise; any if not given.
        times: instants [s], increasing; or one.
        point: fixed on the body, in the body's axes [m].
        limits: least and greatest value by coordinate, beside the mechanism's own stops.
        start: positions to begin from, by label; they choose the branch.
        parameters: values by name.
        tolerance: of places [m] and angles [rad], relative to 1 + |q|.

    Returns:
        The path: `path["A"]` over time, `path.table("A")` as the target of a controller.

    Raises:
        SimulationError: a target is out of reach; says by how much, and what is at a limit.

    Example:
        >>> import liaison
        >>> arm, place = "examples/double_pendulum.lsd", (0.9, 0, -0.9)
        >>> path = liaison.joint_path(arm, "lower", position=place, point=(0, 0, -1))
        >>> hand = liaison.pose(arm, "lower", {"A": path["A"][0], "B": path["B"][0]})
        >>> (hand @ [0, 0, -1, 1]).round(6)[:3]
        array([ 0.9,  0. , -0.9])
    """
    mechanism = mechanism_of(given)
    if body not in [x.name for x in mechanism.bodies]:
        raise NamingError.unknown("body", body, [x.name for x in mechanism.bodies])
    several = times if isinstance(times, list | tuple | np.ndarray) else [times]
    instants = np.atleast_1d(np.asarray(si_values(several, "s", "times"), dtype=float))
    if np.any(np.diff(instants) <= 0) or not np.all(np.isfinite(instants)):
        raise ArgumentError("joint_path: times must be finite and increase.")
    place = point_of("joint_path", point)
    places = _over_time(_row("position", position), instants)
    axes = None if rotation is None else _rotations(rotation, instants)
    targets = [Target(p, None if axes is None else axes[k]) for k, p in enumerate(places)]
    kernel, begin = ready_for(mechanism, None, start, parameters)
    ranges = limits_of(mechanism) | _ranges(mechanism, limits)
    tree = {x.name for x in kernel.program.labels["q"]}
    ranges = {x: y for x, y in ranges.items() if x in tree or x in (limits or {})}
    return path_of(
        kernel, begin, body, instants, targets, point=place, limits=ranges, tolerance=tolerance
    )


def _ranges(mechanism: Any, limits: Mapping[str, Any] | None) -> dict[str, tuple[float, float]]:
    """Limits as numbers in SI, within the mechanism's own."""
    own = limits_of(mechanism)
    ranges = {}
    for label, pair in (limits or {}).items():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ArgumentError(
                f"joint_path: the limits of {label!r} are {pair!r}; they are a pair: (least, "
                "greatest)."
            )
        low, high = (in_si(mechanism, {label: x}, "limits")[label] for x in pair)
        inner = own.get(label, (-np.inf, np.inf))
        ranges[label] = (max(float(low), inner[0]), min(float(high), inner[1]))
    return ranges


def _row(what: str, entries: Sequence[Any]) -> list[Any]:
    """Three numbers or formulas of time."""
    if not isinstance(entries, list | tuple | np.ndarray) or len(entries) != 3:
        raise ArgumentError(f"joint_path: {what} is {entries!r}; it must have three components.")
    t = symbol("t")
    formulas = [x(t) if callable(x) and hasattr(x, "breaks") else x for x in entries]
    unit = "m" if what == "position" else ""
    row = [as_expr(scalar(x, f"a component of the {what}", unit=unit)) for x in formulas]
    others = [x.name for x in symbols_of(row) if x is not t]
    if others:
        raise ArgumentError(
            f"joint_path: the {what} depends on {others[0]!r}; it must be of numbers and time `t`."
        )
    return row


def _over_time(formulas: Sequence[Any], instants: Array) -> Array:
    """Values of formulas of time, a row for each instant."""
    t = symbol("t")
    return np.array([evaluate(list(formulas), {t: float(x)}) for x in instants], dtype=float)


def _rotations(rotation: Sequence[Sequence[Any]], instants: Array) -> Array:
    """The rotation at each instant, checked."""
    rows = [_row("rotation", row) for row in rotation]
    if len(rows) != 3:
        raise ArgumentError("joint_path: rotation must have three rows of three.")
    values = _over_time([x for row in rows for x in row], instants).reshape(-1, 3, 3)
    off = np.abs(values @ values.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    k = int(np.argmax(off))
    if off[k] > ORTHONORMAL or np.linalg.det(values[k]) < 0:
        raise ArgumentError(
            f"joint_path: rotation is no rotation at t = {instants[k]:g} s: its columns must be of "
            "length 1, at right angles and right-handed."
        )
    return values
