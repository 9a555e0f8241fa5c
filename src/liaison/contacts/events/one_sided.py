"""A mechanism with contacts as the time loop sees it: a kernel in its present mode, and its plan.

Public names: IMPACT_LAWS, impact_law, Marching, ModalKernel, marching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array
from liaison.numeric.degenerate import degenerate_rule, quadratic_form
from liaison.program import Kernel, Program
from liaison.program.kernel import Function
from liaison.program.llvm.trampolines import Trampoline, trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.records import address
from liaison.program.program import Entry
from liaison.simulation.events.log import HOLDS, IMPACTS, note
from liaison.simulation.events.watched import Watched
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.scales import Units, fill_run_scales, fill_scales, units_of
from liaison.simulation.steps import layout as at
from liaison.simulation.steps import sides_layout as side
from liaison.simulation.steps.advance import SMOOTH
from liaison.simulation.steps.layout import Arrays, Run
from liaison.solvers.impacts.impacts import (
    ENERGETIC,
    MOREAU,
    NEWTON,
    POISSON,
    SEQUENTIAL,
    STRONGE,
)

from .bearings import UNSETTLED
from .modal_entries import (
    modal_closure,
    modal_correct_q,
    modal_correct_v,
    modal_events,
    modal_rate,
    modal_terms,
)
from .sliding import force_left
from .switching import march

IMPACT_LAWS = {
    "energetic": ENERGETIC, "newton": NEWTON, "poisson": POISSON, "moreau": MOREAU,
    "stronge": STRONGE, "sequential": SEQUENTIAL,
}  # fmt: skip
"""How bodies part after an impact; see `impacts.py`."""

MODAL = {
    "rate": modal_rate, "closure": modal_closure, "terms": modal_terms, "events": modal_events,
    "correct_q": modal_correct_q, "correct_v": modal_correct_v,
}  # fmt: skip
"""Entries that depend on the mode."""

CORRECTIONS = ("correct_q", "correct_v")

SWEPT = ("terms_beside_mass", "factor", "half", "back", "hold")
"""Those of a mechanism whose metric is sweeps over its nodes."""

BASE = tuple(name for name in side.FreeEntries.fields if name not in ("events", *SWEPT))
"""Entries of the free mechanism that they call."""

ADDRESSES = side.Sides.slots("free")

JAMMED = 0.02
"""A contact jams where friction leaves less than this share of what its force does."""

JAMS = (at.STEP_TOO_SMALL, at.NOT_FINITE, at.EVENT_NOT_FINITE)
"""How the time loop ends where no forces fit."""

LOST = 1e-6
"""What is less of a row than this share is none of it."""


@cache
def compiled_march(*, portable: bool = False) -> CompiledLoops:
    """The loops of modes as machine code, once a process."""
    return compile_loops([march, *SMOOTH.values(), *MODAL.values()], portable=portable)


@final
class ModalKernel(Kernel):
    """Entries of a mechanism in its present mode.

    Args:
        base: kernel of the mechanism, free of all that holds unilaterally.
        sides: where the mode lies.
    """

    def __init__(self, base: Kernel, sides: side.Sides) -> None:
        super().__init__(_modal_program(base.program, sides))
        self.base, self.portable = base, base.portable
        self._sides = sides
        self._code: Trampoline | None = None

    def address(self, entry: str) -> int:
        """Of machine code that knows where the mode lies; of the free mechanism's otherwise."""
        if not self._is_modal(entry):
            return self.base.address(entry)
        elsewhere = self.base.bound_loop(MODAL[entry], self._sides)
        if elsewhere:
            return elsewhere
        if self._code is None:
            code = compiled_march(portable=self.portable)
            loops = {name: code.address(x) for name, x in MODAL.items()}
            self._code = trampoline(loops, self, [address(self._sides)])
        return self._code[entry]

    @property
    def at_hand(self) -> tuple[str, ...]:
        """Entries that the time loop must have before a mode changes: it does not ask then."""
        return ("events", "terms", *(CORRECTIONS if self._sides.is_swept else ()))

    def compile(self, *entries: str) -> None:
        """Compile what these entries call."""
        own = {x for x in entries if not self._is_modal(x)} | set(self._called())
        getattr(self.base, "compile", lambda *_: None)(*sorted(own))

    def _is_modal(self, entry: str) -> bool:
        """Whether an entry depends on the mode; dense algebra corrects states otherwise."""
        return entry in MODAL and (entry not in CORRECTIONS or bool(self._sides.is_swept))

    def _called(self) -> list[str]:
        program = self.base.program
        idle = [] if program.sizes["nc"] else ["closure"]
        idle += [] if program.facts.get("bearings") else ["bearings"]
        further = SWEPT if self._sides.is_swept else ()
        return [*(x for x in BASE if x not in idle), *further]

    def work_size(self, entry: str) -> int:
        """Of the entry, or of all that it calls."""
        if not self._is_modal(entry):
            return self.base.work_size(entry)
        return max(map(self.base.work_size, self._called()))

    def function(self, entry: str) -> Function:
        """Of the free mechanism."""
        return self.base.function(entry)

    def _evaluate(self, entry: str, t: Array, arrays: Any) -> Array:
        return self.base._evaluate(entry, t, arrays)


def _modal_program(program: Program, sides: side.Sides) -> Program:
    """The same program with unilateral rows beside its closures."""
    rows, gaps = int(sides.nrows), int(sides.ngaps)
    sizes = {**program.sizes, "nc": rows, "nphi": program.sizes["nphi"] + gaps}
    known = [*program.labels.get("lam", ()), *program.labels.get("force", ())]
    lam = tuple(known[k] if k < len(known) else known[-1] for k in sides.row_order)
    labels = {**program.labels, "lam": lam}
    modal = replace(program, sizes=MappingProxyType(sizes), labels=MappingProxyType(labels))
    if not sides.is_swept:
        return modal
    step = (("delta", sizes["nv"]), ("worst", 1))
    hint = "It is a loop of the modes."
    own = {x: Entry.of_loop(x, step, hint=hint) for x in CORRECTIONS}
    return replace(modal, entries=MappingProxyType({**program.entries, **own}))


@final
class Marching:
    """All that a run with contacts has besides: its tables, its kernel, its plan.

    Attributes:
        sides: all that is known of what holds unilaterally.
    """

    def __init__(self, plan: Plan, law: str) -> None:
        sides = plan.program.facts["sides"]
        bearings = plan.program.facts.get("bearings", ())
        swept = plan.kernel.out_size("factor") if "factor" in plan.program.entries else 0
        sizes = plan.program.sizes
        self.sides = side.sides_of(sides, sizes, impact_law(law), bearings, swept)
        self.kernel = ModalKernel(plan.kernel, self.sides)
        ends = tuple(Watched(block[0], -1, stops=True) for block in sides)
        self.own = len(plan.events)
        self._events = (*plan.events, *ends)
        self._plan: Plan | None = None
        self._units: Units | None = None
        self._scaled: tuple[Any, Any] | None = None  # units of a run and its tolerances, as words
        self.begin(plan)
        self.sides.own = self.own
        self._find(plan)

    def begin(self, plan: Plan) -> None:
        """Takes up a run that differs only in where it begins, and in its numbers."""
        self._own_plan, self._plan = plan, None
        units = units_of(plan)
        if units is not self._units:
            fill_scales(self.sides.scales, units, units.closure)
            self._units, self._scaled = units, None

    @property
    def plan(self) -> Plan:
        """As the time loop sees it: more closures, more events."""
        if self._plan is None:
            self._plan = replace(self._own_plan, kernel=self.kernel, events=self._events)
        return self._plan

    def _find(self, plan: Plan) -> None:
        """Addresses of what the modes call."""
        self.kernel.compile()
        self.work = self.kernel.work_size("rate")
        for entry in self.kernel._called():
            self._give(entry, plan.kernel)
        if self.own:
            has_stops = plan.added is not None and "events" in plan.added.program.entries
            source = plan.added if has_stops and plan.added is not None else plan.kernel
            self._give("events", source)
            self.work = max(self.kernel.work_size("rate"), source.work_size("events"))

    def _give(self, entry: str, kernel: Kernel) -> None:
        self.sides.free.ints[side.FreeEntries.fields[entry].slot] = kernel.address(entry)

    def mark(self, run: Run) -> None:
        """Ends of modes switch; they do not stop the run."""
        run.stops[self.own :], run.has_modes = at.SWITCHING, 1
        run.has_terms, run.has_correct[:] = 1, self.sides.is_swept
        run.pivots_left = 0 if self.sides.is_swept else np.iinfo(np.int64).max // 2

    def scale(self, run: Run) -> None:
        """The units of the run that is taken up: unilateral rows stand beside the closures."""
        sides, units = self.sides, self._units
        if self._scaled is not None:
            run.scales.floats[:], run.atols[:] = self._scaled
            return
        assert units is not None
        held = np.ones(int(sides.nrows - sides.nc - sides.nr))
        rows = np.concatenate([units.closure, units.gap[sides.block_of], held])
        fill_run_scales(run, units, rows[sides.row_order])
        self._scaled = run.scales.floats.copy(), run.atols.copy()

    def kept(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"sides": self.sides.ints}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Takes up where `kept` left off; addresses stay those of this process."""
        words = self.sides.ints
        had = words[ADDRESSES]
        words[:] = arrays["sides"]
        words[ADDRESSES] = had

    def refined_status(self, status: int, arrays: Arrays) -> int:
        """What a status of the loop is after a look at the modes; a lost relation is held.

        Raises:
            SimulationError: a relation lost its row and does not determine the velocity after.
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
            SimulationError: the relation does not determine it.
        """
        run, sides = arrays.run, self.sides
        b = int(sides.bad)
        t, v = float(run.t), run.v
        name = self.plan.program.facts["sides"][b][0]
        if sides.mode[b] == side.LOCKED:
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
        sides.mode[b] = side.LOCKED
        sides.held[sides.helds : sides.helds + len(rule.held)] = rule.held
        sides.helds += len(rule.held)
        v[:] = rule.after
        for what in ([IMPACTS] if rule.kind == "jump" else []) + [HOLDS]:
            self._note(arrays, what, b)

    def is_lost(self, arrays: Arrays) -> bool:
        """Whether an active relation of rates depends on rows that hold, so that none fits."""
        nv = int(self.sides.nv)
        _, arguments = self._arguments(arrays)
        G = self.kernel.base.call("terms", **arguments)["G"].reshape(-1, nv)
        seen = self.kernel.base.call("one_sided", **arguments)
        for b, block in enumerate(self.plan.program.facts["sides"]):
            D, rate = seen["D"][block[3] * nv : (block[3] + 1) * nv], seen["rate"][block[3]]
            is_open = block[2] == "rate" and self.sides.mode[b] != side.LOCKED
            unit = LOST * self.sides.scales.rate[b]
            v = np.abs(arguments["v"]) / self.sides.scales.velocity
            if is_open and abs(rate) <= unit * (1 + np.max(v, initial=0.0)):
                left = D - along(G, D) @ G
                if np.max(np.abs(left)) <= LOST * np.max(np.abs(D)):
                    self.sides.bad = b
                    return True
        return False

    def is_jamming(self) -> bool:
        """Whether friction takes all but a little of what presses on it (Painlevé)."""
        is_locked = not self.sides.unborne <= UNSETTLED
        return bool(is_locked or force_left(self.sides) < JAMMED)

    def _arguments(self, arrays: Arrays) -> tuple[Array, dict[str, Any]]:
        """v, and what entries are asked with at the present state."""
        run = arrays.run
        v = run.v.copy()
        return v, {
            "t": float(run.t),
            "q": run.q,
            "v": v,
            "u": run.u,
            "p": run.p,
        }

    def _numbers(self, arrays: Arrays, b: int) -> tuple[Array, Array | None, Array]:
        """M, the quadratic form of a rate's block (None if it is no such form), rows that hold now.

        What of its row is along rows that hold has the rate that they have.
        """
        nv, base = int(self.sides.nv), self.kernel.base
        first = int(self.sides.blocks[b].first)
        v, arguments = self._arguments(arrays)
        terms = base.call("terms", **arguments)
        G = terms["G"].reshape(-1, nv)
        part = along(G, base.call("one_sided", **arguments)["D"][first * nv : (first + 1) * nv])

        def bias(x: Array) -> float:
            here = arguments | {"v": x}
            own = float(base.call("one_sided", **here)["bias"][first])
            return -(own + float(part @ base.call("terms", **here)["gamma"]))

        form = quadratic_form(bias, nv)
        rest = bias(v) - v @ form @ v
        is_form = abs(rest) <= LOST * (1 + abs(bias(v))) and abs(bias(0 * v)) <= LOST
        return terms["M"].reshape(nv, nv), form if is_form else None, G

    @staticmethod
    def _note(arrays: Arrays, what: int, block: int) -> None:
        """One row of the log, with the state as it is now."""
        run = arrays.run
        nq, nv, count = int(run.nq), int(run.nv), int(run.event_count)
        note(what, block, -1, float(run.t), 0.0, nq, run.q, nv, run.v, count, arrays.event_log)
        run.event_count += 1


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


def impact_law(name: str) -> int:
    """The number of a law of impacts.

    Raises:
        NamingError: no law has that name.
    """
    if name not in IMPACT_LAWS:
        raise NamingError.unknown("law of impact", name, IMPACT_LAWS)
    return IMPACT_LAWS[name]


def marching(plan: Plan, law: str = "energetic") -> Marching | None:
    """What a run with contacts has besides; None where nothing is unilateral.

    Raises:
        SimulationError: a method that cannot take contacts, or not with this law.
    """
    sides: Sequence[Any] = plan.program.facts.get("sides", ())
    tableau = plan.settings.tableau
    if tableau.scheme == "moreau" and impact_law(law) != ENERGETIC:
        raise SimulationError(
            "method 'moreau' has its own law of impacts.", hint="Leave impacts= or method= out."
        )
    if not sides or tableau.scheme == "moreau":
        return None
    for name, *_ in plan.program.facts.get("convex", ()):
        raise SimulationError(
            f"{name!r} is a contact of convex bodies, whose places jump from corner to corner: "
            f"method {tableau.name!r}, which goes from event to event, does not take it.",
            hint="Take method='moreau' with a fixed step.",
        )
    if tableau.is_implicit or tableau.scheme != "stages":
        raise SimulationError(
            f"method {tableau.name!r} does not find where contacts close and open.",
            hint="Take 'tsitouras', 'dormand-prince' or 'rk4', which go from event to event, or "
            "'moreau' with a fixed step.",
        )
    return Marching(plan, law)
