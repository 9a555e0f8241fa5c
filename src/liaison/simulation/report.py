"""From the numbers of a run to a Trajectory: labels, series, counts.

Public names: trajectory_of, scene_trajectory_of, series_of, event_records, message_of,
several_impacts, meta_of, balance_meta, suspect, inputs_series, equations_identity, residuals_of,
SHAPES.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError, SimulationError
from liaison.lazy import listed
from liaison.numeric import Array
from liaison.program import Kernel, Program
from liaison.program.extend import formula_to_plain, identity
from liaison.simulation.events.log import (
    BEFORE,
    CROSSES,
    CUT_SHORT,
    IMPACTS,
    KICKS,
    SECOND,
    TIME,
    WHAT,
    WHATS,
    entries_of,
)
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan, may_lose
from liaison.simulation.plan.settings import Settings
from liaison.simulation.plan.timing import row_label
from liaison.simulation.record.files import plain
from liaison.simulation.record.series import POSE_AXES, POSE_UNITS
from liaison.simulation.record.trajectory import DONE, STOPPED, EventRecord, Series, Trajectory
from liaison.simulation.steps.layout import Arrays, Run
from liaison.units import Label

from .machine import map_entry
from .outcome import MISSED, Balance, Outcome, balance_of, gap, is_off, outside

if TYPE_CHECKING:
    from liaison.contacts.events.one_sided import Marching
    from liaison.contacts.events.series import Contacts


COUNTS = ("steps", "rejected", "evaluations", "projections", "fallbacks")
COUNTED = np.array(Run.slots(*COUNTS))

WHOLE = 1e-9
"""A run of so little less than a whole number of steps has whole ones."""


def trajectory_of(
    plan: Plan,
    arrays: Arrays,
    rows: Array,
    event_rows: Array,
    series: Sequence[str],
    end: Outcome,
    modes: Marching | None = None,
    simulate: Callable[..., Trajectory] | None = None,
    halved: Callable[[], float] | None = None,
) -> Trajectory:
    """The record of a run so far.

    Args:
        plan, arrays, rows, event_rows, series, end: of the run.
        modes: where it went from event to event of contacts.
        simulate: by which it is taken up again at other instants, where that is asked for.
        halved: what its balance of energy misses with half the step.
    """
    nq, nv = plan.size("nq"), plan.size("nv")
    rows = _with_last_good(plan, arrays, rows, end)
    values = inputs_series(plan, rows)
    if series:
        values |= series_of(plan, rows, series, _contacts(plan, rows, event_rows, series, modes))
    balance = balance_of(arrays.run)
    if not end.is_failure:
        worse = gap(rows[:, 0], values) or _outside(plan, rows, values)
        end = worse or suspect(plan, balance, rows, halved) or end
    return Trajectory.of_run(
        RunFacts(
            plan, arrays, event_rows, end, modes, _left_out(plan, values), simulate, balance=balance
        ),
        name=plan.program.name,
        t=rows[:, 0].copy(),
        q=rows[:, 1 : 1 + nq].copy(),
        v=rows[:, 1 + nq : 1 + nq + nv].copy(),
        series=values,
        status=end.status,
    )


def suspect(
    plan: Plan, balance: Balance | None, rows: Array, halved: Callable[[], float] | None = None
) -> Outcome | None:
    """The end of a run whose energy is off by more than its steps explain; None of any other."""
    if balance is None or not is_off(plan.settings, balance):
        return None
    from .balance import suspicion

    return suspicion(plan, balance, rows, halved)


def _outside(plan: Plan, rows: Array, series: Mapping[str, Series]) -> Outcome | None:
    """A unilateral constraint that the run did not keep."""
    if not series.keys() >= MISSED:
        return None
    cuts = np.cumsum([1, plan.size("nq"), plan.size("nv")])
    t, q, v, _ = np.split(rows, cuts, axis=1)
    return outside(plan, t[:, 0], q, v, series)


def scene_trajectory_of(
    plan: Plan,
    arrays: Arrays,
    rows: Array,
    event_rows: Array,
    end: Outcome,
    halved: Callable[[], float] | None = None,
) -> Trajectory:
    """The record of a run of a scene so far."""
    from liaison.contacts.scene.report import scene_events, scene_trajectory

    rows = _with_last_good(plan, arrays, rows, end)
    balance = balance_of(arrays.run)
    until = float(arrays.run.t_good) if end.status == STOPPED else np.inf
    if not end.is_failure:
        end = suspect(plan, balance, rows, halved) or end
    events = scene_events(plan, event_rows, until)
    message, meta = message_of(plan, events, end), balance_meta(plan, balance)
    return scene_trajectory(
        plan, arrays, rows, events=events, status=end.status, message=message, meta=meta
    )


def _contacts(
    plan: Plan, rows: Array, event_rows: Array, series: Sequence[str], modes: Marching | None
) -> Contacts | None:
    """Contacts at the recorded states; accelerations and reactions depend on them."""
    if not {"contacts", *FORWARD} & {*series}:
        return None
    if modes is not None:
        from liaison.contacts.events.series import contacts_along

        return contacts_along(modes, plan, rows, event_rows)
    if plan.settings.tableau.scheme != "moreau":
        return None
    from liaison.contacts.stepping.report import stepped_contacts

    return stepped_contacts(plan, rows, event_rows)


@final
class RunFacts:
    """What a trajectory holds besides its numbers; each is built at its first use."""

    def __init__(
        self,
        plan: Plan,
        arrays: Arrays,
        event_rows: Array,
        end: Outcome,
        modes: Marching | None,
        notes: str = "",
        simulate: Callable[..., Trajectory] | None = None,
        *,
        balance: Balance | None = None,
    ) -> None:
        self._balance = balance
        event_rows.setflags(write=False)
        self._plan, self._event_rows, self._end = plan, event_rows, end
        self._counts = arrays.run.ints[COUNTED].tolist()
        self._stepped = _seen(arrays) | _stepped(plan, arrays)
        self._notes = begun(modes) + notes
        self._simulate = simulate

    def labels(self) -> dict[str, tuple[Label, ...]]:
        """Name and unit of each entry of q, v, …"""
        return {name: tuple(x) for name, x in self._plan.program.labels.items()}

    def mechanism(self) -> Any:
        """The description that the equations came from; None of a kernel that has none."""
        return self._plan.program.facts.get("mechanism")

    def events(self) -> tuple[EventRecord, ...]:
        """What occurred, in order."""
        return event_records(self._plan, self._event_rows)

    def message(self) -> str:
        """The status in a sentence."""
        events = self.events()
        several = several_impacts(self._plan.settings, self._event_rows)
        text = message_of(self._plan, events, self._end) + shortened(self._plan, self._end)
        return text + self._notes + several

    def counts(self) -> dict[str, int]:
        """Steps, evaluations, …"""
        return dict(zip(COUNTS, self._counts, strict=True))

    def meta(self) -> Any:
        """Plain data on how it was run."""
        return plain(meta_of(self._plan) | balance_meta(self._plan, self._balance) | self._stepped)

    def is_integrable(self) -> bool:
        """Whether the run can be taken up at its recorded instants."""
        from .between import can_go_on

        return self._simulate is not None and can_go_on(self._plan)

    def between(self, run: Trajectory, times: Array) -> Array | None:
        """Rows (t, q, v, u) at other instants, by the equations of motion.

        None where the run cannot be taken up at its recorded instants, or not to the next ones: it
        may have passed a singular position by a step.
        """
        from .between import rows_between

        if self._simulate is None or not self.is_integrable():
            return None
        try:
            return rows_between(self._plan, self._simulate, run.t, run.q, run.v, times)
        except SimulationError:
            return None

    def series_at(self, run: Trajectory, rows: Array) -> dict[str, Series]:
        """Series of a run at other rows (t, q, v, u): those that follow from the states."""
        plan = self._plan
        known = SHAPES if sides_in(plan.program) else KNOWN
        names = [x for x in known if x in run.series and x != "contacts"]
        names += ["closure"] * ("position_residual" in run.series)
        series = inputs_series(plan, rows) | series_of(plan, rows, names)
        return {name: x for name, x in series.items() if name in run.series}


def _left_out(plan: Plan, series: Mapping[str, Series]) -> str:
    """Sentences on what a run has no value of: redundant reactions, undefined first integrals."""
    return _undetermined(series) + _undefined(plan, series)


def _undetermined(series: Mapping[str, Series]) -> str:
    """A sentence on reactions and multipliers that the motion does not determine."""
    lost = series["reactions"].nowhere("reactions") if "reactions" in series else {}
    rows = series["lam"].nowhere("lam").get("lam", []) if "lam" in series else []
    if not lost and not rows:
        return ""
    by_parts: dict[tuple[str, ...], list[str]] = {}
    for of, parts in lost.items():
        by_parts.setdefault(tuple(parts), []).append(of.removeprefix("reactions."))
    texts = [f"{', '.join(parts)} of {listed(x)}" for parts, x in by_parts.items()]
    texts += [f"the multipliers of {listed([*map(repr, rows)])}"] if rows else []
    return f" Not determined, since closures are redundant: {'; '.join(texts)}."


def _undefined(plan: Plan, series: Mapping[str, Series]) -> str:
    """A sentence on first integrals that have no value somewhere along a run, and are left out."""
    if "invariants" not in series:
        return ""
    known = series["invariants"].axes["invariant"]
    lost = [x for x, _ in plan.program.entry("invariants").layout if x not in known]
    if not lost:
        return ""
    names = ", ".join(map(repr, lost))
    return f" Left out of the invariants, having no value somewhere: {names}."


def _seen(arrays: Arrays) -> dict[str, Any]:
    """How finely a run looked at its events.

    `event_spacing` is the longest time between two looks at them [s], `events_in_doubt` how many
    windows ended before it was sure how often an event is zero.
    """
    run = arrays.run
    if not int(run.ne):
        return {}
    return {"event_spacing": float(run.spacing), "events_in_doubt": int(run.doubts)}


def balance_meta(plan: Plan, balance: Balance | None) -> dict[str, Any]:
    """How the balance of energy of a run stands: see docs/theory/energy.md.

    `watched` is "energy", "gains" where losses are not counted, or "" with `why`; `missed` is the
    most that it was off by, beyond the doubt of its work [J], `at` [s]; `turned_over` [J].
    """
    if balance is None:
        return {"energy_balance": {"watched": "", "why": plan.watch[1]}}
    return {
        "energy_balance": {
            "watched": "gains" if may_lose(plan) else "energy",
            "missed": balance.worst,
            "at": balance.t_worst,
            "turned_over": balance.turned_over,
        }
    }


def _stepped(plan: Plan, arrays: Arrays) -> dict[str, Any]:
    """What a run of Moreau's steps says besides; nothing of another."""
    if plan.settings.tableau.scheme != "moreau":
        return {}
    from liaison.contacts.stepping.report import stepped_meta

    return stepped_meta(plan, arrays)


def event_records(plan: Plan, event_rows: Array) -> tuple[EventRecord, ...]:
    """Rows of the log by the names of events and blocks.

    Args:
        plan: with the events of the mechanism and of the caller.
        event_rows: the rows.
    """
    own, sides = plan.events, sides_in(plan.program)
    records: list[EventRecord] = []
    was_t, was = np.nan, np.empty(0)
    for x in entries_of(event_rows, plan.size("nq")):
        if x.what == BEFORE:
            was_t, was = x.t, x.v
        elif x.what == CROSSES:
            records.append(EventRecord(own[x.first].name, x.t, x.q, x.v))
        elif x.what == KICKS:
            name = row_label(plan.program, x.first)
            records.append(EventRecord(name, x.t, x.q, x.v, "impulse", was))
        else:
            before = was if was_t == x.t else None
            name, what = sides[x.first][0], WHATS[x.what]
            together = max(x.second, 1) if x.what == IMPACTS else 1
            records.append(EventRecord(name, x.t, x.q, x.v, what, before, together=together))
    return tuple(records)


def message_of(plan: Plan, events: Sequence[EventRecord], end: Outcome) -> str:
    """The sentence of the outcome, with the name of the event that stopped the run."""
    stops = {event.name for event in plan.events if event.stops}
    last = next((event.name for event in reversed(events) if event.name in stops), None)
    if end.status != STOPPED or last is None:
        return end.message
    return end.message.replace("an event", f"event {last!r}", 1)


def shortened(plan: Plan, end: Outcome) -> str:
    """A sentence on a last step that is shorter than the fixed step; or none."""
    step, length = plan.settings.step, plan.until - plan.state.t
    if step is None or end.status != DONE or sides_in(plan.program):
        return ""
    for controller in plan.inputs.controllers:
        if _rest(controller.period, step) > 0:
            return (
                f" Some steps were shorter: steps of {step:g} s do not divide the period "
                f"{controller.period:g} s of {controller.name!r}."
            )
    rest = _rest(length, step)
    if rest > 0:
        return f" The last step was {rest:.6g} s: steps of {step:g} s do not divide {length:g} s."
    return ""


def _rest(length: float, step: float) -> float:
    """What whole steps leave of a time; 0 for less than rounding."""
    count = length / step
    rest = count - math.floor(count * (1 + WHOLE) + WHOLE)
    return rest * step if rest > WHOLE * count else 0.0


def several_impacts(settings: Settings, event_rows: Array) -> str:
    """Sentences on impacts of several contacts at once, whose answer is not unique; or none."""
    if not len(event_rows):
        return ""
    words = event_rows.view(np.int64)
    what, second = words[:, WHAT], words[:, SECOND]
    at_once = np.unique(event_rows[(what == IMPACTS) & (second > 1), TIME])
    cut = np.unique(event_rows[what == CUT_SHORT, TIME])
    return _several_words(settings, at_once.tolist(), cut.tolist())


def _several_words(settings: Settings, at_once: Sequence[float], cut: Sequence[float]) -> str:
    law = "method 'moreau'" if settings.tableau.scheme == "moreau" else f"law {settings.impacts!r}"
    text = ""
    if at_once:
        first = f", the first of {len(at_once)} instants" if len(at_once) > 1 else ""
        text = (
            f" Several contacts were hit at once at t = {at_once[0]:.9g} s{first}: rigid bodies do "
            f"not determine the velocities after that, the {law} does."
        )
    if cut:
        text += (
            f" The sequence of impacts at t = {cut[0]:.9g} s did not end; what still approached "
            "was stopped in one inelastic impact."
        )
    return text


def _impacts_meta(plan: Plan) -> dict[str, Any]:
    """The law of impacts, where contacts may have some."""
    if not sides_in(plan.program) or plan.settings.tableau.scheme == "moreau":
        return {}
    return {"impacts": plan.settings.impacts}


def begun(modes: Marching | None) -> str:
    """A sentence on a start that was brought out of what it touches; none if it needed not be."""
    inside = 0.0 if modes is None else float(modes.sides.inside)
    if modes is None or inside == 0.0:
        return ""
    from liaison.contacts.events.touching import TOUCH

    if inside <= TOUCH:
        return ""
    inside *= float(np.max(modes.sides.scales.gap))
    return f" The start was {inside:.3g} m inside a contact and was brought out."


def _with_last_good(plan: Plan, arrays: Arrays, rows: Array, end: Outcome) -> Array:
    """Rows with the last good state at the end, where a run broke off after its last record."""
    run = arrays.run
    if len(rows) and not (end.is_failure and run.t_good > rows[-1, 0]):
        return rows
    good = run.good.floats
    u = run.u
    return np.vstack([rows, np.concatenate([[run.t_good], good, u])])


def meta_of(plan: Plan) -> dict[str, Any]:
    """Method, tolerances, parameters and charts as plain data.

    `unbounded_inputs` is how many formulas of time have no bound and are sampled only, if any.
    """
    settings = plan.settings
    names = [label.name for label in plan.program.labels.get("p", ())]
    charts = _charts(plan)
    return {
        "mechanism": plan.program.name,
        "method": settings.tableau.name,
        "step": settings.step,
        "rtol": settings.rtol,
        "atol": settings.atol,
        "until": plan.until,
        "parameters": dict(zip(names, plan.parameters.tolist(), strict=False)),
        "inputs": _inputs_meta(plan),
        "equations": equations_identity(plan.program),
        "starts": dict(plan.program.facts.get("starts", {})),
        **_impacts_meta(plan),
        **({"charts": charts} if charts else {}),
        **({"unbounded_inputs": plan.instants.unbounded} if plan.instants.unbounded else {}),
    }


def equations_identity(program: Program) -> str:
    """A word for the equations of motion, whatever the parameters; empty where there is none."""
    is_there = "identity" in program.facts or "rate" in program.entries
    return identity(program, "rate") if is_there else ""


def _inputs_meta(plan: Plan) -> dict[str, Any]:
    """What each input was given by: a number, a formula as plain data, or a controller's period."""
    names = [label.name for label in plan.program.labels.get("u", ())]
    inputs: dict[str, Any] = dict(zip(names, plan.inputs.held.tolist(), strict=False))
    for slot, formula in plan.inputs.formulas:
        inputs[names[slot]] = {"formula": formula_to_plain(formula)}
    for controller in plan.inputs.controllers:
        inputs[controller.name] = {"controller": controller.period}
    return inputs


def _charts(plan: Plan) -> list[dict[str, Any]]:
    """Kinds of coordinates as plain data; plain ones that follow each other are one."""
    charts: list[dict[str, Any]] = []
    for chart in plan.program.facts.get("charts", ()):
        one = {"kind": chart.kind, "q": (chart.q.start, chart.q.stop)}
        one["v"] = (chart.v.start, chart.v.stop)
        last = charts[-1] if charts else {"kind": "", "q": (0, 0), "v": (0, 0)}
        follows = last["q"][1] == one["q"][0] and last["v"][1] == one["v"][0]
        if follows and chart.kind == last["kind"] == "plain":
            last["q"], last["v"] = (last["q"][0], one["q"][1]), (last["v"][0], one["v"][1])
        else:
            charts.append(one)
    return charts


def inputs_series(plan: Plan, rows: Array) -> dict[str, Series]:
    """The inputs as they were, where there are any."""
    labels = plan.program.labels.get("u", ())
    if not labels:
        return {}
    units, names = tuple(x.unit for x in labels), tuple(x.name for x in labels)
    u = rows[:, 1 + plan.size("nq") + plan.size("nv") :].copy()
    return {"inputs": Series(u, units, {"input": names})}


def series_of(
    plan: Plan,
    rows: Array,
    names: Sequence[str],
    contacts: Contacts | None = None,
    begins: NDArray[np.intp] | None = None,
) -> dict[str, Series]:
    """Series at the recorded states; a name that the program lacks is left out unless unknown.

    Args:
        plan: its parameters are of all rows, or one row each.
        rows: states (t, q, v, u) of one run, or of several.
        names: of the series.
        contacts: of one run.
        begins: the first row of each run, where there are several.
    """
    kernel, p = plan.kernel, plan.parameters
    chosen = [name for name in names if _is_there(plan, name)]
    if "reactions" in chosen and "markers" not in chosen:
        chosen.append("markers")
    if hasattr(kernel, "compile") and chosen:
        own = {*chosen} - {"lam", "accelerations", "contacts"}
        kernel.compile(*own, *(["forward"] if {*chosen} & FORWARD.keys() else []))
    series: dict[str, Series] = {}
    for name in chosen:
        if name in FORWARD:
            from . import reactions

            series |= getattr(reactions, FORWARD[name])(plan, rows, contacts, begins)
        elif name == "contacts":
            series |= _contact_series(plan, contacts)
        elif name == "closure":
            series |= residuals_of(plan, map_entry(kernel, name, rows, p))
        else:
            series[name] = SHAPES[name](kernel, map_entry(kernel, name, rows, p))
    return series


def _contact_series(plan: Plan, contacts: Contacts | None) -> dict[str, Series]:
    """The series of contacts; none where nothing is unilateral."""
    if contacts is None:
        return {}
    from liaison.contacts.events.series import contact_series

    return contact_series(plan, contacts)


def _is_there(plan: Plan, name: str) -> bool:
    if name not in KNOWN:
        raise NamingError.unknown("series", name, KNOWN)
    if name in ("closure", "lam"):
        return plan.size("nc") > 0
    if name == "contacts":
        return bool(plan.program.facts.get("sides"))
    if name == "accelerations":
        return "forward" in plan.program.entries
    return name in plan.program.entries and plan.kernel.out_size(name) > 0


def _layout(kernel: Kernel, entry: str) -> tuple[str, ...]:
    return tuple(name for name, _ in kernel.program.entry(entry).layout)


def _energy(kernel: Kernel, out: Array) -> Series:
    return Series(out, "J", {"part": ("T", "U")})


def _outputs(kernel: Kernel, out: Array) -> Series:
    labels: Mapping[str, str] = {x.name: x.unit for x in kernel.program.labels.get("outputs", ())}
    names = _layout(kernel, "outputs")
    return Series(out, tuple(labels.get(x, "") for x in names), {"output": names})


def _invariants(kernel: Kernel, out: Array) -> Series:
    labels = {x.name: x.unit for x in kernel.program.labels.get("invariants", ())}
    known = [k for k in range(out.shape[1]) if np.all(np.isfinite(out[:, k]))]
    names = tuple(_layout(kernel, "invariants")[k] for k in known)
    return Series(out[:, known], tuple(labels.get(x, "") for x in names), {"invariant": names})


def _poses(kernel: Kernel, out: Array) -> Series:
    bodies = _layout(kernel, "poses")
    return Series.of_poses(_as_poses(out, len(bodies)), bodies)


def _markers(kernel: Kernel, out: Array) -> Series:
    joints = _layout(kernel, "markers")
    return Series(_as_poses(out, len(joints)), POSE_UNITS, {"joint": joints, **POSE_AXES})


def _as_poses(out: Array, count: int) -> Array:
    """[R | p], shape (n, count, 3, 4), from R row by row and p."""
    table = out.reshape(len(out), count, 12)
    R, p = table[:, :, :9].reshape(len(out), -1, 3, 3), table[:, :, 9:, None]
    return np.concatenate([R, p], axis=3)


def _momentum(kernel: Kernel, out: Array) -> Series:
    units = ("kg m2/s",) * 3 + ("kg m/s",) * 3
    return Series(out, units, {"component": ("Lx", "Ly", "Lz", "Px", "Py", "Pz")})


def residuals_of(plan: Plan, out: Array) -> dict[str, Series]:
    """Largest |Φ| and |G v − ν| at each instant."""
    n = plan.program.sizes.get("nphi", plan.size("nc"))
    parts = {"position_residual": out[:, :n], "velocity_residual": out[:, n:]}
    return {name: Series(np.max(np.abs(x), axis=1, initial=0.0)) for name, x in parts.items()}


FORWARD = {
    "reactions": "reactions", "lam": "multipliers", "motions": "motions",
    "accelerations": "joint_accelerations",
}  # fmt: skip
"""Series that need the accelerations and multipliers -> the function of `reactions` for each."""

SHAPES = {
    "energy": _energy, "outputs": _outputs, "poses": _poses, "momentum": _momentum,
    "markers": _markers, "invariants": _invariants,
}  # fmt: skip

KNOWN = (*SHAPES, "closure", "contacts", *sorted(FORWARD))
"""All series by name."""
