"""What a loop is once read: typed values and statements, every name resolved.

Public names: Value, Step, Routine, Scope, scope_of, signature, outer_names; TYPES, ELEMENT,
KERNEL_ARGUMENTS.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, final

from liaison.errors import Place, ProgramError

from .language import Loop

TYPES = ("f64", "i64", "ptr", "iptr", "kernel")
ELEMENT = {"ptr": "f64", "iptr": "i64"}
KERNEL_ARGUMENTS = ("f64", *["ptr"] * 7)


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A typed expression: what it is, its type (f64, i64, bool, ptr, iptr, kernel, void)."""

    kind: str
    type: str
    args: tuple[Value, ...] = ()
    data: Any = None


@final
@dataclass(frozen=True, slots=True)
class Step:
    """A statement: assign, store, for, while, if, break, continue, return or do."""

    kind: str
    name: str = ""
    values: tuple[Value, ...] = ()
    body: tuple[Step, ...] = ()
    orelse: tuple[Step, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Routine:
    """A loop read: arguments and locals with their types, result type, statements, callees."""

    loop: Loop[..., Any]
    arguments: tuple[tuple[str, str], ...]
    result: str
    body: tuple[Step, ...]
    locals: Mapping[str, str]
    calls: tuple[Loop[..., Any], ...]


@final
class Scope:
    """One loop's text and names: where it stands, what its names mean, and how it refuses."""

    def __init__(self, loop: Loop[..., Any]) -> None:
        self.loop = loop
        self.file, self.lines, self.start = _source(loop)
        node = ast.parse(textwrap.dedent("".join(self.lines))).body[0]
        assert isinstance(node, ast.FunctionDef)
        self.node = node
        self.outer = outer_names(loop.function)
        self.calls: dict[Loop[..., Any], None] = {}
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.refuse(node, "only plain arguments without defaults")
        self.arguments = tuple((a.arg, self.type_of(a, a.annotation)) for a in arguments.args)
        self.result = "void" if self.is_none(node.returns) else self.type_of(node, node.returns)
        if self.result not in ("void", "f64", "i64"):
            self.refuse(node, "the result is f64, i64 or None")
        self.types: dict[str, str] = dict(self.arguments)

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Raise the refusal of a line."""
        number = getattr(node, "lineno", 1)
        text = self.lines[number - 1].rstrip() if number <= len(self.lines) else ""
        place = Place(self.file, self.start + number - 1, len(text) - len(text.lstrip()) + 1, text)
        raise ProgramError(f"loop {self.loop.name!r}: {why}.", place=place)

    @staticmethod
    def is_none(node: ast.expr | None) -> bool:
        """Whether nothing, or None, is written there."""
        return node is None or (isinstance(node, ast.Constant) and node.value in (None, "None"))

    def type_of(self, where: ast.AST, annotation: ast.expr | None) -> str:
        """The type an annotation names."""
        if isinstance(annotation, ast.Constant):
            name = annotation.value
        else:
            name = getattr(annotation, "id", getattr(annotation, "attr", None))
        if name not in TYPES:
            self.refuse(where, f"an annotation is one of {', '.join(TYPES)}")
        return str(name)


@cache
def scope_of(loop: Loop[..., Any]) -> Scope:
    """The scope of a loop, whose text is read once."""
    return Scope(loop)


def signature(loop: Loop[..., Any]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Argument names with their types, and the type of the result."""
    said = dict(loop.function.__annotations__)
    result = said.pop("return", None)
    result = "void" if result in (None, "None") else result
    is_plain = len(said) == loop.function.__code__.co_argcount and {*said.values()} <= {*TYPES}
    if is_plain and result in ("void", "f64", "i64"):
        return tuple(said.items()), result  # as the text says it: no need to read that
    scope = scope_of(loop)
    return scope.arguments, scope.result


def _source(loop: Loop[..., Any]) -> tuple[str, list[str], int]:
    try:
        lines, start = inspect.getsourcelines(loop.function)
    except OSError as cause:
        raise ProgramError(f"the text of loop {loop.name!r} is not to be found.") from cause
    return inspect.getsourcefile(loop.function) or "?", lines, start


def outer_names(function: Callable[..., Any]) -> dict[str, Any]:
    """Names of the module and of enclosing functions, with what they stand for."""
    names = dict(getattr(function, "__globals__", {}))
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=True):
        names[name] = cell.cell_contents
    return names
