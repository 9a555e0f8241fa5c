"""Candidates for contact: what may come near within a step, by the broad phase, with its features.

Public names: candidates, law_of.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr

from .bodies import rotation
from .boxes import added, box_at, meet
from .broad_phase import sweep_and_prune
from .layout import (
    BALL_BALL,
    BALL_BOX,
    BALL_PLANE,
    BALLS,
    BOXES,
    CANDIDATES,
    CAPACITY,
    CLASSES,
    COLLIDERS,
    CROWDED,
    FEATURE,
    GOOD,
    K_CLASS,
    K_LAWS,
    K_NEAR,
    K_ORDER,
    K_OWNER,
    KINDS,
    MARGIN,
    PLANES,
    SOLID,
    Z_BALL,
    Z_BOX,
    Z_END,
    Z_FEATURE,
    Z_OUT,
    Z_PLANE,
    Z_POSE,
    Z_SOLID,
    Z_WORK,
)


@loop
def candidates(e: iptr, z: ptr, k: iptr) -> i64:
    """Pairs that may come near within the step; GOOD, or CROWDED.

    A pair is of two colliders, or of (−1 − plane) and a ball or point. Balls come first among
    colliders, then boxes, then points, which touch planes only.
    """
    boxes = at(z, k[Z_BOX])
    for i in range(k[BALLS]):
        swept_box(i, at(boxes, 6 * i), z, k)
    for i in range(k[BALLS], k[BALLS] + k[BOXES]):
        swept_solid(i, at(boxes, 6 * i), z, k)
    near = at(k, k[K_NEAR])
    found = sweep_and_prune(
        k[BALLS] + k[BOXES], boxes, at(k, k[K_OWNER]), at(k, k[K_ORDER]), k[CAPACITY], near
    )
    k[CANDIDATES] = 0
    if found < 0:
        return CROWDED
    for c in range(found):
        first = near[2 * c]
        second = near[2 * c + 1]
        if law_of(first, second, k) >= 0 and come_near(first, second, z, k) == 0:
            return CROWDED
    for i in range(k[COLLIDERS]):
        if i < k[BALLS] or i >= k[BALLS] + k[BOXES]:
            for j in range(k[PLANES]):
                if law_of(-1 - j, i, k) >= 0 and plane_is_near(e, i, j, z, k) == 1:
                    plane = at(z, k[Z_PLANE] + 4 * j)
                    if noted(BALL_PLANE, -1 - j, i, plane, 4, z, k) == 0:
                        return CROWDED
    return GOOD


@loop
def law_of(first: i64, second: i64, k: iptr) -> i64:
    """The law of a pair, by the classes of both; −1 where they pass through each other."""
    kinds = at(k, k[K_CLASS])
    one = kinds[first] if first >= 0 else kinds[k[COLLIDERS] - 1 - first]
    return int(k[k[K_LAWS] + k[CLASSES] * one + kinds[second]])


@loop
def come_near(first: i64, second: i64, z: ptr, k: iptr) -> i64:
    """Candidates of two colliders, the smaller number first; 0 where there is no room."""
    if second < k[BALLS]:
        return int(noted(BALL_BALL, first, second, at(z, k[Z_BALL] + 4 * first), 4, z, k))
    if first < k[BALLS]:
        solid = at(z, k[Z_SOLID] + SOLID * (second - k[BALLS]))
        return int(noted(BALL_BOX, second, first, solid, SOLID, z, k))
    return int(meet(first, second, z, k))


@loop
def noted(kind: i64, first: i64, second: i64, what: ptr, size: i64, z: ptr, k: iptr) -> i64:
    """One candidate of a ball or point with something else; 0 where there is no room."""
    c = added(kind, first, second, 0, k)
    if c < 0:
        return 0
    feature = at(z, k[Z_FEATURE] + FEATURE * c)
    for i in range(size):
        feature[i] = what[i]
    for i in range(4):
        feature[10 + i] = z[k[Z_BALL] + 4 * second + i]
    return 1


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
def swept_solid(i: i64, box: ptr, z: ptr, k: iptr) -> None:
    """The same around a box."""
    solid = at(z, k[Z_WORK] + 32)
    for end in range(2):
        box_at(i, at(z, k[Z_POSE] if end == 0 else k[Z_END]), solid, z, k)
        for j in range(3):
            wide = z[MARGIN]
            for a in range(3):
                wide += abs(solid[3 * j + a]) * solid[12 + a]
            low = solid[9 + j] - wide
            high = solid[9 + j] + wide
            box[j] = low if end == 0 else min(box[j], low)
            box[3 + j] = high if end == 0 else max(box[3 + j], high)


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
    entry = entry_at(e, KINDS + BALL_PLANE)
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
