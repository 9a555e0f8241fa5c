"""Long lists of formulas in pieces, each compiled by itself: machine code of one grows faster.

Public names: PIECE, pieces_of, write_pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.expr import Expr
from liaison.program.loops.language import entry_at, f64, i64, iptr, loop, ptr

from .program import Entry

PIECE = 48
"""Formulas of a piece."""


def pieces_of(name: str, formulas: Sequence[Expr]) -> dict[str, Entry]:
    """Entries that write these formulas one after another, PIECE of them each, in their order."""
    parts = [formulas[k : k + PIECE] for k in range(0, len(formulas), PIECE)]
    return {f"{name} {k}": Entry(f"{name} {k}", part) for k, part in enumerate(parts)}


@loop
def write_pieces(
    count: i64, entries: iptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    scratch: ptr,
) -> None:  # fmt: skip
    """What the pieces write, one after another."""
    place = 0
    for k in range(count):
        f = entry_at(entries, k)
        f(t, q, v, u, p, x, out[place:], scratch)
        place += PIECE
