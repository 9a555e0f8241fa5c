"""Notes on unilateral constraints in results of mobility and assembly.

Public names: with_note.
"""

from __future__ import annotations

from dataclasses import replace

from liaison.freedoms.global_.assembly import AssemblyModes
from liaison.model.contacts import left_out
from liaison.model.mechanism import Mechanism


def with_note(modes: AssemblyModes, mechanism: Mechanism) -> AssemblyModes:
    """The modes with a note that unilateral relations were left out; the same without any."""
    sentence = left_out(mechanism.contacts)
    return replace(modes, notes=(*modes.notes, f"w{sentence[1:-1]}")) if sentence else modes
