"""Limits of a text: size of numbers, number of bodies, depth of nesting.

What a reader gives besides the mechanism: what it did not use, and what it deduced.

Public names: computable, Computable, deep, check_bodies, MAX_BODIES, Reading, data_of.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, Place, TextError
from liaison.lazy import Shown
from liaison.model import Mechanism


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reading(Shown):
    """A mechanism, notes on what of the file it does not hold, and what was deduced.

    Example:
        >>> import liaison
        >>> content = liaison.reading("examples/arm7.urdf")
        >>> content.mechanism
        <Mechanism arm7: 9 bodies, 9 joints>
    """

    mechanism: Mechanism
    notes: tuple[str, ...] = ()
    deduced: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)  # of joints, by name


MAX_BODIES = 20_000  # of a mechanism
MAX_BYTES = 32_000_000  # of a file
FRAMES = 5_000  # calls inside calls; a formula of 100 levels takes some 1100


class Computable:
    """Turns an overflow while a record is made into an error with its place."""

    __slots__ = ("place",)

    def __init__(self, place: Place | None) -> None:
        self.place = place

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        if kind is not None and issubclass(kind, ArithmeticError | np.linalg.LinAlgError):
            raise ModelError(
                "the numbers here are too large to compute with: products must stay below 1.8e308.",
                place=self.place,
            ) from None


@contextmanager
def computable(place: Place | None) -> Iterator[None]:
    """Lets arithmetic of arrays raise where it overflows, and rejects that with its place."""
    with Computable(place), np.errstate(over="raise", invalid="raise", divide="raise"):
        yield


@contextmanager
def deep(file: str) -> Iterator[None]:
    """Room for formulas of all levels that are allowed, whoever calls; rejects what needs more."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        yield
    except RecursionError:
        raise TextError(f"{file}: definitions wait for definitions too deep.") from None
    finally:
        sys.setrecursionlimit(limit)


def check_bodies(count: int, place: Place) -> None:
    """Rejects more bodies than a mechanism may have."""
    if count > MAX_BODIES:
        message = f"there are {count} bodies; the limit is {MAX_BODIES}."
        raise TextError(message, place=place)


def data_of(path: Path) -> bytes:
    """The content of a file, unless it is too large."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise TextError(f"{path}: this is no plain file, so it has no text of a mechanism.")
        if about.st_size > MAX_BYTES:
            raise TextError(f"{path}: the file is larger than {MAX_BYTES} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise TextError(f"{path}: the file cannot be read: {error.strerror}.") from None
