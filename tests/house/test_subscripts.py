"""Loops name what they reach: no index of theirs holds a constant that was numbered by hand.

Nor does one hold the stride and the column of a table, as `blocks[4 * k + 1]` does.
"""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterator

import pytest
from imported import nodes

POINTERS = {"at", "entry_at"}

ROOMS = ("analyse", "contacts", "program", "simulation", "solvers")
"""Rooms with loops."""

NO_TABLES = {
    "liaison.contacts.stepping.rows.metric_of": "work space behind three vectors and a number",
    "liaison.simulation.steps.implicit.implicit_error": "work space behind the parts of `newton`",
}
"""Loops with such an index into what is no table of records, and into what."""


def loops_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions decorated `@loop`, wherever they stand."""
    for node in nodes(tree, ast.FunctionDef):
        if "loop" in map(ast.unparse, node.decorator_list):
            yield node


def indices(loop: ast.FunctionDef) -> Iterator[ast.expr]:
    """What stands between brackets, and the numbers in `at(p, n)` and `entry_at(p, n)`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in POINTERS:
            yield from node.args[1:]


def places(index: ast.expr) -> Iterator[ast.expr]:
    """The numbers in an index: of `m[j, i:]` they are j and i."""
    if isinstance(index, ast.Tuple):
        for element in index.elts:
            yield from places(element)
    elif not isinstance(index, ast.Slice):
        yield index
    elif index.lower is not None:
        yield index.lower


def terms(number: ast.expr) -> Iterator[ast.expr]:
    """What a sum adds up."""
    if isinstance(number, ast.BinOp) and isinstance(number.op, ast.Add | ast.Sub):
        yield from terms(number.left)
        yield from terms(number.right)
    elif isinstance(number, ast.IfExp):
        yield from terms(number.body)
        yield from terms(number.orelse)
    else:
        yield number


def is_integer(node: ast.expr, least: int) -> bool:
    """Whether this is an integer written out, `least` or more."""
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= least


def is_stride(term: ast.expr) -> bool:
    """Whether a term is `c * k` with an integer c of 2 or more written out."""
    if not (isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)):
        return False
    pair = (term.left, term.right)
    return any(is_integer(x, 2) for x in pair) and not all(is_integer(x, 0) for x in pair)


def columns(loop: ast.FunctionDef) -> list[tuple[int, str]]:
    """Line and text of every index `c * k + d` of a loop, c and d written out."""
    found = set()
    for index in indices(loop):
        for place in places(index):
            parts = list(terms(place))
            if any(map(is_stride, parts)) and any(is_integer(x, 1) for x in parts):
                found.add((place.lineno, ast.unparse(place)))
    return sorted(found)


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


def test_no_index_of_a_loop_is_numbered_by_hand(counted, capsys):
    rooms = Counter()
    for module, found in counted.items():
        rooms[module.split(".")[1]] += len(found)
    with capsys.disabled():
        print(f"\nhand-numbered constants in indices of loops: {sum(rooms.values())}", dict(rooms))
    left = {x: found for x, found in counted.items() if found}
    assert not left, left
    assert set(ROOMS) <= set(rooms)


def test_no_index_of_a_loop_counts_the_columns_of_a_table(modules, capsys):
    found = {
        f"{module}.{loop.name}": listed
        for module, tree in modules.items()
        for loop in loops_of(tree)
        if (listed := columns(loop))
    }
    left = {x: listed for x, listed in found.items() if x not in NO_TABLES}
    with capsys.disabled():
        count = sum(map(len, left.values()))
        print(f"\nindices of loops that count columns: {count}, and {len(NO_TABLES)} of no table")
    assert not left, left
    assert set(NO_TABLES) == set(found), "NO_TABLES lists a loop without such an index"


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


TABLES = """
@loop
def f(w, n, k, j):
    w[4 * k] = w[4 * k + 1]
    x = at(w, 2 + k * 3)
    y = w[j, 3 * k + n[5 * k + 2] :]
    z = w[j * k + 1] + w[3 * k + j] + w[k + 1] + w[2 * 3 + 1]
    return w[3 * (k + 1) - 1] + w[4 * k + (1 if j > 0 else 0)]
"""


def test_the_counter_of_columns_finds_what_it_looks_for():
    (loop,) = loops_of(ast.parse(TABLES))
    lines = [(4, "4 * k + 1"), (5, "2 + k * 3"), (6, "5 * k + 2"), (8, "3 * (k + 1) - 1")]
    assert columns(loop) == [*lines, (8, "4 * k + (1 if j > 0 else 0)")]
