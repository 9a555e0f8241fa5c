"""Files of results with one accident each: refused by an error of liaison, or whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import liaison
from attack.table import Row

TRIES = 300
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one accident: a bit, an end, a gap, zeros, other bytes."""
    content, i, n = bytearray(data), rng.randrange(len(data)), rng.randrange(1, 200)
    match rng.randrange(6):
        case 0:
            content[i] ^= 1 << rng.randrange(8)
        case 1:
            del content[i:]
        case 2:
            content[i:i] = rng.randbytes(n)
        case 3:
            content[i : i + n] = bytes(len(content[i : i + n]))
        case 4:
            del content[i : i + n]
        case 5:
            content[i : i + n] = rng.randbytes(len(content[i : i + n]))
    return bytes(content)


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row."""
    path, rng = folder / "a.nc", random.Random(3)
    run = liaison.simulate(EXAMPLES / "four_bar.lsd", until=0.2)
    run.save(path)
    whole = path.read_bytes()
    row = Row("damaged results", f"{TRIES}, refused or whole")

    def loaded() -> None:
        if not np.array_equal(liaison.load(path).q, run.q):
            raise AssertionError("other numbers than those that were written")

    for k in range(max(1, int(TRIES * scale))):
        path.write_bytes(damaged(whole, rng))
        row.attempt(loaded, f"try {k}")
    yield row
