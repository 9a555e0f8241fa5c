"""The answer of `check`, shown: counts, coordinates, what acts, unilateral constraints, the start.

Public names: title, page, explained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.lazy import listed

from .page import Page, Table, plural

TOUCHES = 1e-9
"""A gap below this at the start is closed [m]."""

FEW_STOPS = 4
"""Stops up to which each has a line of its own."""

MARKS = {"proved": "entry", "fails": "warning", "not proved": "warning"}
"""How a unilateral relation of rates is entered: by the verdict of its proof."""


def title(shown: Any) -> str:
    """Name and counts of a mechanism."""
    counts = [
        plural(len(shown.mechanism.bodies) - 1, "body", "bodies"),
        plural(len(shown.mechanism.joints), "joint"),
        plural(shown.tree.loops, "loop"),
    ]
    return f"{shown.mechanism.name}: {', '.join(counts)}"


def page(shown: Any) -> Page:
    """A mechanism in a few lines."""
    facts = shown.to_dict()
    units = facts["units"]
    rows = [
        ("coordinates", _coordinates(facts)),
        ("closures", _closures(facts)),
        ("mobility", _mobility(facts)),
        ("mass", "depends on an unknown" if facts["mass"] is None else f"{facts['mass']:.6g} kg"),
        ("gravity", " ".join("?" if x is None else f"{x:g}" for x in facts["gravity"]) + " m/s²"),
        ("forces", listed(facts["forces"])),
        ("constraints", listed(facts["constraints"])),
        ("parameters", listed([_named(x, v, units) for x, v in facts["parameters"].items()])),
        ("inputs", listed([_with_unit(x, units) for x in facts["inputs"]])),
        ("outputs", listed([_with_unit(x, units) for x in facts["outputs"]])),
        ("events", listed(facts["events"])),
        ("start", _start(shown, facts["unknowns"])),
        *_unilateral(facts),
        ("collisions", _collisions(facts["collisions"])),
        *[(MARKS[x.verdict], x.text) for x in (shown.entry.entries if shown.entry else ())],
        *[("by choice", note) for note in shown.choices],
    ]
    return Page(title(shown), tuple((name, text) for name, text in rows if text))


def _unilateral(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A line for each unilateral constraint; many stops that are open at the start are one."""
    stops = [x for x in facts["contacts"] if "limit" in x and x.get("gap", 1.0) > TOUCHES]
    condensed = stops if len(stops) > FEW_STOPS else []
    lines = [x for x in facts["contacts"] if x not in condensed]
    rows = [("unilateral", f"{x['name']}: {', '.join(_words(x))}") for x in lines[:UNILATERAL]]
    if len(lines) > UNILATERAL:
        rows.append(("unilateral", f"… and {len(lines) - UNILATERAL} more; all with --json"))
    if not condensed:
        return rows
    ranges = _ranges(condensed, facts["units"])
    return [("stops", f"{len(condensed)}: {listed(ranges, FEW_RANGES)}"), *rows]


UNILATERAL = 20
"""Unilateral constraints that have a line each."""

FEW_RANGES = 6
"""Ranges of coordinates that one line has."""


def _ranges(stops: list[dict[str, Any]], units: Mapping[str, str]) -> list[str]:
    """ "knee −2.7 … −0.3 rad" of each coordinate that has stops."""
    ends: dict[str, dict[str, float]] = {}
    for x in stops:
        ends.setdefault(x["coordinate"], {})[x["side"]] = x["limit"]
    words = []
    for label, at in ends.items():
        low, high = (f"{at[x]:.4g}" if x in at else "" for x in ("lower", "upper"))
        reach = f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}"
        words.append(f"{label} {reach} {units.get(label, '')}".rstrip())
    return words


def explained(shown: Any) -> tuple[Table, ...]:
    """The tree, joint by joint, rows of closures with what each transmits, and all stops."""
    joints = {joint.name: joint for joint in shown.mechanism.joints}
    carried = tuple(
        (f"{body} on {parent} by {name} ({joints[name].type.name if name in joints else 'fixed'})",)
        for body, parent, name in shown.carriers()
    )
    own = shown.derived
    rows = [str(label) for label in own.labels["lam"]] if shown.tree.closures else []
    rows += [f"{x}: always satisfied" for x in own.closures.vanished] if rows else []
    facts = shown.to_dict()
    limits = [x for x in facts["contacts"] if "limit" in x]
    stops = _ranges(limits, facts["units"]) if len(limits) > FEW_STOPS else []
    return (
        Table(("",), carried, "The tree, parents first:"),
        Table(("",), tuple((x,) for x in rows), "The closures, and what each row transmits:"),
        Table(("",), tuple((x,) for x in stops), "Stops, as the coordinates reach them:"),
    )


def _coordinates(facts: Mapping[str, Any]) -> str:
    return f"{plural(facts['nq'], 'position')}, {plural(facts['nv'], 'velocity', 'velocities')}"


def _closures(facts: Mapping[str, Any]) -> str:
    if not facts["closure_rows"]:
        return ""
    rank = "" if facts["rank"] is None else f" of rank {facts['rank']} at the start"
    cut = f"; cut at {listed(facts['cut'])}" if facts["cut"] else ""
    return f"{plural(facts['closure_rows'], 'row')}{rank}{cut}"


def _mobility(facts: Mapping[str, Any]) -> str:
    counted = f"Grübler's count {facts['gruebler']}"
    if facts["freedoms"] is None:
        return counted
    free = plural(facts["freedoms"], "free velocity", "free velocities")
    return f"{free} at the start; {counted}"


def _start(shown: Any, unknowns: list[str]) -> str:
    if shown.start is None:
        return f"not assembled: {listed(unknowns)} unknown (--set name=value)"
    state, moved = shown.start.state, shown.start.moved
    known = zip(state.labels["q"], state.q, strict=True)
    places = [_named(label.name, x, {label.name: label.unit}) for label, x in known]
    return listed(places) + (f" (moved by {moved:.3g} to close the loops)" if moved else "")


def _named(name: str, x: float | None, units: Mapping[str, str]) -> str:
    """ "m = 2 kg"; "gap = unknown [m]"."""
    if x is None:
        return _with_unit(f"{name} = unknown", {f"{name} = unknown": units.get(name, "")})
    return f"{name} = {x:.6g} {units.get(name, '')}".rstrip()


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    return f"{name} [{units[name]}]" if units.get(name) else name


def _collisions(facts: Mapping[str, Any] | None) -> str:
    """ "105 pairs may touch, marched as a scene of free bodies, in fixed steps"."""
    if facts is None:
        return ""
    ways = {
        "scene": "marched as a scene of free bodies, in fixed steps",
        "contacts": "each a contact of its own",
        None: f"which no run can march: {facts.get('why', '')}",
    }
    return f"{facts['pairs']} pairs may touch, {ways[facts['marched']]}"


def _words(x: Mapping[str, Any]) -> list[str]:
    of = f" of {_one(x['of'])} with {_one(x['with'])}" if x.get("with") else ""
    between = " " if x["kind"] == "relation" else " of "
    of = of or (between + x["of"] if x.get("of") else "")
    words = [f"{x['kind']}{of}"]
    words += [
        f"{name.replace('_', ' ')} {'by a formula' if c is None else f'{c:g}{_unit(x, name)}'}"
        for name, c in x.get("friction", {}).items()
        if not (name == "static" and c is None)
    ]
    words += [x["law"]] if x.get("law", "coulomb") != "coulomb" else []
    words += [f"restitution {x['restitution']:g}"] if x.get("restitution") else []
    return words + _gap_words(x)


def _one(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _unit(x: Mapping[str, Any], name: str) -> str:
    """Of a coefficient of friction of a contact; those of joints have the unit of their effort."""
    if x["kind"] not in ("contact", "collide"):
        return ""
    units = {"viscous": " N s/m", "viscous_rolling": " N m s", "viscous_pivoting": " N m s"}
    return units.get(name, " m" if name.endswith(("rolling", "pivoting")) else "")


def _gap_words(x: Mapping[str, Any]) -> list[str]:
    """How a contact begins: ["0.2 m apart at the start"]."""
    gap = x.get("gap")
    if gap is None or (x["kind"] == "relation" and gap >= 0):
        return []
    unit = f" {x.get('unit', '')}".rstrip() if x["kind"] == "relation" else " m"
    if abs(gap) < TOUCHES:
        return ["touches at the start"]
    return [f"{abs(gap):.4g}{unit} {'apart' if gap > 0 else 'INSIDE'} at the start"]
