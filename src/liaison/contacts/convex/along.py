"""Where convex bodies touch at many poses at once, for what is reported of a run.

Public names: places_along.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from liaison.numeric import Array
from liaison.numeric.hulls import Solid
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, i64, loop, ptr

from .kernel import PLACE, Frame, Places, Touches, find_places, table_of
from .layout import Bodies, Question
from .manifold import MOST

FRAME, PLACES = Frame.header, Places.header


@loop
def places_over(touches: Touches, count: i64, frames: ptr, out: ptr, work: ptr) -> None:
    """The places of all pairs at every row of frames."""
    ask = Question(work)
    bodies = Bodies(touches.bodies)
    for row in range(count):
        for k in range(touches.pairs):
            pair = touches.pair[k]
            number = row * touches.pairs + k
            frame = Frame(at(frames, number * FRAME))
            for i in range(3):
                ask.p[i] = frame.p[i]
                for j in range(3):
                    ask.R[i, j] = frame.R[i, j]
            places = Places(at(out, number * PLACES))
            find_places(pair, bodies, ask, places, at(work, pair.keys))


@cache
def _compiled(portable: bool) -> CompiledLoops:
    return compile_loops([places_over], portable=portable)


def places_along(
    pairs: Sequence[tuple[str, Solid, Solid | None]], frames: Array, *, portable: bool = False
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
    out, work = np.zeros((count, len(pairs), MOST, PLACE)), np.zeros(int(touches.rest))
    table = np.ascontiguousarray(frames, dtype=float)
    _compiled(portable)[places_over](touches, count, table, out, work)
    for k, (_, first, _) in enumerate(pairs):
        is_unused = ~np.any(out[:, k, :, :6], axis=2)
        out[:, k, :, 6:9][is_unused] = first.middle
    return out
