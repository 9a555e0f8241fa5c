"""Relocations of two processors: how an address, or a distance, is written into code.

Public names: patched, ABSOLUTE, INDIRECT.

Source: the supplements on processors of the ELF standard (x86-64, table 4.9; AArch64, 5.7).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from liaison.errors import ProgramError

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
