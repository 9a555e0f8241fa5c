"""Steps of a small mechanism that touches at one place or none, in few numbers.

The same steps as those of `small`. What one leaves for the next, and what its parts leave for each
other, is a part of its own, `Quick`, which no other loop is given: written out for one model, a
compiler of a GPU keeps it in registers, where the numbers of a `Run` would pass through memory.
A step is taken here while at most one gap is closed, with friction along one line or none; any
other, and one that is not of the ordinary kind, ends with ELSEWHERE, nothing of the state changed.

Public names: Quick, quick_words, quick_free, quick_contact, hand_over, take_over, keep_state.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import at, external, f64, i64, loop, ptr
from liaison.program.loops.records import Part, sized, words_of
from liaison.simulation.steps.layout import GOOD, Entries, OneSided, Run
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, STICK
from liaison.solvers.cones.lone import APART, EXACT, NOT_ALONE
from liaison.solvers.linear.dense import dot, largest_in

from .modes import SLOW, STILL
from .moreau import ROUNDING, TOUCH
from .small import ELSEWHERE, LEAST, FusedEntries, Landing, Left

NONE = -1
"""In the place of a block."""


@final
class Quick(Part):
    """A world between steps, then the contact of a step."""

    q: ptr = sized("nq")
    v: ptr = sized("nv")
    touching: i64  # bit k: gap k touches
    block: i64  # whose gap was active in the last step; NONE
    mode: i64  # of it,
    grip: i64  # and of its friction
    many: i64  # 1: more than that is in the modes of the run
    P: ptr = sized("2")
    clock: ptr = sized("2")  # h, and the time at the end
    active: i64  # the block whose gap is active now; NONE
    hits: i64
    residual: f64  # of the cones, the largest so far
    deepest: f64  # penetration so far [m]
    contacts: i64
    rows: i64  # 1, or 2 with friction; 3: more than fit here
    normal: ptr = sized("nv")
    tangent: ptr = sized("nv")
    rate: ptr = sized("2")  # of both, midway
    before: ptr = sized("2")  # at the beginning
    on: ptr = sized("2")  # what they change up to the end
    units: ptr = sized("2")  # of rates
    restitution: f64
    bound: f64  # coefficient of friction
    f: ptr = sized("2")  # impulses
    X: ptr = sized("2 * nv")
    A: ptr = sized("4")
    root: ptr = sized("2")  # inverse roots of its diagonal
    b: ptr = sized("2")
    w: ptr = sized("nv")
    q_new: ptr = sized("nq")
    v_new: ptr = sized("nv")
    mode_new: i64
    grip_new: i64
    gap: f64  # at the new state, of the block that is active
    unit: f64  # of it
    depth: f64  # the deepest penetration there, and how far a closed gap is off, in units
    off: f64
    delta: ptr = sized("nv")
    moved: ptr = sized("nq")


@external
def near_inverse(x: f64) -> f64:
    """1/x, to rounding or nearly so; NaN, 0 or infinite beyond the normal range."""
    return 1.0 / x


@external
def near_inverse_root(x: f64) -> f64:
    """1/√x, to rounding or nearly so; NaN or infinite beyond the normal range."""
    return 1.0 / sqrt(x)


@loop
def copied(n: i64, x: ptr, y: ptr) -> None:
    """y := x."""
    for i in range(n):
        y[i] = x[i]


@loop
def quick_words(run: Run) -> i64:
    """Numbers that a world takes here."""
    here = words_of(Quick, run) + 2 * words_of(OneSided, run)
    return int(here + words_of(Left, run) + words_of(Landing, run))


@loop
def keep_state(x: Quick, run: Run) -> None:
    """The state of a world, where a step taken elsewhere finds it."""
    for i in range(run.nq):
        run.q[i] = x.q[i]
    for i in range(run.nv):
        run.v[i] = x.v[i]


@loop
def hand_over(x: Quick, run: Run) -> None:
    """Impulses and modes of a world into its block, whose state is there already."""
    if x.many == 1:
        return
    for r in range(run.nr):
        run.impulse[r] = 0.0
    for k in range(run.nb):
        block = run.blocks[k]
        run.mode[k] = OPEN
        if x.block >= 0 and block.kind == GAP and k == x.block:
            run.mode[k] = x.mode
            run.impulse[block.first] = x.P[0]
        if x.block >= 0 and block.kind == FRICTION and block.load == x.block:
            run.mode[k] = x.grip
            run.impulse[block.first] = x.P[1]


@loop
def take_over(x: Quick, run: Run) -> None:
    """The world in a block, with unilateral rows of its state."""
    x.block = NONE
    x.mode = OPEN
    x.grip = OPEN
    x.many = 0
    x.P[0] = 0.0
    x.P[1] = 0.0
    x.touching = 0
    touch = TOUCH * (1.0 + largest_in(run.nq, run.q, run.scales.position))
    for i in range(run.nq):
        x.q[i] = run.q[i]
    for i in range(run.nv):
        x.v[i] = run.v[i]
    for k in range(run.nb):
        block = run.blocks[k]
        is_free = 1 if run.mode[k] == OPEN and run.impulse[block.first] == 0.0 else 0
        if block.kind == GAP:
            if run.sides.gap[k] <= touch * run.scales.gap[k]:
                x.touching += 1 << k
            if is_free == 0:
                x.many = 1 if x.block >= 0 else int(x.many)
                x.block = k
                x.mode = int(run.mode[k])
                x.P[0] = run.impulse[block.first]
        elif is_free == 0:
            if block.load == x.block:
                x.grip = int(run.mode[k])
                x.P[1] = run.impulse[block.first]
            else:
                x.many = 1


@loop
def quick_free(t: f64, x: Quick, left: Left, e: Entries, run: Run, scratch: ptr) -> i64:
    """The free motion of a step, and which gap it makes active; GOOD, or ELSEWHERE."""
    FusedEntries(e.others).free(
        t + run.theta * x.clock[0], x.q, x.v, run.u, run.p, x.clock, left.floats, scratch
    )
    x.active = NONE
    count = 0
    bad = 0.0
    for k in range(run.nb):
        bad += left.gap_end[k] - left.gap_end[k]
        if run.blocks[k].kind == GAP and (left.gap_end[k] <= 0.0 or (x.touching >> k) & 1 == 1):
            x.active = k
            count += 1
    for i in range(run.nv):
        x.v_new[i] = left.v_end[i]
    for i in range(run.nq):
        x.q_new[i] = left.q_end[i]
    x.hits = 0
    if not (left.least[0] > LEAST) or count > 1 or bad != 0.0:
        return ELSEWHERE
    return ELSEWHERE if count == 0 and left.bent[0] > 0.0 else GOOD


@loop
def quick_contact(
    t: f64, x: Quick, left: Left, mid: OneSided, there: OneSided, e: Entries, run: Run, scratch: ptr
) -> i64:
    """Impulses of the gap that is active; the second turn with forces anew."""
    middle = t + run.theta * x.clock[0]
    FusedEntries(e.others).middle(middle, x.q, x.v, run.u, run.p, left.v_end, mid.floats, scratch)
    FusedEntries(e.others).sides(t, x.q, x.v, run.u, run.p, x.q, there.floats, scratch)
    quick_rows(x, mid, there, run)
    if x.rows > 2:
        return ELSEWHERE
    quick_mobility(x, left, e, run, scratch)
    x.contacts = max(x.contacts, x.rows)
    return quick_turns(middle, x, left, e, run, scratch)


@loop
def quick_turns(t: f64, x: Quick, left: Left, e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses, and impulses with forces anew."""
    status = GOOD
    for turn in range(2):
        if status == GOOD:
            if turn > 0:
                FusedEntries(e.others).again(
                    t, x.q, x.v_new, run.u, run.p, left.v_end, left.v_end, scratch
                )
            status = quick_impulses(t, x, left, e, run, scratch)
    return status


@loop
def take_row(i: i64, k: i64, r: i64, x: Quick, mid: OneSided, there: OneSided, run: Run) -> None:
    """Rates of a row, what they change up to the end, and units."""
    x.rate[i] = mid.rate[r]
    x.before[i] = there.rate[r]
    x.units[i] = run.scales.rate[k]
    load = run.blocks[k].load
    one = k if load < 0 else load
    key = mid.laws[one].spare[0]
    x.on[i] = 0.0
    if key >= 0.0 and key == there.laws[one].spare[0]:
        x.on[i] = (1.0 - run.theta) / run.theta * (mid.rate[r] - there.rate[r])


@loop
def quick_rows(x: Quick, mid: OneSided, there: OneSided, run: Run) -> None:
    """Rows and coefficients of the gap that is active, and of its friction."""
    nv = run.nv
    x.rows = 1
    x.bound = 0.0
    still = STILL * (1.0 + largest_in(nv, x.v, run.scales.velocity))
    for k in range(run.nb):
        block = run.blocks[k]
        r = block.first
        if block.kind == GAP and k == x.active:
            take_row(0, k, r, x, mid, there, run)
            x.restitution = mid.laws[k].restitution
            for i in range(nv):
                x.normal[i] = mid.D[r, i]
        if block.kind == FRICTION and block.load == x.active:
            take_row(1, k, r, x, mid, there, run)
            for i in range(nv):
                x.tangent[i] = mid.D[r, i]
            x.rows = 2
            if block.rows > 1 and is_moved(r + 1, mid, there, run) == 1:
                x.rows = 3
            grip = x.grip if x.block == x.active else OPEN
            is_still = 1 if abs(x.before[1]) <= still * x.units[1] else 0
            x.bound = mid.laws[k].dynamic
            if grip == STICK or (grip == OPEN and is_still == 1):
                x.bound = mid.laws[k].static
    u = x.before[0]
    if u >= 0.0 and u < SLOW * x.units[0]:
        x.on[0] += u


@loop
def is_moved(r: i64, mid: OneSided, there: OneSided, run: Run) -> i64:
    """0 for a row on which nothing moves, whatever acts."""
    now = 1 if mid.rate[r] != 0.0 or there.rate[r] != 0.0 else 0
    for i in range(run.nv):
        if mid.D[r, i] != 0.0:
            now = 1
    return now


@loop
def quick_mobility(x: Quick, left: Left, e: Entries, run: Run, scratch: ptr) -> None:
    """X and A of the rows."""
    nv = run.nv
    other = at(x.X, nv)
    FusedEntries(e.others).row(0.0, x.q, x.normal, run.u, run.p, left.factor, x.X, scratch)
    x.A[0] = dot(nv, x.X, x.X)
    if x.rows == 2:
        FusedEntries(e.others).row(0.0, x.q, x.tangent, run.u, run.p, left.factor, other, scratch)
        x.A[1] = dot(nv, x.X, other)
        x.A[2] = x.A[1]
        x.A[3] = dot(nv, other, other)
        x.root[0] = near_inverse_root(x.A[0])
        x.root[1] = near_inverse_root(x.A[3])


@loop
def quick_impulses(t: f64, x: Quick, left: Left, e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses of the gap that is active, and the end of the step under them."""
    nv = run.nv
    quick_rates(x, left, run)
    residual = quick_force(x, run)
    if residual < 0.0:
        return ELSEWHERE
    x.residual = max(x.residual, residual)
    for i in range(nv):
        x.w[i] = x.f[0] * x.X[i]
        if x.rows == 2:
            x.w[i] += x.f[1] * x.X[nv + i]
    FusedEntries(e.others).push(t, x.q, x.w, run.u, run.p, left.v_end, left.v_new, scratch)
    for i in range(nv):
        x.v_new[i] = left.v_new[i]
    for i in range(run.nq):
        x.q_new[i] = left.q_new[i]
    is_other = 1 if left.bent_new[0] > 0.0 else 0
    for k in range(run.nb):
        if left.gap_new[k] - left.gap_new[k] != 0.0:
            is_other = 1
        if run.blocks[k].kind == GAP and k != x.active and left.gap_new[k] < 0.0:
            is_other = 1
    if x.hits == 1 and quick_gain(x, run) == 1:
        is_other = 1
    return ELSEWHERE if is_other == 1 else GOOD


@loop
def quick_rates(x: Quick, left: Left, run: Run) -> None:
    """b of the problem: rates of the free motion at the end, with restitution."""
    nv = run.nv
    x.b[0] = x.rate[0] + x.on[0]
    x.b[1] = x.rate[1] + x.on[1]
    for i in range(nv):
        change = left.v_end[i] - x.v[i]
        x.b[0] += x.normal[i] * change
        x.b[1] += x.tangent[i] * change
    u = x.before[0]
    least = SLOW
    if x.block != x.active or x.mode != CLOSED:
        least = STILL * (1.0 + largest_in(nv, x.v, run.scales.velocity))
    x.hits = 0
    if u >= 0.0:
        x.b[0] += u if u >= SLOW * x.units[0] else 0.0
    elif u < -least * x.units[0] and x.b[0] - u >= u:
        x.b[0] += x.restitution * u
        x.hits = 1


@loop
def quick_force(x: Quick, run: Run) -> f64:
    """f in closed form and the residual of its problem, as `lone_contact` gives them."""
    if x.rows == 2:
        return quick_friction(max(x.bound, 0.0), x, run)
    x.f[0] = max(-x.b[0] * near_inverse(x.A[0]), 0.0)
    x.f[1] = 0.0
    is_one = 1 if x.A[0] > 0.0 and abs(x.b[0]) < 1e300 and x.f[0] < 1e300 else 0
    return 0.0 if is_one == 1 else NOT_ALONE


@loop
def quick_friction(mu: f64, x: Quick, run: Run) -> f64:
    """The same of a normal and a tangent row: open, sticking or slipping one way."""
    a = x.A[0]
    c = x.A[1]
    d = x.A[3]
    rest = a * d - c * c
    if not (d > 0.0 and rest > APART * a * d and a - mu * abs(c) > APART * a):
        return NOT_ALONE
    normal = 0.0
    tangent = 0.0
    if x.b[0] < 0.0:
        part = near_inverse(rest)
        normal = (c * x.b[1] - d * x.b[0]) * part
        tangent = (c * x.b[0] - a * x.b[1]) * part
        if not (abs(tangent) <= mu * normal):
            normal = -x.b[0] * near_inverse(a - mu * c)
            tangent = -mu * normal
            if x.b[1] + c * normal + d * tangent < 0.0:
                normal = -x.b[0] * near_inverse(a + mu * c)
                tangent = mu * normal
    x.f[0] = normal
    x.f[1] = tangent
    return quick_residual(mu, x, run)


@loop
def quick_residual(mu: f64, x: Quick, run: Run) -> f64:
    """The residual in scaled rows, NOT_ALONE where more than rounding is left."""
    s = x.root[0]
    t = x.root[1]
    beta = max(s * abs(x.b[0]), t * abs(x.b[1]))
    if not (beta > 0.0 and beta < 1e300):
        return NOT_ALONE if beta != 0.0 else 0.0
    part = near_inverse(beta)
    y = x.f[0] * (x.A[0] * s) * part
    z = x.f[1] * (x.A[3] * t) * part
    u = s * (x.b[0] + x.A[0] * x.f[0] + x.A[1] * x.f[1]) * part
    w = t * (x.b[1] + x.A[2] * x.f[0] + x.A[3] * x.f[1]) * part
    r = mu * s * (x.A[3] * t) * y
    miss = max(abs(min(y, u)), abs(max(z - r, min(z + r, w))))
    return miss if miss <= EXACT * (1.0 + abs(y) + abs(z)) else NOT_ALONE


@loop
def quick_gain(x: Quick, run: Run) -> i64:
    """1 if the impulses of the step give energy."""
    normal = x.rate[0]
    tangent = x.rate[1]
    for i in range(run.nv):
        change = 0.5 * (x.v_new[i] - x.v[i])
        normal += x.normal[i] * change
        tangent += x.tangent[i] * change
    total = x.f[0] * normal
    size = abs(x.f[0]) * (abs(normal) + abs(x.rate[0]))
    if x.rows == 2:
        total += x.f[1] * tangent
        size += abs(x.f[1]) * (abs(tangent) + abs(x.rate[1]))
    return 1 if total > ROUNDING * size else 0
