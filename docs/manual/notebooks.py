"""The notebooks of the examples as pages of the manual: executed, with what their cells show.

Moving pictures are files of their own, in frames. Sliders need Python, and are left out.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

from stage import ROOT

SOURCES = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
FOLDER = "tutorials/notebooks"
"""Place of the pages in the manual."""

MADE = tuple(f"{FOLDER}/{path.stem}.md" for path in SOURCES)
"""The pages."""

SRCDOC = re.compile(r'srcdoc="([^"]*)"')
SLIDERS = "*Sliders stand here while the notebook runs; each move simulates again, in Python.*"
WIDGET = "application/vnd.jupyter.widget-view+json"


def notebook_pages(files: Path) -> dict[str, str]:
    """Place -> page of every notebook, run anew.

    Args:
        files: folder of files that are copied into the site as they are.
    """
    import nbformat
    from nbclient import NotebookClient

    pages = {}
    for path, place in zip(SOURCES, MADE, strict=True):
        book = nbformat.read(path, as_version=4)
        quiet = ["--IPKernelApp.log_level=ERROR"]
        client = NotebookClient(book, timeout=600, kernel_name="python3", extra_arguments=quiet)
        client.execute(env=kernel_environment())
        frames = Frames(files / FOLDER, path.stem)
        parts = [text for cell in book.cells for text in cell_parts(cell, frames)]
        note = f"This page is the notebook [{path.name}](../../{path.relative_to(ROOT)}), run."
        pages[place] = "\n\n".join([parts[0], note, *parts[1:]]) + "\n"
    return pages


def kernel_environment() -> dict[str, str]:
    """That of this process, but for where plots go: those of a cell are its output."""
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}


class Frames:
    """Files of the moving pictures of a notebook."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.count = folder, name, 0
        folder.mkdir(parents=True, exist_ok=True)

    def moved_out(self, text: str) -> str:
        """A frame whose page is a file beside that of the notebook."""

        def written(match: re.Match[str]) -> str:
            name = f"{self.name}_picture_{self.count}.html"
            self.count += 1
            (self.folder / name).write_text(html.unescape(match[1]), encoding="utf-8")
            return f'src="{name}" loading="lazy"'

        return SRCDOC.sub(written, text)


def cell_parts(cell: Any, frames: Frames) -> list[str]:
    """A cell as pieces of a page: its text, or its code and what it shows."""
    if cell.cell_type == "markdown":
        return [cell.source]
    if cell.cell_type != "code":
        return []
    shown = [output_text(output, frames) for output in cell.outputs]
    return [f"```python\n{cell.source}\n```", *(text for text in shown if text)]


def output_text(output: Any, frames: Frames) -> str:
    """One output of a cell, the richest form that a page can show."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    data = output.get("data", {})
    if WIDGET in data:
        return SLIDERS
    if data.get("text/html"):
        return f"````{{raw}} html\n{frames.moved_out(data['text/html'])}\n````"
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        return f'````{{raw}} html\n<img alt="plot" src="data:image/png;base64,{picture}">\n````'
    if "text/latex" in data:
        return "$$\n" + data["text/latex"].strip().strip("$").replace("\\displaystyle", "") + "\n$$"
    return f"```text\n{data['text/plain']}\n```" if data.get("text/plain", "").strip() else ""
