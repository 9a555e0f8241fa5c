"""Free bodies of a scene: where they are midway and at the end of a step without contacts.

Velocities are (ω, velocity of the center of mass), in the axes of the ground.

Public names: free_bodies, spin_again, move, moved_pose, rotation, copy_twists, copy_poses.

Source: HLW §IV.8 (steps on a group); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows

from .layout import Pose, Twist, World

AGAIN = 1e-6
"""Part of the spins by which gyroscopic moments may be off."""


@loop
def copy_twists(count: i64, source: Rows[Twist], target: Rows[Twist]) -> None:
    """Velocities of all bodies from one place to another."""
    for i in range(count):
        one = source[i]
        other = target[i]
        for j in range(3):
            other.spin[j] = one.spin[j]
            other.velocity[j] = one.velocity[j]


@loop
def copy_poses(count: i64, source: Rows[Pose], target: Rows[Pose]) -> None:
    """Poses of all bodies from one place to another."""
    for i in range(count):
        one = source[i]
        other = target[i]
        for j in range(3):
            other.place[j] = one.place[j]
        for j in range(4):
            other.turn[j] = one.turn[j]


@loop
def free_bodies(world: World) -> None:
    """Poses midway, the inverse of the inertia there, free velocities, and poses they lead to."""
    h = world.h
    for i in range(world.bodies):
        v = world.speed[i]
        free = world.free[i]
        moved_pose(0.5 * h, world.pose[i], v, world.mid[i])
        turned_inertia(i, world.mid[i], world)
        spin(i, world)
        for j in range(3):
            free.velocity[j] = v.velocity[j] + h * world.gravity[j]
    move(world.free, world.end, world)


@loop
def move(after: Rows[Twist], poses: Rows[Pose], world: World) -> None:
    """Poses after a step that ends with the velocities `after`: by their mean with those before."""
    mean = world.mean[0]
    for i in range(world.bodies):
        one = world.speed[i]
        other = after[i]
        for j in range(3):
            mean.spin[j] = 0.5 * (one.spin[j] + other.spin[j])
            mean.velocity[j] = 0.5 * (one.velocity[j] + other.velocity[j])
        moved_pose(world.h, world.pose[i], mean, poses[i])


@loop
def moved_pose(h: f64, pose: Pose, v: Twist, out: Pose) -> None:
    """A pose after the time h at steady velocities: q := exp(h ω/2) q, of length 1."""
    turn = pose.turn
    rate = sqrt(v.spin[0] * v.spin[0] + v.spin[1] * v.spin[1] + v.spin[2] * v.spin[2])
    half = 0.5 * h * rate
    c = cos(half)
    s = 0.5 * h if half < 1e-9 else sin(half) / rate
    x = s * v.spin[0]
    y = s * v.spin[1]
    w = s * v.spin[2]
    a = c * turn[0] - x * turn[1] - y * turn[2] - w * turn[3]
    b = c * turn[1] + x * turn[0] + y * turn[3] - w * turn[2]
    d = c * turn[2] + y * turn[0] + w * turn[1] - x * turn[3]
    e = c * turn[3] + w * turn[0] + x * turn[2] - y * turn[1]
    length = 1.0 / sqrt(a * a + b * b + d * d + e * e)
    out.turn[0] = a * length
    out.turn[1] = b * length
    out.turn[2] = d * length
    out.turn[3] = e * length
    for j in range(3):
        out.place[j] = pose.place[j] + h * v.velocity[j]


@loop
def turned_inertia(i: i64, pose: Pose, world: World) -> None:
    """R I⁻¹ Rᵀ of a body; R is left in its place."""
    R = world.R
    B = world.product
    body = world.body[i]
    rotation(pose.turn, flat(R))
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += body.inverse[a, c] * R[b, c]
            B[a, b] = total
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += R[a, c] * B[c, b]
            body.turned_inverse[a, b] = total


@loop
def rotation(turn: ptr, R: ptr) -> None:
    """R of a unit quaternion (w, x, y, z)."""
    w = turn[0]
    x = turn[1]
    y = turn[2]
    t = turn[3]
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
def spin(i: i64, world: World) -> None:
    """ω after a step without moments: ω₁ = ω − h I⁻¹(ω̄ × I ω̄), ω̄ the mean of both, twice.

    R of the body is at hand.
    """
    v = world.speed[i].spin
    free = world.free[i].spin
    for j in range(3):
        free[j] = v[j]
    for _ in range(3):
        spin_about(i, free, free, world)


@loop
def spin_about(i: i64, after: ptr, out: ptr, world: World) -> None:
    """ω₁ with the gyroscopic moment of the mean of ω and `after`; R of the body is at hand."""
    R = world.R
    body = world.body[i]
    inverse = body.turned_inverse
    v = world.speed[i].spin
    local = world.local
    turned = world.turned
    moment = world.moment
    for a in range(3):
        local[a] = 0.0
        for c in range(3):
            local[a] += R[c, a] * 0.5 * (v[c] + after[c])
    for a in range(3):
        turned[a] = 0.0
        for c in range(3):
            turned[a] += body.inertia[a, c] * local[c]
    for a in range(3):
        moment[a] = 0.0
        local[a] = 0.5 * (v[a] + after[a])
        for c in range(3):
            moment[a] += R[a, c] * turned[c]
    x = local[1] * moment[2] - local[2] * moment[1]
    y = local[2] * moment[0] - local[0] * moment[2]
    t = local[0] * moment[1] - local[1] * moment[0]
    for a in range(3):
        change = inverse[a, 0] * x + inverse[a, 1] * y + inverse[a, 2] * t
        out[a] = v[a] - world.h * change


@loop
def spin_again(world: World) -> i64:
    """Free spins with the gyroscopic moments of the velocities that impulses led to.

    1 if one changed by more than a small part of the spins: impulses are to be found again.
    """
    most = 0.0
    for i in range(world.bodies):
        before = world.speed[i].spin
        after = world.next[i].spin
        free = world.free[i].spin
        kicked = 0.0
        size = 0.0
        for a in range(3):
            kicked += abs(after[a] - free[a])
            size += abs(after[a]) + abs(before[a])
        if kicked > AGAIN * size:
            rotation(world.mid[i].turn, flat(world.R))
            spin_about(i, after, world.after, world)
            for a in range(3):
                if abs(world.after[a] - free[a]) > AGAIN * size:
                    most = 1.0
                free[a] = world.after[a]
    return 1 if most > 0.0 else 0
