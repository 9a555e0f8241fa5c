"""The block of a world of a scene before its first step: what it weighs, its shapes, tolerances.

Public names: block_of, kept_words, empty_island, spare_words, shared_words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.convex.field_layout import Fields
from liaison.contacts.convex.layout import Bodies as ConvexBodies
from liaison.contacts.scene.boxes import reach_of, thickness_of
from liaison.contacts.scene.islands import MANY, ROUNDING
from liaison.contacts.scene.layout import RESERVED, Crew, World
from liaison.contacts.scene.parts import SceneModel
from liaison.contacts.scene.world import scene_scratch, world_of
from liaison.program.loops.records import words_of
from liaison.program.loops.special import reals_of
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.scales import power_near

from .layout import BITS, COLORS, HELD, POINTS, SHARED, SLOTS, Block, Hot, Paint, Reaches

SINGLE_TOLERANCE, SINGLE_DEPTH, SINGLE_MANY = 1e-4, 1e-6, 100.0
"""Residual, depth beside the size, and times that where contacts are many, in single precision."""

NEARLY = 1e-7
"""Residual of few contacts with arms that solves a step."""

NEAR = 8 * SLOTS
"""Slots that there is room for beside places, for each shape."""

SAME = 1e-9
"""Beside the largest, differences of moments of inertia of a ball that are rounding."""

OWN = ("mean", "box", "polygon", "clipped", "ask", "gathered", "candidate")
"""Arrays of a `World` that every thread has of its own."""

STATES = ("pose", "mid", "end", "speed", "free")
"""Those that are arrays of the block."""

TABLES = (
    "body", "collider", "plane", "solid", "form", "forms", "ground", "terrain", "law",
    "law_between",
)  # fmt: skip
"""Those that no step changes, but for inertia on the ground."""


def empty_island(model: SceneModel) -> NDArray[np.int64]:
    """The workspace in which all contacts of a world are solved at once, as words."""
    scratch = scene_scratch(len(model.bodies.names), model.capacity, 1)
    return scratch[RESERVED + Crew.header :].view(np.int64)


def spare_words(plan: Plan, *, lanes: int = 1) -> int:
    """Words of a block and of that workspace: of each world that is under way."""
    model: SceneModel = plan.program.facts["scene"]
    return int(block_of(plan, lanes=lanes).words) + len(empty_island(model))


def kept_words(plan: Plan) -> int:
    """Numbers that a world keeps from launch to launch: impulses to begin with."""
    counts = block_of(plan).counts
    return counts["units"] + 1 + counts["room"] * (5 + 3 * counts["has_turning"])


def block_of(plan: Plan, *, lanes: int = 1, single: bool = False) -> Block:
    """The block of a world before its first step."""
    model: SceneModel = plan.program.facts["scene"]
    laws, empty = model.laws, empty_island(model)
    at = np.flatnonzero(empty)
    world = None if _is_of_balls(model) else world_of(model, POINTS)
    values = _tables(world)
    n = len(model.bodies.names)
    wide = n if world is None else int(world.balls + world.boxes)
    room = model.capacity + (0 if world is None else NEAR * wide)
    w = Block.new(
        {}, bodies=n, general=int(world is not None), alike=_alike(model),
        units=n if world is None else int(world.colliders), wide=wide,
        planes=len(model.planes) + len(model.terrains), terrains=len(model.terrains),
        room=room,
        most_pairs=model.capacity, laws=len(laws.values), classes=len(laws.table), lanes=lanes,
        hot=_hot(n, room, lanes), ways=-(-n // BITS),
        heads=len(at), lane_arrays=0 if world is None else len(_arrays()),
        lane_words=0 if world is None else _lane_words(world),
        mid_at=World.fields["mid"].slot, end_at=World.fields["end"].slot,
        forms_words=_own_forms(world),
        table_words=0 if world is None else int(world.words), wholes=len(values[0]),
        reals=len(values[2]), has_bounce=int(np.any(laws.values[:, 1] > 0)),
        has_turning=int(np.any(laws.values[:, 2:] > 0)),
    )  # fmt: skip
    w.head_at[:], w.head[:] = at, empty[at]
    w.whole_at[:], w.whole[:], w.real_at[:], w.real[:] = values
    if world is None:
        _set_balls(w, model)
    else:
        _set_bodies(w, world)
    w.plane_surface[:] = laws.planes
    w.plane[: len(model.planes)] = model.planes
    w.friction_of[:], w.law_between[:] = laws.values, laws.table
    _set_tolerances(w, model, single=single)
    return w


def shared_words(block: Block) -> int:
    """Words of the memory that threads of a block share: of sweeps, of pairs, of colors."""
    needs = (words_of(Hot, block), words_of(Reaches, block), words_of(Paint, block))
    return max([1, *(x for x in needs if x <= SHARED)])


def _alike(model: SceneModel) -> int:
    """1 if all bodies have one mass, one inertia and, of balls, one radius."""
    b = model.bodies
    radius = b.ball[:, 3] if len(b.owner) == len(b.names) else np.arange(2)
    return int(np.ptp(b.mass) == 0 and np.ptp(b.inertia[:, 0, 0]) == 0 and np.ptp(radius) == 0)


def _hot(bodies: int, room: int, lanes: int) -> int:
    """Contacts that memory which threads share has room for, beside velocities."""
    return room if lanes == 1 else max(0, min(room, (SHARED - 12 * bodies - COLORS - 2) // HELD))


def _set_balls(w: Block, model: SceneModel) -> None:
    """Balls about their centers of mass."""
    b = model.bodies
    at = np.argsort(b.owner)
    radius, inertia = b.ball[at, 3], b.inertia[:, 0, 0]
    w.mass[:], w.light[:], w.scale[:] = b.mass, 1 / b.mass, radius
    w.quick[:] = radius**2 / inertia
    w.surface[:], w.body[:] = model.laws.bodies, np.arange(len(b.names))
    w.thin[:], w.lever[:], w.radius[:] = 2 * radius, 0.0, radius


def _set_bodies(w: Block, world: World) -> None:
    """Any bodies, and where what a thread of them works in lies."""
    w.mass[:] = [x.mass for x in world.body]
    w.light[:], w.scale[:] = 1 / w.mass, 1.0
    w.surface[:] = [x.surface for x in world.collider]
    w.body[:] = [x.body for x in world.collider]
    wide = range(len(w.thin))
    w.thin[:] = [thickness_of(k, world) for k in wide]
    w.lever[:] = [reach_of(k, world) for k in wide]
    w.radius[:] = [world.collider[k].radius for k in wide]
    w.middle[:] = np.reshape([world.collider[k].center for k in wide], (-1, 3))
    lane, tables = w.span("lane_area").start, w.span("tables").start
    own = World.header
    for k, name in enumerate(_arrays()):
        field = World.fields[name]
        w.lane_at[k], w.lane_shift[k] = field.slot, 1
        if name in STATES:
            w.lane_head[k] = w.span(name).start - lane
        elif _is_own(name, world):
            w.lane_head[k], w.lane_shift[k] = own, 0
            own += _length(world, name)
        else:
            w.lane_head[k] = tables + int(world.ints[field.slot]) - lane


def _set_tolerances(w: Block, model: SceneModel, *, single: bool) -> None:
    size = model.size
    w.gravity[:] = model.gravity
    w.tolerance = SINGLE_TOLERANCE if single else model.tolerance
    w.few_tolerance = min(w.tolerance, 1.0 if single else NEARLY if w.general else ROUNDING)
    w.depth = size * (SINGLE_DEPTH if single else model.depth)
    w.loose = w.depth * (SINGLE_MANY if single else MANY)
    w.margin, w.touch = 0.01 * size, 1e-4 * size
    w.start_depth = max(1e-4 if single else 0.0, model.deep) * power_near(size)
    w.sweeps_allowed = model.sweeps


def _is_of_balls(model: SceneModel) -> bool:
    """Whether every body is one ball about its center of mass, with one moment of inertia."""
    b = model.bodies
    if model.terrains or len(b.boxes()[0]) or len(b.owner) != len(b.names):
        return False
    if len(set(b.owner.tolist())) < len(b.names) or np.any(b.ball[:, 3] <= 0):
        return False
    size = b.inertia[:, 0, 0]
    uneven = np.abs(b.inertia - size[:, None, None] * np.eye(3)).max(axis=(1, 2))
    apart = np.abs(b.ball[:, :3]).max(axis=1)
    return bool(np.all(uneven <= SAME * size) and np.all(apart <= SAME * b.ball[:, 3]))


def _arrays() -> list[str]:
    return [name for name, field in World.fields.items() if field.is_array]


def _is_own(name: str, world: World) -> bool:
    # of a ball on a height field the radius is written into its form
    return name in OWN or (name == "forms" and world.terrains > 0)


def _own_forms(world: World | None) -> int:
    return 0 if world is None or not world.terrains else _length(world, "forms")


def _length(world: World, name: str) -> int:
    span = world.span(name)
    return int(span.stop - span.start)


def _lane_words(world: World) -> int:
    """Words of the head and the workspace of a thread."""
    return World.header + sum(_length(world, x) for x in _arrays() if _is_own(x, world))


def _tables(world: World | None) -> tuple[Any, Any, Any, Any]:
    """Places and values of whole numbers, then of others, in the tables that threads share."""
    nothing = np.zeros(0, dtype=np.int64)
    if world is None:
        return nothing, nothing, nothing, np.zeros(0)
    is_real = reals_of(world)
    for name, kind in (("forms", ConvexBodies), ("terrain", Fields)):
        span = world.span(name)
        if span.stop > span.start:
            is_real[span] = reals_of(kind(world.ints[span]))
    used = np.zeros(len(is_real), dtype=bool)
    used[: World.header] = True
    for name in TABLES:
        used[world.span(name)] = True
    wholes, reals = np.flatnonzero(used & ~is_real), np.flatnonzero(used & is_real)
    return wholes, world.ints[wholes], reals, world.floats[reals]
