"""The comparison with other systems: lines as counted, results that agree."""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "compare"
ROW = re.compile(
    r"\| \[four_bar_(\w+)\.py\]\(four_bar_\w+\.py\) \| (\d+) \| [\d.]+ \| [\d.]+ \|"
    r" (\S+) \| (\S+) \|"
)
LINES = 12
"""Of liaison's script, at most."""


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("compare", FOLDER / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page():
    return (FOLDER / "four_bar.md").read_text(encoding="utf-8")


def test_lines_are_counted_without_comments_and_docstrings(compare):
    head = '"""Two\nlines."""\n\n# one\nx = [\n    1,  # two\n]\n\n\n'
    body = 'def f():\n    """No."""\n    y = """\n\n"""\n'
    text = head + body
    assert compare.lines_of_code(text) == 7


def test_the_page_has_the_counts_and_the_script(compare, page):
    rows = {name: int(lines) for name, lines, *_ in ROW.findall(page)}
    texts = {x: compare.source(x).read_text(encoding="utf-8") for x in compare.RESULTS}
    assert rows == {name: compare.lines_of_code(text) for name, text in texts.items()}
    assert rows["liaison"] <= LINES
    code = re.search(r"```python\n(.*?)```", page, re.S)[1]
    assert code.split() == texts["liaison"].split('"""')[2].split()


@pytest.mark.slow
@pytest.mark.peers
def test_the_systems_agree(compare, page):
    """Differences are not larger than the page says, but for the last digit of rounding."""
    stated = {name: (angle, force) for name, _, angle, force in ROW.findall(page)}
    for system, _, cpu, _, angle, force in compare.rows():
        if cpu is None or system == "liaison":
            continue
        for value, limit in zip((angle, force), stated[system], strict=True):
            assert value < 1.5 * float(limit), system
