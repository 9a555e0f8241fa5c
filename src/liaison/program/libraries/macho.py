"""Writer of shared libraries of macOS (Mach-O), signed ad hoc, and of one for two processors.

Three segments: headers, code and constants; variables; tables of the loader with the signature,
which is a hash of every page and no one's key. Names have an underscore before them, as in C there.

Public names: mach_library, universal_library.

Source: MACHO, loader.h, nlist.h and fat.h; kern/cs_blobs.h for the signature.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import final

from .link import Image
from .objects import KINDS

PROCESSORS = {"x86_64": (0x01000007, 3, 0x1000), "aarch64": (0x0100000C, 0, 0x4000)}
"""Kind, variant and size of pages."""

HEADER = struct.Struct("<IiiIIIII")
SEGMENT = struct.Struct("<II16sQQQQiiII")
SECTION = struct.Struct("<16s16sQQIIIIIIII")
NAME = struct.Struct("<IBBHQ")
LIBRARY = "/usr/lib/libSystem.B.dylib"
FLAGS = 0x00100085  # all names known, for the loader, names in two levels, none passed on
CODE, ZERO = 0x80000400, 1
VERSION = 0x10000
MACOS, OLDEST = 1, 11 << 16
SIGNED_PAGE = 12  # bits
AD_HOC = 0x20002
ALIGN = 64
COMMANDS = 12
NONE = (0, 0, 0, 0)  # neither weak nor lazy names


def mach_library(image: Image, name: str) -> bytes:
    """The content of ….dylib for one processor."""
    return _Writer(image, name).written()


def universal_library(libraries: Sequence[bytes]) -> bytes:
    """One file with libraries for several processors."""
    head = struct.pack(">II", 0xCAFEBABE, len(libraries))
    place, body = 1 << 14, b""
    for library in libraries:
        _, kind, variant = struct.unpack_from("<Iii", library)
        body += bytes(-len(body) % (1 << 14))
        head += struct.pack(">iiIII", kind, variant, place + len(body), len(library), 14)
        body += library
    return head.ljust(place, b"\0") + body


@final
class _Writer:
    """Layout first, then commands, then content, then the signature over all of it."""

    def __init__(self, image: Image, name: str) -> None:
        self.image, self.name = image, name
        self.kind, self.variant, self.page = PROCESSORS[image.machine]
        self.symbols = [f"_{x}" for x in image.exports]
        text, const = len(image.parts["text"]), len(image.parts["const"])
        self.filled = self.edit = self.edit_at = 0
        nothing = dict.fromkeys(KINDS, 0)
        starts = {"text": _rounded(HEADER.size + len(self.commands(nothing, {})), ALIGN)}
        starts["const"] = _rounded(starts["text"] + text, ALIGN)
        starts["data"] = _rounded(starts["const"] + const, self.page)
        starts["zero"] = _rounded(starts["data"] + len(image.parts["data"]), ALIGN)
        self.starts = starts
        self.filled = _rounded(len(image.parts["data"]), self.page)  # of variables, in the file
        end = starts["zero"] + image.zero
        self.edit = _rounded(max(end, starts["data"] + 1), self.page)  # address of the tables
        self.edit_at = starts["data"] + self.filled  # their place in the file

    def written(self) -> bytes:
        """The whole file."""
        starts, image = self.starts, self.image
        parts = image.placed(starts)
        tables, places = self.tables()
        unsigned = _rounded(self.edit_at + len(tables), 16)
        places["signature"] = (unsigned, self.signature_size(unsigned))
        content = bytearray(unsigned)
        for part in ("text", "const", "data"):
            content[starts[part] : starts[part] + len(parts[part])] = parts[part]
        content[self.edit_at : self.edit_at + len(tables)] = tables
        commands = self.commands(starts, places)
        head = HEADER.pack(
            0xFEEDFACF, self.kind, self.variant, 6, COMMANDS, len(commands), FLAGS, 0
        )
        content[: len(head) + len(commands)] = head + commands
        return bytes(content) + self.signature(bytes(content))

    def tables(self) -> tuple[bytes, dict[str, tuple[int, int]]]:
        """Tables of the loader, and where each lies in the file."""
        image, starts = self.image, self.starts
        exports = {f"_{name}": starts[x.part] + x.offset for name, x in image.exports.items()}
        names, strings = self.names(exports)
        tables = {
            "rebase": _rebase(list(image.pointers)),
            "bind": _bind(image.imports),
            "exports": _trie(exports),
            "symbols": names,
            "strings": strings,
        }
        content, places = b"", {}
        for name, table in tables.items():
            padded = table + bytes(-len(table) % 8)
            places[name] = (self.edit_at + len(content), len(padded))
            content += padded
        return content, places

    def names(self, exports: Mapping[str, int]) -> tuple[bytes, bytes]:
        """The table of symbols: defined, then imported ones."""
        strings, rows = b" \0", b""
        for name, address in exports.items():
            rows += NAME.pack(len(strings), 0x0F, 1, 0, address)
            strings += name.encode() + b"\0"
        for title in self.image.imports:
            rows += NAME.pack(len(strings), 0x01, 0, 1 << 8, 0)
            strings += f"_{title}".encode() + b"\0"
        return rows, strings

    def commands(self, starts: Mapping[str, int], places: Mapping[str, tuple[int, int]]) -> bytes:
        """What the loader has to do; sizes do not depend on numbers."""
        defined, imported = len(self.image.exports), len(self.image.imports)
        at = {x: places.get(x, (0, 0)) for x in
              ("rebase", "bind", "exports", "symbols", "strings", "signature")}  # fmt: skip
        listed = [
            *self.segments(starts, at["signature"]),
            _named(0xD, f"@rpath/{self.name}"),
            struct.pack("<12I", 0x80000022, 48, *at["rebase"], *at["bind"], *NONE, *at["exports"]),
            struct.pack("<6I", 2, 24, at["symbols"][0], defined + imported, *at["strings"]),
            struct.pack("<20I", 0xB, 80, 0, 0, 0, defined, defined, imported, *[0] * 12),
            struct.pack("<II", 0x1B, 24) + self.identity(),
            struct.pack("<6I", 0x32, 24, MACOS, OLDEST, OLDEST, 0),
            struct.pack("<IIQ", 0x2A, 16, 0),
            _named(0xC, LIBRARY),
            struct.pack("<4I", 0x1D, 16, *at["signature"]),
        ]  # fmt: skip
        return b"".join(listed)

    def identity(self) -> bytes:
        """A number of 16 bytes that follows from the content (version 8: of one's own making)."""
        image = self.image
        digest = hashlib.sha256(self.name.encode())
        for part in image.parts.values():
            digest.update(part)
        number = bytearray(digest.digest()[:16])
        number[6], number[8] = number[6] & 0x0F | 0x80, number[8] & 0x3F | 0x80
        return bytes(number)

    def segments(self, starts: Mapping[str, int], signature: tuple[int, int]) -> list[bytes]:
        """Stretches of memory with their sections."""
        image = self.image
        data, size = starts["data"], {x: len(part) for x, part in image.parts.items()}
        text = [
            _section("__text", "__TEXT", starts["text"], size["text"], starts["text"], CODE),
            _section("__const", "__TEXT", starts["const"], size["const"], starts["const"], 0),
        ]
        variables = [
            _section("__data", "__DATA", data, size["data"], data, 0),
            _section("__bss", "__DATA", starts["zero"], image.zero, 0, ZERO),
        ]
        edit = sum(signature) - self.edit_at
        room = _rounded(edit, self.page)
        return [
            _segment("__TEXT", (0, data), (0, data), 5, text),
            _segment("__DATA", (data, self.edit - data), (data, self.filled), 3, variables),
            _segment("__LINKEDIT", (self.edit, room), (self.edit_at, edit), 1, []),
        ]

    def signature_size(self, size: int) -> int:
        """Bytes of the signature of so many bytes."""
        return 20 + 88 + len(self.name.encode()) + 1 + 32 * -(-size >> SIGNED_PAGE)

    def signature(self, content: bytes) -> bytes:
        """Hashes of all pages, with a name."""
        count = -(-len(content) >> SIGNED_PAGE)
        name = self.name.encode() + b"\0"
        size = 88 + len(name) + 32 * count
        directory = struct.pack(
            ">9I4B3IIQQQQ", 0xFADE0C02, size, 0x20400, AD_HOC, 88 + len(name), 88, 0, count,
            len(content), 32, 2, 0, SIGNED_PAGE, 0, 0, 0, 0, 0, 0, self.starts["data"], 0,
        )  # fmt: skip
        step = 1 << SIGNED_PAGE
        hashes = [
            hashlib.sha256(content[k : k + step]).digest() for k in range(0, len(content), step)
        ]
        head = struct.pack(">5I", 0xFADE0CC0, 20 + size, 1, 0, 20)
        return head + directory + name + b"".join(hashes)


def _segment(
    name: str,
    memory: tuple[int, int],
    file: tuple[int, int],
    rights: int,
    sections: Sequence[bytes],
) -> bytes:
    size = SEGMENT.size + SECTION.size * len(sections)
    head = SEGMENT.pack(0x19, size, name.encode(), *memory, *file, rights, rights, len(sections), 0)
    return head + b"".join(sections)


def _section(name: str, segment: str, address: int, size: int, place: int, flags: int) -> bytes:
    return SECTION.pack(
        name.encode(), segment.encode(), address, size, place, 6, 0, 0, flags, 0, 0, 0
    )


def _named(command: int, name: str) -> bytes:
    """A command with the name of a library."""
    text = name.encode() + b"\0"
    text += bytes(-len(text) % 8)
    return struct.pack("<6I", command, 24 + len(text), 24, 0, VERSION, VERSION) + text


def _rebase(places: Sequence[int]) -> bytes:
    """Program that adds the library's address to words of the second segment."""
    if not places:
        return b""
    return b"\x11" + b"".join(b"\x21" + _uleb(x) + b"\x51" for x in places) + b"\0"


def _bind(imports: Mapping[str, int]) -> bytes:
    """Program that fills words of the second segment with addresses of functions."""
    if not imports:
        return b""
    rows = [
        b"\x40_" + name.encode() + b"\0\x71" + _uleb(place) + b"\x90"
        for name, place in imports.items()
    ]
    return b"\x11\x51" + b"".join(rows) + b"\0"


def _uleb(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    content = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        content.append(low | (0x80 if value else 0))
        if not value:
            return bytes(content)


def _trie(exports: Mapping[str, int]) -> bytes:
    """Exported names as a tree of their letters, with addresses at the ends."""
    nodes = _nodes(sorted(exports))
    places = dict.fromkeys(nodes, 0)
    while True:
        content, start = b"", {}
        for prefix, children in nodes.items():
            start[prefix] = len(content)
            own = b"\0" + _uleb(exports[prefix]) if prefix in exports else b""
            content += _uleb(len(own)) + own + bytes([len(children)])
            for child in children:
                content += child[len(prefix) :].encode() + b"\0" + _uleb(places[child])
        if start == places:
            return content
        places = start


def _nodes(names: Sequence[str]) -> dict[str, list[str]]:
    """Prefixes at which names part, or end, each with those that follow it; parents first."""
    ends = set(names) | {""}
    for one, other in pairwise(names):
        shared = 0
        while shared < min(len(one), len(other)) and one[shared] == other[shared]:
            shared += 1
        ends.add(one[:shared])
    nodes: dict[str, list[str]] = {x: [] for x in sorted(ends, key=lambda x: (len(x), x))}
    for node in nodes:
        if node:
            parent = max((x for x in nodes if x != node and node.startswith(x)), key=len)
            nodes[parent].append(node)
    return nodes


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit
