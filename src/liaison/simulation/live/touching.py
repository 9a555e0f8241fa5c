"""Contacts in a module: their modes, forces and gaps at recorded states, and where they act.

A module notes where modes change, as runs here do; between two changes the mode determines the
forces (`over_modes`). Formulas of places and directions are a series of their own, `marks`.

Public names: LiveMarks, Touching, touching_places, marks_series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.contacts.events.series import AFTER, LET_GO, SAME_INSTANT, over_modes
from liaison.program.loops.language import Loop
from liaison.program.program import Entry, Program
from liaison.simulation.events.watched import sides_in
from liaison.simulation.machine import over_saddles
from liaison.solvers.linear.dense import saddle_area

from .places import Places, Preparation

CONTACTS = ("contacts", "modes", "gaps")
"""Series that come with "contacts"."""

Notes = dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class LiveMarks:
    """Formulas of t, q, v and the parameters that are evaluated at recorded states.

    Attributes:
        formulas: flattened.
        layout: name and size of each block of them.
    """

    formulas: Sequence[Any]
    layout: Sequence[tuple[str, int]]


@final
@dataclass(frozen=True, slots=True)
class Touching:
    """Contacts prepared in a module: loops with their arguments, notes, series."""

    roots: dict[Loop[..., Any], Sequence[int | None]]
    notes: Notes
    series: dict[str, Notes]


def touching_places(preparation: Preparation) -> Touching:
    """Contacts of a run from event to event, at rows that its user puts into place."""
    contacts, own = preparation.contacts, preparation.own
    assert contacts is not None
    place, address = preparation.builder.place, preparation.places.address
    sides, run = contacts.sides, preparation.arrays.run
    nq, nv, nu = own.size("nq"), own.size("nv"), own.inputs.held.size
    nb, nr = int(sides.nb), int(sides.nr)
    table, modes = place(1 + nq + nv + nu), place(nb)
    out, work = place(2 * nb + 2 * nr + 2 * nv), place(max(1, contacts.work))
    first = address(sides.ints)
    p = address(run.ints) + 8 * run.span("p").start
    roots: dict[Loop[..., Any], Sequence[int | None]] = {
        over_modes: [first, 1, nq, nu, table, modes, p, out, work]
    }
    notes: Notes = {
        "table": table, "modes": modes, "out": out, "nb": nb, "nr": nr,
        "start": first + 8 * sides.span("at_start").start,
        "after": {str(what): mode for what, mode in AFTER.items()},
        "lets": list(LET_GO),
        "time": SAME_INSTANT * float(sides.scales.time[0]), "part": SAME_INSTANT,
    }  # fmt: skip
    if own.size("nc"):
        saddle, notes["saddle"] = _saddle(preparation)
        roots[over_saddles] = saddle
    return Touching(roots, notes, _series(preparation, nb, nr))


def _saddle(preparation: Preparation) -> tuple[list[int | None], Notes]:
    """Multipliers of the closures beside forces of contacts, by the solver with pivoting."""
    own, builder, place = preparation.own, preparation.builder, preparation.builder.place
    nv, nc = own.size("nv"), own.size("nc")
    width = len(own.program.entry("terms").outputs)
    terms, work = place(width), place(builder.work_size(own.program, "terms"))
    out = place(nv + nc)
    builder.assembly.exports["terms"] = builder.entry(own.program, "terms")
    arguments: list[int | None] = [
        1, nv, nc, width, terms, out, place(1), place(1), place(saddle_area(nv, nc))
    ]  # fmt: skip
    return arguments, {"out": terms, "work": work, "f": nv * nv + nc * nv, "solved": out}


def _series(preparation: Preparation, nb: int, nr: int) -> dict[str, Notes]:
    """Which numbers of `over_modes` each series takes; rates as their author wrote them."""
    program = preparation.own.program
    sides, labels = sides_in(program), program.labels["force"]
    signs = [-1 if x[2] == "rate" else 1 for x in sides for _ in range(x[4])]
    gaps = [b for b, block in enumerate(sides) if block[2] == "gap"]
    picked = {
        "contacts": ([x.name for x in labels], [nb + nr + k for k in range(nr)], signs),
        "gaps": ([sides[b][0] for b in gaps], gaps, [1] * len(gaps)),
        "modes": ([x[0] for x in sides], None, [1] * nb),
    }
    return {
        name: {"size": len(names), "layout": [[x, 1] for x in names], "picks": picks, "signs": s}
        for name, (names, picks, s) in picked.items()
    }


def marks_series(marks: LiveMarks, preparation: Preparation, places: Places) -> Notes:
    """Formulas as a series."""
    builder, program = preparation.builder, preparation.own.program
    layout = tuple(marks.layout)
    own = Program("marks", {"marks": Entry("marks", list(marks.formulas), layout)}, program.inputs)
    places.keep(own)
    builder.assembly.exports["marks"] = builder.entry(own, "marks")
    out = builder.place(len(marks.formulas))
    work = builder.place(builder.work_size(own, "marks"))
    size = len(marks.formulas)
    return {
        "size": size, "layout": [list(x) for x in layout], "entry": "marks", "out": out,
        "work": work,
    }  # fmt: skip
