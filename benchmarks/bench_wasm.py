"""Runs in WebAssembly (node) against machine code: time, size, bits, for every example.

Of each example that runs in a module: bytes compressed, milliseconds of processor time of a run in
node and here (the fastest of several), their ratio, the largest difference of the last positions
from machine code with contraction, and whether every recorded bit is that of portable code.

python benchmarks/bench_wasm.py [--until SECONDS] [--bits] [NAME ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from liaison.errors import LiaisonError
from liaison.program.llvm.to_llvm import to_llvm
from liaison.simulation.live import package
from liaison.simulation.live.module import live_module
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import simulate
from liaison.verbs.ready import ready_for

EXAMPLES = Path(__file__).parents[1] / "examples"
ENDED = ("done", "failed", "stopped", "suspect")
SUFFIXES = (".lsd", ".urdf", ".xml")
RUN = """
const fs = require("fs");
const { Run } = require(process.argv[2]);
const run = new Run(new WebAssembly.Module(fs.readFileSync(process.argv[3])));
const hash = require("crypto").createHash("sha256");
const began = process.cpuUsage().user;
let status = run.advance({ milliseconds: 30000 });
const first = (process.cpuUsage().user - began) / 1e3;
const rows = run.take();
for (const x of [rows.t, rows.q, rows.v]) hash.update(new Uint8Array(x.buffer));
function spent(times) {
  const before = process.cpuUsage().user;
  for (let k = 0; k < times; k++) {
    run.start();
    run.advance({ milliseconds: 30000 });
  }
  return (process.cpuUsage().user - before) / 1e3 / times;
}
const times = first > 200 ? 0 : Math.ceil(20 / (spent(10) + 1e-2));
const best = Math.min(first, ...Array.from({ length: times && 8 }, () => spent(times)));
const q = Array.from(run.state().q);
console.log(JSON.stringify({ status: status.status, best, q, bits: hash.digest("hex") }));
"""


def spent(call: Any) -> float:
    """Milliseconds of processor time of a call, the least of several stretches of 20 ms."""

    def stretch(times: int) -> float:
        began = time.process_time()
        for _ in range(times):
            call()
        return (time.process_time() - began) / times

    first = stretch(1)
    times = int(np.ceil(0.02 / (first + 1e-5)))
    return 1e3 * min(first, *(stretch(times) for _ in range(5 if first < 0.2 else 1)))


def bits_of(run: Any) -> str:
    """SHA-256 of what a run recorded."""
    import hashlib

    parts = [np.ascontiguousarray(x).tobytes() for x in (run.t, run.q, run.v)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def measured(path: Path, until: float, folder: Path, with_bits: bool) -> dict[str, Any]:
    """The row of one example."""
    kernel, state = ready_for(path, None, None, None)
    module = live_module(kernel, state, until, settings_of(watch=False))
    (folder / "run.wasm").write_bytes(module)
    (folder / "run.js").write_text(RUN)
    script = Path(package.__file__).parent / package.SCRIPT
    words = ["node", str(folder / "run.js"), str(script), str(folder / "run.wasm")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    options: dict[str, Any] = {"series": (), "watch": False, "on_failure": "return"}
    if answer["status"] not in ENDED:
        raise LiaisonError(f"not ended in 30 s: {answer['status']}")
    run = simulate(kernel, state, until, **options)
    here = spent(lambda: simulate(kernel, state, until, **options))
    off = np.max(np.abs(np.array(answer["q"]) - run.q[-1]) / (1 + np.abs(run.q[-1])), initial=0.0)
    row = {"size": len(gzip.compress(module, 9)), "there": answer["best"], "here": here}
    row |= {"off": float(off), "status": answer["status"], "own": run.status}
    if with_bits:
        portable = to_llvm(kernel.program, portable=True)
        row["bits"] = bits_of(simulate(portable, state, until, **options)) == answer["bits"]
    return row


def listed(names: list[str]) -> list[Path]:
    """Examples, those whose names contain one of these."""
    paths = sorted(
        x
        for x in EXAMPLES.rglob("*")
        if x.suffix in SUFFIXES and not {"cases", "many"} & {*x.parts}
    )
    return [x for x in paths if not names or any(name in str(x) for name in names)]


def main() -> None:
    """A line for every example, and what they come to."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--until", type=float, default=1.0)
    reader.add_argument("--bits", action="store_true")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    if shutil.which("node") is None:
        print("node is missing: nothing is run")
        return
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    print(f"{'':40} {'kB':>7} {'node ms':>9} {'here ms':>9} {'ratio':>6} {'off':>8}  bits")
    with tempfile.TemporaryDirectory() as folder:
        for path in listed(asked.names):
            name = str(path.relative_to(EXAMPLES))
            try:
                row = measured(path, asked.until, Path(folder), asked.bits)
            except (LiaisonError, subprocess.CalledProcessError) as error:
                print(f"{name:40} {type(error).__name__}: {str(error).splitlines()[0][:90]}")
                continue
            rows.append(row)
            ratio = row["there"] / row["here"]
            line = f"{name:40} {row['size'] / 1e3:7.1f} {row['there']:9.3f} {row['here']:9.3f}"
            end = "" if row["status"] == row["own"] else f"  {row['status']} / {row['own']}"
            print(f"{line} {ratio:6.2f} {row['off']:8.1e}  {row.get('bits', '')}{end}", flush=True)
    if rows:
        ratios = [x["there"] / x["here"] for x in rows]
        same = sum(bool(x.get("bits")) for x in rows)
        near = sum(x["off"] <= 1e-9 for x in rows)
        sizes = [x["size"] / 1e3 for x in rows]
        print(f"{len(rows)} run; size median {median(sizes):.1f} kB, largest {max(sizes):.1f} kB")
        print(f"ratio median {median(ratios):.2f}, worst {max(ratios):.2f}")
        words = f"; {same} with the bits of portable code" if asked.bits else ""
        print(f"{near} within 1e-9 of machine code{words}")


if __name__ == "__main__":
    main()
