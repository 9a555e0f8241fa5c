"""`HANDLE.name = "any text"`: what a text calls by one word may have any name, also a taken one.

Bodies, loads, relations and events can be so named; coordinates and parameters are labels, which
are unique, and go by the name they have.

Public names: renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from liaison.model import Marker, Mechanism

RENAMED = ("bodies", "constraints", "forces", "contacts", "events")


def renamed(names: Mapping[str, str], mechanism: Mechanism) -> Mechanism:
    """The mechanism with other names for some of its parts."""
    if not names:
        return mechanism
    bodies = {b.name: names[b.name] for b in mechanism.bodies if b.name in names}
    parts: dict[str, Any] = {"joints": tuple(_moved(x, bodies) for x in mechanism.joints)}
    for kind in RENAMED:
        parts[kind] = tuple(
            _moved(replace(x, name=names.get(x.name, x.name)), bodies)
            for x in getattr(mechanism, kind)
        )
    return replace(mechanism, **parts)


def _moved(record: Any, bodies: Mapping[str, str]) -> Any:
    """The record with its markers on the bodies by their new names."""
    if isinstance(record, Marker):
        return replace(record, body=bodies.get(record.body, record.body))
    if not is_dataclass(record) or isinstance(record, type) or not bodies:
        return record
    held = {f.name: getattr(record, f.name) for f in fields(record) if f.init}
    changed = {k: _moved(x, bodies) for k, x in held.items() if is_dataclass(x) and k != "place"}
    return replace(record, **changed) if changed else record
