"""Memory after many runs of one text: what is made for a run goes with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from attack.table import Row

FEW, MANY, ALLOWED = 100, 10_000, 2.0
CODE = """
import sys
import liaison
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
file, few, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for k in range(many):
    if k == few:
        first = memory()
    liaison.simulate(file, until=0.01)
print(memory() - first)
"""


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row; a tenth of a scale is enough to see a leak, and takes ten seconds."""
    many = max(2 * FEW, int(MANY * scale))
    row = Row("memory of runs", f"after {MANY} runs at most {ALLOWED} MB over that after {FEW}")
    if not sys.platform.startswith("linux"):
        yield row
        return
    model = Path(__file__).resolve().parents[2] / "examples" / "pendulum.lsd"
    command = [sys.executable, "-c", CODE, str(model), str(FEW), str(many)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    row.tries = many
    grown = float(done.stdout) if done.returncode == 0 else float("inf")
    row.ends[f"{grown:.2f} MB"] = 1
    if not grown <= ALLOWED:
        row.fault(f"{grown:.2f} MB more after {many} runs {done.stderr[-100:]}")
    yield row
