"""The table of derivatives of a step on a GPU: how many a second, and how far from the processor's.

Run on a machine with an NVIDIA GPU and its driver:

    python benchmarks/gpu_derivatives.py [MODEL …]

Models are those of `gpu_worlds.py`. Worlds begin at random, take 100 steps, and are differentiated:
256 of them are compared with the same code on the processor, then many are timed, beside central
differences of the step, which take two steps for each column.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from gpu_worlds import ROOT, STEP, model

import liaison

CHECKED, FIRST, TIMES = 256, 100, 5
COUNTS = {"leg": 65_536, "quadruped": 8192}
HEAD = (
    "model | precision | worlds | columns | derivatives a second | by differences | registers | "
    "local bytes | off from the processor | at an edge | lost | ready [s]"
)


def off(description: object, precision: str, device: str) -> tuple[float, float]:
    """The largest difference of A from that of the processor, beside its largest entry; and time.

    States on the device are those of the processor, so that both differentiate the same step.
    """
    here = liaison.worlds(description, CHECKED, step=STEP, device="processor", precision=precision)
    here.reset(spread=0.02, seed=5)
    here.step(FIRST)
    there = liaison.worlds(description, CHECKED, step=STEP, device=device, precision=precision)
    there.reset(q=here.q, v=here.v)
    here.reset(q=here.q.copy(), v=here.v.copy())
    begin = time.perf_counter()
    A = np.array(there.place.numpy(there.derivatives().A))
    ready = time.perf_counter() - begin
    own = np.array(here.derivatives().A)
    both = np.isfinite(A) & np.isfinite(own)
    return float(np.max(np.abs(A - own)[both]) / np.max(np.abs(own[both]))), ready


def synchronize(worlds: liaison.Worlds) -> None:
    """Waits for what was launched."""
    worlds.place.numpy(worlds.t)


def row(name: str, precision: str, device: str = "gpu") -> None:
    """One row of the table."""
    description = model(name)
    missed, ready = off(description, precision, device)
    count = COUNTS.get(name, 65_536)
    worlds = liaison.worlds(description, count, step=STEP, device=device, precision=precision)
    worlds.reset(spread=0.02, seed=5)
    worlds.step(FIRST)
    slopes = worlds.derivatives()
    columns = slopes.A.shape[1] + slopes.B.shape[1]
    begin = time.perf_counter()
    for _ in range(TIMES):
        slopes = worlds.derivatives()
    synchronize(worlds)
    rate = TIMES * count / (time.perf_counter() - begin)
    kernels = worlds._slopes
    begin = time.perf_counter()
    worlds.step(FIRST)
    synchronize(worlds)
    differences = FIRST * count / (time.perf_counter() - begin) / (2 * columns)
    print(
        f"{Path(name).stem} | {precision} | {count} | {columns} | {rate:.3g} | {differences:.3g} | "
        f"{kernels.registers} | {kernels.local_bytes} | {missed:.1e} | "
        f"{int(np.sum(slopes.at_edge))} | {slopes.lost} | {ready:.1f}",
        flush=True,
    )


def main() -> None:
    names = [x for x in sys.argv[1:] if not x.startswith("--")]
    print(HEAD)
    for name in names or ["leg", "quadruped", str(ROOT / "examples/contact/hopping_leg.lsd")]:
        for precision in ("double", "single"):
            row(name, precision)


if __name__ == "__main__":
    main()
