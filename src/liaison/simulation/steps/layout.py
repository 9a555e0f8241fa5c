"""Where everything lies in the two arrays of a run: `w` (float64) and `n` (int64).

All that a run knows is in these two arrays, so a copy of them is a checkpoint. The first slots
have names; blocks follow, and `n` holds the offset of each. What exists for positions and for
velocities (a tolerance, an entry, a flag) lies side by side, velocities second. What needs not be
kept between two calls (workspace of the kernel, matrices of the pivoted solver) is in `scratch`.

Public names: the slots, entries, phases and status codes below; Sizes, Arrays, allocate,
dense_size, newton_size, slopes_size, leap_size,
alpha_size, sides_size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.solvers.cones.cones import cone_area
from liaison.solvers.linear.dense import saddle_area
from liaison.solvers.linear.lemke import polyhedral_area

from .rungekutta import Tableau

# named slots of w
T, T_NEW, T_START, T_END, T_CONTROL, T_BASE = 0, 1, 2, 3, 4, 5
STEP, H, H_NEXT, H_MAX, ERROR_BEFORE, RTOL, ATOL = 7, 8, 9, 10, 11, 12, 13
POSITION_TOLERANCE, VELOCITY_TOLERANCE, LOST, RESIDUAL_TOLERANCE = 14, 15, 16, 17
PERIOD, WORST, START_TOLERANCE, T_GOOD, H_PART, FILTER = 18, 19, 20, 21, 22, 23
RADIUS = 24
# of time stepping with contacts
PENETRATION, COMPLEMENTARITY, THETA, GAP_TOLERANCE = 40, 41, 42, 43
FLOATS = 48

# named slots of n: sizes and choices
NQ, NV, NU, NC, NPHI, NE, NS, ND, NI = 0, 1, 2, 3, 4, 5, 6, 7, 8
REUSES_LAST, IS_ADAPTIVE, INPUTS_READ_Q, RECORDS_STEPS, SAMPLES, GRID = 9, 10, 11, 12, 13, 14
ITERATIONS, STEPS_ALLOWED, ORDER = 15, 16, 17
IS_IMPLICIT, SLOPES, IS_VARIATIONAL, IS_ALPHA = 84, 85, 86, 87
HAS_CLOSURE, HAS_CORRECT_Q, HAS_CORRECT_V, HAS_TERMS, RECORDS_END = 18, 19, 20, 21, 23
# progress
PHASE, IS_FRESH, WAS_REJECTED, IS_STOPPING, DETAIL, BASE_STEPS, NEXT_SAMPLE = (
    24,
    25,
    26,
    27,
    28,
    29,
    30,
)
STEPS, REJECTED, EVALUATIONS, PROJECTIONS, FALLBACKS, PIVOTS_LEFT = 31, 32, 33, 34, 35, 42
HAS_MOVED, IS_IN_DOUBT, IS_PART, HAS_PULLED = 43, 44, 45, 46
RECORDED, CAPACITY, HAPPENED, EVENT_CAPACITY, RECORDED_BEFORE, HAPPENED_BEFORE = (
    36,
    37,
    38,
    39,
    40,
    41,
)
# offsets of blocks in w, in n, in scratch
O_Q, O_V, O_U, O_P, O_K, O_Y, O_STAGE, O_TQ, O_TV, O_OUT = 48, 49, 50, 51, 52, 53, 54, 55, 56, 57
O_A, O_B, O_E, O_C, O_DENSE, O_GRID, O_FORMULAS = 58, 59, 60, 61, 62, 63, 64
O_SIGN, O_SIGN_NEW, O_BEFORE, O_AFTER, O_THETA, O_STREAK = 65, 66, 67, 68, 69, 70
O_BEFORE_NEW, O_PROBE, O_NEXT, O_GOOD = 71, 72, 73, 74
M_SCALE, M_INPUT, M_DIRECTION, M_STOPS, M_STREAK, M_FIRED = 75, 76, 78, 79, 80, 81
M_TURN = 47
S_DENSE, O_NEWTON, O_ALPHA = 82, 83, 77
PARTS_OF_STEP, O_PARTS, O_KEPT = 88, 89, 90
# time stepping with contacts: blocks and rows, table, modes, what is active; rows at the start,
# terms, rows midway and at the end, the metric, rows in it, the complementarity problem, velocities
IS_MOREAU, NB, NR, M_SIDES, M_MODE, M_ACTIVE, O_SIDES, O_TERMS, O_MID, O_END = range(100, 110)
O_METRIC, O_ROWS, O_CONES, O_FREE, O_IMPULSE, CONTACTS = range(110, 116)
FACETS = 117  # sides of the polygons that friction is bounded by; 0: it is bounded by ellipses
DIPS = 116  # from an event that switches to its slope, in the list of events
# instants at which formulas jump or bend: how many, those passed, where they lie
BREAKS, BREAKS_PASSED, O_BREAKS = 118, 119, 120
INTS = 128

# entries of the kernel, in the table of their addresses
ENTRIES = (
    "rate", "retract", "closure", "correct_q", "correct_v", "terms", "events", "inputs", "d_rate",
    "kick", "leap", "d_leap", "reach", "turn", "d_motion", "difference", "one_sided",
)  # fmt: skip
E_RATE, E_RETRACT, E_CLOSURE, E_CORRECT_Q, E_CORRECT_V, E_TERMS, E_EVENTS, E_INPUTS = range(8)
E_SLOPES, E_KICK, E_LEAP, E_LEAP_SLOPES, E_REACH, E_TURN, E_MOTION = 8, 9, 10, 11, 12, 13, 14
E_DIFFERENCE, E_ONE_SIDED = 15, 16

# phases of a step
START, TRY, LAND, EVENTS, SAMPLING, COMMIT, ARRIVED, FINISHED = 0, 1, 2, 3, 4, 5, 6, 7

# why a step ends early; a slope is no event, it tells where another one has its least value
STOPPING, SWITCHING, SLOPE = 1, 2, 3

# what `advance` returns
GOOD, DONE, STOPPED, CONTROL, FULL = 0, 1, 2, 3, 4
NEEDS_CORRECT_Q, NEEDS_CORRECT_V, NEEDS_TERMS = 5, 6, 7
NOT_FINITE, STEP_TOO_SMALL, POSITIONS_LOST, VELOCITIES_LOST = 10, 11, 12, 13
INCONSISTENT, TOO_MANY_STEPS, CHATTER, BAD_START, BAD_START_RATE = 14, 15, 16, 17, 18
EVENT_NOT_FINITE, NOT_CONVERGED = 19, 20
NO_MODE, BAD_GAP, BAD_SIDE, SINGULAR_MASS, STANDSTILL, STEP_UP = 21, 22, 23, 24, 25, 26
DEGENERATE = 8

PARTS = 4
"""Pieces of a step in which each event is looked for, so that two crossings are both seen."""


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
    facets: int = 0


@final
@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays a compiled run works on."""

    w: Array
    n: NDArray[np.int64]
    scratch: Array
    records: Array
    happened: Array


def allocate(s: Sizes, tableau: Tableau, *, capacity: int, event_capacity: int) -> Arrays:
    """Arrays for a run of these sizes, offsets and tableau filled in, all else zero."""
    stages, degree = tableau.stages, len(tableau.dense[0])
    y = 2 * s.nv + 1
    out = max(s.nphi + s.nc, s.nv + 1, 1)
    blocks = {
        O_Q: s.nq, O_V: s.nv, O_U: s.nu, O_P: s.np, O_K: stages * y, O_Y: y, O_STAGE: y,
        O_TQ: 2 * s.nq, O_TV: 2 * s.nv, O_OUT: out,
        O_A: stages * stages, O_B: stages, O_E: stages, O_C: stages, O_DENSE: stages * degree,
        O_GRID: s.grid, O_FORMULAS: s.formulas, O_BREAKS: s.breaks,
        O_SIGN: s.events, O_SIGN_NEW: s.events, O_BEFORE: s.events, O_AFTER: s.events,
        O_THETA: s.events, O_STREAK: s.events, O_BEFORE_NEW: s.events, O_PROBE: s.events,
        O_NEXT: s.nq + s.nv, O_GOOD: s.nq + s.nv,
        O_NEWTON: _newton_size(s, tableau),
        O_ALPHA: 2 * (2 * s.nv + s.nc) if tableau.scheme == "alpha" else 0,
        O_PARTS: len(tableau.parts), O_KEPT: s.nq + s.nv if len(tableau.parts) > 1 else 0,
        **(moreau_blocks(s) if tableau.scheme == "moreau" else {}),
    }  # fmt: skip
    maps = {
        M_SCALE: s.nv, M_INPUT: s.formulas, M_DIRECTION: s.events, M_STOPS: s.events,
        M_STREAK: s.events, M_FIRED: s.events, M_TURN: s.nv,
        M_SIDES: 5 * s.blocks, M_MODE: 2 * s.blocks, M_ACTIVE: 7 * s.blocks + 2 * s.rows + 2,
    }  # fmt: skip
    offsets: dict[int, int] = {}
    floats, ints = _place(blocks, FLOATS, offsets), _place(maps, INTS, offsets)
    w, n = np.zeros(floats), np.zeros(ints, dtype=np.int64)
    for slot, offset in offsets.items():
        n[slot] = offset
    _fill_sizes(n, s, tableau)
    n[CAPACITY], n[EVENT_CAPACITY] = capacity, event_capacity
    _fill_tableau(w, n, tableau)
    row = 1 + s.nq + s.nv + s.nu
    happened = np.zeros(max(1, event_capacity * (2 + s.nq + s.nv)))
    return Arrays(w, n, np.zeros(1), np.zeros(max(1, capacity * row)), happened)


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


def sides_size(nb: int, nr: int, nv: int) -> int:
    """Doubles that the entry `one_sided` writes: gaps, rates, biases, D, eight numbers a block."""
    return nb + 2 * nr + nr * nv + 8 * nb


def moreau_blocks(s: Sizes) -> dict[int, int]:
    """Sizes of the blocks that a step of Moreau and Jean is found in; see `moreau.py`."""
    nv, nc, nb, nr = s.nv, s.nc, s.blocks, s.rows
    sides = sides_size(nb, nr, nv)
    solver = polyhedral_area(nr, nb * (s.facets + 1)) if s.facets else cone_area(nr, nb)
    return {
        O_SIDES: sides, O_MID: sides, O_END: sides,
        O_TERMS: nv * nv + nc * nv + nv + nc + s.nphi + nc,
        O_METRIC: nv * nv + (nc + nr) * nv + (nc + nr) ** 2 + 5 * (nc + nr) + 1,
        O_ROWS: nr * nv + (s.nphi + nb) * (nv + 1),
        O_CONES: nr * nr + 4 * nr + 3 * nb + solver,
        O_FREE: 4 * nv + 2 * s.nq, O_IMPULSE: nr,
    }  # fmt: skip


def _newton_size(s: Sizes, tableau: Tableau) -> int:
    if tableau.scheme == "variational":
        return leap_size(s.nv, s.nc, s.nphi)
    if tableau.scheme == "alpha":
        return alpha_size(s.nv, s.nc, s.nphi)
    return newton_size(tableau.stages, s.nv, s.nc) if tableau.is_implicit else 0


def dense_size(n: NDArray[np.int64]) -> int:
    """Doubles that the pivoted solver and the terms need in scratch; see `dense.saddle`."""
    nv, nc = int(n[NV]), int(n[NC])
    terms = nv * nv + nc * nv + nv + nc + int(n[NPHI]) + nc
    return terms + 3 * nv + 2 * nc + saddle_area(nv, nc)


def _place(blocks: dict[int, int], start: int, offsets: dict[int, int]) -> int:
    for slot, size in blocks.items():
        offsets[slot] = start
        start += size
    return start


def _fill_sizes(n: NDArray[np.int64], s: Sizes, tableau: Tableau) -> None:
    n[[NQ, NV, NU, NC, NPHI]] = s.nq, s.nv, s.nu, s.nc, s.nphi
    n[[NE, NI, NB, NR, FACETS]] = s.events, s.formulas, s.blocks, s.rows, s.facets
    n[IS_MOREAU] = tableau.scheme == "moreau"
    n[[NS, ND, GRID, ORDER]] = tableau.stages, len(tableau.dense[0]), s.grid, tableau.error_order
    n[[IS_IMPLICIT, SLOPES]] = tableau.is_implicit, slopes_size(s.nv, s.nc)
    n[PARTS_OF_STEP], n[BREAKS] = len(tableau.parts), s.breaks
    n[[IS_VARIATIONAL, IS_ALPHA]] = tableau.scheme == "variational", tableau.scheme == "alpha"
    n[[REUSES_LAST, IS_ADAPTIVE]] = tableau.reuses_last, tableau.is_adaptive
    n[n[M_SCALE] : n[M_SCALE] + s.nv] = -1
    n[n[M_TURN] : n[M_TURN] + s.nv] = -1


def _fill_tableau(w: Array, n: NDArray[np.int64], tableau: Tableau) -> None:
    s = tableau.stages
    a = np.zeros((s, s))
    for i, row in enumerate(tableau.a):
        a[i, : len(row)] = [float(x) for x in row]
    w[FILTER] = tableau.filter
    dense = np.array([[float(x) for x in row] for row in tableau.dense])
    fill = {O_A: a, O_B: np.array(tableau.b, dtype=float), O_C: np.array(tableau.c, dtype=float)}
    fill[O_DENSE] = dense
    fill[O_PARTS] = np.array(tableau.parts, dtype=float)
    if tableau.is_adaptive:
        fill[O_E] = np.array(tableau.e, dtype=float)
    for slot, values in fill.items():
        w[n[slot] : n[slot] + values.size] = values.ravel()
