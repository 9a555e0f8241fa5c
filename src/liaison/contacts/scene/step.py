"""One step of a scene: contacts of the candidates, impulses, places.

Gaps and rows of candidates come from one kernel for each class of pair.

Public names: solved_step, serve, note_forces, place, deepest, gap_of, evaluate_pair, note_entries,
UNSOLVED, LATE, MOST_CORNERS, HALF.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, entry_at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.simulation.steps.layout import CROWDED, GOOD, Entries, Run

from .bodies import copy_twists, free_bodies, move, moved_pose, spin_again
from .boxes import center, comes_by, reach_of, thickness_of, thrown_way, turned_way
from .candidates import NEAR as NEAR_BOXES
from .candidates import (
    drum_on_plane,
    gathered,
    join_thrown,
    law_of,
    near_pairs,
    near_share,
    pair_added,
)
from .islands import (
    MANY,
    MORE_TRIES,
    PLACES,
    STEP,
    TRIES,
    begin_shares,
    end_shares,
    solve_islands,
    solve_share,
)
from .layout import FEW, KINDS, Candidate, Contact, Crew, Island, PairEntries, Pose, World
from .rates import guess, keep_impulses
from .terrain import goes_through

ACTIVE, ROWS, DEEPEST = 3, 4, 5
"""What is asked of threads about candidates, behind what is asked about islands and boxes."""

BEFORE, MIDWAY, AFTER = 0, 1, 2
"""Poses at which gaps are taken: of the beginning of the step, midway, of its end."""

MANY_PAIRS = 1000
"""Candidates up to which one thread looks at them."""


@loop
def gap_of(e: Entries, candidate: Candidate, poses: Rows[Pose], world: World) -> f64:
    """The gap of a candidate, bodies being at `poses`."""
    evaluate_pair(KINDS + candidate.kind, PairEntries(e.others), candidate, poses, world.out, world)
    return float(world.out[0])


@loop
def evaluate_pair(
    number: i64, pairs: PairEntries, candidate: Candidate, poses: Rows[Pose], out: ptr, world:
    World,
) -> None:  # fmt: skip
    """An entry of the kernel at a candidate: gap and rows, or from `KINDS` on the gap alone."""
    entry = entry_at(pairs.ints, number)
    pose = poses[world.collider[candidate.second].body].floats
    one = candidate.one
    if candidate.first < 0:
        entry(0.0, pose, pose, candidate.other, one, one, out, out)
    else:
        far = poses[world.collider[candidate.first].body].floats
        entry(0.0, far, pose, candidate.other, one, one, out, out)


@loop
def note_entries(e: Entries, scratch: ptr, world: World) -> None:
    """The kernel of pairs, for all threads."""
    crew = Crew(at(scratch, world.crew_at))
    for k in range(2 * KINDS):
        crew.pairs[k] = e.others[k]


@loop
def activate(limit: f64, again: i64, poses: i64, scratch: ptr, world: World) -> i64:
    """Candidates whose gap is at most `limit` become active; how many became so.

    Args:
        limit: on gaps.
        again: 1 where those that are active stay so.
        poses: BEFORE, MIDWAY or AFTER.
        scratch: with the crew, which knows the kernel of pairs.
        world: everything else.
    """
    crew = Crew(at(scratch, world.crew_at))
    crew.limit = limit
    crew.again = again
    crew.poses = poses
    workers = by_all(ACTIVE, scratch, world)
    count = 0
    for w in range(workers):
        count += crew.tally[w]
    return count


@loop
def by_all(kind: i64, scratch: ptr, world: World) -> i64:
    """Work on all candidates, by all threads where there are many; how many threads that were."""
    crew = Crew(at(scratch, world.crew_at))
    workers = crew.workers if world.candidates > MANY_PAIRS else 1
    crew.sharing = workers
    begin_shares(kind, workers, crew)
    pair_share(0, kind, scratch, world)
    end_shares(workers, crew)
    return int(workers)


@loop
def pair_share(me: i64, kind: i64, scratch: ptr, world: World) -> None:
    """The candidates of one thread, which lie side by side."""
    crew = Crew(at(scratch, world.crew_at))
    if me < crew.sharing:
        begin = me * world.candidates // crew.sharing
        end = (me + 1) * world.candidates // crew.sharing
        out = Island(at(scratch, world.islands_at + me * world.island_words)).rates
        if kind == ACTIVE:
            crew.tally[me] = activate_range(begin, end, out, crew, world)
        elif kind == ROWS:
            crew.tally[me] = rows_range(begin, end, crew, world)
        else:
            crew.depth[me] = deepest_range(begin, end, out, crew, world)


@loop
def gap_in(candidate: Candidate, out: ptr, crew: Crew, world: World) -> f64:
    """The gap of a candidate at the poses that the crew looks at."""
    number = KINDS + candidate.kind
    if crew.poses == BEFORE:
        evaluate_pair(number, PairEntries(crew.pairs), candidate, world.pose, out, world)
    else:
        evaluate_pair(number, PairEntries(crew.pairs), candidate, world.end, out, world)
    return float(out[0])


@loop
def activate_range(begin: i64, end: i64, out: ptr, crew: Crew, world: World) -> i64:
    """As `activate`, of some candidates."""
    count = 0
    for c in range(begin, end):
        candidate = world.candidate[c]
        was = candidate.is_active if crew.again == 1 else 0
        if was == 0 and gap_in(candidate, out, crew, world) <= crew.limit:
            candidate.is_active = 1
            count += 1
        else:
            candidate.is_active = was
    return count


@loop
def contacts_at(poses: i64, scratch: ptr, world: World) -> None:
    """Bodies, gap and rows of every active candidate, bodies being at these poses."""
    crew = Crew(at(scratch, world.crew_at))
    crew.poses = poses
    workers = by_all(ROWS, scratch, world)
    world.contacts = crew.tally[workers - 1]


@loop
def rows_range(begin: i64, end: i64, crew: Crew, world: World) -> i64:
    """Contacts of some candidates, behind those of candidates before; the number of the next."""
    count = 0
    for c in range(begin):
        count += world.candidate[c].is_active
    for c in range(begin, end):
        if world.candidate[c].is_active == 1:
            fill_contact(c, world.contact[count], crew, world)
            count += 1
    return count


@loop
def fill_contact(c: i64, contact: Contact, crew: Crew, world: World) -> None:
    """Bodies, gap and rows of one candidate."""
    candidate = world.candidate[c]
    pairs = PairEntries(crew.pairs)
    if crew.poses == MIDWAY:
        evaluate_pair(candidate.kind, pairs, candidate, world.mid, contact.floats, world)
    else:
        evaluate_pair(candidate.kind, pairs, candidate, world.end, contact.floats, world)
    contact.body[0] = -1
    if candidate.first >= 0:
        contact.body[0] = world.collider[candidate.first].body
    contact.body[1] = world.collider[candidate.second].body
    contact.candidate = c
    law = world.law[law_of(candidate.first, candidate.second, world)]
    contact.friction = law.friction
    contact.restitution = law.restitution
    contact.rolling = law.rolling
    contact.pivoting = law.pivoting
    push_of(contact, world)


@loop
def serve(me: i64, run: Run, scratch: ptr) -> None:
    """What a further thread does while the first one goes on with a run: its share of the work."""
    world = World(run.beside)
    crew = Crew(at(scratch, world.crew_at))
    seen = 0.0
    while True:
        x = crew.order
        crew.after(seen, x, x, x, x, x, x, x)
        seen = crew.order[0]
        if crew.over[0] > 0.0:
            break
        if crew.kind == NEAR_BOXES:
            near_share(me, scratch, world)
        elif crew.kind >= ACTIVE:
            pair_share(me, crew.kind, scratch, world)
        else:
            solve_share(me, crew.kind, scratch, world)
        x = crew.done[me:]
        crew.publish(seen, x, x, x, x, x, x, x)


@loop
def push_of(contact: Contact, world: World) -> None:
    """M⁻¹Dᵀ of a contact, and how far unit impulses along n and across it move its rates."""
    rows = contact.rows
    push = contact.push
    a11 = 0.0
    a22 = 0.0
    a12 = 0.0
    normal = 0.0
    for side in range(2):
        if contact.body[side] >= 0:
            body = world.body[contact.body[side]]
            inverse = body.turned_inverse
            first = 3 * side
            for r in range(3):
                row = rows[first + r]
                out = push[first + r]
                for i in range(3):
                    out[i] = (
                        inverse[i, 0] * row[0] + inverse[i, 1] * row[1] + inverse[i, 2] * row[2]
                    )
                    out[3 + i] = row[3 + i] / body.mass
            for i in range(6):
                normal += rows[first, i] * push[first, i]
                a11 += rows[first + 1, i] * push[first + 1, i]
                a22 += rows[first + 2, i] * push[first + 2, i]
                a12 += rows[first + 1, i] * push[first + 2, i]
    contact.normal = normal
    half = 0.5 * (a11 - a22)
    contact.across = 0.5 * (a11 + a22) + sqrt(half * half + a12 * a12)


HALVED, UNSOLVED, FAST = 6, 12, 10
"""Times that a step which is not solved is halved, in a row and in all; in a row, where bodies go
farther past each other than they are thick."""

AGAIN = 3
"""Times that gaps found to close under the impulses of others join the problem."""

SPUN = 6
"""Times at most that impulses are found with gyroscopic moments of what they led to."""

NEAR = 4.0
"""Gaps up to this many penetrations wide are guarded while others are pushed out."""

PLACED = 30
"""Corrections of places at most."""

HALF = 0.5
"""Part of the thickness of bodies that places at the end of a step are deep at most."""

LATE, MOST_CORNERS = 9, 15
"""Keys of points that come only at the end of a step: the first of a pair, and the last."""


@loop
def solved_step(e: Entries, scratch: ptr, world: World) -> i64:
    """Impulses of a step of size `world.h`, or of its first part where all of it is not solved.

    What is not solved leaves the state as before, and is tried with half the step, at last in more
    ways; not with rolling friction, whose turns come to rest whatever the step. So is what may pass
    another body unseen. GOOD, or why not.
    """
    for halved in range(FAST + 1):
        is_last = 1 if halved >= HALVED or world.tried >= UNSOLVED or world.has_turning == 1 else 0
        world.tries = TRIES
        status = attempt(e, scratch, world)
        if status == GOOD and world.excess > 1.0 and is_last == 1 and world.has_turning == 0:
            world.tries = MORE_TRIES
            status = attempt(e, scratch, world)
        if status != GOOD:
            return status
        is_fast = is_passing(world)
        is_solved = 1 if world.excess <= 1.0 or is_last == 1 else 0
        if is_solved == 1 and (is_fast == 0 or halved == FAST):
            world.passed += is_fast
            break
        world.h = 0.5 * world.h
        world.tried += 1 - is_solved
    if world.excess > 1.0:
        world.tried = UNSOLVED + 1  # the step is missed, and its rest taken at once
        world.ended = world.why
    return GOOD


@loop
def is_passing(world: World) -> i64:
    """1 if two bodies go farther past each other than both are thick, and nothing keeps them apart.

    Pairs are those whose boxes meet on the way of the step, and all of what impulses throw farther
    than to the middle of another. Height fields may have a ridge on the way.
    """
    wide = world.balls + world.boxes
    for k in range(world.near_pairs):
        first = world.near[k].first
        second = world.near[k].second
        if second < wide and is_passed(first, second, world) == 1:
            return 1
    for i in range(wide):
        if passes_field(i, world) == 1:
            return 1
        if thrown_way(i, world) > 0.5 * thickness_of(i, world):
            for j in range(wide):
                if world.collider[j].body != world.collider[i].body:
                    first = min(i, j)
                    second = max(i, j)
                    if comes_by(first, second, world) == 1 and is_hit(first, second, world) == 1:
                        return 1
    return 0


@loop
def passes_field(i: i64, world: World) -> i64:
    """1 if a collider goes through what a height field has on its way, in a step."""
    if world.terrains == 0:
        return 0
    body = world.collider[i].body
    way = turned_way(i, world)
    square = 0.0
    for j in range(3):
        step = world.end[body].place[j] - world.pose[body].place[j]
        square += step * step
    if way + sqrt(square) <= thickness_of(i, world):
        return 0
    flat_planes = world.planes - world.terrains
    for k in range(world.terrains):
        if law_of(-1 - flat_planes - k, i, world) >= 0 and goes_through(i, k, world) == 1:
            return 1
    return 0


@loop
def is_passed(first: i64, second: i64, world: World) -> i64:
    """1 if two colliders may pass each other within the step."""
    if law_of(first, second, world) < 0:
        return 0
    way = relative_way(first, second, world)
    way += turned_way(first, world) + turned_way(second, world)
    if way <= thickness_of(first, world) + thickness_of(second, world):
        return 0
    return 1 - is_kept_apart(first, second, world)


@loop
def relative_way(first: i64, second: i64, world: World) -> f64:
    """How far the body of a collider goes in the step, seen from that of another.

    Twice as far as to the middle of the step, where normals are taken: what is thrown back from
    behind another body ends near its beginning.
    """
    one = world.collider[first].body
    other = world.collider[second].body
    apart = 0.0
    middle = 0.0
    for j in range(3):
        begin = world.pose[one].place[j] - world.pose[other].place[j]
        step = world.end[one].place[j] - world.end[other].place[j] - begin
        apart += step * step
        step = world.mid[one].place[j] - world.mid[other].place[j] - begin
        middle += 4.0 * step * step
    return sqrt(max(apart, middle))


@loop
def is_hit(first: i64, second: i64, world: World) -> i64:
    """1 if a collider that is thrown may come to the middle of another, which nobody looked at."""
    if law_of(first, second, world) < 0:
        return 0
    way = thrown_way(first, world) + thrown_way(second, world)
    if 2.0 * way <= thickness_of(first, world) + thickness_of(second, world):
        return 0
    return 1 - is_kept_apart(first, second, world)


@loop
def is_kept_apart(first: i64, second: i64, world: World) -> i64:
    """1 if impulses act between two colliders, neither of which comes to the other side of them."""
    acts = 0
    for c in range(world.contacts):
        contact = world.contact[c]
        pair = world.candidate[contact.candidate]
        same = 1 if pair.first == first and pair.second == second else 0
        swapped = 1 if pair.first == second and pair.second == first else 0
        if same + swapped > 0 and contact.force[0] > 0.0:
            acts = 1
            normal = contact.rows[3, 3:]
            before = height_over(first, second, world.pose, normal, world)
            middle = height_over(first, second, world.mid, normal, world)
            after = height_over(first, second, world.end, normal, world)
            if min(before * middle, before * after) < 0.0:
                return 0
    return acts


@loop
def height_over(first: i64, second: i64, poses: Rows[Pose], normal: ptr, world: World) -> f64:
    """How far the center of a collider is from that of another along a normal."""
    one = world.before
    other = world.after
    center(poses[world.collider[first].body], world.collider[first], one, world)
    center(poses[world.collider[second].body], world.collider[second], other, world)
    far = 0.0
    for j in range(3):
        far += normal[j] * (other[j] - one[j])
    return far


@loop
def attempt(e: Entries, scratch: ptr, world: World) -> i64:
    """Impulses of a step of size `world.h`, and what they miss; GOOD, or why not."""
    free_bodies(world)
    note_entries(e, scratch, world)
    status = gathered(e, near_pairs(scratch, world), world)
    if status != GOOD:
        return status
    activate(world.touch, 0, BEFORE, scratch, world)
    activate(0.0, 1, AFTER, scratch, world)
    for _ in range(SPUN):
        status = find_impulses(e, scratch, world)
        if status != GOOD or world.contacts == 0 or spin_again(world) == 0:
            break
        keep_impulses(world)
    return status


@loop
def find_impulses(e: Entries, scratch: ptr, world: World) -> i64:
    """Impulses of what is active, and of what they close; GOOD, or CROWDED."""
    for _ in range(AGAIN):
        contacts_at(MIDWAY, scratch, world)
        guess(world)
        copy_twists(world.bodies, world.free, world.next)
        solve_islands(STEP, scratch, world)
        world.touching = world.contacts
        world.most = max(world.most, world.contacts)
        move(world.next, world.end, world)
        status = join_thrown(e, world) if world.contacts > 0 else GOOD
        if status != GOOD:
            return status
        closed = activate(-world.depth, 1, AFTER, scratch, world)
        if closed == 0 and world.excess <= 1.0:
            if join_late(0, e, world) == 0:
                return CROWDED
            closed = activate(-world.depth, 1, AFTER, scratch, world)
        if closed == 0:
            return GOOD
        keep_impulses(world)  # those that join begin with none, the others with what they have
    return GOOD


@loop
def join_late(is_pushed: i64, e: Entries, world: World) -> i64:
    """Candidates of what is inside something at the end of the step alone; 0: no room.

    Others are places of the middle of the step: a box that turns, or that impulses turn, may end
    with another corner in what it meets than it had near it there.
    """
    wide = world.balls + world.boxes
    flat_planes = world.planes - world.terrains
    for k in range(world.near_pairs):
        first = world.near[k].first
        second = world.near[k].second
        way = late_way(first, is_pushed, world)
        if second < wide:
            way += late_way(second, is_pushed, world)
        thin = thickness_of(first, world)
        if second < wide:
            thin = min(thin, thickness_of(second, world))
        if second >= world.balls and way > world.touch and way <= thin:
            begin = world.candidates
            swap_poses(world.collider[first].body, world)
            if second < wide:
                swap_poses(world.collider[second].body, world)
            has_room = pair_added(world.near[k], world)
            swap_poses(world.collider[first].body, world)
            if second < wide:
                swap_poses(world.collider[second].body, world)
            keep_deep(HALF * thin, begin, e, world)
            if has_room == 0:
                return 0
    for i in range(world.balls, wide if world.hulls == 1 else world.balls):
        way = late_way(i, is_pushed, world) if world.form[i - world.balls] < 0 else 0.0
        if way > world.touch and way <= thickness_of(i, world):
            begin = world.candidates
            has_room = 1
            swap_poses(world.collider[i].body, world)
            for j in range(flat_planes):
                if has_room == 1 and law_of(-1 - j, i, world) >= 0:
                    has_room = drum_on_plane(i, j, world)
            swap_poses(world.collider[i].body, world)
            keep_deep(HALF * thickness_of(i, world), begin, e, world)
            if has_room == 0:
                return 0
    return 1


@loop
def late_way(i: i64, is_pushed: i64, world: World) -> f64:
    """How far a collider goes from the middle of the step to its end; far enough if pushed."""
    if is_pushed == 1:
        return float(2.0 * world.touch)
    body = world.collider[i].body
    way = 0.0
    turn = 0.0
    for j in range(3):
        step = world.end[body].place[j] - world.mid[body].place[j]
        way += step * step
        turn += world.next[body].spin[j] * world.next[body].spin[j]
    return float(sqrt(way) + 0.5 * world.h * reach_of(i, world) * sqrt(turn))


@loop
def swap_poses(body: i64, world: World) -> None:
    """The pose midway in the place of that at the end, and the other way round."""
    for j in range(7):
        x = world.mid[body].floats[j]
        world.mid[body].floats[j] = world.end[body].floats[j]
        world.end[body].floats[j] = x


@loop
def keep_deep(most: f64, begin: i64, e: Entries, world: World) -> None:
    """Of the candidates from one on those deeper than others of their pair, by keys of their own.

    What is deeper than `most` may be on the other side already.
    """
    count = begin
    for c in range(begin, world.candidates):
        candidate = world.candidate[c]
        depth = -gap_of(e, candidate, world.end, world)
        least = world.touch
        if depth > least and depth <= most:
            least += known_depth(e, candidate, begin, world)
        if depth > least and depth <= most:
            kept = world.candidate[count]
            for j in range(Candidate.header):
                kept.floats[j] = candidate.floats[j]
            kept.corner = min(LATE + count - begin, MOST_CORNERS)
            kept.is_active = 0
            count += 1
    world.candidates = count


@loop
def known_depth(e: Entries, candidate: Candidate, count: i64, world: World) -> f64:
    """The deepest penetration at the end of the step of the first candidates, of the same pair."""
    depth = 0.0
    for c in range(count):
        other = world.candidate[c]
        same = 1 if other.first == candidate.first and other.second == candidate.second else 0
        swapped = 1 if other.first == candidate.second and other.second == candidate.first else 0
        if same + swapped > 0:
            depth = max(depth, -gap_of(e, other, world.end, world))
    return depth


@loop
def place(e: Entries, scratch: ptr, world: World) -> None:
    """Bodies at the end of the step out of each other, by the shortest way."""
    allowed = world.depth if world.touching <= FEW else MANY * world.depth
    worst = deepest(scratch, world)
    is_moved = 1 if worst > world.touch else 0
    for _ in range(PLACED):
        if worst <= allowed and is_moved == 1:
            # once more, where they were moved far; without room for it the next step finds it
            is_moved = 0
            join_late(1, e, world)
            worst = deepest(scratch, world)
        if worst <= allowed:
            break
        # gaps that others may close while they are pushed out are guarded
        count = activate(NEAR * worst, 0, AFTER, scratch, world)
        contacts_at(AFTER, scratch, world)
        for c in range(count):
            contact = world.contact[c]
            for r in range(3):
                contact.force[r] = 0.0
                contact.right[r] = contact.gap if r == 0 else 0.0
        for i in range(world.bodies):
            for j in range(3):
                world.next[i].spin[j] = 0.0
                world.next[i].velocity[j] = 0.0
        solve_islands(PLACES, scratch, world)
        for i in range(world.bodies):
            moved_pose(1.0, world.end[i], world.next[i], world.end[i])
        # what they are pushed at; where there is no room for it the next step finds it
        join_thrown(e, world)
        worst = deepest(scratch, world)
    world.penetration = worst
    world.worst_depth = max(world.worst_depth, worst)


@loop
def deepest(scratch: ptr, world: World) -> f64:
    """The deepest penetration of all candidates at the end of the step."""
    crew = Crew(at(scratch, world.crew_at))
    crew.poses = AFTER
    workers = by_all(DEEPEST, scratch, world)
    depth = 0.0
    for w in range(workers):
        depth = max(depth, crew.depth[w])
    return depth


@loop
def deepest_range(begin: i64, end: i64, out: ptr, crew: Crew, world: World) -> f64:
    """The same of some candidates."""
    depth = 0.0
    for c in range(begin, end):
        depth = max(depth, -gap_in(world.candidate[c], out, crew, world))
    return depth


@loop
def note_forces(world: World) -> None:
    """Forces of planes during the step, and what its impulses miss."""
    for i in range(world.planes):
        for j in range(3):
            world.plane_force[i, j] = 0.0
    for c in range(world.contacts):
        contact = world.contact[c]
        first = world.candidate[contact.candidate].first
        if first < 0:
            for r in range(3):
                row = contact.rows[3 + r, 3:]
                for j in range(3):
                    world.plane_force[-1 - first, j] += row[j] * contact.force[r] / world.h
    left = world.left
    world.residual = left if world.parts == 0 else max(world.residual, left)
    world.worst_residual = max(world.worst_residual, left)
