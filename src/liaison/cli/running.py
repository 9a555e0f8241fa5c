"""A run as the command line asks for it: options checked, a bar while it takes long.

Progress of a run on the terminal.

Public names: run_options, series_of, drawable, ran, noted, leave_if_suspect, SUSPECTED,
event_facts, Bar.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import typer

from liaison.errors import LiaisonError, ModelError
from liaison.numeric.progress import is_on
from liaison.simulation.plan.options import DEFAULT_SERIES, RunOptions, meanings
from liaison.simulation.plan.settings import INSTANTS, Settings
from liaison.simulation.record.series import EventRecord
from liaison.simulation.record.trajectory import SUSPECT, Trajectory
from liaison.simulation.steps.rungekutta import TABLEAUX
from liaison.verbs.motion import simulate as verb

from .options import RunOption
from .values import Request, check_names, check_word, seconds


@contextmanager
def noted() -> Iterator[None]:
    """Prints an error of the block: it comes while another one is on its way."""
    try:
        yield
    except (LiaisonError, OSError) as error:
        print(error, file=sys.stderr)


class Bar:
    """Progress of a run that takes over a second: a bar, where stderr is a terminal."""

    PATIENCE = 1.0  # [s]

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Any = None
        self._is_shown = is_on() and sys.stderr.isatty()

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float) -> None:
        """Update with the fraction of the run that is done, 0 to 1."""
        if not self._is_shown or time.monotonic() - self._begin < self.PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
        self._bar.update(self._bar.task_ids[0], completed=fraction)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    """A bar that leaves no trace when it stops."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task("simulating", total=1.0)
    bar.start()
    return bar


MOST_STEPS = Settings().max_steps
DRAWN_STEPS = 400

RANGES = {"spectral_radius": (0.0, 1.0), "theta": (0.5, 1.0), "facets": (3.0, math.inf)}
"""Least and greatest value of options that one method alone takes."""

MORE_SERIES = ("reactions", "lam", "momentum", "accelerations", "motions")
"""Series that are evaluated where asked for."""


def run_options(until: str, run: RunOption = None) -> tuple[float, RunOptions]:
    """End time [s] and options of a run; raises at once the errors that the run would raise.

    Args:
        until: as written.
        run: options as written, by name.
    """
    end = seconds("--until", until)
    chosen = {name: _value(name, text) for name, text in (run or {}).items()}
    if "step" in chosen and not chosen.keys().isdisjoint(("rtol", "atol", "max_step")):
        message = "a fixed step has no tolerance; give --step, or --rtol, --atol and --max-step."
        raise typer.BadParameter(message, param_hint="--step")
    most = chosen.get("max_steps", MOST_STEPS)
    _check_count("step", end, chosen, most, "take longer steps, or give --max-steps")
    _check_count("every", end, chosen, INSTANTS, "record less often")
    _check_method(chosen)
    return end, RunOptions(**chosen)


def _value(name: str, text: Any) -> Any:
    """A time in seconds, or None; raises an error unless it is positive."""
    option = _option(name)
    if meanings()[name].unit == "s":
        return seconds(option, text)
    if not isinstance(text, str | bool) and name not in RANGES and not text > 0:
        raise typer.BadParameter(f"{text} is not positive.", param_hint=option)
    return text


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_count(name: str, end: float, chosen: Mapping[str, Any], most: int, advice: str) -> None:
    """Raises at once the errors that a run would raise after a long time."""
    count = end / chosen.get(name, math.inf)
    if count > most * (1 + 1e-9):
        message = (
            f"every {chosen[name]:g} s makes {count:.3g} until {end:g} s, and a run "
            f"has {most:,} at most: {advice}."
        )
        raise typer.BadParameter(message, param_hint=_option(name))


def _check_method(chosen: Mapping[str, Any]) -> None:
    """Raises an error for an unknown method, and for options that it does not take."""
    method = chosen.get("method")
    for name in (*RANGES, "impacts"):
        if name in chosen and (wrong := _misfit(name, chosen[name], method)):
            raise typer.BadParameter(f"{chosen[name]}: {wrong}", param_hint=_option(name))
    if method is None:
        return
    check_word("--method", method, TABLEAUX)
    if "step" not in chosen and not TABLEAUX[method].is_adaptive:
        raise typer.BadParameter(f"{method} needs a fixed --step.", param_hint="--method")


def _misfit(name: str, value: Any, method: str | None) -> str:
    """Why an option does not fit the method; empty where it does."""
    if name == "impacts":
        from liaison.contacts.events.one_sided import IMPACT_LAWS

        check_word("--impacts", value, IMPACT_LAWS)
        return "--method moreau has its own law of impacts." if method == "moreau" else ""
    owner, (least, most) = meanings()[name].of, RANGES[name]
    if method == owner and least <= value <= most:
        return ""
    top = "or more" if most == math.inf else f"to {most:g}"
    return f"it is {least:g} {top}, and for --method {owner}."


def drawable(plot: Path | None, end: float, options: RunOptions) -> RunOptions:
    """Steps short enough for curves, where every step is recorded and a plot is asked for.

    Both sides of an impact are recorded then, and forces and energies between impacts.
    """
    chosen = options.chosen()
    if plot is None or not chosen.keys().isdisjoint(("step", "every", "max_steps", "max_step")):
        return options
    return replace(options, max_step=end / DRAWN_STEPS)


SUSPECTED = 4
"""Exit status of a command whose run is whole and suspect."""


def leave_if_suspect(run: Trajectory) -> None:
    """Ends the command with its own exit status, after all is written, where a run is suspect."""
    if run.status == SUSPECT:
        print(f"suspect: {run.message}", file=sys.stderr)
        raise typer.Exit(SUSPECTED)


def series_of(names: list[str] | None, labels: list[str] | None) -> tuple[str, ...]:
    """What is evaluated besides the default: what is asked for, what a label is of."""
    check_names("--series", "series", names or (), (*DEFAULT_SERIES, *MORE_SERIES))
    begun = [label.partition(".")[0] for label in labels or ()]
    begun += ["accelerations"] * any(label.endswith("''") for label in labels or ())
    return (*(names or ()), *(x for x in begun if x in MORE_SERIES))


def ran(
    request: Request,
    end: float,
    options: RunOptions,
    *,
    invariants: bool = False,
    back_end: str = "llvm",
) -> Trajectory:
    """The run, with a bar on the terminal when it takes long."""
    if back_end != "llvm":
        from liaison.program.back_ends import BACK_ENDS

        check_word("--back-end", back_end, BACK_ENDS.compilers)
    for x in request.mechanism.parameters:
        if x.value is None:
            unit = f" [{x.unit}]" if x.unit else ""
            raise ModelError(
                f"parameter {x.name!r}{unit} has no value; a run needs one.",
                hint=f"Give it: --set {x.name}=VALUE",
                place=x.place,
            )
    with Bar() as bar:
        whole = replace(options, inputs=request.inputs, progress=bar)
        return verb.simulate(
            request.mechanism, until=end, start=request.start, invariants=invariants,
            back_end=back_end, options=whole,
        )  # fmt: skip


def event_facts(run: Trajectory) -> list[dict[str, Any]]:
    """The events of a run as plain data."""
    return [_event_facts(run, x) for x in run.events]


def _event_facts(run: Trajectory, record: EventRecord) -> dict[str, Any]:
    """Events with their times; at impacts, velocities before and after."""
    facts: dict[str, Any] = {"name": record.name, "t": record.t}
    if record.what:
        facts["what"] = record.what
    if record.speed is not None:
        facts["speed"] = record.speed
    if record.together > 1:
        facts["together"] = record.together
    if record.what and record.before is not None:
        names = [label.name for label in run.labels["v"]]
        facts["before"] = dict(zip(names, record.before.tolist(), strict=True))
        facts["after"] = dict(zip(names, record.v.tolist(), strict=True))
    return facts
