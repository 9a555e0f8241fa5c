"""Workspace of a path of impulses that is followed around its turns.

Public names: Bend, Move, Path, path_sizes, REASONS, and the reasons by name.
"""

from __future__ import annotations

from typing import final

from liaison.program.loops.language import f64, i64, ptr
from liaison.program.loops.records import Record, Rows, inline, rows, size, sized

ROUGH, SWEPT, NO_SWEEPS, FEW_LEFT, NO_STEP, CAME_BACK, TOO_LONG, NO_END, TURNS = range(9)
"""How the search for impulses that were not found ended."""

REASONS = {
    ROUGH: "bodies that touch are solved, but not beside the strongest impulse of all",
    SWEPT: "too many bodies for factors, swept only",
    NO_SWEEPS: "no more sweeps were allowed",
    FEW_LEFT: "few contacts, not solved by Newton's method",
    NO_STEP: "no step along the path of impulses is short enough",
    CAME_BACK: "the path of impulses comes back to where it began",
    TOO_LONG: "the path of impulses is too long",
    NO_END: "impulses grow without end: there may be none",
    TURNS: "moments against rolling and pivoting, and impulses, in turns that do not end",
}
"""The same in words."""


@final
class Move(Record):
    """Changes of one contact along the path, or back to it."""

    force: ptr = inline(3)
    rate: ptr = inline(3)
    w: f64
    z: ptr = inline(3)  # λ, and what slides with softness


@final
class Bend(Record):
    """One contact on the path: its softness, its linearized law, and what is kept of it."""

    a: f64  # mobility along n
    soft: f64  # ε a along n
    soft_across: f64
    slope: f64  # of both over log τ
    z: ptr = inline(2)  # u_t + ε a f_t
    stiff: f64  # w + ε a f_n
    det: f64
    by_normal: f64  # change of λ, times `det`, with f_n
    by_slip: ptr = inline(2)  # and with z
    lean: ptr = inline(2)  # change of f_t with f_n
    T: ptr = inline(2, 2)  # and with z
    K: ptr = inline(2, 2)  # (1 − ε a T)⁻¹
    shift: ptr = inline(2)  # of z with log τ
    lag: f64  # of w behind u_n + ε a f_n
    constant: ptr = inline(3)
    first: f64  # change of λ that hangs on nothing
    kept: ptr = inline(8)  # f, u, w, λ at the last point
    was: ptr = inline(7)  # direction to the last point, and that from it
    now: ptr = inline(7)


@final
class Path(Record):
    """A path of impulses over τ, and where on it the search is."""

    most: i64 = size()  # bodies that there is room for
    room: i64 = size()  # contacts, likewise
    tau: f64
    first: f64  # τ at which it begins
    kept: f64  # τ at the last point
    kappa: f64  # softness at its beginning
    least: f64  # and what is left of it at its end
    reach: f64  # largest relative change that the next step aims at
    missed: f64  # largest relative change that brought the last step back to the path
    largest: f64  # entry of the direction
    length: f64  # of the tangent, and its sense: −1 where τ falls
    sense: f64
    was: f64  # entry of log τ in the direction to the last point, and from it
    now: f64
    shift: f64  # change of log τ back to the path
    factors: i64
    bend: Rows[Bend] = rows("room")
    back: Rows[Move] = rows("room")
    along: Rows[Move] = rows("room")
    back_speed: ptr = sized("most", "6")
    along_speed: ptr = sized("most", "6")
    kept_speed: ptr = sized("most", "6")


def path_sizes(bodies: int, capacity: int, most: int) -> dict[str, int]:
    """Counts of the path of so many bodies: none above `most`, which are only swept."""
    return {"most": bodies, "room": capacity} if bodies <= most else {"most": 0, "room": 0}
