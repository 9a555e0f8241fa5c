"""Messages of how a run ended: status, sentence, advice, with the name of what failed.

Public names: Outcome, outcome_of, slowness, failure_texts, gap, missed, outside, Balance,
balance_of, is_off, are_off, runs_away, may_run_away, doubles, safety, OUTSIDE, REASONS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.settings import Settings
from liaison.simulation.record.trajectory import (
    DONE,
    FAILED,
    INTERRUPTED,
    STOPPED,
    Series,
)
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.layout import Arrays, Run


class Outcome(NamedTuple):
    """How a run ended: status of the trajectory, sentence, advice; the reason if it failed."""

    status: str
    message: str
    hint: str = ""
    reason: str = ""

    @property
    def is_failure(self) -> bool:
        """The run did not end as it should."""
        return bool(self.reason)


REASONS = {
    at.NOT_FINITE: "not finite",
    at.STEP_TOO_SMALL: "step too small",
    at.POSITIONS_LOST: "projection lost",
    at.VELOCITIES_LOST: "projection lost",
    at.INCONSISTENT: "inconsistent closures",
    at.TOO_MANY_STEPS: "too many steps",
    at.CHATTER: "event chatter",
    at.BAD_START: "inconsistent start",
    at.BAD_START_RATE: "inconsistent start",
    at.EVENT_NOT_FINITE: "not finite",
    at.NOT_CONVERGED: "not converged",
    at.NO_MODE: "no mode",
    at.BAD_GAP: "inconsistent start",
    at.BAD_SIDE: "inconsistent start",
    at.SINGULAR_MASS: "singular mass matrix",
    at.STANDSTILL: "standstill",
    at.STEP_UP: "step up",
    at.PASSED: "passed through",
}
"""What `SimulationError.status` says."""

NOT_ASSEMBLED = "not assembled"
"""The reason of a run of a batch whose loops cannot be closed at its start."""


def outcome_of(
    plan: Plan, arrays: Arrays, code: int, ended: str = "", pace: tuple[float, float] = (1.0, 0.0)
) -> Outcome:
    """The end of a run in words; `ended` is INTERRUPTED or TIME_LIMIT where Python ended it.

    `pace` is the part of the run that was looked at, and the seconds of the wall clock it took.
    """
    run = arrays.run
    now = f"t = {float(run.t_good):.9g} s"
    if ended:
        word = "interrupted" if ended == INTERRUPTED else "out of time"
        more = "" if ended == INTERRUPTED else "Give it more time, an earlier end or a longer step."
        slow = slowness(plan, *pace)
        message = f"the run was {word} at {now}" + (f": {slow}" if slow else ".")
        return Outcome(ended, message, more, reason=ended)
    if code == at.STOPPED:
        return Outcome(STOPPED, f"stopped by an event at {now}.")
    if code < at.NOT_FINITE:
        return Outcome(DONE, f"reached {now}." if code == at.DONE else f"under way at {now}.")
    message, hint = _failure(plan, run, code)
    return Outcome(FAILED, message.format(now=now), hint, REASONS[code])


HOUR, DAY = 3600.0, 86400.0


def slowness(plan: Plan, done: float, seconds: float) -> str:
    """How long a run takes at its rate so far, and what is faster; "" if that is under an hour.

    Args:
        plan: of the run.
        done: the part of it that took these seconds.
        seconds: of the wall clock.
    """
    whole = seconds / max(done, 1e-300)
    if seconds < 1.0 or whole < HOUR or done >= 1.0:
        return ""
    hours, days = f"{whole / HOUR:.0f} hours", f"{whole / DAY:.3g} days"
    time = "an hour" if whole < 1.5 * HOUR else hours if whole < 3 * DAY else days
    rate = (
        f"at this rate the whole takes {time}" if done > 0.0 else f"none of it in {seconds:.0f} s"
    )
    tableau = plan.settings.tableau
    cure = "a longer step, or fewer records, is quicker."
    if plan.program.facts.get("sides") and tableau.scheme != "moreau":
        cure = "stiff or crowded contacts go faster with method='moreau' and a fixed step."
    elif tableau.is_adaptive and tableau.name != "radau":
        cure = "if its motion is stiff, method='radau' goes faster."
    return f"{rate}; {cure}"


def _failure(plan: Plan, run: Run, code: int) -> tuple[str, str]:
    row = _row_name(plan, int(run.detail[0]))
    size = f"{run.worst:.3g}"
    others = _against(plan, run) if code == at.INCONSISTENT else ""
    sides, k = plan.program.facts.get("sides", ()), int(run.detail[0])
    pairs = plan.program.facts.get("convex", ()) if code == at.PASSED else sides
    block = pairs[k][0] if 0 <= k < len(pairs) else ""
    event = _event_name(plan, run)
    return failure_texts(plan, run, row, size, event=event, block=block, others=others)[code]


def failure_texts(
    plan: Plan, run: Run, row: str, size: str, *, event: str, block: str, others: str = ""
) -> dict[int, tuple[str, str]]:
    """Sentence and advice for every status of a failure.

    Args:
        plan: of the run.
        run: where it stands.
        row: the closure's row that is meant.
        size: by how much it is missed.
        event: the event that is meant.
        block: the unilateral constraint that is meant.
        others: what it stands against.
    """
    smaller = "Take a smaller step." if not plan.settings.is_adaptive else "Loosen rtol and atol."
    look = "Look at what grows there: forces that pump energy, a singular position, a collision."
    look += _controllers(plan)
    texts = {
        at.NOT_FINITE: _not_finite(plan, run, f"{smaller} {look}"),
        at.STEP_TOO_SMALL: ("the step became too small at {now}: the error stays too large.", look),
        at.POSITIONS_LOST: (
            f"projection lost after {{now}}: {row} cannot be brought below {size}.",
            f"{smaller} The mechanism may be at the end of its range or in a singular position.",
        ),
        at.VELOCITIES_LOST: _rate_lost(plan, row, size, smaller),
        at.INCONSISTENT: (
            f"no acceleration meets {row} after {{now}}: it misses by {size}{others}.",
            "The closures contradict each other there; two motors may drive one degree of freedom.",
        ),
        at.NOT_CONVERGED: (
            "the stages of an implicit step are not found after {now}.",
            f"{smaller} {look}",
        ),
        at.TOO_MANY_STEPS: (
            f"{run.steps} steps were not enough: {{now}} is reached.",
            f"Raise max_steps.{_controllers(plan)}",
        ),
    }  # fmt: skip
    sides = _sides_failed(plan, block, size)
    return texts | _events_failed(event, run) | _start_failed(row, size) | sides


def _controllers(plan: Plan) -> str:
    """What to look at first where controllers act: they can make a motion ever faster."""
    if not plan.inputs.controllers:
        return ""
    names = ", ".join(f"{x.name!r} (every {x.period:.3g} s)" for x in plan.inputs.controllers)
    return (
        f" If the motion grows from call to call, the controller is unstable: {names}; give it "
        "smaller gains or a shorter period."
    )


def _rate_lost(plan: Plan, row: str, size: str, smaller: str) -> tuple[str, str]:
    """Velocities that closures do not allow, or with which they push against a contact."""
    name = row.removeprefix("closure row ").strip("'")
    if name in {block[0] for block in plan.program.facts.get("sides", ())}:
        return (
            f"closures or drives go on against {name!r}, which is closed at {{now}}: its rate "
            f"stays at {size}.",
            "Let the drive end before the stop, or a spring give way between them.",
        )
    return (
        f"projection lost after {{now}}: the rate of {row} stays at {size}.",
        f"{smaller} The mechanism may be at the end of its range or in a singular position.",
    )


def _sides_failed(plan: Plan, name: str, size: str) -> dict[int, tuple[str, str]]:
    """Errors at contacts and other unilateral constraints."""
    sides = plan.program.facts.get("sides", ())
    efforts = {x.name: x.unit for x in plan.program.labels.get("force", ())}
    unit = "rad" if efforts.get(name, "N") == "N*m" else "m"
    return {
        at.BAD_GAP: (
            f"the start does not hold: {name!r} is violated by {size} {unit}.",
            "Start within the range of the coordinate; numbers without a unit are radians."
            if unit == "rad"
            else "Start where nothing penetrates.",
        ),
        at.BAD_SIDE: (
            f"the start does not hold: the rate of {name!r} is on the forbidden side by {size}.",
            "Start with velocities that it allows.",
        ),
        at.NO_MODE: _no_mode([block[2] for block in sides]),
        at.SINGULAR_MASS: (
            "the mass matrix is singular at {now}: contacts do not determine its accelerations.",
            "Give mass or inertia to what moves by itself.",
        ),
        at.STANDSTILL: (
            "contacts open and close without end at {now}: time does not advance.",
            "Method 'moreau' with a fixed step passes such instants.",
        ),
        at.PASSED: (
            f"the bodies of {name!r} pass each other within the shortest part of a step after "
            "{now}, too fast to be seen to touch.",
            "Take a smaller step, or give what is thin some thickness.",
        ),
        at.STEP_UP: (
            f"what {name!r} touches jumps up by {size} m at {{now}}: its formula is no wall.",
            "Let it rise within a length, or give the wall a contact of its own.",
        ),
    }


def _no_mode(kinds: Sequence[str]) -> tuple[str, str]:
    """No reactions on one side fit: by friction, or because relations of rates are dependent."""
    if all(kind == "rate" for kind in kinds):
        return (
            "no reactions of the relations of rates fit the motion at {now}: their rows depend on "
            "each other there, and no acceleration keeps them all.",
            "`liaison check` names such positions before a run.",
        )
    if "friction" not in kinds:
        return (
            "no forces of what is closed fit the motion at {now}: closures or drives push against "
            "it, or its bodies differ too much in mass.",
            "Let the drive end before the stop, or a spring give way between them.",
        )
    return (
        "no forces of the contacts fit the motion at {now}: none that are closed, stick or slip "
        "under Coulomb's law (Painlevé).",
        "Smaller friction, or contacts that give way, have a solution there.",
    )


def _events_failed(name: str, run: Run) -> dict[int, tuple[str, str]]:
    when = "at" if run.phase == at.START else "after"
    return {
        at.CHATTER: (
            f"event {name!r} chatters at {{now}}: it fires at every step and time hardly advances.",
            "Give the event a direction, or its formula a dead band.",
        ),
        at.EVENT_NOT_FINITE: (
            f"event {name!r} has no value {when} {{now}}: its formula gives no number.",
            UNDEFINED,
        ),
    }


def _start_failed(row: str, size: str) -> dict[int, tuple[str, str]]:
    advice = "Bring it onto its closures first, with assemble."
    return {
        at.BAD_START: (f"the start does not hold: {row} is off by {size}.", advice),
        at.BAD_START_RATE: (
            f"the start does not hold: the rate of {row} is off by {size}.",
            advice,
        ),
    }


def _not_finite(plan: Plan, run: Run, advice: str) -> tuple[str, str]:
    """Names the velocity whose acceleration failed, and whether it failed at the state itself."""
    bad = np.argwhere(~np.isfinite(run.k[:, run.nv : 2 * run.nv]))
    if not len(bad):
        return "the state is no longer finite after {now}.", advice
    stage, index = bad[0]
    labels = plan.program.labels.get("v", ())
    name = labels[index].name if index < len(labels) else f"v[{index}]"
    if stage == 0:
        return f"the acceleration of {name!r} is not finite at {{now}}.", UNDEFINED
    return f"the state is no longer finite after {{now}}: the acceleration of {name!r}.", advice


UNDEFINED = (
    "Look at where the formulas are defined (a root of a negative number, 0/0), "
    "and for a mass or an inertia that is zero."
)


def _event_name(plan: Plan, run: Run) -> str:
    k = int(run.detail[0])
    return plan.events[k].name if 0 <= k < len(plan.events) else ""


PART = 1e-3
"""Rows with this part of the worst one share in a contradiction."""


def _against(plan: Plan, run: Run) -> str:
    """Rows that contradict the worst one at the last good state: all parts of what no v̇ meets."""
    q, v, u, p = run.q, run.v, run.u[: plan.size("nu")], run.p[: plan.size("np")]
    later = float(max(run.t, run.t_new))  # in the step that failed
    nv, nc = len(v), plan.size("nc")
    terms = np.asarray(plan.kernel("terms", later, q=q, v=v, u=u, p=p))[nv * nv :]
    G, gamma = terms[: nc * nv].reshape(nc, nv), terms[nc * nv + nv :][:nc]
    length = np.linalg.norm(G, axis=1)
    if not (np.all(np.isfinite(G)) and np.all(np.isfinite(gamma)) and np.all(length > 0)):
        return ""
    G, gamma = G / length[:, None], gamma / length
    missed = np.abs(gamma - G @ np.linalg.lstsq(G, gamma, rcond=1e-9)[0])
    worst, most = int(run.detail[0]), float(np.max(missed, initial=0.0))
    rows = [k for k in np.argsort(-missed, kind="stable") if missed[k] > PART * most]
    shared = [_row_name(plan, int(k)).removeprefix("closure row ") for k in rows if k != worst]
    return f", against {', '.join(shared[:3])}" if shared else ""


def _row_name(plan: Plan, row: int) -> str:
    for kind in ("lam", "phi", "closure"):
        labels = plan.program.labels.get(kind, ())
        if 0 <= row < len(labels):
            return f"closure row {labels[row].name!r}"
    return f"closure row {row + 1}" if row >= 0 else "the closures"


def gap(t: Array, listed: Mapping[str, Series]) -> Outcome | None:
    """The failure that a series without a finite value at some instant is; None if all have."""
    for name, series in listed.items():
        if np.isfinite(series.values).all():
            continue
        for column, (_, values) in replace(series, undetermined=None).columns(name).items():
            k = int(np.argmax(~np.isfinite(values)))
            if not np.isfinite(values[k]):
                what = column.replace("outputs.", "").replace("inputs.", "")
                kind = {"outputs": "output", "inputs": "input"}.get(name, "series")
                if name == "energy":
                    return _energy_lost(float(t[k]), float(values[k]), k)
                text = f"{kind} {what!r} is {values[k]} at t = {t[k]:.9g} s."
                return Outcome(FAILED, text, UNDEFINED, "not finite")
    return None


def _energy_lost(t: float, value: float, k: int) -> Outcome:
    """The failure that an energy without a finite value is."""
    text = f"the energy is {value} at t = {t:.9g} s, at the recorded state {k}: "
    text += "velocities have grown until their squares are no numbers any more."
    hint = "Take a smaller step or an adaptive method; look for forces that pump energy, or motors "
    hint += "that are too stiff for the step."
    return Outcome(FAILED, text, hint, "not finite")


CLOSED = 1.0
"""The mode of gaps and rates that are closed, in the series `modes`."""

MISSED = {"margins", "modes", "contacts"}
"""Series of which unilateral constraints that are missed can be read."""

OUTSIDE = 1e-6
"""Part of the largest force, speed or place of a run by which a unilateral constraint may miss."""


@final
@dataclass(frozen=True, slots=True)
class Miss:
    """Where a unilateral constraint is missed most: its name, when [s], by how much of its size."""

    name: str
    what: str
    t: float
    error: float


def missed(plan: Plan, t: Array, q: Array, v: Array, series: Mapping[str, Series]) -> Miss | None:
    """Where a recorded force leaves its bound, a contact pulls or penetrates, a rate is forbidden.

    Args:
        plan: of the run; its units are what sizes are measured by.
        t: recorded instants.
        q: positions there.
        v: velocities there.
        series: of the run, with those of contacts.

    Returns:
        The worst; None where there are no such series.
    """
    if not series.keys() >= MISSED:
        return None
    from liaison.simulation.plan.scales import units_of

    margins, modes = series["margins"].values, series["modes"].values
    units = units_of(plan)
    sizes = {
        "force": np.maximum(np.max(np.abs(series["contacts"].values), initial=0.0),
                            1e-9 * units.force),
        "rate": units.rate * (1.0 + float(np.max(np.abs(v) / units.velocity, initial=0.0))),
        "gap": units.gap * (1.0 + float(np.max(np.abs(q) / units.position, initial=0.0))),
    }  # fmt: skip
    # of two rows at one instant the first is where a mode ends: there its forces may be any
    goes_on = np.append(np.diff(t) > 0, True) if len(t) else np.zeros(0, dtype=bool)
    worst = Miss("", "", 0.0, 0.0)
    # places that loops find may be others after a step than those whose modes it left, and within
    # it another corner may be lower; at the ends of steps their gaps are kept (`penetration`)
    by_loops = {x[0] for x in plan.program.facts.get("convex", ())}
    for b, (name, owner, kind, *_) in enumerate(sides_in(plan.program)):
        if owner in by_loops:
            continue
        is_held = (kind == "friction") | (modes[:, b] == CLOSED)
        for what, rows in (("force", is_held), (kind, ~is_held)):
            size = sizes[what][b] if what in sizes else 1.0
            beyond = np.where(rows & goes_on, -margins[:, b], 0.0) / size
            k = int(np.argmax(beyond)) if len(beyond) else 0
            if len(beyond) and beyond[k] > worst.error:
                worst = Miss(name, what, float(t[k]), float(beyond[k]))
    return worst


def outside(
    plan: Plan, t: Array, q: Array, v: Array, series: Mapping[str, Series]
) -> Outcome | None:
    """The failure that a missed unilateral constraint is; None if all hold.

    Moreau's steps keep them by impulses over a step, not by forces at instants: not checked.
    """
    if plan.settings.tableau.scheme == "moreau":
        return None
    worst = missed(plan, t, q, v, series)
    if worst is None or worst.error <= OUTSIDE:
        return None
    texts = {
        "force": "the force is beyond its bound, or pulls",
        "gap": "the gap is closed beyond zero",
        "rate": "the rate is on the forbidden side",
    }
    return Outcome(
        FAILED,
        f"{worst.name!r} is not kept at t = {worst.t:.9g} s: {texts[worst.what]}, by "
        f"{worst.error:.3g} of the largest one.",
        "What ends its mode was stepped over: give max_step=.",
        "constraint missed",
    )


SAFETY, LOOSE, GAIN = 10.0, 1e-3, 0.2
"""Times its tolerance that the error of an adaptive step may be where the tolerance is loose; a
step goes on with the better of two solutions, whose error falls by this power more than it."""

COARSE = 1e-2
"""Of the energy that is turned over, what steps of a fixed size may miss."""


ROUNDING = 64 * 2.0**-52
"""What rounding may change of an energy in one step, relatively."""


class Balance(NamedTuple):
    """How the balance of energy of a run stands at its end; energies in J, times in s.

    Attributes:
        worst: what it was off by at most, without the doubt of its work.
        t_worst: when.
        jump: the largest change of what it is off by, from one look to the next.
        t_jump: when.
        turned_over: the largest T, the range of U, and the work either way.
        size: the largest T and |U|, whose rounding it has.
        steps: of the run.
        trace: instants, and what it was off by then; None where no instant is kept.
    """

    worst: float
    t_worst: float
    jump: float
    t_jump: float
    turned_over: float
    size: float
    steps: int
    trace: Array | None = None

    @property
    def rounding(self) -> float:
        """What rounding of every step may change of the energy [J]."""
        return ROUNDING * (self.steps + 1) * self.size


WORST = np.array(
    at.Ledger.slots("worst", "t_worst", "jump", "t_jump", "kinetic", "lowest", "highest", "turned")
)
"""What is read of a ledger."""


def balance_of(run: Run) -> Balance | None:
    """The balance of a run, from its ledger; None where it has none."""
    x = run.ledger
    if x.kind == at.NOT_KEPT:
        return None
    worst, t_worst, jump, t_jump, kinetic, low, high, turned = x.floats[WORST].tolist()
    traced = int(x.traced)
    return Balance(
        worst, t_worst, jump, t_jump, kinetic + high - low + turned,
        kinetic + max(abs(low), abs(high)), int(run.steps),
        x.trace[:traced].copy() if traced else None,
    )  # fmt: skip


def safety(settings: Settings) -> float:
    """Times its tolerance that the error of an adaptive step may be."""
    tolerance = max(settings.rtol, settings.atol)
    return SAFETY * float(min(1.0, tolerance / LOOSE) ** GAIN)


def is_off(settings: Settings, balance: Balance | None) -> bool:
    """Whether the balance of energy misses more than a coarse bound; `balance.py` decides then."""
    if balance is None:
        return False
    if not settings.is_adaptive and runs_away(balance):
        return True
    if balance.worst <= balance.rounding < np.inf:
        return False
    part = COARSE
    if settings.is_adaptive:
        part = safety(settings) * settings.rtol * balance.steps
    return not balance.worst <= part * balance.turned_over + balance.rounding < np.inf


GROWTH, UNFOLLOWED = 6, 0.2
"""Looks at the end of a run over which what is in doubt doubles each time where it runs away; part
of the energy turned over that one step of such a run changes without a work to match."""


def runs_away(balance: Balance) -> bool:
    """Whether energy grows so fast from step to step that the doubt of its work hides it.

    Forces that change their sign in every step have a work that no polynomial follows: all of what
    is missed is in doubt then. Where it grows like this to the end, steps are too long.
    """
    trace = balance.trace
    if trace is None:
        return False
    doubt = max(balance.jump, -float(trace[-1, 1]))
    sizes = np.abs(trace[:, 1])
    # the work of the last step is known by fewer instants than that of those before it
    return doubt > UNFOLLOWED * balance.turned_over and (doubles(sizes) or doubles(sizes[:-1]))


def doubles(sizes: Array) -> bool:
    """Whether each of the last values is at least twice the one before, and all far from level."""
    last = np.trim_zeros(sizes, "f")[-GROWTH - 1 :]
    if len(last) <= GROWTH // 2:
        return False
    return bool(np.all(last[1:] >= 2 * last[:-1]) and last[-1] >= 2**GROWTH * last[0])


def are_off(settings: Settings, numbers: Array, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """As `is_off` of many runs: rows of worst, its time, jump, its time, turned over and size."""
    worst, turned_over, size = numbers[:, 0], numbers[:, 4], numbers[:, 5]
    rounding = ROUNDING * (steps + 1) * size
    part = safety(settings) * settings.rtol * steps if settings.is_adaptive else COARSE
    bound = part * turned_over + rounding
    by_rounding = (worst <= rounding) & (rounding < np.inf)
    return ~(by_rounding | ((worst <= bound) & (bound < np.inf)))


def may_run_away(settings: Settings, numbers: Array) -> NDArray[np.bool_]:
    """Which of many runs change in one step by more than its work could be followed."""
    jump, turned_over = numbers[:, 2], numbers[:, 4]
    return np.full(len(numbers), not settings.is_adaptive) & (jump > UNFOLLOWED * turned_over)
