"""Rolling and pivoting friction of a scene: moments within their bounds, in turns with contacts.

A contact that presses with f_n resists rolling and pivoting about its normal by moments,

    ‖m_t‖ ≤ r f_n against Ω_t = (t₁, t₂)·(ω₂ − ω₁),   |m_n| ≤ p f_n against n·(ω₂ − ω₁),  (scene-2)

as (contact-2). Moments and impulses wait for each other in turns: contacts are solved with the
moments as they are, then moments are swept with the impulses as they are. Where several places of
one body share its load turns may go on for long; few contacts are then solved with their moments as
one problem of cones, six rows each.

Public names: solve_turning, turning.

Source: LL 1.5.1; docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.impulses.path_layout import TURNS
from liaison.contacts.impulses.solve import bound, solve_scene
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import DISC, ONE_WAY, solve_cones
from liaison.solvers.cones.table import shrink

from .bodies import copy_twists
from .layout import FEW, Contact, Island, Twist
from .rates import rate, residual_of, start_from

ROUNDS = 100
"""Turns of contacts and moments at most."""

OVER = 1.6
"""How far moments go beyond what their own rates ask for."""

AS_ONE = FEW // 2
"""Contacts at most that are solved with their moments at once: twice as many rows as without."""

AXES = (4, 5, 3)
"""Rows of a contact with the axes of its moments: two of rolling, then that of pivoting."""


@loop
def solve_turning(island: Island) -> None:
    """Impulses, moments and velocities; what moments still miss is kept in a slot."""
    left = 0.0
    for turn in range(ROUNDS):
        left = solved_beside(island)
        if island.turning_residual <= island.tolerance:
            break
        if turn < ROUNDS - 1:
            moments(OVER, island)
    over = excess(left, island)
    for turn in range(2):
        if over <= 1.0 or island.contacts > AS_ONE:
            break
        over = at_once(turn, over, island)
    if over > 1.0 and island.why == 0:
        island.why = TURNS


@loop
def excess(left: f64, island: Island) -> f64:
    """What impulses and moments miss, beside what is enough."""
    return float(max(left / island.limit, island.turning_residual / island.tolerance))


@loop
def solved_beside(island: Island) -> f64:
    """Impulses beside the moments as they are, and what these miss; the residual of impulses."""
    start_turning(island)
    left = solve_scene(1.0, island.tolerance, island.sweeps_allowed, island)
    island.turning_residual = moments(0.0, island)
    return float(left)


@loop
def start_turning(island: Island) -> None:
    """Velocities with the moments as they are, and no impulses."""
    copy_twists(island.bodies, island.free, island.next)
    for c in range(island.contacts):
        push_moment(island.contact[c], 1.0, island)


@loop
def at_once(is_anew: i64, before: f64, island: Island) -> f64:
    """Few contacts with their moments as one problem, unless what was there is better.

    What is missed beside what is enough.

    Args:
        is_anew: 1 to begin without impulses and moments; else from those at hand.
        before: what those at hand miss.
        island: contacts with their rates.
    """
    for c in range(island.contacts):
        for i in range(6):
            island.few_kept[6 * c + i] = impulse_of(island.contact[c], i)
            if is_anew == 1:
                set_impulse(island.contact[c], i, 0.0)
    settle_turning(island)
    now = restarted(island)
    if now > 1.0 and island.turning_residual <= island.tolerance:
        now = float(excess(solved_beside(island), island))
    if now <= before:
        return now
    for c in range(island.contacts):
        for i in range(6):
            set_impulse(island.contact[c], i, island.few_kept[6 * c + i])
    return float(restarted(island))


@loop
def impulse_of(contact: Contact, i: i64) -> f64:
    """The impulse or moment of a row."""
    if i < 3:
        return float(contact.force[i])
    return float(contact.moment[AXES[i - 3] - 3])


@loop
def set_impulse(contact: Contact, i: i64, impulse: f64) -> None:
    """The same, set."""
    if i < 3:
        contact.force[i] = impulse
    else:
        contact.moment[AXES[i - 3] - 3] = impulse


@loop
def restarted(island: Island) -> f64:
    """Velocities with impulses and moments as they are; what these miss."""
    start_turning(island)
    start_from(island)
    island.turning_residual = moments(0.0, island)
    return float(excess(residual_of(1.0, island), island))


@loop
def settle_turning(island: Island) -> None:
    """Impulses and moments of all contacts from their rates without any, by the problem of cones.

    Six rows of each: along n, across it, rolling, pivoting.
    """
    m = 6 * island.contacts
    f = island.few_forces
    copy_twists(island.bodies, island.free, island.next)
    for c in range(island.contacts):
        contact = island.contact[c]
        set_blocks(c, contact, island)
        for i in range(6):
            f[6 * c + i] = impulse_of(contact, i)
            island.few_rates[6 * c + i] = rate_of(contact, i, island)
        for d in range(island.contacts):
            for i in range(6):
                for j in range(6):
                    answer = answered(contact, i, island.contact[d], j, island)
                    island.mobility[(6 * c + i) * m + 6 * d + j] = answer
    solve_cones(
        m,
        4 * island.contacts,
        island.mobility,
        island.few_rates,
        island.cone_block,
        island.cone_limit,
        f,
        island.cones,
    )
    for c in range(island.contacts):
        for i in range(6):
            set_impulse(island.contact[c], i, f[6 * c + i])


@loop
def rate_of(contact: Contact, i: i64, island: Island) -> f64:
    """The rate of a row at the velocities at hand."""
    if i < 3:
        return float(rate(contact, i, island))
    return float(turning(contact, contact.rows[AXES[i - 3], 3:], island.next))


@loop
def set_blocks(c: i64, contact: Contact, island: Island) -> None:
    """Four blocks of a contact: its load, and what it bounds."""
    for k in range(4):
        block = island.cone_block[4 * c + k]
        block.kind = ONE_WAY if k == 0 else DISC
        block.first = 6 * c + (2 * k - 1 if k > 0 else 0)
        block.rows = 2 if k == 1 or k == 2 else 1
        block.load = 4 * c if k > 0 else -1
        bound(coefficient(contact, k), island.cone_limit[4 * c + k])


@loop
def coefficient(contact: Contact, k: i64) -> f64:
    """What times its load bounds a block of a contact: sliding, rolling, pivoting."""
    if k == 1:
        return contact.friction
    if k == 2:
        return contact.rolling
    return contact.pivoting if k == 3 else 0.0


@loop
def answered(contact: Contact, i: i64, other: Contact, j: i64, island: Island) -> f64:
    """What a unit of row j of one contact does to the rate of row i of another."""
    total = 0.0
    for s in range(2):
        for t in range(2):
            body = contact.body[s]
            if body >= 0 and body == other.body[t]:
                for x in range(6 if i < 3 else 3):
                    total += row_entry(contact, s, i, x) * push_entry(other, t, j, x, body, island)
    return float(total)


@loop
def row_entry(contact: Contact, side: i64, i: i64, x: i64) -> f64:
    """An entry of a row of a contact on one of its bodies; of moments those of ω alone."""
    if i < 3:
        return float(contact.rows[3 * side + i, x])
    axis = contact.rows[AXES[i - 3], 3 + x]
    return float(axis if side == 1 else -axis)


@loop
def push_entry(contact: Contact, side: i64, j: i64, x: i64, body: i64, island: Island) -> f64:
    """What a unit of a row does to a velocity of one of its bodies."""
    if j < 3:
        return float(contact.push[3 * side + j, x])
    if x > 2:
        return 0.0
    total = 0.0
    for k in range(3):
        total += island.body[body].turned_inverse[x, k] * contact.rows[AXES[j - 3], 3 + k]
    return float(total if side == 1 else -total)


@loop
def moments(over: f64, island: Island) -> f64:
    """All moments once; what they missed before, beside the strongest, as angular velocities.

    It is 1 where something was missed and no contact presses.
    """
    worst = 0.0
    strongest = 0.0
    for c in range(island.contacts):
        contact = island.contact[c]
        rolling = contact.rolling
        pivoting = contact.pivoting
        if rolling > 0.0 or pivoting > 0.0:
            n = contact.rows[3, 3:]
            press = contact.force[0]
            a = stiffest(contact, contact.rows[4, 3:], contact.rows[5, 3:], island)
            b = between(contact, n, n, island)
            strongest = max(strongest, max(a * rolling, b * pivoting) * press)
            worst = max(worst, roll(contact, a, rolling * press, over, island))
            worst = max(worst, pivot(contact, b, pivoting * press, over, island))
    if strongest > 0.0:
        return float(worst / strongest)
    return 1.0 if worst > 0.0 else 0.0


@loop
def roll(contact: Contact, a: f64, bound: f64, over: f64, island: Island) -> f64:
    """The moment against rolling; its change, as an angular velocity. Without `over`, only that."""
    one = contact.rows[4, 3:]
    other = contact.rows[5, 3:]
    m = contact.moment
    part = over if over > 0.0 else 1.0
    x = m[1] - part * turning(contact, one, island.next) / a
    y = m[2] - part * turning(contact, other, island.next) / a
    cut = shrink(x, y, bound)
    dx = cut * x - m[1]
    dy = cut * y - m[2]
    if over > 0.0:
        m[1] += dx
        m[2] += dy
        turn_bodies(contact, one, dx, island)
        turn_bodies(contact, other, dy, island)
    return float(a * max(abs(dx), abs(dy)))


@loop
def pivot(contact: Contact, b: f64, bound: f64, over: f64, island: Island) -> f64:
    """The moment about the normal, likewise."""
    n = contact.rows[3, 3:]
    m = contact.moment
    part = over if over > 0.0 else 1.0
    moment = m[0] - part * turning(contact, n, island.next) / b
    change = min(max(moment, -bound), bound) - m[0]
    if over > 0.0:
        m[0] += change
        turn_bodies(contact, n, change, island)
    return float(b * abs(change))


@loop
def push_moment(contact: Contact, way: f64, island: Island) -> None:
    """Angular velocities with the moments of a contact."""
    for r in range(3):
        turn_bodies(contact, contact.rows[3 + r, 3:], way * contact.moment[r], island)


@loop
def turning(contact: Contact, axis: ptr, speeds: Rows[Twist]) -> f64:
    """The angular velocity of the second body seen from the first, about an axis."""
    w = speeds[contact.body[1]].spin
    total = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2]
    if contact.body[0] >= 0:
        v = speeds[contact.body[0]].spin
        total -= axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]
    return float(total)


@loop
def turn_bodies(contact: Contact, axis: ptr, moment: f64, island: Island) -> None:
    """ω += I⁻¹ m of the second body, and against it of the first."""
    if moment != 0.0:
        for side in range(2):
            body = contact.body[side]
            if body >= 0:
                inverse = island.body[body].turned_inverse
                w = island.next[body].spin
                signed = moment if side == 1 else -moment
                for i in range(3):
                    row = inverse[i]
                    w[i] += signed * (row[0] * axis[0] + row[1] * axis[1] + row[2] * axis[2])


@loop
def between(contact: Contact, one: ptr, other: ptr, island: Island) -> f64:
    """What a unit moment about one axis does to the turning about another."""
    total = 0.0
    for side in range(2):
        body = contact.body[side]
        if body >= 0:
            inverse = island.body[body].turned_inverse
            for i in range(3):
                for j in range(3):
                    total += one[i] * inverse[i, j] * other[j]
    return total


@loop
def stiffest(contact: Contact, one: ptr, other: ptr, island: Island) -> f64:
    """The largest of that over all directions of rolling."""
    a = between(contact, one, one, island)
    b = between(contact, other, other, island)
    d = between(contact, one, other, island)
    half = 0.5 * (a - b)
    return 0.5 * (a + b) + sqrt(half * half + d * d)
