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

DOORS = (
    "__init__ corridor corridor_given corridor_analyse corridor_batch corridor_collide "
    "corridor_scene corridor_compare "
    "corridor_levels corridor_reading corridor_integrals corridor_view summary cli cli_analyse "
    "cli_assemble cli_compare cli_options cli_own cli_print cli_sides cli_derive cli_freedoms "
    "cli_motion cli_motors "
    "cli_parametrizations cli_levels "
    "cli_forms cli_values cli_text __main__ lazy errors units"
).split()
ROOMS = (
    "numeric expr algebra spatial model formats tree mobility equations program solvers simulate "
    "scenes analyse view sweep"
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


def package_tree() -> str:
    """The block for the page: doors, then rooms in order of processing, the room's noun first."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    doors = {path.stem for path in PACKAGE.glob("*.py")}
    assert rooms <= set(ROOMS), f"no place in the tree for {rooms - set(ROOMS)}"
    assert doors == set(DOORS), f"no place in the tree for {doors ^ set(DOORS)}"
    lines = [line for name in DOORS for line in row(2, PACKAGE / f"{name}.py")]
    for room in [room for room in ROOMS if room in rooms]:
        files = (PACKAGE / room).glob("*.py")
        noun = NOUNS.get(room, room)
        kept = sorted((path.stem != noun, path.name, path) for path in files)
        lines += ["", f"  {room}/"]
        lines += [x for *_, path in kept if path.stem != "__init__" for x in row(4, path)]
    return "\n".join(["```", "src/liaison/", *lines, "```"])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: package_tree(), page), encoding="utf-8")
