"""Broad phase: which boxes overlap, by sweeping over them in the order of their left sides.

Public names: sweep_and_prune.

Source: docs/theory/time_stepping.md; COH95 §3 (sort and sweep with coherence between steps).
"""

from __future__ import annotations

from liaison.program.loops.language import i64, iptr, loop
from liaison.program.loops.records import Rows

from .layout import Extent, Pair


@loop
def sweep_and_prune(
    count: i64, boxes: Rows[Extent], order: iptr, capacity: i64, pairs: Rows[Pair]
) -> i64:
    """Pairs of boxes of different bodies that overlap.

    Args:
        count: boxes.
        boxes: their extents, and bodies; two of the same body are no pair.
        order: boxes by their left side, nearly: put right here, and used again next time.
        capacity: pairs at most.
        pairs: result, the smaller number first.

    Returns:
        How many there are; -1 if they are too many.
    """
    sort_again(count, boxes, order)
    found = 0
    for i in range(count):
        one = order[i]
        box = boxes[one]
        for j in range(i + 1, count):
            other = order[j]
            if boxes[other].low[0] > box.high[0]:
                break
            if box.body != boxes[other].body and overlap(box, boxes[other]) == 1:
                if found >= capacity:
                    return -1
                pairs[found].first = min(one, other)
                pairs[found].second = max(one, other)
                found += 1
    return found


@loop
def sort_again(count: i64, boxes: Rows[Extent], order: iptr) -> None:
    """Insertion: quick where little changed."""
    for i in range(1, count):
        one = order[i]
        left = boxes[one].low[0]
        j = i - 1
        while j >= 0:
            if boxes[order[j]].low[0] <= left:
                break
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = one


@loop
def overlap(a: Extent, b: Extent) -> i64:
    """1 if two boxes that overlap along x do so along y and z too."""
    if a.low[1] > b.high[1] or b.low[1] > a.high[1]:
        return 0
    return 1 if a.low[2] <= b.high[2] and b.low[2] <= a.high[2] else 0
