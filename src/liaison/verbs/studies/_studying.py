"""Studies of a mechanism: its measures as outputs, and chunks of its runs as rows of a store.

Public names: Asked, Making, asked_of, asked_again, definition_of, keys_of, nominal, run_again,
samples_of, with_formulas, PLAIN_OPTIONS.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError, LiaisonError, NamingError, Place
from liaison.formats.lsd.read import read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.formats.read import data_of, text_of
from liaison.model.mechanism import Mechanism
from liaison.model.records import Output
from liaison.numeric import Array
from liaison.simulation.batch.result import Runs, check_series
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.record.trajectory import STOPPED, Trajectory
from liaison.simulation.report import KNOWN
from liaison.simulation.steps.projection import Projection
from liaison.spatial import number
from liaison.studies.chunks import Columns, encoded
from liaison.studies.measures import (
    KEEPS_UNIT,
    SAME_UNIT,
    Measure,
    Node,
    Samples,
    along,
    read_columns,
    read_measures,
)
from liaison.studies.rows import ENDED, columns_of, header_of, joined
from liaison.studies.store import KEY
from liaison.studies.study import Definition
from liaison.units import FORCE, MOMENT, converts, unit_of
from liaison.verbs.given import Given, mechanism_of, units, with_starts, with_values

from ._family import CPU, PARAMETER, Family, Recipe, kind_of_value

PLAIN_OPTIONS = (
    "step", "method", "rtol", "atol", "max_step", "max_steps", "projection", "residual",
    "spectral_radius", "impacts", "theta", "facets", "watch", "inputs", "stop", "series",
)  # fmt: skip
"""Options of a run that a study takes: those that can be written as plain data."""

VERSION: str = sys.modules["liaison"].__version__
"""Of liaison: runs of another one have other keys."""

SAMPLES = 200
"""Instants of a run at which measures are evaluated, unless they are named."""


MOST_INSTANTS = 4_000_000
"""Instants of a run."""


# ---- measures as outputs


def with_formulas(given: Given, formulas: Mapping[str, Place]) -> tuple[Mechanism, dict[str, str]]:
    """A mechanism with further outputs.

    Args:
        given: a mechanism, the path of its text, or the text.
        formulas: texts as LSD reads them, and where each stands, for messages.

    Returns:
        The mechanism, and the name of the output of each formula.

    Raises:
        TextError: what is no formula of the mechanism, at its place.
        NamingError: a name in it that the mechanism does not have.
    """
    mechanism = mechanism_of(given)
    taken = {x.name for x in mechanism.outputs} | {x.name for x in mechanism.parameters}
    taken |= {x.name for x in mechanism.bodies} | {x.name for x in mechanism.joints}
    prefix = "study"
    while any(x.startswith(prefix) for x in taken):
        prefix += "_"
    names = {text: f"{prefix}_{k}" for k, text in enumerate(formulas)}
    if not names:
        return mechanism, names
    text, folder = _text_of(given, mechanism)
    lines = text.count("\n") + 2
    added = [f"output {name} = {one} ;" for one, name in names.items()]
    try:
        whole = read_lsd("\n".join([text, *added]), file=mechanism.name, folder=folder)
    except LiaisonError as error:
        raise _at_formula(error, lines, list(formulas.items())) from None
    own = {x.name: x for x in whole.outputs}
    more = tuple(Output(name, own[name].formula, own[name].unit) for name in names.values())
    return replace(mechanism, outputs=(*mechanism.outputs, *more)), names


def _text_of(given: Given, mechanism: Mechanism) -> tuple[str, Path | None]:
    """The text that formulas are read with, and the folder of what it includes."""
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".lsd")):
        path = Path(given)
        if path.suffix == ".lsd":
            return text_of(data_of(path), path), path.parent
    if isinstance(given, str) and not given.lstrip().startswith("<") and ";" in given:
        return given, None
    return write_lsd(mechanism), None


def _at_formula(
    error: LiaisonError, first: int, formulas: Sequence[tuple[str, Place]]
) -> LiaisonError:
    """The error of a formula at its own place."""
    if error.place is None or error.place.line < first:
        return error
    k = min(error.place.line - first, len(formulas) - 1)
    text, place = formulas[k]
    offset = max(0, error.place.column - len(f"output study_{k} = ") - 1)
    length = max(1, min(error.place.length, len(text) - offset))
    error.place = replace(place, column=place.column + min(offset, len(text)), length=length)
    error.cure, error.also = None, ()
    return error


# ---- what a study asks for


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a study asks of each run.

    Attributes:
        recipe: what the runs share; `every` of its options are the instants to record [s].
        measures: numbers of a run.
        outputs: the output of each formula, by its text.
        kept: numbers of the instants whose states are stored.
        series: names of series that are stored.
        lsd: the mechanism as text.
        own_outputs: how many outputs the mechanism has without those of measures.
        efforts: units of multipliers, by name.
        device: the kind that runs are made on, whose bits they have.
    """

    recipe: Recipe
    measures: tuple[Measure, ...]
    outputs: Mapping[str, str]
    kept: tuple[int, ...]
    series: tuple[str, ...]
    lsd: str
    own_outputs: int
    efforts: Mapping[str, str] = field(default_factory=dict)
    device: str = CPU

    def about(self) -> dict[str, Any]:
        """All that runs depend on besides their values, as plain data."""
        recipe = self.recipe
        options = dict(recipe.options)
        projection = options.get("projection")
        if isinstance(projection, Projection):
            options["projection"] = asdict(projection)
        return {
            "lsd": self.lsd, "varied": list(recipe.varied), "until": recipe.until,
            "start": dict(recipe.start), "guess": dict(recipe.guess),
            "parameters": dict(recipe.parameters), "options": _as_plain(options),
            "reference": list(recipe.reference), "kept": list(self.kept),
            "series": list(self.series), "outputs": dict(self.outputs),
            "own_outputs": self.own_outputs,
            "measures": {x.name: x.text for x in self.measures},
            **({} if self.device == CPU else {"device": self.device}),
        }  # fmt: skip

    def family(self, version: str) -> str:
        """The digest of all of it, and of the version of liaison."""
        text = json.dumps([version, self.about()], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _as_plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as JSON can write them."""
    listed: dict[str, Any] = {}
    for name, x in options.items():
        if name not in (*PLAIN_OPTIONS, "every"):
            raise ArgumentError(f"a study does not take the option {name!r}.")
        x = np.asarray(x).tolist() if isinstance(x, np.ndarray) else x
        try:
            json.dumps(x)
        except TypeError:
            raise ArgumentError(
                f"the option {name!r} of a study is {x!r}; it must be numbers, names or lists.",
                hint="Write formulas into the text of the mechanism, as events, laws or outputs.",
            ) from None
        listed[name] = x
    return listed


def asked_of(
    given: Given,
    varied: Sequence[str],
    measure: Mapping[str, str],
    *,
    until: float,
    every: Any,
    record: Any,
    options: Mapping[str, Any],
    start: Mapping[str, float],
    guess: Mapping[str, float],
    parameters: Mapping[str, float],
) -> Asked:
    """What a study asks for; the arguments are those of `liaison.study`, in SI."""
    measures = read_measures(measure)
    mechanism = mechanism_of(given)
    places = _parts(mechanism, {k: y for x in measures for k, y in x.places.items()})
    columns = [x for x in places if _is_column(mechanism, x)]
    whole, outputs = with_formulas(given, {x: y for x, y in places.items() if x not in columns})
    _check_names(mechanism, measures, varied)
    lsd = write_lsd(whole)
    instants, kept = _instants(until, every, record, measures)
    stored = tuple(dict.fromkeys((*BATCH_SERIES, *options.get("series", ()))))
    check_series(stored)
    needed = [*(["outputs"] if outputs else []), *(x.partition(".")[0] for x in columns)]
    chosen = {**options, "every": instants.tolist(), "series": list(dict.fromkeys(needed))}
    recipe = Recipe(
        read_lsd(lsd, mechanism.name), tuple(varied), until, dict(start), dict(guess),
        dict(parameters), chosen,
    )  # fmt: skip
    return Asked(
        recipe, measures, outputs, tuple(kept.tolist()), stored, lsd, len(mechanism.outputs)
    )


def _parts(mechanism: Mechanism, formulas: Mapping[str, Place]) -> dict[str, Place]:
    """Formulas of measures; of those with columns in them their parts."""
    listed: dict[str, Place] = {}
    for text, place in formulas.items():
        words = re.findall(r"[\w.']+", text)
        mixed = any("." in x and _is_column(mechanism, x) for x in words)
        is_whole = not mixed or _is_column(mechanism, text)
        listed |= {text: place} if is_whole else read_columns(text, place)[1]
    return listed


def _is_column(mechanism: Mechanism, text: str) -> bool:
    """Whether a text names a column of a series: energy.T, reactions.A.Fx."""
    first = text.partition(".")[0]
    named = {x.name for x in mechanism.bodies} | {x.name for x in mechanism.joints}
    return first in KNOWN and first not in named and re.fullmatch(r"[\w.']+", text) is not None


def _check_names(mechanism: Mechanism, measures: Sequence[Measure], varied: Sequence[str]) -> None:
    """Names of measures are no others of the study; those in them are of the mechanism."""
    known = [x.name for x in mechanism.parameters]
    events = [x.name for x in mechanism.events]
    for x in measures:
        if x.name in (*varied, *ENDED):
            what = "varies" if x.name in varied else "is a column of every study"
            raise ArgumentError(
                f"the measure {x.name!r} has the name of what {what}.", hint="Rename the measure."
            )
        for node in x.root.walk():
            place = Place(f"measure {x.name!r}", 1, 1, x.text, len(x.text))
            if node.op == "parameter" and node.name not in known:
                error = NamingError.unknown("parameter", node.name, known, place=place)
                error.hint += f" Of what moves a measure takes a number: max({node.name}), …"
                raise error
        for name in x.events:
            if name not in events:
                raise NamingError.unknown("event", name, events, place=place)


def _instants(
    until: float, every: Any, record: Any, measures: Sequence[Measure]
) -> tuple[Array, NDArray[np.intp]]:
    """The instants to record, and the numbers of those to store."""
    period = until / SAMPLES if every is None and any(x.formulas for x in measures) else every
    sampled = np.array([0.0, until]) if period is None else _times(period, until)
    stored = np.array([0.0, until]) if record is None else _times(record, until)
    named = [t for x in measures for t in x.instants]
    for t in named:
        if not 0 <= t <= until:
            raise ArgumentError(f"a measure asks for t = {t:g} s; runs last until {until:g} s.")
    whole = np.unique(np.concatenate([sampled, stored, named]))
    # instants that differ by rounding alone are one
    whole = whole[np.append(True, np.diff(whole) > 1e-12 * max(until, 1e-300))]
    return whole, np.unique(np.argmin(np.abs(whole[:, None] - stored), axis=0))


def _times(every: Any, until: float) -> Array:
    """A period, or instants, as instants from 0 to the last."""
    if isinstance(every, int | float):
        if not 0 < every < np.inf:
            raise ArgumentError(f"every is {every}; it must be a positive period [s].")
        if until / every > MOST_INSTANTS:
            raise ArgumentError(
                f"every is {every:g} s: {until / every:.3g} instants of a run; "
                f"{MOST_INSTANTS} are allowed."
            )
        count = int(np.floor(until / every * (1 + 1e-12)))
        return np.unique(np.append(every * np.arange(count + 1), until))
    times = np.asarray(every, dtype=float)
    if times.ndim != 1 or not np.all((times >= 0) & (times <= until)):
        raise ArgumentError(f"instants must lie from 0 to {until:g} s.")
    return np.unique(times)


def definition_of(asked: Asked, version: str, more: Mapping[str, Any]) -> Definition:
    """The study as plain data."""
    known = units(asked.recipe.mechanism)
    return Definition(
        asked.recipe.mechanism.name,
        asked.family(version),
        {name: known.get(name, "") for name in asked.recipe.varied},
        {x.name: unit_of_measure(asked, x) for x in asked.measures},
        {x.name: x.text for x in asked.measures},
        {**asked.about(), "version": version, **more},
    )


def unit_of_measure(asked: Asked, measure: Measure) -> str:
    """The unit of a measure: behind "in", or of the formulas that it takes the number of."""
    unit = _unit_of_number(asked, measure.root)
    if not measure.unit:
        return unit or ""
    place = Place(f"measure {measure.name!r}", 1, 1, measure.text, len(measure.text))
    if unit is None:
        raise ArgumentError(
            f"measure {measure.name!r} is in {measure.unit!r}, and the unit of its formula is not "
            "known.",
            hint="Divide by the unit instead: 2*max(x)/(1 mm).",
        )
    if not converts(unit_of(unit).dimension, unit_of(measure.unit).dimension):
        raise LiaisonError(
            f"measure {measure.name!r} has the unit {unit!r}, which does not convert to "
            f"{measure.unit!r}.",
            place=place,
        )
    return measure.unit


def _unit_of_number(asked: Asked, node: Node) -> str | None:
    """The unit of a part of a measure; None where it is not known."""
    if node.op == "parameter":
        return units(asked.recipe.mechanism).get(node.name)
    if node.op == "time" or node.name.startswith("time_of"):
        return "s"
    if node.formula:
        keeps = (node.name if node.op == "reduce" else node.op) in KEEPS_UNIT
        return _unit_of_values(asked, node.formula) if keeps else None
    return _common(node, lambda x: _unit_of_number(asked, x))


def _unit_of_values(asked: Asked, text: str) -> str | None:
    """The unit of a formula of a run; None where it is not known."""
    if text in asked.outputs:
        own = {x.name: x.unit for x in asked.recipe.mechanism.outputs}
        return own.get(asked.outputs[text], "")
    if not re.fullmatch(r"[\w.']+", text):
        root = read_columns(text, Place("", 1, 1, text))[0]
        return _common(root, lambda x: _unit_of_values(asked, x.formula))
    first, _, rest = text.partition(".")
    if first == "lam":
        return asked.efforts.get(rest)
    last = rest.rpartition(".")[2][:1]
    return {"energy": "J", "reactions": {"F": FORCE, "M": MOMENT}.get(last)}.get(first)


def _common(node: Node, unit: Callable[[Node], str | None]) -> str | None:
    """The unit that the parts of a sum or a choice have in common; numbers in it have any."""
    if node.op not in SAME_UNIT:
        return unit(node) if node.op == "values" else None
    known = {
        _common(x, unit) if x.op in SAME_UNIT else unit(x) for x in node.args if x.op != "number"
    }
    return known.pop() if len(known) == 1 else None


def keys_of(family: str, values: Array) -> NDArray[np.uint8]:
    """The key of each row of values: of what its run depends on."""
    base = hashlib.blake2b(bytes.fromhex(family), digest_size=KEY)
    rows = np.ascontiguousarray(values, dtype="<f8") + 0.0  # −0 is 0
    listed = []
    for row in rows:
        one = base.copy()
        one.update(row.tobytes())
        listed.append(one.digest())
    return np.frombuffer(b"".join(listed), dtype=np.uint8).reshape(-1, KEY)


# ---- making rows


@final
class Making:
    """Computes rows of a study; the machine code is made at the first call, in each process.

    Args:
        asked: what the study asks for.
        family: its digest.
        threads: of one chunk.
        lanes: whether runs march on vector lanes; where they can and it is worth it if None.
        device: where runs are made.
        version: of liaison that all workers must have.
    """

    def __init__(
        self,
        asked: Asked,
        family: str,
        threads: int,
        lanes: bool | None = None,
        device: str = CPU,
        version: str = VERSION,
    ) -> None:
        self.asked, self.family, self.threads, self.version = asked, family, threads, version
        self.lanes, self.device = lanes, device
        self._family: Family | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what was compiled."""
        own = self.asked, self.family, self.threads, self.lanes, self.device, self.version
        return Making, own

    @property
    def runs_of(self) -> Family:
        """The family, made ready."""
        if self._family is None:
            if self.family not in _READY:
                keep_ready(self.family, Family(self.asked.recipe))
            self._family = _READY[self.family]
        return self._family

    def __call__(self, values: Array, keys: NDArray[np.uint8], first: int) -> bytes:
        """The bytes of a file with the rows of some points.

        Raises:
            LiaisonError: this process has another version of liaison than the study.
        """
        if self.version != VERSION:
            raise LiaisonError(
                f"a worker has version {VERSION} of liaison, the study has {self.version}: their "
                "runs may differ.",
                hint="Install the same version for all workers.",
            )
        with _ONE_AT_A_TIME:
            return self._rows(values, keys, first)

    def _rows(self, values: Array, keys: NDArray[np.uint8], first: int) -> bytes:
        began = time.perf_counter()
        family = self.runs_of
        groups = family.alike(values)
        if len(groups) == 1:
            columns, header = self._columns(values, self.threads)
        else:
            parts = [self._columns(values[x]) for x in groups]
            columns, header = joined([x for x, _ in parts]), parts[0][1]
            order = np.concatenate(groups)
            values, keys = values[order], keys[order]
        own: Columns = {"key": keys, "value": values, **columns}
        seconds = time.perf_counter() - began
        more = {"family": self.family, "first": first, "runs": header, "seconds": seconds}
        return encoded(own, more)

    def _columns(
        self, values: Array, threads: int = 1
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Columns of the measures and of the runs."""
        asked, kept = self.asked, np.array(self.asked.kept, dtype=np.intp)
        family = self.runs_of
        runs, series = family.stored_runs(
            values, kept=kept, series=asked.series, threads=threads, lanes=self.lanes,
            device=self.device,
        )  # fmt: skip
        samples = samples_of(runs, family, asked, values)
        columns = {f"measure.{x.name}": self.measured(x, runs, samples) for x in asked.measures}
        runs = _without_formulas(replace(runs, series=series), asked)
        columns |= columns_of(runs, kept, runs.series)
        return columns, header_of(runs, kept, runs.series)

    def measured(self, measure: Measure, runs: Runs, samples: Samples) -> Array:
        """A measure of each run, in its unit; NaN where a run did not end as it should."""
        values = measure.values(samples)
        if measure.unit:
            unit = unit_of(measure.unit)
            values = values / (float(unit.factor) * np.pi**unit.pi)
        return np.where(runs.success, values, np.nan)


_ONE_AT_A_TIME = Lock()
"""Threads of a worker share the machine code of a family, and the place where it works."""

_READY: dict[str, Family] = {}
"""The family of the study under way, in this process."""


def keep_ready(name: str, family: Family) -> None:
    """Keeps a family for the study that is made next; one at a time."""
    _READY.clear()
    _READY[name] = family


def _without_formulas(runs: Runs, asked: Asked) -> Runs:
    """Runs without the outputs that measures added."""
    if not asked.outputs or "outputs" not in runs.series:
        return runs
    values, shape = runs.series["outputs"]
    count = asked.own_outputs
    series = {name: x for name, x in runs.series.items() if name != "outputs"}
    if count:
        own = replace(
            shape, values=shape.values[..., :count], unit=tuple(shape.unit)[:count],
            axes={"output": shape.axes["output"][:count]},
        )  # fmt: skip
        series["outputs"] = values[..., :count], own
    labels = dict(runs.labels)
    if "outputs" in labels:
        labels["outputs"] = labels["outputs"][:count]
    return replace(runs, series=series, labels=labels)


def samples_of(runs: Runs, family: Family, asked: Asked, values: Array) -> Samples:
    """Values along runs, with the end of each that an event stopped between two instants."""
    there = np.arange(len(runs.t)) < runs.recorded[:, None]
    t = np.where(there, runs.t, np.nan)
    known = {name: k for k, name in enumerate(_output_names(runs))}
    is_stopped = np.array([x == STOPPED for x in runs.statuses], dtype=bool)
    ends = np.where(
        is_stopped & (runs.end_t > np.nanmax(t, axis=1, initial=-1)), runs.end_t, np.nan
    )
    has_ends = bool(np.any(np.isfinite(ends)))
    states = _States(runs, family, asked, values)
    last = runs.end_t, runs.end_q, runs.end_v
    at_end = states.at(last, np.isfinite(ends)) if has_ends else None

    def recorded(text: str) -> Array:
        if text not in asked.outputs:
            return runs.columns(text)[text][1]
        return runs.series["outputs"][0][:, :, known[asked.outputs[text]]]

    def value(text: str) -> Array:
        column = _of_parts(text, asked, recorded)
        return column if at_end is None else _with_end(column, at_end(text), runs.recorded)

    def instants(name: str) -> list[Array]:
        return [np.array([x.t for x in listed if x.name == name]) for listed in runs.events]

    def at_event(text: str, name: str) -> Array:
        firsts = [next((x for x in listed if x.name == name), None) for listed in runs.events]
        t = np.array([0.0 if x is None else x.t for x in firsts])
        q = np.array([runs.end_q[k] if x is None else x.q for k, x in enumerate(firsts)])
        v = np.array([runs.end_v[k] if x is None else x.v for k, x in enumerate(firsts)])
        return states.at((t, q, v), np.array([x is not None for x in firsts], dtype=bool))(text)

    def parameter(name: str) -> Array:
        names = [x.name for x in runs.labels.get("p", ())]
        return runs.parameters[:, names.index(name)]

    return Samples(_with_end(t, ends, runs.recorded) if has_ends else t, value, at_event,
                   instants, parameter)  # fmt: skip


def _output_names(runs: Runs) -> tuple[str, ...]:
    return runs.series["outputs"][1].axes["output"] if "outputs" in runs.series else ()


def _with_end(column: Array, ends: Array, recorded: NDArray[np.int64]) -> Array:
    """A column with one more instant, that of the end, where there is one."""
    whole = np.column_stack([column, np.full(len(column), np.nan)])
    rows = np.flatnonzero(np.isfinite(ends))
    whole[rows, recorded[rows]] = ends[rows]
    return whole


def _of_parts(text: str, asked: Asked, value: Callable[[str], Array]) -> Array:
    """The values of a formula; of one with columns in it from those of its parts."""
    if text in asked.outputs or re.fullmatch(r"[\w.']+", text):
        return value(text)
    return np.asarray(along(read_columns(text, Place("", 1, 1, text))[0], value))


@final
@dataclass(frozen=True, slots=True)
class _States:
    """Formulas and columns at one state of each run: where it ends, or at an event."""

    runs: Runs
    family: Family
    asked: Asked
    values: Array

    def at(
        self, states: tuple[Array, Array, Array], there: NDArray[np.bool_]
    ) -> Callable[[str], Array]:
        """Values by formula, shape (runs,), at t, q and v; NaN where a run is not there."""
        u = self._inputs()

        def one(text: str) -> Array:
            if text in self.asked.outputs:
                names = list(_output_names(self.runs))
                out = self._outputs(states, u)[names.index(self.asked.outputs[text])]
                return np.where(there, out, np.nan)
            series = self.family.at_states(self.runs, states, u, there)
            if text.partition(".")[0] not in series.series:  # contacts are known while runs go on
                return np.full(len(there), np.nan)
            return series.columns(text)[text][1][:, 0]

        return lambda text: _of_parts(text, self.asked, one)

    def _inputs(self) -> Array:
        """Inputs of each run, shape (runs, inputs)."""
        family = self.family
        if family.plan.inputs.formulas:
            raise ArgumentError(
                "measures at events are not evaluated where inputs are formulas.",
                hint="Write the formula into the text of the mechanism.",
            )
        u = np.repeat(family.held[None, :], len(self.values), axis=0)
        for name, x in family.recipe.inputs(self.values).items():
            u[:, [y.name for y in self.runs.labels["u"]].index(name)] = x
        return u

    def _outputs(self, states: tuple[Array, Array, Array], u: Array) -> Array:
        t, q, v = states
        q, v, u, p = (np.ascontiguousarray(x.T) for x in (q, v, u, self.runs.parameters))
        t = np.ascontiguousarray(t)
        return np.asarray(self.family.kernel.batch("outputs", t, q=q, v=v, u=u, p=p))


# ---- opening again


def asked_again(about: Mapping[str, Any]) -> Asked:
    """What a stored study asks for."""
    options = dict(about["options"])
    if isinstance(options.get("projection"), dict):
        options["projection"] = Projection(**options["projection"])
    mechanism = read_lsd(about["lsd"], "study")
    recipe = Recipe(
        mechanism, tuple(about["varied"]), about["until"], about["start"], about["guess"],
        about["parameters"], options, tuple(about["reference"]),
    )  # fmt: skip
    return Asked(
        recipe, read_measures(about["measures"]), about["outputs"], tuple(about["kept"]),
        tuple(about["series"]), about["lsd"], about["own_outputs"],
        device=about.get("device", CPU),
    )  # fmt: skip


def run_again(definition: Definition, values: Array) -> Trajectory:
    """One run of a study, at all instants of its measures; on the processor in any case."""
    asked = asked_again(definition.about)
    family = Family(asked.recipe)
    return _without_formulas(family.runs(values[None, :]), asked)[0]


def live_page(definition: Definition, path: Path) -> None:
    """A live page of the mechanism of a study; values behind # in its address are those it shows.

    Raises:
        SimulationError: runs of this mechanism need Python between their steps.
    """
    from liaison.verbs.motion.page import page
    from liaison.verbs.motion.simulate import simulate

    asked = asked_again(definition.about)
    recipe = asked.recipe
    kinds = zip(recipe.varied, recipe.kinds, recipe.reference, strict=True)
    values = {x: value for x, kind, value in kinds if kind == PARAMETER}
    mechanism = with_values(recipe.mechanism, {**recipe.parameters, **values})
    mechanism = with_starts(mechanism, recipe.start, recipe.guess)
    count = asked.own_outputs
    mechanism = replace(mechanism, outputs=mechanism.outputs[:count])
    kept = {x: recipe.options[x] for x in ("inputs", "impacts") if recipe.options.get(x)}
    run = simulate(mechanism, until=recipe.until, every=recipe.until / SAMPLES, **kept)
    page(run, mechanism, path, live=True)


def nominal(mechanism: Mechanism, name: str, start: Mapping[str, float]) -> float | None:
    """The value of a parameter or an input of a mechanism, or where a coordinate starts."""
    if name in start:
        return float(start[name])
    if kind_of_value(mechanism, name) == PARAMETER:
        (value,) = (x.value for x in mechanism.parameters if x.name == name)
    else:
        listed = [x.default for x in mechanism.inputs if x.name == name]
        listed += [x.value for x in mechanism.starts if x.label == name]
        value = listed[0] if listed else None
    return None if value is None else number(value)
