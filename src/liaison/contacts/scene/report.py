"""Report of a run of a scene as a Trajectory: poses, twists, energy, forces of planes, events.

Public names: scene_trajectory, scene_events, scene_modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from liaison.contacts.impulses.path_layout import REASONS
from liaison.numeric import Array
from liaison.simulation.events.log import CROSSES, IMPACTS, SLIPS, STICKS, WHATS, entries_of
from liaison.simulation.plan.plan import Plan
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.simulation.steps.layout import Arrays

from .layout import World
from .notes import CLOSED, CODES, SLIDE, STICK, WIDE
from .parts import Bodies, SceneModel

GROUPS = ("sliding", "rolling", "pivoting")
RUBBING = {STICK: "sticks", SLIDE: "slips"}


def scene_trajectory(
    plan: Plan,
    arrays: Arrays,
    rows: Array,
    *,
    events: tuple[EventRecord, ...],
    status: str,
    message: str,
    meta: Mapping[str, Any] = MappingProxyType({}),
) -> Trajectory:
    """The record of a scene: q and v by body, as `body.x`, in the axes of the ground.

    Series: energy, poses, contacts (how many), residual, penetration, and planes: the force of each
    on the bodies, by component [N].

    Args:
        plan: of the run.
        arrays: of the run.
        rows: recorded: t, q, v, and what is shown besides.
        events: of contacts and stop conditions.
        status: how the run ended.
        message: the same in a sentence.
        meta: what is known besides, as plain data.
    """
    program, nq, nv = plan.program, plan.size("nq"), plan.size("nv")
    t, q, v, shown = np.split(rows, [1, 1 + nq, 1 + nq + nv], axis=1)
    summary = _summary(plan, arrays)
    model: SceneModel = program.facts["scene"]
    return Trajectory(
        name=model.name,
        t=t[:, 0].copy(),
        q=q.copy(),
        v=v.copy(),
        labels={name: program.labels[name] for name in ("q", "v")},
        series=_series(model, q, v, shown),
        events=events,
        status=status,
        message=f"{message.rstrip('.')}{_missed(summary)}.",
        counts={
            x: summary[x] for x in ("steps", "sweeps", "turns", "contacts", "missed", "limited")
        },
        meta={"method": "moreau", "planes": model.planes.tolist(), **summary, **meta},
    )


def _series(model: SceneModel, q: Array, v: Array, shown: Array) -> dict[str, Series]:
    """Energy and poses from the states, and what was shown by the steps."""
    b, n = model.bodies, len(model.bodies.names)
    series = {
        "energy": Series(_energy(b, model.gravity, q, v), "J", {"part": ("T", "U")}),
        "poses": Series.of_poses(_framed(b, _poses(q, n)), b.names),
        "contacts": Series(shown[:, 0]),
        "residual": Series(shown[:, 1]),
        "penetration": Series(shown[:, 2], "m"),
    }
    if model.laws.names:
        numbers = tuple(x.removeprefix("plane ") for x in model.laws.names)
        forces = shown[:, 3:].reshape(len(q), -1, 3)
        series["planes"] = Series(forces, "N", {"plane": numbers, "component": ("x", "y", "z")})
    return series


def scene_events(plan: Plan, event_rows: Array, until: float) -> tuple[EventRecord, ...]:
    """Events of pairs, in the order of time: 'a-b', or 'a-plane'; and what stopped the run.

    They hold no states. Events of a step after `until`, where it was stopped, are left out.
    """
    model: SceneModel = plan.program.facts["scene"]
    empty = np.zeros(0)
    listed = []
    for event in entries_of(event_rows):
        if event.t > until:
            break
        if event.what == CROSSES:
            listed.append(EventRecord(plan.events[event.first].name, event.t, empty, empty))
            continue
        pair = _pair_name(model, event.first, event.second)
        group, what = divmod(event.what, CODES)
        name = f"{pair}: {GROUPS[group]}" if what in (STICKS, SLIPS) else pair
        fast = event.speed if what == IMPACTS else None
        listed.append(EventRecord(name, event.t, empty, empty, WHATS[what], None, fast))
    return tuple(listed)


def scene_modes(plan: Plan, arrays: Arrays) -> dict[str, str]:
    """Pairs that are closed now, and where their friction is known whether it sticks or slips."""
    model: SceneModel = plan.program.facts["scene"]
    world, modes = World(arrays.run.beside), {}
    for k in range(int(world.followed)):
        pair = world.pair[k]
        if pair.mode != CLOSED:
            continue
        first, second = divmod(int(pair.key) - 1, WIDE)
        name = _pair_name(model, first - int(world.planes), second)
        modes[name] = "closed"
        for group, held in zip(GROUPS, pair.rubbing.tolist(), strict=True):
            if held in RUBBING:
                modes[f"{name}: {group}"] = RUBBING[held]
    return modes


def _pair_name(model: SceneModel, first: int, second: int) -> str:
    """'a-b', or 'a-plane'; a plane is −1 − its number."""
    names, planes = model.bodies.names, model.laws.names
    if first >= 0:
        return f"{names[first]}-{names[second]}"
    return f"{names[second]}-{planes[-1 - first]}"


def _summary(plan: Plan, arrays: Arrays) -> dict[str, Any]:
    """Counts, and the worst of what the steps missed."""
    run, world = arrays.run, World(arrays.run.beside)
    return {
        "steps": int(run.steps), "sweeps": int(world.sweeps), "contacts": int(world.most),
        "turns": int(world.turns), "missed": int(world.missed), "limited": int(world.limited),
        "passed": int(world.passed), "unfound": int(world.unfound),
        "reasons": {text: int(world.reasons[k]) for k, text in REASONS.items() if world.reasons[k]},
        "penetration": float(world.worst_depth), "residual": float(world.worst_residual),
        "step": float(run.step), "until": plan.until,
    }  # fmt: skip


def _missed(summary: dict[str, Any]) -> str:
    """The part of the message on steps whose impulses miss the tolerance; empty without any."""
    passed = ""
    if summary["passed"]:
        passed = (
            f"; in {summary['passed']} steps, even in parts of a thousandth, bodies go farther "
            "past each other than they are thick, and may have passed through: take a smaller step"
        )
    if summary["missed"] == 0:
        return passed
    return passed + (
        f"; impulses of {summary['missed']} of {summary['steps']} steps miss the tolerance, by a "
        f"residual of {summary['residual']:.2g} at most"
        + "".join(f" ({count}: {why})" for why, count in summary["reasons"].items())
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
