"""Contacts of a world as those of a scene have them: with rows, for all of them at once.

Public names: take_contact, give_back, rate_of.

Source: docs/theory/contact_solvers.md; DUFF17 (tangents of a normal without singular direction).
"""

from __future__ import annotations

from math import copysign

from liaison.contacts.scene.layout import Contact
from liaison.program.loops.language import f64, i64, loop

from .layout import Block
from .sweeps import across_of


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
