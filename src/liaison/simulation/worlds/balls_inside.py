"""All contacts of a world of balls at once, by the interior method of scenes, where sweeps are slow.

Contacts get the rows that those of a scene have; one thread then solves them as one island.

Public names: begin_island, from_island.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import copysign

from liaison.contacts.impulses.interior import from_inside, with_impulses
from liaison.contacts.impulses.solve import BEGIN, MOST, forget
from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.bounce import TRIES
from liaison.contacts.scene.layout import Contact, Island, System
from liaison.program.loops.language import f64, i64, loop

from .balls import Balls


@loop
def begin_island(w: Balls, island: Island) -> None:
    """An empty island, whose head says where what lies."""
    for k in range(w.heads):
        island.ints[w.head_at[k]] = w.head[k]


@loop
def from_island(scale: f64, w: Balls, island: Island) -> None:
    """Impulses by the interior method, from those that sweeps came to; velocities are as before.

    Args:
        scale: the strongest impulse that counts, as a velocity.
        w: velocities without impulses in `next`.
        island: workspace.
    """
    take_bodies(w, island)
    island.contacts = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            take_contact(k, island.contact[island.contacts], w)
            island.contacts += 1
    island.tolerance = w.tolerance
    island.scale = scale
    island.widest = 0.0
    island.floor = 0.0
    island.limit = w.tolerance
    island.turns = 0
    with_impulses(island)
    for turn in range(TRIES):
        if turn > 0:
            forget(island)
        if from_inside(1.0, w.tolerance, BEGIN[min(turn, 1)], turn, MOST, island) <= w.tolerance:
            break
    c = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            give_back(k, island.contact[c], w)
            c += 1


@loop
def take_bodies(w: Balls, island: Island) -> None:
    """What bodies weigh, and their velocities without impulses."""
    island.bodies = w.bodies
    System(island.system).bodies = w.bodies
    for i in range(w.bodies):
        island.body[i].mass = w.mass[i]
        inverse = w.quick[i] / (w.radius[i] * w.radius[i])
        for a in range(3):
            for b in range(3):
                island.body[i].turned_inverse[a, b] = inverse if a == b else 0.0
            island.next[i].spin[a] = w.next[i, a] / w.radius[i]
            island.next[i].velocity[a] = w.next[i, 3 + a]
    copy_twists(w.bodies, island.next, island.unloaded)


@loop
def take_contact(k: i64, contact: Contact, w: Balls) -> None:
    """A contact with its rows, along the normal and two tangents."""
    one = w.one[k]
    other = w.other[k]
    contact.body[0] = one if one >= 0 else -1
    contact.body[1] = other
    contact.friction = w.friction[k]
    contact.normal = w.mobility[0, k]
    contact.across = w.mobility[1, k]
    contact.right[0] = w.right[k]
    contact.right[1] = 0.0
    contact.right[2] = 0.0
    set_directions(k, contact, w)
    rows = contact.rows
    for r in range(3):
        contact.force[r] = w.force[0, k] if r == 0 else 0.0
        for j in range(3):
            if r > 0:
                contact.force[r] += rows[3 + r, 3 + j] * w.force[1 + j, k]
    for j in range(3):
        n = rows[3, 3 + j]
        t = rows[4, 3 + j]
        b = rows[5, 3 + j]
        side_rows(contact, 3, j, 1.0, w.radius[other], n, t, b)
        side_rows(contact, 0, j, -1.0, w.radius[max(one, 0)], n, t, b)
    for side in range(2):
        body = max(one, 0) if side == 0 else other
        inverse = w.quick[body] / (w.radius[body] * w.radius[body])
        for r in range(3 * side, 3 * side + 3):
            for j in range(3):
                contact.push[r, j] = inverse * rows[r, j]
                contact.push[r, 3 + j] = w.light[body] * rows[r, 3 + j]


@loop
def side_rows(
    contact: Contact, first: i64, j: i64, way: f64, r: f64, n: f64, t: f64, b: f64
) -> None:
    """Components j of the rows of one body, (ρ × s, s) with ρ = −r n of the second."""
    rows = contact.rows
    rows[first, j] = 0.0
    rows[first + 1, j] = -r * b
    rows[first + 2, j] = r * t
    rows[first, 3 + j] = way * n
    rows[first + 1, 3 + j] = way * t
    rows[first + 2, 3 + j] = way * b


@loop
def set_directions(k: i64, contact: Contact, w: Balls) -> None:
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
def give_back(k: i64, contact: Contact, w: Balls) -> None:
    """The impulse of a contact."""
    w.force[0, k] = contact.force[0]
    for j in range(3):
        across = contact.force[1] * contact.rows[4, 3 + j]
        w.force[1 + j, k] = across + contact.force[2] * contact.rows[5, 3 + j]
