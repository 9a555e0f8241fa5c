"""One contact of the interior method: its two pairs of cones, scaled, linearized and stepped.

Coulomb's law with τ in place of 0 is smooth,

    f_n w = τ,   (μ f_n, f_t) ∘ (λ, u_t) = (τ, 0),   w = u_n                       (interior-1)

f_n and w positive, the others inside the cone |t| < n, ∘ the product of that cone's algebra. λ is
free and becomes |u_t|. After scaling by the point of Nesterov and Todd a change of the rates gives
one of the impulses, δf = c − G δu, G three by three.

Public names: scale_pair, aim, respond, room_of, products, cones_of.

Source: ACA ch. 13; NT98 §2 (scaling); MEH92 (second order).
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import ConePair
from liaison.program.loops.language import f64, i64, loop, ptr

TINY = 1e-300


@loop
def scale_pair(f: ptr, q: ConePair) -> None:
    """The scaling of a contact and its G."""
    for i in range(3):
        for j in range(3):
            q.g[i, j] = 0.0
    q.g[0, 0] = f[0] / q.w
    if q.mu > 0.0:
        scaling_point(f, q)
        along = 2.0 * q.point[0] * q.point[0] - 1.0
        size = 1.0 / (q.eta * q.eta)
        q.h = along * size
        length = sqrt(q.point[1] * q.point[1] + q.point[2] * q.point[2])
        x = q.point[1] / length if length > 0.0 else 1.0
        y = q.point[2] / length if length > 0.0 else 0.0
        for i in range(2):
            q.kappa[i] = -2.0 * q.point[0] * q.point[1 + i] / along
            q.g[1 + i, 0] = q.mu * q.kappa[i] * q.g[0, 0]
        q.g[1, 1] = size * (y * y + x * x / along)
        q.g[2, 2] = size * (x * x + y * y / along)
        q.g[1, 2] = size * x * y * (1.0 / along - 1.0)
        q.g[2, 1] = q.g[1, 2]


@loop
def scaling_point(f: ptr, q: ConePair) -> None:
    """η and w̄ with W f̂ = W⁻¹ẑ, and that vector."""
    n = q.mu * f[0]
    ds = sqrt(inside(q.slack, q.rate[1], q.rate[2]))
    dy = sqrt(inside(n, f[1], f[2]))
    dot = q.slack * n + q.rate[1] * f[1] + q.rate[2] * f[2]
    half = 2.0 * sqrt(0.5 * (1.0 + dot / (ds * dy)))
    q.point[0] = (q.slack / ds + n / dy) / half
    q.point[1] = (q.rate[1] / ds - f[1] / dy) / half
    q.point[2] = (q.rate[2] / ds - f[2] / dy) / half
    q.eta = sqrt(ds / dy)
    forth(n, f[1], f[2], 1.0, q, q.scaled)


@loop
def inside(n: f64, x: f64, y: f64) -> f64:
    """n² − x² − y², not below what is tiny."""
    t = sqrt(x * x + y * y)
    return max((n - t) * (n + t), TINY)


@loop
def forth(n: f64, x: f64, y: f64, sign: f64, q: ConePair, out: ptr) -> None:
    """W (n, x, y), or W⁻¹ of it where the sign is −1."""
    a = q.point[0]
    b = sign * q.point[1]
    c = sign * q.point[2]
    size = q.eta if sign > 0.0 else 1.0 / q.eta
    t = b * x + c * y
    out[0] = size * (a * n + t)
    part = n + t / (1.0 + a)
    out[1] = size * (x + b * part)
    out[2] = size * (y + c * part)


@loop
def aim(f: ptr, q: ConePair, tau: f64, second: f64) -> None:
    """What complementarity asks of a contact on the way to τ; with the product of its changes."""
    q.dn = (tau - second * q.df[0] * q.dw) / q.w - f[0]
    if q.mu > 0.0:
        a = q.d
        s = q.scaled
        if second == 0.0:
            divide(s, tau, 0.0, 0.0, a)
        else:
            # a holds one factor of the product, c the other
            b = q.constant
            forth(q.dz[0], q.dz[1], q.dz[2], -1.0, q, a)
            forth(q.mu * q.df[0], q.df[1], q.df[2], 1.0, q, b)
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
def constant_part(q: ConePair) -> None:
    """c of δf = c − G δu."""
    q.constant[0] = q.dn + q.g[0, 0] * (q.w - q.rate[0])
    q.constant[1] = 0.0
    q.constant[2] = 0.0
    if q.mu > 0.0:
        normal = q.constant[0]
        forth(q.d[0], q.d[1], q.d[2], -1.0, q, q.constant)
        q.first = q.constant[0]
        q.constant[0] = normal
        for i in range(2):
            q.constant[1 + i] += q.kappa[i] * (q.mu * normal - q.first)


@loop
def respond(n: f64, x: f64, y: f64, q: ConePair) -> None:
    """The changes of a contact with the change (n, x, y) of its rates."""
    for i in range(3):
        row = q.g[i]
        q.df[i] = q.constant[i] - row[0] * n - row[1] * x - row[2] * y
    q.dw = n - (q.w - q.rate[0])
    if q.mu > 0.0:
        q.dz[0] = (q.first - q.mu * q.df[0]) / q.h - q.kappa[0] * x - q.kappa[1] * y
        q.dz[1] = x
        q.dz[2] = y


@loop
def room_of(f: ptr, q: ConePair) -> f64:
    """How far a contact may go along its changes."""
    far = 1e30
    if q.dw < 0.0:
        far = -q.w / q.dw
    if q.df[0] < 0.0:
        far = min(far, -f[0] / q.df[0])
    if q.mu > 0.0:
        m = q.mu
        far = min(far, cone_room(m * f[0], f[1], f[2], m * q.df[0], q.df[1], q.df[2]))
        u = q.rate
        far = min(far, cone_room(q.slack, u[1], u[2], q.dz[0], q.dz[1], q.dz[2]))
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
def products(s: f64, f: ptr, q: ConePair) -> f64:
    """f_n w + f̂·ẑ after the part s of the changes."""
    total = (f[0] + s * q.df[0]) * (q.w + s * q.dw)
    if q.mu > 0.0:
        total += q.mu * (f[0] + s * q.df[0]) * (q.slack + s * q.dz[0])
        for i in range(1, 3):
            total += (f[i] + s * q.df[i]) * (q.rate[i] + s * q.dz[i])
    return float(total)


@loop
def cones_of(q: ConePair) -> i64:
    """Pairs of cones of a contact."""
    return 2 if q.mu > 0.0 else 1
