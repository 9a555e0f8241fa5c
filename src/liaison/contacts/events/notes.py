"""What happens to contacts, noted row by row: impacts, changes of modes, several motions.

Public names: note_impacts, note_changes, note_several, keep_impacts.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.events.events import note
from liaison.simulation.steps.layout import HAPPENED, NE, NQ, O_Q, O_V, T
from liaison.simulation.steps.sides_layout import (
    ACTIVE,
    B_FIRST,
    B_KIND,
    B_ROWS,
    CLOSED,
    CLOSES,
    CODES,
    EACH,
    ENERGY,
    ENTERS,
    FIELDS,
    FRICTION,
    GAINS,
    IMPACTS,
    LEAVES,
    M_BEFORE,
    M_BLOCKS,
    M_CONE,
    M_ENDED,
    M_FAST,
    M_MODES,
    M_NUMBER,
    MOTIONS,
    NB,
    NV,
    O_COEFFICIENTS,
    O_RATE,
    O_TOUCHING,
    OPEN,
    OPENS,
    RATE,
    RESTITUTION,
    RESTS,
    SEVERAL,
    SLIP,
    SLIPS,
    STICK,
    STICKS,
    UNSEEN,
)


@loop
def keep_impacts(n: iptr, happened: ptr) -> None:
    """Of what happened at the start only impacts are told, after the state before them."""
    size = 2 + n[NQ] + n[NV]
    kept = 1
    for k in range(1, n[HAPPENED]):
        what = (int(happened[k * size]) - n[NE]) % CODES
        if (what - IMPACTS) * (what - GAINS) == 0:
            for i in range(size):
                happened[kept * size + i] = happened[k * size + i]
            kept += 1
    n[HAPPENED] = kept if kept > 1 else 0


@loop
def was_hit(c: iptr, s: ptr, b: i64) -> i64:
    """1 if a block had an impulse in the impact just solved."""
    k = c[c[M_NUMBER] + b]
    if k < 0:
        return 0
    return 1 if s[c[O_TOUCHING] + c[ACTIVE] + c[c[M_CONE] + 4 * k + 1]] > 0.0 else 0


@loop
def note_what(b: i64, what: i64, w: ptr, n: iptr, happened: ptr) -> None:
    """One more row: what happened to a block, with the state as it is now."""
    number = n[NE] + CODES * b + what
    note(number, w[T], at(w, n[O_Q]), at(w, n[O_V]), n[HAPPENED], n, happened)
    n[HAPPENED] += 1


@loop
def note_impacts(c: iptr, s: ptr, limit: f64, w: ptr, n: iptr, happened: ptr) -> None:
    """An impact on every contact that took part, rest where what is left of it is nothing."""
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        if block[B_KIND] != FRICTION and was_hit(c, s, b) == 1:
            note_what(b, IMPACTS, w, n, happened)
            bounces = 1 if s[c[O_COEFFICIENTS] + EACH * b + RESTITUTION] > 0.0 else 0
            if c[c[M_BEFORE] + b] == CLOSED:
                bounces = 0
            if bounces == 1 and s[c[O_RATE] + block[B_FIRST]] <= max(limit, s[UNSEEN]):
                note_what(b, RESTS, w, n, happened)
    if s[ENERGY] > 0.0:
        note_what(0, GAINS, w, n, happened)


@loop
def note_several(c: iptr, w: ptr, n: iptr, happened: ptr) -> None:
    """That slipping contacts have several motions, noted on each that slips."""
    for b in range(c[NB]):
        slips = 1 if c[c[M_BEFORE] + b] == SLIP or c[c[M_MODES] + b] == SLIP else 0
        is_friction = 1 if c[c[M_BLOCKS] + FIELDS * b + B_KIND] == FRICTION else 0
        if c[MOTIONS] > 1 and is_friction == 1 and slips == 1:
            note_what(b, SEVERAL, w, n, happened)


@loop
def note_changes(c: iptr, w: ptr, n: iptr, happened: ptr) -> None:
    """Every block whose mode is another one now, or that slips another way after a real slip."""
    for b in range(c[NB]):
        kind = c[c[M_BLOCKS] + FIELDS * b + B_KIND]
        mode = c[c[M_MODES] + b]
        slipped = 1 if c[c[M_BLOCKS] + FIELDS * b + B_ROWS] == 1 else c[c[M_FAST] + b]
        turns = 1 if kind == FRICTION and mode == SLIP and c[c[M_ENDED] + b] == 1 else 0
        if slipped == 0 and c[c[M_BEFORE] + b] == SLIP:
            turns = 0
        if mode != c[c[M_BEFORE] + b] or turns == 1:
            what = OPENS
            if kind == FRICTION:
                what = STICKS if mode == STICK else SLIPS
                if mode == OPEN:
                    what = OPENS
            elif kind == RATE:
                what = ENTERS if mode == CLOSED else LEAVES
            elif mode == CLOSED:
                what = CLOSES
            c[c[M_FAST] + b] = 0
            note_what(b, what, w, n, happened)
