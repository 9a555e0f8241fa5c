"""A matrix whose pattern is known before its entries are derived.

Public names: Deferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import final

from liaison.expr import Expr


@final
class Deferred(Mapping[tuple[int, int], Expr]):
    """A matrix by its nonzeros, derived when the first of them is looked at.

    Args:
        keys: (row, column) of the nonzeros.
        make: gives the formulas of all of them.
    """

    def __init__(
        self,
        keys: tuple[tuple[int, int], ...],
        make: Callable[[], Mapping[tuple[int, int], Expr]],
    ) -> None:
        self._keys = keys
        self._make = make

    @cached_property
    def _entries(self) -> Mapping[tuple[int, int], Expr]:
        return self._make()

    def __getitem__(self, key: tuple[int, int]) -> Expr:
        return self._entries[key]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
