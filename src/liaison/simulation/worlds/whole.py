"""Whole runs: one run a thread, from its start to its end, as the time loop takes it.

Phases of a step are those of `advance`, called by name instead of by address. Starts, records and
ends lie as those of a batch on the processor do.

Public names: run_smooth_world, run_moreau_world.
"""

from __future__ import annotations

from liaison.contacts.stepping.phases import keep, one_step, set_out, stand
from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.simulation.batch.loop import End, note_end, take_start
from liaison.simulation.steps.advance import begin, commit, land, try_step
from liaison.simulation.steps.layout import (
    ARRIVED,
    COMMIT,
    DONE,
    GOOD,
    LAND,
    NOT_KEPT,
    SAMPLING,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.recording import arrive, begin_balance, observe, sample


@loop
def entered(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Instants inside the step recorded, and the step entered into the balance of energy."""
    status = GOOD
    if run.phase == SAMPLING:
        status = sample(e, run, scratch, records)
    if status == GOOD and run.phase == COMMIT and run.ledger.kind != NOT_KEPT:
        observe(e, run, scratch)
    return status


@loop
def over(
    i: i64, count: i64, status: i64, run: Run, ends: Rows[End], last: ptr, why: ptr
) -> None:  # fmt: skip
    """Notes how one of `count` runs ended, and which row its status means, missed by how much."""
    note_end(i, DONE if status == GOOD else status, run, ends, last)
    why[i] = run.worst
    why[count + i] = float(run.detail[0])


@loop
def run_smooth_world(
    i: i64, count: i64, start: f64, starts: ptr, records: ptr, ends: Rows[End], last: ptr,
    why: ptr, e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """The i-th of `count` runs by fixed explicit steps."""
    take_start(i, run, starts)
    own = at(records, i * run.samples * (1 + run.nq + run.nv + run.nu))
    if run.ledger.kind != NOT_KEPT:
        begin_balance(e, run, scratch)
    status = begin(e, run, scratch, scratch)
    if status == GOOD:
        status = arrive(e, run, scratch, own)
    while status == GOOD and run.phase == TRY:
        status = try_step(e, run, scratch, scratch)
        if status == GOOD and run.phase == LAND:
            status = land(e, run, scratch, scratch)
        if status == GOOD:
            status = entered(e, run, scratch, own)
        if status == GOOD and run.phase == COMMIT:
            status = commit(e, run, scratch, scratch)
        if status == GOOD and run.phase == ARRIVED:
            status = arrive(e, run, scratch, own)
    over(i, count, status, run, ends, last, why)


@loop
def run_moreau_world(
    i: i64, count: i64, start: f64, starts: ptr, records: ptr, ends: Rows[End], last: ptr,
    why: ptr, e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """The i-th of `count` runs by Moreau and Jean's steps; there is no log of events."""
    take_start(i, run, starts)
    own = at(records, i * run.samples * (1 + run.nq + run.nv + run.nu))
    if run.ledger.kind != NOT_KEPT:
        begin_balance(e, run, scratch)
    status = set_out(e, run, scratch, scratch)
    if status == GOOD:
        status = arrive(e, run, scratch, own)
    while status == GOOD and run.phase == TRY:
        status = one_step(e, run, scratch, scratch)
        if status == GOOD and run.phase == LAND:
            status = stand(e, run, scratch, scratch)
        if status == GOOD:
            status = entered(e, run, scratch, own)
        if status == GOOD and run.phase == COMMIT:
            status = keep(e, run, scratch, scratch)
        if status == GOOD and run.phase == ARRIVED:
            status = arrive(e, run, scratch, own)
    over(i, count, status, run, ends, last, why)
