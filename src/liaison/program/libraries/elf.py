"""Writer of shared libraries of Linux (ELF), for glibc and musl alike.

Three stretches of memory: tables of the loader and constants; code; variables. Symbols have no
versions, and functions of the C library are looked up in the process that loads the library.

Public names: elf_library.

Source: ABI13, chapters 4 and 5.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from .link import Image
from .objects import HEADER, MAGIC, RELOCATION, SECTION, SYMBOL

PROGRAM = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<Qq")
PAGES = {"x86_64": 0x1000, "aarch64": 0x10000}
MACHINES = {"x86_64": 62, "aarch64": 183}
RELATIVE = {"x86_64": 8, "aarch64": 1027}
FILLED = {"x86_64": 6, "aarch64": 1025}  # a word that takes the address of a symbol
LIBRARY = "libc.so.6"
READ, WRITE, EXECUTE = 4, 2, 1
FUNCTION = 0x12  # global, a function
ALIGN = 64


@final
@dataclass(slots=True)
class _File:
    """A file under construction: content so far, and a row for each section of it."""

    content: bytearray = field(default_factory=bytearray)
    shift: int = 0  # of addresses against places in the file
    rows: dict[str, tuple[int, int, int, int, int]] = field(default_factory=dict)
    # name -> kind, flags, address, place in the file, size

    def room(self, name: str, size: int, kind: int, flags: int, *, align: int = ALIGN) -> int:
        """The address of a new section of so many bytes."""
        self.content += bytes(-len(self.content) % align)
        place = len(self.content)
        self.content += bytes(size)
        self.rows[name] = (kind, flags, place + self.shift, place, size)
        return place + self.shift

    def put(self, name: str, content: bytes) -> None:
        """Fills a section."""
        place = self.rows[name][3]
        self.content[place : place + len(content)] = content


def elf_library(image: Image, name: str) -> bytes:
    """The content of lib….so, with its name for the loader."""
    return _Writer(image, name).written()


@final
class _Writer:
    """Sizes first, then addresses, then content."""

    def __init__(self, image: Image, name: str) -> None:
        self.image, self.name = image, name
        self.page = PAGES[image.machine]
        self.symbols = ["", *image.imports, *image.exports]
        self.strings = _Strings([*self.symbols, name, LIBRARY])
        self.file = _File()
        self.segments: list[tuple[int, int, int]] = []  # flags, first and last address

    def written(self) -> bytes:
        """The whole file."""
        image, file = self.image, self.file
        file.content += bytes(HEADER.size + 5 * PROGRAM.size)
        tables = {
            "hash": file.room(".hash", 4 * (3 + 2 * len(self.symbols)), 5, 2, align=8),
            "symbols": file.room(".dynsym", SYMBOL.size * len(self.symbols), 11, 2, align=8),
            "strings": file.room(".dynstr", len(self.strings.content), 3, 2, align=8),
        }
        count = len(image.pointers) + len(image.imports)
        tables["moved"] = file.room(".rela.dyn", RELOCATION.size * count, 4, 2, align=8)
        starts = {"const": file.room(".rodata", len(image.parts["const"]), 1, 2)}
        self.close(READ, 0)
        starts["text"] = self.opened(".text", len(image.parts["text"]), 6)
        self.close(READ | EXECUTE, starts["text"])
        entries = self.dynamic(tables, count)
        begin = self.opened(".dynamic", DYNAMIC.size * len(entries), 3, kind=6)
        starts["data"] = file.room(".data", len(image.parts["data"]), 1, 3)
        starts["zero"] = -(-(starts["data"] + len(image.parts["data"])) // ALIGN) * ALIGN
        end = starts["zero"] + image.zero
        self.close(READ | WRITE, begin)
        self.fill(starts, entries)
        file.rows[".bss"] = (8, 3, starts["zero"], len(file.content), image.zero)
        programs = self.programs(begin, DYNAMIC.size * len(entries), end)
        return self.finished(programs)

    def opened(self, name: str, size: int, flags: int, *, kind: int = 1) -> int:
        """The address of the first section on new pages, which share their place in the file."""
        file = self.file
        file.shift += self.page
        return file.room(name, size, kind, flags)

    def close(self, flags: int, first: int) -> None:
        """Ends a stretch of memory."""
        self.segments.append((flags, first, len(self.file.content) + self.file.shift))

    def dynamic(self, tables: Mapping[str, int], count: int) -> list[tuple[int, int]]:
        """What the loader has to know."""
        strings = self.strings
        needed = [(1, strings.at(LIBRARY))] if self.image.imports else []
        return [
            *needed, (14, strings.at(self.name)), (4, tables["hash"]), (5, tables["strings"]),
            (6, tables["symbols"]), (10, len(strings.content)), (11, SYMBOL.size),
            (7, tables["moved"]), (8, RELOCATION.size * count), (9, RELOCATION.size),
            (0x6FFFFFF9, len(self.image.pointers)), (0, 0),
        ]  # fmt: skip

    def fill(self, starts: Mapping[str, int], entries: Sequence[tuple[int, int]]) -> None:
        """Content of all sections."""
        image, file = self.image, self.file
        parts = image.placed(starts)
        for name, part in ((".rodata", "const"), (".text", "text"), (".data", "data")):
            file.put(name, parts[part])
        text = list(file.rows).index(".text") + 1
        rows = [
            SYMBOL.pack(self.strings.at(x), FUNCTION if x else 0, 0, 0, 0, 0)
            for x in ("", *image.imports)
        ]
        for name, place in image.exports.items():
            value = starts[place.part] + place.offset
            rows.append(SYMBOL.pack(self.strings.at(name), FUNCTION, 0, text, value, 0))
        moved = [
            RELOCATION.pack(starts["data"] + offset, RELATIVE[image.machine],
                            starts[target.part] + target.offset)
            for offset, target in image.pointers.items()
        ]  # fmt: skip
        filled = FILLED[image.machine]
        for k, offset in enumerate(image.imports.values(), start=1):
            moved.append(RELOCATION.pack(starts["data"] + offset, k << 32 | filled, 0))
        file.put(".hash", _hash_table(self.symbols))
        file.put(".dynsym", b"".join(rows))
        file.put(".dynstr", self.strings.content)
        file.put(".rela.dyn", b"".join(moved))
        file.put(".dynamic", b"".join(DYNAMIC.pack(*x) for x in entries))

    def programs(self, dynamic: int, size: int, end: int) -> bytes:
        """What is mapped, and where the loader finds its table."""
        rows = []
        for k, (flags, first, last) in enumerate(self.segments):
            place, full = first - k * self.page, (end if flags & WRITE else last) - first
            rows.append((1, flags, place, first, first, last - first, full, self.page))
        shift = 2 * self.page
        rows.append((2, READ | WRITE, dynamic - shift, dynamic, dynamic, size, size, 8))
        rows.append((0x6474E551, READ | WRITE, 0, 0, 0, 0, 0, 16))  # no code on the stack
        return b"".join(PROGRAM.pack(*x) for x in rows)

    def finished(self, programs: bytes) -> bytes:
        """The file with its headers and the table of its sections."""
        file = self.file
        titles = _Strings([*file.rows, ".shstrtab"])
        links = {".hash": 2, ".dynsym": 3, ".rela.dyn": 2, ".dynamic": 3}
        sizes = {".hash": 4, ".dynsym": SYMBOL.size, ".rela.dyn": RELOCATION.size,
                 ".dynamic": DYNAMIC.size}  # fmt: skip
        rows = [SECTION.pack(*(0,) * 10)]
        for name, (kind, flags, address, place, size) in file.rows.items():
            first = 1 if name == ".dynsym" else 0
            align = 8 if name in links or name == ".dynstr" else ALIGN
            rows.append(SECTION.pack(
                titles.at(name), kind, flags, address, place, size,
                links.get(name, 0), first, align, sizes.get(name, 0)))  # fmt: skip
        place = len(file.content)
        file.content += titles.content
        rows.append(SECTION.pack(titles.at(".shstrtab"), 3, 0, 0, place, len(titles.content),
                                 0, 0, 1, 0))  # fmt: skip
        file.content += bytes(-len(file.content) % 8)
        header = HEADER.pack(
            MAGIC + b"\x01", 3, MACHINES[self.image.machine], 1, 0, HEADER.size, len(file.content),
            0, HEADER.size, PROGRAM.size, len(programs) // PROGRAM.size, SECTION.size, len(rows),
            len(rows) - 1)  # fmt: skip
        file.content[: len(header) + len(programs)] = header + programs
        return bytes(file.content) + b"".join(rows)


@final
class _Strings:
    """A table of names, each ended by a zero."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str, int] = {"": 0}
        content = bytearray(1)
        for name in names:
            if name not in self._places:
                self._places[name] = len(content)
                content += name.encode() + b"\0"
        self.content = bytes(content)

    def at(self, name: str) -> int:
        """Where a name begins."""
        return self._places[name]


def _hash_table(symbols: Sequence[str]) -> bytes:
    """Symbols by their hash; buckets as many as symbols."""
    count = len(symbols)
    buckets, chains = [0] * (count + 1), [0] * count
    for k, name in enumerate(symbols):
        if name:
            bucket = _hash(name) % len(buckets)
            chains[k], buckets[bucket] = buckets[bucket], k
    return struct.pack(f"<{3 + 2 * count}I", len(buckets), count, *buckets, *chains)


def _hash(name: str) -> int:
    """The hash of the System V interface."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value
