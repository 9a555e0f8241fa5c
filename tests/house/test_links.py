"""Links of the pages: every file exists, and every anchor is the one of a heading."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
BLOCK = re.compile(r"```.*?```", re.S)


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them: `## A, b` is `#a-b`."""
    headings = re.findall(r"^#+ +(.+?)\s*$", BLOCK.sub("", text), re.M)
    names: set[str] = set()
    for heading in headings:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        repeated = sum(re.fullmatch(rf"{re.escape(name)}(-\d+)?", x) is not None for x in names)
        names.add(f"{name}-{repeated}" if repeated else name)
    return names


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    wrong = []
    for file, anchor in LINK.findall(text):
        target = (page.parent / file).resolve() if file else page
        if not target.exists():
            wrong.append(f"{file}: no such file")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            wrong.append(f"{file}#{anchor}: no such heading")
    return wrong


def test_anchors_are_those_of_headings():
    text = "# The `forward` entry\n\n```\n# no heading\n```\n## A, b\n## A, b\n### [C](x.md) × y\n"
    assert anchors(text) == {"the-forward-entry", "a-b", "a-b-1", "c--y"}


def test_broken_links_are_seen(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](b.md) [d](https://x.org/#y) `[e](no.md)`\n")
    assert broken(page) == ["#two: no such heading", "b.md: no such file"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    assert not broken(page)
