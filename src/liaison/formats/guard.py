"""Numbers that are finite one by one, and too large together.

Public names: computable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from liaison.errors import ModelError, Place


@contextmanager
def computable(place: Place | None) -> Iterator[None]:
    """Turns an overflow while a record is made into a refusal with its place."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except (ArithmeticError, np.linalg.LinAlgError):
        raise ModelError(
            "the numbers here are too large to compute with: products must stay below 1.8e308.",
            place=place,
        ) from None
