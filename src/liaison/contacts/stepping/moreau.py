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

from liaison.program.loops.language import at, flat, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    GOOD,
    NO_MODE,
    NOT_FINITE,
    SINGULAR_MASS,
    Entries,
    OneSided,
    Run,
)
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP
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
def moreau_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state at the end of the step of size `run.h` into `run.y`; GOOD, or why not."""
    nv = run.nv
    y = run.y
    if midway(e, run, scratch) != GOOD:
        return SINGULAR_MASS
    free_velocities(e, run.v, run, scratch)
    free_velocities(e, run.free.v, run, scratch)
    predict(e, run, scratch)
    for turn in range(2):
        if turn > 0:
            # forces that depend on velocities, with those that impulses led to
            free_velocities(e, at(y, nv), run, scratch)
        if find_impulses(e, run, scratch) != GOOD:
            return NO_MODE
        if run.rows_chosen == 0:
            break
    bad = 0.0
    for i in range(2 * nv):
        bad += y[i] - y[i]
    if bad != 0.0:
        return NOT_FINITE
    note_stages(run)
    return GOOD


@loop
def find_impulses(e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses of all that is active, and of what becomes so under them; GOOD, or why not."""
    for _ in range(AGAIN):
        residual = impulses(1.0, run)
        if not (residual <= UNSOLVED):
            return NO_MODE
        finish_step(run)
        if work(run) > 0.0:
            residual = max(residual, without_gain(run))
        if closing(e, run, scratch) == 0:
            run.complementarity = max(run.complementarity, residual)
            break
    return GOOD


@loop
def midway(e: Entries, run: Run, scratch: ptr) -> i64:
    """Terms, one-sided rows and the metric at q_θ; X of all rows."""
    nv = run.nv
    v = run.v
    moved = run.free.moved
    q = run.free.q
    t = run.t + run.theta * run.h
    for i in range(nv):
        moved[i] = run.theta * run.h * v[i]
    e.retract(t, run.q, v, run.u, run.p, moved, q, scratch)
    refresh(e, t, q, v, run, scratch)
    e.terms(t, q, v, run.u, run.p, q, run.terms.floats, scratch)
    one_sided(e, t, q, v, run.mid, run, scratch)
    dampen(run)
    rank = metric_of(run.nc, flat(run.terms.M), flat(run.terms.G), run)
    if rank < 0:
        return SINGULAR_MASS
    run.rank = rank
    rows_in_metric(rank, flat(run.mid.D), run)
    return GOOD


@loop
def free_velocities(e: Entries, after: ptr, run: Run, scratch: ptr) -> None:
    """v_f, with forces at q_θ and the mean of the velocities before and `after`."""
    nv = run.nv
    nc = run.nc
    theta = run.theta
    v = run.v
    free = run.free.v
    mean = run.free.moved
    force = run.free.force
    q = run.free.q
    t = run.t + theta * run.h
    terms = run.terms
    nu = terms.nu
    for i in range(nv):
        mean[i] = (1.0 - theta) * v[i] + theta * after[i]
    refresh(e, t, q, mean, run, scratch)
    e.terms(t, q, mean, run.u, run.p, q, terms.floats, scratch)
    run.evaluations += 1
    dampen(run)
    for i in range(nv):
        force[i] = run.h * terms.f[i]
    # what closures still ask of the change of v
    for k in range(nc):
        nu[k] = nu[k] / theta
        for i in range(nv):
            nu[k] -= terms.G[k, i] * v[i] / theta
    free_motion(nc, run.rank, flat(terms.G), force, nu, free, run)
    for i in range(nv):
        free[i] += v[i]


@loop
def dampen(run: Run) -> None:
    """Viscous friction of closed blocks, implicit: M + h θ c DᵀD, and −c Dᵀu beside f."""
    nv = run.nv
    mid = run.mid
    terms = run.terms
    for k in range(run.nb):
        block = run.blocks[k]
        c = mid.laws[k].viscous
        if c > 0.0 and block.kind == FRICTION and is_loaded(k, run) == 1:
            for r in range(block.first, block.first + block.rows):
                D = mid.D[r]
                for i in range(nv):
                    terms.f[i] -= c * D[i] * mid.rate[r]
                    for j in range(nv):
                        terms.M[i, j] += run.h * run.theta * c * D[i] * D[j]


@loop
def is_loaded(k: i64, run: Run) -> i64:
    """1 if the friction block has no load, or its load was closed in the step before."""
    load = run.blocks[k].load
    if load < 0:
        return 1
    return 1 if run.mode[load] == CLOSED else 0


@loop
def predict(e: Entries, run: Run, scratch: ptr) -> None:
    """Which blocks are active: gaps that touch or that the free motion closes, rates, friction."""
    end = run.end
    state_after(e, run.free.v, end, run, scratch)
    active = run.active
    near = TOUCH * (1.0 + largest(run.nq, run.q))
    for k in range(run.nb):
        block = run.blocks[k]
        active[k] = 1
        if block.kind == GAP:
            active[k] = 1 if end.gap[k] <= 0.0 or run.sides.gap[k] <= near else 0
        elif block.kind == FRICTION and block.load >= 0:
            active[k] = active[block.load]


@loop
def state_after(e: Entries, after: ptr, out: OneSided, run: Run, scratch: ptr) -> None:
    """One-sided rows at the end of a step that ends with the velocities `after`."""
    nv = run.nv
    v = run.v
    moved = run.free.moved
    q = run.free.q_end
    for i in range(nv):
        moved[i] = run.h * ((1.0 - run.theta) * v[i] + run.theta * after[i])
    e.retract(run.t_new, run.q, after, run.u, run.p, moved, q, scratch)
    one_sided(e, run.t_new, q, after, out, run, scratch)


@loop
def closing(e: Entries, run: Run, scratch: ptr) -> i64:
    """Gaps that the impulses of others close join the problem; how many."""
    nv = run.nv
    end = run.end
    state_after(e, run.y[nv:], end, run, scratch)
    active = run.active
    count = 0
    for k in range(run.nb):
        block = run.blocks[k]
        if block.kind == GAP and active[k] == 0 and end.gap[k] < 0.0:
            active[k] = 1
            count += 1
        elif block.kind == FRICTION and block.load >= 0:
            active[k] = active[block.load]
    return count
