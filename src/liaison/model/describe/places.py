"""Places that an author names in Python: markers, labels of coordinates, the line that says so.

Public names: line_here, marker_of, label_of.
"""

from __future__ import annotations

import linecache
import sys

from liaison.errors import ModelError, Place
from liaison.model.markers import Marker
from liaison.model.records import Body, Joint

OWN = "liaison.model.describe.describe"
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
