"""shared_library: code as a library that Linux, Windows or macOS loads, made on any of them.

LLVM makes an object for the processor and its calling convention; what exported functions need of
it is put together and written in the form of the system. A system function is called through the
variable `__imp_NAME` (`@__imp_calloc = external global ptr`), and only those of `SYSTEM`. The same
code gives the same bytes, whenever and wherever a library is made.

Public names: shared_library, SYSTEMS, SYSTEM, UNIVERSAL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any, final

from liaison.arguments import checked
from liaison.errors import NamingError
from liaison.program.llvm.machine import Target, object_code_for

from .link import Image, linked
from .modules import INNER, RUNTIME, Module, inner_module, runtime_object
from .objects import Object, read_object

SYSTEM = frozenset({"calloc", "free", "malloc", "realloc"})
"""Functions that every system provides."""

UNIX = Target("x86_64-unknown-linux-gnu", model="small")
ARM = Target("aarch64-unknown-linux-gnu", features="+reserve-x18", model="small")
WINDOWS = Target("x86_64-pc-windows-gnu-elf", model="small")
ELF, PE, MACH = ("elf", "elf_library"), ("pe", "pe_library"), ("macho", "mach_library")
JOINED = ("macho", "universal_library")
DEFINED = re.compile(r'^define [^\n]*?@"?([\w.$-]+)[^\n]*\{$', re.MULTILINE)
ANYWHERE = ' noredzone "probe-stack"="inline-asm"'
"""Attributes of functions that may run on Windows: nothing lies below the stack, of which every
page is touched in turn."""

TABLE = re.compile(r"^(@([\w.]+) = internal constant [^\n]*\])$", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class System:
    """A system: the target of its code, module and function that write a library, its suffix."""

    target: Target
    writer: tuple[str, str]
    suffix: str

    def write(self, image: Image, name: str) -> bytes:
        """The content of a library of this name."""
        content: bytes = _loaded(self.writer)(image, name + self.suffix)
        return content


SYSTEMS: Mapping[str, System] = {
    "linux-x86_64": System(UNIX, ELF, ".so"),
    "linux-aarch64": System(ARM, ELF, ".so"),
    "windows-x86_64": System(WINDOWS, PE, ".dll"),
    "macos-x86_64": System(UNIX, MACH, ".dylib"),
    "macos-arm64": System(ARM, MACH, ".dylib"),
}
"""By name: macOS takes the code of Linux, of which register x18 is left alone on ARM."""

UNIVERSAL = "macos"
"""The name of one library for both processors of macOS."""

BOTH = ("macos-x86_64", "macos-arm64")


@checked
def shared_library(
    modules: Sequence[str | Module], system: str, exports: Sequence[str], name: str = "liaison"
) -> bytes:
    """The content of a shared library.

    Args:
        modules: IR texts without target lines, or modules; where two define a name for others, the
            first one counts.
        system: a name of SYSTEMS, or "macos" for one library for both of its processors.
        exports: functions that users of the library see; what these do not need is left out.
        name: of the library, without suffix.

    Raises:
        ProgramError: names that nothing defines.
    """
    if system == UNIVERSAL:
        join = _loaded(JOINED)
        return bytes(join([shared_library(modules, x, exports, name) for x in BOTH]))
    if system not in SYSTEMS:
        raise NamingError.unknown("system of libraries", system, [*SYSTEMS, UNIVERSAL])
    row = SYSTEMS[system]
    objects = [_object(row.target, x) for x in modules]
    own = _own(row.target, any(isinstance(x, Module) and x.is_inner for x in modules))
    return row.write(linked([*objects, *own], exports, SYSTEM), name)


def _loaded(writer: tuple[str, str]) -> Any:
    """A writer, whose module is loaded when a library of its kind is written."""
    module, name = writer
    return getattr(import_module(f"liaison.program.libraries.{module}"), name)


def _object(target: Target, module: str | Module) -> Object:
    """An object, from the disk cache where it is there."""
    if isinstance(module, str):
        key = hashlib.sha256(module.encode()).hexdigest()
        module = Module(lambda text=module: text, key)  # type: ignore[misc]
    text, is_inner = module.text, module.is_inner
    if is_inner and target is WINDOWS:
        target = UNIX

    def written() -> str:
        separated = separate(text(), ANYWHERE if is_inner else "")
        return separated.replace(f" {INNER}", "") if target is ARM else separated

    key = f"library {module.key}{' inner' if is_inner else ''}"
    return read_object(object_code_for(target, written, optimize=module.optimize, key=key))


@cache
def _own(target: Target, has_inner: bool) -> tuple[Object, ...]:
    """What code of LLVM calls without being asked; where there are inner modules, they alone."""
    own = _object(target, inner_module(RUNTIME) if has_inner else RUNTIME)
    return (own, runtime_object()) if target is WINDOWS else (own,)


def separate(text: str, attributes: str = "") -> str:
    """IR text with a section for each function and each table, so that it can be left out."""
    text = TABLE.sub(r'\1, section ".rodata.\2"', text)
    return DEFINED.sub(partial(_with_section, attributes), text)


def _with_section(attributes: str, line: re.Match[str]) -> str:
    text, name = line.group(0), line.group(1)
    if " section " in text:
        return text
    head, mark, tail = text[:-1].partition(" !")
    return f'{head.rstrip()}{attributes} section ".text.{name}"{mark}{tail.rstrip()} {{'
