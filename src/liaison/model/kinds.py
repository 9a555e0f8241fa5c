"""Registries of kinds: a load, a relation or a contact shape is one class, found by its keyword.

A kind says of itself its words, its properties with units, its formulas and its symbol; readers,
writers, equations and pictures derive their tables from the registry. A file that is put into the
folder of a family registers its kinds when the family is imported.

Public names: Property, Kinds, Derived, SYMBOLS, python_word, discover.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar, final

from liaison.errors import ModelError

T = TypeVar("T", bound=type)
V = TypeVar("V")

SYMBOLS = frozenset(
    [
        "coil",
        "strut",
        "dashpot",
        "motor",
        "arrow",
        "field",
        "none",
        "law",
        "gear",
        "formula",
        "wheel",
        "point",
        "sphere",
        "cylinder",
        "capsule",
        "box",
        "ellipsoid",
        "mesh",
        "edge",
        "plane",
        "hollow",
        "surface",
        "cam",
        "ribbon",
        "terrain",
    ]
)
"""Words for how a kind is drawn; `view` has a drawing for each, a front end may have its own."""


@final
@dataclass(frozen=True, slots=True)
class Property:
    """A property of a kind: its word in a text, the field that it fills, its SI unit."""

    key: str
    unit: str = (
        ""  # along a length; "any" is not checked, "@other" is that of the coordinate other,
    )
    # "@a/@b" that of a by b
    turning: str | None = None  # unit along an angle, where it differs
    field: str = ""  # where it is not called as the key
    optional: bool = False  # may be left out: the field has a default
    vector: bool = False  # three components
    shape: Any = False  # a shape, such as a hull; a function of (value, what, place) makes it

    @property
    def name(self) -> str:
        """The field that it fills."""
        return self.field or self.key

    def unit_along(self, is_angle: bool) -> str:
        """Its unit where the load acts along an angle, or along a length."""
        return self.unit if self.turning is None or not is_angle else self.turning


@final
class Kinds(Generic[T]):
    """The classes of a family, in the order of their registration."""

    def __init__(
        self, family: str, needs: Iterable[str] = (), unique: str = "LSD", home: str = ""
    ) -> None:
        """Makes an empty family.

        Args:
            family: what its kinds are called in messages.
            needs: parts that every class has to have, besides WORD and SYMBOL.
            unique: the part by which a class is found.
            home: the package whose files register the kinds; loaded when they are first read.
        """
        self.family, self.unique, self.version = family, unique, 0
        self._needs = ("WORD", "SYMBOL", *needs)
        self._kinds: list[T] = []
        self._home = home

    def register(self, kind: T) -> T:
        """Adds a class, as a decorator; checks that it says what every kind has to say.

        Raises:
            ModelError: a word is missing, taken, or no symbol of `SYMBOLS`.
        """
        for part in self._needs:
            if not getattr(kind, part, ""):
                message = f"the {self.family} kind {kind.__name__} has no {part}."
                raise ModelError(message, hint=f"Set {part} in the class.")
        word, symbol = self.word(kind), kind.SYMBOL  # type: ignore[attr-defined]
        if symbol not in SYMBOLS:
            message = f"the {self.family} kind {kind.__name__} has the symbol {symbol!r}."
            raise ModelError(message, hint=f"Symbols: {', '.join(sorted(SYMBOLS))}.")
        if any(self.word(other) == word for other in self._kinds):
            message = f"there is a {self.family} kind {word!r} already."
            raise ModelError(message, hint=f"Give {kind.__name__} another {self.unique}.")
        self._kinds.append(kind)
        self.version += 1
        return kind

    def loaded(self) -> list[T]:
        """The classes, the files of the family's home loaded before."""
        if self._home:
            home, self._home = self._home, ""
            discover(home, sys.modules[home].__path__)
        return self._kinds

    def remove(self, kind: T) -> None:
        """Takes a class out again."""
        self._kinds.remove(kind)
        self.version += 1

    def word(self, kind: T) -> str:
        """The word by which a class is found, its own in the family."""
        return str(getattr(kind, self.unique))

    def named(self, word: str) -> T | None:
        """The class of a word; None if there is none."""
        return next((kind for kind in self.loaded() if self.word(kind) == word), None)

    def __iter__(self) -> Iterator[T]:
        return iter(self.loaded())

    def __contains__(self, kind: object) -> bool:
        return kind in self.loaded()

    def __len__(self) -> int:
        return len(self.loaded())


@final
class Derived(Mapping[str, V]):
    """A table made from registries, and made anew when a kind was added."""

    def __init__(self, make: Callable[[], dict[str, V]], *families: Kinds[Any]) -> None:
        self._make, self._families = make, families
        self._seen: tuple[int, ...] = ()
        self._table: dict[str, V] = {}

    def _now(self) -> dict[str, V]:
        versions = tuple(family.version for family in self._families)
        if versions != self._seen:
            self._table, self._seen = self._make(), versions
        return self._table

    def __getitem__(self, key: str) -> V:
        return self._now()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


def python_word(name: str, families: Iterable[Kinds[Any]]) -> Any:
    """The function that describes a kind in Python, by its name; None if no kind has it.

    It stands in the module of its class.
    """
    for family in families:
        for kind in family:
            if getattr(kind, "PYTHON", "") == name:
                return getattr(sys.modules[kind.__module__], name, None)
    return None


def discover(package: str, path: Iterable[str]) -> None:
    """Imports every module of a family's folder, so that its kinds are registered."""
    for module in sorted(iter_modules(path)):
        import_module(f"{package}.{module.name}")
