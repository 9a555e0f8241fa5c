"""Random changes of texts and files for every reader: LSD, URDF, MJCF, results, checkpoints."""

from __future__ import annotations

import random
import re
import resource
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from readers import change, seeds

import liaison
from attack.damaged_results import damaged
from attack.table import Row
from liaison.formats import read_lsd, reading_of_urdf
from liaison.formats.mjcf.read import reading_of_mjcf
from liaison.simulation.record.files import (
    SEAL_SIZE,
    Variable,
    read_netcdf,
    sealed,
    write_netcdf,
)

TRIES = 1_000_000
"""Asked for of each reader; `make attack` takes 1 of 500 of them, by scale."""

USUAL = 2000
MEMORY = 200
"""Megabytes that a reader may take."""

WORD = re.compile(r"\w+|\s+|.", re.S)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXTS: dict[str, Callable[[bytes], Any]] = {
    "lsd": lambda data: read_lsd(data.decode("utf-8", errors="replace")),
    "urdf": reading_of_urdf,
    "mjcf": reading_of_mjcf,
}


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """A row for each reader."""
    for kind, read in TEXTS.items():
        yield changed_texts(kind, read, max(1, int(USUAL * scale)))
    yield damaged_files(folder, max(1, int(USUAL * scale)))
    yield damaged_checkpoints(max(1, int(USUAL * scale)))


def _row(name: str) -> Row:
    return Row(f"reader of {name}", f"{TRIES:,} executions, none undeclared, each within 1 s")


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _ended(row: Row, before: int) -> Row:
    """Notes memory beyond the limit."""
    if _memory() - before > MEMORY:
        row.fault(f"{_memory() - before} MB more than before")
    return row


def changed_texts(kind: str, read: Callable[[bytes], Any], tries: int, seed: int = 7) -> Row:
    """Texts of a kind with one to four changes of words each."""
    rng, before = random.Random(seed), _memory()
    pool = [WORD.findall(text) for text in seeds(kind) if 0 < len(text) < 12_000]
    words = [word for text in pool for word in text]
    row = _row(kind)
    for k in range(tries):
        parts = list(rng.choice(pool))
        for _ in range(rng.choice((1, 1, 2, 4))):
            change(parts, words, rng)
        data = "".join(parts).encode()[:12_000]
        row.attempt(lambda data=data: read(data), f"try {k}")
    return _ended(row, before)


def damaged_files(folder: Path, tries: int, seed: int = 8) -> Row:
    """A file of results with one accident each.

    One in 50 had it before its digest was made; one in 500 is whole and holds other content.
    """
    rng, before, path = random.Random(seed), _memory(), folder / "a.nc"
    liaison.simulate(EXAMPLES / "pendulum.lsd", until=0.1).save(path)
    whole, content, row = path.read_bytes(), read_netcdf(path), _row("results")
    for k in range(tries):
        if k % 500 == 0:
            write_netcdf(path, *_other_content(*content, rng))
        elif k % 50 == 1:
            path.write_bytes(sealed(damaged(whole[:-SEAL_SIZE], rng)))
        else:
            data = damaged(whole, rng)
            path.write_bytes(data if data != whole else b"")
        row.attempt(lambda: liaison.load(path), f"try {k}")
    return _ended(row, before)


def _other_content(
    variables: dict[str, Variable], header: str, rng: random.Random
) -> tuple[dict[str, Variable], str]:
    """Variables and header with a change in one of them."""
    variables, name = dict(variables), rng.choice(list(variables))
    old = variables[name]
    match rng.randrange(4):
        case 0:
            del variables[name]
        case 1:
            values = np.zeros(old.values.shape, rng.choice([np.int8, np.float32, np.complex128]))
            variables[name] = replace(old, values=values)
        case 2:
            variables[name] = replace(old, values=np.full(old.values.shape, rng.choice("aλ")))
        case 3:
            words = WORD.findall(header)
            change(words, list(words), rng)
            header = "".join(words)
    return variables, header


def damaged_checkpoints(tries: int, seed: int = 9) -> Row:
    """A checkpoint with one accident each: refused, or the run that was kept."""
    rng, before = random.Random(seed), _memory()
    mechanism = liaison.read(EXAMPLES / "pendulum.lsd")
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    run, again = (liaison.Run(kernel, state, 1.0, liaison.Settings(step=0.01)) for _ in range(2))
    run.go(20)
    whole, row = run.checkpoint(), _row("checkpoints")
    for k in range(tries):
        data = damaged(whole, rng)

        def restored(data: bytes = data) -> None:
            again.restore(data)
            if again.checkpoint() != whole:
                raise AssertionError("another run was taken up")

        row.attempt(restored, f"try {k}")
    return _ended(row, before)
