"""The examples of the pages on theory run."""

import re

import pytest

PAGES = [
    "contact_solvers",
    "contacts",
    "formalisms",
    "generation",
    "integrators",
    "maximal",
    "mobility",
    "one_sided",
    "parametrizations",
    pytest.param("satellite", marks=pytest.mark.slow),
    "unilateral",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, examples, monkeypatch):
    text = (examples.parent / "docs" / "theory" / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(examples.parent)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    exec("\n".join(blocks), {})
