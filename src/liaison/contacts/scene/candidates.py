"""Candidates for contact: what may come near within a step, by the broad phase, with its features.

Broad phase: which boxes overlap, by sweeping over them in the order of their left sides. A height
field is one of these boxes that does not move.

Public names: candidates, gathered, join_thrown, near_pairs, near_share, law_of, sweep_and_prune,
NEAR.

Source: docs/theory/time_stepping.md; COH95 §3 (sort and sweep with coherence between steps).
"""

from __future__ import annotations

from liaison.contacts.convex.layout import Bodies
from liaison.contacts.convex.manifold import cylinder_end, touch_points
from liaison.contacts.convex.rods import axis_ends, lying_points, nearest_on_rod, rod_points
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr, written
from liaison.program.loops.records import Rows
from liaison.simulation.steps.layout import CROWDED, GOOD, Entries

from .boxes import (
    added,
    along,
    box_at,
    center,
    grown,
    meet,
    on_body,
    overlap,
    swept_box,
    swept_solid,
)  # fmt: skip
from .islands import begin_shares, end_shares
from .layout import (
    BALL_BALL,
    BALL_BOX,
    BALL_PLANE,
    POINT_FACE,
    Crew,
    Extent,
    Island,
    Oriented,
    Pair,
    PairEntries,
    Pose,
    World,
)
from .parts import ROD
from .terrain import field_extents, on_field

NO_NUMBER = float("nan")
"""Left side of what is behind the last box: no box is that far right, also one without end."""

LANES = 8
"""Boxes that are compared at once."""

NEAR, CROWD = 2, 1000
"""What is asked of threads: pairs that are near; boxes up to which one thread finds them."""


def _next_box() -> str:
    """The text of `next_box`: five comparisons of eight boxes each, and the first that ends it."""
    numbers, marks = f"<{LANES} x double>", f"<{LANES} x i1>"
    lines = [
        "declare i8 @llvm.cttz.i8(i8, i1)",
        "define internal i64 @liaison_next_box(i64 %j, i64 %wide, ptr %box, ptr %sorted)",
        "nounwind {", "begin:",
    ]  # fmt: skip
    for k in range(5):
        lines += [
            f"  %p{k} = getelementptr inbounds double, ptr %box, i64 {k}",
            f"  %b{k} = load double, ptr %p{k}, align 8",
            f"  %o{k} = insertelement {numbers} poison, double %b{k}, i64 0",
            f"  %a{k} = shufflevector {numbers} %o{k}, {numbers} poison, "
            f"<{LANES} x i32> zeroinitializer",
            f"  %s{k} = mul i64 %wide, {k}",
        ]
    lines += ["  br label %look", "look:", "  %at = phi i64 [%j, %begin], [%next, %again]"]
    for k, test in enumerate(("ugt", "ule", "uge", "ole", "oge")):
        lines += [
            f"  %i{k} = add i64 %s{k}, %at",
            f"  %q{k} = getelementptr inbounds double, ptr %sorted, i64 %i{k}",
            f"  %x{k} = load {numbers}, ptr %q{k}, align 8",
            f"  %m{k} = fcmp {test} {numbers} %x{k}, %a{k}",
        ]
    lines += [
        f"  %y = and {marks} %m1, %m2", f"  %z = and {marks} %m3, %m4",
        f"  %both = and {marks} %y, %z", f"  %any = or {marks} %both, %m0",
        f"  %bits = bitcast {marks} %any to i8", "  %none = icmp eq i8 %bits, 0",
        "  br i1 %none, label %again, label %end", "again:",
        f"  %next = add i64 %at, {LANES}", "  br label %look", "end:",
        "  %count = call i8 @llvm.cttz.i8(i8 %bits, i1 true)", "  %more = zext i8 %count to i64",
        "  %found = add i64 %at, %more", "  ret i64 %found", "}",
    ]  # fmt: skip
    return "\n".join(lines)


@written(_next_box())
def next_box(j: i64, wide: i64, box: ptr, sorted: ptr) -> i64:
    """The next box, from the j-th on, that overlaps another along y and z or is right of it.

    Args:
        j: where to begin.
        wide: boxes in a row of `sorted`.
        box: right side of the other along x, then high and low along y, high and low along z.
        sorted: left sides along x of all boxes in their order, low and high along y, low and high
            along z; left sides behind the last one are no numbers.
    """
    low, right = sorted[:wide], box[0]
    while not (
        not low[j] <= right
        or (
            not (sorted[wide + j] > box[1] or sorted[2 * wide + j] < box[2])
            and sorted[3 * wide + j] <= box[3]
            and sorted[4 * wide + j] >= box[4]
        )
    ):
        j += 1
    return int(j)


@loop
def sweep_and_prune(
    count: i64, boxes: Rows[Extent], order: iptr, capacity: i64, pairs: Rows[Pair], sorted: ptr
) -> i64:
    """Pairs of boxes of different bodies that overlap.

    Args:
        count: boxes.
        boxes: their extents, and bodies; two of the same body are no pair.
        order: boxes by their left side, nearly: put right here, and used again next time.
        capacity: pairs at most.
        pairs: result, the smaller number first.
        sorted: workspace, five rows of `count` and eight numbers, and five more.

    Returns:
        How many there are; -1 if they are too many.
    """
    sort_again(count, boxes, order)
    wide = count + LANES
    lay_out(count, boxes, order, sorted)
    ask = sorted[5 * wide :]
    return swept_range(0, count, wide, boxes, order, capacity, pairs, sorted, ask)


@loop
def swept_range(
    begin: i64, end: i64, wide: i64, boxes: Rows[Extent], order: iptr, capacity: i64, pairs:
    Rows[Pair], sorted: ptr, ask: ptr,
) -> i64:  # fmt: skip
    """Pairs whose left box has a place from `begin` on, before `end`; how many, −1: too many."""
    number = 0
    for i in range(begin, end):
        one = order[i]
        box = boxes[one]
        ask[0] = box.high[0]
        ask[1] = box.high[1]
        ask[2] = box.low[1]
        ask[3] = box.high[2]
        ask[4] = box.low[2]
        j = next_box(i + 1, wide, ask, sorted)
        while sorted[j] <= box.high[0]:
            other = order[j]
            if box.body != boxes[other].body:
                if number >= capacity:
                    return -1
                pairs[number].first = min(one, other)
                pairs[number].second = max(one, other)
                number += 1
            j = next_box(j + 1, wide, ask, sorted)
    return number


@loop
def lay_out(count: i64, boxes: Rows[Extent], order: iptr, sorted: ptr) -> None:
    """Sides of boxes in their order, each side in a row of its own, as `next_box` takes them."""
    wide = count + LANES
    for i in range(count):
        box = boxes[order[i]]
        sorted[i] = box.low[0]
        for a in range(1, 3):
            sorted[(2 * a - 1) * wide + i] = box.low[a]
            sorted[2 * a * wide + i] = box.high[a]
    for i in range(count, wide):
        sorted[i] = NO_NUMBER
        for k in range(1, 5):
            sorted[k * wide + i] = 0.0


@loop
def sort_again(count: i64, boxes: Rows[Extent], order: iptr) -> None:
    """Insertion: quick where little changed."""
    for i in range(1, count):
        one = order[i]
        left = boxes[one].low[0]
        j = i - 1
        while j >= 0:
            if boxes[order[j]].low[0] <= left:
                break
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = one


@loop
def candidates(e: Entries, world: World) -> i64:
    """Pairs that may come near within the step; GOOD, or CROWDED.

    A pair is of two colliders, or of (−1 − plane) and a ball or point. Balls come first among
    colliders, then boxes, then points, which touch planes only; height fields, behind boxes among
    what the broad phase compares, are the last planes.
    """
    count = extents(world)
    pairs = sweep_and_prune(
        count, world.extent, world.order, world.capacity, world.near, world.sorted
    )
    return gathered(e, pairs, world)


@loop
def extents(world: World) -> i64:
    """The boxes around all that may touch during the step; how many."""
    wide = world.balls + world.boxes
    for i in range(world.balls):
        swept_box(world.collider[i], world.extent[i], world)
    for i in range(world.balls, wide):
        swept_solid(i, world.extent[i], world)
    field_extents(world)
    return int(wide + world.terrains)


@loop
def near_pairs(scratch: ptr, world: World) -> i64:
    """Pairs of boxes that overlap, by all threads: as `sweep_and_prune`, in the same order."""
    count = extents(world)
    crew = Crew(at(scratch, world.crew_at))
    workers = crew.workers if count > CROWD else 1
    if workers == 1:
        return sweep_and_prune(
            count, world.extent, world.order, world.capacity, world.near, world.sorted
        )
    sort_again(count, world.extent, world.order)
    lay_out(count, world.extent, world.order, world.sorted)
    begin_shares(NEAR, workers, crew)
    near_share(0, scratch, world)
    end_shares(workers, crew)
    number = 0
    for w in range(workers):
        more = crew.tally[w]
        if more < 0 or number + more > world.capacity:
            return -1
        own = Island(at(scratch, world.islands_at + w * world.island_words)).near
        for k in range(more):
            world.near[number].first = own[k].first
            world.near[number].second = own[k].second
            number += 1
    return number


@loop
def near_share(me: i64, scratch: ptr, world: World) -> None:
    """The pairs of one thread: of boxes that lie side by side in their order."""
    crew = Crew(at(scratch, world.crew_at))
    island = Island(at(scratch, world.islands_at + me * world.island_words))
    count = world.balls + world.boxes + world.terrains
    crew.tally[me] = swept_range(
        me * count // crew.workers,
        (me + 1) * count // crew.workers,
        count + LANES,
        world.extent,
        world.order,
        world.capacity,
        island.near,
        world.sorted,
        island.block,
    )


@loop
def gathered(e: Entries, count: i64, world: World) -> i64:
    """Candidates of so many pairs of boxes, and of planes; GOOD, or CROWDED."""
    wide = world.balls + world.boxes
    flat_planes = world.planes - world.terrains
    world.candidates = 0
    world.near_pairs = max(count, 0)
    if count < 0:
        return CROWDED
    for c in range(count):
        if pair_added(world.near[c], world) == 0:
            return CROWDED
    for i in range(world.colliders):
        if i < world.balls or i >= wide:
            for j in range(flat_planes):
                if law_of(-1 - j, i, world) >= 0 and plane_is_near(e, i, j, world) == 1:
                    plane = world.plane[j].floats
                    if noted(BALL_PLANE, -1 - j, i, plane, 4, world) == 0:
                        return CROWDED
        elif is_of_hull(i, world) == 1 and world.form[i - world.balls] < 0:
            for j in range(flat_planes):
                if law_of(-1 - j, i, world) >= 0 and drum_on_plane(i, j, world) == 0:
                    return CROWDED
    return GOOD


@loop
def pair_added(pair: Pair, world: World) -> i64:
    """Candidates of two boxes that overlap; 0 where there is no room."""
    first = pair.first
    second = pair.second
    k = second - world.balls - world.boxes
    if k >= 0:
        one = -1 - (world.planes - world.terrains) - k
        return 1 if law_of(one, first, world) < 0 else int(on_field(first, k, world))
    return 1 if law_of(first, second, world) < 0 else int(come_near(first, second, world))


@loop
def join_thrown(e: Entries, world: World) -> i64:
    """Candidates of what impulses throw bodies at, behind those there are; GOOD, or CROWDED.

    Boxes are those of free motion; bodies at the end of the step may have left theirs.
    """
    if grown(world) == 0:
        return GOOD
    count = world.balls + world.boxes + world.terrains
    begin = world.candidates
    pairs = sweep_and_prune(
        count, world.extent, world.order, world.capacity, world.near, world.sorted
    )
    world.near_pairs = max(pairs, 0)
    has_room = 1 if pairs >= 0 else 0
    for c in range(pairs):
        pair = world.near[c]
        one = world.extent[count + pair.first]
        is_new = 1 - overlap(one, world.extent[count + pair.second])
        field = pair.second - world.balls - world.boxes
        if field >= 0:
            # the box of a height field is large: a body may be in it far from any place
            is_new = 1 - is_noted(world.terrains - world.planes - 1 - field, pair.first, world)
        if has_room == 1 and is_new == 1:
            has_room = pair_added(pair, world)
    for j in range(world.planes - world.terrains):
        for i in range(world.colliders):
            if has_room == 1 and law_of(-1 - j, i, world) >= 0:
                has_room = thrown_on_plane(e, i, j, count, world)
    for c in range(begin, world.candidates):
        world.candidate[c].is_active = 0
    return GOOD if has_room == 1 else CROWDED


@loop
def thrown_on_plane(e: Entries, i: i64, j: i64, count: i64, world: World) -> i64:
    """Adds a collider that is thrown at a plane nobody looked at; 0 where there is no room."""
    wide = world.balls + world.boxes
    if i < world.balls or i >= wide:
        if plane_gap(e, i, j, world.end, world) > world.margin:
            return 1
        if is_noted(-1 - j, i, world) == 1:
            return 1
        return int(noted(BALL_PLANE, -1 - j, i, world.plane[j].floats, 4, world))
    if is_of_hull(i, world) == 0 or world.form[i - world.balls] >= 0:
        return 1
    was_far = 1 if lowest_over(j, world.extent[count + i], world) > world.margin else 0
    return int(drum_on_plane(i, j, world)) if was_far == 1 else 1


@loop
def is_noted(first: i64, second: i64, world: World) -> i64:
    """1 if two colliders, or a plane and one, are candidates."""
    for c in range(world.candidates):
        if world.candidate[c].first == first and world.candidate[c].second == second:
            return 1
    return 0


@loop
def lowest_over(j: i64, extent: Extent, world: World) -> f64:
    """How far a box is above a plane."""
    plane = world.plane[j]
    lowest = -plane.d
    for a in range(3):
        lowest += min(plane.normal[a] * extent.low[a], plane.normal[a] * extent.high[a])
    return float(lowest)


@loop
def drum_on_plane(i: i64, j: i64, world: World) -> i64:
    """Adds the points at which a cylinder or capsule may touch a plane; 0 where there is no room.

    Of a capsule, and of a cylinder that lies, they are the ends of its axis, about which it rolls;
    elsewhere points of the rim that looks at the plane, the lowest of them first.
    """
    plane = world.plane[j]
    if lowest_over(j, world.extent[i], world) > world.margin:
        return 1
    box = world.box[0]
    ask = world.ask[0]
    box_at(i, world.mid, box, world)
    for a in range(3):
        ask.direction[a] = -along(box, a, plane.normal)
    ask.owner = 1
    ask.reach = 0.0
    forms = Bodies(world.forms)
    form = forms.body[i - world.balls]
    count = 2
    if world.form[i - world.balls] == ROD:
        axis_ends(form, forms, ask.polygon[0], ask.polygon[1])
        ask.reach = form.radius
    else:
        count = cylinder_end(form, ask.direction, ask)
    for m in range(count):
        c = added(BALL_PLANE, -1 - j, i, m, world)
        if c < 0:
            return 0
        for a in range(3):
            world.point[a] = box.center[a]
            for b in range(3):
                world.point[a] += box.axes[a, b] * ask.polygon[m, b]
        candidate = world.candidate[c]
        for a in range(4):
            candidate.one[a] = plane.floats[a]
        on_body(i, world.point, 0, candidate.other, world)
        candidate.other[3] = ask.reach
    return 1


@loop
def law_of(first: i64, second: i64, world: World) -> i64:
    """The law of a pair, by the classes of both; −1 where they pass through each other."""
    if first >= 0:
        one = world.collider[first].surface
    else:
        one = world.plane[-1 - first].surface
    return int(world.law_between[one, world.collider[second].surface])


@loop
def come_near(first: i64, second: i64, world: World) -> i64:
    """Candidates of two colliders, the smaller number first; 0 where there is no room."""
    if second < world.balls:
        return int(noted(BALL_BALL, first, second, world.collider[first].floats, 4, world))
    is_hull = is_of_hull(second, world)
    is_rod = 1 if is_hull == 1 and world.form[second - world.balls] == ROD else 0
    if first < world.balls:
        if is_rod == 1:
            return int(ball_on_rod(first, second, world))
        if is_hull == 1:
            return int(ball_on_hull(first, second, world))
        solid = world.solid[second - world.balls]
        return int(noted(BALL_BOX, second, first, solid.floats, 10, world))
    if is_hull == 1 or is_of_hull(first, world) == 1:
        if is_rod == 0:
            return int(hulls_meet(first, second, world))
        if world.form[first - world.balls] == ROD:
            return int(rods_meet(first, second, world))
        return int(hulls_meet(second, first, world))
    return int(meet(first, second, world))


@loop
def is_of_hull(i: i64, world: World) -> i64:
    """1 if a collider is a hull, a cylinder or a capsule."""
    k = i - world.balls
    if world.hulls == 0 or k < 0 or k >= world.boxes:
        return 0
    return 1 if world.form[k] != 0 else 0


@loop
def hulls_meet(first: i64, second: i64, world: World) -> i64:
    """Adds the points at which two hulls, or a hull and a box, may touch; 0 without room.

    Of a capsule and another, the capsule is the first.
    """
    a = world.box[0]
    b = world.box[1]
    ask = world.ask[0]
    seen_from(first, second, world)
    touch_points(first - world.balls, second - world.balls, Bodies(world.forms), ask)
    lying_points(first - world.balls, second - world.balls, Bodies(world.forms), ask)
    one = second if ask.owner == 1 else first
    other = first if ask.owner == 1 else second
    for m in range(ask.points):
        c = added(POINT_FACE, one, other, m, world)
        if c < 0:
            return 0
        place_plane(one, b, m, world)
        candidate = world.candidate[c]
        for i in range(4):
            candidate.one[i] = world.plane_of_hull[i]
        box = a if ask.owner == 1 else b
        x = ask.first_points[m] if ask.owner == 1 else ask.second_points[m]
        on_box(other, box, x, candidate.other, world)
        candidate.other[3] = ask.reach if ask.owner == 1 else ask.reach_second
    return 1


@loop
def seen_from(first: i64, second: i64, world: World) -> None:
    """Two boxes midway, and the question of the first as the second sees it."""
    a = world.box[0]
    b = world.box[1]
    ask = world.ask[0]
    box_at(first, world.mid, a, world)
    box_at(second, world.mid, b, world)
    for i in range(3):
        ask.p[i] = 0.0
        for j in range(3):
            ask.p[i] += b.axes[j, i] * (a.center[j] - b.center[j])
            ask.R[i, j] = 0.0
            for k in range(3):
                ask.R[i, j] += b.axes[k, i] * a.axes[k, j]


@loop
def on_box(i: i64, box: Oriented, x: ptr, out: ptr, world: World) -> None:
    """A point in the axes of the box of a collider in those of its body, midway."""
    for a in range(3):
        world.point[a] = box.center[a]
        for b in range(3):
            world.point[a] += box.axes[a, b] * x[b]
    on_body(i, world.point, 0, out, world)


@loop
def rods_meet(first: i64, second: i64, world: World) -> i64:
    """Adds the points of their axes at which two capsules may touch; 0 where there is no room."""
    ask = world.ask[0]
    seen_from(first, second, world)
    rod_points(first - world.balls, second - world.balls, Bodies(world.forms), ask)
    for m in range(ask.points):
        c = added(BALL_BALL, first, second, ask.keys[m], world)
        if c < 0:
            return 0
        candidate = world.candidate[c]
        on_box(first, world.box[0], ask.first_points[m], candidate.one, world)
        on_box(second, world.box[1], ask.second_points[m], candidate.other, world)
        candidate.one[3] = ask.reach
        candidate.other[3] = ask.reach_second
    return 1


@loop
def ball_on_rod(ball: i64, rod: i64, world: World) -> i64:
    """Adds the point of its axis at which a capsule may touch a ball; 0 where there is no room."""
    b = world.box[1]
    ask = world.ask[0]
    forms = Bodies(world.forms)
    form = forms.body[rod - world.balls]
    box_at(rod, world.mid, b, world)
    center(world.mid[world.collider[ball].body], world.collider[ball], world.point, world)
    for i in range(3):
        ask.p[i] = 0.0
        for j in range(3):
            ask.p[i] += b.axes[j, i] * (world.point[j] - b.center[j])
    nearest_on_rod(ask.p, form, forms, ask.near, ask)
    on_box(rod, b, ask.near, world.plane_of_hull, world)
    world.plane_of_hull[3] = form.radius
    return int(noted(BALL_BALL, rod, ball, world.plane_of_hull, 4, world))


@loop
def place_plane(one: i64, b: Oriented, m: i64, world: World) -> None:
    """The plane of a point on its body: n outwards and its offset, from the axes of a box b."""
    ask = world.ask[0]
    n = world.normal
    plane = world.plane_of_hull
    sign = 1.0 if ask.owner == 1 else -1.0
    near = world.box[1 if ask.owner == 1 else 0]
    x = ask.second_points[m] if ask.owner == 1 else ask.first_points[m]
    pose = world.mid[world.collider[one].body]
    height = 0.0
    for i in range(3):
        n[i] = 0.0
        for j in range(3):
            n[i] += sign * b.axes[i, j] * ask.normal[j]
    for i in range(3):
        place = near.center[i] - pose.place[i]
        for j in range(3):
            place += near.axes[i, j] * x[j]
        height += n[i] * place
    on_body(one, n, 1, plane, world)
    plane[3] = height


@loop
def ball_on_hull(ball: i64, hull: i64, world: World) -> i64:
    """Adds the point at which a ball may touch a hull; 0 where there is no room."""
    b = world.box[1]
    ask = world.ask[0]
    box_at(hull, world.mid, b, world)
    center(world.mid[world.collider[ball].body], world.collider[ball], world.point, world)
    for i in range(3):
        ask.p[i] = 0.0
        for j in range(3):
            ask.p[i] += b.axes[j, i] * (world.point[j] - b.center[j])
            ask.R[i, j] = 1.0 if i == j else 0.0
    touch_points(world.boxes, hull - world.balls, Bodies(world.forms), ask)
    place_plane(hull, b, 0, world)
    return int(noted(POINT_FACE, hull, ball, world.plane_of_hull, 4, world))


@loop
def noted(kind: i64, first: i64, second: i64, what: ptr, size: i64, world: World) -> i64:
    """One candidate of a ball or point with something else; 0 where there is no room."""
    c = added(kind, first, second, 0, world)
    if c < 0:
        return 0
    candidate = world.candidate[c]
    ball = world.collider[second]
    for i in range(size):
        candidate.one[i] = what[i]
    for i in range(3):
        candidate.other[i] = ball.center[i]
    candidate.other[3] = ball.radius
    return 1


@loop
def plane_is_near(e: Entries, i: i64, j: i64, world: World) -> i64:
    """1 if a ball or point is within the margin of a plane at either end of the free step."""
    before = plane_gap(e, i, j, world.pose, world)
    return 1 if min(before, plane_gap(e, i, j, world.end, world)) <= world.margin else 0


@loop
def plane_gap(e: Entries, i: i64, j: i64, poses: Rows[Pose], world: World) -> f64:
    """The gap of a ball or point and a plane, bodies being at `poses`."""
    ball = world.collider[i].floats
    plane = world.plane[j].floats
    out = world.out
    pose = poses[world.collider[i].body].floats
    PairEntries(e.others).ball_plane_gap(0.0, pose, pose, ball, plane, ball, out, out)
    return float(out[0])
