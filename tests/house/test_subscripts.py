"""Loops name what they reach: no index of theirs holds a constant that was numbered by hand."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterator

import pytest

POINTERS = {"at", "entry_at"}

CONVERTED = ("liaison.simulate.", "liaison.analyse.", "liaison.solvers.", "liaison.scenes.")
"""Rooms whose layouts are records; in the others the constants are counted."""


def loops_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions decorated `@loop`, wherever they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and "loop" in map(ast.unparse, node.decorator_list):
            yield node


def indices(loop: ast.FunctionDef) -> Iterator[ast.expr]:
    """What stands between brackets, and the numbers in `at(p, n)` and `entry_at(p, n)`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in POINTERS:
            yield from node.args[1:]


def names_in(index: ast.expr) -> Iterator[ast.Name]:
    """Names in an index; codes that are compared and what stands between inner brackets are not."""
    if isinstance(index, ast.Compare | ast.Subscript):
        return
    if isinstance(index, ast.Name):
        yield index
    for child in ast.iter_child_nodes(index):
        if isinstance(child, ast.expr):
            yield from names_in(child)


def locals_of(loop: ast.FunctionDef) -> set[str]:
    """Arguments and names that are assigned."""
    found = {x.arg for x in loop.args.args}
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def numbered(tree: ast.Module, outside: dict[str, object]) -> list[tuple[int, str]]:
    """Line and name of every constant of a module that stands in an index of a loop."""
    found = []
    for loop in loops_of(tree):
        own = locals_of(loop)
        for index in indices(loop):
            for name in names_in(index):
                if name.id not in own and type(outside.get(name.id)) is int:
                    found.append((name.lineno, name.id))
    return sorted(found)


@pytest.fixture(scope="module")
def counted(modules):
    """Module -> constants in indices of its loops."""
    found = {}
    for module, tree in modules.items():
        if any(True for _ in loops_of(tree)):
            found[module] = numbered(tree, vars(importlib.import_module(module)))
    return found


def test_no_index_of_a_converted_loop_is_numbered_by_hand(counted, capsys):
    rooms = Counter()
    for module, found in counted.items():
        rooms[module.split(".")[1]] += len(found)
    with capsys.disabled():
        print(f"\nhand-numbered constants in indices of loops: {sum(rooms.values())}", dict(rooms))
    left = {x: found for x, found in counted.items() if found and x.startswith(CONVERTED)}
    assert not left, left


SAMPLE = """
T, H = 0, 1
SMALL = 0.5

@loop
def f(w, n, k, T_local):
    w[T] = 1.0
    x = at(w, 2 * k + H)
    y = w[n[H] + k]
    z = w[k if n[0] == T else 0]
    T_local = w[T_local] * SMALL
    return entry_at(n, H)

def g(w):
    return w[T]
"""


def test_the_counter_finds_what_it_looks_for():
    found = numbered(ast.parse(SAMPLE), {"T": 0, "H": 1, "SMALL": 0.5})
    assert found == [(7, "T"), (8, "H"), (9, "H"), (12, "H")]
