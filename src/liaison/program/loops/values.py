"""Reading the values of a loop: Python expressions -> typed trees.

Reading fields of records in loops: names -> the loads and pointers they stand for.

A number of the header is a `field`; an array is an `offset` from the block by the word that holds
where it begins; elements of matrices and arrays of parts are offsets by formulas of counts.

Public names: Values, Fields.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, final

from liaison.errors import NamingError

from . import language as loops
from .language import Loop
from .records import Field, Part, Record, formula, words_of
from .tree import (
    ELEMENT,
    KERNEL_ARGUMENTS,
    Kind,
    Scope,
    Value,
    hook_kind,
    part_kind,
    record_kind,
    rows_kind,
    signature,
)

OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv"}


@final
class Fields:
    """Reads what records contain, in the scope of one loop."""

    def __init__(self, scope: Scope) -> None:
        self.reject = scope.reject
        self.node: ast.AST = scope.node
        assigned = {x.id for x in ast.walk(scope.node) if isinstance(x, ast.Name) and _is_set(x)}
        self.arguments = {name for name, _ in scope.arguments} - assigned
        for _, kind in scope.arguments:
            owner = kind.owner if isinstance(kind, Kind) else None
            if owner is not None and owner.kind == "counts" and assigned & set(owner.data):
                changed = ", ".join(sorted(assigned & set(owner.data)))
                self.reject(
                    scope.node, f"{changed} sizes a part among the arguments: it may not change"
                )

    def field(self, node: ast.AST, base: Value, name: str) -> Value:
        """A field of a record or a part."""
        kind, self.node = base.type, node
        if not isinstance(kind, Kind) or kind.family in ("matrix", "hook"):
            self.reject(node, f"only records have fields, {kind} has none named {name!r}")
        if name == "floats" or (name == "ints" and kind.family != "part"):
            return Value("cast", "ptr" if name == "floats" else "iptr", (base,))
        if name == "words" and kind.family == "record" and not kind.record.is_fixed:
            return Value("field", "i64", (base,), Field("words", "size", "i64", 0))
        field = kind.record.fields.get(name) if kind.family != "rows" else None
        if field is None:
            of = f"field of {kind.record.__name__}"
            refusal = NamingError.unknown(of, name, kind.record.fields)
            self.reject(node, refusal.message.rstrip("?."))
        return self.of_part(base, kind, field) if kind.family == "part" else self.of(base, field)

    def of(self, base: Value, field: Field) -> Value:
        """A field of a record."""
        if field.layout == "inline":
            return self.typed(Value("inline", field.type, (base,), field), field, base)
        if field.layout == "nested":
            return Value("inline", record_kind(field.record), (base,), field)
        if field.layout == "size" or field.type in ("f64", "i64"):
            return Value("field", field.type, (base,), field)
        word = Value("field", "i64", (base,), field)
        if field.type == "kernel":
            return Value("address", "kernel", (word,))
        if field.type == "hook":
            return Value("address", hook_kind(field.like), (word,))
        return self.typed(self.further(base, field.type, word), field, base)

    def of_part(self, base: Value, kind: Kind, field: Field) -> Value:
        """A field of a part: its place follows from the counts."""
        assert kind.owner is not None
        start = self.formula(kind.record.start(field.name), kind.owner)
        if field.layout == "scalar":
            pointer = {"f64": "ptr", "i64": "iptr"}[field.type]
            return Value("load", field.type, (Value("cast", pointer, (base,)), start))
        return self.typed(self.further(base, field.type, start), field, kind.owner)

    @staticmethod
    def further(base: Value, kind: str, words: Value) -> Value:
        """The pointer some words on."""
        return Value("offset", kind, (Value("cast", kind, (base,)), words))

    def typed(self, pointer: Value, field: Field, owner: Value) -> Value:
        """The pointer to an array, as rows, a part, a matrix or numbers."""
        if field.layout == "rows":
            return Value("cast", rows_kind(field.record), (pointer,))
        if field.layout == "part":
            return Value("cast", part_kind(field.record, owner), (pointer,))
        if len(field.dims) < 2:
            return pointer
        row = self.formula(field.dims[1], owner)
        name = f"matrix of {field.type} with rows of {field.dims[1]}#{hash(row):x}"
        return replace(pointer, type=Kind("matrix", name, element=field.type, row=row))

    def formula(self, text: str, owner: Value) -> Value:
        """A formula of counts, which the owner holds; numbers in it are folded."""
        return self.term(formula(text)[0], owner)

    def term(self, node: ast.expr, owner: Value) -> Value:
        """One term of a formula."""
        if isinstance(node, ast.Constant):
            return Value("const", "i64", data=int(node.value))  # type: ignore[arg-type]
        if isinstance(node, ast.Name) and owner.kind == "counts":
            if node.id not in owner.data:
                self.reject(self.node, f"the count {node.id!r} is not among the arguments")
            place: int = owner.data.index(node.id)
            return owner.args[place]
        if isinstance(node, ast.Name):
            kind = owner.type
            assert isinstance(kind, Kind)
            return Value("field", "i64", (owner,), kind.record.fields[node.id])
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            pair = tuple(self.term(x, owner) for x in node.args)
            return Value(node.func.id, "i64", pair)
        assert isinstance(node, ast.BinOp)
        name = OPERATIONS[type(node.op)]
        return _folded(name, self.term(node.left, owner), self.term(node.right, owner))

    def element(
        self, node: ast.AST, matrix: Value, indices: Sequence[Value]
    ) -> tuple[Value, Value]:
        """Pointer and index of m[j, i]."""
        kind = matrix.type
        assert isinstance(kind, Kind)
        if len(indices) != 2:
            self.reject(node, "an element of a matrix has two indices, m[j, i]")
        assert kind.row is not None
        index = _folded("add", _folded("mul", indices[0], kind.row), indices[1])
        return replace(matrix, type=kind.element), index

    def pointer(
        self, node: ast.AST, base: Value, indices: Sequence[Value], is_slice: bool
    ) -> Value | None:
        """What `p[i:]`, `m[j]`, `m[j, i:]` and `blocks[k]` point to; None of an element."""
        kind = base.type
        if not isinstance(kind, Kind):
            if kind not in ELEMENT or len(indices) != 1:
                self.reject(node, "only pointers have elements")
            return Value("offset", kind, (base, indices[0]))
        if kind.family == "rows" and len(indices) == 1 and not is_slice:
            element = record_kind(kind.record)
            return Value("offset", element, (Value("cast", element, (base,)), indices[0]))
        if kind.family != "matrix" or (is_slice and len(indices) != 2):
            self.reject(node, f"a {kind.family} has no such elements")
        if len(indices) == 2 and not is_slice:
            return None
        first, *rest = indices
        zero = Value("const", "i64", data=0)
        pointer, index = self.element(node, base, [first, *(rest or [zero])])
        return Value("offset", pointer.type, (pointer, index))

    def flat(self, node: ast.AST, value: Value) -> Value:
        """A matrix as a pointer to its first element."""
        if isinstance(value.type, Kind) and value.type.family == "matrix":
            return replace(value, type=value.type.element)
        if value.type not in ELEMENT:
            self.reject(node, "flat is for matrices")
        return value

    def cast(self, node: ast.AST, record: Any, args: Sequence[Value]) -> Value:
        """`Run(p)`, the record at a pointer; `Sides(p, run)`, the part there."""
        is_part = issubclass(record, Part)
        if not args or args[0].type not in ELEMENT or (len(args) > 1 and not is_part):
            form = "(pointer, record)" if is_part else "(pointer)"
            self.reject(node, f"write {record.__name__}{form}")
        if not is_part:
            return Value("cast", record_kind(record), (args[0],))
        return Value("cast", part_kind(record, self.owner(node, record, args[1:])), (args[0],))

    def owner(self, node: ast.AST, record: Any, args: Sequence[Value]) -> Value:
        """What a part is sized by: a record that has its counts, or numbers that are."""
        needs = record.needs()
        if len(args) == 1 and _has(args[0].type, needs):
            return args[0]
        if len(args) != len(needs) or any(x.type != "i64" for x in args):
            counts = ", ".join(needs)
            self.reject(node, f"{record.__name__} is sized by {counts}: a record, or numbers")
        for value in args:
            if value.kind == "local" and value.data not in self.arguments:
                self.reject(node, f"{value.data!r} may change: a count is an argument or a number")
        return Value("counts", "i64", tuple(args), needs)

    def words_of(self, node: ast.AST, record: Any, args: Sequence[Value]) -> Value:
        """The length of a part."""
        self.node = node
        return self.formula(record.length(), self.owner(node, record, args))

    def check_owners(
        self, node: ast.AST, arguments: Sequence[tuple[str, str]], args: Sequence[Value]
    ) -> None:
        """Parts are handed on together with what they are sized by."""
        names = [name for name, _ in arguments]
        for (_, kind), value in zip(arguments, args, strict=True):
            if isinstance(kind, Kind) and kind.family == "part":
                assert isinstance(value.type, Kind)
                if not self.is_same(kind, value.type, names, args):
                    name = kind.record.__name__
                    self.reject(node, f"a {name} is given together with the counts it has")

    @staticmethod
    def is_same(kind: Kind, other: Kind, names: Sequence[str], args: Sequence[Value]) -> bool:
        """Whether a part is sized in the callee as it is here."""
        needs = kind.record.needs()
        owner = next((x for x in args if _has(x.type, needs)), None)
        if owner is not None or other.owner is None:
            return owner == other.owner
        if other.owner.kind != "counts":
            counts = other.owner.type.record.fields  # type: ignore[attr-defined]
            here = {x: Value("field", "i64", (other.owner,), counts[x]) for x in needs}
        else:
            here = dict(zip(other.owner.data, other.owner.args, strict=True))
        there = dict(zip(names, args, strict=True))
        return all(there[x] == here.get(x) for x in needs if x in there)

    @staticmethod
    def bridge(kind: str, expected: str) -> str:
        """How what is a record is written as a pointer."""
        if not isinstance(kind, Kind) or expected not in ELEMENT:
            return ""
        words = {"matrix": "flat(m) or m[j]", "rows": "flat(rows.ints)"}
        return f"; write {words.get(kind.family, 'its floats')}"

    @staticmethod
    def why_not_set(place: Value, name: str) -> str:
        """Why a field cannot be assigned to."""
        if place.kind == "field":
            return f"{name!r} is a count: it is set when the block is made, and read only here"
        if place.kind == "address":
            return f"{name!r} is the address of an entry or of a loop: it is set from outside"
        return f"{name!r} is an array: assign its elements, {name}[i] = …"


def _is_set(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _has(kind: str, counts: Sequence[str]) -> bool:
    """Whether a type is a record with these counts."""
    if not isinstance(kind, Kind) or kind.family != "record":
        return False
    fields = kind.record.fields
    return all(x in fields and fields[x].layout == "size" for x in counts)


def _folded(name: str, x: Value, y: Value) -> Value:
    """x + y, x · y and their like on integers, constants folded."""
    if x.kind == "const" and y.kind == "const":
        a, b = x.data, y.data
        folded = {"add": a + b, "sub": a - b, "mul": a * b}.get(name)
        if folded is not None:
            return Value("const", "i64", data=folded)
    if name == "add" and (x.kind, x.data) == ("const", 0):
        return y
    if name in ("add", "sub") and (y.kind, y.data) == ("const", 0):
        return x
    if name == "mul" and (x.kind, x.data) == ("const", 1):
        return y
    if name == "mul" and (y.kind, y.data) == ("const", 1):
        return x
    if name == "mul" and 0 in [v.data for v in (x, y) if v.kind == "const"]:
        return Value("const", "i64", data=0)
    return Value(name, "i64", (x, y))


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
    ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor",
    ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
BITWISE = ("bitand", "bitor", "bitxor", "shl", "shr")
COMPARE = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


@final
class Values:
    """Reads expressions in the scope of one loop."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.types, self.outer, self.reject = scope.types, scope.outer, scope.reject
        self.fields = Fields(scope)

    def value(self, node: ast.expr) -> Value:
        """The typed tree of an expression."""
        reader = VALUES.get(type(node))
        if reader is None:
            self.reject(node, f"{type(node).__name__} is not in the subset")
        return reader(self, node)

    def constant(self, node: ast.Constant) -> Value:
        """A number written in the loop."""
        return self.literal(node, node.value)

    def literal(self, node: ast.AST, value: Any) -> Value:
        """A number, with its type."""
        if isinstance(value, (bool, int)) and -(2**63) <= value < 2**63:
            return Value("const", "i64", data=int(value))
        if isinstance(value, float):
            return Value("const", "f64", data=float(value))
        self.reject(node, f"{value!r} is no number of the subset")

    def name(self, node: ast.Name) -> Value:
        """An argument, a local, or a number from outside."""
        if node.id in self.types:
            return Value("local", self.types[node.id], data=node.id)
        if node.id not in self.outer:
            self.reject(node, f"the name {node.id!r} is not known here")
        return self.literal(node, self.outer[node.id])

    def attribute(self, node: ast.Attribute) -> Value:
        """A field of a record, or a number under a dotted name."""
        if self.is_inside(node):
            return self.fields.field(node, self.value(node.value), node.attr)
        return self.literal(node, self.object(node))

    def is_inside(self, node: ast.expr) -> bool:
        """Whether an expression begins with a value of the loop, not with a name from outside."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in self.types)

    def object(self, node: ast.expr) -> Any:
        """What a name or a dotted name outside the function stands for."""
        if isinstance(node, ast.Attribute):
            return getattr(self.object(node.value), node.attr, None)
        if isinstance(node, ast.Name) and node.id not in self.types:
            return self.outer.get(node.id, BUILTINS.get(node.id))
        return None

    def element(self, node: ast.Subscript) -> tuple[Value, Value]:
        """Pointer and index of p[i] or m[j, i]."""
        pointer = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            self.reject(node, "a slice is a pointer: assign to one element at a time")
        if isinstance(pointer.type, Kind) and pointer.type.family == "matrix":
            return self.fields.element(node, pointer, self.indices(node))
        if pointer.type not in ELEMENT:
            self.reject(node, "only pointers have elements")
        if isinstance(node.slice, ast.Tuple):
            self.reject(node, "two indices are for matrices: fields with two dimensions")
        return pointer, self.fit(node, self.value(node.slice), "i64")

    def indices(self, node: ast.Subscript) -> list[Value]:
        """The numbers between the brackets; of `i:` the i."""
        listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = []
        for index in listed:
            if isinstance(index, ast.Slice):
                if index.upper or index.step or not index.lower or index is not listed[-1]:
                    self.reject(node, "a slice is `p[i:]`, the pointer i elements on")
                index = index.lower
            indices.append(self.fit(node, self.value(index), "i64"))
        return indices

    def subscript(self, node: ast.Subscript) -> Value:
        """p[i], or a number of a table."""
        table = self.object(node.value)
        if table is not None:
            return self.table(node, table)
        last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        base = self.value(node.value)
        if isinstance(last, ast.Slice) or isinstance(base.type, Kind):
            pointer = self.fields.pointer(
                node, base, self.indices(node), isinstance(last, ast.Slice)
            )
            if pointer is not None:
                return pointer
        pointer, index = self.element(node)
        return Value("load", ELEMENT[pointer.type], (pointer, index))

    def table(self, node: ast.Subscript, table: Any) -> Value:
        """An element of a tuple of numbers."""
        if not isinstance(table, tuple) or not table:
            self.reject(node, "a table is a tuple of numbers")
        numbers = [self.literal(node, number) for number in table]
        kind = "f64" if any(n.type == "f64" for n in numbers) else "i64"
        index = self.fit(node, self.value(node.slice), "i64")
        if index.kind == "const":
            if not 0 <= index.data < len(table):
                self.reject(node, f"index {index.data} is outside a table of {len(table)}")
            return self.fit(node, numbers[index.data], kind)
        data = tuple(float(n.data) if kind == "f64" else n.data for n in numbers)
        return Value("table", kind, (index,), data)

    def unary(self, node: ast.UnaryOp) -> Value:
        """A sign, or `not`."""
        if isinstance(node.op, ast.Not):
            return Value("not", "bool", (self.condition(node.operand),))
        value = self.number(self.value(node.operand))
        if isinstance(node.op, ast.Invert) or value.type not in ("f64", "i64"):
            self.reject(node, "only numbers have a sign")
        if isinstance(node.op, ast.UAdd):
            return value
        if value.kind == "const":
            return Value("const", value.type, data=-value.data)
        return Value("neg", value.type, (value,))

    def binary(self, node: ast.BinOp) -> Value:
        """An operation between two values."""
        return self.arithmetic(node, node.op, self.value(node.left), self.value(node.right))

    def arithmetic(self, node: ast.AST, op: ast.operator, x: Value, y: Value) -> Value:
        """The operation `op` on x and y, both made of one type."""
        name = BINARY.get(type(op))
        if name is None:
            self.reject(node, f"{type(op).__name__} is not in the subset")
        if name == "pow":
            return self.power(node, x, y)
        x, y = self.alike(node, x, y)
        if name == "div":
            x, y = self.fit(node, x, "f64"), self.fit(node, y, "f64")
        elif name in ("floordiv", "mod") and x.type == "f64":
            self.reject(node, "// and % are for integers; write floor(x / y)")
        elif name in BITWISE and x.type == "f64":
            self.reject(node, "& | ^ << >> are for integers; bits(x) are those of a float")
        return Value(name, x.type, (x, y))

    def power(self, node: ast.AST, x: Value, y: Value) -> Value:
        """A product for small whole powers, else pow."""
        x = self.number(x)
        if y.kind == "const" and y.type == "i64" and 1 <= y.data <= 8:
            return Value("power", x.type, (x,), y.data)
        if x.type != "f64":
            self.reject(node, "an integer is raised to a literal power from 1 to 8 only")
        return Value("math", "f64", (x, self.fit(node, y, "f64")), "pow")

    def compare(self, node: ast.Compare) -> Value:
        """One comparison."""
        name = COMPARE.get(type(node.ops[0]))
        if len(node.ops) != 1 or name is None:
            self.reject(node, "one comparison at a time, of numbers")
        x, y = self.alike(node, self.value(node.left), self.value(node.comparators[0]))
        return Value(name, "bool", (x, y))

    def boolean(self, node: ast.BoolOp) -> Value:
        """`and` and `or`, which stop early."""
        name = "and" if isinstance(node.op, ast.And) else "or"
        values = [self.condition(value) for value in node.values]
        result = values[0]
        for value in values[1:]:
            result = Value(name, "bool", (result, value))
        return result

    def choice(self, node: ast.IfExp) -> Value:
        """x if c else y."""
        x, y = self.value(node.body), self.value(node.orelse)
        if not (x.type == y.type and (x.type in ELEMENT or isinstance(x.type, Kind))):
            x, y = self.alike(node, x, y)
        return Value("choice", x.type, (self.condition(node.test), x, y))

    def condition(self, node: ast.expr) -> Value:
        """A value as true or false."""
        value = self.value(node)
        if value.type == "bool":
            return value
        if value.type not in ("f64", "i64"):
            self.reject(node, "a condition is a comparison or a number")
        return Value("ne", "bool", (value, Value("const", value.type, data=0)))

    def call(self, node: ast.Call) -> Value:
        """A call of a kernel, a loop or a function."""
        if node.keywords:
            self.reject(node, "arguments are given by position")
        if self.object(node.func) is words_of and node.args:
            counts = [self.value(x) for x in node.args[1:]]
            return self.fields.words_of(node, self.object(node.args[0]), counts)
        args = tuple(self.value(a) for a in node.args)
        if self.is_inside(node.func) and not isinstance(node.func, ast.Call):
            return self.by_address(node, self.value(node.func), args)
        callee = self.object(node.func)
        if isinstance(callee, Loop):
            args, result = self.for_loop(node, callee, args)
            if callee.is_external:
                return Value("external", result, args, callee)
            self.scope.calls[callee] = None
            return Value("call", result, args, callee)
        return self.function(node, callee, args)

    def by_address(self, node: ast.Call, entry: Value, args: tuple[Value, ...]) -> Value:
        """A call of an entry of a kernel, or of the loop in a hook."""
        if isinstance(entry.type, Kind) and entry.type.family == "hook":
            args, result = self.for_loop(node, entry.type.record, args)
            return Value("hook", result, (entry, *args))
        if entry.type != "kernel":
            self.reject(node, f"{ast.unparse(node.func)} is no entry of a kernel and no hook")
        return Value("kernel", "void", (entry, *self.fitted(node, args, KERNEL_ARGUMENTS)))

    def for_loop(
        self, node: ast.Call, callee: Loop[..., Any], args: tuple[Value, ...]
    ) -> tuple[tuple[Value, ...], str]:
        """Arguments as a loop takes them, and the type of its result."""
        arguments, result = signature(callee)
        args = self.fitted(node, args, [kind for _, kind in arguments])
        self.fields.check_owners(node, arguments, args)
        return args, result

    def function(self, node: ast.Call, callee: Any, args: tuple[Value, ...]) -> Value:
        """A call of a function the subset knows."""
        if callee is loops.at and len(args) == 2 and args[0].type in ELEMENT:
            return Value("offset", args[0].type, (args[0], self.fit(node, args[1], "i64")))
        if callee is loops.flat and len(args) == 1:
            return self.fields.flat(node, args[0])
        if isinstance(callee, type) and issubclass(callee, Record | Part):
            return self.fields.cast(node, callee, args)
        if callee is loops.entry_at and len(args) == 2 and args[0].type == "iptr":
            return Value("entry", "kernel", (args[0], self.fit(node, args[1], "i64")))
        if callee in (min, max) and len(args) == 2:
            x, y = self.alike(node, *args)
            return Value("min" if callee is min else "max", x.type, (x, y))
        if callee in (float, int, abs) and len(args) == 1:
            return self.conversion(node, callee, self.number(args[0]))
        if callee is loops.bits and len(args) == 1:
            return Value("bits", "i64", (self.fit(node, args[0], "f64"),))
        if callee is loops.from_bits and len(args) == 1:
            return Value("from_bits", "f64", (self.fit(node, args[0], "i64"),))
        try:
            name, arity = MATH[callee]
        except (KeyError, TypeError):
            self.reject(node, f"{ast.unparse(node.func)} cannot be called from a loop")
        values = self.fitted(node, args, ["f64"] * arity)
        return Value("math", "bool" if name == "isfinite" else "f64", values, name)

    def conversion(self, node: ast.Call, callee: Any, x: Value) -> Value:
        """abs, float and int."""
        if callee is abs and x.type in ("f64", "i64"):
            return Value("abs", x.type, (x,))
        if callee is float:
            return self.fit(node, x, "f64")
        return Value("convert", "i64", (x,)) if x.type == "f64" else self.fit(node, x, "i64")

    # types

    def fitted(
        self, node: ast.AST, args: Iterable[Value], kinds: Iterable[str]
    ) -> tuple[Value, ...]:
        """Arguments, as many and of such types as wanted."""
        args, kinds = list(args), list(kinds)
        if len(args) != len(kinds):
            self.reject(node, f"{len(kinds)} arguments, not {len(args)}")
        return tuple(self.fit(node, a, kind) for a, kind in zip(args, kinds, strict=True))

    def number(self, value: Value) -> Value:
        """Truth values as 0 and 1."""
        return Value("convert", "i64", (value,)) if value.type == "bool" else value

    def fit(self, node: ast.AST, value: Value, kind: str, name: str = "") -> Value:
        """The value as this type; integers become floats, nothing else changes."""
        value = self.number(value)
        if value.type == kind:
            return value
        if (value.type, kind) == ("i64", "f64"):
            if value.kind == "const":
                return Value("const", "f64", data=float(value.data))
            return Value("convert", "f64", (value,))
        expected, present = (str(x).partition("#")[0] for x in (kind, value.type))
        hint = f"{name!r} began as {expected}" if name else f"{expected} is wanted here"
        self.reject(node, f"{hint}, not {present}{self.fields.bridge(value.type, kind)}")

    def alike(self, node: ast.AST, x: Value, y: Value) -> tuple[Value, Value]:
        """Two numbers of one type."""
        x, y = self.number(x), self.number(y)
        kind = "f64" if "f64" in (x.type, y.type) else "i64"
        return self.fit(node, x, kind), self.fit(node, y, kind)


BUILTINS: dict[str, Any] = {"min": min, "max": max, "abs": abs, "float": float, "int": int}
VALUES: dict[type, Callable[[Values, Any], Value]] = {
    ast.Constant: Values.constant,
    ast.Name: Values.name,
    ast.Attribute: Values.attribute,
    ast.Subscript: Values.subscript,
    ast.UnaryOp: Values.unary,
    ast.BinOp: Values.binary,
    ast.Compare: Values.compare,
    ast.BoolOp: Values.boolean,
    ast.IfExp: Values.choice,
    ast.Call: Values.call,
}
