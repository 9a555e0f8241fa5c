"""Impacts one after the other: which contact strikes next, and its problem cut out of all of them.

While contact k strikes, the others touch without a force. It is the one that approaches fastest,

    k = argmax −u_k/√A_kk,    u := u + A f_k,                                      (sequence-1)

the first of the description where several do: u²/2A is the energy that its compression takes.

Public names: Single, fastest, cut_out, blocks_cut, rows_cut, add_impulses, coupled_contacts,
COUPLED.

Source: HG93 (sequences of impacts), IVA95 (when they are unique); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import f64, i64, iptr, loop, ptr
from liaison.program.loops.records import Part, Rows, rows, sized
from liaison.solvers.cones.table import BILATERAL, ONE_WAY, Cone, Limit

COUPLED = 1e-9
"""Cosine between two rows in the metric of M from which on their impacts change each other."""


@final
class Single(Part):
    """The problem of one contact, cut out of all of them: as for `solve_cones`."""

    A: ptr = sized("m * m")
    u: ptr = sized("m")
    step: ptr = sized("m")  # its impulses
    restitution: ptr = sized("nb")
    blocks: Rows[Cone] = rows("nb")
    limits: Rows[Limit] = rows("nb")
    listed: iptr = sized("m")  # its rows among all
    place: iptr = sized("nb")  # of every block in it, or −1


@loop
def fastest(m: i64, nb: i64, A: ptr, blocks: Rows[Cone], u: ptr, least: f64) -> i64:
    """The one-way block that approaches fastest beside the root of its mobility; −1 if none does.

    Args:
        m: rows.
        nb: blocks.
        A: mobility.
        blocks: as for `solve_cones`.
        u: rates.
        least: approaches below this, beside the root of the mobility, are none.
    """
    best = -1
    most = least
    for k in range(nb):
        i = blocks[k].first
        mobility = A[i * m + i]
        if blocks[k].kind == ONE_WAY and mobility > 0.0 and -u[i] > most * sqrt(mobility):
            best = k
            most = -u[i] / sqrt(mobility)
    return best


@loop
def takes_part(k: i64, block: Cone, other: i64) -> i64:
    """1 if a block strikes with contact k: itself, its friction, and what always holds."""
    if other == k or block.kind == BILATERAL:
        return 1
    return 1 if block.kind != ONE_WAY and block.load == k else 0


@loop
def cut_out(
    k: i64, m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution:
    ptr, single: Single,
) -> None:  # fmt: skip
    """The problem of contact k alone into `single`, the contact first."""
    count = 0
    m_cut = 0
    for other in range(nb):
        single.place[other] = -1
    for turn in range(2):
        for b in range(nb):
            is_its = takes_part(k, blocks[b], b)
            is_later = 0 if b == k else 1
            if is_its == 1 and is_later == turn:
                single.place[b] = count
                copied = single.blocks[count]
                copied.kind = blocks[b].kind
                copied.first = m_cut
                copied.rows = blocks[b].rows
                copied.load = 0 if blocks[b].load == k else -1
                for j in range(2):
                    single.limits[count].coefficient[j] = limits[b].coefficient[j]
                single.limits[count].constant = limits[b].constant
                single.restitution[count] = restitution[b]
                for r in range(blocks[b].rows):
                    single.listed[m_cut + r] = blocks[b].first + r
                m_cut += blocks[b].rows
                count += 1
    for i in range(m_cut):
        single.u[i] = u[single.listed[i]]
        for j in range(m_cut):
            single.A[i * m_cut + j] = A[single.listed[i] * m + single.listed[j]]


@loop
def blocks_cut(m: i64, nb: i64, single: Single) -> i64:
    """How many blocks the problem in `single` has."""
    count = 0
    for b in range(nb):
        count += 1 if single.place[b] >= 0 else 0
    return count


@loop
def rows_cut(m: i64, nb: i64, single: Single) -> i64:
    """How many rows the problem in `single` has."""
    last = single.blocks[blocks_cut(m, nb, single) - 1]
    return last.first + last.rows


@loop
def add_impulses(m: i64, nb: i64, A: ptr, single: Single, f: ptr, u: ptr) -> f64:
    """f and u of all rows after the impulses of one contact; the change of kinetic energy."""
    change = 0.0
    step = single.step
    count = rows_cut(m, nb, single)
    for a in range(count):
        change += 0.5 * step[a] * u[single.listed[a]]
        f[single.listed[a]] += step[a]
    for i in range(m):
        for a in range(count):
            u[i] += A[i * m + single.listed[a]] * step[a]
    for a in range(count):
        change += 0.5 * step[a] * u[single.listed[a]]
    return change


@loop
def are_coupled(
    m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], one: i64, other: i64
) -> i64:
    """1 if impulses of one contact, or of its friction, change rates of another one."""
    for b in range(nb):
        for d in range(nb):
            is_one = 1 if b == one or (blocks[b].load == one and has_bound(limits[b]) == 1) else 0
            is_other = 1 if d == other or blocks[d].load == other else 0
            if is_one * is_other == 1:
                for i in range(blocks[b].first, blocks[b].first + blocks[b].rows):
                    for j in range(blocks[d].first, blocks[d].first + blocks[d].rows):
                        size = sqrt(max(A[i * m + i] * A[j * m + j], 0.0))
                        if abs(A[i * m + j]) > COUPLED * size:
                            return 1
    return 0


@loop
def has_bound(limit: Limit) -> i64:
    """1 if friction is there at all."""
    most = max(limit.coefficient[0], limit.coefficient[1])
    return 1 if max(most, limit.constant) > 0.0 else 0


@loop
def coupled_contacts(
    k: i64, m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr
) -> i64:
    """How many contacts with an impulse are coupled to contact k, itself among them.

    From two on the answer is not unique: it depends on the order of impacts, of which rigid bodies
    say nothing. Where all rows are orthogonal in the metric of M every order leads to the same.
    """
    count = 1
    for other in range(nb):
        is_hit = 1 if blocks[other].kind == ONE_WAY and f[blocks[other].first] > 0.0 else 0
        if other != k and is_hit == 1:
            count += are_coupled(m, nb, A, blocks, limits, k, other)
    return count
