"""A page of HTML printed to PDF by Chromium.

Public names: to_pdf, browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from liaison.errors import LiaisonError
from liaison.simulation.record.files import write_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Programs that print, in the order in which they are looked for."""

VARIABLE = "LIAISON_CHROMIUM"
"""The variable that names another program."""

PATIENCE = 120.0
"""Seconds that printing may take."""


def browser() -> str:
    """The path of a Chromium.

    Raises:
        LiaisonError: there is none.
    """
    named = os.environ.get(VARIABLE, "")
    for name in (named,) if named else BROWSERS:
        if path := shutil.which(name):
            return path
    looked = f"{VARIABLE}={named}" if named else ", ".join(BROWSERS)
    raise LiaisonError(
        f"a PDF is printed by Chromium, and there is none in the search path ({looked}).",
        hint="Install it (Debian: apt install chromium; macOS: brew install --cask chromium; or "
        f"Google Chrome), name its program in the variable {VARIABLE}, or write HTML and print it "
        "from any browser.",
    )


def to_pdf(html: str, path: str | os.PathLike[str]) -> None:
    """Print a page to a file, which appears whole or not at all.

    Raises:
        LiaisonError: no Chromium, or it did not print.
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="liaison-") as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(html, encoding="utf-8")
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer"]
        # Chromium has no sandbox for root; the page has no script
        options += ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        options += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        command = [program, *options, source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            raise LiaisonError(
                f"{program} did not print the page within {PATIENCE:g} s.",
                hint="Write HTML, and print it from a browser.",
            ) from None
        if not target.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise LiaisonError(
                f"{program} printed no PDF (exit status {done.returncode}): {' '.join(last)}",
                hint="Write HTML, and print it from a browser.",
            )
        write_file(path, target.read_bytes())
