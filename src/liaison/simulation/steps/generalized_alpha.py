"""Generalized α on closures: steps of order 2 that damp what vibrates too fast for them.

With β, γ, α_m, α_f from the spectral radius ρ, the unknowns a₁ and λ of a step over h follow from

    ξ = h v + h² ((½ − β) a + β a₁),   v₁ = v + h ((1 − γ) a + γ a₁),   q₁ = q ⊞ ξ        (alpha-1)
    (1 − α_m) a₁ + α_m a = (1 − α_f) v̇₁ + α_f v̇                                           (alpha-2)
    M v̇₁ + h = τ + Gᵀ λ,   Φ = 0,   G v = ν for closures of velocities,   at q₁, v₁        (alpha-3)

by Newton's method, its slopes taken once a step. They are exact but for closures: Gᵀ is that of the
beginning, and what G changes with q is left out of G v. Velocities are projected afterwards, as
those of every method. a is an acceleration about h (α_m − α_f) later than v̇: it is carried from
step to step, and begins with v̇ where a run does.

Of a free body the translation is told in axes that turn. In (alpha-1) and (alpha-2) its velocity
and accelerations are those in the axes at the beginning, where B turns what is told at the end; the
accelerations are v̇ + ω × v. What that adds to the slopes is small beside them and left out.

Public names: alpha_step, keep_accelerations.

Source: ARN (generalized α for constrained systems on Lie groups); CH93 (the coefficients).
Differs: ξ̇ = B(ξ) v keeps the chart of each joint; velocities are projected.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.solvers.linear.dense import largest
from liaison.solvers.linear.pivoting import (
    ROUNDS,
    factorize_completely,
    is_found,
    scale_evenly,
    solve_completely,
)

from .explicit import derivative, refresh
from .layout import (
    E_MOTION,
    E_RETRACT,
    E_TERMS,
    E_TURN,
    EVALUATIONS,
    GOOD,
    IS_FRESH,
    IS_STOPPING,
    M_TURN,
    NC,
    NOT_CONVERGED,
    NPHI,
    NQ,
    NV,
    O_ALPHA,
    O_K,
    O_NEWTON,
    O_P,
    O_Q,
    O_STAGE,
    O_TQ,
    O_U,
    O_V,
    O_Y,
    RADIUS,
    T_NEW,
    H,
    T,
)
from .variational import note_stages


@loop
def alpha_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The state at the end of the step of size w[H] into the block Y; GOOD, or why not.

    The block ALPHA holds a, v̇, λ of the beginning, then those of the end. The block NEWTON holds
    K, scales, right-hand side, B, slopes, v̇ and terms of the end, G of the beginning.
    """
    nv = n[NV]
    nc = n[NC]
    m = nv + nc
    old = at(w, n[O_ALPHA])
    new = at(old, 2 * nv + nc)
    if n[IS_FRESH] == 0:
        status = restart(e, w, n, scratch)
        if status != GOOD:
            return status
    for i in range(2 * nv + nc):
        new[i] = old[i]
    K = at(w, n[O_NEWTON])
    scale = at(K, m * m + 2 * m)
    right = at(scale, m)
    B = at(right, 2 * m)
    rows_at_beginning(e, w, n, scratch, B)
    terms_at_end(e, w, n, scratch, B)
    matrix(e, w, n, scratch, K, B)
    scale_evenly(nv, m, K, scale)
    rank = factorize_completely(m, K, at(K, m * m))
    before = 0.0
    for turn in range(ROUNDS):
        missed(w, n, right, at(B, 3 * nv * nv))
        for i in range(m):
            right[i] = right[i] * scale[i]
        solve_completely(m, rank, K, at(K, m * m), right)
        size = correct(w, n, scale, right, B)
        terms_at_end(e, w, n, scratch, B)
        whole = largest(nv, at(w, n[O_Y]))
        verdict = is_found(turn, size, before, whole, 1.0 + largest(n[NQ], at(w, n[O_Q])))
        if verdict > 0:
            note_stages(w, n)
            to_new_axes(w, n, B)
            return GOOD
        if verdict < 0:
            return NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@loop
def restart(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """a = v̇ at the beginning, λ unknown: 0."""
    nv = n[NV]
    y = at(w, n[O_STAGE])
    k = at(w, n[O_K])
    old = at(w, n[O_ALPHA])
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = w[n[O_V] + i]
    status = derivative(e, w[T], y, k, w, n, scratch)
    for i in range(nv):
        old[i] = k[nv + i]
        old[nv + i] = k[nv + i]
        if n[n[M_TURN] + i] >= 0:
            old[i] += across(n[n[M_TURN] + i], i, at(w, n[O_V]))
            old[nv + i] = old[i]
    for row in range(n[NC]):
        old[2 * nv + row] = 0.0
    return status


@loop
def across(omega: i64, i: i64, v: ptr) -> f64:
    """The i-th entry of ω × v; ω and what is told in its axes follow each other."""
    j = (i - omega + 1) % 3
    k = (i - omega + 2) % 3
    return float(v[omega + j] * v[omega + 3 + k] - v[omega + k] * v[omega + 3 + j])


@loop
def turned_back(i: i64, x: ptr, n: iptr, B: ptr) -> f64:
    """The i-th entry of x, told in the axes of the end if its axes turn."""
    omega = n[n[M_TURN] + i]
    if omega < 0:
        return float(x[i])
    total = 0.0
    for j in range(omega + 3, omega + 6):
        total += B[j * n[NV] + i] * x[j]
    return total


@loop
def to_new_axes(w: ptr, n: iptr, B: ptr) -> None:
    """a and v̇ of the end, told in the axes of the end."""
    nv = n[NV]
    new = at(w, n[O_ALPHA] + 2 * nv + n[NC])
    kept = at(w, n[O_STAGE])
    for i in range(nv):
        kept[i] = turned_back(i, new, n, B)
        kept[nv + i] = turned_back(i, at(new, nv), n, B)
    for i in range(2 * nv):
        new[i] = kept[i]


@loop
def coefficient(number: i64, w: ptr) -> f64:
    """α_m, α_f, γ, β of the spectral radius, by number."""
    rho = w[RADIUS]
    am = (2.0 * rho - 1.0) / (rho + 1.0)
    af = rho / (rho + 1.0)
    gamma = 0.5 + af - am
    if number == 0:
        return float(am)
    if number == 1:
        return float(af)
    return float(gamma if number == 2 else 0.25 * (gamma + 0.5) * (gamma + 0.5))


@loop
def terms_at_end(e: iptr, w: ptr, n: iptr, scratch: ptr, B: ptr) -> None:
    """ξ, v₁ of (alpha-1) into the block Y, v̇₁ of (alpha-2), and the terms of (alpha-3) there.

    B comes first, then slopes (not touched), v̇₁, and the terms.
    """
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    turn = entry_at(e, E_TURN)
    nv = n[NV]
    h = w[H]
    am = coefficient(0, w)
    af = coefficient(1, w)
    gamma = coefficient(2, w)
    beta = coefficient(3, w)
    old = at(w, n[O_ALPHA])
    new = at(old, 2 * nv + n[NC])
    y = at(w, n[O_Y])
    v = at(w, n[O_V])
    for i in range(nv):
        y[i] = h * v[i] + h * h * ((0.5 - beta) * old[i] + beta * new[i])
        y[nv + i] = v[i] + h * ((1.0 - gamma) * old[i] + gamma * new[i])
        new[nv + i] = ((1.0 - am) * new[i] + am * old[i] - af * old[nv + i]) / (1.0 - af)
    q = at(w, n[O_TQ])
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    turn(w[T], at(w, n[O_Q]), v, u, p, y, B, scratch)
    vdot = at(B, 3 * nv * nv)
    for i in range(nv):
        vdot[i] = turned_back(i, at(y, nv), n, B)
    for i in range(nv):
        y[nv + i] = vdot[i]
    for i in range(nv):
        vdot[i] = turned_back(i, at(new, nv), n, B)
        if n[n[M_TURN] + i] >= 0:
            vdot[i] -= across(n[n[M_TURN] + i], i, at(y, nv))
    retract(w[T_NEW], at(w, n[O_Q]), v, u, p, y, q, scratch)
    refresh(e, w[T_NEW], q, at(y, nv), w, n, scratch)
    terms(w[T_NEW], q, at(y, nv), u, p, q, at(vdot, nv), scratch)
    n[EVALUATIONS] += 1


@loop
def matrix(e: iptr, w: ptr, n: iptr, scratch: ptr, K: ptr, B: ptr) -> None:
    """Slopes of (alpha-3) by η, which moves q₁ to q₁ ⊞ η, and by λ."""
    slopes = entry_at(e, E_MOTION)
    nv = n[NV]
    m = nv + n[NC]
    y = at(w, n[O_Y])
    new = at(w, n[O_ALPHA] + m + nv)
    Jq = at(B, nv * nv)
    vdot = at(Jq, 2 * nv * nv)
    x = at(w, n[O_NEWTON] + m * m + 3 * m)
    for i in range(nv):
        x[i] = vdot[i]
    for k in range(n[NC]):
        x[nv + k] = new[2 * nv + k]
    u = at(w, n[O_U])
    slopes(w[T_NEW], at(w, n[O_TQ]), at(y, nv), u, at(w, n[O_P]), x, Jq, scratch)
    fill(w, n, K, B, at(vdot, nv))


@loop
def rows_at_beginning(e: iptr, w: ptr, n: iptr, scratch: ptr, B: ptr) -> None:
    """G at the beginning, behind the terms of the end.

    Impulses act along it in the slopes: on the closures, rows that depend on others do so to
    rounding, and get none. Where the step is only guessed to end they hardly do.
    """
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    nc = n[NC]
    found = at(B, 3 * nv * nv + nv)
    if nc > 0:
        q = at(w, n[O_Q])
        refresh(e, w[T], q, at(w, n[O_V]), w, n, scratch)
        terms(w[T], q, at(w, n[O_V]), at(w, n[O_U]), at(w, n[O_P]), q, found, scratch)
        begun = at(found, nv * nv + nc * nv + nv + 2 * nc + n[NPHI])
        for i in range(nc * nv):
            begun[i] = found[nv * nv + i]


@loop
def fill(w: ptr, n: iptr, K: ptr, B: ptr, M: ptr) -> None:
    """K from the slopes that follow B, and from M and G."""
    nv = n[NV]
    m = nv + n[NC]
    h = w[H]
    beta = coefficient(3, w)
    by_v = coefficient(2, w) / (h * beta)
    by_vdot = (1.0 - coefficient(0, w)) / ((1.0 - coefficient(1, w)) * h * h * beta)
    Jq = at(B, nv * nv)
    Jv = at(Jq, nv * nv)
    G = at(M, nv * nv)
    begun = at(G, n[NC] * nv + nv + 2 * n[NC] + n[NPHI])
    for i in range(m * m):
        K[i] = 0.0
    for i in range(nv):
        for j in range(nv):
            total = Jq[i * nv + j]
            for k in range(nv):
                c = by_vdot * M[i * nv + k] + by_v * Jv[i * nv + k]
                total += c * moved(k, j, n, B)
            K[i * m + j] = total
    for k in range(n[NC]):
        for j in range(nv):
            K[j * m + nv + k] = -begun[k * nv + j]
            row = G[k * nv + j]
            if k >= n[NPHI]:
                row = 0.0
                for l in range(nv):
                    row += by_v * G[k * nv + l] * moved(l, j, n, B)
            K[(nv + k) * m + j] = row


@loop
def moved(i: i64, j: i64, n: iptr, B: ptr) -> f64:
    """∂v₁/∂η h β/γ: B, but 1 for translations in turning axes, which are told at the end again."""
    if n[n[M_TURN] + i] >= 0:
        return 1.0 if i == j else 0.0
    return float(B[i * n[NV] + j])


@loop
def missed(w: ptr, n: iptr, right: ptr, vdot: ptr) -> None:
    """What (alpha-3) misses, with its sign turned; the terms follow v̇₁."""
    nv = n[NV]
    nc = n[NC]
    M = at(vdot, nv)
    new = at(w, n[O_ALPHA] + 2 * nv + nc)
    lam = at(new, 2 * nv)
    v = at(w, n[O_Y] + nv)
    G = at(M, nv * nv)
    f = at(G, nc * nv)
    phi = at(f, nv + nc)
    nu = at(phi, n[NPHI])
    for i in range(nv):
        right[i] = f[i]
        for j in range(nv):
            right[i] -= M[i * nv + j] * vdot[j]
        for k in range(nc):
            right[i] += G[k * nv + i] * lam[k]
    for k in range(nc):
        if k < n[NPHI]:
            right[nv + k] = -phi[k]
        else:
            right[nv + k] = nu[k]
            for j in range(nv):
                right[nv + k] -= G[k * nv + j] * v[j]


@loop
def correct(w: ptr, n: iptr, scale: ptr, right: ptr, B: ptr) -> f64:
    """a₁ and λ corrected by the scaled (η, δλ); the size of η."""
    nv = n[NV]
    nc = n[NC]
    change = coefficient(3, w) * w[H] * w[H]
    new = at(w, n[O_ALPHA] + 2 * nv + nc)
    for i in range(nv + nc):
        right[i] = right[i] * scale[i]
    for i in range(nv):
        for j in range(nv):
            new[i] += B[i * nv + j] * right[j] / change
    for k in range(nc):
        new[2 * nv + k] += right[nv + k]
    return largest(nv, right)


@loop
def keep_accelerations(w: ptr, n: iptr) -> None:
    """a, v̇ and λ of the end become those of the beginning; not where an event cut the step."""
    size = 2 * n[NV] + n[NC]
    old = at(w, n[O_ALPHA])
    for i in range(size):
        old[i] = old[size + i]
    n[IS_FRESH] = 1 - n[IS_STOPPING]
