"""Contacts of a world as those of a scene have them: with rows, for all of them at once.

Few contacts are solved together to rounding where sweeps and turns are not enough: their problem is
that of cones of mechanisms, with a dense matrix; one thread solves it.

Public names: take_contact, give_back, rate_of, together.

Source: docs/theory/contact_solvers.md; DUFF17 (tangents of a normal without singular direction).
"""

from __future__ import annotations

from math import copysign

from liaison.contacts.impulses.solve import settle
from liaison.contacts.scene.layout import Contact, Island
from liaison.program.loops.language import f64, i64, loop, ptr

from .layout import Block
from .sweeps import across_of, free_velocities, residual_of, started


@loop
def rate_of(k: i64, r: i64, contact: Contact, w: Block) -> f64:
    """A rate of a contact, by its number, with what its gap adds."""
    other = w.next[w.other[k]]
    one = w.next[max(w.one[k], 0)]
    u = contact.right[r]
    for j in range(3):
        u += contact.rows[3 + r, 3 + j] * across_of(k, j, other, one, w)
    return float(u)


@loop
def take_contact(k: i64, contact: Contact, w: Block) -> None:
    """A contact with its rows, along the normal and two tangents."""
    one = w.one[k]
    # pairs that do not touch hold no bodies together
    contact.body[0] = one if one >= 0 and w.active[k] == 1 else -1
    contact.body[1] = w.other[k]
    contact.friction = w.friction[k]
    contact.normal = w.mobility[0, k]
    contact.right[0] = w.right[k]
    contact.right[1] = 0.0
    contact.right[2] = 0.0
    if w.general == 0:
        set_directions(k, contact, w)
        for j in range(3):
            ball_rows(contact, 3, j, 1.0, w.scale[w.other[k]])
            ball_rows(contact, 0, j, -1.0, w.scale[max(one, 0)])
    for r in range(3):
        contact.force[r] = w.force[0, k] if r == 0 else 0.0
        for j in range(3):
            if r > 0:
                contact.force[r] += contact.rows[3 + r, 3 + j] * w.force[1 + j, k]


@loop
def ball_rows(contact: Contact, first: i64, j: i64, way: f64, r: f64) -> None:
    """Components j of the rows of one ball, (ρ × s, s) with ρ = −r n of the second."""
    rows = contact.rows
    n = rows[3, 3 + j]
    t = rows[4, 3 + j]
    b = rows[5, 3 + j]
    rows[first, j] = 0.0
    rows[first + 1, j] = -r * b
    rows[first + 2, j] = r * t
    rows[first, 3 + j] = way * n
    rows[first + 1, 3 + j] = way * t
    rows[first + 2, 3 + j] = way * b


@loop
def set_directions(k: i64, contact: Contact, w: Block) -> None:
    """n, t₁ and t₂ = n × t₁ in the last columns of the rows of the second body, as DUFF17."""
    x = w.normal[0, k]
    y = w.normal[1, k]
    n = w.normal[2, k]
    sign = copysign(1.0, n)
    a = -1.0 / (sign + n)
    b = x * y * a
    rows = contact.rows
    rows[3, 3] = x
    rows[3, 4] = y
    rows[3, 5] = n
    rows[4, 3] = 1.0 + sign * x * x * a
    rows[4, 4] = sign * b
    rows[4, 5] = -sign * x
    rows[5, 3] = b
    rows[5, 4] = sign + y * y * a
    rows[5, 5] = -y


@loop
def give_back(k: i64, contact: Contact, w: Block) -> None:
    """The impulse of a contact."""
    w.force[0, k] = contact.force[0]
    for j in range(3):
        across = contact.force[1] * contact.rows[4, 3 + j]
        w.force[1 + j, k] = across + contact.force[2] * contact.rows[5, 3 + j]


@loop
def together(me: i64, before: f64, scale: f64, w: Block, island: Island) -> f64:
    """Impulses of all contacts at once, unless those at hand are better; their residual."""
    k = me
    while k < w.pairs:
        for r in range(4):
            w.last_force[r, k] = w.force[r, k]
            w.force[r, k] = 0.0
        k += w.lanes
    free_velocities(me, w)
    started(me, w)
    if me == 0:
        settle_few(w, island)
    free_velocities(me, w)
    started(me, w)
    left = residual_of(me, 1.0, scale, w)
    if left <= before:
        return left
    k = me
    while k < w.pairs:
        for r in range(4):
            w.force[r, k] = w.last_force[r, k]
        k += w.lanes
    free_velocities(me, w)
    started(me, w)
    return before


@loop
def settle_few(w: Block, island: Island) -> None:
    """The problem of all contacts: rates without impulses, their answers; impulses into w."""
    count = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            contact = island.contact[count]
            for r in range(Contact.header):
                contact.floats[r] = island.contact[k].floats[r]
            take_contact(k, contact, w)
            for r in range(3):
                island.few_rates[3 * count + r] = rate_of(k, r, contact, w)
                contact.force[r] = 0.0
            for side in range(2):
                push_rows(side, contact, w)
            count += 1
    island.contacts = count
    settle(1.0, island)
    count = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            give_back(k, island.contact[count], w)
            count += 1


@loop
def push_rows(side: i64, contact: Contact, w: Block) -> None:
    """M⁻¹Dᵀ of one body of a contact."""
    i = contact.body[side]
    if i >= 0:
        for r in range(3 * side, 3 * side + 3):
            row = contact.rows[r]
            for j in range(3):
                contact.push[r, j] = turned(i, j, row, w)
                contact.push[r, 3 + j] = w.light[i] * row[3 + j]


@loop
def turned(i: i64, j: i64, x: ptr, w: Block) -> f64:
    """A component of J x."""
    if w.general == 1:
        J = w.turned[i, 3 * j :]
        return float(J[0] * x[0] + J[1] * x[1] + J[2] * x[2])
    return float(w.quick[i] / (w.scale[i] * w.scale[i]) * x[j])
