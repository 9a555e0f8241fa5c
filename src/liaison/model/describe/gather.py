"""Parts of a mechanism, in any order and nesting, become the mechanism.

Public names: mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from liaison.errors import ModelError
from liaison.model.constraints import Constraint
from liaison.model.contacts import OneSided
from liaison.model.forces import Force
from liaison.model.mechanism import Mechanism
from liaison.model.records import GROUND, Body, Event, Input, Joint, Output, Parameter, Start

from .words import check_shown

_FIELDS: Mapping[type, str] = {
    Body: "bodies",
    Joint: "joints",
    Constraint: "constraints",
    Force: "forces",
    OneSided: "contacts",
    Parameter: "parameters",
    Input: "inputs",
    Start: "starts",
    Event: "events",
    Output: "outputs",
}


def mechanism(*parts: Any, name: str = "") -> Mechanism:
    """A mechanism of parts in any order; lists among them are opened, bodies of joints added.

    Another mechanism among them, such as one that was read, brings all of its parts and its name;
    starts given beside it take the place of its own.

    Raises:
        ModelError, NamingError: the parts make no mechanism.
    """
    sorted_parts: dict[str, list[Any]] = {kind: [] for kind in _FIELDS.values()}
    given = list(_flat(parts))
    for part in _opened(given):
        kinds = [kind for base, kind in _FIELDS.items() if isinstance(part, base)]
        if not kinds:
            raise ModelError(f"{part!r} is no part of a mechanism: no body, joint, force, ….")
        sorted_parts[kinds[0]].append(part)
    _add_owners(sorted_parts)
    check_shown([x for x in given if isinstance(x, Output)], sorted_parts["joints"])
    options: dict[str, Any] = {kind: tuple(found) for kind, found in sorted_parts.items()}
    names = [part.name for part in given if isinstance(part, Mechanism)]
    return Mechanism(name or next(iter(names), "mechanism"), **options)


def _opened(parts: list[Any]) -> Iterable[Any]:
    """The parts, and those of the mechanisms among them but for starts that are given anew."""
    anew = {part.label for part in parts if isinstance(part, Start)}
    for part in parts:
        if not isinstance(part, Mechanism):
            yield part
            continue
        for kind in _FIELDS.values():
            kept = getattr(part, kind)
            yield from (x for x in kept if not (isinstance(x, Start) and x.label in anew))


def _flat(parts: Iterable[Any]) -> Iterable[Any]:
    for part in parts:
        if isinstance(part, list | tuple):
            yield from _flat(part)
        else:
            yield part


def _add_owners(parts: dict[str, list[Any]]) -> None:
    """Adds the bodies whose markers are joined, and lets the markers forget them."""
    markers = [m for joint in parts["joints"] for m in (joint.predecessor, joint.successor)]
    owners = [marker.owner for marker in markers if marker.owner is not None]
    # equal bodies are one body; different ones of one name are left for the checks to refuse
    parts["bodies"] = [x for x in dict.fromkeys([*parts["bodies"], *owners]) if x != GROUND]
    parts["joints"] = [
        replace(
            joint,
            predecessor=replace(joint.predecessor, owner=None),
            successor=replace(joint.successor, owner=None),
        )
        for joint in parts["joints"]
    ]
