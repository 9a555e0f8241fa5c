"""A run as a compact table in a notebook.

Public names: html_table.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping

import numpy as np

from liaison.units import Label

from .series import Array


def html_table(title: str, message: str, columns: Mapping[str, tuple[Label, Array]]) -> str:
    """The first columns of a run with their ends and extremes, as HTML."""
    rows = [_row(label, x) for label, x in itertools.islice(columns.values(), 24)]
    more = max(0, len(columns) - len(rows))
    foot = f"<p>and {more} more: see <code>columns()</code></p>" if more else ""
    heads = "".join(f"<th>{x}</th>" for x in ("label", "unit", "first", "last", "min", "max"))
    note = f"<p>{html.escape(message)}</p>" if message else ""
    return (
        f"<div><p><b>{html.escape(title)}</b></p>{note}<table><thead><tr>{heads}</tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table>{foot}</div>"
    )


def _row(label: Label, x: Array) -> str:
    finite = x[np.isfinite(x)]
    ends = [x[0], x[-1], *((finite.min(), finite.max()) if len(finite) else (np.nan, np.nan))]
    cells = "".join(f"<td>{value:.6g}</td>" for value in ends)
    return f"<tr><td>{html.escape(label.name)}</td><td>{html.escape(label.unit)}</td>{cells}</tr>"
