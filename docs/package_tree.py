"""Writes the package tree of docs/house.md from the first sentence of every module.

python docs/package_tree.py          (or: make tree)
"""

import ast
import re
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "src" / "liaison"
PAGE = REPOSITORY / "docs" / "house.md"
BLOCK = re.compile(r"```\nsrc/liaison/\n.*?```", re.S)

DOORS = "__init__ __main__ lazy errors units".split()
ROOMS = (
    "verbs cli numeric expr algebra spatial model formats tree mobility equations program solvers "
    "simulate scenes analyse view sweep"
).split()
NOUNS = {
    "model": "mechanism",
    "simulate": "trajectory",
    "scenes": "scene",
}  # else the file has the room's name
COLUMN, WIDTH = 28, 125


def first_sentence(path: Path) -> str:
    """What a module says of itself."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".:")


def row(indent: int, path: Path) -> list[str]:
    """One file: its name, and its sentence in a column."""
    words = textwrap.wrap(first_sentence(path), WIDTH - COLUMN)
    head = " " * indent + path.name
    return [f"{head:<{COLUMN}}{words[0]}", *(" " * (COLUMN + 2) + line for line in words[1:])]


def folder(path: Path, indent: int, noun: str = "") -> list[str]:
    """The files of a folder, its noun first, then its sub-folders."""
    kept = sorted((file.stem != noun, file.name, file) for file in path.glob("*.py"))
    lines = [x for *_, file in kept if file.stem != "__init__" for x in row(indent, file)]
    for inner in sorted(x for x in path.iterdir() if (x / "__init__.py").exists()):
        lines += [f"{' ' * indent}{inner.name}/", *folder(inner, indent + 2)]
    return lines


def package_tree() -> str:
    """The block for the page: doors, then rooms in order of processing, the room's noun first."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    doors = {path.stem for path in PACKAGE.glob("*.py")}
    assert rooms <= set(ROOMS), f"no place in the tree for {rooms - set(ROOMS)}"
    assert doors == set(DOORS), f"no place in the tree for {doors ^ set(DOORS)}"
    lines = [line for name in DOORS for line in row(2, PACKAGE / f"{name}.py")]
    for room in [room for room in ROOMS if room in rooms]:
        lines += ["", f"  {room}/", *folder(PACKAGE / room, 4, NOUNS.get(room, room))]
    return "\n".join(["```", "src/liaison/", *lines, "```"])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: package_tree(), page), encoding="utf-8")
