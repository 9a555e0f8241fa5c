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
`solvers/cones/reachable.py`.

Public names: Shared, PROBLEM, CONE, group_words, few_rows, solve_group, number_at, put_number.

Source: docs/theory/contact_solvers.md; AC91.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import external, f64, i64, loop, ptr
from liaison.program.loops.records import Part, sized
from liaison.simulation.steps.layout import Run
from liaison.solvers.cones.table import BILATERAL, DISC, ONE_WAY

from .balls import barrier

FEW = {"double": 36, "float": 52}
"""Rows of a problem at most: its matrices lie in 28 kB that a block of threads shares."""

PROBLEM, CONE = 5, 7
"""Numbers of a row and of a block beside X: b, what rates change beside it, P, u, share; kind,
first row, rows, row of the load, coefficients along both rows, constant."""

OWN, OWN_LEAST, OWN_MOST = 0.1, 1e-5, 1e-2
"""ρ beside the residual, and its bounds."""

OWN_SINGLE = 5e-9
"""Added to the least ρ; in single precision it becomes 2e-4."""

PIVOT = 1e-2
"""A pivot beside the diagonal, which is about 1, from which on no larger one is looked for."""

STEPS, CHORD, TRIES, SWEEPS = 16, 0.1, 5, 10
"""Newton's steps; what one may leave of the residual for the next to have the same J; how often
they begin; sweeps before the second time, four times as many
before each later one."""

ROUNDED = 2e-14
"""Residual beside 1 + Σ |y| at which nothing but rounding is left."""

ENOUGH, HELPS = 1e-9, 0.3
"""Residual at which steps end that leave more than this part of it."""

GOOD_ENOUGH = 5e-9
"""Residual at which no sweeps are tried."""

NO_CHANGE = 2e-11
"""Change of rates beside the largest that is none."""


@final
class Shared(Part):
    """What threads of a group share; vectors of rows, then of blocks, then of threads."""

    sigma: ptr = sized("few")
    free: ptr = sized("few")  # b̃
    change: ptr = sized("few")  # of rates beside it
    y: ptr = sized("few")
    z: ptr = sized("few")
    best: ptr = sized("few")
    lead: ptr = sized("few")  # the row whose rate a row of Newton's method has a part `along` of
    pair: ptr = sized("few")  # the other row of its disc
    along: ptr = sized("few")
    across: ptr = sized("few")
    pull: ptr = sized("few")  # of its load
    load_of: ptr = sized("few")
    right: ptr = sized("few")
    column: ptr = sized("few")  # of J, while it is inverted
    order: ptr = sized("few")
    kind: ptr = sized("few")
    first: ptr = sized("few")
    rows: ptr = sized("few")
    load: ptr = sized("few")  # the row of it
    coefficient: ptr = sized("few")
    constant: ptr = sized("few")
    miss: ptr = sized("few")
    count: ptr = sized("lanes")  # rows of the problem of each thread
    blocks: ptr = sized("lanes")
    A: ptr = sized("few * few")
    J: ptr = sized("few * (few + 1)")


def few_rows(rows: int, real: str) -> int:
    """Rows of a problem at most, of a mechanism with so many."""
    return min(rows, FEW[real])


@external
def inverse_of(x: f64) -> f64:
    """1/x, to rounding or nearly so."""
    return 1.0 / x


@loop
def problem_words(run: Run) -> i64:
    """Numbers of one problem."""
    return run.few * (PROBLEM + CONE + run.nv)


@loop
def group_words(run: Run) -> i64:
    """Numbers of a group: problems of all its worlds, number by number."""
    return int(run.lanes * problem_words(run))


@loop
def number_at(k: i64, w: i64, group: ptr, run: Run) -> f64:
    """A number of the problem of world w."""
    return float(group[k * run.lanes + w])


@loop
def put_number(k: i64, w: i64, value: f64, group: ptr, run: Run) -> None:
    """Writes one."""
    group[k * run.lanes + w] = value


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
def take_problem(me: i64, w: i64, m: i64, run: Run, s: Shared, group: ptr) -> None:
    """Rows, blocks and X of a problem into shared memory; X in the place of J."""
    nv = run.nv
    most = run.few
    i = me
    while i < m:
        free = number_at(i, w, group, run)
        change = number_at(most + i, w, group, run)
        y = number_at(2 * most + i, w, group, run)
        sigma = number_at(4 * most + i, w, group, run)
        s.free[i] = free
        s.change[i] = change
        s.y[i] = y
        s.sigma[i] = sigma
        i += run.lanes
    k = me
    while k < int(s.blocks[w]):
        base = PROBLEM * most + CONE * k
        kind = number_at(base, w, group, run)
        first = number_at(base + 1, w, group, run)
        rows = number_at(base + 2, w, group, run)
        load = number_at(base + 3, w, group, run)
        along = number_at(base + 4, w, group, run)
        across = number_at(base + 5, w, group, run)
        constant = number_at(base + 6, w, group, run)
        s.kind[k] = kind
        s.first[k] = first
        s.rows[k] = rows
        s.load[k] = load
        s.coefficient[k] = max(max(along, across), 0.0)
        s.constant[k] = constant
        k += run.lanes
    base = (PROBLEM + CONE) * most
    k = me
    while k + 3 * run.lanes < m * nv:
        a = number_at(base + k, w, group, run)
        b = number_at(base + k + run.lanes, w, group, run)
        c = number_at(base + k + 2 * run.lanes, w, group, run)
        d = number_at(base + k + 3 * run.lanes, w, group, run)
        s.J[k] = a
        s.J[k + run.lanes] = b
        s.J[k + 2 * run.lanes] = c
        s.J[k + 3 * run.lanes] = d
        k += 4 * run.lanes
    while k < m * nv:
        s.J[k] = number_at(base + k, w, group, run)
        k += run.lanes


@loop
def scale_problem(me: i64, m: i64, nb: i64, run: Run, s: Shared) -> None:
    """A of (cones-1), b̃, y and bounds in scaled numbers."""
    nv = run.nv
    X = s.J
    i = me
    while i < m:
        total = 0.0
        k = 0
        while k < nv:
            total += X[i * nv + k] * X[i * nv + k]
            k += 1
        s.z[i] = total
        i += run.lanes
    barrier()
    k = me
    while k < nb:
        scale_rows(k, run, s)
        k += run.lanes
    barrier()
    products(me, m, run, s)
    size = 0.0
    i = 0
    while i < m:
        size = max(size, abs(s.sigma[i] * (s.free[i] + s.change[i])))
        i += 1
    beta = size if size > 1e-250 else 1.0
    barrier()
    k = me
    while k < nb:
        scale_bounds(k, beta, run, s)
        k += run.lanes
    i = me
    while i < m:
        s.free[i] = s.sigma[i] * s.free[i] / beta
        s.change[i] = s.sigma[i] * s.change[i] / beta
        s.y[i] = s.y[i] / (beta * s.sigma[i])
        i += run.lanes
    if me == 0:
        s.miss[0] = beta
    barrier()


@loop
def scale_rows(k: i64, run: Run, s: Shared) -> None:
    """σ of the rows of a block, from shares of semi-axes: its mean mobility becomes 1."""
    first = int(s.first[k])
    rows = int(s.rows[k])
    mobility = 0.0
    for i in range(first, first + rows):
        mobility += s.sigma[i] * s.sigma[i] * s.z[i] / float(rows)
    for i in range(first, first + rows):
        s.sigma[i] = s.sigma[i] / sqrt(max(mobility, 1e-280))


@loop
def scale_bounds(k: i64, beta: f64, run: Run, s: Shared) -> None:
    """c and k of the radius of a disc, or the least force, in scaled numbers."""
    first = int(s.first[k])
    size = s.sigma[first]
    if int(s.kind[k]) == DISC:
        size = max(size, s.sigma[first + int(s.rows[k]) - 1])
        load = int(s.load[k])
        s.coefficient[k] = s.coefficient[k] * s.sigma[load] / size if load >= 0 else 0.0
    s.constant[k] = s.constant[k] / (beta * size)


@loop
def products(me: i64, m: i64, run: Run, s: Shared) -> None:
    """A of the rows, scaled: each thread every `lanes`-th column, four rows at a time."""
    nv = run.nv
    X = s.J
    A = s.A
    sigma = s.sigma
    j = me
    while j < m:
        x = X[j * nv :]
        i = 0
        while i < m:
            # rows beyond the last are computed and not kept
            p = X[i * nv :]
            q = X[min(i + 1, m - 1) * nv :]
            r = X[min(i + 2, m - 1) * nv :]
            t = X[min(i + 3, m - 1) * nv :]
            a = 0.0
            b = 0.0
            c = 0.0
            d = 0.0
            k = 0
            while k < nv:
                a += p[k] * x[k]
                b += q[k] * x[k]
                c += r[k] * x[k]
                d += t[k] * x[k]
                k += 1
            A[i * m + j] = sigma[i] * sigma[j] * a
            if i + 1 < m:
                A[(i + 1) * m + j] = sigma[i + 1] * sigma[j] * b
            if i + 2 < m:
                A[(i + 2) * m + j] = sigma[i + 2] * sigma[j] * c
            if i + 3 < m:
                A[(i + 3) * m + j] = sigma[i + 3] * sigma[j] * d
            i += 4
        j += run.lanes


@loop
def width_of(m: i64) -> i64:
    """Numbers from a row of J to the next, an odd count: rows then begin in different banks."""
    return m + 1 - m % 2


@loop
def inverted(me: i64, m: i64, run: Run, s: Shared) -> i64:
    """J⁻¹ in the place of J, by Gauss and Jordan; 1 where J is singular.

    Each thread has every `lanes`-th column. Rows are exchanged where a pivot is small.
    """
    J = s.J
    width = width_of(m)
    for k in range(m):
        p = k
        most = abs(J[k * width + k])
        if not (most > PIVOT):
            for i in range(k + 1, m):
                if abs(J[i * width + k]) > most:
                    most = abs(J[i * width + k])
                    p = i
            if not (most > 1e-300):
                return 1
            barrier()
            j = me
            while p != k and j < m:
                x = J[k * width + j]
                J[k * width + j] = J[p * width + j]
                J[p * width + j] = x
                j += run.lanes
            barrier()
        i = me
        while i < m:
            s.column[i] = J[i * width + k]
            i += run.lanes
        s.order[k] = float(p)
        barrier()
        inverse = inverse_of(s.column[k])
        j = me
        while j < m:
            take_away(m, k, j, inverse, run, s)
            j += run.lanes
        barrier()
    for back in range(m):
        k = m - 1 - back
        p = int(s.order[k])
        i = me
        while p != k and i < m:
            x = J[i * width + k]
            J[i * width + k] = J[i * width + p]
            J[i * width + p] = x
            i += run.lanes
    barrier()
    return 0


@loop
def take_away(m: i64, k: i64, j: i64, inverse: f64, run: Run, s: Shared) -> None:
    """Row k times its column from column j of all other rows, eight at a time."""
    J = s.J
    q = s.column
    width = width_of(m)
    x = (J[k * width + j] if j != k else 1.0) * inverse
    keeps = 1.0 if j != k else 0.0
    p = J[j:]
    i = 0
    while i + 7 < m:
        a = keeps * p[0] - q[i] * x
        b = keeps * p[width] - q[i + 1] * x
        c = keeps * p[2 * width] - q[i + 2] * x
        d = keeps * p[3 * width] - q[i + 3] * x
        e = keeps * p[4 * width] - q[i + 4] * x
        f = keeps * p[5 * width] - q[i + 5] * x
        g = keeps * p[6 * width] - q[i + 6] * x
        h = keeps * p[7 * width] - q[i + 7] * x
        p[0] = a
        p[width] = b
        p[2 * width] = c
        p[3 * width] = d
        p[4 * width] = e
        p[5 * width] = f
        p[6 * width] = g
        p[7 * width] = h
        p = p[8 * width :]
        i += 8
    while i + 1 < m:
        a = keeps * p[0] - q[i] * x
        b = keeps * p[width] - q[i + 1] * x
        p[0] = a
        p[width] = b
        p = p[2 * width :]
        i += 2
    if i < m:
        p[0] = keeps * p[0] - q[i] * x
    J[k * width + j] = x


@loop
def product_of_row(i: i64, m: i64, x: ptr, run: Run, s: Shared) -> f64:
    """A row of J times x."""
    row = s.J[i * width_of(m) :]
    total = 0.0
    other = 0.0
    j = 0
    while j + 1 < m:
        total += row[j] * x[j]
        other += row[j + 1] * x[j + 1]
        j += 2
    if j < m:
        total += row[j] * x[j]
    return float(total + other)


@loop
def leave_out(me: i64, m: i64, run: Run, s: Shared) -> i64:
    """b̃ with the part of the change of rates that forces can meet; 1 if J is (A + ρ)⁻¹ now."""
    size = 0.0
    i = 0
    while i < m:
        size = max(size, abs(s.change[i]))
        i += 1
    barrier()
    has_inverse = 0
    if size > NO_CHANGE:
        ridged(me, m, run, s)
        if inverted(me, m, run, s) == 0:
            has_inverse = 1
            cut_change(me, m, run, s)
        barrier()
    i = me
    while i < m:
        s.free[i] += s.change[i]
        i += run.lanes
    barrier()
    return has_inverse


@loop
def cut_change(me: i64, m: i64, run: Run, s: Shared) -> None:
    """Takes from the change of rates what ρ (A + ρ)⁻¹ leaves of it, four times over."""
    i = me
    while i < m:
        s.along[i] = s.change[i]
        i += run.lanes
    barrier()
    for _ in range(4):
        i = me
        while i < m:
            part = product_of_row(i, m, s.along, run, s)
            s.across[i] = (OWN_LEAST + OWN_SINGLE) * s.A[i * m + i] * part
            i += run.lanes
        barrier()
        i = me
        while i < m:
            s.along[i] = s.across[i]
            i += run.lanes
        barrier()
    i = me
    while i < m:
        s.change[i] -= s.along[i]
        i += run.lanes


@loop
def ridged(me: i64, m: i64, run: Run, s: Shared) -> None:
    """A + ρ times its diagonal into J."""
    width = width_of(m)
    j = me
    while j < m:
        i = 0
        while i + 3 < m:
            a = s.A[i * m + j]
            b = s.A[(i + 1) * m + j]
            c = s.A[(i + 2) * m + j]
            d = s.A[(i + 3) * m + j]
            s.J[i * width + j] = a
            s.J[(i + 1) * width + j] = b
            s.J[(i + 2) * width + j] = c
            s.J[(i + 3) * width + j] = d
            i += 4
        while i < m:
            s.J[i * width + j] = s.A[i * m + j]
            i += 1
        s.J[j * width + j] += (OWN_LEAST + OWN_SINGLE) * s.A[j * m + j]
        j += run.lanes
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
    return s.coefficient[k] * pressed + max(s.constant[k], 0.0)


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
        return abs(min(s.y[first] - s.constant[k], s.z[first]))
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
