"""The table of formalisms: each is a function of a tree under `@formalism`, in a file of its own.

Public names: formalism, Formalisms, REGISTERED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, final

from liaison.equations.equations import Equations
from liaison.errors import DerivationError

Derivation: TypeAlias = Callable[..., Equations]
Function = TypeVar("Function", bound=Derivation)

LAST = 1000
"""Rank of formalisms that have none: behind the others, in the order of definition."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One formalism: its function, its place in tables, and its options where it is proved."""

    derive: Derivation
    rank: int = LAST
    proof: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@final
class Formalisms(Mapping[str, Derivation]):
    """Formalisms by name: functions of a tree, with options of their own."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def __getitem__(self, name: str) -> Derivation:
        return self._rows[name].derive

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._rows, key=lambda name: self._rows[name].rank))

    def __len__(self) -> int:
        return len(self._rows)

    def for_proof(self, name: str) -> Mapping[str, Any]:
        """Options with which its equations are polynomial enough to be proved equal."""
        return self._rows[name].proof

    def add(self, name: str, row: Row) -> None:
        """Registers a formalism by its name.

        Raises:
            DerivationError: the name is taken.
        """
        if name in self._rows:
            raise DerivationError(
                f"there is a formalism {name!r} already.",
                hint="Give the function another name.",
            )
        self._rows[name] = row

    def remove(self, name: str) -> None:
        """Forgets a formalism."""
        del self._rows[name]

    @contextmanager
    def including(self, *functions: Derivation) -> Iterator[None]:
        """Formalisms that are known, by the names of their functions, within a `with` block."""
        known = dict(self._rows)
        try:
            for function in functions:
                self.add(function.__name__, Row(function))
            yield
        finally:
            self._rows.clear()
            self._rows.update(known)


REGISTERED = Formalisms()
"""Those whose files are loaded; `FORMALISMS` of the room has all."""


def formalism(
    *, rank: int = LAST, proof: Mapping[str, Any] | None = None
) -> Callable[[Function], Function]:
    """Decorator of a function of a tree: it becomes the formalism of its name.

    Args:
        rank: its place in tables.
        proof: options of the function where its equations are proved equal to others.
    """

    def registered(function: Function) -> Function:
        REGISTERED.add(function.__name__, Row(function, rank, MappingProxyType(dict(proof or {}))))
        return function

    return registered
