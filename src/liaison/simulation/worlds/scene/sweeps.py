"""Impulses of a world by sweeps over its contacts, color by color, with momentum.

Contacts of one color have no body in common and go at the same time. A contact whose impulse along
the normal changes its rates across it, as that of a corner does, is swept along the normal first.
After each sweep impulses go on along their way from sweep to sweep; where the next sweep leads back
along it, that begins anew.

Public names: solved, started, free_velocities, residual_of, rate_along, push.

Source: JEAN99 §6 (nonsmooth Gauss–Seidel); ODC15 §3 (momentum that begins anew);
docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .layout import COLORS, Block, barrier, most_of, total_of

SOLVED, ROUNDED = 1e-12, 4e-15
"""Residual up to which rounding is not asked for, and rounding of a rate beside its terms."""

LOOK = 4
"""Sweeps after which the residual is looked at."""


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
def started(me: i64, w: Block) -> None:
    """Velocities with the impulses that are guessed."""
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                push(k, w.force[0, k], w.force[1, k], w.force[2, k], w.force[3, k], w)
                if w.has_turning == 1:
                    turn(k, w.moment[0, k], w.moment[1, k], w.moment[2, k], w)
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def push(k: i64, load: f64, x: f64, y: f64, t: f64, w: Block) -> None:
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
    if w.general == 1:
        push_arm(w.other[k], 0, k, 1.0, px, py, pt, w)
        if w.one[k] >= 0:
            push_arm(w.one[k], 3, k, -1.0, px, py, pt, w)
    else:
        push_ball(w.other[k], 1.0, px, py, pt, mx, my, mt, w)
        if w.one[k] >= 0:
            push_ball(w.one[k], -1.0, px, py, pt, mx, my, mt, w)


@loop
def push_ball(i: i64, sign: f64, x: f64, y: f64, t: f64, a: f64, b: f64, c: f64, w: Block) -> None:
    """Velocities of a ball with the impulse ± (x, y, t) and the moment (a, b, c) = n × P."""
    v = w.next[i]
    quick = w.quick[i]
    light = sign * w.light[i]
    v[0] -= quick * a
    v[1] -= quick * b
    v[2] -= quick * c
    v[3] += light * x
    v[4] += light * y
    v[5] += light * t


@loop
def push_arm(i: i64, side: i64, k: i64, sign: f64, x: f64, y: f64, t: f64, w: Block) -> None:
    """Velocities of a body with the impulse ± (x, y, t) at its arm, by (worlds-2)."""
    a = w.arm[side, k]
    b = w.arm[side + 1, k]
    c = w.arm[side + 2, k]
    v = w.next[i]
    light = sign * w.light[i]
    v[3] += light * x
    v[4] += light * y
    v[5] += light * t
    spin(i, sign * (b * t - c * y), sign * (c * x - a * t), sign * (a * y - b * x), w)


@loop
def spin(i: i64, x: f64, y: f64, t: f64, w: Block) -> None:
    """ω (r ω of a ball) of a body with a moment."""
    v = w.next[i]
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
def turn(k: i64, x: f64, y: f64, t: f64, w: Block) -> None:
    """ω of both bodies of a contact with a moment on the second."""
    spin(w.other[k], x, y, t, w)
    if w.one[k] >= 0:
        spin(w.one[k], -x, -y, -t, w)


@loop
def across_of(k: i64, axis: i64, v: ptr, before: ptr, w: Block) -> f64:
    """A component of u, v being of the second body and `before` of the first."""
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
def pressed(k: i64, mu: f64, w: Block) -> f64:
    """One contact: the impulse that its own rates ask for; its change along the way so far.

    The change is added to the way.
    """
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
    size = w.mobility[0, k]
    new = max(load - (rate + w.right[k]) / size, 0.0)
    change = new - load
    w.force[0, k] = new
    way = w.way_force[0, k]
    w.way_force[0, k] = way + change
    along = change * way
    if mu > 0.0:
        if w.general == 1:
            x += change * w.answer[0, k]
            y += change * w.answer[1, k]
            t += change * w.answer[2, k]
            rate = a * x + b * y + c * t
        along += slide(k, new, change, x - rate * a, y - rate * b, t - rate * c, w)
    else:
        push(k, change, 0.0, 0.0, 0.0, w)
    return float(size * size * along)


@loop
def slide(k: i64, load: f64, change: f64, x: f64, y: f64, t: f64, w: Block) -> f64:
    """The friction of one contact whose rate across n is (x, y, t), and the velocities with it."""
    part = 1.0 / w.mobility[1, k]
    fx = w.force[1, k]
    fy = w.force[2, k]
    ft = w.force[3, k]
    x = fx - part * x
    y = fy - part * y
    t = ft - part * t
    cut = inside(x, y, t, w.friction[k] * load)
    w.force[1, k] = cut * x
    w.force[2, k] = cut * y
    w.force[3, k] = cut * t
    x = cut * x - fx
    y = cut * y - fy
    t = cut * t - ft
    push(k, change, x, y, t, w)
    a = w.way_force[1, k]
    b = w.way_force[2, k]
    c = w.way_force[3, k]
    w.way_force[1, k] = a + x
    w.way_force[2, k] = b + y
    w.way_force[3, k] = c + t
    return float(a * x + b * y + c * t)


@loop
def inside(x: f64, y: f64, t: f64, bound: f64) -> f64:
    """The factor that takes a vector the shortest way into a ball of this radius."""
    length = sqrt(x * x + y * y + t * t)
    return bound / length if length > bound else 1.0


@loop
def sweep(me: i64, mu: f64, w: Block) -> f64:
    """All contacts once, color by color; what this thread changed, along the way so far."""
    along = 0.0
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                along += pressed(k, mu, w)
            k += w.lanes if c < COLORS else 1
        barrier()
    return along


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
    residual = 0.0
    age = 0.0
    started(me, w)
    begin_way(me, w)
    for turn in range(allowed):
        along = sweep(me, mu, w)
        if turn % LOOK == 0 or turn == allowed - 1:
            residual = residual_of(me, mu, scale, w)
            if not (residual > limit):
                break
        if total_of(along, me, w) < 0.0:
            age = 0.0
        go_on(me, age / (age + 3.0), w)
        age += 1.0
    return residual


@loop
def begin_way(me: i64, w: Block) -> None:
    """Where sweeps begin, and no way yet."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            for r in range(4):
                w.way_force[r, k] = 0.0
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(w.last_next)[k] = flat(w.next)[k]
        flat(w.way_next)[k] = 0.0
        k += w.lanes
    barrier()


@loop
def go_on(me: i64, part: f64, w: Block) -> None:
    """Goes on along the way from sweep to sweep, by a part of it that grows from 0 to 1."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            go_contact(k, part, w)
        k += w.lanes
    i = me
    while i < w.bodies:
        go_three(part, w.next[i], w.last_next[i], w.way_next[i])
        go_three(part, w.next[i, 3:], w.last_next[i, 3:], w.way_next[i, 3:])
        i += w.lanes
    barrier()


@loop
def go_contact(k: i64, part: f64, w: Block) -> None:
    """The same of one contact: all is read before anything is written."""
    a = part * w.way_force[0, k]
    b = part * w.way_force[1, k]
    c = part * w.way_force[2, k]
    d = part * w.way_force[3, k]
    load = w.force[0, k] + a
    x = w.force[1, k] + b
    y = w.force[2, k] + c
    t = w.force[3, k] + d
    w.way_force[0, k] = a
    w.way_force[1, k] = b
    w.way_force[2, k] = c
    w.way_force[3, k] = d
    w.force[0, k] = load
    w.force[1, k] = x
    w.force[2, k] = y
    w.force[3, k] = t


@loop
def go_three(part: f64, v: ptr, last: ptr, way: ptr) -> None:
    """The same of three components of a velocity."""
    x = v[0]
    y = v[1]
    t = v[2]
    a = part * (way[0] + x - last[0])
    b = part * (way[1] + y - last[1])
    c = part * (way[2] + t - last[2])
    way[0] = a
    way[1] = b
    way[2] = c
    x += a
    y += b
    t += c
    v[0] = x
    v[1] = y
    v[2] = t
    last[0] = x
    last[1] = y
    last[2] = t


@loop
def residual_of(me: i64, mu: f64, scale: f64, w: Block) -> f64:
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
def fastest(me: i64, w: Block) -> f64:
    """The largest sum of the terms that a rate of a contact is made of, signs aside."""
    most = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            total = abs(w.right[k])
            for i in range(6):
                total += term_of(w.other[k], i, k, 0, w)
                if w.one[k] >= 0:
                    total += term_of(w.one[k], i, k, 3, w)
            most = max(most, total)
        k += w.lanes
    return float(most_of(most, me, w))


@loop
def term_of(body: i64, i: i64, k: i64, side: i64, w: Block) -> f64:
    """The size of a component of a body's velocity in the rates of a contact."""
    size = abs(w.next[body, i])
    if w.general == 1 and i < 3:
        size = size * (abs(w.arm[side, k]) + abs(w.arm[side + 1, k]) + abs(w.arm[side + 2, k]))
    return float(size)


@loop
def missed(k: i64, mu: f64, w: Block) -> f64:
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
