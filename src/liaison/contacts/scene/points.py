"""Where bodies of a scene touch at recorded poses, and how fast they slide there.

The rows of a contact hold ρ × s and s for its normal and both tangents, so that the arm of what
touches is ρ = ½ Σ s × (ρ × s).

Public names: ScenePoints, scene_points.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import f64, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, Rows, inline, rows, size, sized
from liaison.simulation.steps.layout import GOOD, Entries

from .candidates import candidates
from .kernel import pair_kernel
from .layout import KINDS, Contact, PairEntries, Pose, Twist, World
from .parts import SceneModel
from .step import evaluate_pair
from .world import world_of

TOUCHING = 1e-3
"""Gap beside the smallest size up to which bodies touch in a picture."""


class ScenePoints(NamedTuple):
    """Points over time; at each instant the first `counts` are there.

    Attributes:
        points: shape (n, most, 3) [m].
        slips: shape (n, most) [m/s].
        counts: shape (n,).
    """

    points: Array
    slips: Array
    counts: NDArray[np.int64]


@final
class Seen(Record):
    """A point at which bodies touch, and the speed of the slip there."""

    place: ptr = inline(3)
    slip: f64


@final
class Instants(Record):
    """Poses and twists of all bodies at many instants, and the points there."""

    instants: i64 = size()
    bodies: i64 = size()
    most: i64 = size()  # points at an instant
    pose: Rows[Pose] = rows("instants * bodies")
    twist: Rows[Twist] = rows("instants * bodies")
    point: Rows[Seen] = rows("instants * most")
    number: iptr = sized("instants")


@loop
def points_over(e: Entries, world: World, over: Instants) -> None:
    """Points at every instant."""
    n = over.bodies
    for row in range(over.instants):
        for b in range(n):
            k = row * n + b
            for i in range(7):
                world.pose[b].floats[i] = over.pose[k].floats[i]
                world.mid[b].floats[i] = over.pose[k].floats[i]
                world.end[b].floats[i] = over.pose[k].floats[i]
            for i in range(6):
                world.next[b].floats[i] = over.twist[k].floats[i]
        over.number[row] = 0
        if candidates(e, world) == GOOD:
            over.number[row] = points_at(e, world, row * over.most, over)


@loop
def points_at(e: Entries, world: World, begin: i64, over: Instants) -> i64:
    """The points at the poses of the world, from one on; how many."""
    count = 0
    for c in range(world.candidates):
        candidate = world.candidate[c]
        contact = world.contact[0]
        pairs = PairEntries(e.others)
        evaluate_pair(candidate.kind, pairs, candidate, world.pose, contact.floats, world)
        if contact.gap <= world.touch and count < over.most:
            first = -1 if candidate.first < 0 else world.collider[candidate.first].body
            second = world.collider[candidate.second].body
            note_point(contact, first, second, over.point[begin + count], world)
            count += 1
    return count


@loop
def note_point(contact: Contact, first: i64, second: i64, seen: Seen, world: World) -> None:
    """The place and the slip of a contact, from its rows."""
    slip = 0.0
    for i in range(3):
        seen.place[i] = world.pose[second].place[i]
    for r in range(3):
        near = contact.rows[3 + r]
        arm = near
        way = near[3:]
        speed = 0.0
        for i in range(6):
            speed += near[i] * twist_of(second, i, world)
            if first >= 0:
                speed += contact.rows[r, i] * twist_of(first, i, world)
        slip += speed * speed if r > 0 else 0.0
        for i in range(3):
            j = (i + 1) % 3
            k = (i + 2) % 3
            seen.place[i] += 0.5 * (way[j] * arm[k] - way[k] * arm[j])
    seen.slip = sqrt(slip)


@loop
def twist_of(body: i64, i: i64, world: World) -> f64:
    """A component of a twist: ω, then the velocity of the center of mass."""
    return float(world.next[body].floats[i])


@cache
def _compiled() -> CompiledLoops:
    return compile_loops([points_over])


def scene_points(model: SceneModel, poses: Array, twists: Array, most: int) -> ScenePoints:
    """Where bodies touch at many instants.

    Args:
        model: the scene.
        poses: of the centers of mass, shape (n, 7 bodies).
        twists: ω and velocities of these, shape (n, 6 bodies).
        most: points at most at an instant.
    """
    world = world_of(model, 2 * model.capacity)
    world.touch = max(float(world.touch), TOUCHING * model.size)
    entries, kernel = Entries.new(), pair_kernel()
    listed = [kernel.address(name) for name in PairEntries.fields]
    entries.others[: len(listed)] = listed
    assert len(listed) == 2 * KINDS
    count, bodies = len(poses), len(model.bodies.names)
    over = Instants.new(instants=count, bodies=bodies, most=most)
    over.pose.floats[:] = np.reshape(poses, (count * bodies, 7))
    over.twist.floats[:] = np.reshape(twists, (count * bodies, 6))
    _compiled()[points_over](entries, world, over)
    points = over.point.floats.reshape(count, most, Seen.header)
    return ScenePoints(points[:, :, :3].copy(), points[:, :, 3].copy(), over.number.copy())
