"""A contact problem in memory that threads share: layout, scaling, A = X Xᵀ, and inverses.

All of it is in double precision, also where worlds are in single: contacts of one body repeat each
other, and what their forces share out is lost in rounding otherwise.

Public names: Shared, PROBLEM, CONE, OWN, OWN_LEAST, OWN_MOST, few_rows, group_words, place_of,
row_at, factor_at, seat, seats, post, posted, next_seat, fetch, any_thread, meet_block, kept_number,
keep_number, factor_words, take_problem, take_rows, scale_problem, width_of, stride_of, inverted,
product_of_row, leave_out, unreachable, finite_inverse_root.

Source: GVL13 §2.1.4 (inverse), docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.contacts.stepping.moreau import FEW_VELOCITIES
from liaison.program.loops.language import external, f64, i64, loop, ptr
from liaison.program.loops.records import Part, sized
from liaison.simulation.steps.layout import Run
from liaison.simulation.worlds.scene.layout import barrier, inverse_of, lanes_most
from liaison.solvers.cones.cones import NO_PART
from liaison.solvers.cones.softened import RIDGE
from liaison.solvers.cones.table import DISC
from liaison.solvers.linear.dense import dot

FEW = 36
"""Rows of a problem at most: its matrices lie in 28 kB that a block of threads shares."""

PROBLEM, CONE = 5, 7
"""Numbers of a row and of a block beside X: b, what rates change beside it, P, u, share; kind,
first row, rows, row of the load, coefficients along both rows, constant."""

OWN, OWN_LEAST, OWN_MOST = 0.1, 1e-5, 1e-2
"""ρ beside the residual, and its bounds."""

PIVOT = 1e-7
"""A pivot beside the diagonal, which is about 1, from which on no larger one is looked for: those
of rows that depend on each other are ρ, and need none."""

NO_CHANGE = 2e-11
"""Change of rates beside the largest that is none."""


VECTORS = 19
FACTOR_BEYOND = (
    f"max(0, (nv * (nv + 1) // 2 + nc * (nv + nc + 2) + 31) // 16 * 16 + 128 - {VECTORS} * few)"
)


@final
class Shared(Part):
    """What threads of a group share: matrices, then vectors of rows, then of blocks."""

    row: ptr = sized("36")  # two rows that pass from one thread to all, or a column of J
    order: ptr = sized("36")  # and its rows
    A: ptr = sized("few * 37 + 152")  # also D: rows up to a multiple of 8
    J: ptr = sized("few * 37 + 152")  # also X
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
    kind: ptr = sized("few")
    first: ptr = sized("few")
    rows: ptr = sized("few")
    load: ptr = sized("few")  # the row of it
    coefficient: ptr = sized("few")
    constant: ptr = sized("few")
    spare: ptr = sized(FACTOR_BEYOND)  # the factor of M comes where vectors are later


def few_rows(rows: int) -> int:
    """Rows of a problem at most, of a mechanism with so many."""
    return min(rows, FEW)


@external
def finite_inverse_root(x: f64) -> f64:
    """1/√x, to rounding or nearly so; finite for 0."""
    return 1.0 / sqrt(max(x, 1e-290))


@external
def seat() -> i64:
    """The number of this thread in its block, and of its world's problem."""
    return 0


@external
def seats() -> i64:
    """Threads of the block."""
    return 1


@external
def post(word: i64) -> None:
    """Says what the problem of this thread is; all are taken from the first one on."""


@external
def posted(k: i64, own: i64) -> i64:
    """What the k-th thread of the block said, which is `own` if there is but one; 0 beyond."""
    return own


@external
def next_seat(k: i64) -> i64:
    """The next thread of the block whose problem no group has taken yet; the last one was k."""
    return k + 1


@external
def fetch(k: i64, group: ptr) -> None:
    """Asks for a number that is needed later."""


@external
def any_thread(x: i64) -> i64:
    """1 if a thread of the block gives another number than 0; all wait for each other."""
    return x


@external
def meet_block() -> None:
    """All threads of a block wait for each other: what they do next they read once."""


@external
def quick_inverse(m: i64, J: ptr, rows: ptr) -> i64:
    """J⁻¹ in the place of J by registers of threads: 1 if it is there, 0 if J is as it was."""
    return 0


@external
def quick_products(m: i64, X: ptr, A: ptr) -> i64:
    """A = X Xᵀ by registers of threads: 1 if it is there, 0 if not."""
    return 0


@external
def kept_number(k: i64, group: ptr) -> f64:
    """A number that a group keeps, in the precision of its worlds."""
    return float(group[k])


@external
def keep_number(k: i64, x: f64, group: ptr) -> None:
    """Writes one."""
    group[k] = x


@external
def metric_row(D: ptr, factor: ptr, x: ptr) -> None:
    """X of a row, by the entry of the mechanism that is made for it."""
    raise NotImplementedError("the factor of M is known to compiled code only")


@external
def factor_words(run: Run) -> i64:
    """Numbers of the factor of M and of closures, without those that are known."""
    return int(most_factor(run))


@loop
def most_factor(run: Run) -> i64:
    """The same at most, up to a multiple of 16."""
    nv = run.nv
    nc = run.nc
    return int((nv * (nv + 1) // 2 + nc * (nv + nc + 2) + 31) // 16 * 16)


@loop
def row_at(i: i64, run: Run) -> i64:
    """Where the i-th row of a problem begins: D, or X once that is known."""
    return (PROBLEM + CONE) * run.few + (1 + i) * stride_of(run)


@loop
def factor_at(run: Run) -> i64:
    """Where the factor begins, behind all rows."""
    return int(row_at(run.few, run))


@loop
def problem_words(run: Run) -> i64:
    """Numbers of one problem: of rows and blocks, X P, rows of D or X, the factor."""
    return int((factor_at(run) + most_factor(run) + 3) // 4 * 4)


@loop
def group_words(run: Run) -> i64:
    """Numbers of a group: the problem of each of its worlds."""
    return int(run.lanes * problem_words(run))


@loop
def place_of(w: i64, run: Run) -> i64:
    """Where the problem of world w begins."""
    return int(w * problem_words(run))


@loop
def take_problem(
    me: i64, w: i64, m: i64, nb: i64, is_new: i64, run: Run, s: Shared, group: ptr
) -> None:
    """A of a problem, its rows and blocks into shared memory."""
    if is_new == 1:
        make_rows(me, w, m, run, s, group)
    else:
        take_rows(me, w, m, stride_of(run), s.J, run, group)
    if quick_products(m, s.J, s.A) == 0:
        products(me, m, run, s)
    most = run.few
    at = place_of(w, run)
    i = me
    while i < m:
        free = kept_number(at + i, group)
        change = kept_number(at + most + i, group)
        y = kept_number(at + 2 * most + i, group)
        sigma = kept_number(at + 4 * most + i, group)
        s.free[i] = free
        s.change[i] = change
        s.y[i] = y
        s.sigma[i] = sigma
        i += run.lanes
    k = me
    while k < nb:
        base = at + PROBLEM * most + CONE * k
        kind = kept_number(base, group)
        first = kept_number(base + 1, group)
        rows = kept_number(base + 2, group)
        load = kept_number(base + 3, group)
        along = kept_number(base + 4, group)
        across = kept_number(base + 5, group)
        constant = kept_number(base + 6, group)
        s.kind[k] = kind
        s.first[k] = first
        s.rows[k] = rows
        s.load[k] = load
        s.coefficient[k] = max(max(along, across), 0.0)
        s.constant[k] = constant
        k += run.lanes
    barrier()


@loop
def make_rows(me: i64, w: i64, m: i64, run: Run, s: Shared, group: ptr) -> None:
    """X of a problem from its D, in the place of J, and in the place of D."""
    stride = stride_of(run)
    odd = stride + 1
    factor = s.sigma  # vectors come later
    at = place_of(w, run)
    n = factor_words(run)
    k = me
    while k < n:
        a = kept_number(at + factor_at(run) + k, group)
        b = kept_number(at + factor_at(run) + k + run.lanes, group)
        c = kept_number(at + factor_at(run) + k + 2 * run.lanes, group)
        d = kept_number(at + factor_at(run) + k + 3 * run.lanes, group)
        factor[k] = a
        factor[k + run.lanes] = b
        factor[k + 2 * run.lanes] = c
        factor[k + 3 * run.lanes] = d
        k += 4 * run.lanes
    take_rows(me, w, m, odd, s.A, run, group)
    i = me
    while i < m:
        metric_row(s.A[i * odd :], factor, s.J[i * stride :])
        i += run.lanes
    barrier()
    k = me
    while k < run.nv:
        for i in range(m):
            keep_number(at + row_at(i, run) + k, s.J[i * stride + k], group)
        k += run.lanes


@loop
def take_rows(me: i64, w: i64, m: i64, stride: i64, near: ptr, run: Run, group: ptr) -> None:
    """Rows of a problem into shared memory, eight at a time, each thread a column."""
    wide = stride_of(run)
    k = me
    while k < run.nv:
        at = place_of(w, run) + row_at(0, run) + k
        x = near[k:]
        i = 0
        while i < m:
            # rows beyond the last are read and not kept
            a = kept_number(at, group)
            b = kept_number(at + wide, group)
            c = kept_number(at + 2 * wide, group)
            d = kept_number(at + 3 * wide, group)
            e = kept_number(at + 4 * wide, group)
            f = kept_number(at + 5 * wide, group)
            g = kept_number(at + 6 * wide, group)
            h = kept_number(at + 7 * wide, group)
            x[0] = a
            x[stride] = b
            x[2 * stride] = c
            x[3 * stride] = d
            x[4 * stride] = e
            x[5 * stride] = f
            x[6 * stride] = g
            x[7 * stride] = h
            x = x[8 * stride :]
            at += 8 * wide
            i += 8
        k += run.lanes
    barrier()


@loop
def stride_of(run: Run) -> i64:
    """Numbers from a row of X to the next: 16 bytes are read at a time, of floats also."""
    return (run.nv + 3) // 4 * 4


@loop
def scale_problem(me: i64, m: i64, nb: i64, run: Run, s: Shared) -> f64:
    """A of (cones-1), b̃, y and bounds in scaled numbers; β."""
    width = width_of(m)
    k = me
    while k < nb:
        scale_rows(k, width, run, s)
        k += run.lanes
    barrier()
    size = 0.0
    i = me
    while i < m:
        size = max(size, abs(s.sigma[i] * (s.free[i] + s.change[i])))
        scale_column(i, m, run, s)
        i += run.lanes
    size = lanes_most(size)
    beta = size if size > 1e-250 else 1.0
    k = me
    while k < nb:
        scale_bounds(k, beta, run, s)
        k += run.lanes
    inverse = inverse_of(beta)
    i = me
    while i < m:
        s.free[i] = s.sigma[i] * s.free[i] * inverse
        s.change[i] = s.sigma[i] * s.change[i] * inverse
        s.y[i] = s.y[i] * inverse * inverse_of(s.sigma[i])
        i += run.lanes
    barrier()
    return beta


@loop
def scale_column(j: i64, m: i64, run: Run, s: Shared) -> None:
    """A column of A in scaled numbers, four rows at a time."""
    width = width_of(m)
    sigma = s.sigma
    x = sigma[j]
    p = s.A[j:]
    i = 0
    while i + 3 < m:
        a = p[0] * (x * sigma[i])
        b = p[width] * (x * sigma[i + 1])
        c = p[2 * width] * (x * sigma[i + 2])
        d = p[3 * width] * (x * sigma[i + 3])
        p[0] = a
        p[width] = b
        p[2 * width] = c
        p[3 * width] = d
        p = p[4 * width :]
        i += 4
    while i < m:
        p[0] = p[0] * (x * sigma[i])
        p = p[width:]
        i += 1


@loop
def scale_rows(k: i64, width: i64, run: Run, s: Shared) -> None:
    """σ of the rows of a block, from shares of semi-axes: its mean mobility becomes 1."""
    first = int(s.first[k])
    rows = int(s.rows[k])
    mobility = 0.0
    for i in range(first, first + rows):
        mobility += s.sigma[i] * s.sigma[i] * s.A[i * width + i]
    mobility = 0.5 * mobility if rows == 2 else mobility
    part = finite_inverse_root(max(mobility, 1e-280))
    for i in range(first, first + rows):
        s.sigma[i] = s.sigma[i] * part


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
    """A = X Xᵀ: each thread every `lanes`-th column."""
    stride = stride_of(run)
    width = width_of(m)
    j = me
    while j < m:
        x = s.J[j * stride :]
        for i in range(m):
            s.A[i * width + j] = dot(run.nv, s.J[i * stride :], x)
        j += run.lanes
    barrier()


@loop
def width_of(m: i64) -> i64:
    """Numbers from a row of J to the next, an odd count: rows then begin in different banks."""
    return m + 1 - m % 2


@loop
def inverted(me: i64, m: i64, run: Run, s: Shared) -> i64:
    """J⁻¹ in the place of J, by Gauss and Jordan, the last row first; 1 where J is singular.

    Each thread has every `lanes`-th column. Rows are exchanged where a pivot is small.
    """
    if quick_inverse(m, s.J, s.row) == 1:
        return 0
    J = s.J
    column = s.row
    order = s.order
    width = width_of(m)
    for back in range(m):
        k = m - 1 - back
        p = k
        most = abs(J[k * width + k])
        if not (most > PIVOT):
            for i in range(k):
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
            column[i] = J[i * width + k]
            i += run.lanes
        order[k] = float(p)
        barrier()
        inverse = inverse_of(column[k])
        j = me
        while j < m:
            take_away(m, k, j, inverse, run, s)
            j += run.lanes
        barrier()
    put_back(me, m, run, s)
    return 0


@loop
def put_back(me: i64, m: i64, run: Run, s: Shared) -> None:
    """Columns of J⁻¹ in the order before rows were exchanged."""
    J = s.J
    width = width_of(m)
    for k in range(m):
        p = int(s.order[k])
        i = me
        while p != k and i < m:
            x = J[i * width + k]
            J[i * width + k] = J[i * width + p]
            J[i * width + p] = x
            i += run.lanes
    barrier()


@loop
def take_away(m: i64, k: i64, j: i64, inverse: f64, run: Run, s: Shared) -> None:
    """Row k times its column from column j of all other rows, eight at a time."""
    J = s.J
    q = s.row
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
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    j = 0
    while j + 3 < m:
        a += row[j] * x[j]
        b += row[j + 1] * x[j + 1]
        c += row[j + 2] * x[j + 2]
        d += row[j + 3] * x[j + 3]
        j += 4
    while j < m:
        a += row[j] * x[j]
        j += 1
    return float((a + b) + (c + d))


@loop
def leave_out(me: i64, m: i64, run: Run, s: Shared) -> i64:
    """b̃ with the part of the change of rates that forces can meet; 1 if J is (A + ρ)⁻¹ now.

    Rows that do not change take no part, as in `reachable_part`; of few velocities all is kept.
    """
    size = 0.0
    i = me
    while i < m:
        size = max(size, abs(s.change[i]))
        i += run.lanes
    size = lanes_most(size)
    has_inverse = 0
    if run.nv > FEW_VELOCITIES and size > NO_CHANGE:
        ridged(me, m, OWN_LEAST, run, s)
        without = set_apart(me, m, NO_PART * size, run, s)
        if inverted(me, m, run, s) == 0:
            has_inverse = 1 - without
            cut_change(me, m, run, s)
        barrier()
    i = me
    while i < m:
        s.free[i] += s.change[i]
        i += run.lanes
    barrier()
    return has_inverse


@loop
def set_apart(me: i64, m: i64, least: f64, run: Run, s: Shared) -> i64:
    """Takes rows whose change is 0 out of J, but for their diagonal; 1 if there is one."""
    width = width_of(m)
    without = 0.0
    j = me
    while j < m:
        without = max(without, 0.0 if abs(s.change[j]) > least else 1.0)
        j += run.lanes
    if lanes_most(without) == 0.0:
        return 0
    j = me
    while j < m:
        takes_part = 1.0 if abs(s.change[j]) > least else 0.0
        for i in range(m):
            is_there = takes_part if abs(s.change[i]) > least else 0.0
            s.J[i * width + j] = s.J[i * width + j] * (1.0 if i == j else is_there)
        j += run.lanes
    barrier()
    return 1


@loop
def cut_change(me: i64, m: i64, run: Run, s: Shared) -> None:
    """Takes from the change of rates what ρ (A + ρ)⁻¹ leaves of it, four times over."""
    remain(me, m, 4, OWN_LEAST, s.change, run, s)
    i = me
    while i < m:
        s.change[i] -= s.along[i]
        i += run.lanes


@loop
def remain(me: i64, m: i64, times: i64, own: f64, x: ptr, run: Run, s: Shared) -> None:
    """What ρ (A + ρ)⁻¹ leaves of x, so many times over, into `along`; J is that inverse."""
    copy_rows(me, m, x, s.along, run)
    for _ in range(times):
        i = me
        while i < m:
            part = product_of_row(i, m, s.along, run, s)
            s.across[i] = own * s.A[i * width_of(m) + i] * part
            i += run.lanes
        barrier()
        copy_rows(me, m, s.across, s.along, run)


@loop
def unreachable(me: i64, m: i64, run: Run, s: Shared) -> f64:
    """The largest part of b̃ that no forces change, or next to none; 0 if it is not known."""
    ridged(me, m, RIDGE, run, s)
    if inverted(me, m, run, s) != 0:
        return 0.0
    remain(me, m, 2, RIDGE, s.free, run, s)
    most = 0.0
    i = me
    while i < m:
        most = max(most, abs(s.along[i]))
        i += run.lanes
    return float(lanes_most(most))


@loop
def copy_rows(me: i64, m: i64, x: ptr, to: ptr, run: Run) -> None:
    """to := x, for all threads to read."""
    i = me
    while i < m:
        to[i] = x[i]
        i += run.lanes
    barrier()


@loop
def ridged(me: i64, m: i64, own: f64, run: Run, s: Shared) -> None:
    """A + ρ times its diagonal into J."""
    width = width_of(m)
    j = me
    while j < m:
        old = s.A[j:]
        to = s.J[j:]
        i = 0
        while i + 3 < m:
            a = old[0]
            b = old[width]
            c = old[2 * width]
            d = old[3 * width]
            to[0] = a
            to[width] = b
            to[2 * width] = c
            to[3 * width] = d
            old = old[4 * width :]
            to = to[4 * width :]
            i += 4
        while i < m:
            to[0] = old[0]
            old = old[width:]
            to = to[width:]
            i += 1
        s.J[j * width + j] += own * s.A[j * width + j]
        j += run.lanes
    barrier()
