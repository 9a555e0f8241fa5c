"""What a set of loops depends on, as one text, found without reading their source.

The text holds the compiled Python of every loop reached, the numbers and tables they use, and the
translator's own files: while it is the same, so is the machine code. Reading the source and
printing IR takes fifty times as long.

Public names: loops_key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .language import Loop
from .records import Part, Record
from .tree import Kind, outer_names, signature


def loops_key(roots: Sequence[Loop[..., Any]]) -> str:
    """A digest that changes with any loop reached, anything it uses, and the translator."""
    number = {loop: k for k, loop in enumerate(roots)}
    found = list(number)
    digest = hashlib.sha256(_translator())
    for loop in found:
        for callee in _callees(loop):
            if callee not in number:
                number[callee] = len(found)
                found.append(callee)
        digest.update(repr(_content(loop, number)).encode())
    return digest.hexdigest()


def _content(loop: Loop[..., Any], number: dict[Loop[..., Any], int]) -> list[Any]:
    """Code with positions (annotations of locals leave no other trace), and what names mean."""
    function = loop.function
    code = function.__code__
    annotations = [str(kind) for kind in function.__annotations__.values()]
    parts = [code.co_name, code.co_code, code.co_linetable, code.co_consts, code.co_varnames]
    names = [(name, _meaning(value, number)) for name, value in _used(loop)]
    return [*parts, code.co_names, annotations, names, _layouts(loop)]


def _layouts(loop: Loop[..., Any]) -> list[str]:
    """The layouts of all records that a loop names: its code shows none of their numbers."""
    named = [kind.record for _, kind in signature(loop)[0] if isinstance(kind, Kind)]
    used = [value for _, value in _used(loop) if isinstance(value, type)]
    return [x.text() for x in [*named, *used] if issubclass(x, Record | Part)]


def _meaning(value: Any, number: dict[Loop[..., Any], int]) -> str:
    if isinstance(value, Loop):
        return f"loop {number[value]}"
    if isinstance(value, bool | int | float | tuple):
        return repr(value)
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}"


def _used(loop: Loop[..., Any]) -> list[tuple[str, Any]]:
    """Names from outside that the loop's code mentions, also in modules it mentions."""
    code = loop.function.__code__
    mentioned = [*code.co_names, *code.co_freevars]
    outer = outer_names(loop)
    used = [(name, outer[name]) for name in mentioned if name in outer]
    modules = [(name, value) for name, value in used if isinstance(value, ModuleType)]
    for path, module in modules:
        inside = [(f"{path}.{name}", getattr(module, name, None)) for name in mentioned]
        used += [(name, value) for name, value in inside if value is not None]
    return used


def _callees(loop: Loop[..., Any]) -> Iterable[Loop[..., Any]]:
    return [value for _, value in _used(loop) if isinstance(value, Loop)]


@cache
def _translator() -> bytes:
    """Digest of the files that turn loops into IR."""
    files = sorted(Path(__file__).parent.glob("loops*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).digest()
