"""The page on formal algebra is true: every block runs and prints what stands below it."""

import contextlib
import io
import re
import shlex

import pytest

from liaison.algebra import IDENTITIES
from liaison.cli import main


@pytest.fixture(scope="module")
def page(examples):
    return (examples.parent / "docs" / "theory" / "algebra.md").read_text(encoding="utf-8")


def test_every_block_prints_what_stands_below_it(page, examples, monkeypatch):
    monkeypatch.chdir(examples.parent)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(blocks) == page.count("```python")
    for code, expected in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)
        assert out.getvalue() == expected


def test_the_number_of_identities_is_the_one_on_the_page(page):
    assert f"\n{len(IDENTITIES)} True\n" in page


def test_the_commands_of_the_page_run(page, examples, monkeypatch, capsys):
    monkeypatch.chdir(examples.parent)
    commands = re.findall(r"^\$ liaison (.*)$", page, re.M)
    assert commands
    for command in commands:
        with pytest.raises(SystemExit) as left:
            main(shlex.split(command))
        assert left.value.code == 0, capsys.readouterr().err
