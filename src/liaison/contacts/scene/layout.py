"""Layout of a scene: the record `World`, and its rows.

Bodies, colliders, candidates, contacts and followed pairs are records in arrays of it; the sparse
system of the interior method is a block inside it, `System`.

Public names: the records below; the kinds of pairs; fill. `world.py` has their sizes.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.convex.field_layout import Gathered
from liaison.contacts.convex.layout import Question
from liaison.program.loops.language import f64, i64, iptr, kernel, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, size, sized
from liaison.program.pairs import PAIR_ROWS
from liaison.solvers.cones.table import Cone, Limit

R = TypeVar("R", bound=Record)
Words: TypeAlias = NDArray[Any]

FEW = 20
"""Contacts up to which they are solved together."""

MANY_BODIES = 2000
"""Bodies above which contacts are solved by sweeps alone."""

MOST_THREADS = 64
"""Threads of one scene, at most."""

RESERVED = 65536
"""Words of the workspace that formulas of stop conditions may use."""

PAIRS_A_BLOCK = 24
"""Room for pairs of blocks that meet, for each block beside the diagonal."""


# bodies and what they touch with


@final
class Pose(Record):
    """Where a body is: its center of mass and its unit quaternion (w, x, y, z)."""

    place: ptr = inline(3)
    turn: ptr = inline(4)


@final
class Twist(Record):
    """ω and the velocity of the center of mass, in the axes of the ground."""

    spin: ptr = inline(3)
    velocity: ptr = inline(3)


@final
class Body(Record):
    """What a body weighs: I and I⁻¹ in its own axes, and I⁻¹ in those of the ground, midway."""

    mass: f64
    inertia: ptr = inline(3, 3)
    inverse: ptr = inline(3, 3)
    turned_inverse: ptr = inline(3, 3)


@final
class Collider(Record):
    """A ball (radius 0: a point, or a box) on a body; the kernel of pairs takes center, radius."""

    center: ptr = inline(3)
    radius: f64
    body: i64
    surface: i64  # class of its laws


@final
class Plane(Record):
    """n·x ≥ d; the kernel of pairs takes n, d."""

    normal: ptr = inline(3)
    d: f64
    surface: i64


@final
class Ground(Record):
    """Where a height field is: its axes as columns, and its origin."""

    R: ptr = inline(3, 3)
    p: ptr = inline(3)


@final
class Solid(Record):
    """A box: its center on its body, its half sizes, the quaternion of its axes there."""

    center: ptr = inline(3)
    half: ptr = inline(3)
    turn: ptr = inline(4)


@final
class Oriented(Record):
    """A box in the axes of the ground: its axes as columns, its center, its half sizes."""

    axes: ptr = inline(3, 3)
    center: ptr = inline(3)
    half: ptr = inline(3)


@final
class Law(Record):
    """Of two surfaces that touch: rolling and pivoting friction are lengths [m]."""

    friction: f64
    restitution: f64
    rolling: f64
    pivoting: f64


# what may touch, and what does


@final
class Extent(Record):
    """The box around a collider during a step, along the axes of the ground, and its body."""

    low: ptr = inline(3)
    high: ptr = inline(3)
    body: i64


@final
class Pair(Record):
    """Two colliders, the smaller number first."""

    first: i64
    second: i64


@final
class Candidate(Record):
    """What may come near within a step."""

    kind: i64  # BALL_BALL …
    corner: i64  # which point of two boxes it is
    first: i64  # collider, or −1 − plane
    second: i64  # collider
    is_active: i64
    # of the first, as the kernel of pairs takes it: ball, plane, box, edge or point
    one: ptr = inline(10)
    other: ptr = inline(6)  # of the second: ball, edge or face


@final
class Contact(Record):
    """What touches: the kernel of pairs writes the gap and the rows."""

    gap: f64
    # D: three rows on each body; the last three numbers of those on the second are n, t₁, t₂
    rows: ptr = inline((PAIR_ROWS - 1) // 6, 6)
    push: ptr = inline(6, 6)  # M⁻¹Dᵀ, likewise
    right: ptr = inline(3)  # what restitution and gaps add to the rates
    apart: f64  # what a gap adds along n
    bounce: f64  # what restitution adds
    force: ptr = inline(3)  # impulses along n and across it
    moment: ptr = inline(3)  # about n and across it
    normal: f64  # mobility along n
    across: f64  # largest mobility across it
    friction: f64
    restitution: f64
    rolling: f64
    pivoting: f64
    body: iptr = inline(2)  # −1 in the first place: a plane
    candidate: i64


@final
class Slot(Record):
    """A place of a table by keys: key 0 where there is nothing."""

    key: i64
    index: i64


@final
class Live(Record):
    """A pair of bodies that is followed for its events: what is kept, then what one step shows.

    Three numbers each are for sliding, rolling and pivoting.
    """

    key: i64
    mode: i64  # APART or CLOSED
    hit: i64  # step of its last impact
    chain: i64  # impacts in a row
    since: f64  # when it last carried
    landing: f64  # what the approach that ended left of its way
    rubbing: iptr = inline(3)  # BARE, STICK or SLIDE
    held: iptr = inline(3)  # steps for which that was otherwise
    changed: ptr = inline(3)  # since when
    is_seen: i64
    is_hit: i64
    load: f64
    approach: f64
    wait: f64
    bounce: f64
    rates: ptr = inline(3)
    friction: ptr = inline(3)


# the interior method


@final
class ConePair(Record):
    """One contact of the interior method; names as in `cone_pairs`."""

    w: f64
    is_strict: i64  # turns stay inside the cone of λ
    soft: f64  # ε a
    part: f64  # of a change along n that ε leaves
    lag: f64  # of w behind u_n + ε a f_n
    slack: f64  # λ
    mu: f64
    rate: ptr = inline(3)
    eta: f64
    point: ptr = inline(3)  # of the scaling
    scaled: ptr = inline(3)
    g: ptr = inline(3, 3)
    kappa: ptr = inline(2)  # slopes of λ
    h: f64
    d: ptr = inline(3)  # right side of complementarity
    dn: f64
    constant: ptr = inline(3)  # c
    first: f64
    df: ptr = inline(3)  # changes of f, w, and λ with u_t
    dw: f64
    dz: ptr = inline(3)
    product: ptr = inline(3, 6)  # G D of one body
    weight: ptr = inline(2)  # of its products, beside τ


@final
class System(Record):
    """The sparse system of bodies that touch: the order of elimination, and the matrix.

    Blocks are six by six; those beside the diagonal lie by columns, in the order of elimination.
    """

    most: i64 = size()  # bodies that there is room for
    contacts: i64 = size()
    blocks: i64 = size()  # room for blocks beside the diagonal
    matrix: i64 = size()  # 1, or 0 where the matrix is in `Panels`
    bodies: i64
    order: iptr = sized("most")
    place: iptr = sized("most")  # of each body in the order
    first: iptr = sized("most + 1")  # first block of each column
    head: iptr = sized("most")  # where the neighbors of each body begin in the pool
    degree: iptr = sized("most")  # how many they are
    visit: iptr = sized("most")  # the last pair of bodies that looked at each
    slot: iptr = sized("most")
    below: iptr = sized("blocks")  # the body of each block
    target: iptr = sized(f"{PAIRS_A_BLOCK} * blocks")  # what pairs of blocks of a column change
    pool: iptr = sized(f"{PAIRS_A_BLOCK} * blocks + 4 * contacts")  # neighbors, in lists
    between: iptr = sized("contacts")  # the block between bodies that touch
    inverse: ptr = inline(6)  # of the pivots of one block
    diagonal: ptr = sized("matrix * most", "36")
    lower: ptr = sized("matrix * blocks", "36")  # (later, sooner)
    upper: ptr = sized("matrix * blocks", "36")  # (sooner, later)


@final
class Panels(Record):
    """The matrix of a `System` by groups of bodies that touch the same others, for vectors.

    Bodies are numbered in an order of elimination in which groups lie side by side. A group of w
    bodies has a panel for each of them and for each body that its columns reach: 6 w rows of eight
    numbers, the last two 0. `upper` has rows of the group, `lower` the transposed columns.
    """

    most: i64 = size()  # bodies that there is room for
    contacts: i64 = size()
    blocks: i64 = size()  # blocks of six rows of panels that there is room for
    bodies: i64
    groups: i64
    used: i64  # numbers in all panels
    shift: i64  # where they begin, so that vectors lie in lines of the cache
    order: iptr = sized("most")  # body of each number
    place: iptr = sized("most")  # number of each body
    turn: iptr = sized("most")  # in the order of elimination of the system
    group: iptr = sized("most")  # of each number
    begin: iptr = sized("most + 1")  # first number of each group
    row_first: iptr = sized("most + 1")  # first of the numbers that it reaches
    panel: iptr = sized("most + 1")  # where its panels begin
    row: iptr = sized("blocks")
    target: iptr = sized(f"{PAIRS_A_BLOCK} * blocks")  # what pairs of panels change
    pivot: iptr = sized("most")  # where the block of each number with itself is
    between: iptr = sized("contacts")  # and that of bodies that touch
    inverse: ptr = inline(8)  # of the pivots of one block
    product: ptr = sized("9", "6")  # G D of both bodies
    sums: ptr = inline(8)
    x: ptr = sized("8 * most")  # right sides by numbers
    upper: ptr = sized("48 * blocks + 8")
    lower: ptr = sized("48 * blocks + 8")


@final
class Island(Record):
    """Bodies that hang together by contacts, and the workspace of their impulses."""

    most: i64 = size()  # bodies that there is room for
    room: i64 = size()  # contacts, likewise
    few: i64 = size()
    crowd: i64 = size()  # pairs that one thread may find

    bodies: i64
    contacts: i64
    h: f64
    tolerance: f64
    depth: f64
    slack: f64  # gaps that are none
    sweeps_allowed: i64
    has_turning: i64
    has_bounce: i64  # restitution at a contact
    is_limited: i64  # and less of it than asked
    tries: i64  # of the interior method
    most_tries: i64
    turning_residual: f64
    strongest: f64
    scale: f64  # the strongest impulse that residuals are taken beside, as a velocity
    widest: f64  # the same of all islands together
    floor: f64  # and the weakest: the strongest of all islands
    limit: f64  # residual that solves the island
    aim: f64  # residual that few contacts are solved to
    missed: f64  # as a velocity, by the impulses that were looked at last
    pressed: f64  # the strongest of them
    rates: ptr = inline(3)
    block: ptr = inline(36)

    # of all islands that were solved here
    sweeps: i64
    turns: i64
    limited: i64
    unfound: i64  # 1 where impulses with all restitution were not found
    why: i64  # impulses of the last problem were not found; 0 where they were
    whys: i64  # the same of all islands
    above: f64  # what an island must miss to be solved

    # velocities before the step, without impulses, with them
    speed: Rows[Twist] = rows("most")
    free: Rows[Twist] = rows("most")
    next: Rows[Twist] = rows("most")
    body: Rows[Body] = rows("most")
    contact: Rows[Contact] = rows("room")

    # sweeps: impulses and velocities some sweeps ago, and the way from there
    last_force: ptr = sized("room", "3")
    way_force: ptr = sized("room", "3")
    last_speed: Rows[Twist] = rows("most")
    way_speed: Rows[Twist] = rows("most")

    # few contacts at once
    few_rates: ptr = sized("3 * few")
    few_forces: ptr = sized("3 * few")
    few_kept: ptr = sized("3 * few")  # impulses and moments at hand, six of each contact
    mobility: ptr = sized("9 * few * few")
    cone_block: Rows[Cone] = rows("2 * few")  # of each contact its load, then its friction
    cone_limit: Rows[Limit] = rows("2 * few")
    cones: ptr = sized()

    # the interior method: velocities without impulses, those inside, and their change
    unloaded: Rows[Twist] = rows("most")
    inner: Rows[Twist] = rows("most")
    change: Rows[Twist] = rows("most")
    cone: Rows[ConePair] = rows("room")
    best_force: ptr = sized("room", "3")
    held_force: ptr = sized("room", "3")  # of the best try
    inner_force: ptr = sized("room", "3")  # inside their cones, while sweeps try to end it
    system: iptr = sized()  # a System
    panels: iptr = sized()  # its Panels; none on a GPU
    path: iptr = sized()  # a Path; none on a GPU
    near: Rows[Pair] = rows("crowd")  # boxes that overlap, found by this thread


@final
class Weight(Record):
    """What a body weighs."""

    mass: f64
    inertia: ptr = inline(3, 3)  # about its center of mass, in its own axes


@final
class World(Record):
    """Data of a scene under way, besides its state and the time, which are in its `Run`."""

    bodies: i64 = size()
    balls: i64 = size()
    boxes: i64 = size()  # boxes, and boxes about hulls
    colliders: i64 = size()  # balls, then boxes, then points
    planes: i64 = size()  # and height fields, which are the last of them
    terrains: i64 = size()  # height fields
    capacity: i64 = size()  # candidates and contacts that there is room for
    table: i64 = size()
    classes: i64 = size()
    laws: i64 = size()
    hulls: i64 = size()  # 1 where there are hulls or height fields, 0 elsewhere

    # tolerances, limits, gravity
    tolerance: f64
    depth: f64  # penetration that is left alone
    margin: f64
    touch: f64
    gravity: ptr = inline(3)
    sweeps_allowed: i64
    has_events: i64  # contacts are followed for their events
    has_turning: i64  # rolling or pivoting friction anywhere
    is_limited: i64  # and less of it than asked

    # progress
    h: f64  # the step, or the part of it, under way
    candidates: i64
    contacts: i64
    touching: i64  # contacts when impulses were found
    followed: i64  # pairs
    parts: i64  # of the step under way that are done
    tried: i64
    tries: i64  # of the interior method
    sweeps: i64
    turns: i64
    missed: i64
    limited: i64  # steps with less restitution than asked
    unfound: i64  # those whose impulses with all of it were not found
    is_unfound: i64
    why: i64  # impulses of the last attempt were not found; 0 where they were
    ended: i64  # the same of a step that is missed
    reasons: iptr = inline(9)  # of missed steps, how many
    passed: i64  # parts of steps in which bodies may have passed each other
    near_pairs: i64  # of the broad phase
    most: i64  # contacts
    islands: i64
    crew_at: i64  # in the workspace, as the following
    islands_at: i64
    island_words: i64  # of the block of an island
    left: f64  # residual of the impulses, the worst of all islands
    excess: f64  # the same beside what solves a step
    residual: f64
    penetration: f64
    worst_residual: f64
    worst_depth: f64

    # workspace of one body, one pair or one contact
    R: ptr = inline(3, 3)
    product: ptr = inline(3, 3)
    mean: Rows[Twist] = rows("1")
    local: ptr = inline(3)
    turned: ptr = inline(3)
    moment: ptr = inline(3)
    before: ptr = inline(3)
    after: ptr = inline(3)
    out: ptr = inline(1)
    own: ptr = inline(3, 3)
    box: Rows[Oriented] = rows("2")
    normal: ptr = inline(3)
    point: ptr = inline(3)
    plane_of_hull: ptr = inline(4)
    polygon: ptr = sized("12", "3")
    clipped: ptr = sized("12", "3")
    places: ptr = inline(8, 14)  # on a height field
    place_keys: ptr = inline(8)

    # bodies: before the step, as in `Run`, midway, at its end; velocities before, without impulses,
    # with them
    pose: Rows[Pose] = rows("bodies")
    mid: Rows[Pose] = rows("bodies")
    end: Rows[Pose] = rows("bodies")
    speed: Rows[Twist] = rows("bodies")
    free: Rows[Twist] = rows("bodies")
    next: Rows[Twist] = rows("bodies")
    body: Rows[Body] = rows("bodies")

    # what they touch with, and how
    collider: Rows[Collider] = rows("colliders")
    plane: Rows[Plane] = rows("planes")
    solid: Rows[Solid] = rows("boxes")
    thin: ptr = sized("boxes")  # what each is thicker than
    form: iptr = sized("boxes")  # 1 of a hull, 0 of a box, −1 of a cylinder, −2 of a rod
    forms: iptr = sized()  # where there are hulls: `Bodies`, of every box and hull, a point, a ball
    ask: Rows[Question] = rows("hulls")
    ground: Rows[Ground] = rows("terrains")
    terrain: iptr = sized()  # `Fields`
    gathered: Rows[Gathered] = rows("terrains")
    law: Rows[Law] = rows("laws")
    law_between: iptr = sized("classes", "classes")

    # what may touch, and what does
    extent: Rows[Extent] = rows("2 * (balls + boxes + terrains)")  # then those of before
    order: iptr = sized("balls + boxes + terrains")
    sorted: ptr = sized("5 * (balls + boxes + terrains + 8) + 5")  # sides of boxes in that order
    near: Rows[Pair] = rows("capacity")
    candidate: Rows[Candidate] = rows("capacity")
    contact: Rows[Contact] = rows("capacity")
    plane_force: ptr = sized("planes", "3")

    # impulses and moments of the step before; pairs that are followed
    kept_table: Rows[Slot] = rows("table")
    kept_force: ptr = sized("capacity", "3")
    kept_moment: ptr = sized("capacity", "3")
    pair_table: Rows[Slot] = rows("table")
    pair: Rows[Live] = rows("2 * capacity")

    # islands: the root of each body, its island and its number in it; bodies and contacts by
    # islands; which thread solves each
    root: iptr = sized("bodies")
    island: iptr = sized("bodies")
    number: iptr = sized("bodies")
    body_first: iptr = sized("bodies + 1")
    member: iptr = sized("bodies")
    contact_first: iptr = sized("bodies + 1")
    of_island: iptr = sized("capacity")
    missed_by: ptr = sized("bodies")  # what impulses of each island miss, as a velocity
    pressed_by: ptr = sized("bodies")  # and the strongest of them
    turning_missed: ptr = sized("bodies")
    worker: iptr = sized("bodies")


@final
class Crew(Record):
    """Threads that work together: what is ordered by its number, and who has done it."""

    workers: i64
    kind: i64
    limit: f64  # gap up to which candidates become active
    again: i64  # 1 where those that are active stay so
    poses: i64  # at which gaps are taken
    sharing: i64  # threads that take part
    pairs: iptr = inline(12)  # entries of the kernel of pairs
    tally: iptr = inline(MOST_THREADS)  # how much there is of what each thread came to
    depth: ptr = inline(MOST_THREADS)  # and the deepest penetration
    order: ptr = inline(1)
    over: ptr = inline(1)
    done: ptr = inline(MOST_THREADS)
    publish: kernel  # makes a number known
    after: kernel  # waits until it is another one
    until: kernel  # waits until it is the one


@final
class Shown(Part):
    """What a run records of a scene besides its state, in the place of inputs."""

    contacts: f64
    residual: f64
    penetration: f64
    forces: ptr = sized("3 * planes")  # of each plane on the bodies


@final
class PairEntries(Record):
    """Addresses of the entries of the kernel of pairs: gap and rows by kind, then gaps alone."""

    ball_ball: kernel
    ball_plane: kernel
    ball_box: kernel
    point_face: kernel
    edge_edge: kernel
    face_point: kernel
    ball_ball_gap: kernel
    ball_plane_gap: kernel
    ball_box_gap: kernel
    point_face_gap: kernel
    edge_edge_gap: kernel
    face_point_gap: kernel


KINDS = 6
BALL_BALL, BALL_PLANE, BALL_BOX, POINT_FACE, EDGE_EDGE, FACE_POINT = range(KINDS)
"""Kinds of pairs, in the order of their entries."""


def fill(table: Rows[R], record: type[R], **columns: Any) -> None:
    """Fields of all rows of a table, by name."""
    for name, values in columns.items():
        words = table.floats if record.fields[name].type in ("f64", "ptr") else table.ints
        slots = record.slots(name)
        words[:, slots] = np.reshape(values, (len(table), len(slots)))
