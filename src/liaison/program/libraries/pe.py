"""Writer of shared libraries of Windows (PE, 64 bits).

Four sections: code; constants with the tables of exported and imported functions; variables;
places that a loader changes when it moves the library. There are no tables for unwinding: an
exception cannot pass through the library, and none arises in it.

Public names: pe_library.

Source: PECOFF, sections on the optional header, .edata, .idata and .reloc.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import groupby
from typing import final

from .link import WORD, Image
from .objects import KINDS

BASE = 0x180000000
PAGE, BLOCK = 0x1000, 0x200
LIBRARY = b"ucrtbase.dll"
START = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
FILE = struct.Struct("<HHIIIHH")
OPTIONAL = struct.Struct("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII")
HEADING = struct.Struct("<8sIIIIIIHHI")
EXPORTS = struct.Struct("<IIHHIIIIIII")
IMPORTS = struct.Struct("<IIIII")
DIRECTORIES = 16
CODE, READ, WRITE, EXECUTE, DISCARD = 0x20, 0x40000000, 0x80000000, 0x20000000, 0x02000000
CONTENT = 0x40
SECTIONS = {
    ".text": CODE | READ | EXECUTE, ".rdata": CONTENT | READ, ".data": CONTENT | READ | WRITE,
    ".reloc": CONTENT | READ | DISCARD,
}  # fmt: skip
AMD64, IS_LIBRARY = 0x8664, 0x2022  # executable, large addresses, library
MOVABLE = 0x0160  # anywhere in 64 bits, no code among data
DIR64 = 10


def pe_library(image: Image, name: str) -> bytes:
    """The content of ….dll, with its own name."""
    return _Writer(image, name).written()


@final
class _Writer:
    """Addresses first: only the tables depend on them, not their sizes."""

    def __init__(self, image: Image, name: str) -> None:
        self.image, self.name = image, name
        self.tables_at = -(-len(image.parts["const"]) // 16) * 16
        size = self.tables_at + len(self.tables(dict.fromkeys(KINDS, 0)))
        zero = -(-len(image.parts["data"]) // 16) * 16
        sizes = {".text": len(image.parts["text"]), ".rdata": size, ".data": zero + image.zero}
        self.sizes, self.starts, start = sizes, {}, PAGE
        for section in SECTIONS:
            self.starts[section] = start
            start += -(-max(1, sizes.get(section, 1)) // PAGE) * PAGE
        self.parts = {
            "text": self.starts[".text"], "const": self.starts[".rdata"],
            "data": self.starts[".data"], "zero": self.starts[".data"] + zero,
        }  # fmt: skip

    def tables(self, starts: Mapping[str, int]) -> bytes:
        """Exported, then imported functions; the places of both tables are noted."""
        first = starts["const"] + self.tables_at
        exports = self.exports(first, starts)
        imports = self.imports(first + len(exports), starts)
        self.directories = {0: (first, len(exports))}
        if self.image.imports:
            slots = starts["data"] + min(self.image.imports.values())
            self.directories[1] = (first + len(exports), len(imports))
            self.directories[12] = (slots, WORD * (len(self.image.imports) + 1))
        return exports + imports

    def exports(self, first: int, starts: Mapping[str, int]) -> bytes:
        """The directory of exported functions, which lie in the order of their names."""
        listed = sorted(self.image.exports.items(), key=lambda x: x[0].encode())
        count = len(listed)
        functions = first + EXPORTS.size
        names, ordinals = functions + 4 * count, functions + 8 * count
        text = self.name.encode() + b"\0"
        strings = ordinals + 2 * count
        places = []
        for title, _ in listed:
            places.append(strings + len(text))
            text += title.encode() + b"\0"
        head = EXPORTS.pack(0, 0, 0, 0, strings, 1, count, count, functions, names, ordinals)
        table = [starts[x.part] + x.offset for _, x in listed]
        numbers = struct.pack(f"<{2 * count}I{count}H", *table, *places, *range(count))
        content = head + numbers + text
        return content + bytes(-len(content) % 8)

    def imports(self, first: int, starts: Mapping[str, int]) -> bytes:
        """The directory of imported functions, all of one library."""
        names = list(self.image.imports)
        if not names:
            return b""
        lookup = first + 2 * IMPORTS.size
        strings = lookup + WORD * (len(names) + 1)
        places, text = [], b""
        for title in names:
            places.append(strings + len(text))
            entry = b"\0\0" + title.encode() + b"\0"
            text += entry + bytes(len(entry) % 2)
        slots = starts["data"] + min(self.image.imports.values())
        row = IMPORTS.pack(lookup, 0, 0, strings + len(text), slots)
        self.hints = dict(zip(names, places, strict=True))
        thunks = struct.pack(f"<{len(names) + 1}Q", *places, 0)
        return row + bytes(IMPORTS.size) + thunks + text + LIBRARY + b"\0"

    def moved(self) -> bytes:
        """Places with addresses, page by page."""
        places = sorted(self.parts["data"] + x for x in self.image.pointers)
        content = b""
        for page, group in groupby(places, lambda x: x // PAGE):
            entries = [DIR64 << 12 | x % PAGE for x in group]
            entries += [0] * (len(entries) % 2)
            head = struct.pack("<II", page * PAGE, 8 + 2 * len(entries))
            content += head + struct.pack(f"<{len(entries)}H", *entries)
        return content or struct.pack("<IIHH", self.parts["data"], 12, 0, 0)

    def written(self) -> bytes:
        """The whole file."""
        tables = self.tables(self.parts)
        parts = self.image.placed({x: BASE + start for x, start in self.parts.items()})
        data = bytearray(parts["data"])
        for title, offset in self.image.imports.items():
            struct.pack_into("<Q", data, offset, self.hints[title])
        moved = self.moved()
        self.directories[5] = (self.starts[".reloc"], len(moved))
        self.sizes[".reloc"] = len(moved)
        content = {
            ".text": parts["text"],
            ".rdata": parts["const"].ljust(self.tables_at, b"\0") + tables,
            ".data": bytes(data),
            ".reloc": moved,
        }
        return self.file(content)

    def file(self, content: Mapping[str, bytes]) -> bytes:
        """Headers and sections."""
        size = len(START) + FILE.size + OPTIONAL.size + 8 * DIRECTORIES
        first = _rounded(size + HEADING.size * len(SECTIONS), BLOCK)
        headings, body = b"", b""
        for name, flags in SECTIONS.items():
            raw = _rounded(len(content[name]), BLOCK)
            place = first + len(body) if raw else 0
            headings += HEADING.pack(
                name.encode(), max(1, self.sizes[name]), self.starts[name], raw, place, 0, 0, 0, 0,
                flags)  # fmt: skip
            body += content[name].ljust(raw, b"\0")
        kinds = FILE.pack(
            AMD64, len(SECTIONS), 0, 0, 0, OPTIONAL.size + 8 * DIRECTORIES, IS_LIBRARY
        )
        head = START + kinds + self.optional(first, content) + headings
        return head.ljust(first, b"\0") + body

    def optional(self, first: int, content: Mapping[str, bytes]) -> bytes:
        """What a loader has to know of the whole."""
        end = _rounded(self.starts[".reloc"] + self.sizes[".reloc"], PAGE)
        code = _rounded(len(content[".text"]), BLOCK)
        rest = sum(_rounded(len(x), BLOCK) for name, x in content.items() if name != ".text")
        head = OPTIONAL.pack(
            0x20B, 14, 0, code, rest, 0, 0, self.starts[".text"], BASE, PAGE, BLOCK, 6, 0, 0, 0, 6,
            0, 0, end, first, 0, 2, MOVABLE, 1 << 20, PAGE, 1 << 20, PAGE, 0, DIRECTORIES,
        )  # fmt: skip
        rows = [self.directories.get(k, (0, 0)) for k in range(DIRECTORIES)]
        return head + b"".join(struct.pack("<II", *row) for row in rows)


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit
