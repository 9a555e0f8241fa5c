"""Impulses of a world by sweeps over its contacts, color by color, with momentum.

Contacts of one color have no body in common and go at the same time. A contact whose impulse along
the normal changes its rates across it, as that of a corner does, is swept along the normal first.
After each sweep impulses go on along their way from sweep to sweep; where the next sweep leads back
along it, that begins anew. Sweeps work on a copy of contacts that count and of velocities, which on
a GPU lies in the memory that threads of a block share.

Public names: solved, loaded, misses, free_velocities, rate_along, across_of, turn, inside.

Source: JEAN99 §6 (nonsmooth Gauss–Seidel); ODC15 §3 (momentum that begins anew);
docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .hot import gather, give_forces, give_velocities, take
from .layout import (
    COLORS,
    Block,
    Held,
    Hot,
    acquire,
    barrier,
    inverse_of,
    inverse_root,
    is_acquired,
    most_of,
    release,
    shared,
    total_of,
)

SOLVED, ROUNDED = 1e-12, 4e-15
"""Residual up to which rounding is not asked for, and rounding of a rate beside its terms."""

LOOK, SOON = 4, 64
"""Sweeps after which the residual is looked at, and how many until it is so half as often."""

TINY = 1e-290
"""Square of a length that is none."""


@loop
def free_velocities(me: i64, w: Block) -> None:
    """r ω or ω, and v, of all bodies without impulses."""
    i = me
    while i < w.bodies:
        for j in range(3):
            if w.general == 1:
                w.next[i, j] = w.free[i, j]
            else:
                w.next[i, j] = w.scale[i] * w.speed[i, j]
            w.next[i, 3 + j] = w.speed[i, 3 + j] + w.h * w.gravity[j]
        i += w.lanes
    barrier()


@loop
def solved(me: i64, mu: f64, limit: f64, allowed: i64, scale: f64, w: Block) -> f64:
    """Sweeps until the residual is at most the limit; the residual.

    Args:
        me: number of this thread.
        mu: 1, or 0 where nothing has friction.
        limit: residual that is enough.
        allowed: sweeps at most.
        scale: the strongest impulse that counts, as a velocity.
        w: velocities without impulses come in `next`.
    """
    count = gather(me, w)
    if w.lanes > 1 and count <= w.hot and is_taken(mu) == 1:
        left = swept(me, mu, limit, allowed, scale, count, w, Hot(shared(), w))
        release()
        return left
    return float(swept(me, mu, limit, allowed, scale, count, w, Hot(w.spare, w)))


@loop
def is_taken(mu: f64) -> i64:
    """1 if this world has the shared memory, for which the few sweeps of places do not wait."""
    if mu > 0.0:
        acquire()
        return 1
    return is_acquired()


@loop
def loaded(me: i64, scale: f64, w: Block) -> f64:
    """Velocities of all bodies with the impulses as they are; the residual of these."""
    count = gather(me, w)
    free_velocities(me, w)
    return float(swept(me, 1.0, 0.0, 0, scale, count, w, Hot(w.spare, w)))


@loop
def swept(
    me: i64, mu: f64, limit: f64, allowed: i64, scale: f64, count: i64, w: Block, hot: Hot
) -> f64:
    """The same on a copy of contacts and velocities; without sweeps, the residual alone."""
    take(me, count, w, hot)
    started(me, w, hot)
    residual = 0.0
    age = 0.0
    part = 0.0
    for turn in range(allowed):
        go_on(me, part, w, hot)
        along = sweep(me, mu, part, w, hot)
        seldom = LOOK if turn < SOON else 2 * LOOK
        if turn % seldom == 0 or turn == allowed - 1:
            residual = residual_of(me, mu, scale, count, w, hot)
            if not (residual > limit):
                break
        if total_of(along, me, w) < 0.0:
            age = 0.0
        part = age / (age + 3.0)
        age += 1.0
    if allowed == 0:
        residual = residual_of(me, mu, scale, count, w, hot)
    else:
        give_forces(me, count, w, hot)
    give_velocities(me, w, hot)
    return residual


@loop
def started(me: i64, w: Block, hot: Hot) -> None:
    """Velocities with the impulses that are guessed, from which the first sweep begins."""
    for c in range(w.colors):
        h = hot.begin[c] + me
        end = hot.begin[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while h < end:
            q = hot.contact[h]
            push(h, q.force[0], q.force[1], q.force[2], q.force[3], q, w, hot)
            if w.has_turning == 1:
                k = w.where[h]
                turn(k, w.moment[0, k], w.moment[1, k], w.moment[2, k], flat(hot.next), w)
            h += w.lanes if c < COLORS else 1
        barrier()
    k = me
    while k < 6 * w.bodies:
        flat(hot.last)[k] = flat(hot.next)[k]
        k += w.lanes
    barrier()


@loop
def go_on(me: i64, part: f64, w: Block, hot: Hot) -> None:
    """Velocities go on by a part of their way from sweep to sweep, as impulses do in the next."""
    i = me
    while i < w.bodies:
        go_six(part, hot.next[i], hot.last[i])
        i += w.lanes
    barrier()


@loop
def go_six(part: f64, v: ptr, last: ptr) -> None:
    """The same of one body: all is read before anything is written."""
    a = v[0]
    b = v[1]
    c = v[2]
    x = v[3]
    y = v[4]
    t = v[5]
    da = part * (a - last[0])
    db = part * (b - last[1])
    dc = part * (c - last[2])
    dx = part * (x - last[3])
    dy = part * (y - last[4])
    dt = part * (t - last[5])
    last[0] = a
    last[1] = b
    last[2] = c
    last[3] = x
    last[4] = y
    last[5] = t
    v[0] = a + da
    v[1] = b + db
    v[2] = c + dc
    v[3] = x + dx
    v[4] = y + dy
    v[5] = t + dt


@loop
def sweep(me: i64, mu: f64, part: f64, w: Block, hot: Hot) -> f64:
    """All contacts once, color by color; what this thread changed, along the way so far."""
    along = 0.0
    for c in range(w.colors):
        h = hot.begin[c] + me
        end = hot.begin[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while h < end:
            along += pressed(h, mu, part, hot.contact[h], w, hot)
            h += w.lanes if c < COLORS else 1
        barrier()
    return along


@loop
def pressed(h: i64, mu: f64, part: f64, q: Held, w: Block, hot: Hot) -> f64:
    """One contact: the impulse that its own rates ask for; its change along the way so far.

    Before, the impulse goes on by a part of its way, as velocities did; the change is added to it.
    """
    a = q.normal[0]
    b = q.normal[1]
    c = q.normal[2]
    other = hot.next[q.other]
    one = hot.next[max(q.one, 0)]
    x = rate_at(0, other, one, h, q, w)
    y = rate_at(1, other, one, h, q, w)
    t = rate_at(2, other, one, h, q, w)
    rate = a * x + b * y + c * t
    way = part * q.way[0]
    load = q.force[0] + way
    new = max(load - (rate + q.right) * q.along, 0.0)
    change = new - load
    q.force[0] = new
    q.way[0] = way + change
    along = change * way
    if mu > 0.0:
        if w.general == 1:
            k = w.where[h]
            x += change * w.answer[0, k]
            y += change * w.answer[1, k]
            t += change * w.answer[2, k]
            rate = a * x + b * y + c * t
        x -= rate * a
        y -= rate * b
        t -= rate * c
        along += slide(h, new, change, part, x, y, t, q, w, hot)
    else:
        push(h, change, 0.0, 0.0, 0.0, q, w, hot)
    return float(along * inverse_of(q.along))


@loop
def slide(
    h: i64, load: f64, change: f64, part: f64, x: f64, y: f64, t: f64, q: Held, w: Block, hot: Hot
) -> f64:
    """The friction of one contact whose rate across n is (x, y, t), and the velocities with it."""
    across = q.across
    a = part * q.way[1]
    b = part * q.way[2]
    c = part * q.way[3]
    fx = q.force[1] + a
    fy = q.force[2] + b
    ft = q.force[3] + c
    x = fx - across * x
    y = fy - across * y
    t = ft - across * t
    cut = inside(x, y, t, q.friction * load)
    x = cut * x
    y = cut * y
    t = cut * t
    q.force[1] = x
    q.force[2] = y
    q.force[3] = t
    x -= fx
    y -= fy
    t -= ft
    push(h, change, x, y, t, q, w, hot)
    q.way[1] = a + x
    q.way[2] = b + y
    q.way[3] = c + t
    return float(a * x + b * y + c * t)


@loop
def inside(x: f64, y: f64, t: f64, bound: f64) -> f64:
    """The factor that takes a vector the shortest way into a ball of this radius."""
    square = x * x + y * y + t * t
    return bound * inverse_root(square) if square > bound * bound + TINY else 1.0


@loop
def push(h: i64, load: f64, x: f64, y: f64, t: f64, q: Held, w: Block, hot: Hot) -> None:
    """Velocities of both bodies with an impulse `load` along n and (x, y, t) across it."""
    a = q.normal[0]
    b = q.normal[1]
    c = q.normal[2]
    px = load * a + x
    py = load * b + y
    pt = load * c + t
    if w.general == 1:
        k = w.where[h]
        push_arm(q.other, 0, k, 1.0, px, py, pt, hot.next[q.other], w)
        if q.one >= 0:
            push_arm(q.one, 3, k, -1.0, px, py, pt, hot.next[q.one], w)
    else:
        mx = b * t - c * y
        my = c * x - a * t
        mt = a * y - b * x
        # a number of the text where all are alike
        i = 0 if w.alike == 1 else q.other
        push_ball(w.light[i], w.quick[i], px, py, pt, mx, my, mt, hot.next[q.other])
        if q.one >= 0:
            i = 0 if w.alike == 1 else q.one
            push_ball(-w.light[i], w.quick[i], px, py, pt, mx, my, mt, hot.next[q.one])


@loop
def push_ball(
    light: f64, quick: f64, x: f64, y: f64, t: f64, a: f64, b: f64, c: f64, v: ptr
) -> None:
    """Velocities of a ball with the impulse ± (x, y, t) and the moment (a, b, c) = n × P."""
    v[0] -= quick * a
    v[1] -= quick * b
    v[2] -= quick * c
    v[3] += light * x
    v[4] += light * y
    v[5] += light * t


@loop
def push_arm(
    i: i64, side: i64, k: i64, sign: f64, x: f64, y: f64, t: f64, v: ptr, w: Block
) -> None:
    """Velocities of a body with the impulse ± (x, y, t) at its arm, by (worlds-2)."""
    a = w.arm[side, k]
    b = w.arm[side + 1, k]
    c = w.arm[side + 2, k]
    light = sign * w.light[i]
    v[3] += light * x
    v[4] += light * y
    v[5] += light * t
    spin(i, sign * (b * t - c * y), sign * (c * x - a * t), sign * (a * y - b * x), v, w)


@loop
def spin(i: i64, x: f64, y: f64, t: f64, v: ptr, w: Block) -> None:
    """ω (r ω of a ball) of a body with a moment."""
    if w.general == 1:
        J = w.turned[i]
        v[0] += J[0] * x + J[1] * y + J[2] * t
        v[1] += J[3] * x + J[4] * y + J[5] * t
        v[2] += J[6] * x + J[7] * y + J[8] * t
    else:
        quick = w.quick[i] / w.scale[i]
        v[0] += quick * x
        v[1] += quick * y
        v[2] += quick * t


@loop
def turn(k: i64, x: f64, y: f64, t: f64, twists: ptr, w: Block) -> None:
    """ω of both bodies of a contact with a moment on the second."""
    spin(w.other[k], x, y, t, twists[6 * w.other[k] :], w)
    if w.one[k] >= 0:
        spin(w.one[k], -x, -y, -t, twists[6 * w.one[k] :], w)


@loop
def rate_at(axis: i64, v: ptr, before: ptr, h: i64, q: Held, w: Block) -> f64:
    """A component of u, v being of the second body and `before` of the first."""
    if w.general == 1:
        return float(across_of(w.where[h], axis, v, before, w))
    n = (axis + 1) % 3
    m = (axis + 2) % 3
    s = v[n]
    r = v[m]
    u = v[3 + axis]
    if q.one >= 0:
        s += before[n]
        r += before[m]
        u -= before[3 + axis]
    return float(u - s * q.normal[m] + r * q.normal[n])


@loop
def across_of(k: i64, axis: i64, v: ptr, before: ptr, w: Block) -> f64:
    """The same of a contact by its number."""
    n = (axis + 1) % 3
    m = (axis + 2) % 3
    if w.general == 1:
        u = v[3 + axis] + v[n] * w.arm[m, k] - v[m] * w.arm[n, k]
        if w.one[k] >= 0:
            u -= before[3 + axis] + before[n] * w.arm[3 + m, k] - before[m] * w.arm[3 + n, k]
        return float(u)
    s = v[n]
    r = v[m]
    u = v[3 + axis]
    if w.one[k] >= 0:
        s += before[n]
        r += before[m]
        u -= before[3 + axis]
    return float(u - s * w.normal[m, k] + r * w.normal[n, k])


@loop
def rate_along(k: i64, twists: ptr, w: Block) -> f64:
    """n·u of a general scene at the velocities of all bodies."""
    v = twists[6 * w.other[k] :]
    before = twists[6 * max(w.one[k], 0) :]
    u = 0.0
    for j in range(3):
        u += w.normal[j, k] * across_of(k, j, v, before, w)
    return u


@loop
def residual_of(me: i64, mu: f64, scale: f64, count: i64, w: Block, hot: Hot) -> f64:
    """What the impulses miss, all at once, beside the strongest, as velocities.

    As that of a scene: 1 where something is missed and nothing presses.
    """
    worst = 0.0
    strongest = 0.0
    h = me
    while h < count:
        q = hot.contact[h]
        worst = max(worst, missed(h, mu, q, w, hot))
        strongest = max(strongest, q.force[0] * inverse_of(q.along))
        h += w.lanes
    worst = most_of(worst, me, w)
    strongest = min(most_of(strongest, me, w), scale)
    if worst > SOLVED * strongest and worst <= ROUNDED * fastest(me, count, w, hot):
        return 0.0
    if strongest > 0.0:
        return float(worst / strongest)
    return 1.0 if worst > 0.0 else 0.0


@loop
def misses(me: i64, w: Block) -> None:
    """What each contact that counts misses, into the third row of `last_force`."""
    count = gather(me, w)
    hot = Hot(w.spare, w)
    take(me, count, w, hot)
    h = me
    while h < count:
        w.last_force[2, w.where[h]] = missed(h, 1.0, hot.contact[h], w, hot)
        h += w.lanes
    barrier()


@loop
def fastest(me: i64, count: i64, w: Block, hot: Hot) -> f64:
    """The largest sum of the terms that a rate of a contact is made of, signs aside."""
    most = 0.0
    h = me
    while h < count:
        q = hot.contact[h]
        total = abs(q.right)
        for i in range(6):
            total += term_of(hot.next[q.other], i, h, 0, w)
            if q.one >= 0:
                total += term_of(hot.next[q.one], i, h, 3, w)
        most = max(most, total)
        h += w.lanes
    return float(most_of(most, me, w))


@loop
def term_of(v: ptr, i: i64, h: i64, side: i64, w: Block) -> f64:
    """The size of a component of a body's velocity in the rates of a contact."""
    size = abs(v[i])
    if w.general == 1 and i < 3:
        k = w.where[h]
        size = size * (abs(w.arm[side, k]) + abs(w.arm[side + 1, k]) + abs(w.arm[side + 2, k]))
    return float(size)


@loop
def missed(h: i64, mu: f64, q: Held, w: Block, hot: Hot) -> f64:
    """What the impulse of one contact misses, as a velocity; 1e300 where it is not finite."""
    a = q.normal[0]
    b = q.normal[1]
    c = q.normal[2]
    other = hot.next[q.other]
    one = hot.next[max(q.one, 0)]
    x = rate_at(0, other, one, h, q, w)
    y = rate_at(1, other, one, h, q, w)
    t = rate_at(2, other, one, h, q, w)
    rate = a * x + b * y + c * t
    load = q.force[0]
    worst = abs(load - max(load - (rate + q.right) * q.along, 0.0)) * inverse_of(q.along)
    if mu > 0.0:
        across = q.across
        fx = q.force[1]
        fy = q.force[2]
        ft = q.force[3]
        x = fx - (x - rate * a) * across
        y = fy - (y - rate * b) * across
        t = ft - (t - rate * c) * across
        cut = inside(x, y, t, q.friction * load)
        x = cut * x - fx
        y = cut * y - fy
        t = cut * t - ft
        length = x * x + y * y + t * t
        if length > TINY:
            worst = max(worst, length * inverse_root(length) * inverse_of(across))
        load += x + y + t
    # a maximum would pass over what is not a number
    return worst if abs(load) + abs(rate) + abs(worst) < 1e300 else 1e300
