"""Generalized α on closures: steps of order 2 that damp what vibrates too fast for them.

With β, γ, α_m, α_f from the spectral radius ρ, the unknowns a₁ and λ of a step over h follow from

    ξ = h v + h² ((½ − β) a + β a₁),   v₁ = v + h ((1 − γ) a + γ a₁),   q₁ = q ⊞ ξ        (alpha-1)
    (1 − α_m) a₁ + α_m a = (1 − α_f) v̇₁ + α_f v̇                                           (alpha-2)
    M v̇₁ + h = τ + Gᵀ λ,   Φ = 0,   G v = ν for closures of velocities,   at q₁, v₁        (alpha-3)

by Newton's method, its slopes taken once a step. They are exact but for closures: Gᵀ is that of the
beginning, and what G changes with q is left out of G v. Velocities are projected afterwards, as
those of every method. a is an acceleration about h (α_m − α_f) later than v̇: it is carried from
step to step, and begins with v̇ where a run does.

Of a free body the translation is expressed in axes that turn. In (alpha-1) and (alpha-2) its
velocity and accelerations are those in the axes at the beginning, where B turns what is expressed
at the end; the accelerations are v̇ + ω × v. What that adds to the slopes is small beside them and
left out.

Public names: ALPHA, alpha_step, keep_accelerations.

Source: ARN (generalized α for constrained systems on Lie groups); CH93 (the coefficients).
Differs: ξ̇ = B(ξ) v keeps the chart of each joint; velocities are projected.
"""

from __future__ import annotations

from types import MappingProxyType

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import words_of
from liaison.solvers.linear.dense import largest
from liaison.solvers.linear.pivoting import (
    ROUNDS,
    factorize_completely,
    is_converged,
    scale_evenly,
    solve_completely,
)

from .advance import SMOOTH, commit, set_step
from .explicit import derivative, refresh
from .layout import GOOD, LAND, NOT_CONVERGED, TRY, Entries, Run, Terms
from .variational import note_stages


@loop
def alpha_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state at the end of the step of size `run.h` into `run.y`; GOOD, or why not.

    `run.newton` holds K, scales, right-hand side, B, slopes, v̇ and terms of the end, G of the
    beginning.
    """
    nv = run.nv
    nc = run.nc
    m = nv + nc
    if run.is_fresh == 0:
        status = restart(e, run, scratch)
        if status != GOOD:
            return status
    for i in range(2 * nv + nc):
        run.later.floats[i] = run.earlier.floats[i]
    K = run.newton
    scale = at(K, m * m + 2 * m)
    right = at(scale, m)
    B = at(right, 2 * m)
    rows_at_beginning(e, run, scratch, B)
    terms_at_end(e, run, scratch, B)
    matrix(e, run, scratch, K, B)
    scale_evenly(nv, m, K, scale)
    rank = factorize_completely(m, K, at(K, m * m))
    before = 0.0
    for turn in range(ROUNDS):
        missed(run, right, at(B, 3 * nv * nv))
        for i in range(m):
            right[i] = right[i] * scale[i]
        solve_completely(m, rank, K, at(K, m * m), right)
        size = correct(run, scale, right, B)
        terms_at_end(e, run, scratch, B)
        whole = largest(nv, run.y)
        verdict = is_converged(turn, size, before, whole, 1.0 + largest(run.nq, run.q))
        if verdict > 0:
            note_stages(run)
            to_new_axes(run, B)
            return GOOD
        if verdict < 0:
            return NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def restart(e: Entries, run: Run, scratch: ptr) -> i64:
    """a = v̇ at the beginning, λ unknown: 0."""
    nv = run.nv
    y = run.stage
    k = run.k[0]
    old = run.earlier
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = run.v[i]
    status = derivative(e, run.t, y, k, run, scratch)
    for i in range(nv):
        old.a[i] = k[nv + i]
        old.vdot[i] = k[nv + i]
        if run.turn[i] >= 0:
            old.a[i] += across(run.turn[i], i, run.v)
            old.vdot[i] = old.a[i]
    for row in range(run.nc):
        old.lam[row] = 0.0
    return status


@loop
def across(omega: i64, i: i64, v: ptr) -> f64:
    """The i-th entry of ω × v; ω and what is expressed in its axes follow each other."""
    j = (i - omega + 1) % 3
    k = (i - omega + 2) % 3
    return float(v[omega + j] * v[omega + 3 + k] - v[omega + k] * v[omega + 3 + j])


@loop
def turned_back(i: i64, x: ptr, run: Run, B: ptr) -> f64:
    """The i-th entry of x, expressed in the axes of the end if its axes turn."""
    omega = run.turn[i]
    if omega < 0:
        return float(x[i])
    total = 0.0
    for j in range(omega + 3, omega + 6):
        total += B[j * run.nv + i] * x[j]
    return total


@loop
def to_new_axes(run: Run, B: ptr) -> None:
    """a and v̇ of the end, expressed in the axes of the end."""
    nv = run.nv
    new = run.later
    kept = run.stage
    for i in range(nv):
        kept[i] = turned_back(i, new.a, run, B)
        kept[nv + i] = turned_back(i, new.vdot, run, B)
    for i in range(nv):
        new.a[i] = kept[i]
        new.vdot[i] = kept[nv + i]


@loop
def coefficient(number: i64, run: Run) -> f64:
    """α_m, α_f, γ, β of the spectral radius, by number."""
    rho = run.radius
    am = (2.0 * rho - 1.0) / (rho + 1.0)
    af = rho / (rho + 1.0)
    gamma = 0.5 + af - am
    if number == 0:
        return float(am)
    if number == 1:
        return float(af)
    return float(gamma if number == 2 else 0.25 * (gamma + 0.5) * (gamma + 0.5))


@loop
def terms_at_end(e: Entries, run: Run, scratch: ptr, B: ptr) -> None:
    """ξ, v₁ of (alpha-1) into `run.y`, v̇₁ of (alpha-2), and the terms of (alpha-3) there.

    B comes first, then slopes (not touched), v̇₁, and the terms.
    """
    nv = run.nv
    h = run.h
    am = coefficient(0, run)
    af = coefficient(1, run)
    gamma = coefficient(2, run)
    beta = coefficient(3, run)
    old = run.earlier
    new = run.later
    y = run.y
    v = run.v
    for i in range(nv):
        y[i] = h * v[i] + h * h * ((0.5 - beta) * old.a[i] + beta * new.a[i])
        y[nv + i] = v[i] + h * ((1.0 - gamma) * old.a[i] + gamma * new.a[i])
        new.vdot[i] = ((1.0 - am) * new.a[i] + am * old.a[i] - af * old.vdot[i]) / (1.0 - af)
    q = run.trial.q
    u = run.u
    p = run.p
    e.turn(run.t, run.q, v, u, p, y, B, scratch)
    vdot = at(B, 3 * nv * nv)
    for i in range(nv):
        vdot[i] = turned_back(i, at(y, nv), run, B)
    for i in range(nv):
        y[nv + i] = vdot[i]
    for i in range(nv):
        vdot[i] = turned_back(i, new.vdot, run, B)
        if run.turn[i] >= 0:
            vdot[i] -= across(run.turn[i], i, at(y, nv))
    e.retract(run.t_new, run.q, v, u, p, y, q, scratch)
    refresh(e, run.t_new, q, at(y, nv), run, scratch)
    e.terms(run.t_new, q, at(y, nv), u, p, q, at(vdot, nv), scratch)
    run.evaluations += 1


@loop
def matrix(e: Entries, run: Run, scratch: ptr, K: ptr, B: ptr) -> None:
    """Slopes of (alpha-3) by η, which moves q₁ to q₁ ⊞ η, and by λ."""
    nv = run.nv
    m = nv + run.nc
    y = run.y
    Jq = at(B, nv * nv)
    vdot = at(Jq, 2 * nv * nv)
    x = run.newton[m * m + 3 * m :]
    for i in range(nv):
        x[i] = vdot[i]
    for k in range(run.nc):
        x[nv + k] = run.later.lam[k]
    u = run.u
    e.d_motion(run.t_new, run.trial.q, at(y, nv), u, run.p, x, Jq, scratch)
    fill(run, K, B, Terms(at(vdot, nv), run))


@loop
def rows_at_beginning(e: Entries, run: Run, scratch: ptr, B: ptr) -> None:
    """G at the beginning, behind the terms of the end.

    Impulses act along it in the slopes: on the closures, rows that depend on others do so to
    rounding, and get none. Where the step is only guessed to end they hardly do.
    """
    nv = run.nv
    nc = run.nc
    terms = Terms(at(B, 3 * nv * nv + nv), run)
    if nc > 0:
        q = run.q
        refresh(e, run.t, q, run.v, run, scratch)
        e.terms(run.t, q, run.v, run.u, run.p, q, terms.floats, scratch)
        begun = at(B, 3 * nv * nv + nv + words_of(Terms, run))
        for k in range(nc):
            for i in range(nv):
                begun[k * nv + i] = terms.G[k, i]


@loop
def fill(run: Run, K: ptr, B: ptr, terms: Terms) -> None:
    """K from the slopes that follow B, and from M and G."""
    nv = run.nv
    m = nv + run.nc
    h = run.h
    beta = coefficient(3, run)
    by_v = coefficient(2, run) / (h * beta)
    by_vdot = (1.0 - coefficient(0, run)) / ((1.0 - coefficient(1, run)) * h * h * beta)
    Jq = at(B, nv * nv)
    Jv = at(Jq, nv * nv)
    begun = at(B, 3 * nv * nv + nv + words_of(Terms, run))
    for i in range(m * m):
        K[i] = 0.0
    for i in range(nv):
        for j in range(nv):
            total = Jq[i * nv + j]
            for k in range(nv):
                c = by_vdot * terms.M[i, k] + by_v * Jv[i * nv + k]
                total += c * moved(k, j, run, B)
            K[i * m + j] = total
    for k in range(run.nc):
        for j in range(nv):
            K[j * m + nv + k] = -begun[k * nv + j]
            row = terms.G[k, j]
            if k >= run.nphi:
                row = 0.0
                for l in range(nv):
                    row += by_v * terms.G[k, l] * moved(l, j, run, B)
            K[(nv + k) * m + j] = row


@loop
def moved(i: i64, j: i64, run: Run, B: ptr) -> f64:
    """∂v₁/∂η h β/γ: B, but 1 for translations in turning axes, which are those of the end again."""
    if run.turn[i] >= 0:
        return 1.0 if i == j else 0.0
    return float(B[i * run.nv + j])


@loop
def missed(run: Run, right: ptr, vdot: ptr) -> None:
    """What (alpha-3) misses, with its sign turned; the terms follow v̇₁."""
    nv = run.nv
    nc = run.nc
    terms = Terms(at(vdot, nv), run)
    lam = run.later.lam
    v = run.y[nv:]
    for i in range(nv):
        right[i] = terms.f[i]
        for j in range(nv):
            right[i] -= terms.M[i, j] * vdot[j]
        for k in range(nc):
            right[i] += terms.G[k, i] * lam[k]
    for k in range(nc):
        if k < run.nphi:
            right[nv + k] = -terms.phi[k]
        else:
            right[nv + k] = terms.nu[k]
            for j in range(nv):
                right[nv + k] -= terms.G[k, j] * v[j]


@loop
def correct(run: Run, scale: ptr, right: ptr, B: ptr) -> f64:
    """a₁ and λ corrected by the scaled (η, δλ); the size of η."""
    nv = run.nv
    nc = run.nc
    change = coefficient(3, run) * run.h * run.h
    new = run.later
    for i in range(nv + nc):
        right[i] = right[i] * scale[i]
    for i in range(nv):
        for j in range(nv):
            new.a[i] += B[i * nv + j] * right[j] / change
    for k in range(nc):
        new.lam[k] += right[nv + k]
    return largest(nv, right)


@loop
def keep_accelerations(run: Run) -> None:
    """a, v̇ and λ of the end become those of the beginning; not where an event cut the step."""
    old = run.earlier.floats
    new = run.later.floats
    for i in range(2 * run.nv + run.nc):
        old[i] = new[i]
    run.is_fresh = 1 - run.is_stopping


@loop
def try_alpha(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """One attempt."""
    status = set_step(e, run, scratch, event_log)
    if status != GOOD or run.phase != TRY:
        return status
    status = alpha_step(e, run, scratch)
    run.phase = LAND if status == GOOD else TRY
    return status


@loop
def commit_alpha(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state becomes the state, with its accelerations."""
    status = commit(e, run, scratch, event_log)
    keep_accelerations(run)
    return status


ALPHA = MappingProxyType({**SMOOTH, "attempt": try_alpha, "commit": commit_alpha})
"""The phases of steps of generalized α."""
