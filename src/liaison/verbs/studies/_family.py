"""A family of runs: one mechanism, made ready once, run again and again with values that vary.

Values stand in a table, one row for each run; chunks of it are assembled, run and recorded in
compiled code, and each run is what `simulate` would compute, whatever the others of its chunk are.
A row that makes the mechanism impossible has its cause as outcome.

Public names: Recipe, Family, kind_of_value, ready_family, PARAMETER, START, INPUT, CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import AssemblyError, Interrupted, LiaisonError, NamingError, SimulationError
from liaison.expr.graph.node import collector_paused
from liaison.model.checks import check_with, doubtful_rows
from liaison.model.joints.joint_type import JointType
from liaison.model.mechanism import Mechanism
from liaison.numeric import Array, State
from liaison.program.kernel import Kernel
from liaison.simulation.batch.ends import Ends, check_series, runs_of, series_at
from liaison.simulation.batch.plan import Starts, instants_of
from liaison.simulation.batch.result import Runs
from liaison.simulation.batch.run import BATCH_SERIES, Batch
from liaison.simulation.events.watched import sides_in
from liaison.simulation.outcome import NOT_ASSEMBLED, Outcome
from liaison.simulation.plan.inputs import inputs_of
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.plan.settings import Settings
from liaison.simulation.plan.timing import instants_of_all
from liaison.simulation.record.trajectory import FAILED, Series, Trajectory
from liaison.simulation.report import FORWARD, series_of
from liaison.simulation.run import simulate
from liaison.simulation.worlds.device_runs import DeviceRuns, check_breaks
from liaison.tree.starts import check_attitudes
from liaison.verbs.assembling import Assembling, Wanted, tree_keeping
from liaison.verbs.given import check_parameters
from liaison.verbs.ready import compiled, equations_at, start_of

FORWARD_ROWS = 20_000
"""States at once of which accelerations are found: some megabytes of matrices."""

IMPOSSIBLE = "impossible values"
"""The reason of a run whose values no mechanism can have."""

PARAMETER, START, INPUT = "parameter", "start", "input"

CPU = "cpu"
"""The device of runs on threads of this process."""


def kind_of_value(mechanism: Mechanism, name: str) -> str:
    """What a name that varies is: PARAMETER, INPUT or START.

    Raises:
        NamingError: nothing of the mechanism has that name.
    """
    parameters = [x.name for x in mechanism.parameters]
    inputs = [x.name for x in mechanism.inputs]
    starts = [*mechanism.coordinates, *mechanism.speeds]
    for kind, names in ((PARAMETER, parameters), (INPUT, inputs), (START, starts)):
        if name in names:
            return kind
    raise NamingError.unknown(
        "parameter, input, coordinate or rate", name, [*parameters, *inputs, *starts]
    )


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """What all runs of a family share.

    Attributes:
        mechanism: that runs.
        varied: names of parameters, inputs, coordinates and rates whose values vary.
        until: the last instant [s].
        start: positions and speeds that are held in all runs, by label, in SI.
        guess: positions and speeds that begin the search, likewise.
        parameters: values that all runs share, by name, in SI.
        options: how to run, as `simulate_batch` takes them; `every` says what is recorded.
        reference: values of those that vary at which equations are looked at.
        kinds: what each name that varies is: PARAMETER, START or INPUT.
    """

    mechanism: Mechanism
    varied: tuple[str, ...]
    until: float
    start: Mapping[str, float] = field(default_factory=dict)
    guess: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    reference: tuple[float, ...] = ()
    kinds: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_parameters(self.mechanism, self.parameters)
        kinds = tuple(kind_of_value(self.mechanism, x) for x in self.varied)
        object.__setattr__(self, "kinds", kinds)

    def wanted(self, values: Array) -> Wanted:
        """What to assemble from: a column of values for each name that varies."""
        groups: dict[str, dict[str, Any]] = {PARAMETER: {}, START: {}, INPUT: {}}
        for name, kind, column in zip(self.varied, self.kinds, values.T, strict=True):
            groups[kind][name] = column
        return Wanted(
            {**self.start, **groups[START]},
            {k: x for k, x in self.guess.items() if k not in groups[START]},
            {**self.parameters, **groups[PARAMETER]},
        )

    def inputs(self, values: Array) -> dict[str, Array]:
        """Columns of the inputs that vary."""
        columns = zip(self.varied, self.kinds, values.T, strict=True)
        return {name: column for name, kind, column in columns if kind == INPUT}


@final
class Family:
    """The machine code of a recipe, and chunks of its runs.

    Args:
        recipe: what the runs share.

    Raises:
        AssemblyError: the reference values cannot be assembled.
        DerivationError: the mechanism cannot move there.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._devices: dict[str, DeviceRuns] = {}
        with collector_paused():
            self._prepare()

    def _prepare(self) -> None:
        recipe, mechanism = self.recipe, self.recipe.mechanism
        row = np.array([recipe.reference], dtype=float).reshape(1, len(recipe.varied))
        one = recipe.wanted(row).row(0)
        check_with(mechanism, one.parameters)
        tree = tree_keeping(mechanism, one)
        equations = newton_euler(tree)
        self.kernel = compiled(tree, equations)
        self._assembling = Assembling(tree, self.kernel)
        first = self._assembling.state(one.start, one.guess, one.parameters)
        check_attitudes(tree, first)
        whole, completed = equations_at(tree, first, equations)
        if whole is not tree:
            self.kernel = compiled(whole, completed)
        held = [*(x.label for x in mechanism.starts if not x.is_guess), *one.start]
        self._firm = [x for x in held if x not in one.guess]
        self._tree, self._is_whole = tree, whole is tree
        self._first = start_of(self.kernel, first, self._firm)
        self.plan = self._planned(one, recipe.inputs(row))

    def _planned(self, one: Wanted, inputs: Mapping[str, Array]) -> Plan:
        """The plan of a run at the reference values."""
        options = dict(self.recipe.options)
        self.series = tuple(options.pop("series", BATCH_SERIES))
        check_series([x for x in self.series if x not in FORWARD])
        common = {k: x for k, x in (options.pop("inputs", None) or {}).items() if k not in inputs}
        stop = options.pop("stop", None)
        settings = Settings(**{k: x for k, x in options.items() if x is not None})
        held = inputs_of(self.kernel.program, common)
        if held.controllers:
            raise SimulationError(
                f"input {held.controllers[0].name!r} has a controller; a study asks no Python.",
                hint="Give a formula or a table.",
            )
        self.held = held.held
        settings = replace(settings, every=instants_of(settings, 0.0, self.recipe.until))
        return plan_of(
            self.kernel, self._first, self.recipe.until, settings, inputs=common,
            parameters=dict(one.parameters), stop=stop,
        )  # fmt: skip

    def runs(
        self,
        values: Array,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Runs:
        """The runs of some rows of values; the arguments are those of `stored_runs`."""
        return self.stored_runs(values, threads=threads, progress=progress)[0]

    def stored_runs(
        self,
        values: Array,
        *,
        kept: NDArray[np.intp] | None = None,
        series: Sequence[str] = (),
        threads: int = 1,
        lanes: bool | None = None,
        device: str = CPU,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[Runs, dict[str, tuple[Array, Series]]]:
        """The runs of some rows of values, and series at some of their instants alone.

        Args:
            values: shape (runs, names), in SI.
            kept: numbers of instants at which further series are evaluated.
            series: their names, as a batch takes them.
            threads: how many.
            lanes: whether runs march on vector lanes; where they can and it is worth it if None.
            device: "cpu", or where else runs go from their starts to their ends.
            progress: called with the fraction of runs that are over.

        Raises:
            Interrupted: Ctrl-C.
        """
        starts, rejected = self._starts(np.ascontiguousarray(values, dtype=float))
        plan = self.plan
        if plan.timed is not None:
            where = plan.timed, plan.program, starts.t, plan.until
            plan = replace(plan, instants=instants_of_all(*where, starts.p, starts.u))
        if device == CPU:
            records, ends = self._marched(plan, starts, rejected, threads, lanes, progress)
        else:
            check_breaks(plan, device)
            records, ends = self.on_device(device).finished(starts, rejected)
        own = [x for x in self.series if x not in FORWARD]
        runs = runs_of(plan, starts, records, ends, own)
        more = self._forward(plan, runs, records)
        runs = replace(runs, series={**runs.series, **more}) if more else runs
        if kept is None:
            return runs, {}
        count = np.searchsorted(kept, runs.recorded)
        return runs, series_at(plan, starts, records[:, kept], count, series)

    def _marched(
        self,
        plan: Plan,
        starts: Starts,
        rejected: dict[int, Outcome],
        threads: int,
        lanes: bool | None,
        progress: Callable[[float], None] | None,
    ) -> tuple[Array, Ends]:
        """Records and ends of runs on threads of this process."""
        has_contacts = "contacts" in self.series and bool(sides_in(plan.program))
        batch = Batch(
            plan, starts, threads, has_contacts=has_contacts, rejected=rejected, lanes=lanes
        )
        batch.finish(None, progress)
        if batch.is_interrupted:
            raise Interrupted("the study was interrupted.", t=0.0, trajectory=None)
        return batch.records, batch.ends

    def on_device(self, device: str) -> DeviceRuns:
        """What takes runs from their starts to their ends on a device, compiled once.

        Raises:
            SimulationError: the runs need what no device has, by name.
            ProgramError: there is no such device, or its driver is too old.
        """
        if device not in self._devices:
            if "contacts" in self.series:
                raise SimulationError(
                    f"device is {device!r}, and the series 'contacts' is known on the processor "
                    "alone.",
                    hint="Leave it out, or take device='cpu'.",
                )
            self._devices[device] = DeviceRuns(self.plan, device)
        return self._devices[device]

    def _forward(self, plan: Plan, runs: Runs, records: Array) -> dict[str, tuple[Array, Series]]:
        """Series that need accelerations: reactions and multipliers."""
        names = [x for x in self.series if x in FORWARD]
        if names and sides_in(plan.program):
            raise SimulationError(
                f"a study does not evaluate {names[0]!r} of mechanisms with contacts.",
                hint="Make the run again, and look at it: study.run(k).",
            )
        stacked: dict[str, tuple[Array, Series]] = {}
        each = max(1, FORWARD_ROWS // max(1, records.shape[1]))
        for first in range(0, len(records) if names else 0, each):
            some = slice(first, first + each)
            there = np.arange(records.shape[1]) < runs.recorded[some, None]
            whole = _forward_at(plan, records[some], runs.parameters[some], there, names)
            for name, x in whole.items():
                if name not in stacked:
                    shape = (*records.shape[:2], *x.values.shape[1:])
                    stacked[name] = np.full(shape, np.nan), replace(x, undetermined=None)
                stacked[name][0][some][there] = x.shown
        return stacked

    def at_states(
        self,
        runs: Runs,
        states: tuple[Array, Array, Array],
        u: Array,
        there: NDArray[np.bool_],
    ) -> Runs:
        """Runs of one instant each: the series of this family at t, q and v of some of the runs."""
        t, q, v = states
        records = np.concatenate([t[:, None], q, v, u], axis=1)[:, None, :]
        once = replace(
            runs, t=np.zeros(1), q=q[:, None], v=v[:, None], recorded=there.astype(np.int64),
            series={},
        )  # fmt: skip
        starts = Starts(0.0, q, v, u, runs.parameters)
        plain = [x for x in self.series if x not in FORWARD]
        own = series_at(self.plan, starts, records, once.recorded, plain)
        return replace(once, series={**own, **self._forward(self.plan, once, records)})

    def run(self, values: Array) -> tuple[Trajectory, Array] | None:
        """One run with its outputs, sooner than a batch of one, and its parameters.

        None where it cannot begin.
        """
        starts, rejected = self._starts(np.ascontiguousarray(values[None], dtype=float))
        if rejected:
            return None
        state = State(starts.t, starts.q[0], starts.v[0], self._first.labels)
        run = self.run_from(state, starts.u[0], starts.p[0], {"series": ("outputs",)})
        return run, starts.p[0]

    def run_from(self, state: State, u: Array, p: Array, more: Mapping[str, Any]) -> Trajectory:
        """One run from a state, with inputs that are held, parameters, and some other options."""
        labels = self.kernel.program.labels
        options = {k: x for k, x in {**self.recipe.options, **more}.items() if x is not None}
        options |= {
            "inputs": {x.name: float(y) for x, y in zip(labels.get("u", ()), u, strict=False)},
            "parameters": {x.name: float(y) for x, y in zip(labels.get("p", ()), p, strict=True)},
        }
        return simulate(self.kernel, state, self.recipe.until, on_failure="return", **options)

    def alike(self, values: Array) -> list[NDArray[np.intp]]:
        """Rows in groups whose steps see the same instants: all, unless values change these."""
        count = len(values)
        if self.plan.timed is None:
            return [np.arange(count)]
        places = [self.kernel.program.inputs[x] for x in self.plan.timed.constants]
        labels = self.kernel.program.labels
        names = [labels[array][k].name for array, k in places]
        columns = [k for k, name in enumerate(self.recipe.varied) if name in names]
        if not columns:
            return [np.arange(count)]
        _, which = np.unique(values[:, columns], axis=0, return_inverse=True)
        return [np.flatnonzero(which.ravel() == k) for k in range(int(which.max()) + 1)]

    def _starts(self, values: Array) -> tuple[Starts, dict[int, Outcome]]:
        """Where each run starts, and why some cannot."""
        count, wanted = len(values), self.recipe.wanted(values)
        rejected = self._impossible(wanted, count)
        good = np.array([k for k in range(count) if k not in rejected], dtype=np.intp)
        q, v = np.tile(self._first.q, (count, 1)), np.tile(self._first.v, (count, 1))
        if good.size:
            own = self.recipe.wanted(values[good])
            closed, errors = self._assembling.rows(own, good.size)
            q[good], v[good] = closed.q, closed.v
            errors |= self._poles(closed.q, closed.v, errors)
            rejected |= {int(good[k]): _outcome(x, NOT_ASSEMBLED) for k, x in errors.items()}
        for k in rejected:
            q[k], v[k] = self._first.q, self._first.v
        if not self._is_whole:
            for k in range(count):
                state = State(0.0, q[k], v[k], self._first.labels)
                v[k] = start_of(self.kernel, state, self._firm).v
        u = _filled(self.kernel, "u", np.tile(self.held, (count, 1)), self.recipe.inputs(values))
        base = np.tile(self.kernel.program.defaults.get("p", np.zeros(0)), (count, 1))
        p = _filled(self.kernel, "p", base, wanted.parameters)
        return Starts(0.0, q, v, u, p), rejected

    def _impossible(self, wanted: Wanted, count: int) -> dict[int, Outcome]:
        """Rows whose parameters no mechanism can have."""
        rejected: dict[int, Outcome] = {}
        if not wanted.parameters:
            return rejected
        doubtful = doubtful_rows(self.recipe.mechanism, wanted.parameters, count)
        for k in np.flatnonzero(doubtful).tolist():
            try:
                check_with(self.recipe.mechanism, wanted.row(k).parameters)
            except LiaisonError as error:
                rejected[k] = _outcome(error, IMPOSSIBLE)
        return rejected

    def _poles(
        self, q: Array, v: Array, errors: Mapping[int, AssemblyError]
    ) -> dict[int, AssemblyError]:
        """Rows at which angles of a joint are singular."""
        if not any(map(_has_poles, (x.joint.type for x in self._tree.nodes))):
            return {}
        bad: dict[int, AssemblyError] = {}
        for k in range(len(q)):
            if k in errors:
                continue
            try:
                check_attitudes(self._tree, State(0.0, q[k], v[k], self._first.labels))
            except AssemblyError as error:
                bad[k] = error
        return bad


def _forward_at(
    plan: Plan, records: Array, parameters: Array, there: NDArray[np.bool_], names: Sequence[str]
) -> dict[str, Series]:
    """Series that need accelerations at all states of some runs that are there, one after other."""
    rows, counts = records[there], np.sum(there, axis=1)
    if not len(rows):
        return {}
    begins = (np.cumsum(counts) - counts)[counts > 0]
    own = replace(plan, parameters=np.repeat(parameters, counts, axis=0))
    series = series_of(own, rows, names, begins=begins)
    return {name: x for name, x in series.items() if name in names}


def _has_poles(kind: JointType) -> bool:
    """Whether some position of a joint has singular angles."""
    own = type(kind).regularity is not JointType.regularity
    return own or getattr(kind, "attitude", None) is not None


def _outcome(error: LiaisonError, reason: str) -> Outcome:
    return Outcome(FAILED, error.message, error.hint, reason)


def _filled(kernel: Kernel, array: str, table: Array, columns: Mapping[str, Any]) -> Array:
    """A table with some columns by name."""
    names = [x.name for x in kernel.program.labels.get(array, ())]
    for name, column in columns.items():
        table[:, names.index(name)] = column
    return table


def ready_family(recipe: Recipe, rows: Sequence[Sequence[float]]) -> Family:
    """A family made ready at the first of some rows of values at which it can be assembled.

    Raises:
        LiaisonError: that of the first row, where there is none.
    """
    first: LiaisonError | None = None
    for row in rows:
        try:
            return Family(replace(recipe, reference=tuple(map(float, row))))
        except LiaisonError as error:
            first = first or error
    assert first is not None
    raise first
