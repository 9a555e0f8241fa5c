"""Reader of object files: sections, symbols and relocations of relocatable ELF, as LLVM emits it.

Code for every system comes as ELF, Windows and macOS included: their libraries are written from the
same sections.

Public names: Object, Section, Symbol, Relocation, read_object, KINDS.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from liaison.errors import ProgramError

KINDS = ("text", "const", "data", "zero")
"""Of sections: code, constants, variables, and variables that are zero at first."""

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
MAGIC = b"\x7fELF\x02\x01"  # of 64 bits, little endian
MACHINES = {62: "x86_64", 183: "aarch64"}
RELOCATABLE, SYMTAB, RELA, NOBITS = 1, 2, 4, 8
WRITE, ALLOCATE, EXECUTE = 1, 2, 4
ABSOLUTE = 0xFFF1
UNWINDING = ".eh_frame"
POOL = ".rodata.cst"


@final
@dataclass(frozen=True, slots=True)
class Relocation:
    """A place in a section that depends on where a symbol lies: S + A, or that less the place."""

    offset: int
    kind: int
    symbol: int
    addend: int


@final
@dataclass(frozen=True, slots=True)
class Section:
    """What is loaded together, and stays or goes together.

    A pool holds constants of one size, of which each stays or goes by itself.
    """

    name: str
    kind: str
    content: bytes
    size: int
    align: int
    relocations: tuple[Relocation, ...] = ()

    @property
    def pooled(self) -> int:
        """The size of constants of a pool; 0 of other sections."""
        word = self.name.removeprefix(POOL)
        return int(word) if word != self.name and word.isdigit() else 0


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for a place: section and offset; a section of 0 where it is defined elsewhere."""

    name: str
    section: int
    value: int
    is_global: bool


@final
@dataclass(frozen=True, slots=True)
class Object:
    """An object file: for which processor, its sections by number, its symbols in order."""

    machine: str
    sections: Mapping[int, Section]
    symbols: tuple[Symbol, ...]

    def definitions(self) -> dict[str, Symbol]:
        """Symbols that other objects see, by name."""
        return {x.name: x for x in self.symbols if x.is_global and x.section}


def read_object(content: bytes) -> Object:
    """Sections that are loaded, with their relocations; unwinding tables are left out.

    Raises:
        ProgramError: anything but relocatable ELF of 64 bits for a known processor.
    """
    if content[:6] != MAGIC or len(content) < HEADER.size:
        raise ProgramError("an object file has to be ELF of 64 bits, little endian.")
    header = HEADER.unpack_from(content)
    kind, machine, start, count, names = header[1], header[2], header[6], header[12], header[13]
    if kind != RELOCATABLE or machine not in MACHINES:
        raise ProgramError(
            f"an object file has to be relocatable code for one of {', '.join(MACHINES.values())}."
        )
    rows = [SECTION.unpack_from(content, start + k * SECTION.size) for k in range(count)]
    strings = _bytes(content, rows[names])
    titles = [_text(strings, row[0]) for row in rows]
    symbols: tuple[Symbol, ...] = ()
    relocations: dict[int, tuple[Relocation, ...]] = {}
    for row in rows:
        if row[1] == SYMTAB:
            symbols = _symbols(_bytes(content, row), _bytes(content, rows[row[6]]))
        elif row[1] == RELA:
            relocations[row[7]] = _relocations(_bytes(content, row))
    sections = {
        k: _section(content, row, titles[k], relocations.get(k, ()))
        for k, row in enumerate(rows)
        if row[2] & ALLOCATE and titles[k] != UNWINDING
    }
    return Object(MACHINES[machine], sections, symbols)


def _bytes(content: bytes, row: tuple[int, ...]) -> bytes:
    return content[row[4] : row[4] + row[5]]


def _text(strings: bytes, start: int) -> str:
    return strings[start : strings.index(b"\0", start)].decode()


def _symbols(table: bytes, strings: bytes) -> tuple[Symbol, ...]:
    return tuple(
        Symbol(_text(strings, name), 0 if section == ABSOLUTE else section, value, info >> 4 != 0)
        for name, info, _, section, value, _ in SYMBOL.iter_unpack(table)
    )


def _relocations(table: bytes) -> tuple[Relocation, ...]:
    return tuple(
        Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in RELOCATION.iter_unpack(table)
    )


def _section(
    content: bytes, row: tuple[int, ...], name: str, relocations: tuple[Relocation, ...]
) -> Section:
    flags, size, align = row[2], row[5], max(1, row[8])
    if row[1] == NOBITS:
        return Section(name, "zero", b"", size, align)
    kind = "text" if flags & EXECUTE else "data" if flags & WRITE else "const"
    return Section(name, kind, _bytes(content, row), size, align, relocations)
