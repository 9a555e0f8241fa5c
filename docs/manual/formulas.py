"""Formulas that pages write as indented text, set as HTML: columns, subscripts, italic symbols.

`J_ij v     γ = 0      (closure-3)` is two columns and a number at the right.
"""

from __future__ import annotations

import html
import re

NUMBER = re.compile(r"\s{2,}\(([a-z_]+-\d+\w?)\)\s*$")
GAP = re.compile(r"\s{4,}")
SUBSCRIPT = re.compile(r"_(?:\{([^}]*)\}|([A-Za-z0-9\u0391-\u03c9]+))")
SUPERSCRIPT = re.compile(r"\^(?:\{([^}]*)\}|([±+−-]?[A-Za-z0-9\u0391-\u03c9]+))")
SYMBOL = re.compile(
    r"(?<![A-Za-z])([A-Za-z\u1e00-\u1eff][\u0300-\u036f]*)"
    r"(?![A-Za-z\u0300-\u036f])(?!(?<=a) [a-z]{3})"
)
"""A letter that stands alone, with its dots; not the article."""

MARKS = {"\x01": "<sub>", "\x02": "</sub>", "\x03": "<sup>", "\x04": "</sup>"}
"""What stands for a tag while letters are looked for."""


def is_formula(block: str) -> bool:
    """Whether an indented block is a formula, and not a command."""
    return not block.startswith(("liaison ", "make "))


def cell(text: str) -> str:
    """One column of a line: letters that stand alone are symbols, in italics."""
    parts = re.split(r"(&\w+;)", html.escape(text, quote=False))
    parts[::2] = [_symbols(x) for x in parts[::2]]
    text = "".join(parts)
    for mark, tag in MARKS.items():
        text = text.replace(mark, tag)
    return text


def _symbols(text: str) -> str:
    text = SUPERSCRIPT.sub(_raised, text)
    return SYMBOL.sub(r"<i>\1</i>", SUBSCRIPT.sub(_lowered, text))


def _raised(match: re.Match[str]) -> str:
    return f"\x03{match[1] or match[2]}\x04"


def _lowered(match: re.Match[str]) -> str:
    return f"\x01{match[1] or match[2]}\x02"


def row(line: str) -> str:
    """One line: its columns, and its number."""
    number = NUMBER.search(line)
    cells = GAP.split(line[: number.start()] if number else line.rstrip())
    shown = "".join(f"<span>{cell(x)}</span>" for x in cells)
    name = f"<b>({number[1]})</b>" if number else ""
    return f"<div>{shown}{name}</div>"


def formula(block: str) -> str:
    """A block of formulas as HTML, for a page of Markdown."""
    lines = [row(line) for line in block.splitlines() if line.strip()]
    kind = "formula columns" if len({line.count("<span>") for line in lines}) == 1 else "formula"
    return f'````{{raw}} html\n<div class="{kind}"><div>{"".join(lines)}</div></div>\n````\n\n'
