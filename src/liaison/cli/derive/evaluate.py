"""Evaluate a file of assignments at a state.

Public names: evaluate.
"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli.options import At, Debug, Json, Values, printed
from liaison.verbs.registry import command


@command
def evaluate(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, readable=True,
            help="A file of assignments, as `derive --assignments FILE.assign` writes it.",
        ),
    ],
    at: At = None,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Read assignments back and evaluate them at a state; what --at does not name is 0."""
    from liaison.cli.values import check_names, check_suffix, numbers_by_name
    from liaison.verbs.derive.assignments import SUFFIX, assignments

    check_suffix("FILE", file, (SUFFIX,))
    form = assignments(file)
    units = {x.name: x.unit for part in form.labels.values() for x in part}
    state = numbers_by_name("--at", at, units)
    known = [x.name for part in ("q", "v") for x in form.labels[part]]
    check_names("--at", "coordinate or velocity", state, [*known, "t"])
    others = numbers_by_name("--set", values, units)
    check_names("--set", "parameter or input", others,
                [x.name for part in ("p", "u") for x in form.labels[part]])  # fmt: skip
    parameters = [
        others.get(label.name, value)
        for label, value in zip(form.labels["p"], form.values, strict=True)
    ]
    missing = [x.name for x, y in zip(form.labels["p"], parameters, strict=True) if y is None]
    if missing:
        message = f"{', '.join(missing)} have no value; give each one."
        raise typer.BadParameter(message, param_hint="--set")
    arrays = form.evaluate(
        [state.get(x.name, 0.0) for x in form.labels["q"]],
        [state.get(x.name, 0.0) for x in form.labels["v"]],
        u=[others.get(x.name, 0.0) for x in form.labels["u"]],
        p=[x for x in parameters if x is not None],
        t=state.get("t", 0.0),
    )
    facts: dict[str, Any] = {"name": form.name, "formalism": form.formalism}
    facts |= {name: x.tolist() for name, x in arrays.items()}
    lines = [f"{form.name}, by {form.formalism}; v = {', '.join(map(str, form.labels['v']))}"]
    lines += [f"{name} = {_rows(x.tolist())}" for name, x in arrays.items() if x.size]
    undefined = [name for name, x in arrays.items() if not all(map(isfinite, x.ravel()))]
    if undefined:
        lines.append(f"Not defined at this state: entries of {', '.join(undefined)}; see --at.")
    printed(facts, "\n".join(lines), as_json)


def _rows(entries: list[Any]) -> str:
    """Numbers of twelve digits, the rows of a matrix in brackets."""
    if entries and isinstance(entries[0], list):
        return "[" + ", ".join(_rows(row) for row in entries) + "]"
    return "[" + ", ".join(f"{x + 0.0:.12g}" for x in entries) + "]"
