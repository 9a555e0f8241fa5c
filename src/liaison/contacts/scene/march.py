"""The time loop of a scene: candidates, contacts, impulses, places, warm start, recording.

Public names: scene_march, begin_depth.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.few import FEW
from liaison.contacts.impulses.solve import solve_scene
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .bodies import free_bodies, move, moved_pose
from .candidates import candidates
from .contacts import activate, contacts_at, gap_of
from .layout import (
    BODIES,
    CANDIDATES,
    CAPACITY,
    COUNT,
    CROWDED,
    DEPTH,
    DONE,
    EVENT_ROOM,
    EVERY,
    FULL,
    GOOD,
    HAPPENED,
    HAS_TURNING,
    IS_BEGUN,
    K_FEATURE,
    K_NEXT,
    K_PAIRS,
    K_TABLE,
    LAW,
    LEFT,
    LIVING,
    MISSED,
    MOST,
    NOT_FINITE,
    PARTS,
    PLANES,
    RECORDED,
    RECORDS,
    RESIDUAL,
    ROWS,
    SIZE,
    STEP,
    STEPS,
    SWEEPS_ALLOWED,
    T_END,
    T_START,
    TABLE,
    TOLERANCE,
    TOUCH,
    TOUCHING,
    TRIED,
    TURNING_RESIDUAL,
    WORST_DEPTH,
    WORST_RESIDUAL,
    Z_END,
    Z_FORCE,
    Z_FREE,
    Z_KEPT,
    Z_LAW,
    Z_MID,
    Z_NEW,
    Z_POSE,
    Z_RIGHT,
    Z_ROWS,
    Z_SPEED,
    Z_SUM,
    H,
    T,
)
from .notes import note_contacts
from .rates import rate, residual_of
from .turning import guess_moments, keep_moments, solve_turning

HALVED, UNSOLVED = 6, 12
"""Times that a step which is not solved is halved, in a row and in all."""

AGAIN = 3
"""Times that gaps found to close under the impulses of others join the problem."""

MANY = 1000.0
"""Times the penetration that is left alone where contacts are many."""

ROUNDING = 1e-10
"""Residual above which a step with few contacts is told as missed."""

NEAR = 4.0
"""Gaps up to this many penetrations wide are guarded while others are pushed out."""

PLACED = 30
"""Corrections of places at most."""

MIXED = 2654435761  # multiplier that spreads keys over the table


@loop
def scene_march(e: iptr, z: ptr, k: iptr, records: ptr, happened: ptr, tries: i64) -> i64:
    """Goes on for at most `tries` steps; GOOD if they are used up, otherwise why it returned."""
    if k[IS_BEGUN] == 0:
        k[IS_BEGUN] = 1
        record(z, k, records)
    for _ in range(tries):
        if z[T] >= z[T_END]:
            return DONE
        if k[RECORDED] >= k[RECORDS] or has_room(k) == 0:
            return FULL
        if k[LIVING] > k[CAPACITY]:
            return CROWDED
        status = scene_step(e, z, k, happened)
        if status != GOOD:
            return status
        if k[PARTS] == 0 and (k[STEPS] % k[EVERY] == 0 or z[T] >= z[T_END]):
            record(z, k, records)
    return DONE if z[T] >= z[T_END] else GOOD


@loop
def begin_depth(e: iptr, z: ptr, k: iptr) -> i64:
    """The candidate that begins deepest inside another, its depth in the slot SIZE; or −1 − status.

    The poses midway and at the end are left as those at the beginning.
    """
    for i in range(7 * k[BODIES]):
        z[k[Z_MID] + i] = z[k[Z_POSE] + i]
        z[k[Z_END] + i] = z[k[Z_POSE] + i]
    status = candidates(e, z, k)
    if status != GOOD:
        return -1 - status
    z[SIZE] = deepest(e, z, k)
    for c in range(k[CANDIDATES]):
        if -gap_of(e, c, at(z, k[Z_END]), z, k) >= z[SIZE]:
            return c
    return -1


@loop
def has_room(k: iptr) -> i64:
    """1 if the events of one more step fit, or none are wanted."""
    return 1 if k[EVENT_ROOM] == 0 or k[HAPPENED] + 8 * k[CAPACITY] <= k[EVENT_ROOM] else 0


@loop
def scene_step(e: iptr, z: ptr, k: iptr, happened: ptr) -> i64:
    """One step, or its first part where all of it is not solved; GOOD, or why not.

    What is not solved leaves the state as before, and is tried with half the step; not with
    rolling friction, whose turns come to rest whatever the step.
    """
    new = z[T_START] + float(k[STEPS] + 1) * z[STEP]
    if new + 1e-6 * z[STEP] >= z[T_END]:
        new = z[T_END]
    z[H] = new - z[T]
    is_whole = 1
    for halved in range(HALVED + 1):
        status = attempt(e, z, k)
        if status != GOOD:
            return status
        is_last = 1 if halved == HALVED or k[TRIED] >= UNSOLVED or k[HAS_TURNING] == 1 else 0
        if z[LEFT] <= limit_of(z, k) or is_last == 1:
            break
        z[H] = 0.5 * z[H]
        is_whole = 0
        k[TRIED] += 1
    if z[LEFT] > limit_of(z, k):
        k[TRIED] = UNSOLVED + 1  # the step is missed, and its rest taken at once
    if k[EVENT_ROOM] > 0:
        note_contacts(z, k, happened)
    keep(z, k)
    status = take(z, k)
    if status == GOOD:
        place(e, z, k)
        take_places(z, k)
        z[T] = new if is_whole == 1 else z[T] + z[H]
        k[STEPS] += is_whole
        k[PARTS] += 1
        if is_whole == 1:
            k[MISSED] += 1 if k[TRIED] > UNSOLVED else 0
            k[PARTS] = 0
            k[TRIED] = 0
    return status


@loop
def attempt(e: iptr, z: ptr, k: iptr) -> i64:
    """Impulses of a step of size H, and what they miss; GOOD, or why not."""
    free_bodies(z, k)
    status = candidates(e, z, k)
    if status != GOOD:
        return status
    activate(e, z[TOUCH], 0, at(z, k[Z_POSE]), z, k)
    activate(e, 0.0, 1, at(z, k[Z_END]), z, k)
    for _ in range(AGAIN):
        contacts_at(e, at(z, k[Z_MID]), z, k)
        guess(z, k)
        impulses(z, k)
        move(at(z, k[Z_NEW]), at(z, k[Z_END]), z, k)
        if activate(e, -z[DEPTH], 1, at(z, k[Z_END]), z, k) == 0:
            break
    z[LEFT] = max(residual_of(1.0, z, k), z[TURNING_RESIDUAL])
    return GOOD


@loop
def limit_of(z: ptr, k: iptr) -> f64:
    """The residual that solves a step."""
    return float(z[TOLERANCE] if k[COUNT] > FEW else min(z[TOLERANCE], ROUNDING))


@loop
def impulses(z: ptr, k: iptr) -> None:
    """Impulses of all contacts and the velocities with them."""
    for i in range(6 * k[BODIES]):
        z[k[Z_NEW] + i] = z[k[Z_SPEED] + i]
    # gaps as small as penetrations that are left alone are none: a pile would shift its load
    # from step to step as they open and close
    slack = MANY * z[DEPTH] if k[COUNT] > FEW else 0.0
    before = at(z, k[Z_RIGHT])
    for c in range(k[COUNT]):
        for r in range(3):
            before[3 * c + r] = 0.0
        before[3 * c] = rate(c, 0, z, k)
    for i in range(6 * k[BODIES]):
        z[k[Z_NEW] + i] = z[k[Z_FREE] + i]
    for c in range(k[COUNT]):
        u = before[3 * c]
        before[3 * c] = 0.0
        free = rate(c, 0, z, k)
        # as in moreau.py: at rest where forces of one step could make it so; what is at rest a
        # little apart may come nearer, and so may what is too slow to arrive within the step
        apart = max(z[k[Z_ROWS] + ROWS * c] - slack, 0.0) / z[H]
        if u >= 0.0:
            before[3 * c] = max(u, apart)
        elif free >= 2.0 * u and -u >= apart:
            before[3 * c] = z[k[Z_LAW] + LAW * c + 1] * u
        else:
            before[3 * c] = apart
    if k[HAS_TURNING] == 1:
        solve_turning(z, k)
    else:
        solve_scene(1.0, z[TOLERANCE], k[SWEEPS_ALLOWED], z, k)
    k[TOUCHING] = k[COUNT]
    k[MOST] = max(k[MOST], k[COUNT])


@loop
def place(e: iptr, z: ptr, k: iptr) -> None:
    """Bodies at the end of the step out of each other, by the shortest way."""
    allowed = z[DEPTH] if k[TOUCHING] <= FEW else MANY * z[DEPTH]
    worst = deepest(e, z, k)
    for _ in range(PLACED):
        if worst <= allowed:
            break
        # gaps that others may close while they are pushed out are guarded
        count = activate(e, NEAR * worst, 0, at(z, k[Z_END]), z, k)
        contacts_at(e, at(z, k[Z_END]), z, k)
        for c in range(count):
            for r in range(3):
                z[k[Z_FORCE] + 3 * c + r] = 0.0
                z[k[Z_RIGHT] + 3 * c + r] = z[k[Z_ROWS] + ROWS * c] if r == 0 else 0.0
        for i in range(6 * k[BODIES]):
            z[k[Z_NEW] + i] = 0.0
        solve_scene(0.0, 1e-3, k[SWEEPS_ALLOWED], z, k)
        for i in range(k[BODIES]):
            pose = at(z, k[Z_END] + 7 * i)
            moved_pose(1.0, pose, at(z, k[Z_NEW] + 6 * i), pose)
        worst = deepest(e, z, k)
    z[SIZE] = worst
    z[WORST_DEPTH] = max(z[WORST_DEPTH], worst)


@loop
def deepest(e: iptr, z: ptr, k: iptr) -> f64:
    """The deepest penetration of all candidates at the end of the step."""
    found = 0.0
    for c in range(k[CANDIDATES]):
        found = max(found, -gap_of(e, c, at(z, k[Z_END]), z, k))
    return found


@loop
def take(z: ptr, k: iptr) -> i64:
    """Velocities and forces of planes; NOT_FINITE where a velocity is not."""
    bad = 0.0
    for i in range(6 * k[BODIES]):
        bad += z[k[Z_NEW] + i] - z[k[Z_NEW] + i]
    if bad != 0.0:
        return NOT_FINITE
    for i in range(6 * k[BODIES]):
        z[k[Z_SPEED] + i] = z[k[Z_NEW] + i]
    for j in range(3 * k[PLANES]):
        z[k[Z_SUM] + j] = 0.0
    for c in range(k[COUNT]):
        first = k[k[K_PAIRS] + 2 * k[k[K_NEXT] + c]]
        if first < 0:
            for r in range(3):
                row = at(z, k[Z_ROWS] + ROWS * c + 1 + 18 + 6 * r + 3)
                for j in range(3):
                    part = row[j] * z[k[Z_FORCE] + 3 * c + r] / z[H]
                    z[k[Z_SUM] + 3 * (-1 - first) + j] += part
    z[RESIDUAL] = z[LEFT] if k[PARTS] == 0 else max(z[RESIDUAL], z[LEFT])
    z[WORST_RESIDUAL] = max(z[WORST_RESIDUAL], z[LEFT])
    return GOOD


@loop
def take_places(z: ptr, k: iptr) -> None:
    """The places at the end of the step become those of the bodies."""
    for i in range(7 * k[BODIES]):
        z[k[Z_POSE] + i] = z[k[Z_END] + i]


@loop
def slot_of(key: i64, k: iptr) -> i64:
    """Where a key is in the table of the step before, or would be."""
    size = k[TABLE]
    place = int((key * MIXED) % size)
    while k[k[K_TABLE] + 2 * place] != 0 and k[k[K_TABLE] + 2 * place] != key:
        place = (place + 1) % size
    return place


@loop
def key_of(c: i64, k: iptr) -> i64:
    """A number of the pair of a contact, positive."""
    pair = at(k, k[K_PAIRS] + 2 * k[k[K_NEXT] + c])
    own = (pair[0] + k[PLANES]) * 1048576 + pair[1]
    return int(1 + 16 * own + k[k[K_FEATURE] + k[k[K_NEXT] + c]])


@loop
def guess(z: ptr, k: iptr) -> None:
    """The impulses of the step before, of pairs that touched then."""
    for c in range(k[COUNT]):
        key = key_of(c, k)
        found = slot_of(key, k)
        kept = k[k[K_TABLE] + 2 * found + 1] if k[k[K_TABLE] + 2 * found] == key else -1
        for r in range(3):
            z[k[Z_FORCE] + 3 * c + r] = z[k[Z_KEPT] + 3 * kept + r] if kept >= 0 else 0.0
        guess_moments(c, kept, z, k)


@loop
def keep(z: ptr, k: iptr) -> None:
    """Keeps the impulses for the guess of the next step."""
    for i in range(2 * k[TABLE]):
        k[k[K_TABLE] + i] = 0
    for c in range(k[COUNT]):
        key = key_of(c, k)
        found = slot_of(key, k)
        k[k[K_TABLE] + 2 * found] = key
        k[k[K_TABLE] + 2 * found + 1] = c
        for r in range(3):
            z[k[Z_KEPT] + 3 * c + r] = z[k[Z_FORCE] + 3 * c + r]
        keep_moments(c, z, k)


@loop
def record(z: ptr, k: iptr, records: ptr) -> None:
    """One row: t, poses, velocities, contacts, residual, penetration, forces of planes."""
    n = k[BODIES]
    size = 1 + 13 * n + 3 + 3 * k[PLANES]
    row = at(records, k[RECORDED] * size)
    row[0] = z[T]
    for i in range(7 * n):
        row[1 + i] = z[k[Z_POSE] + i]
    for i in range(6 * n):
        row[1 + 7 * n + i] = z[k[Z_SPEED] + i]
    row[1 + 13 * n] = float(k[TOUCHING])
    row[2 + 13 * n] = z[RESIDUAL]
    row[3 + 13 * n] = z[SIZE]
    for i in range(3 * k[PLANES]):
        row[4 + 13 * n + i] = z[k[Z_SUM] + i]
    k[RECORDED] += 1
