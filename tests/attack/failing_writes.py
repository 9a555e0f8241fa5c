"""Writes that fail half-way, as on a full disk: the old file stays, and the process goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from attack.table import Row

TRIES = 200
CODE = """
import resource, signal, sys
from pathlib import Path
import liaison
from liaison.simulation.record.files import write_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder, examples, tries = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
run = liaison.simulate(examples / "pendulum.lsd", until=1.0)
kept = {"a.nc": run.save, "a.csv": run.to_csv, "a.txt": lambda path: write_file(path, b"x" * 9000)}
for name, save in kept.items():
    save(folder / name)
before = {name: (folder / name).read_bytes() for name in kept}
for k in range(tries):
    name = list(kept)[k % len(kept)]
    limit = 1 + len(before[name]) * k // tries
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        kept[name](folder / name)
        end = "taken"
    except OSError:
        end = "refused"
    same = all((folder / x).read_bytes() == before[x] for x in kept)
    left = sorted(x.name for x in folder.iterdir()) == sorted(kept)
    print(end if same and left else "lost", flush=True)
"""


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row; the limit on the size of files is one of a child process."""
    tries = max(3, int(TRIES * scale))
    row = Row("writes that fail half-way", f"{TRIES}, the old file whole, no crash")
    examples = Path(__file__).resolve().parents[2] / "examples"
    command = [sys.executable, "-c", CODE, str(folder), str(examples), str(tries)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    ends = done.stdout.split()
    row.tries = len(ends)
    row.ends.update(ends)
    if done.returncode or len(ends) != tries:
        row.fault(f"exit status {done.returncode}: {done.stderr[-150:]}")
    for k, end in enumerate(ends):
        if end == "lost":
            row.fault(f"try {k}: the old file was lost, or something was left")
    yield row
