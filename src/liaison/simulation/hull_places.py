"""Places of contact that loops find, at recorded states: what formulas of hulls are evaluated with.

Public names: hull_places, places_at_rows, with_places.

Source: docs/theory/convex.md (convex-4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liaison.numeric import Array
from liaison.numeric.height_fields import HeightGrid
from liaison.numeric.hulls import Solid
from liaison.program import Kernel

from .machine import map_entry


def hull_places(
    pairs: Sequence[tuple[str, Solid, Solid | HeightGrid | None]], frames: Array
) -> Array:
    """Features of the places of pairs of bodies, shape (n, pairs, places, features).

    Args:
        pairs: a name and two bodies each; None in the place of a plane.
        frames: R row by row and p of the first of each, seen from the second, shape (n, 12 pairs).
    """
    from liaison.contacts.convex.along import places_along

    return places_along(pairs, frames)


def places_at_rows(kernel: Kernel, rows: Array, p: Array) -> Array:
    """The features of all places at every row (t, q, v, u), as x has them behind v̇, λ and f.

    Args:
        kernel: of a mechanism with contacts of hulls, or without.
        rows: states.
        p: parameters, of all rows or one row each.

    Returns:
        Shape (n, features); without columns where there are no such contacts.
    """
    pairs = kernel.program.facts.get("convex", ())
    if not pairs:
        return np.zeros((len(rows), 0))
    from liaison.contacts.convex.along import places_along

    frames = map_entry(kernel, "frames", rows, p)
    return places_along(pairs, frames, portable=kernel.portable).reshape(len(rows), -1)


def with_places(kernel: Kernel, rows: Array, p: Array, x: Array) -> Array:
    """v̇, λ and f with the features of places behind them, where there are any."""
    places = places_at_rows(kernel, rows, p)
    if not places.shape[1]:
        return x
    sizes, sides = kernel.program.sizes, kernel.program.facts["sides"]
    room = sizes["nv"] + sizes["nc"] + sum(block[4] for block in sides)
    whole = np.zeros((len(rows), room))
    whole[:, : x.shape[1]] = x
    return np.hstack([whole, places])
