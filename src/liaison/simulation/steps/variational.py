"""RATTLE: steps of a discrete Lagrangian, symmetric and symplectic, for long conservative runs.

A step over h finds ξ with q₁ = q ⊞ ξ, and two impulses of the closures, from

    p₀ + h/2 F(q, ξ/h) + G(q)ᵀ a = back(q, ξ),           Φ(q₁, t₁) = 0           (variational-1)
    M(q₁) v₁ = ahead(q, ξ) + h/2 F(q₁, v) + G(q₁)ᵀ b,    G(q₁) v₁ = ν(q₁, t₁)    (variational-2)

with p₀ = M v and the terms of (discrete-2), (discrete-3). A closure of velocities, which has no Φ,
is met on the mean of both ends of the step,

    (G(q) ξ/h − ν)/2 + (G(q₁) v_ξ − ν₁)/2 = 0,                                    (variational-3)

v_ξ being the velocity ξ/h told at q₁: the discrete principle of Lagrange and d'Alembert, symmetric
though no longer symplectic, as the motion itself is not. The first equations by Newton's method,
with slopes taken once a step, until rounding alone is left; the second pair is linear. So positions
and velocities are on their closures at every step, and nothing is projected. Several steps, some of
them back in time, compose one of higher order that keeps what each of them keeps.

Public names: variational_step, composed_step, note_stages.

Source: HLW §VII.1.4 (RATTLE), §VI.6.2, §II.4 (composition); MW01 part 3 (forces and constraints);
CM01 (closures of velocities).
Differs: on the group of each joint, and for mass matrices that depend on positions.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr
from liaison.solvers.linear.dense import largest, saddle
from liaison.solvers.linear.pivoting import (
    ROUNDS,
    factorize_completely,
    is_found,
    scale_evenly,
    solve_completely,
)

from .explicit import derivative, refresh
from .layout import (
    DETAIL,
    E_DIFFERENCE,
    E_KICK,
    E_LEAP,
    E_LEAP_SLOPES,
    E_REACH,
    E_RETRACT,
    E_TERMS,
    EVALUATIONS,
    GOOD,
    NC,
    NOT_CONVERGED,
    NOT_FINITE,
    NPHI,
    NQ,
    NV,
    O_K,
    O_KEPT,
    O_NEWTON,
    O_P,
    O_PARTS,
    O_Q,
    O_STAGE,
    O_TQ,
    O_U,
    O_V,
    O_Y,
    PARTS_OF_STEP,
    T_NEW,
    H,
    T,
)


@loop
def variational_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The state at the end of the step of size w[H] into the block Y; GOOD, or why not.

    The block NEWTON holds K and its scales, unknowns and right-hand side, G, p and ν at the
    beginning, and what entries give.
    """
    nv = n[NV]
    m = nv + n[NC]
    K = at(w, n[O_NEWTON])
    scale = at(K, m * m + 2 * m)
    z = at(scale, m)
    G = at(z, 2 * m)
    p0 = at(G, n[NC] * nv)
    area = at(p0, nv + n[NC])
    begin_step(e, w, n, scratch, z, G, p0, area)
    matrix(e, w, n, scratch, K, scale, z, G, area)
    rank = factorize_completely(m, K, at(K, m * m))
    status = find(e, w, n, scratch, rank, K, scale, z, G, p0, area)
    if status == GOOD:
        status = arrive_with(e, w, n, scratch, z, area)
    if status == GOOD:
        note_stages(w, n)
    return status


@loop
def begin_step(e: iptr, w: ptr, n: iptr, scratch: ptr, z: ptr, G: ptr, p0: ptr, area: ptr) -> None:
    """G, p and ν at the beginning, and a first guess: ξ = h v, no impulse."""
    terms = entry_at(e, E_TERMS)
    kick = entry_at(e, E_KICK)
    nv = n[NV]
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    u = at(w, n[O_U])
    refresh(e, w[T], q, v, w, n, scratch)
    if n[NC] > 0:
        terms(w[T], q, v, u, at(w, n[O_P]), q, area, scratch)
        for i in range(n[NC] * nv):
            G[i] = area[nv * nv + i]
        for k in range(n[NC]):
            p0[nv + k] = area[nv * nv + n[NC] * nv + nv + n[NC] + n[NPHI] + k]
    kick(w[T], q, v, u, at(w, n[O_P]), q, area, scratch)
    for i in range(nv):
        p0[i] = area[nv + i]
        z[i] = w[H] * v[i]
    for k in range(n[NC]):
        z[nv + k] = 0.0


@loop
def matrix(
    e: iptr, w: ptr, n: iptr, scratch: ptr, K: ptr, scale: ptr, z: ptr, G: ptr, area: ptr
) -> None:
    """The slopes of (variational-1) at the guess, rows and columns scaled to about 1."""
    slopes = entry_at(e, E_LEAP_SLOPES)
    nv = n[NV]
    nphi = n[NPHI]
    m = nv + n[NC]
    h = w[H]
    q = at(w, n[O_Q])
    slopes(w[T], q, at(w, n[O_V]), at(w, n[O_U]), at(w, n[O_P]), z, area, scratch)
    for i in range(nv):
        for j in range(nv):
            k = i * nv + j
            by_v = area[nv * nv + k] / h - 0.5 * area[2 * nv * nv + k]
            K[i * m + j] = area[k] + by_v
    if nphi > 0:
        reach = entry_at(e, E_REACH)
        reach(w[T_NEW], q, q, at(w, n[O_U]), at(w, n[O_P]), z, area, scratch)
    for k in range(n[NC]):
        for j in range(nv):
            K[(nv + k) * m + j] = area[nphi + k * nv + j] if k < nphi else G[k * nv + j]
            K[j * m + nv + k] = -G[k * nv + j]
        for j in range(n[NC]):
            K[(nv + k) * m + nv + j] = 0.0
    scale_evenly(nv, m, K, scale)


@loop
def find(
    e: iptr, w: ptr, n: iptr, scratch: ptr, rank: i64, K: ptr, scale: ptr, z: ptr, G: ptr, p0: ptr,
    area: ptr,
) -> i64:  # fmt: skip
    """Corrections of ξ and the impulses until rounding alone is left."""
    nv = n[NV]
    m = nv + n[NC]
    right = at(z, m)
    before = 0.0
    for turn in range(ROUNDS):
        missed(e, w, n, scratch, z, right, G, p0, area)
        for i in range(m):
            right[i] = right[i] * scale[i]
        solve_completely(m, rank, K, at(K, m * m), right)
        whole = 0.0
        for i in range(m):
            right[i] = right[i] * scale[i]
            z[i] += right[i]
        for i in range(nv):
            whole = max(whole, abs(z[i]))
        size = largest(nv, right)
        verdict = is_found(turn, size, before, whole, 1.0 + largest(n[NQ], at(w, n[O_Q])))
        if verdict != 0:
            return GOOD if verdict > 0 else NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def missed(
    e: iptr, w: ptr, n: iptr, scratch: ptr, z: ptr, right: ptr, G: ptr, p0: ptr, area: ptr
) -> None:
    """What (variational-1) and (variational-3) miss at z = (ξ, a), with their sign turned."""
    leap = entry_at(e, E_LEAP)
    kick = entry_at(e, E_KICK)
    nv = n[NV]
    nphi = n[NPHI]
    q = at(w, n[O_Q])
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    v = at(area, 3 * nv)
    for i in range(nv):
        v[i] = z[i] / w[H]
    leap(w[T], q, v, u, p, z, area, scratch)
    for i in range(nv):
        right[i] = p0[i] - area[i]
        for k in range(n[NC]):
            right[i] += G[k * nv + i] * z[nv + k]
    if n[NC] > nphi:
        slipped(e, w, n, scratch, z, right, G, at(p0, nv), area)
    refresh(e, w[T], q, v, w, n, scratch)
    kick(w[T], q, v, u, p, q, area, scratch)
    n[EVALUATIONS] += 1
    for i in range(nv):
        right[i] += 0.5 * w[H] * area[i]
    if nphi > 0:
        reach = entry_at(e, E_REACH)
        reach(w[T_NEW], q, v, u, p, z, area, scratch)
        for k in range(nphi):
            right[nv + k] = -area[k]


@loop
def slipped(
    e: iptr, w: ptr, n: iptr, scratch: ptr, z: ptr, right: ptr, G: ptr, nu: ptr, area: ptr
) -> None:
    """What (variational-3) misses, times h, with its sign turned; v_ξ is what `leap` gave."""
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    nc = n[NC]
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    q = at(w, n[O_TQ])
    last = at(area, 2 * nv)
    there = at(area, 4 * nv)
    retract(w[T_NEW], at(w, n[O_Q]), last, u, p, z, q, scratch)
    terms(w[T_NEW], q, last, u, p, q, there, scratch)
    G_new = at(there, nv * nv)
    nu_new = at(G_new, nc * nv + nv + nc + n[NPHI])
    for k in range(n[NPHI], nc):
        mean = -0.5 * w[H] * (nu[k] + nu_new[k])
        for j in range(nv):
            mean += 0.5 * (G[k * nv + j] * z[j] + w[H] * G_new[k * nv + j] * last[j])
        right[nv + k] = -mean


@loop
def arrive_with(e: iptr, w: ptr, n: iptr, scratch: ptr, z: ptr, area: ptr) -> i64:
    """ξ and v₁ of (variational-2) into the block Y."""
    leap = entry_at(e, E_LEAP)
    kick = entry_at(e, E_KICK)
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    nc = n[NC]
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    y = at(w, n[O_Y])
    q = at(w, n[O_TQ])
    f = at(area, 3 * nv)
    v = at(f, 2 * nv)
    for i in range(nv):
        y[i] = z[i]
        v[i] = z[i] / w[H]
    retract(w[T_NEW], at(w, n[O_Q]), v, u, p, z, q, scratch)
    leap(w[T], at(w, n[O_Q]), v, u, p, z, area, scratch)
    for i in range(nv):
        v[i] = area[2 * nv + i]
    refresh(e, w[T_NEW], q, v, w, n, scratch)
    kick(w[T_NEW], q, v, u, p, q, f, scratch)
    for i in range(nv):
        f[i] = area[nv + i] + 0.5 * w[H] * f[i]
    M = at(v, nv)
    terms(w[T_NEW], q, v, u, p, q, M, scratch)
    G = at(M, nv * nv)
    nu = at(G, nc * nv + nv + nc + n[NPHI])
    lam = at(nu, nc)
    bad = saddle(nv, nc, M, G, f, nu, at(y, nv), lam, at(n, DETAIL), at(lam, nc))
    for i in range(2 * nv):
        bad += y[i] - y[i]
    return GOOD if bad >= 0.0 else NOT_FINITE


@loop
def note_stages(w: ptr, n: iptr) -> None:
    """Slopes at the beginning, over the whole and at the end of the step, for interpolation."""
    nv = n[NV]
    v = at(w, n[O_V])
    y = at(w, n[O_Y])
    for i in range(nv):
        change = (y[nv + i] - v[i]) / w[H]
        for s in range(3):
            w[n[O_K] + s * (2 * nv + 1) + nv + i] = change
        w[n[O_K] + i] = v[i]
        w[n[O_K] + 2 * nv + 1 + i] = y[i] / w[H]
        w[n[O_K] + 2 * (2 * nv + 1) + i] = y[nv + i]


@loop
def composed_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """A step in parts, from the state on; what they did together goes into the block Y."""
    nv = n[NV]
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    start = at(w, n[O_KEPT])
    exchange_state(w, n, 0)
    t = w[T]
    end = w[T_NEW]
    h = w[H]
    status = GOOD
    for part in range(n[PARTS_OF_STEP]):
        if status == GOOD:
            w[H] = h * w[n[O_PARTS] + part]
            w[T_NEW] = w[T] + w[H]
            status = variational_step(e, w, n, scratch)
            take_part(e, w, n, scratch)
    difference = entry_at(e, E_DIFFERENCE)
    y = at(w, n[O_Y])
    difference(end, start, v, at(w, n[O_U]), at(w, n[O_P]), q, y, scratch)
    for i in range(nv):
        y[nv + i] = v[i]
    exchange_state(w, n, 1)
    w[T] = t
    w[T_NEW] = end
    w[H] = h
    if status == GOOD:
        status = note_ends(e, w, n, scratch)
    return status


@loop
def exchange_state(w: ptr, n: iptr, back: i64) -> None:
    """The state into the block KEPT, or out of it."""
    kept = at(w, n[O_KEPT])
    for i in range(n[NQ]):
        if back == 0:
            kept[i] = w[n[O_Q] + i]
        else:
            w[n[O_Q] + i] = kept[i]
    for i in range(n[NV]):
        if back == 0:
            kept[n[NQ] + i] = w[n[O_V] + i]
        else:
            w[n[O_V] + i] = kept[n[NQ] + i]


@loop
def take_part(e: iptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """The end of a part becomes the state."""
    retract = entry_at(e, E_RETRACT)
    y = at(w, n[O_Y])
    q = at(w, n[O_Q])
    moved = at(w, n[O_TQ])
    retract(w[T_NEW], q, at(y, n[NV]), at(w, n[O_U]), at(w, n[O_P]), y, moved, scratch)
    for i in range(n[NQ]):
        q[i] = moved[i]
    for i in range(n[NV]):
        w[n[O_V] + i] = y[n[NV] + i]
    w[T] = w[T_NEW]


@loop
def note_ends(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Slopes for interpolation, with the accelerations at both ends."""
    nv = n[NV]
    note_stages(w, n)
    y = at(w, n[O_STAGE])
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = w[n[O_V] + i]
    status = derivative(e, w[T], y, at(w, n[O_K]), w, n, scratch)
    if status != GOOD:
        return status
    last = at(w, n[O_K] + 2 * (2 * nv + 1))
    return derivative(e, w[T_NEW], at(w, n[O_Y]), last, w, n, scratch)
