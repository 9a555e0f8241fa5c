"""Instants of a run: where steps end, and how far they may reach, because of the time alone.

Public names: timed_of, knots_of, instants_of, instants_of_all, load_instants, row_label, WINDOW.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program import Program
from liaison.program.extend import resolve
from liaison.program.instants import (
    Instants,
    Timed,
    instants_between,
    joined,
    jumps_between,
    knots,
    timed,
)
from liaison.simulation.steps.layout import Run

from .inputs import Inputs

WINDOW = 256
"""Instants that a run keeps at hand; it comes back for more."""


def timed_of(program: Program, inputs: Inputs, stops: tuple[Any, ...]) -> Timed | None:
    """Formulas of time alone in a program, in the inputs of a run and in what stops it."""
    own = program.facts.get("formulas")
    added = [*(formula for _, formula in inputs.formulas), *stops]
    formulas = [*(own() if own is not None else ()), *added]
    if not formulas:
        return None
    places = dict(program.inputs) | resolve(program, added)
    times = [x for x, place in places.items() if place == ("t", 0)]
    if not times:
        return None
    driven = {slot for slot, _ in inputs.formulas} | {x.slot for x in inputs.controllers}
    kept = [x for x, (array, k) in places.items() if _is_kept(array, k, driven)]
    return timed(times[0], formulas, kept)


def knots_of(program: Program, inputs: Inputs) -> tuple[tuple[Any, Array], ...]:
    """Formulas of the state with levels at which forces or inputs jump or bend."""
    laws = program.facts.get("laws")
    added = [formula for _, formula in inputs.formulas]
    formulas = [*(laws() if laws is not None else ()), *added]
    if not formulas:
        return ()
    places = dict(program.inputs) | resolve(program, added)
    kept = [x for x, (array, _) in places.items() if array in ("t", "p", "u")]
    return knots(formulas, kept)


def _is_kept(array: str, index: int, driven: set[int]) -> bool:
    """Whether a place keeps its value during a run: a parameter, or an input that is a number."""
    return array == "p" or (array == "u" and index not in driven)


def instants_of(
    one: Timed | None, program: Program, start: float, end: float, p: Array, u: Array
) -> Instants:
    """Instants of a run with these parameters and inputs; those that the program names as well."""
    values = {
        x: float((p if array == "p" else u)[k])
        for x, (array, k) in program.inputs.items()
        if array in ("p", "u") and one is not None
    }
    instants = instants_between(one, start, end, values)
    if one is not None and len(instants.breaks):
        instants = replace(instants, corners=_corners(one.t, program, (start, end), values))
    own = program.facts.get("breaks", ())
    if not own:
        return instants
    return replace(instants, breaks=np.array(sorted({*own, *instants.breaks.tolist()})))


def _corners(
    t: Any, program: Program, span: tuple[float, float], values: dict[Any, float]
) -> tuple[tuple[float, int], ...]:
    """Instants at which rates of closures jump, each with its row.

    Raises:
        SimulationError: a closure of positions jumps.
    """
    rows = program.facts.get("closures")
    corners: list[tuple[float, int]] = []
    for k, (phi, nu) in enumerate(rows() if rows is not None else ()):
        for instant, size in jumps_between(t, phi, values, span, values):
            raise SimulationError(
                f"{row_label(program, k)!r} jumps by {size:.6g} at t = {instant:.9g} s: no motion "
                "follows it.",
                hint="Let it rise within a time: a table, a ramp, or a smooth formula.",
                status="jump",
                t=instant,
            )
        corners += [(instant, k) for instant, _ in jumps_between(t, nu, values, span, values)]
    return tuple(sorted(corners))


def row_label(program: Program, row: int) -> str:
    """The name of a closure's row."""
    labels = program.labels.get("lam", ())
    return labels[row].name if row < len(labels) else f"closure {row + 1}"


def instants_of_all(
    one: Timed | None, program: Program, start: float, end: float, p: Array, u: Array
) -> Instants:
    """Instants that suit every row of parameters and inputs."""
    if one is None:
        return instants_of(one, program, start, end, p, u)
    places = [program.inputs[x] for x in one.constants]
    tables = {"p": p, "u": u}
    columns = [np.broadcast_to(tables[array][:, k], len(p)) for array, k in places]
    rows = {row: i for i, row in enumerate(zip(*columns, strict=True))} or {(): 0}
    return joined([instants_of(one, program, start, end, p[i], u[i]) for i in rows.values()])


COUNTED = np.array(Run.slots("breaks_passed", "points_passed", "break_count", "point_count"))
"""Instants that are at hand, and how many of them are over."""


def load_instants(run: Run, instants: Instants, longest: float) -> None:
    """The instants that come next, as many as there is room for.

    Args:
        run: where it stands now.
        instants: all of them.
        longest: the longest step allowed [s].
    """
    run.ints[COUNTED] = 0
    run.h_max, run.t_refill = min(longest, instants.longest), np.inf
    if not (instants.breaks.size or instants.waypoints.size or instants.corners):
        return
    t, is_adaptive = float(run.t), bool(run.is_adaptive)
    corners = dict(instants.corners)
    times = instants.breaks if is_adaptive else np.array(sorted(corners))
    breaks = times[times.searchsorted(t) :]
    first = max(int(instants.waypoints.searchsorted(t, side="right")) - 1, 0)
    points, reach = instants.waypoints[first:], instants.reach[first:]
    at_hand, seen = breaks[: int(run.breaks)], points[: int(run.points)]
    if len(at_hand):
        run.break_times[: len(at_hand)] = at_hand
        run.corner_rows[: len(at_hand)] = [corners.get(x, -1) for x in at_hand.tolist()]
    if len(seen):
        run.waypoints[: len(seen)], run.reach[: len(seen)] = seen, reach[: len(seen)]
    run.break_count, run.point_count = len(at_hand), len(seen) if is_adaptive else 0
    more = [at_hand[-2]] if len(breaks) > len(at_hand) else []
    more += [seen[-1]] if len(points) > len(seen) else []
    run.t_refill = min(more, default=np.inf)
