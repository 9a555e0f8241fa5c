"""Free bodies of a scene: where they are midway and at the end of a step without contacts.

Velocities are (ω, velocity of the center of mass), in the axes of the ground.

Public names: free_bodies, move, moved_pose, rotation.

Source: HLW §IV.8 (steps on a group); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .layout import (
    BODIES,
    GX,
    Z_END,
    Z_FREE,
    Z_INERTIA,
    Z_INVERSE,
    Z_MID,
    Z_OUT,
    Z_POSE,
    Z_SPEED,
    H,
)


@loop
def free_bodies(z: ptr, k: iptr) -> None:
    """Poses midway, the inverse of the inertia there, free velocities, and poses they lead to."""
    h = z[H]
    for i in range(k[BODIES]):
        v = at(z, k[Z_SPEED] + 6 * i)
        free = at(z, k[Z_FREE] + 6 * i)
        pose = at(z, k[Z_POSE] + 7 * i)
        middle = at(z, k[Z_MID] + 7 * i)
        moved_pose(0.5 * h, pose, v, middle)
        turned_inertia(i, middle, z, k)
        spin(i, z, k)
        for j in range(3):
            free[3 + j] = v[3 + j] + h * z[GX + j]
    move(at(z, k[Z_FREE]), at(z, k[Z_END]), z, k)


@loop
def move(after: ptr, poses: ptr, z: ptr, k: iptr) -> None:
    """Poses after a step that ends with the velocities `after`: by their mean with those before."""
    mean = at(z, k[Z_OUT])
    for i in range(k[BODIES]):
        for j in range(6):
            mean[j] = 0.5 * (z[k[Z_SPEED] + 6 * i + j] + after[6 * i + j])
        moved_pose(z[H], at(z, k[Z_POSE] + 7 * i), mean, at(poses, 7 * i))


@loop
def moved_pose(h: f64, pose: ptr, v: ptr, out: ptr) -> None:
    """A pose after the time h at steady velocities: q := exp(h ω/2) q, of length 1."""
    rate = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    half = 0.5 * h * rate
    c = cos(half)
    s = 0.5 * h if half < 1e-9 else sin(half) / rate
    x = s * v[0]
    y = s * v[1]
    w = s * v[2]
    a = c * pose[3] - x * pose[4] - y * pose[5] - w * pose[6]
    b = c * pose[4] + x * pose[3] + y * pose[6] - w * pose[5]
    d = c * pose[5] + y * pose[3] + w * pose[4] - x * pose[6]
    e = c * pose[6] + w * pose[3] + x * pose[5] - y * pose[4]
    length = 1.0 / sqrt(a * a + b * b + d * d + e * e)
    out[3] = a * length
    out[4] = b * length
    out[5] = d * length
    out[6] = e * length
    for j in range(3):
        out[j] = pose[j] + h * v[3 + j]


@loop
def turned_inertia(i: i64, pose: ptr, z: ptr, k: iptr) -> None:
    """R I⁻¹ Rᵀ of a body into the block INVERSE; the block INERTIA holds I, then I⁻¹ of each."""
    R = at(z, k[Z_OUT])
    B = at(R, 9)
    own = at(z, k[Z_INERTIA] + 18 * i + 9)
    rotation(pose, R)
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += own[3 * a + c] * R[3 * b + c]
            B[3 * a + b] = total
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += R[3 * a + c] * B[3 * c + b]
            z[k[Z_INVERSE] + 9 * i + 3 * a + b] = total


@loop
def rotation(pose: ptr, R: ptr) -> None:
    """R of a unit quaternion (w, x, y, z)."""
    w = pose[3]
    x = pose[4]
    y = pose[5]
    t = pose[6]
    R[0] = 1.0 - 2.0 * (y * y + t * t)
    R[1] = 2.0 * (x * y - w * t)
    R[2] = 2.0 * (x * t + w * y)
    R[3] = 2.0 * (x * y + w * t)
    R[4] = 1.0 - 2.0 * (x * x + t * t)
    R[5] = 2.0 * (y * t - w * x)
    R[6] = 2.0 * (x * t - w * y)
    R[7] = 2.0 * (y * t + w * x)
    R[8] = 1.0 - 2.0 * (x * x + y * y)


@loop
def spin(i: i64, z: ptr, k: iptr) -> None:
    """ω after a step without moments: ω₁ = ω − h I⁻¹(ω̄ × I ω̄), ω̄ the mean of both, twice."""
    R = at(z, k[Z_OUT])
    own = at(z, k[Z_INERTIA] + 18 * i)
    inverse = at(z, k[Z_INVERSE] + 9 * i)
    v = at(z, k[Z_SPEED] + 6 * i)
    free = at(z, k[Z_FREE] + 6 * i)
    local = at(R, 9)
    turned = at(R, 12)
    moment = at(R, 15)
    for j in range(3):
        free[j] = v[j]
    for _ in range(3):
        for a in range(3):
            local[a] = 0.0
            for c in range(3):
                local[a] += R[3 * c + a] * 0.5 * (v[c] + free[c])
        for a in range(3):
            turned[a] = 0.0
            for c in range(3):
                turned[a] += own[3 * a + c] * local[c]
        for a in range(3):
            moment[a] = 0.0
            local[a] = 0.5 * (v[a] + free[a])
            for c in range(3):
                moment[a] += R[3 * a + c] * turned[c]
        x = local[1] * moment[2] - local[2] * moment[1]
        y = local[2] * moment[0] - local[0] * moment[2]
        t = local[0] * moment[1] - local[1] * moment[0]
        for a in range(3):
            change = inverse[3 * a] * x + inverse[3 * a + 1] * y + inverse[3 * a + 2] * t
            free[a] = v[a] - z[H] * change
