"""Print the equations of motion as text, LaTeX, HTML or C.

The answer of `derive --compare`: every formalism on one mechanism, with the proof of equality.

Equations by levels on the command line: `derive --level vector|matrix|scalar --expand TERM`.

Equations in other coordinates, with constraints treated by choice, and by steps.

Public names: derive, compared, LEVELS, FORMS, at_level, treatment_of, treated_equations, generated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liaison.algebra import to_text
from liaison.cli.options import (
    Call,
    WithEvidence,
    WithValues,
    with_evidence,
    with_options,
    written,
)
from liaison.cli.values import check_word, named_by
from liaison.equations.vector.scalar_equations import ScalarEquations
from liaison.equations.vector.vector_equations import VectorEquations
from liaison.model import Mechanism
from liaison.verbs.derive.compare import compare
from liaison.verbs.derive.vector_equations import LEVELS, vector_equations
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.model import Mechanism


def treatment_of(
    mechanism: Mechanism, choices: list[str] | None, parametrization: str = "joint"
) -> dict[str, str] | None:
    """NAME=HOW of the command line, checked: eliminate, multiplier, reaction or "reaction NAME"."""
    from liaison.cli.values import check_names, check_word
    from liaison.equations.transform.treatment import TREATMENTS

    if not choices:
        return None

    known = [joint.name for joint in mechanism.joints]
    known += [constraint.name for constraint in mechanism.constraints]
    treatment = {}
    for text in choices or ():
        name, equals, way = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is not NAME=HOW.", param_hint="--treat")
        owner = name.rpartition(": ")[0] or name
        check_names("--treat", "joint or relation", (owner,), known)
        check_word("--treat", way.partition(" ")[0], TREATMENTS)
        treatment[name] = way
    if parametrization == "joint":
        _check_rows(mechanism, treatment)
    return treatment


def _check_rows(mechanism: Mechanism, treatment: dict[str, str]) -> None:
    """Raises an error for constraints that the coordinates of the tree eliminate already."""
    from liaison.equations.transform.treatment import names_carriers
    from liaison.tree import span

    tree = span(mechanism)
    if names_carriers(tree, treatment):
        return
    carriers = {node.joint.name: node.body for node in tree.nodes}
    for name, way in treatment.items():
        if way == "eliminate" and name in carriers:
            message = (
                f"joint {name!r} carries {carriers[name]!r} in the tree: its coordinates meet it "
                "already, and no row is left to eliminate. Joints that close loops have rows."
            )
            raise typer.BadParameter(message, param_hint="--treat")


def treated_equations(
    mechanism: Mechanism, formalism: str, form: str, digits: int, options: dict[str, Any]
) -> dict[str, Any]:
    """The facts of `derive` in a parametrization, with constraints treated by choice.

    Args:
        mechanism: of the file.
        formalism: by name.
        form: how it is written: one of READINGS or FORMS.
        digits: of decimals.
        options: parametrization and treatment.
    """
    from liaison.cli.derive.forms import FORMS, reading
    from liaison.verbs.derive.derive import derive

    if form in FORMS:
        equations = derive(mechanism, formalism, exact=form != "c", **options)
        sizes = {name: len(labels) for name, labels in equations.labels.items()}
        return {"sizes": sizes, "text": FORMS[form](equations)}
    return reading(mechanism, formalism, form, digits, **options)


def generated(mechanism: Mechanism, form: str) -> dict[str, Any]:
    """The facts of `derive --steps`: from bodies by themselves to loops."""
    from liaison.cli.values import check_word
    from liaison.equations.transform.generation import generation
    from liaison.tree import span

    check_word("--format", form, ("text", "latex"))
    generation_steps = generation(span(mechanism, exact=True))
    steps = [
        {"number": x.number, "title": x.title, "laws": list(x.laws), "text": x.to_text()}
        for x in generation_steps.steps
    ]
    return {
        "formalism": "generation",
        "order": list(generation_steps.order),
        "steps": steps,
        "text": generation_steps.to_latex() if form == "latex" else str(generation_steps),
    }


OWN = {
    "lagrange": "L and the momenta",
    "lagrange_reduced": "the equations in independent velocities",
    "hamilton": "H, Hamilton's equations and the momenta",
    "kane": "partial velocities",
    "boltzmann_hamel": "quasi-velocities and Hamel's coefficients",
    "gibbs_appell": "S, the energy of accelerations",
    "lie_group": "the screws of the joints",
}
"""What formalisms have in variables of their own: the equations above are alike in all of them."""

PROMPT = "open> "
"""Of a session at a terminal."""

FORMS = ("text", "latex")
SIDES = ("name", "left", "right")


def at_level(
    mechanism: Mechanism, level: str, form: str, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts of a level: its text, its equations, and which terms can be expanded.

    Args:
        mechanism: whose equations are printed.
        level: one of LEVELS.
        form: one of FORMS.
        terms: what `vector_equations` takes: expand, bodies, basis, point.
    """
    check_word("--level", level, LEVELS)
    check_word("--format", form, FORMS)
    vectors: VectorEquations | ScalarEquations
    with named_by("--level"):
        vectors = vector_equations(mechanism, level, **terms)  # type: ignore[call-overload]
    facts: dict[str, Any] = {"level": level, "basis": terms["basis"]}
    facts["text"] = vectors.latex if form == "latex" else vectors.text
    if isinstance(vectors, ScalarEquations):
        named, rows = vectors.written()
        facts["where"] = dict(named)
    else:
        rows = [(line.name, to_text(line.left), to_text(line.right)) for line in vectors.lines]
        facts |= {"names": vectors.meanings, "expandable": list(vectors.expandable)}
    return facts | {"equations": [dict(zip(SIDES, row, strict=True)) for row in rows]}


def compared(mechanism: Mechanism, *, evidence: bool = False) -> dict[str, Any]:
    """The facts for JSON, and the table as text."""
    comparison = compare(mechanism)
    text = with_evidence(str(comparison), comparison.evidence, evidence)
    return comparison.facts() | {"text": text}


if TYPE_CHECKING:
    from liaison.model import Mechanism

FORMATS = "text, latex, sympy, html, notebook; entries (every formula with shared parts), c."


@command
@with_options
def derive(
    *,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "newton_euler",
    form: Annotated[str, typer.Option("--format", help=FORMATS)] = "text",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file.")] = None,
    digits: Annotated[int, typer.Option(min=2, max=17, help="Significant digits of decimals.")] = 6,
    is_compared: Annotated[
        bool,
        typer.Option("--compare", help="Compare all formalisms: sizes, times, proof of equality."),
    ] = False,
    level: Annotated[
        str | None, typer.Option(help="Newton–Euler equations as vector, matrix or scalar.")
    ] = None,
    expand: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERM", help='Expand this term by one level, as "gamma(G1)". Repeatable.'
        ),
    ] = None,
    basis: Annotated[
        str, typer.Option(metavar="BODY", help="Body in whose axes matrices and scalars are.")
    ] = "ground",
    bodies: Annotated[
        list[str] | None,
        typer.Option("--body", help="Body of a sub-system, with --level. Repeatable."),
    ] = None,
    point: Annotated[str | None, typer.Option(help="Point of its moments: O0, O1, G1, …")] = None,
    parametrization: Annotated[
        str, typer.Option(help="Coordinates: minimal, joint, full_joint or cartesian.")
    ] = "joint",
    treat: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=HOW", help="A constraint: eliminate, multiplier or reaction."),
    ] = None,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Print every step of the derivation, from bodies to loops."),
    ] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=MODE",
            help='A mode of contact: "floor=closed" (or open), "floor: sliding=slips" (or '
            "sticks); repeat it, or put commas.",
        ),
    ] = None,
    is_own: Annotated[
        bool, typer.Option("--own", help="Use the formalism's own variables: H, S, γ, screws, …")
    ] = False,
    compiled: Annotated[
        Path | None,
        typer.Option("--assignments", metavar="FILE", help="Write the compiled form: .assign."),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Open terms one by one, at a terminal.")
    ] = False,
    evidence: WithEvidence = False,
    call: WithValues,
) -> None:
    """Print the equations of motion: short for reading, as a document, or as C99."""
    from liaison.cli.values import check_folders

    answers = {
        "--compare": is_compared, "--own": is_own, "--level": level, "--steps": steps,
        "--treat": treat, "--parametrization": parametrization != "joint", "--mode": mode,
        "--assignments": compiled, "--interactive": interactive,
    }  # fmt: skip
    _check_together(
        answers,
        {"--expand": expand, "--body": bodies, "--point": point, "--basis": basis != "ground"},
        evidence=evidence,
    )
    _check_ignored(answers, formalism, form, out)
    _check_words(formalism, form, parametrization)
    check_folders(out, compiled)
    mechanism = call.request().mechanism
    if compiled or interactive:
        _special(mechanism, formalism, compiled, call)
        return
    if is_compared:
        facts = compared(mechanism, evidence=evidence)
    elif is_own or level or steps:
        terms = {"expand": expand or (), "bodies": bodies or (), "basis": basis, "point": point}
        facts = _pages(mechanism, formalism if is_own else "", level, form, digits, terms)
    elif treat or parametrization != "joint":
        ways = treatment_of(mechanism, treat, parametrization)
        chosen = {"parametrization": parametrization, "treatment": ways}
        facts = treated_equations(mechanism, formalism, form, digits, chosen)
    else:
        facts = _formulas(mechanism, formalism, form, digits, mode)
        if form == "text" and formalism in OWN:
            facts["text"] += f"\n\n--own prints {OWN[formalism]}."
    _answer({"formalism": formalism, "format": form} | facts, out, call)


def _special(mechanism: Mechanism, formalism: str, compiled: Path | None, call: Call) -> None:
    """Writes the compiled form where that is asked for; else a session at the terminal."""
    if compiled is None:
        _run_session(mechanism)
        return
    from liaison.cli.values import check_suffix
    from liaison.verbs.derive.assignments import SUFFIX, assignments

    check_suffix("--assignments", compiled, (SUFFIX,))
    form = assignments(mechanism, formalism)
    facts = {"formalism": formalism, "assignments": len(form.formulas), "text": str(form)}
    _answer(facts, compiled, call)


def _run_session(mechanism: Mechanism) -> None:
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
        terms: further arguments of a level.
    """
    if own:
        from liaison.cli.derive.own import own_words

        facts = own_words(mechanism, own, digits)
    elif level is not None:
        facts = at_level(mechanism, level, form, terms)
    else:
        facts = generated(mechanism, form)
    return facts | _left_out(facts["text"], mechanism, form)


def _formulas(
    mechanism: Mechanism, formalism: str, form: str, digits: int, mode: list[str] | None
) -> dict[str, Any]:
    """The equations made short, of one mode where asked for, or all of them as they are."""
    from liaison.cli.derive import forms
    from liaison.cli.values import named_by

    if form in forms.READINGS:
        with named_by("--mode"):
            return forms.reading(mechanism, formalism, form, digits, modes_of(mode))
    if mode:
        message = f"a mode is for reading; take {', '.join(forms.READINGS)}."
        raise typer.BadParameter(message, param_hint="--format")
    return forms.listed(mechanism, formalism, form)


def _left_out(text: str, mechanism: Mechanism, form: str) -> dict[str, Any]:
    """A note below a result that leaves out unilateral constraints."""
    from liaison.model.contacts import left_out

    note = left_out(mechanism.contacts)
    if not note or note in text:
        return {"left_out": note} if note else {}
    mark = "% " if form == "latex" else ""
    return {"text": f"{text.rstrip()}\n\n{mark}{note}\n", "left_out": note}


def modes_of(texts: list[str] | None) -> dict[str, str] | None:
    """ "floor=closed, floor: sliding=slips" as names and modes; None where none is asked for."""
    modes: dict[str, str] = {}
    for text in ",".join(texts or ()).split(",") if texts else ():
        name, equal, word = (part.strip() for part in text.rpartition("="))
        if not equal or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=MODE.", param_hint="--mode")
        modes[name] = word
    return modes if texts else None


def _check_words(formalism: str, form: str, parametrization: str) -> None:
    """Raises an error for values that the options do not know."""
    from liaison.cli.derive import forms
    from liaison.cli.values import check_word, named_by
    from liaison.equations import FORMALISMS
    from liaison.tree.cartesian import known_parametrization

    check_word("--formalism", formalism, FORMALISMS)
    check_word("--format", form, (*forms.READINGS, *forms.FORMS))
    with named_by("--parametrization"):
        known_parametrization(parametrization)


def _check_together(answers: dict[str, Any], of_levels: dict[str, Any], *, evidence: bool) -> None:
    """Raises an error for options that exclude each other, or that need another option."""
    if evidence and not answers["--compare"]:
        message = "it is for the comparison; give --compare too."
        raise typer.BadParameter(message, param_hint="--evidence")
    present = [name for name, is_present in answers.items() if is_present]
    if len(present) > 1 and {*present} != {"--treat", "--parametrization"}:
        message = f"{' and '.join(present)} ask for different answers; give one of them."
        raise typer.BadParameter(message, param_hint=present[1])
    for name, is_present in of_levels.items():
        if is_present and not answers["--level"]:
            message = "it is for the levels; give --level vector, matrix or scalar too."
            raise typer.BadParameter(message, param_hint=name)


def _check_ignored(answers: dict[str, Any], formalism: str, form: str, out: Path | None) -> None:
    """Raises an error for options that an answer has no use for."""
    useless = {
        "--formalism": (formalism != "newton_euler", ("--level", "--steps", "--interactive")),
        "--format": (form != "text", ("--compare", "--own", "--assignments", "--interactive")),
        "--out": (out, ("--assignments", "--interactive")),
    }
    for option, (is_present, others) in useless.items():
        for other in others if is_present else ():
            if answers[other]:
                message = f"{other} has no use for it; leave one of them out."
                raise typer.BadParameter(message, param_hint=option)


def _answer(facts: dict[str, Any], out: Path | None, call: Call) -> None:
    """Prints the text, or writes it where that is asked for."""
    if out:
        from liaison.simulation.record.files import write_file

        write_file(out, facts["text"])
        facts |= written(out=out)
    call.answer(facts, f"{out}: written" if out else facts["text"].rstrip("\n"))
