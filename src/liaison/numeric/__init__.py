"""The cellar of numbers: states with labels. Knows no room above it.

Public names: Array, State.
"""

from .state import Array, State

__all__ = ["Array", "State"]
