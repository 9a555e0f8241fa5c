"""The functions as machine code, for entries that call them.

Public names: library, addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from liaison.program.loops.compile import CompiledLoops, compile_loops

from .table import FUNCTIONS


@cache
def library() -> CompiledLoops:
    """The functions, compiled once a process."""
    return compile_loops([*FUNCTIONS.values()], optimize=3)


@cache
def addresses() -> Mapping[str, int]:
    """Where each lies, by the symbol that entries call: liaison_sin and so on."""
    return {f"liaison_{name}": library().address(x) for name, x in FUNCTIONS.items()}
