"""Few contacts of a world, solved together to rounding where sweeps and turns are not enough.

Their problem is that of cones of mechanisms, with a dense matrix; one thread solves it.

Public names: together.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.solve import settle
from liaison.contacts.scene.layout import Contact, Island
from liaison.program.loops.language import f64, i64, loop, ptr

from .layout import Block
from .rows import give_back, rate_of, take_contact
from .sweeps import free_velocities, residual_of, started


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
