"""One world of balls for a number of steps: what the threads of a block run together.

Steps are those of a scene (`contacts/scene/step.py`): free motion, what may touch, impulses at
places midway, joined by gaps that they close; then places out of each other. A step that is not
solved is taken in halves; one that is not solved so either loses its world.

Public names: march_balls, reset_balls, scatter_balls.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.bodies import moved_pose
from liaison.contacts.scene.islands import ENOUGH, ROUNDING, TOGETHER
from liaison.contacts.scene.layout import FEW, Island, Pose, Twist
from liaison.contacts.scene.rates import LEAST
from liaison.contacts.scene.step import AGAIN, HALVED, NEAR, PLACED, UNSOLVED
from liaison.program.loops.language import f64, flat, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import BAD_GAP, CROWDED, GOOD, NO_MODE, NOT_FINITE

from .balls import (
    Balls,
    barrier,
    body_of,
    free_velocities,
    lane,
    most_of,
    solved,
    sort_colors,
    total_of,
)
from .balls_inside import begin_island, impulses_of
from .loops import random_number

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
def load_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Balls) -> None:
    """The state of a world into its block."""
    k = me
    while k < 7 * w.bodies:
        flat(w.pose)[k] = q[k * count + i]
        flat(w.end)[k] = q[k * count + i]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(w.speed)[k] = v[k * count + i]
        k += w.lanes
    barrier()


@loop
def store_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Balls) -> None:
    """And back."""
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = flat(w.pose)[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = flat(w.speed)[k]
        k += w.lanes


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


@loop
def show(me: i64, i: i64, count: i64, u: ptr, step: f64, w: Balls) -> None:
    """What is recorded besides the state: contacts, residual, penetration, forces of planes."""
    if me == 0:
        u[i] = w.contacts
        u[count + i] = w.worst
        u[2 * count + i] = w.deepest
    j = me
    while j < w.planes:
        for a in range(3):
            total = 0.0
            for b in range(w.bodies):
                for p in range(w.first[b], w.first[b + 1]):
                    if w.key[p] == w.bodies + j:
                        total += w.plane[j, a] * w.guess[p, 0] + w.guess[p, 1 + a]
            u[(3 + 3 * j + a) * count + i] = total / w.h
        j += w.lanes


@loop
def march_balls(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    w: Balls, island: Island,
) -> None:  # fmt: skip
    """World i for so many steps."""
    status = codes[i]
    taken = codes[count + i]
    me = lane()
    if status != GOOD:
        return
    load_state(me, i, count, q, v, w)
    if me == 0:
        begin_island(w, island)
    if taken == 0:
        status = start_status(me, w)
    done = 0
    residual = 0.0
    depth = 0.0
    most = 0.0
    for _ in range(steps):
        if status == GOOD:
            keep(me, 0, w)
            w.deepest = 0.0
            status = whole_step(me, step, w, island)
            if status == GOOD:
                done += 1
                residual = max(residual, w.worst)
                depth = max(depth, w.deepest)
                most = max(most, w.contacts)
            else:
                keep(me, 1, w)
    barrier()
    store_state(me, i, count, q, v, w)
    if status == GOOD:
        show(me, i, count, u, step, w)
    if me == 0:
        t[i] = t[i] + float(done) * step
        measures[i] = max(measures[i], residual)
        measures[count + i] = max(measures[count + i], depth)
        measures[2 * count + i] = max(measures[2 * count + i], most)
        codes[i] = status
        codes[count + i] = taken + done
    barrier()


@loop
def reset_balls(
    i: i64, count: i64, q_one: i64, v_one: i64,
    start: f64, chosen: iptr, q_start: ptr, v_start: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    w: Balls, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a start of its own or one that all share."""
    if chosen[i] == 0:
        return
    me = lane()
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = q_start[k * count + i] if q_one > 0 else q_start[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = v_start[k * count + i] if v_one > 0 else v_start[k]
        k += w.lanes
    k = me
    while k < 3 + 3 * w.planes:
        u[k * count + i] = 0.0
        k += w.lanes
    if me == 0:
        t[i] = start
        for r in range(3):
            measures[r * count + i] = 0.0
        codes[i] = GOOD
        codes[count + i] = 0


@loop
def scatter_balls(
    i: i64, count: i64, seed: i64, u_one: i64, p_one: i64,
    start: f64, chosen: iptr, spread: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    w: Balls, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a random start about the one at hand, out of penetration."""
    if chosen[i] == 0:
        return
    me = lane()
    nv = 6 * w.bodies
    load_state(me, i, count, q, v, w)
    b = me
    while b < w.bodies:
        for j in range(6):
            k = 6 * b + j
            w.mean[b, j] = spread[k] * random_number(seed, i, k)
            w.speed[b, j] += spread[nv + k] * random_number(seed, i, nv + k)
        moved_pose(1.0, Pose(w.pose[b]), Twist(w.mean[b]), Pose(w.end[b]))
        b += w.lanes
    forget(me, w)
    # pairs among where they are now and where they were: places that corrections lead to are near
    status = find_pairs(me, w)
    w.contacts = 0.0
    w.deepest = 0.0
    if status == GOOD:
        place(me, w)
    b = me
    while b < w.bodies:
        for j in range(7):
            w.pose[b, j] = w.end[b, j]
        b += w.lanes
    barrier()
    if status == GOOD:
        status = start_status(me, w)
    store_state(me, i, count, q, v, w)
    if me == 0:
        codes[i] = status
