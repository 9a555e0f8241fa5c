"""Studies killed while they run and write, and whose writes fail: none lost, none doubled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from attack.table import Row

KILLS = 200
POINTS = 20_000
CODE = """
import os, random, resource, signal, sys, time
from pathlib import Path
import numpy as np
import liaison
from liaison.errors import LiaisonError
from liaison.studies.store import Store
from liaison.verbs.studies._studying import Making

folder, kills, points, four_bar = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def made(name):
    return liaison.study(
        four_bar, vary={"a": "± 1 %", "d": "± 1 %"}, measure={"swing": "range(D)"}, until=0.02,
        every=0.005, count=points, folder=folder / name, threads=1,
    )

def child(act):
    pid = os.fork()
    if pid:
        return pid
    try:
        act()
    finally:
        os._exit(0)

def failing():
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
    try:
        made("killed")
        print("taken", flush=True)
    except LiaisonError as error:
        good = "cannot be written" in str(error)
        print("refused" if good else f"undeclared: {error}", flush=True)

rng = random.Random(5)
made_whole = child(lambda: made("whole"))
os.waitpid(made_whole, 0)
for k in range(kills):
    pids = [child(lambda: made("killed")) for _ in range(1 + k % 2)]
    time.sleep(0.05 + 0.25 * rng.random())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if k in (kills // 3, 2 * kills // 3):
        os.waitpid(child(failing), 0)
    print("killed", len(list((folder / "killed" / "rows").glob("*.rows"))), flush=True)
os.waitpid(child(lambda: made("killed")), 0)
whole, study = (liaison.open_study(folder / x) for x in ("whole", "killed"))
for x, name in ((whole, "w"), (study, "k")):
    x.export(folder / name)
print("count", len(study.store), len(np.unique(study.keys, axis=0)), flush=True)
same = (folder / "w").read_bytes() == (folder / "k").read_bytes()
print("same" if same else "other", flush=True)
"""


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row: kills and two failed writes, then the study is finished and compared."""
    kills, points = max(2, int(KILLS * scale)), max(400, int(POINTS * scale))
    row = Row("kills of a study", f"{KILLS} and 2 failed writes, 0 lost, 0 doubled, same export")
    four_bar = Path(__file__).resolve().parents[2] / "examples" / "four_bar.lsd"
    command = [sys.executable, "-c", CODE, str(folder), str(kills), str(points), str(four_bar)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    lines = done.stdout.splitlines()
    row.tries = sum(x.startswith(("killed", "refused")) for x in lines)
    row.ends.update(x.split()[0] for x in lines)
    if done.returncode:
        row.fault(f"exit status {done.returncode}: {done.stderr[-150:]}")
    if f"count {points} {points}" not in lines:
        row.fault(f"lost or doubled: {[x for x in lines if x.startswith('count')]}")
    if "same" not in lines:
        row.fault("the export differs from that of an undisturbed study")
    for line in lines:
        if line.startswith(("taken", "undeclared")):
            row.fault(f"a failed write: {line}")
    yield row
