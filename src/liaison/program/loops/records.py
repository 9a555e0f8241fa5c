"""Records: blocks of 64-bit words whose fields loops read and write by name.

    class Block(Record):
        kind: i64
        first: i64

    class Run(Record):
        nq: i64 = size()                    # a count: set when the block is made, then read only
        ns: i64 = size()
        nb: i64 = size()
        t: f64                              # a number in the header
        step: kernel                        # the address of an entry of a kernel
        land: hook = like(phase)            # the address of a loop with the signature of `phase`
        detail: iptr = inline(2)            # a short array inside the header
        R: ptr = inline(3, 3)               # a small matrix inside the header
        law: Law = nested()                 # a record of a fixed size inside the header
        q: ptr = sized("nq")                # an array behind the header
        k: ptr = sized("ns", "2 * nq + 1")  # a matrix, row by row
        area: ptr = sized()                 # an array whose length is an argument of `new`
        blocks: Rows[Block] = rows("nb")    # records one after the other
        mid: Sides = part()                 # arrays one after the other, as a kernel writes them

    run = Run.new({"area": 120}, nq=2, ns=7, nb=1)

A block is a header of one word for each field, and the arrays after it, in the order of the class.
The word of an array holds its offset in the block: there is no address inside, so a block can be
copied, stored and sent. The first word of a record with arrays is `words`, its length.

In a loop `run.t` is a number, `run.q` a pointer, `run.k[j, i]` an element, `run.k[j]` a row,
`run.blocks[k].kind` a number of a record in an array, `run.mid.d[r, i]` an element of a part,
`run.step(...)` a call; `run.floats` and `run.ints` are pointers to the block, `Run(p)` is the
record at a pointer, `Sides(p, run)` the part at a pointer with the counts of `run`, `Area(p, m, n)`
one with these counts, in the order in which its formulas name them. `words_of(Sides, run)` is the
length of a part. As plain Python the same expressions are NumPy views that end where their array
ends.

A part that is an argument of a loop is sized by the first record among the arguments that has its
counts, or by integers among them of the same names.

A hook lets a loop call one that it does not know: what is compiled with it need not contain all
that it may call. `set_hook` stores a loop there: the address of its machine code, or a number
under which plain Python finds it.

Public names: Record, Part, Rows, Field, Counts, size, inline, nested, sized, rows, part, like,
set_hook, words_of.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import inspect
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from types import CodeType, MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError, ProgramError

from .language import Loop, entry_at, handle_of, loop_at, signature_text

Counts: TypeAlias = dict[str, int]
Words: TypeAlias = NDArray[Any]
R = TypeVar("R", bound="Record")

SCALARS = ("f64", "i64", "kernel")
ARRAYS = ("ptr", "iptr")
OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
RESERVED = (
    "floats", "ints", "words", "fields", "header", "is_fixed", "serial", "new", "text", "mark",
    "words_for", "copy", "span", "slots", "counts",
)  # fmt: skip
OF_PARTS = ("start", "length", "needs", "spans")
_NUMBER = itertools.count()


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """The default of a field in the text of a class: how its words are laid out."""

    layout: str
    dims: tuple[str, ...] = ()
    like: Loop[..., Any] | None = None


@final
@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record or a part.

    Attributes:
        name: as in the class.
        layout: "scalar", "hook", "size", "inline", "nested", "sized", "rows" or "part".
        type: "f64", "i64", "kernel", "hook", "ptr" or "iptr"; "ptr" for rows and parts.
        slot: its word in the header; -1 in a part.
        dims: formulas of its dimensions.
        record: class of the nested record, of the elements of rows, or of the part.
        like: a loop whose signature a hook has.
    """

    name: str
    layout: str
    type: str
    slot: int
    dims: tuple[str, ...] = ()
    record: Any = None
    like: Any = None

    @property
    def is_array(self) -> bool:
        """Whether its words lie behind the header."""
        return self.layout in ("sized", "rows", "part")

    @property
    def is_fixed(self) -> bool:
        """Whether no loop ever writes its word of the header: counts, and offsets of arrays."""
        return self.is_array or self.layout == "size"

    @property
    def width(self) -> int:
        """Words of the header that it takes."""
        if self.layout == "nested":
            return int(self.record.header)
        return prod(map(int, self.dims)) if self.layout == "inline" else 1

    @property
    def length(self) -> str:
        """The formula of the number of words behind the header; empty where there is none."""
        if self.layout == "part":
            return str(self.record.length())
        if self.layout == "rows":
            return f"{self.record.header} * ({self.dims[0]})"
        if self.layout == "scalar":
            return "1"
        return " * ".join(f"({x})" for x in self.dims)

    def text(self) -> str:
        """The field as one line of a layout's text."""
        called = "" if self.like is None else f" {signature_text(self.like)}"
        return f"{self.slot} {self.name}: {self.type} {self.layout}({', '.join(self.dims)}){called}"


def size() -> Any:
    """A count by which arrays are sized: an argument of `new`, read only in loops."""
    return Shape("size")


def inline(*counts: int) -> Any:
    """An array of a fixed length inside the header; with two counts a matrix, row by row."""
    return Shape("inline", tuple(str(int(n)) for n in counts))


def nested() -> Any:
    """A record of a fixed size inside the header."""
    return Shape("nested")


def sized(*dims: str) -> Any:
    """An array behind the header; without formulas its length is an argument of `new`."""
    return Shape("sized", dims)


def rows(count: str) -> Any:
    """Records of a fixed size, one after the other."""
    return Shape("rows", (count,))


def part() -> Any:
    """Arrays one after the other without offsets, as an entry of a kernel writes them."""
    return Shape("part")


def like(loop: Loop[..., Any]) -> Any:
    """A hook: the address of a loop that takes what this one takes, and gives what it gives."""
    return Shape("hook", like=loop)


@cache
def formula(text: str) -> tuple[ast.expr, CodeType, tuple[str, ...]]:
    """A formula of counts: its syntax, its code and the counts it names."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as cause:
        raise ProgramError(f"{text!r} is no formula of a size.") from cause
    named = [x for x in ast.walk(tree.body) if isinstance(x, ast.Name)]
    names = [x.id for x in sorted(named, key=lambda x: x.col_offset) if x.id not in ("max", "min")]
    for node in ast.walk(tree.body):
        is_call = isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords
        is_known = isinstance(node, ast.Name | ast.operator | ast.Load) or is_call
        is_known = is_known or (isinstance(node, ast.Constant) and type(node.value) is int)
        is_known = is_known or (isinstance(node, ast.BinOp) and isinstance(node.op, OPERATIONS))
        if not is_known:
            raise ProgramError(
                f"{text!r} is no formula of a size.",
                hint="Write integers and counts with + - * // and max(a, b), min(a, b).",
            )
    return tree.body, compile(tree, "<size>", "eval"), tuple(dict.fromkeys(names))


def evaluate(text: str, counts: Mapping[str, int]) -> int:
    """The value of a formula."""
    return int(eval(formula(text)[1], _SCOPE, counts))


_SCOPE: dict[str, Any] = {"__builtins__": {}, "max": max, "min": min}


class Record:
    """A block of 64-bit words with named fields; subclasses declare them.

    Args:
        words: a block that `new` made, or a copy of one.
    """

    fields: ClassVar[Mapping[str, Field]] = MappingProxyType({})
    header: ClassVar[int] = 0
    is_fixed: ClassVar[bool] = True
    serial: ClassVar[int] = -1
    _sizes: ClassVar[tuple[Field, ...]] = ()
    _following: ClassVar[Mapping[str, Field | None]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        declared = _declared(cls, sys._getframe(1))
        inside = ("scalar", "hook", "inline", "nested")
        cls.is_fixed = all(x.layout in inside for _, _, x, _ in declared)
        slot = 0 if cls.is_fixed else 1
        fields: dict[str, Field] = {}
        for name, kind, shape, record in declared:
            field = Field(name, shape.layout, kind, slot, shape.dims, record, shape.like)
            fields[name] = field
            setattr(cls, name, _descriptor(field))
            slot += field.width
        cls.fields, cls.header = MappingProxyType(fields), slot
        cls.serial = next(_NUMBER)
        cls._sizes = tuple(x for x in fields.values() if x.layout == "size")
        arrays = [x for x in fields.values() if x.is_array]
        later = [*arrays[1:], None]
        cls._following = {x.name: y for x, y in zip(arrays, later, strict=False)}
        counts = [x.name for x in cls._sizes]
        for field in fields.values():
            _check_counts(cls, field, counts)

    def __init__(self, words: Words) -> None:
        ints: NDArray[np.int64] = words.view(np.int64)
        length = self.header if self.is_fixed else int(ints[0])
        if not self.header <= length <= ints.size:
            raise ProgramError(
                f"{ints.size} words are no block of {type(self).__name__}, whose header has "
                f"{self.header} and whose length is said to be {length}.",
                hint=f"Make blocks by {type(self).__name__}.new.",
            )
        self.ints: NDArray[np.int64] = ints[:length]
        self.floats: NDArray[np.float64] = self.ints.view(np.float64)
        self._views: dict[str, Any] = {}

    @property
    def words(self) -> int:
        """Length of the block."""
        return int(self.ints.size)

    @classmethod
    def new(
        cls, lengths: Mapping[str, int] | None = None, place: Words | None = None, /, **counts: int
    ) -> Self:
        """A block of zeros with its counts and offsets.

        Args:
            lengths: array -> its words, where that is not what its formulas say.
            place: zeros in which it lies, as many as `words_for` says; its own if not given.
            counts: every field that is a `size()`.
        """
        expected = {x.name for x in cls._sizes}
        if expected != counts.keys():
            listed = ", ".join(sorted(expected)) or "none"
            raise ProgramError(f"{cls.__name__} has the counts {listed}, not {', '.join(counts)}.")
        lengths = dict(lengths or {})
        offsets, end = cls._offsets(lengths, counts)
        if lengths:
            raise NamingError.unknown(f"array of {cls.__name__}", next(iter(lengths)), offsets)
        ints = np.zeros(end, dtype=np.int64) if place is None else place.view(np.int64)[:end]
        if not cls.is_fixed:
            ints[0] = end
        for name, value in [*counts.items(), *offsets.items()]:
            ints[cls.fields[name].slot] = value
        return cls(ints)

    @classmethod
    def words_for(cls, lengths: Mapping[str, int], /, **counts: int) -> int:
        """Words of a block with these counts."""
        return cls._offsets(dict(lengths), counts)[1]

    @classmethod
    def _offsets(cls, lengths: dict[str, int], counts: Counts) -> tuple[Counts, int]:
        """Where every array begins, and the end; takes what it uses out of `lengths`."""
        offsets: Counts = {}
        end = cls.header
        for field in cls.fields.values():
            if not field.is_array:
                continue
            offsets[field.name] = end
            if field.name not in lengths and not field.length:
                raise ProgramError(
                    f"the length of {cls.__name__}.{field.name} is missing.",
                    hint=f"{cls.__name__}.new({{{field.name!r}: …}}, …)",
                )
            length = lengths.pop(field.name, None)
            end += int(evaluate(field.length, counts) if length is None else length)
        return offsets, end

    @property
    def counts(self) -> Counts:
        """The counts of this block by name."""
        return {x.name: int(self.ints[x.slot]) for x in self._sizes}

    def span(self, name: str) -> slice:
        """The words of an array in the block."""
        field = self.fields[name]
        if not field.is_array:
            return slice(field.slot, field.slot + field.width)
        start = int(self.ints[field.slot])
        following = self._following[name]
        return slice(start, int(self.ints[following.slot]) if following else self.words)

    @classmethod
    def slots(cls, *names: str) -> list[int]:
        """Words of the header in which these fields lie."""
        slots: list[int] = []
        for field in (cls.fields[name] for name in names):
            slots += range(field.slot, field.slot + field.width)
        return slots

    def copy(self) -> Self:
        """The same in words of its own."""
        return type(self)(self.ints.copy())

    @classmethod
    def text(cls) -> str:
        """The layout as text: two classes with the same text read each other's blocks."""
        head = f"{cls.__name__} {cls.header} {'fixed' if cls.is_fixed else 'sized'}"
        return "\n".join([head, *_lines(cls)])

    @classmethod
    def mark(cls) -> str:
        """A digest of the layout."""
        return hashlib.sha256(cls.text().encode()).hexdigest()


class Part:
    """Arrays one after the other in an array, sized by the counts of a record.

    Args:
        floats: where it begins.
        counts: by which its arrays are sized: a record that has them, or numbers in the order of
            `needs`.
    """

    fields: ClassVar[Mapping[str, Field]] = MappingProxyType({})
    serial: ClassVar[int] = -1

    def __init_subclass__(cls) -> None:
        fields: dict[str, Field] = {}
        for name, kind, shape, record in _declared(cls, sys._getframe(1)):
            layout, dims = shape.layout, shape.dims
            if (
                layout not in ("scalar", "sized", "rows")
                or kind == "kernel"
                or not (dims or layout == "scalar")
            ):
                raise ProgramError(
                    f"{cls.__name__}.{name}: a part has numbers, arrays and rows with formulas."
                )
            fields[name] = field = Field(name, layout, kind, -1, dims, record)
            setattr(cls, name, _PartField(field))
        cls.fields, cls.serial = MappingProxyType(fields), next(_NUMBER)

    def __init__(self, floats: NDArray[np.float64], *counts: Record | int) -> None:
        kind: Any = type(self)
        self.spans = _spans(kind, _counts(kind, counts))
        self.floats: NDArray[np.float64] = floats[: self.spans[""][1]]
        self._views: dict[str, Any] = {}

    @classmethod
    def start(cls, name: str) -> str:
        """The formula of where an array begins."""
        return _total(itertools.takewhile(lambda x: x.name != name, cls.fields.values()))

    @classmethod
    def length(cls) -> str:
        """The formula of all its words."""
        return _total(cls.fields.values())

    @classmethod
    def needs(cls) -> tuple[str, ...]:
        """The counts that its formulas name."""
        return formula(cls.length())[2]

    @classmethod
    def text(cls) -> str:
        """The layout as text."""
        return "\n".join([cls.__name__, *_lines(cls)])


def _total(fields: Iterable[Field]) -> str:
    """The formula of the words of fields; equal ones are counted."""
    lengths = Counter(x.length for x in fields)
    return " + ".join(f"{n} * ({x})" if n > 1 else f"({x})" for x, n in lengths.items()) or "0"


def _counts(cls: type[Part], values: tuple[Record | int, ...]) -> tuple[int, ...]:
    """The counts that a part needs."""
    first = values[0] if values else None
    if isinstance(first, Record) and len(values) == 1:
        return tuple(int(first.ints[first.fields[name].slot]) for name in cls.needs())
    return tuple(int(x) for x in values if not isinstance(x, Record))


@lru_cache(maxsize=1024)
def _spans(cls: Any, values: tuple[int, ...]) -> dict[str, tuple[int, int, int]]:
    """Start, length and rows' length of every field of a part; of the whole under no name."""
    counts = dict(zip(cls.needs(), values, strict=True))
    spans = {"": (0, evaluate(cls.length(), counts), 0)}
    for name, field in cls.fields.items():
        width = evaluate(field.dims[1], counts) if len(field.dims) > 1 else 0
        start, length = evaluate(cls.start(name), counts), evaluate(field.length, counts)
        spans[name] = (start, length, width)
    return spans


def words_of(part: type[Part], *counts: Record | int) -> int:
    """The length of a part with these counts."""
    kind: Any = part
    return _spans(kind, _counts(kind, counts))[""][1]


@final
class Rows(Generic[R]):
    """Records of a fixed size, one after the other.

    Args:
        record: class of the rows.
        words: where they lie.
    """

    def __init__(self, record: type[R], words: Words) -> None:
        self.record = record
        self.ints: NDArray[np.int64] = words.view(np.int64).reshape(-1, record.header)
        self.floats: NDArray[np.float64] = self.ints.view(np.float64)
        self._records: dict[int, R] = {}

    def __len__(self) -> int:
        return len(self.ints)

    def __iter__(self) -> Iterator[R]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> R:
        row = self._records.get(k)
        if row is None:
            if not 0 <= k < len(self.ints):
                raise IndexError(f"row {k} of {len(self.ints)} of {self.record.__name__}")
            row = self._records[k] = self.record(self.ints[k])
        return row


# how classes are read


def _declared(cls: type, frame: Any) -> list[tuple[str, str, Shape, Any]]:
    """Name, type, layout and class of every field in the text of a class."""
    fields = []
    for name, annotation in inspect.get_annotations(cls).items():
        if name.startswith("_") or "ClassVar" in str(annotation):
            continue
        if name in RESERVED or (name in OF_PARTS and issubclass(cls, Part)):
            raise ProgramError(f"{cls.__name__}.{name}: this name is one of the record's own.")
        shape = cls.__dict__.get(name, Shape("scalar"))
        if not isinstance(annotation, str) or not isinstance(shape, Shape):
            raise ProgramError(
                f"{cls.__name__}.{name} is no field of a record.",
                hint="Begin the file with `from __future__ import annotations`; a default is one "
                "of size(), inline(n), like(loop), sized(...), rows(...), part().",
            )
        kind, record = _kind(cls, name, annotation, shape.layout, frame)
        fields.append((name, kind, shape, record))
    return fields


def _kind(cls: type, name: str, annotation: str, layout: str, frame: Any) -> tuple[str, Any]:
    """Type of the words of a field, and the class of its rows or part."""
    known = {
        "scalar": SCALARS, "size": ("i64",), "inline": ARRAYS, "sized": ARRAYS, "hook": ("hook",),
    }  # fmt: skip
    if layout in known:
        if annotation not in known[layout]:
            raise ProgramError(
                f"{cls.__name__}.{name}: {annotation!r} with the layout {layout!r}.",
                hint=f"Its type is one of {', '.join(known[layout])}.",
            )
        return annotation, None
    inner = annotation.removeprefix("Rows[").removesuffix("]") if layout == "rows" else annotation
    record = frame.f_locals.get(inner, frame.f_globals.get(inner))
    expected: type = Part if layout == "part" else Record
    if not (isinstance(record, type) and issubclass(record, expected)):
        raise ProgramError(
            f"{cls.__name__}.{name}: {annotation!r} is no {expected.__name__.lower()}.",
            hint="blocks: Rows[Block] = rows(count), or mid: Sides = part(), of a class above.",
        )
    if layout != "part" and not cast(type[Record], record).is_fixed:
        raise ProgramError(f"{cls.__name__}.{name}: {inner} has arrays, so it has no fixed size.")
    return "ptr", record


def _check_counts(cls: type[Record], field: Field, counts: list[str]) -> None:
    if not field.is_array or not field.length:
        return
    for name in formula(field.length)[2]:
        if name not in counts:
            raise NamingError.unknown(f"count of {cls.__name__}, for {field.name},", name, counts)


def _lines(cls: Any) -> list[str]:
    lines = []
    for field in cls.fields.values():
        lines.append(f"  {field.text()}")
        if field.record is not None:
            lines += [f"    {line}" for line in field.record.text().splitlines()]
    return lines


# how fields are reached in plain Python


def _descriptor(field: Field) -> Any:
    if field.layout == "size":
        return _Count(field)
    if field.layout == "hook":
        return _Hook(field)
    if field.layout == "scalar":
        return {"f64": _Float, "i64": _Integer, "kernel": _Entry}[field.type](field)
    return _Array(field)


class _Descriptor:
    def __init__(self, field: Field) -> None:
        self.field, self.slot, self.name = field, field.slot, field.name


class _Float(_Descriptor):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        return self if record is None else record.floats[self.slot]

    def __set__(self, record: Any, value: float) -> None:
        record.floats[self.slot] = value


class _Integer(_Descriptor):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        return self if record is None else record.ints[self.slot]

    def __set__(self, record: Any, value: int) -> None:
        record.ints[self.slot] = value


class _Count(_Integer):
    def __set__(self, record: Any, value: int) -> None:
        name = self.field.name
        raise ProgramError(f"{name!r} is a count: it is set when the block is made, not later.")


class _Entry(_Integer):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        return self if record is None else entry_at(record.ints, self.slot)


class _Hook(_Integer):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        if record is None:
            return self
        word = int(record.ints[self.slot])
        if word == 0:
            raise ProgramError(
                f"no loop is in {type(record).__name__}.{self.field.name}.",
                hint=f"set_hook(…, {self.field.name!r}, loop) stores one there.",
            )
        return loop_at(word, self.field.like, address)

    def __set__(self, record: Any, value: Any) -> None:
        name = self.field.name
        raise ProgramError(f"{name!r} is a hook: store a loop by set_hook(…, {name!r}, loop).")


def set_hook(record: Record, name: str, loop: Loop[..., Any], address: int | None = None) -> None:
    """Stores a loop in a hook of a record.

    Args:
        record: has the hook.
        name: of the field.
        loop: with the signature of the hook.
        address: of its machine code, which whoever stores it keeps alive; None: compiled code
            cannot call it, plain Python calls the loop itself.
    """
    hooks = {x.name: x for x in record.fields.values() if x.layout == "hook"}
    if name not in hooks:
        raise NamingError.unknown(f"hook of {type(record).__name__}", name, hooks)
    field = hooks[name]
    expected, present = signature_text(field.like), signature_text(loop)
    if expected != present:
        raise ProgramError(
            f"{type(record).__name__}.{name} calls a loop {expected}, "
            f"and loop {loop.name!r} is {present}.",
            hint=f"Give it the arguments and the result of {field.like.name!r}.",
        )
    record.ints[field.slot] = handle_of(loop) if address is None else address


class _Viewed(_Descriptor):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        if record is None:
            return self
        try:
            return record._views[self.name]
        except KeyError:
            return record._views.setdefault(self.name, self.view(record))

    def __set__(self, record: Any, value: Any) -> None:
        name = self.field.name
        raise ProgramError(f"{name!r} is an array: assign its elements, `….{name}[:] = …`.")

    def view(self, record: Any) -> Any:
        raise NotImplementedError


class _Array(_Viewed):
    def view(self, record: Record) -> Any:
        span, field = record.span(self.field.name), self.field
        if field.layout == "part":
            return field.record(record.floats[span.start :], record)
        if field.layout == "nested":
            return field.record(record.ints[span])
        if field.layout == "rows":
            return Rows(field.record, record.ints[span])
        words: Words = record.floats[span] if field.type == "ptr" else record.ints[span]
        return _shaped(words, field, record.counts) if len(field.dims) > 1 else words[:]


class _PartField(_Viewed):
    def __get__(self, record: Any, owner: Any = None) -> Any:
        value = super().__get__(record, owner)
        return value[0] if record is not None and self.field.layout == "scalar" else value

    def __set__(self, record: Any, value: Any) -> None:
        if self.field.layout != "scalar":
            super().__set__(record, value)
        self.__get__(record)
        record._views[self.field.name][0] = value

    def view(self, record: Part) -> Any:
        field = self.field
        start, length, width = record.spans[field.name]
        words: Words = record.floats[start : start + length]
        if field.layout == "rows":
            return Rows(field.record, words)
        words = words.view(np.int64) if field.type in ("i64", "iptr") else words
        if len(field.dims) < 2:
            return words
        return words.reshape(length // width if width else 0, width)


def _shaped(words: Words, field: Field, counts: Counts) -> Words:
    """A matrix; one that this block does without has no rows."""
    width = evaluate(field.dims[1], counts)
    return words.reshape(len(words) // width if width else evaluate(field.dims[0], counts), width)


def address(place: NDArray[Any] | Record) -> int:
    """Where an array begins; of one that can be written to four times as quickly as by NumPy."""
    array = place.ints if isinstance(place, Record) else place
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        # read-only, or empty
        return int(array.ctypes.data)
