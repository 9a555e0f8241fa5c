"""How runs of a batch ended, and the record of all of them: series, messages, measures.

Public names: Ends, runs_of, series_at, check_series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final, overload

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError
from liaison.numeric import Array
from liaison.simulation.events.log import Event
from liaison.simulation.outcome import (
    UNDEFINED,
    Balance,
    Outcome,
    are_off,
    doubles,
    is_off,
    may_run_away,
)
from liaison.simulation.plan.plan import Plan, may_lose
from liaison.simulation.record.series import EventRecord, Series
from liaison.simulation.record.trajectory import (
    DONE,
    FAILED,
    INTERRUPTED,
    STOPPED,
)
from liaison.simulation.report import (
    SHAPES,
    event_records,
    message_of,
    meta_of,
    residuals_of,
    several_impacts,
    suspect,
)
from liaison.simulation.steps import layout as at

from .loop import ENDS, MEASURED
from .plan import Starts
from .result import Runs

UNFINISHED = -1
"""The code of a run that was not begun."""


@final
@dataclass(frozen=True, slots=True)
class Ends:
    """How each run ended: codes and counts, its last good (t, q, v), words where Python has any.

    With contacts also what its steps missed (beside the last state), series of contacts where they
    are requested, and how many sign changes the time loop looked for.
    """

    codes: NDArray[np.int64]
    last: Array
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    event_rows: dict[int, list[Array]] = field(default_factory=dict)
    contacts: dict[int, dict[str, Series]] = field(default_factory=dict)

    @staticmethod
    def for_runs(count: int, size: int) -> Ends:
        """Nothing has begun."""
        codes = np.zeros((count, len(ENDS)), dtype=np.int64)
        codes[:, 0] = UNFINISHED
        return Ends(codes, np.full((count, 1 + size + MEASURED), np.nan))

    def refuse(self, outcomes: Mapping[int, Outcome], t: float) -> None:
        """Notes runs that cannot begin, at the time t: they are over, and have no state."""
        for k, outcome in outcomes.items():
            self.codes[k, 0], self.last[k, 0] = at.BAD_START, t
            self.outcomes[k] = outcome

    @property
    def fraction(self) -> float:
        """How many of the runs are over, 0 to 1."""
        return float(np.mean(self.codes[:, 0] != UNFINISHED))

    def events_in(self, k: int) -> Array:
        """The log of a run."""
        size = Event.header + self.last.shape[1] - MEASURED - 1
        return np.concatenate([np.zeros((0, size)), *self.event_rows.get(k, ())])


def runs_of(plan: Plan, starts: Starts, records: Array, ends: Ends, series: Sequence[str]) -> Runs:
    """The record of a batch."""
    nq, nv = plan.size("nq"), plan.size("nv")
    _fill_unbegun(starts, ends)
    recorded = ends.codes[:, ENDS.index("recorded")].copy()
    columns = series_at(plan, starts, records, recorded, series)
    columns |= _contacts(ends, records.shape[:2])
    outcomes = _outcomes(ends)
    _mark_gaps(plan, recorded, columns, outcomes)
    _mark_suspects(plan, starts, records, ends, outcomes)
    events = _Events(plan, ends, len(starts))
    return Runs(
        name=plan.program.name,
        t=np.asarray(plan.settings.every, dtype=float),
        q=records[:, :, 1 : 1 + nq],
        v=records[:, :, 1 + nq : 1 + nq + nv],
        recorded=recorded,
        labels=plan.program.labels,
        series=columns,
        parameters=starts.p,
        end_t=ends.last[:, 0],
        end_q=ends.last[:, 1 : 1 + nq],
        end_v=ends.last[:, 1 + nq : 1 + nq + nv],
        statuses=tuple(x.status for x in outcomes),
        messages=tuple(_message(plan, events, k, x) for k, x in enumerate(outcomes)),
        reasons=tuple(x.reason for x in outcomes),
        events=events,
        counts={name: ends.codes[:, k].copy() for k, name in enumerate(ENDS) if k > 1},
        measures=_measures(plan, ends),
        meta=meta_of(plan) | _watched(plan) | _theta(plan),
    )


def _fill_unbegun(starts: Starts, ends: Ends) -> None:
    """A run that was not begun ends where it would have started."""
    rows = ends.codes[:, 0] == UNFINISHED
    ends.last[rows, :-MEASURED] = np.hstack(
        [np.full((len(starts), 1), starts.t), starts.q, starts.v]
    )[rows]


def _outcomes(ends: Ends) -> list[Outcome]:
    """How each run ended; runs that reached one time share their words."""
    words: dict[tuple[int, float], Outcome] = {}
    listed = []
    ended = zip(ends.codes[:, 0].tolist(), ends.last[:, 0].tolist(), strict=True)
    for k, (code, t) in enumerate(ended):
        outcome = ends.outcomes.get(k) or words.get((code, t))
        if outcome is None:
            outcome = words[code, t] = _outcome(code, t)
        listed.append(outcome)
    return listed


def _outcome(code: int, t: float) -> Outcome:
    if code == UNFINISHED:
        return Outcome(INTERRUPTED, "the run was not begun.", reason=INTERRUPTED)
    assert code == at.DONE
    return Outcome(DONE, f"reached t = {t:.9g} s.")


def _message(plan: Plan, events: _Events, k: int, outcome: Outcome) -> str:
    listed = events[k] if outcome.status == STOPPED else ()
    return message_of(plan, listed, outcome) + several_impacts(plan.settings, events.rows(k))


@final
class _Events(Sequence[tuple[EventRecord, ...]]):
    """What occurred in each run, each built at its first use: most never are."""

    def __init__(self, plan: Plan, ends: Ends, count: int) -> None:
        self._plan, self._ends, self._runs = plan, ends, range(count)
        self._records: dict[int, tuple[EventRecord, ...]] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def __reduce__(self) -> tuple[Any, ...]:
        """All events, where it is written or sent elsewhere."""
        return tuple, (list(self),)

    @property
    def known(self) -> list[int]:
        """Numbers of the runs that have events."""
        return sorted(self._ends.event_rows)

    def rows(self, k: int) -> Array:
        """Rows of the log of a run."""
        return self._ends.events_in(k) if k in self._ends.event_rows else np.empty((0, 0))

    @overload
    def __getitem__(self, k: int) -> tuple[EventRecord, ...]: ...

    @overload
    def __getitem__(self, k: slice) -> list[tuple[EventRecord, ...]]: ...

    def __getitem__(
        self, k: int | slice
    ) -> tuple[EventRecord, ...] | list[tuple[EventRecord, ...]]:
        if isinstance(k, slice):
            return [self[i] for i in self._runs[k]]
        i, ends = self._runs[k], self._ends
        if i not in self._records:
            is_any = i in ends.event_rows
            self._records[i] = event_records(self._plan, ends.events_in(i)) if is_any else ()
        return self._records[i]


def series_at(
    plan: Plan, starts: Starts, records: Array, recorded: NDArray[np.int64], names: Sequence[str]
) -> dict[str, tuple[Array, Series]]:
    """Series at all recorded states at once, on vectors and all cores; NaN where none was."""
    there = np.arange(records.shape[1]) < recorded[:, None]
    known = [x for x in names if x in plan.program.entries and plan.kernel.out_size(x)]
    columns: dict[str, tuple[Array, Series]] = {}
    if not known:
        return columns
    rows = np.ascontiguousarray(records[there].T)
    p = np.ascontiguousarray(starts.p[np.nonzero(there)[0]].T)
    for name in known:
        shapes = _shaped(plan, name, _evaluated(plan, name, rows, p))
        columns |= {x: (_stacked(there, s.values), s) for x, s in shapes.items()}
    return columns


def check_series(names: Sequence[str]) -> None:
    """Rejects a series that is not evaluated for batches."""
    known = (*SHAPES, "closure", "contacts")
    for name in names:
        if name not in known:
            raise NamingError.unknown("series of a batch", name, known)


def _contacts(ends: Ends, shape: tuple[int, ...]) -> dict[str, tuple[Array, Series]]:
    """Series of contacts of all runs; NaN where none was."""
    columns: dict[str, tuple[Array, Series]] = {}
    for k, contacts in ends.contacts.items():
        for name, series in contacts.items():
            if name not in columns:
                columns[name] = (np.full((*shape, *series.values.shape[1:]), np.nan), series)
            columns[name][0][k, : len(series.values)] = series.values
    return columns


def _measures(plan: Plan, ends: Ends) -> dict[str, Array]:
    """Numbers by run: what Moreau's steps missed, how events were seen; NaN where not begun."""
    is_moreau = plan.settings.tableau.scheme == "moreau"
    has_events = bool(plan.events) or (bool(plan.program.facts.get("sides")) and not is_moreau)
    names = (
        "penetration", "complementarity", "contacts", "event_spacing", "events_in_doubt",
        "energy_missed", "energy_missed_at", "", "", "energy_turned_over", "",
    )  # fmt: skip
    asked = (is_moreau,) * 3 + (has_events,) * 2 + (bool(plan.watch[0]),) * BALANCED
    columns = ends.last[:, -MEASURED:].T
    return {
        name: x
        for name, x, is_there in zip(names, columns, asked, strict=True)
        if name and is_there
    }


BALANCED = 6
"""Numbers of the balance of energy, the last of those measured."""


def _watched(plan: Plan) -> dict[str, Any]:
    """How the balance of energy was kept; its numbers are among the measures of each run."""
    if not plan.watch[0]:
        return {"energy_balance": {"watched": "", "why": plan.watch[1]}}
    return {"energy_balance": {"watched": "gains" if may_lose(plan) else "energy"}}


def _mark_suspects(
    plan: Plan, starts: Starts, records: Array, ends: Ends, outcomes: list[Outcome]
) -> None:
    """A run that ended as it should is suspect where its energy is off unexplained."""
    if not plan.watch[0]:
        return
    steps, kept = ends.codes[:, ENDS.index("steps")], ends.last[:, -BALANCED:]
    off = are_off(plan.settings, kept, steps)
    for k in np.flatnonzero(off | may_run_away(plan.settings, kept)).tolist():
        rows = records[k, : ends.codes[k, ENDS.index("recorded")]]
        worst, t_worst, jump, t_jump, turned_over, size = kept[k].tolist()
        trace = None if off[k] else _growth(plan, rows)
        balance = Balance(worst, t_worst, jump, t_jump, turned_over, size, int(steps[k]), trace)
        if outcomes[k].status in (DONE, STOPPED) and is_off(plan.settings, balance):
            own = replace(plan, parameters=starts.p[k])
            outcomes[k] = suspect(own, balance, rows) or outcomes[k]


def _growth(plan: Plan, rows: Array) -> Array | None:
    """Instants and squares of velocities where these run away, in the place of a trace."""
    first = 1 + plan.size("nq")
    squares = np.square(rows[:, first : first + plan.size("nv")]).sum(axis=1)
    return np.column_stack([rows[:, 0], squares]) if doubles(squares) else None


def _theta(plan: Plan) -> dict[str, float]:
    theta = plan.settings.theta
    is_moreau = plan.settings.tableau.scheme == "moreau"
    return {"theta": 0.5 if theta is None else theta} if is_moreau else {}


def _evaluated(plan: Plan, entry: str, rows: Array, p: Array) -> Array:
    """An entry at every column (t, q, v, u), with its parameters; shape (columns, outputs)."""
    if not rows.shape[1]:
        return np.zeros((0, plan.kernel.out_size(entry)))
    nq, nv = plan.size("nq"), plan.size("nv")
    t, q, v, u = np.split(rows, [1, 1 + nq, 1 + nq + nv])
    return plan.kernel.batch(entry, t[0], q=q, v=v, u=u, p=p).T


def _shaped(plan: Plan, name: str, out: Array) -> dict[str, Series]:
    if name == "closure":
        return residuals_of(plan, out) if plan.size("nc") else {}
    return {name: SHAPES[name](plan.kernel, out)}


def _stacked(there: NDArray[np.bool_], values: Array) -> Array:
    if np.all(there):
        return np.ascontiguousarray(values).reshape(*there.shape, *values.shape[1:])
    whole = np.full((*there.shape, *values.shape[1:]), np.nan)
    whole[there] = values
    return whole


def _mark_gaps(
    plan: Plan,
    recorded: NDArray[np.int64],
    columns: Mapping[str, tuple[Array, Series]],
    outcomes: list[Outcome],
) -> None:
    """A run whose series has no finite value at an instant it reached has failed."""
    times = np.asarray(plan.settings.every, dtype=float)
    there = np.arange(times.size) < recorded[:, None]
    for name, (values, shape) in columns.items():
        flat = values.reshape(*there.shape, -1)
        bad = there[:, :, None] & ~np.isfinite(flat)
        for k in np.flatnonzero(bad.any(axis=(1, 2))):
            i, column = np.argwhere(bad[k])[0]
            what = list(shape.columns(name))[column].removeprefix("outputs.")
            text = f"{what!r} is {flat[k, i, column]} at t = {times[i]:.9g} s."
            if not outcomes[k].is_failure:
                outcomes[k] = Outcome(FAILED, text, UNDEFINED, "not finite")
