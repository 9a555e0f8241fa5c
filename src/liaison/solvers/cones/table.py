"""The contact problem in even numbers: rows scaled, discs made round, and what forces miss of it

    u = A f + b,    f_i = β σ_i y_i,   σ_i u_i = β z_i:    z = Ã y + b̃         (cones-1)

σ makes the diagonal of Ã about 1 and ellipses discs of radius c y_load + k; β makes b̃ at most 1.

Public names: ONE_WAY, DISC, BILATERAL, PRESCRIBED, Cone, Limit, Area, Bound, cone_area, prepare,
scale_rates, project, shrink, copy, refresh, radius, natural_residual.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, sized, words_of

ONE_WAY, DISC, BILATERAL, PRESCRIBED = 0, 1, 2, 3
"""Kinds of blocks: f ≥ least ⟂ u ≥ 0; ‖f‖ ≤ bound, f against u; u = 0; f does not change."""

NOTHING = 1e-15
"""A row with less than this part of the largest mobility does not move, whatever acts on it."""


@final
class Cone(Record):
    """A block of rows whose forces are bounded together."""

    kind: i64  # ONE_WAY, DISC, BILATERAL or PRESCRIBED
    first: i64  # its first row
    rows: i64
    load: i64  # the block whose force bounds a disc, or −1


@final
class Limit(Record):
    """What bounds a block: semi-axes of a disc are coefficient × load + constant."""

    coefficient: ptr = inline(2)  # of friction, along the rows of a disc
    constant: f64  # or the least force of a one-way row


@final
class Bound(Record):
    """Of a block in scaled numbers: c and k of the radius of its disc, or its least force."""

    coefficient: f64
    constant: f64


@final
class Area(Part):
    """What all loops of the solver share."""

    scale: ptr = sized("m")  # σ
    free: ptr = sized("m")  # b̃
    force: ptr = sized("m")  # y
    rate: ptr = sized("m")  # z
    swept: ptr = sized("m")  # y after sweeps
    best: ptr = sized("m")  # y with the least residual
    step: ptr = sized("m")  # of Newton's method
    fixed: ptr = sized("m")  # 1 for rows whose change is known
    bound: ptr = sized("m")  # 1 for blocks that it took at their bounds, of which none has no row
    order: ptr = sized("m")  # its pivots
    least: ptr = sized("m")  # its y with the least residual
    center: ptr = sized("m")  # y inside the bounds, while ε = 0 is tried
    columns: ptr = sized("m", "m")  # of Ã
    J: ptr = sized("m", "m")  # of Newton's method
    kept: ptr = sized("1")  # the mobility of their own of rows in it; 0: it is not of this problem
    table: Rows[Bound] = rows("nb")


def cone_area(m: int, nb: int) -> int:
    """Doubles that `solve_cones` works in."""
    return words_of(Area, m, nb)


@loop
def semi_axis(limits: Rows[Limit], k: i64, row: i64, load: f64) -> f64:
    """Semi-axis of block k along its row 0 or 1 under a load."""
    return float(
        max(limits[k].coefficient[row], 0.0) * max(load, 0.0) + max(limits[k].constant, 0.0)
    )


@loop
def share(limits: Rows[Limit], k: i64, rows: i64, row: i64, load: f64) -> f64:
    """Semi-axis along a row, as a part of the longer one of the block."""
    if rows < 2:
        return 1.0
    most = max(semi_axis(limits, k, 0, load), semi_axis(limits, k, 1, load))
    if most > 0.0:
        return semi_axis(limits, k, row, load) / most
    most = max(limits[k].coefficient[0], limits[k].coefficient[1])
    return max(limits[k].coefficient[row], 0.0) / most if most > 0.0 else 1.0


@loop
def scale_block(
    m: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], k: i64, f: ptr, least: f64, sigma: ptr
) -> None:
    """σ of the rows of one block: its mean mobility becomes 1, its ellipse a circle."""
    first = blocks[k].first
    rows = blocks[k].rows
    load = 0.0
    if blocks[k].kind == DISC and blocks[k].load >= 0:
        load = f[blocks[blocks[k].load].first]
    mobility = 0.0
    for i in range(first, first + rows):
        sigma[i] = share(limits, k, rows, i - first, load) if blocks[k].kind == DISC else 1.0
        mobility += sigma[i] * sigma[i] * A[i * m + i] / float(rows)
    for i in range(first, first + rows):
        sigma[i] = sigma[i] / sqrt(max(mobility, least))


@loop
def scale_limits(
    nb: i64, blocks: Rows[Cone], limits: Rows[Limit], sigma: ptr, beta: f64, table: Rows[Bound]
) -> None:
    """c and k of every radius, and least forces, in scaled numbers."""
    for k in range(nb):
        first = blocks[k].first
        table[k].coefficient = 0.0
        table[k].constant = limits[k].constant / (beta * sigma[first])
        if blocks[k].kind == DISC:
            size = sigma[first]
            steep = limits[k].coefficient[0]
            if blocks[k].rows > 1:
                size = max(size, sigma[first + 1])
                steep = max(steep, limits[k].coefficient[1])
            table[k].constant = max(limits[k].constant, 0.0) / (beta * size)
            load = blocks[k].load
            if load >= 0:
                table[k].coefficient = max(steep, 0.0) * sigma[blocks[load].first] / size


@loop
def common_size(
    m: i64, nb: i64, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, sigma: ptr
) -> f64:
    """β: the largest of σ b and of prescribed and least forces; 1 if all are 0."""
    size = 0.0
    bad = 0.0
    for i in range(m):
        size = max(size, abs(sigma[i] * b[i]))
        bad += b[i] - b[i]
    for k in range(nb):
        first = blocks[k].first
        bad += (limits[k].coefficient[0] - limits[k].coefficient[0]) + (
            limits[k].constant - limits[k].constant
        )
        if blocks[k].kind == PRESCRIBED:
            for i in range(first, first + blocks[k].rows):
                size = max(size, abs(f[i]) / sigma[i])
        elif blocks[k].kind == ONE_WAY:
            size = max(size, abs(limits[k].constant) / sigma[first])
    return (size if size > 1e-250 else 1.0) + bad


@loop
def prepare(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: Area
) -> f64:
    """Fills the area with (cones-1), begun at f; returns β, NaN if anything is not finite."""
    sigma = area.scale
    columns = flat(area.columns)
    area.kept[0] = 0.0
    most = 0.0
    for i in range(m):
        most = max(most, A[i * m + i])
    for k in range(nb):
        scale_block(m, A, blocks, limits, k, f, max(NOTHING * most, 1e-280), sigma)
    bad = 0.0
    for i in range(m):
        for j in range(m):
            c = sigma[i] * sigma[j] * A[i * m + j]
            columns[j * m + i] = c
            bad += c - c
    return scale_rates(m, nb, b, blocks, limits, f, area) + bad


@loop
def scale_rates(
    m: i64, nb: i64, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: Area
) -> f64:
    """What of (cones-1) follows from b, limits and f, for σ at hand; returns β as `prepare`."""
    sigma = area.scale
    beta = common_size(m, nb, b, blocks, limits, f, sigma)
    scale_limits(nb, blocks, limits, sigma, beta, area.table)
    bad = 0.0
    for i in range(m):
        area.free[i] = sigma[i] * b[i] / beta
        area.force[i] = f[i] / (beta * sigma[i]) if sigma[i] > 0.0 else 0.0
        bad += f[i] - f[i]
    return beta + bad


@loop
def copy(m: i64, x: ptr, y: ptr) -> None:
    """y := x."""
    for i in range(m):
        y[i] = x[i]


@loop
def refresh(m: i64, area: Area) -> None:
    """z = Ã y + b̃, afresh."""
    z = area.rate
    for i in range(m):
        z[i] = area.free[i]
    for j in range(m):
        y = area.force[j]
        if y != 0.0:
            column = area.columns[j]
            for i in range(m):
                z[i] += y * column[i]


@loop
def radius(blocks: Rows[Cone], table: Rows[Bound], y: ptr, k: i64) -> f64:
    """Radius of disc k under its load."""
    load = blocks[k].load
    pressed = max(y[blocks[load].first], 0.0) if load >= 0 else 0.0
    return float(table[k].coefficient * pressed + table[k].constant)


@loop
def shrink(x: f64, y: f64, r: f64) -> f64:
    """The factor that takes a vector the shortest way into the disc of radius r."""
    length = sqrt(x * x + y * y)
    return r / length if length > r else 1.0


@loop
def project(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> None:
    """y inside its bounds: loads first, then discs by the shortest way."""
    y = area.force
    table = area.table
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            first = blocks[k].first
            y[first] = max(y[first], table[k].constant)
    for k in range(nb):
        if blocks[k].kind == DISC:
            first = blocks[k].first
            second = first + blocks[k].rows - 1
            across = y[second] if second > first else 0.0
            part = shrink(y[first], across, radius(blocks, table, y, k))
            y[first] = part * y[first]
            if second > first:
                y[second] = part * y[second]


@loop
def disc_residual(blocks: Rows[Cone], table: Rows[Bound], y: ptr, z: ptr, k: i64) -> f64:
    """Length of y − P(y − z) of one disc, P the projection on it."""
    first = blocks[k].first
    r = radius(blocks, table, y, k)
    if blocks[k].rows == 1:
        return float(abs(max(y[first] - r, min(y[first] + r, z[first]))))
    dx = y[first] - z[first]
    dy = y[first + 1] - z[first + 1]
    if sqrt(dx * dx + dy * dy) <= r:
        # of the rate itself: y − (y − z) would round
        return sqrt(z[first] * z[first] + z[first + 1] * z[first + 1])
    part = shrink(dx, dy, r)
    dx = y[first] - part * dx
    dy = y[first + 1] - part * dy
    return sqrt(dx * dx + dy * dy)


@loop
def natural_residual(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """Largest entry of the natural map y − P(y − z), for z up to date; |b̃| is at most 1."""
    y = area.force
    z = area.rate
    table = area.table
    worst = 0.0
    for k in range(nb):
        first = blocks[k].first
        miss = 0.0
        if blocks[k].kind == ONE_WAY:
            miss = abs(min(y[first] - table[k].constant, z[first]))
        elif blocks[k].kind == DISC:
            miss = disc_residual(blocks, table, y, z, k)
        elif blocks[k].kind == BILATERAL:
            for i in range(first, first + blocks[k].rows):
                miss = max(miss, abs(z[i]))
        worst = max(worst, miss)
    return worst
