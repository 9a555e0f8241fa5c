"""Pages whose code is run: below each block stands what it printed, and the plots it left open.

Blocks of a page run one after another under one set of names, in a folder with examples/, as the
tests run them. A block that fails ends the build.
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import sys
import warnings
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stage import ROOT

from liaison.errors import ReadingWarning

EXECUTED = ("tutorials/", "howto/", "theory/", "cases/")
"""Where the pages are."""

BLOCK = re.compile(r"^```python\n(.*?)^```[ \t]*\n", re.S | re.M)
OUTPUT = re.compile(r"\s*```(text)?\n")
MOST_LINES = 60
"""Of what one block prints; of more the middle is left out."""


def run_pages(pages: Path, places: list[str]) -> None:
    """Runs the code of every page of the parts above, and writes what it shows into the page."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    with TemporaryDirectory(prefix="manual-") as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        shutil.copytree(ROOT / "docs" / "cases", Path(folder) / "docs" / "cases")
        for place in places:
            if place.startswith(EXECUTED):
                text = (pages / place).read_text(encoding="utf-8")
                with chdir(folder):
                    text = executed(text, place)
                (pages / place).write_text(text, encoding="utf-8")


def executed(text: str, place: str) -> str:
    """A page with what its blocks of code show, below each."""
    names: dict[str, Any] = {"__name__": "page"}
    open_plots()  # those of others in this process are not of this page

    def with_output(match: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)
            exec(compile(match[1], place, "exec"), names)
        is_shown = OUTPUT.match(match.string, match.end())  # the page has it already
        output = "" if is_shown else shown(printed.getvalue())
        return "\n".join([match[0], output, *open_plots()]).rstrip() + "\n"

    return BLOCK.sub(with_output, text)


def shown(printed: str) -> str:
    """What was printed as a block of a page; a long text without its middle."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if not lines:
        return ""
    if (more := len(lines) - MOST_LINES) > 0:
        half = MOST_LINES // 2
        lines = [*lines[:half], f"… {more} more lines", *lines[-half:]]
    return "\n".join(["````{code-block} text", ":class: output", "", *lines, "````", ""])


def open_plots() -> list[str]:
    """Plots that a block left open, as pictures of a page; they are closed."""
    plots = sys.modules.get("matplotlib.pyplot")
    pictures = []
    for number in plots.get_fignums() if plots else ():
        data = io.BytesIO()
        plots.figure(number).savefig(data, format="png", dpi=110, bbox_inches="tight")
        text = base64.b64encode(data.getvalue()).decode()
        pictures.append(
            f'````{{raw}} html\n<img alt="plot" src="data:image/png;base64,{text}">\n````\n'
        )
    if pictures:
        plots.close("all")
    return pictures
