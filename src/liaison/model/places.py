"""Places that an author names in Python: markers, labels of coordinates, the line that says so.

Public names: line_here, marker_of, label_of, between.
"""

from __future__ import annotations

import linecache
import sys
from typing import Any

from liaison.errors import ModelError, Place

from .markers import Coordinate, Distance, Marker, Measure
from .records import Body, Joint

OWN = ("liaison.model.", "liaison.arguments")
"""How the names of the modules that describe begin."""


def marker_of(a: Body | Marker) -> Marker:
    """A marker as it is; of a body its own frame."""
    if isinstance(a, Body | Marker):
        return a.at() if isinstance(a, Body) else a
    raise ModelError(
        f"{a!r} is no place on a mechanism; give a body, or a marker on one: body.at(position).",
        place=line_here(),
    )


def label_of(of: str | Joint) -> str:
    """The label of a coordinate, or of the only one of a joint."""
    if isinstance(of, str):
        return of
    if not isinstance(of, Joint):
        raise ModelError(
            f"{of!r} is no coordinate; give a joint, or the label of a coordinate.",
            place=line_here(),
        )
    if len(of.coordinates) != 1:
        raise ModelError(
            f"joint '{of.name}' has {len(of.coordinates)} coordinates; name one of "
            f"{', '.join(of.coordinates) or 'none'}."
        )
    return of.coordinates[0]


def line_here() -> Place | None:
    """The line of the author's file that called into the modules that describe."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(OWN):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line)
    if not text:
        return None
    lead = len(text) - len(text.lstrip())
    return Place(file, line, lead + 1, text, len(text.strip()))


def between(where: tuple[Any, ...]) -> tuple[Measure, str]:
    """A measure from two markers (their distance), a joint, a label or a measure; and its name."""
    if len(where) == 2:
        a, b = marker_of(where[0]), marker_of(where[1])
        return Distance(a, b), f"{a.body}-{b.body}"
    if len(where) == 1 and isinstance(where[0], Measure):
        return where[0], "-".join(m.body for m in where[0].markers()) or where[0].labels()[0]
    if len(where) == 1:
        label = label_of(where[0])
        return Coordinate(label), label
    raise ModelError(f"{len(where)} places are given to act on; give two markers, or a joint.")
