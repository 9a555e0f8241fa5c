"""What takes time: its progress, log messages, and the cache on disk that keeps its results.

    with working("simulation", "simulating four bar") as fraction:
        ...
        fraction(0.5)

Work that lasts over a second is shown on a line of its own, in a terminal or in the cell of a
notebook, and removed when it ends; in a pipe, in a file and for short work nothing is written.
`show_progress(False)`, or the variable LIAISON_PROGRESS=0, turns it off.

Each room has a logger, "liaison.simulation", "liaison.program", …, silent unless the user of the
package sets up `logging`. Messages are of level INFO: what took over a second, what was chosen
(method, back end, scene), what was repaired.

The cache on disk is private, checked, safe between processes, never in the way. It holds object
code, and the convex parts of meshes. A file holds the SHA-256 of its key with its content, and the
content: under the name of another thing it is not taken. It is written under a temporary name and
renamed, so a reader sees all of it or nothing. A folder that others may write to, or that belongs
to another user, is not used: what is in it would be executed. Whatever goes wrong (no folder, no
permission, a damaged file) means only that the work is done again. Beyond 500 MB, or what
LIAISON_CACHE_MB says, files that were not used for longest are removed; whoever reads one meanwhile
reads on, or does the work again.

Public names: working, lasting, show_progress, is_on, is_shown, log, is_logged, cache_folder,
own_folder, key_of, fetch, store, prune, SUFFIXES.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from html import escape
from pathlib import Path
from typing import Any, TypeVar, cast, final

F = TypeVar("F", bound=Callable[..., Any])

PATIENCE = 1.0
"""Seconds of work before it is shown, and logged when it ends."""

PERIOD = 0.2
"""Seconds between two pictures of the line."""

SWITCH = "LIAISON_PROGRESS"
"""The variable that turns progress off: 0, no, off or false."""

CLEARED = "\r\x1b[K"
"""Back to the first column of a terminal, the line emptied."""

logging.getLogger("liaison").addHandler(logging.NullHandler())


def log(room: str, message: str, *arguments: Any) -> None:
    """A message of a room, at level INFO.

    Args:
        room: whose logger, "simulation" for "liaison.simulation".
        message: with the marks of `logging`, such as %s.
        *arguments: for the marks.
    """
    _logger(room).info(message, *arguments)


def is_logged(room: str) -> bool:
    """Whether somebody listens to the messages of a room."""
    return _logger(room).isEnabledFor(logging.INFO)


@cache
def _logger(room: str) -> logging.Logger:
    return logging.getLogger(f"liaison.{room}")


def show_progress(on: bool = True) -> None:
    """Shows the progress of long work, or no longer; it is shown where there is a terminal.

    Example:
        >>> import liaison
        >>> liaison.show_progress(False)
    """
    _SHOWN.is_on = bool(on)


def is_on() -> bool:
    """Whether progress is switched on, wherever it could be seen."""
    return _SHOWN.is_on


def is_shown() -> bool:
    """Whether long work is shown: it is switched on, and there is a terminal or a notebook."""
    return _SHOWN.is_on and _output() is not None


@contextmanager
def working(room: str, what: str) -> Iterator[Callable[..., None]]:
    """Around work that may take long; gives a function that takes the fraction done, 0 to 1.

    A second argument of that function is a note that follows it.

    Args:
        room: whose logger says how long it took.
        what: "simulating four bar".
    """
    work = _Work(what)
    _SHOWN.begin(work)
    try:
        yield work.set_fraction
    finally:
        _SHOWN.end(work)
        if work.seconds > PATIENCE:
            log(room, "%s took %.1f s", what, work.seconds)


def lasting(room: str) -> Callable[[F], F]:
    """A function that may take long: it is shown by its name and that of its first argument.

    Args:
        room: whose logger says how long it took.
    """

    def decorator(function: F) -> F:
        words = function.__name__.replace("_", " ")

        @wraps(function)
        def watched(*args: Any, **keywords: Any) -> Any:
            name = getattr(args[0], "name", "") if args else ""
            with working(room, f"{words} of {name}" if name else words):
                return function(*args, **keywords)

        return cast(F, watched)

    return decorator


@final
class _Work:
    """One piece of work: what it is, since when, how much of it is done."""

    def __init__(self, what: str) -> None:
        self.what, self.begin, self.fraction, self.note = what, time.monotonic(), 0.0, ""

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def set_fraction(self, fraction: float, note: str = "") -> None:
        self.fraction, self.note = fraction, note

    def line(self) -> str:
        done = f" {100 * self.fraction:.0f} %," if self.fraction else ""
        return f"{self.what}:{done} {self.seconds:.0f} s" + (f", {self.note}" if self.note else "")


@final
class _Shown:
    """The line that shows the outermost work under way; a thread of its own writes it."""

    def __init__(self) -> None:
        self.is_on = os.environ.get(SWITCH, "1").lower() not in ("0", "no", "off", "false")
        self._under_way: list[_Work] = []
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._output: _Terminal | _Cell | None = None

    def begin(self, work: _Work) -> None:
        """Work begins: the thread is started, or woken, where somebody can see the line."""
        self._under_way.append(work)
        if len(self._under_way) > 1 or not self.is_on or _output() is None:
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
            self._thread.start()
        self._woken.set()

    def end(self, work: _Work) -> None:
        """Work ends, and the line with the last of it."""
        if work in self._under_way:
            self._under_way.remove(work)
        if not self._under_way:
            self._woken.clear()
            with self._lock:
                if self._output is not None:
                    self._output.clear()
                    self._output = None

    def _watch(self) -> None:
        while True:
            self._woken.wait()
            time.sleep(PERIOD)
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        """The line of the outermost work, and of the innermost, once it lasts long enough."""
        works = list(self._under_way)
        if not works or not self.is_on or works[0].seconds < PATIENCE:
            return
        if self._output is None:
            self._output = _output()
        if self._output is not None:
            self._output.write(works[-1].line())


@final
class _Terminal:
    """A line on stderr."""

    def write(self, line: str) -> None:
        sys.stderr.write(f"{CLEARED}{line}")
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write(CLEARED)
        sys.stderr.flush()


@final
class _Cell:
    """A line in the cell of a notebook, empty at the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, line: str) -> None:
        show = sys.modules["IPython"].display
        data = {"text/plain": line, "text/html": f"<code>{escape(line)}</code>"}
        if self._handle is None:
            self._handle = show.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            # empty HTML takes no room in the cell; an empty text would take a line
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _output() -> _Terminal | _Cell | None:
    """Where a line can be seen: a terminal, a notebook, or nowhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return _Cell()
    try:
        is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream, or a closed one
        return None
    return _Terminal() if is_terminal else None


_SHOWN = _Shown()


# the cache on disk

FORMAT = "2"  # of the files
DIGEST = hashlib.sha256().digest_size
LIMIT = 500.0  # [MB]
KEPT = 0.8  # what is left of the limit after files were removed
STALE = 86400.0  # [s] after which a file half written is left over from a process that died
SUFFIXES = (".o", ".parts")
"""Of its files: object code, and convex parts of meshes."""
LOOKS = 16  # one store in so many looks at the size of the folder


def cache_folder() -> Path:
    """LIAISON_CACHE, else liaison in XDG_CACHE_HOME, else ~/.cache/liaison."""
    chosen = os.environ.get("LIAISON_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "liaison"


def own_folder() -> Path | None:
    """The cache folder, where nobody else but root can put a file there; None otherwise."""
    try:
        folder = cache_folder()
        about = folder.stat()
    except (OSError, RuntimeError):
        return None
    if not hasattr(os, "geteuid"):
        return folder
    is_own = about.st_uid in (0, os.geteuid())
    is_open = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if is_own and not is_open else None


def key_of(*parts: str) -> str:
    """Name of the file that belongs to these parts, all of them."""
    return hashlib.sha256("\0".join((FORMAT, *parts)).encode()).hexdigest()


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def fetch(key: str, suffix: str = SUFFIXES[0]) -> bytes | None:
    """The content stored under the key; None where there is none that is whole."""
    folder = own_folder()
    if folder is None:
        return None
    file = folder / f"{key}{suffix}"
    try:
        data = file.read_bytes()
    except OSError:
        return None
    content = data[DIGEST:]
    if _digest(key, content) != data[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # used now
    return content


def store(key: str, content: bytes, suffix: str = SUFFIXES[0]) -> None:
    """Keep the content under the key, if that is possible."""
    with contextlib.suppress(OSError, RuntimeError):
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = own_folder()
        if folder is None:
            return
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{key[:16]}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, content) + content)
            os.replace(name, folder / f"{key}{suffix}")
        except OSError:
            os.unlink(name)
            raise
        if int(key[:8], 16) % LOOKS == 0:
            prune()


def prune(limit: float | None = None) -> None:
    """Removes the files used longest ago until the folder is well under a size.

    Args:
        limit: size [MB]; LIAISON_CACHE_MB, or 500, if None.
    """
    files, total = [], 0
    with contextlib.suppress(OSError, RuntimeError), os.scandir(cache_folder()) as listing:
        for file in listing:
            with contextlib.suppress(OSError):
                about = file.stat()
                if file.name.endswith(SUFFIXES):
                    files.append((about.st_mtime, about.st_size, file.path))
                    total += about.st_size
                elif file.name.endswith(".part") and time.time() - about.st_mtime > STALE:
                    os.unlink(file.path)
    allowed = (_limit() if limit is None else limit) * 1e6
    if total <= allowed:
        return
    for _, size, path in sorted(files):
        if total <= KEPT * allowed:
            break
        total -= size
        with contextlib.suppress(OSError):  # another process was quicker
            os.unlink(path)


def _limit() -> float:
    """The size said in the environment [MB], if that is a number."""
    try:
        return float(os.environ.get("LIAISON_CACHE_MB", LIMIT))
    except ValueError:
        return LIMIT
