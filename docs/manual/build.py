"""Builds the manual under out/docs, with no warnings and no dead links, or fails.

python docs/manual/build.py          (or: make docs, which installs what it needs)
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from api_pages import api_pages
from executed import run_pages
from notebooks import notebook_pages
from reference_pages import reference_pages
from site_links import dead_links
from sphinx.cmd.build import build_main
from stage import ROOT, stage

OUT = ROOT / "out" / "docs"
PAGES = ROOT / "out" / "docs_pages"
FILES = ROOT / "out" / "docs_files"  # copied into the site as they are


def main() -> int:
    """Gathers the pages, builds the site, checks its links."""
    for folder in (OUT, FILES):
        shutil.rmtree(folder, ignore_errors=True)
    places = stage(PAGES)
    run_pages(PAGES, places)
    for place, text in (api_pages() | reference_pages() | notebook_pages(FILES)).items():
        target = PAGES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        places.append(place)
    doctrees = str(PAGES / ".doctrees")
    here = str(Path(__file__).resolve().parent)
    status = build_main(
        ["-q", "-W", "--keep-going", "-b", "html", "-c", here, "-d", doctrees, str(PAGES), str(OUT)]
    )
    count, dead = dead_links(OUT)
    print("\n".join(dead))
    print(f"{len(places)} pages, {count} links, {len(dead)} dead; begin with {OUT / 'index.html'}")
    return status or bool(dead)


if __name__ == "__main__":
    sys.exit(main())
