"""Pages that simulate, opened in a browser: offline, and what they report is collected."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def opened(browser: Any, path: Path, height: int = 500) -> Iterator[Any]:
    """A page, ready; at its end nothing was asked of a network or reported as an error."""
    size = {"width": 900, "height": height}
    context = browser.new_context(viewport=size, offline=True, reduced_motion="reduce")
    page = context.new_page()
    seen: list[str] = []
    page.on("console", lambda m: m.type == "error" and seen.append(m.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda x: x.url.startswith(("file", "blob", "data")) or seen.append(x.url))
    page.goto(path.as_uri())
    page.wait_for_selector("[data-ready]")
    yield page
    context.close()
    assert seen == []


def until(tab: Any, expression: str) -> None:
    """Waits for JavaScript to become true, 20 s at most."""
    for _ in range(400):
        if tab.evaluate(expression):
            return
        tab.wait_for_timeout(50)
    pytest.fail(f"{expression} does not come true")
