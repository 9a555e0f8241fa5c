"""Implicit Runge–Kutta steps: stages that depend on each other, found by Newton's method.

A stage is k_i = F(t + c_i h, y + h Σ_j a_ij k_j) with y = (ξ, v); the first one, F(t, y), is known.
With J_q = ∂v̇/∂q and J_v = ∂v̇/∂v at the beginning of the step, and ξ̇ ≈ v there, a
correction of all stages solves

    (1 − h A ⊗ J_v − h² A² ⊗ J_q) Δv̇ = r_v + h (A ⊗ J_q) r_ξ,   Δξ̇ = r_ξ + h A Δv̇     (implicit-1)

where r = F − k is what the stages miss: half the unknowns, once factorised a step. What follows
(interpolation, projection, events, recording) is that of explicit steps.

Public names: IMPLICIT, implicit_stages, implicit_error.

Source: HW2 §IV.8 (simplified Newton iterations, error estimate).
Differs: velocities are eliminated, real arithmetic throughout.
"""

from __future__ import annotations

from types import MappingProxyType

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .advance import SMOOTH, accept, closed_step, is_final, set_step
from .explicit import combine, derivative, refresh, size_of, stages
from .layout import GOOD, NOT_CONVERGED, TRY, Entries, Run

ROUNDS, FIXED_ROUNDS = 12, 40
"""Corrections at most, with adaptive and with fixed steps. A contraction that needs more is better
served by a shorter step: for a body that spins with ω it goes with h ω/2."""

CLOSE = 1e-3
"""Part of the error allowed that a correction may have for the stages to count as found."""

NOISE, CLOSED_NOISE = 1e3, 1e5
"""Corrections of fixed steps, in units of ROUNDING, that need not become smaller; with closures, of
which some may depend on others, accelerations are known to fewer digits."""

ROUNDING = 3e-15
"""The same for fixed steps, relative to the sizes of coordinates and velocities."""


@loop
def fill_matrix(h: f64, B: ptr, Jq: ptr, Jv: ptr, run: Run) -> None:
    """1 − h A ⊗ J_v − h² A² ⊗ J_q over the stages that are sought."""
    nv = run.nv
    ns = run.ns
    m = (ns - 1) * nv
    a = run.a
    for i in range(ns - 1):
        for j in range(ns - 1):
            once = h * a[i + 1, j + 1]
            twice = 0.0
            for k in range(1, ns):
                twice += h * h * a[i + 1, k] * a[k, j + 1]
            for r in range(nv):
                for c in range(nv):
                    unit = 1.0 if i == j and r == c else 0.0
                    slope = once * Jv[r * nv + c] + twice * Jq[r * nv + c]
                    B[(i * nv + r) * m + j * nv + c] = unit - slope


@loop
def implicit_stages(e: Entries, run: Run, scratch: ptr) -> i64:
    """All stages of the step of size `run.h`; GOOD, or why not."""
    nv = run.nv
    ns = run.ns
    m = (ns - 1) * nv
    if run.is_fresh == 0:
        status = stages(e, 0, 1, run, scratch)
        if status != GOOD:
            return status
    Jq = run.newton
    q = run.q
    v = run.v
    refresh(e, run.t, q, v, run, scratch)
    e.d_rate(run.t, q, v, run.u, run.p, q, Jq, scratch)
    Jv = at(Jq, nv * nv)
    B = run.newton[run.slopes :]
    fill_matrix(run.h, B, Jq, Jv, run)
    if factorize(m, B, at(B, m * m)) == 1:
        return NOT_CONVERGED
    k0 = run.k[0]
    for i in range(1, ns):
        k = run.k[i]
        for j in range(2 * nv):
            k[j] = k0[j]
    return iterate(e, run, scratch, Jq, B)


@loop
def iterate(e: Entries, run: Run, scratch: ptr, Jq: ptr, B: ptr) -> i64:
    """Corrections until they are small, or no longer become smaller."""
    before = 0.0
    rounds = ROUNDS if run.is_adaptive > 0 else FIXED_ROUNDS
    for turn in range(rounds):
        status = missed(e, run, scratch, B)
        if status != GOOD:
            return status
        size = corrected(run, Jq, B)
        if not (size >= 0.0 and size < 1e300):
            return NOT_CONVERGED
        rate = size / before if turn > 0 and before > 0.0 else 0.0
        if size <= 1.0 and (rate < 0.9 or run.is_adaptive == 0):
            return GOOD
        # rounding alone is left of a correction that was small and stays so, or grows
        is_noise = run.is_adaptive == 0 and size < (CLOSED_NOISE if run.nc > 0 else NOISE)
        if turn > 2 and rate > 0.5 and is_noise:
            return GOOD
        if turn > 0 and rate >= 2.0 and not is_noise:
            return NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def missed(e: Entries, run: Run, scratch: ptr, B: ptr) -> i64:
    """r = F − k of every stage that is sought, v̇ first, then ξ̇, behind the factors."""
    nv = run.nv
    ns = run.ns
    m = (ns - 1) * nv
    rv = at(B, m * m + m)
    rx = at(rv, m)
    slope = at(rx, m)
    y = run.stage
    for i in range(1, ns):
        combine(run.h, ns, run.a[i], y, run)
        status = derivative(e, run.t + run.c[i] * run.h, y, slope, run, scratch)
        if status != GOOD:
            return status
        k = run.k[i]
        for j in range(nv):
            rx[(i - 1) * nv + j] = slope[j] - k[j]
            rv[(i - 1) * nv + j] = slope[nv + j] - k[nv + j]
    return GOOD


@loop
def corrected(run: Run, Jq: ptr, B: ptr) -> f64:
    """The stages corrected by (implicit-1); the largest correction beside what is allowed."""
    nv = run.nv
    ns = run.ns
    m = (ns - 1) * nv
    h = run.h
    a = run.a
    rv = at(B, m * m + m)
    rx = at(rv, m)
    for i in range(ns - 1):
        for j in range(ns - 1):
            c = h * a[i + 1, j + 1]
            for r in range(nv):
                for l in range(nv):
                    rv[i * nv + r] += c * Jq[r * nv + l] * rx[j * nv + l]
    solve_factorized(m, B, at(B, m * m), rv)
    worst = 0.0
    bad = 0.0
    for i in range(ns - 1):
        k = run.k[i + 1]
        for r in range(nv):
            dx = rx[i * nv + r]
            for j in range(ns - 1):
                dx += h * a[i + 1, j + 1] * rv[j * nv + r]
            dv = rv[i * nv + r]
            k[r] += dx
            k[nv + r] += dv
            size = max(abs(h * dx) / allowed(r, run), abs(h * dv) / allowed(nv + r, run))
            bad += size - size
            worst = max(worst, size)
    return worst + bad


@loop
def allowed(i: i64, run: Run) -> f64:
    """How large a correction of the i-th of (ξ, v) may be for the stages to count as found."""
    nv = run.nv
    size = size_of(i, 0.0, run) if i < nv else abs(run.v[i - nv])
    if run.is_adaptive > 0:
        return float(CLOSE * (run.atols[i] + run.rtol * size))
    step = abs(run.h * run.k[0, i])
    return float(ROUNDING * (size + step + 1e-3))


@loop
def implicit_error(run: Run) -> f64:
    """max |error_i| / (atol + rtol size_i); (1 − h γ J)⁻¹ damps what is stiff of the estimate."""
    nv = run.nv
    ns = run.ns
    m = (ns - 1) * nv
    c = run.h * run.filter
    Jq = run.newton
    Jv = at(Jq, nv * nv)
    D = run.newton[run.slopes + m * m + 3 * m + 2 * nv + 1 :]
    order = at(D, nv * nv)
    ev = at(order, nv)
    ex = run.stage
    for i in range(nv):
        ex[i] = 0.0
        ev[i] = 0.0
        for j in range(ns):
            k = run.k[j]
            ex[i] += run.h * run.e[j] * k[i]
            ev[i] += run.h * run.e[j] * k[nv + i]
        for j in range(nv):
            unit = 1.0 if i == j else 0.0
            D[i * nv + j] = unit - c * Jv[i * nv + j] - c * c * Jq[i * nv + j]
    for i in range(nv):
        for j in range(nv):
            ev[i] += c * Jq[i * nv + j] * ex[j]
    if factorize(nv, D, order) == 1:
        return -1.0
    solve_factorized(nv, D, order, ev)
    norm = 0.0
    bad = 0.0
    y = run.y
    v = run.v
    for i in range(nv):
        xi = (ex[i] + c * ev[i]) / (run.atols[i] + run.rtol * size_of(i, y[i], run))
        up = ev[i] / (run.atols[nv + i] + run.rtol * max(abs(v[i]), abs(y[nv + i])))
        bad += xi - xi + up - up
        norm = max(norm, max(abs(xi), abs(up)))
    return norm + bad


@loop
def try_implicit(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """One attempt: stages by Newton's method, new state, error; accepted, the phase moves on."""
    status = set_step(e, run, scratch, event_log)
    if status != GOOD or run.phase != TRY:
        return status
    status = implicit_stages(e, run, scratch)
    if is_final(status, run) == 1:
        return status
    is_finite = closed_step(status, run)
    if is_finite < 0:
        return GOOD
    error = -1.0
    if run.is_adaptive > 0 and status == GOOD and is_finite == 1:
        error = implicit_error(run)
    return accept(e, status, is_finite, error, run, scratch)


IMPLICIT = MappingProxyType({**SMOOTH, "attempt": try_implicit})
"""The phases of implicit steps."""
