"""A mechanism, shown: counts, its graph, tables of bodies, joints and what acts.

What was read from a file shows its mechanism, with what of the file is not in it.

Public names: title, page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from liaison.expr import Expr, to_text
from liaison.expr.graph.evaluate import evaluate
from liaison.expr.graph.walk import symbols_of
from liaison.lazy import listed
from liaison.model.mechanism import Mechanism
from liaison.model.records import Start

from .html import graph_svg
from .page import Page, Table, number, plural


def title(shown: Any) -> str:
    """Its name, and how much there is of it; of a reading, how many notes there are."""
    if not isinstance(shown, Mechanism):
        return f"{title(shown.mechanism)}; {plural(len(shown.notes), 'note')}"
    bodies = len(shown.bodies) - 1
    loops = len(shown.joints) - bodies
    counts = [plural(bodies, "body", "bodies"), plural(len(shown.joints), "joint")]
    counts += [plural(loops, "loop")] if loops > 0 else []
    return f"{shown.name}: {', '.join(counts)}"


def page(shown: Any) -> Page:
    """Its tables and its graph."""
    if not isinstance(shown, Mechanism):
        return _reading(shown)
    units = _units(shown)
    facts = {
        "inputs": listed([f"{x.name} [{x.unit}]" for x in shown.inputs]),
        "outputs": listed([f"{x.name} [{x.unit}]" for x in shown.outputs]),
        "events": listed([x.name for x in shown.events]),
        "start": listed([_start(x, units) for x in shown.starts if not x.is_guess]),
        "guess": listed([_start(x, units) for x in shown.starts if x.is_guess]),
    }
    edges = [(x.predecessor.body, x.successor.body, x.name) for x in shown.joints]
    return Page(
        title(shown),
        tuple((name, text) for name, text in facts.items() if text),
        _tables(shown),
        html=graph_svg([x.name for x in shown.bodies], edges),
    )


def _units(shown: Mechanism) -> dict[str, str]:
    """Of coordinates and speeds, by label."""
    units: dict[str, str] = {}
    for joint in shown.joints:
        units |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        units |= zip(joint.speeds, joint.type.speed_units, strict=True)
    return units


def _start(start: Start, units: Mapping[str, str]) -> str:
    return f"{start.label} = {_value(start.value)} {units.get(start.label, '')}".rstrip()


def _reading(shown: Any) -> Page:
    """A reading: notes, what was deduced, limits of joints; then its mechanism."""
    own = page(shown.mechanism)
    lists = (("note", shown.notes), ("deduced", shown.deduced))
    tables = tuple(Table((head,), tuple((str(x),) for x in texts)) for head, texts in lists)
    parts = ("lower", "upper", "velocity", "effort")
    limits = tuple(
        (
            name,
            *("–" if value is None else number(value) for value in (getattr(x, y) for y in parts)),
        )
        for name, x in shown.limits.items()
    )
    tables += (Table(("limits of", *parts), limits),)
    return replace(own, title=title(shown), tables=(*tables, *own.tables))


def _tables(shown: Mechanism) -> tuple[Table, ...]:
    bodies = tuple(
        (x.name, _value(x.mass), _values(x.com), listed([type(s).__name__ for s in x.shapes]))
        for x in shown.bodies
        if x.name != "ground"
    )
    joints = tuple(
        (x.name, x.type.name, f"{x.predecessor.body} – {x.successor.body}", listed(x.coordinates))
        for x in shown.joints
    )
    acting = tuple(
        (x.name, type(x).__name__) for x in (*shown.forces, *shown.constraints, *shown.contacts)
    )
    parameters = tuple((x.name, _value(x.value), x.unit) for x in shown.parameters)
    return (
        Table(("body", "mass [kg]", "center of mass [m]", "shapes"), bodies),
        Table(("joint", "type", "bodies", "coordinates"), joints),
        Table(("load, relation, contact", "kind"), acting),
        Table(("parameter", "value", "unit"), parameters),
    )


def _value(x: Any) -> str:
    if x is None:
        return "unknown"
    if not isinstance(x, Expr):
        return number(x)
    return to_text(x) if symbols_of([x]) else number(evaluate([x], {})[0])


def _values(x: Any) -> str:
    return ", ".join(_value(entry) for entry in x)
