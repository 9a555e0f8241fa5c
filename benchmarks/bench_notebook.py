"""From the first cell of a notebook to its moving picture: CPU seconds, and what a cell weighs.

A fresh kernel runs a cell that reads the four-bar, simulates it with its reactions and shows it.
CPU is that of the kernel's process since its start, with the start of Python, IPython and NumPy.
Warm: machine code is in the cache; cold: the cache is empty. The start of an empty kernel is
printed beside it. What the browser does with the page is not counted.

    python benchmarks/bench_notebook.py
"""

import json
import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

CELL = """
import liaison
m = liaison.read(liaison.examples()["four_bar"].path)
run = liaison.simulate(m, until="3 s", every="10 ms", series=("reactions",))
run.show()
"""
SIZES = """
import json, liaison
sizes = {}
for name in ("four_bar", "stewart", "excavator"):
    run = liaison.simulate(liaison.examples()[name].path, until="10 s", every="20 ms")
    sizes[name] = len(run.show().html())
print(json.dumps(sizes))
"""
CLOCK = "import time; print(time.process_time())"
ASKED = {"warm": 3.0, "cold": 6.0}
ROUNDS = 3


def outputs(*cells: str, cache: str | None = None) -> list[list[dict]]:
    """What cells show, run by a fresh kernel."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in cells])
    before = os.environ.get("LIAISON_CACHE")
    if cache is not None:
        os.environ["LIAISON_CACHE"] = cache
    try:
        NotebookClient(book, timeout=300, kernel_name="python3").execute()
    finally:
        if cache is not None:
            os.environ.pop("LIAISON_CACHE")
            if before is not None:
                os.environ["LIAISON_CACHE"] = before
    return [cell.outputs for cell in book.cells]


def printed(shown: list[dict]) -> str:
    """What a cell printed."""
    return "".join(x.text for x in shown if x.output_type == "stream")


def seconds(*cells: str, cache: str | None = None) -> float:
    """CPU of the kernel after these cells."""
    shown = outputs(*cells, CLOCK, cache=cache)
    if len(shown) > 1:
        pictures = [x for x in shown[0] if "<iframe" in x.get("data", {}).get("text/html", "")]
        assert len(pictures) == 1, "the first cell shows no picture"
    return float(printed(shown[-1]))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        warm = os.path.join(folder, "warm")
        seconds(CELL, cache=warm)
        rows = {
            "empty kernel": [seconds() for _ in range(ROUNDS)],
            "warm": [seconds(CELL, cache=warm) for _ in range(ROUNDS)],
            "cold": [seconds(CELL, cache=os.path.join(folder, f"cold {k}")) for k in range(ROUNDS)],
        }
        sizes = json.loads(printed(outputs(SIZES, cache=warm)[0]))
    print(f"{'first cell to moving picture':<32}{'CPU [s]':>9}{'worst':>8}{'asked':>8}")
    late = 0
    for name, values in rows.items():
        asked = ASKED.get(name)
        late += asked is not None and min(values) > asked
        least = f"{'' if asked is None else f'{asked:g}':>8}"
        print(f"{name:<32}{min(values):>9.2f}{max(values):>8.2f}{least}")
    print(f"{'a cell of 10 s in the notebook':<32}{'MB':>9}")
    for name, size in sizes.items():
        print(f"{name:<32}{size / 1e6:>9.2f}")
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
