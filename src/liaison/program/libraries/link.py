"""Objects put together: what exported functions need, in four parts, and what is left to place.

Only sections that are reached from an exported function are kept, and of pools of constants only
those that are, each once. A system function is called
through a slot `__imp_NAME`, a variable that the system's loader fills; any other name that no
object defines is an error. The result is an `Image`: it has no addresses yet, and each system's
writer gives it its own.

Relocations of two processors: how an address, or a distance, is written into code.

Public names: Image, Place, linked, patched, SLOT.

Source: ABI13, table 4.9; AELF64, 5.7.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from liaison.errors import ProgramError

from .objects import KINDS, Object, Relocation, Symbol

SLOT = "__imp_"
"""Before the name of a system function, the name of the variable that holds its address."""

WORD = 8

ABSOLUTE = {"x86_64": 1, "aarch64": 257}
"""An address of 64 bits."""

INDIRECT = {"x86_64": frozenset({9, 41, 42}), "aarch64": frozenset({311, 312})}
"""Of places that name a word, which holds the address."""

DISTANCES = {
    "x86_64": {2: "<i", 4: "<i", 9: "<i", 41: "<i", 42: "<i", 24: "<q"},
    "aarch64": {260: "<q", 261: "<i"},
}
"""Relocation -> how the distance from the place is written."""

PAGE = 12  # bits of an offset in a page
SCALES = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}
"""Relocation -> bits that the offset in a page is shifted by before it is written."""

BRANCHES: Mapping[int, tuple[int, int]] = {
    282: (26, 0), 283: (26, 0), 280: (19, 5), 279: (14, 5), 273: (19, 5),
}  # fmt: skip
"""Relocation -> bits of a distance in instructions, and the bit where they begin."""

PAGES = (275, 276, 311)  # distances in pages
NEAR = 274  # a distance in bytes


def patched(
    machine: str, content: bytearray, offset: int, kind: int, place: int, value: int
) -> None:
    """Writes a relocation into content.

    Args:
        machine: the processor.
        content: of a part, which is changed.
        offset: where in it.
        kind: number of the relocation.
        place: the address of this place.
        value: the address that is meant, S + A.
    """
    form = DISTANCES[machine].get(kind)
    if form is not None:
        _check(value - place, 8 * struct.calcsize(form))
        struct.pack_into(form, content, offset, value - place)
    elif machine == "aarch64":
        (word,) = struct.unpack_from("<I", content, offset)
        struct.pack_into("<I", content, offset, _instruction(word, kind, place, value))
    else:
        raise _unknown(machine, kind)


def _instruction(word: int, kind: int, place: int, value: int) -> int:
    """An instruction of AArch64 with its field filled."""
    if kind in SCALES:
        field = (value & ((1 << PAGE) - 1)) >> SCALES[kind]
        return word & ~(0xFFF << 10) | field << 10
    if kind in PAGES or kind == NEAR:
        far = value - place if kind == NEAR else (value >> PAGE) - (place >> PAGE)
        _check(far, 21)
        return word & ~(3 << 29 | 0x7FFFF << 5) | (far & 3) << 29 | (far >> 2 & 0x7FFFF) << 5
    if kind in BRANCHES:
        bits, first = BRANCHES[kind]
        far = (value - place) >> 2
        _check(far, bits)
        mask = (1 << bits) - 1
        return word & ~(mask << first) | (far & mask) << first
    raise _unknown("aarch64", kind)


def _check(distance: int, bits: int) -> None:
    if not -(1 << bits - 1) <= distance < 1 << bits - 1:
        raise ProgramError(f"the library is too large: a distance of {distance} B in its code.")


def _unknown(machine: str, kind: int) -> ProgramError:
    return ProgramError(f"relocation {kind} of {machine} is not known to the writer of libraries.")


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A part of an image, and an offset in it."""

    part: str
    offset: int


@final
@dataclass(frozen=True, slots=True)
class Patch:
    """A place whose content depends on where a target lies."""

    place: Place
    kind: int
    target: Place
    addend: int


@final
@dataclass(frozen=True, slots=True)
class Image:
    """A library before it has addresses.

    Attributes:
        machine: the processor.
        parts: content of code, constants and variables.
        zero: size of what is zero at first [B].
        patches: places that depend on addresses.
        pointers: offset among the variables -> what the word there points to.
        exports: function -> where it lies.
        imports: system function -> the offset of its slot among the variables; slots lie in a row,
            and a word of zeros follows.
    """

    machine: str
    parts: Mapping[str, bytes]
    zero: int
    patches: tuple[Patch, ...]
    pointers: Mapping[int, Place]
    exports: Mapping[str, Place]
    imports: Mapping[str, int]

    def placed(self, starts: Mapping[str, int]) -> dict[str, bytes]:
        """Content of the parts once each begins at an address."""
        parts = {name: bytearray(content) for name, content in self.parts.items()}
        for patch in self.patches:
            place = starts[patch.place.part] + patch.place.offset
            value = starts[patch.target.part] + patch.target.offset + patch.addend
            patched(self.machine, parts[patch.place.part], patch.place.offset, patch.kind, place,
                    value)  # fmt: skip
        for offset, target in self.pointers.items():
            struct.pack_into("<Q", parts["data"], offset, starts[target.part] + target.offset)
        return {name: bytes(content) for name, content in parts.items()}


def linked(objects: Sequence[Object], exports: Sequence[str], system: Collection[str]) -> Image:
    """The image of a library.

    Args:
        objects: code for one processor; where two define a name, the first one counts.
        exports: names of functions that users of the library see.
        system: names of functions that the system provides.

    Raises:
        ProgramError: names that nothing defines, or objects for several processors.
    """
    machines = {x.machine for x in objects}
    if len(machines) != 1:
        raise ProgramError(f"objects for several processors ({', '.join(sorted(machines))}).")
    return _Linker(objects, system).image(exports)


@final
class _Linker:
    """Walks from exported functions to all that they need, then lays it out."""

    def __init__(self, objects: Sequence[Object], system: Collection[str]) -> None:
        self.objects, self.system = objects, system
        self.known: dict[str, tuple[int, Symbol]] = {}
        for k, one in enumerate(objects):
            for name, symbol in one.definitions().items():
                self.known.setdefault(name, (k, symbol))
        self.slots: set[str] = set()
        self.missing: set[str] = set()
        self.starts: dict[tuple[int, int], Place] = {}
        self.constants: dict[bytes, Place] = {}

    def image(self, exports: Sequence[str]) -> Image:
        """All of it."""
        unknown = sorted(set(exports) - set(self.known))
        if unknown:
            raise ProgramError(f"no function {unknown[0]!r} to export: no object defines it.")
        kept = self.reached([(self.known[x][0], self.known[x][1].section) for x in exports])
        self.refuse_missing()
        parts, zero = self.laid_out(kept)
        imports = self.slots_in(parts["data"])
        patches, pointers = self.patches(kept, parts["data"], imports)
        return Image(
            self.objects[0].machine,
            {name: bytes(x) for name, x in parts.items()},
            zero,
            tuple(patches),
            pointers,
            {name: self.symbol_place(*self.known[name]) for name in sorted(exports)},
            imports,
        )

    def reached(self, todo: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Sections that are needed, as numbers of object and section, in order."""
        seen = set(todo)
        while todo:
            k, number = todo.pop()
            for relocation in self.objects[k].sections[number].relocations:
                target = self.target(k, relocation)
                if target is None:
                    continue
                constant = self.constant(*target, relocation)
                if constant:
                    self.constants[constant] = Place("const", 0)
                elif (target[0], target[1].section) not in seen:
                    seen.add((target[0], target[1].section))
                    todo.append((target[0], target[1].section))
        return sorted(seen)

    def constant(self, k: int, symbol: Symbol, relocation: Relocation) -> bytes:
        """The content of a constant that lies in a pool; empty of all else."""
        section = self.objects[k].sections[symbol.section]
        if not section.pooled:
            return b""
        start = symbol.value if symbol.name else symbol.value + relocation.addend
        return section.content[start : start + section.pooled]

    def target(self, k: int, relocation: Relocation) -> tuple[int, Symbol] | None:
        """Object and symbol that a relocation of an object means; None for slots."""
        symbol = self.objects[k].symbols[relocation.symbol]
        if symbol.section:
            return k, symbol
        if symbol.name in self.known:
            return self.known[symbol.name]
        name = symbol.name.removeprefix(SLOT)
        if symbol.name.startswith(SLOT) and name in self.system:
            self.slots.add(name)
        else:
            self.missing.add(symbol.name)
        return None

    def refuse_missing(self) -> None:
        """Raises where names are left that nothing defines."""
        if not self.missing:
            return
        names = ", ".join(sorted(self.missing))
        raise ProgramError(
            f"nothing defines {names}: a library may not leave names to the linker of its user.",
            hint=f"Define them in a module, or call a system function through {SLOT}NAME "
            f"({', '.join(sorted(self.system))}).",
        )

    def laid_out(self, kept: Sequence[tuple[int, int]]) -> tuple[dict[str, bytearray], int]:
        """Content of the parts, and the size of what is zero."""
        parts = {name: bytearray() for name in KINDS[:3]}
        zero = 0
        for content in sorted(self.constants, key=lambda x: (-len(x), x)):
            self.constants[content] = Place("const", len(parts["const"]))
            parts["const"] += content
        for k, number in kept:
            section = self.objects[k].sections[number]
            if section.kind == "zero":
                zero = -(-zero // section.align) * section.align
                self.starts[k, number] = Place("zero", zero)
                zero += section.size
                continue
            part = parts[section.kind]
            part += bytes(-len(part) % section.align)
            self.starts[k, number] = Place(section.kind, len(part))
            part += section.content
        return parts, zero

    def slots_in(self, data: bytearray) -> dict[str, int]:
        """Slots of system functions among the variables."""
        data += bytes(-len(data) % WORD)
        slots = {name: len(data) + WORD * k for k, name in enumerate(sorted(self.slots))}
        data += bytes(WORD * (len(slots) + 1) if slots else 0)
        return slots

    def symbol_place(self, k: int, symbol: Symbol) -> Place:
        """Where a symbol lies."""
        start = self.starts[k, symbol.section]
        return Place(start.part, start.offset + symbol.value)

    def patches(
        self, kept: Sequence[tuple[int, int]], data: bytearray, imports: Mapping[str, int]
    ) -> tuple[list[Patch], dict[int, Place]]:
        """Places that depend on addresses; addresses that code reads lie among the variables."""
        machine = self.objects[0].machine
        patches: list[Patch] = []
        pointers: dict[int, Place] = {}
        words: dict[Place, int] = {}
        for k, number in kept:
            start = self.starts[k, number]
            for one in self.objects[k].sections[number].relocations:
                target, addend = self.meant(k, one, imports)
                place = Place(start.part, start.offset + one.offset)
                if one.kind == ABSOLUTE[machine]:
                    self.check_pointer(k, number, place)
                    pointers[place.offset] = Place(target.part, target.offset + addend)
                    continue
                if one.kind in INDIRECT[machine]:
                    if target not in words:
                        words[target] = len(data)
                        data += bytes(WORD)
                    target = Place("data", words[target])
                patches.append(Patch(place, one.kind, target, addend))
        pointers |= {offset: target for target, offset in words.items()}
        return patches, dict(sorted(pointers.items()))

    def meant(self, k: int, one: Relocation, imports: Mapping[str, int]) -> tuple[Place, int]:
        """Where the symbol of a relocation lies, and what is added to that."""
        target = self.target(k, one)
        if target is None:
            name = self.objects[k].symbols[one.symbol].name
            return Place("data", imports[name.removeprefix(SLOT)]), one.addend
        constant = self.constant(*target, one)
        if constant:  # of a whole section the addend says where in it
            return self.constants[constant], one.addend if target[1].name else 0
        return self.symbol_place(*target), one.addend

    def check_pointer(self, k: int, number: int, place: Place) -> None:
        """Raises for an address outside of the variables, which no loader may change."""
        if place.part != "data":
            name = self.objects[k].sections[number].name
            raise ProgramError(f"section {name!r} contains an address and cannot be changed.")
