"""Balls of one world, solved by the threads of a block together: layout, contacts, impulses.

A world is a scene of balls and planes. Every thread takes each `lanes`-th body, pair or contact;
contacts are sorted into colors, so that two of one color have no ball in common and go at the same
time. On a processor there is one thread, and the numbers are the same: a color's contacts do not
know of each other.

A ball turns about its center, so that with s = r ω its rate at a contact with the normal n is

    u = v₂ − v₁ − (s₁ + s₂) × n,   Δv = ± P/m,   Δs = −(r²/I) n × P                    (balls-1)

and a contact is its normal, its two balls and its impulse, without rows.

Sparse systems of balls in blocks of six: the order of elimination and what fills in are those of
`contacts/impulses/block_factors.py`; blocks of a column, and what they change, go by rows.

Public names: Balls, COLORS, lane, barrier, most_of, total_of, solved, started, sort_colors,
free_velocities, residual_of, add_contacts, factorized, solve_system.

Source: docs/theory/time_stepping.md; JEAN99 §6 (nonsmooth Gauss–Seidel).
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.contacts.impulses.block_factors import (
    SIDE,
    backward,
    factorize_block,
    forward,
    invert_pivots,
)
from liaison.contacts.impulses.interior import add_contact
from liaison.contacts.scene.layout import Island, System, Twist
from liaison.program.loops.language import external, f64, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, Rows, inline, size, sized

COLORS = 30
"""Colors; contacts for which all are taken come last, one after the other."""

SOLVED, ROUNDED = 1e-12, 4e-15
"""Residual up to which rounding is not asked for, and rounding of a rate beside its terms."""

LOOK = 4
"""Sweeps after which the residual is looked at."""


@final
class Balls(Record):
    """One world of balls and planes."""

    bodies: i64 = size()
    planes: i64 = size()
    room: i64 = size()  # for pairs that may touch within a step
    laws: i64 = size()
    classes: i64 = size()
    lanes: i64 = size()
    heads: i64 = size()  # words of the head of an island

    # tolerances, as of a scene
    tolerance: f64
    depth: f64
    loose: f64  # the same where contacts are many
    margin: f64
    touch: f64
    start_depth: f64  # penetration at the start that is pushed out
    sweeps_allowed: i64
    gravity: ptr = inline(3)

    # progress
    pairs: i64
    colors: i64
    h: f64
    residual: f64  # of the impulses
    left: f64  # the same beside what solves a step
    worst: f64  # the same of the whole step
    deepest: f64
    contacts: f64

    # what no step changes
    mass: ptr = sized("bodies")
    light: ptr = sized("bodies")  # 1/m
    quick: ptr = sized("bodies")  # r²/I
    radius: ptr = sized("bodies")
    surface: iptr = sized("bodies")
    plane: ptr = sized("planes", "4")
    plane_surface: iptr = sized("planes")
    friction_of: ptr = sized("laws")
    law_between: iptr = sized("classes", "classes")
    head_at: iptr = sized("heads")  # places and values of the words of an empty island
    head: iptr = sized("heads")

    # bodies: before the step, midway, at its end; r ω and v without and with impulses
    pose: ptr = sized("bodies", "7")
    speed: ptr = sized("bodies", "6")
    mid: ptr = sized("bodies", "7")
    end: ptr = sized("bodies", "7")
    next: ptr = sized("bodies", "6")
    mean: ptr = sized("bodies", "6")
    after: ptr = sized("bodies", "6")  # velocities with impulses, while places are put right
    kept_pose: ptr = sized("bodies", "7")  # at the last step that is over
    kept_speed: ptr = sized("bodies", "6")

    # pairs by their first body: what is near it, the place among contacts, impulses to begin with
    first: iptr = sized("bodies + 1")
    key: iptr = sized("room")
    spot: iptr = sized("room")
    guess: ptr = sized("room", "4")
    old_first: iptr = sized("bodies + 1")
    old_key: iptr = sized("room")
    old_guess: ptr = sized("room", "4")

    # contacts by color
    color: iptr = sized("room")
    color_first: iptr = sized(str(COLORS + 2))
    mask: iptr = sized("bodies")
    pair: iptr = sized("room")
    one: iptr = sized("room")  # −1 − plane, or a body
    other: iptr = sized("room")
    active: iptr = sized("room")
    normal: ptr = sized("3", "room")
    force: ptr = sized("4", "room")  # along n, then across it in the axes of the ground
    right: ptr = sized("room")
    friction: ptr = sized("room")
    mobility: ptr = sized("2", "room")  # along n and across it

    # impulses and velocities before the last sweep, and the way that goes on from there
    last_force: ptr = sized("4", "room")
    way_force: ptr = sized("4", "room")
    last_next: ptr = sized("bodies", "6")
    way_next: ptr = sized("bodies", "6")
    shared: ptr = sized("lanes")


@external
def barrier() -> None:
    """Waits for the other threads of the block."""


@external
def lane() -> i64:
    """The number of this thread in its block."""
    return 0


@loop
def most_of(x: f64, me: i64, w: Balls) -> f64:
    """The largest of what all threads give."""
    w.shared[me] = x
    barrier()
    most = w.shared[0]
    for k in range(1, w.lanes):
        most = max(most, w.shared[k])
    barrier()
    return float(most)


@loop
def total_of(x: f64, me: i64, w: Balls) -> f64:
    """The sum of what all threads give, in their order."""
    w.shared[me] = x
    barrier()
    total = w.shared[0]
    for k in range(1, w.lanes):
        total += w.shared[k]
    barrier()
    return float(total)


@loop
def sort_colors(me: i64, w: Balls) -> None:
    """Places of all pairs among contacts, by color: the first that neither body has yet."""
    barrier()
    if me == 0:
        color_pairs(w)
    barrier()


@loop
def color_pairs(w: Balls) -> None:
    """Colors of pairs in their order, and where each lies."""
    for c in range(COLORS + 2):
        w.color_first[c] = 0
    for i in range(w.bodies):
        w.mask[i] = 0
    for i in range(w.bodies):
        for p in range(w.first[i], w.first[i + 1]):
            j = body_of(i, w.key[p], w)
            taken = w.mask[i]
            if j >= 0:
                taken = taken | w.mask[j]
            c = 0
            while c < COLORS and (taken >> c) & 1 == 1:
                c += 1
            if c < COLORS:
                w.mask[i] = w.mask[i] | (1 << c)
                if j >= 0:
                    w.mask[j] = w.mask[j] | (1 << c)
            w.color[p] = c
            w.color_first[c] += 1
    begin = 0
    w.colors = 0
    for c in range(COLORS + 1):
        count = w.color_first[c]
        w.color_first[c] = begin
        begin += count
        if count > 0:
            w.colors = c + 1
    for p in range(w.pairs):
        c = w.color[p]
        w.spot[p] = w.color_first[c]
        w.color_first[c] += 1
    # each first was moved to the next one
    for back in range(COLORS + 1):
        c = COLORS + 1 - back
        w.color_first[c] = w.color_first[c - 1]
    w.color_first[0] = 0


@loop
def body_of(i: i64, key: i64, w: Balls) -> i64:
    """The other body of a pair, or −1 − plane."""
    if key >= w.bodies:
        return w.bodies - key - 1
    j = i + key
    return j - w.bodies if j >= w.bodies else j


@loop
def free_velocities(me: i64, w: Balls) -> None:
    """r ω and v of all bodies without impulses."""
    i = me
    while i < w.bodies:
        for j in range(3):
            w.next[i, j] = w.radius[i] * w.speed[i, j]
            w.next[i, 3 + j] = w.speed[i, 3 + j] + w.h * w.gravity[j]
        i += w.lanes
    barrier()


@loop
def started(me: i64, w: Balls) -> None:
    """Velocities with the impulses that are guessed."""
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                push(k, w.force[0, k], w.force[1, k], w.force[2, k], w.force[3, k], w)
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def push(k: i64, load: f64, x: f64, y: f64, t: f64, w: Balls) -> None:
    """Velocities of both bodies with an impulse `load` along n and (x, y, t) across it."""
    a = w.normal[0, k]
    b = w.normal[1, k]
    c = w.normal[2, k]
    px = load * a + x
    py = load * b + y
    pt = load * c + t
    mx = b * t - c * y
    my = c * x - a * t
    mt = a * y - b * x
    other = w.other[k]
    v = w.next[other]
    quick = w.quick[other]
    light = w.light[other]
    v[0] -= quick * mx
    v[1] -= quick * my
    v[2] -= quick * mt
    v[3] += light * px
    v[4] += light * py
    v[5] += light * pt
    one = w.one[k]
    if one >= 0:
        v = w.next[one]
        quick = w.quick[one]
        light = w.light[one]
        v[0] -= quick * mx
        v[1] -= quick * my
        v[2] -= quick * mt
        v[3] -= light * px
        v[4] -= light * py
        v[5] -= light * pt


@loop
def across_of(k: i64, axis: i64, v: ptr, before: ptr, w: Balls) -> f64:
    """A component of u by (balls-1), v being of the second body and `before` of the first."""
    n = (axis + 1) % 3
    m = (axis + 2) % 3
    s = v[n]
    r = v[m]
    u = v[3 + axis]
    if w.one[k] >= 0:
        s += before[n]
        r += before[m]
        u -= before[3 + axis]
    return float(u - s * w.normal[m, k] + r * w.normal[n, k])


@loop
def pressed(k: i64, mu: f64, w: Balls) -> None:
    """One contact: the impulse that its own rates ask for."""
    a = w.normal[0, k]
    b = w.normal[1, k]
    c = w.normal[2, k]
    other = w.next[w.other[k]]
    one = w.next[max(w.one[k], 0)]
    x = across_of(k, 0, other, one, w)
    y = across_of(k, 1, other, one, w)
    t = across_of(k, 2, other, one, w)
    rate = a * x + b * y + c * t
    load = w.force[0, k]
    new = max(load - (rate + w.right[k]) / w.mobility[0, k], 0.0)
    w.force[0, k] = new
    if mu > 0.0:
        part = 1.0 / w.mobility[1, k]
        fx = w.force[1, k]
        fy = w.force[2, k]
        ft = w.force[3, k]
        bound = w.friction[k] * new
        x = fx - part * (x - rate * a)
        y = fy - part * (y - rate * b)
        t = ft - part * (t - rate * c)
        cut = inside(x, y, t, bound)
        w.force[1, k] = cut * x
        w.force[2, k] = cut * y
        w.force[3, k] = cut * t
        push(k, new - load, cut * x - fx, cut * y - fy, cut * t - ft, w)
    else:
        push(k, new - load, 0.0, 0.0, 0.0, w)


@loop
def inside(x: f64, y: f64, t: f64, bound: f64) -> f64:
    """The factor that takes a vector the shortest way into a ball of this radius."""
    length = sqrt(x * x + y * y + t * t)
    return bound / length if length > bound else 1.0


@loop
def sweep(me: i64, mu: f64, w: Balls) -> None:
    """All contacts once, color by color."""
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                pressed(k, mu, w)
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def solved(me: i64, mu: f64, limit: f64, allowed: i64, scale: f64, w: Balls) -> f64:
    """Sweeps until the residual is at most the limit; the residual.

    Args:
        me: number of this thread.
        mu: 1, or 0 where nothing has friction.
        limit: residual that is enough.
        allowed: sweeps at most.
        scale: the strongest impulse that counts, as a velocity.
        w: velocities without impulses come in `next`.
    """
    residual = 0.0
    before = 0.0
    started(me, w)
    begin_way(me, w)
    for turn in range(allowed):
        sweep(me, mu, w)
        if turn % LOOK == 0 or turn == allowed - 1:
            residual = residual_of(me, mu, scale, w)
            if not (residual > limit):
                break
        now = change(me, w)
        go_on(me, now / before if now < before else 0.0, w)
        before = now
    return residual


@loop
def begin_way(me: i64, w: Balls) -> None:
    """Where sweeps begin, and no way yet."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            for r in range(4):
                w.last_force[r, k] = w.force[r, k]
                w.way_force[r, k] = 0.0
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(w.last_next)[k] = flat(w.next)[k]
        flat(w.way_next)[k] = 0.0
        k += w.lanes
    barrier()


@loop
def change(me: i64, w: Balls) -> f64:
    """The square of what the last sweep changed, as velocities."""
    total = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            for r in range(4):
                x = (w.force[r, k] - w.last_force[r, k]) * w.mobility[0, k]
                total += x * x
        k += w.lanes
    return float(total_of(total, me, w))


@loop
def go_on(me: i64, part: f64, w: Balls) -> None:
    """Goes on along the way so far, and adds the last sweep to it: conjugate directions."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            for r in range(4):
                f = w.force[r, k]
                way = part * w.way_force[r, k]
                w.way_force[r, k] = way + f - w.last_force[r, k]
                w.force[r, k] = f + way
                w.last_force[r, k] = f + way
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v = flat(w.next)[k]
        way = part * flat(w.way_next)[k]
        flat(w.way_next)[k] = way + v - flat(w.last_next)[k]
        flat(w.next)[k] = v + way
        flat(w.last_next)[k] = v + way
        k += w.lanes
    barrier()


@loop
def residual_of(me: i64, mu: f64, scale: f64, w: Balls) -> f64:
    """What the impulses miss, all at once, beside the strongest, as velocities.

    As that of a scene: 1 where something is missed and nothing presses.
    """
    worst = 0.0
    strongest = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            worst = max(worst, missed(k, mu, w))
            strongest = max(strongest, w.force[0, k] * w.mobility[0, k])
        k += w.lanes
    worst = most_of(worst, me, w)
    strongest = min(most_of(strongest, me, w), scale)
    if worst > SOLVED * strongest and worst <= ROUNDED * fastest(me, w):
        return 0.0
    if strongest > 0.0:
        return float(worst / strongest)
    return 1.0 if worst > 0.0 else 0.0


@loop
def fastest(me: i64, w: Balls) -> f64:
    """The largest sum of the terms that a rate of a contact is made of, signs aside."""
    most = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            total = abs(w.right[k])
            for i in range(6):
                total += abs(w.next[w.other[k], i])
                if w.one[k] >= 0:
                    total += abs(w.next[w.one[k], i])
            most = max(most, total)
        k += w.lanes
    return float(most_of(most, me, w))


@loop
def missed(k: i64, mu: f64, w: Balls) -> f64:
    """What the impulse of one contact misses, as a velocity; 1e300 where it is not finite."""
    a = w.normal[0, k]
    b = w.normal[1, k]
    c = w.normal[2, k]
    other = w.next[w.other[k]]
    one = w.next[max(w.one[k], 0)]
    x = across_of(k, 0, other, one, w)
    y = across_of(k, 1, other, one, w)
    t = across_of(k, 2, other, one, w)
    rate = a * x + b * y + c * t
    load = w.force[0, k] * w.mobility[0, k]
    worst = abs(load - max(load - rate - w.right[k], 0.0))
    if mu > 0.0:
        across = w.mobility[1, k]
        fx = w.force[1, k]
        fy = w.force[2, k]
        ft = w.force[3, k]
        x = fx - (x - rate * a) / across
        y = fy - (y - rate * b) / across
        t = ft - (t - rate * c) / across
        cut = inside(x, y, t, w.friction[k] * w.force[0, k])
        x = cut * x - fx
        y = cut * y - fy
        t = cut * t - ft
        worst = max(worst, across * sqrt(x * x + y * y + t * t))
        load += x + y + t
    # a maximum would pass over what is not a number
    return worst if abs(load) + abs(rate) + abs(worst) < 1e300 else 1e300


@loop
def add_contacts(me: i64, damping: f64, w: Balls, island: Island) -> None:
    """The matrix of (interior-3)."""
    s = System(island.system)
    k = me
    while k < 36 * w.bodies:
        flat(s.diagonal)[k] = 0.0
        k += w.lanes
    k = me
    while k < 36 * s.first[w.bodies]:
        flat(s.lower)[k] = 0.0
        flat(s.upper)[k] = 0.0
        k += w.lanes
    barrier()
    i = me
    while i < w.bodies:
        for j in range(3):
            inertia = w.radius[i] * w.radius[i] / w.quick[i]
            s.diagonal[i, 7 * j] = (1.0 + damping) * inertia
            s.diagonal[i, 7 * (3 + j)] = (1.0 + damping) * w.mass[i]
        i += w.lanes
    barrier()
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                add_contact(k, s, island)
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def factorized(me: i64, s: System, w: Balls) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors."""
    pair = 0
    bad = 0.0
    for turn in range(w.bodies):
        pivot = s.diagonal[s.order[turn]]
        if me == 0:
            if factorize_block(pivot) != 0:
                bad = 1.0
            invert_pivots(pivot, s.inverse)
        barrier()
        first = s.first[turn]
        size = s.first[turn + 1] - first
        k = me
        while k < 12 * size:
            if k < 6 * size:
                divide_row(pivot, s.inverse, s.lower[first + k // 6, 6 * (k % 6) :])
            else:
                divide_column(pivot, s.upper[first + k // 6 - size], k % 6)
            k += w.lanes
        barrier()
        k = me
        while k < 6 * size * size:
            subtract(k // 6 // size, k // 6 % size, k % 6, first, size, pair, s)
            k += w.lanes
        pair += size * (size - 1) // 2
        barrier()
    return 1 if most_of(bad, me, w) > 0.0 else 0


@loop
def subtract(a: i64, b: i64, row: i64, first: i64, size: i64, pair: i64, s: System) -> None:
    """A row of what two blocks of a column change: out −= L_b U_a."""
    x = s.lower[first + b]
    y = s.upper[first + a]
    if a == b:
        row_product(x[6 * row :], y, s.diagonal[s.below[first + a], 6 * row :])
    elif a < b:
        there = s.target[pair + a * size - a * (a + 1) // 2 + b - a - 1]
        row_product(x[6 * row :], y, s.lower[there, 6 * row :])
    else:
        there = s.target[pair + b * size - b * (b + 1) // 2 + a - b - 1]
        row_product(x[6 * row :], y, s.upper[there, 6 * row :])


@loop
def row_product(x: ptr, y: ptr, out: ptr) -> None:
    """out −= x y of a row x and a block y."""
    a = out[0]
    b = out[1]
    c = out[2]
    d = out[3]
    e = out[4]
    f = out[5]
    for p in range(SIDE):
        t = x[p]
        line = y[6 * p :]
        a -= t * line[0]
        b -= t * line[1]
        c -= t * line[2]
        d -= t * line[3]
        e -= t * line[4]
        f -= t * line[5]
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = e
    out[5] = f


@loop
def divide_row(pivot: ptr, inverse: ptr, row: ptr) -> None:
    """row := row U⁻¹."""
    for p in range(SIDE):
        t = row[p] * inverse[p]
        row[p] = t
        for j in range(p + 1, SIDE):
            row[j] -= t * pivot[6 * p + j]


@loop
def divide_column(pivot: ptr, x: ptr, j: i64) -> None:
    """A column of a block := L⁻¹ of it."""
    for i in range(1, SIDE):
        for p in range(i):
            x[6 * i + j] -= pivot[6 * i + p] * x[6 * p + j]


@loop
def solve_system(me: i64, s: System, x: Rows[Twist], w: Balls) -> None:
    """x := A⁻¹ x with the factors of `factorized`."""
    for turn in range(w.bodies):
        body = s.order[turn]
        own = x[body].floats
        if me == 0:
            forward(s.diagonal[body], own)
        barrier()
        first = s.first[turn]
        k = me
        while k < 6 * (s.first[turn + 1] - first):
            p = first + k // 6
            x[s.below[p]].floats[k % 6] -= applied(s.lower[p], k % 6, own)
            k += w.lanes
        barrier()
    for back in range(w.bodies):
        turn = w.bodies - 1 - back
        body = s.order[turn]
        own = x[body].floats
        r = me
        while r < SIDE:
            total = own[r]
            for p in range(s.first[turn], s.first[turn + 1]):
                total -= applied(s.upper[p], r, x[s.below[p]].floats)
            own[r] = total
            r += w.lanes
        barrier()
        if me == 0:
            backward(s.diagonal[body], own)
        barrier()


@loop
def applied(block: ptr, row: i64, x: ptr) -> f64:
    """A row of a block times x."""
    total = 0.0
    for j in range(SIDE):
        total += block[6 * row + j] * x[j]
    return total
