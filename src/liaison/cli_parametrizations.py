"""The verb parametrizations, and what derive prints in other coordinates than those of a tree.

Public names: parametrizations, treatment_of, told_in, generated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_options import Debug, Json, Model, Values, printed

if TYPE_CHECKING:
    from .model import Mechanism


def parametrizations(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "lagrange",
    until: Annotated[str, typer.Option(metavar="TIME", help="How long closures may drift.")] = "1",
    step: Annotated[str, typer.Option(metavar="TIME", help="Of RK4 while they do.")] = "1 ms",
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare coordinates for a mechanism: unknowns, constraints, operations, time, drift."""
    from liaison import corridor_compare

    from .cli_values import asked, check_word, run_options
    from .equations import FORMALISMS

    check_word("--formalism", formalism, FORMALISMS)
    mechanism = asked(file, values).mechanism
    times = run_options(until, step=step)
    found = corridor_compare.parametrizations(
        mechanism, formalism=formalism, until=times["until"], step=times["step"]
    )
    printed(found.facts(), str(found), as_json)


def treatment_of(
    mechanism: Mechanism, told: list[str] | None, parametrization: str = "joint"
) -> dict[str, str] | None:
    """NAME=HOW of the command line, checked: eliminate, multiplier, reaction or "reaction NAME"."""
    from liaison.equations.transform.treatment import TREATMENTS

    from .cli_values import check_names, check_word

    if not told:
        return None

    known = [joint.name for joint in mechanism.joints]
    known += [constraint.name for constraint in mechanism.constraints]
    found = {}
    for text in told or ():
        name, equals, way = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is not NAME=HOW.", param_hint="--treat")
        owner = name.rpartition(": ")[0] or name
        check_names("--treat", "joint or relation", (owner,), known)
        check_word("--treat", way.partition(" ")[0], TREATMENTS)
        found[name] = way
    if parametrization == "joint":
        _check_rows(mechanism, found)
    return found


def _check_rows(mechanism: Mechanism, told: dict[str, str]) -> None:
    """Refuses to eliminate what the coordinates of the tree have eliminated already."""
    from liaison.equations.transform.treatment import names_carriers

    from .tree import span

    tree = span(mechanism)
    if names_carriers(tree, told):
        return
    carriers = {node.joint.name: node.body for node in tree.nodes}
    for name, way in told.items():
        if way == "eliminate" and name in carriers:
            message = (
                f"joint {name!r} carries {carriers[name]!r} in the tree: its coordinates meet it "
                "already, and no row is left to eliminate. Joints that close loops have rows."
            )
            raise typer.BadParameter(message, param_hint="--treat")


def told_in(
    mechanism: Mechanism, formalism: str, form: str, digits: int, options: dict[str, Any]
) -> dict[str, Any]:
    """The facts of `derive` in a parametrization, with constraints treated as asked.

    Args:
        mechanism: of the file.
        formalism: by name.
        form: how it is written: one of READINGS or FORMS.
        digits: of decimals.
        options: parametrization and treatment.
    """
    from liaison.equations.readable.readable import readable
    from liaison.equations.readable.treated import readable_treated
    from liaison.expr.reading.text import to_unicode

    from .cli_forms import FORMS, READINGS
    from .corridor import derive
    from .corridor_reading import with_named_gravity
    from .tree import as_float

    if form in FORMS:
        equations = derive(mechanism, formalism, exact=form != "c", **options)
        sizes = {name: len(labels) for name, labels in equations.labels.items()}
        return {"sizes": sizes, "text": FORMS[form](equations)}
    equations = derive(with_named_gravity(mechanism), formalism, exact=True, **options)
    is_treated = "treatment" in equations.native
    found = readable_treated(equations) if is_treated else readable(equations)
    values = [(x.name, f"{float(as_float(x.value)):.10g} {x.unit}".rstrip())
              for x in mechanism.parameters if x.value is not None]  # fmt: skip
    found = replace(found, values=tuple(values))
    lines = [
        {"name": x.name, "left": to_unicode(x.left, digits), "right": to_unicode(x.right, digits)}
        for x in found.lines
    ]
    labels = {name: list(part) for name, part in found.labels.items()}
    return {"labels": labels, "equations": lines, "text": READINGS[form](found, digits)}


def generated(mechanism: Mechanism, form: str) -> dict[str, Any]:
    """The facts of `derive --steps`: from bodies by themselves to loops."""
    from liaison.equations.transform.generation import generation

    from .cli_values import check_word
    from .tree import span

    check_word("--format", form, ("text", "latex"))
    found = generation(span(mechanism, exact=True))
    steps = [
        {"number": x.number, "title": x.title, "laws": list(x.laws), "text": x.to_text()}
        for x in found.steps
    ]
    return {
        "formalism": "generation",
        "order": list(found.order),
        "steps": steps,
        "text": found.to_latex() if form == "latex" else str(found),
    }
