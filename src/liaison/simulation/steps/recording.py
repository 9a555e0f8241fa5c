"""Recording: what a run keeps of its steps: requested states, and its balance of energy.

States are recorded at step ends or from the dense output, projected. The balance compares T + U
with the work of what is not stored,

    missed(t) = (T + U)(t) − (T + U)(t₀) − ∫ P dt                                 (balance-2)

and only reads the states. P is integrated by the cubic through four ends of steps; what the cubic
changes of the quadratic, six times, is its doubt, which covers a jump between nodes. Where P may
jump the polynomial begins anew. An impact takes energy, or none; a closure whose rate jumps may
give any.

Public names: sample, arrive, keep, begin_balance, observe, resume, note_energy, enter, add_node,
close_nodes, sample_time.

Source: docs/theory/energy.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .explicit import refresh, state_at
from .layout import (
    BENT,
    COMMIT,
    CONTROL,
    FINISHED,
    FULL,
    GOOD,
    NO_EVENT,
    RESUMED,
    STOPPING,
    STORED,
    STRUCK,
    TRY,
    Entries,
    Ledger,
    Run,
)
from .projection import project

ROUNDING = 8.9e-16  # instants closer than this, relatively, are one

UNEQUAL = 1e3
"""Steps whose lengths differ more than this share no polynomial."""

COVER = 6.0
"""Times the last term of the polynomial is its doubt: as much as a jump between two nodes."""

TRACED = 32
"""Rows of the trace."""


@loop
def sample_time(k: i64, run: Run) -> f64:
    """The k-th instant to record."""
    if run.grid > 0:
        return float(run.instants[k])
    return float(run.t_start + float(k) * run.period)


@loop
def record(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr, records: ptr) -> None:
    """One row of the recording: t, q, v, u."""
    nq = run.nq
    nv = run.nv
    refresh(e, t, q, v, run, scratch)
    row = at(records, run.recorded * (1 + nq + nv + run.nu))
    row[0] = t
    for i in range(nq):
        row[1 + i] = q[i]
    for i in range(nv):
        row[1 + nq + i] = v[i]
    for i in range(run.nu):
        row[1 + nq + nv + i] = run.u[i]
    run.recorded += 1


@loop
def sample(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Records every requested instant inside the step, from the dense output, projected."""
    q = run.trial.q
    v = run.trial.v
    end = run.t_new - ROUNDING * max(abs(run.t_new), run.h)
    while run.next_sample < run.samples:
        t = sample_time(run.next_sample, run)
        if t >= end:
            break
        if run.recorded >= run.capacity:
            return FULL
        state_at(e, (t - run.t) / run.h, q, v, run, scratch)
        refresh(e, t, q, v, run, scratch)
        status = project(e, t, q, v, run, scratch)
        if status != GOOD:
            return status
        record(e, t, q, v, run, scratch, records)
        run.next_sample += 1
    run.phase = COMMIT
    return GOOD


@loop
def arrive(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Records the state if it is requested; returns CONTROL at a control instant.

    Where an event stops the run, the last state is recorded also beside a list of instants, if
    that is asked for: runs of a batch share their instants, and have no room for others.
    """
    t = run.t
    ends = 1 if t >= run.t_end or run.is_stopping > 0 else 0
    is_last = 1 if t >= run.t_end or run.is_stopping == STOPPING else 0
    count = run.records_steps * (1 - run.is_part) + is_last * run.records_end
    if run.is_stopping == STOPPING:
        count += run.records_stop
    if run.next_sample < run.samples:
        instant = sample_time(run.next_sample, run)
        if instant <= t + ROUNDING * max(abs(t), run.h):
            t = instant
            count += 1
    if count > 0:
        if run.recorded >= run.capacity:
            return FULL
        if run.next_sample < run.samples and t == sample_time(run.next_sample, run):
            run.next_sample += 1
        record(e, t, run.q, run.v, run, scratch, records)
    keep(run)
    run.phase = FINISHED if ends == 1 else TRY
    if ends == 0 and run.t == run.t_control:
        run.ledger.event = max(run.ledger.event, RESUMED)
        return CONTROL
    return GOOD


@loop
def keep(run: Run) -> None:
    """Notes the state as the last good one."""
    nq = run.nq
    good = run.good
    run.t_good = run.t
    for i in range(nq):
        good.q[i] = run.q[i]
    for i in range(run.nv):
        good.v[i] = run.v[i]


@loop
def look(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> f64:
    """T + U at a state; T, U and power go into the ledger. Inputs of the run stay as they are."""
    ledger = run.ledger
    u = run.seen_u
    for i in range(run.nu):
        u[i] = run.u[i]
    if run.ni > 0:
        e.inputs(t, q, v, u, run.p, q, run.formulas, scratch)
        for i in range(run.ni):
            u[run.input[i]] = run.formulas[i]
    e.watch(t, q, v, u, run.p, q, ledger.out, scratch)
    if run.nf == 0 or run.is_moreau == 0:
        return note_energy(ledger)
    ledger.out[2] -= power_of_loads(e, t, q, v, run, scratch)
    return float(note_energy(ledger) - run.loads.spent[0])


@loop
def power_of_loads(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> f64:
    """Of the loads whose work steps count themselves, by the efforts that they apply [W]."""
    nf = run.nf
    rows = run.load_rows
    e.load_rows(t, q, v, run.seen_u, run.p, v, rows.floats, scratch)
    for k in range(nf):
        run.loads.at[k] = rows.x[k]
        run.loads.at[nf + k] = rows.rate[k]
    e.load_laws(t, q, v, run.seen_u, run.p, run.loads.at, run.load_laws.floats, scratch)
    power = 0.0
    for k in range(nf):
        power += rows.counted[k] * run.load_laws.effort[k] * rows.rate[k]
    return power


@loop
def note_energy(ledger: Ledger) -> f64:
    """T + U of what was seen, whose extremes are noted."""
    out = ledger.out
    ledger.kinetic = max(ledger.kinetic, out[0])
    ledger.lowest = min(ledger.lowest, out[1])
    ledger.highest = max(ledger.highest, out[1])
    return float(out[0] + out[1])


@loop
def begin_balance(e: Entries, run: Run, scratch: ptr) -> None:
    """The energy of the start, before anything brings it onto its closures."""
    ledger = run.ledger
    if ledger.is_begun == 0:
        ledger.energy = look(e, run.t, run.q, run.v, run, scratch)
        ledger.base = ledger.energy
        ledger.lowest = ledger.out[1]
        ledger.highest = ledger.out[1]
        ledger.is_begun = 1
        ledger.event = RESUMED
        ledger.due = ledger.stride
        ledger.spacing = 1


@loop
def observe(e: Entries, run: Run, scratch: ptr) -> None:
    """Enters a step into the balance, just before its end becomes the state."""
    ledger = run.ledger
    if ledger.event != NO_EVENT:
        resume(e, run, scratch)
    if run.nf > 0 and run.is_moreau > 0:
        run.loads.spent[0] += run.loads.spent[1]
        ledger.turned += abs(run.loads.spent[1])
    ends = 1 if run.t_new >= run.t_end or run.is_stopping > 0 else 0
    ledger.due -= 1
    if ledger.due > 0 and ends == 0:
        return
    ledger.due = ledger.stride
    ledger.energy = look(e, run.t_new, run.landed.q, run.landed.v, run, scratch)
    if ledger.kind == STORED:
        enter(run.t_new, ledger.energy, ledger)
        return
    add_node(run.t_new, ledger)
    if ends == 1:
        close_nodes(ledger)


@loop
def resume(e: Entries, run: Run, scratch: ptr) -> None:
    """Begins anew where power or velocities may have jumped since the last step."""
    ledger = run.ledger
    event = ledger.event
    ledger.event = NO_EVENT
    if ledger.kind == STORED and event == RESUMED:
        return
    close_nodes(ledger)
    energy = look(e, run.t, run.q, run.v, run, scratch)
    change = energy - ledger.energy
    if event == BENT or (event == STRUCK and change < 0.0):
        ledger.base += change
    ledger.energy = energy
    ledger.nodes = 0
    if ledger.kind == STORED:
        enter(run.t, energy, ledger)
    else:
        add_node(run.t, ledger)


@loop
def enter(t: f64, energy: f64, ledger: Ledger) -> None:
    """What T + U misses at an instant up to which the work is known."""
    missed = energy - ledger.base - ledger.work
    if ledger.loses > 0 and missed < 0.0:
        ledger.base += missed
        missed = 0.0
    beyond = abs(missed) - ledger.doubt
    if beyond > ledger.worst:
        ledger.worst = beyond
        ledger.t_worst = t
    change = abs(missed - ledger.missed)
    if change > ledger.jump:
        ledger.jump = change
        ledger.t_jump = t
    ledger.missed = missed
    ledger.skipped += 1
    if ledger.skipped >= ledger.spacing:
        ledger.skipped = 0
        if ledger.traced == TRACED:
            ledger.traced = TRACED // 2
            ledger.spacing = 2 * ledger.spacing
            second = 1
            for k in range(TRACED // 2):
                ledger.trace[k, 0] = ledger.trace[second, 0]
                ledger.trace[k, 1] = ledger.trace[second, 1]
                second += 2
        ledger.trace[ledger.traced, 0] = t
        ledger.trace[ledger.traced, 1] = beyond
        ledger.traced += 1


@loop
def add_node(t: f64, ledger: Ledger) -> None:
    """One more instant of the power; the work between the two before it is known then."""
    x = ledger.t
    n = ledger.nodes
    if n > 1:
        h = t - x[n - 1]
        before = x[n - 1] - x[n - 2]
        if h * UNEQUAL < before or h > UNEQUAL * before:
            close_nodes(ledger)
            n = ledger.nodes
    if n == 4:
        for k in range(3):
            x[k] = x[k + 1]
            ledger.power[k] = ledger.power[k + 1]
            ledger.total[k] = ledger.total[k + 1]
        n = 3
    x[n] = t
    ledger.power[n] = ledger.out[2]
    ledger.total[n] = ledger.energy
    is_full = 1 if ledger.nodes == 4 and n == 3 else 0
    ledger.nodes = n + 1
    if ledger.nodes == 4:
        if is_full == 0:
            add_work(0, ledger)
        add_work(1, ledger)


@loop
def close_nodes(ledger: Ledger) -> None:
    """The work up to the last node, which remains."""
    n = ledger.nodes
    if n < 2:
        return
    for k in range(2 if n == 4 else 0, n - 1):
        add_work(k, ledger)
    ledger.t[0] = ledger.t[n - 1]
    ledger.power[0] = ledger.power[n - 1]
    ledger.total[0] = ledger.total[n - 1]
    ledger.nodes = 1


@loop
def slope(i: i64, j: i64, ledger: Ledger) -> f64:
    """The divided difference of the power of two nodes."""
    return float((ledger.power[j] - ledger.power[i]) / (ledger.t[j] - ledger.t[i]))


@loop
def bend_of(i: i64, ledger: Ledger) -> f64:
    """The divided difference of three nodes in a row."""
    width = ledger.t[i + 2] - ledger.t[i]
    return float((slope(i + 1, i + 2, ledger) - slope(i, i + 1, ledger)) / width)


@loop
def add_work(k: i64, ledger: Ledger) -> None:
    """The work from node k to the next, by the polynomial through all nodes, with its doubt.

    With c the third node, a and b those of the interval, h = b − a:
    ∫ P = h (Pa + Pb)/2 − h³/6 P[a, b, c] − h³ (h + 2 (a − c))/12 P[a, b, c, d].
    """
    x = ledger.t
    h = x[k + 1] - x[k]
    first = ledger.power[k]
    last = ledger.power[k + 1]
    work = 0.5 * h * (first + last)
    doubt = 0.5 * h * abs(last - first)
    cube = h * h * h
    n = ledger.nodes
    if n > 2:
        i = k - 1 if k > 0 else 0
        doubt = cube / 6.0 * bend_of(i, ledger)
        work -= doubt
        if n == 4:
            c = x[k - 1] if k > 0 else x[2]
            third = (bend_of(1, ledger) - bend_of(0, ledger)) / (x[3] - x[0])
            doubt = cube * (h + 2.0 * (x[k] - c)) / 12.0 * third
            work -= doubt
        doubt = abs(doubt)
    ledger.work += work
    ledger.doubt += doubt * (COVER if n > 2 else 1.0)
    ledger.turned += 0.5 * h * (abs(first) + abs(last))
    enter(x[k + 1], ledger.total[k + 1], ledger)
