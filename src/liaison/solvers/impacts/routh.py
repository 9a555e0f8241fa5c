"""One contact's impact along its path: slip that changes while the impulse grows, after Routh.

With the normal impulse p for time, slips scaled by their coefficients x = μ u_t, and so b = μ A_tn,
B = μ A_tt μ,

    du_n/dp = A_nn − bᵀd,    dx/dp = b − B d,    dW/dp = u_n                         (routh-1)

where friction is −d: d = x/‖x‖ while it slips; B d = b where it sticks, if ‖d‖ ≤ 1; else it slips
away from rest along the only direction it can, (B + λ 1) d = b, ‖d‖ = 1, λ > 0. Compression ends
where u_n = 0 with W = W_c, the impact where the contact gave back e² of it, W = (1 − e²) W_c:
Stronge's hypothesis. Friction opposes slip throughout, so that energy never grows.

In three dimensions slip turns as it slows down. With dp = ‖x‖ dσ the right sides of (routh-1) have
no singularity, and slip ends as e^(−σ) does. In a plane all parts are straight.

Public names: strike_one, PATH_AREA.

Source: STR90 (energetic restitution); KEL86 (slip that turns); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, words_of
from liaison.solvers.cones.table import DISC, ONE_WAY, Cone, Limit

STAGES = 7


@final
class Path(Record):
    """A state on the path of an impact."""

    p: f64  # normal impulse
    un: f64  # rate of the gap
    work: f64  # of the load
    x: ptr = inline(2)  # scaled slips
    f: ptr = inline(2)  # scaled friction


@final
class Struck(Record):
    """The contact: entries of (routh-1), and where the phase under way ends."""

    ann: f64
    b: ptr = inline(2)
    B: ptr = inline(3)  # of the first row, between both, of the second
    e2: f64  # e²
    ends: f64  # W at which the impact ends
    expands: f64  # 1 while it expands


@final
class PathArea(Part):
    """What the loops of an impact along its path share: the state, one to try, slopes."""

    struck: Rows[Struck] = rows("1")
    state: Rows[Path] = rows("2")
    slopes: Rows[Path] = rows("9")


PATH_AREA, NUMBERS = words_of(PathArea), Path.header

NODES = (
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0,
    3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0,
    44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0,
    19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0,
    9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0,
    35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84,
)  # fmt: skip
ERRORS = (
    71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40,
)  # fmt: skip
"""Dormand and Prince's coefficients, row by row, and those of their error."""

ACCURACY, STILL = 1e-13, 1e-13
"""Error of slip in a step beside itself, and slip beside that of the start that has ended."""

MOST = 20000
"""Steps of one impact."""


@loop
def path_slopes(g: Struck, y: Path, out: Path) -> None:
    """(routh-1) by σ, while it slips."""
    s = sqrt(y.x[0] * y.x[0] + y.x[1] * y.x[1])
    out.p = s
    out.un = g.ann * s - g.b[0] * y.x[0] - g.b[1] * y.x[1]
    out.work = y.un * s
    out.x[0] = g.b[0] * s - g.B[0] * y.x[0] - g.B[1] * y.x[1]
    out.x[1] = g.b[1] * s - g.B[1] * y.x[0] - g.B[2] * y.x[1]
    out.f[0] = -y.x[0]
    out.f[1] = -y.x[1]


@loop
def path_step(h: f64, g: Struck, y: Path, out: Path, k: Rows[Path]) -> f64:
    """The state after a step h of σ; the error of its slip beside the slip."""
    before = y.floats
    after = out.floats
    for stage in range(STAGES):
        for i in range(NUMBERS):
            after[i] = before[i]
            for j in range(min(stage, 6)):
                after[i] += h * NODES[6 * stage + j] * k[j].floats[i]
        path_slopes(g, out, k[stage])
    wrong = 0.0
    for i in range(2):
        total = 0.0
        for j in range(STAGES):
            total += ERRORS[j] * k[j].x[i]
        wrong += h * h * total * total
    return sqrt(wrong / (y.x[0] * y.x[0] + y.x[1] * y.x[1]))


@loop
def take(y: Path, out: Path) -> None:
    """y := out."""
    for i in range(NUMBERS):
        y.floats[i] = out.floats[i]


@loop
def distance_left(g: Struck, y: Path) -> f64:
    """What compression (u_n) or expansion (W) still has before it; 0 or less: it is over."""
    return float(g.ends - y.work if g.expands > 0.0 else -y.un)


@loop
def end_phase(g: Struck, y: Path) -> i64:
    """Compression becomes expansion; 1 where that is the end of the impact."""
    if g.expands > 0.0:
        return 1
    g.expands = 1.0
    g.ends = (1.0 - g.e2) * y.work
    return 1 if g.e2 <= 0.0 else 0


@loop
def land(h: f64, g: Struck, y: Path, out: Path, k: Rows[Path]) -> None:
    """The state where the phase ends within a step h, by halving and secants."""
    low = 0.0
    high = h
    below = distance_left(g, y)
    above = distance_left(g, out)
    for turn in range(80):
        middle = 0.5 * (low + high)
        if turn % 3 != 2 and below > above:
            middle = low + (high - low) * below / (below - above)
        path_step(middle, g, y, out, k)
        left = distance_left(g, out)
        if left > 0.0:
            low = middle
            below = left
        else:
            high = middle
            above = left
        if high - low <= 1e-15 * h or left == 0.0:
            break
    take(y, out)


@loop
def slip_in_space(g: Struck, y: Path, out: Path, k: Rows[Path]) -> i64:
    """Slip of two components until it has ended (0) or the impact has (1)."""
    ended = STILL * sqrt(y.x[0] * y.x[0] + y.x[1] * y.x[1])
    size = abs(g.b[0]) + abs(g.b[1]) + g.B[0] + g.B[2]
    h = 0.02 / size
    for _ in range(MOST):
        error = path_step(h, g, y, out, k)
        if error > ACCURACY and h * size > 1e-4:
            h = 0.5 * h
            continue
        if distance_left(g, out) <= 0.0:
            land(h, g, y, out, k)
            if end_phase(g, y) == 1:
                return 1
        else:
            take(y, out)
            if g.expands > 0.0 and y.un < 0.0:
                g.expands = 0.0
            if error < 0.02 * ACCURACY:
                h = min(1.5 * h, 0.5 / size)
        if y.x[0] * y.x[0] + y.x[1] * y.x[1] <= ended * ended:
            return 0
    return 0


@loop
def straight(slip: f64, growth: f64, d0: f64, d1: f64, g: Struck, y: Path) -> i64:
    """A part of the path with friction −d and a slip that grows steadily; 1 if the impact ends.

    It ends where the slip does, or the impact.
    """
    a = g.ann - g.b[0] * d0 - g.b[1] * d1
    left = -slip / growth if growth < 0.0 else 1e300
    for _ in range(2):
        way = 1e300
        if g.expands > 0.0:
            root = y.un * y.un + 2.0 * a * (g.ends - y.work)
            if root >= 0.0 and y.un + sqrt(root) > 0.0:
                way = 2.0 * (g.ends - y.work) / (y.un + sqrt(root))
        elif a > 0.0:
            way = -y.un / a
        go = min(way, left)
        y.p += go
        y.work += go * (y.un + 0.5 * a * go)
        y.un += a * go
        y.f[0] -= d0 * go
        y.f[1] -= d1 * go
        left -= go
        if way > go or end_phase(g, y) == 1:
            return 1 if way <= go else 0
        y.un = 0.0
    return 1


@loop
def from_rest(g: Struck, y: Path) -> i64:
    """What remains of the impact where slip has ended: it sticks, or slips away along one way."""
    trace = g.B[0] + g.B[2]
    y.x[0] = 0.0
    y.x[1] = 0.0
    low = 1e-15 * trace
    high = sqrt(g.b[0] * g.b[0] + g.b[1] * g.b[1]) + low
    shift = low
    d0 = 0.0
    d1 = 0.0
    for _ in range(200):
        c0 = g.B[0] + shift
        c1 = g.B[2] + shift
        inverse = 1.0 / (c0 * c1 - g.B[1] * g.B[1]) if trace > 0.0 else 0.0
        d0 = inverse * (c1 * g.b[0] - g.B[1] * g.b[1])
        d1 = inverse * (c0 * g.b[1] - g.B[1] * g.b[0])
        if d0 * d0 + d1 * d1 <= 1.0:
            if shift == low:
                break  # it sticks
            high = shift
        else:
            low = shift
        if high - low <= 1e-16 * high:
            break
        shift = 0.5 * (low + high)
    return straight(0.0, 0.0, d0, d1, g, y)


@loop
def strike_one(
    m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], e: ptr, f: ptr, area:
    ptr,
) -> i64:  # fmt: skip
    """Impulses of an impact at one contact, with at most one disc of friction.

    Args:
        m: rows.
        nb: blocks, as for `solve_cones`.
        A: mobility; kept.
        u: rates before; kept.
        blocks: as for `solve_cones`.
        limits: as for `solve_cones`.
        e: restitution of every block.
        f: result: impulses.
        area: `PATH_AREA` doubles.

    Returns:
        1 where it is such a contact and the impact came to its end; else 0.
    """
    one = blocks[0].first
    if nb > 2 or blocks[0].kind != ONE_WAY or A[one * m + one] <= 0.0 or limits[0].constant != 0.0:
        return 0
    if nb == 2 and (blocks[1].kind != DISC or blocks[1].load != 0 or limits[1].constant != 0.0):
        return 0
    # its friction, where there are two
    disc = blocks[nb - 1]
    mu = limits[nb - 1].coefficient
    desk = PathArea(area)
    g = desk.struck[0]
    y = desk.state[0]
    for i in range(PATH_AREA):
        area[i] = 0.0
    g.ann = A[one * m + one]
    g.e2 = e[0] * e[0]
    y.un = u[one]
    rows = disc.rows if nb == 2 else 0
    for r in range(rows):
        i = disc.first + r
        y.x[r] = mu[r] * u[i]
        g.b[r] = mu[r] * A[i * m + one]
        g.B[2 * r] = mu[r] * mu[r] * A[i * m + i]
    if rows == 2:
        g.B[1] = mu[0] * mu[1] * A[disc.first * m + disc.first + 1]
    over = path(rows, g, y, desk.state[1], desk.slopes)
    for i in range(m):
        f[i] = 0.0
    f[one] = y.p
    for r in range(rows):
        f[disc.first + r] = mu[r] * y.f[r]
    return over


@loop
def path(rows: i64, g: Struck, y: Path, out: Path, k: Rows[Path]) -> i64:
    """The whole impact, from the rates before it; 1 where it came to its end."""
    if y.un >= 0.0:
        return 1
    slip = sqrt(y.x[0] * y.x[0] + y.x[1] * y.x[1])
    if slip > STILL * abs(y.un) * sqrt((g.B[0] + g.B[2]) / g.ann):
        if rows == 2:
            over = slip_in_space(g, y, out, k)
        else:
            d = 1.0 if y.x[0] > 0.0 else -1.0
            over = straight(slip, d * g.b[0] - g.B[0], d, 0.0, g, y)
        if over == 1:
            return 1
    return from_rest(g, y)
