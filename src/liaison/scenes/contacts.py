"""Contacts of a scene: candidates by the broad phase, gaps and rows by one kernel for each class.

Public names: candidates, gap_of, activate, contacts_at, push_of.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops import at, entry_at, f64, i64, iptr, loop, ptr

from .bodies import rotation
from .broad_phase import sweep_and_prune
from .layout import (
    BALLS,
    CANDIDATES,
    CAPACITY,
    CLASSES,
    COLLIDERS,
    COUNT,
    CROWDED,
    E_BALLS,
    E_BALLS_GAP,
    E_PLANE,
    E_PLANE_GAP,
    GOOD,
    K_ACTIVE,
    K_CLASS,
    K_CONTACT,
    K_LAWS,
    K_NEXT,
    K_ORDER,
    K_OWNER,
    K_PAIRS,
    LAW,
    MARGIN,
    PLANES,
    Z_BALL,
    Z_BOX,
    Z_END,
    Z_INVERSE,
    Z_LAW,
    Z_LAWS,
    Z_MASS,
    Z_OUT,
    Z_PLANE,
    Z_POSE,
    Z_PUSH,
    Z_ROWS,
    Z_SCALE,
)

ROWS = 37


@loop
def candidates(e: iptr, z: ptr, k: iptr) -> i64:
    """Pairs that may come near within the step, into the block PAIRS; GOOD, or CROWDED.

    A pair is (ball, ball) or (−1 − plane, ball or point).
    """
    boxes = at(z, k[Z_BOX])
    for i in range(k[BALLS]):
        box = at(boxes, 6 * i)
        swept_box(i, box, z, k)
    pairs = at(k, k[K_PAIRS])
    found = sweep_and_prune(
        k[BALLS], boxes, at(k, k[K_OWNER]), at(k, k[K_ORDER]), k[CAPACITY], pairs
    )
    if found < 0:
        return CROWDED
    found = with_laws(found, pairs, k)
    for i in range(k[COLLIDERS]):
        for j in range(k[PLANES]):
            if law_of(-1 - j, i, k) >= 0 and plane_is_near(e, i, j, z, k) == 1:
                if found >= k[CAPACITY]:
                    return CROWDED
                pairs[2 * found] = -1 - j
                pairs[2 * found + 1] = i
                found += 1
    k[CANDIDATES] = found
    return GOOD


@loop
def with_laws(count: i64, pairs: iptr, k: iptr) -> i64:
    """Keeps the pairs that may touch at all; how many."""
    kept = 0
    for c in range(count):
        if law_of(pairs[2 * c], pairs[2 * c + 1], k) >= 0:
            pairs[2 * kept] = pairs[2 * c]
            pairs[2 * kept + 1] = pairs[2 * c + 1]
            kept += 1
    return kept


@loop
def law_of(first: i64, second: i64, k: iptr) -> i64:
    """The law of a pair, by the classes of both; −1 where they pass through each other."""
    kinds = at(k, k[K_CLASS])
    one = kinds[first] if first >= 0 else kinds[k[COLLIDERS] - 1 - first]
    return int(k[k[K_LAWS] + k[CLASSES] * one + kinds[second]])


@loop
def swept_box(i: i64, box: ptr, z: ptr, k: iptr) -> None:
    """The box around a ball at the beginning and at the end of the free step, with a margin."""
    ball = at(z, k[Z_BALL] + 4 * i)
    body = k[k[K_OWNER] + i]
    before = at(z, k[Z_OUT] + 9)
    after = at(z, k[Z_OUT] + 12)
    center(at(z, k[Z_POSE] + 7 * body), ball, before, z, k)
    center(at(z, k[Z_END] + 7 * body), ball, after, z, k)
    for j in range(3):
        wide = ball[3] + z[MARGIN]
        box[j] = min(before[j], after[j]) - wide
        box[3 + j] = max(before[j], after[j]) + wide


@loop
def center(pose: ptr, ball: ptr, out: ptr, z: ptr, k: iptr) -> None:
    """Where the center of a ball is."""
    if ball[0] == 0.0 and ball[1] == 0.0 and ball[2] == 0.0:
        for j in range(3):
            out[j] = pose[j]
    else:
        R = at(z, k[Z_OUT])
        rotation(pose, R)
        for j in range(3):
            out[j] = pose[j] + R[3 * j] * ball[0] + R[3 * j + 1] * ball[1] + R[3 * j + 2] * ball[2]


@loop
def plane_is_near(e: iptr, i: i64, j: i64, z: ptr, k: iptr) -> i64:
    """1 if a ball or point is within the margin of a plane at either end of the free step."""
    entry = entry_at(e, E_PLANE_GAP)
    ball = at(z, k[Z_BALL] + 4 * i)
    plane = at(z, k[Z_PLANE] + 4 * j)
    body = k[k[K_OWNER] + i]
    out = at(z, k[Z_OUT])
    pose = at(z, k[Z_POSE] + 7 * body)
    entry(0.0, pose, pose, ball, plane, ball, out, out)
    before = out[0]
    pose = at(z, k[Z_END] + 7 * body)
    entry(0.0, pose, pose, ball, plane, ball, out, out)
    return 1 if min(before, out[0]) <= z[MARGIN] else 0


@loop
def gap_of(e: iptr, c: i64, poses: ptr, z: ptr, k: iptr) -> f64:
    """The gap of a candidate, bodies being at `poses`."""
    first = k[k[K_PAIRS] + 2 * c]
    second = k[k[K_PAIRS] + 2 * c + 1]
    ball = at(z, k[Z_BALL] + 4 * second)
    pose = at(poses, 7 * k[k[K_OWNER] + second])
    out = at(z, k[Z_OUT])
    if first < 0:
        on_plane = entry_at(e, E_PLANE_GAP)
        on_plane(0.0, pose, pose, ball, at(z, k[Z_PLANE] + 4 * (-1 - first)), ball, out, out)
    else:
        balls = entry_at(e, E_BALLS_GAP)
        other = at(poses, 7 * k[k[K_OWNER] + first])
        balls(0.0, other, pose, ball, at(z, k[Z_BALL] + 4 * first), ball, out, out)
    return float(out[0])


@loop
def activate(e: iptr, limit: f64, again: i64, poses: ptr, z: ptr, k: iptr) -> i64:
    """Candidates whose gap at `poses` is at most `limit` become active; how many became so.

    Where `again`, those that are active stay so.
    """
    count = 0
    for c in range(k[CANDIDATES]):
        was = k[k[K_ACTIVE] + c] if again == 1 else 0
        if was == 0 and gap_of(e, c, poses, z, k) <= limit:
            k[k[K_ACTIVE] + c] = 1
            count += 1
        else:
            k[k[K_ACTIVE] + c] = was
    return count


@loop
def contacts_at(e: iptr, poses: ptr, z: ptr, k: iptr) -> None:
    """Bodies, gap and rows of every active candidate, bodies being at `poses`."""
    count = 0
    for c in range(k[CANDIDATES]):
        if k[k[K_ACTIVE] + c] == 1:
            first = k[k[K_PAIRS] + 2 * c]
            second = k[k[K_PAIRS] + 2 * c + 1]
            body = k[k[K_OWNER] + second]
            ball = at(z, k[Z_BALL] + 4 * second)
            out = at(z, k[Z_ROWS] + ROWS * count)
            pose = at(poses, 7 * body)
            other = -1
            if first < 0:
                on_plane = entry_at(e, E_PLANE)
                plane = at(z, k[Z_PLANE] + 4 * (-1 - first))
                on_plane(0.0, pose, pose, ball, plane, ball, out, out)
            else:
                balls = entry_at(e, E_BALLS)
                other = k[k[K_OWNER] + first]
                far = at(poses, 7 * other)
                balls(0.0, far, pose, ball, at(z, k[Z_BALL] + 4 * first), ball, out, out)
            k[k[K_CONTACT] + 2 * count] = other
            k[k[K_CONTACT] + 2 * count + 1] = body
            k[k[K_NEXT] + count] = c
            law = law_of(first, second, k)
            for i in range(LAW):
                z[k[Z_LAW] + LAW * count + i] = z[k[Z_LAWS] + LAW * law + i]
            push_of(count, z, k)
            count += 1
    k[COUNT] = count


@loop
def push_of(c: i64, z: ptr, k: iptr) -> None:
    """M⁻¹Dᵀ of a contact, and how far unit impulses along n and across it move its rates."""
    rows = at(z, k[Z_ROWS] + ROWS * c + 1)
    push = at(z, k[Z_PUSH] + 36 * c)
    a11 = 0.0
    a22 = 0.0
    a12 = 0.0
    normal = 0.0
    for side in range(2):
        body = k[k[K_CONTACT] + 2 * c + side]
        if body >= 0:
            inverse = at(z, k[Z_INVERSE] + 9 * body)
            for r in range(3):
                row = at(rows, 18 * side + 6 * r)
                out = at(push, 18 * side + 6 * r)
                for i in range(3):
                    out[i] = (
                        inverse[3 * i] * row[0]
                        + inverse[3 * i + 1] * row[1]
                        + inverse[3 * i + 2] * row[2]
                    )
                    out[3 + i] = row[3 + i] / z[k[Z_MASS] + body]
            for i in range(6):
                normal += rows[18 * side + i] * push[18 * side + i]
                a11 += rows[18 * side + 6 + i] * push[18 * side + 6 + i]
                a22 += rows[18 * side + 12 + i] * push[18 * side + 12 + i]
                a12 += rows[18 * side + 6 + i] * push[18 * side + 12 + i]
    z[k[Z_SCALE] + 2 * c] = normal
    half = 0.5 * (a11 - a22)
    z[k[Z_SCALE] + 2 * c + 1] = 0.5 * (a11 + a22) + sqrt(half * half + a12 * a12)
