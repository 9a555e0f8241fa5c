"""Impulses of a world with restitution: less of it in an island whose impulses would give energy.

As of a scene (`limit_bounce` in `contacts/scene/islands.py`), for all islands at the same time: an
island does not know of the others, so that each has the part of its restitution that it would have
alone.

Public names: impulses.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.scene.islands import FEWER, GAINED, LESS, TRIES
from liaison.contacts.scene.layout import FEW, Island
from liaison.program.loops.language import f64, i64, loop

from .inside import impulses_of, solving
from .layout import Block, barrier, most_of
from .sweeps import across_of, free_velocities, missed
from .turning import solve_turning

SETTLED, SEARCHED, WITHOUT = 0, 1, 2
"""States of an island: solved; its part is searched for; it shall have none."""


@loop
def impulses(me: i64, limit: f64, scale: f64, w: Block, island: Island) -> f64:
    """Impulses of all contacts, and the velocities with them; their residual."""
    if w.has_bounce == 0:
        return float(solve_once(me, limit, scale, TRIES, w, island))
    bouncing = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            bouncing = max(bouncing, -w.bounce[k])
        k += w.lanes
    bouncing = most_of(bouncing, me, w)
    if bouncing == 0.0:
        return float(solve_once(me, limit, scale, TRIES, w, island))
    if me == 0:
        find_islands(w)
    barrier()
    left = solve_parts(me, limit, scale, FEWER, w, island)
    if me == 0:
        judge(w)
    barrier()
    return float(search(me, left, limit, scale, w, island))


@loop
def search(me: i64, left: f64, limit: f64, scale: f64, w: Block, island: Island) -> f64:
    """Less restitution in islands that need it; the residual.

    The first solution without any says what an island gains at least; then the chord between both
    gives the next part, as in `limit_bounce`.
    """
    if still(me, w) == 0:
        return left
    left = solve_parts(me, limit, scale, TRIES, w, island)
    if me == 0:
        note_least(w)
    barrier()
    for turn in range(LESS + 1):
        if still(me, w) == 0:
            return left
        if me == 0:
            next_parts(turn, w)
        barrier()
        left = solve_parts(me, limit, scale, FEWER if turn < LESS else TRIES, w, island)
        if me == 0:
            judge(w)
        barrier()
    return left


@loop
def still(me: i64, w: Block) -> i64:
    """1 if some island is not settled."""
    most = 0.0
    i = me
    while i < w.islands:
        most = max(most, float(w.state[i]))
        i += w.lanes
    return 1 if most_of(most, me, w) > 0.0 else 0


@loop
def solve_once(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses as contacts ask for them; their residual."""
    free_velocities(me, w)
    if w.has_turning == 1:
        return float(solve_turning(me, limit, scale, tries, w, island))
    return float(impulses_of(me, limit, scale, tries, w, island))


@loop
def solve_parts(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses with the parts of restitution that islands have, and their work; the residual."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            w.right[k] = w.apart[k] + w.part[w.island[w.other[k]]] * w.bounce[k]
        k += w.lanes
    barrier()
    left = solve_once(me, limit, scale, tries, w, island)
    i = me
    while i < w.bodies:
        for j in range(3):
            # velocities before the step, as those of sweeps
            w.last_next[i, j] = w.scale[i] * w.speed[i, j]
            w.last_next[i, 3 + j] = w.speed[i, 3 + j]
        i += w.lanes
    barrier()
    strongest = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            note_work(k, w)
            w.last_force[2, k] = missed(k, 1.0, w)
            strongest = max(strongest, w.force[0, k] * w.mobility[0, k])
        k += w.lanes
    strongest = min(most_of(strongest, me, w), scale)
    if me == 0:
        sum_work(strongest, left, w)
    barrier()
    return left


@loop
def note_work(k: i64, w: Block) -> None:
    """The work of the impulse of a contact, P·(u + u₁)/2, and the size of its terms."""
    total = 0.0
    size = 0.0
    one = max(w.one[k], 0)
    for j in range(3):
        f = w.force[0, k] * w.normal[j, k] + w.force[1 + j, k]
        u = across_of(k, j, w.last_next[w.other[k]], w.last_next[one], w)
        after = across_of(k, j, w.next[w.other[k]], w.next[one], w)
        total += 0.5 * f * (u + after)
        size += abs(f) * (abs(u) + abs(after))
    w.last_force[0, k] = total
    w.last_force[1, k] = size


@loop
def sum_work(strongest: f64, left: f64, w: Block) -> None:
    """Work and residual of every island; work that is rounding is none."""
    for i in range(w.islands):
        w.gain[i] = 0.0
        w.terms[i] = 0.0
        w.missed_by[i] = left if w.has_turning == 1 else 0.0
    for k in range(w.pairs):
        if w.active[k] == 1:
            i = w.island[w.other[k]]
            w.gain[i] += w.last_force[0, k]
            w.terms[i] += w.last_force[1, k]
            if strongest > 0.0 and left > 0.0:
                w.missed_by[i] = max(w.missed_by[i], w.last_force[2, k] / strongest)
    for i in range(w.islands):
        if w.gain[i] <= GAINED * w.terms[i]:
            w.gain[i] = min(w.gain[i], 0.0)


@loop
def enough_of(w: Block) -> f64:
    """The residual that solves an island."""
    return solving(w) if w.contacts <= float(FEW) else w.tolerance


@loop
def judge(w: Block) -> None:
    """States of islands after a solution with parts of their restitution."""
    for i in range(w.islands):
        if w.state[i] == WITHOUT:
            w.state[i] = SETTLED
        elif w.state[i] == SEARCHED:
            is_solved = 1 if w.missed_by[i] <= enough_of(w) else 0
            if is_solved == 1 and w.gain[i] <= 0.0:
                w.state[i] = SETTLED
            elif is_solved == 0:
                w.state[i] = WITHOUT
                w.part[i] = 0.0
            elif w.tried[i] == 0:
                # none of it, to see what it gains at least
                w.tried[i] = 1
                w.most[i] = w.gain[i]
                w.part[i] = 0.0


@loop
def note_least(w: Block) -> None:
    """What islands gain without restitution; where that is not negative they have none."""
    for i in range(w.islands):
        if w.state[i] == WITHOUT:
            w.state[i] = SETTLED
        elif w.state[i] == SEARCHED:
            w.least[i] = w.gain[i]
            w.gain[i] = w.most[i]
            w.share[i] = 1.0
            if w.least[i] >= 0.0:
                w.state[i] = SETTLED


@loop
def next_parts(turn: i64, w: Block) -> None:
    """The next part of islands that search for theirs: the root of the chord; none at last."""
    for i in range(w.islands):
        if w.state[i] == SEARCHED:
            if turn < LESS:
                w.share[i] = w.share[i] * w.least[i] / (w.least[i] - w.gain[i])
                w.part[i] = w.share[i]
            else:
                w.state[i] = WITHOUT
                w.part[i] = 0.0


@loop
def root_of(body: i64, w: Block) -> i64:
    """The body that stands for those a body hangs together with."""
    while w.island[body] != body:
        w.island[body] = w.island[w.island[body]]
        body = w.island[body]
    return body


@loop
def find_islands(w: Block) -> None:
    """Islands of all bodies, all of which begin with all of their restitution."""
    for i in range(w.bodies):
        w.island[i] = i
    for k in range(w.pairs):
        if w.active[k] == 1 and w.one[k] >= 0:
            one = root_of(w.one[k], w)
            other = root_of(w.other[k], w)
            w.island[max(one, other)] = min(one, other)
    for i in range(w.bodies):
        root_of(i, w)
    for i in range(w.bodies):
        # roots come before what hangs on them
        w.island[i] = w.island[w.island[i]]
        w.part[i] = 1.0
        w.state[i] = SETTLED
        w.tried[i] = 0
    w.islands = w.bodies
    for k in range(w.pairs):
        if w.active[k] == 1 and w.bounce[k] < 0.0:
            w.state[w.island[w.other[k]]] = SEARCHED
