"""The block of one world of a scene, and what the threads of a block agree on.

A scene of balls about their centers of mass, `general` = 0, has contacts without arms. With s = r ω
the rate at a contact with the normal n is

    u = v₂ − v₁ − (s₁ + s₂) × n,   Δv = ± P/m,   Δs = −(r²/I) n × P                   (worlds-1)

Elsewhere, `general` = 1, bodies have capsules, boxes, hulls, cylinders, several shapes and any
inertia, and a contact has arms ρ from the centers of mass:

    u = v₂ + ω₂ × ρ₂ − v₁ − ω₁ × ρ₁,   Δv = ± P/m,   Δω = ± J (ρ × P)                  (worlds-2)

J being the inverse of the inertia in the axes of the ground. The narrow phase is that of scenes on
a processor: each thread has the head of a `World` of its own, whose workspace is its own and whose
tables are those of all.

Public names: Block, Hot, Held, Reaches, Paint, COLORS, POINTS, SLOTS, HELD, SHARED, shared,
acquire, is_acquired, release, lane, barrier, most_of, total_of, inverse_of, inverse_root.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

import numpy as np

from liaison.program.loops.language import external, f64, i64, iptr, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, size, sized

COLORS = 60
"""Colors; contacts for which all are taken come last, one after the other."""

BITS = 30
"""Colors in a word."""

SHARED = 5700
"""Words of the memory that threads of a block share: five blocks have theirs at the same time."""

HELD = 17
"""Words of a contact while it is swept."""

POINTS = 8
"""Places at which two shapes touch, at most."""

SLOTS = 12
"""Slots of a pair: for these, and for places that join at the end of a step."""


@final
class Block(Record):
    """One world of a scene."""

    bodies: i64 = size()
    general: i64 = size()  # 0: balls about their centers of mass
    alike: i64 = size()  # 1: all of them have one mass and one inertia
    units: i64 = size()  # what has places: balls, or balls, boxes and points
    wide: i64 = size()  # those of them that touch each other
    planes: i64 = size()  # and height fields, which are the last of them
    terrains: i64 = size()
    room: i64 = size()  # for places that may touch within a step, and slots that stay empty
    most_pairs: i64 = size()  # places alone
    laws: i64 = size()
    classes: i64 = size()
    lanes: i64 = size()
    hot: i64 = size()  # contacts that memory which threads share has room for
    ways: i64 = size()  # words of the neighbors of a body
    heads: i64 = size()  # words of the head of an island
    lane_arrays: i64 = size()  # of a thread's world
    lane_words: i64 = size()  # and of all of it
    mid_at: i64 = size()  # the words of those that are for poses midway, and at the end of the step
    end_at: i64 = size()
    forms_words: i64 = size()  # that each thread has of its own
    table_words: i64 = size()  # of the world whose tables all share
    wholes: i64 = size()  # numbers of them that are not zero
    reals: i64 = size()
    has_bounce: i64 = size()  # restitution in some law
    has_turning: i64 = size()  # rolling or pivoting friction in some law

    # tolerances, as of a scene
    tolerance: f64
    few_tolerance: f64  # of few contacts
    depth: f64
    loose: f64  # the same where contacts are many
    margin: f64
    touch: f64
    start_depth: f64  # penetration at the start that is pushed out
    sweeps_allowed: i64
    gravity: ptr = inline(3)

    # progress
    slots_used: i64  # for places of pairs that are near
    nears: i64
    pairs: i64
    colors: i64
    islands: i64
    levels: i64
    tries: i64  # of the interior method
    unsolved: i64  # parts of a step that were tried and not solved
    is_shown: i64  # what planes push is asked for
    joining: i64  # pairs are looked for beside those there are, or join them
    cause: i64  # what brought bodies to the end of the step: as `join_late` of a scene
    h: f64
    has_left: f64  # a body nearly left the box it may be in
    residual: f64  # of the impulses
    left: f64  # the same beside what solves a step
    worst: f64  # the same of the whole step
    deepest: f64
    contacts: f64

    # what no step changes
    mass: ptr = sized("bodies")
    light: ptr = sized("bodies")  # 1/m
    quick: ptr = sized("bodies")  # r²/I of a ball
    scale: ptr = sized("bodies")  # its radius; 1 of other bodies
    surface: iptr = sized("units")
    body: iptr = sized("units")
    thin: ptr = sized("wide")  # what each unit is thicker than
    lever: ptr = sized("wide")  # how far it is from the center of mass; of balls the center
    radius: ptr = sized("wide")  # of balls
    middle: ptr = sized("general * wide", "3")  # center on its body
    plane: ptr = sized("planes", "4")
    plane_surface: iptr = sized("planes")
    friction_of: ptr = sized("laws", "4")  # friction, restitution, rolling, pivoting
    law_between: iptr = sized("classes", "classes")
    head_at: iptr = sized("heads")  # places and values of the words of an empty island
    head: iptr = sized("heads")
    lane_at: iptr = sized("lane_arrays")  # words that say where they begin, of the first thread
    lane_head: iptr = sized("lane_arrays")
    lane_shift: iptr = sized("lane_arrays")  # 1 of what all threads share
    whole_at: iptr = sized("wholes")  # places and values of these tables
    whole: iptr = sized("wholes")
    real_at: iptr = sized("reals")
    real: ptr = sized("reals")

    # bodies: before the step, midway, at its end; s or ω, and v, without and with impulses
    pose: ptr = sized("bodies", "7")
    speed: ptr = sized("bodies", "6")
    mid: ptr = sized("bodies", "7")
    end: ptr = sized("bodies", "7")
    next: ptr = sized("bodies", "6")
    mean: ptr = sized("bodies", "6")
    after: ptr = sized("bodies", "6")  # velocities with impulses, while places are put right
    free: ptr = sized("general * bodies", "6")
    turned: ptr = sized("general * bodies", "9")  # J, midway
    kept_pose: ptr = sized("bodies", "7")  # at the last step that is over
    kept_speed: ptr = sized("bodies", "6")

    # slots by units: what is near, and which point of it; the place among contacts, impulses to
    # begin with: along n, then across it in the axes of the ground; moments
    first: iptr = sized("units + 1")
    key: iptr = sized("room")
    spot: iptr = sized("room")
    guess: ptr = sized("room", "4 + 3 * has_turning")
    old_first: iptr = sized("units + 1")
    old_key: iptr = sized("room")
    old_guess: ptr = sized("room", "4 + 3 * has_turning")

    # of a general scene: pairs that are near, and features of places as kernels of pairs take them
    near_first: iptr = sized("general * (units + 1)")
    near_at: iptr = sized("general * room")  # first slot
    near_unit: iptr = sized("general * room")
    kind: iptr = sized("general * room")  # −1: no place
    slot_one: iptr = sized("general * room")  # body, or −1 − plane
    slot_other: iptr = sized("general * room")
    slot_law: iptr = sized("general * room")
    feature: ptr = sized("general * room", "16")

    # slots as they were before pairs are found anew within a step
    was_first: iptr = sized("units + 1")
    was_key: iptr = sized("room")
    was_active: iptr = sized("room")
    was_kind: iptr = sized("general * room")
    was_one: iptr = sized("general * room")
    was_other: iptr = sized("general * room")
    was_law: iptr = sized("general * room")
    was_feature: ptr = sized("general * room", "16")

    # contacts by color
    color: iptr = sized("room")
    color_first: iptr = sized(str(COLORS + 2))
    pair: iptr = sized("room")  # slot
    one: iptr = sized("room")  # −1 − plane, or a body
    other: iptr = sized("room")
    active: iptr = sized("room")
    law: iptr = sized("room")
    normal: ptr = sized("3", "room")
    arm: ptr = sized("6", "general * room")  # ρ of the second body, and of the first
    answer: ptr = sized("3", "general * room")  # u after a unit impulse along n
    force: ptr = sized("4", "room")  # along n, then across it in the axes of the ground
    right: ptr = sized("room")
    friction: ptr = sized("room")
    mobility: ptr = sized("2", "room")  # along n and across it, the largest
    bounce: ptr = sized("has_bounce * room")  # what restitution adds to the rate
    apart: ptr = sized("has_bounce * room")  # what the gap adds
    moment: ptr = sized("3", "has_turning * room")  # in the axes of the ground
    resist: ptr = sized("2", "has_turning * room")  # largest answer to rolling, and to pivoting

    # bodies that hang together, where there is restitution: by the first of them how much of it
    # they have, what impulses gain, with all of it and with none, and what they miss
    island: iptr = sized("has_bounce * bodies")
    state: iptr = sized("has_bounce * bodies")
    tried: iptr = sized("has_bounce * bodies")
    part: ptr = sized("has_bounce * bodies")
    share: ptr = sized("has_bounce * bodies")
    gain: ptr = sized("has_bounce * bodies")
    terms: ptr = sized("has_bounce * bodies")
    most: ptr = sized("has_bounce * bodies")
    least: ptr = sized("has_bounce * bodies")
    missed_by: ptr = sized("has_bounce * bodies")

    # contacts that count, color by color: how many, where they begin, and which they are
    tally: iptr = sized(str(COLORS + 1))
    begin: iptr = sized(str(COLORS + 2))
    where: iptr = sized("room")

    # the interior method: impulses along rows, and the `ConePair` of each contact that counts, as
    # it is entered: w, λ, ε a, μ, strictness, then rates and weights; its scaling; what it aims at;
    # its changes
    inner: ptr = sized("3", "room")
    entered: ptr = sized("5", "room")
    rate: ptr = sized("3", "room")
    weight: ptr = sized("2", "room")
    eased: ptr = sized("2", "room")  # what ε leaves, and its lag
    scaled: ptr = sized("19", "room")  # η, h, its point, W f̂, G, slopes of λ
    constant: ptr = sized("4", "room")
    change: ptr = sized("7", "room")  # of w, of f, of λ with u_t

    # impulses and velocities that are kept aside
    last_force: ptr = sized("4", "room")
    last_next: ptr = sized("bodies", "6")
    link: iptr = sized("bodies", "ways")  # neighbors, as bits
    level_first: iptr = sized("bodies + 1")  # first column of each level of elimination
    plane_force: ptr = sized("planes", "3")

    # what sweeps work in where contacts are more than `hot`: as `Hot`
    spare: ptr = sized(f"12 * bodies + {COLORS + 2} + {HELD} * room")

    # the tables of the narrow phase, and the head and workspace of each thread
    tables: iptr = sized("table_words")
    lane_area: ptr = sized("lanes * lane_words")


@final
class Held(Record):
    """A contact while it is swept. An odd number of words: threads then read different banks."""

    other: i64
    one: i64  # below 0: no body
    normal: ptr = inline(3)
    force: ptr = inline(4)
    way: ptr = inline(4)  # from the sweep before to the last one
    right: f64
    friction: f64
    along: f64  # one over the mobility along n, and across it
    across: f64


@final
class Hot(Part):
    """What sweeps read and write, in memory that threads share: velocities, then contacts."""

    next: ptr = sized("bodies", "6")
    last: ptr = sized("bodies", "6")  # after the sweep before
    begin: iptr = sized(str(COLORS + 2))
    contact: Rows[Held] = rows("hot")


@final
class Reaches(Part):
    """Where balls begin the step, and how far they and what is near reach from there."""

    center: ptr = sized("3", "bodies")
    reach: ptr = sized("bodies")


@final
class Paint(Part):
    """Colors of bodies as bits, how many contacts each color has, and bodies of each slot."""

    mask: iptr = sized("bodies", "2")
    full: iptr = sized("2")
    tally: iptr = sized(str(COLORS + 2))
    ends: iptr = sized("room")


@external
def shared() -> ptr:
    """Memory that the threads of a block share; there is none elsewhere."""
    return np.zeros(0)


@external
def acquire() -> None:
    """Waits until no other world has the shared memory of the block, and takes it."""


@external
def is_acquired() -> i64:
    """1 if no other world has it, and takes it; 0 if one has."""
    return 0


@external
def release() -> None:
    """Lets others have it."""


@external
def barrier() -> None:
    """Waits for the other threads of this world."""


@external
def lane() -> i64:
    """The number of this thread in its world."""
    return 0


@external
def inverse_of(x: f64) -> f64:
    """1/x, to rounding; of what is neither tiny nor huge."""
    return 1.0 / x


@external
def inverse_root(x: f64) -> f64:
    """1/√x, likewise."""
    return 1.0 / sqrt(x)


@external
def lanes_most(x: f64) -> f64:
    """The largest of what all threads give, by registers."""
    return x


@external
def lanes_total(x: f64) -> f64:
    """The sum of what all threads give, in an order that does not change."""
    return x


@loop
def most_of(x: f64, me: i64, w: Block) -> f64:
    """The largest of what all threads give; what each wrote before is seen by all."""
    barrier()
    return float(lanes_most(x))


@loop
def total_of(x: f64, me: i64, w: Block) -> f64:
    """The sum of what all threads give, likewise."""
    barrier()
    return float(lanes_total(x))
