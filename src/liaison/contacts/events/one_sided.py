"""A mechanism with contacts as the time loop sees it: a kernel in its present mode, and its plan.

Public names: IMPACT_LAWS, Marching, ModalKernel, marching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array
from liaison.numeric.degenerate import degenerate_rule, quadratic_form
from liaison.program import Kernel, Program
from liaison.program.kernel import Function
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.simulation.events.happenings import Watched
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps import layout as at
from liaison.simulation.steps import sides_layout as side
from liaison.simulation.steps.layout import Arrays
from liaison.solvers.impacts.impacts import ENERGETIC, MOREAU, NEWTON, POISSON, STRONGE

from .bearings import UNSETTLED
from .doorways import Doorway, doorway
from .modal_entries import modal_closure, modal_events, modal_rate, modal_terms
from .sliding import force_left
from .switching import march

IMPACT_LAWS = {
    "energetic": ENERGETIC, "newton": NEWTON, "poisson": POISSON, "moreau": MOREAU,
    "stronge": STRONGE,
}  # fmt: skip
"""How bodies part after an impact; see `impacts.py`."""

MODAL = {
    "rate": modal_rate, "closure": modal_closure, "terms": modal_terms, "events": modal_events,
}  # fmt: skip
"""Entries that depend on the mode."""

BASE = {
    "terms": side.F_TERMS, "one_sided": side.F_SIDES, "local_rate": side.F_LOCAL,
    "retract": side.F_RETRACT, "closure": side.F_CLOSURE, "bearings": side.F_BEARINGS,
    "rate": side.F_RATE,
}  # fmt: skip
"""Entries of the free mechanism that they call."""

ADDRESSES = [*BASE.values(), side.F_EVENTS]

JAMMED = 0.02
"""A contact jams where friction leaves less than this share of what its force does."""

JAMS = (at.STEP_TOO_SMALL, at.NOT_FINITE, at.EVENT_NOT_FINITE)
"""How the time loop ends where no forces fit."""

LOST = 1e-6
"""What is less of a row than this share is none of it."""


@cache
def compiled_march() -> CompiledLoops:
    """The loops of modes as machine code, once a process."""
    return compile_loops([march, *MODAL.values()])


@final
class ModalKernel(Kernel):
    """Entries of a mechanism in its present mode, which lies in the arrays c and s.

    Args:
        base: kernel of the mechanism, free of all that holds on one side only.
        c: tables.
        s: numbers.
    """

    def __init__(self, base: Kernel, c: NDArray[np.int64], s: Array) -> None:
        super().__init__(_modal_program(base.program, c))
        self.base = base
        self._arrays = (c, s)
        self._code: Doorway | None = None

    def address(self, entry: str) -> int:
        """Of machine code that knows where the mode lies; of the free mechanism's otherwise."""
        if entry not in MODAL:
            return self.base.address(entry)
        if self._code is None:
            loops = {name: compiled_march().address(x) for name, x in MODAL.items()}
            self._code = doorway(loops, self, *self._arrays)
        return self._code[entry]

    def compile(self, *entries: str) -> None:
        """Compile what these entries call."""
        own = {x for x in entries if x not in MODAL} | set(self._called())
        getattr(self.base, "compile", lambda *_: None)(*sorted(own))

    def _called(self) -> list[str]:
        program = self.base.program
        idle = [] if program.sizes["nc"] else ["closure"]
        idle += [] if program.facts.get("bearings") else ["bearings"]
        return [x for x in BASE if x not in idle]

    def work_size(self, entry: str) -> int:
        """Of the entry, or of all that it calls."""
        if entry not in MODAL:
            return self.base.work_size(entry)
        return max(map(self.base.work_size, self._called()))

    def function(self, entry: str) -> Function:
        """Of the free mechanism."""
        return self.base.function(entry)

    def _evaluate(self, entry: str, t: Array, arrays: Any) -> Array:
        return self.base._evaluate(entry, t, arrays)


def _modal_program(program: Program, c: NDArray[np.int64]) -> Program:
    """The same program with one-sided rows beside its closures."""
    rows, gaps = int(c[side.ROWS]), int(c[side.GAPS])
    sizes = {**program.sizes, "nc": rows, "nphi": program.sizes["nphi"] + gaps}
    known = [*program.labels.get("lam", ()), *program.labels.get("force", ())]
    order = c[c[side.M_ROWS] : c[side.M_ROWS] + rows]
    lam = tuple(known[k] if k < len(known) else known[-1] for k in order)
    labels = {**program.labels, "lam": lam}
    return replace(program, sizes=MappingProxyType(sizes), labels=MappingProxyType(labels))


@final
class Marching:
    """All that a run with contacts has besides: its tables, its kernel, its plan.

    Attributes:
        watched: how many sign changes the time loop looks for.
        c: tables.
        s: numbers.
    """

    def __init__(self, plan: Plan, law: str) -> None:
        sides = plan.program.facts["sides"]
        bearings = plan.program.facts.get("bearings", ())
        made = side.layout_of(sides, plan.program.sizes, _law(law), bearings)
        self.c, self.s = made.c, made.s
        self.kernel = ModalKernel(plan.kernel, self.c, self.s)
        ends = tuple(Watched(block[0], -1, stops=True) for block in sides)
        slopes = tuple(Watched(block[0], 1, stops=False) for block in sides)
        self.own = len(plan.events)
        self._events = (*plan.events, *ends, *slopes)
        self.watched = len(self._events)
        self._plan: Plan | None = None
        self.begin(plan)
        self.c[side.OWN] = self.own
        self._find(plan)

    def begin(self, plan: Plan) -> None:
        """Takes up a run that differs only in where it begins, and in its numbers."""
        self._told, self._plan = plan, None

    @property
    def plan(self) -> Plan:
        """As the time loop sees it: more closures, more events."""
        if self._plan is None:
            self._plan = replace(self._told, kernel=self.kernel, events=self._events)
        return self._plan

    def _find(self, plan: Plan) -> None:
        """Addresses of what the modes call."""
        self.kernel.compile()
        self.work = self.kernel.work_size("rate")
        for entry in self.kernel._called():
            self.c[BASE[entry]] = plan.kernel.address(entry)
        if self.own:
            has_stops = plan.added is not None and "events" in plan.added.program.entries
            source = plan.added if has_stops and plan.added is not None else plan.kernel
            self.c[side.F_EVENTS] = source.address("events")
            self.work = max(self.kernel.work_size("rate"), source.work_size("events"))

    @property
    def loop(self) -> Any:
        """The compiled loop that goes on with the run."""
        return compiled_march().function(march)

    def mark(self, n: NDArray[np.int64]) -> None:
        """Ends of modes switch; they do not stop the run."""
        first = n[at.M_STOPS] + self.own
        nb = int(self.c[side.NB])
        n[first : first + nb], n[first + nb : first + 2 * nb] = at.SWITCHING, at.SLOPE
        n[at.DIPS] = nb
        n[at.HAS_TERMS], n[at.PIVOTS_LEFT] = 1, np.iinfo(np.int64).max // 2

    def kept(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"c": self.c, "s": self.s}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Takes up where `kept` left off; addresses stay those of this process."""
        had = self.c[ADDRESSES].copy()
        self.c[:], self.s[:] = arrays["c"], arrays["s"]
        self.c[ADDRESSES] = had

    def judged(self, status: int, arrays: Arrays) -> int:
        """What a status of the loop is after a look at the modes; a lost relation is held.

        Raises:
            SimulationError: a relation lost its row and does not tell the velocity after.
        """
        if status == at.NO_MODE and self.is_lost(arrays):
            status = at.DEGENERATE
        elif status in JAMS and self.is_jamming():
            status = at.NO_MODE
        if status == at.DEGENERATE:
            self.hold(arrays)
        return status

    def hold(self, arrays: Arrays) -> None:
        """The velocity after a relation of rates lost its row, by the relation itself.

        Raises:
            SimulationError: the relation does not tell.
        """
        w, n, c = arrays.w, arrays.n, self.c
        b, nv = int(c[side.BAD]), int(c[side.NV])
        t, v = float(w[at.T]), w[n[at.O_V] : n[at.O_V] + nv]
        name = self.plan.program.facts["sides"][b][0]
        if c[c[side.M_MODES] + b] == side.LOCKED:
            raise _lost(f"{name!r} cannot be held any longer at t = {t:.9g} s: where its row "
                        "vanishes bends or moves.", t)  # fmt: skip
        M, form, G = self._numbers(arrays, b)
        if form is None:
            raise _lost(f"the row of {name!r} vanishes at t = {t:.9g} s, at a place that moves "
                        "with time.", t)  # fmt: skip
        rule = degenerate_rule(M, form, v.copy(), G)
        if rule.kind == "undecided":
            raise _lost(f"the row of {name!r} vanishes at t = {t:.9g} s, and the relation allows "
                        "velocities of several kinds there.", t)  # fmt: skip
        c[c[side.M_MODES] + b] = side.LOCKED
        first = int(c[side.O_HELD] + c[side.HELDS] * nv)
        self.s[first : first + rule.held.size] = rule.held.ravel()
        c[side.HELDS] += len(rule.held)
        v[:] = rule.after
        for what in ([side.IMPACTS] if rule.kind == "jump" else []) + [side.HOLDS]:
            self._note(arrays, int(n[at.NE]) + side.CODES * b + what)

    def is_lost(self, arrays: Arrays) -> bool:
        """Whether an active relation of rates depends on rows that hold, so that none fits."""
        c, nv = self.c, int(self.c[side.NV])
        _, given = self._given(arrays)
        G = self.kernel.base.call("terms", **given)["G"].reshape(-1, nv)
        seen = self.kernel.base.call("one_sided", **given)
        for b, block in enumerate(self.plan.program.facts["sides"]):
            D, rate = seen["D"][block[3] * nv : (block[3] + 1) * nv], seen["rate"][block[3]]
            is_open = block[2] == "rate" and c[c[side.M_MODES] + b] != side.LOCKED
            if is_open and abs(rate) <= LOST * (1 + np.max(np.abs(given["v"]), initial=0.0)):
                left = D - along(G, D) @ G
                if np.max(np.abs(left)) <= LOST * np.max(np.abs(D)):
                    c[side.BAD] = b
                    return True
        return False

    def is_jamming(self) -> bool:
        """Whether friction takes all but a little of what presses on it (Painlevé)."""
        is_locked = not self.s[side.UNBORNE] <= UNSETTLED
        return bool(is_locked or force_left(self.c, self.s) < JAMMED)

    def _given(self, arrays: Arrays) -> tuple[Array, dict[str, Any]]:
        """v, and what entries are asked with at the present state."""
        w, n, nv = arrays.w, arrays.n, int(self.c[side.NV])
        v = w[n[at.O_V] : n[at.O_V] + nv].copy()
        return v, {
            "t": float(w[at.T]),
            "q": w[n[at.O_Q] : n[at.O_Q] + n[at.NQ]],
            "v": v,
            "u": w[n[at.O_U] : n[at.O_U] + n[at.NU]],
            "p": w[n[at.O_P] : n[at.O_P] + self.plan.parameters.size],
        }

    def _numbers(self, arrays: Arrays, b: int) -> tuple[Array, Array | None, Array]:
        """M, the quadratic form of a rate's block (None if it is no such form), rows that hold now.

        What of its row is along rows that hold has the rate that they have.
        """
        nv, base = int(self.c[side.NV]), self.kernel.base
        first = int(self.c[self.c[side.M_BLOCKS] + side.FIELDS * b + 1])
        v, given = self._given(arrays)
        terms = base.call("terms", **given)
        G = terms["G"].reshape(-1, nv)
        part = along(G, base.call("one_sided", **given)["D"][first * nv : (first + 1) * nv])

        def bias(x: Array) -> float:
            here = given | {"v": x}
            own = float(base.call("one_sided", **here)["bias"][first])
            return -(own + float(part @ base.call("terms", **here)["gamma"]))

        form = quadratic_form(bias, nv)
        rest = bias(v) - v @ form @ v
        is_form = abs(rest) <= LOST * (1 + abs(bias(v))) and abs(bias(0 * v)) <= LOST
        return terms["M"].reshape(nv, nv), form if is_form else None, G

    def _note(self, arrays: Arrays, number: int) -> None:
        """One row of what happened."""
        w, n = arrays.w, arrays.n
        q, v = n[at.O_Q], n[at.O_V]
        row = [number, w[at.T], *w[q : q + n[at.NQ]], *w[v : v + n[at.NV]]]
        start = int(n[at.HAPPENED]) * len(row)
        arrays.happened[start : start + len(row)] = row
        n[at.HAPPENED] += 1


def _lost(message: str, t: float) -> SimulationError:
    """What ends a run where a relation of rates lost its row."""
    return SimulationError(
        message,
        hint="State what it keeps as a relation of positions, `require … = 0` or `<= 0`.",
        status="degenerate",
        t=t,
    )


def along(G: Array, row: Array) -> Array:
    """c with c G as near to a row as can be."""
    if not len(G):
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(G.T, row, rcond=1e-9)[0])


def _law(name: str) -> int:
    if name not in IMPACT_LAWS:
        raise NamingError.unknown("law of impact", name, IMPACT_LAWS)
    return IMPACT_LAWS[name]


def marching(plan: Plan, law: str = "energetic") -> Marching | None:
    """What a run with contacts has besides; None where nothing is one-sided.

    Raises:
        SimulationError: a method that cannot take contacts, or not with this law.
    """
    sides: Sequence[Any] = plan.program.facts.get("sides", ())
    tableau = plan.settings.tableau
    if tableau.scheme == "moreau" and _law(law) != ENERGETIC:
        raise SimulationError(
            "method 'moreau' has its own law of impacts.", hint="Leave impacts= or method= out."
        )
    if not sides or tableau.scheme == "moreau":
        return None
    if tableau.is_implicit or tableau.scheme != "stages":
        raise SimulationError(
            f"method {tableau.name!r} does not find where contacts close and open.",
            hint="Take 'tsitouras', 'dormand-prince' or 'rk4', which go from event to event, or "
            "'moreau' with a fixed step.",
        )
    return Marching(plan, law)
