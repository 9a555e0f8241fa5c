"""Contacts along a run: gaps, rates, modes and forces at every recorded state.

A run notes where modes change; between two changes the mode determines the forces, as it
did in the time loop.

Public names: Contacts, contacts_along, contact_series, over_modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.events import log
from liaison.simulation.events.log import entries_of
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.scales import NO_FACE
from liaison.simulation.record.series import Series
from liaison.simulation.steps import sides_layout as side
from liaison.simulation.steps.sides_layout import (
    FRICTION,
    GAP,
    LOCKED,
    OPEN,
    REGULARIZED,
    SLIP,
    STICK,
    Sides,
)
from liaison.solvers.linear.dense import dot, largest_in

from .bearings import solve_motion
from .metric import measure
from .modal import resists, write_forces
from .modal_entries import BROKEN, inside
from .next_mode import find_mode
from .one_sided import Marching
from .touching import can_stay, slip_size, still

AFTER = {
    log.CLOSES: side.CLOSED, log.OPENS: side.OPEN, log.STICKS: side.STICK,
    log.SLIPS: side.SLIP, log.ENTERS: side.CLOSED, log.LEAVES: side.OPEN,
    log.HOLDS: side.LOCKED,
}  # fmt: skip
"""The mode after an event."""

LET_GO, SAME_INSTANT = (log.SLIPS, log.OPENS, log.LEAVES), 1e-13
"""Ends of modes without an impact, and what is one instant beside the time and its unit."""

UNMOVED = 1e-6
"""Part of the largest acceleration, or of 1, in their units, up to which what is held rests."""

OUTSIDE = 1e-9
"""Load, in the unit of forces, by which a force may leave its bound."""


@final
@dataclass(frozen=True, slots=True)
class Contacts:
    """What is unilateral at every recorded state, each a table with one row an instant.

    Attributes:
        gap: of every block, 0 of those without.
        rate: u of every row.
        force: f of every row.
        effort: Dᵀ f.
        vdot: v̇.
        modes: of every block.
        margin: of every block, how far it is from where its mode ends: gap, rate, normal force, or
            what a bound of friction leaves; 0 of friction that does not stick.
    """

    gap: Array
    rate: Array
    force: Array
    effort: Array
    vdot: Array
    modes: NDArray[np.int64]
    margin: Array


@loop
def margin_of(sides: Sides, b: i64) -> f64:
    """How far a block is from the end of its mode; negative beyond it."""
    block = sides.blocks[b]
    mode = sides.mode[b]
    if block.kind == FRICTION:
        if mode != STICK or block.law == REGULARIZED or resists(sides, b) == 0:
            return 0.0
        static = sides.seen.laws[b].static
        if static <= 0.0:
            force = sides.force[block.first :]
            return -sqrt(dot(block.rows, force, force))
        return float(inside(sides, b) * static)
    if mode == LOCKED:
        return float(sides.seen.rate[block.first] + BROKEN * sides.scales.rate[b])
    if mode != OPEN:
        return float(sides.force[block.first])
    return float(sides.seen.gap[b] if block.kind == GAP else sides.seen.rate[block.first])


@loop
def write_margins(sides: Sides, out: ptr) -> None:
    """Margins of all blocks; forces that other ones could take the place of are not beyond theirs.

    Contacts that repeat each other are held by many forces, some of which lie within all bounds.
    """
    is_beyond = 0
    for b in range(sides.nb):
        out[b] = margin_of(sides, b)
        # CLOSED and STICK are one number
        if sides.mode[b] == STICK and out[b] < 0.0:
            is_beyond = 1
    if is_beyond == 1 and rests(sides) == 1:
        for b in range(sides.nb):
            if sides.mode[b] == STICK:
                out[b] = max(out[b], 0.0)


@loop
def rests(sides: Sides) -> i64:
    """1 if forces inside their bounds hold all that is closed or sticks, to `UNMOVED`."""
    size = largest_in(sides.nv, sides.vdot, sides.scales.velocity) * sides.scales.time[0]
    slack = UNMOVED * (1.0 + size)
    return 1 if can_stay(sides) >= -slack else 0


@loop
def over_modes(
    sides: Sides, count: i64, nq: i64, nu: i64, table: ptr, modes: iptr, p: ptr, out: ptr,
    work: ptr,
) -> None:  # fmt: skip
    """Gap, rate, force, Dᵀf, v̇, margin at every row (t, q, v, u) of a table."""
    nv = sides.nv
    size = 2 * sides.nb + 2 * sides.nr + 2 * nv
    for i in range(count):
        row = at(table, i * (1 + nq + nv + nu))
        q = at(row, 1)
        v = at(q, nq)
        measure(sides, row[0], q, v, at(v, nv), p, work)
        direct(sides, at(modes, i * sides.nb), v)
        solve_motion(sides, row[0], q, v, at(v, nv), p, work)
        values = at(out, i * size)
        for j in range(nv):
            values[sides.nb + 2 * sides.nr + nv + j] = sides.vdot[j]
        bear_inside(sides)
        for b in range(sides.nb):
            values[b] = sides.seen.gap[b]
        for k in range(sides.nr):
            values[sides.nb + k] = sides.seen.rate[k]
            values[sides.nb + sides.nr + k] = sides.force[k]
        for j in range(nv):
            effort = 0.0
            for k in range(sides.nr):
                effort += sides.seen.D[k, j] * sides.force[k]
            values[sides.nb + 2 * sides.nr + j] = effort
        write_margins(sides, at(values, size - sides.nb))


@loop
def bear_inside(sides: Sides) -> None:
    """Forces inside their bounds, where the ones of the mode are not and these keep its rest too.

    Contacts that repeat each other are held by many forces; v̇ is the same for all that press what
    slips alike.
    """
    is_outside = 0
    for b in range(sides.nb):
        block = sides.blocks[b]
        mode = sides.mode[b]
        if (
            block.kind == FRICTION
            and mode == STICK
            and inside(sides, b) < -OUTSIDE * sides.scales.force[b]
        ):
            is_outside = 1
    if is_outside == 1 and rests(sides) == 1:
        forces = sides.touching[sides.active :]
        if press_alike(sides, forces) == 1:
            write_forces(sides, forces)


@loop
def press_alike(sides: Sides, forces: ptr) -> i64:
    """1 if what slips is pressed by other forces as it is by those of the mode."""
    for a in range(sides.active):
        row = sides.listed[a]
        for b in range(sides.nb):
            block = sides.blocks[b]
            if block.kind == FRICTION and sides.mode[b] == SLIP and block.load >= 0:
                limit = OUTSIDE * (sides.scales.force[block.load] + abs(sides.force[row]))
                is_load = 1 if sides.blocks[block.load].first == row else 0
                if is_load == 1 and not (abs(forces[a] - sides.force[row]) <= limit):
                    return 0
    return 1


@loop
def direct(sides: Sides, modes: iptr, v: ptr) -> None:
    """Takes the modes, and the way of every slip: where it only begins, from accelerations."""
    limit = still(sides, v)
    begins = 0
    for b in range(sides.nb):
        # a place of hulls that is not there at this instant holds nothing, and nothing is held by
        # friction where nothing presses
        block = sides.blocks[b]
        if block.kind == GAP and sides.seen.gap[b] == NO_FACE:
            modes[b] = OPEN
        if block.kind == FRICTION and block.load >= 0 and modes[block.load] == OPEN:
            modes[b] = OPEN
        sides.mode[b] = modes[b]
        # what is left of the run's last switch is not of this instant
        sides.before[b] = modes[b]
        sides.ended[b] = 0
        is_friction = 1 if sides.blocks[b].kind == FRICTION else 0
        if (
            is_friction == 1
            and modes[b] == SLIP
            and slip_size(sides, b) <= limit * sides.scales.rate[b]
        ):
            sides.before[b] = STICK
            sides.ended[b] = 1
            begins = 1
    if begins == 1:
        find_mode(sides, limit)
    for b in range(sides.nb):
        block = sides.blocks[b]
        sides.mode[b] = modes[b]
        if block.kind == FRICTION:
            size = slip_size(sides, b)
            for k in range(block.rows):
                if size > limit * sides.scales.rate[b]:
                    row = block.first + k
                    sides.slip[row] = sides.seen.rate[row] / size


@cache
def _compiled(portable: bool) -> CompiledLoops:
    return compile_loops([over_modes], portable=portable)


def contacts_along(run: Marching, plan: Plan, rows: Array, event_rows: Array) -> Contacts:
    """Contacts at every recorded row (t, q, v, u) of a run.

    Args:
        run: as it stands at the end.
        plan: of the free mechanism.
        rows: recorded states; of two at one instant the first is before the event there.
        event_rows: rows of the log.
    """
    is_stepped = plan.settings.tableau.scheme == "moreau"
    modes = modes_along(run, rows[:, 0], event_rows, is_stepped=is_stepped)
    sides = run.sides.copy()
    nv, nb, nr = int(sides.nv), int(sides.nb), int(sides.nr)
    out = np.zeros((len(rows), 2 * nb + 2 * nr + 2 * nv))
    nq, nu = plan.size("nq"), plan.inputs.held.size
    table, work = np.ascontiguousarray(rows), np.zeros(max(1, run.work))
    compiled = _compiled(plan.kernel.portable)[over_modes]
    compiled(sides, len(rows), nq, nu, table, modes, plan.parameters, out, work)
    cuts = np.cumsum([nb, nr, nr, nv, nv])
    gap, rate, force, effort, vdot, margin = np.split(out, cuts, axis=1)
    return Contacts(gap, rate, force, effort, vdot, modes, margin)


def modes_along(
    run: Marching, t: Array, event_rows: Array, *, is_stepped: bool = False
) -> NDArray[np.int64]:
    """The mode of every block at recorded instants.

    What an input that jumps lets go ends a rounding after the jump, and is recorded at it. Moreau's
    steps find modes as they go: those of the first one hold where it begins.
    """
    nb = int(run.sides.nb)
    time = float(run.sides.scales.time[0])
    changes = [(x.t, x.first, x.what) for x in entries_of(event_rows) if x.what >= 0]
    now, modes, k = run.sides.at_start.copy(), np.zeros((len(t), nb), dtype=np.int64), 0
    for i, instant in enumerate(t):
        again = i > 0 and t[i - 1] == instant
        while k < len(changes) and (
            changes[k][0] < instant
            or ((again or (is_stepped and i == 0)) and changes[k][0] == instant)
            or (
                changes[k][2] in LET_GO
                and instant < changes[k][0] <= instant + SAME_INSTANT * (time + abs(instant))
            )
        ):
            _, block, what = changes[k]
            now[block] = AFTER.get(what, now[block])
            k += 1
        modes[i] = now
    return modes


def contact_series(plan: Plan, contacts: Contacts) -> dict[str, Series]:
    """Forces and rates by row, gaps and modes by block, power lost by group of friction.

    Relations of rates are reported as their author wrote them: W v + w ≤ 0, with μ ≤ 0.
    """
    sides, labels = plan.program.facts["sides"], plan.program.labels["force"]
    rows, units = tuple(x.name for x in labels), tuple(x.unit for x in labels)
    sign = np.array([-1 if x[2] == "rate" else 1 for x in sides for _ in range(x[4])])
    rates = tuple("rad/s" if unit != "N" else "m/s" for unit in units)
    gaps = [b for b, block in enumerate(sides) if block[2] == "gap"]
    reach = tuple("rad" if units[sides[b][3]] != "N" else "m" for b in gaps)
    groups = tuple(block[0] for block in sides if block[2] == "friction")
    blocks = {"block": tuple(x[0] for x in sides)}
    return {
        "contacts": Series(contacts.force * sign, units, {"contact": rows}),
        "slips": Series(contacts.rate * sign, rates, {"contact": rows}),
        "gaps": Series(contacts.gap[:, gaps], reach, {"gap": tuple(sides[b][0] for b in gaps)}),
        "dissipated": Series(_dissipated(sides, contacts), "W", {"group": groups}),
        "modes": Series(contacts.modes.astype(float), "", blocks),
        "margins": Series(contacts.margin, "", blocks),
    }


def _dissipated(sides: Sequence[tuple[Any, ...]], contacts: Contacts) -> Array:
    """−f · u of every block of friction [W]."""
    power = -contacts.force * contacts.rate
    groups = [(block[3], block[4]) for block in sides if block[2] == "friction"]
    totals = [power[:, first : first + rows].sum(axis=1) for first, rows in groups]
    return np.stack(totals, axis=1) if totals else np.zeros((len(power), 0))
