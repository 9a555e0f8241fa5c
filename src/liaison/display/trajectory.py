"""A run, shown: how it ended, energy, closures, events, and the range of every column.

Public names: title, page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from liaison.lazy import listed
from liaison.simulation.record.series import Array, EventRecord
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import Label

from .page import Page, Table, number

MOST = 12
"""Events of contacts that are listed one by one."""

QUIET = ("poses", "position_residual", "velocity_residual", "invariants", "outputs", "gaps")
"""Series that are not named as recorded: shown in another way, or part of every run."""


def title(shown: Trajectory) -> str:
    """From when to when, in how many instants, with how much work."""
    end = f"{shown.t[0]:g} to {shown.t[-1]:g} s" if len(shown.t) else "no instant"
    sizes = f"nq {shown.q.shape[1]}, nv {shown.v.shape[1]}"
    counts = ", ".join(f"{value} {name}" for name, value in shown.counts.items() if value)
    parts = [f"{end} in {len(shown.t)} instants", sizes, counts, shown.status]
    return f"{shown.name}: " + "; ".join(part for part in parts if part)


def page(shown: Trajectory) -> Page:
    """Facts, the first and last value and the range of every column, events of contacts."""
    facts = [("end", shown.message), ("energy", _energy(shown)), *_constants(shown)]
    facts += [("closures", _closures(shown)), ("penetration", _penetration(shown))]
    facts += [("event", text) for text in _occurrences(shown.events)]
    touching = [x for x in shown.events if x.what]
    counts = Counter(x.what for x in touching)
    facts.append(("contacts", ", ".join(f"{many} × {what}" for what, many in counts.items())))
    others = [x for x in shown.series if x not in QUIET]
    facts.append(("series", listed(others)))
    rows = tuple(_row(label, x) for label, x in _columns(shown).values())
    head = ("label", "unit", "first", "last", "least", "greatest")
    return Page(
        title(shown),
        tuple((name, text) for name, text in facts if text),
        (Table(head, rows if len(shown.t) else ()), _contacts(touching)),
    )


def _columns(shown: Trajectory) -> Mapping[str, tuple[Label, Array]]:
    """Positions, velocities, outputs."""
    own = {
        x.name: (x, values[:, k])
        for part, values in (("q", shown.q), ("v", shown.v))
        for k, x in enumerate(shown.labels.get(part, ()))
    }
    outputs = shown.columns("outputs.*") if "outputs" in shown.series else {}
    return own | {
        name: (Label(label.name.removeprefix("outputs."), label.unit), x)
        for name, (label, x) in outputs.items()
    }


def _row(label: Label, x: Array) -> tuple[str, ...]:
    finite = x[np.isfinite(x)]
    ends = [x[0], x[-1], *((finite.min(), finite.max()) if len(finite) else (np.nan, np.nan))]
    return (label.name, label.unit, *(number(value) for value in ends))


def _energy(shown: Trajectory) -> str:
    if "energy" not in shown.series or not len(shown.t):
        return ""
    energy = shown.series["energy"].values.sum(axis=1)
    change = float(abs(energy - energy[0]).max())
    return f"{energy[-1]:.6g} J at the end, changed by {change:.3g} J at most"


def _constants(shown: Trajectory) -> list[tuple[str, str]]:
    """First integrals, and how far each went from its value at the beginning."""
    invariants = shown.invariants if "invariants" in shown.series else {}
    return [
        ("constant", f"{name}: {x.values[0]:.6g} {x.unit}, drift {x.drift:.3g}")
        for name, x in invariants.items()
    ]


def _closures(shown: Trajectory) -> str:
    """How well closures were kept; nothing where there are none."""
    place, speed = (_largest(shown, f"{x}_residual") for x in ("position", "velocity"))
    if not place and not speed:
        return ""
    return f"{place:.3g} in position, {speed:.3g} in velocity at worst"


def _penetration(shown: Trajectory) -> str:
    """How deep bodies went into each other."""
    if shown.meta.get("scene"):
        deep, missed = shown.meta["penetration"], shown.meta["residual"]
        return f"{deep:.3g} m at worst, residual of impulses {missed:.3g}"
    if "gaps" not in shown.series or not shown.series["gaps"].values.size:
        return ""
    return f"{max(0.0, -float(shown.series['gaps'].shown.min())):.3g} m at worst"


def _largest(shown: Trajectory, name: str) -> float:
    return float(shown.series[name].values.max(initial=0.0)) if name in shown.series else 0.0


def _occurrences(events: Sequence[EventRecord]) -> list[str]:
    """When each event of a formula occurred."""
    times: dict[str, list[float]] = {}
    for x in events:
        if not x.what:
            times.setdefault(x.name, []).append(x.t)
    return [
        f"{name} at {', '.join(f'{t:.6g}' for t in ts[:6])}"
        + (f", … s ({len(ts)} times)" if len(ts) > 6 else " s")
        for name, ts in times.items()
    ]


def _contacts(events: Sequence[EventRecord]) -> Table:
    rows = [(f"{x.t:.9g}", x.name, x.what) for x in events[:MOST]]
    more = len(events) - MOST
    rows += [("…", f"{more} more in run.events", "")] if more > 0 else []
    return Table(("t [s]", "contact", "event"), tuple(rows))
