"""The scene of a run as data: a text of plain JSON that names what is drawn, and packed arrays.

The front end draws it and knows no mechanics. `VERSION` grows when a front end of before could not
read it any more; docs/scene.md describes every entry.

Every column of a run as a curve to choose: values, unit, and units to show it in.

Public names: Look, Scene, scene_of, Live, live_scene_of, FORMAT, VERSION, column_entries,
unit_choices, MOST_ROWS, MOST_NUMBERS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePath
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.model import Mechanism
from liaison.model.values import floats
from liaison.simulation.record.resampling import quaternion_of
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import Label, unit_of
from liaison.view.camera import ASPECT, camera
from liaison.view.contacts import greatest
from liaison.view.drawing import COLORS as BODY_COLORS
from liaison.view.drawing import GROUND_COLOR, Drawing, body_poses, drawing
from liaison.view.links import FORCE_COLOR, LONGEST, joint_forces, trace_points
from liaison.view.marks import (
    MOMENT_COLOR,
    Mark,
    beside,
    dot_sizes,
    event_groups,
    marks,
    rolling_ones,
    state_entries,
    strips,
    struck,
    without_idle,
)
from liaison.view.solids import Piece
from liaison.view.symbols import joint_entries, placed_loads, supports

from .packing import Pack

Array = NDArray[np.float64]
Entry = dict[str, Any]
Columns = dict[str, tuple[str, Label, Array]]
Path = tuple[str | int, ...]
Geometry = dict[Path, list[float]]

MOST_ROWS, MOST_NUMBERS = 2000, 250_000
"""Instants of a curve; numbers of all curves."""

FEW_NUMBERS, FEW_BITS = 60_000, 15
"""Where there are more numbers than the first, mantissas have so many bits."""

MOST_PLACES = 16
"""Bodies whose places are curves too."""

MOST_CHOSEN = 3
FAMILIES = (
    ("rad", "deg", "rev"), ("rad/s", "deg/s", "rpm"), ("rad/s^2", "deg/s^2"),
    ("m", "mm", "cm", "inch"), ("m/s", "mm/s", "km/h"), ("m/s^2", "mm/s^2"), ("N", "kN", "mN"),
    ("N*m", "N*mm", "kN*m"), ("J", "kJ"), ("W", "kW"), ("Pa", "bar", "MPa"),
)  # fmt: skip
"""Units of one quantity; a curve in one of them can be shown in the others."""


def column_entries(run: Trajectory, pack: Pack) -> Entry:
    """Instants and columns; which of them are shown to begin with; and the relative error.

    Args:
        run: as it was recorded.
        pack: to which the numbers are added.
    """
    columns = _columns(run)
    most = min(MOST_ROWS, max(2, MOST_NUMBERS // max(1, len(columns))))
    rows = np.arange(len(run))
    if len(run) > most:
        rows = np.unique(np.linspace(0, len(run) - 1, most).round().astype(np.int64))
    bits = 23 if len(rows) * len(columns) <= FEW_NUMBERS else FEW_BITS
    return {
        "times": pack.floats(run.t[rows]),
        "columns": [
            {"name": name, "group": group, "unit": label.unit, "values": pack.floats(x[rows], bits)}
            for name, (group, label, x) in columns.items()
        ],
        "chosen": _chosen(columns),
        "recorded": len(run),
        "error": 2.0 ** -(bits + 1),
        "units": unit_choices(label.unit for _, label, _ in columns.values()),
    }


def unit_choices(units: Iterable[str]) -> dict[str, list[tuple[str, float]]]:
    """Units in which columns can be shown, each with the factor of the values."""
    choices: dict[str, list[tuple[str, float]]] = {}
    for unit in dict.fromkeys(units):
        family = next((x for x in FAMILIES if unit in x), ())
        choices[unit] = [(unit, 1.0), *((x, _factor(unit, x)) for x in family if x != unit)]
    return choices


def _factor(unit: str, other: str) -> float:
    """The value in the other unit of 1 in the unit."""
    a, b = unit_of(unit), unit_of(other)
    return float(a.factor / b.factor) * math.pi ** (a.pi - b.pi)


def _columns(run: Trajectory) -> Columns:
    """Group, label and values of every column, by name."""
    known = run.shown_columns()
    groups = {x.name: "coordinates" for x in run.labels.get("q", ())}
    groups |= {x.name: "velocities" for x in run.labels.get("v", ())}
    columns: Columns = {
        name: (groups.get(name, name.partition(".")[0].replace("_", " ")), label, x)
        for name, (label, x) in known.items()
    }
    if "energy.T" in known and "energy.U" in known:
        label, T = known["energy.T"]
        columns["energy.T+U"] = (
            "energy",
            Label("energy.T+U", label.unit),
            T + known["energy.U"][1],
        )
    return columns | _places(run)


def _places(run: Trajectory) -> Columns:
    """Where the origins of the bodies are [m]."""
    poses = body_poses(run)
    if len(poses) > MOST_PLACES:
        return {}
    return {
        f"{body}.{axis}": ("places of bodies", Label(f"{body}.{axis}", "m"), X[:, k, 3])
        for body, X in poses.items()
        for k, axis in enumerate("xyz")
    }


def _chosen(columns: Mapping[str, tuple[str, Label, Array]]) -> list[str]:
    """A few curves of one unit, outputs before coordinates, and the energy."""
    moving = {name: x for name, x in columns.items() if np.ptp(np.nan_to_num(x[2])) > 0}
    wanted = [x for x in moving if moving[x][0] == "outputs"]
    wanted += [x for x in moving if moving[x][0] == "coordinates"]
    first = [x for x in wanted if moving[x][1].unit == moving[wanted[0]][1].unit][:MOST_CHOSEN]
    return first + [x for x in columns if columns[x][0] == "energy"]


FORMAT, VERSION = "liaison-scene", 1
MOST_LABELS = 8
NOTHING = 1e-9  # a moment below this part of the forces, times the size of the scene, is none
HAND = 1.0  # frequency of the whole mass at a hand that draws it [Hz]
MOST_VERTICES = 40_000  # numbers of corners of surfaces that follow a parameter
ON_LINE = 1e-7  # part of the largest number by which numbers may be off a line
MOMENTS = 0.6  # the longest arrow of a moment, in longest arrows of forces
AROUND = 1.6  # what the camera shows of a mechanism that it goes with, in sizes of the mechanism


@final
@dataclass(frozen=True, slots=True)
class Look:
    """What to see besides the bodies."""

    trace: tuple[Any, ...] = ()
    forces: bool | Iterable[str] = False
    frames: bool = False
    labels: bool | None = None  # None: if the bodies are few
    places: tuple[Any, ...] = ()  # of contact, over the pictures
    speed: float = 1.0

    def shows_labels(self, bodies: int) -> bool:
        """True if names stand on the bodies."""
        return bodies <= MOST_LABELS if self.labels is None else self.labels


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """A scene: its text, as plain data, and its packed arrays in base64."""

    text: Entry
    data: str


def scene_of(run: Trajectory, recorded: Trajectory, mechanism: Mechanism, look: Look) -> Scene:
    """The scene of a run.

    Args:
        run: at the instants of its pictures.
        recorded: the same run as it was recorded, for curves and events.
        mechanism: bodies and joints to draw.
        look: what to see besides.
    """
    pack, drawn = Pack(), drawing(run, mechanism)
    rank = {name: k for k, name in enumerate(drawn.pieces)}
    contact_marks, scales = _marks(run, mechanism, drawn, look)
    seen = without_idle(contact_marks)
    forces = _forces(run, drawn, look, rank, pack)
    hits = struck(run, [x for x in drawn.pieces if x != "ground"], look.speed)
    is_struck = any(bool(np.any(x)) for x in hits.values())
    units = {label.name: label.unit for label in run.labels.get("q", ())}
    text: Entry = {
        "format": FORMAT,
        "version": VERSION,
        "title": run.name,
        "note": _note(run, drawn),
        "view": _view(drawn, mechanism),
        "times": pack.floats(run.t),
        "speed": look.speed,
        "look": {"frames": look.frames, "labels": look.shows_labels(len(drawn.pieces) - 1)},
        "bodies": _bodies(drawn, hits if is_struck else {}, pack),
        "poses": _poses(drawn, pack),
        "joints": joint_entries(mechanism, drawn, rank),
        "loads": placed_loads(mechanism, drawn, rank, units),
        "forces": forces,
        "contacts": [_contact(mark, pack) for mark in seen],
        "arrows": {"force": scales[0] if forces or any(np.any(x.force) for x in contact_marks)
                   else 0.0, "moment": scales[1], "forceColor": FORCE_COLOR,
                   "momentColor": MOMENT_COLOR},
        "states": state_entries(seen, is_struck),
        "traces": [
            {"name": name, "body": rank[body], "place": p.tolist()}
            for name, body, p in trace_points(drawn, look.trace)
        ],
        "strips": strips(run, contact_marks),
        "events": {"count": len(recorded.events), "groups": event_groups(recorded)},
        "series": column_entries(recorded, pack),
    }  # fmt: skip
    return Scene(text, pack.text())


@final
@dataclass(frozen=True, slots=True)
class Live:
    """What simulates in a page: a WebAssembly module, the script that runs it, and its sliders."""

    module: bytes
    script: str
    ranges: Mapping[str, tuple[float, float, float]]  # parameter -> least, first, greatest value
    inputs: Mapping[str, tuple[str, str, str]]  # body -> inputs of a force at its center of mass
    about: Mapping[str, str]  # "mobility", "equations" as HTML, "note", "modes"
    modes: Sequence[Entry] = ()  # assembly modes: title, position q, labels that are held
    contacts: Sequence[Entry] = ()  # places: name, block, sliding, rolls, rows


def live_scene_of(
    runs: tuple[Trajectory, Trajectory], mechanism: Mechanism, looks: tuple[Look, Look], live: Live
) -> Scene:
    """The scene of a mechanism that simulates in its page.

    Args:
        runs: one that shows the space and the forces it takes; and its first and last pictures.
        mechanism: bodies and joints to draw.
        looks: what to see besides, at each of them.
        live: what simulates.
    """
    (run, few), (look, begin) = runs, looks
    scene = scene_of(few, replace(few, events=()), mechanism, begin)
    drawn = drawing(run, mechanism)
    text = scene.text | {"view": _view(drawn, mechanism), "note": "simulates in this page"}
    marked, (force, moment) = _marks(run, mechanism, drawn, look)
    is_pushed = text["forces"] or any(x["pushes"] for x in live.contacts)
    text["arrows"] |= {"force": force if is_pushed else 0.0, "moment": moment}
    text |= {"strips": [], "states": _live_states(live), "modes": list(live.modes)}
    text["live"] = {
        "contacts": _live_contacts(marked, look, live),
        "forces": _live_forces(drawn, text["forces"]),
        "columns": _live_columns(run),
    }
    joints = [x["name"] for x in text["forces"]]

    def geometry(changes: Mapping[str, float]) -> Geometry:
        return _geometry(run, mechanism, drawn.size, changes, joints)

    kept, stale = _variations(geometry, live.ranges)
    text |= {"variations": kept, "stale": stale, "drag": _drag(mechanism, drawn, live)}
    text["crossed"] = _crossed(geometry, live.ranges, kept)
    text["about"] = dict(live.about)
    return Scene(text, scene.data)


def _live_states(live: Live) -> list[Entry]:
    """States that contacts of a page that simulates can have."""
    can = (
        bool(live.contacts),
        bool(live.contacts),
        any(x["sliding"] for x in live.contacts),
        any(x["rolls"] for x in live.contacts),
        bool(live.contacts),
    )
    return [x | {"occurs": y} for x, y in zip(state_entries([]), can, strict=True)]


def _live_contacts(marked: Sequence[Mark], look: Look, live: Live) -> list[Entry]:
    """Of every place of contact what its numbers come from, and how far it stands aside [m]."""
    entries = {x["name"]: x for x in live.contacts}
    aside = {
        mark.name: (mark.point[0] - np.asarray(place.point)[0]).tolist()
        for mark, place in zip(marked, look.places, strict=True)
        if not mark.is_placed
    }
    return [entries[x.name] | {"aside": aside.get(x.name, [0.0, 0.0, 0.0])} for x in marked]


def _live_forces(drawn: Drawing, forces: Sequence[Entry]) -> list[Entry]:
    """The axes of the markers in which forces of joints come, on their bodies."""
    axes = {x["name"]: drawn.markers[x["name"]][1] for x in forces}
    return [{"name": name, "axes": R.ravel().tolist()} for name, R in axes.items()]


def _live_columns(run: Trajectory) -> dict[str, list[tuple[str, str] | None]]:
    """Components of reactions by joint: names and units; none of what no motion determines."""
    series = run.series.get("reactions")
    if series is None:
        return {}
    lost = {*run.undetermined}
    columns: dict[str, list[tuple[str, str] | None]] = {}
    for name, (label, _) in series.columns("reactions").items():
        entry = None if name in lost else (name, label.unit)
        columns.setdefault(name.rpartition(".")[0], []).append(entry)
    return columns


def _drag(mechanism: Mechanism, drawn: Drawing, live: Live) -> Entry:
    """Bodies that a hand can draw, and the spring and damper between it and them."""
    values = drawn.parameters
    mass = sum(float(floats(x.mass, values)) for x in mechanism.bodies) or 1.0
    stiffness = mass * (2 * np.pi * HAND) ** 2
    rank = {name: k for k, name in enumerate(drawn.pieces)}
    return {
        "stiffness": stiffness,
        "damping": float(np.sqrt(stiffness * mass)),
        "bodies": [
            {"body": rank[x.name], "place": floats(x.com, values).tolist(),
             "inputs": list(live.inputs[x.name])}
            for x in mechanism.bodies
            if x.name in live.inputs
        ],
    }  # fmt: skip


def _variations(
    geometry: Callable[[Mapping[str, float]], Geometry],
    ranges: Mapping[str, tuple[float, float, float]],
) -> tuple[list[Entry], list[str]]:
    """Numbers of the drawing that follow parameters, at some values of each.

    Args:
        geometry: the numbers, with other values of parameters.
        ranges: of each parameter the least, the first and the greatest value.

    Returns:
        For each parameter its `values` and, by their paths in the scene, `numbers` at each value,
        two where they change along a line; and the parameters whose drawing changes in ways that
        numbers cannot follow.
    """
    kept: list[Entry] = []
    stale: list[str] = []
    first = geometry({})
    for name, (low, value, high) in ranges.items():
        values = [float(x) for x in (*np.linspace(low, value, 3), *np.linspace(value, high, 3)[1:])]
        seen = [geometry({name: x}) for x in values]
        if any(x.keys() != first.keys() for x in seen):
            stale.append(name)
            continue
        moved = {x: np.array([y[x] for y in seen]) for x in first}
        moved = {x: y for x, y in moved.items() if np.any(y != first[x])}
        if sum(y.size for x, y in moved.items() if x[-1] == "vertices") > MOST_VERTICES:
            stale.append(name)
            moved = {x: y for x, y in moved.items() if x[-1] != "vertices"}
        lines = {x for x, y in moved.items() if _is_line(values, y)}
        for listed, rows in ((lines, [0, 4]), (moved.keys() - lines, [*range(5)])):
            entries = [
                {"path": list(x), "numbers": [[float(f"{z:.6g}") for z in y[k]] for k in rows]}
                for x, y in moved.items()
                if x in listed
            ]
            if entries:
                at = [values[k] for k in rows]
                kept.append({"parameter": name, "values": at, "entries": entries})
    return kept, stale


def _crossed(
    geometry: Callable[[Mapping[str, float]], Geometry],
    ranges: Mapping[str, tuple[float, float, float]],
    kept: Sequence[Entry],
) -> list[list[str]]:
    """Pairs of parameters whose changes of a drawing do not add up, such as length and angle."""
    paths: dict[str, set[Path]] = {}
    for one in kept:
        paths.setdefault(one["parameter"], set()).update(tuple(x["path"]) for x in one["entries"])
    ends = {x: high if high != value else low for x, (low, value, high) in ranges.items()}
    first = geometry({})
    alone = {x: geometry({x: ends[x]}) for x in paths} if len(paths) > 1 else {}
    pairs = []
    for a, b in combinations(paths, 2):
        shared = paths[a] & paths[b]
        both = geometry({a: ends[a], b: ends[b]}) if shared else {}
        for x in shared:
            known = [np.array(y.get(x, ())) for y in (first, alone[a], alone[b], both)]
            if len({y.size for y in known}) > 1 or _do_not_add(*known):
                pairs.append([a, b])
                break
    return pairs


def _do_not_add(first: Array, one: Array, other: Array, both: Array) -> bool:
    """Whether two changes together are not the sum of each."""
    off = np.abs(both - (one + other - first))
    return bool(np.any(off > ON_LINE * (1 + np.abs(both).max(initial=0.0))))


def _is_line(values: Sequence[float], numbers: Array) -> bool:
    """Whether numbers at values lie on lines, as far as can be seen."""
    part = (np.array(values) - values[0]) / ((values[-1] - values[0]) or 1.0)
    line = numbers[0] + part[:, None] * (numbers[-1] - numbers[0])
    return bool(np.all(np.abs(numbers - line) <= ON_LINE * (1 + np.abs(numbers).max())))


def _geometry(
    run: Trajectory,
    mechanism: Mechanism,
    size: float,
    changes: Mapping[str, float],
    joints: Sequence[str] = (),
) -> Geometry:
    """Lists of numbers of the drawing by their paths in the scene, with other parameters."""
    known = {**run.meta.get("parameters", {}), **changes}
    few = replace(run.resample([run.t[0]], rough=True), meta={**run.meta, "parameters": known})
    drawn = drawing(few, mechanism, size)
    rank = {name: k for k, name in enumerate(drawn.pieces)}
    units = {label.name: label.unit for label in run.labels.get("q", ())}
    text: Entry = {
        "bodies": [
            {"pieces": [_plain_piece(x) for x in pieces], "label": _listed(drawn.middles.get(name))}
            for name, pieces in drawn.pieces.items()
        ],
        "joints": [{"place": x["place"]} for x in joint_entries(mechanism, drawn, rank)],
        "loads": [
            {x: one[x] for x in ("ends", "place", "axes") if x in one}
            for one in placed_loads(mechanism, drawn, rank, units)
        ],
        "forces": [{"place": _listed(drawn.markers[x][2])} for x in joints],
        "live": {"forces": [{"axes": _listed(drawn.markers[x][1].ravel())} for x in joints]},
        "view": {"supports": supports(mechanism, drawn)},
    }
    return dict(_numbers(text, ()))


def _plain_piece(piece: Piece) -> Entry:
    entry: Entry = {
        "size": [float(x) for x in piece.size],
        "turn": quaternion_of(piece.R).tolist(),
        "place": piece.p.tolist(),
    }
    if piece.surface is not None:
        entry["vertices"] = piece.surface.vertices.ravel().tolist()
    return entry


def _listed(x: Array | None) -> list[float]:
    return [] if x is None else [float(y) for y in x]


def _numbers(
    entry: Any, path: tuple[str | int, ...]
) -> Iterable[tuple[tuple[str | int, ...], list[float]]]:
    """Every list of numbers below an entry, with its path, rounded to what can be seen."""
    todo: list[tuple[Any, tuple[str | int, ...]]] = [(entry, path)]
    while todo:
        one, at = todo.pop()
        if isinstance(one, dict):
            todo += [(x, (*at, key)) for key, x in one.items()]
        elif isinstance(one, list | tuple):
            if one and all(isinstance(x, float) for x in one):
                yield at, [round(x, 12) + 0.0 for x in one]
            else:
                todo += [(x, (*at, k)) for k, x in enumerate(one)]


FEW_NAMES = 3
"""Files that are not drawn, up to which they are named."""


def _note(run: Trajectory, drawn: Drawing) -> str:
    note = f"{run.t[0]:g} to {run.t[-1]:g} s"
    if not drawn.missing:
        return note
    names = list(dict.fromkeys(PurePath(x.replace("\\", "/")).name for x in drawn.missing))
    more = f" and {len(names) - FEW_NAMES} more" if len(names) > FEW_NAMES else ""
    return f"{note}; not drawn: {', '.join(names[:FEW_NAMES])}{more}"


def _view(drawn: Drawing, mechanism: Mechanism) -> Entry:
    """Camera, size of symbols, and the ground below; a body to go with, and how large all is."""
    travel, follow = drawn.travel, None
    if travel is None:
        eye = camera(drawn.reached, drawn.up)
    else:
        middle, near = travel.begin.mean(axis=0), travel.begin
        eye = camera(middle + AROUND * (near - middle), drawn.up)
        half = float(np.linalg.norm(np.ptp(near, axis=0))) / 2
        follow = {"body": [*drawn.pieces].index(travel.body), "size": AROUND * half}
    return {
        "up": drawn.up.tolist(),
        "size": drawn.size,
        "low": drawn.reached.min(axis=0).tolist(),
        "high": drawn.reached.max(axis=0).tolist(),
        "floor": float((drawn.reached @ drawn.up).min()),
        "position": eye.position.tolist(),
        "target": eye.target.tolist(),
        "angle": eye.angle,
        "aspect": ASPECT,
        "supports": supports(mechanism, drawn),
        "follow": follow,
    }


def _bodies(drawn: Drawing, hits: Mapping[str, NDArray[np.bool_]], pack: Pack) -> list[Entry]:
    entries = []
    for k, (name, pieces) in enumerate(drawn.pieces.items()):
        is_ground = name == "ground"
        color = GROUND_COLOR if is_ground else BODY_COLORS[k % len(BODY_COLORS)]
        own = next((x.color for x in pieces if not x.joint), color)
        middle = drawn.middles.get(name)
        is_hit = hits.get(name)
        entries.append(
            {
                "name": name,
                "color": own,
                "ground": is_ground,
                "label": None if middle is None else middle.tolist(),
                "pieces": [_piece(x, pack) for x in pieces],
                "struck": None if is_hit is None else pack.whole(is_hit.astype(np.int64)),
            }
        )
    return entries


def _piece(piece: Piece, pack: Pack) -> Entry:
    entry: Entry = {
        "kind": piece.kind,
        "size": piece.size,
        "turn": quaternion_of(piece.R).tolist(),
        "place": piece.p.tolist(),
        "color": piece.color,
    }
    if piece.opacity < 1:
        entry["opacity"] = piece.opacity
    if piece.joint:
        entry["joint"] = piece.joint
    if piece.surface is not None:
        entry["vertices"], _ = pack.quantised(piece.surface.vertices)
        entry["faces"] = pack.whole(piece.surface.faces)
        entry["smooth"] = piece.surface.is_smooth
    return entry


def _poses(drawn: Drawing, pack: Pack) -> Entry:
    """Places and turns of all bodies over time, and by how much they are off."""
    X = np.stack([drawn.poses[name] for name in drawn.pieces], axis=1)
    turn = _continuous(quaternion_of(np.ascontiguousarray(X[..., :3])))
    places, read = pack.quantised(X[..., 3])
    turns, read_turn = pack.quantised(turn)
    read_turn = read_turn / np.linalg.norm(read_turn, axis=-1, keepdims=True)
    # the angle between two turns: 2 |vector part of their quotient|
    half = np.minimum(
        np.linalg.norm(read_turn - turn, axis=-1), np.linalg.norm(read_turn + turn, axis=-1)
    )
    return {
        "places": places,
        "turns": turns,
        "error": {
            "place": float(np.abs(read - X[..., 3]).max(initial=0.0)),
            "angle": float(2 * half.max(initial=0.0)),
        },
    }


def _continuous(turn: Array) -> Array:
    """Quaternions of shape (n, bodies, 4) whose signs do not change from row to row."""
    sign = np.sign(np.sum(turn[1:] * turn[:-1], axis=-1))
    flips = np.cumprod(np.where(sign < 0, -1.0, 1.0), axis=0)
    return np.concatenate([turn[:1], turn[1:] * flips[..., None]])


def _forces(
    run: Trajectory, drawn: Drawing, look: Look, rank: Mapping[str, int], pack: Pack
) -> list[Entry]:
    """The force of every joint that is asked for, at the marker of its successor [N]."""
    entries = []
    for name, force in joint_forces(run, drawn, look.forces).items():
        body, _, place = drawn.markers[name]
        values = pack.floats(np.nan_to_num(force))
        entries.append(
            {"name": name, "body": rank[body], "place": place.tolist(), "values": values}
        )
    return entries


def _marks(
    run: Trajectory, mechanism: Mechanism, drawn: Drawing, look: Look
) -> tuple[list[Mark], tuple[float, float]]:
    """Places of contact with forces [N] and moments [N·m], and lengths of arrows for a unit."""
    forces = joint_forces(run, drawn, look.forces)
    known = [*forces.values(), *(place.force for place in look.places)]
    scale = LONGEST * drawn.size / greatest(known)
    if not look.places:
        return [], (scale, 0.0)
    turning = LONGEST * drawn.size / greatest([place.moment for place in look.places])
    if turning * NOTHING > scale / drawn.size:
        turning = 0.0
    radii = dot_sizes(mechanism, look.places, drawn.size, drawn.parameters)
    listed = marks(run, look.places, (1.0, 1.0), radii, look.speed, rolling_ones(mechanism))
    eye = camera(drawn.reached, drawn.up)
    side = np.cross(eye.target - eye.position, drawn.up)
    away = -0.14 * drawn.size * side / np.linalg.norm(side)
    return beside(listed, away, drawn.up), (scale, MOMENTS * turning)


def _contact(mark: Mark, pack: Pack) -> Entry:
    points, _ = pack.quantised(np.nan_to_num(mark.point))
    entry: Entry = {
        "name": mark.name,
        "owner": mark.owner,
        "placed": mark.is_placed,
        "radius": mark.radius,
        "points": points,
        "forces": pack.floats(mark.force, 15),
        "states": pack.whole(mark.states),
        "hits": pack.whole(mark.is_hit.astype(np.int64)),
    }
    if np.any(mark.moment):
        entry["moments"] = pack.floats(mark.moment, 15)
    return entry
