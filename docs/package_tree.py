"""Writes the package tree of docs/house.md from the first sentence of every folder and module.

python docs/package_tree.py          (or: make tree)
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "src" / "liaison"
PAGE = REPOSITORY / "docs" / "house.md"
BLOCK = re.compile(r"```\nsrc/liaison/\n.*?```", re.S)
ROOMS = re.compile(r"^\| `(\w+)` \|.*\|$", re.M)
DOCSTRING = re.compile(r'r?""".*?"""', re.S)
COLUMN, WIDTH = 30, 125


def first_sentence(path: Path) -> str:
    """What a module says of itself."""
    head = DOCSTRING.match(path.read_text(encoding="utf-8"))
    text = inspect.cleandoc(ast.literal_eval(head[0])) if head else ""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".:")


def row(indent: int, name: str, path: Path) -> list[str]:
    """One file or folder: its name, and its sentence in a column."""
    words = textwrap.wrap(first_sentence(path), WIDTH - COLUMN) or [""]
    head = f"{' ' * indent}{name}"
    gap = f"{head:<{COLUMN - 1}} "
    return [f"{gap}{words[0]}", *(" " * (COLUMN + 2) + line for line in words[1:])]


def folder(path: Path, indent: int) -> list[str]:
    """A folder: its sentence, the file that bears its name, its other files, its folders."""
    lines = row(indent, f"{path.name}/", path / "__init__.py")
    files = [file for file in path.glob("*.py") if file.name != "__init__.py"]
    for file in sorted(files, key=lambda file: (file.stem != path.name, file.name)):
        lines += row(indent + 2, file.name, file)
    for inner in sorted(path.glob("*/__init__.py")):
        lines += folder(inner.parent, indent + 2)
    return lines


def rooms() -> list[str]:
    """The rooms on disk, in the order of the table on the page."""
    section = PAGE.read_text(encoding="utf-8").split("## The rooms\n")[1].split("\n## ")[0]
    named = ROOMS.findall(section)
    found = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(named) == found, f"the table of rooms differs from the disk: {set(named) ^ found}"
    return named


def package_tree() -> str:
    """The block for the page: what stands at the top, then the rooms in order of processing."""
    lines = [line for file in sorted(PACKAGE.glob("*.py")) for line in row(2, file.name, file)]
    for room in rooms():
        lines += ["", *folder(PACKAGE / room, 2)]
    return "\n".join(["```", "src/liaison/", *lines, "```"])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: package_tree(), page), encoding="utf-8")
