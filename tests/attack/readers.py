"""Random changes of texts and files for every reader: LSD, URDF, MJCF, results, checkpoints."""

from __future__ import annotations

import random
import re
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from readers import change, seeds

import liaison
from attack.damaged_results import damaged
from attack.table import Row
from liaison.formats import read_lsd, reading_of_urdf
from liaison.formats.mjcf.read import reading_of_mjcf

TRIES = 1_000_000
"""Asked for of each reader; `make attack` takes 1 of 500 of them, by scale."""

USUAL = 2000
MEMORY = 200
"""Megabytes that a reader may take."""

WORD = re.compile(r"\w+|\s+|.", re.S)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """A row for each reader."""
    texts: dict[str, Callable[[bytes], Any]] = {
        "lsd": lambda data: read_lsd(data.decode("utf-8", errors="replace")),
        "urdf": reading_of_urdf,
        "mjcf": reading_of_mjcf,
    }
    for kind, read in texts.items():
        yield _texts(kind, read, max(1, int(USUAL * scale)))
    yield _results(folder, max(1, int(USUAL * scale)))
    yield _checkpoints(max(1, int(USUAL * scale)))


def _row(name: str, before: int) -> Row:
    return Row(f"reader of {name}", f"{TRIES:,} executions, none undeclared, each within 1 s")


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _ended(row: Row, before: int) -> Row:
    """Notes memory beyond the limit."""
    if _memory() - before > MEMORY:
        row.fault(f"{_memory() - before} MB more than before")
    return row


def _texts(kind: str, read: Callable[[bytes], Any], tries: int) -> Row:
    rng, before = random.Random(7), _memory()
    pool = [text for text in seeds(kind) if len(text) < 12_000]
    words = [word for text in pool for word in WORD.findall(text)]
    row = _row(kind, before)
    for k in range(tries):
        parts = WORD.findall(rng.choice(pool)) or [" "]
        for _ in range(rng.choice((1, 1, 2, 4))):
            change(parts, words, rng)
        data = "".join(parts).encode()[:12_000]
        row.attempt(lambda data=data: read(data), f"try {k}")
    return _ended(row, before)


def _results(folder: Path, tries: int) -> Row:
    rng, before, path = random.Random(8), _memory(), folder / "a.nc"
    liaison.simulate(EXAMPLES / "pendulum.lsd", until=1.0).save(path)
    whole, row = path.read_bytes(), _row("results", before)
    for k in range(tries):
        path.write_bytes(damaged(whole, rng))
        row.attempt(lambda: liaison.load(path), f"try {k}")
    return _ended(row, before)


def _checkpoints(tries: int) -> Row:
    rng, before = random.Random(9), _memory()
    mechanism = liaison.read(EXAMPLES / "pendulum.lsd")
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    run = liaison.Run(kernel, state, 1.0, liaison.Settings(step=0.01))
    run.go(20)
    whole, row = run.checkpoint(), _row("checkpoints", before)
    for k in range(tries):
        data = damaged(whole, rng)

        def restored(data: bytes = data) -> None:
            again = liaison.Run(kernel, state, 1.0, liaison.Settings(step=0.01))
            again.restore(data)
            if again.checkpoint() != whole:
                raise AssertionError("another run was taken up")

        row.attempt(restored, f"try {k}")
    return _ended(row, before)
