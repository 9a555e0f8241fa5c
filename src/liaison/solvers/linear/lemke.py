"""Lemke's pivoting for linear complementarity, and friction in a plane or on polygons as such

    w = M z + q,   0 ≤ w ⟂ z ≥ 0                                                    (lemke-1)

One artificial variable makes the problem solvable at once; pivots then exchange a variable with its
complement until the artificial one leaves (a solution) or nothing blocks it (a ray). Ties are
broken lexicographically, so that no basis comes twice.

Public names: SOLVED, RAY, UNFINISHED, lemke, lemke_area, polyhedral_size, solve_polyhedral,
polyhedral_missed, polyhedral_area.

Source: CPS92 §4.4 (Lemke's method), §4.9 (lexicographic degeneracy resolution); ST96 (polygons).
"""

from __future__ import annotations

from math import cos, sin

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.cones.table import BILATERAL, DISC, ONE_WAY, Cone, Limit

SOLVED, RAY, UNFINISHED, NO_POLYGON = 0, 1, 2, 3
"""How pivoting ended: with z; on a ray (for contacts: no solution); too long; not tried."""

TURN = 6.283185307179586

TINY = 1e-11
"""Entries of a column below this do not block, beside its largest."""


def lemke_area(n: int) -> int:
    """Doubles that `lemke` works in."""
    return n * (2 * n + 2) + n


@loop
def pivot(n: i64, T: ptr, row: i64, column: i64) -> None:
    """Solves row `row` for variable `column` and takes it out of the other rows."""
    width = 2 * n + 2
    base = at(T, row * width)
    inverse = 1.0 / base[column]
    for j in range(width):
        base[j] = base[j] * inverse
    base[column] = 1.0
    for i in range(n):
        c = T[i * width + column]
        if i != row and c != 0.0:
            line = at(T, i * width)
            for j in range(width):
                line[j] -= c * base[j]
            line[column] = 0.0


@loop
def is_before(n: i64, T: ptr, i: i64, k: i64, column: i64) -> i64:
    """1 if row i blocks `column` before row k: by its right-hand side, then by the columns of w."""
    width = 2 * n + 2
    a = T[i * width + column]
    c = T[k * width + column]
    left = T[i * width + width - 1] / a
    right = T[k * width + width - 1] / c
    if abs(left - right) > TINY * (abs(left) + abs(right)):
        return 1 if left < right else 0
    for j in range(n):
        left = T[i * width + j] / a
        right = T[k * width + j] / c
        if abs(left - right) > TINY * (abs(left) + abs(right)):
            return 1 if left < right else 0
    return 0


@loop
def blocking_row(n: i64, T: ptr, basis: ptr, column: i64) -> i64:
    """The row that blocks a variable first, the artificial one's if it is among them; −1: none."""
    width = 2 * n + 2
    most = 0.0
    for i in range(n):
        most = max(most, T[i * width + column])
    row = -1
    for i in range(n):
        if T[i * width + column] > TINY * max(most, 1.0) and (
            row < 0 or is_before(n, T, i, row, column) == 1
        ):
            row = i
    if row < 0:
        return -1
    ratio = T[row * width + width - 1] / T[row * width + column]
    for i in range(n):
        c = T[i * width + column]
        is_artificial = int(basis[i]) == 2 * n and c > TINY * max(most, 1.0)
        if is_artificial and T[i * width + width - 1] <= c * (ratio + TINY * (1.0 + abs(ratio))):
            return i
    return row


@loop
def first_tableau(n: i64, M: ptr, q: ptr, T: ptr, basis: ptr) -> i64:
    """w − M z − z₀ = q / max |q| with w basic; the row of the most negative q, −1 if none is."""
    width = 2 * n + 2
    size = 0.0
    for i in range(n):
        size = max(size, abs(q[i]))
    row = -1
    least = 0.0
    for i in range(n):
        for j in range(n):
            T[i * width + j] = 1.0 if i == j else 0.0
            T[i * width + n + j] = -M[i * n + j]
        T[i * width + 2 * n] = -1.0
        T[i * width + width - 1] = q[i] / size if size > 0.0 else 0.0
        basis[i] = float(i)
        # of equal ones the last, which is the lexicographic choice among rows of the unit matrix
        if T[i * width + width - 1] < 0.0 and T[i * width + width - 1] <= least:
            least = T[i * width + width - 1]
            row = i
    return row


@loop
def lemke(n: i64, M: ptr, q: ptr, z: ptr, area: ptr) -> i64:
    """z with w = M z + q, 0 ≤ w ⟂ z ≥ 0.

    Args:
        n: size.
        M: n × n, row-major; kept.
        q: n; kept.
        z: result, n; 0 unless solved.
        area: `lemke_area(n)` doubles.

    Returns:
        SOLVED, RAY or UNFINISHED.
    """
    width = 2 * n + 2
    basis = at(area, n * width)
    size = 0.0
    for i in range(n):
        z[i] = 0.0
        size = max(size, abs(q[i]))
    row = first_tableau(n, M, q, area, basis)
    if row < 0:
        return SOLVED
    entering = 2 * n
    for _ in range(50 * n + 100):
        leaving = int(basis[row])
        pivot(n, area, row, entering)
        basis[row] = float(entering)
        if leaving == 2 * n:
            for i in range(n):
                if int(basis[i]) >= n and int(basis[i]) < 2 * n:
                    z[int(basis[i]) - n] = size * max(area[i * width + width - 1], 0.0)
            return SOLVED
        entering = leaving + n if leaving < n else leaving - n
        row = blocking_row(n, area, basis, entering)
        if row < 0:
            return RAY
    return UNFINISHED


@loop
def polyhedral_size(nb: i64, blocks: Rows[Cone], sides: i64) -> i64:
    """Unknowns of a problem on polygons: 1 a one-way row, 2 a held row, sides + 1 a disc."""
    n = 0
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            n += 1
        elif blocks[k].kind == BILATERAL:
            n += 2 * blocks[k].rows
        elif blocks[k].kind == DISC:
            n += (2 if blocks[k].rows == 1 else sides) + 1
    return n


def polyhedral_area(m: int, n: int) -> int:
    """Doubles that `solve_polyhedral` works in, for n = `polyhedral_size(…)`."""
    return m * n + n * n + 2 * n + lemke_area(n)


@loop
def disc_columns(
    n: i64, k: i64, at_column: i64, sides: i64, blocks: Rows[Cone], limits: Rows[Limit], E: ptr
) -> i64:
    """Directions of a disc as columns of E; how many."""
    first = blocks[k].first
    if blocks[k].rows == 1:
        E[first * n + at_column] = 1.0
        E[first * n + at_column + 1] = -1.0
        return 2
    most = max(limits[k].coefficient[0], limits[k].coefficient[1])
    for j in range(sides):
        angle = TURN * float(j) / float(sides)
        wide = limits[k].coefficient[0] / most if most > 0.0 else 1.0
        deep = limits[k].coefficient[1] / most if most > 0.0 else 1.0
        E[first * n + at_column + j] = wide * cos(angle)
        E[(first + 1) * n + at_column + j] = deep * sin(angle)
    return sides


@loop
def directions(
    m: i64, nb: i64, n: i64, sides: i64, blocks: Rows[Cone], limits: Rows[Limit], E: ptr, place: ptr
) -> None:
    """E with f = E z, and the first unknown of every block."""
    for i in range(m * n):
        E[i] = 0.0
    c = 0
    for k in range(nb):
        first = blocks[k].first
        place[k] = float(c)
        if blocks[k].kind == ONE_WAY:
            E[first * n + c] = 1.0
            c += 1
        elif blocks[k].kind == BILATERAL:
            for i in range(first, first + blocks[k].rows):
                E[i * n + c] = 1.0
                E[i * n + c + 1] = -1.0
                c += 2
        else:
            c += disc_columns(n, k, c, sides, blocks, limits, E) + 1


@loop
def bound_rows(
    n: i64, nb: i64, sides: i64, blocks: Rows[Cone], limits: Rows[Limit], place: ptr, M: ptr, q: ptr
) -> None:
    """The last unknown of a disc, λ ≥ 0 ⟂ c f_load + k − Σ β ≥ 0, and λ beside each of its β."""
    for k in range(nb):
        if blocks[k].kind == DISC:
            count = 2 if blocks[k].rows == 1 else sides
            first = int(place[k])
            row = first + count
            for j in range(first, row):
                M[row * n + j] = -1.0
                M[j * n + row] = 1.0
            most = limits[k].coefficient[0]
            if blocks[k].rows == 2:
                most = max(most, limits[k].coefficient[1])
            q[row] = limits[k].constant
            load = blocks[k].load
            if load >= 0:
                M[row * n + int(place[load])] = most


@loop
def is_polyhedral(blocks: Rows[Cone], limits: Rows[Limit], k: i64, sides: i64) -> i64:
    """1 if polygons can describe block k: no prescribed or least force, an ellipse of one shape."""
    kind = blocks[k].kind
    if kind == DISC:
        load = blocks[k].load
        if load >= 0 and blocks[load].kind != ONE_WAY:
            return 0
        is_round = limits[k].coefficient[0] == limits[k].coefficient[1] or limits[k].constant == 0.0
        return 1 if blocks[k].rows == 1 or (is_round and sides > 2) else 0
    return 1 if kind == BILATERAL or (kind == ONE_WAY and limits[k].constant == 0.0) else 0


@loop
def solve_polyhedral(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], sides: i64, f: ptr,
    area: ptr,
) -> i64:  # fmt: skip
    """Contact forces with every disc of two rows replaced by a polygon inside it; exact in a plane.

        u = A f + b,  f = E z:  M = EᵀA E with rows λ ⟂ c f_n + k − Σ β,  q = (Eᵀb, k)

    Args:
        m: rows.
        nb: blocks, as for `solve_cones`; loads of discs are one-way.
        A: mobility; kept.
        b: rates without forces; kept.
        blocks: as for `solve_cones`.
        limits: as for `solve_cones`.
        sides: of a polygon, 3 or more.
        f: result; 0 unless solved.
        area: `polyhedral_area(m, polyhedral_size(nb, blocks, sides))` doubles.

    Returns:
        SOLVED, RAY, UNFINISHED, or NO_POLYGON where polygons cannot describe the blocks.
    """
    n = polyhedral_size(nb, blocks, sides)
    M = at(area, m * n)
    q = at(M, n * n)
    z = at(q, n)
    rest = at(z, n)
    for i in range(m):
        f[i] = 0.0
    for k in range(nb):
        if is_polyhedral(blocks, limits, k, sides) == 0:
            return NO_POLYGON
    directions(m, nb, n, sides, blocks, limits, area, z)
    fill(m, n, A, b, area, M, q, rest)
    bound_rows(n, nb, sides, blocks, limits, z, M, q)
    status = lemke(n, M, q, z, rest)
    for i in range(m):
        for j in range(n):
            f[i] += area[i * n + j] * z[j]
    return status


@loop
def fill(m: i64, n: i64, A: ptr, b: ptr, E: ptr, M: ptr, q: ptr, column: ptr) -> None:
    """M = EᵀA E and q = Eᵀb; `column` holds m doubles."""
    for j in range(n):
        q[j] = 0.0
        for i in range(m):
            q[j] += E[i * n + j] * b[i]
            column[i] = 0.0
            for k in range(m):
                column[i] += A[i * m + k] * E[k * n + j]
        for i in range(n):
            M[i * n + j] = 0.0
            for k in range(m):
                M[i * n + j] += E[k * n + i] * column[k]


@loop
def polyhedral_missed(m: i64, nb: i64, blocks: Rows[Cone], sides: i64, area: ptr) -> f64:
    """What the last solution misses of (lemke-1): its worst row beside the largest of its parts.

    No part counts as smaller than the largest rate, or the impulse that makes it.

    Args:
        m: rows.
        nb: blocks.
        blocks: as in the problem solved.
        sides: of a polygon.
        area: that `solve_polyhedral` worked in.
    """
    n = polyhedral_size(nb, blocks, sides)
    M = at(area, m * n)
    q = at(M, n * n)
    z = at(q, n)
    speed = 1e-300
    most = 1e-300
    for i in range(n):
        speed = max(speed, abs(q[i]))
        most = max(most, M[i * n + i])
    worst = 0.0
    for i in range(n):
        w = q[i]
        size = speed if M[i * n + i] > 0.0 else speed / most
        for j in range(n):
            w += M[i * n + j] * z[j]
            size = max(size, abs(M[i * n + j] * z[j]))
        worst = max(worst, (abs(w) if z[i] > 0.0 else max(-w, 0.0)) / size)
    return worst
