"""MJCF, MuJoCo's model files, in a documented subset. `reading_of_mjcf` makes a `Mechanism`.

Public names: read_mjcf, reading_of_mjcf.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import TextError
from liaison.model import Mechanism

from .notes import Reading


def read_mjcf(text: str | bytes, *, file: str = "text.xml", **options: Any) -> Mechanism:
    """The mechanism of an MJCF text; see `reading_of_mjcf`."""
    return reading_of_mjcf(text, file=file, **options).mechanism


def reading_of_mjcf(text: str | bytes, *, file: str = "text.xml", strict: bool = True) -> Reading:
    """The mechanism of an MJCF text, with notes."""
    raise TextError(f"{file}: MJCF is not read yet.")
