"""Contacts of a scene: gaps and rows of candidates by one kernel for each class of pair.

Public names: gap_of, activate, contacts_at, push_of.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr

from .candidates import law_of
from .layout import (
    CANDIDATES,
    COUNT,
    FEATURE,
    K_ACTIVE,
    K_CONTACT,
    K_KIND,
    K_NEXT,
    K_OWNER,
    K_PAIRS,
    KINDS,
    LAW,
    ROWS,
    Z_FEATURE,
    Z_INVERSE,
    Z_LAW,
    Z_LAWS,
    Z_MASS,
    Z_OUT,
    Z_PUSH,
    Z_ROWS,
    Z_SCALE,
)


@loop
def gap_of(e: iptr, c: i64, poses: ptr, z: ptr, k: iptr) -> f64:
    """The gap of a candidate, bodies being at `poses`."""
    out = at(z, k[Z_OUT])
    asked(entry_number(c, KINDS, k), e, c, poses, out, z, k)
    return float(out[0])


@loop
def entry_number(c: i64, first: i64, k: iptr) -> i64:
    """The entry of the kernel of pairs for a candidate: rows, or from `KINDS` on the gap alone."""
    return int(first + k[k[K_KIND] + c])


@loop
def asked(number: i64, e: iptr, c: i64, poses: ptr, out: ptr, z: ptr, k: iptr) -> None:
    """What an entry of the kernel says of a candidate."""
    entry = entry_at(e, number)
    first = k[k[K_PAIRS] + 2 * c]
    pose = at(poses, 7 * k[k[K_OWNER] + k[k[K_PAIRS] + 2 * c + 1]])
    feature = at(z, k[Z_FEATURE] + FEATURE * c)
    if first < 0:
        entry(0.0, pose, pose, at(feature, 10), feature, feature, out, out)
    else:
        far = at(poses, 7 * k[k[K_OWNER] + first])
        entry(0.0, far, pose, at(feature, 10), feature, feature, out, out)


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
            asked(entry_number(c, 0, k), e, c, poses, at(z, k[Z_ROWS] + ROWS * count), z, k)
            k[k[K_CONTACT] + 2 * count] = k[k[K_OWNER] + first] if first >= 0 else -1
            k[k[K_CONTACT] + 2 * count + 1] = k[k[K_OWNER] + second]
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
