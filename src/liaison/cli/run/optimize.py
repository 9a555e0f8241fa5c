"""Search values of a study file for the best measure.

Public names: optimize.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, StudyFolder, StudyPath, printed, with_files, written
from liaison.verbs.registry import command


@command
def optimize(
    file: StudyPath,
    folder: StudyFolder = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.lsd", help="Save the mechanism with new values.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Search values of a study file for the best measure."""
    from liaison.cli.values import mechanism_asked
    from liaison.errors import TextError
    from liaison.simulation.record.files import write_file
    from liaison.studies.files import read_study_file
    from liaison.verbs.studies.optimize import optimize as verb

    asked = read_study_file(file)
    if not asked.optimize:
        raise TextError(
            f"{file}: there is no table [optimize].", hint='Add: [optimize] and minimize = "NAME".'
        )
    chosen = {**asked.arguments} | ({} if folder is None else {"folder": folder})
    of_studies = ("design", "count", "levels", "correlation", "record", "workers", "device")
    for name in of_studies:
        chosen.pop(name, None)
    with asked.placed():
        result = verb(mechanism_asked(asked), **chosen, **asked.optimize)
    if out is not None:
        write_file(out, result.lsd)
    facts = {
        "name": result.history.definition.title, "success": result.success,
        "message": result.message, "values": dict(result.values),
        "measures": dict(result.measures), "gradient": result.gradient,
        "points": len(result.history), "front": {k: x.tolist() for k, x in result.front.items()},
    }  # fmt: skip
    files = written(out=out)
    printed(facts | files, with_files(str(result), files), as_json)
    if not result.success:
        raise typer.Exit(1)
