"""Say what a mechanism is: bodies, joints, loops, freedoms.

Public names: check.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import (
    Debug,
    Floating,
    Json,
    Lenient,
    Merged,
    Model,
    Starts,
    Values,
    printed,
)
from liaison.verbs.registry import command


@command
def check(
    file: Model,
    values: Values = None,
    start: Starts = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what was deduced, and how the tree was chosen.")
    ] = False,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism is: bodies, joints, loops, coordinates, parameters."""
    from liaison.cli.pages import sides
    from liaison.cli.pages.summary import notes, summary
    from liaison.cli.values import asked_of, reader_options
    from liaison.formats.read import reading
    from liaison.verbs.analyse import check as verb

    found = reading(file, **reader_options(file, lenient, floating, merge_fixed))
    given = asked_of(found.mechanism, values, start)
    facts = verb.check(given.mechanism, given.start)
    extra = {"notes": list(found.notes)}
    if explain:
        from liaison.formats.lsd.explain import explained

        extra["assignments"] = explained(file, found)
    text = summary(facts, explain=explain) + notes(extra)
    whole = facts.to_dict() | extra | {"diagnostics": facts.warnings(str(file))}
    whole["contacts"] = sides.sides(facts)
    whole["collisions"] = sides.collisions(facts)
    printed(whole, text, as_json)
