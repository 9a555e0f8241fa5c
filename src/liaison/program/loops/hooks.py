"""Hooks: words of a record that stand for loops, and how plain Python calls them.

A word above zero is the address of machine code, one below zero stands for a loop that runs as
plain Python; zero is none.

Public names: signature_text, handle_of, loop_at.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .language import Loop

NUMBERS: dict[str, Any] = {"f64": ctypes.c_double, "i64": ctypes.c_int64}

_PLAIN: list[Loop[..., Any]] = []
"""Loops that hooks call as plain Python: a hook holds -1 - its place here."""


def signature_text(loop: Loop[..., Any]) -> str:
    """Types of arguments and result as a loop's text has them."""
    kinds, result = _types(loop)
    return f"({', '.join(kinds)}) -> {result}"


def _types(loop: Loop[..., Any]) -> tuple[list[str], str]:
    kinds = {name: str(kind) for name, kind in loop.function.__annotations__.items()}
    result = kinds.pop("return", "None")
    return list(kinds.values()), result


def handle_of(loop: Loop[..., Any]) -> int:
    """The word that stands for a loop as plain Python."""
    if loop not in _PLAIN:
        _PLAIN.append(loop)
    return -1 - _PLAIN.index(loop)


def loop_at(word: int, like: Loop[..., Any], address: Callable[[Any], int]) -> Callable[..., Any]:
    """What a word other than 0 stands for, as a function of records, arrays and numbers.

    Args:
        word: of a hook.
        like: a loop whose signature it has.
        address: where a record or an array begins.
    """
    if word < 0:
        return _PLAIN[-1 - word]
    kinds, result = _types(like)
    listed = [NUMBERS.get(kind, ctypes.c_void_p) for kind in kinds]
    call = ctypes.CFUNCTYPE(NUMBERS.get(result), *listed)(word)

    def run(*args: Any) -> Any:
        return call(*(x if isinstance(x, int | float) else address(x) for x in args))

    return run
