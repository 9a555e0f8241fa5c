"""shared_library: code as a library that Linux, Windows or macOS loads, made on any of them.

LLVM makes an object for the processor and its calling convention; what exported functions need of
it is put together and written in the form of the system. A system function is called through the
variable `__imp_NAME` (`@__imp_calloc = external global ptr`), and only those of `SYSTEM`. The same
code gives the same bytes, whenever and wherever a library is made.

Public names: shared_library, Module, SYSTEMS, SYSTEM, UNIVERSAL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

from liaison.errors import NamingError, checked
from liaison.program.llvm.machine import Target, object_code_for

from .elf import elf_library
from .link import Image, linked
from .macho import mach_library, universal_library
from .objects import Object, read_object
from .pe import pe_library
from .runtime import RUNTIME, runtime_object

SYSTEM = frozenset({"calloc", "free", "malloc", "realloc"})
"""Functions that every system provides."""

UNIX = Target("x86_64-unknown-linux-gnu", model="small")
ARM = Target("aarch64-unknown-linux-gnu", features="+reserve-x18", model="small")
WINDOWS = Target("x86_64-pc-windows-gnu-elf", model="small")
DEFINED = re.compile(r'^define [^\n]*?@"?([\w.$-]+)[^\n]*\{$', re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class System:
    """A system: the target of its code, and who writes the library from image and name."""

    target: Target
    write: Callable[[Image, str], bytes]
    suffix: str


SYSTEMS: Mapping[str, System] = {
    "linux-x86_64": System(UNIX, elf_library, ".so"),
    "linux-aarch64": System(ARM, elf_library, ".so"),
    "windows-x86_64": System(WINDOWS, pe_library, ".dll"),
    "macos-x86_64": System(UNIX, mach_library, ".dylib"),
    "macos-arm64": System(ARM, mach_library, ".dylib"),
}
"""By name: macOS takes the code of Linux, of which register x18 is left alone on ARM."""

UNIVERSAL = "macos"
"""The name of one library for both processors of macOS."""

BOTH = ("macos-x86_64", "macos-arm64")


@final
@dataclass(frozen=True, slots=True)
class Module:
    """Code that need not be printed again while its key is the same.

    Attributes:
        text: gives the IR text.
        key: what it depends on.
        optimize: level of code generation, 0 to 3; LLVM's own passes run from 1 on.
    """

    text: Callable[[], str]
    key: str
    optimize: int = 2


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
        return universal_library([shared_library(modules, x, exports, name) for x in BOTH])
    if system not in SYSTEMS:
        raise NamingError.unknown("system of libraries", system, [*SYSTEMS, UNIVERSAL])
    row = SYSTEMS[system]
    objects = [_object(row.target, x) for x in modules]
    return row.write(linked([*objects, *_own(row.target)], exports, SYSTEM), name + row.suffix)


def _object(target: Target, module: str | Module) -> Object:
    """An object, from the disk cache where it is there."""
    if isinstance(module, str):
        key = hashlib.sha256(module.encode()).hexdigest()
        module = Module(lambda text=module: text, key)  # type: ignore[misc]
    text = module.text
    content = object_code_for(
        target, lambda: separate(text()), optimize=module.optimize, key=f"library {module.key}"
    )
    return read_object(content)


@cache
def _own(target: Target) -> tuple[Object, ...]:
    """What code of LLVM calls without being asked."""
    own = _object(target, RUNTIME)
    return (own, runtime_object()) if target is WINDOWS else (own,)


def separate(text: str) -> str:
    """IR text with a section for each function, so that it can be left out."""
    return DEFINED.sub(_with_section, text)


def _with_section(line: re.Match[str]) -> str:
    text, name = line.group(0), line.group(1)
    if " section " in text:
        return text
    head, mark, tail = text[:-1].partition(" !")
    return f'{head.rstrip()} section ".text.{name}"{mark}{tail.rstrip()} {{'
