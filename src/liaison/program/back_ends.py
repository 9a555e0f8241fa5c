"""The table of back ends: what makes a kernel of a program, or files for other tools, by name.

Public names: BackEnd, BackEnds, BACK_ENDS, back_end_named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, final

from liaison.errors import NamingError, ProgramError
from liaison.program.c.package import c_package
from liaison.program.c.to_c import c_name, compile_c
from liaison.program.gpu.to_ptx import ptx_package
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.wasm.to_wasm import to_wasm

from .kernel import Kernel
from .program import Program
from .to_numpy import to_numpy

Compiler: TypeAlias = Callable[[Program], Kernel]
Packager: TypeAlias = Callable[[Program, Path, Sequence[str], bool], Mapping[str, Path]]


@final
@dataclass(frozen=True, slots=True)
class BackEnd:
    """A way from a program to numbers or to text.

    Attributes:
        name: what `compile(…, back_end=…)` and `build --target` call it.
        help: what it writes, in a few words.
        compile: a kernel that computes here; None if it only writes.
        package: writes files for some entries of a program into a folder (made if missing), with a
            shared library where the last argument is true; returns them by what they are. None if
            it writes none.
        entries: those that are written where none is named; those of the program if empty.
        extra: entries it knows besides those of a program.
        links: it can link a shared library.
        simulates: where no entry is named, `build` writes runs: entries with their time loop.
    """

    name: str
    help: str = ""
    compile: Compiler | None = None
    package: Packager | None = None
    entries: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    links: bool = False
    simulates: bool = False

    def listed(self, program: Program) -> list[str]:
        """The entries it writes where none is named.

        Of a program with unilateral rows a march is replaced by these rows.
        """
        has_sides = bool(program.facts.get("sides"))
        if self.entries:
            return [
                "one_sided" if has_sides and name in self.extra else name for name in self.entries
            ]
        known = [*program.entries, *(["one_sided"] if has_sides else [])]
        return [name for name in known if program.entry(name).outputs]


@final
class BackEnds(Mapping[str, BackEnd]):
    """Back ends by name."""

    def __init__(self, *known: BackEnd) -> None:
        self._rows: dict[str, BackEnd] = {}
        for one in known:
            self.add(one)

    def __getitem__(self, name: str) -> BackEnd:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def targets(self) -> dict[str, BackEnd]:
        """Those that write files."""
        return {name: one for name, one in self._rows.items() if one.package}

    @property
    def compilers(self) -> dict[str, BackEnd]:
        """Those that make kernels."""
        return {name: one for name, one in self._rows.items() if one.compile}

    def add(self, one: BackEnd) -> BackEnd:
        """Makes a back end known by its name.

        Raises:
            ProgramError: the name is taken, or it neither computes nor writes.
        """
        if one.name in self._rows:
            raise ProgramError(f"there is a back end {one.name!r} already.")
        if not one.compile and not one.package:
            raise ProgramError(f"the back end {one.name!r} neither computes nor writes anything.")
        self._rows[one.name] = one
        return one

    def remove(self, name: str) -> None:
        """Forgets a back end."""
        del self._rows[name]

    @contextmanager
    def including(self, *back_ends: BackEnd) -> Iterator[None]:
        """Back ends that are known within a `with` block only."""
        known = dict(self._rows)
        try:
            for one in back_ends:
                self.add(one)
            yield
        finally:
            self._rows.clear()
            self._rows.update(known)


def _c_files(
    program: Program, folder: Path, entries: Sequence[str], shared: bool, *, portable: bool = False
) -> dict[str, Path]:
    package = c_package(program, folder, entries, shared=shared, portable=portable)
    files = {"header": package.header, "source": package.source, "object": package.object}
    return files | ({"library": package.library} if package.library else {})


def _ptx_files(
    program: Program, folder: Path, entries: Sequence[str], shared: bool
) -> dict[str, Path]:
    return ptx_package(program, folder, entries)


def _wasm_files(
    program: Program, folder: Path, entries: Sequence[str], shared: bool
) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{c_name(program, 'entries')}.wasm"
    path.write_bytes(to_wasm(program, entries))
    return {"module": path}


def _library_files(
    program: Program, folder: Path, entries: Sequence[str], shared: bool
) -> dict[str, Path]:
    from liaison.program.libraries.package import library_package

    return library_package(program, folder, entries)


BACK_ENDS = BackEnds(
    BackEnd("llvm", "machine code for this computer", compile=to_llvm),
    BackEnd(
        "portable",
        "machine code whose results have the same bits on every computer; header, source, object",
        compile=partial(to_llvm, portable=True),
        package=partial(_c_files, portable=True),
        links=True,
    ),
    BackEnd("c", "header, source, object", compile=compile_c, package=_c_files, links=True),
    BackEnd("numpy", "interpreted: what the others are compared with", compile=to_numpy),
    BackEnd(
        "ptx",
        "for GPUs",
        package=_ptx_files,
        entries=("forward", "inverse", "march"),
        extra=("march",),
    ),
    BackEnd(
        "library",
        "shared libraries of Linux, Windows and macOS, with a C header",
        package=_library_files,
    ),
    BackEnd("wasm", "for browsers", package=_wasm_files, simulates=True),
)
"""Every back end by name."""


def back_end_named(name: str) -> Compiler:
    """What makes kernels, by the name of the back end.

    Raises:
        NamingError: no back end that computes has that name.
    """
    known = BACK_ENDS.compilers
    if name not in known:
        raise NamingError.unknown("back end", name, known)
    compiler = known[name].compile
    assert compiler is not None
    return compiler
