"""What a loop is once read: typed values and statements, every name resolved.

A type is one of the words in TYPES; of what carries more than that, it is a `Kind`.

Public names: Value, Kind, Step, Routine, Scope, scope_of, signature, outer_names, record_kind,
part_kind, rows_kind, hook_kind; TYPES, ELEMENT, KERNEL_ARGUMENTS, SATURATING.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, final

from liaison.errors import Place, ProgramError

from .language import Loop
from .records import Part, Record

TYPES = ("f64", "i64", "ptr", "iptr", "kernel")
ELEMENT = {"ptr": "f64", "iptr": "i64"}
SATURATING = "saturating"  # data of a conversion to i64 that is the nearest integer there is
KERNEL_ARGUMENTS = ("f64", *["ptr"] * 7)


@final
class Kind(str):
    """The type of a record, of rows, of a part, of a matrix or of a hook, all of them pointers.

    Attributes:
        family: "record", "rows", "part", "matrix" or "hook".
        record: the class, of what is no matrix; of a hook a loop with its signature.
        element: "ptr" or "iptr", of a matrix.
        owner: what a part is sized by: a record, or a `counts` of integers by name.
        row: the length of a matrix's rows.
    """

    family: str
    record: Any
    element: str
    owner: Value | None
    row: Value | None

    def __new__(
        cls,
        family: str,
        text: str,
        record: Any = None,
        *,
        element: str = "",
        owner: Value | None = None,
        row: Value | None = None,
    ) -> Kind:
        """A type of this text."""
        kind = super().__new__(cls, text)
        kind.family, kind.record, kind.element = family, record, element
        kind.owner, kind.row = owner, row
        return kind


def record_kind(record: type[Record]) -> Kind:
    """The type of a record."""
    return Kind("record", f"{record.__name__}#{record.serial}", record)


def rows_kind(record: type[Record]) -> Kind:
    """The type of rows of records."""
    return Kind("rows", f"Rows[{record.__name__}#{record.serial}]", record)


def part_kind(part: type[Part], owner: Value | None = None) -> Kind:
    """The type of a part, and what it is sized by."""
    return Kind("part", f"{part.__name__}#{part.serial}", part, owner=owner)


def hook_kind(like: Loop[..., Any]) -> Kind:
    """The type of the address of a loop with the signature of this one."""
    return Kind("hook", f"hook like {like.name}#{id(like):x}", like)


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
    """A statement: assign, store, put, for, while, if, break, continue, return or do."""

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
    """One loop's text and names: where it stands, what its names mean, and how it rejects."""

    def __init__(self, loop: Loop[..., Any]) -> None:
        self.loop = loop
        self.file, self.lines, self.start = _source(loop)
        node = ast.parse(textwrap.dedent("".join(self.lines))).body[0]
        assert isinstance(node, ast.FunctionDef)
        self.node = node
        self.outer = outer_names(loop)
        self.calls: dict[Loop[..., Any], None] = {}
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.reject(node, "only plain arguments without defaults")
        listed = [(a.arg, self.type_of(a, a.annotation)) for a in arguments.args]
        self.arguments = tuple((name, self.owned(node, kind, listed)) for name, kind in listed)
        self.result = "void" if self.is_none(node.returns) else self.type_of(node, node.returns)
        if self.result not in ("void", "f64", "i64"):
            self.reject(node, "the result is f64, i64 or None")
        self.types: dict[str, str] = dict(self.arguments)

    def reject(self, node: ast.AST, why: str) -> NoReturn:
        """Raise the error of a line."""
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
        text = annotation.value if isinstance(annotation, ast.Constant) else None
        kind = _named(text or (ast.unparse(annotation) if annotation else ""), self.outer)
        if kind is None:
            self.reject(where, f"an annotation is one of {', '.join(TYPES)} or a record")
        return kind

    def owned(self, node: ast.AST, kind: str, arguments: list[tuple[str, str]]) -> str:
        """The type of an argument, with what a part is sized by."""
        if not isinstance(kind, Kind) or kind.family != "part":
            return kind
        needs = kind.record.needs()
        for name, other in arguments:
            if isinstance(other, Kind) and other.family == "record":
                fields = other.record.fields
                if all(x in fields and fields[x].layout == "size" for x in needs):
                    return part_kind(kind.record, Value("local", other, data=name))
        numbers = [x for x in needs if (x, "i64") in arguments]
        if not numbers:
            self.reject(
                node,
                f"{kind.record.__name__} is sized by {', '.join(needs)}: neither a record nor "
                "integers among the arguments have these names",
            )
        values = tuple(Value("local", "i64", data=x) for x in numbers)
        return part_kind(kind.record, Value("counts", "i64", values, tuple(numbers)))


@cache
def scope_of(loop: Loop[..., Any]) -> Scope:
    """The scope of a loop, whose text is read once."""
    return Scope(loop)


def signature(loop: Loop[..., Any]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Argument names with their types, and the type of the result."""
    annotations = dict(loop.function.__annotations__)
    result = annotations.pop("return", None)
    result = "void" if result in (None, "None") else str(result)
    outer = None if {*annotations.values()} <= {*TYPES} else outer_names(loop)
    kinds = [_named(x, outer or {}) for x in annotations.values() if isinstance(x, str)]
    known_kinds = [kind for kind in kinds if kind is not None]
    is_plain = loop.is_external or result in ("void", "f64", "i64")
    if len(known_kinds) == loop.function.__code__.co_argcount and is_plain:
        return tuple(
            zip(annotations, known_kinds, strict=True)
        ), result  # the text need not be read
    scope = scope_of(loop)
    return scope.arguments, scope.result


def _named(text: Any, outer: Mapping[str, Any]) -> str | None:
    """The type of an annotation as text; None where it is none."""
    if text in TYPES:
        return str(text)
    is_rows = isinstance(text, str) and text.startswith("Rows[")
    path = text.removeprefix("Rows[").removesuffix("]") if isinstance(text, str) else ""
    first, *rest = path.split(".")
    value = outer.get(first)
    for name in rest:
        value = getattr(value, name, None)
    if path.rsplit(".", 1)[-1] in TYPES and not is_rows:
        return path.rsplit(".", 1)[-1]
    if isinstance(value, type) and issubclass(value, Record):
        return rows_kind(value) if is_rows else record_kind(value)
    return part_kind(value) if isinstance(value, type) and issubclass(value, Part) else None


def _source(loop: Loop[..., Any]) -> tuple[str, list[str], int]:
    try:
        lines, start = _lines(loop.function)
    except OSError as cause:
        raise ProgramError(f"the text of loop {loop.name!r} is not to be found.") from cause
    return inspect.getsourcefile(loop.function) or "?", lines, start


def _lines(function: Any) -> tuple[list[str], int]:
    """The lines of a function, and the number of the first.

    Its code has the number of the last; `inspect` reads it word by word, in ten times as long.
    """
    code: Any = getattr(function, "__code__", None)
    known = linecache.getlines(code.co_filename) if code is not None else []
    end = max((place[1] or 0 for place in code.co_positions()), default=0) if known else 0
    if not known or end < code.co_firstlineno + 2:  # of a docstring alone there is no code
        return inspect.getsourcelines(function)
    while end < len(known) and known[end].lstrip().startswith((")", "]", "}")):
        end += 1
    return known[code.co_firstlineno - 1 : end], code.co_firstlineno


def outer_names(loop: Loop[..., Any]) -> dict[str, Any]:
    """Names of the module and of enclosing functions, with what they stand for."""
    function = loop.function
    names = {**getattr(function, "__globals__", {}), **loop.near}
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=True):
        names[name] = cell.cell_contents
    return names
