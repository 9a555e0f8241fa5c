"""Numbers with labels: states. Knows no room above it.

Public names: Array, State.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "state": "Array State",
    },
)
