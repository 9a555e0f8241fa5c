"""Derivatives of Moreau and Jean's step: room, directions, and which modes they are of.

What a step did is kept: velocities that forces were taken at, changes of velocity Δ, multipliers λ,
impulses P; and of every row that was active whether it is free, held or slips. In these modes the
problem of cones is one linear system for the change of P,

    free:  dP = 0      held:  dy = 0      slips:  P_i = −a_i w_i/|w|,  w = a y       (slopes-1)

with y = A P + b of (stepping-3) and a = μ P_n + k the half axes of the friction ellipse. A mode
that a small change of the state may end is noted: the derivative is that of one side there.

Public names: TangentEntries, Room, Column, EDGES, the bits AT_…, room_words, first_word,
column_at, note_motion, note_impulses, factor_modes, shared_load, solved_modes,
multipliers.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt
from types import MappingProxyType
from typing import final

from liaison.program.loops.language import at, f64, flat, i64, kernel, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, rows, sized, words_of
from liaison.simulation.steps.layout import Law, Run
from liaison.simulation.steps.sides_layout import FRICTION, GAP, OPEN, STICK, STRIBECK
from liaison.solvers.linear.dense import dot, forward_solve, swap

from .modes import still
from .moreau import is_loaded

AT_CONTACT, AT_BOUND, AT_GAP, AT_IMPACT, AT_LAW, AT_REST = 1, 2, 4, 8, 16, 32
AT_WILL, AT_TURNS = 64, 128
EDGES = MappingProxyType({
    AT_CONTACT: "a contact or stop that is closed carries nothing",
    AT_BOUND: "friction that sticks is at its bound",
    AT_GAP: "a gap ends the step where it just touches",
    AT_IMPACT: "an impact is at the speed at which it becomes rest",
    AT_LAW: "a formula of a force or a contact is where it bends",
    AT_WILL: "contacts that slip share a load in a way that rigid bodies leave open",
    AT_TURNS: "a law of a load bends within the step: slopes are those about its end",
})  # fmt: skip
"""Bits of what a derivative of one side is at. AT_REST: contacts rest, and are held at rest."""

FREE, HELD, SLIPS = 0.0, 1.0, 2.0
"""What rows of active blocks do, in numbers."""

BARE, AT_FULL = 1e-6, 1e-9
"""Parts of a bound by which friction that moves is inside it, and sticks; and by which friction
that sticks is at its bound."""

RANK = 1e-11
"""Pivots below this part of the largest are of rows that depend on others."""

RESTS = 1e-6
"""A closed contact whose gap opens or closes slower than this, in units, is held at rest."""

DYNAMIC, STATIC, FALLING = 0.0, 1.0, 2.0
"""Which coefficient of friction holds; the last of Stribeck's law."""

NOTHING = 1e-15
"""A row with less than this part of the largest mobility does not move."""


@final
class TangentEntries(Record):
    """Addresses of the entries of `program.gpu.tangents`, in their order."""

    retract: kernel
    motion: kernel
    sides: kernel
    rates: kernel
    local_rate: kernel
    local: kernel
    inputs: kernel
    edges: kernel
    side_edges: kernel
    loads: kernel
    laws: kernel
    law_edges: kernel


@final
class Room(Part):
    """What all columns of a derivative share."""

    # the direction that entries take, see `program.gpu.tangents.DIRECTION`
    xi: ptr = sized("nv")
    q: ptr = sized("nq")
    v: ptr = sized("nv")
    u: ptr = sized("nu")
    dxi: ptr = sized("nv")
    a: ptr = sized("nv")
    w: ptr = sized("nv")
    h: ptr = sized("1")
    lam: ptr = sized("nc")
    P: ptr = sized("nr")
    F: ptr = sized("nf")
    at: ptr = sized("2 * nf")
    dat: ptr = sized("2 * nf")
    # what `motion` writes
    pushed: ptr = sized("nv")
    turned: ptr = sized("nc")
    nu: ptr = sized("nc")
    phi: ptr = sized("nphi")
    # what `sides` writes
    side_pushed: ptr = sized("nv")
    side_turned: ptr = sized("nr")
    rate: ptr = sized("nr")
    gap: ptr = sized("nb")
    laws: Rows[Law] = rows("nb")
    # what `loads` writes
    load_pushed: ptr = sized("nv")
    load_turned: ptr = sized("nf")
    load_before: ptr = sized("nf")
    load_x: ptr = sized("nf")
    load_rate: ptr = sized("nf")
    light: ptr = sized("nf")
    # what `laws` writes
    effort: ptr = sized("nf")
    damping: ptr = sized("nf")
    stiffness: ptr = sized("nf")
    # the round of the step that is at hand
    mean: ptr = sized("nv")  # velocities that forces are of
    change: ptr = sized("nv")  # Δ
    earlier: ptr = sized("nv")  # Δ of the round whose velocities forces are of
    last: ptr = sized("nv")  # Δ of the round before, whose velocities coefficients are of
    lams: ptr = sized("nc")
    pushes: ptr = sized("nr")
    damped: ptr = sized("nb")  # viscous coefficients of what is pressed
    mean_effort: ptr = sized("nf")
    applied: ptr = sized("nf")
    first_weight: ptr = sized("nf")  # at the beginning of the step
    s: ptr = sized("nf")  # −∂e/∂ẋ where laws are linear
    k: ptr = sized("nf")  # −∂e/∂x there
    # its modes
    count: ptr = sized("1")
    chosen: ptr = sized("nr")
    kind: ptr = sized("nr")
    disc: ptr = sized("nr")  # the block that a row is of
    load: ptr = sized("nr")  # the place of the row that bounds this one, or −1
    axis: ptr = sized("nr")  # a
    steep: ptr = sized("nr")  # μ
    slip: ptr = sized("nr")  # y
    along: ptr = sized("nr")  # w/|w|
    slow: ptr = sized("nr")  # 1/|w|
    scale: ptr = sized("nr")
    J: ptr = sized("nr * nr")
    order: ptr = sized("2 * nr + 1")
    source: ptr = sized("nb")  # of coefficients of friction
    bounce: ptr = sized("nb")  # what of the rate before is in y
    hit: ptr = sized("nb")
    # a column under way
    force: ptr = sized("nv")
    right: ptr = sized("nc + nb")
    falling: ptr = sized("nr")  # change of rows, along the velocities that coefficients are of
    changed: ptr = sized("nv")
    dP: ptr = sized("nr")
    extra: ptr = sized("nr")
    # corrections of positions
    rows_held: ptr = sized("nb")
    delta: ptr = sized("nv")
    mu: ptr = sized("nc + nb")
    # how the step went
    edges: ptr = sized("1")
    is_bent: ptr = sized("1")  # laws of loads are linear about the end, not the beginning


@final
class Column(Part):
    """A direction, and what it leads to."""

    q: ptr = sized("nq")
    v: ptr = sized("nv")
    u: ptr = sized("nu")
    mid: ptr = sized("nq")
    before: ptr = sized("nr")  # change of rates at the beginning
    fed: ptr = sized("nv")  # change of the velocities that forces are of the mean with
    after: ptr = sized("nv")
    last: ptr = sized("nv")  # the same of the round before
    end_q: ptr = sized("nq")
    end_v: ptr = sized("nv")


@loop
def room_words(columns: i64, run: Run) -> i64:
    """Numbers that derivatives by so many columns take, before the matrices in scratch."""
    return int(words_of(Room, run) + columns * words_of(Column, run))


@loop
def first_word(columns: i64, run: Run) -> i64:
    """Where they begin in scratch."""
    return int(run.scratch_dense - room_words(columns, run))


@loop
def column_at(k: i64, columns: i64, run: Run) -> i64:
    """Where a column begins there."""
    return int(first_word(columns, run) + words_of(Room, run) + k * words_of(Column, run))


@loop
def multipliers(rows: i64, rank: i64, rest: ptr, lam: ptr, run: Run) -> None:
    """λ with Σ λ_k row_k = rest, on the rows that `metric_of` chose; `rest` is used up."""
    nv = run.nv
    Q = at(run.metric, nv * nv + 1)
    R = at(Q, rows * nv)
    order = at(R, rows * rows)
    b = at(order, rows)
    y = at(b, rows)
    scale = at(y, rows + 1)
    forward_solve(nv, run.metric, rest)
    for k in range(rows):
        lam[k] = 0.0
    for back in range(rank):
        k = rank - 1 - back
        z = dot(nv, at(Q, k * nv), rest)
        for i in range(k + 1, rank):
            place = int(order[i])
            z -= R[k * rows + i] * lam[place] / scale[place]
        place = int(order[k])
        lam[place] = scale[place] * z / R[k * rows + k]


@loop
def note_motion(pushes: i64, after: ptr, room: Room, run: Run) -> None:
    """Keeps a round: Δ, P where it has impulses, and λ. The terms of this round are at hand."""
    nv = run.nv
    terms = run.terms
    for i in range(nv):
        room.change[i] = after[i] - run.v[i]
    for r in range(run.nr):
        room.pushes[r] = run.impulse[r] if pushes == 1 else 0.0
    for i in range(nv):
        rest = dot(nv, terms.M[i], room.change) - run.h * terms.f[i]
        for r in range(run.nr):
            rest -= run.mid.D[r, i] * room.pushes[r]
        room.force[i] = rest
    multipliers(run.nc, run.rank, room.force, room.lams, run)


@loop
def note_damping(room: Room, run: Run) -> None:
    """Viscous coefficients that act in this step, as `dampen` takes them."""
    for k in range(run.nb):
        c = run.mid.laws[k].viscous
        acts = 1 if c > 0.0 and run.blocks[k].kind == FRICTION else 0
        room.damped[k] = c if acts == 1 and is_loaded(k, run) == 1 else 0.0


@loop
def note_impulses(room: Room, run: Run) -> i64:
    """Keeps the modes of the impulses at hand; bits of the edges they are at."""
    m = run.rows_chosen
    edges = 0
    room.count[0] = float(m)
    for i in range(m):
        room.chosen[i] = float(run.chosen[i])
        room.slip[i] = run.problem.b[i] + dot(m, run.problem.A[i * m :], run.problem.P)
        room.disc[i] = -1.0
        room.load[i] = -1.0
        room.slow[i] = 0.0
    for k in range(run.nb):
        if run.active[k] == 1 and run.blocks[k].kind != FRICTION:
            edges = edges | one_way_mode(k, room, run)
    for k in range(run.nb):
        if run.active[k] == 1 and run.blocks[k].kind == FRICTION:
            edges = edges | disc_mode(k, room, run)
    return edges


@loop
def shared_load(room: Room, run: Run) -> i64:
    """AT_WILL if impulses are not determined and something slips under them."""
    m = int(room.count[0])
    if int(room.order[2 * m]) == m:
        return 0
    for i in range(m):
        if room.kind[i] == SLIPS:
            return AT_WILL
    return 0


@loop
def one_way_mode(k: i64, room: Room, run: Run) -> i64:
    """A gap or a rate: held where its impulse is more than what it moves by."""
    m = run.rows_chosen
    i = run.cone[run.cone_of[k]].first
    edges = 0
    push = run.problem.P[i] * run.problem.A[i * m + i]
    y = room.slip[i]
    room.kind[i] = HELD if push >= y else FREE
    if max(push, y) <= still(k, run):
        edges = AT_CONTACT
    room.bounce[k] = 0.0
    room.hit[k] = 0.0
    if run.blocks[k].kind == GAP:
        edges = edges | bounce_mode(k, push, room, run)
    return edges


@loop
def bounce_mode(k: i64, push: f64, room: Room, run: Run) -> i64:
    """What of the rate before is in y: none at rest, all of what flew, e of what hits."""
    u = run.sides.rate[run.blocks[k].first]
    limit = max(still(k, run), RESTS * run.scales.rate[k])
    if abs(u) <= limit:
        return AT_REST if push > 0.0 else 0
    if u > 0.0:
        room.bounce[k] = 1.0
        return 0
    e = run.mid.laws[k].restitution
    edges = 0
    if run.hits[k] == 1:
        room.bounce[k] = e
        room.hit[k] = 1.0
    # `rates` compares the free motion with twice the rate before
    i = run.cone[run.cone_of[k]].first
    free = run.problem.b[i] - room.bounce[k] * u
    if e > 0.0 and push > 0.0 and abs(free - 2.0 * u) <= limit:
        edges = AT_IMPACT
    return edges


@loop
def disc_mode(k: i64, room: Room, run: Run) -> i64:
    """Friction: free without load, held inside its bound or without slip, else it slips."""
    cone = run.cone[run.cone_of[k]]
    limit = run.problem.limits[run.cone_of[k]]
    pressed = 0.0
    is_pressed = 1
    room.source[k] = source_of(k, run)
    for i in range(cone.first, cone.first + cone.rows):
        room.disc[i] = float(k)
        if cone.load >= 0:
            above = run.cone[cone.load].first
            room.load[i] = float(above)
            pressed = run.problem.P[above]
            if room.kind[above] == FREE:
                is_pressed = 0
    inside = 0.0
    speed = 0.0
    size = 0.0
    for i in range(cone.first, cone.first + cone.rows):
        row = i - cone.first
        room.steep[i] = limit.coefficient[row]
        a = limit.coefficient[row] * pressed + limit.constant
        room.axis[i] = a
        part = run.problem.P[i] / a if a > 0.0 else 0.0
        inside += part * part
        speed += room.slip[i] * room.slip[i]
        size += a * a * room.slip[i] * room.slip[i]
    kind = disc_kind(is_pressed, sqrt(inside), sqrt(speed), sqrt(size), still(k, run))
    for i in range(cone.first, cone.first + cone.rows):
        room.kind[i] = kind
        room.slow[i] = 1.0 / sqrt(size) if kind == SLIPS else 0.0
        room.along[i] = room.axis[i] * room.slip[i] * room.slow[i]
    if kind == HELD and sqrt(speed) <= still(k, run) and sqrt(inside) >= 1.0 - AT_FULL:
        return AT_BOUND
    return 0


@loop
def disc_kind(is_pressed: i64, inside: f64, speed: f64, size: f64, limit: f64) -> f64:
    """FREE, HELD or SLIPS, from the part of the bound that is used and the slip."""
    if is_pressed == 0:
        return FREE
    if speed <= limit or (inside < 1.0 - BARE and size > 0.0):
        return HELD
    return SLIPS if size > 0.0 else FREE


@loop
def source_of(k: i64, run: Run) -> f64:
    """Which coefficient `bounds` took."""
    block = run.blocks[k]
    law = run.mid.laws[k]
    u = run.sides.rate[block.first :]
    speed = sqrt(dot(block.rows, u, u))
    if block.law == STRIBECK and law.speed > 0.0:
        return FALLING
    if run.mode[k] == STICK or (run.mode[k] == OPEN and speed <= still(k, run)):
        return STATIC
    return DYNAMIC


@loop
def factor_modes(room: Room, run: Run) -> None:
    """The system of (slopes-1) for the changes of P, factored with full pivoting."""
    m = run.rows_chosen
    A = run.problem.A
    J = room.J
    scale = room.scale
    most = 0.0
    for i in range(m):
        most = max(most, A[i * m + i])
    for i in range(m):
        scale[i] = 1.0
        if A[i * m + i] > NOTHING * most:
            scale[i] = 1.0 / sqrt(A[i * m + i])
        else:
            room.kind[i] = FREE
    for i in range(m):
        for j in range(m):
            J[i * m + j] = mode_entry(i, j, room, run) * row_scale(i, room, run) * scale[j]
    factor(m, J, room.order)


@loop
def row_scale(i: i64, room: Room, run: Run) -> f64:
    """The scale of an equation: of rates where the row is held, else of impulses."""
    x = room.scale[i]
    return float(x if room.kind[i] == HELD else 1.0 / x)


@loop
def mode_entry(i: i64, j: i64, room: Room, run: Run) -> f64:
    """What the impulse j does in the equation i of (slopes-1)."""
    m = run.rows_chosen
    A = run.problem.A
    if room.kind[i] == HELD:
        return float(A[i * m + j])
    total = 1.0 if i == j else 0.0
    if room.kind[i] == SLIPS:
        turn = room.axis[i] * room.slow[i]
        if float(j) == room.load[i]:
            total += room.along[i] * room.steep[i]
        for l in range(max(i - 1, 0), min(i + 2, m)):
            across = slip_part(i, l, room, run)
            if across != 0.0:
                total += turn * across * room.axis[l] * A[l * m + j]
                if float(j) == room.load[i]:
                    total += turn * across * room.slip[l] * room.steep[l]
    return total


@loop
def slip_part(i: i64, l: i64, room: Room, run: Run) -> f64:
    """1 − n nᵀ of the rows of one disc that slips; 0 of rows of others."""
    if room.disc[l] != room.disc[i]:
        return 0.0
    return float((1.0 if i == l else 0.0) - room.along[i] * room.along[l])


@loop
def factor(m: i64, J: ptr, order: ptr) -> None:
    """L U of J in place, rows and columns exchanged: `order` has both, and then the rank."""
    for i in range(m):
        order[i] = float(i)
        order[m + i] = float(i)
    order[2 * m] = float(m)
    first = 0.0
    for k in range(m):
        best = 0.0
        row = k
        column = k
        for i in range(k, m):
            for j in range(k, m):
                if abs(J[i * m + j]) > best:
                    best = abs(J[i * m + j])
                    row = i
                    column = j
        first = max(first, best)
        if not (best > RANK * first):
            order[2 * m] = float(k)
            return
        exchange(m, k, row, column, J, order)
        for i in range(k + 1, m):
            c = J[i * m + k] / J[k * m + k]
            J[i * m + k] = c
            for j in range(k + 1, m):
                J[i * m + j] -= c * J[k * m + j]


@loop
def exchange(m: i64, k: i64, row: i64, column: i64, J: ptr, order: ptr) -> None:
    """Brings a pivot to its place."""
    swap(m, 1, at(J, k * m), at(J, row * m))
    swap(m, m, at(J, k), at(J, column))
    swap(1, 1, at(order, k), at(order, row))
    swap(1, 1, at(order, m + k), at(order, m + column))


@loop
def solved_modes(right: ptr, dP: ptr, room: Room, run: Run) -> None:
    """dP with the system of (slopes-1); `right` is used up. Rows that depend on others have 0."""
    m = int(room.count[0])
    J = flat(room.J)
    order = room.order
    rank = int(order[2 * m])
    for i in range(m):
        right[i] = right[i] * row_scale(i, room, run)
        dP[i] = 0.0
    for k in range(rank):
        total = right[int(order[k])]
        for j in range(k):
            total -= J[k * m + j] * room.P[j]
        room.P[k] = total
    for back in range(rank):
        k = rank - 1 - back
        total = room.P[k]
        for j in range(k + 1, rank):
            total -= J[k * m + j] * room.P[j]
        room.P[k] = total / J[k * m + k]
    for k in range(rank):
        i = int(order[m + k])
        dP[i] = room.P[k] * room.scale[i]
