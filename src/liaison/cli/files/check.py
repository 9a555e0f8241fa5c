"""Summarize a mechanism: bodies, joints, loops, mobility.

What a mechanism is, as text: the answer of `check`.

Public names: check, summary, notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from liaison.cli.options import (
    Debug,
    Floating,
    Guesses,
    Json,
    Lenient,
    Merged,
    Model,
    Starts,
    Values,
    printed,
)
from liaison.cli.pages.sides import (
    collision_line,
    collisions,
    side_lines,
    sides,
)
from liaison.cli.values import listed, named_value, named_values
from liaison.equations.equations import chetaev_note
from liaison.verbs.registry import command
from liaison.verbs.summary import Summary


def summary(checked: Summary, *, explain: bool = False) -> str:
    """A mechanism in a few lines; with `explain`, its tree joint by joint."""
    facts = checked.to_dict()
    known = facts["units"]
    counts = [_count(facts[x], x[:-1]) for x in ("bodies", "joints", "loops")]
    rows = {
        "": ", ".join(counts),
        "coordinates": f"{_count(facts['nq'], 'position')}, {_count(facts['nv'], 'velocitie')}",
        "closures": _closures(checked),
        "mobility": _mobility(checked),
        "mass": "depends on an unknown" if checked.mass is None else f"{checked.mass:.6g} kg",
        "gravity": " ".join("?" if x is None else f"{x:g}" for x in checked.gravity) + " m/s²",
        "forces": listed(facts["forces"]),
        "constraints": listed(facts["constraints"]),
        "parameters": named_values(facts["parameters"], known),
        "inputs": named_values(dict.fromkeys(facts["inputs"]), known, unknown=""),
        "outputs": named_values(dict.fromkeys(facts["outputs"]), known, unknown=""),
        "events": listed(facts["events"]),
        "start": _start(checked),
    }
    lines = [f"{checked.mechanism.name}: {rows.pop('')}"]
    lines += [f"  {name:<12} {text}" for name, text in rows.items() if text]
    lines += [f"  {'unilateral':<12} {line}" for line in side_lines(sides(checked))]
    if collided := collisions(checked):
        lines.append(f"  {'collisions':<12} {collision_line(collided)}")
    lines += _entries(checked)
    for name in checked.equations.facts.get("nonlinear_rates", ()):
        lines.append(f"  {'by choice':<12} {chetaev_note(name)}")
    return "\n".join(lines + (_explained(checked) if explain else []))


def notes(facts: Mapping[str, list[str]]) -> str:
    """Notes of the reader, and what it deduced; "" where there is nothing to say."""
    titles = {"notes": "Not used, or repaired:", "assignments": "Declared and deduced:"}
    lines: list[str] = []
    for key, entries in facts.items():
        if entries:
            lines += ["", titles[key], *(f"  {line}" for line in entries)]
    return "".join(f"\n{line}" for line in lines)


def _count(number: int, thing: str) -> str:
    """ "1 body", "2 bodies"."""
    singular = thing[:-2] + "y" if thing.endswith("ie") else thing
    return f"{number} {singular if number == 1 else thing + 's'}"


def _closures(checked: Summary) -> str:
    if not checked.closure_rows:
        return ""
    cut = checked.tree.cuts
    rank = "" if checked.rank is None else f" of rank {checked.rank} at the start"
    return f"{checked.closure_rows} rows{rank}" + (f"; cut at {', '.join(cut)}" if cut else "")


def _mobility(checked: Summary) -> str:
    counted = f"Grübler's count {checked.gruebler}"
    if checked.freedoms is None:
        return counted
    return f"{_count(checked.freedoms, 'free velocitie')} at the start; {counted}"


def _entries(checked: Summary) -> list[str]:
    """How unilateral relations of rates are entered; what is not proved is a warning."""
    if checked.entry is None:
        return []
    mark = {"proved": "entry  ", "fails": "warning", "not proved": "warning"}
    return [f"  {mark[x.verdict]:<12} {x.text}" for x in checked.entry.entries]


def _start(checked: Summary) -> str:
    if checked.start is None:
        unknown = [x.name for x in checked.mechanism.parameters if x.value is None]
        return f"not assembled: {listed(unknown)} unknown (--set name=value)"
    state = checked.start.state
    coordinates = [
        named_value(x.name, v, x.unit) for x, v in zip(state.labels["q"], state.q, strict=True)
    ]
    moved = (
        f" (moved by {checked.start.moved:.3g} to close the loops)" if checked.start.moved else ""
    )
    return listed(coordinates) + moved


def _explained(checked: Summary) -> list[str]:
    """The tree, joint by joint, and the rows of the closures."""
    lines = ["", "The tree, parents first:"]
    joints = {joint.name: joint for joint in checked.mechanism.joints}
    for body, parent, name in checked.carriers():
        kind = joints[name].type.name if name in joints else "fixed"
        lines.append(f"  {body} on {parent} by {name} ({kind})")
    if checked.tree.closures:
        lines += ["", "The closures, and what each row transmits:"]
        lines += [f"  {label}" for label in checked.equations.labels["lam"]]
        gone = checked.equations.closures.vanished
        lines += [f"  {name}: always satisfied" for name in gone]
    return lines


@command
def check(
    file: Model,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what was deduced, and how the tree was chosen.")
    ] = False,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism is: bodies, joints, loops, coordinates, parameters."""
    from liaison.cli.pages import sides
    from liaison.cli.values import reader_options, request_of
    from liaison.formats.read import reading
    from liaison.verbs.analyse import check as verb

    content = reading(file, **reader_options(file, lenient, floating, merge_fixed))
    request = request_of(content.mechanism, values, start, guesses=guess)
    facts = verb.check(request.mechanism, request.start)
    extra = {"notes": list(content.notes)}
    if explain:
        from liaison.formats.lsd.explain import explained

        extra["assignments"] = explained(file, content)
    text = summary(facts, explain=explain) + notes(extra)
    whole = facts.to_dict() | extra | {"diagnostics": facts.warnings(str(file))}
    whole["contacts"] = sides.sides(facts)
    whole["collisions"] = sides.collisions(facts)
    printed(whole, text, as_json)
