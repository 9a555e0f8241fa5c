"""Contacts of a scene: gaps and rows of candidates by one kernel for each class of pair.

Public names: gap_of, activate, contacts_at, push_of.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import entry_at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows

from .candidates import law_of
from .layout import KINDS, Candidate, Contact, Entries, Pose, World


@loop
def gap_of(e: Entries, candidate: Candidate, poses: Rows[Pose], world: World) -> f64:
    """The gap of a candidate, bodies being at `poses`."""
    asked(KINDS + candidate.kind, e, candidate, poses, world.out, world)
    return float(world.out[0])


@loop
def asked(
    number: i64, e: Entries, candidate: Candidate, poses: Rows[Pose], out: ptr, world: World
) -> None:
    """What an entry of the kernel says of a candidate: rows, or from `KINDS` on the gap alone."""
    entry = entry_at(e.ints, number)
    pose = poses[world.collider[candidate.second].body].floats
    one = candidate.one
    if candidate.first < 0:
        entry(0.0, pose, pose, candidate.other, one, one, out, out)
    else:
        far = poses[world.collider[candidate.first].body].floats
        entry(0.0, far, pose, candidate.other, one, one, out, out)


@loop
def activate(e: Entries, limit: f64, again: i64, poses: Rows[Pose], world: World) -> i64:
    """Candidates whose gap at `poses` is at most `limit` become active; how many became so.

    Where `again`, those that are active stay so.
    """
    count = 0
    for c in range(world.candidates):
        candidate = world.candidate[c]
        was = candidate.is_active if again == 1 else 0
        if was == 0 and gap_of(e, candidate, poses, world) <= limit:
            candidate.is_active = 1
            count += 1
        else:
            candidate.is_active = was
    return count


@loop
def contacts_at(e: Entries, poses: Rows[Pose], world: World) -> None:
    """Bodies, gap and rows of every active candidate, bodies being at `poses`."""
    count = 0
    for c in range(world.candidates):
        candidate = world.candidate[c]
        if candidate.is_active == 1:
            contact = world.contact[count]
            asked(candidate.kind, e, candidate, poses, contact.floats, world)
            contact.body[0] = -1
            if candidate.first >= 0:
                contact.body[0] = world.collider[candidate.first].body
            contact.body[1] = world.collider[candidate.second].body
            contact.candidate = c
            law = world.law[law_of(candidate.first, candidate.second, world)]
            contact.friction = law.friction
            contact.restitution = law.restitution
            contact.rolling = law.rolling
            contact.pivoting = law.pivoting
            push_of(contact, world)
            count += 1
    world.contacts = count


@loop
def push_of(contact: Contact, world: World) -> None:
    """M⁻¹Dᵀ of a contact, and how far unit impulses along n and across it move its rates."""
    rows = contact.rows
    push = contact.push
    a11 = 0.0
    a22 = 0.0
    a12 = 0.0
    normal = 0.0
    for side in range(2):
        if contact.body[side] >= 0:
            body = world.body[contact.body[side]]
            inverse = body.turned_inverse
            first = 3 * side
            for r in range(3):
                row = rows[first + r]
                out = push[first + r]
                for i in range(3):
                    out[i] = (
                        inverse[i, 0] * row[0] + inverse[i, 1] * row[1] + inverse[i, 2] * row[2]
                    )
                    out[3 + i] = row[3 + i] / body.mass
            for i in range(6):
                normal += rows[first, i] * push[first, i]
                a11 += rows[first + 1, i] * push[first + 1, i]
                a22 += rows[first + 2, i] * push[first + 2, i]
                a12 += rows[first + 1, i] * push[first + 2, i]
    contact.normal = normal
    half = 0.5 * (a11 - a22)
    contact.across = 0.5 * (a11 + a22) + sqrt(half * half + a12 * a12)
