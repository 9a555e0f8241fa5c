"""What the time loop asks of a mechanism, answered in its present mode.

Rows that hold now stand beside the closures: open ones are rows of zeros, which ask nothing. So the
time loop steps, lands on closures and looks for events as it does without contacts; the sign
changes it looks for besides are those at which a mode ends.

Public names: modal_rate, modal_closure, modal_terms, modal_events, tell_ends, inside, BROKEN.

Source: docs/theory/one_sided.md (modal-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.events.event_parts import FLAT
from liaison.simulation.steps.sides_layout import (
    ACROSS,
    B_FIRST,
    B_KIND,
    B_LAW,
    B_LOAD,
    B_ROWS,
    DYNAMIC,
    EACH,
    EASE,
    F_CLOSURE,
    F_EVENTS,
    F_LOCAL,
    F_RATE,
    F_RETRACT,
    F_SIDES,
    FIELDS,
    FRICTION,
    GAP,
    GAPS,
    HELDS,
    LOCKED,
    M_BLOCKS,
    M_FAST,
    M_MODES,
    M_OWNER,
    M_ROWS,
    M_WATCHED,
    NB,
    NC,
    NPHI,
    NQ,
    NR,
    NV,
    O_COEFFICIENTS,
    O_D,
    O_FORCE,
    O_GAP,
    O_HELD,
    O_LEVEL,
    O_LOAD,
    O_RATE,
    O_ROWS,
    O_SLIP,
    O_TERMS,
    O_VDOT,
    O_X,
    OPEN,
    OWN,
    REGULARIZED,
    ROWS,
    STATIC,
    STICK,
    WATCHED,
)
from liaison.solvers.linear.dense import dot

from .bearings import solve_motion
from .edges import EDGE, is_past_edge
from .modal import SLOW, compliant, is_pressed, measure, resists
from .sliding import sliding_margin
from .touching import NO_MOTION, can_stay

NOT_A_NUMBER = float("nan")

BROKEN = 1e-7
"""Rate W v + w of a relation whose row vanished at which what is held does not keep it."""


@loop
def is_free(c: iptr) -> i64:
    """1 if all is open and nothing rubs: the mechanism moves as if it were alone."""
    if c[HELDS] > 0:
        return 0
    for b in range(c[NB]):
        if c[c[M_MODES] + b] != OPEN:
            return 0
    return 1


@loop
def modal_rate(
    c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """ξ̇, v̇ and what they miss at q ⊞ ξ; not a number where there is no motion in this mode."""
    if is_free(c) == 1:
        rate = entry_at(c, F_RATE)
        rate(t, q, v, u, p, x, out, work)
        return
    retract = entry_at(c, F_RETRACT)
    local = entry_at(c, F_LOCAL)
    nv = c[NV]
    there = at(s, c[O_X])
    local(t, q, v, u, p, x, out, work)
    retract(t, q, v, u, p, x, there, work)
    measure(c, s, t, there, v, u, p, work)
    failed = solve_motion(c, s, t, there, v, u, p, work)
    for i in range(nv):
        out[nv + i] = s[c[O_VDOT] + i] if failed == 0 else NOT_A_NUMBER
    out[2 * nv] = 0.0


@loop
def is_held(c: iptr, s: ptr, row: i64) -> i64:
    """1 if a one-sided row holds now."""
    b = c[c[M_OWNER] + row]
    return 1 if c[c[M_MODES] + b] == STICK and is_past_edge(c, s, b) == 0 else 0


@loop
def lock_rate(c: iptr, s: ptr, lock: i64, v: ptr) -> f64:
    """The rate of a row that is locked since a relation of rates degenerated; 0 of none."""
    if lock >= c[HELDS]:
        return 0.0
    rate = 0.0
    for i in range(c[NV]):
        rate += s[c[O_HELD] + lock * c[NV] + i] * v[i]
    return rate


@loop
def modal_closure(
    c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """Φ and gaps, then all rates, of rows that hold now."""
    nc = c[NC]
    nphi = c[NPHI]
    both = at(s, c[O_X] + c[NQ])
    if nc > 0:
        closure = entry_at(c, F_CLOSURE)
        closure(t, q, v, u, p, q, both, work)
    sides = entry_at(c, F_SIDES)
    sides(t, q, v, u, p, q, at(s, c[O_GAP]), work)
    total = nphi + c[GAPS]
    for k in range(c[ROWS]):
        row = c[c[M_ROWS] + k]
        value = 0.0
        rate = 0.0
        if row < nc:
            value = both[row] if row < nphi else 0.0
            rate = both[nphi + row]
        elif row < nc + c[NR]:
            if is_held(c, s, row - nc) == 1:
                value = s[c[O_GAP] + c[c[M_OWNER] + row - nc]]
                rate = s[c[O_RATE] + row - nc]
        else:
            rate = lock_rate(c, s, row - nc - c[NR], v)
        if k < total:
            out[k] = value
        out[total + k] = rate


@loop
def modal_terms(
    c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """M, rows that hold now, f, γ = 0, Φ and gaps, ν: what a projection asks."""
    nv = c[NV]
    nc = c[NC]
    total = c[NPHI] + c[GAPS]
    measure(c, s, t, q, v, u, p, work)
    terms = at(s, c[O_TERMS])
    G = at(out, nv * nv)
    f = at(G, c[ROWS] * nv)
    gamma = at(f, nv)
    phi = at(gamma, c[ROWS])
    nu = at(phi, total)
    for i in range(nv * nv):
        out[i] = terms[i]
    for i in range(nv):
        f[i] = terms[nv * nv + nc * nv + i]
    given = at(terms, nv * nv + nc * nv + nv + nc)
    for k in range(c[ROWS]):
        row = c[c[M_ROWS] + k]
        is_on = 1
        source = at(terms, nv * nv + min(row, max(nc - 1, 0)) * nv)
        value = given[row] if row < c[NPHI] else 0.0
        nu[k] = given[c[NPHI] + row] if row < nc else 0.0
        if row >= nc + c[NR]:
            lock = row - nc - c[NR]
            is_on = 1 if lock < c[HELDS] else 0
            source = at(s, c[O_HELD] + lock * nv)
        elif row >= nc:
            is_on = is_held(c, s, row - nc)
            source = at(s, c[O_D] + (row - nc) * nv)
            value = s[c[O_GAP] + c[c[M_OWNER] + row - nc]]
            nu[k] = -s[c[O_RATE] + row - nc]
            for i in range(nv):
                nu[k] += source[i] * v[i]
        gamma[k] = 0.0
        for i in range(nv):
            G[k * nv + i] = source[i] if is_on == 1 else 0.0
        if is_on == 0:
            nu[k] = 0.0
        if k < total:
            phi[k] = value if is_on == 1 else 0.0


@loop
def inside(c: iptr, s: ptr, b: i64) -> f64:
    """How far the force of a sticking block is inside its bound, in units of its load."""
    block = at(c, c[M_BLOCKS] + FIELDS * b)
    told = at(s, c[O_COEFFICIENTS] + EACH * b)
    load = s[c[O_LOAD] + b]
    if block[B_LOAD] >= 0:
        load = s[c[O_FORCE] + c[c[M_BLOCKS] + FIELDS * block[B_LOAD] + B_FIRST]]
    size = 0.0
    for k in range(block[B_ROWS]):
        limit = told[STATIC]
        if k == 1 and told[DYNAMIC] > 0.0:
            limit = limit * told[ACROSS] / told[DYNAMIC]
        part = s[c[O_FORCE] + block[B_FIRST] + k] / max(limit, 1e-300)
        size += part * part
    return float(load - sqrt(size))


@loop
def slip_left(c: iptr, s: ptr, b: i64) -> f64:
    """The slip along the way it has: zero where it ends."""
    block = at(c, c[M_BLOCKS] + FIELDS * b)
    size = 0.0
    along = 0.0
    for k in range(block[B_ROWS]):
        u = s[c[O_RATE] + block[B_FIRST] + k]
        size += u * u
        along += u * s[c[O_SLIP] + block[B_FIRST] + k]
    size = sqrt(size)
    if block[B_ROWS] == 1:
        return float(along)
    if size >= SLOW:
        for k in range(block[B_ROWS]):
            row = block[B_FIRST] + k
            s[c[O_SLIP] + row] = s[c[O_RATE] + row] / size
        if size >= 10.0 * SLOW:
            c[c[M_FAST] + b] = 1
        return float(size)
    # slow slip keeps the way it had last: it ends where it has left that by 60°
    return float(along - 0.5 * size)


@loop
def eased(c: iptr, s: ptr, row: i64) -> f64:
    """How far below zero the force of a row may fall where contacts could not decide at an instant.

    It is what gives the acceleration that counts as none there; 0 where nothing was in doubt.
    """
    if s[EASE] <= 1.0:
        return 0.0
    x = at(s, c[O_ROWS])
    compliant(c, s, row, x)
    yields = dot(c[NV], x, x)
    return s[EASE] * NO_MOTION / yields if yields > 0.0 else 0.0


@loop
def tell_ends(c: iptr, s: ptr, out: ptr) -> None:
    """For every block a number that falls through zero where its mode ends."""
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        mode = c[c[M_MODES] + b]
        out[b] = 1.0
        if block[B_KIND] != FRICTION:
            if mode == LOCKED:
                # what it forbids is held, so that its rate is none; −u is W v + w
                out[b] = s[c[O_RATE] + block[B_FIRST]] + BROKEN
            elif mode != OPEN:
                is_past = is_past_edge(c, s, b)
                force = s[c[O_FORCE] + block[B_FIRST]] + eased(c, s, block[B_FIRST])
                out[b] = force * sliding_margin(c, s, b) if is_past == 0 else -EDGE
            elif block[B_KIND] == GAP:
                out[b] = s[c[O_GAP] + b] - s[c[O_LEVEL] + b]
            else:
                out[b] = s[c[O_RATE] + block[B_FIRST]]
        elif block[B_LAW] != REGULARIZED and is_pressed(c, b) == 1 and resists(c, s, b) == 1:
            out[b] = inside(c, s, b) if mode == STICK else slip_left(c, s, b)


@loop
def modal_events(
    c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """Events of the mechanism and of the caller, ends of modes, and rates of open gaps."""
    if c[OWN] > 0:
        events = entry_at(c, F_EVENTS)
        events(t, q, v, u, p, x, out, work)
    failed = 0
    if is_free(c) == 1:
        sides = entry_at(c, F_SIDES)
        sides(t, q, v, u, p, q, at(s, c[O_GAP]), work)
    else:
        measure(c, s, t, q, v, u, p, work)
        failed = solve_motion(c, s, t, q, v, u, p, work)
    tell_ends(c, s, at(out, c[OWN]))
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        is_open = 1 if block[B_KIND] == GAP and c[c[M_MODES] + b] == OPEN else 0
        out[c[OWN] + c[NB] + b] = s[c[O_RATE] + block[B_FIRST]] if is_open == 1 else FLAT
    if c[WATCHED] > 0 and failed == 0:
        stays = can_stay(c, s)
        for b in range(c[NB]):
            if c[c[M_WATCHED] + b] == 1:
                out[c[OWN] + b] = stays
    if failed != 0:
        for b in range(c[NB]):
            out[c[OWN] + b] = NOT_A_NUMBER
