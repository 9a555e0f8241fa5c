"""Simulate a mechanism; report energy and closure errors.

Public names: simulate, facts_of.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liaison.cli.options import RunOption, Until, WithStart, help_of, with_options, written
from liaison.errors import Interrupted, NamingError, SimulationError
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.model.mechanism import Mechanism
    from liaison.simulation.record.trajectory import Trajectory


def facts_of(run: Trajectory, mechanism: Mechanism) -> dict[str, Any]:
    """How a run went, as plain data.

    `energy_error` is the largest change of T + U; None where it is not known to be constant.
    `penetration` is how far a gap was ever below 0 [m], of what has gaps.
    """
    from liaison.cli.running import event_facts
    from liaison.verbs.given import is_conservative

    energy = run.series["energy"].values.sum(axis=1)
    change = float(abs(energy - energy[0]).max())
    drifts = _drifts(run)
    is_constant = is_conservative(mechanism) or "energy" in drifts
    return {
        "name": run.name,
        "status": run.status,
        "message": run.message,
        "t": float(run.t[-1]),
        "instants": len(run),
        **run.counts,
        "energy": float(energy[-1]),
        "energy_change": change,
        "energy_error": change if is_constant else None,
        "position_residual": _largest(run, "position_residual"),
        "velocity_residual": _largest(run, "velocity_residual"),
        **_inside(run),
        **{x: run.meta[x] for x in ("penetration", "residual") if run.meta.get("scene")},
        "q": _named(run, "q"),
        "v": _named(run, "v"),
        "outputs": {name: float(x[-1]) for name, (_, x) in _outputs(run).items()},
        "invariants": drifts,
        "events": event_facts(run),
        "units": {x.name: x.unit for part in ("q", "v") for x in run.labels[part]}
        | {name: label.unit for name, (label, _) in _outputs(run).items()},
    }


def _drifts(run: Trajectory) -> dict[str, dict[str, Any]]:
    """How far each first integral went from its value at the beginning."""
    invariants = run.invariants if "invariants" in run.series else {}
    return {
        name: {"value": float(x.values[0]), "drift": x.drift, "unit": x.unit}
        for name, x in invariants.items()
    }


def _outputs(run: Trajectory) -> dict[str, tuple[Any, Any]]:
    """Columns of the outputs by their own names."""
    if "outputs" not in run.series:
        return {}
    columns = run.columns("outputs.*")
    return {name.removeprefix("outputs."): column for name, column in columns.items()}


def _largest(run: Trajectory, name: str) -> float:
    return float(run.series[name].values.max()) if name in run.series else 0.0


def _named(run: Trajectory, part: str) -> dict[str, float]:
    """The last row of q or v by label."""
    values = getattr(run, part)[-1].tolist()
    return dict(zip([label.name for label in run.labels[part]], values, strict=True))


def _inside(run: Trajectory) -> dict[str, float]:
    """How far a gap was below 0 at a recorded instant; nothing where there is none."""
    if "gaps" not in run.series or not run.series["gaps"].values.size:
        return {}
    return {"penetration": max(0.0, -float(run.series["gaps"].shown.min()))}


@command
@with_options
def simulate(
    *,
    until: Until = "10",
    run: RunOption = None,
    call: WithStart,
    out: Annotated[Path | None, typer.Option(metavar="FILE.nc", help="Save as netCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Save as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Save a plot.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Series to plot, as A, energy, reactions.A.Fx, 'lam.*'; positions without it.",
        ),
    ] = None,
    series: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=help_of("series")),
    ] = None,
    back_end: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What computes: llvm, machine code; portable, with the same bits on every "
            "computer and in pages; c; numpy.",
        ),
    ] = "llvm",
) -> None:
    """Simulate a mechanism, and report the errors of its energy and its closures."""
    from liaison.cli.running import drawable, leave_if_suspect, ran, run_options, series_of
    from liaison.cli.values import check_files
    from liaison.display import page_of
    from liaison.display.page import to_text

    check_files(out, csv, plot, label)
    end, options = run_options(until, run)
    options = drawable(plot, end, replace(options, series=series_of(series, label)))
    request = call.request(may_vary=True)
    try:
        trajectory = ran(request, end, options, invariants=True, back_end=back_end)
    except (SimulationError, Interrupted) as early:
        _keep(early.trajectory, out, csv)
        raise
    if out:
        trajectory.save(out)
    if csv:
        trajectory.to_csv(csv)
    if plot:
        from liaison.view.plot import save_plot

        try:
            save_plot(trajectory, plot, *(label or ()))
        except NamingError as error:
            raise typer.BadParameter(str(error), param_hint="--label") from None
    facts = facts_of(trajectory, request.mechanism)
    files = written(results=out, csv=csv, plot=plot)
    shown = page_of(trajectory)
    text = to_text(replace(shown, facts=(*shown.facts, *files.items())))
    call.answer(facts | files, text)
    leave_if_suspect(trajectory)


def _keep(partial: Trajectory | None, out: Path | None, csv: Path | None) -> None:
    """Saves what a run had computed before it failed or was interrupted, where asked for."""
    from liaison.cli.running import noted

    if partial is None:
        return
    for path, save in ((out, partial.save), (csv, partial.to_csv)):
        if path:
            with noted():
                save(path)
                print(f"What was computed until then is in {path}.", file=sys.stderr)
