"""Steps of one world of a scene: what the threads of a block run together.

Steps are those of a scene (`contacts/scene/step.py`): free motion, what may touch, impulses at
places midway, joined by gaps that they close; then places out of each other. A step that is not
solved is taken in halves, as is one in which bodies would pass each other; one that is not solved
so either loses its world.

Impulses of a world with restitution: less of it in an island whose impulses would give energy.

As of a scene (`limit_bounce` in `contacts/scene/islands.py`), for all islands at the same time: an
island does not know of the others, so that each has the part of its restitution that it would have
alone.

Public names: whole_step, keep, start_status, hold_still, place, impulses.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.scene.bodies import AGAIN as SPIN
from liaison.contacts.scene.bodies import (
    moved_pose,
    rotation,
    spin,
    spin_about,
    turned_inertia,
)
from liaison.contacts.scene.islands import ENOUGH, FEWER, GAINED, LESS, MORE_TRIES, TOGETHER, TRIES
from liaison.contacts.scene.layout import FEW, Island, Pose, Twist, World
from liaison.contacts.scene.rates import LEAST
from liaison.contacts.scene.step import AGAIN, FAST, HALVED, NEAR, PLACED, SPUN, UNSOLVED
from liaison.program.loops.language import at, f64, flat, i64, loop
from liaison.simulation.steps.layout import BAD_GAP, CROWDED, GOOD, NO_MODE, NOT_FINITE, PASSED

from .contact import activate, counted, deepest, is_passing, set_gaps, set_rates
from .inside import impulses_of, solving
from .layout import Block, barrier, most_of, total_of
from .narrow import COMES_LATE, PUSHED, PUSHED_LATE, THROWN
from .pairs import find_pairs, forget, join, note_slots
from .sweeps import across_of, free_velocities, misses, solved
from .turning import solve_turning

CHANCES, SHORTER = 4, 0.6
"""Parts of a step that are tried in more ways before a world is lost, and each beside the last."""

SETTLED, SEARCHED, WITHOUT = 0, 1, 2
"""States of an island: solved; its part is searched for; it shall have none."""


@loop
def impulses(me: i64, limit: f64, scale: f64, w: Block, island: Island) -> f64:
    """Impulses of all contacts, and the velocities with them; their residual."""
    if w.has_bounce == 0:
        return float(solve_once(me, limit, scale, w.tries, w, island))
    bouncing = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            bouncing = max(bouncing, -w.bounce[k])
        k += w.lanes
    bouncing = most_of(bouncing, me, w)
    if bouncing == 0.0:
        return float(solve_once(me, limit, scale, w.tries, w, island))
    if me == 0:
        find_islands(w)
    barrier()
    left = solve_parts(me, limit, scale, FEWER, w, island)
    if me == 0:
        judge(w)
    barrier()
    return float(search(me, left, limit, scale, w, island))


@loop
def search(me: i64, left: f64, limit: f64, scale: f64, w: Block, island: Island) -> f64:
    """Less restitution in islands that need it; the residual.

    The first solution without any says what an island gains at least; then the chord between both
    gives the next part, as in `limit_bounce`.
    """
    if still(me, w) == 0:
        return left
    left = solve_parts(me, limit, scale, w.tries, w, island)
    if me == 0:
        note_least(w)
    barrier()
    for turn in range(LESS + 1):
        if still(me, w) == 0:
            return left
        if me == 0:
            next_parts(turn, w)
        barrier()
        left = solve_parts(me, limit, scale, FEWER if turn < LESS else w.tries, w, island)
        if me == 0:
            judge(w)
        barrier()
    return left


@loop
def still(me: i64, w: Block) -> i64:
    """1 if some island is not settled."""
    most = 0.0
    i = me
    while i < w.islands:
        most = max(most, float(w.state[i]))
        i += w.lanes
    return 1 if most_of(most, me, w) > 0.0 else 0


@loop
def solve_once(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses as contacts ask for them; their residual."""
    free_velocities(me, w)
    if w.has_turning == 1:
        return float(solve_turning(me, limit, scale, tries, w, island))
    return float(impulses_of(me, limit, scale, tries, w, island))


@loop
def solve_parts(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses with the parts of restitution that islands have, and their work; the residual."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            w.right[k] = w.apart[k] + w.part[w.island[w.other[k]]] * w.bounce[k]
        k += w.lanes
    barrier()
    left = solve_once(me, limit, scale, tries, w, island)
    i = me
    while i < w.bodies:
        for j in range(3):
            # velocities before the step, as those of sweeps
            w.last_next[i, j] = w.scale[i] * w.speed[i, j]
            w.last_next[i, 3 + j] = w.speed[i, 3 + j]
        i += w.lanes
    barrier()
    misses(me, w)
    strongest = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            note_work(k, w)
            strongest = max(strongest, w.force[0, k] * w.mobility[0, k])
        k += w.lanes
    strongest = min(most_of(strongest, me, w), scale)
    if me == 0:
        sum_work(strongest, left, w)
    barrier()
    return left


@loop
def note_work(k: i64, w: Block) -> None:
    """The work of the impulse of a contact, P·(u + u₁)/2, and the size of its terms."""
    total = 0.0
    size = 0.0
    one = max(w.one[k], 0)
    for j in range(3):
        f = w.force[0, k] * w.normal[j, k] + w.force[1 + j, k]
        u = across_of(k, j, w.last_next[w.other[k]], w.last_next[one], w)
        after = across_of(k, j, w.next[w.other[k]], w.next[one], w)
        total += 0.5 * f * (u + after)
        size += abs(f) * (abs(u) + abs(after))
    w.last_force[0, k] = total
    w.last_force[1, k] = size


@loop
def sum_work(strongest: f64, left: f64, w: Block) -> None:
    """Work and residual of every island; work that is rounding is none."""
    for i in range(w.islands):
        w.gain[i] = 0.0
        w.terms[i] = 0.0
        w.missed_by[i] = left if w.has_turning == 1 else 0.0
    for k in range(w.pairs):
        if w.active[k] == 1:
            i = w.island[w.other[k]]
            w.gain[i] += w.last_force[0, k]
            w.terms[i] += w.last_force[1, k]
            if strongest > 0.0 and left > 0.0:
                w.missed_by[i] = max(w.missed_by[i], w.last_force[2, k] / strongest)
    for i in range(w.islands):
        if w.gain[i] <= GAINED * w.terms[i]:
            w.gain[i] = min(w.gain[i], 0.0)


@loop
def enough_of(w: Block) -> f64:
    """The residual that solves an island."""
    return solving(w) if w.contacts <= float(FEW) else w.tolerance


@loop
def judge(w: Block) -> None:
    """States of islands after a solution with parts of their restitution."""
    for i in range(w.islands):
        if w.state[i] == WITHOUT:
            w.state[i] = SETTLED
        elif w.state[i] == SEARCHED:
            is_solved = 1 if w.missed_by[i] <= enough_of(w) else 0
            if is_solved == 1 and w.gain[i] <= 0.0:
                w.state[i] = SETTLED
            elif is_solved == 0:
                w.state[i] = WITHOUT
                w.part[i] = 0.0
            elif w.tried[i] == 0:
                # none of it, to see what it gains at least
                w.tried[i] = 1
                w.most[i] = w.gain[i]
                w.part[i] = 0.0


@loop
def note_least(w: Block) -> None:
    """What islands gain without restitution; where that is not negative they have none."""
    for i in range(w.islands):
        if w.state[i] == WITHOUT:
            w.state[i] = SETTLED
        elif w.state[i] == SEARCHED:
            w.least[i] = w.gain[i]
            w.gain[i] = w.most[i]
            w.share[i] = 1.0
            if w.least[i] >= 0.0:
                w.state[i] = SETTLED


@loop
def next_parts(turn: i64, w: Block) -> None:
    """The next part of islands that search for theirs: the root of the chord; none at last."""
    for i in range(w.islands):
        if w.state[i] == SEARCHED:
            if turn < LESS:
                w.share[i] = w.share[i] * w.least[i] / (w.least[i] - w.gain[i])
                w.part[i] = w.share[i]
            else:
                w.state[i] = WITHOUT
                w.part[i] = 0.0


@loop
def root_of(body: i64, w: Block) -> i64:
    """The body that stands for those a body hangs together with."""
    while w.island[body] != body:
        w.island[body] = w.island[w.island[body]]
        body = w.island[body]
    return body


@loop
def find_islands(w: Block) -> None:
    """Islands of all bodies, all of which begin with all of their restitution."""
    for i in range(w.bodies):
        w.island[i] = i
    for k in range(w.pairs):
        if w.active[k] == 1 and w.one[k] >= 0:
            one = root_of(w.one[k], w)
            other = root_of(w.other[k], w)
            w.island[max(one, other)] = min(one, other)
    for i in range(w.bodies):
        root_of(i, w)
    for i in range(w.bodies):
        # roots come before what hangs on them
        w.island[i] = w.island[w.island[i]]
        w.part[i] = 1.0
        w.state[i] = SETTLED
        w.tried[i] = 0
    w.islands = w.bodies
    for k in range(w.pairs):
        if w.active[k] == 1 and w.bounce[k] < 0.0:
            w.state[w.island[w.other[k]]] = SEARCHED


@loop
def free_motion(me: i64, w: Block) -> None:
    """Places midway, velocities without impulses, and poses that they lead to."""
    i = me
    while i < w.bodies:
        if w.general == 1:
            world = World(at(w.lane_area, me * w.lane_words))
            moved_pose(0.5 * w.h, Pose(w.pose[i]), Twist(w.speed[i]), Pose(w.mid[i]))
            world.h = w.h
            turned_inertia(i, world.mid[i], world)
            spin(i, world)
            for j in range(9):
                w.turned[i, j] = flat(world.body[i].turned_inverse)[j]
            for j in range(3):
                w.free[i, 3 + j] = w.speed[i, 3 + j] + w.h * w.gravity[j]
        else:
            for j in range(3):
                w.mid[i, j] = w.pose[i, j] + 0.5 * w.h * w.speed[i, 3 + j]
        i += w.lanes
    free_velocities(me, w)
    move(me, w)


@loop
def move(me: i64, w: Block) -> None:
    """Poses at the end of the step, by the mean of the velocities before and after."""
    i = me
    while i < w.bodies:
        for j in range(3):
            w.mean[i, j] = 0.5 * (w.speed[i, j] + w.next[i, j] / w.scale[i])
            w.mean[i, 3 + j] = 0.5 * (w.speed[i, 3 + j] + w.next[i, 3 + j])
        moved_pose(w.h, Pose(w.pose[i]), Twist(w.mean[i]), Pose(w.end[i]))
        i += w.lanes
    barrier()


@loop
def attempt(me: i64, w: Block, island: Island) -> i64:
    """Impulses of a step of size `h`, velocities and poses with them; GOOD, or why not."""
    free_motion(me, w)
    status = find_pairs(me, w)
    if status != GOOD:
        return status
    activate(me, w.touch, 0, flat(w.pose), w)
    activate(me, 0.0, 1, flat(w.end), w)
    for _ in range(SPUN):
        status = find_impulses(me, w, island)
        if status != GOOD:
            return status
        if w.general == 0 or w.contacts == 0.0 or spin_once_more(me, w) == 0:
            break
    return GOOD


@loop
def find_impulses(me: i64, w: Block, island: Island) -> i64:
    """Impulses of what is active, and of what they close; GOOD, or CROWDED."""
    for _ in range(AGAIN):
        count = counted(me, w)
        few = 1 if count <= float(FEW) else 0
        w.contacts = count
        scale = set_rates(me, 0.0 if few == 1 else w.loose, w, island)
        aim = min(TOGETHER, w.tolerance) if few == 1 else w.tolerance
        left = impulses(me, aim, scale * max(count, float(LEAST)), w, island)
        w.left = left / (solving(w) if few == 1 else w.tolerance)
        w.residual = left
        move(me, w)
        joined = join(me, THROWN, w) if count > 0.0 else 0
        closed = activate(me, -w.depth, 1, flat(w.end), w)
        late = 0
        if closed == 0.0 and w.left <= 1.0 and joined >= 0:
            late = join(me, COMES_LATE, w)
            if late > 0:
                closed = activate(me, -w.depth, 1, flat(w.end), w)
        if joined < 0 or late < 0:
            return CROWDED
        if joined + late > 0:
            # contacts lie elsewhere now
            set_rates(me, 0.0 if few == 1 else w.loose, w, island)
        if closed == 0.0:
            break
    return GOOD


@loop
def spin_once_more(me: i64, w: Block) -> i64:
    """Free spins with the gyroscopic moments of the velocities that impulses led to.

    1 if one changed by more than a small part of the spins: impulses are to be found again.
    """
    most = 0.0
    i = me
    while i < w.bodies:
        kicked = 0.0
        size = 0.0
        for a in range(3):
            kicked += abs(w.next[i, a] - w.free[i, a])
            size += abs(w.next[i, a]) + abs(w.speed[i, a])
        if kicked > SPIN * size:
            world = World(at(w.lane_area, me * w.lane_words))
            world.h = w.h
            rotation(world.mid[i].turn, flat(world.R))
            spin_about(i, w.next[i], world.after, world)
            for a in range(3):
                if abs(world.after[a] - w.free[i, a]) > SPIN * size:
                    most = 1.0
                w.free[i, a] = world.after[a]
        i += w.lanes
    return 1 if most_of(most, me, w) > 0.0 else 0


@loop
def place(me: i64, w: Block, island: Island) -> i64:
    """Bodies at the end of the step out of each other, by the shortest way; GOOD, or CROWDED."""
    allowed = w.depth if w.contacts <= float(FEW) else w.loose
    worst = deepest(me, w)
    is_moved = 1 if worst > w.touch and w.general == 1 else 0
    for _ in range(PLACED):
        if worst <= allowed and is_moved == 1:
            is_moved = 0
            if join(me, PUSHED_LATE, w) < 0:
                return CROWDED
            worst = deepest(me, w)
        if worst <= allowed:
            break
        count = activate(me, NEAR * worst, 0, flat(w.end), w)
        set_gaps(me, w, island)
        aim = TOGETHER if count <= float(FEW) else ENOUGH
        scale = NEAR * worst * max(count, float(LEAST))
        solved(me, 0.0, aim, w.sweeps_allowed, scale, w)
        i = me
        while i < w.bodies:
            if w.general == 1:
                moved_pose(1.0, Pose(w.end[i]), Twist(w.next[i]), Pose(w.end[i]))
            else:
                for j in range(3):
                    w.end[i, j] += w.next[i, 3 + j]
            i += w.lanes
        barrier()
        # what they are pushed at; where there is no room for it the world is lost
        if join(me, PUSHED, w) < 0:
            return CROWDED
        worst = deepest(me, w)
    w.deepest = max(w.deepest, worst)
    return GOOD


@loop
def part_of_step(me: i64, w: Block, island: Island) -> i64:
    """A step of size `h` whose impulses are found: places, and the state after it; or why not."""
    note_impulses(me, w)
    i = me
    while i < w.bodies:
        for j in range(6):
            w.after[i, j] = w.next[i, j]
        i += w.lanes
    barrier()
    status = place(me, w, island)
    if status != GOOD:
        return status
    bad = 0.0
    i = me
    while i < w.bodies:
        for j in range(7):
            w.pose[i, j] = w.end[i, j]
            bad += w.end[i, j] - w.end[i, j]
        for j in range(3):
            w.speed[i, j] = w.after[i, j] / w.scale[i]
            w.speed[i, 3 + j] = w.after[i, 3 + j]
            bad += w.after[i, j] - w.after[i, j] + w.after[i, 3 + j] - w.after[i, 3 + j]
        i += w.lanes
    bad = total_of(bad, me, w)
    return GOOD if bad == 0.0 else NOT_FINITE


@loop
def note_impulses(me: i64, w: Block) -> None:
    """Impulses to begin the next step with, and what planes push."""
    note_slots(me, w)
    j = me
    while j < 3 * w.planes:
        flat(w.plane_force)[j] = pushed(j // 3, j % 3, w) if w.is_shown == 1 else 0.0
        j += w.lanes
    barrier()


@loop
def pushed(plane: i64, axis: i64, w: Block) -> f64:
    """A component of the force of a plane during the step."""
    total = 0.0
    for k in range(w.pairs):
        if w.one[k] == -1 - plane and w.active[k] == 1:
            total += w.normal[axis, k] * w.force[0, k] + w.force[1 + axis, k]
    return float(total / w.h)


@loop
def last_chance(me: i64, h: f64, w: Block, island: Island) -> f64:
    """The size of a part of a step whose impulses are size in more ways; 0 if there is none."""
    size = 0.0
    w.tries = MORE_TRIES
    for _ in range(CHANCES):
        w.h = h
        status = attempt(me, w, island)
        if status == GOOD and w.left <= 1.0:
            size = h
            break
        # parts are halves elsewhere: this one is of no such size
        h = SHORTER * h
        barrier()
    w.tries = TRIES
    return size


@loop
def solved_part(me: i64, rest: f64, w: Block, island: Island) -> i64:
    """Impulses of as much of a step as is solved and in which nothing passes another; its size.

    GOOD, or why there is none; the size is `h` of the block.
    """
    h = rest
    tried = w.unsolved
    for halved in range(FAST + 1):
        w.h = h
        status = attempt(me, w, island)
        if status != GOOD:
            return status
        if w.left > 1.0:
            tried += 1
            if halved >= HALVED or tried > UNSOLVED:
                if last_chance(me, h, w, island) == 0.0:
                    return NO_MODE
                return PASSED if is_passing(me, w) == 1 else GOOD
        elif is_passing(me, w) == 0:
            break
        elif halved == FAST:
            return PASSED
        h = 0.5 * h
        barrier()
    w.unsolved = tried
    return GOOD


@loop
def whole_step(me: i64, step: f64, w: Block, island: Island) -> i64:
    """A step, in parts where all of it is not solved; GOOD, or why not: the state is as before."""
    rest = step
    worst = 0.0
    w.tries = TRIES
    w.unsolved = 0
    while rest > 0.0:
        status = solved_part(me, rest, w, island)
        if status != GOOD:
            return status
        h = w.h
        w.worst = max(worst, w.residual)
        worst = w.worst
        status = part_of_step(me, w, island)
        if status != GOOD:
            return status
        rest = rest - h if h < rest else 0.0
        barrier()
    return GOOD


@loop
def keep(me: i64, way: i64, w: Block) -> None:
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
def hold_still(me: i64, w: Block) -> None:
    """Bodies midway are where they end, so that places are found there."""
    w.h = 0.0
    if w.general == 1:
        i = me
        while i < w.bodies:
            world = World(at(w.lane_area, me * w.lane_words))
            for j in range(7):
                w.mid[i, j] = w.end[i, j]
            turned_inertia(i, world.mid[i], world)
            for j in range(9):
                w.turned[i, j] = flat(world.body[i].turned_inverse)[j]
            i += w.lanes
    barrier()


@loop
def start_status(me: i64, w: Block) -> i64:
    """Nobody begins inside another; GOOD, or why not."""
    i = me
    far = 0.0
    while i < w.bodies:
        for j in range(3):
            far = max(far, abs(w.pose[i, j]))
        i += w.lanes
    far = most_of(far, me, w)
    forget(me, w)
    hold_still(me, w)
    status = find_pairs(me, w)
    if status != GOOD:
        return status
    return BAD_GAP if deepest(me, w) > w.start_depth * (1.0 + far) else GOOD
