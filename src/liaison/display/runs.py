"""Many runs, shown: how they ended, and the range of every column; derivatives of a run; efforts.

Public names: title, page.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from liaison.analyse.along.inverse_motion import Efforts
from liaison.lazy import listed
from liaison.simulation.batch.result import Runs

from .page import Page, Table, number, plural


def title(shown: Any) -> str:
    """The mechanism, how many runs, and how they ended; or by what a run is differentiated."""
    if isinstance(shown, Efforts):
        drives = listed(shown.values.axes["drive"])
        can = "bring about" if shown.is_solvable else "cannot bring about"
        return f"{drives} {can} the motion, {number(shown.t[0])} to {number(shown.t[-1])} s"
    if not isinstance(shown, Runs):
        by = listed(shown.parameters) or "no parameter"
        over = f"{number(shown.t[0])} to {number(shown.t[-1])} s"
        return f"derivatives of a run by {by}, {over}; error {shown.error:.1e}"
    ends = ", ".join(f"{count} {status}" for status, count in Counter(shown.statuses).items())
    over = f"{number(shown.t[0])} to {number(shown.t[-1])} s" if len(shown.t) else "no instants"
    return f"{shown.name}: {plural(len(shown), 'run')}, {over} in {len(shown.t)} instants; {ends}"


def page(shown: Any) -> Page:
    """Every position and velocity with its range at the start and at the end."""
    if isinstance(shown, Efforts):
        return _efforts(shown)
    if not isinstance(shown, Runs):
        return Page(title(shown), (), (_derivatives(shown),))
    rows = []
    for kind, values in (("q", shown.q), ("v", shown.v)):
        ends = shown.end_q if kind == "q" else shown.end_v
        for k, label in enumerate(shown.labels.get(kind, ())):
            first = values[:, 0, k] if values.shape[1] else ends[:, k]
            rows.append((label.name, label.unit, _range(first), _range(ends[:, k])))
    failed = [(str(k), why) for k, why in enumerate(shown.messages) if shown.reasons[k]]
    tables = (
        Table(("label", "unit", "at the start", "at the end"), tuple(rows)),
        Table(("run", "failed because"), tuple(failed)),
    )
    return Page(title(shown), (), tables)


def _efforts(shown: Efforts) -> Page:
    """Every drive with the range of its effort; what the drives cannot give, or share."""
    rows = []
    for k, name in enumerate(shown.values.axes["drive"]):
        x, unit = shown[name], shown.values.unit
        at = shown.t[np.argmax(np.abs(x))]
        word = unit if isinstance(unit, str) else unit[k]
        rows.append((name, word, number(x.min()), number(x.max()), number(at)))
    notes = []
    if not shown.is_solvable:
        part = f"{100 * float(np.max(shown.missing)):.3g} %"
        notes.append(f"Up to {part} of the force that the motion needs is out of their reach.")
    if np.any(shown.internal):
        notes.append("Several efforts give the same motion: these are the least ones.")
    head = ("drive", "unit", "least", "greatest", "largest at [s]")
    return Page(title(shown), (), (Table(head, tuple(rows)),), tuple(notes))


def _derivatives(shown: Any) -> Table:
    """Of every coordinate, velocity and output by every parameter: last and largest."""
    names = [*(x.name for x in shown.labels), *shown.output_names]
    rows = []
    for name in names:
        for parameter in shown.parameters:
            x = shown[name, parameter]
            most = float(np.max(np.abs(x), initial=0.0))
            rows.append((name, parameter, number(x[-1]), number(most)))
    return Table(("d", "by", "at the end", "largest"), tuple(rows))


def _range(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    finite = x[np.isfinite(x)]
    if not len(finite):
        return "–"
    low, high = number(finite.min()), number(finite.max())
    return low if low == high else f"{low} … {high}"
