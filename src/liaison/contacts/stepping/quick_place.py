"""Where a step in few numbers ends: modes, and the new state on closures and out of penetration.

The same as `small_stand` of `small`, for one contact or none, on the numbers of `quick`.

Public names: quick_stand.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.events.edges import EDGE
from liaison.program.loops.language import i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, Entries, OneSided, Run
from liaison.simulation.steps.sides_layout import CLOSED, GAP, OPEN, SLIP, STICK
from liaison.solvers.linear.dense import dot, largest_in

from .modes import STILL
from .moreau import TOUCH
from .phases import NEAR, ROUNDS, SHALLOW, SHORTER, STRETCHED
from .quick import Quick, copied, near_inverse
from .small import ELSEWHERE, FASTEST, LEAST, FusedEntries, Landing, enough


@loop
def quick_modes(x: Quick, run: Run) -> None:
    """The modes after a step, as `note_modes` finds them."""
    was = x.mode if x.block == x.active else OPEN
    x.mode_new = OPEN
    x.grip_new = OPEN
    if x.active < 0:
        x.f[0] = 0.0
        x.f[1] = 0.0
    elif x.hits == 0 or not (x.f[0] > 0.0) or not (x.restitution > 0.0):
        x.mode_new = CLOSED if was == CLOSED or x.f[0] > 0.0 else OPEN
        if x.mode_new == CLOSED and x.rows == 2:
            slip = abs(x.b[1] + x.A[2] * x.f[0] + x.A[3] * x.f[1])
            still = STILL * (1.0 + largest_in(run.nv, x.v, run.scales.velocity)) * x.units[1]
            x.grip_new = STICK if slip <= still else SLIP


@loop
def is_fit(x: Quick, run: Run) -> i64:
    """1 if positions and velocities at the end of a step can be."""
    bad = 0.0
    for i in range(run.nq):
        bad += x.q_new[i] - x.q_new[i]
    speed = largest_in(run.nv, x.v_new, run.scales.velocity)
    return 1 if bad == 0.0 and speed <= FASTEST else 0


@loop
def quick_stand(
    x: Quick, here: Landing, there: OneSided, e: Entries, run: Run, scratch: ptr
) -> i64:
    """The new state on its closures and out of penetration; as `small_place`."""
    if is_fit(x, run) == 0:
        return ELSEWHERE
    quick_modes(x, run)
    t = x.clock[1]
    size = 1.0 + largest_in(run.nq, x.q_new, run.scales.position)
    is_out = 0
    corrected = 0
    for turn in range(ROUNDS):
        FusedEntries(e.others).land(
            t, x.q_new, x.v_new, run.u, run.p, x.q_new, here.floats, scratch
        )
        if not (here.least[0] > LEAST):
            return ELSEWHERE
        is_out = quick_gaps(turn, is_out, x, here, run)
        if is_out == 0:
            if quick_push(x, here, there, e, run, scratch) != GOOD:
                return ELSEWHERE
        else:
            off = largest_in(run.nphi, here.phi, run.scales.closure)
            limit = run.tolerance[0] * size
            if off <= (limit if corrected == 0 else enough(limit, size)):
                return quick_velocities(x, here, run)
            corrected += 1
            if corrected > 2:
                return ELSEWHERE
            copied(run.nv, here.delta, x.delta)
        FusedEntries(e.others).moved(t, x.q_new, x.v_new, run.u, run.p, x.delta, x.moved, scratch)
        copied(run.nq, x.moved, x.q_new)
    return ELSEWHERE


@loop
def quick_gaps(turn: i64, is_out: i64, x: Quick, here: Landing, run: Run) -> i64:
    """1 if the new state is out of penetration and its closed gap is closed; notes both."""
    deepest = 0.0
    worst = 0.0
    bad = 0.0
    x.gap = 0.0
    x.unit = 1.0
    for k in range(run.nb):
        if run.blocks[k].kind == GAP:
            deepest = max(deepest, -here.gap[k] * (1.0 / run.scales.gap[k]))
            bad += here.gap[k] - here.gap[k]
            worst = max(worst, -here.gap[k])
            if k == x.active:
                x.gap = here.gap[k]
                x.unit = run.scales.gap[k]
    x.depth = deepest + bad
    x.off = 0.0
    if x.mode_new == CLOSED and x.gap <= EDGE * x.unit and x.f[0] > 0.0:
        x.off = abs(x.gap) / x.unit
    if is_out == 1:
        return 1
    if not (x.depth <= run.gap_tolerance) or (turn < 2 and x.off > run.gap_tolerance):
        x.off = x.off if turn < 2 else 0.0
        return 0
    x.deepest = max(x.deepest, worst)
    return 1


@loop
def quick_push(x: Quick, here: Landing, there: OneSided, e: Entries, run: Run, scratch: ptr) -> i64:
    """One correction of q: the closed gap and closures to zero; ELSEWHERE where others are near."""
    nv = run.nv
    if not (x.off > run.gap_tolerance and x.depth >= 0.0):
        return ELSEWHERE
    FusedEntries(e.others).sides(
        x.clock[1], x.q_new, x.v_new, run.u, run.p, x.q_new, there.floats, scratch
    )
    is_near = 0
    for k in range(run.nb):
        if run.blocks[k].kind == GAP:
            if k == x.active:
                copied(nv, there.D[run.blocks[k].first], x.normal)
            elif here.gap[k] <= NEAR * x.depth * run.scales.gap[k]:
                is_near = 1
    FusedEntries(e.others).row(0.0, x.q_new, x.normal, run.u, run.p, here.factor, x.X, scratch)
    a = dot(nv, x.X, x.X)
    if is_near == 1 or not (a > 0.0):
        return ELSEWHERE
    force = (-x.gap - dot(nv, x.normal, here.delta)) * near_inverse(a)
    for i in range(nv):
        x.w[i] = force * x.X[i]
    FusedEntries(e.others).back(0.0, x.q_new, x.w, run.u, run.p, here.factor, x.delta, scratch)
    for i in range(nv):
        x.delta[i] += here.delta[i]
    long = largest_in(nv, x.delta, run.scales.local)
    short = largest_in(nv, here.delta, run.scales.local)
    is_long = 1 if x.depth > SHALLOW and long > STRETCHED * x.depth else 0
    if is_long == 1 and force <= 0.0 and not (short > SHORTER * long):
        copied(nv, here.delta, x.delta)  # closures alone lift it, by a shorter way
    return GOOD


@loop
def quick_velocities(x: Quick, here: Landing, run: Run) -> i64:
    """v on its closures, and the new state and modes in the place of the old; as
    `small_velocities`."""
    nv = run.nv
    rate = largest_in(run.nc, here.rate, run.scales.closure_rate)
    size = 1.0 + largest_in(nv, x.v_new, run.scales.velocity)
    limit = run.tolerance[1] * size
    if not (rate <= limit):
        after = largest_in(run.nc, here.rate_left, run.scales.closure_rate)
        if after < rate:
            copied(nv, here.v, x.v_new)
            rate = after
        if not (rate <= enough(limit, size)):
            return ELSEWHERE
    copied(nv, x.v_new, x.v)
    copied(run.nq, x.q_new, x.q)
    x.block = x.active
    x.mode = x.mode_new
    x.grip = x.grip_new
    x.P[0] = x.f[0]
    x.P[1] = x.f[1]
    x.touching = 0
    touch = TOUCH * (1.0 + largest_in(run.nq, x.q, run.scales.position))
    for k in range(run.nb):
        if run.blocks[k].kind == GAP and here.gap[k] <= touch * run.scales.gap[k]:
            x.touching += 1 << k
    return GOOD
