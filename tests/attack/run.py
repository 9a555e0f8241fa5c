"""Runs the attacks and prints one table; the exit status is 1 where something was undeclared.

    python tests/attack/run.py --scale 1          all of them, as many tries as are asked for
    python tests/attack/run.py --only kills       one of them

An attack is a file of this folder with a function `attack(folder, scale)` that returns rows: what
it writes lies in the folder, which is removed; `scale` is the part of the tries that are asked for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fuzz")]

from attack.table import Row, printed  # noqa: E402

REST = ("__init__", "run", "table")


def attacks() -> list[str]:
    """Their names: files of this folder."""
    names = sorted(x.stem for x in HERE.glob("*.py"))
    return [x for x in names if x not in REST and not x.startswith("test_")]


def made(name: str, scale: float) -> Iterator[Row]:
    """The rows of one attack, in a folder of its own; nothing outside of it is written."""
    module = importlib.import_module(f"attack.{name}")
    with tempfile.TemporaryDirectory(prefix="liaison-attack-") as folder:
        yield from module.attack(Path(folder), scale)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="")
    known = parser.parse_args()
    os.environ.setdefault("PYTHONUTF8", "1")
    rows: list[Row] = []
    seconds: dict[str, float] = {}
    for name in [known.only] if known.only else attacks():
        begin = time.perf_counter()
        for row in made(name, known.scale):
            now = time.perf_counter()
            seconds[row.what], begin = now - begin, now
            rows.append(row)
    print(printed(rows, seconds))
    return 1 if any(row.faults for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
