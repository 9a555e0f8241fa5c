"""Sizes past which a file or a function deserves a second look; an allowance says why it stays."""

import ast

from imported import nodes

LINES_OF_A_FUNCTION = 40
LINES_OF_A_FILE = 700

# name -> why it may be longer
ALLOWED: dict[str, str] = {}


def body_lines(function: ast.FunctionDef) -> int:
    """Lines of a function after its docstring."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_functions_are_short(modules):
    long = {}
    for module, tree in modules.items():
        for node in nodes(tree, ast.FunctionDef):
            if body_lines(node) > LINES_OF_A_FUNCTION:
                long[f"{module}.{node.name}"] = body_lines(node)
    assert long.keys() <= ALLOWED.keys(), f"over {LINES_OF_A_FUNCTION} lines: {long}"


def test_files_are_short(package):
    long = {}
    for path in sorted(package.rglob("*.py")):
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > LINES_OF_A_FILE:
            long[str(path.relative_to(package))] = count
    assert long.keys() <= ALLOWED.keys(), f"over {LINES_OF_A_FILE} lines: {long}"


def test_every_allowance_is_still_needed(modules, package):
    names = {
        f"{module}.{node.name}"
        for module, tree in modules.items()
        for node in nodes(tree, ast.FunctionDef)
        if body_lines(node) > LINES_OF_A_FUNCTION
    }
    files = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > LINES_OF_A_FILE
    }
    assert ALLOWED.keys() <= names | files
