"""One contact of the interior method: its two pairs of cones, scaled, linearized and stepped.

Coulomb's law with τ in place of 0 is smooth,

    f_n w = τ,   (μ f_n, f_t) ∘ (λ, u_t) = (τ, 0),   w = u_n                       (interior-1)

f_n and w positive, the others inside the cone |t| < n, ∘ the product of that cone's algebra. λ is
free and becomes |u_t|. After scaling by the point of Nesterov and Todd a change of the rates gives
one of the impulses, δf = c − G δu, G three by three.

Public names: PAIR, interior_size, scale_pair, aim, respond, room_of, products, cones_of, and the
slots of a contact.

Source: ACA ch. 13; NT98 §2 (scaling); MEH92 (second order).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .block_factors import BLOCK, factor_room

W, LAMBDA, RATE, ETA, POINT, SCALED = 0, 1, 2, 5, 6, 9
G, KAPPA, H, D, DN, CONSTANT, FIRST, DF, DW, DZ, MU = 12, 21, 23, 24, 27, 28, 31, 32, 35, 36, 39
PAIR = 40
"""Slots of a contact: w, λ, u (3), the scaling (η, and its point, 3), the scaled pair (3), G (9),
the slope of λ (2, 1), what complementarity asks for (3, 1), c (3), the first entry of it, then the
changes of f (3), w, and λ with u_t (3), and μ."""

TINY = 1e-300


def interior_size(n: int, contacts: int) -> int:
    """Doubles that the method works in: of contacts, of velocities, of the matrix."""
    return (PAIR + 3) * contacts + 18 * n + BLOCK + factor_room(n)


@loop
def scale_pair(f: ptr, q: ptr) -> None:
    """The scaling of a contact and its G."""
    for i in range(9):
        q[G + i] = 0.0
    q[G] = f[0] / q[W]
    if q[MU] > 0.0:
        scaling_point(f, q)
        along = 2.0 * q[POINT] * q[POINT] - 1.0
        size = 1.0 / (q[ETA] * q[ETA])
        q[H] = along * size
        length = sqrt(q[POINT + 1] * q[POINT + 1] + q[POINT + 2] * q[POINT + 2])
        x = q[POINT + 1] / length if length > 0.0 else 1.0
        y = q[POINT + 2] / length if length > 0.0 else 0.0
        for i in range(2):
            q[KAPPA + i] = -2.0 * q[POINT] * q[POINT + 1 + i] / along
            q[G + 3 + 3 * i] = q[MU] * q[KAPPA + i] * q[G]
        q[G + 4] = size * (y * y + x * x / along)
        q[G + 8] = size * (x * x + y * y / along)
        q[G + 5] = size * x * y * (1.0 / along - 1.0)
        q[G + 7] = q[G + 5]


@loop
def scaling_point(f: ptr, q: ptr) -> None:
    """η and w̄ with W f̂ = W⁻¹ẑ, and that vector."""
    n = q[MU] * f[0]
    ds = sqrt(inside(q[LAMBDA], q[RATE + 1], q[RATE + 2]))
    dy = sqrt(inside(n, f[1], f[2]))
    dot = q[LAMBDA] * n + q[RATE + 1] * f[1] + q[RATE + 2] * f[2]
    half = 2.0 * sqrt(0.5 * (1.0 + dot / (ds * dy)))
    q[POINT] = (q[LAMBDA] / ds + n / dy) / half
    q[POINT + 1] = (q[RATE + 1] / ds - f[1] / dy) / half
    q[POINT + 2] = (q[RATE + 2] / ds - f[2] / dy) / half
    q[ETA] = sqrt(ds / dy)
    forth(n, f[1], f[2], 1.0, q, at(q, SCALED))


@loop
def inside(n: f64, x: f64, y: f64) -> f64:
    """n² − x² − y², not below what is tiny."""
    t = sqrt(x * x + y * y)
    return max((n - t) * (n + t), TINY)


@loop
def forth(n: f64, x: f64, y: f64, sign: f64, q: ptr, out: ptr) -> None:
    """W (n, x, y), or W⁻¹ of it where the sign is −1."""
    a = q[POINT]
    b = sign * q[POINT + 1]
    c = sign * q[POINT + 2]
    size = q[ETA] if sign > 0.0 else 1.0 / q[ETA]
    t = b * x + c * y
    out[0] = size * (a * n + t)
    part = n + t / (1.0 + a)
    out[1] = size * (x + b * part)
    out[2] = size * (y + c * part)


@loop
def aim(f: ptr, q: ptr, tau: f64, second: f64) -> None:
    """What complementarity asks of a contact on the way to τ; with the product of its changes."""
    q[DN] = (tau - second * q[DF] * q[DW]) / q[W] - f[0]
    if q[MU] > 0.0:
        a = at(q, D)
        s = at(q, SCALED)
        if second == 0.0:
            divide(s, tau, 0.0, 0.0, a)
        else:
            # a holds one factor of the product, slots of c the other
            b = at(q, CONSTANT)
            forth(q[DZ], q[DZ + 1], q[DZ + 2], -1.0, q, a)
            forth(q[MU] * q[DF], q[DF + 1], q[DF + 2], 1.0, q, b)
            n = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
            x = a[0] * b[1] + b[0] * a[1]
            y = a[0] * b[2] + b[0] * a[2]
            divide(s, tau - n, -x, -y, a)
        for i in range(3):
            a[i] -= s[i]
    constant_part(q)


@loop
def divide(s: ptr, n: f64, x: f64, y: f64, out: ptr) -> None:
    """The vector whose product with s is (n, x, y)."""
    first = (s[0] * n - s[1] * x - s[2] * y) / inside(s[0], s[1], s[2])
    out[0] = first
    out[1] = (x - first * s[1]) / s[0]
    out[2] = (y - first * s[2]) / s[0]


@loop
def constant_part(q: ptr) -> None:
    """c of δf = c − G δu."""
    q[CONSTANT] = q[DN] + q[G] * (q[W] - q[RATE])
    q[CONSTANT + 1] = 0.0
    q[CONSTANT + 2] = 0.0
    if q[MU] > 0.0:
        normal = q[CONSTANT]
        forth(q[D], q[D + 1], q[D + 2], -1.0, q, at(q, CONSTANT))
        q[FIRST] = q[CONSTANT]
        q[CONSTANT] = normal
        for i in range(2):
            q[CONSTANT + 1 + i] += q[KAPPA + i] * (q[MU] * normal - q[FIRST])


@loop
def respond(n: f64, x: f64, y: f64, q: ptr) -> None:
    """The changes of a contact with the change (n, x, y) of its rates."""
    for i in range(3):
        row = at(q, G + 3 * i)
        q[DF + i] = q[CONSTANT + i] - row[0] * n - row[1] * x - row[2] * y
    q[DW] = n - (q[W] - q[RATE])
    if q[MU] > 0.0:
        q[DZ] = (q[FIRST] - q[MU] * q[DF]) / q[H] - q[KAPPA] * x - q[KAPPA + 1] * y
        q[DZ + 1] = x
        q[DZ + 2] = y


@loop
def room_of(f: ptr, q: ptr) -> f64:
    """How far a contact may go along its changes."""
    far = 1e30
    if q[DW] < 0.0:
        far = -q[W] / q[DW]
    if q[DF] < 0.0:
        far = min(far, -f[0] / q[DF])
    if q[MU] > 0.0:
        m = q[MU]
        far = min(far, cone_room(m * f[0], f[1], f[2], m * q[DF], q[DF + 1], q[DF + 2]))
        u = at(q, RATE)
        far = min(far, cone_room(q[LAMBDA], u[1], u[2], q[DZ], q[DZ + 1], q[DZ + 2]))
    return far


@loop
def cone_room(n: f64, x: f64, y: f64, dn: f64, dx: f64, dy: f64) -> f64:
    """The least s > 0 at which (n, x, y) + s (dn, dx, dy) leaves the cone."""
    t = sqrt(dx * dx + dy * dy)
    a = (dn - t) * (dn + t)
    b = n * dn - x * dx - y * dy
    c = inside(n, x, y)
    root = b * b - a * c
    if root < 0.0:
        return 1e30
    root = sqrt(root)
    if b < 0.0:
        return c / (root - b)
    return -(b + root) / a if a < 0.0 else 1e30


@loop
def products(s: f64, f: ptr, q: ptr) -> f64:
    """f_n w + f̂·ẑ after the part s of the changes."""
    total = (f[0] + s * q[DF]) * (q[W] + s * q[DW])
    if q[MU] > 0.0:
        total += q[MU] * (f[0] + s * q[DF]) * (q[LAMBDA] + s * q[DZ])
        for i in range(1, 3):
            total += (f[i] + s * q[DF + i]) * (q[RATE + i] + s * q[DZ + i])
    return float(total)


@loop
def cones_of(q: ptr) -> i64:
    """Pairs of cones of a contact."""
    return 2 if q[MU] > 0.0 else 1
