"""Starts in a module: where its runs begin, and how its loops close again after a change.

Public names: LiveStarts, AssemblyPlaces, assembly_places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.program import Entry, Program
from liaison.simulation.assembly import ENTRIES, Work, work_of

from .places import LiveKernel, Places

LEVELS = 2
"""What the starts of a call contradict is let go in a second attempt."""

ENDS = (
    ("no configuration satisfies the closures near this start.",
     "The loops cannot close with these lengths and starts; change them back, or give a guess."),
    ("the closures have no value near this start.", "Start from another position."),
    ("the closures do not allow these speeds.", "Start with other speeds, or leave them out."),
    ("the start lies beside a change point, where two branches of the motion cross.",
     "Start on the change point itself with the speeds of one branch, or farther off it."),
)  # fmt: skip
"""Why a start cannot be assembled, in the order of `assembly`."""


@final
@dataclass(frozen=True, slots=True)
class LiveStarts:
    """The starts of a mechanism, for a module that assembles.

    Attributes:
        kernel: with the entry `assembly`.
        shakes: local coordinates that further attempts begin with.
        q: where the search begins.
        own: label -> value of the mechanism's own starts and guesses that are numbers.
        formulas: label -> formula of parameters, of the others.
        guesses: labels among them that may move.
        holds: coordinate -> velocities whose directions it holds.
        curved: labels of attitudes, which cannot be set one by one.
    """

    kernel: Kernel
    shakes: Array
    q: Array
    own: Mapping[str, float]
    formulas: Mapping[str, Any]
    guesses: Sequence[str]
    holds: Sequence[Sequence[int]]
    curved: Sequence[str]


@final
@dataclass(frozen=True, slots=True)
class AssemblyPlaces:
    """The record of an assembly in a module, arguments of its loop, and notes for its user."""

    work: Work
    arguments: tuple[int, ...]
    notes: dict[str, Any]


def assembly_places(starts: LiveStarts, places: Places, t: float) -> AssemblyPlaces:
    """An assembly prepared in a module."""
    kernel, builder = LiveKernel(starts.kernel, places), places.builder
    work = work_of(kernel, starts.shakes)
    work.t = t
    sizes = kernel.program.sizes
    nq, nv, nu, np_ = (int(sizes.get(x, 0)) for x in ("nq", "nv", "nu", "np"))
    room = {"q": nq, "v": LEVELS * nv, "u": nu, "p": np_, "held": 2 * LEVELS * nv, "status": 1}
    where = {name: builder.place(size) for name, size in room.items()}
    scratch = builder.place(max(1, *map(kernel.work_size, ENTRIES)))
    arguments = (
        places.address(work.ints), 1, LEVELS, where["held"], where["q"], where["v"], where["u"],
        nu, where["p"], np_, where["status"], scratch,
    )  # fmt: skip
    notes: dict[str, Any] = {
        "q": starts.q.tolist(),
        "own": [[name, value] for name, value in starts.own.items()],
        "guesses": list(starts.guesses),
        "holds": [list(x) for x in starts.holds],
        "curved": list(starts.curved),
        "at": [*where.values()],
    }
    if starts.formulas:
        notes["formulas"] = _formulas(starts, kernel.program, places)
    return AssemblyPlaces(work, arguments, notes)


def _formulas(starts: LiveStarts, program: Program, places: Places) -> dict[str, Any]:
    """An entry of the starts that depend on parameters."""
    builder = places.builder
    listed = [*starts.formulas.values()]
    layout = tuple((name, 1) for name in starts.formulas)
    own = Program("starts", {"starts": Entry("starts", listed, layout)}, program.inputs)
    places.keep(own)
    builder.assembly.exports["starts"] = builder.entry(own, "starts")
    out = builder.place(len(listed))
    work = builder.place(builder.work_size(own, "starts"))
    return {"labels": [*starts.formulas], "out": out, "work": work}
