"""Poses one after another, with no arithmetic where nothing moves: exact numbers stay exact.

Public names: joined, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liaison.spatial import Array, identity, is_zero, product, vector
from liaison.spatial.arrays import plus


def exactly(rows: Any) -> Array:
    """An array of the entries, each left as it is."""
    return np.array(rows, dtype=object)


def joined(R: Array, p: Array, S: Array, s: Array) -> tuple[Array, Array]:
    """The pose (R, p) and behind it the pose (S, s)."""
    turn = S if _is_upright(R) else R if _is_upright(S) else product(R, S)
    if all(is_zero(x) for x in s):
        return turn, p
    step = s if _is_upright(R) else product(R, s)
    if all(is_zero(x) for x in p):
        return turn, vector(step)
    return turn, vector(plus(a, b) for a, b in zip(p, step, strict=True))


def _is_upright(R: Array) -> bool:
    return all(a is b or is_zero(a - b) for a, b in zip(R.flat, identity().flat, strict=True))
