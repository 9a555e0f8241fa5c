"""A page as HTML for a notebook: a fragment without script, in the colors of what is around it.

Public names: to_html, graph_svg.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from .page import Page, Table, is_numeric

LONGEST = 200
"""Rows of a table; of a longer one the middle is left out."""

ALONG = (0.5, 0.36, 0.64, 0.27, 0.73)
"""Where the name of a joint may stand on its line in a graph."""

APART = 26.0
"""Distance of two such names."""

Point = tuple[float, float]

STYLE = (
    "<style>.liaison table{border-collapse:collapse;margin:.4em 0 .8em}"
    # notebooks align cells to the right and shade every other row, by stronger selectors
    ".liaison tr{background:none!important}"
    ".liaison th,.liaison td{padding:.15em .8em .15em 0;text-align:left!important;"
    "vertical-align:baseline;white-space:nowrap;background:none}"
    ".liaison .n{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".liaison th{border-bottom:1px solid;font-weight:600}.liaison .name{opacity:.7}"
    ".liaison caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".liaison h2{font-size:1em;margin:.8em 0 .3em}.liaison math{font-size:1.15em}"
    ".liaison .scroll{overflow-x:auto}.liaison svg{max-width:100%;height:auto}</style>"
)


def to_html(page: Page, style: str = STYLE) -> str:
    """The page as a fragment, with its style; without, where a document has its own."""
    parts = [f"<p><strong>{escape(page.title)}</strong></p>"]
    if page.facts:
        rows = "".join(
            f'<tr><td class="name">{escape(name)}</td><td>{escape(value)}</td></tr>'
            for name, value in page.facts
        )
        parts.append(f'<div class="scroll"><table>{rows}</table></div>')
    parts += [page.html] if page.html else []
    parts += [_table(table) for table in page.tables if table.rows]
    parts += [f"<p>{escape(note)}</p>" for note in page.notes]
    return f'{style}<div class="liaison">{"".join(parts)}</div>'


def _table(table: Table) -> str:
    rows = list(table.rows)
    if len(rows) > LONGEST:
        gap = (f"… {len(rows) - LONGEST} more", *[""] * (len(table.head) - 1))
        rows = [*rows[: LONGEST // 2], gap, *rows[-LONGEST // 2 :]]
    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    marks = [' class="n"' * is_numeric(column) for column in zip(*table.rows)]
    body = "".join(f"<tr>{''.join(map(_cell, row, marks))}</tr>" for row in rows)
    head = "".join(f"<th{x}>{escape(name)}</th>" for name, x in zip(table.head, marks))
    head = f"<thead><tr>{head}</tr></thead>" if any(table.head) else ""
    return f'<div class="scroll"><table>{title}{head}<tbody>{body}</tbody></table></div>'


def _cell(text: str, mark: str) -> str:
    return f"<td{mark}>{escape(text)}</td>"


def graph_svg(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], most: int = 40) -> str:
    """Bodies and joints as a graph: circles on a circle, lines with their names.

    Args:
        nodes: bodies, the ground first.
        edges: from, to, name of every joint.
        most: bodies; larger graphs are not drawn.
    """
    if not 1 < len(nodes) <= most:
        return ""
    nodes = _walked(nodes, edges)
    radius = max(90.0, 17.0 * len(nodes))
    places = {
        name: (
            radius * math.sin(2 * math.pi * k / len(nodes)),
            -radius * math.cos(2 * math.pi * k / len(nodes)),
        )
        for k, name in enumerate(nodes)
    }
    pairs: dict[frozenset[str], int] = {}
    lines: list[str] = []
    spots: list[Point] = []
    for a, b, name in edges:
        count = pairs.get(frozenset((a, b)), 0)
        pairs[frozenset((a, b))] = count + 1
        lines.append(_edge(places[a], places[b], name, _middle(places[a], places[b], count), spots))
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{"none" if k == 0 else "currentColor"}"'
        f' stroke="currentColor"/>{_text(x * (1 + 16 / radius), y * (1 + 16 / radius), name, x)}'
        for k, (name, (x, y)) in enumerate(places.items())
    ]
    wide, high = radius + 120, radius + 40
    return (
        f'<svg role="img" aria-label="graph of bodies and joints" width="{2 * wide:.0f}" '
        f'viewBox="{-wide:.0f} {-high:.0f} {2 * wide:.0f} {2 * high:.0f}" '
        f'font-size="13" fill="currentColor">{"".join([*lines, *dots])}</svg>'
    )


def _walked(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> list[str]:
    """Bodies in the order in which joints lead from one to the next: loops cross less."""
    near: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b, _ in edges:
        near[a].append(b)
        near[b].append(a)
    order: dict[str, None] = {}
    waiting = list(reversed(nodes))
    while waiting:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += [x for x in reversed(near[name]) if x not in order]
    return list(order)


def _middle(a: Point, b: Point, count: int) -> Point:
    """Control point of a line between two bodies; further ones between the same two are bent."""
    bend = 28.0 * ((count + 1) // 2) * (1 if count % 2 else -1)
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy) or 1.0
    return (a[0] + b[0]) / 2 - bend * dy / length, (a[1] + b[1]) / 2 + bend * dx / length


def _edge(a: Point, b: Point, name: str, middle: Point, spots: list[Point]) -> str:
    """A line with its name where no other name stands; the place is added to `spots`."""
    ways = [
        tuple((1 - s) ** 2 * x + 2 * s * (1 - s) * m + s * s * y for x, m, y in zip(a, middle, b))
        for s in ALONG
    ]
    free = [p for p in ways if all(math.dist(p, q) > APART for q in spots)]
    x, y = (free or ways)[0]
    spots.append((x, y))
    path = f"M{a[0]:.1f} {a[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {b[0]:.1f} {b[1]:.1f}"
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" opacity=".5"/>'
        f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle" opacity=".8">'
        f"{escape(name)}</text>"
    )


def _text(x: float, y: float, name: str, side: float) -> str:
    anchor = "middle" if abs(side) < 10 else "start" if side > 0 else "end"
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
