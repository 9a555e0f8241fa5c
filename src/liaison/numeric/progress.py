"""Progress and log messages of what takes time.

    with working("simulation", "simulating four bar") as fraction:
        ...
        fraction(0.5)

Work that lasts over a second is shown on a line of its own, in a terminal or in the cell of a
notebook, and removed when it ends; in a pipe, in a file and for short work nothing is written.
`show_progress(False)`, or the variable LIAISON_PROGRESS=0, turns it off.

Each room has a logger, "liaison.simulation", "liaison.program", …, silent unless the user of the
package sets up `logging`. Messages are of level INFO: what took over a second, what was chosen
(method, back end, scene), what was repaired.

Public names: working, lasting, show_progress, is_shown, log, is_logged.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from html import escape
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


def is_shown() -> bool:
    """Whether long work is shown: it is switched on, and there is a terminal or a notebook."""
    return _SHOWN.is_on and _output() is not None


@contextmanager
def working(room: str, what: str) -> Iterator[Callable[..., None]]:
    """Around work that may take long; gives a function that takes the fraction done, 0 to 1.

    A second argument of that function is a note that stands behind it.

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
