"""Registry of verbs: the folders of `liaison.verbs`, and folders of your own.

A verb is one file named as the function that it defines. The file's first line says what the verb
does; the decorator `command` makes it a verb of the command line, too, with `--json`:

    "Count the bodies of a mechanism."

    from liaison.verbs.given import Given, mechanism_of
    from liaison.verbs.registry import command

    @command
    def count(given: Given, *, ground: bool = False) -> dict[str, int]:
        ...

Put it into a folder, name the folder in the variable LIAISON_VERBS (several with the separator of
PATH between them), and it is `liaison.count` in Python and `liaison count FILE` on the command
line. In a folder of this package it needs no variable.

Public names: Verb, verbs, verbs_in, folders, verb_table, command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, TypeVar

OWN = "LIAISON_VERBS"
"""The variable that names further folders of verbs."""

PACKAGE = "liaison_verbs"
"""The package as which files of further folders are imported."""

HERE = os.path.dirname(__file__)
ABOVE = os.path.dirname(HERE)

F = TypeVar("F", bound=Callable[..., object])


class Verb(NamedTuple):
    """A file with a verb; no dataclass, which would take longer to import than all of `liaison`.

    Attributes:
        name: of the verb, its function and its file.
        module: full name, as imported.
        path: of the file.
    """

    name: str
    module: str
    path: str

    @property
    def help(self) -> str:
        """The first line of the file, without its period."""
        with open(self.path, encoding="utf-8") as file:
            return file.readline().strip().strip('"').strip().removesuffix(".")

    @property
    def is_command(self) -> bool:
        """Whether the file says that its verb is one of the command line."""
        with open(self.path, encoding="utf-8") as file:
            return "\n@command\n" in file.read()


def command(function: F) -> F:
    """Makes a verb one of the command line: `given` is the file, keywords are its options."""
    return function


def verbs() -> dict[str, Verb]:
    """Every verb by its name: those of the package, then those of your own folders."""
    return {verb.name: verb for verb in _all()}


def _all() -> list[Verb]:
    listed: list[Verb] = []
    for folder in folders(HERE):
        listed += verbs_in(os.path.join(HERE, folder), f"liaison.verbs.{folder}.").values()
    own = [x for x in os.environ.get(OWN, "").split(os.pathsep) if x]
    if own:
        package = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE, "Verbs of your own."))
        package.__path__ = own
    for folder in own:
        listed += _checked(folder, {x.name: x.path for x in listed})
    return listed


def _checked(folder: str, taken: dict[str, str]) -> list[Verb]:
    """The verbs of a folder of your own.

    Args:
        folder: that LIAISON_VERBS names.
        taken: the verbs before it, and their files.

    Raises:
        ImportError: there is no such folder, or a name is taken.
    """
    if not os.path.isdir(folder):
        raise ImportError(
            f"{OWN} names the folder {folder!r}, which does not exist: make it, or leave it out of "
            f"{OWN}."
        )
    rooms = {x.partition(".")[0]: os.path.join(ABOVE, x) for x in os.listdir(ABOVE)}
    listed = list(verbs_in(folder, f"{PACKAGE}.").values())
    for verb in listed:
        other = taken.get(verb.name) or rooms.get(verb.name)
        if other:
            raise ImportError(
                f"{verb.path} is a verb {verb.name!r} of {OWN}, and that name is taken by {other}: "
                "rename one of them."
            )
    return listed


def verb_table() -> dict[str, str]:
    """Module -> the verb it offers: what the package `liaison` adds to its public names."""
    return {verb.module: verb.name for verb in _all()}


def folders(path: str) -> list[str]:
    """The sub-folders of a package, in order."""
    names = (x.name for x in os.scandir(path) if x.is_dir())
    return sorted(x for x in names if not x.startswith("_"))


def verbs_in(folder: str, prefix: str) -> dict[str, Verb]:
    """The verbs of one folder."""
    if not os.path.isdir(folder):
        return {}
    names = sorted(x[:-3] for x in os.listdir(folder) if x.endswith(".py"))
    return {
        x: Verb(x, prefix + x, os.path.join(folder, f"{x}.py"))
        for x in names
        if x.isidentifier() and not x.startswith("_")
    }
