"""Run a study file: values that vary, measures of runs.

Public names: study, facts_of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liaison.cli.options import Debug, Json, StudyFolder, StudyPath, printed, with_files, written
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.studies.files import StudyFile
    from liaison.studies.study import Study


@command
def study(
    file: StudyPath,
    folder: StudyFolder = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; threads of this one if not given.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Scheduler of a dask cluster.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Save the table.")] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Save a plot of all measures.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Save an interactive page.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="With --page: points open their runs as live pages.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Run a study file: values that vary, measures of runs."""
    from liaison.cli.values import mechanism_asked
    from liaison.studies.files import read_study_file
    from liaison.verbs.studies.study import study as verb

    asked = read_study_file(file)
    with asked.placed():
        mechanism = mechanism_asked(asked)
        result = verb(mechanism, **arguments_of(asked, folder, workers, cluster))
    if csv is not None:
        result.to_csv(csv)
    if plot is not None:
        result.save_plot(plot)
    if page is not None:
        result.save_page(page, live=live)
    files = written(csv=csv, plot=plot, page=page)
    printed(facts_of(result) | files, with_files(str(result), files), as_json)


def arguments_of(
    asked: StudyFile, folder: Path | None, workers: int | None, cluster: str | None
) -> dict[str, Any]:
    """Arguments of the verb: those of the file, and those of the command line."""
    more: Mapping[str, Any] = {"folder": folder, "workers": workers, "cluster": cluster}
    return {**asked.arguments, **{k: x for k, x in more.items() if x is not None}}


def facts_of(result: Study) -> dict[str, Any]:
    """How a study went, as plain data."""
    return {
        "name": result.definition.title,
        "points": len(result),
        "folder": str(result.store.folder),
        "failures": dict(result.failures),
        "units": {x: result.unit(x) for x in result},
        "least": {x: _extreme(result, x, min) for x in result},
        "largest": {x: _extreme(result, x, max) for x in result},
    }


def _extreme(result: Study, name: str, of: Any) -> float | None:
    values = [x for x in result[name].tolist() if x == x]
    return of(values) if values else None
