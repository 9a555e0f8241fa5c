"""Where convex bodies touch at many poses at once, for what is reported of a run.

Public names: places_along.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import final

import numpy as np

from liaison.numeric import Array
from liaison.numeric.hulls import Solid
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, i64, loop, ptr
from liaison.program.loops.records import Record, Rows, rows, size

from .field_layout import Fields, Gathered
from .kernel import PLACE, Frame, Places, Touched, Touches, find_places, table_of
from .layout import Bodies, Question
from .manifold import MOST


@final
class Asked(Record):
    """The frames of all pairs at many instants, and the places that are found there."""

    count: i64 = size()  # pairs times instants
    frame: Rows[Frame] = rows("count")
    places: Rows[Places] = rows("count")


@loop
def places_over(touches: Touches, asked: Asked, work: ptr) -> None:
    """The places of all pairs at every instant."""
    ask = Question(work)
    bodies = Bodies(touches.bodies)
    fields = Fields(touches.terrain)
    gathered = Gathered(at(work, touches.gathered))
    for number in range(asked.count):
        pair = touches.pair[number % touches.pairs]
        frame = asked.frame[number]
        for i in range(3):
            ask.p[i] = frame.p[i]
            for j in range(3):
                ask.R[i, j] = frame.R[i, j]
        find_places(
            pair, 0.0, bodies, fields, ask, gathered, asked.places[number], at(work, pair.keys)
        )


@cache
def _compiled(portable: bool) -> CompiledLoops:
    return compile_loops([places_over], portable=portable)


def places_along(
    pairs: Sequence[tuple[str, Solid, Touched]], frames: Array, *, portable: bool = False
) -> Array:
    """What loops find of every place of every pair.

    Args:
        pairs: a name and two bodies each; None in the place of the plane z = 0.
        frames: R row by row and p of the first of each pair, seen from the second, shape
            (n, 12 pairs).
        portable: the same bits on every machine.

    Returns:
        n on the first body or on the second, a, b and their radii of eight places of each pair,
        shape (n, pairs, 8, 14). A place that is not in use has n = 0 and a inside its body.
    """
    count = len(frames)
    touches = table_of(pairs)
    asked = Asked.new(count=count * len(pairs))
    asked.frame.floats[:] = np.reshape(frames, (count * len(pairs), Frame.header))
    _compiled(portable)[places_over](touches, asked, np.zeros(int(touches.rest)))
    out: Array = asked.places.floats.reshape(count, len(pairs), MOST, PLACE).copy()
    for k, (_, first, _) in enumerate(pairs):
        is_unused = ~np.any(out[:, k, :, :6], axis=2)
        out[:, k, :, 6:9][is_unused] = first.middle
    return out
