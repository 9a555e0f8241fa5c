"""Layout of unilateral constraints in a run: the record `Sides`.

It stands beside the block of the run and is kept with it in a checkpoint, except for the addresses
of entries.

Public names: Sides, FreeEntries, Asked; the modes, kinds and laws below;
sides_of, no_sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from liaison.program.loops.language import f64, i64, iptr, kernel, ptr
from liaison.program.loops.records import (
    Part,
    Record,
    Rows,
    inline,
    nested,
    part,
    rows,
    size,
    sized,
)
from liaison.solvers.cones.table import Cone, Limit, cone_area
from liaison.solvers.impacts.impacts import impact_area
from liaison.solvers.impacts.painleve import MOST as MOST_CONTACTS
from liaison.solvers.impacts.painleve import counting_area
from liaison.solvers.linear.dense import saddle_area

from .layout import Block, OneSided, Scales, Terms


@final
class FreeEntries(Record):
    """Addresses of the entries of the mechanism, free of all that holds unilaterally."""

    terms: kernel
    one_sided: kernel
    local_rate: kernel
    retract: kernel
    closure: kernel
    events: kernel
    bearings: kernel
    rate: kernel
    terms_beside_mass: kernel  # where the metric of M is sweeps over nodes, and what follows
    factor: kernel
    half: kernel
    back: kernel
    hold: kernel


@final
class Asked(Part):
    """What the entry `terms` writes in a mode: rows that hold now stand beside the closures."""

    M: ptr = sized("nv", "nv")
    G: ptr = sized("nrows", "nv")
    f: ptr = sized("nv")
    gamma: ptr = sized("nrows")
    phi: ptr = sized("nphi + ngaps")
    nu: ptr = sized("nrows")


@final
class Sides(Record):
    """All that is known of what holds unilaterally."""

    nq: i64 = size()
    nv: i64 = size()
    nc: i64 = size()  # closures
    nphi: i64 = size()  # closures of positions among them
    nb: i64 = size()  # blocks
    nr: i64 = size()  # rows of all blocks
    ngaps: i64 = size()  # blocks that are gaps
    nheld: i64 = size()  # rows at most that hold what rates whose row vanished forbid
    nrows: i64 = size()  # rows beside the closures, closures and held ones included
    nbearings: i64 = size()  # blocks of friction that the force in a joint bounds
    nmetric: i64 = size()  # numbers of the metric of M

    free: FreeEntries = nested()
    own: i64  # events of the mechanism and of the caller
    is_swept: i64  # whether that metric is sweeps over nodes, not a dense factor
    law: i64  # of impacts
    is_begun: i64
    switches: i64
    rank: i64
    helds: i64
    active: i64  # rows listed
    cones: i64  # cones listed
    bad: i64  # the block that a status means
    watches: i64
    motions: i64
    hasty: i64
    spare: iptr = inline(1)
    t_switch: f64
    energy: f64
    residual: f64
    unseen: f64
    ease: f64
    inside: f64
    unborne: f64
    unended: f64  # part of the rates before an impact by which its sequence did not end

    scales: Scales = part()
    terms: Terms = part()
    seen: OneSided = part()
    force: ptr = sized("nr")
    slip: ptr = sized("nr")
    weight: ptr = sized("nr")
    vdot: ptr = sized("nv")
    f: ptr = sized("nv")
    z: ptr = sized("nv")
    L: ptr = sized("nmetric")
    Q: ptr = sized("nc + nheld", "nv")
    G: ptr = sized("(nc + nheld) * (nv + 1)")
    R: ptr = sized("(nc + nheld) * (nc + nheld)")
    order: ptr = sized("4 * (nc + nheld) + 4")
    in_metric: ptr = sized("nr * nv")  # L⁻¹Dᵀ of the rows listed
    columns: ptr = sized("nr * nv")
    matrix: ptr = sized("2 * nr * nr")
    right: ptr = sized("6 * nr")
    pivots: ptr = sized("nr")
    held: ptr = sized("nheld", "nv")
    touching: ptr = sized("4 * nr + 4")
    limits: Rows[Limit] = rows("nb")
    restitution: ptr = sized("nb")
    area: ptr = sized()
    there: ptr = sized("nq")
    both: ptr = sized("nphi + nc")
    tv: ptr = sized("2 * nv")
    level: ptr = sized("nb")
    last: ptr = sized("nr")
    load: ptr = sized("nb")
    full: ptr = sized("2 * nv + nc + nr")
    borne: ptr = sized("3 * nbearings")

    blocks: Rows[Block] = rows("nb")
    mode: iptr = sized("nb")
    block_of: iptr = sized("nr")  # of every row
    row_order: iptr = sized("nrows")  # those with a position first
    listed: iptr = sized("2 * nr")
    cone: Rows[Cone] = rows("nb")
    cone_of: iptr = sized("nb")  # of every block, -1 of those without
    before: iptr = sized("nb")
    at_start: iptr = sized("nb")
    ended: iptr = sized("nb")
    bearings: iptr = sized("nbearings")
    watched: iptr = sized("nb")
    fast: iptr = sized("nb")


# kinds of blocks, laws of friction
GAP, RATE, FRICTION = 0, 1, 2
KINDS = {"gap": GAP, "rate": RATE, "friction": FRICTION}
COULOMB, STRIBECK, REGULARIZED = 0, 1, 2
LAWS = {"coulomb": COULOMB, "stribeck": STRIBECK, "regularized": REGULARIZED}

# modes: of gaps and rates OPEN or CLOSED; of friction OPEN (nothing presses), STICK or SLIP
OPEN, CLOSED, STICK, SLIP, LOCKED = 0, 1, 1, 2, 3
"""LOCKED: a rate whose row vanished; rows of its own hold what it forbids from there on."""

BEYOND, SHARED = 2, 3
"""How a closed gap ended: past an edge of what it touched; or not yet: others share its force."""


def sides_of(
    sides: Sequence[tuple[Any, ...]],
    sizes: Mapping[str, int],
    law: int,
    bearings: Sequence[int] = (),
    metric: int = 0,
) -> Sides:
    """The block of a mechanism with these unilateral blocks, from its description alone.

    Args:
        sides: name, owner, kind, first row, rows, load and law of every block.
        sizes: nq, nv, nc, nphi.
        law: of impacts.
        bearings: blocks of friction that the force in a joint bounds.
        metric: numbers of the metric of M by sweeps over nodes; 0: it is dense.
    """
    nq, nv, nc, nphi = (int(sizes[x]) for x in ("nq", "nv", "nc", "nphi"))
    nb, nr = len(sides), sum(block[4] for block in sides)
    held = nv if any(block[2] == "rate" for block in sides) else 0
    rows = nc + nr + held
    area = max(
        cone_area(nr, nb), impact_area(nr, nb), counting_area(min(nb, MOST_CONTACTS)),
        rows * (2 * nv + rows + 6) if metric else saddle_area(nv, nc + held),
    )  # fmt: skip
    table = Sides.new(
        {"area": area}, nq=nq, nv=nv, nc=nc, nphi=nphi, nb=nb, nr=nr, nheld=held,
        ngaps=sum(block[2] == "gap" for block in sides), nrows=nc + nr + held,
        nbearings=len(bearings), nmetric=metric or nv * nv,
    )  # fmt: skip
    table.is_swept = int(metric > 0)
    table.law, table.t_switch, table.ease = law, -np.inf, 1.0
    table.load[:], table.bearings[:] = 1.0, bearings
    for name in Scales.fields:
        getattr(table.scales, name)[:] = 1.0
    _fill_tables(table, sides)
    return table


def no_sides() -> Sides:
    """The block of a mechanism without anything unilateral, for loops that take one."""
    return Sides.new({"area": 0}, **dict.fromkeys((x.name for x in Sides._sizes), 0))


def _fill_tables(table: Sides, sides: Sequence[tuple[Any, ...]]) -> None:
    """Blocks, the block of every row, and the order of rows: those with a position first."""
    nc, nphi, nr = int(table.nc), int(table.nphi), int(table.nr)
    held: list[int] = []
    rest: list[int] = []
    for b, (_, _, kind, first, count, load, law) in enumerate(sides):
        table.blocks.ints[b] = KINDS[kind], first, count, load, LAWS[law]
        table.block_of[first : first + count] = b
        places = [nc + first + k for k in range(count)]
        (held if kind == "gap" else rest).extend(places)
    locks = range(nc + nr, int(table.nrows))
    table.row_order[:] = [*range(nphi), *held, *range(nphi, nc), *rest, *locks]
