"""The page on reading is true: its Python runs from top to bottom, and prints what it says."""

import re
from pathlib import Path

import pytest

from liaison.cli import main

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["reading", "first_integrals", "virtual_power"])
def test_python_of_the_page_runs_from_top_to_bottom(page, monkeypatch, capsys):
    text = (REPOSITORY / "docs" / "theory" / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(REPOSITORY)
    script = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    exec(compile(script, page, "exec"), {})


def test_the_printed_equations_are_those_of_the_page(monkeypatch, capsys):
    page = (REPOSITORY / "docs" / "theory" / "reading.md").read_text(encoding="utf-8")
    command, shown = re.search(r"```console\n\$ liaison (.*?)\n(.*?)\n…", page, re.S).groups()
    monkeypatch.chdir(REPOSITORY)
    with pytest.raises(SystemExit):
        main(command.split())
    assert capsys.readouterr().out.startswith(shown)
