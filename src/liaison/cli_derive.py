"""The verb derive: the equations of motion as people and programs read them.

Public names: derive.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_options import Debug, Json, Model, Values, printed, written

if TYPE_CHECKING:
    from .model import Mechanism

FORMATS = "text, latex, sympy, html, notebook; entries (every formula with shared parts), c."


def derive(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "newton_euler",
    form: Annotated[str, typer.Option("--format", help=FORMATS)] = "text",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write there.")] = None,
    digits: Annotated[int, typer.Option(min=2, max=17, help="Of decimals, for reading.")] = 6,
    is_compared: Annotated[
        bool, typer.Option("--compare", help="All formalisms: sizes, times, and proof of equality.")
    ] = False,
    level: Annotated[
        str | None, typer.Option(help="vector, matrix or scalar: by Newton and Euler, to read.")
    ] = None,
    expand: Annotated[
        list[str] | None, typer.Option(metavar="TERM", help='One level down: "gamma(G1)".')
    ] = None,
    basis: Annotated[str, typer.Option(metavar="BODY", help="Of matrices, scalars.")] = "ground",
    bodies: Annotated[
        list[str] | None, typer.Option("--body", help="Of a sub-system, for --level.")
    ] = None,
    point: Annotated[str | None, typer.Option(help="Of its moments: O0, O1, G1, …")] = None,
    parametrization: Annotated[
        str, typer.Option(help="Coordinates: minimal, joint, full_joint or cartesian.")
    ] = "joint",
    treat: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=HOW", help="A constraint: eliminate, multiplier or reaction."),
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="The generation from bodies to loops, step by step.")
    ] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=MODE",
            help='One mode of contacts: "floor=closed" (or open), "floor: sliding=slips" (or '
            "sticks); repeat it, or put commas.",
        ),
    ] = None,
    is_own: Annotated[
        bool, typer.Option("--own", help="In the formalism's own words: H, S, γ, screws, …")
    ] = False,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the equations of motion: short for reading, as a document, or as C99."""
    from .cli_values import asked, check_folders

    _check_together(
        {"--compare": is_compared, "--own": is_own, "--level": level, "--steps": steps,
         "--treat": treat, "--parametrization": parametrization != "joint", "--mode": mode},
        {"--expand": expand, "--body": bodies, "--point": point, "--basis": basis != "ground"},
    )  # fmt: skip
    _check_words(formalism, form, parametrization)
    check_folders(out)
    mechanism = asked(file, values).mechanism
    if is_compared:
        from .cli_compare import compared

        found = compared(mechanism)
    elif is_own or level or steps:
        terms = {"expand": expand or (), "bodies": bodies or (), "basis": basis, "point": point}
        found = _pages(mechanism, formalism if is_own else "", level, form, digits, terms)
    elif treat or parametrization != "joint":
        from .cli_parametrizations import told_in, treatment_of

        ways = treatment_of(mechanism, treat, parametrization)
        chosen = {"parametrization": parametrization, "treatment": ways}
        found = told_in(mechanism, formalism, form, digits, chosen)
    else:
        found = _formulas(mechanism, formalism, form, digits, mode)
    _answer({"formalism": formalism, "format": form} | found, out, as_json)


def _pages(
    mechanism: Mechanism,
    own: str,
    level: str | None,
    form: str,
    digits: int,
    terms: dict[str, Any],
) -> dict[str, Any]:
    """In a formalism's own words, at a level of detail, or step by step; contacts are left out.

    Args:
        mechanism: whose equations.
        own: the formalism whose words; "" for another page.
        level: vector, matrix or scalar; None for the steps of the generation.
        form: text, latex, …
        digits: of decimals.
        terms: what a level is told besides.
    """
    if own:
        from .cli_own import own_words

        found = own_words(mechanism, own, digits)
    elif level is not None:
        from .cli_levels import at_level

        found = at_level(mechanism, level, form, terms)
    else:
        from .cli_parametrizations import generated

        found = generated(mechanism, form)
    return found | _left_out(found["text"], mechanism, form)


def _formulas(
    mechanism: Mechanism, formalism: str, form: str, digits: int, mode: list[str] | None
) -> dict[str, Any]:
    """The equations made short, of one mode where asked for, or all of them as they are."""
    from liaison import cli_forms

    from .cli_values import named_by

    if form in cli_forms.READINGS:
        with named_by("--mode"):
            return cli_forms.reading(mechanism, formalism, form, digits, modes_of(mode))
    if mode:
        message = f"a mode is for reading; take {', '.join(cli_forms.READINGS)}."
        raise typer.BadParameter(message, param_hint="--format")
    return cli_forms.listed(mechanism, formalism, form)


def _left_out(text: str, mechanism: Mechanism, form: str) -> dict[str, Any]:
    """Says so below an answer that does not show what holds on one side only."""
    from liaison.model.contacts import left_out

    told = left_out(mechanism.contacts)
    if not told or told in text:
        return {"left_out": told} if told else {}
    mark = "% " if form == "latex" else ""
    return {"text": f"{text.rstrip()}\n\n{mark}{told}\n", "left_out": told}


def modes_of(texts: list[str] | None) -> dict[str, str] | None:
    """ "floor=closed, floor: sliding=slips" as names and modes; None where none is asked for."""
    found: dict[str, str] = {}
    for text in ",".join(texts or ()).split(",") if texts else ():
        name, equal, word = (part.strip() for part in text.rpartition("="))
        if not equal or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=MODE.", param_hint="--mode")
        found[name] = word
    return found if texts else None


def _check_words(formalism: str, form: str, parametrization: str) -> None:
    """Refuses words that none of the options knows."""
    from liaison import cli_forms
    from liaison.tree.parametrize.cartesian import known_parametrization

    from .cli_values import check_word, named_by
    from .equations import FORMALISMS

    check_word("--formalism", formalism, FORMALISMS)
    check_word("--format", form, (*cli_forms.READINGS, *cli_forms.FORMS))
    with named_by("--parametrization"):
        known_parametrization(parametrization)


def _check_together(answers: dict[str, Any], of_levels: dict[str, Any]) -> None:
    """Refuses options that ask for two answers at once, or that another option must go with."""
    given = [name for name, is_given in answers.items() if is_given]
    if len(given) > 1 and {*given} != {"--treat", "--parametrization"}:
        message = f"{' and '.join(given)} ask for different answers; give one of them."
        raise typer.BadParameter(message, param_hint=given[1])
    for name, is_given in of_levels.items():
        if is_given and not answers["--level"]:
            message = "it is for the levels; give --level vector, matrix or scalar too."
            raise typer.BadParameter(message, param_hint=name)


def _answer(facts: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Prints the text, or writes it where that is asked for."""
    if out:
        out.write_text(facts["text"], encoding="utf-8")
        facts |= written(out=out)
    printed(facts, f"{out}: written" if out else facts["text"].rstrip("\n"), as_json)
