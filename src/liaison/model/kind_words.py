"""Python functions of the registered kinds of loads and relations, by their names.

`liaison` offers them beside its own table, so that a kind whose file came later has its word at the
same door.
"""

from __future__ import annotations

from typing import Any

from liaison.model.loads.load import LOAD_KINDS
from liaison.model.relations.relation import RELATION_KINDS

from .kinds import python_word


def __getattr__(name: str) -> Any:
    """The function that describes a kind."""
    word = python_word(name, (LOAD_KINDS, RELATION_KINDS))
    if word is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return word
