"""The pages of docs/ and the first page as HTML under out/docs, to be read without a network.

Run by `make docs`, which installs Markdown for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "docs"
STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
pre { background: #f4f4f4; padding: .7rem; overflow-x: auto; } code { background: #f4f4f4; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .25rem .6rem; }
img { max-width: 100%; }
"""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>{style}</style></head><body>{body}</body></html>
"""


def rendered(path: Path) -> str:
    """One page; links to other pages lead to their HTML."""
    text = path.read_text(encoding="utf-8")
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"])
    body = re.sub(r'(href="(?!https?:)[^"#]*)\.md(#|")', r"\1.html\2", body)
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), path.stem)
    return PAGE.format(title=title, style=STYLE, body=body)


def main() -> None:
    """Writes every page, and copies the pictures beside them."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    for page in pages:
        target = OUT / page.relative_to(ROOT).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rendered(page), encoding="utf-8")
    for picture in (ROOT / "docs").rglob("*.png"):
        target = OUT / picture.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(picture.read_bytes())
    print(f"{len(pages)} pages; begin with {OUT / 'README.html'}")


if __name__ == "__main__":
    main()
