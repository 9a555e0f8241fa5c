"""Loops for other processors: object code of a set of loops, made once for a target and cached.

A loop reaches all that it works on through its arguments: its text is the same for every target,
and what is compiled for one serves every model there.

Public names: TARGETS, loops_object, loop_symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from liaison.errors import NamingError
from liaison.program.llvm.machine import Target, object_code_for

from .compile import loops_key
from .language import Loop
from .llvm import loops_ir, unique_names

TARGETS = {
    "wasm32": Target("wasm32-unknown-unknown"),
    "aarch64": Target("aarch64-unknown-linux-gnu"),
    "thumb": Target("thumbv7em-none-eabihf", "cortex-m7"),
}
"""By name; a `Target` of its own will do as well."""


def loops_object(
    roots: Sequence[Loop[..., Any]], target: str | Target, *, portable: bool = False
) -> bytes:
    """The content of an object file with the loops and all they call.

    Functions of the mathematical library (sin, pow, ...) are left for the linker to find, unless
    the code is portable: then it contains its own.
    """
    if isinstance(target, str):
        if target not in TARGETS:
            raise NamingError.unknown("target of loops", target, TARGETS)
        target = TARGETS[target]
    text = partial(loops_ir, roots, portable=portable)
    return object_code_for(target, text, key=loops_key(roots, portable=portable))


def loop_symbols(roots: Sequence[Loop[..., Any]]) -> dict[str, str]:
    """Loop -> its symbol in the object file."""
    return {loop.name: symbol for loop, symbol in unique_names(roots).items()}
