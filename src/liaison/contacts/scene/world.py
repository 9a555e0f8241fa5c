"""The world of a scene as a run begins, and with more room while it goes on.

Public names: scene_arrays, world_of, enlarged, with_room, start_error,
thicknesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from liaison.contacts.convex.field_layout import fields_of
from liaison.contacts.convex.kernel import thickness
from liaison.contacts.convex.layout import bodies_of
from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.simulation.plan.plan import Plan, lasting_arrays
from liaison.simulation.plan.scales import power_near
from liaison.simulation.steps.layout import Arrays, with_block

from .layout import (
    Body,
    Collider,
    Extent,
    Plane,
    SceneSizes,
    Words,
    World,
    fill,
    new_world,
    scene_scratch,
)
from .parts import Bodies, SceneModel, begins_below, begins_inside

EVENTS = 16
"""Events that fit into their buffer, for each contact there is room for; a step needs eight."""

PROGRESS = (
    "h", "left", "excess", "residual", "penetration", "worst_residual", "worst_depth",
    "sweeps", "most", "followed", "turns", "missed", "limited", "unfound", "reasons", "passed",
    "parts", "tried", "ended",
)  # fmt: skip
"""What a world keeps when it gets more room, besides the pairs it follows."""


def scene_arrays(plan: Plan) -> Arrays:
    """As `lasting_arrays`, with the world of the plan's scene in the block of the run."""
    model: SceneModel = plan.program.facts["scene"]
    logged = EVENTS * model.capacity if model.events else 0
    blocks: list[Arrays] = []

    def room(words: int) -> Words:
        blocks.append(lasting_arrays(plan, beside=words, logged=logged))
        return blocks[0].run.beside

    # laid out where the run lies: most of it stays untouched until it is needed
    world_of(model, model.capacity, room)
    arrays = blocks[0]
    unit = power_near(model.size)
    arrays.run.start_tolerance = model.deep * unit
    arrays.run.scales.position.reshape(-1, 7)[:, :3] = unit
    threads = plan.program.facts["threads"]
    scratch = scene_scratch(len(model.bodies.names), model.capacity, threads, panels=True)
    return replace(arrays, scratch=scratch)


def enlarged(plan: Plan, arrays: Arrays) -> Arrays:
    """Twice the room for contacts; the run goes on, its buffer of events being empty."""
    model: SceneModel = plan.program.facts["scene"]
    run, before = arrays.run, World(arrays.run.beside)
    capacity = 2 * int(before.capacity)
    begin = run.span("beside").start
    blocks: list[Words] = []

    def room(words: int) -> Words:
        blocks.append(np.zeros(begin + words, dtype=np.int64))
        return blocks[0][begin:]

    world = world_of(model, capacity, room)
    kept, followed = World.slots(*PROGRESS), int(before.followed)
    world.ints[kept] = before.ints[kept]
    world.pair.ints[:followed] = before.pair.ints[:followed]
    words = blocks[0]
    words[:begin] = run.ints[:begin]
    words[0] = words.size
    larger = type(run)(words)
    larger.event_capacity += EVENTS * (capacity - int(before.capacity)) if model.events else 0
    threads = plan.program.facts["threads"]
    scratch = scene_scratch(len(model.bodies.names), capacity, threads, panels=True)
    return replace(with_block(arrays, words), scratch=scratch)


def with_room(plan: Plan, arrays: Arrays, words: int) -> Arrays:
    """The same with the room for contacts that a block of so many words has, if there is such."""
    if arrays.run.words == words:
        return arrays
    other = scene_arrays(plan)
    while other.run.words < words:
        other = enlarged(plan, other)
    scratch = max(arrays.scratch, other.scratch, key=len)
    return replace(with_block(arrays, other.run.ints), scratch=scratch)


def start_error(plan: Plan, arrays: Arrays) -> SimulationError:
    """The error of bodies that begin inside each other or below a height field, by name."""
    model: SceneModel = plan.program.facts["scene"]
    world, names = World(arrays.run.beside), model.bodies.names
    pair = world.candidate[int(arrays.run.detail[0])]
    depth, second = float(arrays.run.worst), names[world.collider[int(pair.second)].body]
    if pair.first < 0:
        return begins_below(second, model.laws.names[-1 - int(pair.first)], depth)
    return begins_inside(names[world.collider[int(pair.first)].body], second, depth)


def world_of(model: SceneModel, capacity: int, room: Callable[[int], Words] | None = None) -> World:
    """The world before the first step, with room for so many contacts; `room` as of `new_world`."""
    b, laws = model.bodies, model.laws
    solid, solid_owner = b.boxes()
    # balls, then boxes, then points
    is_ball = b.ball[:, 3] > 0
    balls = int(np.sum(is_ball))
    held = np.column_stack([solid[:, :3], np.zeros(len(solid))])
    ball = np.concatenate([b.ball[is_ball], held, b.ball[~is_ball]])
    owner = np.concatenate([b.owner[is_ball], solid_owner, b.owner[~is_ball]])
    wide = balls + len(solid)
    grids = model.terrains
    forms = bodies_of(shapes) if (shapes := b.forms(on_fields=bool(grids))) else None
    fields = fields_of([x.grid for x in grids])
    sizes = SceneSizes(
        bodies=len(b.names), balls=balls, boxes=len(solid), colliders=len(owner),
        planes=len(model.planes) + len(grids), capacity=capacity, classes=len(laws.table),
        laws=len(laws.values), forms=0 if forms is None else forms.words, terrains=len(grids),
        terrain=fields.words,
    )  # fmt: skip
    world = new_world(sizes, room)
    world.solid.floats[:], world.law.floats[:] = solid, laws.values
    world.terrain[:], world.thin[:] = fields.ints, thicknesses(b)
    if forms is not None:
        world.forms[:] = forms.ints
        world.form[:] = 0 if b.corners is None else np.minimum(b.corners, 1)
    world.law_between[:], world.order[:] = laws.table, np.arange(wide + len(grids))
    fill(world.body, Body, mass=b.mass, inertia=b.inertia, inverse=np.linalg.inv(b.inertia))
    surface = laws.bodies[owner]
    fill(
        world.collider, Collider, center=ball[:, :3], radius=ball[:, 3], body=owner,
        surface=surface,
    )  # fmt: skip
    plane = np.concatenate([model.planes, np.zeros((len(grids), 4))])
    fill(world.plane, Plane, normal=plane[:, :3], d=plane[:, 3], surface=laws.planes)
    for place, one in zip(world.ground, grids, strict=True):
        place.R[:], place.p[:] = one.R, one.p
    fill(world.extent, Extent, body=[*owner[:wide], *[-1] * len(grids)] * 2)
    _set_options(model, world)
    return world


def thicknesses(b: Bodies) -> Array:
    """What every box, hull, cylinder and capsule is thicker than, whatever way it is passed [m].

    The box about a hull says nothing: a plate may lie across it.
    """
    thin: Array = 2.0 * np.min(b.boxes()[0][:, 3:6], axis=1, initial=np.inf)
    for k in np.flatnonzero(0 if b.corners is None else b.corners > 0).tolist():
        thin[k] = min(thin[k], thickness(b.forms()[k]))
    return thin


def _set_options(model: SceneModel, world: World) -> None:
    """Tolerances, limits and gravity."""
    size = model.size
    world.tolerance, world.depth = model.tolerance, model.depth * size
    world.sweeps_allowed, world.has_events = model.sweeps, model.events
    world.margin, world.touch = 0.01 * size, 1e-4 * size
    world.has_turning = bool(np.any(model.laws.values[:, 2:] > 0))
    world.gravity[:] = model.gravity
