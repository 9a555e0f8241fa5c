"""Loads, relations and contacts as symbols: what a front end draws for each, and where.

Public names: Symbol, symbols, placed_loads, supports, joint_entries, JOINT_COLORS, LOAD_COLORS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.model import Constraint, Contact, Force, Joint, Marker, Measure, Mechanism
from liaison.model.joints import Strut
from liaison.model.values import floats

from .drawing import Drawing, point_path
from .solids import Color, frame_along

Array = NDArray[np.float64]
Entry = dict[str, Any]

JOINT_COLORS: tuple[Color, ...] = (
    (58, 64, 74), (132, 78, 40), (20, 104, 104), (108, 58, 122), (128, 108, 20), (150, 44, 66),
)  # fmt: skip
"""Of joint types, in the order in which they occur."""

NEAR = 0.1
"""Markers that stay nearer than this, in sizes of the scene, are no ends of what is drawn."""

SYMBOLS = 200
"""Loads of one kind that are drawn at most; of more of them none is."""

LOAD_COLORS: dict[str, Color] = {
    "coil": (74, 124, 150), "dashpot": (126, 87, 168), "motor": (226, 136, 16),
    "strut": (150, 110, 60),
}  # fmt: skip
"""By the symbols of loads."""


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """One load, relation or contact in a picture.

    Attributes:
        name: of the record.
        kind: the word of its kind in a text.
        symbol: a word of `liaison.model.kinds.SYMBOLS`.
        markers: the frames at which it stands.
        labels: the coordinates of which it speaks.
    """

    name: str
    kind: str
    symbol: str
    markers: tuple[Marker, ...]
    labels: tuple[str, ...]


def symbols(mechanism: Mechanism) -> list[Symbol]:
    """Every load, relation and contact of shapes, in the order of the mechanism."""
    acting: tuple[Force | Constraint, ...] = (*mechanism.forces, *mechanism.constraints)
    listed = [Symbol(x.name, x.LSD, x.SYMBOL, x.markers(), x.labels()) for x in acting]
    for one in mechanism.contacts:
        if isinstance(one, Contact):
            listed.append(Symbol(one.name, one.kind, one.shape.SYMBOL, one.markers(), ()))
    return listed


def joint_entries(mechanism: Mechanism, drawn: Drawing, rank: Mapping[str, int]) -> list[Entry]:
    """Every joint: name, type, color of its type, its predecessor and its place there."""
    types = list(dict.fromkeys(type(x.type).WORD for x in mechanism.joints))
    entries = []
    for joint in mechanism.joints:
        word = type(joint.type).WORD
        entries.append(
            {
                "name": joint.name,
                "type": "link" if word == "composition" else word.replace("_", " "),
                "color": JOINT_COLORS[types.index(word) % len(JOINT_COLORS)],
                "body": rank[joint.predecessor.body],
                "place": floats(joint.predecessor.p, drawn.parameters).tolist(),
            }
        )
    return entries


def supports(mechanism: Mechanism, drawn: Drawing) -> list[list[float]]:
    """Places on the ground where a joint is held, each once [m]; none where it has shapes."""
    if any(body.name == "ground" and body.shapes for body in mechanism.bodies):
        return []
    places: list[Array] = []
    for joint in mechanism.joints:
        for end in (joint.predecessor, joint.successor):
            if end.body == "ground" and joint.type.SYMBOL:
                place = floats(end.p, drawn.parameters)
                if all(np.linalg.norm(place - x) > 1e-6 * drawn.size for x in places):
                    places.append(place)
    return [x.tolist() for x in places]


def placed_loads(
    mechanism: Mechanism, drawn: Drawing, rank: Mapping[str, int], units: Mapping[str, str]
) -> list[Entry]:
    """Springs, dampers, motors and drives, and rods that are joints.

    What acts along a length has two ends, each a body and a place on it; what acts along an angle
    has a body and a frame on it, about whose z axis it turns. Several of one kind at one place are
    one symbol; `beside` counts the others that have the same place before it. More than SYMBOLS of
    one kind would hide what moves, and are left out.

    Args:
        mechanism: that moves.
        drawn: its drawing.
        rank: numbers of the bodies.
        units: of the coordinates, by label.
    """
    entries: list[Entry] = []
    for force in mechanism.forces:
        measure = force.along()
        at = None if measure is None else _along(measure, mechanism, drawn, rank, units)
        if at is not None and force.SYMBOL != "none":
            kind = force.LSD.replace("_", " ")
            entries.append({"name": force.name, "kind": kind, "symbol": force.SYMBOL} | at)
    for one in mechanism.constraints:
        if one.SYMBOL == "law" and one.labels():
            at = _on_coordinate(one.labels()[0], mechanism, drawn, rank, units)
            if at is not None:
                entries.append({"name": one.name, "kind": "drive", "symbol": "motor"} | at)
    for joint in mechanism.joints:
        if any(isinstance(part, Strut) for part in joint.type.SYMBOL):
            at = _ends(joint.predecessor, joint.successor, drawn, rank)
            kind = type(joint.type).WORD.replace("_", " ")
            entries.append({"name": joint.name, "kind": kind, "symbol": "strut"} | at)
    counts = Counter(entry["kind"] for entry in entries)
    return _side_by_side([entry for entry in entries if counts[entry["kind"]] <= SYMBOLS])


def _along(
    measure: Measure,
    mechanism: Mechanism,
    drawn: Drawing,
    rank: Mapping[str, int],
    units: Mapping[str, str],
) -> Entry | None:
    """Where a measure is taken: between markers, or at the joint of a coordinate."""
    markers = measure.markers()
    if markers and measure.UNIT == "m":
        return _ends(markers[0], markers[-1], drawn, rank)
    if markers:
        return _turning(markers[0], drawn, rank, "z")
    labels = measure.labels()
    return _on_coordinate(labels[0], mechanism, drawn, rank, units) if labels else None


def _side_by_side(entries: Sequence[Entry]) -> list[Entry]:
    seen: dict[str, list[str]] = {}
    listed = []
    for entry in entries:
        at = repr((entry.get("ends"), entry.get("body"), entry.get("place")))
        kinds = seen.setdefault(at, [])
        color = LOAD_COLORS.get(entry["symbol"], LOAD_COLORS["strut"])
        if entry["kind"] not in kinds:
            listed.append(entry | {"beside": len(kinds), "color": color})
            kinds.append(entry["kind"])
    return listed


def _ends(a: Marker, b: Marker, drawn: Drawing, rank: Mapping[str, int]) -> Entry:
    return {
        "ends": [[rank[x.body], floats(x.p, drawn.parameters).tolist()] for x in (a, b)],
    }


def _ends_of(joint: Joint, drawn: Drawing, rank: Mapping[str, int]) -> Entry:
    """The ends of a slider: its markers, or the middles of its bodies where these stay together."""
    ends = (joint.predecessor, joint.successor)
    a, b = (point_path(drawn.poses, x.body, floats(x.p, drawn.parameters)) for x in ends)
    is_near = np.linalg.norm(b - a, axis=1).max() < NEAR * drawn.size
    if is_near and all(x.body in drawn.middles for x in ends):
        return {"ends": [[rank[x.body], drawn.middles[x.body].tolist()] for x in ends]}
    return _ends(*ends, drawn, rank)


def _turning(at: Marker, drawn: Drawing, rank: Mapping[str, int], axis: str) -> Entry:
    R = floats(at.R, drawn.parameters)
    if axis != "z":
        R = frame_along(R[:, "xyz".index(axis)])
    place = floats(at.p, drawn.parameters)
    return {"body": rank[at.body], "place": place.tolist(), "axes": R.ravel().tolist()}


def _on_coordinate(
    label: str,
    mechanism: Mechanism,
    drawn: Drawing,
    rank: Mapping[str, int],
    units: Mapping[str, str],
) -> Entry | None:
    """Where the coordinate of a joint is; None where no joint bears its name."""
    joint, part = _joint_of(label, mechanism)
    if joint is None:
        return None
    if units.get(label, "rad") == "m":
        return _ends_of(joint, drawn, rank)
    return _turning(joint.predecessor, drawn, rank, part if part in ("x", "y") else "z")


def _joint_of(label: str, mechanism: Mechanism) -> tuple[Joint | None, str]:
    for joint in mechanism.joints:
        if label == joint.name:
            return joint, ""
        if label.startswith(f"{joint.name}."):
            return joint, label[len(joint.name) + 1 :].removeprefix("r")
    return None, ""
