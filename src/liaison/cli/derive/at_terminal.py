"""A session at a terminal: lines are read, answers printed, until it ends.

Public names: run_session.
"""

from __future__ import annotations

import sys

import typer

from liaison.model import Mechanism

PROMPT = "open> "


def run_session(mechanism: Mechanism) -> None:
    """Reads lines until `quit` or the end of the input.

    Raises:
        typer.BadParameter: the standard input is no terminal.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            "the standard input is no terminal, so nobody can answer. Give terms by --level vector "
            "--expand TERM, or take liaison.session in Python.",
            param_hint="--interactive",
        )
    from liaison.verbs.derive.session import session

    current = session(mechanism)
    print(f"{current.text}\n\n`help` lists the commands, `quit` ends.")
    while not current.is_over:
        try:
            line = input(PROMPT)
        except EOFError:
            print()
            return
        current, text = current.answer(line)
        if text:
            print(text)
