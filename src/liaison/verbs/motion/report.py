"""Write a report: picture, joints, reactions, plots, proofs.

Public names: report.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from liaison.analyse.along.drives import DriveAlong, drives_along, is_effort, with_efforts
from liaison.analyse.along.verify import Verification
from liaison.arguments import checked
from liaison.display.page import Page
from liaison.display.report.design import (
    equations_section,
    mechanism_section,
    mobility_section,
)
from liaison.display.report.motion import (
    drives_section,
    energy_section,
    events_section,
    motion_section,
    reaction_sizes,
    reactions_section,
    versions_section,
)
from liaison.display.report.record import SECTIONS, Report, Section
from liaison.errors import ArgumentError, LiaisonError, ModelError, NamingError, SimulationError
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import drawn, is_scene
from liaison.numeric.progress import lasting
from liaison.simulation.plan.options import DEFAULT_SERIES, RunOptions
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.analyse.verify import verify
from liaison.verbs.derive.readable import readable
from liaison.verbs.freedoms.mobility import mobility
from liaison.verbs.given import Given, is_conservative, mechanism_of, with_starts, with_values
from liaison.verbs.motion.simulate import simulate
from liaison.view.curves import Line, curves
from liaison.view.pdf import to_pdf
from liaison.view.plot import jumping, quantity
from liaison.view.still import positions, still

INSTANTS = 400
"""Recorded in a run of a report, where no period is given."""

LIMIT = 20.0
"""Seconds that the proof of the degrees of freedom may take."""

MORE_SERIES = ("reactions", "lam", "accelerations")
"""Series that a report needs besides those of every run."""

MARKS = 40
"""Events marked in plots, at most."""

T = TypeVar("T")


@lasting("display")
@checked
def report(
    given: Given,
    path: str | os.PathLike[str] | None = None,
    *,
    until: float = 2.0,
    every: float | Sequence[float] | None = None,
    leave_out: Sequence[str] = (),
    title: str = "",
    author: str = "",
    start: Mapping[str, float] | None = None,
    guess: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    options: RunOptions | None = None,
) -> Report:
    """One page on a mechanism: picture, joints, degrees of freedom, reactions, drives, equations.

    What cannot be computed is named on the page, with the reason.

    Args:
        given: a mechanism, or the path of its text.
        path: the file to write, .html or .pdf (printed by Chromium); nothing is written if not
            given, and `report.html()` is the document.
        until: the last instant of the run that is reported [s].
        every: a period of recorded instants [s], or instants; 400 of them if not given.
        leave_out: sections, by their keys: picture, mechanism, mobility, motion, reactions, drives,
            energy, events, equations, versions.
        title: of the page; the mechanism's name if not given.
        author: a line below the title.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        guess: positions and rates near which to assemble.
        parameters: values by name, in SI.
        options: of the run.

    Raises:
        NamingError: an unknown section.
        ArgumentError: a file of another format.

    Example:
        >>> import liaison
        >>> liaison.report("examples/pendulum.lsd", until=0.2, leave_out=["equations", "energy"])
        <Report pendulum: 6 sections>
    """
    target = None if path is None else Path(path)
    _check(target, leave_out)
    mechanism = with_starts(with_values(mechanism_of(given), parameters or {}), start or {}, guess)
    attempt = _Attempts()
    asked = options or RunOptions()
    period = every if every is not None else asked.every
    chosen = replace(asked, every=until / INSTANTS if period is None else period)
    run = attempt.run(mechanism, until, chosen)
    makers = _makers(attempt, mechanism, run, _versions(mechanism))
    kept = (make() for key, make in makers.items() if key not in leave_out)
    sections = tuple(x for x in kept if x is not None)
    page = Report(mechanism.name, title or mechanism.name, author, sections, attempt.reasons())
    if target is not None:
        _write(page, target)
    return page


def _check(target: Path | None, leave_out: Sequence[str]) -> None:
    for key in leave_out:
        if key not in SECTIONS:
            raise NamingError.unknown("section of a report", key, SECTIONS)
    if target is not None and target.suffix.lower() not in (".html", ".htm", ".pdf"):
        raise ArgumentError(
            f"a report cannot be written as {target.name!r}: the name must end in .html or .pdf."
        )


def _write(page: Report, target: Path) -> None:
    if target.suffix.lower() == ".pdf":
        to_pdf(page.html(), target)
    else:
        write_file(target, page.html())


def _versions(mechanism: Mechanism) -> dict[str, str]:
    """Of what the numbers were computed with, and the digest of the text."""
    known = {
        "liaison": version("liaison-mbd"),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }
    source = Path(mechanism.place.file) if mechanism.place else None
    if source is not None and source.is_file():
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        known |= {"file": source.name, "SHA-256": digest}
    return known


@final
class _Attempts:
    """Computations that may fail: what failed is kept, with the reason, and the report goes on."""

    def __init__(self) -> None:
        self._failed: dict[str, list[str]] = {}

    def __call__(self, what: str, compute: Callable[[], T]) -> T | None:
        """The result; None where it failed."""
        try:
            return compute()
        except LiaisonError as error:
            self._failed.setdefault(str(error), []).append(what)
            return None

    def run(self, mechanism: Mechanism, until: float, options: RunOptions) -> Trajectory | None:
        """The run; as far as it came where it failed."""
        more = () if is_scene(mechanism) else MORE_SERIES
        series = tuple(dict.fromkeys((*DEFAULT_SERIES, *(options.series or ()), *more)))
        moved = mechanism if is_scene(mechanism) else with_efforts(mechanism)
        try:
            _check_values(mechanism)
            return simulate(moved, until=until, options=replace(options, series=series))
        except SimulationError as error:
            self._failed.setdefault(str(error), []).append("motion")
            partial = error.trajectory
            return partial if partial is not None and len(partial) > 1 else None
        except LiaisonError as error:
            self._failed.setdefault(str(error), []).append("motion")
            return None

    def reasons(self) -> tuple[str, ...]:
        """A sentence for each reason, with what it prevented."""
        return tuple(
            f"Not complete: {', '.join(what)}. {why}" for why, what in self._failed.items()
        )


def _check_values(mechanism: Mechanism) -> None:
    for x in mechanism.parameters:
        if x.value is None:
            unit = f" [{x.unit}]" if x.unit else ""
            raise ModelError(
                f"parameter {x.name!r}{unit} has no value; a run needs one.",
                hint="Give it: parameters={…} in Python, --set NAME=VALUE on the command line.",
                place=x.place,
            )


def _makers(
    attempt: _Attempts, mechanism: Mechanism, run: Trajectory | None, versions: Mapping[str, str]
) -> dict[str, Callable[[], Section | None]]:
    """Key of every section -> what makes it; None where there is nothing to show."""
    alone: dict[str, Callable[[], Section | None]] = {
        "mechanism": lambda: mechanism_section(mechanism),
        "mobility": lambda: attempt("degrees of freedom", lambda: _mobility(mechanism)),
        "equations": lambda: attempt(
            "equations", lambda: equations_section(readable(mechanism, integrals=False))
        ),
        "versions": lambda: versions_section(versions, run),
    }
    if run is not None:
        alone |= _along(attempt, mechanism, run)
    return {key: alone[key] for key in SECTIONS if key in alone}


def _mobility(mechanism: Mechanism) -> Section:
    return mobility_section(mobility(mechanism, time_limit=LIMIT))


def _along(
    attempt: _Attempts, mechanism: Mechanism, run: Trajectory
) -> dict[str, Callable[[], Section | None]]:
    """The sections on a run."""
    theorems, why = _verified(mechanism, run)
    moved = with_efforts(mechanism)
    powers = {} if theorems is None else _powers(theorems, run)
    works = {} if theorems is None else theorems.work
    drives = [] if is_scene(mechanism) else drives_along(moved, run, powers, works)
    return {
        "picture": lambda: attempt("picture", lambda: _picture(mechanism, run)),
        "motion": lambda: motion_section(run, _motion_plots(run)),
        "reactions": lambda: _reactions(run),
        "drives": lambda: _drives(run, drives),
        "energy": lambda: energy_section(
            run, is_conservative(mechanism), theorems, _energy_plots(run), why
        ),
        "events": lambda: events_section(run) if run.events else None,
    }


def _verified(mechanism: Mechanism, run: Trajectory) -> tuple[Verification | None, str]:
    """The theorems along the run, or why they were not checked."""
    try:
        return verify(with_efforts(mechanism), run), ""
    except LiaisonError as error:
        return None, str(error)


def _powers(theorems: Verification, run: Trajectory) -> dict[str, Any]:
    """Power of every load at the instants of the run [W]."""
    names = next(iter(theorems.powers.axes.values()))
    if len(theorems.powers.values) != len(run):
        return {}
    return {name: theorems.powers.values[:, k] for k, name in enumerate(names)}


def _picture(mechanism: Mechanism, run: Trajectory) -> Section | None:
    if "poses" not in run.series:
        return None
    chosen = positions(run)
    times = ", ".join(f"{run.t[k]:.4g}" for k in sorted(chosen[1:]))
    caption = f"At the start, t = {run.t[0]:.4g} s"
    caption += f"; pale: at {times} s; thin lines: paths of joints" if times else "; nothing moves"
    svg = still(run, drawn(mechanism), chosen)
    facts = {"instants": [float(run.t[k]) for k in chosen]}
    return Section("picture", Page(caption), (svg,), facts)


def _marks(run: Trajectory) -> list[float]:
    return [x.t for x in run.events][:MARKS]


def _by_unit(run: Trajectory, patterns: Sequence[str]) -> list[str]:
    """Plots of columns, one for each unit."""
    groups: dict[str, list[Line]] = {}
    for label, values in run.columns(*patterns).values():
        t, y = jumping(run, label.name, values)
        name = label.name.removeprefix("outputs.")
        groups.setdefault(label.unit, []).append(Line(name, t, y))
    return [curves(lines, _axis(lines, unit), unit, _marks(run)) for unit, lines in groups.items()]


def _axis(lines: Sequence[Line], unit: str) -> str:
    """What an axis is called: the curve where it is alone, else the quantity."""
    return lines[0].name if len(lines) == 1 else quantity(unit) or "value"


def _motion_plots(run: Trajectory) -> list[str]:
    outputs = [f"outputs.{x}" for x in _outputs(run)]
    names = [x.name for x in run.labels["q"]]
    plots = _by_unit(run, names) if names else []
    return plots + (_by_unit(run, outputs) if outputs else [])


def _outputs(run: Trajectory) -> list[str]:
    """Names of the outputs of the description."""
    if "outputs" not in run.series:
        return []
    names = next(iter(run.series["outputs"].axes.values()))
    return [x for x in names if not is_effort(x)]


def _reactions(run: Trajectory) -> Section | None:
    if "reactions" not in run.series or not run.series["reactions"].values.size:
        return None
    sizes = reaction_sizes(run)
    plots = []
    for name, unit in (("force", "N"), ("moment", "N·m")):
        lines = [Line(joint, run.t, x[name]) for joint, x in sizes.items()]
        seen = [x for x in lines if np.nan_to_num(x.values).any()]
        plots.append(curves(seen, name, unit, _marks(run)))
    return reactions_section(run, plots)


def _drives(run: Trajectory, drives: Sequence[DriveAlong]) -> Section | None:
    return drives_section(run, drives, _drive_plots(run, drives)) if drives else None


def _drive_plots(run: Trajectory, drives: Sequence[DriveAlong]) -> list[str]:
    plots = []
    for unit in dict.fromkeys(x.unit for x in drives):
        lines = [Line(x.name, run.t, x.effort) for x in drives if x.unit == unit]
        plots.append(curves(lines, "torque" if unit == "N·m" else "force", unit, _marks(run)))
    lines = [Line(x.name, run.t, x.power) for x in drives if x.power is not None]
    return [*plots, curves(lines, "power", "W", _marks(run))]


def _energy_plots(run: Trajectory) -> list[str]:
    T, U = run.series["energy"].values.T
    lines = [Line("T", run.t, T), Line("U", run.t, U), Line("T + U", run.t, T + U)]
    return [curves(lines, "energy", "J", _marks(run))]
