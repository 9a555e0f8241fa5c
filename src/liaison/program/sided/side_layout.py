"""The record of unilateral rows of a tree of many bodies.

Rows of contacts and of what is written out are those of a `CutSystem` of their own, in the order of
its multipliers; here stand their blocks.

Public names: SideSystem, Bearing, LAW_SIZE.
"""

from __future__ import annotations

from liaison.equations.equations import COEFFICIENTS
from liaison.program.loops.language import i64, iptr, ptr
from liaison.program.loops.records import Record, Rows, rows, size, sized

LAW_SIZE = len(COEFFICIENTS) + 2
"""Numbers of the law of a block: coefficients, and two that hulls want."""


class Bearing(Record):
    """A joint whose force bounds friction: its place among reactions, components that count."""

    joint: i64
    parts: i64


class SideSystem(Record):
    """Blocks of unilateral rows, for as long as the kernel lives."""

    nb: i64 = size()
    nr: i64 = size()
    n_kinds: i64 = size()
    n_loads: i64 = size()  # that follow what they act along
    n_laws: i64 = size()
    n_load_laws: i64 = size()
    n_bearings: i64 = size()
    work_at: i64  # where the work of their rows begins
    reactions_at: i64  # room for reactions of all joints
    laws: iptr = sized("n_laws")  # pieces that write coefficients of blocks
    load_laws: iptr = sized("n_load_laws")
    bearings: Rows[Bearing] = rows("n_bearings")
    half_entries: iptr = sized("n_kinds")
    back_entries: iptr = sized("n_kinds")
    gaps: iptr = sized("nb")  # row of the gap of a block; −1: it has none
    counted: ptr = sized("n_loads")  # 1 of loads whose work U does not hold
    is_still: iptr = sized("nr")  # whether nothing moves along a row, whatever the position
