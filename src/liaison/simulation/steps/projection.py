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
from liaison.lazy import Brief
from liaison.program.loops.language import at, entry_at, f64, flat, i64, loop, ptr
from liaison.program.loops.records import words_of
from liaison.solvers.linear.dense import largest_in, saddle

from .layout import (
    GOOD,
    NEEDS_CORRECT_Q,
    NEEDS_TERMS,
    POSITIONS_LOST,
    VELOCITIES_LOST,
    Dense,
    Entries,
    Run,
)

STALL = 0.5
"""A correction that leaves more than this part of the residual does not converge."""

SLACK = 1e5
"""A correction that stalls within this factor of its tolerance has met rounding, not rank loss;
it is not made, so that a projected state stays as it is."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Projection(Brief):
    """When and how far a state is brought back to its closures.

    The tolerances ask for rounding, on purpose. What is left of Φ = 0 and G v = ν stays as it is
    between projections, and near a singular position, where a singular value σ of G goes to zero,
    it is a position or velocity of its size over σ. Rods of a four-bar that are off by 4e-14 part
    near its flat position, and a tight tolerance follows them to another branch.

    Attributes:
        position: largest |Φ| that is left alone, times 1 + max |q|, all in units of the mechanism.
        velocity: largest |G v − ν| that is left alone, times 1 + max |v|, likewise.
        lost: largest residual, with the same factors, that a projection may end with.
        iterations: Newton corrections at most.
        start: largest residual, with the same factors, that a start may have.

    Example:
        >>> import liaison
        >>> exact = liaison.Projection(position=1e-12)
        >>> liaison.simulate("examples/four_bar.lsd", until=0.1, projection=exact).status
        'done'
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
def residuals(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """Φ and G v − ν into `run.out`."""
    e.closure(t, q, v, run.u, run.p, q, run.out, scratch)


@loop
def project(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> i64:
    """q and v back to the closures, in place, where they are farther off than the tolerances."""
    if run.nc == 0:
        return GOOD
    out = run.out
    residuals(e, t, q, v, run, scratch)
    worst = largest_in(run.nphi, out, run.scales.closure)
    size = 1.0 + largest_in(run.nq, q, run.scales.position)
    run.has_moved = 0
    if not (worst <= run.tolerance[0] * size):
        status = corrections(e, 0, worst, size, t, q, v, run, scratch)
        if status != GOOD:
            return status
        residuals(e, t, q, v, run, scratch)
    worst = largest_in(run.nc, at(out, run.nphi), run.scales.closure_rate)
    size = 1.0 + largest_in(run.nv, v, run.scales.velocity)
    if not (worst <= run.tolerance[1] * size):
        status = corrections(e, 1, worst, size, t, q, v, run, scratch)
        if status != GOOD:
            return status
    run.projections += run.has_moved
    return GOOD


@loop
def corrections(
    e: Entries, level: i64, worst: f64, size: f64, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr,
) -> i64:  # fmt: skip
    """Corrections of q (level 0) or v (level 1) while they help; if one kind stalls, the other."""
    has_switched = 0
    is_pivoted = 1 if run.pivots_left > 0 else 0
    tolerance = run.tolerance[level] * size
    for _ in range(run.iterations):
        if worst <= tolerance:
            return GOOD
        status = correction(e, level, is_pivoted, t, q, v, run, scratch)
        if status != GOOD:
            return status
        after = residual_moved(e, level, t, q, v, run, scratch)
        has_stalled = 0 if after < STALL * worst else 1
        if has_stalled == 1 and worst <= SLACK * tolerance:
            return GOOD
        if after < worst:
            worst = after
            take(level, q, v, run)
        if has_stalled == 1:
            if has_switched == 1:
                break
            has_switched = 1
            is_pivoted = 1 - is_pivoted
            run.fallbacks += is_pivoted
    return verdict(worst, size, level, run)


@loop
def correction(
    e: Entries, level: i64, is_pivoted: i64, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr
) -> i64:
    """δ into `run.stage`, from the generated entry or the pivoted solver; or what it needs."""
    if is_pivoted == 1:
        if run.has_terms == 0:
            return NEEDS_TERMS
        pivoted(e, level, t, q, v, run, scratch)
    else:
        if run.has_correct[level] == 0:
            return NEEDS_CORRECT_Q + level
        if level == 0:
            correct_q = entry_at(e.correct, 0)
            correct_q(t, q, v, run.u, run.p, q, run.stage, scratch)
        else:
            correct_v = entry_at(e.correct, 1)
            correct_v(t, q, v, run.u, run.p, q, run.stage, scratch)
    return GOOD


@loop
def residual_moved(e: Entries, level: i64, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> f64:
    """The largest residual after a move by δ; the state moved lies beside the trial state."""
    nv = run.nv
    delta = run.stage
    if level == 0:
        moved_q = run.moved.q
        e.retract(t, q, v, run.u, run.p, delta, moved_q, scratch)
        residuals(e, t, moved_q, v, run, scratch)
        return largest_in(run.nphi, run.out, run.scales.closure)
    moved_v = run.moved.v
    for i in range(nv):
        moved_v[i] = v[i] + delta[i]
    residuals(e, t, q, moved_v, run, scratch)
    return largest_in(run.nc, run.out[run.nphi :], run.scales.closure_rate)


@loop
def take(level: i64, q: ptr, v: ptr, run: Run) -> None:
    """The state moved becomes the state."""
    run.has_moved = 1
    if level == 0:
        for i in range(run.nq):
            q[i] = run.moved.q[i]
    else:
        for i in range(run.nv):
            v[i] = run.moved.v[i]


@loop
def verdict(worst: f64, size: f64, level: i64, run: Run) -> i64:
    """GOOD if what is left may be left; otherwise notes the worst row and returns what was lost."""
    if worst <= run.lost * size:
        return GOOD
    note_worst(level, run)
    return POSITIONS_LOST if level == 0 else VELOCITIES_LOST


@loop
def note_worst(level: i64, run: Run) -> None:
    """The row of the largest residual in `run.out` into `run.detail`, its size into `run.worst`."""
    out = run.out[level * run.nphi :]
    count = run.nphi if level == 0 else run.nc
    run.worst = -1.0
    for k in range(count):
        size = abs(out[k])
        if not (size <= run.worst):
            run.worst = size
            run.detail[0] = k


@loop
def pivoted(e: Entries, level: i64, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """δ of positions (level 0) or velocities (level 1) into `run.stage`, pivoted."""
    nv = run.nv
    dense = Dense(scratch[run.scratch_dense :], run)
    area = scratch[run.scratch_dense + words_of(Dense, run) :]
    e.terms(t, q, v, run.u, run.p, q, dense.floats, scratch)
    run.pivots_left = max(run.pivots_left - 1, 0)
    right = dense.gamma
    for i in range(nv):
        dense.f[i] = 0.0
    rows = run.nc
    if level == 0:
        rows = run.nphi
        for k in range(run.nphi):
            right[k] = -dense.phi[k]
    else:
        for k in range(run.nc):
            right[k] = dense.nu[k]
            for i in range(nv):
                right[k] -= dense.G[k, i] * v[i]
    M = flat(dense.M)
    G = flat(dense.G)
    saddle(nv, rows, M, G, dense.f, right, run.stage, dense.lam, run.detail, area)
