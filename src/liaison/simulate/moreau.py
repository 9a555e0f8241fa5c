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

from math import exp

from liaison.program.loops import at, entry_at, f64, i64, iptr, loop, ptr

from .cones import DISC, ONE_WAY, solve_cones
from .dense import largest
from .layout import (
    COMPLEMENTARITY,
    CONTACTS,
    E_RETRACT,
    E_TERMS,
    EVALUATIONS,
    GOOD,
    M_ACTIVE,
    M_MODE,
    M_SIDES,
    NB,
    NC,
    NOT_CONVERGED,
    NOT_FINITE,
    NPHI,
    NQ,
    NR,
    NV,
    O_CONES,
    O_END,
    O_FREE,
    O_IMPULSE,
    O_MID,
    O_P,
    O_Q,
    O_SIDES,
    O_TERMS,
    O_U,
    O_V,
    O_Y,
    T_NEW,
    THETA,
    H,
    T,
)
from .moreau_rows import (
    delassus,
    free_motion,
    metric_of,
    one_sided,
    pushed,
    rows_in_metric,
)
from .sides_layout import CLOSED, FIELDS, FRICTION, GAP, SLIP, STRIBECK
from .steps import refresh
from .variational import note_stages

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
        return NOT_FINITE
    free_velocities(e, at(w, n[O_V]), w, n, scratch)
    free_velocities(e, free, w, n, scratch)
    predict(e, w, n, scratch)
    for turn in range(2):
        if turn > 0:
            # forces that depend on velocities, with those that impulses led to
            free_velocities(e, at(y, nv), w, n, scratch)
        if find_impulses(e, w, n, scratch) != GOOD:
            return NOT_CONVERGED
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
        residual = impulses(w, n)
        if not (residual <= UNSOLVED):
            return NOT_CONVERGED
        finish_step(w, n)
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
        return NOT_FINITE
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
def impulses(w: ptr, n: iptr) -> f64:
    """P of the active blocks into the block IMPULSE; the residual of the problem."""
    nb = n[NB]
    nr = n[NR]
    active = at(n, n[M_ACTIVE])
    table = at(active, nb)
    chosen = at(active, 7 * nb)
    count = choose(w, n)
    m = chosen[nr]
    A = at(w, n[O_CONES])
    b = at(A, nr * nr)
    P = at(b, nr)
    limits = at(P, nr)
    kept = at(w, n[O_IMPULSE])
    delassus(m, chosen, A, w, n)
    rates(m, w, n)
    for i in range(m):
        P[i] = kept[chosen[i]]
    residual = solve_cones(m, count, A, b, table, limits, P, at(limits, 3 * nb + nr))
    for r in range(nr):
        kept[r] = 0.0
    for i in range(m):
        kept[chosen[i]] = P[i]
    n[CONTACTS] = max(n[CONTACTS], count)
    return residual


@loop
def choose(w: ptr, n: iptr) -> i64:
    """The table of active blocks and the rows they have, with the bounds of friction."""
    nb = n[NB]
    active = at(n, n[M_ACTIVE])
    table = at(active, nb)
    number = at(active, 5 * nb)
    chosen = at(active, 7 * nb)
    limits = at(w, n[O_CONES] + n[NR] * n[NR] + 2 * n[NR])
    count = 0
    m = 0
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if active[k] == 1:
            row = at(table, 4 * count)
            number[k] = count
            row[0] = DISC if block[0] == FRICTION else ONE_WAY
            row[1] = m
            row[2] = block[2]
            row[3] = number[block[3]] if block[3] >= 0 else -1
            bounds(k, at(limits, 3 * count), w, n)
            for r in range(block[2]):
                chosen[m] = block[1] + r
                m += 1
            count += 1
    chosen[n[NR]] = m
    return count


@loop
def bounds(k: i64, limit: ptr, w: ptr, n: iptr) -> None:
    """Coefficients along both rows, and the bound of a block without load, as an impulse."""
    nr = n[NR]
    block = at(n, n[M_SIDES] + FIELDS * k)
    given = at(w, n[O_MID] + n[NB] + 2 * nr + nr * n[NV] + 8 * k)
    limit[0] = 0.0
    limit[1] = 0.0
    limit[2] = 0.0
    if block[0] == FRICTION:
        factor = 1.0
        if given[1] > 0.0 and given[2] != given[1]:
            speed = 0.0
            for r in range(block[1], block[1] + block[2]):
                u = w[n[O_SIDES] + n[NB] + r]
                speed += u * u
            if block[4] == STRIBECK and given[5] > 0.0:
                part = exp(-speed / (given[5] * given[5]))
                factor = 1.0 + part * (given[2] / given[1] - 1.0)
            elif n[n[M_MODE] + k] != SLIP:
                factor = given[2] / given[1]
        if block[3] >= 0:
            limit[0] = factor * given[1]
            limit[1] = factor * given[3]
        else:
            limit[2] = factor * given[1] * w[H]


@loop
def rates(m: i64, w: ptr, n: iptr) -> None:
    """b of the problem: rates of the free motion at the end of the step, with restitution."""
    nb = n[NB]
    nr = n[NR]
    nv = n[NV]
    b = at(w, n[O_CONES] + nr * nr)
    chosen = at(n, n[M_ACTIVE] + 7 * nb)
    free = at(w, n[O_FREE])
    v = at(w, n[O_V])
    for i in range(m):
        r = chosen[i]
        D = at(w, n[O_MID] + nb + 2 * nr + r * nv)
        b[i] = 2.0 * w[n[O_MID] + nb + r] - w[n[O_SIDES] + nb + r]
        for j in range(nv):
            b[i] += D[j] * (free[j] - v[j])
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if n[n[M_ACTIVE] + k] == 1 and block[0] == GAP:
            i = n[n[M_ACTIVE] + nb + 4 * n[n[M_ACTIVE] + 5 * nb + k] + 1]
            u = w[n[O_SIDES] + nb + block[1]]
            n[n[M_MODE] + nb + k] = 0
            if u >= 0.0:
                b[i] += u
            elif b[i] - u >= u:
                b[i] += w[n[O_MID] + nb + 2 * nr + nr * nv + 8 * k] * u
                n[n[M_MODE] + nb + k] = 1


@loop
def finish_step(w: ptr, n: iptr) -> None:
    """v₁ and ξ into the block Y."""
    nv = n[NV]
    y = at(w, n[O_Y])
    v = at(w, n[O_V])
    free = at(w, n[O_FREE])
    chosen = at(n, n[M_ACTIVE] + 7 * n[NB])
    P = at(w, n[O_CONES] + n[NR] * n[NR] + n[NR])
    pushed(chosen[n[NR]], chosen, P, at(y, nv), w, n)
    for i in range(nv):
        y[nv + i] += free[i]
        y[i] = w[H] * ((1.0 - w[THETA]) * v[i] + w[THETA] * y[nv + i])


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
