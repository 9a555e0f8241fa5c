"""Bounds on time and memory: long computations ask now and then whether they may go on.

The bounds hold for everything that runs inside `bounded`, at any depth; what gives up because of
them says so in its answer and never guesses. Nothing is asked of the system between two questions,
so that results do not depend on the bounds unless one is reached.

Public names: Exhausted, bounded, go_on, seconds_left, bytes_allowed, TIME_LIMIT, MEMORY_LIMIT.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from liaison.errors import LiaisonError, ModelError
from liaison.units import si_value

TIME_LIMIT = 300.0
"""Default limit of wall-clock time of one computation [s]."""

MEMORY_LIMIT = 4e9
"""Bytes that this process, or an engine called by it, may use by default."""


class Exhausted(LiaisonError):
    """The time or memory limit was reached before the computation ended."""


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)
_BYTES: ContextVar[float] = ContextVar("bytes", default=math.inf)
_LAST_QUERY = [-math.inf]  # when the system was last asked for the memory in use


@contextmanager
def bounded(
    time_limit: float | str | None = None, memory_limit: float | None = None
) -> Iterator[None]:
    """Bounds what runs inside; the tighter bound holds where this is nested.

    Args:
        time_limit: wall clock [s], or a text such as "2 min"; None for no further bound.
        memory_limit: bytes; None for no further bound.
    """
    seconds = si_value(time_limit, "s", "time_limit")
    for name, value in (("time_limit", seconds), ("memory_limit", memory_limit)):
        if value is not None and not value > 0:
            raise ModelError(f"{name} is {value}; a bound is a positive number.")
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    memory = math.inf if memory_limit is None else memory_limit
    _LAST_QUERY[0] = -math.inf
    tokens = _DEADLINE.set(min(deadline, _DEADLINE.get())), _BYTES.set(min(memory, _BYTES.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(tokens[0])
        _BYTES.reset(tokens[1])


def seconds_left() -> float:
    """Until the deadline; infinite where there is none."""
    return _DEADLINE.get() - time.monotonic()


def bytes_allowed() -> float:
    """Of memory; infinite where there is no bound."""
    return _BYTES.get()


def go_on() -> None:
    """Returns while there is time and memory.

    Raises:
        Exhausted: a bound is reached.
    """
    if seconds_left() <= 0:
        raise Exhausted("the time limit was reached.", hint="Give more: time_limit=…")
    if _BYTES.get() < math.inf and _much(_BYTES.get()):
        raise Exhausted("the memory limit was reached.", hint="Give more: memory_limit=…")


def _much(allowed: float) -> bool:
    """Whether the memory limit is exceeded; measured ten times a second at most."""
    now = time.monotonic()
    if now - _LAST_QUERY[0] < 0.1:
        return False
    _LAST_QUERY[0] = now
    return _resident() > allowed


def _resident() -> float:
    """Resident memory of this process [bytes]; its peak where the system reports no more."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages * resource.getpagesize())
    except (ImportError, OSError, ValueError):
        return _most_resident()


def _most_resident() -> float:
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else 1024 * most)
