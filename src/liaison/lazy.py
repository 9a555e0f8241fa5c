"""A package whose public names load when they are first asked for.

Public names: offer.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class _Offering(ModuleType):
    """A package that looks up its public names in a table of modules.

    A room may bear the name of a verb (`simulate`); importing the room must not hide the verb, so
    a submodule is never bound to an offered name.
    """

    _home: Mapping[str, str]
    _classes: str
    _further: str

    def __getattr__(self, name: str) -> Any:
        if name not in self._home:
            # classes that files of others registered are public as long as they are
            if self._classes and name[:1].isupper():
                module, _, table = self._classes.rpartition(".")
                found = getattr(import_module(module), table).by_name(name)
                if found is not None:
                    return found
            later = sys.modules.get(self._further)
            if later is not None and not name.startswith("_") and hasattr(later, name):
                return getattr(later, name)  # of a kind that was registered; it may go again
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(self._home[name]), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self._home):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self._home)


def offer(
    package: str, names: Mapping[str, str], *, classes: str = "", further: str = ""
) -> list[str]:
    """Let `package` offer public names, each loaded from its module when first used.

    Args:
        package: its dotted name, already imported.
        names: module within the package -> the names it provides, separated by spaces.
        classes: a table within the package, "module.TABLE", whose `by_name` gives further classes
            or None.
        further: module within the package whose other names are public too, once it is loaded:
            words of kinds that were registered later.

    Returns:
        All the names, for `__all__`.
    """
    home = {
        name: f"{package}.{module}" for module, words in names.items() for name in words.split()
    }
    opened = sys.modules[package]
    opened.__dict__["_home"] = home
    opened.__dict__["_classes"] = f"{package}.{classes}" if classes else ""
    opened.__dict__["_further"] = f"{package}.{further}"
    opened.__class__ = _Offering
    return sorted(home)
