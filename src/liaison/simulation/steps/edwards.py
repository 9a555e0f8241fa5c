"""Edwards' scheme: attitudes turned by ∫ω of each step, corrected for an axis that turns within it.

Velocities are those of Heun's method, positions follow from them by the trapezoid; an attitude is
turned multiplicatively by the corrected rotation vector:

    v̂ = v + h v̇(q, v),   v₁ = v + h/2 (v̇(q, v) + v̇(q ⊞ h v, v̂)),   ξ = h/2 (v + v₁)      (edwards-1)
    Δ = h/2 (ω + ω₁),   Δ* = Δ + w Δ⁻ × Δ,   Q₁ = Q ⊗ exp(Δ*/2)                          (edwards-2)

Δ⁻ belongs to the step before, without its correction; w is ¹⁄₁₂ for equal steps. The order is 2; of
velocities in axes that turn (of a free body) ξ is the trapezoid of their local rates.

Public names: EDWARDS, edwards_step, keep_turns.

Source: LL 4.4.5 (4.5).
Differs: for a step h after one of h⁻, w = h²/(6 h⁻ (h⁻ + h)), so that the correction is h³/12 ω × ω̇
    for any h⁻; a step without one before it takes h²/12 ω × ω₁, which is the same for steady ω̇.
"""

from __future__ import annotations

from types import MappingProxyType

from liaison.program.loops.language import f64, i64, loop, ptr

from .advance import SMOOTH, commit, set_step
from .explicit import derivative
from .layout import GOOD, LAND, NOT_FINITE, TRY, Entries, Run
from .variational import note_stages


@loop
def edwards_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state at the end of the step of size `run.h` into `run.y`; GOOD, or why not."""
    nv = run.nv
    h = run.h
    v = run.v
    y = run.stage
    first = run.k[0]
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    status = derivative(e, run.t, y, first, run, scratch)
    if status != GOOD:
        return status
    for i in range(2 * nv):
        y[i] += h * first[i]
    status = derivative(e, run.t_new, y, run.k[1], run, scratch)
    if status != GOOD:
        return status
    return trapezoid(run)


@loop
def trapezoid(run: Run) -> i64:
    """(edwards-1) from both slopes, and attitudes by (edwards-2)."""
    nv = run.nv
    half = 0.5 * run.h
    new = run.y
    bad = 0.0
    for i in range(nv):
        new[nv + i] = run.v[i] + half * (run.k[0, nv + i] + run.k[1, nv + i])
        new[i] = half * (run.v[i] + new[nv + i])
        omega = run.turn[i]
        if omega >= 0 and i - omega >= 3:
            new[i] = half * (run.k[0, i] + run.k[1, i])
        bad += new[nv + i] - new[nv + i]
        run.later.a[i] = new[i]
    if bad != 0.0:
        return NOT_FINITE
    for i in range(nv):
        if run.turn[i] == i:
            corrected(i, run)
    note_stages(run)
    return GOOD


@loop
def corrected(i: i64, run: Run) -> None:
    """The rotation vector that begins at entry i of `run.y`, with Edwards' correction."""
    h = run.h
    new = run.y
    turn = run.later.a
    if run.is_fresh > 0:
        before = run.earlier.vdot[0]
        w = h * h / (6.0 * before * (before + h))
        for k in range(3):
            new[i + k] += w * crossed(i, k, run.earlier.a, turn)
    else:
        for k in range(3):
            new[i + k] += h * h / 12.0 * crossed(i, k, run.v, new[run.nv :])


@loop
def crossed(i: i64, k: i64, a: ptr, b: ptr) -> f64:
    """The k-th entry of a × b of vectors that begin at entry i."""
    j = i + (k + 1) % 3
    l = i + (k + 2) % 3
    return float(a[j] * b[l] - a[l] * b[j])


@loop
def keep_turns(run: Run) -> None:
    """Turns of the step become those of the one before; not where an event cut it."""
    for i in range(run.nv):
        run.earlier.a[i] = run.later.a[i]
    run.earlier.vdot[0] = run.h
    run.is_fresh = 1 - run.is_stopping


@loop
def try_edwards(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """One attempt."""
    status = set_step(e, run, scratch, event_log)
    if status != GOOD or run.phase != TRY:
        return status
    status = edwards_step(e, run, scratch)
    run.phase = LAND if status == GOOD else TRY
    return status


@loop
def commit_edwards(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state becomes the state, with its turns."""
    status = commit(e, run, scratch, event_log)
    keep_turns(run)
    return status


EDWARDS = MappingProxyType({**SMOOTH, "attempt": try_edwards, "commit": commit_edwards})
"""The phases of steps of Edwards' scheme."""
