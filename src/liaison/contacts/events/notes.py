"""What happens to contacts, noted row by row: impacts, changes of modes, several motions.

Public names: note_impacts, note_changes, note_several, keep_impacts.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.events.events import note
from liaison.simulation.steps.layout import Run
from liaison.simulation.steps.sides_layout import (
    CLOSED,
    CLOSES,
    CODES,
    ENTERS,
    FRICTION,
    GAINS,
    IMPACTS,
    LEAVES,
    OPEN,
    OPENS,
    RATE,
    RESTS,
    SEVERAL,
    SLIP,
    SLIPS,
    STICK,
    STICKS,
    Sides,
)


@loop
def keep_impacts(run: Run, happened: ptr) -> None:
    """Of what happened at the start only impacts are told, after the state before them."""
    size = 2 + run.nq + run.nv
    kept = 1
    for k in range(1, run.happened):
        what = (int(happened[k * size]) - run.ne) % CODES
        if (what - IMPACTS) * (what - GAINS) == 0:
            for i in range(size):
                happened[kept * size + i] = happened[k * size + i]
            kept += 1
    run.happened = kept if kept > 1 else 0


@loop
def was_hit(sides: Sides, b: i64) -> i64:
    """1 if a block had an impulse in the impact just solved."""
    k = sides.cone_of[b]
    if k < 0:
        return 0
    return 1 if sides.touching[sides.active + sides.cone[k].first] > 0.0 else 0


@loop
def note_what(b: i64, what: i64, run: Run, happened: ptr) -> None:
    """One more row: what happened to a block, with the state as it is now."""
    number = run.ne + CODES * b + what
    note(number, run.t, run.q, run.v, run.happened, run, happened)
    run.happened += 1


@loop
def note_impacts(sides: Sides, limit: f64, run: Run, happened: ptr) -> None:
    """An impact on every contact that took part, rest where what is left of it is nothing."""
    for b in range(sides.nb):
        block = sides.blocks[b]
        if block.kind != FRICTION and was_hit(sides, b) == 1:
            note_what(b, IMPACTS, run, happened)
            bounces = 1 if sides.seen.laws[b].restitution > 0.0 else 0
            if sides.before[b] == CLOSED:
                bounces = 0
            if bounces == 1 and sides.seen.rate[block.first] <= max(limit, sides.unseen):
                note_what(b, RESTS, run, happened)
    if sides.energy > 0.0:
        note_what(0, GAINS, run, happened)


@loop
def note_several(sides: Sides, run: Run, happened: ptr) -> None:
    """That slipping contacts have several motions, noted on each that slips."""
    for b in range(sides.nb):
        slips = 1 if sides.before[b] == SLIP or sides.mode[b] == SLIP else 0
        is_friction = 1 if sides.blocks[b].kind == FRICTION else 0
        if sides.motions > 1 and is_friction == 1 and slips == 1:
            note_what(b, SEVERAL, run, happened)


@loop
def note_changes(sides: Sides, run: Run, happened: ptr) -> None:
    """Every block whose mode is another one now, or that slips another way after a real slip."""
    for b in range(sides.nb):
        kind = sides.blocks[b].kind
        mode = sides.mode[b]
        slipped = 1 if sides.blocks[b].rows == 1 else sides.fast[b]
        turns = 1 if kind == FRICTION and mode == SLIP and sides.ended[b] == 1 else 0
        if slipped == 0 and sides.before[b] == SLIP:
            turns = 0
        if mode != sides.before[b] or turns == 1:
            what = OPENS
            if kind == FRICTION:
                what = STICKS if mode == STICK else SLIPS
                if mode == OPEN:
                    what = OPENS
            elif kind == RATE:
                what = ENTERS if mode == CLOSED else LEAVES
            elif mode == CLOSED:
                what = CLOSES
            sides.fast[b] = 0
            note_what(b, what, run, happened)
