"""A study, shown: how many points, how its runs ended, and the range of every measure.

Public names: title, page.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .page import Page, Table, number, plural

LONGEST = 120
"""Characters of a message in a table."""


def title(study: Any) -> str:
    """The mechanism, how many points, and how many runs failed; or what indices are of."""
    if hasattr(study, "history"):
        return _title_of_optimum(study)
    if hasattr(study, "first"):
        return f"Sobol' indices of {', '.join(study.measures)} by {', '.join(study.names)}"
    statuses, counts = np.unique(study["status"].astype(str), return_counts=True)
    ends = ", ".join(f"{n} {x}" for x, n in zip(statuses.tolist(), counts.tolist(), strict=True))
    varied = ", ".join(study.varied)
    return f"{study.definition.title}: {plural(len(study), 'point')} of {varied}; {ends}"


def page(study: Any) -> Page:
    """Ranges of what varies and of the measures, and failures by cause; or indices."""
    if hasattr(study, "history"):
        return Page(title(study), (), _optimum(study))
    if hasattr(study, "first"):
        return Page(title(study), (), _indices(study))
    values = [(x, study.unit(x), *_numbers(study[x])) for x in study.varied]
    measures = [(x, study.unit(x), *_numbers(study[x])) for x in study.measures]
    failed = [(x, str(n), _example(study, x)) for x, n in study.failures.most_common()]
    heads = ("unit", "least", "mean", "largest", "deviation")
    tables = (
        Table(("varies", *heads), tuple(values)),
        Table(("measure", *heads), tuple(measures)),
        Table(("failed because", "runs", "for example"), tuple(failed)),
    )
    return Page(title(study), (), tables)


def _example(study: Any, cause: str) -> str:
    """What the first run that failed for a cause says, on one line."""
    first = int(np.flatnonzero(study["reason"] == cause)[0])
    message = " ".join(str(study["message"][first]).split())
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"


def _numbers(x: Any) -> tuple[str, str, str, str]:
    """The least, the mean, the largest, and the standard deviation of what is finite."""
    finite = np.asarray(x, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return "–", "–", "–", "–"
    least, mean, most, deviation = finite.min(), finite.mean(), finite.max(), finite.std()
    return number(least), number(mean), number(most), number(deviation)


def _indices(shown: Any) -> tuple[Table, ...]:
    """A table for each measure."""
    tables = []
    for k, measure in enumerate(shown.measures):
        rows = [
            (
                name,
                f"{shown.first[k, i]:.3f} ± {shown.first_error[k, i]:.3f}",
                f"{shown.total[k, i]:.3f} ± {shown.total_error[k, i]:.3f}",
            )
            for i, name in enumerate(shown.names)
        ]
        tables.append(Table((measure, "first order", "total"), tuple(rows)))
    return tuple(tables)


def _title_of_optimum(shown: Any) -> str:
    how = {"exact": "exact gradients", "differences": "differences", "none": "samplers"}
    end = "found" if shown.success else "not reached"
    name, count = shown.history.definition.title, plural(len(shown.history), "point")
    return f"optimum of {name} {end}, {count}, by {how[shown.gradient]}"


def _optimum(shown: Any) -> tuple[Table, ...]:
    """Values and measures at the optimum, and the points of a front."""
    unit = shown.history.unit
    rows = [(x, unit(x), number(y)) for x, y in shown.values.items()]
    measures = [(x, unit(x), number(y)) for x, y in shown.measures.items()]
    points = zip(*shown.front.values(), strict=True)
    front = [tuple(map(number, point)) for point in points]
    return (
        Table(("value", "unit", "at the optimum"), tuple(rows)),
        Table(("measure", "unit", "at the optimum"), tuple(measures)),
        Table(tuple(shown.front), tuple(front)),
    )
