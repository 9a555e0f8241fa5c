"""Progress of a run on the terminal.

Public names: Bar.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any


class Bar:
    """Progress on stderr of a run that takes over a second: a bar, or lines if no terminal."""

    PATIENCE = 1.0  # [s]

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Any = None
        self._told = 0

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float) -> None:
        """Told how much of the run is done, 0 to 1."""
        if time.monotonic() - self._begin < self.PATIENCE:
            return
        if not sys.stderr.isatty():
            self._tell(int(10 * fraction))
            return
        if self._bar is None:
            self._bar = _bar()
        self._bar.update(self._bar.task_ids[0], completed=fraction)

    def _tell(self, tenths: int) -> None:
        """A line for every tenth of the run."""
        if tenths > self._told:
            self._told = tenths
            print(f"simulating: {10 * tenths} %", file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    """A bar that leaves no trace when it stops."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task("simulating", total=1.0)
    bar.start()
    return bar
