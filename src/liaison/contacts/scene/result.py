"""What happened in a scene, as a Trajectory: places and rates of bodies, energy, forces of planes.

Public names: scene_trajectory, scene_events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liaison.numeric import Array
from liaison.program.loops.records import Rows, evaluate
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.simulation.steps.sides_layout import WHATS
from liaison.units import Label

from .layout import Event, Row
from .notes import CODES, IMPACTS, SLIPS, STICKS
from .parts import Bodies

PLACE = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", ""))
GROUPS = ("sliding", "rolling", "pivoting")
RATE = (
    ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"),
)  # fmt: skip


def scene_events(
    bodies: Bodies, planes: Sequence[str], rows: Rows[Event]
) -> tuple[EventRecord, ...]:
    """What happened to pairs, in the order of time: 'a-b', or 'a-plane' of a plane.

    Args:
        bodies: what moves.
        planes: names of the planes.
        rows: as the loop tells them.
    """
    empty = np.zeros(0)
    found = []
    for event in sorted(rows, key=lambda x: float(x.t)):
        one = bodies.names[event.second]
        if event.first >= 0:
            pair = f"{bodies.names[event.first]}-{one}"
        else:
            pair = f"{one}-{planes[-1 - event.first]}"
        group, what = divmod(int(event.what), CODES)
        name = f"{pair}: {GROUPS[group]}" if what in (STICKS, SLIPS) else pair
        fast = float(event.speed) if what == IMPACTS else None
        found.append(EventRecord(name, float(event.t), empty, empty, WHATS[what], None, fast))
    return tuple(found)


def scene_trajectory(
    bodies: Bodies, planes: Sequence[str], gravity: Array, rows: Array, told: dict[str, Any],
    events: tuple[EventRecord, ...] = (),
) -> Trajectory:  # fmt: skip
    """The record of a scene: q and v by body, as `body.x`, in the axes of the ground.

    Series: energy, contacts (how many), residual, penetration, and planes: the force of each on
    the bodies, by component [N].
    """
    names = bodies.names
    n = len(names)
    counts = {"bodies": n, "planes": len(planes)}

    def column(name: str) -> Array:
        start = evaluate(Row.start(name), counts)
        return rows[:, start : start + evaluate(Row.fields[name].length, counts)]

    t, q, v = column("t")[:, 0], column("q"), column("v")
    series = {
        "energy": Series(_energy(bodies, gravity, q, v), "J", {"part": ("T", "U")}),
        "poses": Series.of_poses(_framed(bodies, _poses(q, n)), names),
        "contacts": Series(column("contacts")[:, 0]),
        "residual": Series(column("residual")[:, 0]),
        "penetration": Series(column("penetration")[:, 0], "m"),
    }
    if len(planes):
        numbers = tuple(x.removeprefix("plane ") for x in planes)
        forces = column("forces").reshape(len(rows), -1, 3)
        series["planes"] = Series(forces, "N", {"plane": numbers, "component": ("x", "y", "z")})
    return Trajectory(
        name="scene",
        t=t.copy(),
        q=q.copy(),
        v=v.copy(),
        labels={
            "q": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in PLACE),
            "v": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in RATE),
        },
        series=series,
        events=events,
        message=f"reached t = {column('t')[-1, 0]:.9g} s{_missed(told)}.",
        counts={x: told[x] for x in ("steps", "sweeps", "turns", "contacts", "missed")},
        meta={"method": "moreau", **told},
    )


def _missed(told: dict[str, Any]) -> str:
    """What a message says where impulses of steps were not found to the tolerance."""
    if told["missed"] == 0:
        return ""
    return (
        f"; impulses of {told['missed']} of {told['steps']} steps miss the tolerance, by a "
        f"residual of {told['residual']:.2g} at most"
    )


def _energy(b: Bodies, gravity: Array, q: Array, v: Array) -> Array:
    """Kinetic and potential energy at every instant."""
    n = len(b.names)
    speed, poses = v.reshape(len(v), n, 6), _poses(q, n)
    local = np.einsum("tnji,tnj->tni", poses[..., :3], speed[..., :3])
    turning = np.einsum("tni,nij,tnj->t", local, b.inertia, local)
    moving = np.einsum("n,tni,tni->t", b.mass, speed[..., 3:], speed[..., 3:])
    height = np.einsum("n,tni,i->t", b.mass, poses[..., 3], gravity)
    return np.stack([0.5 * (turning + moving), -height], axis=1)


def _framed(b: Bodies, poses: Array) -> Array:
    """Poses of the frames of bodies, from those of their centers of mass."""
    if b.frame is None:
        return poses
    R = np.einsum("tnij,njk->tnik", poses[..., :3], b.frame[..., :3])
    p = poses[..., 3] + np.einsum("tnij,nj->tni", poses[..., :3], b.frame[..., 3])
    return np.concatenate([R, p[..., None]], axis=3)


def _poses(q: Array, n: int) -> Array:
    """[R | p] of the centers of mass, shape (instants, n, 3, 4)."""
    table = q.reshape(len(q), n, 7)
    R = rotation_of(table[..., 3:])
    return np.concatenate([R, table[..., :3, None]], axis=3)
