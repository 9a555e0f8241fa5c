"""Elementary functions: ten million arguments of every size each, none off by a unit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from attack.table import Row
from samples.elementary import HAS_LONG, NAMES, arguments, compiled, errors, screened

ARGUMENTS = 10_000_000
LIMIT = 1.0  # units in the last place
CHUNK = 200_000
JUDGED = 5  # the worst of each chunk, by arbitrary precision
SLOWER = 200  # where there are no long floats, every argument is judged so: as many times fewer


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """A row for each function."""
    for name in NAMES:
        row = Row(f"function {name}", f"{ARGUMENTS:,} arguments within {LIMIT} ulp")
        worst, of, seed = 0.0, "", 0
        function = compiled(name)
        count = max(1000, int(ARGUMENTS * scale) // (1 if HAS_LONG else SLOWER))
        while row.tries < count:
            for kind, arrays in arguments(name, min(CHUNK, count // 3), seed).items():
                got = function(*arrays)
                off, arrays = judged(name, arrays, got)
                row.tries += len(got)
                if off.max() > worst:
                    worst, of = float(off.max()), f"{kind}, {[x[off.argmax()] for x in arrays]}"
            seed += 1
        row.ends[f"worst {worst:.3f} ulp ({of})"] = row.tries
        if not worst <= LIMIT:
            row.fault(f"{name}: {worst:.3f} ulp at {of}")
        yield row


def judged(
    name: str, arrays: tuple[np.ndarray, ...], got: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Errors of those that are worst, and their arguments."""
    if HAS_LONG:
        off = screened(name, arrays, got)
        chosen = np.argsort(off)[-JUDGED:]
        arrays, got = tuple(x[chosen] for x in arrays), got[chosen]
    return errors(name, arrays, got), arrays
