"""Summarize a mechanism: bodies, joints, loops, mobility.

Public names: check, notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from liaison.cli.options import WithStart, with_options
from liaison.verbs.registry import command


def notes(facts: Mapping[str, list[str]]) -> str:
    """Notes of the reader, and what it deduced; "" where there is nothing to say."""
    titles = {"notes": "Not used, or repaired:", "assignments": "Declared and deduced:"}
    lines: list[str] = []
    for key, entries in facts.items():
        if entries:
            lines += ["", titles[key], *(f"  {line}" for line in entries)]
    return "".join(f"\n{line}" for line in lines)


@command
@with_options
def check(
    *,
    call: WithStart,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what was deduced, and how the tree was chosen.")
    ] = False,
) -> None:
    """Say what a mechanism is: bodies, joints, loops, coordinates, parameters."""
    from liaison.cli.values import reader_options, request_of
    from liaison.display.page import table_text
    from liaison.display.summary import explained
    from liaison.formats.read import reading
    from liaison.verbs.analyse import check as verb

    file = call.file
    content = reading(file, **reader_options(file, call.robot))
    request = request_of(content.mechanism, call.values, call.start, guesses=call.guess)
    facts = verb.check(request.mechanism, request.start)
    extra = {"notes": list(content.notes)}
    if explain:
        from liaison.formats.lsd.explain import explained as deduced

        extra["assignments"] = deduced(file, content)
    lines = [str(facts)]
    for table in explained(facts) if explain else ():
        lines += ["", *table_text(table, len(table.rows))] if table.rows else []
    whole = facts.to_dict() | extra | {"diagnostics": facts.warnings(str(file))}
    call.answer(whole, "\n".join(lines) + notes(extra))
