"""Pages of the manual gathered in one folder: those of docs/, and those made of the code.

A page keeps its place below docs/. Links to files outside docs/ lead to a page of the manual, or
to a copy of the file; indented formulas and those within sentences are set as formulas.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from formulas import formula, is_formula
from inline_formulas import with_inline_formulas

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

OTHER_PAGES = {
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "editors/README.md": "reference/editors.md",
}
"""Pages outside docs/ -> their place in the manual."""

FOLDERS = {"docs/theory": "explanation/index.md", "docs/cases": "explanation/index.md"}
"""Folders that pages link to -> the page that lists what is in them."""

LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]+)?\)")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.S | re.M)
INDENTED = re.compile(r"(?<=\n\n)((?: {4}[^\n]*\n)(?:(?: {4}[^\n]*)?\n)*)(?=[^ \n]|\Z)")
SET_FORMULAS = ("theory/", "cases/", "notation.md")
"""Where an indented block is a formula."""


@cache
def sources() -> dict[str, str]:
    """Path of every page below the repository -> its place in the manual."""
    pages = sorted(DOCS.rglob("*.md"))
    own = {str(x.relative_to(ROOT)): str(x.relative_to(DOCS)) for x in pages}
    return own | OTHER_PAGES


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """A page with `change` applied to what is outside its blocks of code."""
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, change(text[last:])])


def relinked(text: str, page: str, out: Path) -> str:
    """A page whose links lead to pages of the manual, or to copies of files in it."""
    places = sources()
    here = Path(places[page]).parent

    def changed(match: re.Match[str]) -> str:
        target = os.path.normpath(Path(page).parent / match[1])
        place = places.get(target) or FOLDERS.get(target)
        if place is None:
            place = target.removeprefix("docs/")
            copied(target, out / place)
        return f"]({os.path.relpath(place, here)}{match[2] or ''})"

    return LINK.sub(changed, text)


def copied(target: str, place: Path) -> None:
    """A file of the repository copied beside the pages."""
    if not (ROOT / target).is_file():
        raise FileNotFoundError(f"{target}: a page links to it; it is no file")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / target, place)


def with_formulas(text: str) -> str:
    """A page whose indented blocks are set as formulas."""

    def changed(match: re.Match[str]) -> str:
        block = "\n".join(line[4:] for line in match[1].rstrip().splitlines())
        return formula(block) if is_formula(block) else match[0]

    return INDENTED.sub(changed, text)


def stage(out: Path) -> list[str]:
    """Writes every page of the repository into a folder; returns their places."""
    shutil.rmtree(out, ignore_errors=True)
    for page, place in sources().items():
        text = (ROOT / page).read_text(encoding="utf-8")
        text = outside_fences(text, lambda part, page=page: relinked(part, page, out))
        if place.startswith(SET_FORMULAS):
            text = outside_fences(text, with_formulas)
            text = outside_fences(text, with_inline_formulas)
        target = out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return list(sources().values())
