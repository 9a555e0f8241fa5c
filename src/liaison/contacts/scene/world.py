"""The world of a scene as a run begins, and with more room while it goes on: sizes and contents.

Public names: scene_arrays, world_of, enlarged, with_room, start_error, thicknesses, SceneSizes,
new_world, scene_scratch, block_room, panel_sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import final

import numpy as np

from liaison.contacts.convex.field_layout import fields_of
from liaison.contacts.convex.kernel import thickness
from liaison.contacts.convex.layout import bodies_of
from liaison.contacts.impulses.path_layout import Path, path_sizes
from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.simulation.plan.plan import Plan, lasting_arrays
from liaison.simulation.plan.scales import power_near
from liaison.simulation.steps.layout import Arrays, with_block
from liaison.solvers.cones.table import cone_area

from .layout import (
    FEW,
    MANY_BODIES,
    RESERVED,
    Body,
    Collider,
    Crew,
    Extent,
    Island,
    Panels,
    Plane,
    System,
    Words,
    World,
    fill,
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


@final
@dataclass(frozen=True, slots=True)
class SceneSizes:
    """What the arrays of a scene are sized by."""

    bodies: int
    balls: int
    boxes: int
    colliders: int
    planes: int
    capacity: int
    classes: int
    laws: int
    forms: int = 0  # words of the corners and faces of hulls
    terrains: int = 0
    terrain: int = 0  # words of the heights


def block_room(n: int) -> int:
    """Blocks beside the diagonal that there is room for: a pile of n bodies fills in far fewer.

    None beyond `MANY_BODIES`, whose factors would take longer than sweeps.
    """
    if n > MANY_BODIES:
        return 1
    return min(n * (n - 1) // 2, int(n * (8 + 3 * sqrt(n)))) + 1


def new_world(s: SceneSizes, room: Callable[[int], Words] | None = None) -> World:
    """A block of these sizes, all else zero.

    Args:
        s: sizes.
        room: gives zeros for so many words in which it lies; its own if not given.
    """
    lengths = {"forms": s.forms, "terrain": s.terrain}
    sizes = {
        "bodies": s.bodies, "balls": s.balls, "boxes": s.boxes, "colliders": s.colliders,
        "planes": s.planes, "capacity": s.capacity, "classes": s.classes, "laws": s.laws,
        "table": 1 << (4 * s.capacity - 1).bit_length(), "hulls": int(s.forms > 0),
        "terrains": s.terrains,
    }  # fmt: skip
    place = None if room is None else room(World.words_for(lengths, **sizes))
    world = World.new(lengths, place, **sizes)
    world.crew_at, world.islands_at = RESERVED, RESERVED + Crew.header
    world.island_words = _island_words(s.bodies, s.capacity, panels=True)
    return world


def scene_scratch(bodies: int, capacity: int, threads: int, *, panels: bool = False) -> Array:
    """The workspace of the steps of a scene: a crew, and a block for islands for each thread.

    Args:
        bodies: how many.
        capacity: contacts that there is room for.
        threads: how many.
        panels: matrices are factorized in panels, as on a processor, or block by block.
    """
    words = _island_words(bodies, capacity, panels)
    scratch = np.zeros(RESERVED + Crew.header + threads * words)
    Crew(scratch[RESERVED:]).workers = threads
    lengths, counts, system = _island_sizes(bodies, capacity, panels)
    for k in range(threads):
        begin = RESERVED + Crew.header + k * words
        block = Island.new(lengths, scratch[begin:], **counts)
        System.new({}, block.system, **system)
        if panels:
            place = Panels.new({}, block.panels, **panel_sizes(bodies, capacity))
            place.shift = -(place.upper.ctypes.data // 8) % 8
            Path.new({}, block.path, **path_sizes(bodies, capacity, MANY_BODIES))
    return scratch


def panel_sizes(bodies: int, capacity: int) -> dict[str, int]:
    """Counts of the panels of so many bodies."""
    blocks = min(bodies * bodies, int(bodies * (8 + 3 * sqrt(bodies)))) + 1
    return {
        "most": bodies, "contacts": capacity, "blocks": 1 if bodies > MANY_BODIES else blocks
    }  # fmt: skip


@lru_cache(maxsize=8)
def _island_words(bodies: int, capacity: int, panels: bool = False) -> int:
    """Words of the block in which an island of a scene is solved."""
    lengths, counts, _ = _island_sizes(bodies, capacity, panels)
    return Island.words_for(lengths, **counts)


@lru_cache(maxsize=8)
def _island_sizes(bodies: int, capacity: int, panels: bool) -> tuple[dict[str, int], ...]:
    """Lengths and counts of the block of an island, and counts of its system."""
    blocks = block_room(bodies)
    system = {"most": bodies, "contacts": capacity, "blocks": blocks, "matrix": int(not panels)}
    words = System.words_for({}, **system)
    own = Panels.words_for({}, **panel_sizes(bodies, capacity)) if panels else 0
    path = Path.words_for({}, **path_sizes(bodies, capacity, MANY_BODIES)) if panels else 0
    lengths = {"system": words, "cones": cone_area(3 * FEW, 2 * FEW), "panels": own, "path": path}
    crowd = capacity if panels else 0
    return lengths, {"most": bodies, "room": capacity, "few": FEW, "crowd": crowd}, system


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
