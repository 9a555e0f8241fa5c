"""Reading loops: Python syntax -> typed trees, the same for every printer.

A loop's text becomes `Routine`: statements and values of known types, every name resolved to an
argument, a local, a number, a table of numbers, a function of `math` or another loop. Anything
outside the subset is rejected with its file and line.

Public names: routine, reachable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any, final

from .language import Loop
from .tree import ELEMENT, Kind, Routine, Scope, Step, Value, scope_of
from .values import Values


def reachable(
    roots: Iterable[Loop[..., Any]],
    reader: Callable[[Loop[..., Any]], Routine] | None = None,
    apart: Collection[Loop[..., Any]] = (),
) -> list[Routine]:
    """The loops and all they call, callees first where they do not call each other in turn.

    Args:
        roots: the loops.
        reader: what reads one; `routine` if None.
        apart: left out, with what only they call.
    """
    reader = reader or routine
    routines: dict[Loop[..., Any], Routine | None] = {}
    order: list[Routine] = []
    stack = [(r, False) for r in reversed(list(roots))]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(routines[current])  # type: ignore[arg-type]
        elif current not in routines:
            routines[current] = read = reader(current)
            called = [callee for callee in reversed(read.calls) if callee not in apart]
            stack += [(current, True), *((callee, False) for callee in called)]
    return order


@cache
def routine(loop: Loop[..., Any]) -> Routine:
    """Read one loop; rejects what is not in the subset."""
    return _Reader(scope_of(loop)).read()


@final
class _Reader:
    """Reads the statements of one loop."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.values = Values(scope)
        self.types, self.reject = scope.types, scope.reject

    def read(self) -> Routine:
        scope = self.scope
        body = self.block(scope.node.body)
        names = dict(scope.arguments)
        inner = {name: kind for name, kind in self.types.items() if name not in names}
        return Routine(scope.loop, scope.arguments, scope.result, body, inner, tuple(scope.calls))

    def block(self, statements: list[ast.stmt]) -> tuple[Step, ...]:
        steps: list[Step] = []
        for node in statements:
            step = self.statement(node)
            steps += [step] if step else []
        return tuple(steps)

    def statement(self, node: ast.stmt) -> Step | None:
        reader = STATEMENTS.get(type(node))
        if reader is None:
            self.reject(node, f"{type(node).__name__} is not in the subset")
        return reader(self, node)

    def assign(self, node: ast.Assign) -> Step:
        if len(node.targets) != 1:
            self.reject(node, "one target at a time")
        return self.set(node.targets[0], self.values.value(node.value))

    def augmented(self, node: ast.AugAssign) -> Step:
        old = self.values.value(node.target)
        added = self.values.value(node.value)
        return self.set(node.target, self.values.arithmetic(node, node.op, old, added))

    def annotated(self, node: ast.AnnAssign) -> Step:
        if node.value is None or not isinstance(node.target, ast.Name):
            self.reject(node, "an annotated name is given a value")
        kind = self.scope.type_of(node, node.annotation)
        self.types.setdefault(node.target.id, kind)
        return self.set(node.target, self.values.value(node.value))

    def set(self, target: ast.expr, value: Value) -> Step:
        if isinstance(target, ast.Attribute):
            return self.put(target, value)
        if isinstance(target, ast.Subscript):
            pointer, index = self.values.element(target)
            stored = self.values.fit(target, value, ELEMENT[pointer.type])
            return Step("store", values=(pointer, index, stored))
        if not isinstance(target, ast.Name):
            self.reject(target, "assign to a name, to p[i] or to a field")
        value = self.values.number(value)
        if value.type == "void":
            self.reject(target, "this call gives nothing")
        kind = self.types.setdefault(target.id, value.type)
        value = self.values.fit(target, value, kind, target.id)
        if isinstance(kind, Kind) and kind.owner != getattr(value.type, "owner", None):
            self.reject(target, f"{target.id!r} began as a part of another record")
        return Step("assign", target.id, (value,))

    def put(self, target: ast.Attribute, value: Value) -> Step:
        """`run.t = x`."""
        place = self.values.value(target)
        stored = self.values.fit(target, value, place.type)
        if place.kind == "load":
            return Step("store", values=(*place.args, stored))
        if place.kind != "field" or place.data.is_fixed:
            self.reject(target, self.values.fields.why_not_set(place, target.attr))
        return Step("put", values=(place, stored))

    def for_(self, node: ast.For) -> Step:
        call = node.iter
        is_range = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
        )
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            self.reject(node, "write `for i in range(...)`, without else")
        assert isinstance(call, ast.Call)
        bounds = [self.values.fit(node, self.values.value(a), "i64") for a in call.args]
        if not 1 <= len(bounds) <= 3:
            self.reject(node, "range takes one to three numbers")
        start = bounds[0] if len(bounds) > 1 else Value("const", "i64", data=0)
        stop = bounds[min(1, len(bounds) - 1)]
        step = bounds[2] if len(bounds) == 3 else Value("const", "i64", data=1)
        if step.kind != "const" or step.data == 0:
            self.reject(node, "the step of a range is a number other than 0")
        if self.types.setdefault(node.target.id, "i64") != "i64":
            self.reject(node, f"{node.target.id!r} is {self.types[node.target.id]} already")
        return Step("for", node.target.id, (start, stop, step), self.block(node.body))

    def while_(self, node: ast.While) -> Step:
        if node.orelse:
            self.reject(node, "while has no else")
        return Step("while", values=(self.values.condition(node.test),), body=self.block(node.body))

    def if_(self, node: ast.If) -> Step:
        test = self.values.condition(node.test)
        return Step("if", "", (test,), self.block(node.body), self.block(node.orelse))

    def return_(self, node: ast.Return) -> Step:
        if node.value is None or self.scope.result == "void":
            if not self.scope.is_none(node.value) or self.scope.result != "void":
                self.reject(node, f"the result is {self.scope.result}")
            return Step("return")
        value = self.values.fit(node, self.values.value(node.value), self.scope.result)
        return Step("return", values=(value,))

    def do(self, node: ast.Expr) -> Step | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        value = self.values.value(node.value)
        if value.kind not in ("call", "external", "kernel", "hook"):
            self.reject(node, "a line that does nothing")
        return Step("do", values=(value,))


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
