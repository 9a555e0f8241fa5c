"""List, show and copy the examples that come with liaison.

Public names: examples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, printed
from liaison.verbs.registry import command


@command
def examples(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of them; without it, all.")
    ] = None,
    copy: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Copy into this folder.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the examples that come with liaison, print one, or copy them."""
    from liaison.cli.values import named_by
    from liaison.formats.examples import examples as known_examples

    known = known_examples()
    with named_by("NAME"):
        chosen = list(known.values()) if name is None else [known[name]]
    facts = [{"name": x.name, "summary": x.summary, "file": str(x.path)} for x in chosen]
    if copy is not None:
        folders = [copy / Path(x.name).parent if name is None else copy for x in chosen]
        copies = [str(x.copy(folder)) for x, folder in zip(chosen, folders, strict=True)]
        printed({"copies": copies}, "\n".join(f"{x}: written" for x in copies), as_json)
    elif name is None:
        printed({"examples": facts}, str(known), as_json)
    else:
        printed(facts[0] | {"text": chosen[0].text}, chosen[0].text.rstrip("\n"), as_json)
