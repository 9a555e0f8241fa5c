"""The pages that speak of the code are true: the package tree, and every block of the README."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FILE = re.compile(r"[\w]+\.(?:py|lark|typed)")


def files_in_page(page: Path) -> set[str]:
    """The files that the tree in docs/house.md names, with their folders."""
    block = re.search(r"```\nsrc/liaison/\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert block, "docs/house.md has lost its package tree"
    files, room = set(), ""
    for line in block.group(1).splitlines():
        indent, words = len(line) - len(line.lstrip()), line.split()
        if indent == 2 and words[0].endswith("/"):
            room = words[0]
        elif indent in (2, 4):
            names = [w.rstrip(",") for w in words]
            count = next((i for i, w in enumerate(names) if not FILE.fullmatch(w)), len(names))
            files |= {(room if indent == 4 else "") + name for name in names[:count]}
    return files


def test_the_package_tree_of_the_page_is_the_one_on_disk():
    package = REPOSITORY / "src" / "liaison"
    on_disk = {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and FILE.fullmatch(path.name) and path.name != "py.typed"
    }
    on_disk = {name for name in on_disk if not name.endswith("/__init__.py")}
    assert files_in_page(REPOSITORY / "docs" / "house.md") == on_disk


def blocks(page: str, language: str) -> list[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.fixture
def desk(tmp_path) -> Path:
    """An empty folder with the examples in it, so that what a block writes is thrown away."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    return tmp_path


def test_the_readme_has_code():
    assert blocks("README.md", "python")
    assert blocks("README.md", "console")


@pytest.mark.parametrize("block", blocks("README.md", "python"))
def test_python_of_the_readme_runs(block, desk):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=desk, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def commands() -> list[str]:
    lines = "\n".join(blocks("README.md", "console")).splitlines()
    return [line[2:] for line in lines if line.startswith("$ liaison")]


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_readme_run(command, desk):
    words = command.split()
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=desk, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
