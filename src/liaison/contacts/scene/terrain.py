"""Bodies of a scene on height fields: the places of a collider near a field become candidates.

The places are those of mechanisms (`contacts/convex/ridges.py`), found midway in the step: a point
of the body, with a radius, above a plane of the field, or a point of the field below a face of the
body. They are fixed for the rest of the step.

Public names: field_extents, on_field, goes_through.

Source: docs/theory/convex.md (field-1); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.convex.field_layout import Fields
from liaison.contacts.convex.fields import part_under, put_places
from liaison.contacts.convex.layout import Bodies
from liaison.contacts.convex.manifold import MOST
from liaison.contacts.convex.ridges import field_points
from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows

from .bodies import rotation
from .boxes import added, box_at, on_body
from .layout import BALL_PLANE, FACE_POINT, Ground, Oriented, Pose, Twist, World

BELOW = 1000.0
"""Times its size to which what is below a height field is found."""


@loop
def field_extents(world: World) -> None:
    """The boxes around height fields, of which all below is solid."""
    fields = Fields(world.terrain)
    first = world.balls + world.boxes
    for k in range(world.terrains):
        field = fields.field[k]
        ground = world.ground[k]
        extent = world.extent[first + k]
        wide = -field.x
        deep = -field.y
        middle = 0.5 * (field.low + field.high)
        below = BELOW * (wide + deep + field.high - field.low)
        tall = 0.5 * (field.high - field.low) + below
        for i in range(3):
            center = ground.p[i] + ground.R[i, 2] * (middle - below)
            reach = abs(ground.R[i, 0]) * wide + abs(ground.R[i, 1]) * deep
            reach += abs(ground.R[i, 2]) * tall + world.margin
            extent.low[i] = center - reach
            extent.high[i] = center + reach


@loop
def on_field(i: i64, k: i64, world: World) -> i64:
    """Adds the places of a collider on a height field; 0 where there is no room.

    Args:
        i: the collider, a ball, a box, a hull or a cylinder.
        k: the field.
        world: of the scene.
    """
    ground = world.ground[k]
    box = world.box[0]
    ask = world.ask[0]
    forms = Bodies(world.forms)
    form = i - world.balls
    if i < world.balls:
        form = world.boxes + 1
        forms.body[form].radius = world.collider[i].radius
        ball_at(i, box, world)
    else:
        box_at(i, world.mid, box, world)
    for a in range(3):
        ask.p[a] = 0.0
        for b in range(3):
            ask.p[a] += ground.R[b, a] * (box.center[b] - ground.p[b])
            ask.R[a, b] = 0.0
            for c in range(3):
                ask.R[a, b] += ground.R[c, a] * box.axes[c, b]
    gathered = world.gathered[0]
    way = way_of(world.collider[i].body, box, world)
    field_points(forms.body[form], k, way, Fields(world.terrain), forms, ask, gathered)
    for m in range(MOST):
        world.place_keys[m] = 0.0
        for a in range(6):
            world.places[m, a] = 0.0
    put_places(flat(world.places), world.place_keys, 14, ask, gathered)
    for m in range(MOST):
        if world.place_keys[m] > 0.0 and place_added(i, k, m, box, world) == 0:
            return 0
    return 1


@loop
def ball_at(i: i64, box: Oriented, world: World) -> None:
    """The center of a ball, midway, with the axes of the ground."""
    ball = world.collider[i]
    pose = world.mid[ball.body]
    R = world.R
    rotation(pose.turn, flat(R))
    for a in range(3):
        box.center[a] = pose.place[a]
        box.half[a] = ball.radius
        for b in range(3):
            box.center[a] += R[a, b] * ball.center[b]
            box.axes[a, b] = 1.0 if a == b else 0.0


@loop
def way_of(body: i64, box: Oriented, world: World) -> f64:
    """How far a point of a collider may go within the step, at most."""
    arm = 0.0
    for a in range(3):
        step = box.center[a] - world.mid[body].place[a]
        arm += step * step
    size = box.half[0] + box.half[1] + box.half[2]
    way = world.h * max(speed_of(body, world.speed, sqrt(arm) + size),
                        speed_of(body, world.free, sqrt(arm) + size))  # fmt: skip
    # of a body that impulses throw, twice from the middle of the step to its end
    thrown = 0.0
    for a in range(3):
        step = world.end[body].place[a] - world.mid[body].place[a]
        thrown += step * step
    return float(max(way, 2.0 * sqrt(thrown)))


@loop
def speed_of(body: i64, twists: Rows[Twist], arm: f64) -> f64:
    """The speed of a point of a body so far from its center of mass, at most."""
    twist = twists[body]
    turns = 0.0
    goes = 0.0
    for a in range(3):
        turns += twist.spin[a] * twist.spin[a]
        goes += twist.velocity[a] * twist.velocity[a]
    return sqrt(goes) + arm * sqrt(turns)


@loop
def place_added(i: i64, k: i64, m: i64, box: Oriented, world: World) -> i64:
    """The candidate of a place; 0 where there is no room."""
    place = world.places[m]
    ground = world.ground[k]
    owned = abs(place[0]) + abs(place[1]) + abs(place[2])
    kind = FACE_POINT if owned > 0.0 else BALL_PLANE
    surface = world.planes - world.terrains + k
    c = added(kind, -1 - surface, i, m, world)
    if c < 0:
        return 0
    one = world.candidate[c].one
    other = world.candidate[c].other
    # the point of the field, and that of the body, on the ground
    along_ground(place[9:], ground, one)
    for a in range(3):
        world.point[a] = box.center[a]
        for b in range(3):
            world.point[a] += box.axes[a, b] * place[6 + b]
    height = 0.0
    if kind == BALL_PLANE:
        for a in range(3):
            world.normal[a] = 0.0
            for b in range(3):
                world.normal[a] += ground.R[a, b] * place[3 + b]
            height += world.normal[a] * one[a]
        for a in range(3):
            one[a] = world.normal[a]
        one[3] = height
        on_body(i, world.point, 0, other, world)
        other[3] = place[12]
        return 1
    for a in range(3):
        world.normal[a] = 0.0
        for b in range(3):
            world.normal[a] += box.axes[a, b] * place[b]
        height += world.normal[a] * (world.point[a] - world.mid[world.collider[i].body].place[a])
    on_body(i, world.normal, 1, other, world)
    other[3] = height
    return 1


@loop
def along_ground(x: ptr, ground: Ground, out: ptr) -> None:
    """A point of a field in the axes of the ground."""
    for a in range(3):
        out[a] = ground.p[a]
        for b in range(3):
            out[a] += ground.R[a, b] * x[b]


@loop
def goes_through(i: i64, k: i64, world: World) -> i64:
    """1 if the center of a collider, which is above a height field, comes below it on its way."""
    gathered = world.gathered[0]
    fields = Fields(world.terrain)
    seen_from_field(i, k, world.pose, gathered.one, world)
    seen_from_field(i, k, world.end, gathered.two, world)
    part = part_under(gathered.one, gathered.two, fields.field[k], fields, gathered)
    return 1 if part >= 0.0 else 0


@loop
def seen_from_field(i: i64, k: i64, poses: Rows[Pose], out: ptr, world: World) -> None:
    """The center of a collider in the axes of a height field."""
    collider = world.collider[i]
    pose = poses[collider.body]
    ground = world.ground[k]
    R = world.R
    rotation(pose.turn, flat(R))
    for a in range(3):
        out[a] = 0.0
    for b in range(3):
        x = pose.place[b] - ground.p[b]
        for c in range(3):
            x += R[b, c] * collider.center[c]
        for a in range(3):
            out[a] += ground.R[b, a] * x
