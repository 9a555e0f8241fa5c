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

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.layout import Run
from liaison.simulation.worlds.scene.layout import barrier, inverse_of, lanes_most, lanes_total
from liaison.solvers.cones.softened import is_what_is_left
from liaison.solvers.cones.table import BILATERAL, DISC, ONE_WAY

from .matrices import (
    OWN,
    OWN_LEAST,
    OWN_MOST,
    Shared,
    factor_at,
    factor_words,
    fetch,
    finite_inverse_root,
    inverted,
    keep_number,
    leave_out,
    meet_block,
    next_seat,
    place_of,
    post,
    posted,
    product_of_row,
    row_at,
    scale_problem,
    seats,
    stride_of,
    take_problem,
    take_rows,
    unreachable,
    width_of,
)
from .problem import pushed_at

STEPS, CHORD, TRIES, SWEEPS = 16, 0.1, 5, 10
"""Newton's steps; what one may leave of the residual for the next to have the same J; how often
they begin; sweeps before the second time, four times as many
before each later one."""

ROUNDED = 1e-12
"""Residual beside 1 + Σ |y| at which steps end: rounding is a hundredth of it."""

ENOUGH, HELPS = 1e-9, 0.3
"""Residual at which steps end that leave more than this part of it."""

BEYOND = 1e100
"""A residual that none has whose numbers are finite."""

GOOD_ENOUGH, FAIR = 1.2e-9, 1e-8
"""Residuals at which no sweeps are tried, and at which one thread need not try other ways where
rates that no forces change explain what is left."""


@loop
def solve_group(
    rows: i64, blocks: i64, is_new: i64, me: i64, run: Run, s: Shared, group: ptr
) -> None:
    """Problems of all worlds of a block, of which this thread's has so many rows and blocks.

    Each group takes the next one that none has taken. P, u and X P of each, and its residual in
    the place of b. Rows of one that is new are D, and X after it.
    """
    own = pack(rows, blocks, is_new) if rows > 0 else 0
    post(own)
    meet_block()
    w = next_seat(-1)
    while w < seats():
        word = posted(w, own)
        m = word & (PACK - 1)
        nb = (word >> BITS) & (PACK - 1)
        fetch_later(me, w + seats() // run.lanes, own, run, group)
        if m > 0:
            take_problem(me, w, m, nb, word >> (2 * BITS), run, s, group)
            beta = scale_problem(me, m, nb, run, s)
            residual = solved(me, m, nb, run, s)
            give_back(me, w, m, beta, residual, run, s, group)
        w = next_seat(w)


BITS, PACK = 6, 64
"""Rows and blocks of a problem in one number."""


@loop
def pack(rows: i64, blocks: i64, is_new: i64) -> i64:
    """What a problem is, in one number."""
    return rows + PACK * (blocks + PACK * is_new)


@loop
def fetch_later(me: i64, w: i64, own: i64, run: Run, group: ptr) -> None:
    """Asks for the problem that comes about when this one is solved."""
    word = posted(w, own)
    m = word & (PACK - 1)
    if m > 0 and run.lanes > 1:
        at = place_of(w, run)
        k = LINE * me
        while k < row_at(m, run):
            fetch(at + k, group)
            k += LINE * run.lanes
        k = LINE * me
        while word >> (2 * BITS) == 1 and k < factor_words(run):
            fetch(at + factor_at(run) + k, group)
            k += LINE * run.lanes


LINE = 16
"""Numbers that come together, at least."""


@loop
def solved(me: i64, m: i64, nb: i64, run: Run, s: Shared) -> f64:
    """The best y into `y`, with its z, and its residual; `BEYOND` if others may be better."""
    has_inverse = leave_out(me, m, run, s)
    best = BEYOND
    sweeps = SWEEPS
    for turn in range(TRIES):
        if turn > 0:
            for _ in range(sweeps):
                sweep(me, m, nb, run, s)
            sweeps = 4 * sweeps
        best = newton(me, m, nb, has_inverse, best, run, s)
        has_inverse = 0
        if best <= GOOD_ENOUGH:
            return best
    if best <= FAIR and is_what_is_left(best, unreachable(me, m, run, s)) == 1:
        return best
    return BEYOND


@loop
def give_back(
    me: i64, w: i64, m: i64, beta: f64, residual: f64, run: Run, s: Shared, group: ptr
) -> None:
    """P and u of a problem to its world, its residual and X P."""
    at = place_of(w, run)
    i = me
    while i < m:
        P = beta * s.sigma[i] * s.y[i]
        s.y[i] = P
        keep_number(at + 2 * run.few + i, P, group)
        keep_number(at + 3 * run.few + i, beta * s.z[i] * inverse_of(s.sigma[i]), group)
        i += run.lanes
    if me == 0:
        keep_number(at, residual, group)
    stride = stride_of(run)
    take_rows(me, w, m, stride, s.J, run, group)
    k = me
    while k < run.nv:
        x = s.J[k:]
        a = 0.0
        b = 0.0
        i = 0
        while i + 1 < m:
            a += x[0] * s.y[i]
            b += x[stride] * s.y[i + 1]
            x = x[2 * stride :]
            i += 2
        if i < m:
            a += x[0] * s.y[i]
        keep_number(at + pushed_at(run) + k, a + b, group)
        k += run.lanes


@loop
def refresh(me: i64, m: i64, run: Run, s: Shared) -> None:
    """z = Ã y + b̃."""
    width = width_of(m)
    i = me
    while i < m:
        x = s.A[i:]
        a = s.free[i]
        b = 0.0
        c = 0.0
        d = 0.0
        j = 0
        while j + 3 < m:
            a += x[0] * s.y[j]
            b += x[width] * s.y[j + 1]
            c += x[2 * width] * s.y[j + 2]
            d += x[3 * width] * s.y[j + 3]
            x = x[4 * width :]
            j += 4
        while j < m:
            a += x[0] * s.y[j]
            x = x[width:]
            j += 1
        s.z[i] = (a + b) + (c + d)
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
            square = x * x + y * y
            part = r * finite_inverse_root(square) if square > r * r else 1.0
            s.y[first] = part * x
            if second > first:
                s.y[second] = part * y
        k += run.lanes
    barrier()


@loop
def missed(k: i64, run: Run, s: Shared) -> f64:
    """Square of the length of y − P(y − z) of one block."""
    first = int(s.first[k])
    kind = int(s.kind[k])
    if kind == ONE_WAY:
        z = min(s.y[first] - s.constant[k], s.z[first])
        return float(z * z)
    second = first + int(s.rows[k]) - 1
    z = s.z[first]
    u = s.z[second] if second > first else 0.0
    if kind == BILATERAL:
        return float(z * z + u * u)
    y = s.y[first]
    t = s.y[second] if second > first else 0.0
    r = radius(k, run, s)
    square = (y - z) * (y - z) + (t - u) * (t - u)
    if square <= r * r:
        return float(z * z + u * u)
    part = r * finite_inverse_root(square)
    z = y - part * (y - z)
    u = t - part * (t - u)
    return float(z * z + u * u)


@loop
def residual_of(me: i64, nb: i64, run: Run, s: Shared) -> f64:
    """The largest of all blocks; above `BEYOND` where one is not finite."""
    worst = 0.0
    k = me
    while k < nb:
        square = missed(k, run, s)
        worst = max(worst, square if square < 1e300 else 1e300)
        k += run.lanes
    worst = lanes_most(worst)
    return worst * finite_inverse_root(worst)


@loop
def rounding(me: i64, m: i64, run: Run, s: Shared) -> f64:
    """Residual at which nothing but rounding is left."""
    total = 0.0
    i = me
    while i < m:
        total += abs(s.y[i])
        i += run.lanes
    return ROUNDED * (1.0 + lanes_total(total))


@loop
def newton(me: i64, m: i64, nb: i64, has_inverse: i64, best: f64, run: Run, s: Shared) -> f64:
    """Steps from y on while they help; the best so far into `best`, whose residual is returned."""
    project(me, nb, run, s)
    refresh(me, m, run, s)
    residual = residual_of(me, nb, run, s)
    best = kept(me, m, residual, best, run, s)
    last = residual
    is_new = 1
    for _ in range(STEPS):
        look_at_blocks(me, nb, run, s)
        if has_inverse == 1:
            is_new = 1 - all_hold(me, m, run, s)
            has_inverse = 0
        if is_new == 1:
            own = max(OWN_LEAST, min(OWN_MOST, OWN * residual))
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
        last = now
        if not (now < BEYOND):
            break
        # the same J as long as it helps
        is_over = 1 if best <= ENOUGH and now > HELPS * best else 0
        is_new = 1 if now > CHORD * residual else 0
        best = kept(me, m, now, best, run, s)
        if is_over == 1 or (best <= ENOUGH and best <= rounding(me, m, run, s)):
            break
        residual = now
    if last != best:
        take_best(me, m, run, s)
    return best


@loop
def take_best(me: i64, m: i64, run: Run, s: Shared) -> None:
    """The best y so far, and its z: what follows begins there."""
    i = me
    while i < m:
        s.y[i] = s.best[i]
        i += run.lanes
    barrier()
    refresh(me, m, run, s)


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
def all_hold(me: i64, m: i64, run: Run, s: Shared) -> i64:
    """1 if all that is there is closed and sticks: J is A + ρ."""
    slips = 0.0
    i = me
    while i < m:
        if s.along[i] + s.across[i] != 1.0 or s.pull[i] != 0.0:
            slips = 1.0
        i += run.lanes
    return 1 if lanes_most(slips) == 0.0 else 0


@loop
def linearize(me: i64, m: i64, own: f64, run: Run, s: Shared) -> None:
    """J of one step, a row a thread: (1 − T) + T (A + ρ), and what a load changes."""
    width = width_of(m)
    i = me
    while i < m:
        lead = int(s.lead[i])
        pair = int(s.pair[i])
        load = int(s.load_of[i])
        along = s.along[i]
        across = s.across[i]
        combine_rows(m, along, s.A[lead * width :], across, s.A[pair * width :], s.J[i * width :])
        s.J[i * width + lead] += along * (own - 1.0)
        s.J[i * width + pair] += across * (own - 1.0)
        s.J[i * width + i] += 1.0
        if load >= 0:
            s.J[i * width + load] -= s.pull[i]
        i += run.lanes
    barrier()


@loop
def combine_rows(
    m: i64, along: f64, near_x: ptr, across: f64, near_y: ptr, near: ptr
) -> None:  # fmt: skip
    """Two rows of A times their parts, four numbers at a time."""
    j = 0
    while j + 3 < m:
        a = along * near_x[j] + across * near_y[j]
        b = along * near_x[j + 1] + across * near_y[j + 1]
        c = along * near_x[j + 2] + across * near_y[j + 2]
        d = along * near_x[j + 3] + across * near_y[j + 3]
        near[j] = a
        near[j + 1] = b
        near[j + 2] = c
        near[j + 3] = d
        j += 4
    while j < m:
        near[j] = along * near_x[j] + across * near_y[j]
        j += 1


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
    square = x * x + t * t
    sticks = 1 if square <= r * r else 0
    inverse = finite_inverse_root(square)
    turn = 1.0 if sticks == 1 else r * inverse
    x = x * inverse if sticks == 0 else 0.0
    t = t * inverse if sticks == 0 else 0.0
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
    width = width_of(m)
    for k in range(nb):
        first = int(s.first[k])
        second = first + int(s.rows[k]) - 1
        kind = int(s.kind[k])
        a = max(A[first * width + first], A[second * width + second]) + 1e-9
        x = s.y[first] - s.z[first] / a
        t = s.y[second] - s.z[second] / a if second > first else 0.0
        if kind == ONE_WAY:
            x = max(x, s.constant[k])
        if kind == DISC:
            r = radius(k, run, s)
            square = x * x + t * t
            part = r * finite_inverse_root(square) if square > r * r else 1.0
            x = part * x
            t = part * t
        dx = x - s.y[first]
        dt = t - s.y[second] if second > first else 0.0
        barrier()
        i = me
        while i < m:
            s.z[i] += dx * A[first * width + i] + dt * A[second * width + i]
            i += run.lanes
        if me == 0:
            s.y[first] = x
            if second > first:
                s.y[second] = t
        barrier()
