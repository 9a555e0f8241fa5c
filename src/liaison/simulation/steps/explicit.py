"""One explicit step in local coordinates, as loops that read a tableau from arrays.

At the start of a step the chart is centred on the state: q = q₀ ⊞ ξ with ξ = 0, and y = (ξ, v) is
integrated with ξ̇, v̇ from the entry `rate`. Where its residual tells that the generated elimination
lost accuracy, the pivoted solver takes over for that stage. At ξ = 0 the local rate ξ̇ is v, so the
last stage of a step can be the first of the next one.

Public names: CONSISTENCY, refresh, derivative, stages, new_state, size_of, error_norm,
interpolate, state_at.

Source: HNW1 §II.4 (error norm); HLW §IV.8 (Lie-group methods through a local chart).
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.solvers.linear.dense import largest, saddle

from .layout import (
    ATOL,
    DETAIL,
    E_INPUTS,
    E_RATE,
    E_RETRACT,
    E_TERMS,
    EVALUATIONS,
    FALLBACKS,
    GOOD,
    HAS_TERMS,
    INCONSISTENT,
    INPUTS_READ_Q,
    IS_IN_DOUBT,
    M_INPUT,
    M_SCALE,
    NC,
    ND,
    NEEDS_TERMS,
    NI,
    NOT_FINITE,
    NPHI,
    NS,
    NV,
    O_A,
    O_B,
    O_C,
    O_DENSE,
    O_E,
    O_FORMULAS,
    O_K,
    O_P,
    O_Q,
    O_STAGE,
    O_TQ,
    O_U,
    O_V,
    O_Y,
    RESIDUAL_TOLERANCE,
    RTOL,
    S_DENSE,
    WORST,
    H,
    T,
)

CONSISTENCY = 1e-6
"""Largest relative miss of a closure row, after the pivoted solver, that is still a solution."""


@loop
def refresh(e: iptr, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """Inputs given by formulas, evaluated into u."""
    if n[NI] > 0:
        inputs = entry_at(e, E_INPUTS)
        u = at(w, n[O_U])
        out = at(w, n[O_FORMULAS])
        inputs(t, q, v, u, at(w, n[O_P]), q, out, scratch)
        for i in range(n[NI]):
            u[n[n[M_INPUT] + i]] = out[i]


@loop
def derivative(e: iptr, t: f64, y: ptr, k: ptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """k = (ξ̇, v̇, residual) at y = (ξ, v) in the chart of the step; GOOD, or why not."""
    rate = entry_at(e, E_RATE)
    retract = entry_at(e, E_RETRACT)
    nv = n[NV]
    q0 = at(w, n[O_Q])
    v = at(y, nv)
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    if n[INPUTS_READ_Q] > 0:
        q = at(w, n[O_TQ])
        retract(t, q0, v, u, p, y, q, scratch)
        refresh(e, t, q, v, w, n, scratch)
    else:
        refresh(e, t, q0, v, w, n, scratch)
    n[EVALUATIONS] += 1
    rate(t, q0, v, u, p, y, k, scratch)
    limit = w[RESIDUAL_TOLERANCE]
    if n[NC] == 0 or (k[2 * nv] <= limit and n[IS_IN_DOUBT] == 0):
        return GOOD
    if k[2 * nv] <= limit * (1.0 + largest(nv, at(k, nv))):
        return GOOD
    return solved_again(e, t, y, k, w, n, scratch)


@loop
def solved_again(e: iptr, t: f64, y: ptr, k: ptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """v̇ in k anew, by the pivoted solver; kept if it misses the closures less than before."""
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    if n[HAS_TERMS] == 0:
        return NEEDS_TERMS
    nv = n[NV]
    nc = n[NC]
    q = at(w, n[O_TQ])
    v = at(y, nv)
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    retract(t, at(w, n[O_Q]), v, u, p, y, q, scratch)
    M = at(scratch, n[S_DENSE])
    terms(t, q, v, u, p, q, M, scratch)
    n[FALLBACKS] += 1
    G = at(M, nv * nv)
    f = at(G, nc * nv)
    gamma = at(f, nv)
    vdot = at(gamma, 2 * nc + n[NPHI])
    lam = at(vdot, nv)
    before = k[2 * nv] / (1.0 + largest(nv, at(k, nv)))
    miss = saddle(nv, nc, M, G, f, gamma, vdot, lam, at(n, DETAIL), at(lam, nc))
    after = miss / (1.0 + largest(nv, vdot))
    if miss >= 0.0 and not (after >= before):
        for i in range(nv):
            k[nv + i] = vdot[i]
        before = after
    if before <= CONSISTENCY:
        return GOOD
    w[WORST] = before
    # NaN alone differs from itself
    return INCONSISTENT if before == before else NOT_FINITE


@loop
def stages(e: iptr, first: i64, last: i64, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Stages `first` to `last` − 1 of the step of size w[H]; GOOD, or why not."""
    nv = n[NV]
    h = w[H]
    y = at(w, n[O_STAGE])
    for i in range(first, last):
        combine(h, i, at(w, n[O_A] + i * n[NS]), y, w, n)
        k = at(w, n[O_K] + i * (2 * nv + 1))
        t = w[T] + w[n[O_C] + i] * h
        status = derivative(e, t, y, k, w, n, scratch)
        if status != GOOD:
            return status
    return GOOD


@loop
def combine(h: f64, count: i64, weights: ptr, y: ptr, w: ptr, n: iptr) -> None:
    """y = (0, v) + h Σ weights_j k_j over the first `count` stages."""
    nv = n[NV]
    v = at(w, n[O_V])
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    for j in range(count):
        c = h * weights[j]
        if c != 0.0:
            k = at(w, n[O_K] + j * (2 * nv + 1))
            for i in range(2 * nv):
                y[i] += c * k[i]


@loop
def new_state(w: ptr, n: iptr) -> i64:
    """The state at the end of the step into the block Y; 1 if every number of it is finite."""
    y = at(w, n[O_Y])
    combine(w[H], n[NS], at(w, n[O_B]), y, w, n)
    bad = 0.0
    for i in range(2 * n[NV]):
        bad += y[i] - y[i]
    return 1 if bad == 0.0 else 0


@loop
def size_of(i: i64, xi: f64, w: ptr, n: iptr) -> f64:
    """The size that a relative error of the i-th local coordinate is measured by."""
    slot = n[n[M_SCALE] + i]
    if slot < 0:
        return 1.0
    q = w[n[O_Q] + slot]
    return float(max(abs(q), abs(q + xi)))


@loop
def error_norm(w: ptr, n: iptr) -> f64:
    """max |error_i| / (atol + rtol size_i) over (ξ, v); a step is accepted up to 1."""
    nv = n[NV]
    y = at(w, n[O_Y])
    v = at(w, n[O_V])
    found = 0.0
    bad = 0.0
    for i in range(2 * nv):
        error = 0.0
        for j in range(n[NS]):
            error += w[n[O_E] + j] * w[n[O_K] + j * (2 * nv + 1) + i]
        size = size_of(i, y[i], w, n) if i < nv else max(abs(v[i - nv]), abs(y[i]))
        ratio = abs(error * w[H]) / (w[ATOL] + w[RTOL] * size)
        bad += ratio - ratio
        if ratio > found:
            found = ratio
    return found + bad


@loop
def interpolate(theta: f64, y: ptr, w: ptr, n: iptr) -> None:
    """y(θ) inside the step under way."""
    nv = n[NV]
    degree = n[ND]
    v = at(w, n[O_V])
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    for j in range(n[NS]):
        c = 0.0
        for d in range(degree):
            c = (c + w[n[O_DENSE] + (j + 1) * degree - 1 - d]) * theta
        c = c * w[H]
        k = at(w, n[O_K] + j * (2 * nv + 1))
        for i in range(2 * nv):
            y[i] += c * k[i]


@loop
def state_at(e: iptr, theta: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """q, v at the fraction θ of the step under way."""
    retract = entry_at(e, E_RETRACT)
    nv = n[NV]
    y = at(w, n[O_STAGE])
    interpolate(theta, y, w, n)
    for i in range(nv):
        v[i] = y[nv + i]
    t = w[T] + theta * w[H]
    retract(t, at(w, n[O_Q]), v, at(w, n[O_U]), at(w, n[O_P]), y, q, scratch)
