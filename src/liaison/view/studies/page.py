"""The page of a study: scatter and parallel coordinates to choose from, in one file.

The page makes no request. A point that is chosen shows its numbers, and a link to the live page of
the mechanism with these values, where there is one beside it.

Public names: study_page, MOST_POINTS.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np

from liaison.view.pages.html import data_block, whole_page

from .table import StudyTable, some_of

MOST_POINTS = 5000
"""Points of a page."""


def study_page(table: StudyTable, keys: list[str], live: str = "") -> str:
    """The whole page.

    Args:
        table: of the study.
        keys: of the runs, in order.
        live: the name of a live page of the mechanism beside it; "" where there is none.
    """
    names = [*table.varied, *table.measures]
    whole = np.array([table.column(x) for x in names])
    good = np.flatnonzero(np.all(np.isfinite(whole), axis=0))
    rows = good[some_of(whole[:, good], MOST_POINTS)]
    data: dict[str, Any] = {
        "title": table.title,
        "runs": whole.shape[1],
        "failed": table.failed,
        "varied": list(table.varied),
        "names": names,
        "units": [table.units.get(x, "") for x in names],
        "columns": [[float(f"{x:.9g}") for x in column[rows].tolist()] for column in whole],
        "keys": [keys[k] for k in rows.tolist()],
        "live": live,
    }
    folder = resources.files(__package__)
    script = folder.joinpath("study.js").read_text(encoding="utf-8")
    style = folder.joinpath("study.css").read_text(encoding="utf-8")
    body = ['<main id="study"></main>', data_block("data", "application/json", data)]
    return whole_page((script, style), f"{table.title}: study", subject="a study", body=body)
