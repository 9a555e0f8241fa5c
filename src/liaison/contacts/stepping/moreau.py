"""Moreau and Jean's time stepping: impulses of contacts and friction on the level of velocities.

A step over h with M, G, f, D midway, q_θ = q ⊞ θ h v, finds v₁ = v_f + L⁻ᵀ X P (stepping-1) with

    M (v_f − v) = h f + Gᵀλ,   G ((1 − θ) v + θ v_f) = ν,                       (stepping-2)
    u₁ + e u ⟂ P on the rows whose gap the free motion would close,             (stepping-3)
    q₁ = q ⊞ ξ,   ξ = h ξ̇(θ ξ, (1 − θ) v + θ v₁).                               (stepping-4)

ξ̇ is the local rate, which differs from the velocities where axes turn. u₁ is D v₁ + d taken on to
the end of the step: what D v + d changed from its beginning to the middle is added once more, so
that bodies roll on curved surfaces without loss. A gap that opens (u > 0) and closes again within
the step ends with −u. One that closes slower than forces of one step could make it is at rest: e =
0 there. With this, θ = ½ and no friction the work of P is Σ P (1 − e) min(u, 0)/2 ≤ 0.

Newton's law at several contacts with friction at once may give more energy than there was. Then
impulses without restitution, which cannot, are mixed with those that have it,

    P = P₀ + κ (P₁ − P₀),   κ ≤ 1 as large as Pᵀ(u + u₁)/2 ≤ 0 allows                (stepping-5)

which lie within the cones and leave gaps open as both do. Where a limit of rates, say, leaves no
impulses for all restitution, the largest part of it is taken for which there are.

Public names: moreau_step, is_same_place, rate_before, taken_on, bounds, moves, impulses,
finish_step, work, rebounds, without_gain.

Source: MOR88 §10 (midpoint scheme), JEAN99 §5 (θ-scheme); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    GOOD,
    NO_MODE,
    NOT_FINITE,
    SINGULAR_MASS,
    Entries,
    OneSided,
    Run,
)
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, STICK, STRIBECK
from liaison.simulation.steps.variational import note_stages
from liaison.solvers.cones.cones import DISC, ONE_WAY, Limit, reachable_part
from liaison.solvers.cones.near import solve_cones_again, solve_cones_near
from liaison.solvers.linear.dense import RANK_TOLERANCE, dot, largest_in
from liaison.solvers.linear.lemke import SOLVED, polyhedral_missed, solve_polyhedral

from .loads import TURNS, add_loads, begin_loads, bent_again, put_loads
from .modes import SLOW, least_hit, still
from .rows import (
    adopt,
    delassus,
    forget_end,
    forget_rows,
    free_motion,
    metric_of,
    one_sided,
    one_sided_at_end,
    pushed,
    rows_in_metric,
)

UNSOLVABLE = 1e300
"""The residual of a problem whose pivots end on a ray, or that has more rows than there is room."""

FEW_VELOCITIES = 12
"""Up to which contacts that contradict each other are left to the solver: it costs little then."""

ROUNDING, HALVINGS = 1e-12, 30
"""Work beside the sum of all its parts that counts as none; of what is known of restitution."""


@loop
def impulses(part: f64, run: Run) -> f64:
    """P of the active blocks, with a part of their restitution; the residual of the problem."""
    problem = run.problem
    count = choose(run)
    m = run.rows_chosen
    if m > run.most:
        return UNSOLVABLE
    if m == 0:
        keep_impulses(run)
        return 0.0
    A = problem.A
    b = problem.b
    P = problem.P
    limits = problem.limits
    rows_in_metric(m, run.chosen, run.rank, flat(run.mid.D), run)
    delassus(m, run.chosen, A, run)
    taken_on(m, run)
    rates(part, run)
    for i in range(m):
        P[i] = run.impulse[run.chosen[i]]
    if run.facets > 0:
        residual = UNSOLVABLE
        if solve_polyhedral(m, count, A, b, run.cone, limits, run.facets, P, run.area) == SOLVED:
            residual = polyhedral_missed(m, count, run.cone, run.facets, run.area)
    else:
        residual = solve_cones_near(m, count, A, b, run.cone, limits, P, run.area)
        run.same_rows = 1
    keep_impulses(run)
    run.contacts = max(run.contacts, count)
    return float(residual)


@loop
def impulses_again(run: Run) -> f64:
    """The same with restitution, where nothing but the free motion is another."""
    problem = run.problem
    count = run.blocks_chosen
    for c in range(count):
        bounds(run.block_of[c], problem.limits[c], run)
    rates(1.0, run)
    m = run.rows_chosen
    residual = solve_cones_again(
        m, count, problem.A, problem.b, run.cone, problem.limits, problem.P, run.area
    )
    keep_impulses(run)
    return float(residual)


@loop
def keep_impulses(run: Run) -> None:
    """P by the numbers of rows; 0 on those that are not active."""
    for r in range(run.nr):
        run.impulse[r] = 0.0
    for i in range(run.rows_chosen):
        run.impulse[run.chosen[i]] = run.problem.P[i]


@loop
def choose(run: Run) -> i64:
    """The table of active blocks and the rows they have, with the bounds of friction."""
    count = 0
    m = 0
    for k in range(run.nb):
        if run.active[k] == 1:
            m = choose_block(k, count, m, run)
            count += 1
    run.rows_chosen = m
    run.blocks_chosen = count
    return count


@loop
def choose_block(k: i64, c: i64, m: i64, run: Run) -> i64:
    """The c-th cone is that of a block, from row m on; returns the row after it."""
    block = run.blocks[k]
    cone = run.cone[c]
    run.cone_of[k] = c
    run.block_of[c] = k
    cone.kind = DISC if block.kind == FRICTION else ONE_WAY
    cone.first = m
    cone.load = run.cone_of[block.load] if block.load >= 0 else -1
    bounds(k, run.problem.limits[c], run)
    for r in range(block.first, block.first + block.rows):
        if r == block.first or moves(r, run) == 1:
            run.chosen[m] = r
            m += 1
    cone.rows = m - cone.first
    return m


@loop
def moves(r: i64, run: Run) -> i64:
    """0 for a row on which nothing moves, whatever acts: across the plane of a planar motion."""
    if run.mid.rate[r] != 0.0 or run.sides.rate[r] != 0.0:
        return 1
    D = run.mid.D[r]
    for i in range(run.nv):
        if D[i] != 0.0:
            return 1
    return 0


@loop
def bounds(k: i64, limit: Limit, run: Run) -> None:
    """Coefficients along both rows, and the bound of a block without load, as an impulse."""
    block = run.blocks[k]
    law = run.mid.laws[k]
    limit.coefficient[0] = 0.0
    limit.coefficient[1] = 0.0
    limit.constant = 0.0
    if block.kind == FRICTION:
        along = law.dynamic
        u = run.sides.rate[block.first :]
        speed = dot(block.rows, u, u)
        is_still = 1 if sqrt(speed) <= still(k, run) else 0
        if block.law == STRIBECK and law.speed > 0.0:
            ratio = speed_midway(k, run) / law.speed
            along += exp(-ratio * ratio) * (law.static - law.dynamic)
        elif run.mode[k] == STICK or (run.mode[k] == OPEN and is_still == 1):
            # at rest; what lands in motion slips
            along = law.static
        if block.load >= 0:
            limit.coefficient[0] = along
            limit.coefficient[1] = along * law.across / law.dynamic if law.dynamic > 0.0 else along
        else:
            limit.constant = along * run.h


@loop
def speed_midway(k: i64, run: Run) -> f64:
    """Speed of a slip midway, by the velocities at the end that are known so far."""
    nv = run.nv
    block = run.blocks[k]
    total = 0.0
    for r in range(block.first, block.first + block.rows):
        D = run.mid.D[r]
        u = run.mid.rate[r] + run.theta * (dot(nv, D, run.y[nv:]) - dot(nv, D, run.v))
        total += u * u
    return sqrt(total)


@loop
def is_same_place(k: i64, there: OneSided, run: Run) -> i64:
    """1 if a block, or its load, is of the same place there as midway.

    Contacts of hulls have places that loops find, each with a key; the key of others is 0. One
    below 0 is that of a point that may be another at every state.
    """
    load = run.blocks[k].load
    one = k if load < 0 else load
    key = run.mid.laws[one].spare[0]
    return 1 if key >= 0.0 and key == there.laws[one].spare[0] else 0


@loop
def rate_before(k: i64, run: Run) -> f64:
    """The rate of a gap before the step; midway where it is of another place then."""
    first = run.blocks[k].first
    is_same = is_same_place(k, run.sides, run)
    return float(run.sides.rate[first] if is_same == 1 else run.mid.rate[first])


@loop
def taken_on(m: i64, run: Run) -> None:
    """What rates change from midway to the end of the step, as far as forces can: into `taken`.

    A gap that opens slowly ends with −u: of closed contacts of one body that is rounding.
    """
    change = run.problem.taken
    ahead = (1.0 - run.theta) / run.theta
    for c in range(run.blocks_chosen):
        k = run.block_of[c]
        cone = run.cone[c]
        goes_on = is_same_place(k, run.sides, run)
        for i in range(cone.first, cone.first + cone.rows):
            r = run.chosen[i]
            change[i] = ahead * (run.mid.rate[r] - run.sides.rate[r]) if goes_on == 1 else 0.0
        if run.blocks[k].kind == GAP:
            u = rate_before(k, run)
            change[cone.first] += u if u >= 0.0 and u < SLOW * run.scales.rate[k] else 0.0
    if run.nv > FEW_VELOCITIES:
        reachable_part(m, run.problem.A, change, run.area)


@loop
def rates(part: f64, run: Run) -> None:
    """b of the problem: rates of the free motion at the end of the step, with restitution."""
    nv = run.nv
    b = run.problem.b
    mid = run.mid
    free = run.free.v
    v = run.v
    taken = run.problem.taken
    for i in range(run.rows_chosen):
        r = run.chosen[i]
        u = mid.rate[r] + taken[i]
        D = mid.D[r]
        for j in range(nv):
            u += D[j] * (free[j] - v[j])
        b[i] = u
    for c in range(run.blocks_chosen):
        k = run.block_of[c]
        if run.blocks[k].kind == GAP:
            i = run.cone[c].first
            u = rate_before(k, run)
            run.hits[k] = 0
            if u >= 0.0:
                b[i] += u if u >= SLOW * run.scales.rate[k] else 0.0
            elif u < -least_hit(k, run) and b[i] - u >= u:
                b[i] += part * mid.laws[k].restitution * u
                run.hits[k] = 1


@loop
def finish_step(run: Run) -> None:
    """v₁ into `run.y`."""
    nv = run.nv
    y = run.y
    free = run.free.v
    pushed(run.rows_chosen, run.chosen, run.problem.P, at(y, nv), run)
    for i in range(nv):
        y[nv + i] += free[i]


@loop
def displacement(e: Entries, after: ptr, xi: ptr, run: Run, scratch: ptr) -> None:
    """ξ of a step that ends with the velocities `after`: h times the local rate midway."""
    nv = run.nv
    theta = run.theta
    v = run.v
    mean = run.stage
    mid = run.stage[nv:]
    for i in range(nv):
        mean[i] = (1.0 - theta) * v[i] + theta * after[i]
        xi[i] = run.h * mean[i]
        mid[i] = theta * xi[i]
    if run.turns > 0:
        e.local_rate(run.t + theta * run.h, run.q, mean, run.u, run.p, mid, xi, scratch)
        for i in range(nv):
            xi[i] = run.h * xi[i]


@loop
def work(run: Run) -> f64:
    """Pᵀ(u + u₁)/2 of the step that is finished; 0 where it is rounding."""
    nv = run.nv
    mid = run.mid
    P = run.problem.P
    v = run.v
    after = run.y[nv:]
    total = 0.0
    size = 0.0
    for i in range(run.rows_chosen):
        r = run.chosen[i]
        D = mid.D[r]
        u = mid.rate[r] + 0.5 * (dot(nv, D, after) - dot(nv, D, v))
        total += P[i] * u
        size += abs(P[i]) * (abs(u) + abs(mid.rate[r]))
    return float(total) if abs(total) > ROUNDING * size else 0.0


@loop
def rebounds(run: Run) -> i64:
    """1 if restitution has a part in the impulses: those without it would else be the same."""
    for c in range(run.blocks_chosen):
        k = run.block_of[c]
        hit = 1 if run.blocks[k].kind == GAP and run.hits[k] == 1 else 0
        if hit == 1 and run.mid.laws[k].restitution > 0.0:
            return 1
    return 0


@loop
def without_gain(run: Run) -> f64:
    """Impulses of (stepping-5) in the place of those that gain; the residual of those without e."""
    m = run.rows_chosen
    P = run.problem.P
    way = run.problem.way
    gain = work(run)
    for i in range(m):
        way[i] = P[i]
    residual = impulses(0.0, run)
    finish_step(run)
    least = work(run)
    for i in range(m):
        way[i] -= P[i]
        P[i] += 0.5 * way[i]
    finish_step(run)
    square = 2.0 * (gain + least - 2.0 * work(run))
    slope = gain - least - square
    root = sqrt(max(slope * slope - 4.0 * square * min(least, 0.0), 0.0)) + slope
    part = min(max(-2.0 * min(least, 0.0) / root, 0.0), 1.0) if root > 0.0 else 0.0
    for i in range(m):
        P[i] += (part - 0.5) * way[i]
        run.impulse[run.chosen[i]] = P[i]
    finish_step(run)
    run.same_rows = 0
    return residual


@loop
def with_less(run: Run) -> f64:
    """Impulses with as much of the restitution as there are impulses for; their residual."""
    residual = 0.0
    low = 0.0
    high = 1.0
    for turn in range(HALVINGS + 1):
        part = 0.5 * (low + high) if turn < HALVINGS else low
        for r in range(run.nr):
            run.impulse[r] = 0.0  # those of a problem without solution are large
        residual = impulses(part, run)
        low = part if residual <= ROUNDING else low
        high = high if residual <= ROUNDING else part
    return residual


UNSOLVED = 1e-5
"""A complementarity problem whose residual stays above this is not solved."""

TOUCH = 1e-9
"""A gap of this width, beside 1 + |q|, in units, touches already: bodies that fall together stay
together."""

BESIDE, REDUNDANT = 10.0, 1e-3
"""How much of a row may seem independent where closures are off by 1; and in any case."""

AGAIN = 5
"""Times that gaps found to close under the impulses of others join the problem."""


@loop
def near(k: i64, run: Run) -> f64:
    """The gap of a block up to which it touches."""
    return float(reach(run) * run.scales.gap[k])


@loop
def reach(run: Run) -> f64:
    """The same in units, of all blocks."""
    return TOUCH * (1.0 + largest_in(run.nq, run.q, run.scales.position))


@loop
def moreau_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state at the end of the step of size `run.h` into `run.y`; GOOD, or why not."""
    nv = run.nv
    y = run.y
    if midway(e, run, scratch) != GOOD:
        return SINGULAR_MASS
    free_velocities(e, run.free.v, run, scratch)
    for i in range(nv):
        y[nv + i] = run.free.v[i]
    predict(e, run, scratch)
    status = find_impulses(e, run, scratch)
    if status == GOOD:
        status = settle(e, run, scratch)
    if status != GOOD:
        return status
    displacement(e, at(y, nv), y, run, scratch)
    bad = 0.0
    for i in range(2 * nv):
        bad += y[i] - y[i]
    if bad != 0.0:
        return NOT_FINITE
    note_stages(run)
    return GOOD


@loop
def settle(e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses once more, with forces at the velocities that they led to; GOOD, or why not.

    And again while a load that follows its measure is elsewhere than where its law was linear.
    """
    after = at(run.y, run.nv)
    for turn in range(TURNS):
        is_bent = bent_again(turn, after, e, run, scratch)
        if is_bent < 0:
            break
        forces_at_mean(e, after, run, scratch)
        if is_bent == 1 and into_metric(run) != GOOD:
            return SINGULAR_MASS
        solve_free(run)
        if is_bent == 1:
            predict(e, run, scratch)
        if find_impulses(e, run, scratch) != GOOD:
            return NO_MODE
    return GOOD


@loop
def find_impulses(e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses of all that is active, and of what becomes so under them; GOOD, or why not."""
    for _ in range(AGAIN):
        if run.same_rows == 1:
            residual = impulses_again(run)
        else:
            residual = impulses(1.0, run)
        if residual > UNSOLVED and residual < UNSOLVABLE and rebounds(run) == 1:
            residual = with_less(run)
        if not (residual <= UNSOLVED):
            return NO_MODE
        finish_step(run)
        if run.rows_chosen == 0:
            break  # `predict` has seen every gap at this end
        if rebounds(run) == 1 and work(run) > 0.0:
            residual = max(residual, without_gain(run))
        if closing(e, run, scratch) == 0:
            run.complementarity = max(run.complementarity, residual)
            break
    return GOOD


@loop
def midway(e: Entries, run: Run, scratch: ptr) -> i64:
    """Terms, unilateral rows and the metric at q_θ, and v_f with the forces of v there."""
    nv = run.nv
    v = run.v
    moved = run.free.moved
    q = run.free.q
    t = run.t + run.theta * run.h
    for i in range(nv):
        moved[i] = run.theta * run.h * v[i]
    e.retract(t, run.q, v, run.u, run.p, moved, q, scratch)
    terms_midway(e, v, run, scratch)
    one_sided(e, t, q, v, run.mid, run, scratch)
    dampen(run)
    if run.nf > 0:
        begin_loads(e, run, scratch)
        put_loads(run)
    if into_metric(run) != GOOD:
        return SINGULAR_MASS
    solve_free(run)
    return GOOD


@loop
def into_metric(run: Run) -> i64:
    """The metric of the terms at hand; no row is in it yet."""
    rank = metric_of(run.nc, flat(run.terms.M), flat(run.terms.G), redundant_part(run), run)
    if rank < 0:
        return SINGULAR_MASS
    run.rank = rank
    forget_rows(run)
    run.same_rows = 0
    return GOOD


@loop
def redundant_part(run: Run) -> f64:
    """Independent part of a row up to which it is redundant, as far off the closures as q_θ is.

    Rows that repeat others on the closures, and only there, look independent beside them.
    """
    off = 0.0
    for k in range(run.nphi):
        most = 0.0
        for i in range(run.nv):
            most = max(most, abs(run.terms.G[k, i]))
        if most > 0.0:
            off = max(off, abs(run.terms.phi[k]) / most)
    return min(RANK_TOLERANCE + BESIDE * off, REDUNDANT)


@loop
def free_velocities(e: Entries, after: ptr, run: Run, scratch: ptr) -> None:
    """v_f, with forces at q_θ and the mean of the velocities before and `after`."""
    forces_at_mean(e, after, run, scratch)
    solve_free(run)


@loop
def forces_at_mean(e: Entries, after: ptr, run: Run, scratch: ptr) -> None:
    """Terms at q_θ with these forces."""
    theta = run.theta
    mean = run.free.moved
    for i in range(run.nv):
        mean[i] = (1.0 - theta) * run.v[i] + theta * after[i]
    terms_midway(e, mean, run, scratch)
    if run.is_damped > 0:
        dampen(run)
    if run.nf > 0:
        add_loads(after, e, run, scratch)


@loop
def terms_midway(e: Entries, v: ptr, run: Run, scratch: ptr) -> None:
    """Terms at q_θ and these velocities."""
    q = run.free.q
    t = run.t + run.theta * run.h
    refresh(e, t, q, v, run, scratch)
    e.terms(t, q, v, run.u, run.p, q, run.terms.floats, scratch)
    run.evaluations += 1


@loop
def solve_free(run: Run) -> None:
    """v_f, with the terms at hand."""
    nv = run.nv
    nc = run.nc
    theta = run.theta
    v = run.v
    free = run.free.v
    force = run.free.force
    terms = run.terms
    nu = terms.nu
    for i in range(nv):
        force[i] = run.h * terms.f[i]
    # what closures still ask of the change of v
    for k in range(nc):
        rest = nu[k] / theta
        G = terms.G[k]
        for i in range(nv):
            rest -= G[i] * v[i] / theta
        nu[k] = rest
    free_motion(nc, run.rank, flat(terms.G), force, nu, free, run)
    for i in range(nv):
        free[i] += v[i]


@loop
def dampen(run: Run) -> None:
    """Viscous friction of closed blocks, implicit: M + h θ c DᵀD, and −c Dᵀu beside f."""
    nv = run.nv
    mid = run.mid
    terms = run.terms
    run.is_damped = 0
    for k in range(run.nb):
        block = run.blocks[k]
        c = mid.laws[k].viscous
        if c > 0.0 and block.kind == FRICTION and is_loaded(k, run) == 1:
            run.is_damped = 1
            for r in range(block.first, block.first + block.rows):
                D = mid.D[r]
                for i in range(nv):
                    terms.f[i] -= c * D[i] * mid.rate[r]
                    for j in range(nv):
                        terms.M[i, j] += run.h * run.theta * c * D[i] * D[j]


@loop
def is_loaded(k: i64, run: Run) -> i64:
    """1 if the friction block has no load, or its load was closed in the step before.

    Before the first step it is closed where it touches and does not open.
    """
    load = run.blocks[k].load
    if load < 0 or run.mode[load] == CLOSED:
        return 1
    rate = run.sides.rate[run.blocks[load].first]
    touches = 1 if run.sides.gap[load] <= near(load, run) else 0
    rests = 1 if abs(rate) <= still(load, run) else 0
    return touches * rests if run.steps == 0 else 0


@loop
def predict(e: Entries, run: Run, scratch: ptr) -> None:
    """Which blocks are active: gaps that touch or that the free motion closes, rates, friction."""
    end = run.end
    state_after(e, run.free.v, run, scratch)
    active = run.active
    touch = reach(run)
    for k in range(run.nb):
        block = run.blocks[k]
        active[k] = 1
        if block.kind == GAP:
            touches = 1 if run.sides.gap[k] <= touch * run.scales.gap[k] else 0
            active[k] = 1 if end.gap[k] <= 0.0 or touches == 1 else 0
            if is_same_place(k, end, run) == 0 or is_same_place(k, run.sides, run) == 0:
                active[k] = 1 if mid_closes(k, run) == 1 else 0
        elif block.kind == FRICTION and block.load >= 0:
            active[k] = active[block.load]


@loop
def mid_closes(k: i64, run: Run) -> i64:
    """1 if a gap closes by its rate midway, or touches: of a place that is another elsewhere."""
    rate = run.mid.rate[run.blocks[k].first]
    ahead = run.mid.gap[k] + (1.0 - run.theta) * run.h * min(rate, 0.0)
    return 1 if ahead <= near(k, run) else 0


@loop
def state_after(e: Entries, after: ptr, run: Run, scratch: ptr) -> None:
    """Unilateral rows at the end of a step that ends with the velocities `after`, `run.end`."""
    moved = run.free.moved
    q = run.free.q_end
    displacement(e, after, moved, run, scratch)
    e.retract(run.t_new, run.q, after, run.u, run.p, moved, q, scratch)
    forget_end(run)
    one_sided_at_end(e, run.t_new, q, after, run, scratch)


@loop
def closing(e: Entries, run: Run, scratch: ptr) -> i64:
    """Gaps that the impulses of others close join the problem; how many."""
    nv = run.nv
    end = run.end
    state_after(e, run.y[nv:], run, scratch)
    active = run.active
    count = 0
    for k in range(run.nb):
        block = run.blocks[k]
        if block.kind == GAP and active[k] == 0 and end.gap[k] < 0.0:
            if is_same_place(k, end, run) == 0:
                adopt(k, run)
            active[k] = 1
            run.same_rows = 0
            count += 1
        elif block.kind == FRICTION and block.load >= 0:
            active[k] = active[block.load]
    return count
