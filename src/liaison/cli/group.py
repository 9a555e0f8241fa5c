"""The commands of `liaison`: found by their files, imported when they are called.

A command is a file of a folder beside this one, or a verb (`liaison.verbs.registry`), named as the
command and marked with `@command`; its first line is the line in `liaison --help`. Listing the
commands imports none of them.

Public names: Commands, commands.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from liaison.errors import NamingError, Place
from liaison.verbs.registry import Verb, folders, verbs, verbs_in

HERE = os.path.dirname(__file__)

ORDER = (
    *("check", "simulate", "animate", "mobility", "assemble", "reduce", "singular"),
    *("parametrizations", "equilibrium", "linearize", "solutions", "verify", "motion"),
    *("motors", "convergence", "format", "derive", "build"),
)
"""In this order commands are listed; all others follow by name."""


@cache
def commands() -> dict[str, Verb]:
    """Every command by its name: files of the command line, then verbs that are commands."""
    found = {name: verb for name, verb in verbs().items() if verb.is_command}
    for folder in folders(HERE):
        own = verbs_in(os.path.join(HERE, folder), f"liaison.cli.{folder}.")
        own = {name: file for name, file in own.items() if file.is_command}
        for name in own.keys() & found.keys():
            raise NamingError.double("commands", name, place=Place(found[name].path, 1))
        found |= own
    known = [x for x in ORDER if x in found]
    return {x: found[x] for x in (*known, *sorted(found.keys() - set(known)))}


class Commands(TyperGroup):
    """A group whose commands are files."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in order."""
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now."""
        file = commands().get(cmd_name)
        return None if file is None else _imported(cmd_name, file)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One line a command, from the first line of its file."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, file.help) for name, file in commands().items()])


def _imported(name: str, file: Verb) -> Any:
    """The file as a command."""
    module = import_module(file.module)
    function: Callable[..., Any] = getattr(module, name, None) or getattr(module, f"{name}_")
    if not file.module.startswith("liaison.cli."):
        from .automatic import command_of

        function = command_of(function)
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name=name)(function)
    return typer.main.get_command(app)
