"""Back to the closures: Φ(q, t) = 0 and G v = ν, by the shortest way in the metric of M.

    q := q ⊞ δ with G δ = −Φ, repeated;    v := v + δ with G δ = ν − G v;    δᵀM δ least

The entries `correct_q` and `correct_v` give δ. Where they stall (rank lost), the pivoted solver
gives it from `terms`; it also does the first few projections of a run, so that a run which hardly
needs any does not wait for the two entries to be compiled. A state that meets its tolerances is
left as it is, so projecting twice is projecting once.

Public names: Projection, project, residuals.

Source: HW2 §VII.2 (projection methods).
Differs: in the metric of the mass matrix, not of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.errors import SimulationError
from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.solvers.linear.dense import largest, saddle

from .layout import (
    DETAIL,
    E_CLOSURE,
    E_CORRECT_Q,
    E_RETRACT,
    E_TERMS,
    FALLBACKS,
    GOOD,
    HAS_CORRECT_Q,
    HAS_MOVED,
    HAS_TERMS,
    ITERATIONS,
    LOST,
    NC,
    NEEDS_CORRECT_Q,
    NEEDS_TERMS,
    NPHI,
    NQ,
    NV,
    O_OUT,
    O_P,
    O_STAGE,
    O_TQ,
    O_TV,
    O_U,
    PIVOTS_LEFT,
    POSITION_TOLERANCE,
    POSITIONS_LOST,
    PROJECTIONS,
    S_DENSE,
    VELOCITIES_LOST,
    VELOCITY_TOLERANCE,
    WORST,
)

STALL = 0.5
"""A correction that leaves more than this part of the residual does not converge."""

SLACK = 1e5
"""A correction that stalls within this factor of its tolerance has met rounding, not rank loss;
it is not made, so that a projected state stays as it is."""


@final
@dataclass(frozen=True, slots=True)
class Projection:
    """When and how far a state is brought back to its closures.

    The tolerances ask for rounding, on purpose. What is left of Φ = 0 and G v = ν stays as it is
    between projections, and near a singular position, where a singular value σ of G goes to zero,
    it is a position or velocity of its size over σ. Rods of a four-bar that are off by 4e-14 part
    near its flat position, and a tight tolerance follows them to another branch.

    Attributes:
        position: largest |Φ| that is left alone, times 1 + max |q|.
        velocity: largest |G v − ν| that is left alone, times 1 + max |v|.
        lost: largest residual, with the same factors, that a projection may end with.
        iterations: Newton corrections at most.
        start: largest residual, with the same factors, that a start may have.
    """

    position: float = 1e-16
    velocity: float = 1e-16
    lost: float = 1e-8
    iterations: int = 12
    start: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "lost", "start"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise SimulationError(
                    f"the projection's {name} tolerance is {value}; it is positive."
                )
        if self.iterations < 1:
            raise SimulationError("a projection needs at least one iteration.")


@loop
def residuals(e: iptr, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """Φ and G v − ν into the block OUT."""
    closure = entry_at(e, E_CLOSURE)
    closure(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, at(w, n[O_OUT]), scratch)


@loop
def project(e: iptr, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """q and v back to the closures, in place, where they are farther off than the tolerances."""
    if n[NC] == 0:
        return GOOD
    out = at(w, n[O_OUT])
    residuals(e, t, q, v, w, n, scratch)
    worst = largest(n[NPHI], out)
    size = 1.0 + largest(n[NQ], q)
    n[HAS_MOVED] = 0
    if not (worst <= w[POSITION_TOLERANCE] * size):
        status = corrections(e, 0, worst, size, t, q, v, w, n, scratch)
        if status != GOOD:
            return status
        residuals(e, t, q, v, w, n, scratch)
    worst = largest(n[NC], at(out, n[NPHI]))
    size = 1.0 + largest(n[NV], v)
    if not (worst <= w[VELOCITY_TOLERANCE] * size):
        status = corrections(e, 1, worst, size, t, q, v, w, n, scratch)
        if status != GOOD:
            return status
    n[PROJECTIONS] += n[HAS_MOVED]
    return GOOD


@loop
def corrections(
    e: iptr,
    level: i64,
    worst: f64,
    size: f64,
    t: f64,
    q: ptr,
    v: ptr,
    w: ptr,
    n: iptr,
    scratch: ptr,
) -> i64:
    """Corrections of q (level 0) or v (level 1) while they help; if one kind stalls, the other."""
    has_switched = 0
    is_pivoted = 1 if n[PIVOTS_LEFT] > 0 else 0
    tolerance = w[POSITION_TOLERANCE + level] * size
    for _ in range(n[ITERATIONS]):
        if worst <= tolerance:
            return GOOD
        status = correction(e, level, is_pivoted, t, q, v, w, n, scratch)
        if status != GOOD:
            return status
        after = residual_moved(e, level, t, q, v, w, n, scratch)
        has_stalled = 0 if after < STALL * worst else 1
        if has_stalled == 1 and worst <= SLACK * tolerance:
            return GOOD
        if after < worst:
            worst = after
            take(level, q, v, w, n)
        if has_stalled == 1:
            if has_switched == 1:
                break
            has_switched = 1
            is_pivoted = 1 - is_pivoted
            n[FALLBACKS] += is_pivoted
    return verdict(worst, size, level, w, n)


@loop
def correction(
    e: iptr, level: i64, is_pivoted: i64, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr
) -> i64:
    """δ into the block STAGE, from the generated entry or the pivoted solver; or what it needs."""
    if is_pivoted == 1:
        if n[HAS_TERMS] == 0:
            return NEEDS_TERMS
        pivoted(e, level, t, q, v, w, n, scratch)
    else:
        if n[HAS_CORRECT_Q + level] == 0:
            return NEEDS_CORRECT_Q + level
        correct = entry_at(e, E_CORRECT_Q + level)
        correct(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, at(w, n[O_STAGE]), scratch)
    return GOOD


@loop
def residual_moved(
    e: iptr, level: i64, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr
) -> f64:
    """The largest residual after a move by δ; the state moved lies beside the trial state."""
    nv = n[NV]
    delta = at(w, n[O_STAGE])
    if level == 0:
        retract = entry_at(e, E_RETRACT)
        moved_q = at(w, n[O_TQ] + n[NQ])
        retract(t, q, v, at(w, n[O_U]), at(w, n[O_P]), delta, moved_q, scratch)
        residuals(e, t, moved_q, v, w, n, scratch)
        return largest(n[NPHI], at(w, n[O_OUT]))
    moved_v = at(w, n[O_TV] + nv)
    for i in range(nv):
        moved_v[i] = v[i] + delta[i]
    residuals(e, t, q, moved_v, w, n, scratch)
    return largest(n[NC], at(w, n[O_OUT] + n[NPHI]))


@loop
def take(level: i64, q: ptr, v: ptr, w: ptr, n: iptr) -> None:
    """The state moved becomes the state."""
    n[HAS_MOVED] = 1
    if level == 0:
        for i in range(n[NQ]):
            q[i] = w[n[O_TQ] + n[NQ] + i]
    else:
        for i in range(n[NV]):
            v[i] = w[n[O_TV] + n[NV] + i]


@loop
def verdict(worst: f64, size: f64, level: i64, w: ptr, n: iptr) -> i64:
    """GOOD if what is left may be left; otherwise notes the worst row and says what was lost."""
    if worst <= w[LOST] * size:
        return GOOD
    note_worst(level, w, n)
    return POSITIONS_LOST if level == 0 else VELOCITIES_LOST


@loop
def note_worst(level: i64, w: ptr, n: iptr) -> None:
    """The row of the largest residual in the block OUT into DETAIL, its size into WORST."""
    first = n[O_OUT] + level * n[NPHI]
    count = n[NPHI] if level == 0 else n[NC]
    w[WORST] = -1.0
    for k in range(count):
        size = abs(w[first + k])
        if not (size <= w[WORST]):
            w[WORST] = size
            n[DETAIL] = k


@loop
def pivoted(e: iptr, level: i64, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """δ of positions (level 0) or velocities (level 1) into the block STAGE, pivoted."""
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    nc = n[NC]
    nphi = n[NPHI]
    M = at(scratch, n[S_DENSE])
    terms(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, M, scratch)
    n[PIVOTS_LEFT] = max(n[PIVOTS_LEFT] - 1, 0)
    G = at(M, nv * nv)
    f = at(G, nc * nv)
    right = at(f, nv)
    phi = at(right, nc)
    lam = at(phi, nphi + nc)
    for i in range(nv):
        f[i] = 0.0
    rows = nc
    if level == 0:
        rows = nphi
        for k in range(nphi):
            right[k] = -phi[k]
    else:
        for k in range(nc):
            right[k] = phi[nphi + k]
            for i in range(nv):
                right[k] -= G[k * nv + i] * v[i]
    saddle(nv, rows, M, G, f, right, at(w, n[O_STAGE]), lam, at(n, DETAIL), at(lam, nc))
