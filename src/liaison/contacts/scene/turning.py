"""Rolling and pivoting friction of a scene: moments within their bounds, in turns with contacts.

A contact that presses with f_n resists rolling and pivoting about its normal by moments,

    ‖m_t‖ ≤ r f_n against Ω_t = (t₁, t₂)·(ω₂ − ω₁),   |m_n| ≤ p f_n against n·(ω₂ − ω₁),  (scene-2)

as (contact-2). Moments and impulses wait for each other in turns: contacts are solved with the
moments as they are, then moments are swept with the impulses as they are.

Public names: solve_turning, turning.

Source: LL 1.5.1; docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.impulses.solve import solve_scene
from liaison.program.loops.language import f64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.cones.table import shrink

from .bodies import copy_twists
from .layout import Contact, Island, Twist

ROUNDS = 100
"""Turns of contacts and moments at most."""

OVER = 1.6
"""How far moments go beyond what their own rates ask for."""


@loop
def solve_turning(island: Island) -> None:
    """Impulses, moments and velocities; what moments still miss is kept in a slot."""
    for _ in range(ROUNDS):
        copy_twists(island.bodies, island.free, island.next)
        for c in range(island.contacts):
            push_moment(island.contact[c], 1.0, island)
        solve_scene(1.0, island.tolerance, island.sweeps_allowed, island)
        missed = moments(0.0, island)
        island.turning_residual = missed
        if missed <= island.tolerance:
            break
        moments(OVER, island)


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
