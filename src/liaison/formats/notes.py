"""Notes of a reader besides the mechanism: what it did not use, and what it deduced.

Public names: Reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from liaison.model import Mechanism


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """A mechanism, notes on what of the file it does not hold, and what was deduced."""

    mechanism: Mechanism
    notes: tuple[str, ...] = ()
    deduced: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)  # of joints, by name
