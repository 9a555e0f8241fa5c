"""Processes killed while they write: the file is whole, and what is left over is swept later."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import liaison
from attack.table import Row
from liaison.simulation.record.files import write_file

TRIES = 200
CODE = """
import sys
import numpy as np
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import Label
def run(n):
    x = np.zeros((n, 1))
    return Trajectory("run", np.arange(float(n)), x, x, {"q": (Label("A"),), "v": (Label("w"),)})
runs = run(20000), run(30000)
runs[0].save(sys.argv[1])
print("ready", flush=True)
while True:
    for one in runs:
        one.save(sys.argv[1])
"""


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row: one writer after the other, each killed several times by starting anew."""
    path, rng = folder / "a.nc", random.Random(5)
    row = Row("kills while writing", f"{TRIES}, the file whole or absent")
    for k in range(max(2, int(TRIES * scale))):
        with subprocess.Popen(
            [sys.executable, "-c", CODE, str(path)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(rng.random() * 0.05)
            writer.kill()
        if path.exists():
            row.attempt(lambda: liaison.load(path), f"kill {k}")
            if row.ends["refused"]:
                row.fault(f"kill {k}: half a file")
                row.ends["refused"] = 0
        else:
            row.tries += 1
            row.ends["absent"] += 1
    for left in folder.glob(".*.tmp"):
        os.utime(left, (0, 0))
    write_file(folder / "b.txt", "text")
    for left in folder.glob(".*.tmp"):
        row.fault(f"{left.name} was not swept")
    yield row
