"""A contact problem in memory that threads share: layout, scaling, A = X Xᵀ, and inverses.

Public names: Shared, PROBLEM, CONE, OWN, OWN_LEAST, OWN_MOST, OWN_SINGLE, few_rows, group_words,
number_at, put_number, take_problem, scale_problem, width_of, inverted, product_of_row, leave_out.

Source: GVL13 §2.1.4 (inverse), docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import external, f64, i64, loop, ptr
from liaison.program.loops.records import Part, sized
from liaison.simulation.steps.layout import Run
from liaison.simulation.worlds.scene.layout import barrier
from liaison.solvers.cones.table import DISC

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
def take_problem(me: i64, w: i64, m: i64, run: Run, s: Shared, group: ptr) -> None:
    """Rows, blocks and X of a problem into shared memory; X in the place of J."""
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
    take_rows(me, w, m, run, s, group)


@loop
def take_rows(me: i64, w: i64, m: i64, run: Run, s: Shared, group: ptr) -> None:
    """X of a problem in the place of J, four numbers at a time."""
    nv = run.nv
    base = (PROBLEM + CONE) * run.few
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
    put_back(me, m, run, s)
    return 0


@loop
def put_back(me: i64, m: i64, run: Run, s: Shared) -> None:
    """Columns of J⁻¹ in the order before rows were exchanged."""
    J = s.J
    width = width_of(m)
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
