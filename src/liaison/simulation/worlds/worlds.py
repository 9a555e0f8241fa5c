"""Worlds: many copies of one mechanism that step together, through contacts, one world a thread.

    worlds = worlds_of(kernel, state, 4096, step=1e-3)
    worlds.reset(spread=0.1, seed=1)
    worlds.step(100)                   # 100 steps of every world, one launch
    worlds.step(1, inputs=torques)     # with inputs of a policy, used where they lie
    runs = worlds.simulate(1000, every=100)

Steps are Moreau and Jean's, as those of `simulate` with method="moreau", by the same loops.

Worlds as `Runs`: states at instants, how each world ended, series with labels and units.

Public names: Worlds, worlds_of, Recorder.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.errors import SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation.batch.ends import Ends, check_series, runs_of
from liaison.simulation.batch.loop import ENDS, MEASURED
from liaison.simulation.batch.plan import Starts
from liaison.simulation.batch.result import Runs
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.events.watched import sides_in
from liaison.simulation.outcome import REASONS, Outcome
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.plan.settings import Settings
from liaison.simulation.record.trajectory import FAILED
from liaison.simulation.steps.layout import CROWDED, DONE, PASSED, RAN_AWAY
from liaison.simulation.worlds.scene.template import kept_words, spare_words
from liaison.simulation.worlds.scene.text import LANES, scene_module

from .arguments import (
    Inputs,
    check_array,
    check_held,
    check_kind,
    columns,
    inputs_of,
    mask_of,
    numbers,
    spread_of,
    world_number,
)
from .derivatives import (
    Asked,
    StepDerivatives,
    check_derivatives,
    derivative_kernels,
    labelled,
    room_for,
)
from .hulls import check_single
from .loops import MEASURES
from .module import KERNELS, module_of
from .places import Kernels, Place, place_named

NUMBERS = 1_000_000_000
"""Recorded numbers at most: 8 GB."""


SAME_TIME = 1e-3
"""Differences of times beside a step that are rounding, also in single precision."""

LOST = {
    **REASONS,
    CROWDED: "too many contacts",
    PASSED: "a body passed through another: shorten the step",
    RAN_AWAY: "ran away: its steps are too long",
}
"""Why a world is lost."""


@final
class Recorder:
    """States of worlds at instants a number of steps apart.

    Args:
        worlds: as they stand: the first instant.
        steps: that will be taken.
        every: steps between two instants.
    """

    def __init__(self, worlds: Worlds, steps: int, every: int) -> None:
        if int(steps) != steps or steps < 1 or int(every) != every or every < 1:
            raise SimulationError(
                f"{steps} steps recorded every {every} were asked for; both are 1 or more."
            )
        self._worlds = worlds
        first = self._now()
        samples = 1 + -(-steps // every)
        if samples * first.size > NUMBERS:
            raise SimulationError(
                f"{worlds.count} worlds at {samples} instants are {samples * first.size:.2g} "
                f"numbers; {NUMBERS:.0g} are kept at most.",
                hint="Record less often, or take fewer worlds.",
            )
        h = float(worlds.plan.settings.step or 0.0)
        begin = self._begin(first[:, 0], h)
        ends = [min(k * every, steps) for k in range(samples)]
        self._times = begin + h * np.array(ends, dtype=float)
        self._records = np.full((worlds.count, samples, first.shape[1]), np.nan)
        self._records[:, 0] = first
        self._recorded = np.where(worlds.statuses == 0, 1, 0)
        self._taken = worlds.steps_taken.astype(np.int64)
        self._next = 1

    def _begin(self, times: Array, h: float) -> float:
        """The time that all worlds begin at: records have one axis of time."""
        going = self._worlds.statuses == 0
        begin = float(np.median(times[going] if np.any(going) else times))
        k = int(np.argmax(np.where(going, np.abs(times - begin), 0.0)))
        if going[k] and abs(times[k] - begin) > SAME_TIME * h:
            raise SimulationError(
                f"world {k} is at t = {times[k]:.9g} s and others are at t = {begin:.9g} s; worlds "
                "are recorded together, at the same instants.",
                hint="Reset them to one time, worlds.reset(…, t=…), or step(…) and keep states.",
            )
        return begin

    def _now(self) -> np.ndarray[Any, Any]:
        """t, q, v and u of every world, a row each."""
        w = self._worlds
        t, q, v, u = (w.place.numpy(x).astype(float) for x in (w.t, w.q, w.v, w.u))
        u = u if u.ndim > 1 else np.repeat(u[:, None], w.count, axis=1)
        return np.concatenate([t[None], q, v, u]).T

    def note(self) -> None:
        """The states now; those of a lost world are no record of this instant."""
        rows, is_good = self._now(), self._worlds.statuses == 0
        self._records[is_good, self._next] = rows[is_good]
        self._recorded[is_good] += 1
        self._next += 1

    def runs(self, series: Sequence[str]) -> Runs:
        """All worlds, as a batch of runs."""
        check_series(series)
        w = self._worlds
        plan = replace(w.plan, settings=replace(w.plan.settings, every=self._times))
        first = self._records[:, 0]
        sizes = (plan.size("nq"), plan.size("nv"))
        cuts = np.cumsum([1, *sizes])
        p = w.place.numpy(w.p).astype(float)
        p = p.T if p.ndim > 1 else np.tile(p, (w.count, 1))
        _, q, v, u = np.split(first, cuts, axis=1)
        starts = Starts(float(self._times[0]), q, v, u, p)
        return runs_of(plan, starts, self._records, self._ends(sum(sizes)), series)

    def _ends(self, size: int) -> Ends:
        w = self._worlds
        ends, last = Ends.for_runs(w.count, size), self._now()
        statuses, taken = w.statuses, w.steps_taken.astype(np.int64)
        ends.codes[:, 0] = np.where(statuses == 0, DONE, statuses)
        ends.codes[:, ENDS.index("recorded")] = self._recorded
        ends.codes[:, ENDS.index("steps")] = taken - self._taken
        ends.last[:, : 1 + size] = last[:, : 1 + size]
        measures = (w.penetrations, w.residuals, w.contacts)
        ends.last[:, -MEASURED : -MEASURED + 3] = np.stack(measures, axis=1)
        for k in np.flatnonzero(statuses).tolist():
            reason = LOST.get(int(statuses[k]), f"status {int(statuses[k])}")
            text = f"world {k} is lost after t = {last[k, 0]:.9g} s: {reason}."
            hint = "Take smaller steps; simulate its last state on the processor to see why."
            ends.outcomes[k] = Outcome(FAILED, text, hint, reason)
        return ends


LARGEST = 2**31 - 1
PRECISIONS = {"double": (np.float64, np.int64), "single": (np.float32, np.int32)}


@checked
def worlds_of(
    kernel: Kernel,
    state: State,
    count: int,
    *,
    step: float,
    device: str = "gpu",
    precision: str = "double",
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    **more: Any,
) -> Worlds:
    """Worlds that begin at a state; see `Worlds`. Those of a scene are of free bodies."""
    settings = Settings(step=step, method="moreau", watch=False, **more)
    if precision not in PRECISIONS:
        raise SimulationError(f"precision is {precision!r}; it is 'double' or 'single'.")
    if int(count) != count or count < 1:
        raise SimulationError(f"{count} worlds were asked for; there is one at least.")
    numbers = {k: x for k, x in (parameters or {}).items() if np.ndim(x) == 0}
    plan = plan_of(
        kernel, state, state.t + 1000 * step, settings, inputs=inputs, parameters=numbers
    )
    _check(plan)
    if precision == "single":
        check_single(plan.program)
    # events only watch, and nothing on a device keeps a log of them
    plan = replace(plan, events=())
    return Worlds(plan, int(count), place_named(device), precision, parameters or {})


def _check(plan: Plan) -> None:
    """Raises an error for what steps on a device do not take."""
    stops = [x.name for x in plan.events if x.stops]
    if stops:
        raise SimulationError(
            f"the event {stops[0]!r} stops a run, and nothing on a device looks for events.",
            hint="Take it out, or look at worlds.q between steps and reset those that are over.",
        )
    if plan.instants.corners:
        t, row = plan.instants.corners[0]
        raise SimulationError(
            f"the rate of closure {row} jumps at t = {t:g} s, within a step of fixed size.",
            hint="simulate takes it on the processor: its steps end there.",
        )
    if plan.inputs.controllers:
        raise SimulationError(
            f"input {plan.inputs.controllers[0].name!r} has a controller, which is Python.",
            hint="Give inputs between steps: worlds.step(1, inputs=…).",
        )


@final
class Worlds:
    """Many copies of one mechanism, stepped together by one launch.

    Each world has a state, a time, inputs and, where they are given so, parameters of its own.
    Arrays lie component by component, shape (size, worlds), on the device: `worlds.q`, `worlds.v`
    and `worlds.t` are `DeviceArray` on a GPU, which CuPy, PyTorch and JAX use without a copy, and
    NumPy arrays on the processor. What is written into them counts from the next step on.

    A world that is lost (no finite state, no impulses that satisfy all contacts, closures that
    cannot be met) keeps its last good state; `lost` counts such worlds, `why` gives the reason,
    `reset` begins them anew.

    Attributes:
        count: of worlds.
        q: positions, shape (nq, count).
        v: velocities, shape (nv, count).
        t: time of each world [s], shape (count,).
        u: inputs, shape (nu,) where all worlds share them, or (nu, count).
        p: parameters, shape (np,) or (np, count).

    Example:
        >>> import liaison
        >>> leg = "examples/contact/hopping_leg.lsd"
        >>> worlds = liaison.worlds(leg, 8, step=1e-3, device="processor")
        >>> worlds.step(20)
        >>> worlds.lost
        0
    """

    def __init__(
        self,
        plan: Plan,
        count: int,
        place: Place,
        precision: str,
        parameters: Mapping[str, Any],
    ) -> None:
        self.plan, self.count, self.place, self.precision = plan, count, place, precision
        self.real, self.whole = PRECISIONS[precision]
        self._c_real = ctypes.c_double if precision == "double" else ctypes.c_float
        self._group, self._group_words = 1, 0
        self._kernels = self._loaded("march", "reset")
        self._scatter: Kernels | None = None
        self._slopes: Kernels | None = None
        self._check_memory()
        self._allocate(parameters)
        self.reset()

    def __repr__(self) -> str:
        where = "a GPU" if self.place.is_gpu else "this processor"
        return (
            f"<Worlds {self.plan.program.name}: {self.count} in {self.precision} precision on "
            f"{where}>"
        )

    def __len__(self) -> int:
        return self.count

    def _loaded(self, *names: str) -> Kernels:
        """Kernels where the worlds are."""
        single, gpu = self.precision == "single", self.place.is_gpu
        if self.plan.is_scene:
            return self.place.load(scene_module(self.plan, names, single=single, gpu=gpu))
        module = module_of(self.plan, names, single=single, gpu=gpu)
        if "march" in names:
            self._group, self._group_words = module.group, module.group_words
        return self.place.load(module)

    @property
    def bytes_per_world(self) -> int:
        """Memory of one world beside what a thread keeps while it runs."""
        sizes = self._sizes()
        numbers = 1 + sizes["q"] + sizes["v"] + sizes["u"] + sizes["p"] + sizes["carried"] + 3 + 3
        numbers += -(-self._group_words // self._group)
        return numbers * np.dtype(self.real).itemsize

    def _check_memory(self) -> None:
        """Raises an error before anything is allocated that does not fit."""
        free = self.place.free_bytes()
        free -= self.place.kept_bytes(self._kernels)
        if self.plan.is_scene:
            free -= self._spare() * np.dtype(self.real).itemsize
        # places in arrays are numbers of 31 bits
        rows = max(3, *(x for name, x in self._sizes().items() if name != "carried"))
        if not self.plan.is_scene:
            rows = max(rows, self._sizes()["carried"])
        most = min(max(0, int(0.95 * free) // self.bytes_per_world), LARGEST // rows)
        if self.count > most:
            raise SimulationError(
                f"{self.count} worlds of {self.plan.program.name!r} need "
                f"{self.count * self.bytes_per_world / 1e9:.3g} GB, and {free / 1e9:.3g} GB are "
                f"free: {most} worlds fit.",
                hint="Take fewer worlds, or precision='single'.",
            )

    def _sizes(self) -> dict[str, int]:
        sides = sides_in(self.plan.program)
        size = self.plan.size
        if self.plan.is_scene:
            words = kept_words(self.plan)
            return {"q": size("nq"), "v": size("nv"), "u": size("nu"), "p": 0, "carried": words}
        rows = sum(block[4] for block in sides)
        return {
            "q": size("nq"), "v": size("nv"), "u": self.plan.inputs.held.size,
            "p": self.plan.parameters.size, "carried": rows + len(sides),
        }  # fmt: skip

    def _allocate(self, parameters: Mapping[str, Any]) -> None:
        sizes, n, array = self._sizes(), self.count, self.place.array
        wide = {x: ((sizes[x], n),) for x in "qvup"}
        once = {x: ((sizes[x],), *wide[x]) for x in ("p" if self.plan.is_scene else "up")}
        self._shapes: dict[str, tuple[tuple[int, ...], ...]] = {"t": ((n,),), **wide, **once}
        self._known: dict[str, Any] = {}  # arrays that were looked at
        self.t = array(np.zeros(n), self.real)
        self.q, self.v = (array(np.zeros((sizes[x], n)), self.real) for x in "qv")
        self._carried = self._carried_room(max(1, sizes["carried"]))
        self._measures = array(np.zeros((len(MEASURES), n)), self.real)
        # status, steps taken; of a scene also which world is next, and how many blocks are done
        self._codes = array(np.zeros((4 if self.plan.is_scene else 2, n)), self.whole)
        shown = np.zeros((sizes["u"], n))
        self.u = array(shown if self.plan.is_scene else self.plan.inputs.held, self.real)
        self.p = array(self._parameters(parameters), self.real)

    def _spare(self) -> int:
        """Words in which worlds of a scene are solved, of all that are under way at once."""
        words = spare_words(self.plan, lanes=LANES if self.place.is_gpu else 1)
        return self._kernels.at_once(self.count) * words

    def _carried_room(self, size: int) -> Any:
        """What worlds keep from step to step; steps of a scene begin their own blocks."""
        if self.plan.is_scene:
            return self.place.room((self.count * size + self._spare(),), self.real)
        beside = -(-self.count // self._group) * self._group_words
        if beside:
            return self.place.array(np.zeros(size * self.count + 4 + beside), self.real)
        return self.place.array(np.zeros((size, self.count)), self.real)

    def _parameters(self, values: Mapping[str, Any]) -> Array:
        """Parameters of all worlds, or of each where one is a list."""
        table = self.plan.parameters
        if not any(np.ndim(x) for x in values.values()):
            return table
        labels = self.plan.program.labels.get("p", ())
        return columns(table, labels, values, "parameter", self.count)

    def step(self, steps: int = 1, *, inputs: Any = None, hold: int | None = None) -> None:
        """So many steps of every world, in one launch.

        Args:
            steps: how many.
            inputs: None keeps those at hand. Name -> number, or one for each world. Or an array of
                shape (nu,), (nu, worlds), or a table (rows, nu, worlds) or (rows, nu) whose rows
                are taken in turn; one that lies on the device is used there. What is of shape
                (nu, worlds) is never a table of `worlds` inputs.
            hold: steps for which a row of a table holds; as many as make the table last if None.
        """
        if not isinstance(steps, int | np.integer) or steps < 1:
            raise SimulationError(f"{steps!r} steps were asked for; it is a whole number from 1.")
        u = self._inputs(inputs)
        hold = max(1, -(-int(steps) // max(1, u.rows))) if hold is None else int(hold)
        if hold < 1:
            raise SimulationError(f"hold is {hold}; a row of inputs holds for one step or more.")
        self._march(int(steps), hold, u)

    def _march(self, steps: int, hold: int, u: Inputs) -> None:
        numbers = {
            "count": self.count, "steps": steps, "hold": hold, **u.numbers,
            "p_one": int(len(self.p.shape) > 1),
        }  # fmt: skip
        step = float(self.plan.settings.step or 0.0)
        self._launch(self._kernels, "march", numbers, step, {"u": u.values})

    def _launch(
        self,
        kernels: Kernels,
        name: str,
        numbers: Mapping[str, int],
        number: float,
        more: Mapping[str, Any],
        threads: int = 0,
    ) -> None:
        """One thread a world if not said otherwise."""
        self._check_arrays()
        listed = {
            "t": self.t, "q": self.q, "v": self.v, "u": self.u, "p": self.p,
            "carried": self._carried, "measures": self._measures, "codes": self._codes, **more,
        }  # fmt: skip
        wholes, _, arrays = KERNELS[name]
        values = [ctypes.c_int32(numbers[x]) for x in wholes]
        arguments: list[Any] = [*values, self._c_real(number)]
        address = ctypes.c_uint64
        arguments += [address(self.place.address(listed[x], x)) for x in arrays]
        kernels.launch(name, threads or self.count, arguments)

    def _check_arrays(self) -> None:
        """Raises an error where another array was put in the place of one that kernels read."""
        for name, shapes in self._shapes.items():
            values = getattr(self, name)
            if values is not self._known.get(name):
                check_array(values, name, shapes, self.real, is_gpu=self.place.is_gpu)
                self._known[name] = values

    def _inputs(self, values: Any) -> Inputs:
        """Inputs where kernels run; those that are no table are kept for later steps."""
        if values is None:
            self._check_arrays()
            return Inputs(self.u, 0, len(self.u.shape) > 1)
        if self.plan.is_scene:
            raise SimulationError(
                "a scene has no inputs: gravity is all that acts.",
                hint="Write velocities into worlds.v between steps, or reset worlds to them.",
            )
        check_held(values, self.plan)
        if isinstance(values, Mapping):
            labels = self.plan.program.labels.get("u", ())
            values = columns(self.place.numpy(self.u), labels, values, "input", self.count)
        if not hasattr(values, "__cuda_array_interface__"):
            values = numbers(values, "the array of inputs")
            if not np.all(np.isfinite(values)):
                raise SimulationError("inputs are not finite.")
            values = self.place.array(values, self.real)
        real = self.real if self.place.is_gpu else None
        inputs = inputs_of(values, self._sizes()["u"], self.count, real)
        if not inputs.rows:
            self.u = values
        return inputs

    def _held_inputs(self, values: Any) -> Inputs:
        """Inputs that hold for all steps; the only row of a table is such inputs."""
        inputs = self._inputs(values)
        if inputs.rows > 1:
            raise SimulationError(
                "simulate takes inputs that hold for all its steps, and found a table of them.",
                hint="Give its rows one by one: worlds.step(…, inputs=row), or simulate for each.",
            )
        if inputs.rows == 1:
            self.u = self.place.array(self.place.numpy(inputs.values)[0], self.real)
        return Inputs(self.u, 0, inputs.is_wide)

    def derivatives(self, *, inputs: Any = None) -> StepDerivatives:
        """How the end of the next step depends on its beginning; no step is taken.

        Args:
            inputs: of that step, as of `step`; None for those at hand.

        Returns:
            d(q₁, v₁)/d(q, v) and d(q₁, v₁)/d(inputs) of every world, labelled, where the worlds
            are. Modes of contacts are held; where one may end, the world is marked.

        Example:
            >>> import liaison
            >>> leg = "examples/contact/hopping_leg.lsd"
            >>> legs = liaison.worlds(leg, 4, step=1e-3, device="processor")
            >>> legs.derivatives().A.shape
            (4, 4, 4)
        """
        single = self.precision == "single"
        asked = Asked(self.plan, self.place, self.count, self.real, self.whole)
        self._slopes = self._slopes or derivative_kernels(asked, single=single)
        u = self._inputs(inputs)
        check_derivatives(asked, u.rows, self._slopes)
        arrays, numbers = room_for(asked), asked.numbers(u.is_wide, self.p)
        more = {"u": u.values, **arrays}
        self._launch(self._slopes, "derive", numbers, asked.step, more, numbers["count"])
        return labelled(asked, arrays)

    def reset(
        self,
        which: Any = None,
        *,
        q: Any = None,
        v: Any = None,
        spread: Any = None,
        seed: int = 0,
        t: float | None = None,
    ) -> None:
        """Begins worlds anew: at the start of the mechanism, at states, or about them.

        Args:
            which: all if None; numbers of worlds, or a mask with an entry for each.
            q: positions, shape (nq,) or (nq, worlds); those of the start if None.
            v: velocities, likewise.
            spread: how far a random start lies from that at most, in each velocity coordinate: a
                number, or name of a velocity or position -> number or text with a unit. Of a free
                body or a ball "F.x" is along x and "F.qx" a turn about x [rad], both of its own
                axes. It is brought onto closures and out of penetration on the device.
            seed: of random starts; the same seed gives the same starts on any device.
            t: the time they begin at [s].
        """
        chosen = mask_of(which, self.count)
        state, sizes = self.plan.state, self._sizes()
        starts = [self._start(x, own, x_name, sizes[x_name]) for x, own, x_name in (
            (q, state.q, "q"), (v, state.v, "v"),
        )]  # fmt: skip
        far = spread_of(spread, self.plan.program.labels["v"])
        begin = state.t if t is None else float(t)
        if not math.isfinite(begin):
            raise SimulationError(f"t is {begin}; worlds begin at a finite time.")
        more = {
            "chosen": self.place.array(chosen, self.whole), "q_start": starts[0],
            "v_start": starts[1], "spread": self.place.array(far, self.real),
        }  # fmt: skip
        numbers = {
            "count": self.count, "q_one": len(starts[0].shape) - 1,
            "v_one": len(starts[1].shape) - 1, "seed": int(seed) & 0x3FFFFFFF,
            "u_one": len(self.u.shape) - 1, "p_one": len(self.p.shape) - 1,
        }  # fmt: skip
        self._launch(self._kernels, "reset", numbers, begin, more)
        if np.any(far):
            self._scatter = self._scatter or self._loaded("scatter")
            self._launch(self._scatter, "scatter", numbers, begin, more)
        self._keep = more  # until these launches are over

    def _start(self, values: Any, own: Array, name: str, size: int) -> Any:
        """States where kernels run, checked."""
        if hasattr(values, "__cuda_array_interface__"):
            if tuple(values.shape) not in ((size,), (size, self.count)):
                raise SimulationError(f"{name} has shape {values.shape}; its first axis is {size}.")
            check_kind(values, f"numbers of {name}", self.real if self.place.is_gpu else None)
            return values
        array = np.asarray(own if values is None else values, dtype=float)
        if array.shape not in ((size,), (size, self.count)):
            raise SimulationError(
                f"{name} has shape {array.shape}; it is ({size},) or ({size}, {self.count})."
            )
        if not np.all(np.isfinite(array)):
            raise SimulationError(f"{name} is not finite in some world.")
        return self.place.array(array, self.real)

    def _row(self, array: Any, k: int) -> NDArray[Any]:
        row: NDArray[Any] = self.place.numpy(array)[k]
        return row

    @property
    def statuses(self) -> NDArray[Any]:
        """0 of a world that goes on, else why it is lost; see `why`."""
        return self._row(self._codes, 0)

    @property
    def steps_taken(self) -> NDArray[Any]:
        """Steps of each world since it was reset."""
        return self._row(self._codes, 1)

    @property
    def lost(self) -> int:
        """How many worlds are lost; each keeps its last good state."""
        return int(np.count_nonzero(self.statuses))

    def why(self, i: int) -> str:
        """Why a world is lost, in a few words; empty if it goes on."""
        code = int(self.statuses[world_number(i, self.count)])
        return LOST.get(code, f"status {code}") if code else ""

    @property
    def residuals(self) -> NDArray[Any]:
        """The largest residual of the cones of each world since it was reset, beside its rates."""
        return self._row(self._measures, 0)

    @property
    def penetrations(self) -> NDArray[Any]:
        """The deepest penetration of each world since it was reset [m]."""
        return self._row(self._measures, 1)

    @property
    def contacts(self) -> NDArray[Any]:
        """The most contacts, stops and friction blocks at once in each world since its reset."""
        return self._row(self._measures, 2)

    @property
    def resources(self) -> tuple[int, int]:
        """Registers of a thread, and bytes that it keeps beside them; 0 on a processor."""
        return self._kernels.registers, self._kernels.local_bytes

    def state(self, i: int) -> State:
        """The state of a world."""
        i = world_number(i, self.count)
        labels = {x: self.plan.program.labels[x] for x in ("q", "v")}
        q, v, t = (self.place.numpy(x)[..., i].astype(float) for x in (self.q, self.v, self.t))
        return State(float(t), q, v, labels)

    def simulate(
        self,
        steps: int,
        *,
        every: int = 1,
        inputs: Any = None,
        series: Sequence[str] = BATCH_SERIES,
    ) -> Runs:
        """So many steps from where the worlds are, recorded each `every` steps.

        Args:
            steps: how many.
            every: steps between two records.
            inputs: as of `step`, without tables of several rows.
            series: evaluated at the records, on the processor: as of `simulate_batch`.

        Returns:
            All worlds as `Runs`, with labels and units; a lost world has the status "failed".
        """
        u = self._held_inputs(inputs)
        recorder = Recorder(self, steps, every)
        for done in range(0, int(steps), int(every)):
            self._march(int(min(every, steps - done)), int(every), u)
            recorder.note()
        return recorder.runs(series)

    def __getstate__(self) -> Any:
        raise SimulationError(
            "worlds live in the memory of a device and cannot be copied elsewhere.",
            hint="Keep what worlds.state(i) and worlds.simulate(…) give.",
        )
