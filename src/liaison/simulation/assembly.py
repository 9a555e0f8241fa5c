"""Closing the loops in compiled code: positions and speeds that satisfy the closures, near starts.

    q := q ⊞ s δ,   δ = −G⁺ Φ on what is not held,   s the longest of 1, ½, … with |Φ| smaller
    v := v − G⁺ (G v − ν) on what is not held, again where rows are not linear in v (assembly-1)

Gauss–Newton with the entry `assembly` of a kernel; parameters vary from row to row. It is the loop
of `tree/assemble.py`, step for step, without its messages: a row that does not close has a status.

Public names: Assembler, Rows, Work, work_of, assemble_each, ENTRIES, CLOSED, OPEN, UNDEFINED,
INCONSISTENT, BESIDE.

Source: JB94 §3.2 (position problem), §3.3 (velocity problem).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import isfinite, sqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, flat, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import Part, Record, address, part, size, sized
from liaison.solvers.linear.dense import (
    RANK_TOLERANCE,
    dot,
    largest,
    least_norm,
    least_norm_area,
)
from liaison.units import FORCE

CLOSED, OPEN, UNDEFINED, INCONSISTENT, BESIDE = 0, 1, 2, 3, 4
"""How a row ended: assembled; no configuration; closures without a value; speeds that clash; a
singular value of G is small, so that the start may lie beside a change point."""

TOLERANCE = 1e-12
"""|Φ| at which a loop counts as closed, relative to the size of the mechanism [m, 1]."""

UNMOVED = 4e-16
"""|Φ| up to which a start that closes the loops is left as it is, likewise."""

SLOW = 1e-9
"""|G v − ν| at which speeds count as consistent, relative to the largest of them."""

KEPT, EXACT, SMALL = 1e-7, 1e-13, 3e-3
"""As in `tree/starts.py`: part of the speeds that meeting the closures in full may change;
parts of the largest singular value of G between which one is small."""

ITERATIONS = 60
LONGEST = 1.0
"""The longest step of one iteration [m, rad]."""

ENTRIES = ("assembly", "retract")
"""Entries of a kernel that assembling calls."""

SHORTEST = 1e-10
"""The least part of a step that is tried."""


@final
class Terms(Part):
    """What the entry `assembly` writes."""

    phi: ptr = sized("nphi")
    G: ptr = sized("nc", "nv")
    rate: ptr = sized("nc")
    extent: f64  # of the mechanism, at least 1 m
    upright: ptr = sized("na")


@final
class Work(Record):
    """One assembly under way: a row of starts, and where the loop works."""

    nq: i64 = size()
    nv: i64 = size()
    nc: i64 = size()
    nphi: i64 = size()
    na: i64 = size()  # joints whose sense is looked at
    tries: i64  # attempts at most
    attempts: i64  # of the last row
    t: f64
    assembly: kernel
    retract: kernel
    q: ptr = sized("nq")
    v: ptr = sized("nv")
    first: ptr = sized("nq")
    trial: ptr = sized("nq")
    step: ptr = sized("nv")
    least: ptr = sized("nv")
    free: iptr = sized("nv")  # 1: may move
    is_length: iptr = sized("nc")  # rows that hold lengths
    is_slide: iptr = sized("nv")  # velocities in m/s
    columns: ptr = sized("nc", "nv")
    here: Terms = part()
    there: Terms = part()
    shakes: ptr = sized()
    area: ptr = sized()


@loop
def evaluate(w: Work, q: ptr, v: ptr, u: ptr, p: ptr, out: ptr, scratch: ptr) -> None:
    """The terms at a state."""
    w.assembly(w.t, q, v, u, p, q, out, scratch)


@loop
def copy(n: i64, x: ptr, y: ptr) -> None:
    """y := x."""
    for i in range(n):
        y[i] = x[i]


@loop
def correction(w: Work, rows: i64, right: ptr) -> i64:
    """The least step on what is free, −G⁺ right, into `w.step`; 0 where G is not finite."""
    here = w.here
    count = 0
    for j in range(w.nv):
        count += w.free[j]
    columns = flat(w.columns)
    bad = 0.0
    for k in range(rows):
        place = 0
        for j in range(w.nv):
            if w.free[j] == 1:
                columns[k * count + place] = here.G[k, j]
                bad += here.G[k, j] - here.G[k, j]
                place += 1
    if not isfinite(bad):
        return 0
    least_norm(rows, count, columns, right, w.least, RANK_TOLERANCE, w.area)
    place = 0
    for j in range(w.nv):
        w.step[j] = 0.0
        if w.free[j] == 1:
            w.step[j] = -w.least[place]
            place += 1
    return 1


@loop
def move(w: Work, before: f64, u: ptr, p: ptr, scratch: ptr) -> f64:
    """q moved by the longest part of the step that makes |Φ| smaller; |Φ| there, −1 if none."""
    scale = 1.0 / max(1.0, largest(w.nv, w.step) / LONGEST)
    while scale > SHORTEST:
        for j in range(w.nv):
            w.least[j] = scale * w.step[j]
        w.retract(w.t, w.q, w.v, u, p, w.least, w.trial, scratch)
        evaluate(w, w.trial, w.v, u, p, w.there.floats, scratch)
        after = sqrt(dot(w.nphi, w.there.phi, w.there.phi))
        if after < before:
            copy(w.nq, w.trial, w.q)
            evaluate(w, w.q, w.v, u, p, w.here.floats, scratch)
            return after
        scale = scale / 2.0
    return -1.0


@loop
def close(w: Work, u: ptr, p: ptr, scratch: ptr) -> None:
    """Gauss–Newton from `w.q`, in place, until Φ no longer falls; the terms there in `w.here`."""
    evaluate(w, w.q, w.v, u, p, w.here.floats, scratch)
    count = 0
    if largest(w.nphi, w.here.phi) > UNMOVED * w.here.extent:
        for j in range(w.nv):
            count += w.free[j]
    for _ in range(ITERATIONS):
        before = sqrt(dot(w.nphi, w.here.phi, w.here.phi))
        if before == 0.0 or count == 0:
            break
        if correction(w, w.nphi, w.here.phi) == 0:
            break
        after = move(w, before, u, p, scratch)
        if after < 0.0 or (after >= 0.5 * before and before < TOLERANCE):
            break


@loop
def is_closed(w: Work) -> i64:
    """1 if Φ vanishes and no joint is flipped."""
    if not (largest(w.nphi, w.here.phi) <= TOLERANCE * w.here.extent):
        return 0
    for k in range(w.na):
        if not (w.here.upright[k] > 0.0):
            return 0
    return 1


@loop
def positions(w: Work, u: ptr, p: ptr, scratch: ptr) -> i64:
    """q with Φ = 0 near `w.first`, from there or from places around it; how it ended."""
    copy(w.nq, w.first, w.q)
    evaluate(w, w.q, w.v, u, p, w.here.floats, scratch)
    if not isfinite(largest(w.nc * w.nv, flat(w.here.G))):
        return UNDEFINED
    tries = w.tries if w.nphi > 0 else 1
    for attempt in range(tries):
        w.attempts = attempt + 1
        if attempt > 0:
            for j in range(w.nv):
                w.step[j] = w.shakes[(attempt - 1) * w.nv + j] if w.free[j] == 1 else 0.0
            w.retract(w.t, w.first, w.v, u, p, w.step, w.q, scratch)
        close(w, u, p, scratch)
        if is_closed(w) == 1:
            return CLOSED
    return OPEN


@loop
def velocities(w: Work, u: ptr, p: ptr, scratch: ptr) -> i64:
    """v with G v = ν near `w.v`, in place; how it ended."""
    evaluate(w, w.q, w.v, u, p, w.here.floats, scratch)
    if w.nc == 0:
        return CLOSED
    before = 0.0
    for k in range(ITERATIONS):
        if correction(w, w.nc, w.here.rate) == 0:
            return UNDEFINED
        for j in range(w.nv):
            w.v[j] += w.step[j]
        evaluate(w, w.q, w.v, u, p, w.here.floats, scratch)
        left = largest(w.nc, w.here.rate)
        if left <= SLOW * max(1.0, largest(w.nv, w.v)):
            return BESIDE if is_beside(w) == 1 else CLOSED
        if k > 0 and not (left < before):
            break
        before = left
    return INCONSISTENT


@loop
def is_beside(w: Work) -> i64:
    """1 where the start may lie beside a change point."""
    fastest = largest(w.nv, w.v)
    least_norm(w.nc, w.nv, flat(w.here.G), w.here.rate, w.step, EXACT, w.area)
    if not (largest(w.nv, w.step) <= KEPT * max(1.0, fastest)):
        return 1
    if fastest == 0.0:
        return 0
    unit = 0.0
    for k in range(w.nc):
        for j in range(w.nv):
            if w.is_length[k] == 1 and w.is_slide[j] == 0:
                unit = max(unit, abs(w.here.G[k, j]))
    unit = unit if unit > 0.0 else 1.0
    for k in range(w.nc):
        for j in range(w.nv):
            row = 1.0 / unit if w.is_length[k] == 1 else 1.0
            w.columns[k, j] = w.here.G[k, j] * row * (unit if w.is_slide[j] == 1 else 1.0)
    return is_weak(w)


@loop
def is_weak(w: Work) -> i64:
    """1 if some singular value of `w.columns` is small, and more than rounding."""
    least_norm(w.nc, w.nv, flat(w.columns), w.here.rate, w.step, EXACT, w.area)
    k = min(w.nc, w.nv)
    length = max(w.nc, w.nv)
    most = 0.0
    for i in range(k):
        most = max(most, dot(length, at(w.area, i * length), at(w.area, i * length)))
    for i in range(k):
        square = dot(length, at(w.area, i * length), at(w.area, i * length))
        if square > EXACT * EXACT * most and square < SMALL * SMALL * most:
            return 1
    return 0


@loop
def take_free(w: Work, held: iptr) -> None:
    """What is not held may move."""
    for j in range(w.nv):
        w.free[j] = 1 - held[j]


@loop
def assemble_each(
    w: Work, count: i64, levels: i64, held: iptr, q: ptr, v: ptr, u: ptr, nu: i64, p: ptr, np: i64,
    status: iptr, scratch: ptr,
) -> None:  # fmt: skip
    """Rows of starts, one after the other, in place.

    Args:
        w: where the loop works.
        count: rows.
        levels: 2 if what the first masks hold may be let go for the second ones, else 1.
        held: masks of positions, then of speeds, `levels` times nv of each.
        q: starts, nq a row; then what is assembled.
        v: likewise, `levels` times nv a row: the speeds each level begins with; the result first.
        u: inputs, nu a row.
        nu: inputs.
        p: parameters, np a row.
        np: parameters.
        status: of each row.
        scratch: work of the entries.
    """
    nv = w.nv
    for i in range(count):
        own_q = at(q, i * w.nq)
        own_v = at(v, i * levels * nv)
        own_u = at(u, i * nu)
        own_p = at(p, i * np)
        copy(w.nq, own_q, w.first)
        copy(nv, own_v, w.v)
        ended = OPEN
        for level in range(levels):
            if ended != CLOSED:
                take_free(w, at(held, level * nv))
                ended = positions(w, own_u, own_p, scratch)
        copy(w.nq, w.q, own_q)
        if ended == CLOSED:
            ended = INCONSISTENT
            for level in range(levels):
                if ended != CLOSED:
                    take_free(w, at(held, (levels + level) * nv))
                    copy(nv, at(own_v, level * nv), w.v)
                    ended = velocities(w, own_u, own_p, scratch)
        copy(nv, w.v, own_v)
        status[i] = ended


@cache
def _compiled() -> CompiledLoops:
    """The loops above as machine code, once a process."""
    return compile_loops([assemble_each])


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """Assembled rows.

    Attributes:
        q: positions, shape (rows, nq).
        v: speeds, shape (rows, nv).
        status: CLOSED, OPEN, UNDEFINED, INCONSISTENT or BESIDE of each.
        attempts: starts tried for the last row.
    """

    q: Array
    v: Array
    status: NDArray[np.int64]
    attempts: int


def work_of(kernel: Kernel, shakes: Array) -> Work:
    """The record that assembling works on; the arguments are those of `Assembler`."""
    sizes, labels = kernel.program.sizes, kernel.program.labels
    nv, nc, nphi = sizes["nv"], sizes["nc"], sizes["nphi"]
    outputs = kernel.out_size("assembly")
    work = Work.new(
        {"shakes": shakes.size, "area": least_norm_area(nc, nv)},
        nq=sizes["nq"], nv=nv, nc=nc, nphi=nphi, na=outputs - (nphi + nc * nv + nc + 1),
    )  # fmt: skip
    work.shakes[:] = shakes.ravel()
    work.tries = 1 + len(shakes)
    work.is_length[:] = [x.unit == FORCE for x in labels["lam"]]
    work.is_slide[:] = [x.unit == "m/s" for x in labels["v"]]
    for name in ENTRIES:
        work.ints[Work.fields[name].slot] = kernel.address(name)
    return work


@final
class Assembler:
    """Closes the loops of one kernel from many starts, with parameters that vary.

    Args:
        kernel: machine code with the entries `assembly` and `retract`.
        shakes: local coordinates that further attempts begin with, shape (attempts − 1, nv).
    """

    def __init__(self, kernel: Kernel, shakes: Array) -> None:
        if hasattr(kernel, "compile"):
            kernel.compile(*ENTRIES)
        self._work = work_of(kernel, shakes)
        self._kernel = kernel  # its code lives as long as this
        work = max(map(kernel.work_size, ENTRIES))
        self._scratch = np.zeros(max(1, work))
        self._call = _compiled().function(assemble_each)

    def __call__(
        self, t: float, q: Array, v: Array, u: Array, p: Array, held: NDArray[np.int64]
    ) -> Rows:
        """Assembles every row.

        Args:
            t: the time [s].
            q: where the search begins, shape (rows, nq).
            v: the speeds that each level begins with, shape (rows, levels, nv).
            u: inputs, shape (rows, nu).
            p: parameters, shape (rows, np).
            held: 1 for what is held, shape (2, levels, nv): of positions, of speeds.
        """
        rows, levels = v.shape[:2]
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        u, p = np.ascontiguousarray(u, dtype=float), np.ascontiguousarray(p, dtype=float)
        masks = np.ascontiguousarray(held, dtype=np.int64)
        status = np.zeros(rows, dtype=np.int64)
        self._work.t = t
        listed: tuple[Any, ...] = (
            address(self._work), rows, levels, address(masks), address(q), address(v), address(u),
            u.shape[1], address(p), p.shape[1], address(status), address(self._scratch),
        )  # fmt: skip
        self._call(*listed)
        return Rows(q, v[:, 0].copy(), status, int(self._work.attempts))
