"""Rows of the table of attacks, how a try is judged, and how the table is printed."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from liaison.errors import LiaisonError

SLOW = 1.0
"""Seconds of processor time that a try may take."""


@dataclass
class Row:
    """What came of one attack.

    Attributes:
        what: is attacked.
        asked: how many tries, and what of them.
        tries: that were made.
        ends: how they ended, counted.
        faults: tries that ended as none may, each in a line.
        slowest: processor time of a try [s].
    """

    what: str
    asked: str
    tries: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def attempt(self, act: Callable[[], object], said: str, *, may_pass: bool = True) -> None:
        """Makes one try: a LiaisonError or an OSError refuses it, or it is taken."""
        self.tries += 1
        begin = time.process_time()
        try:
            act()
        except (LiaisonError, OSError):
            self.ends["refused"] += 1
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            self.fault(f"{said}: {type(error).__name__}: {error} ({where})")
        else:
            self.ends["taken"] += 1
            if not may_pass:
                self.fault(f"{said}: taken without a word")
        taken = time.process_time() - begin
        self.slowest = max(self.slowest, taken)
        if taken > SLOW:
            self.fault(f"{said}: {taken:.2f} s")

    def fault(self, said: str) -> None:
        """Notes what may not be."""
        self.ends["undeclared"] += 1
        self.faults.append(said.replace("\n", " ")[:200])


def printed(rows: Iterable[Row], seconds: dict[str, float]) -> str:
    """The table, and a line for every kind of fault."""
    lines = [f"{'attack':34}{'tries':>9}  {'faults':>6}  {'slowest':>8}  {'time':>6}  ends"]
    faults: list[str] = []
    for row in rows:
        ends = ", ".join(f"{n} {end}" for end, n in sorted(row.ends.items()))
        took = f"{seconds.get(row.what, 0.0):.0f} s"
        lines.append(
            f"{row.what:34}{row.tries:>9}  {len(row.faults):>6}  {row.slowest:>6.2f} s  "
            f"{took:>6}  {ends}  [{row.asked}]"
        )
        faults += [f"  {row.what}: {x}" for x in row.faults[:10]]
    return "\n".join([*lines, *faults])
