"""What a reader gives besides the mechanism: what it did not use, and what it deduced.

Public names: Reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.model import Mechanism


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """A mechanism, notes on what of the file it does not hold, and what was deduced."""

    mechanism: Mechanism
    notes: tuple[str, ...] = ()
    deduced: tuple[str, ...] = ()
