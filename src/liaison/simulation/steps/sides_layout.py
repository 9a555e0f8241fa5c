"""Where everything lies in the arrays of what holds on one side only: `c` (int64), `s` (float64).

The first slots of `c` have names: sizes, choices, addresses of entries, and offsets of blocks. They
stand beside the arrays of the run and are kept with them in a checkpoint.

Public names: the slots, modes, kinds, laws and happenings below; Layout, layout_of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.solvers.cones.cones import cone_area
from liaison.solvers.impacts.impacts import impact_area
from liaison.solvers.impacts.painleve import MOST as MOST_CONTACTS
from liaison.solvers.impacts.painleve import counting_area
from liaison.solvers.linear.dense import saddle_area

# sizes, choices, progress
NQ, NV, NC, NPHI, NB, NR, OWN, LAW, ROWS, GAPS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
IS_BEGUN, SWITCHES, RANK, HELDS, ACTIVE, CONES, MOST, BAD = 10, 11, 12, 13, 14, 15, 16, 17
BEARINGS, SPARE = 18, 19
WATCHED, MOTIONS = 27, 29
# addresses of entries
F_TERMS, F_SIDES, F_LOCAL, F_RETRACT, F_CLOSURE, F_EVENTS = 20, 21, 22, 23, 24, 25
F_BEARINGS, F_RATE = 26, 28
# offsets of blocks in s
O_TERMS, O_GAP, O_RATE, O_BIAS, O_D, O_COEFFICIENTS = 30, 31, 32, 33, 34, 35
O_FORCE, O_SLIP, O_WEIGHT, O_VDOT, O_F, O_Z, O_L, O_Q, O_G = 36, 37, 38, 39, 40, 41, 42, 43, 44
O_R, O_ORDER, O_ROWS, O_COLUMNS, O_MATRIX, O_RIGHT, O_PIVOTS = 45, 46, 47, 48, 49, 50, 51
O_HELD, O_TOUCHING, O_LIMITS, O_AREA, O_X, O_TV, O_E = 52, 53, 54, 55, 56, 57, 58
# offsets of tables in c
M_BLOCKS, M_MODES, M_OWNER, M_ROWS, M_LIST, M_CONE, M_NUMBER, M_BEFORE = range(60, 68)
M_START, M_ENDED = 68, 69
O_LOAD, O_FULL, O_BORNE, M_BEARINGS = 70, 72, 73, 74
M_WATCHED, O_LEVEL, M_FAST, HASTY, O_LAST = 75, 76, 77, 78, 79
INTS = 80

# slots of s
T_SWITCH, ENERGY, RESIDUAL, UNSEEN, EASE, INSIDE, UNBORNE = 0, 1, 2, 3, 4, 5, 6
FLOATS = 7

# a block: kind, first row, rows, load, law
FIELDS = 5
B_KIND, B_FIRST, B_ROWS, B_LOAD, B_LAW = range(FIELDS)
GAP, RATE, FRICTION = 0, 1, 2
KINDS = {"gap": GAP, "rate": RATE, "friction": FRICTION}
COULOMB, STRIBECK, REGULARIZED = 0, 1, 2
LAWS = {"coulomb": COULOMB, "stribeck": STRIBECK, "regularized": REGULARIZED}

# coefficients of a block
EACH = 8
RESTITUTION, DYNAMIC, STATIC, ACROSS, VISCOUS, SPEED = range(6)

# modes: of gaps and rates OPEN or CLOSED; of friction OPEN (nothing presses), STICK or SLIP
OPEN, CLOSED, STICK, SLIP, LOCKED = 0, 1, 1, 2, 3
"""LOCKED: a rate whose row vanished; rows of its own hold what it forbids from there on."""

BEYOND, SHARED = 2, 3
"""How a closed gap ended: past an edge of what it touched; or not yet: others share its force."""

# what happens to a block
WHATS = (
    "impact", "closes", "opens", "sticks", "slips", "rests", "energy gain", "enters", "leaves",
    "held", "several solutions",
)  # fmt: skip
IMPACTS, CLOSES, OPENS, STICKS, SLIPS, RESTS, GAINS, ENTERS, LEAVES, HOLDS, SEVERAL = range(11)
CODES = 16
"""Numbers of happenings a block."""


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The arrays, filled as far as the description alone tells."""

    c: NDArray[np.int64]
    s: Array


def layout_of(
    sides: Sequence[tuple[Any, ...]],
    sizes: Mapping[str, int],
    law: int,
    bearings: Sequence[int] = (),
) -> Layout:
    """Arrays for a mechanism with these one-sided blocks.

    Args:
        sides: name, owner, kind, first row, rows, load and law of every block.
        sizes: nq, nv, nc, nphi.
        law: of impacts.
        bearings: blocks of friction that the force in a joint bounds.
    """
    nq, nv, nc, nphi = (int(sizes[x]) for x in ("nq", "nv", "nc", "nphi"))
    nb, nr = len(sides), sum(block[4] for block in sides)
    held = nv if any(block[2] == "rate" for block in sides) else 0
    known = nc + held
    blocks = {
        O_TERMS: nv * nv + nc * nv + nv + 2 * nc + nphi,
        O_GAP: nb, O_RATE: nr, O_BIAS: nr, O_D: nr * nv, O_COEFFICIENTS: EACH * nb,
        O_FORCE: nr, O_SLIP: nr, O_WEIGHT: nr, O_VDOT: nv, O_F: nv, O_Z: nv, O_L: nv * nv,
        O_Q: known * nv, O_G: known * (nv + 1), O_R: known * known, O_ORDER: 4 * known + 4,
        O_ROWS: nr * nv, O_COLUMNS: nr * nv, O_MATRIX: 2 * nr * nr, O_RIGHT: 6 * nr,
        O_PIVOTS: nr, O_HELD: held * nv, O_TOUCHING: 4 * nr + 4, O_LIMITS: 3 * nb, O_E: nb,
        O_AREA: max(
            cone_area(nr, nb), impact_area(nr, nb), saddle_area(nv, known),
            counting_area(min(nb, MOST_CONTACTS)),
        ),
        O_X: nq + nphi + nc, O_TV: 2 * nv, O_LEVEL: nb, O_LAST: nr, O_LOAD: nb,
        O_FULL: 2 * nv + nc + nr, O_BORNE: 3 * len(bearings),
    }  # fmt: skip
    tables = {
        M_BLOCKS: FIELDS * nb, M_MODES: nb, M_OWNER: nr, M_ROWS: nc + nr + held, M_LIST: 2 * nr,
        M_CONE: 4 * nb, M_NUMBER: nb, M_BEFORE: nb, M_START: nb,
        M_ENDED: nb, M_BEARINGS: len(bearings), M_WATCHED: nb, M_FAST: nb,
    }  # fmt: skip
    offsets: dict[int, int] = {}
    floats, ints = FLOATS, INTS
    for slot, size in blocks.items():
        offsets[slot], floats = floats, floats + size
    for slot, size in tables.items():
        offsets[slot], ints = ints, ints + size
    c, s = np.zeros(ints, dtype=np.int64), np.zeros(floats)
    c[list(offsets)] = list(offsets.values())
    gaps = sum(block[2] == "gap" for block in sides)
    c[[NQ, NV, NC, NPHI, NB, NR, LAW]] = nq, nv, nc, nphi, nb, nr, law
    c[[ROWS, GAPS, MOST]] = nc + nr + held, gaps, held
    s[T_SWITCH], s[EASE] = -np.inf, 1.0
    s[c[O_LOAD] : c[O_LOAD] + nb] = 1.0
    c[BEARINGS] = len(bearings)
    c[c[M_BEARINGS] : c[M_BEARINGS] + len(bearings)] = bearings
    _fill_tables(c, sides)
    return Layout(c, s)


def _fill_tables(c: NDArray[np.int64], sides: Sequence[tuple[Any, ...]]) -> None:
    """Blocks, the block of every row, and the order of rows: those with a position first."""
    nc, nphi, nr = int(c[NC]), int(c[NPHI]), int(c[NR])
    held: list[int] = []
    rest: list[int] = []
    for b, (_, _, kind, first, rows, load, law) in enumerate(sides):
        table = c[M_BLOCKS] + FIELDS * b
        c[table : table + FIELDS] = KINDS[kind], first, rows, load, LAWS[law]
        c[c[M_OWNER] + first : c[M_OWNER] + first + rows] = b
        places = [nc + first + k for k in range(rows)]
        (held if kind == "gap" else rest).extend(places)
    locks = range(nc + nr, int(c[ROWS]))
    order = [*range(nphi), *held, *range(nphi, nc), *rest, *locks]
    c[c[M_ROWS] : c[M_ROWS] + len(order)] = order
