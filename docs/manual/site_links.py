"""Links of the built manual: every file that a page points to exists, and every anchor in it."""

from __future__ import annotations

import html.parser
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(html.parser.HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes links, sources and anchors."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@cache
def page_at(path: Path) -> Page:
    """The page of a file."""
    return Page(path.read_text(encoding="utf-8"))


def has_anchor(path: Path, name: str) -> bool:
    """Whether a page has an anchor; other files are not looked into."""
    return not name or path.suffix != ".html" or name in page_at(path).anchors


def dead_links(site: Path) -> tuple[int, list[str]]:
    """How many links within a site there are, and those that lead nowhere."""
    count, dead = 0, []
    for path in sorted(site.rglob("*.html")):
        for link in page_at(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                dead.append(f"{path.relative_to(site)}: {link}")
            elif not has_anchor(target, unquote(parts.fragment)):
                dead.append(f"{path.relative_to(site)}: {link} (no such anchor)")
    return count, dead
