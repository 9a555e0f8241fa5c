"""The source files, parsed once for all tests of the house."""

import ast
import gc
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "liaison"
sys.path.insert(0, str(Path(__file__).parent))  # imported.py serves several files


@cache
def parsed() -> dict[str, ast.Module]:
    """Dotted module name -> syntax tree, of every file of the package."""
    trees = {}
    gc.disable()  # it would look through a million nodes again and again, and they stay
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("liaison", *path.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        trees[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    gc.enable()
    return trees


@pytest.fixture(scope="session")
def modules() -> dict[str, ast.Module]:
    return parsed()


@pytest.fixture(scope="session")
def package() -> Path:
    return PACKAGE


@pytest.fixture(scope="session")
def repository() -> Path:
    return PACKAGE.parents[1]
