"""The page of runs with known answers: its texts and commands, and the lines that they print."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "known_answers.md"
BLOCK = re.compile(r"^```\n(.*?)^```", re.S | re.M)
NAME = re.compile(r"\(\* (\w+\.lsd) \*\)")
ROUNDING = re.compile(r"changed by \S+ J")
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
COMMANDS = [x for x in BLOCKS if x.startswith("$ liaison ")]


def plain(line):
    """A line without what rounding decides, and without columns."""
    return " ".join(ROUNDING.sub("changed", line).split())


@pytest.fixture
def desk(tmp_path, monkeypatch, examples):
    """A folder with the texts of the page."""
    for block in BLOCKS:
        if name := NAME.match(block):
            (tmp_path / name[1]).write_text(block, encoding="utf-8")
    shutil.copytree(examples / "contact", tmp_path / "examples" / "contact")
    monkeypatch.chdir(tmp_path)


def test_the_page_has_its_commands():
    assert len(COMMANDS) == 6


@pytest.mark.parametrize("block", COMMANDS, ids=lambda x: shlex.split(x.splitlines()[0])[3])
def test_what_is_printed_is_what_the_page_says(block, desk, run):
    command, *lines = block.splitlines()
    status, out, err = run(*shlex.split(command)[2:])
    is_rejected = not any("rad/s" in x or " J " in x or "event " in x for x in lines)
    assert status == is_rejected
    printed = [plain(x) for x in (out + err).splitlines()]
    for line in lines:
        assert line == "…" or plain(line) in printed
