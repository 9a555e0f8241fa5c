"""Sweeps over contacts: each solved exactly while the others wait (nonsmooth Gauss–Seidel).

A contact is a load and the discs it bounds. For a given load N its discs are projections, and what
is left is one equation of one unknown, z_n(N) = 0 or N = least, solved by secants inside a bracket.
Such a contact always has a solution, and sweeps get near the one of all contacts together.

Public names: sweep.

Source: JAL98; ACA ch. 13.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop
from liaison.program.loops.records import Rows

from .table import DISC, GIVEN, HELD, ONE_WAY, Area, Bound, Cone, radius

SOFT = 1e-9
"""Proximal mobility, beside 1: rows that depend on others move only as far as they must."""

FEW, ALONE, AMONG = 4, 12, 3
"""Secants at most for a contact: alone with its few blocks, or among others."""

ENOUGH = 1e-14


@loop
def push(m: i64, area: Area, row: i64, y: f64) -> None:
    """Sets one force and what it does to all rates."""
    change = y - area.force[row]
    area.force[row] = y
    if change != 0.0:
        z = area.rate
        column = area.columns[row]
        for i in range(m):
            z[i] += change * column[i]


@loop
def secular(hx: f64, hy: f64, gx: f64, gy: f64, r: f64) -> f64:
    """λ ≥ 0 with |(g_x/(h_x + λ), g_y/(h_y + λ))| = r, or 0 where the length is at most r at 0.

    Newton's method on 1/length, which is concave, from below the root: it only ever grows.
    """
    lam = max(0.0, sqrt(gx * gx + gy * gy) / max(r, 1e-300) - max(hx, hy))
    for _ in range(20):
        x = gx / (hx + lam)
        y = gy / (hy + lam)
        length = sqrt(x * x + y * y)
        if not (length > r * (1.0 + 1e-15)):
            break
        slope = (x * x / (hx + lam) + y * y / (hy + lam)) / length
        lam += (length - r) / r * length / slope
    return lam


@loop
def settle_disc(m: i64, area: Area, first: i64, r: f64) -> None:
    """A disc of two rows, exactly: least ½ yᵀHy + gᵀy over ‖y‖ ≤ r in the axes of H."""
    y = area.force[first:]
    z = area.rate[first:]
    if not (r > 0.0):
        push(m, area, first, 0.0)
        push(m, area, first + 1, 0.0)
        return
    columns = flat(area.columns)[first * m + first :]
    a = columns[0]
    d = columns[m + 1]
    c = 0.5 * (columns[1] + columns[m])
    # turn by half the angle of (a − d, 2c): H becomes diagonal
    half = sqrt(0.25 * (a - d) * (a - d) + c * c)
    cos = 1.0
    sin = 0.0
    if half > 1e-14:
        cos = sqrt(max(0.0, 0.5 + 0.25 * (a - d) / half))
        sin = sqrt(max(0.0, 0.5 - 0.25 * (a - d) / half))
        sin = -sin if c < 0.0 else sin
    hx = max(0.5 * (a + d) + half, 0.0) + SOFT
    hy = max(0.5 * (a + d) - half, 0.0) + SOFT
    gx = cos * z[0] + sin * z[1] - hx * (cos * y[0] + sin * y[1])
    gy = cos * z[1] - sin * z[0] - hy * (cos * y[1] - sin * y[0])
    lam = secular(hx, hy, gx, gy, r)
    x = -gx / (hx + lam)
    w = -gy / (hy + lam)
    push(m, area, first, cos * x - sin * w)
    push(m, area, first + 1, sin * x + cos * w)


@loop
def settle_line(m: i64, area: Area, row: i64, r: f64) -> None:
    """A disc of one row, exactly."""
    mobility = area.columns[row, row]
    y = area.force[row] - area.rate[row] / (max(mobility, 0.0) + SOFT)
    push(m, area, row, max(-r, min(r, y)))


@loop
def settle_one_disc(m: i64, blocks: Rows[Cone], area: Area, table: Rows[Bound], k: i64) -> None:
    """Disc k under the load of now."""
    r = radius(blocks, table, area.force, k)
    if blocks[k].rows == 1:
        settle_line(m, area, blocks[k].first, r)
    else:
        settle_disc(m, area, blocks[k].first, r)


@loop
def settle_discs(m: i64, blocks: Rows[Cone], area: Area, table: Rows[Bound], load: i64) -> None:
    """The discs of a load, one after the other."""
    k = int(table[load].head)
    while k >= 0:
        settle_one_disc(m, blocks, area, table, k)
        k = int(table[k].next)


@loop
def settle_contact(
    m: i64, blocks: Rows[Cone], area: Area, table: Rows[Bound], k: i64, turns: i64
) -> None:
    """One contact: its load by secants in a bracket, its discs with every trial."""
    row = blocks[k].first
    least = table[k].constant
    mobility = max(area.columns[row, row], 0.0) + SOFT
    slope = mobility
    low = least
    high = 1e300
    is_bracketed = 0
    for _ in range(turns):
        load = area.force[row]
        rate = area.rate[row]
        if rate < 0.0:
            low = max(low, load)
            is_bracketed = 1
        else:
            high = min(high, load)
        trial = load - rate / slope
        if trial < low:
            trial = 0.5 * (low + high) if is_bracketed == 1 else least
        elif trial > high:
            trial = 0.5 * (low + high)
        push(m, area, row, trial)
        settle_discs(m, blocks, area, table, k)
        after = area.rate[row]
        if abs(after) <= ENOUGH or (trial <= least and after >= 0.0):
            break
        if trial != load:
            slope = max((after - rate) / (trial - load), 1e-4 * mobility)


@loop
def sweep(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> None:
    """Every contact, every disc with a bound of its own, every held row, once; z goes along."""
    table = area.table
    turns = ALONE if nb < FEW else AMONG
    for k in range(nb):
        first = blocks[k].first
        kind = blocks[k].kind
        if kind == ONE_WAY:
            settle_contact(m, blocks, area, table, k, turns)
        elif kind == HELD:
            for i in range(first, first + blocks[k].rows):
                mobility = max(area.columns[i, i], 0.0) + SOFT
                push(m, area, i, area.force[i] - area.rate[i] / mobility)
            settle_discs(m, blocks, area, table, k)
        elif kind == DISC and blocks[k].load < 0:
            settle_one_disc(m, blocks, area, table, k)
        elif kind == GIVEN:
            settle_discs(m, blocks, area, table, k)
