"""RunOptions: how a mechanism is to be run, as one record and as typed keywords.

Every verb that runs a mechanism takes these options as keywords, or together as one record:

    fine = RunOptions(rtol=1e-10, atol=1e-12, every=0.01)
    simulate("crank.lsd", until=2, options=fine)
    simulate("crank.lsd", until=2, options=fine, every=0.1)          a keyword goes before

The fields of `RunOptions` are the one declaration of name, meaning and unit; the command line makes
its options of them. The keywords repeat names and types for type checkers, and a test holds them
to the record. An option that is None is not given: the run then takes its default. Times are
numbers [s], or texts with a unit: every="10 ms".

Public names: RunOptions, StepKeywords, RunKeywords, BatchKeywords, Meaning, meanings, run_options,
DEFAULT_SERIES, OF_STEPS, OF_RUNS, OF_BATCHES, OF_SCENES.
"""

# ruff: noqa: RUF009 (each call makes a field of its own)

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, final

from liaison.errors import ArgumentError, OptionError, warn_renamed
from liaison.lazy import Brief
from liaison.units import si_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from liaison.numeric import Array
    from liaison.simulation.steps.projection import Projection


@final
@dataclass(frozen=True, slots=True)
class Meaning:
    """Meaning of an option.

    Attributes:
        text: one sentence, with the default.
        unit: of a number; "s" of a time.
        of: the method, or the kind of run, that alone takes the option; "" if all do.
    """

    text: str
    unit: str = ""
    of: str = ""


def _option(text: str, unit: str = "", of: str = "") -> Any:
    return field(default=None, metadata={"meaning": Meaning(text, unit, of)})


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunOptions(Brief):
    """How a mechanism is to be run. None: not given, the run takes its default.

    Attributes:
        step: fixed step [s]; without it the step follows from rtol and atol.
        method: "tsitouras" (the default), "dormand-prince", "radau" for stiff systems; with a fixed
            step also "rk4" (the default then), "generalized-alpha" for stiff systems, "gauss4",
            "rattle" and others for long runs (docs/theory/integrators.md), and "moreau" through
            contacts (docs/theory/time_stepping.md).
        rtol: error allowed a step, relative to each coordinate; 1e-8.
        atol: the same, absolute, in the coordinate's SI unit; 1e-10, which of mechanisms with
            contacts below 1 mm or above 1 km is in units of their size.
        max_step: longest step of an adaptive method [s].
        max_steps: steps after which the run ends with an error; 10 million.
        projection: when and how a state is brought back to its closures; see `Projection`.
        residual: largest |γ − G v̇|, relative to 1 + max |v̇|, of the generated solution, which the
            pivoted one takes over from; 1e-8.
        spectral_radius: of "generalized-alpha", 0 to 1: part of a vibration too fast for the step
            that is left after one step; 0.8.
        impacts: law of impacts: "energetic" (the default), "newton", "poisson", "moreau",
            "stronge" or "sequential" (one contact after the other: Newton's cradle).
        theta: of "moreau", ½ to 1: where in a step forces are evaluated; ½.
        facets: of "moreau", 3 or more: facets of polyhedral friction cones; round cones without it.
        watch: keep the balance of T + U against the work of all that acts, and end with the status
            "suspect" where it is off by more than steps and tolerances explain
            (docs/theory/energy.md); True.
        every: what to record: a period [s], instants, or None for every step.
        inputs: input -> number, formula of `time` and coordinates, table (times, values), or
            controller (period, function of t and State).
        stop: what ends the run: names of events, formulas that change sign, {label: value}.
        series: what to evaluate along the run besides energy, outputs, poses, closure and contacts:
            reactions (moment and force on each joint's successor, in the axes of its marker
            and at its origin; elsewhere by `run.reaction(…)`), lam (multipliers; of an imposed
            motion its drive), accelerations, motions (of bodies) and momentum.
        only_series: what to evaluate, and nothing else; () for states alone.
        time_limit: seconds of wall clock after which the run ends.
        progress: called with the fraction done, 0 to 1, about every 0.1 s.
        on_failure: "raise" (the default), or "return" what was computed.
        tolerance: of scenes: residual beside the strongest impulse, of more than twenty contacts;
            1e-6.
        depth: of scenes: penetration that is not corrected, beside the smallest radius; 1e-9.
        sweeps: of scenes: over all contacts, at most, in one problem; 1000.
        events: of scenes: record the events of contacts; True.
        threads: of batches: how many; all cores.
        lanes: of batches: whether runs march side by side on vector lanes, to the same bits; where
            they can (fixed explicit steps, no events, no contacts) and it is worth it.

    Example:
        >>> import liaison
        >>> options = liaison.RunOptions(method="rk4", step="1 ms")
        >>> liaison.simulate("examples/pendulum.lsd", until=0.1, options=options).counts["steps"]
        100
    """

    step: float | str | None = _option("Fixed step size; adaptive without it.", "s")
    method: str | None = _option(
        "tsitouras, dormand-prince, radau (stiff); with --step also rk4 (the default then), "
        "gauss4, rattle, generalized-alpha, moreau (contacts), …: a wrong name lists them all."
    )
    rtol: float | None = _option("Relative tolerance of the adaptive method; 1e-8.")
    atol: float | None = _option("Absolute tolerance of the adaptive method; 1e-10.")
    max_step: float | str | None = _option("Longest step of the adaptive method.", "s")
    max_steps: int | None = _option("Largest number of steps; 10 million by default.")
    projection: Projection | None = _option("Tolerances of the closures.")
    residual: float | None = _option("Largest residual of the constrained system; 1e-8.")
    spectral_radius: float | None = _option(
        "generalized-alpha only: spectral radius at infinity, 0 to 1; 0.8.", of="generalized-alpha"
    )
    impacts: str | None = _option(
        "Impact law: energetic (the default), newton, poisson, moreau, stronge, sequential."
    )
    theta: float | None = _option(
        "moreau only: θ of the step, where forces are evaluated; 0.5 (the default) to 1.",
        of="moreau",
    )
    facets: int | None = _option(
        "moreau only: number of facets of polyhedral friction cones; round without it.",
        of="moreau",
    )
    watch: bool | None = _option("Keep the balance of energy; on by default.")
    every: float | str | Sequence[float | str] | Array | None = _option(
        "Record at this interval.", "s"
    )
    inputs: Mapping[str, Any] | None = _option("Inputs by name: numbers, formulas, tables.")
    stop: Any = _option("What ends the run: events, formulas, values of labels.")
    series: Sequence[str] | None = _option(
        "Further series to save: reactions, lam, momentum, accelerations or motions."
    )
    only_series: Sequence[str] | None = _option("What to evaluate, and nothing else.")
    time_limit: float | str | None = _option("Longest wall-clock time.", "s")
    progress: Callable[[float], None] | None = _option("Called with the fraction done.")
    on_failure: Literal["raise", "return"] | None = _option("Raise, or return the partial run.")
    tolerance: float | None = _option("Residual of impulses; 1e-6.", of="scenes")
    depth: float | None = _option("Penetration that is not corrected; 1e-9.", of="scenes")
    sweeps: int | None = _option("Sweeps over all contacts, at most; 1000.", of="scenes")
    events: bool | None = _option("Record the events of contacts.", of="scenes")
    threads: int | None = _option("How many threads; all cores if not given.", of="batches")
    lanes: bool | None = _option(
        "March runs side by side on vector lanes; where they can if not given.", of="batches"
    )

    def chosen(self) -> dict[str, Any]:
        """The options that are set, by name."""
        return {x: y for x in OF_BATCHES if (y := getattr(self, x)) is not None}

    def given(self) -> dict[str, Any]:
        """Deprecated name of `chosen`."""
        warn_renamed("RunOptions.given", "RunOptions.chosen")
        return self.chosen()


class StepKeywords(TypedDict, total=False):
    """How steps are taken: options of `stepper`, explained at `RunOptions`."""

    step: float | str | None
    method: str | None
    rtol: float | None
    atol: float | None
    max_step: float | str | None
    max_steps: int | None
    projection: Projection | None
    residual: float | None
    spectral_radius: float | None
    impacts: str | None
    theta: float | None
    facets: int | None
    watch: bool | None


class RunKeywords(StepKeywords, total=False):
    """How a run is made and recorded: options of `simulate`, explained at `RunOptions`."""

    every: float | str | Sequence[float | str] | Array | None
    inputs: Mapping[str, Any] | None
    stop: Any
    series: Sequence[str] | None
    only_series: Sequence[str] | None
    time_limit: float | str | None
    progress: Callable[[float], None] | None
    on_failure: Literal["raise", "return"] | None
    tolerance: float | None
    depth: float | None
    sweeps: int | None
    events: bool | None


class BatchKeywords(RunKeywords, total=False):
    """How many runs are made: options of `simulate_batch`, explained at `RunOptions`."""

    threads: int | None
    lanes: bool | None


DEFAULT_SERIES = ("energy", "outputs", "poses", "closure", "contacts")
"""Entries evaluated at the recorded states of a run, where the program has them."""

OF_STEPS = tuple(StepKeywords.__annotations__)
OF_RUNS = tuple(RunKeywords.__annotations__)
OF_BATCHES = tuple(BatchKeywords.__annotations__)
"""Names of the options that each kind of verb takes."""


def meanings() -> dict[str, Meaning]:
    """The meaning of every option, by its name."""
    return {x.name: x.metadata["meaning"] for x in fields(RunOptions)}


TIMES = frozenset(name for name, meaning in meanings().items() if meaning.unit == "s")
"""Names of the options that are times."""

OF_SCENES = tuple(name for name, meaning in meanings().items() if meaning.of == "scenes")
"""Names of the options that scenes of bodies that collide take alone."""


ARGUMENTS = ("until", "start", "guess", "parameters")
"""What verbs of runs take besides their options."""


def run_options(
    verb: str,
    options: RunOptions | None,
    keywords: Mapping[str, Any],
    taken: Collection[str] = OF_RUNS,
    series: Sequence[str] = DEFAULT_SERIES,
) -> dict[str, Any]:
    """The options of a run that are given, by name, times in seconds; keywords come first.

    What the record holds and the verb does not take is left aside, so that one record may serve
    several verbs.

    Args:
        verb: that takes them, for the message.
        options: the record.
        keywords: given besides.
        taken: names that the verb takes.
        series: evaluated by default, to which the option `series` adds.

    Raises:
        OptionError: a keyword that the verb does not take; proposes the nearest one.
        ArgumentError: `series` and `only_series` are both there.
    """
    OptionError.check(verb, keywords, taken, named=ARGUMENTS)
    chosen = {name: value for name, value in keywords.items() if value is not None}
    if options is not None:
        chosen = {name: x for name, x in options.chosen().items() if name in taken} | chosen
    times = {
        name: si_values(chosen[name], "s", f"{verb}: {name}") for name in TIMES & chosen.keys()
    }
    evaluated = _series_of(verb, chosen, series)
    left = {name: x for name, x in chosen.items() if name not in ("series", "only_series")}
    return left | times | evaluated


def _series_of(
    verb: str, chosen: Mapping[str, Any], defaults: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """All that is to be evaluated, as `series`; nothing where it is left to the run."""
    both = (chosen.get("series"), chosen.get("only_series"))
    more, only = ((x,) if isinstance(x, str) else x for x in both)
    if more is not None and only is not None:
        raise ArgumentError(
            f"{verb}: series is {more!r} and only_series is {only!r}; give one of them.",
            hint="series adds to what is evaluated by default, only_series takes its place.",
        )
    if only is not None:
        return {"series": tuple(only)}
    return {} if more is None else {"series": tuple(dict.fromkeys((*defaults, *more)))}
