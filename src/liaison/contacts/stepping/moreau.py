"""Moreau and Jean's time stepping: impulses of contacts and friction on the level of velocities.

A step over h with M, G, f, D midway, q_θ = q ⊞ θ h v, finds v₁ = v_f + L⁻ᵀ X P (stepping-1) with

    M (v_f − v) = h f + Gᵀλ,   G ((1 − θ) v + θ v_f) = ν,                       (stepping-2)
    u₁ + e u ⟂ P on the rows whose gap the free motion would close,             (stepping-3)
    q₁ = q ⊞ h ((1 − θ) v + θ v₁).                                              (stepping-4)

u₁ is D v₁ + d taken on to the end of the step: what D v + d changed from its beginning to the
middle is added once more, so that bodies roll on curved surfaces without loss. A gap that opens
(u > 0) and closes again within the step ends with −u. One that closes slower than forces of one
step could make it is at rest: e = 0 there. With this, θ = ½ and no friction the work of P is
Σ P (1 − e) min(u, 0)/2 ≤ 0.

Public names: moreau_step.

Source: MOR88 §10 (midpoint scheme), JEAN99 §5 (θ-scheme); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    COMPLEMENTARITY,
    E_RETRACT,
    E_TERMS,
    EVALUATIONS,
    GOOD,
    M_ACTIVE,
    M_MODE,
    M_SIDES,
    NB,
    NC,
    NO_MODE,
    NOT_FINITE,
    NPHI,
    NQ,
    NR,
    NV,
    O_END,
    O_FREE,
    O_MID,
    O_P,
    O_Q,
    O_SIDES,
    O_TERMS,
    O_U,
    O_V,
    O_Y,
    SINGULAR_MASS,
    T_NEW,
    THETA,
    H,
    T,
)
from liaison.simulation.steps.sides_layout import CLOSED, FIELDS, FRICTION, GAP
from liaison.simulation.steps.variational import note_stages
from liaison.solvers.linear.dense import largest

from .problem import finish_step, impulses, without_gain, work
from .rows import free_motion, metric_of, one_sided, rows_in_metric

UNSOLVED = 1e-5
"""A complementarity problem whose residual stays above this is not solved."""

TOUCH = 1e-9
"""A gap of this width, beside 1 + |q|, touches already: bodies that fall together stay together."""

AGAIN = 5
"""Times that gaps found to close under the impulses of others join the problem."""


@loop
def moreau_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The state at the end of the step of size w[H] into the block Y; GOOD, or why not."""
    nv = n[NV]
    y = at(w, n[O_Y])
    free = at(w, n[O_FREE])
    if midway(e, w, n, scratch) != GOOD:
        return SINGULAR_MASS
    free_velocities(e, at(w, n[O_V]), w, n, scratch)
    free_velocities(e, free, w, n, scratch)
    predict(e, w, n, scratch)
    for turn in range(2):
        if turn > 0:
            # forces that depend on velocities, with those that impulses led to
            free_velocities(e, at(y, nv), w, n, scratch)
        if find_impulses(e, w, n, scratch) != GOOD:
            return NO_MODE
        if n[n[M_ACTIVE] + 7 * n[NB] + n[NR]] == 0:
            break
    bad = 0.0
    for i in range(2 * nv):
        bad += y[i] - y[i]
    if bad != 0.0:
        return NOT_FINITE
    note_stages(w, n)
    return GOOD


@loop
def find_impulses(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Impulses of all that is active, and of what becomes so under them; GOOD, or why not."""
    for _ in range(AGAIN):
        residual = impulses(1.0, w, n)
        if not (residual <= UNSOLVED):
            return NO_MODE
        finish_step(w, n)
        if work(w, n) > 0.0:
            residual = max(residual, without_gain(w, n))
        if closing(e, w, n, scratch) == 0:
            w[COMPLEMENTARITY] = max(w[COMPLEMENTARITY], residual)
            break
    return GOOD


@loop
def midway(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Terms, one-sided rows and the metric at q_θ; X of all rows."""
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    v = at(w, n[O_V])
    moved = at(w, n[O_FREE] + nv)
    q = at(moved, 3 * nv)
    t = w[T] + w[THETA] * w[H]
    M = at(w, n[O_TERMS])
    for i in range(nv):
        moved[i] = w[THETA] * w[H] * v[i]
    retract(t, at(w, n[O_Q]), v, at(w, n[O_U]), at(w, n[O_P]), moved, q, scratch)
    refresh(e, t, q, v, w, n, scratch)
    terms(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, M, scratch)
    one_sided(e, t, q, v, at(w, n[O_MID]), w, n, scratch)
    dampen(w, n)
    rank = metric_of(n[NC], M, at(M, nv * nv), w, n)
    if rank < 0:
        return SINGULAR_MASS
    n[n[M_ACTIVE] + 7 * n[NB] + 2 * n[NR] + 1] = rank
    rows_in_metric(rank, at(w, n[O_MID] + n[NB] + 2 * n[NR]), w, n)
    return GOOD


@loop
def free_velocities(e: iptr, after: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """v_f, with forces at q_θ and the mean of the velocities before and `after`."""
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    nc = n[NC]
    theta = w[THETA]
    v = at(w, n[O_V])
    free = at(w, n[O_FREE])
    mean = at(free, nv)
    force = at(mean, nv)
    q = at(force, 2 * nv)
    t = w[T] + theta * w[H]
    M = at(w, n[O_TERMS])
    G = at(M, nv * nv)
    f = at(G, nc * nv)
    nu = at(f, nv + nc + n[NPHI])
    for i in range(nv):
        mean[i] = (1.0 - theta) * v[i] + theta * after[i]
    refresh(e, t, q, mean, w, n, scratch)
    terms(t, q, mean, at(w, n[O_U]), at(w, n[O_P]), q, M, scratch)
    n[EVALUATIONS] += 1
    dampen(w, n)
    for i in range(nv):
        force[i] = w[H] * f[i]
    # what closures still ask of the change of v
    for k in range(nc):
        nu[k] = nu[k] / theta
        for i in range(nv):
            nu[k] -= G[k * nv + i] * v[i] / theta
    rank = n[n[M_ACTIVE] + 7 * n[NB] + 2 * n[NR] + 1]
    free_motion(nc, rank, G, force, nu, free, w, n)
    for i in range(nv):
        free[i] += v[i]


@loop
def dampen(w: ptr, n: iptr) -> None:
    """Viscous friction of closed blocks, implicit: M + h θ c DᵀD, and −c Dᵀu beside f."""
    nv = n[NV]
    mid = at(w, n[O_MID])
    M = at(w, n[O_TERMS])
    f = at(M, nv * nv + n[NC] * nv)
    for k in range(n[NB]):
        block = at(n, n[M_SIDES] + FIELDS * k)
        c = mid[n[NB] + 2 * n[NR] + n[NR] * nv + 8 * k + 4]
        if c > 0.0 and block[0] == FRICTION and is_loaded(k, n) == 1:
            for r in range(block[1], block[1] + block[2]):
                D = at(mid, n[NB] + 2 * n[NR] + r * nv)
                for i in range(nv):
                    f[i] -= c * D[i] * mid[n[NB] + r]
                    for j in range(nv):
                        M[i * nv + j] += w[H] * w[THETA] * c * D[i] * D[j]


@loop
def is_loaded(k: i64, n: iptr) -> i64:
    """1 if the friction block has no load, or its load was closed in the step before."""
    load = n[n[M_SIDES] + FIELDS * k + 3]
    if load < 0:
        return 1
    return 1 if n[n[M_MODE] + load] == CLOSED else 0


@loop
def predict(e: iptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """Which blocks are active: gaps that touch or that the free motion closes, rates, friction."""
    free = at(w, n[O_FREE])
    end = at(w, n[O_END])
    state_after(e, free, end, w, n, scratch)
    active = at(n, n[M_ACTIVE])
    near = TOUCH * (1.0 + largest(n[NQ], at(w, n[O_Q])))
    for k in range(n[NB]):
        block = at(n, n[M_SIDES] + FIELDS * k)
        active[k] = 1
        if block[0] == GAP:
            active[k] = 1 if end[k] <= 0.0 or w[n[O_SIDES] + k] <= near else 0
        elif block[0] == FRICTION and block[3] >= 0:
            active[k] = active[block[3]]


@loop
def state_after(e: iptr, after: ptr, out: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """One-sided rows at the end of a step that ends with the velocities `after`."""
    retract = entry_at(e, E_RETRACT)
    nv = n[NV]
    v = at(w, n[O_V])
    moved = at(w, n[O_FREE] + nv)
    q = at(moved, 3 * nv + n[NQ])
    for i in range(nv):
        moved[i] = w[H] * ((1.0 - w[THETA]) * v[i] + w[THETA] * after[i])
    retract(w[T_NEW], at(w, n[O_Q]), after, at(w, n[O_U]), at(w, n[O_P]), moved, q, scratch)
    one_sided(e, w[T_NEW], q, after, out, w, n, scratch)


@loop
def closing(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Gaps that the impulses of others close join the problem; how many."""
    nv = n[NV]
    end = at(w, n[O_END])
    state_after(e, at(w, n[O_Y] + nv), end, w, n, scratch)
    active = at(n, n[M_ACTIVE])
    count = 0
    for k in range(n[NB]):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if block[0] == GAP and active[k] == 0 and end[k] < 0.0:
            active[k] = 1
            count += 1
        elif block[0] == FRICTION and block[3] >= 0:
            active[k] = active[block[3]]
    return count
