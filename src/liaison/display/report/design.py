"""Sections of a report that need no run: bodies and joints, degrees of freedom, equations.

Public names: mechanism_section, mobility_section, equations_section.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

from liaison.display import page_of
from liaison.display.page import Page, Table, number, plural
from liaison.equations.readable.readable import Readable
from liaison.freedoms.degrees import Mobility
from liaison.lazy import listed
from liaison.model.mechanism import Mechanism
from liaison.model.records import Joint
from liaison.model.values import floats

from .record import Section

LONGEST = 150_000
"""Characters of typeset equations; longer ones are counted, not shown."""


WIDEST = 110
"""Characters of the widest line that is printed typeset."""


def mechanism_section(mechanism: Mechanism) -> Section:
    """Tables of bodies, joints, loads and parameters, and the graph."""
    valued = [x for x in mechanism.parameters if x.value is not None]
    known = {x.name: float(floats(x.value, {})) for x in valued}
    rows = [(x, _axis(x, known)) for x in mechanism.joints]
    table = Table(
        ("joint", "type", "bodies", "axis, on the first body", "degrees of freedom", "coordinates"),
        tuple(
            (
                x.name,
                x.type.name,
                f"{x.predecessor.body} – {x.successor.body}",
                axis,
                str(x.type.freedom),
                listed(x.coordinates),
            )
            for x, axis in rows
        ),
    )
    page = page_of(mechanism)
    tables = tuple(table if x.head[0] == "joint" else x for x in page.tables)
    facts = [
        {
            "name": x.name,
            "type": x.type.name,
            "bodies": [x.predecessor.body, x.successor.body],
            "axis": axis,
            "freedom": x.type.freedom,
        }
        for x, axis in rows
    ]
    bodies = [x.name for x in mechanism.bodies]
    return Section(
        "mechanism", replace(page, tables=tables), facts={"bodies": bodies, "joints": facts}
    )


def _axis(joint: Joint, known: dict[str, float]) -> str:
    """The axis of a joint that has one, in the axes of its first body; ? where it is unknown."""
    if not joint.type.HAS_AXIS:
        return "–"
    try:
        R = floats(joint.predecessor.R, known)
    except (KeyError, ValueError):
        return "?"
    return "(" + ", ".join(number(round(float(x), 6) + 0.0, 4) for x in R[:, 2]) + ")"


def mobility_section(mobility: Mobility) -> Section:
    """The number, what is proved of it, and redundant closures with their remedies."""
    low, high = mobility.finite
    count = str(low) if low == high else f"{low} to {high}"
    sure = "proved" if mobility.is_proved else "likely" if low == high else "not decided"
    facts = [
        ("degrees of freedom", f"{count} ({sure})"),
        ("to first order", str(mobility.first_order)),
        ("by counting (Grübler)", str(mobility.gruebler)),
        ("closure equations", f"{mobility.equations}, of rank {mobility.rank}"),
        ("why", mobility.proof),
    ]
    if mobility.psi is not None and mobility.psi.independent:
        facts.append(("independent", listed(mobility.psi.independent)))
    notes = [f"Note: {x}." for x in mobility.notes]
    redundancy = mobility.redundancy
    if redundancy is not None and mobility.loops:
        notes = [*_redundant(mobility), *notes]
    page = Page(
        f"{plural(low, 'degree')} of freedom, {sure}" if low == high else f"{count}: {sure}",
        tuple(facts),
        (_remedies(mobility),),
        tuple(notes),
    )
    return Section("mobility", page, facts=mobility.to_dict())


def _redundant(mobility: Mobility) -> list[str]:
    """What redundancy means for the designer, in sentences."""
    redundancy = mobility.redundancy
    if redundancy is None or not redundancy.count:
        return ["No closure equation is redundant: every reaction is determined."]
    lines = [
        f"{plural(redundancy.count, 'closure equation')} more than the motion needs: parts that do "
        "not fit exactly are forced together, and the reactions of the table depend on how.",
        *(x for x in redundancy.families if x),
    ]
    if redundancy.proposal:
        rest = redundancy.remaining
        left = f"; {plural(rest, 'equation')} would remain redundant" if rest else ""
        lines.append(f"The motion stays the same with the remedies of the table{left}.")
    return lines


def _remedies(mobility: Mobility) -> Table:
    """Joints in loops that are redundant: what is not determined, and by which joint to replace."""
    redundancy = mobility.redundancy
    if redundancy is None:
        return Table((), ())
    lost, cure = dict(redundancy.undetermined), dict(redundancy.proposal)
    names = dict.fromkeys([*lost, *cure])
    rows = tuple((x, listed(lost.get(x, ())) or "–", cure.get(x, "stays")) for x in names)
    return Table(("joint", "reaction that is not determined", "remedy: replace by"), rows)


def equations_section(equations: Readable) -> Section:
    """The equations typeset, where they are short enough to be read.

    Lines that are wider than paper are printed as text, which can be broken.
    """
    page = page_of(equations)
    facts: dict[str, Any] = {
        "formalism": equations.formalism,
        "equations": len(equations.lines),
        "text": page.text,
    }
    if len(page.html) > LONGEST:
        size = f"{len(page.text):,} characters".replace(",", " ")
        note = f"The equations take {size} and are left out here; `liaison derive` prints them."
        page = Page(page.title, notes=(note,))
        facts["text"] = ""
    elif max(map(len, page.text.splitlines()), default=0) > WIDEST:
        text = f'<pre class="print">{escape(page.text)}</pre>'
        page = replace(page, html=f'<div class="screen">{page.html}</div>{text}')
    return Section("equations", page, facts=facts)
