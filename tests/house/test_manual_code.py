"""The code of tutorials and how-to guides: every page runs as it is, in a folder with examples/."""

import io
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
GUIDES = sorted(x for x in (DOCS / "howto").rglob("*.md") if x.name != "index.md")
LESSONS = sorted(x for x in (DOCS / "tutorials").rglob("*.md") if x.name != "index.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
COMMAND = re.compile(r"^\$ liaison (.*)$", re.M)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with the examples in it, where pages may write."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(REPOSITORY / "examples", folder / "examples")
    return folder


def run_page(page: Path) -> None:
    """Runs the blocks of a page one after another, under one set of names."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks, "a page without code"
    names: dict[str, object] = {"__name__": "page"}
    with redirect_stdout(io.StringIO()):
        for block in blocks:
            exec(compile(block, str(page), "exec"), names)


@pytest.mark.slow
@pytest.mark.parametrize("page", [*GUIDES, *LESSONS], ids=lambda x: str(x.relative_to(DOCS)))
def test_code_of_the_page_runs(page, desk, monkeypatch):
    for module in re.findall(r"^import (casadi|jax)$", page.read_text(encoding="utf-8"), re.M):
        pytest.importorskip(module)  # extras
    monkeypatch.chdir(desk)
    run_page(page)


@pytest.mark.parametrize("page", GUIDES, ids=lambda x: str(x.relative_to(DOCS)))
def test_a_guide_is_short_and_checks_itself(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert re.search(r"^ *assert ", text, re.M), "its result is not compared with anything"
    assert all(len(line) <= 100 for block in BLOCK.findall(text) for line in block.splitlines())
