"""Reading loops: Python syntax -> typed trees, the same for every printer.

A loop's text becomes `Routine`: statements and values of known types, every name resolved to an
argument, a local, a number, a table of numbers, a function of `math` or another loop. Anything
outside the subset is refused with its file and line.

Public names: Value, Step, Routine, routine, reachable.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, final

from liaison.errors import Place, ProgramError

from . import loops
from .loops import Loop

TYPES = ("f64", "i64", "ptr", "iptr", "kernel")
ELEMENT = {"ptr": "f64", "iptr": "i64"}
KERNEL_ARGUMENTS = ("f64", *["ptr"] * 7)
MATH: dict[Any, tuple[str, int]] = {
    **{f: (f.__name__, 1) for f in (math.sqrt, math.sin, math.cos, math.tan, math.asin, math.acos)},
    **{f: (f.__name__, 1) for f in (math.atan, math.exp, math.log, math.fabs, math.isfinite)},
    **{f: (f.__name__, 2) for f in (math.atan2, math.pow, math.copysign)},
    loops.floor: ("floor", 1),
    loops.fmin: ("fmin", 2),
    loops.fmax: ("fmax", 2),
}
BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
}  # fmt: skip
COMPARE = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


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


def reachable(roots: Iterable[Loop[..., Any]]) -> list[Routine]:
    """The loops and all they call, callees first where they do not call each other in turn."""
    found: dict[Loop[..., Any], Routine | None] = {}
    order: list[Routine] = []
    stack = [(r, False) for r in reversed(list(roots))]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(found[current])  # type: ignore[arg-type]
        elif current not in found:
            found[current] = read = routine(current)
            stack += [(current, True), *((callee, False) for callee in reversed(read.calls))]
    return order


def routine(loop: Loop[..., Any]) -> Routine:
    """Read one loop; refuses what is not in the subset."""
    return _Reader(loop).read()


@cache
def signature(loop: Loop[..., Any]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Argument names with their types, and the type of the result."""
    reader = _Reader(loop)
    return reader.arguments, reader.result


class _Reader:
    """Walks the syntax tree of one function."""

    def __init__(self, loop: Loop[..., Any]) -> None:
        self.loop = loop
        self.file, self.lines, self.start = _source(loop)
        node = ast.parse(textwrap.dedent("".join(self.lines))).body[0]
        assert isinstance(node, ast.FunctionDef)
        self.node = node
        self.outer = _outer_names(loop.function)
        self.calls: dict[Loop[..., Any], None] = {}
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.refuse(node, "only plain arguments without defaults")
        self.arguments = tuple((a.arg, self.type_of(a, a.annotation)) for a in arguments.args)
        self.result = "void" if self.is_none(node.returns) else self.type_of(node, node.returns)
        if self.result not in ("void", "f64", "i64"):
            self.refuse(node, "the result is f64, i64 or None")
        self.types: dict[str, str] = dict(self.arguments)

    def read(self) -> Routine:
        body = self.block(self.node.body)
        names = dict(self.arguments)
        inner = {name: kind for name, kind in self.types.items() if name not in names}
        return Routine(self.loop, self.arguments, self.result, body, inner, tuple(self.calls))

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        number = getattr(node, "lineno", 1)
        text = self.lines[number - 1].rstrip() if number <= len(self.lines) else ""
        place = Place(self.file, self.start + number - 1, len(text) - len(text.lstrip()) + 1, text)
        raise ProgramError(f"loop {self.loop.name!r}: {why}.", place=place)

    @staticmethod
    def is_none(node: ast.expr | None) -> bool:
        return node is None or (isinstance(node, ast.Constant) and node.value in (None, "None"))

    def type_of(self, where: ast.AST, annotation: ast.expr | None) -> str:
        if isinstance(annotation, ast.Constant):
            name = annotation.value
        else:
            name = getattr(annotation, "id", getattr(annotation, "attr", None))
        if name not in TYPES:
            self.refuse(where, f"an annotation is one of {', '.join(TYPES)}")
        return str(name)

    # statements

    def block(self, statements: list[ast.stmt]) -> tuple[Step, ...]:
        steps: list[Step] = []
        for node in statements:
            step = self.statement(node)
            steps += [step] if step else []
        return tuple(steps)

    def statement(self, node: ast.stmt) -> Step | None:
        reader = STATEMENTS.get(type(node))
        if reader is None:
            self.refuse(node, f"{type(node).__name__} is not in the subset")
        return reader(self, node)

    def assign(self, node: ast.Assign) -> Step:
        if len(node.targets) != 1:
            self.refuse(node, "one target at a time")
        return self.set(node.targets[0], self.value(node.value))

    def augmented(self, node: ast.AugAssign) -> Step:
        old = self.value(node.target)
        return self.set(
            node.target, self.arithmetic(node, node.op, old, self.value(node.value), node.value)
        )

    def annotated(self, node: ast.AnnAssign) -> Step:
        if node.value is None or not isinstance(node.target, ast.Name):
            self.refuse(node, "an annotated name is given a value")
        kind = self.type_of(node, node.annotation)
        self.types.setdefault(node.target.id, kind)
        return self.set(node.target, self.value(node.value))

    def set(self, target: ast.expr, value: Value) -> Step:
        if isinstance(target, ast.Subscript):
            pointer, index = self.element(target)
            stored = self.fit(target, value, ELEMENT[pointer.type])
            return Step("store", values=(pointer, index, stored))
        if not isinstance(target, ast.Name):
            self.refuse(target, "assign to a name or to p[i]")
        value = self.number(value)
        if value.type == "void":
            self.refuse(target, "this call gives nothing")
        kind = self.types.setdefault(target.id, value.type)
        return Step("assign", target.id, (self.fit(target, value, kind, target.id),))

    def for_(self, node: ast.For) -> Step:
        call = node.iter
        is_range = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
        )
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            self.refuse(node, "write `for i in range(...)`, without else")
        assert isinstance(call, ast.Call)
        bounds = [self.fit(node, self.value(a), "i64") for a in call.args]
        if not 1 <= len(bounds) <= 3:
            self.refuse(node, "range takes one to three numbers")
        start = bounds[0] if len(bounds) > 1 else Value("const", "i64", data=0)
        stop = bounds[min(1, len(bounds) - 1)]
        step = bounds[2] if len(bounds) == 3 else Value("const", "i64", data=1)
        if step.kind != "const" or step.data == 0:
            self.refuse(node, "the step of a range is a number other than 0")
        if self.types.setdefault(node.target.id, "i64") != "i64":
            self.refuse(node, f"{node.target.id!r} is {self.types[node.target.id]} already")
        return Step("for", node.target.id, (start, stop, step), self.block(node.body))

    def while_(self, node: ast.While) -> Step:
        if node.orelse:
            self.refuse(node, "while has no else")
        return Step("while", values=(self.condition(node.test),), body=self.block(node.body))

    def if_(self, node: ast.If) -> Step:
        test = self.condition(node.test)
        return Step("if", "", (test,), self.block(node.body), self.block(node.orelse))

    def return_(self, node: ast.Return) -> Step:
        if node.value is None or self.result == "void":
            if not self.is_none(node.value) or self.result != "void":
                self.refuse(node, f"the result is {self.result}")
            return Step("return")
        return Step("return", values=(self.fit(node, self.value(node.value), self.result),))

    def do(self, node: ast.Expr) -> Step | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        value = self.value(node.value)
        if value.kind not in ("call", "kernel"):
            self.refuse(node, "a line that does nothing")
        return Step("do", values=(value,))

    # values

    def value(self, node: ast.expr) -> Value:
        reader = VALUES.get(type(node))
        if reader is None:
            self.refuse(node, f"{type(node).__name__} is not in the subset")
        return reader(self, node)

    def constant(self, node: ast.Constant) -> Value:
        return self.literal(node, node.value)

    def literal(self, node: ast.AST, value: Any) -> Value:
        if isinstance(value, (bool, int)) and abs(value) < 2**63:
            return Value("const", "i64", data=int(value))
        if isinstance(value, float):
            return Value("const", "f64", data=float(value))
        self.refuse(node, f"{value!r} is no number of the subset")

    def name(self, node: ast.Name) -> Value:
        if node.id in self.types:
            return Value("local", self.types[node.id], data=node.id)
        if node.id not in self.outer:
            self.refuse(node, f"the name {node.id!r} is not known here")
        return self.literal(node, self.outer[node.id])

    def attribute(self, node: ast.Attribute) -> Value:
        return self.literal(node, self.object(node))

    def object(self, node: ast.expr) -> Any:
        """What a name or a dotted name outside the function stands for."""
        if isinstance(node, ast.Attribute):
            return getattr(self.object(node.value), node.attr, None)
        if isinstance(node, ast.Name) and node.id not in self.types:
            return self.outer.get(node.id, BUILTINS.get(node.id))
        return None

    def element(self, node: ast.Subscript) -> tuple[Value, Value]:
        pointer = self.value(node.value)
        if pointer.type not in ELEMENT:
            self.refuse(node, "only pointers have elements")
        return pointer, self.fit(node, self.value(node.slice), "i64")

    def subscript(self, node: ast.Subscript) -> Value:
        table = self.object(node.value)
        if table is not None:
            return self.table(node, table)
        pointer, index = self.element(node)
        return Value("load", ELEMENT[pointer.type], (pointer, index))

    def table(self, node: ast.Subscript, table: Any) -> Value:
        if not isinstance(table, tuple) or not table:
            self.refuse(node, "a table is a tuple of numbers")
        numbers = [self.literal(node, number) for number in table]
        kind = "f64" if any(n.type == "f64" for n in numbers) else "i64"
        index = self.fit(node, self.value(node.slice), "i64")
        if index.kind == "const":
            if not 0 <= index.data < len(table):
                self.refuse(node, f"index {index.data} is outside a table of {len(table)}")
            return self.fit(node, numbers[index.data], kind)
        data = tuple(float(n.data) if kind == "f64" else n.data for n in numbers)
        return Value("table", kind, (index,), data)

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value("not", "bool", (self.condition(node.operand),))
        value = self.number(self.value(node.operand))
        if isinstance(node.op, ast.Invert) or value.type not in ("f64", "i64"):
            self.refuse(node, "only numbers have a sign")
        if isinstance(node.op, ast.UAdd):
            return value
        if value.kind == "const":
            return Value("const", value.type, data=-value.data)
        return Value("neg", value.type, (value,))

    def binary(self, node: ast.BinOp) -> Value:
        x, y = self.value(node.left), self.value(node.right)
        return self.arithmetic(node, node.op, x, y, node.right)

    def arithmetic(
        self, node: ast.AST, op: ast.operator, x: Value, y: Value, right: ast.expr
    ) -> Value:
        name = BINARY.get(type(op))
        if name is None:
            self.refuse(node, f"{type(op).__name__} is not in the subset")
        if name == "pow":
            return self.power(node, x, y)
        x, y = self.alike(node, x, y)
        if name == "div":
            x, y = self.fit(node, x, "f64"), self.fit(node, y, "f64")
        elif name in ("floordiv", "mod") and x.type == "f64":
            self.refuse(node, "// and % are for integers; write floor(x / y)")
        return Value(name, x.type, (x, y))

    def power(self, node: ast.AST, x: Value, y: Value) -> Value:
        x = self.number(x)
        if y.kind == "const" and y.type == "i64" and 1 <= y.data <= 8:
            return Value("power", x.type, (x,), y.data)
        if x.type != "f64":
            self.refuse(node, "an integer is raised to a literal power from 1 to 8 only")
        return Value("math", "f64", (x, self.fit(node, y, "f64")), "pow")

    def compare(self, node: ast.Compare) -> Value:
        name = COMPARE.get(type(node.ops[0]))
        if len(node.ops) != 1 or name is None:
            self.refuse(node, "one comparison at a time, of numbers")
        x, y = self.alike(node, self.value(node.left), self.value(node.comparators[0]))
        return Value(name, "bool", (x, y))

    def boolean(self, node: ast.BoolOp) -> Value:
        name = "and" if isinstance(node.op, ast.And) else "or"
        values = [self.condition(value) for value in node.values]
        result = values[0]
        for value in values[1:]:
            result = Value(name, "bool", (result, value))
        return result

    def choice(self, node: ast.IfExp) -> Value:
        x, y = self.alike(node, self.value(node.body), self.value(node.orelse))
        return Value("choice", x.type, (self.condition(node.test), x, y))

    def condition(self, node: ast.expr) -> Value:
        value = self.value(node)
        if value.type == "bool":
            return value
        if value.type not in ("f64", "i64"):
            self.refuse(node, "a condition is a comparison or a number")
        return Value("ne", "bool", (value, Value("const", value.type, data=0)))

    def call(self, node: ast.Call) -> Value:
        if node.keywords:
            self.refuse(node, "arguments are given by position")
        args = tuple(self.value(a) for a in node.args)
        if isinstance(node.func, ast.Name) and self.types.get(node.func.id) == "kernel":
            args = self.given(node, args, KERNEL_ARGUMENTS)
            return Value("kernel", "void", args, node.func.id)
        callee = self.object(node.func)
        if isinstance(callee, Loop):
            arguments, result = signature(callee)
            self.calls[callee] = None
            args = self.given(node, args, [kind for _, kind in arguments])
            return Value("call", result, args, callee)
        return self.function(node, callee, args)

    def function(self, node: ast.Call, callee: Any, args: tuple[Value, ...]) -> Value:
        if callee is loops.at and len(args) == 2 and args[0].type in ELEMENT:
            return Value("offset", args[0].type, (args[0], self.fit(node, args[1], "i64")))
        if callee in (min, max) and len(args) == 2:
            x, y = self.alike(node, *args)
            return Value("min" if callee is min else "max", x.type, (x, y))
        if callee in (float, int, abs) and len(args) == 1:
            return self.conversion(node, callee, self.number(args[0]))
        try:
            name, arity = MATH[callee]
        except (KeyError, TypeError):
            self.refuse(node, f"{ast.unparse(node.func)} cannot be called from a loop")
        values = self.given(node, args, ["f64"] * arity)
        return Value("math", "bool" if name == "isfinite" else "f64", values, name)

    def conversion(self, node: ast.Call, callee: Any, x: Value) -> Value:
        if callee is abs and x.type in ("f64", "i64"):
            return Value("abs", x.type, (x,))
        if callee is float:
            return self.fit(node, x, "f64")
        return Value("convert", "i64", (x,)) if x.type == "f64" else self.fit(node, x, "i64")

    # types

    def given(
        self, node: ast.AST, args: Iterable[Value], kinds: Iterable[str]
    ) -> tuple[Value, ...]:
        args, kinds = list(args), list(kinds)
        if len(args) != len(kinds):
            self.refuse(node, f"{len(kinds)} arguments, not {len(args)}")
        return tuple(self.fit(node, a, kind) for a, kind in zip(args, kinds, strict=True))

    def number(self, value: Value) -> Value:
        return Value("convert", "i64", (value,)) if value.type == "bool" else value

    def fit(self, node: ast.AST, value: Value, kind: str, name: str = "") -> Value:
        value = self.number(value)
        if value.type == kind:
            return value
        if (value.type, kind) == ("i64", "f64"):
            if value.kind == "const":
                return Value("const", "f64", data=float(value.data))
            return Value("convert", "f64", (value,))
        hint = f"{name!r} began as {kind}" if name else f"{kind} is wanted here"
        self.refuse(node, f"{hint}, not {value.type}")

    def alike(self, node: ast.AST, x: Value, y: Value) -> tuple[Value, Value]:
        x, y = self.number(x), self.number(y)
        kind = "f64" if "f64" in (x.type, y.type) else "i64"
        return self.fit(node, x, kind), self.fit(node, y, kind)


BUILTINS: dict[str, Any] = {"min": min, "max": max, "abs": abs, "float": float, "int": int}
STATEMENTS: dict[type, Callable[[_Reader, Any], Step | None]] = {
    ast.Assign: _Reader.assign,
    ast.AugAssign: _Reader.augmented,
    ast.AnnAssign: _Reader.annotated,
    ast.For: _Reader.for_,
    ast.While: _Reader.while_,
    ast.If: _Reader.if_,
    ast.Return: _Reader.return_,
    ast.Expr: _Reader.do,
    ast.Pass: lambda reader, node: None,
    ast.Break: lambda reader, node: Step("break"),
    ast.Continue: lambda reader, node: Step("continue"),
}
VALUES: dict[type, Callable[[_Reader, Any], Value]] = {
    ast.Constant: _Reader.constant,
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.UnaryOp: _Reader.unary,
    ast.BinOp: _Reader.binary,
    ast.Compare: _Reader.compare,
    ast.BoolOp: _Reader.boolean,
    ast.IfExp: _Reader.choice,
    ast.Call: _Reader.call,
}


@cache
def _source(loop: Loop[..., Any]) -> tuple[str, list[str], int]:
    try:
        lines, start = inspect.getsourcelines(loop.function)
    except OSError as cause:
        raise ProgramError(f"the text of loop {loop.name!r} is not to be found.") from cause
    return inspect.getsourcefile(loop.function) or "?", lines, start


def _outer_names(function: Callable[..., Any]) -> dict[str, Any]:
    """Names of the module and of enclosing functions, with what they stand for."""
    names = dict(getattr(function, "__globals__", {}))
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=True):
        names[name] = cell.cell_contents
    return names
