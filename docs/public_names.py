"""Writes `__init__.pyi` beside every `__init__.py` whose public names load when first used.

python docs/public_names.py          (or: make tree)

The names stand once, in the table that `__init__.py` hands to `offer`; type checkers and editors
read the file made here.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SOURCES = REPOSITORY / "src"
HEAD = '"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""\n'


def offered(path: Path) -> dict[str, str]:
    """Full name of a module -> the names that a package offers from it, separated by spaces."""
    package = ".".join(path.parent.relative_to(SOURCES).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "offer":
            table = ast.literal_eval(node.args[1])
            full = {f"{package}.{module}": names for module, names in table.items()}
            return full | (others(node.args[2]) if len(node.args) > 2 else {})
    return {}


def others(argument: ast.expr) -> dict[str, str]:
    """What is offered of other modules: a table, or the verbs, one a file."""
    if isinstance(argument, ast.Dict):
        return dict(ast.literal_eval(argument))
    files = (SOURCES / "liaison" / "verbs").glob("*/[!_]*.py")
    return {f"liaison.verbs.{file.parent.name}.{file.stem}": file.stem for file in files}


def by_kind(name: str) -> tuple[int, str]:
    """Constants first, then classes, then functions, as imports are sorted."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name


def stub(path: Path) -> str:
    """The text of the `__init__.pyi` beside an `__init__.py`."""
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(offered(path).items())
        for name in sorted(names.split(), key=by_kind)
    ]
    return "\n".join([HEAD, *lines]) + "\n"


def stubs() -> Iterator[tuple[Path, str]]:
    """Every file to be written, with its text."""
    for path in sorted(SOURCES.rglob("__init__.py")):
        if offered(path):
            yield path.with_suffix(".pyi"), stub(path)


if __name__ == "__main__":
    for place, text in stubs():
        place.write_text(text, encoding="utf-8")
