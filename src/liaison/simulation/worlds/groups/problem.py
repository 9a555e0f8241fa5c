"""The problem of what is active in a world of a group, written where all its threads read it.

A thread's own memory is far away, and what lies at different places of it for different threads is
read in many parts. So a block is posed in one go: all that it needs is read before anything
is written, its rows D pass through registers on their way, and their X is made by all threads
together from the factor of M, which is written beside them.

Public names: pushed_at, pose_contacts, pose_block, pose_row, pose_factor, list_active,
take_pushed, WORD.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.stepping.modes import SLOW, STILL
from liaison.contacts.stepping.moreau import bounds, moves
from liaison.contacts.stepping.small import ELSEWHERE, Left
from liaison.program.loops.language import external, f64, i64, loop, ptr
from liaison.simulation.steps.layout import Run
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, STICK, STRIBECK
from liaison.solvers.cones.cones import depends_on_load
from liaison.solvers.cones.table import DISC, ONE_WAY
from liaison.solvers.linear.dense import dot, largest_in

from .matrices import CONE, PROBLEM, factor_at, row_at

WORD = 31
"""Blocks whose flags are one whole number."""


@external
def give_row(D: ptr, x: ptr, to: ptr) -> f64:
    """Copies a row of D for all threads to read; its product with x."""
    total = 0.0
    for k in range(len(x)):
        to[k] = D[k]
        total += D[k] * x[k]
    return total


@external
def give_factor(factor: ptr, to: ptr) -> None:
    """Copies the factor of M for all threads to read."""
    to[: len(factor)] = factor


@loop
def active_bits(word: i64, run: Run) -> i64:
    """Which of so many blocks are active; read all at once."""
    bits = 0
    for j in range(WORD):
        k = min(WORD * word + j, run.nb - 1)
        is_there = 1 if k == WORD * word + j else 0
        bits += (int(run.active[k]) * is_there) << j
    return bits


@loop
def list_active(run: Run) -> i64:
    """Numbers of the active blocks into `held`, which only general loops use besides; how many."""
    count = 0
    for word in range((run.nb + WORD - 1) // WORD):
        bits = active_bits(word, run)
        j = 0
        while bits > 0:
            if bits & 1 == 1:
                run.held[count] = float(WORD * word + j)
                count += 1
            bits = bits >> 1
            j += 1
    return count


@loop
def has_stribeck(run: Run) -> i64:
    """1 if a coefficient depends on velocities at the end; a number of the text."""
    count = 0
    for k in range(run.nb):
        count += 1 if run.blocks[k].law == STRIBECK else 0
    return 1 if count > 0 else 0


@loop
def pose_contacts(is_new: i64, left: Left, mine: ptr, run: Run) -> i64:
    """The problem of what is active; how many blocks it has, ELSEWHERE if too many rows.

    Of one that is not new only b is another, and its first P is the last one.
    """
    change = run.stage
    subtract(run.nv, left.v_end, run.v, change)
    slow = STILL * (1.0 + largest_in(run.nv, run.v, run.scales.velocity))
    count = list_active(run)
    hits = 0
    m = 0
    if is_new == 1:
        pose_factor(left.factor, mine, run)
    for c in range(count):
        k = int(run.held[c])
        cone = run.cone[c]
        if is_new == 1 or has_stribeck(run) == 1:
            if m + run.blocks[k].rows > run.few:
                return ELSEWHERE
            m = pose_cone(k, c, m, slow, mine, run)
        hits += pose_rates(k, cone.first, cone.rows, is_new, slow, change, mine, run)
    if is_new == 1 or has_stribeck(run) == 1:
        run.rows_chosen = m
        if depends_on_load(count, run.cone, run.problem.limits) == 1:
            return ELSEWHERE
    run.held[run.nb] = float(hits)
    return count


@loop
def subtract(n: i64, x: ptr, y: ptr, to: ptr) -> None:
    """to := x − y."""
    for i in range(n):
        to[i] = x[i] - y[i]


@loop
def pose_factor(factor: ptr, mine: ptr, run: Run) -> None:
    """The factor of M beside the rows of a problem."""
    give_factor(factor, mine[factor_at(run) :])


@loop
def pose_cone(k: i64, c: i64, m: i64, slow: f64, mine: ptr, run: Run) -> i64:
    """The c-th cone is that of a block, from row m on; returns the row after it."""
    block = run.blocks[k]
    first = block.first
    second = first + block.rows - 1
    cone = run.cone[c]
    limit = run.problem.limits[c]
    most = run.few
    before = run.impulse[first]
    other = run.impulse[second]
    load = run.cone_of[max(block.load, 0)] if block.load >= 0 else -1
    load_row = run.cone[max(load, 0)].first if load >= 0 else -1
    has_second = moves(second, run) if second > first else 0
    bound_block(k, c, slow, run)
    along = limit.coefficient[0]
    across = limit.coefficient[1]
    kind = DISC if block.kind == FRICTION else ONE_WAY
    rows = 1 + has_second
    run.cone_of[k] = c
    cone.kind = kind
    cone.first = m
    cone.load = load
    cone.rows = rows
    run.chosen[m] = first
    mine[2 * most + m] = before
    longest = max(along, across)
    is_round = 1 if kind != DISC or not (longest > 0.0) else 0
    mine[4 * most + m] = 1.0 if is_round == 1 else max(along, 0.0) / longest
    if has_second == 1:
        next_row = m + 1
        run.chosen[next_row] = second
        mine[2 * most + next_row] = other
        mine[4 * most + next_row] = 1.0 if is_round == 1 else max(across, 0.0) / longest
    pose_block(c, kind, m, rows, load_row, mine, run)
    pose_limit(c, along, across, limit.constant, mine, run)
    return m + rows


@loop
def bound_block(k: i64, c: i64, slow: f64, run: Run) -> None:
    """As `bounds`: coefficients along both rows, and the bound of a block without load."""
    block = run.blocks[k]
    limit = run.problem.limits[c]
    if block.kind == FRICTION and block.law == STRIBECK:
        bounds(k, limit, run)
        return
    law = run.mid.laws[k]
    second = block.first + block.rows - 1
    u = run.sides.rate[block.first]
    w = run.sides.rate[second] if second > block.first else 0.0
    dynamic = law.dynamic
    static = law.static
    across = law.across
    mode = run.mode[k]
    is_still = 1 if sqrt(u * u + w * w) <= slow * run.scales.rate[k] else 0
    along = static if mode == STICK or (mode == OPEN and is_still == 1) else dynamic
    along = along if block.kind == FRICTION else 0.0
    ratio = across / dynamic if dynamic > 0.0 else 1.0
    limit.coefficient[0] = along if block.load >= 0 else 0.0
    limit.coefficient[1] = along * ratio if block.load >= 0 else 0.0
    limit.constant = along * run.h if block.load < 0 else 0.0


@loop
def pose_block(
    c: i64, kind: i64, first: i64, rows: i64, load: i64, mine: ptr, run: Run
) -> None:  # fmt: skip
    """What kind of block it is, and where its rows are."""
    base = PROBLEM * run.few + CONE * c
    mine[base] = float(kind)
    mine[base + 1] = float(first)
    mine[base + 2] = float(rows)
    mine[base + 3] = float(load)


@loop
def pose_limit(c: i64, along: f64, across: f64, constant: f64, mine: ptr, run: Run) -> None:
    """Bounds of a block."""
    base = PROBLEM * run.few + CONE * c
    mine[base + 4] = along
    mine[base + 5] = across
    mine[base + 6] = constant


@loop
def pose_rates(
    k: i64, first: i64, rows: i64, is_new: i64, slow: f64, change: ptr, mine: ptr, run: Run
) -> i64:
    """b of the rows of a block, as `small_rates` has it, and the change of rates beside it.

    1 if it is a gap that gives something of its rate back.
    """
    ahead = (1.0 - run.theta) / run.theta
    block = run.blocks[k]
    most = run.few
    for i in range(first, first + rows):
        r = run.chosen[i]
        u = run.mid.rate[r]
        before = run.sides.rate[r]
        b = u + pose_row(is_new, i, run.mid.D[r], change, mine, run)
        beside = ahead * (u - before)
        if block.kind == GAP:
            whole = b + beside
            restitution = run.mid.laws[k].restitution
            unit = run.scales.rate[k]
            is_hit = 0
            least = SLOW if run.mode[k] == CLOSED else slow
            if before >= SLOW * unit:
                b += before
            elif before >= 0.0:
                beside = whole - b + before
            elif before < -least * unit and whole - before >= before:
                b += restitution * before
                is_hit = 1
            run.hits[k] = is_hit
            mine[most + i] = beside
            mine[i] = b
            return 1 if is_hit == 1 and restitution > 0.0 else 0
        mine[most + i] = beside
        mine[i] = b
    return 0


@loop
def pose_row(is_new: i64, i: i64, D: ptr, x: ptr, mine: ptr, run: Run) -> f64:
    """The product of a row with x; the row itself is the i-th of the problem if that is new."""
    if is_new == 1:
        return float(give_row(D, x, mine[row_at(i, run) :]))
    return float(dot(run.nv, D, x))


@loop
def take_pushed(mine: ptr, run: Run) -> None:
    """X P of a solved problem into `stage`."""
    x = mine[pushed_at(run) :]
    for k in range(run.nv):
        run.stage[k] = x[k]


@loop
def pushed_at(run: Run) -> i64:
    """Where X P of a problem is: before its rows."""
    return (PROBLEM + CONE) * run.few
