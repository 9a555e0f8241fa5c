"""A report: sections one below the other, as text, as one HTML document, and as plain data.

Public names: Report, Section, SECTIONS, title, page, document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, final

from liaison.display.html import to_html
from liaison.display.page import Page, to_text
from liaison.lazy import Shown

SECTIONS = {
    "picture": "Picture",
    "mechanism": "Bodies and joints",
    "mobility": "Degrees of freedom",
    "motion": "Motion",
    "reactions": "Reactions in the joints",
    "drives": "Drives and motors",
    "energy": "Energy balance",
    "events": "Events",
    "equations": "Equations of motion",
    "versions": "Versions and tolerances",
}
"""Key of every section -> its heading, in the order of the report."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Section(Shown):
    """One part of a report.

    Attributes:
        key: of SECTIONS.
        page: facts, tables and notes.
        figures: SVG elements, before the tables.
        facts: the numbers of it, as plain data.
    """

    key: str
    page: Page
    figures: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Report(Shown):
    """What a designer passes to a colleague about a mechanism.

    Attributes:
        name: of the mechanism.
        title: of the report.
        author: a line below the title; may be empty.
        sections: in order.
        problems: why something could not be computed: one sentence each.
    """

    name: str
    title: str
    author: str
    sections: tuple[Section, ...]
    problems: tuple[str, ...] = ()

    def html(self) -> str:
        """One HTML document that needs nothing but a browser: no script, no font, no network."""
        return document(self)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, section by section, as plain data."""
        facts = {x.key: dict(x.facts) for x in self.sections if x.facts}
        about = {"name": self.name, "title": self.title, "author": self.author}
        return about | facts | {"problems": list(self.problems)}


def title(shown: Report) -> str:
    """Title, and how many sections."""
    return f"{shown.title}: {len(shown.sections)} sections"


def page(shown: Report) -> Page:
    """Every section, one below the other."""
    head = [x for x in (shown.author, *shown.problems) if x]
    texts = [f"\n{SECTIONS[x.key].upper()}\n{to_text(x.page)}" for x in shown.sections]
    return Page(shown.title, text="\n".join([*head, *texts]), html=_body(shown))


def document(shown: Report) -> str:
    """The whole page."""
    by = f'<p class="author">{escape(shown.author)}</p>' if shown.author else ""
    return _DOCUMENT.format(title=escape(shown.title), by=by, body=_body(shown), style=_STYLE)


def _body(shown: Report) -> str:
    problems = "".join(f"<li>{_lines(x)}</li>" for x in shown.problems)
    parts = [f'<ul class="problems">{problems}</ul>'] if problems else []
    parts.append(
        "<nav>"
        + " · ".join(f'<a href="#{x.key}">{SECTIONS[x.key]}</a>' for x in shown.sections)
        + "</nav>"
    )
    for x in shown.sections:
        figures = "".join(f"<figure>{svg}</figure>" for svg in x.figures if svg)
        parts.append(
            f'<section id="{x.key}"><h2>{SECTIONS[x.key]}</h2>{figures}'
            f"{to_html(x.page, style='')}</section>"
        )
    return "\n".join(parts)


def _lines(text: str) -> str:
    """A sentence, and below it lines that show a place of the description."""
    first, _, rest = text.partition("\n")
    return escape(first) + (f"<pre>{escape(rest)}</pre>" if rest else "")


_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1>{by}</header>
<main>
{body}
</main>
</body>
</html>
"""

_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1d2229; --pale: #68717c; --line: #d5dae0;
  --alarm: #fdf1d8; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e4e7eb; --pale: #98a1ab;
  --line: #363c44; --alarm: #3d3216; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--page); max-width: 60rem; margin: 2rem auto 4rem; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line);
  padding-bottom: .2rem; }
.liaison h2 { font-size: 1rem; border: 0; margin: 1rem 0 .2rem; }
.author, nav, .note, td.name, td.note, .name { color: var(--pale); }
.author { margin: .3rem 0 0; }
nav { margin: 1rem 0 0; font-size: .9rem; }
a { color: inherit; }
.problems { background: var(--alarm); border-radius: .3rem; padding: .7rem 1rem .7rem 2rem; }
.problems pre { margin: .3rem 0 0; white-space: pre-wrap; }
figure { margin: .6rem 0; overflow-x: auto; }
svg { max-width: 100%; height: auto; display: block; }
svg text { font-family: inherit; }
.halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-size: .93rem;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: baseline; padding: .18rem 1.1rem .18rem 0; }
th { font-weight: 600; border-bottom: 1px solid var(--line); }
th.n, td.n { text-align: right; }
td.n { white-space: nowrap; }
td.name + td { overflow-wrap: anywhere; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
.name { white-space: nowrap; }
.liaison > p:first-child strong { font-weight: 500; }
math { font-size: 1.08rem; }
.print { display: none; }
@media (max-width: 40rem) { svg.plot { max-width: none; width: 40rem; } }
@page { size: A4; margin: 16mm 14mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --pale: #555; --line: #bbb;
    --alarm: #fdf1d8; }
  body { margin: 0; padding: 0; max-width: none; font-size: 10pt; }
  nav, .screen { display: none; }
  .print { display: block; font-size: 8.5pt; white-space: pre-wrap; overflow-wrap: anywhere; }
  h2 { break-after: avoid; } figure, tr, .problems { break-inside: avoid; }
  .scroll, figure { overflow: visible; }
}
"""
