"""Dense linear algebra as loops: what the generated elimination falls back on near rank loss.

    M v̇ = f + Gᵀλ,   G v̇ = γ                                                   (dense-1)

is solved in the metric of M. With M = L Lᵀ, A = L⁻¹Gᵀ with its columns scaled to length 1, and
A P = Q R by orthogonalisation with pivoting, rows that add less than a threshold to the others are
left out; v̇ meets the rest, λ is the shortest possible, and what the rows left out miss is returned.
The condition of A enters once, not squared as in G M⁻¹Gᵀ.

The shortest least-squares solution of A x = b, whatever the rank of A,

    A = U S Vᵀ,   x = Σ v_i (u_i · b) / s_i   over the singular values s_i > rank max s    (norm-1)

is found by Jacobi's rotations on one side: the rows of A, or its columns where they are fewer, are
rotated in pairs until all are orthogonal. Their lengths are then the singular values, small ones as
accurate as large ones.

Public names: RANK_TOLERANCE, NOISE, dot, largest, cholesky, forward_solve, backward_solve,
pivoted_qr, solve_rows, shortest, saddle, saddle_area, least_norm, least_norm_area, unit_rows, swap.

Source: GVL13 §5.4.2 (QR with column pivoting), §5.5.7 (minimum-norm solution), §8.6.3 (unilateral
Jacobi), §5.5.1 (least squares by singular values).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

RANK_TOLERANCE = 1e-9
"""A row whose part independent of the others is below this (they have length 1) is redundant."""

NOISE = 1e-8
"""A row shorter than this part of the longest one asks nothing. Rows that vanish on the closures
have the length of what q misses of them, 1e-9 between steps: made length 1 they would stop it."""

TINY = 1e-300

SWEEPS = 40
"""Rounds over all pairs at most; six to ten are usual."""

ORTHOGONAL = 1e-15
"""Cosine of two vectors that count as orthogonal."""

VANISHED = 1e-34
"""Part of the longest vector's square below which one is zero."""


@loop
def dot(n: i64, x: ptr, y: ptr) -> f64:
    """Σ x_i y_i."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@loop
def largest(n: i64, x: ptr) -> f64:
    """max |x_i|; NaN if any entry is not finite."""
    most = 0.0
    bad = 0.0
    for i in range(n):
        size = abs(x[i])
        bad += size - size
        if size > most:
            most = size
    return most + bad


@loop
def largest_in(n: i64, x: ptr, unit: ptr) -> f64:
    """max |x_i|/unit_i; NaN if any entry is not finite."""
    most = 0.0
    bad = 0.0
    for i in range(n):
        size = abs(x[i])
        if unit[i] != 1.0:
            size = size / unit[i]
        bad += size - size
        if size > most:
            most = size
    return most + bad


@loop
def cholesky(n: i64, a: ptr) -> i64:
    """A = L Lᵀ in place (row-major, lower triangle); 0 if done, else 1 + the row that failed."""
    for i in range(n):
        for j in range(i):
            s = a[i * n + j] - dot(j, at(a, i * n), at(a, j * n))
            a[i * n + j] = s / a[j * n + j]
        d = a[i * n + i]
        rest = d - dot(i, at(a, i * n), at(a, i * n))
        if not (rest > 1e-14 * abs(d)):
            return i + 1
        a[i * n + i] = sqrt(rest)
    return 0


@loop
def forward_solve(n: i64, l: ptr, x: ptr) -> None:
    """x := L⁻¹ x."""
    for i in range(n):
        x[i] = (x[i] - dot(i, at(l, i * n), x)) / l[i * n + i]


@loop
def backward_solve(n: i64, l: ptr, x: ptr) -> None:
    """x := L⁻ᵀ x."""
    for back in range(n):
        i = n - 1 - back
        last = x[i] / l[i * n + i]
        x[i] = last
        for j in range(i):
            x[j] -= l[i * n + j] * last


@loop
def remove(n: i64, q: ptr, x: ptr) -> f64:
    """Takes from x its part along the unit vector q, twice; returns the coefficient."""
    c = dot(n, q, x)
    for i in range(n):
        x[i] -= c * q[i]
    again = dot(n, q, x)
    for i in range(n):
        x[i] -= again * q[i]
    return c + again


@loop
def pivoted_qr(m: i64, n: i64, a: ptr, r: ptr, order: ptr, tolerance: f64) -> i64:
    """Rows of `a` (m of them, length n) orthogonalised in place, largest remainder first.

    On return row k < rank of `a` is the k-th unit vector; with π = order, the given row π(i) is
    Σ_k r[k m + i] (unit vector k) plus a remainder shorter than `tolerance` where i ≥ rank.

    Returns:
        The rank.
    """
    for i in range(m):
        order[i] = float(i)
    for k in range(m):
        best = k
        length = -1.0
        for i in range(k, m):
            size = dot(n, at(a, i * n), at(a, i * n))
            if size > length:
                length = size
                best = i
        if not (sqrt(max(length, 0.0)) > tolerance):
            return k
        exchange(m, n, a, r, order, k, best)
        length = sqrt(length)
        for j in range(n):
            a[k * n + j] = a[k * n + j] / length
        r[k * m + k] = length
        for i in range(k + 1, m):
            r[k * m + i] = remove(n, at(a, k * n), at(a, i * n))
    return m


@loop
def exchange(m: i64, n: i64, a: ptr, r: ptr, order: ptr, i: i64, j: i64) -> None:
    """Exchanges rows i and j of a, columns i and j of r (above row i), entries of order."""
    swap(n, 1, at(a, i * n), at(a, j * n))
    swap(i, m, at(r, i), at(r, j))
    swap(1, 1, at(order, i), at(order, j))


@loop
def swap(count: i64, apart: i64, x: ptr, y: ptr) -> None:
    """Exchanges so many numbers of x and of y, which lie `apart`."""
    for k in range(count):
        saved = x[k * apart]
        x[k * apart] = y[k * apart]
        y[k * apart] = saved


@loop
def solve_rows(m: i64, rank: i64, r: ptr, order: ptr, b: ptr, y: ptr) -> f64:
    """y with R₁₁ᵀ y = b (in the order of the pivots); returns the worst miss of the other rows.

    `y` has m + 1 entries: the number of the row that misses most comes last (-1: none).
    """
    for i in range(rank):
        s = b[int(order[i])]
        for k in range(i):
            s -= r[k * m + i] * y[k]
        y[i] = s / r[i * m + i]
    worst = 0.0
    y[m] = -1.0
    for i in range(rank, m):
        s = b[int(order[i])]
        for k in range(rank):
            s -= r[k * m + i] * y[k]
        if not (abs(s) <= worst):
            worst = abs(s)
            y[m] = order[i]
    return worst


@loop
def shortest(m: i64, rank: i64, r: ptr, order: ptr, y: ptr, x: ptr, area: ptr) -> None:
    """The shortest x with Σ_i r[k, i] x_π(i) = y_k for k < rank; `area` holds m² + m doubles.

    The rows of R are orthogonalised from the last, which has the fewest entries, R = T Z with T
    upper triangular; then x = Zᵀ T⁻¹ y.
    """
    t = at(area, m * m)
    for i in range(m):
        x[i] = 0.0
    for back in range(rank):
        k = rank - 1 - back
        row = at(area, k * m)
        for i in range(m):
            row[i] = r[k * m + i] if i >= k else 0.0
        missing = y[k]
        for j in range(k + 1, rank):
            missing -= remove(m, at(area, j * m), row) * t[j]
        length = sqrt(max(dot(m, row, row), TINY))
        t[k] = missing / length
        for i in range(m):
            row[i] = row[i] / length
            x[int(order[i])] += t[k] * row[i]


@loop
def metric(nv: i64, nc: i64, M: ptr, G: ptr, L: ptr) -> f64:
    """L with L Lᵀ = M + α GᵀG; returns α: 0 where M alone is positive, -1 where nothing helps.

    Where G v̇ = γ holds, adding α Gᵀ(G v̇ − γ) changes nothing in (dense-1): so a velocity without
    inertia that the rows hold has a metric too.
    """
    for i in range(nv * nv):
        L[i] = M[i]
    if cholesky(nv, L) == 0:
        return 0.0
    alpha = 0.0
    for i in range(nv):
        alpha = max(alpha, M[i * nv + i])
    alpha = alpha * float(nv) / max(dot(nc * nv, G, G), TINY)
    for i in range(nv * nv):
        L[i] = M[i]
    for k in range(nc):
        for i in range(nv):
            c = alpha * G[k * nv + i]
            for j in range(nv):
                L[i * nv + j] += c * G[k * nv + j]
    return alpha if cholesky(nv, L) == 0 else -1.0


@loop
def scaled_rows(nv: i64, nc: i64, G: ptr, L: ptr, A: ptr, scale: ptr) -> None:
    """Rows of A = scale_k L⁻¹ G_kᵀ, of length 1; 0 where only rounding is left of a row."""
    for k in range(nc):
        row = at(A, k * nv)
        for i in range(nv):
            row[i] = G[k * nv + i]
        forward_solve(nv, L, row)
    unit_rows(nv, nc, A, scale)


@loop
def unit_rows(n: i64, rows: i64, A: ptr, scale: ptr) -> None:
    """Rows of A := scale_k times these, of length 1; 0 where only rounding is left of a row."""
    longest = 0.0
    for k in range(rows):
        row = at(A, k * n)
        scale[k] = sqrt(dot(n, row, row))
        longest = max(longest, scale[k])
    for k in range(rows):
        is_noise = 1 if scale[k] <= NOISE * longest else 0
        scale[k] = 1.0 if is_noise == 1 else 1.0 / scale[k]
        for i in range(n):
            A[k * n + i] = 0.0 if is_noise == 1 else A[k * n + i] * scale[k]


@loop
def saddle(
    nv: i64, nc: i64, M: ptr, G: ptr, f: ptr, gamma: ptr, vdot: ptr, lam: ptr, row: iptr, area: ptr
) -> f64:
    """v̇ and λ of (dense-1), whatever the rank of G.

    Args:
        nv: velocities.
        nc: rows of G.
        M: mass matrix, row-major; kept.
        G: rows, row-major; kept.
        f: applied minus bias.
        gamma: right-hand side of the rows.
        vdot: result, nv.
        lam: result, nc: the shortest, measured in rows scaled to length 1.
        row: result: number of the row that misses most, -1 if none.
        area: `saddle_area(nv, nc)` doubles.

    Returns:
        The largest miss |γ − G v̇| of rows scaled to length 1 in the metric of M; -1 where the mass
        matrix is not positive even with the rows to help.
    """
    return float(saddle_of_rank(nv, nc, M, G, f, gamma, vdot, lam, row, RANK_TOLERANCE, area))


@loop
def saddle_of_rank(
    nv: i64, nc: i64, M: ptr, G: ptr, f: ptr, gamma: ptr, vdot: ptr, lam: ptr, row: iptr,
    tolerance: f64, area: ptr,
) -> f64:  # fmt: skip
    """As `saddle`; a row whose part independent of the others is below `tolerance` is redundant."""
    A = at(area, nv * nv)
    R = at(A, nv * nc)
    order = at(R, nc * nc)
    b = at(order, nc)
    y = at(b, nc)
    scale = at(y, nc + 1)
    alpha = metric(nv, nc, M, G, area)
    row[0] = -1
    if alpha < 0.0:
        return -1.0
    scaled_rows(nv, nc, G, area, A, scale)
    # free motion L⁻¹ (f + α Gᵀγ), and what the rows still miss of it
    for i in range(nv):
        vdot[i] = f[i]
        for k in range(nc):
            vdot[i] += alpha * G[k * nv + i] * gamma[k]
    forward_solve(nv, area, vdot)
    for k in range(nc):
        b[k] = gamma[k] * scale[k] - dot(nv, at(A, k * nv), vdot)
    rank = pivoted_qr(nc, nv, A, R, order, tolerance)
    worst = solve_rows(nc, rank, R, order, b, y)
    row[0] = int(y[nc])
    for k in range(rank):
        for i in range(nv):
            vdot[i] += y[k] * A[k * nv + i]
    backward_solve(nv, area, vdot)
    shortest(nc, rank, R, order, y, lam, at(scale, nc))
    for k in range(nc):
        lam[k] = lam[k] * scale[k]
    return worst


def saddle_area(nv: int, nc: int) -> int:
    """Doubles that `saddle` works in."""
    return nv * nv + nv * nc + 2 * nc * nc + 5 * nc + 1


@loop
def turn(n: i64, c: f64, s: f64, x: ptr, y: ptr) -> None:
    """(x, y) := (c x − s y, s x + c y)."""
    for i in range(n):
        kept = x[i]
        x[i] = c * kept - s * y[i]
        y[i] = s * kept + c * y[i]


@loop
def rotate_pair(k: i64, n: i64, b: ptr, w: ptr, i: i64, j: i64, floor: f64) -> i64:
    """Makes vectors i and j of `b` orthogonal, `w` turned alike; 0 where they are already."""
    x = at(b, i * n)
    y = at(b, j * n)
    xx = dot(n, x, x)
    yy = dot(n, y, y)
    xy = dot(n, x, y)
    if xx <= floor or yy <= floor or not (abs(xy) > ORTHOGONAL * sqrt(xx * yy)):
        return 0
    zeta = (yy - xx) / (2.0 * xy)
    tangent = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        tangent = -tangent
    c = 1.0 / sqrt(1.0 + tangent * tangent)
    turn(n, c, c * tangent, x, y)
    turn(k, c, c * tangent, at(w, i * k), at(w, j * k))
    return 1


@loop
def orthogonalize(k: i64, n: i64, b: ptr, w: ptr) -> f64:
    """k vectors of length n rotated until orthogonal, W := W B; the longest one's square."""
    floor = 0.0
    for i in range(k):
        floor = max(floor, VANISHED * dot(n, at(b, i * n), at(b, i * n)))
        for j in range(k):
            w[i * k + j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = 0
        for i in range(k):
            for j in range(i + 1, k):
                turned += rotate_pair(k, n, b, w, i, j, floor)
        if turned == 0:
            break
    longest = 0.0
    for i in range(k):
        longest = max(longest, dot(n, at(b, i * n), at(b, i * n)))
    return longest


@loop
def least_norm(m: i64, n: i64, a: ptr, b: ptr, x: ptr, rank: f64, area: ptr) -> i64:
    """x of (norm-1) for A (m rows of length n, kept) and b; returns how many s_i it uses.

    Args:
        m: rows.
        n: columns.
        a: A, row by row.
        b: right-hand side, m.
        x: result, n.
        rank: share of the largest singular value up to which one is zero.
        area: `least_norm_area(m, n)` doubles.
    """
    by_rows = 1 if m <= n else 0
    k = m if by_rows == 1 else n
    length = n if by_rows == 1 else m
    vectors = area
    w = at(area, m * n)
    for i in range(m):
        for j in range(n):
            place = i * n + j if by_rows == 1 else j * m + i
            vectors[place] = a[i * n + j]
    longest = orthogonalize(k, length, vectors, w)
    for j in range(n):
        x[j] = 0.0
    used = 0
    for i in range(k):
        vector = at(vectors, i * length)
        weights = at(w, i * k)
        square = dot(length, vector, vector)
        if square > rank * rank * longest:
            used += 1
            part = dot(m, weights, b) if by_rows == 1 else dot(m, vector, b)
            for j in range(n):
                x[j] += (vector[j] if by_rows == 1 else weights[j]) * (part / square)
    return used


def least_norm_area(m: int, n: int) -> int:
    """Doubles that `least_norm` works in."""
    return m * n + min(m, n) ** 2
