"""Readable equations as documents: a standalone HTML page with MathML, a Jupyter notebook.

Public names: as_html, as_fragment, as_notebook.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape

from liaison.expr.reading.latex import reading_to_latex
from liaison.expr.reading.mathml import mathml_name, to_mathml
from liaison.expr.reading.names import latex_name, unicode_name
from liaison.expr.reading.notation import DIGITS
from liaison.expr.reading.reading import Reading

from .forms import (
    aligned,
    as_sympy,
    block_title,
    factor,
    line_title,
    motion_title,
    multipliers,
    rounded_note,
    sides_title,
    title,
)
from .readable import Readable
from .sides import side_latex, side_mathml

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
       padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
td {{ padding: .3rem .6rem .3rem 0; vertical-align: baseline; white-space: nowrap; }}
td.name, td.note, p.note {{ color: GrayText; font-size: .9rem; }}
math {{ font-size: 1.3rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def as_html(page: Readable, digits: int = DIGITS) -> str:
    """A page that needs nothing but a browser: no script, no font, no network."""
    return _PAGE.format(title=escape(title(page)), body=as_fragment(page, digits))


def as_fragment(page: Readable, digits: int = DIGITS) -> str:
    """The body of that page, without its title, for a cell of a notebook."""
    parts = [_facts(page)]
    if page.quantities:
        rows = [("", _equal(mathml_name(n), to_mathml(x, digits)), "") for n, x in page.quantities]
        parts.append(_table("Quantities, each from those before it", rows))
    lines = []
    for line in page.lines:
        math = _equal(to_mathml(line.left, digits), to_mathml(line.right, digits))
        scale = factor(line)
        note = "" if scale is None else f"{scale[0]} {_math(to_mathml(scale[1]))}"
        lines.append((escape(unicode_name(line_title(line))), math, note))
    parts.append(_table(motion_title(page), lines))
    if page.sides:
        parts.append(_table(sides_title(page), _side_rows(page, digits)))
    for key, entries in page.blocks.items():
        if entries:
            named = [("", _equal(mathml_name(n), to_mathml(x, digits)), "") for n, x in entries]
            parts.append(_table(block_title(key, entries), named))
    if page.integrals:
        constant = "<mtext>const</mtext>"
        integrals = [(escape(n), _equal(to_mathml(x, digits), constant), escape(why))
                for n, x, why in page.integrals]  # fmt: skip
        parts.append(_table("First integrals", integrals))
    notes = [*page.notes, rounded_note(page, digits)]
    parts += [f'<p class="note">{escape(x)}</p>' for x in notes if x]
    return "\n".join(parts)


def _side_rows(page: Readable, digits: int) -> Iterator[tuple[str, str, str]]:
    for side in page.sides:
        for k, line in enumerate(side.relations):
            math = f'<math displaystyle="true">{side_mathml(line, digits)}</math>'
            yield escape(unicode_name(side.name)) if k == 0 else "", math, escape(line.when)


def _math(inside: str) -> str:
    return f"<math>{inside}</math>"


def _equal(left: str, right: str) -> str:
    return f'<math displaystyle="true">{left}<mo>=</mo>{right}</math>'


def _table(head: str, rows: Iterable[tuple[str, str, str]]) -> str:
    body = "\n".join(
        f'<tr><td class="name">{name}</td><td>{math}</td><td class="note">{note}</td></tr>'
        for name, math, note in rows
    )
    return f'<h2>{escape(head)}</h2>\n<div class="scroll"><table>\n{body}\n</table></div>'


def _facts(page: Readable) -> str:
    rows = [
        (word, tuple(map(_numbered, page.labels.get(key, ()))))
        for key, word in (("q", "coordinates"), ("u", "inputs"))
    ]
    named = tuple(f"{unicode_name(name)} {x}" for name, x in multipliers(page))
    rows.append(("multipliers", named))
    rows.append(("forces", tuple(map(_numbered, page.labels.get("force", ())))))
    paragraphs = [f"<p>{head}: {escape(', '.join(labels))}</p>" for head, labels in rows if labels]
    if page.values:
        values = ", ".join(f"{unicode_name(n)} = {x}" for n, x in page.values)
        paragraphs.append(f"<p>with {escape(values)}</p>")
    return "\n".join(paragraphs)


def _numbered(label: str) -> str:
    name, _, rest = label.partition(" ")
    return f"{unicode_name(name)} {rest}"


# Notebook ---------------------------------------------------------------------------------------


def as_notebook(page: Readable, digits: int = DIGITS) -> str:
    """A notebook (nbformat 4.5): formulas to read, and a cell that makes them in SymPy."""
    cells = [_markdown(f"# {title(page)}\n\n" + _notebook_facts(page))]
    if page.quantities:
        cells.append(_section("Quantities, each from those before it", page.quantities, digits))
    rows = [
        (reading_to_latex(x.left, digits), reading_to_latex(x.right, digits)) for x in page.lines
    ]
    cells.append(_markdown(f"## {motion_title(page)}\n\n$$\n{aligned(rows)}\n$$"))
    cells += [_side_cell(page, digits)] if page.sides else []
    for key, entries in page.blocks.items():
        if entries:
            cells.append(_section(block_title(key, entries), entries, digits))
    if page.integrals:
        kept = [(reading_to_latex(x, digits), r"\text{const}") for _, x, _ in page.integrals]
        integrals = "\n".join(f"- {n}: {why}" for n, _, why in page.integrals)
        cells.append(_markdown(f"## First integrals\n\n$$\n{aligned(kept)}\n$$\n\n{integrals}"))
    notes = [x for x in (*page.notes, rounded_note(page, digits)) if x]
    cells += [_markdown("\n\n".join(notes))] if notes else []
    cells.append(_code(as_sympy(page)))
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k + 1}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _notebook_facts(page: Readable) -> str:
    lines = [f"- coordinates: {', '.join(page.labels.get('q', ()))}"]
    if page.values:
        lines.append(f"- with {', '.join(f'{n} = {x}' for n, x in page.values)}")
    lines += [f"- ${latex_name(name)}$: {x}" for name, x in multipliers(page)]
    lines += [f"- {_numbered(x)}" for x in page.labels.get("force", ())]
    return "\n".join(lines)


def _section(head: str, entries: Iterable[tuple[str, Reading]], digits: int) -> dict[str, object]:
    rows = [(latex_name(n), reading_to_latex(x, digits)) for n, x in entries]
    return _markdown(f"## {head}\n\n$$\n{aligned(rows)}\n$$")


def _side_cell(page: Readable, digits: int) -> dict[str, object]:
    parts = [f"## {sides_title(page)}"]
    for side in page.sides:
        rows = [side_latex(line, digits) for line in side.relations]
        parts += [f"- {side.name}\n\n$$\n{aligned(rows)}\n$$"] if rows else []
    return _markdown("\n\n".join(parts))


def _markdown(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(text: str) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": text.rstrip("\n").splitlines(keepends=True),
    }
