"""One explicit step in local coordinates, as loops that read a tableau from arrays.

At the start of a step the chart is centred on the state: q = q₀ ⊞ ξ with ξ = 0, and y = (ξ, v) is
integrated with ξ̇, v̇ from the entry `rate`. Where its residual shows that the generated elimination
lost accuracy, the pivoted solver takes over for that stage. At ξ = 0 the local rate ξ̇ is v, so the
last stage of a step can be the first of the next one.

Public names: CONSISTENCY, refresh, derivative, stages, new_state, size_of, error_norm,
interpolate, state_at, through_five.

Source: HNW1 §II.4 (error norm); HLW §IV.8 (Lie-group methods through a local chart).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.program.loops.records import words_of
from liaison.solvers.linear.dense import RANK_TOLERANCE, largest, saddle_of_rank

from .layout import GOOD, INCONSISTENT, NEEDS_TERMS, NOT_FINITE, Dense, Entries, Run

CONSISTENCY = 1e-6
"""Largest relative miss of a closure row, after the pivoted solver, that is still a solution."""


CURVED = 10.0
"""Times what a stage misses of its closures [m, rad], by which rows that depend on others there may
be independent of them, and miss each other: stages lie beside the closures, where rows turn."""

FAR = 1e-3
"""The most of that: a stage farther off says nothing of the motion."""


@loop
def refresh(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """Inputs given by formulas, evaluated into u."""
    if run.ni > 0:
        u = run.u
        out = run.formulas
        e.inputs(t, q, v, u, run.p, q, out, scratch)
        for i in range(run.ni):
            u[run.input[i]] = out[i]


@loop
def derivative(e: Entries, t: f64, y: ptr, k: ptr, run: Run, scratch: ptr) -> i64:
    """k = (ξ̇, v̇, residual) at y = (ξ, v) in the chart of the step; GOOD, or why not."""
    nv = run.nv
    q0 = run.q
    v = at(y, nv)
    u = run.u
    p = run.p
    if run.inputs_read_q > 0:
        q = run.trial.q
        e.retract(t, q0, v, u, p, y, q, scratch)
        refresh(e, t, q, v, run, scratch)
    else:
        refresh(e, t, q0, v, run, scratch)
    run.evaluations += 1
    e.rate(t, q0, v, u, p, y, k, scratch)
    limit = run.residual_tolerance
    if run.nc == 0 or (k[2 * nv] <= limit and run.is_in_doubt == 0):
        return GOOD
    if k[2 * nv] <= limit * (1.0 + largest(nv, at(k, nv))):
        return GOOD
    return solved_again(e, t, y, k, run, scratch)


@loop
def solved_again(e: Entries, t: f64, y: ptr, k: ptr, run: Run, scratch: ptr) -> i64:
    """v̇ in k anew, by the pivoted solver; kept if it misses the closures less than before."""
    if run.has_terms == 0:
        return NEEDS_TERMS
    nv = run.nv
    nc = run.nc
    q = run.trial.q
    v = at(y, nv)
    u = run.u
    p = run.p
    e.retract(t, run.q, v, u, p, y, q, scratch)
    dense = Dense(scratch[run.scratch_dense :], run)
    area = scratch[run.scratch_dense + words_of(Dense, run) :]
    e.terms(t, q, v, u, p, q, dense.floats, scratch)
    run.fallbacks += 1
    vdot = dense.vdot
    before = k[2 * nv] / (1.0 + largest(nv, at(k, nv)))
    M = flat(dense.M)
    G = flat(dense.G)
    off = min(CURVED * largest(run.nphi, dense.phi), FAR)
    rank = max(RANK_TOLERANCE, off)
    lam = dense.lam
    miss = saddle_of_rank(nv, nc, M, G, dense.f, dense.gamma, vdot, lam, run.detail, rank, area)
    after = miss / (1.0 + largest(nv, vdot))
    if miss >= 0.0 and not (after >= before):
        for i in range(nv):
            k[nv + i] = vdot[i]
        before = after
    if before <= max(CONSISTENCY, off):
        return GOOD
    run.worst = before
    # NaN alone differs from itself
    return INCONSISTENT if before == before else NOT_FINITE


@loop
def stages(e: Entries, first: i64, last: i64, run: Run, scratch: ptr) -> i64:
    """Stages `first` to `last` − 1 of the step of size `run.h`; GOOD, or why not."""
    h = run.h
    y = run.stage
    for i in range(first, last):
        combine(h, i, run.a[i], y, run)
        k = run.k[i]
        t = run.t + run.c[i] * h
        status = derivative(e, t, y, k, run, scratch)
        if status != GOOD:
            return status
    return GOOD


@loop
def combine(h: f64, count: i64, weights: ptr, y: ptr, run: Run) -> None:
    """y = (0, v) + h Σ weights_j k_j over the first `count` stages."""
    nv = run.nv
    v = run.v
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    for j in range(count):
        c = h * weights[j]
        if c != 0.0:
            k = run.k[j]
            for i in range(2 * nv):
                y[i] += c * k[i]


@loop
def new_state(run: Run) -> i64:
    """The state at the end of the step into `run.y`; 1 if every number of it is finite."""
    y = run.y
    combine(run.h, run.ns, run.b, y, run)
    bad = 0.0
    for i in range(2 * run.nv):
        bad += y[i] - y[i]
    return 1 if bad == 0.0 else 0


@loop
def size_of(i: i64, xi: f64, run: Run) -> f64:
    """The size that a relative error of the i-th local coordinate is measured by."""
    slot = run.scale[i]
    if slot < 0:
        return float(run.scales.local[i])
    q = run.q[slot]
    return float(max(abs(q), abs(q + xi)))


@loop
def error_norm(run: Run) -> f64:
    """max |error_i| / (atol + rtol size_i) over (ξ, v); a step is accepted up to 1."""
    nv = run.nv
    y = run.y
    v = run.v
    norm = 0.0
    bad = 0.0
    for i in range(2 * nv):
        error = 0.0
        for j in range(run.ns):
            error += run.e[j] * run.k[j, i]
        size = size_of(i, y[i], run) if i < nv else max(abs(v[i - nv]), abs(y[i]))
        ratio = abs(error * run.h) / (run.atols[i] + run.rtol * size)
        bad += ratio - ratio
        if ratio > norm:
            norm = ratio
    return norm + bad


@loop
def interpolate(theta: f64, y: ptr, run: Run) -> None:
    """y(θ) inside the step under way."""
    nv = run.nv
    degree = run.nd
    v = run.v
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    for j in range(run.ns):
        c = 0.0
        for d in range(degree):
            c = (c + run.dense[j, degree - 1 - d]) * theta
        c = c * run.h
        k = run.k[j]
        for i in range(2 * nv):
            y[i] += c * k[i]


@loop
def state_at(e: Entries, theta: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """q, v at the fraction θ of the step under way."""
    nv = run.nv
    y = run.stage
    interpolate(theta, y, run)
    for i in range(nv):
        v[i] = y[nv + i]
    t = run.t + theta * run.h
    e.retract(t, run.q, v, run.u, run.p, y, q, scratch)


@loop
def through_five(y0: f64, y1: f64, y2: f64, y3: f64, y4: f64, x: f64) -> f64:
    """The polynomial of degree four through values at 0, 1, 2, 3, 4, by Newton's differences."""
    a = y1 - y0
    b = y2 - y1
    c = y3 - y2
    d = y4 - y3
    second = b - a
    third = c - b - second
    fourth = d - c - (c - b) - third
    y = third / 3.0 + (x - 3.0) * fourth / 12.0
    y = second + (x - 2.0) * y
    y = a + 0.5 * (x - 1.0) * y
    return y0 + x * y
