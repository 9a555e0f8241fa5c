"""Loops for one model: IR in which sizes, tables and entries of a record are constants.

What no loop writes is a number in the text; arrays that no loop writes are constant tables of the
module; entries are called by their names. LLVM then unrolls loops and forgets branches that this
model never takes. The result has no addresses from outside: it serves any target, a GPU's too.

Public names: Special, Table, special_ir, reals_of, in_words_of_32_bits, with_single_tolerances,
with_short_integers, graded, rolled.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError

from .language import Loop
from .llvm import _Printer, declaration, ir, number, unique_names
from .read import reachable
from .records import Record
from .tree import KERNEL_ARGUMENTS, Kind, Routine, Step, Value

PREFIX = "liaison_entry_"


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A further record that no loop writes: all of it is known.

    Attributes:
        record: with all its numbers.
        within: names of its arrays that hold a block of another record -> the class of that.
    """

    record: Record
    within: Mapping[str, type[Record]] = field(default_factory=dict)

    def text(self) -> Iterable[str]:
        """Its arrays as constants of the module, each word of its own kind."""
        mask = reals_of(self.record)
        for name, kind in self.within.items():
            span = self.record.span(name)
            mask[span] = reals_of(kind(self.record.ints[span])) if span.stop > span.start else False
        for name, shape in type(self.record).fields.items():
            if not shape.is_array:
                continue
            span = self.record.span(name)
            kinds = ["double" if x else "i64" for x in mask[span]] or ["i64"]
            both = zip(self.record.ints[span].tolist(), self.record.floats[span].tolist(), kinds)
            words = [number(y if kind == "double" else x, KINDS[kind]) for x, y, kind in both]
            entries = ", ".join(map(" ".join, zip(kinds, words or ["0"], strict=True)))
            symbol = _symbol(name, type(self.record))
            yield f"@{symbol} = internal constant {{{', '.join(kinds)}}} {{{entries}}}, align 8"


KINDS = {"double": "f64", "i64": "i64"}


def reals_of(record: Record) -> NDArray[np.bool_]:
    """Which words of a block are no whole numbers."""
    mask = np.zeros(record.words, dtype=bool)
    mask[: record.header] = _head_reals(type(record))
    for name, shape in type(record).fields.items():
        if not shape.is_array:
            continue
        span = record.span(name)
        if shape.layout == "rows":
            own = _head_reals(shape.record)
            mask[span] = np.tile(own, (span.stop - span.start) // len(own))
        else:
            mask[span] = shape.type == "ptr"
    return mask


def _head_reals(kind: type[Record]) -> NDArray[np.bool_]:
    """The same of the words of a head."""
    mask = np.zeros(kind.header, dtype=bool)
    for shape in kind.fields.values():
        if shape.layout in ("scalar", "inline"):
            mask[shape.slot : shape.slot + shape.width] = shape.type in ("f64", "ptr")
    return mask


@final
@dataclass(frozen=True, slots=True)
class Special:
    """A record whose content is known before the text is written.

    Attributes:
        block: as it is before any loop runs.
        arrays: names of its arrays, behind the header or in it, that no loop writes.
        entries: the class of the record that holds entries, whose fields name them.
        names: slot of that record -> name of the entry, of those that there are.
        left_out: loops that do nothing here.
        views: class of a further record of entries -> where it begins in that of entries.
        tables: further records that no loop writes.
        alike: class of a further record -> one whose counts and offsets all of them have.
    """

    block: Record
    arrays: frozenset[str]
    entries: type[Record]
    names: Mapping[int, str]
    left_out: Collection[Loop[..., Any]] = field(default_factory=tuple)
    views: Mapping[type[Record], int] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    alike: Mapping[type[Record], Record] = field(default_factory=dict)


def special_ir(roots: Sequence[Loop[..., Any]], special: Special) -> tuple[str, tuple[str, ...]]:
    """IR text of loops on a known record, and functions of doubles that it leaves undefined.

    Entries are declared nowhere: they are functions `liaison_entry_` and their names.
    """
    routines = [x for x in reachable(roots) if x.loop not in special.left_out]
    names = unique_names([*roots, *(read.loop for read in routines)])
    written = _written(routines, type(special.block))
    printers = [_Special(x, names, special, written) for x in routines]
    texts = [printer.text() for printer in printers]
    used = {name: None for printer in printers for name in printer.used}
    tables = [line for printer in printers for line in printer.tables]
    intrinsics = [declaration(name) for name in used if name.startswith("llvm.")]
    constants = [_table(special.block, name) for name in sorted(special.arrays)]
    constants += [line for table in special.tables for line in table.text()]
    functions = tuple(name for name in used if not name.startswith("llvm."))
    trap = ["declare void @llvm.trap()", *_missing(special)]
    return "\n".join([*intrinsics, *trap, *constants, *tables, *texts, ""]), functions


def _missing(special: Special) -> Iterable[str]:
    """What is called in the place of an entry that the model has not: nothing goes on."""
    kinds = ", ".join(ir(kind) for kind in KERNEL_ARGUMENTS)
    yield f"define internal void @{PREFIX}missing({kinds}) noinline nounwind {{"
    yield "  call void @llvm.trap()\n  ret void\n}"


def _written(routines: Iterable[Routine], record: type[Record]) -> frozenset[str]:
    """Fields of a record that a loop assigns to."""
    fields: set[str] = set()
    for read in routines:
        stack: list[Step] = list(read.body)
        while stack:
            step = stack.pop()
            stack += [*step.body, *step.orelse]
            if step.kind == "put" and step.values[0].args[0].type.record is record:  # type: ignore[attr-defined]
                fields.add(step.values[0].data.name)
    return frozenset(fields)


def _table(block: Record, name: str) -> str:
    """An array of a record as a constant of the module."""
    shape = type(block).fields[name]
    is_whole = shape.layout == "rows" or shape.type == "iptr"
    kind, word = ("i64", "i64") if is_whole else ("f64", "double")
    words = block.ints[block.span(name)] if is_whole else block.floats[block.span(name)]
    numbers = words.tolist() or [0]
    entries = ", ".join(f"{word} {number(x, kind)}" for x in numbers)
    return f"@{_symbol(name)} = internal constant [{len(numbers)} x {word}] [{entries}]"


def _symbol(name: str, record: type[Record] | None = None) -> str:
    return f"liaison_known_{name}" if record is None else f"liaison_known_{record.__name__}_{name}"


class _Special(_Printer):
    """Prints one loop, with what is known."""

    def __init__(
        self,
        routine: Routine,
        names: dict[Loop[..., Any], str],
        special: Special,
        written: frozenset[str],
    ) -> None:
        super().__init__(routine, names, set(), set())
        self.special, self.written = special, written
        self.record = type(special.block)

    def is_known(self, value: Value, record: type[Record]) -> bool:
        kind = value.args[0].type if value.args else ""
        return isinstance(kind, Kind) and kind.family == "record" and kind.record is record

    def table(self, value: Value) -> Record | None:
        """The record that no loop writes of which this is a field."""
        records = [x.record for x in self.special.tables]
        return next((x for x in records if self.is_known(value, type(x))), None)

    def value_field(self, value: Value) -> str:
        shape, block = value.data, self.table(value)
        if self.is_known(value, self.record) and shape.name not in self.written:
            block = self.special.block
        if block is not None:
            words = block.ints if value.type == "i64" else block.floats
            return number(words[shape.slot].item(), value.type)
        owner = value.args[0].type if shape.is_fixed else ""
        alike = self.special.alike.get(owner.record) if isinstance(owner, Kind) else None
        if alike is not None:
            return number(alike.ints[shape.slot].item(), value.type)
        place = self.slot(self.value(value.args[0]), shape)
        kind = "double" if value.type == "f64" else "i64"
        return self.fresh(f"load {kind}, ptr {place}, align 8")

    def value_offset(self, value: Value) -> str:
        word = value.args[1]
        is_array = word.kind == "field" and word.data.is_array
        if is_array and self.is_known(word, self.record) and word.data.name in self.special.arrays:
            return f"@{_symbol(word.data.name)}"
        block = self.table(word) if is_array else None
        if block is not None:
            return f"@{_symbol(word.data.name, type(block))}"
        return super().value_offset(value)

    def value_inline(self, value: Value) -> str:
        if self.is_known(value, self.record) and value.data.name in self.special.arrays:
            return f"@{_symbol(value.data.name)}"
        return super().value_inline(value)

    def value_address(self, value: Value) -> str:
        word = value.args[0]
        if word.kind == "field" and self.is_known(word, self.special.entries):
            return self.entry(word.data.slot)
        for record, first in self.special.views.items():
            if word.kind == "field" and self.is_known(word, record):
                return self.entry(first + word.data.slot)
        raise ProgramError(f"loop {self.routine.loop.name!r} calls what is not known before it.")

    def value_entry(self, value: Value) -> str:
        pointer, index = value.args
        is_own = pointer.kind == "inline" and self.is_known(pointer, self.special.entries)
        if is_own and index.kind == "const":
            return self.entry(pointer.data.slot + index.data)
        raise ProgramError(f"loop {self.routine.loop.name!r} chooses an entry while it runs.")

    def entry(self, slot: int) -> str:
        return f"@{PREFIX}{self.special.names.get(slot, 'missing')}"

    def value_call(self, value: Value) -> str:
        if value.data in self.special.left_out:
            return ""
        return super().value_call(value)


LOAD = re.compile(r"  (%\S+) = load i64, ptr (\S+?)(,.*)?$")
STORE = re.compile(r"  store i64 (\S+), ptr (\S+)$")
STEP = re.compile(r"(getelementptr inbounds (?:i64|double|\[\d+ x i64\]), ptr \S+), i64 (\S+)$")


def with_short_integers(text: str) -> str:
    """The same text with integers of 32 bits in registers; words in memory are as they were.

    A GPU takes two instructions and more for one on 64 bits.
    """
    return "\n".join(_short(line, k) for k, line in enumerate(text.splitlines())) + "\n"


def _short(line: str, k: int) -> str:
    if line.startswith("@") or "i64" not in line:
        return line
    step = STEP.search(line)
    if step:
        return line[: step.start()] + f"{step[1]}, i32 {step[2]}"
    load, store = LOAD.match(line), STORE.match(line)
    if load and not load[2].startswith("%v."):
        whole = f"  %w{k} = load i64, ptr {load[2]}{load[3] or ''}"
        return f"{whole}\n  {load[1]} = trunc i64 %w{k} to i32"
    if store and not store[2].startswith("%v."):
        return f"  %w{k} = sext i32 {store[1]} to i64\n  store i64 %w{k}, ptr {store[2]}"
    return re.sub(r"\bi64\b", "i32", line)


FUNCTION = re.compile(
    r"^define internal [^\n]*\) nounwind (?:alwaysinline |noinline )?\{\n.*?^\}", re.M | re.S
)
FUNCTION_NAME = re.compile(r"define internal \S+ @liaison_(\w+)\(")
SHORT = 40
"""Lines of a function that is written where it is called; longer ones are called."""


def graded(text: str, short: int = SHORT, always: Collection[str] = ()) -> str:
    """The same text, in which functions of up to so many lines, or these names, are inlined.

    No others are.
    """

    def marked(match: re.Match[str]) -> str:
        is_short = match[0].count("\n") <= short
        is_inlined = is_short or FUNCTION_NAME.match(match[0])[1] in always  # type: ignore[index]
        mark = "alwaysinline" if is_inlined else "noinline"
        return match[0].replace(" nounwind {", f" nounwind {mark} {{", 1)

    return FUNCTION.sub(marked, text)


AGAIN = re.compile(r"(  %j\.\S+ = add nsw .*\n  br label %\S+)")


def rolled(text: str, whole: Collection[str] = ()) -> str:
    """The same text with a mark at every `for`: copies of its body would crowd a GPU's caches.

    Args:
        text: of loops.
        whole: names of loops whose every `for` is written out instead: what its turns read is then
            known, and read at once.
    """
    marks: list[str] = []

    def marked(match: re.Match[str]) -> str:
        kind = LOOPS + 1 if FUNCTION_NAME.match(match.string)[1] in whole else LOOPS  # type: ignore[index]
        k = LOOPS + 2 + len(marks)
        marks.append(f"!{k} = distinct !{{!{k}, !{kind}}}")
        return f"{match[1]}, !llvm.loop !{k}"

    text = FUNCTION.sub(lambda match: AGAIN.sub(marked, match[0]), text)
    kinds = [
        f'!{LOOPS} = !{{!"llvm.loop.unroll.disable"}}',
        f'!{LOOPS + 1} = !{{!"llvm.loop.unroll.full"}}',
    ]
    return "\n".join([text, *kinds, *marks, ""])


LOOPS = 1000
"""Number of the first mark of a loop."""

HEX = re.compile(r"0x([0-9A-F]{16})\b")
SMALLEST, TINY, HUGE = 1e-8, 1e-37, 1e37
POWER = 24 / 53
"""Numbers below SMALLEST in loops are tolerances: one that is εˢ of double becomes εˢ of single."""


def in_words_of_32_bits(text: str) -> str:
    """The same text with floats and integers of 32 bits: words of records are half as long.

    Tolerances written in loops are those of single precision; what a record holds is rounded.
    """
    lines = [_in_single(line) for line in text.splitlines()]
    text = "\n".join(lines).replace("align 8", "align 4")
    text = re.sub(r"\bdouble\b", "float", re.sub(r"\bi64\b", "i32", text))
    return re.sub(r"(@llvm[\w.]*)\.f64\b", r"\1.f32", text) + "\n"


def with_single_tolerances(text: str) -> str:
    """The same text in double precision, with tolerances of single: its data are rounded."""

    def coarse(match: re.Match[str]) -> str:
        value = float(struct.unpack(">d", bytes.fromhex(match[1]))[0])
        if 0.0 < abs(value) < SMALLEST:
            value = math.copysign(abs(value) ** POWER, value)
        return "0x" + struct.pack(">d", value).hex().upper()

    return HEX.sub(coarse, text)


def _in_single(line: str) -> str:
    is_data = line.startswith(f"@{_symbol('')}")
    return HEX.sub(lambda m: _rounded(m[1], is_data=is_data), line)


def _rounded(digits: str, *, is_data: bool) -> str:
    """A number of 32 bits, as IR writes it: by the bits of the same double."""
    value = float(struct.unpack(">d", bytes.fromhex(digits))[0])
    size = abs(value)
    if not is_data and 0.0 < size < SMALLEST:
        value = math.copysign(max(size**POWER, TINY), value)
    if HUGE < size < math.inf:
        value = math.copysign(HUGE, value)
    return "0x" + struct.pack(">d", float(np.float32(value))).hex().upper()
