"""The binary format of WebAssembly: instructions, functions and sections as bytes.

The code of a function is a list of bytes and of references to functions, whose numbers are known
when the module is complete.

Public names: Assembly, Function, Ref, Code, signed, unsigned, f64_const, i32_const, i64_const,
OP, TYPE, local_bytes, shortened, sorted_locals.

Source: WASM24 §5 (binary format).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign
from typing import TypeAlias, final

TYPE = {"f64": 0x7C, "i64": 0x7E, "i32": 0x7F}
VOID = 0x40
PAGE = 65536
SHORT = 1 << 20
"""Whole numbers below this are shorter as integers; engines convert them when they compile."""


@final
@dataclass(frozen=True, slots=True)
class Ref:
    """A function by its key, in the place of its number."""

    key: Hashable


Code: TypeAlias = list[bytes | Ref]
Signature: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

OP = {
    name: bytes([code])
    for name, code in {
        "unreachable": 0x00, "block": 0x02, "loop": 0x03, "if": 0x04, "else": 0x05, "end": 0x0B,
        "br": 0x0C, "br_if": 0x0D, "return": 0x0F, "call": 0x10, "call_indirect": 0x11,
        "drop": 0x1A, "select": 0x1B, "get": 0x20, "set": 0x21, "tee": 0x22,
        "i64.load": 0x29, "f64.load": 0x2B, "i64.store": 0x37, "f64.store": 0x39,
        "i32.eqz": 0x45, "i32.eq": 0x46, "i32.ne": 0x47, "i32.lt_s": 0x48,
        "i64.eqz": 0x50, "i64.eq": 0x51, "i64.ne": 0x52, "i64.lt": 0x53, "i64.gt": 0x55,
        "i64.le": 0x57, "i64.ge": 0x59,
        "f64.eq": 0x61, "f64.ne": 0x62, "f64.lt": 0x63, "f64.gt": 0x64, "f64.le": 0x65,
        "f64.ge": 0x66,
        "i32.add": 0x6A, "i32.sub": 0x6B, "i32.mul": 0x6C, "i32.and": 0x71, "i32.or": 0x72,
        "i32.shl": 0x74,
        "i64.add": 0x7C, "i64.sub": 0x7D, "i64.mul": 0x7E, "i64.div": 0x7F, "i64.rem": 0x81,
        "i64.and": 0x83, "i64.or": 0x84, "i64.xor": 0x85, "i64.shl": 0x86, "i64.shr": 0x87,
        "i64.shr_u": 0x88,
        "f64.abs": 0x99, "f64.neg": 0x9A, "f64.ceil": 0x9B, "f64.floor": 0x9C, "f64.sqrt": 0x9F,
        "f64.add": 0xA0, "f64.sub": 0xA1, "f64.mul": 0xA2, "f64.div": 0xA3, "f64.copysign": 0xA6,
        "i32.wrap": 0xA7, "i64.extend_u": 0xAD, "f64.convert_i32": 0xB7, "f64.convert": 0xB9,
        "i64.reinterpret": 0xBD, "f64.reinterpret": 0xBF,
    }.items()
}  # fmt: skip
"""Instructions of one byte by name."""
OP["i64.trunc"] = b"\xfc\x06"  # saturating: 0 of NaN
OP["fill"] = b"\xfc\x0b\x00"


def unsigned(value: int) -> bytes:
    """LEB128 of a number that is not negative."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if not value:
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def signed(value: int) -> bytes:
    """LEB128 of a number with a sign."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if (value == 0 and not low & 0x40) or (value == -1 and low & 0x40):
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def f64_const(value: float) -> bytes:
    """The instruction that pushes a double, to the last bit; a whole number as an integer."""
    if abs(value) < SHORT and value == int(value) and (value or copysign(1.0, value) > 0):
        return i32_const(int(value)) + OP["f64.convert_i32"]
    return b"\x44" + struct.pack("<d", value)


def i32_const(value: int) -> bytes:
    """The instruction that pushes an address or a truth value."""
    return b"\x41" + signed(value)


def i64_const(value: int) -> bytes:
    """The instruction that pushes an integer."""
    return b"\x42" + signed(value)


def access(name: str, offset: int) -> bytes:
    """A load or a store of eight bytes at an offset from the address on the stack."""
    return OP[name] + b"\x03" + unsigned(offset)


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    data = text.encode()
    return unsigned(len(data)) + data


def _section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content if content else b""


def local_bytes(kinds: Iterable[str]) -> bytes:
    """Declarations of locals, equal neighbours counted together."""
    runs: list[tuple[str, int]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1] = kind, runs[-1][1] + 1
        else:
            runs.append((kind, 1))
    return _vector([unsigned(count) + bytes([TYPE[kind]]) for kind, count in runs])


@final
@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module: its type, the types of its locals, its code without the last end."""

    signature: Signature
    locals: tuple[str, ...]
    code: Code


OPPOSITE = {
    OP[f"i64.{x}"]: OP[f"i64.{y}"]
    for pair in (("lt", "ge"), ("gt", "le"), ("eq", "ne"))
    for x, y in (pair, pair[::-1])
}
LOCAL = (OP["get"], OP["set"], OP["tee"])
ZERO = i64_const(0)


def shortened(code: Code) -> Code:
    """The same with fewer instructions: what is set and read at once, comparisons negated."""
    short: Code = []
    for x in code:
        last = short[-1] if short else b""
        if isinstance(x, Ref) or isinstance(last, Ref):
            short.append(x)
        elif (last[:1], x[:1]) == (OP["set"], OP["get"]) and last[1:] == x[1:]:
            short[-1] = OP["tee"] + x[1:]
        elif x == OP["i32.eqz"] and last in OPPOSITE:
            short[-1] = OPPOSITE[last]
        elif x == OP["i64.eq"] and last == ZERO:
            short[-1] = OP["i64.eqz"]
        else:
            short.append(x)
    return short


def sorted_locals(function: Function) -> Function:
    """The same with integers first, and those used often: like code has like numbers."""
    first = len(function.signature[0])
    own = {unsigned(first + k): kind for k, kind in enumerate(function.locals)}
    uses = Counter(x[1:] for x in function.code if isinstance(x, bytes) and x[:1] in LOCAL)
    order = sorted((x for x in own if uses[x]), key=lambda x: (own[x] == "f64", own[x], -uses[x]))
    numbers = {x: unsigned(first + k) for k, x in enumerate(order)}
    code = [
        x[:1] + numbers.get(x[1:], x[1:]) if isinstance(x, bytes) and x[:1] in LOCAL else x
        for x in function.code
    ]
    return Function(function.signature, tuple(own[x] for x in order), code)


@final
@dataclass(slots=True)
class Assembly:
    """A module under construction: functions by key, and what stands around them.

    Attributes:
        functions: key -> function, in their order.
        imports: key -> (module, name, signature).
        exports: name -> key.
        table: keys of functions that are called by number; the first number is 1.
        data: address -> bytes at the start.
        size: bytes of memory.
        notes: name -> bytes of custom sections.
    """

    functions: dict[Hashable, Function] = field(default_factory=dict)
    imports: dict[Hashable, tuple[str, str, Signature]] = field(default_factory=dict)
    exports: dict[str, Hashable] = field(default_factory=dict)
    table: list[Hashable] = field(default_factory=list)
    data: dict[int, bytes] = field(default_factory=dict)
    size: int = 0
    notes: dict[str, bytes] = field(default_factory=dict)

    def drop_unused(self) -> None:
        """Forgets functions that nothing calls, and the table where nothing is called by number."""
        used: dict[Hashable, None] = {}
        todo = list(self.exports.values())
        is_indirect = False
        while todo:
            key = todo.pop()
            if key in used:
                continue
            used[key] = None
            code = self.functions[key].code if key in self.functions else []
            refs = [x.key for x in code if isinstance(x, Ref)]
            todo += [x for x in refs if x in self.functions or x in self.imports]
            if not is_indirect and OP["call_indirect"] in code:
                is_indirect = True
                todo += self.table
        self.table = self.table if is_indirect else []
        self.functions = {key: x for key, x in self.functions.items() if key in used}
        self.imports = {key: x for key, x in self.imports.items() if key in used}

    def module(self) -> bytes:
        """The bytes of the module."""
        self.drop_unused()
        numbers = {key: k for k, key in enumerate([*self.imports, *self.functions])}
        types: dict[Signature, int] = {}
        for signature in [*(x[2] for x in self.imports.values()), *self._signatures()]:
            types.setdefault(signature, len(types))
        pages = max(1, -(-self.size // PAGE))
        memory = b"\x00" + unsigned(pages)
        exported = [_name(x) + b"\x00" + unsigned(numbers[key]) for x, key in self.exports.items()]
        parts = [
            b"\0asm\x01\0\0\0",
            _section(1, _vector([_type(x) for x in types])),
            _section(2, self._imports(types) if self.imports else b""),
            _section(3, _vector([unsigned(types[x]) for x in self._signatures()])),
            _section(4, b"\x01\x70\x00" + unsigned(len(self.table) + 1) if self.table else b""),
            _section(5, _vector([memory])),
            _section(7, _vector([*exported, _name("memory") + b"\x02\x00"])),
            _section(9, self._elements(numbers) if self.table else b""),
            _section(10, _vector([_body(x, numbers, types) for x in self.functions.values()])),
            _section(11, _vector([_segment(*x) for x in sorted(self.data.items())])),
            *(_section(0, _name(name) + content) for name, content in self.notes.items()),
        ]
        return b"".join(parts)

    def _signatures(self) -> list[Signature]:
        return [x.signature for x in self.functions.values()]

    def _imports(self, types: Mapping[Signature, int]) -> bytes:
        return _vector(
            [
                _name(module) + _name(name) + b"\x00" + unsigned(types[signature])
                for module, name, signature in self.imports.values()
            ]
        )

    def _elements(self, numbers: Mapping[Hashable, int]) -> bytes:
        listed = _vector([unsigned(numbers[key]) for key in self.table])
        return b"\x01\x00" + i32_const(1) + OP["end"] + listed


def _type(signature: Signature) -> bytes:
    return b"\x60" + b"".join(_vector([bytes([TYPE[x]]) for x in kinds]) for kinds in signature)


def _body(
    function: Function, numbers: Mapping[Hashable, int], types: Mapping[Signature, int]
) -> bytes:
    code = [x if isinstance(x, bytes) else _number(x, numbers, types) for x in function.code]
    body = local_bytes(function.locals) + b"".join(code) + OP["end"]
    return unsigned(len(body)) + body


def _number(ref: Ref, numbers: Mapping[Hashable, int], types: Mapping[Signature, int]) -> bytes:
    """The number of a function, or of a type where the key is a signature."""
    if ref.key in numbers:
        return unsigned(numbers[ref.key])
    return unsigned(types[ref.key])  # type: ignore[index]


def _segment(address: int, content: bytes) -> bytes:
    return b"\x00" + i32_const(address) + OP["end"] + unsigned(len(content)) + content
