"""What happens to the contacts of a scene, told by pairs of bodies: closes, opens, sticks, slips.

Points of one pair count together. A pair closes when it first carries, and opens when it has come
apart by the distance within which bodies count as touching; the instant told is that at which it
last carried. Stick and slip are told when they have held for some steps, an impact when it is
faster than what gravity and the residual of the impulses make of nothing. So rest with its noise is
no event. Impacts that go on every few steps are told as rest.

Public names: note_contacts.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .layout import (
    COUNT,
    EVENT,
    GX,
    HAPPENED,
    K_CONTACT,
    K_LIVE,
    K_NEXT,
    K_PAIRS,
    LAW,
    LIVE,
    LIVING,
    PLANES,
    RESIDUAL,
    ROWS,
    STEPS,
    TABLE,
    TOLERANCE,
    TOUCH,
    Z_FORCE,
    Z_FREE,
    Z_LAW,
    Z_LIVE,
    Z_NEW,
    Z_ROWS,
    Z_SCALE,
    Z_SPEED,
    H,
    T,
)
from .turning import turning

IMPACTS, CLOSES, OPENS, STICKS, SLIPS, RESTS = range(6)
"""As in simulation/steps/sides_layout.py, whose words they have."""

CODES = 16
"""Numbers of happenings a group of friction: sliding, rolling, pivoting."""

# numbers of a pair that is followed: what is kept of it, with three for each group of friction (its
# mode, since when another, for how many steps); then what one step shows
KEY, MODE, SINCE, HIT, CHAIN, LANDING, GROUP = 0, 1, 2, 3, 4, 5, 6
LOAD, APPROACH, WAIT, HITS, BOUNCE, SEEN, RATES, RUBS = 15, 16, 17, 18, 19, 20, 21, 24

APART, CLOSED = 0.0, 1.0
BARE, STICK, SLIDE = 0.0, 1.0, 2.0
"""Modes of a pair, and of each group of its friction; BARE: nothing is told of it yet."""

HOLD = 3.0
"""Steps that stick or slip must hold, and within which impacts are one."""

NOISE = 10.0
"""Times the residual of impulses, as a velocity, below which rates count as zero."""

FALL = 0.01
"""Part of what gravity does in a step, below which what was apart closes without an impact."""

MIXED = 2654435761
WIDE = 1048576  # more than bodies and planes together


@loop
def note_contacts(z: ptr, k: iptr, happened: ptr) -> None:
    """Events of a step whose impulses are known, velocities being still those before it."""
    noise = NOISE * max(z[RESIDUAL], z[TOLERANCE]) * strongest(z, k) + 1e-12
    begin_pairs(z, k)
    for c in range(k[COUNT]):
        gather(c, z, k)
    g = at(z, GX)
    weight = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    kept = 0
    for i in range(k[LIVING]):
        pair = at(z, k[Z_LIVE] + LIVE * i)
        if pair[SEEN] == 0.0:
            leave(pair, weight, z, k, happened)
        elif pair[LOAD] > 0.0:
            part = FALL if pair[MODE] == APART else 1.0
            landing = 1.5 * sqrt(2.0 * weight * pair[LANDING])
            press(pair, noise + part * z[H] * weight + landing, noise, z, k, happened)
            pair[LANDING] = 0.5 * z[H] * pair[APPROACH] if pair[MODE] != APART else 0.0
        if pair[MODE] != APART or float(k[STEPS]) - pair[HIT] <= HOLD:
            other = at(z, k[Z_LIVE] + LIVE * kept)
            for j in range(LIVE):
                other[j] = pair[j]
            kept += 1
    k[LIVING] = kept


@loop
def strongest(z: ptr, k: iptr) -> f64:
    """The strongest impulse, as the velocity it makes."""
    found = 0.0
    for c in range(k[COUNT]):
        found = max(found, z[k[Z_FORCE] + 3 * c] * z[k[Z_SCALE] + 2 * c])
    return found


@loop
def begin_pairs(z: ptr, k: iptr) -> None:
    """Pairs that are followed into the table, nothing seen of them yet."""
    for i in range(2 * k[TABLE]):
        k[k[K_LIVE] + i] = 0
    for i in range(k[LIVING]):
        pair = at(z, k[Z_LIVE] + LIVE * i)
        place = slot_of_pair(int(pair[KEY]), k)
        k[k[K_LIVE] + 2 * place] = int(pair[KEY])
        k[k[K_LIVE] + 2 * place + 1] = i
        for j in range(LOAD, LIVE):
            pair[j] = 0.0


@loop
def slot_of_pair(key: i64, k: iptr) -> i64:
    """Where a pair is in the table, or would be."""
    place = int((key * MIXED) % k[TABLE])
    while k[k[K_LIVE] + 2 * place] != 0 and k[k[K_LIVE] + 2 * place] != key:
        place = (place + 1) % k[TABLE]
    return place


@loop
def pair_of(c: i64, z: ptr, k: iptr) -> i64:
    """The number of the pair that a contact belongs to, followed from now on if it was not."""
    first = k[k[K_CONTACT] + 2 * c]
    if first < 0:
        first = k[k[K_PAIRS] + 2 * k[k[K_NEXT] + c]]
    second = k[k[K_CONTACT] + 2 * c + 1]
    if first > second:
        first = second
        second = k[k[K_CONTACT] + 2 * c]
    key = int(1 + (first + k[PLANES]) * WIDE + second)
    place = slot_of_pair(key, k)
    if k[k[K_LIVE] + 2 * place] == 0:
        k[k[K_LIVE] + 2 * place] = key
        k[k[K_LIVE] + 2 * place + 1] = k[LIVING]
        made = at(z, k[Z_LIVE] + LIVE * k[LIVING])
        for j in range(LIVE):
            made[j] = 0.0
        made[KEY] = float(key)
        made[HIT] = -2.0 * HOLD
        k[LIVING] += 1
    return int(k[k[K_LIVE] + 2 * place + 1])


@loop
def rate_at(c: i64, r: i64, speeds: ptr, z: ptr, k: iptr) -> f64:
    """D v of one row of a contact, at these velocities of the bodies."""
    row = at(z, k[Z_ROWS] + ROWS * c + 1 + 6 * r)
    first = k[k[K_CONTACT] + 2 * c]
    v = at(speeds, 6 * k[k[K_CONTACT] + 2 * c + 1])
    u = 0.0
    for i in range(6):
        u += row[18 + i] * v[i]
    if first >= 0:
        other = at(speeds, 6 * first)
        for i in range(6):
            u += row[i] * other[i]
    return float(u)


@loop
def gather(c: i64, z: ptr, k: iptr) -> None:
    """What one contact adds to its pair: load, slip, and how it came together."""
    pair = at(z, k[Z_LIVE] + LIVE * pair_of(c, z, k))
    pair[SEEN] = 1.0
    impulse = z[k[Z_FORCE] + 3 * c]
    if impulse > 0.0:
        law = at(z, k[Z_LAW] + LAW * c)
        pair[LOAD] += impulse
        new = at(z, k[Z_NEW])
        x = rate_at(c, 1, new, z, k)
        y = rate_at(c, 2, new, z, k)
        pair[RATES] = max(pair[RATES], sqrt(x * x + y * y))
        pair[RUBS] = max(pair[RUBS], law[0])
        if law[2] > 0.0 or law[3] > 0.0:
            n = at(z, k[Z_ROWS] + ROWS * c + 22)
            x = turning(c, at(n, 6), z, k)
            y = turning(c, at(n, 12), z, k)
            pair[RATES + 1] = max(pair[RATES + 1], sqrt(x * x + y * y))
            pair[RATES + 2] = max(pair[RATES + 2], abs(turning(c, n, z, k)))
            pair[RUBS + 1] = max(pair[RUBS + 1], law[2])
            pair[RUBS + 2] = max(pair[RUBS + 2], law[3])
        u = rate_at(c, 0, at(z, k[Z_SPEED]), z, k)
        if -u > pair[APPROACH]:
            pair[APPROACH] = -u
            # the gap is told midway
            pair[WAIT] = min(max(0.5 * z[H] - z[k[Z_ROWS] + ROWS * c] / u, 0.0), z[H])
            pair[HITS] = 1.0 if rate_at(c, 0, at(z, k[Z_FREE]), z, k) >= 2.0 * u else 0.0
            pair[BOUNCE] = law[1]


@loop
def leave(pair: ptr, weight: f64, z: ptr, k: iptr, happened: ptr) -> None:
    """A pair that is apart: it opened when it last carried.

    A step that ends an approach leaves half of its way; what has just landed may fall through it.
    """
    wait = 1.5 * sqrt(2.0 * pair[LANDING] / weight) if weight > 0.0 else 0.0
    if pair[MODE] != APART and z[T] + z[H] - pair[SINCE] > wait:
        tell(OPENS, pair, pair[SINCE], 0.0, z, k, happened)
        pair[MODE] = APART
        for g in range(3):
            pair[GROUP + 3 * g] = BARE


@loop
def press(pair: ptr, quiet: f64, noise: f64, z: ptr, k: iptr, happened: ptr) -> None:
    """A pair that carries: an impact, closing, stick and slip."""
    t = z[T] + pair[WAIT]
    bounces = 0
    rests = 0
    if pair[APPROACH] > quiet:
        rests = 1 if pair[BOUNCE] > 0.0 else 0
        if pair[HITS] == 1.0:
            soon = 1 if float(k[STEPS]) - pair[HIT] <= HOLD else 0
            pair[CHAIN] = pair[CHAIN] + 1.0 if soon == 1 else 0.0
            pair[HIT] = float(k[STEPS])
            bounces = rests if pair[CHAIN] < HOLD else 0
            if soon == 0:
                tell(IMPACTS, pair, t, pair[APPROACH], z, k, happened)
    pair[SINCE] = t if bounces == 1 else z[T] + z[H]
    if bounces == 0:
        if pair[MODE] == APART:
            if rests == 1:
                tell(RESTS, pair, t, 0.0, z, k, happened)
            tell(CLOSES, pair, t, 0.0, z, k, happened)
        pair[MODE] = CLOSED
        size = 1e4 * z[TOUCH]
        for g in range(3):
            rub(g, pair, noise if g == 0 else noise / size, t, z, k, happened)


@loop
def rub(g: i64, pair: ptr, noise: f64, t: f64, z: ptr, k: iptr, happened: ptr) -> None:
    """Stick or slip of a group: at once where a pair closes, else when it has held some steps."""
    kept = at(pair, GROUP + 3 * g)
    if pair[RUBS + g] > 0.0:
        limit = noise if kept[0] == SLIDE else 4.0 * noise
        now = SLIDE if pair[RATES + g] > limit else STICK
        if now == kept[0]:
            kept[2] = 0.0
        else:
            kept[1] = z[T] if kept[2] == 0.0 else kept[1]
            kept[2] += 1.0
            if kept[0] == BARE or kept[2] >= HOLD:
                since = t if kept[0] == BARE else kept[1]
                what = CODES * g + (SLIPS if now == SLIDE else STICKS)
                tell(what, pair, since, 0.0, z, k, happened)
                kept[0] = now
                kept[2] = 0.0


@loop
def tell(what: i64, pair: ptr, t: f64, speed: f64, z: ptr, k: iptr, happened: ptr) -> None:
    """One event more; of what a run begins with only impacts."""
    if k[STEPS] > 0 or what == IMPACTS:
        row = at(happened, EVENT * k[HAPPENED])
        key = int(pair[KEY]) - 1
        row[0] = float(what)
        row[1] = float(key // WIDE - k[PLANES])
        row[2] = float(key % WIDE)
        row[3] = t
        row[4] = speed
        k[HAPPENED] += 1
