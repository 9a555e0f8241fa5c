"""Sections of a report on a run: ranges, reactions, drives, energy, events, versions.

Public names: motion_section, reactions_section, drives_section, energy_section, events_section,
versions_section, reaction_sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.analyse.along.drives import DriveAlong, is_effort
from liaison.analyse.along.verify import Verification
from liaison.display import page_of
from liaison.display.page import Page, Table, number, plural
from liaison.lazy import listed
from liaison.simulation.record.trajectory import Trajectory

from .record import Section

Array = NDArray[np.float64]
FORCE, MOMENT = slice(3, 6), slice(0, 3)
ROUNDING = 1e-10
"""Reactions below this part of the greatest are rounding."""

WHY = (
    "Components that are not determined belong to redundant closures: any self-stress may be added "
    "to them without a change of the motion. Magnitudes are those of the other components."
)


def motion_section(run: Trajectory, figures: Sequence[str]) -> Section:
    """The range of every coordinate and output, with plots."""
    rows, facts = [], {}
    outputs = run.columns("outputs.*") if "outputs" in run.series else {}
    outputs = {name: x for name, x in outputs.items() if not is_effort(name)}
    own = {x.name: (x, run.q[:, k]) for k, x in enumerate(run.labels["q"])}
    for label, values in (*own.values(), *outputs.values()):
        name = label.name.removeprefix("outputs.")
        low, high, first, last = _range(values)
        facts[name] = {"unit": label.unit, "first": first, "last": last, "min": low, "max": high}
        rows.append((name, label.unit, *(number(x) for x in (first, last, low, high))))
    head = ("coordinate, output", "unit", "first", "last", "least", "greatest")
    page = Page(_span(run), tables=(Table(head, tuple(rows)),))
    return Section("motion", page, tuple(figures), {"status": run.status, "columns": facts})


def _span(run: Trajectory) -> str:
    return f"{number(run.t[0])} to {number(run.t[-1])} s, recorded at {len(run)} instants"


def _range(x: Array) -> tuple[float, float, float, float]:
    finite = x[np.isfinite(x)]
    low, high = (finite.min(), finite.max()) if len(finite) else (np.nan, np.nan)
    return float(low), float(high), float(x[0]), float(x[-1])


def greatest(values: Array, t: Array) -> tuple[float, float]:
    """The value of greatest size, and its instant; NaN where none is known, and of zeros."""
    if not np.any(np.isfinite(values)):
        return np.nan, np.nan
    if not np.nan_to_num(values).any():
        return 0.0, np.nan
    k = int(np.nanargmax(np.abs(values)))
    return float(values[k]), float(t[k])


def _magnitude(parts: Array, rounding: float) -> Array:
    """Length of vectors (n, 3) over what is determined of them; NaN where nothing is."""
    known = np.isfinite(parts)
    length = np.sqrt(np.where(known, parts, 0.0) ** 2 @ np.ones(parts.shape[1]))
    return np.where(known.any(axis=1), np.where(length > rounding, length, 0.0), np.nan)


def reaction_sizes(run: Trajectory) -> dict[str, dict[str, Array]]:
    """Joint -> magnitude of its "force" [N] and "moment" [N·m] at every instant.

    What is rounding beside the greatest force of all, times the size of the mechanism, is 0.
    """
    series = run.series["reactions"]
    shown, joints = series.shown, next(iter(series.axes.values()))
    places = run.series["poses"].values[..., 3].reshape(-1, 3) if "poses" in run.series else None
    size = 1.0 if places is None else float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    forces, moments = (
        float(np.nanmax(np.abs(np.nan_to_num(shown[..., x])), initial=0.0)) for x in (FORCE, MOMENT)
    )
    scale = ROUNDING * max(forces, moments / size)
    return {
        joint: {
            "force": _magnitude(shown[:, k, FORCE], scale),
            "moment": _magnitude(shown[:, k, MOMENT], scale * size),
        }
        for k, joint in enumerate(joints)
    }


def reactions_section(run: Trajectory, figures: Sequence[str]) -> Section:
    """Greatest force and moment of every joint with its instant, and what is not determined."""
    series, sizes = run.series["reactions"], reaction_sizes(run)
    joints, components = series.axes.values()
    rows, facts = [], {}
    for k, joint in enumerate(joints):
        known = np.isfinite(series.shown[:, k])
        lost = [c for j, c in enumerate(components) if not known[:, j].any()]
        gaps = [c for j, c in enumerate(components) if c not in lost and not known[:, j].all()]
        words = [*lost, *(f"{x} (at times)" for x in gaps)]
        force, moment = (greatest(sizes[joint][x], run.t) for x in ("force", "moment"))
        rows.append((joint, *map(_known, (*force, *moment)), listed(words) or "–"))
        facts[joint] = {
            "force": _plain(force[0]), "force_at": _plain(force[1]), "moment": _plain(moment[0]),
            "moment_at": _plain(moment[1]), "undetermined": [*lost, *gaps],
        }  # fmt: skip
    head = ("joint", "greatest force [N]", "at [s]", "greatest moment [N·m]", "at [s]",
            "not determined")  # fmt: skip
    is_lost = any(x["undetermined"] for x in facts.values())
    notes = ((WHY,) if is_lost else ()) + (
        "Forces and moments of each joint on its second body, at and in the axes of the joint; "
        "efforts in the joint (springs, friction, drives) are included.",
    )
    title = f"greatest of {plural(len(run), 'instant')} from {number(run.t[0])} s on"
    page = Page(title, tables=(Table(head, tuple(rows)),), notes=notes)
    return Section("reactions", page, tuple(figures), facts)


def _known(x: float) -> str:
    return number(x) if np.isfinite(x) else "–"


def _plain(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def drives_section(
    run: Trajectory, efforts: Sequence[DriveAlong], figures: Sequence[str]
) -> Section:
    """Greatest effort and power of every drive, and its work."""
    rows, facts = [], {}
    for x in efforts:
        effort, at = greatest(x.effort, run.t)
        power, power_at = (np.nan, np.nan) if x.power is None else greatest(x.power, run.t)
        work = np.nan if x.work is None else x.work
        rows.append((x.name, x.kind, x.on, f"{_known(effort)} {x.unit}", _known(at), _known(power),
                     _known(power_at), _known(work)))  # fmt: skip
        facts[x.name] = {
            "kind": x.kind, "on": x.on, "unit": x.unit, "effort": _plain(effort),
            "effort_at": _plain(at), "power": _plain(power), "power_at": _plain(power_at),
            "work": _plain(work),
        }  # fmt: skip
    head = ("drive", "kind", "acts on", "greatest effort", "at [s]", "greatest power [W]", "at [s]",
            "work [J]")  # fmt: skip
    notes = (
        "Power is positive where the drive gives energy to the mechanism; work is its integral "
        "over the run.",
    )
    title = plural(len(rows), "drive or motor", "drives and motors")
    page = Page(title, tables=(Table(head, tuple(rows)),), notes=notes)
    return Section("drives", page, tuple(figures), facts)


def energy_section(
    run: Trajectory,
    is_conservative: bool,
    checked: Verification | None,
    figures: Sequence[str],
    why: str = "",
) -> Section:
    """T and U at both ends, the work of every load, and the theorems that were checked.

    Args:
        run: with the series "energy".
        is_conservative: T + U should be constant.
        checked: the theorems; None where they were not checked.
        figures: plots.
        why: they were not checked.
    """
    energy = run.series["energy"].values
    total = energy.sum(axis=1)
    change = float(np.abs(total - total[0]).max())
    facts = [
        ("kinetic energy", f"{number(energy[0, 0])} J at the start, {number(energy[-1, 0])} J at "
                           "the end"),
        ("potential energy", f"{number(energy[0, 1])} J, {number(energy[-1, 1])} J"),
        ("sum", f"{number(total[0])} J, {number(total[-1])} J; changes by {change:.3g} J at most"),
    ]  # fmt: skip
    plain: dict[str, Any] = {
        "T": [float(energy[0, 0]), float(energy[-1, 0])],
        "U": [float(energy[0, 1]), float(energy[-1, 1])],
        "change": change,
        "is_conservative": is_conservative,
    }
    word = "the energy is constant, and this change is the error of the run"
    note = word if is_conservative else "loads or drives change the energy of this mechanism"
    tables: tuple[Table, ...] = ()
    if checked is not None:
        rows = tuple((name, f"{work:.6g}") for name, work in checked.work.items())
        tables = (Table(("load", "work over the run [J]"), rows), *page_of(checked).tables)
        plain |= {"work": dict(checked.work), "theorems": checked.to_dict()}
    if checked is None:
        unchecked = [f"The theorems of mechanics were not checked: {why}"] if why else []
    else:
        unchecked = [*page_of(checked).notes]
    page = Page(f"{note[0].upper()}{note[1:]}", tuple(facts), tables, tuple(unchecked))
    return Section("energy", page, tuple(figures), plain)


def events_section(run: Trajectory, most: int = 60) -> Section:
    """What occurred, in order."""
    events = run.events
    rows = tuple((number(x.t, 9), x.name, x.what or "–") for x in events[:most])
    more = len(events) - len(rows)
    notes = (f"and {more} more",) if more > 0 else ()
    page = Page(plural(len(events), "event"), (), (Table(("t [s]", "event", "what"), rows),), notes)
    facts = {"events": [{"t": x.t, "name": x.name, "what": x.what} for x in events]}
    return Section("events", page, facts=facts)


def versions_section(versions: Mapping[str, str], run: Trajectory | None) -> Section:
    """What the numbers depend on: versions, method, tolerances, counts, residuals."""
    facts: dict[str, Any] = {"versions": dict(versions)}
    rows = list(versions.items())
    if run is not None:
        used = {x: run.meta.get(x) for x in ("method", "step", "rtol", "atol", "until")}
        known = {k: x for k, x in used.items() if x is not None}
        rows += [(name, number(x)) for name, x in known.items()]
        rows += [(name, str(x)) for name, x in run.counts.items()]
        residuals = [x for x in ("position_residual", "velocity_residual") if x in run.series]
        worst = {x: float(np.max(run.series[x].values, initial=0.0)) for x in residuals}
        rows += [(x.replace("_", " "), f"{y:.3g} at worst") for x, y in worst.items()]
        facts |= {"run": known | dict(run.counts) | worst}
    return Section("versions", Page("made with", tuple(rows)), facts=facts)
