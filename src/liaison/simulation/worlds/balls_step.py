"""Steps of one world of balls: what the threads of a block run together.

Steps are those of a scene (`contacts/scene/step.py`): free motion, what may touch, impulses at
places midway, joined by gaps that they close; then places out of each other. A step that is not
solved is taken in halves; one that is not solved so either loses its world.

Public names: balls_of, whole_step, keep, start_status, find_pairs, place, forget.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from liaison.contacts.scene.bodies import moved_pose
from liaison.contacts.scene.islands import ENOUGH, MANY, ROUNDING, TOGETHER
from liaison.contacts.scene.layout import FEW, Island, Pose, Twist
from liaison.contacts.scene.parts import DEEP, SceneModel
from liaison.contacts.scene.rates import LEAST
from liaison.contacts.scene.step import AGAIN, HALVED, NEAR, PLACED, UNSOLVED
from liaison.errors import SimulationError
from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.scales import power_near
from liaison.simulation.steps.layout import BAD_GAP, CROWDED, GOOD, NO_MODE, NOT_FINITE

from .balls import (
    Balls,
    barrier,
    body_of,
    free_velocities,
    most_of,
    solved,
    sort_colors,
    total_of,
)
from .balls_inside import empty_island, impulses_of

SINGLE_TOLERANCE, SINGLE_DEPTH, SINGLE_MANY = 1e-4, 1e-6, 100.0
"""Residual, depth beside the size, and times that where contacts are many, in single precision."""

SAME = 1e-9
"""Beside the largest, differences of moments of inertia of a ball that are rounding."""

TINY = 1e-24  # square of a distance [m²], as of pairs


@loop
def free_motion(me: i64, w: Balls) -> None:
    """Places midway, velocities without impulses, and poses that they lead to."""
    i = me
    while i < w.bodies:
        for j in range(3):
            w.mid[i, j] = w.pose[i, j] + 0.5 * w.h * w.speed[i, 3 + j]
        i += w.lanes
    free_velocities(me, w)
    move(me, w)


@loop
def move(me: i64, w: Balls) -> None:
    """Poses at the end of the step, by the mean of the velocities before and after."""
    i = me
    while i < w.bodies:
        for j in range(3):
            w.mean[i, j] = 0.5 * (w.speed[i, j] + w.next[i, j] / w.radius[i])
            w.mean[i, 3 + j] = 0.5 * (w.speed[i, 3 + j] + w.next[i, 3 + j])
        moved_pose(w.h, Pose(w.pose[i]), Twist(w.mean[i]), Pose(w.end[i]))
        i += w.lanes
    barrier()


@loop
def find_pairs(me: i64, w: Balls) -> i64:
    """What may touch within the step, by colors; GOOD, or CROWDED."""
    i = me
    while i < w.bodies:
        w.first[i + 1] = near(i, 0, w)
        i += w.lanes
    barrier()
    if me == 0:
        w.first[0] = 0
        for j in range(w.bodies):
            w.first[j + 1] += w.first[j]
        w.pairs = w.first[w.bodies]
    barrier()
    if w.pairs > w.room:
        return CROWDED
    i = me
    while i < w.bodies:
        near(i, 1, w)
        i += w.lanes
    sort_colors(me, w)
    i = me
    while i < w.bodies:
        for p in range(w.first[i], w.first[i + 1]):
            take_pair(i, p, w)
        i += w.lanes
    barrier()
    return GOOD


@loop
def near(i: i64, is_noted: i64, w: Balls) -> i64:
    """How many bodies that follow a body, and planes, may touch it; noted, if so."""
    count = 0
    n = w.bodies
    for d in range(1, n // 2 + 1):
        if 2 * d < n or i < d:
            j = body_of(i, d, w)
            if w.law_between[w.surface[i], w.surface[j]] >= 0 and overlap(i, j, w) == 1:
                if is_noted == 1:
                    note(i, w.first[i] + count, d, w)
                count += 1
    for j in range(w.planes):
        if w.law_between[w.surface[i], w.plane_surface[j]] >= 0:
            before = height(flat(w.pose), i, j, w)
            if min(before, height(flat(w.end), i, j, w)) <= w.margin:
                if is_noted == 1:
                    note(i, w.first[i] + count, n + j, w)
                count += 1
    return count


@loop
def overlap(i: i64, j: i64, w: Balls) -> i64:
    """1 if the boxes around two balls during the step overlap."""
    wide = w.radius[i] + w.radius[j] + 2.0 * w.margin
    for a in range(3):
        if min(w.pose[i, a], w.end[i, a]) - max(w.pose[j, a], w.end[j, a]) > wide:
            return 0
        if min(w.pose[j, a], w.end[j, a]) - max(w.pose[i, a], w.end[i, a]) > wide:
            return 0
    return 1


@loop
def height(poses: ptr, i: i64, j: i64, w: Balls) -> f64:
    """The gap between a ball and a plane."""
    n = w.plane[j]
    x = poses[7 * i :]
    return float(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - n[3] - w.radius[i])


@loop
def note(i: i64, p: i64, key: i64, w: Balls) -> None:
    """A pair, with the impulse that it had in the step before."""
    w.key[p] = key
    old = -1
    for k in range(w.old_first[i], w.old_first[i + 1]):
        if w.old_key[k] == key:
            old = k
    for r in range(4):
        w.guess[p, r] = w.old_guess[old, r] if old >= 0 else 0.0


@loop
def take_pair(i: i64, p: i64, w: Balls) -> None:
    """A pair in its place among contacts."""
    k = w.spot[p]
    one = body_of(i, w.key[p], w)
    w.pair[k] = p
    w.one[k] = one
    w.other[k] = i
    w.active[k] = 0
    along = w.light[i]
    across = w.light[i] + w.quick[i]
    law = 0
    if one >= 0:
        along += w.light[one]
        across += w.light[one] + w.quick[one]
        law = w.law_between[w.surface[i], w.surface[one]]
    else:
        law = w.law_between[w.surface[i], w.plane_surface[-1 - one]]
    w.friction[k] = w.friction_of[law]
    w.mobility[0, k] = along
    w.mobility[1, k] = across
    for r in range(4):
        w.force[r, k] = w.guess[p, r]


@loop
def gap_of(k: i64, poses: ptr, w: Balls) -> f64:
    """The gap of a contact, bodies being at `poses`."""
    one = w.one[k]
    other = w.other[k]
    if one < 0:
        return float(height(poses, other, -1 - one, w))
    x = poses[7 * one :]
    y = poses[7 * other :]
    a = y[0] - x[0]
    b = y[1] - x[1]
    c = y[2] - x[2]
    return float(sqrt(a * a + b * b + c * c + TINY) - w.radius[one] - w.radius[other])


@loop
def set_normal(k: i64, poses: ptr, w: Balls) -> None:
    """The normal of a contact, bodies being at `poses`."""
    one = w.one[k]
    y = poses[7 * w.other[k] :]
    if one < 0:
        for j in range(3):
            w.normal[j, k] = w.plane[-1 - one, j]
    else:
        x = poses[7 * one :]
        a = y[0] - x[0]
        b = y[1] - x[1]
        c = y[2] - x[2]
        length = sqrt(a * a + b * b + c * c + TINY)
        w.normal[0, k] = a / length
        w.normal[1, k] = b / length
        w.normal[2, k] = c / length


@loop
def activate(me: i64, limit: f64, again: i64, poses: ptr, w: Balls) -> f64:
    """Pairs whose gap at `poses` is at most the limit become contacts; how many became so."""
    count = 0.0
    k = me
    while k < w.pairs:
        was = w.active[k] if again == 1 else 0
        if was == 0 and gap_of(k, poses, w) <= limit:
            w.active[k] = 1
            count += 1.0
        else:
            w.active[k] = was
        k += w.lanes
    return float(total_of(count, me, w))


@loop
def counted(me: i64, w: Balls) -> f64:
    """How many contacts there are."""
    count = 0.0
    k = me
    while k < w.pairs:
        count += float(w.active[k])
        k += w.lanes
    return float(total_of(count, me, w))


@loop
def attempt(me: i64, w: Balls, island: Island) -> i64:
    """Impulses of a step of size `h`, velocities and poses with them; GOOD, or why not."""
    free_motion(me, w)
    status = find_pairs(me, w)
    if status != GOOD:
        return status
    activate(me, w.touch, 0, flat(w.pose), w)
    activate(me, 0.0, 1, flat(w.end), w)
    for _ in range(AGAIN):
        count = counted(me, w)
        few = 1 if count <= float(FEW) else 0
        scale = set_rates(me, 0.0 if few == 1 else w.loose, w)
        free_velocities(me, w)
        aim = min(TOGETHER, w.tolerance) if few == 1 else w.tolerance
        left = impulses_of(me, aim, scale * max(count, float(LEAST)), w, island)
        w.left = left / (min(ROUNDING, w.tolerance) if few == 1 else w.tolerance)
        w.residual = left
        w.contacts = count
        move(me, w)
        if activate(me, -w.depth, 1, flat(w.end), w) == 0.0:
            break
    return GOOD


@loop
def set_rates(me: i64, slack: f64, w: Balls) -> f64:
    """Normals midway and what gaps add to rates; the fastest approach."""
    approach = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            set_normal(k, flat(w.mid), w)
            approach = max(approach, set_rate(k, slack, w))
        k += w.lanes
    return float(most_of(approach, me, w))


@loop
def set_rate(k: i64, slack: f64, w: Balls) -> f64:
    """What the gap of a contact adds to its rate, as of a scene; how fast it approaches."""
    one = w.one[k]
    u = 0.0
    free = 0.0
    for j in range(3):
        n = w.normal[j, k]
        u += n * w.speed[w.other[k], 3 + j]
        if one >= 0:
            u -= n * w.speed[one, 3 + j]
        else:
            free += w.h * n * w.gravity[j]
    free += u
    apart = max(gap_of(k, flat(w.mid), w) - slack, 0.0) / w.h
    right = apart
    if u >= 0.0:
        right = max(u, apart)
    elif free >= 2.0 * u and -u >= apart:
        right = 0.0
    w.right[k] = right
    return max(max(-u, -free), abs(right))


@loop
def deepest(me: i64, w: Balls) -> f64:
    """The deepest penetration of all pairs at the end of the step."""
    depth = 0.0
    k = me
    while k < w.pairs:
        depth = max(depth, -gap_of(k, flat(w.end), w))
        k += w.lanes
    return float(most_of(depth, me, w))


@loop
def place(me: i64, w: Balls) -> None:
    """Bodies at the end of the step out of each other, by the shortest way."""
    allowed = w.depth if w.contacts <= float(FEW) else w.loose
    worst = deepest(me, w)
    for _ in range(PLACED):
        if worst <= allowed:
            break
        count = activate(me, NEAR * worst, 0, flat(w.end), w)
        set_gaps(me, w)
        aim = TOGETHER if count <= float(FEW) else ENOUGH
        scale = NEAR * worst * max(count, float(LEAST))
        solved(me, 0.0, aim, w.sweeps_allowed, scale, w)
        i = me
        while i < w.bodies:
            for j in range(3):
                w.end[i, j] += w.next[i, 3 + j]
            i += w.lanes
        barrier()
        worst = deepest(me, w)
    w.deepest = max(w.deepest, worst)


@loop
def set_gaps(me: i64, w: Balls) -> None:
    """Gaps and normals at the end of the step, no impulses and no velocities."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            set_normal(k, flat(w.end), w)
            w.right[k] = gap_of(k, flat(w.end), w)
            for r in range(4):
                w.force[r, k] = 0.0
        k += w.lanes
    i = me
    while i < w.bodies:
        for j in range(6):
            w.next[i, j] = 0.0
        i += w.lanes
    barrier()


@loop
def part_of_step(me: i64, w: Balls) -> i64:
    """A step of size `h` whose impulses are found: places, and the state after it; or why not."""
    k = me
    bad = 0.0
    while k < w.pairs:
        for r in range(4):
            w.guess[w.pair[k], r] = w.force[r, k] if w.active[k] == 1 else 0.0
        k += w.lanes
    i = me
    while i < w.bodies:
        for j in range(6):
            w.after[i, j] = w.next[i, j]
        i += w.lanes
    barrier()
    place(me, w)
    i = me
    while i < w.bodies:
        for j in range(7):
            w.pose[i, j] = w.end[i, j]
            bad += w.end[i, j] - w.end[i, j]
        for j in range(3):
            w.speed[i, j] = w.after[i, j] / w.radius[i]
            w.speed[i, 3 + j] = w.after[i, 3 + j]
            bad += w.after[i, j] - w.after[i, j] + w.after[i, 3 + j] - w.after[i, 3 + j]
        w.old_first[i + 1] = w.first[i + 1]
        i += w.lanes
    k = me
    while k < w.pairs:
        w.old_key[k] = w.key[k]
        for r in range(4):
            w.old_guess[k, r] = w.guess[k, r]
        k += w.lanes
    bad = total_of(bad, me, w)
    return GOOD if bad == 0.0 else NOT_FINITE


@loop
def whole_step(me: i64, step: f64, w: Balls, island: Island) -> i64:
    """A step, in parts where all of it is not solved; GOOD, or why not: the state is as before."""
    rest = step
    tried = 0
    worst = 0.0
    while rest > 0.0:
        h = rest
        for halved in range(HALVED + 1):
            w.h = h
            status = attempt(me, w, island)
            if status != GOOD:
                return status
            if w.left <= 1.0:
                break
            tried += 1
            if halved == HALVED or tried > UNSOLVED:
                return NO_MODE
            h = 0.5 * h
            barrier()
        w.worst = max(worst, w.residual)
        worst = w.worst
        status = part_of_step(me, w)
        if status != GOOD:
            return status
        rest = rest - h if h < rest else 0.0
        barrier()
    return GOOD


@loop
def keep(me: i64, way: i64, w: Balls) -> None:
    """Keeps the state, or takes back the one that is kept."""
    i = me
    while i < w.bodies:
        for j in range(7):
            if way == 0:
                w.kept_pose[i, j] = w.pose[i, j]
            else:
                w.pose[i, j] = w.kept_pose[i, j]
        for j in range(6):
            if way == 0:
                w.kept_speed[i, j] = w.speed[i, j]
            else:
                w.speed[i, j] = w.kept_speed[i, j]
        i += w.lanes
    barrier()


@loop
def start_status(me: i64, w: Balls) -> i64:
    """Nobody begins inside another; GOOD, or why not."""
    i = me
    far = 0.0
    while i < w.bodies:
        for j in range(3):
            far = max(far, abs(w.pose[i, j]))
        i += w.lanes
    far = most_of(far, me, w)
    forget(me, w)
    status = find_pairs(me, w)
    if status != GOOD:
        return status
    return BAD_GAP if deepest(me, w) > w.start_depth * (1.0 + far) else GOOD


@loop
def forget(me: i64, w: Balls) -> None:
    """No impulses of a step before."""
    i = me
    while i <= w.bodies:
        w.old_first[i] = 0
        i += w.lanes
    barrier()


def balls_of(plan: Plan, *, lanes: int = 1, single: bool = False) -> Balls:
    """The block of a world before its first step.

    Raises:
        SimulationError: what of the scene these steps do not take, by name.
    """
    model: SceneModel = plan.program.facts["scene"]
    _check(model)
    b, laws = model.bodies, model.laws
    n, size = len(b.names), model.size
    empty = empty_island(model)
    at = np.flatnonzero(empty)
    w = Balls.new(
        {}, bodies=n, planes=len(model.planes), room=model.capacity, laws=len(laws.values),
        classes=len(laws.table), lanes=lanes, heads=len(at),
    )  # fmt: skip
    w.head_at[:], w.head[:] = at, empty[at]
    at = np.argsort(b.owner)
    radius, inertia = b.ball[at, 3], b.inertia[:, 0, 0]
    w.mass[:], w.light[:], w.radius[:] = b.mass, 1 / b.mass, radius
    w.quick[:] = radius**2 / inertia
    w.surface[:], w.plane_surface[:], w.plane[:] = laws.bodies, laws.planes, model.planes
    w.friction_of[:], w.law_between[:] = laws.values[:, 0], laws.table
    w.gravity[:] = model.gravity
    w.tolerance = SINGLE_TOLERANCE if single else model.tolerance
    w.depth = size * (SINGLE_DEPTH if single else model.depth)
    w.loose = w.depth * (SINGLE_MANY if single else MANY)
    w.margin, w.touch = 0.01 * size, 1e-4 * size
    w.start_depth = (1e-4 if single else DEEP) * power_near(size)
    w.sweeps_allowed = model.sweeps
    return w


def _check(model: SceneModel) -> None:
    """Raises an error for what steps of balls do not take."""
    b, hint = model.bodies, "simulate and simulate_batch take it, on the processor."
    if model.terrains:
        raise SimulationError("worlds of a scene take planes, and no terrain yet.", hint=hint)
    solids, _ = b.boxes()
    counts = np.bincount(b.owner, minlength=len(b.names))
    for k, name in enumerate(b.names):
        its = b.ball[b.owner == k]
        inertia = b.inertia[k]
        is_ball = (
            counts[k] == 1 and its[0, 3] > 0 and np.all(np.abs(its[0, :3]) <= SAME * its[0, 3])
        )
        if len(solids) or not is_ball:
            raise SimulationError(
                f"body {name!r} of the scene is not one ball about its center of mass; worlds of a "
                "scene are of such balls and of planes.",
                hint=hint,
            )
        if np.max(np.abs(inertia - inertia[0, 0] * np.eye(3))) > SAME * inertia[0, 0]:
            raise SimulationError(
                f"the ball {name!r} has different moments of inertia about different axes, which "
                "worlds of a scene do not take.",
                hint=hint,
            )
    for what, column in (("restitution", 1), ("rolling friction", 2), ("pivoting friction", 3)):
        if np.any(model.laws.values[:, column] != 0.0):
            raise SimulationError(f"worlds of a scene take no {what} yet.", hint=hint)
