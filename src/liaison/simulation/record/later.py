"""Later: fields of a record that are made when somebody first asks for them.

Public names: Later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Later:
    """A record with slots, some of which are empty until they are read.

    Attributes:
        _later: has a method for each such field, by its name, that makes it.
    """

    __slots__ = ("_later",)

    if not TYPE_CHECKING:  # which would hide names that are misspelled

        def __getattr__(self, name: str) -> Any:
            """Called where a slot is empty."""
            later = None if name.startswith("_") else getattr(self, "_later", None)
            make = getattr(later, name, None)
            if make is None:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            value = make()
            object.__setattr__(self, name, value)
            return value
