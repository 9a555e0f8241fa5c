"""Reading fields of records in loops: names -> the loads and pointers they stand for.

A number of the header is a `field`; an array is an `offset` from the block by the word that holds
where it begins; elements of matrices and arrays of parts are offsets by formulas of counts.

Public names: Fields.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

from liaison.errors import NamingError

from .records import Field, Part, formula
from .tree import ELEMENT, Kind, Scope, Value, hook_kind, part_kind, record_kind, rows_kind

OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv"}


@final
class Fields:
    """Reads what records contain, in the scope of one loop."""

    def __init__(self, scope: Scope) -> None:
        self.refuse = scope.refuse
        self.node: ast.AST = scope.node
        assigned = {x.id for x in ast.walk(scope.node) if isinstance(x, ast.Name) and _is_set(x)}
        self.arguments = {name for name, _ in scope.arguments} - assigned
        for _, kind in scope.arguments:
            owner = kind.owner if isinstance(kind, Kind) else None
            if owner is not None and owner.kind == "counts" and assigned & set(owner.data):
                changed = ", ".join(sorted(assigned & set(owner.data)))
                self.refuse(
                    scope.node, f"{changed} sizes a part among the arguments: it may not change"
                )

    def field(self, node: ast.AST, base: Value, name: str) -> Value:
        """A field of a record or a part."""
        kind, self.node = base.type, node
        if not isinstance(kind, Kind) or kind.family in ("matrix", "hook"):
            self.refuse(node, f"only records have fields, {kind} has none named {name!r}")
        if name == "floats" or (name == "ints" and kind.family != "part"):
            return Value("cast", "ptr" if name == "floats" else "iptr", (base,))
        if name == "words" and kind.family == "record" and not kind.record.is_fixed:
            return Value("field", "i64", (base,), Field("words", "size", "i64", 0))
        found = kind.record.fields.get(name) if kind.family != "rows" else None
        if found is None:
            of = f"field of {kind.record.__name__}"
            refusal = NamingError.unknown(of, name, kind.record.fields)
            self.refuse(node, refusal.message.rstrip("?."))
        return self.of_part(base, kind, found) if kind.family == "part" else self.of(base, found)

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
                self.refuse(self.node, f"the count {node.id!r} is not among the arguments")
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
            self.refuse(node, "an element of a matrix has two indices, m[j, i]")
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
                self.refuse(node, "only pointers have elements")
            return Value("offset", kind, (base, indices[0]))
        if kind.family == "rows" and len(indices) == 1 and not is_slice:
            element = record_kind(kind.record)
            return Value("offset", element, (Value("cast", element, (base,)), indices[0]))
        if kind.family != "matrix" or (is_slice and len(indices) != 2):
            self.refuse(node, f"a {kind.family} has no such elements")
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
            self.refuse(node, "flat is for matrices")
        return value

    def cast(self, node: ast.AST, record: Any, args: Sequence[Value]) -> Value:
        """`Run(p)`, the record at a pointer; `Sides(p, run)`, the part there."""
        is_part = issubclass(record, Part)
        if not args or args[0].type not in ELEMENT or (len(args) > 1 and not is_part):
            form = "(pointer, record)" if is_part else "(pointer)"
            self.refuse(node, f"write {record.__name__}{form}")
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
            self.refuse(node, f"{record.__name__} is sized by {counts}: a record, or numbers")
        for value in args:
            if value.kind == "local" and value.data not in self.arguments:
                self.refuse(node, f"{value.data!r} may change: a count is an argument or a number")
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
                    self.refuse(node, f"a {name} is given together with the counts it has")

    @staticmethod
    def is_same(kind: Kind, given: Kind, names: Sequence[str], args: Sequence[Value]) -> bool:
        """Whether a part is sized in the callee as it is here."""
        needs = kind.record.needs()
        owner = next((x for x in args if _has(x.type, needs)), None)
        if owner is not None or given.owner is None:
            return owner == given.owner
        if given.owner.kind != "counts":
            counts = given.owner.type.record.fields  # type: ignore[attr-defined]
            here = {x: Value("field", "i64", (given.owner,), counts[x]) for x in needs}
        else:
            here = dict(zip(given.owner.data, given.owner.args, strict=True))
        there = dict(zip(names, args, strict=True))
        return all(there[x] == here.get(x) for x in needs if x in there)

    @staticmethod
    def bridge(kind: str, wanted: str) -> str:
        """How what is a record is written as a pointer."""
        if not isinstance(kind, Kind) or wanted not in ELEMENT:
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
