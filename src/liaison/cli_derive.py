"""The verb derive: the equations of motion as people and programs read them.

Public names: derive.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli_options import Debug, Json, Model, Values, printed


def derive(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange or maximal.")
    ] = "newton_euler",
    form: Annotated[str, typer.Option("--format", help="text, latex or c.")] = "text",
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the equations of motion: as text, as LaTeX, or as C99."""
    from liaison import cli_forms, corridor
    from liaison.cli_values import asked, check_word
    from liaison.equations import FORMALISMS
    from liaison.program.lower import lower

    check_word("--formalism", formalism, FORMALISMS)
    check_word("--format", form, cli_forms.FORMS)
    mechanism = asked(file, values).mechanism
    equations = corridor.derive(mechanism, formalism, exact=form != "c")
    text = cli_forms.FORMS[form](equations)
    sizes = {name: len(labels) for name, labels in equations.labels.items()}
    facts: dict[str, Any] = {"formalism": formalism, "format": form, "sizes": sizes}
    facts |= {"arrays": cli_forms.arrays(equations), "text": text}
    if form == "c":
        facts["entries"] = cli_forms.entries(lower(equations))
    printed(facts, text, as_json)
