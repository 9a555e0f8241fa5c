"""Contact problems of a group of worlds, each solved by all threads of the group together.

A group has as many worlds as threads. What depends on one state alone is done by one thread for
each world; problems of contacts then follow one after the other, with all threads at the rows of
one of them: matrices lie in memory that a block of threads shares and no thread waits for another
that has more contacts. On a processor a group is one thread with one world.

A problem comes as rows X in the metric of M, from which A = X Xᵀ is made, and is scaled as in
`solvers/cones/table.py`. Newton's method with every block in the mode in which it looks ends it,

    (A + ρ) δ = −z on what is closed and sticks,   ρ ≥ 1e-5                             (group-1)

where ρ, a mobility of their own, keeps rows that depend on each other where they are; sweeps lead
on where modes cycle. Rates that no forces can change are left out, as in
`solvers/cones/cones.py`.

Public names: solve_group.

Source: docs/theory/contact_solvers.md; AC91.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.layout import Run
from liaison.simulation.worlds.scene.layout import barrier
from liaison.solvers.cones.table import BILATERAL, DISC, ONE_WAY

from .group_matrices import (
    OWN,
    OWN_LEAST,
    OWN_MOST,
    OWN_SINGLE,
    Shared,
    inverted,
    leave_out,
    product_of_row,
    put_number,
    scale_problem,
    take_problem,
    width_of,
)

STEPS, CHORD, TRIES, SWEEPS = 16, 0.1, 5, 10
"""Newton's steps; what one may leave of the residual for the next to have the same J; how often
they begin; sweeps before the second time, four times as many
before each later one."""

ROUNDED = 2e-14
"""Residual beside 1 + Σ |y| at which nothing but rounding is left."""

ENOUGH, HELPS = 1e-9, 0.3
"""Residual at which steps end that leave more than this part of it."""

GOOD_ENOUGH = 1.2e-9
"""Residual at which no sweeps are tried."""


@loop
def solve_group(me: i64, run: Run, s: Shared, group: ptr) -> None:
    """Problems of all worlds of a group: P and u of each, and its residual in the place of b."""
    barrier()
    for w in range(run.lanes):
        m = int(s.count[w])
        if m > 0:
            take_problem(me, w, m, run, s, group)
            barrier()
            scale_problem(me, m, int(s.blocks[w]), run, s)
            residual = solved(me, m, int(s.blocks[w]), run, s)
            give_back(me, w, m, residual, run, s, group)
            barrier()
    barrier()


@loop
def solved(me: i64, m: i64, nb: i64, run: Run, s: Shared) -> f64:
    """The best y into `y`, and its residual."""
    beta = s.miss[0]
    has_inverse = leave_out(me, m, run, s)
    best = 1e300
    sweeps = SWEEPS
    for turn in range(TRIES):
        if turn > 0:
            for _ in range(sweeps):
                sweep(me, m, nb, run, s)
            sweeps = 4 * sweeps
        best = newton(me, m, nb, has_inverse, best, run, s)
        has_inverse = 0
        if best <= GOOD_ENOUGH:
            break
    i = me
    while i < m:
        s.y[i] = s.best[i]
        i += run.lanes
    barrier()
    refresh(me, m, run, s)
    i = me
    while i < m:
        s.y[i] = beta * s.sigma[i] * s.y[i]
        s.z[i] = beta * s.z[i] / s.sigma[i]
        i += run.lanes
    return best


@loop
def give_back(me: i64, w: i64, m: i64, residual: f64, run: Run, s: Shared, group: ptr) -> None:
    """P and u of a problem to its world, and its residual."""
    i = me
    while i < m:
        put_number(2 * run.few + i, w, s.y[i], group, run)
        put_number(3 * run.few + i, w, s.z[i], group, run)
        i += run.lanes
    if me == 0:
        put_number(0, w, residual, group, run)


@loop
def refresh(me: i64, m: i64, run: Run, s: Shared) -> None:
    """z = Ã y + b̃."""
    A = s.A
    i = me
    while i < m:
        total = s.free[i]
        other = 0.0
        j = 0
        while j + 1 < m:
            total += A[j * m + i] * s.y[j]
            other += A[(j + 1) * m + i] * s.y[j + 1]
            j += 2
        if j < m:
            total += A[j * m + i] * s.y[j]
        s.z[i] = total + other
        i += run.lanes
    barrier()


@loop
def radius(k: i64, run: Run, s: Shared) -> f64:
    """Radius of a disc under its load."""
    load = int(s.load[k])
    pressed = max(s.y[load], 0.0) if load >= 0 else 0.0
    return float(s.coefficient[k] * pressed + max(s.constant[k], 0.0))


@loop
def project(me: i64, nb: i64, run: Run, s: Shared) -> None:
    """y inside its bounds: loads first, then discs."""
    k = me
    while k < nb:
        if int(s.kind[k]) == ONE_WAY:
            first = int(s.first[k])
            s.y[first] = max(s.y[first], s.constant[k])
        k += run.lanes
    barrier()
    k = me
    while k < nb:
        if int(s.kind[k]) == DISC:
            first = int(s.first[k])
            second = first + int(s.rows[k]) - 1
            x = s.y[first]
            y = s.y[second] if second > first else 0.0
            r = radius(k, run, s)
            length = sqrt(x * x + y * y)
            part = r / length if length > r else 1.0
            s.y[first] = part * x
            if second > first:
                s.y[second] = part * y
        k += run.lanes
    barrier()


@loop
def missed(k: i64, run: Run, s: Shared) -> f64:
    """Length of y − P(y − z) of one block."""
    first = int(s.first[k])
    kind = int(s.kind[k])
    if kind == ONE_WAY:
        return float(abs(min(s.y[first] - s.constant[k], s.z[first])))
    second = first + int(s.rows[k]) - 1
    z = s.z[first]
    u = s.z[second] if second > first else 0.0
    if kind == BILATERAL:
        return sqrt(z * z + u * u)
    y = s.y[first]
    t = s.y[second] if second > first else 0.0
    r = radius(k, run, s)
    length = sqrt((y - z) * (y - z) + (t - u) * (t - u))
    if length <= r:
        return sqrt(z * z + u * u)
    part = r / length
    z = y - part * (y - z)
    u = t - part * (t - u)
    return sqrt(z * z + u * u)


@loop
def residual_of(me: i64, nb: i64, run: Run, s: Shared) -> f64:
    """The largest of all blocks; NaN where one is not finite."""
    k = me
    while k < nb:
        s.miss[k] = missed(k, run, s)
        k += run.lanes
    barrier()
    worst = 0.0
    bad = 0.0
    k = 0
    while k < nb:
        worst = max(worst, s.miss[k])
        bad += s.miss[k] - s.miss[k]
        k += 1
    barrier()
    return worst + bad


@loop
def rounding(m: i64, run: Run, s: Shared) -> f64:
    """Residual at which nothing but rounding is left."""
    total = 1.0
    i = 0
    while i < m:
        total += abs(s.y[i])
        i += 1
    return ROUNDED * total


@loop
def newton(me: i64, m: i64, nb: i64, has_inverse: i64, best: f64, run: Run, s: Shared) -> f64:
    """Steps from y on while they help; the best so far into `best`, whose residual is returned."""
    project(me, nb, run, s)
    refresh(me, m, run, s)
    residual = residual_of(me, nb, run, s)
    best = kept(me, m, residual, best, run, s)
    is_new = 1
    for _ in range(STEPS):
        look_at_blocks(me, nb, run, s)
        if has_inverse == 1:
            is_new = 1 - all_hold(m, run, s)
            has_inverse = 0
        if is_new == 1:
            own = max(OWN_LEAST + OWN_SINGLE, min(OWN_MOST, OWN * residual))
            linearize(me, m, own, run, s)
            if inverted(me, m, run, s) != 0:
                break
        i = me
        while i < m:
            s.y[i] += product_of_row(i, m, s.right, run, s)
            i += run.lanes
        barrier()
        project(me, nb, run, s)
        refresh(me, m, run, s)
        now = residual_of(me, nb, run, s)
        if not (now < 1e100):
            break
        # the same J as long as it helps
        is_over = 1 if best <= ENOUGH and now > HELPS * best else 0
        is_new = 1 if now > CHORD * residual else 0
        best = kept(me, m, now, best, run, s)
        if is_over == 1 or best <= rounding(m, run, s):
            break
        residual = now
    # what follows begins at the best
    i = me
    while i < m:
        s.y[i] = s.best[i]
        i += run.lanes
    barrier()
    refresh(me, m, run, s)
    return best


@loop
def kept(me: i64, m: i64, residual: f64, best: f64, run: Run, s: Shared) -> f64:
    """Remembers y if its residual is the least so far; returns that."""
    if not (residual < best):
        return best
    i = me
    while i < m:
        s.best[i] = s.y[i]
        i += run.lanes
    return residual


@loop
def look_at_blocks(me: i64, nb: i64, run: Run, s: Shared) -> None:
    """What J is made of, and the right side."""
    k = me
    while k < nb:
        if int(s.kind[k]) == DISC:
            linear_disc(k, run, s)
        else:
            linear_rows(k, run, s)
        k += run.lanes
    barrier()


@loop
def all_hold(m: i64, run: Run, s: Shared) -> i64:
    """1 if all that is there is closed and sticks: J is A + ρ."""
    slips = 0
    i = 0
    while i < m:
        slips += 1 if s.along[i] + s.across[i] != 1.0 or s.pull[i] != 0.0 else 0
        i += 1
    return 1 if slips == 0 else 0


@loop
def linearize(me: i64, m: i64, own: f64, run: Run, s: Shared) -> None:
    """J of one step."""
    width = width_of(m)
    j = me
    while j < m:
        i = 0
        while i + 1 < m:
            x = jacobian(i, j, m, own, run, s)
            y = jacobian(i + 1, j, m, own, run, s)
            s.J[i * width + j] = x
            s.J[(i + 1) * width + j] = y
            i += 2
        if i < m:
            s.J[i * width + j] = jacobian(i, j, m, own, run, s)
        j += run.lanes
    barrier()


@loop
def jacobian(i: i64, j: i64, m: i64, own: f64, run: Run, s: Shared) -> f64:
    """An element of J: (1 − T) + T (A + ρ), and what a load changes."""
    lead = int(s.lead[i])
    pair = int(s.pair[i])
    x = s.along[i] * s.A[lead * m + j]
    y = s.across[i] * s.A[pair * m + j]
    x += (s.along[i] * (own - 1.0)) if j == lead else 0.0
    y += (s.across[i] * (own - 1.0)) if j == pair else 0.0
    x += 1.0 if j == i else 0.0
    x -= s.pull[i] if j == int(s.load_of[i]) else 0.0
    return float(x + y)


@loop
def linear_rows(k: i64, run: Run, s: Shared) -> None:
    """Rows of a block that is no disc: closed, their rate is 0; open, their force is known."""
    first = int(s.first[k])
    for i in range(first, first + int(s.rows[k])):
        s.lead[i] = float(i)
        s.pair[i] = float(i)
        s.across[i] = 0.0
        s.pull[i] = 0.0
        s.load_of[i] = -1.0
        s.along[i] = 1.0
        s.right[i] = -s.z[i]
        if int(s.kind[k]) == ONE_WAY:
            force = s.y[i] - s.constant[k]
            if not (force - s.z[i] > 0.0):
                s.along[i] = 0.0
                s.right[i] = -force


@loop
def linear_disc(k: i64, run: Run, s: Shared) -> None:
    """Rows of a disc: it sticks, or slips along y − z."""
    first = int(s.first[k])
    second = first + int(s.rows[k]) - 1
    load = int(s.load[k])
    r = radius(k, run, s)
    x = s.y[first] - s.z[first]
    t = s.y[second] - s.z[second] if second > first else 0.0
    length = sqrt(x * x + t * t)
    sticks = 1 if length <= r else 0
    turn = 1.0 if sticks == 1 else r / length
    x = x / length if sticks == 0 else 0.0
    t = t / length if sticks == 0 else 0.0
    pressed = 1.0 if load >= 0 and sticks == 0 else 0.0
    if load >= 0:
        pressed = pressed if s.y[load] > 0.0 else 0.0
    for i in range(first, second + 1):
        e = x if i == first else t
        s.lead[i] = float(first)
        s.pair[i] = float(second)
        s.along[i] = (turn if i == first else 0.0) - turn * e * x
        s.across[i] = (turn if i == second else 0.0) - turn * e * t
        if second == first:
            s.along[i] = turn - turn * e * x
            s.across[i] = 0.0
        s.pull[i] = pressed * s.coefficient[k] * e
        s.load_of[i] = float(load)
        s.right[i] = -s.z[i] if sticks == 1 else r * e - s.y[i]


@loop
def sweep(me: i64, m: i64, nb: i64, run: Run, s: Shared) -> None:
    """Every block once, one after the other; z goes along."""
    A = s.A
    for k in range(nb):
        first = int(s.first[k])
        second = first + int(s.rows[k]) - 1
        kind = int(s.kind[k])
        a = max(A[first * m + first], A[second * m + second]) + 1e-9
        x = s.y[first] - s.z[first] / a
        t = s.y[second] - s.z[second] / a if second > first else 0.0
        if kind == ONE_WAY:
            x = max(x, s.constant[k])
        if kind == DISC:
            r = radius(k, run, s)
            length = sqrt(x * x + t * t)
            part = r / length if length > r else 1.0
            x = part * x
            t = part * t
        dx = x - s.y[first]
        dt = t - s.y[second] if second > first else 0.0
        barrier()
        i = me
        while i < m:
            s.z[i] += dx * A[first * m + i] + dt * A[second * m + i]
            i += run.lanes
        if me == 0:
            s.y[first] = x
            if second > first:
                s.y[second] = t
        barrier()
