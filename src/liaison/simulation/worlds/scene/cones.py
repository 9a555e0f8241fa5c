"""Contacts of the interior method: numbers of all of them side by side, one at a time in registers.

Formulas of one contact are those of scenes, on records of `contacts/scene/layout.py`. Here such a
record is a thread's own: it is filled from arrays whose neighbors belong to neighboring threads,
and what changed goes back there.

Public names: own_contact, own_pair, take_rows, take_force, get_force, put_force, get_entered,
put_entered, get_scaled, clear_scaled, put_scaled, get_constant, put_constant, get_changes,
put_changes.
"""

from __future__ import annotations

from math import copysign

import numpy as np

from liaison.contacts.scene.layout import ConePair, Contact, Island
from liaison.program.loops.language import external, f64, flat, i64, loop, ptr

from .layout import Block


@external
def own_contact() -> ptr:
    """Memory of a thread for a `Contact`."""
    return np.zeros(Contact.header)


@external
def own_pair() -> ptr:
    """Memory of a thread for a `ConePair`."""
    return np.zeros(ConePair.header)


@loop
def take_rows(k: i64, contact: Contact, w: Block, island: Island) -> None:
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
    else:
        for j in range(36):
            flat(contact.rows)[j] = flat(island.contact[k].rows)[j]


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
def take_force(k: i64, contact: Contact, w: Block) -> None:
    """The impulse of a contact along its rows."""
    contact.force[0] = w.force[0, k]
    for r in range(1, 3):
        total = 0.0
        for j in range(3):
            total += contact.rows[3 + r, 3 + j] * w.force[1 + j, k]
        contact.force[r] = total


@loop
def get_force(h: i64, contact: Contact, w: Block) -> None:
    """The impulse of a contact along its rows, inside its cone."""
    for r in range(3):
        contact.force[r] = w.inner[r, h]


@loop
def put_force(h: i64, contact: Contact, w: Block) -> None:
    """And back."""
    for r in range(3):
        w.inner[r, h] = contact.force[r]


@loop
def get_entered(h: i64, q: ConePair, w: Block) -> None:
    """Rates, λ, and what is the same in all turns."""
    q.w = w.entered[0, h]
    q.slack = w.entered[1, h]
    q.soft = w.entered[2, h]
    q.mu = w.entered[3, h]
    q.is_strict = int(w.entered[4, h])
    for r in range(3):
        q.rate[r] = w.rate[r, h]
    for r in range(2):
        q.weight[r] = w.weight[r, h]


@loop
def put_entered(h: i64, q: ConePair, w: Block) -> None:
    """And back."""
    w.entered[0, h] = q.w
    w.entered[1, h] = q.slack
    w.entered[2, h] = q.soft
    w.entered[3, h] = q.mu
    w.entered[4, h] = float(q.is_strict)
    for r in range(3):
        w.rate[r, h] = q.rate[r]
    for r in range(2):
        w.weight[r, h] = q.weight[r]


@loop
def get_scaled(h: i64, q: ConePair, w: Block) -> None:
    """The scaling of a contact, and its G."""
    q.part = w.eased[0, h]
    q.lag = w.eased[1, h]
    q.eta = w.scaled[0, h]
    q.h = w.scaled[1, h]
    for r in range(3):
        q.point[r] = w.scaled[2 + r, h]
        q.scaled[r] = w.scaled[5 + r, h]
    for r in range(9):
        flat(q.g)[r] = w.scaled[8 + r, h]
    for r in range(2):
        q.kappa[r] = w.scaled[17 + r, h]


@loop
def clear_scaled(q: ConePair) -> None:
    """No scaling yet: without friction much of it stays so."""
    q.eta = 0.0
    q.h = 0.0
    for r in range(3):
        q.point[r] = 0.0
        q.scaled[r] = 0.0
    for r in range(2):
        q.kappa[r] = 0.0


@loop
def put_scaled(h: i64, q: ConePair, w: Block) -> None:
    """And back."""
    w.eased[0, h] = q.part
    w.eased[1, h] = q.lag
    w.scaled[0, h] = q.eta
    w.scaled[1, h] = q.h
    for r in range(3):
        w.scaled[2 + r, h] = q.point[r]
        w.scaled[5 + r, h] = q.scaled[r]
    for r in range(9):
        w.scaled[8 + r, h] = flat(q.g)[r]
    for r in range(2):
        w.scaled[17 + r, h] = q.kappa[r]


@loop
def get_constant(h: i64, q: ConePair, w: Block) -> None:
    """What a contact aims at."""
    for r in range(3):
        q.constant[r] = w.constant[r, h]
    q.first = w.constant[3, h]


@loop
def put_constant(h: i64, q: ConePair, w: Block) -> None:
    """And back."""
    for r in range(3):
        w.constant[r, h] = q.constant[r]
    w.constant[3, h] = q.first if q.mu > 0.0 else 0.0


@loop
def get_changes(h: i64, s: f64, q: ConePair, w: Block) -> None:
    """Changes of a contact; none where nothing of them counts."""
    q.dw = w.change[0, h] if s > 0.0 else 0.0
    for r in range(3):
        q.df[r] = w.change[1 + r, h] if s > 0.0 else 0.0
        q.dz[r] = w.change[4 + r, h] if s > 0.0 else 0.0


@loop
def put_changes(h: i64, q: ConePair, w: Block) -> None:
    """And back."""
    w.change[0, h] = q.dw
    for r in range(3):
        w.change[1 + r, h] = q.df[r]
        w.change[4 + r, h] = q.dz[r]
