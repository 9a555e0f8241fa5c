"""RATTLE: steps of a discrete Lagrangian, symmetric and symplectic, for long conservative runs.

A step over h finds ξ with q₁ = q ⊞ ξ, and two impulses of the closures, from

    p₀ + h/2 F(q, ξ/h) + G(q)ᵀ a = back(q, ξ),           Φ(q₁, t₁) = 0           (variational-1)
    M(q₁) v₁ = ahead(q, ξ) + h/2 F(q₁, v) + G(q₁)ᵀ b,    G(q₁) v₁ = ν(q₁, t₁)    (variational-2)

with p₀ = M v and the terms of (discrete-2), (discrete-3). A closure of velocities, which has no Φ,
is met on the mean of both ends of the step,

    (G(q) ξ/h − ν)/2 + (G(q₁) v_ξ − ν₁)/2 = 0,                                    (variational-3)

v_ξ being the velocity ξ/h expressed at q₁: the discrete principle of Lagrange and d'Alembert,
symmetric though no longer symplectic, as the motion itself is not. The first equations by Newton's
method, with slopes taken once a step, until rounding alone is left; the second pair is linear. So
positions and velocities are on their closures at every step, and nothing is projected. Several
steps, some of them back in time, compose one of higher order that keeps what each of them keeps.

Public names: VARIATIONAL, variational_step, composed_step, note_stages.

Source: HLW §VII.1.4 (RATTLE), §VI.6.2, §II.4 (composition); MW01 part 3 (forces and constraints);
CM01 (closures of velocities).
Differs: on the group of each joint, and for mass matrices that depend on positions.
"""

from __future__ import annotations

from types import MappingProxyType

from liaison.program.loops.language import at, flat, i64, loop, ptr
from liaison.program.loops.records import words_of
from liaison.solvers.linear.dense import largest, saddle
from liaison.solvers.linear.pivoting import (
    ROUNDS,
    factorize_completely,
    is_converged,
    scale_evenly,
    solve_completely,
)

from .advance import SMOOTH, set_step
from .explicit import derivative, refresh
from .layout import GOOD, LAND, NOT_CONVERGED, NOT_FINITE, TRY, Entries, Run, Terms


@loop
def variational_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state at the end of the step of size `run.h` into `run.y`; GOOD, or why not.

    `run.newton` holds K and its scales, unknowns and right-hand side, G, p and ν at the
    beginning, and what entries give.
    """
    nv = run.nv
    m = nv + run.nc
    K = run.newton
    scale = at(K, m * m + 2 * m)
    z = at(scale, m)
    G = at(z, 2 * m)
    p0 = at(G, run.nc * nv)
    area = at(p0, nv + run.nc)
    begin_step(e, run, scratch, z, G, p0, area)
    matrix(e, run, scratch, K, scale, z, G, area)
    rank = factorize_completely(m, K, at(K, m * m))
    status = find(e, run, scratch, rank, K, scale, z, G, p0, area)
    if status == GOOD:
        status = arrive_with(e, run, scratch, z, area)
    if status == GOOD:
        note_stages(run)
    return status


@loop
def begin_step(e: Entries, run: Run, scratch: ptr, z: ptr, G: ptr, p0: ptr, area: ptr) -> None:
    """G, p and ν at the beginning, and a first guess: ξ = h v, no impulse."""
    nv = run.nv
    q = run.q
    v = run.v
    u = run.u
    refresh(e, run.t, q, v, run, scratch)
    if run.nc > 0:
        e.terms(run.t, q, v, u, run.p, q, area, scratch)
        terms = Terms(area, run)
        for k in range(run.nc):
            p0[nv + k] = terms.nu[k]
            for i in range(nv):
                G[k * nv + i] = terms.G[k, i]
    e.kick(run.t, q, v, u, run.p, q, area, scratch)
    for i in range(nv):
        p0[i] = area[nv + i]
        z[i] = run.h * v[i]
    for k in range(run.nc):
        z[nv + k] = 0.0


@loop
def matrix(
    e: Entries, run: Run, scratch: ptr, K: ptr, scale: ptr, z: ptr, G: ptr, area: ptr
) -> None:
    """The slopes of (variational-1) at the guess, rows and columns scaled to about 1."""
    nv = run.nv
    nphi = run.nphi
    m = nv + run.nc
    h = run.h
    q = run.q
    e.d_leap(run.t, q, run.v, run.u, run.p, z, area, scratch)
    for i in range(nv):
        for j in range(nv):
            k = i * nv + j
            by_v = area[nv * nv + k] / h - 0.5 * area[2 * nv * nv + k]
            K[i * m + j] = area[k] + by_v
    if nphi > 0:
        e.reach(run.t_new, q, q, run.u, run.p, z, area, scratch)
    for k in range(run.nc):
        for j in range(nv):
            K[(nv + k) * m + j] = area[nphi + k * nv + j] if k < nphi else G[k * nv + j]
            K[j * m + nv + k] = -G[k * nv + j]
        for j in range(run.nc):
            K[(nv + k) * m + nv + j] = 0.0
    scale_evenly(nv, m, K, scale)


@loop
def find(
    e: Entries, run: Run, scratch: ptr, rank: i64, K: ptr, scale: ptr, z: ptr, G: ptr, p0: ptr,
    area: ptr,
) -> i64:  # fmt: skip
    """Corrections of ξ and the impulses until rounding alone is left."""
    nv = run.nv
    m = nv + run.nc
    right = at(z, m)
    before = 0.0
    for turn in range(ROUNDS):
        missed(e, run, scratch, z, right, G, p0, area)
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
        verdict = is_converged(turn, size, before, whole, 1.0 + largest(run.nq, run.q))
        if verdict != 0:
            return GOOD if verdict > 0 else NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def missed(
    e: Entries, run: Run, scratch: ptr, z: ptr, right: ptr, G: ptr, p0: ptr, area: ptr
) -> None:
    """What (variational-1) and (variational-3) miss at z = (ξ, a), with their sign turned."""
    nv = run.nv
    nphi = run.nphi
    q = run.q
    u = run.u
    p = run.p
    v = at(area, 3 * nv)
    for i in range(nv):
        v[i] = z[i] / run.h
    e.leap(run.t, q, v, u, p, z, area, scratch)
    for i in range(nv):
        right[i] = p0[i] - area[i]
        for k in range(run.nc):
            right[i] += G[k * nv + i] * z[nv + k]
    if run.nc > nphi:
        slipped(e, run, scratch, z, right, G, at(p0, nv), area)
    refresh(e, run.t, q, v, run, scratch)
    e.kick(run.t, q, v, u, p, q, area, scratch)
    run.evaluations += 1
    for i in range(nv):
        right[i] += 0.5 * run.h * area[i]
    if nphi > 0:
        e.reach(run.t_new, q, v, u, p, z, area, scratch)
        for k in range(nphi):
            right[nv + k] = -area[k]


@loop
def slipped(
    e: Entries, run: Run, scratch: ptr, z: ptr, right: ptr, G: ptr, nu: ptr, area: ptr
) -> None:
    """What (variational-3) misses, times h, with its sign turned; v_ξ is what `leap` gave."""
    nv = run.nv
    nc = run.nc
    u = run.u
    p = run.p
    q = run.trial.q
    last = at(area, 2 * nv)
    there = Terms(at(area, 4 * nv), run)
    e.retract(run.t_new, run.q, last, u, p, z, q, scratch)
    e.terms(run.t_new, q, last, u, p, q, there.floats, scratch)
    for k in range(run.nphi, nc):
        mean = -0.5 * run.h * (nu[k] + there.nu[k])
        for j in range(nv):
            mean += 0.5 * (G[k * nv + j] * z[j] + run.h * there.G[k, j] * last[j])
        right[nv + k] = -mean


@loop
def arrive_with(e: Entries, run: Run, scratch: ptr, z: ptr, area: ptr) -> i64:
    """ξ and v₁ of (variational-2) into `run.y`."""
    nv = run.nv
    nc = run.nc
    u = run.u
    p = run.p
    y = run.y
    q = run.trial.q
    f = at(area, 3 * nv)
    v = at(f, 2 * nv)
    for i in range(nv):
        y[i] = z[i]
        v[i] = z[i] / run.h
    e.retract(run.t_new, run.q, v, u, p, z, q, scratch)
    e.leap(run.t, run.q, v, u, p, z, area, scratch)
    for i in range(nv):
        v[i] = area[2 * nv + i]
    refresh(e, run.t_new, q, v, run, scratch)
    e.kick(run.t_new, q, v, u, p, q, f, scratch)
    for i in range(nv):
        f[i] = area[nv + i] + 0.5 * run.h * f[i]
    terms = Terms(at(v, nv), run)
    e.terms(run.t_new, q, v, u, p, q, terms.floats, scratch)
    lam = at(v, nv + words_of(Terms, run))
    M = flat(terms.M)
    G = flat(terms.G)
    bad = saddle(nv, nc, M, G, f, terms.nu, at(y, nv), lam, run.detail, at(lam, nc))
    for i in range(2 * nv):
        bad += y[i] - y[i]
    return GOOD if bad >= 0.0 else NOT_FINITE


@loop
def note_stages(run: Run) -> None:
    """Slopes at the beginning, over the whole and at the end of the step, for interpolation."""
    nv = run.nv
    v = run.v
    y = run.y
    for i in range(nv):
        change = (y[nv + i] - v[i]) / run.h
        for s in range(3):
            run.k[s, nv + i] = change
        run.k[0, i] = v[i]
        run.k[1, i] = y[i] / run.h
        run.k[2, i] = y[nv + i]


@loop
def composed_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """A step in parts, from the state on; what they did together goes into `run.y`."""
    nv = run.nv
    q = run.q
    v = run.v
    start = run.kept.q
    exchange_state(run, 0)
    t = run.t
    end = run.t_new
    h = run.h
    status = GOOD
    for part in range(run.parts):
        if status == GOOD:
            run.h = h * run.fractions[part]
            run.t_new = run.t + run.h
            status = variational_step(e, run, scratch)
            take_part(e, run, scratch)
    y = run.y
    e.difference(end, start, v, run.u, run.p, q, y, scratch)
    for i in range(nv):
        y[nv + i] = v[i]
    exchange_state(run, 1)
    run.t = t
    run.t_new = end
    run.h = h
    if status == GOOD:
        status = note_ends(e, run, scratch)
    return status


@loop
def exchange_state(run: Run, back: i64) -> None:
    """The state into `run.kept`, or out of it."""
    kept = run.kept
    for i in range(run.nq):
        if back == 0:
            kept.q[i] = run.q[i]
        else:
            run.q[i] = kept.q[i]
    for i in range(run.nv):
        if back == 0:
            kept.v[i] = run.v[i]
        else:
            run.v[i] = kept.v[i]


@loop
def take_part(e: Entries, run: Run, scratch: ptr) -> None:
    """The end of a part becomes the state."""
    y = run.y
    q = run.q
    moved = run.trial.q
    e.retract(run.t_new, q, at(y, run.nv), run.u, run.p, y, moved, scratch)
    for i in range(run.nq):
        q[i] = moved[i]
    for i in range(run.nv):
        run.v[i] = y[run.nv + i]
    run.t = run.t_new


@loop
def note_ends(e: Entries, run: Run, scratch: ptr) -> i64:
    """Slopes for interpolation, with the accelerations at both ends."""
    nv = run.nv
    note_stages(run)
    y = run.stage
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = run.v[i]
    status = derivative(e, run.t, y, run.k[0], run, scratch)
    if status != GOOD:
        return status
    last = run.k[2]
    return derivative(e, run.t_new, run.y, last, run, scratch)


@loop
def try_variational(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """One attempt: a step, or several that compose one."""
    status = set_step(e, run, scratch, event_log)
    if status != GOOD or run.phase != TRY:
        return status
    if run.parts > 1:
        status = composed_step(e, run, scratch)
    else:
        status = variational_step(e, run, scratch)
    run.phase = LAND if status == GOOD else TRY
    return status


VARIATIONAL = MappingProxyType({**SMOOTH, "attempt": try_variational})
"""The phases of variational steps."""
