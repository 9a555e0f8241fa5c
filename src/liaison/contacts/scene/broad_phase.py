"""Broad phase: which boxes overlap, by sweeping over them in the order of their left sides.

Public names: sweep_and_prune.

Source: docs/theory/time_stepping.md; COH95 §3 (sort and sweep with coherence between steps).
"""

from __future__ import annotations

from liaison.program.loops.language import at, i64, iptr, loop, ptr

SIDES = 6  # numbers of a box: low x, y, z, high x, y, z


@loop
def sweep_and_prune(
    count: i64, boxes: ptr, owner: iptr, order: iptr, capacity: i64, pairs: iptr
) -> i64:
    """Pairs of boxes of different owners that overlap.

    Args:
        count: boxes.
        boxes: six numbers each.
        owner: of each box; two of the same owner are no pair.
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
        box = at(boxes, SIDES * one)
        for j in range(i + 1, count):
            other = order[j]
            if boxes[SIDES * other] > box[3]:
                break
            if owner[one] != owner[other] and overlap(box, at(boxes, SIDES * other)) == 1:
                if found >= capacity:
                    return -1
                pairs[2 * found] = min(one, other)
                pairs[2 * found + 1] = max(one, other)
                found += 1
    return found


@loop
def sort_again(count: i64, boxes: ptr, order: iptr) -> None:
    """Insertion: quick where little changed."""
    for i in range(1, count):
        one = order[i]
        left = boxes[SIDES * one]
        j = i - 1
        while j >= 0:
            if boxes[SIDES * order[j]] <= left:
                break
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = one


@loop
def overlap(a: ptr, b: ptr) -> i64:
    """1 if two boxes that overlap along x do so along y and z too."""
    if a[1] > b[4] or b[1] > a[4]:
        return 0
    return 1 if a[2] <= b[5] and b[2] <= a[5] else 0
