"""Layout of a run: the record `Run`.

All that a run knows is in this block, so a copy of it is a checkpoint. What exists for positions
and for velocities (a tolerance, an entry, a flag) lies side by side, velocities second. What needs
not be kept between two calls (workspace of the kernel, matrices of the pivoted solver) is in
`scratch`.

Public names: Run and the records and parts in it; Entries, Phases, phase; the phases and status
codes below; Sizes, Arrays, allocate, row_words, with_block, dense_size, newton_size, slopes_size,
leap_size, alpha_size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.numeric import Array
from liaison.program.loops.language import f64, hook, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import (
    Part,
    Record,
    Rows,
    inline,
    like,
    nested,
    part,
    rows,
    size,
    sized,
    words_of,
)
from liaison.simulation.events.log import Event
from liaison.solvers.cones.table import Cone, Limit
from liaison.solvers.linear.dense import saddle_area

from .rungekutta import Tableau


@final
class Block(Record):
    """Rows that hold unilaterally, together: a gap, a rate, or friction."""

    kind: i64  # GAP, RATE or FRICTION
    first: i64  # its first row
    rows: i64
    load: i64  # the block whose force bounds friction, or -1
    law: i64  # of friction


@final
class Law(Record):
    """Coefficients of a block: of restitution, and of friction."""

    restitution: f64
    dynamic: f64
    static: f64
    across: f64  # dynamic, along the second row
    viscous: f64
    speed: f64  # of Stribeck's law, or of a regularized one
    spare: ptr = inline(2)


@final
class OneSided(Part):
    """What the entry `one_sided` writes."""

    gap: ptr = sized("nb")
    rate: ptr = sized("nr")
    bias: ptr = sized("nr")
    D: ptr = sized("nr", "nv")
    laws: Rows[Law] = rows("nb")


@final
class Scales(Part):
    """Units of tolerances, 1 of mechanisms of ordinary size: see `plan/scales.py`."""

    time: ptr = sized("1")
    position: ptr = sized("nq")
    local: ptr = sized("nv")
    velocity: ptr = sized("nv")
    closure: ptr = sized("nphi")
    closure_rate: ptr = sized("nc")
    gap: ptr = sized("nb")
    rate: ptr = sized("nb")
    acceleration: ptr = sized("nb")
    force: ptr = sized("nb")


@final
class Terms(Part):
    """What the entry `terms` writes: M v̇ = f + Gᵀλ, G v̇ = γ; Φ = 0, G v = ν."""

    M: ptr = sized("nv", "nv")
    G: ptr = sized("nc", "nv")
    f: ptr = sized("nv")
    gamma: ptr = sized("nc")
    phi: ptr = sized("nphi")
    nu: ptr = sized("nc")


@final
class Dense(Part):
    """Where the pivoted solver works: `Terms`, and what it finds."""

    M: ptr = sized("nv", "nv")
    G: ptr = sized("nc", "nv")
    f: ptr = sized("nv")
    gamma: ptr = sized("nc")
    phi: ptr = sized("nphi")
    nu: ptr = sized("nc")
    vdot: ptr = sized("nv")
    lam: ptr = sized("nc")


@final
class Snapshot(Part):
    """A state."""

    q: ptr = sized("nq")
    v: ptr = sized("nv")


@final
class Accelerations(Part):
    """What generalized α carries from step to step; turns and a step size in Edwards' scheme."""

    a: ptr = sized("nv")
    vdot: ptr = sized("nv")
    lam: ptr = sized("nc")


@final
class FreeMotion(Part):
    """The motion of a step without impulses of contacts, and what leads there."""

    v: ptr = sized("nv")
    moved: ptr = sized("nv")
    force: ptr = sized("nv")
    q: ptr = sized("nq")
    t_end: ptr = sized("1")  # of the rows at the end, as q_end and v_end
    q_end: ptr = sized("nq")
    v_end: ptr = sized("nv")


@final
class LoadRows(Part):
    """What the entry `load_rows` writes: loads that follow what they act along."""

    x: ptr = sized("nf")
    rate: ptr = sized("nf")
    counted: ptr = sized("nf")  # 1 where U does not hold its work
    J: ptr = sized("nf", "nv")


@final
class LoadLaws(Part):
    """What the entry `load_laws` writes."""

    effort: ptr = sized("nf")
    damping: ptr = sized("nf")
    stiffness: ptr = sized("nf")


@final
class ImplicitLoads(Part):
    """How a step takes them: see `contacts/stepping/loads.py`."""

    at: ptr = sized("2 * nf")  # measures and rates of an evaluation
    before: ptr = sized("nf")  # J v
    change: ptr = sized("nf")  # J (v₁ − v) at which laws are linear
    effort: ptr = sized("nf")  # there
    slope: ptr = sized("nf")  # −de/d(J v₁) there
    weight: ptr = sized("nf")  # part of the change of a rate at which damping acts
    light: ptr = sized("nf")  # inverse inertia that it feels
    spent: ptr = sized("2")  # work so far, and in a step, of those that are counted [J]
    delta: ptr = sized("nv")  # v₁ − v at which laws are linear
    way: ptr = sized("nv")
    along: ptr = sized("nf")  # J times the way
    first: iptr = sized("nf")  # where a row of J begins, and where it ends: most name one velocity
    end: iptr = sized("nf")


@final
class Problem(Part):
    """The complementarity problem of a step, with the rows of what is active."""

    A: ptr = sized("most * most")
    b: ptr = sized("nr")
    P: ptr = sized("nr")
    limits: Rows[Limit] = rows("nb")
    way: ptr = sized("nr")
    taken: ptr = sized("nr")  # what rates change by themselves


@loop
def phase(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """What a phase of a step takes; it gives GOOD, or why the march comes back to Python."""
    return 0


@final
class Phases(Record):
    """The steps of a method: the loops that the march calls in their phases."""

    start: hook = like(phase)  # the start made fit, and a first step chosen
    attempt: hook = like(phase)
    land: hook = like(phase)  # the new state on what holds there
    commit: hook = like(phase)  # the new state becomes the state


@final
class Entries(Record):
    """Addresses of what a march calls: a kernel's entries, and the loops of its steps."""

    rate: kernel
    retract: kernel
    closure: kernel
    correct: iptr = inline(2)  # of positions, of velocities
    terms: kernel
    events: kernel
    inputs: kernel
    d_rate: kernel
    kick: kernel
    leap: kernel
    d_leap: kernel
    reach: kernel
    turn: kernel
    d_motion: kernel
    difference: kernel
    one_sided: kernel  # `one_sided_from` where loops find places: x is where a step begins
    gaps: kernel  # gaps and rates alone, of mechanisms with many rows
    passes: kernel
    load_rows: kernel
    load_laws: kernel
    local_rate: kernel
    knots: kernel
    watch: kernel  # T, U and the power of what is not stored
    others: iptr = inline(12)  # entries of a further kernel, which steps of a method call
    has_terms: i64
    phases: Phases = nested()

    @classmethod
    def slot(cls, name: str) -> int:
        """The word that holds the address of an entry."""
        if name in ("energy", "work"):
            return cls.fields["watch"].slot
        if name == "one_sided_from":
            return cls.fields["one_sided"].slot
        if name in ("correct_q", "correct_v"):
            return cls.fields["correct"].slot + (name == "correct_v")
        return cls.fields[name].slot


@final
class Ledger(Record):
    """The balance of energy along a run: T + U against the work of what is not stored [J]."""

    kind: i64  # NOT_KEPT, STORED or WORKED
    loses: i64  # contacts, friction or the method may take energy: only a gain is a miss
    stride: i64  # steps from one look to the next
    due: i64  # steps until then
    is_begun: i64
    event: i64  # since the last look: NO_EVENT, RESUMED, STRUCK or BENT
    nodes: i64  # instants of the interpolated power
    traced: i64  # rows of the trace
    spacing: i64  # looks from one row to the next
    skipped: i64  # looks since the last row
    base: f64  # T + U without work
    work: f64
    doubt: f64  # error of the work, at most
    turned: f64  # ∫ |power| dt
    kinetic: f64  # the largest T
    lowest: f64  # U
    highest: f64
    energy: f64  # T + U at the last look
    missed: f64  # T + U − base − work, at the last instant whose work is known
    worst: f64  # the largest |missed| − doubt
    t_worst: f64
    jump: f64  # the largest change of `missed` from one look to the next
    t_jump: f64
    t: ptr = inline(4)
    power: ptr = inline(4)
    total: ptr = inline(4)  # T + U
    out: ptr = inline(3)  # T, U and power at a look
    trace: ptr = inline(32, 2)  # t and |missed| − doubt


@final
class Run(Record):
    """All that a run knows."""

    nq: i64 = size()
    nv: i64 = size()
    nu: i64 = size()
    np: i64 = size()  # parameters
    nc: i64 = size()  # closures
    nphi: i64 = size()  # closures of positions among them
    ne: i64 = size()  # events
    ni: i64 = size()  # inputs that are formulas
    ns: i64 = size()  # stages
    nd: i64 = size()  # degree of the dense output
    nb: i64 = size()  # blocks of contacts
    nr: i64 = size()  # rows of contacts
    grid: i64 = size()  # instants to record, where they are listed
    breaks: i64 = size()  # instants at hand at which formulas jump or bend
    nk: i64 = size()  # formulas of the state that make laws jump or bend
    nl: i64 = size()  # their levels
    nf: i64 = size()  # loads that steps with contacts take implicitly
    points: i64 = size()  # instants at hand from which on steps reach so far
    parts: i64 = size()  # steps that one is composed of
    most: i64 = size()  # rows of contacts that are active at a time, at most
    lanes: i64 = size()  # worlds of a group on a device
    few: i64 = size()  # rows that a group solves together, at most

    # the state, and what a step is made of: their offsets share cache lines with the counts
    q: ptr = sized("nq")
    v: ptr = sized("nv")
    u: ptr = sized("nu")
    p: ptr = sized("np")
    k: ptr = sized("ns", "2 * nv + 1")  # ξ̇, v̇ and a residual of every stage
    y: ptr = sized("2 * nv + 1")
    stage: ptr = sized("2 * nv + 1")
    trial: Snapshot = part()
    moved: Snapshot = part()  # by projection
    out: ptr = sized("max(max(nphi + nc, nv + 1), 1)")
    landed: Snapshot = part()
    good: Snapshot = part()
    kept: Snapshot = part()
    newton: ptr = sized()
    earlier: Accelerations = part()
    later: Accelerations = part()

    # the tableau
    a: ptr = sized("ns", "ns")
    b: ptr = sized("ns")
    e: ptr = sized("ns")
    c: ptr = sized("ns")
    dense: ptr = sized("ns", "nd")
    fractions: ptr = sized("parts")

    # time and step
    t: f64
    h: f64
    t_new: f64
    t_start: f64
    t_end: f64
    t_control: f64
    t_base: f64
    t_good: f64
    t_refill: f64  # from here on more instants are needed
    step: f64
    h_next: f64
    h_max: f64
    h_part: f64
    h_knot: f64  # up to the next knot, for one step
    t_blind: f64  # knots are not looked for before
    t_knots: f64  # since when knots are counted
    h_look: f64  # longest step in which events are seen
    stop: f64  # part of the step at which it stops; 2: nowhere
    settled: f64  # time of the window settled last [s]
    largest_force: f64  # of those among events
    spacing: f64  # longest time between two looks at events [s]
    error_before: f64
    rtol: f64
    atol: f64
    tolerance: ptr = inline(2)  # of positions, of velocities
    lost: f64
    residual_tolerance: f64
    start_tolerance: f64
    period: f64
    worst: f64
    filter: f64
    radius: f64

    # choices
    is_adaptive: i64
    is_implicit: i64
    is_variational: i64
    is_alpha: i64
    is_edwards: i64
    is_moreau: i64
    turns: i64  # local rates differ from velocities
    reuses_last: i64
    inputs_read_q: i64
    records_steps: i64
    records_end: i64
    records_stop: i64  # the state in which an event stops the run, beside a list of instants
    samples: i64
    iterations: i64
    steps_allowed: i64
    order: i64
    slopes: i64
    facets: i64  # sides of the polygons that bound friction; 0: it is bounded by ellipses
    has_closure: i64
    has_passes: i64  # whether bodies may pass each other within a step
    has_modes: i64  # modes of contacts end and begin
    has_correct: iptr = inline(2)  # whether these entries are there: of positions, of velocities
    has_terms: i64
    scratch_dense: i64  # where matrices of the pivoted solver begin in scratch
    capacity: i64
    event_capacity: i64
    log_q: i64  # numbers of q, and of v, in a row of the log
    log_v: i64

    # progress
    phase: i64
    is_fresh: i64
    was_rejected: i64
    is_stopping: i64
    bent: i64  # 1 + the closure whose rate just jumped; 0: none
    is_in_doubt: i64
    is_wrong: i64  # the error of the step under way is too large
    is_part: i64
    has_moved: i64
    has_pulled: i64
    detail: iptr = inline(1)  # which row or event is meant by a status
    base_steps: i64
    next_sample: i64
    steps: i64
    rejected: i64
    evaluations: i64
    projections: i64
    fallbacks: i64
    pivots_left: i64
    recorded: i64
    event_count: i64
    knots_met: i64  # steps taken again for a knot, since `t_knots`
    noted: i64  # events, with those of the step under way
    doubts: i64  # windows in which it is in doubt what events do
    recorded_before: i64
    event_count_before: i64
    break_count: i64
    breaks_passed: i64
    point_count: i64
    points_passed: i64

    # time stepping with contacts
    theta: f64
    gap_tolerance: f64
    effort_tolerance: f64  # efforts are met that are off by this part of themselves,
    effort_rate: f64  # or by so much in a velocity
    penetration: f64
    complementarity: f64
    contacts: i64
    rank: i64  # of the closures, midway
    rows_chosen: i64
    blocks_chosen: i64
    is_damped: i64  # a closed block has viscous friction
    same_rows: i64  # the next round has the rows of this one, in the same metric
    has_gaps: i64  # the entry `gaps` is there
    end_rows: i64  # `end` has D and laws, too

    # recording, inputs, events
    instants: ptr = sized("grid")
    formulas: ptr = sized("ni")
    break_times: ptr = sized("breaks")
    corner_rows: ptr = sized("breaks")  # closures whose rates jump there; −1: none
    waypoints: ptr = sized("points")
    reach: ptr = sized("points")
    at_knots: ptr = sized("5", "nk")
    levels: ptr = sized("nl")
    level_end: iptr = sized("nk")
    sign: ptr = sized("ne")
    sign_new: ptr = sized("ne")
    before: ptr = sized("ne")
    before_new: ptr = sized("ne")
    looks: ptr = sized("5", "ne")  # at the nodes of a window
    between: ptr = sized("2", "ne")
    met: ptr = sized("ne")  # the largest values so far
    noise: ptr = sized("ne")  # what is none between two nodes
    is_force: iptr = sized("ne")
    may_turn: iptr = sized("ne")  # between nodes of the window
    crossing: ptr = sized("ne")
    second: ptr = sized("ne")
    probe: ptr = sized("ne")
    streak_start: ptr = sized("ne")
    scale: iptr = sized("nv")
    turn: iptr = sized("nv")
    input: iptr = sized("ni")
    direction: iptr = sized("ne")
    stops: iptr = sized("ne")
    streak: iptr = sized("ne")
    fired: iptr = sized("ne")

    ledger: Ledger = nested()
    seen_u: ptr = sized("nu")  # inputs at a look of the ledger

    # time stepping with contacts: rows at the beginning, midway and at the end of a step
    scales: Scales = part()
    atols: ptr = sized("2 * nv")  # absolute errors allowed of ξ and v
    sides: OneSided = part()
    mid: OneSided = part()
    end: OneSided = part()
    terms: Terms = part()
    metric: ptr = sized("nv * nv + 2 + (nc + most) * (nv + nc + most + 4)")  # see `metric_of`
    inverse: ptr = sized("nv")  # of the diagonal of L there
    in_metric: ptr = sized("nr", "nv")  # L⁻¹Dᵀ of all rows
    held: ptr = sized("(nphi + nb) * (nv + 1)")
    problem: Problem = part()
    area: ptr = sized()
    free: FreeMotion = part()
    load_rows: LoadRows = part()  # midway
    load_laws: LoadLaws = part()  # where they were evaluated last
    loads: ImplicitLoads = part()
    impulse: ptr = sized("nr")
    blocks: Rows[Block] = rows("nb")
    mode: iptr = sized("nb")
    hits: iptr = sized("nb")
    active: iptr = sized("nb")
    cone: Rows[Cone] = rows("nb")
    cone_of: iptr = sized("nb")
    block_of: iptr = sized("nb")  # of cones, the other way round
    chosen: iptr = sized("nr")  # rows of what is active

    # what a method knows besides, a record of its own; last, so that it may grow
    beside: iptr = sized()


MOREAU = (
    "sides", "mid", "end", "terms", "metric", "inverse", "in_metric", "held", "problem", "area",
    "free", "load_rows", "load_laws", "loads", "impulse", "hits", "active", "cone", "cone_of",
    "block_of", "chosen",
)  # fmt: skip
"""Arrays that only steps of Moreau and Jean use."""

# phases of a step
START, TRY, LAND, EVENTS, SAMPLING, COMMIT, ARRIVED, FINISHED = 0, 1, 2, 3, 4, 5, 6, 7

# how the balance of energy is kept, and what happened to it between two steps
NOT_KEPT, STORED, WORKED = 0, 1, 2
NO_EVENT, RESUMED, STRUCK, BENT = 0, 1, 2, 3

# why a step ends early
STOPPING, SWITCHING = 1, 2

# what `advance` returns
GOOD, DONE, STOPPED, CONTROL, FULL = 0, 1, 2, 3, 4
NEEDS_CORRECT_Q, NEEDS_CORRECT_V, NEEDS_TERMS = 5, 6, 7
NOT_FINITE, STEP_TOO_SMALL, POSITIONS_LOST, VELOCITIES_LOST = 10, 11, 12, 13
INCONSISTENT, TOO_MANY_STEPS, CHATTER, BAD_START, BAD_START_RATE = 14, 15, 16, 17, 18
EVENT_NOT_FINITE, NOT_CONVERGED = 19, 20
NO_MODE, BAD_GAP, BAD_SIDE, SINGULAR_MASS, STANDSTILL, STEP_UP = 21, 22, 23, 24, 25, 26
DEGENERATE, CROWDED, NEEDS_INSTANTS, PASSED, RAN_AWAY = 8, 9, -3, 27, 28


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """What a run's arrays are sized by."""

    nq: int
    nv: int
    nu: int = 0
    np: int = 0
    nc: int = 0
    nphi: int = 0
    events: int = 0
    formulas: int = 0
    grid: int = 0
    blocks: int = 0
    rows: int = 0
    breaks: int = 0
    points: int = 0
    knots: int = 0
    levels: int = 0
    loads: int = 0
    facets: int = 0
    beside: int = 0  # words of what a method knows besides
    most: int | None = None  # rows of contacts that are active at a time; all if None
    lanes: int = 1
    few: int = 0  # rows that a group solves together, at most


@final
@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays a compiled run works on."""

    run: Run
    scratch: Array
    records: Array
    event_log: Array


def allocate(s: Sizes, tableau: Tableau, *, capacity: int, event_capacity: int) -> Arrays:
    """Arrays for a run of these sizes, offsets and tableau filled in, all else zero."""
    newton, area = _newton_size(s, tableau), _moreau_area(s)
    lengths = {"newton": newton, "area": area, "beside": s.beside}
    idle = [] if tableau.scheme in ("alpha", "edwards") else ["earlier", "later"]
    idle += [] if len(tableau.parts) > 1 else ["kept"]
    idle += [] if tableau.scheme == "moreau" and not s.beside else MOREAU
    lengths |= dict.fromkeys(idle, 0)
    run = Run.new(
        lengths, nq=s.nq, nv=s.nv, nu=s.nu, np=s.np, nc=s.nc, nphi=s.nphi, ne=s.events,
        ni=s.formulas, ns=tableau.stages, nd=len(tableau.dense[0]), nb=s.blocks, nr=s.rows,
        grid=s.grid, breaks=s.breaks, nk=s.knots, nl=s.levels, points=s.points, nf=s.loads,
        parts=len(tableau.parts), most=_most(s), lanes=s.lanes, few=s.few,
    )  # fmt: skip
    run.facets, run.slopes = s.facets, slopes_size(s.nv, s.nc)
    run.capacity, run.event_capacity = capacity, event_capacity
    run.log_q, run.log_v = (0, 0) if s.beside else (s.nq, s.nv)
    run.scale[:] = run.turn[:] = -1
    for name in Scales.fields:
        getattr(run.scales, name)[:] = 1.0
    _fill_tableau(run, tableau)
    row = 1 + s.nq + s.nv + s.nu
    event_log = np.zeros(max(1, event_capacity * row_words(run)))
    return Arrays(run, np.zeros(1), np.zeros(max(1, capacity * row)), event_log)


def row_words(run: Run) -> int:
    """Words of a row in the log of a run."""
    return Event.header + int(run.log_q) + int(run.log_v)


def with_block(arrays: Arrays, words: Any) -> Arrays:
    """The same with another block, whose buffer of events is empty."""
    run = Run(words)
    event_log = np.zeros(max(1, int(run.event_capacity) * row_words(run)))
    return replace(arrays, run=run, event_log=event_log)


def slopes_size(nv: int, nc: int) -> int:
    """Doubles that the entry `d_rate` writes: v̇ and λ by q and by v."""
    return 2 * nv * nv + 2 * nc * nv


def newton_size(stages: int, nv: int, nc: int) -> int:
    """Doubles that implicit stages are found in; see `implicit.py`."""
    m = (stages - 1) * nv
    return slopes_size(nv, nc) + m * m + 3 * m + (2 * nv + 1) + nv * nv + 2 * nv


def leap_size(nv: int, nc: int, nphi: int) -> int:
    """Doubles that a variational step is found in; see `variational.py`."""
    m = nv + nc
    terms = nv * nv + nc * nv + nv + nc + nphi + nc
    area = 6 * nv + terms + nc + saddle_area(nv, nc)
    return m * m + 5 * m + nc * nv + nv + nc + max(area, 3 * nv * nv, 4 * nv + nphi * (1 + nv))


def alpha_size(nv: int, nc: int, nphi: int) -> int:
    """Doubles that a step of generalized α is found in; see `generalized_alpha.py`."""
    m = nv + nc
    terms = nv * nv + nc * nv + nv + nc + nphi + nc
    return m * m + 5 * m + 3 * nv * nv + nv + terms + nc * nv


def _moreau_area(s: Sizes) -> int:
    """Doubles that impulses of a step of Moreau and Jean are found in."""
    if not s.rows:
        return 0
    from liaison.solvers.cones.cones import cone_area
    from liaison.solvers.linear.lemke import polyhedral_area

    # rows lie there in panels before their problem does, with eight numbers beside them
    cones = max(cone_area(_most(s), s.blocks), 8 * (s.nv * -(-_most(s) // 8) + 1))
    if s.facets:
        return max(cones, polyhedral_area(s.rows, s.blocks * (s.facets + 1)))
    return cones


def _most(s: Sizes) -> int:
    """Rows of contacts that are active at a time, at most."""
    return s.rows if s.most is None else min(s.most, s.rows)


def _newton_size(s: Sizes, tableau: Tableau) -> int:
    if tableau.scheme == "variational":
        return leap_size(s.nv, s.nc, s.nphi)
    if tableau.scheme == "alpha":
        return alpha_size(s.nv, s.nc, s.nphi)
    return newton_size(tableau.stages, s.nv, s.nc) if tableau.is_implicit else 0


def dense_size(run: Run) -> int:
    """Doubles that the pivoted solver and the terms need in scratch; see `dense.saddle`."""
    return words_of(Dense, run) + saddle_area(int(run.nv), int(run.nc))


def _fill_tableau(run: Run, tableau: Tableau) -> None:
    run.order, run.filter = tableau.error_order, tableau.filter
    is_moreau = tableau.scheme == "moreau" and run.beside.size == 0
    run.is_moreau, run.is_implicit = is_moreau, tableau.is_implicit
    run.is_variational, run.is_alpha = tableau.scheme == "variational", tableau.scheme == "alpha"
    run.is_edwards = tableau.scheme == "edwards"
    run.reuses_last, run.is_adaptive = tableau.reuses_last, tableau.is_adaptive
    for i, row in enumerate(tableau.a):
        run.a[i, : len(row)] = [float(x) for x in row]
    run.b[:] = np.array(tableau.b, dtype=float)
    run.c[:] = np.array(tableau.c, dtype=float)
    run.dense[:] = [[float(x) for x in row] for row in tableau.dense]
    run.fractions[:] = np.array(tableau.parts, dtype=float)
    if tableau.is_adaptive:
        run.e[:] = np.array(tableau.e, dtype=float)
