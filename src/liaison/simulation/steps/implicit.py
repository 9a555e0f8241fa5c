"""Implicit Runge–Kutta steps: stages that depend on each other, found by Newton's method.

A stage is k_i = F(t + c_i h, y + h Σ_j a_ij k_j) with y = (ξ, v); the first one, F(t, y), is known.
With J_q = ∂v̇/∂q and J_v = ∂v̇/∂v at the beginning of the step, and ξ̇ ≈ v there, a
correction of all stages solves

    (1 − h A ⊗ J_v − h² A² ⊗ J_q) Δv̇ = r_v + h (A ⊗ J_q) r_ξ,   Δξ̇ = r_ξ + h A Δv̇     (implicit-1)

where r = F − k is what the stages miss: half the unknowns, once factorised a step. What follows
(interpolation, projection, events, recording) is that of explicit steps.

Public names: implicit_stages, implicit_error.

Source: HW2 §IV.8 (simplified Newton iterations, error estimate).
Differs: velocities are eliminated, real arithmetic throughout.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .explicit import combine, derivative, refresh, size_of, stages
from .layout import (
    ATOL,
    E_SLOPES,
    FILTER,
    GOOD,
    IS_ADAPTIVE,
    IS_FRESH,
    NC,
    NOT_CONVERGED,
    NS,
    NV,
    O_A,
    O_C,
    O_E,
    O_K,
    O_NEWTON,
    O_P,
    O_Q,
    O_STAGE,
    O_U,
    O_V,
    O_Y,
    RTOL,
    SLOPES,
    H,
    T,
)

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
def fill_matrix(h: f64, B: ptr, Jq: ptr, Jv: ptr, w: ptr, n: iptr) -> None:
    """1 − h A ⊗ J_v − h² A² ⊗ J_q over the stages that are sought."""
    nv = n[NV]
    ns = n[NS]
    m = (ns - 1) * nv
    a = at(w, n[O_A])
    for i in range(ns - 1):
        for j in range(ns - 1):
            once = h * a[(i + 1) * ns + j + 1]
            twice = 0.0
            for k in range(1, ns):
                twice += h * h * a[(i + 1) * ns + k] * a[k * ns + j + 1]
            for r in range(nv):
                for c in range(nv):
                    unit = 1.0 if i == j and r == c else 0.0
                    slope = once * Jv[r * nv + c] + twice * Jq[r * nv + c]
                    B[(i * nv + r) * m + j * nv + c] = unit - slope


@loop
def implicit_stages(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """All stages of the step of size w[H]; GOOD, or why not."""
    slopes = entry_at(e, E_SLOPES)
    nv = n[NV]
    ns = n[NS]
    m = (ns - 1) * nv
    if n[IS_FRESH] == 0:
        status = stages(e, 0, 1, w, n, scratch)
        if status != GOOD:
            return status
    Jq = at(w, n[O_NEWTON])
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    refresh(e, w[T], q, v, w, n, scratch)
    slopes(w[T], q, v, at(w, n[O_U]), at(w, n[O_P]), q, Jq, scratch)
    Jv = at(Jq, nv * nv)
    B = at(w, n[O_NEWTON] + n[SLOPES])
    fill_matrix(w[H], B, Jq, Jv, w, n)
    if factorize(m, B, at(B, m * m)) == 1:
        return NOT_CONVERGED
    k0 = at(w, n[O_K])
    for i in range(1, ns):
        k = at(w, n[O_K] + i * (2 * nv + 1))
        for j in range(2 * nv):
            k[j] = k0[j]
    return iterate(e, w, n, scratch, Jq, B)


@loop
def iterate(e: iptr, w: ptr, n: iptr, scratch: ptr, Jq: ptr, B: ptr) -> i64:
    """Corrections until they are small, or no longer become smaller."""
    before = 0.0
    rounds = ROUNDS if n[IS_ADAPTIVE] > 0 else FIXED_ROUNDS
    for turn in range(rounds):
        status = missed(e, w, n, scratch, B)
        if status != GOOD:
            return status
        size = corrected(w, n, Jq, B)
        if not (size >= 0.0 and size < 1e300):
            return NOT_CONVERGED
        rate = size / before if turn > 0 and before > 0.0 else 0.0
        if size <= 1.0 and (rate < 0.9 or n[IS_ADAPTIVE] == 0):
            return GOOD
        # rounding alone is left of a correction that was small and stays so, or grows
        is_noise = n[IS_ADAPTIVE] == 0 and size < (CLOSED_NOISE if n[NC] > 0 else NOISE)
        if turn > 2 and rate > 0.5 and is_noise:
            return GOOD
        if turn > 0 and rate >= 2.0 and not is_noise:
            return NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def missed(e: iptr, w: ptr, n: iptr, scratch: ptr, B: ptr) -> i64:
    """r = F − k of every stage that is sought, v̇ first, then ξ̇, behind the factors."""
    nv = n[NV]
    ns = n[NS]
    m = (ns - 1) * nv
    rv = at(B, m * m + m)
    rx = at(rv, m)
    found = at(rx, m)
    y = at(w, n[O_STAGE])
    for i in range(1, ns):
        combine(w[H], ns, at(w, n[O_A] + i * ns), y, w, n)
        status = derivative(e, w[T] + w[n[O_C] + i] * w[H], y, found, w, n, scratch)
        if status != GOOD:
            return status
        k = at(w, n[O_K] + i * (2 * nv + 1))
        for j in range(nv):
            rx[(i - 1) * nv + j] = found[j] - k[j]
            rv[(i - 1) * nv + j] = found[nv + j] - k[nv + j]
    return GOOD


@loop
def corrected(w: ptr, n: iptr, Jq: ptr, B: ptr) -> f64:
    """The stages corrected by (implicit-1); the largest correction beside what is allowed."""
    nv = n[NV]
    ns = n[NS]
    m = (ns - 1) * nv
    h = w[H]
    a = at(w, n[O_A])
    rv = at(B, m * m + m)
    rx = at(rv, m)
    for i in range(ns - 1):
        for j in range(ns - 1):
            c = h * a[(i + 1) * ns + j + 1]
            for r in range(nv):
                for l in range(nv):
                    rv[i * nv + r] += c * Jq[r * nv + l] * rx[j * nv + l]
    solve_factorized(m, B, at(B, m * m), rv)
    worst = 0.0
    bad = 0.0
    for i in range(ns - 1):
        k = at(w, n[O_K] + (i + 1) * (2 * nv + 1))
        for r in range(nv):
            dx = rx[i * nv + r]
            for j in range(ns - 1):
                dx += h * a[(i + 1) * ns + j + 1] * rv[j * nv + r]
            dv = rv[i * nv + r]
            k[r] += dx
            k[nv + r] += dv
            size = max(abs(h * dx) / allowed(r, w, n), abs(h * dv) / allowed(nv + r, w, n))
            bad += size - size
            worst = max(worst, size)
    return worst + bad


@loop
def allowed(i: i64, w: ptr, n: iptr) -> f64:
    """How large a correction of the i-th of (ξ, v) may be for the stages to count as found."""
    nv = n[NV]
    size = size_of(i, 0.0, w, n) if i < nv else abs(w[n[O_V] + i - nv])
    if n[IS_ADAPTIVE] > 0:
        return float(CLOSE * (w[ATOL] + w[RTOL] * size))
    step = abs(w[H] * w[n[O_K] + i])
    return float(ROUNDING * (size + step + 1e-3))


@loop
def implicit_error(w: ptr, n: iptr) -> f64:
    """max |error_i| / (atol + rtol size_i); (1 − h γ J)⁻¹ damps what is stiff of the estimate."""
    nv = n[NV]
    ns = n[NS]
    m = (ns - 1) * nv
    c = w[H] * w[FILTER]
    Jq = at(w, n[O_NEWTON])
    Jv = at(Jq, nv * nv)
    D = at(w, n[O_NEWTON] + n[SLOPES] + m * m + 3 * m + 2 * nv + 1)
    order = at(D, nv * nv)
    ev = at(order, nv)
    ex = at(w, n[O_STAGE])
    for i in range(nv):
        ex[i] = 0.0
        ev[i] = 0.0
        for j in range(ns):
            k = at(w, n[O_K] + j * (2 * nv + 1))
            ex[i] += w[H] * w[n[O_E] + j] * k[i]
            ev[i] += w[H] * w[n[O_E] + j] * k[nv + i]
        for j in range(nv):
            unit = 1.0 if i == j else 0.0
            D[i * nv + j] = unit - c * Jv[i * nv + j] - c * c * Jq[i * nv + j]
    for i in range(nv):
        for j in range(nv):
            ev[i] += c * Jq[i * nv + j] * ex[j]
    if factorize(nv, D, order) == 1:
        return -1.0
    solve_factorized(nv, D, order, ev)
    found = 0.0
    bad = 0.0
    y = at(w, n[O_Y])
    v = at(w, n[O_V])
    for i in range(nv):
        xi = (ex[i] + c * ev[i]) / (w[ATOL] + w[RTOL] * size_of(i, y[i], w, n))
        up = ev[i] / (w[ATOL] + w[RTOL] * max(abs(v[i]), abs(y[nv + i])))
        bad += xi - xi + up - up
        found = max(found, max(abs(xi), abs(up)))
    return found + bad
