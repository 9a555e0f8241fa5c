"""The answer of `derive --compare`: every formalism on one mechanism, with the proof of equality.

Public names: compared.
"""

from __future__ import annotations

from typing import Any

from .corridor_compare import compare
from .model import Mechanism


def compared(mechanism: Mechanism) -> dict[str, Any]:
    """The facts as JSON has them, and the table for people."""
    found = compare(mechanism)
    end = "All that apply are proved equal."
    if not found.all_equal:
        end = "They are NOT all known to be equal: see the last column."
    elif not found.all_proved:
        end = "All that apply are equal; some of it is numerical: see the last column."
    return found.facts() | {"text": f"{mechanism.name}\n\n{found}\n\n{end}"}
