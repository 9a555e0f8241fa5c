"""The table of scenes on a GPU: worlds of a hundred balls in a box, with what their steps miss.

Run on a machine with an NVIDIA GPU and its driver:

    python benchmarks/gpu_scenes.py [--quick]

The scene is that of `bench_contact.py`. Velocities at the start are random, so that no two worlds
are alike. Parts of the way are timed: the fall until balls meet, the heap while it comes together
(steps are hardest there: contacts open and slip in ever new sets), the heap at rest, the same in
all worlds, and the heap 20 steps after random velocities of 1 mm/s. Before, two worlds are compared
with the same code on the processor after one step. With --quick the two hard parts are left out.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

from bench_contact import FRICTION, RADIUS, STEP, bodies, grid, planes  # noqa: E402

import liaison  # noqa: E402
from liaison.simulation.scene import Scene  # noqa: E402

COUNT, MANY, FASTER = 100, 16_896, 0.05
RESTING = 1200  # steps after which the heap is at rest
HEAD = (
    "part | precision | worlds | steps | worlds · steps a second | residual | penetration [m] | "
    "contacts | lost"
)


def scene() -> Scene:
    """A hundred balls above a box."""
    apart = 2.2 * RADIUS
    return Scene(bodies(grid(COUNT, 5, apart)), planes(5.5 * apart), friction=FRICTION)


def timed(name: str, worlds: liaison.Worlds, steps: int) -> None:
    """One row of the table."""
    worlds.place.driver.synchronize()
    begin = time.perf_counter()
    worlds.step(steps)
    worlds.place.driver.synchronize()
    rate = worlds.count * steps / (time.perf_counter() - begin)
    print(
        f"{name} | {worlds.precision} | {worlds.count} | {steps} | {rate:.3g} | "
        f"{worlds.residuals.max():.1e} | {worlds.penetrations.max():.1e} | "
        f"{worlds.contacts.max():.0f} | {worlds.lost}",
        flush=True,
    )
    for code in np.unique(worlds.statuses[worlds.statuses != 0]):
        i = int(np.flatnonzero(worlds.statuses == code)[0])
        print(f"  {int(np.sum(worlds.statuses == code))} × {worlds.why(i)}")


def thrown(count: int) -> np.ndarray:
    """Random velocities."""
    return np.random.default_rng(1).uniform(-FASTER, FASTER, (6 * COUNT, count))


def checked(precision: str) -> None:
    """Prints how far two worlds are from those of the processor after a step."""
    here, there = (
        liaison.worlds(scene(), 2, step=STEP, device=x, precision=precision)
        for x in ("processor", "gpu")
    )
    for worlds in (here, there):
        worlds.reset(v=thrown(2))
        worlds.step(1)
    missed = np.max(np.abs(there.q.numpy() - here.q))
    print(f"after a step, {precision}: {missed:.1e}; registers, bytes {there.resources}")


def table(precision: str, rest: np.ndarray, *, quick: bool) -> None:
    """All rows of a precision."""
    checked(precision)
    worlds = liaison.worlds(scene(), MANY, step=STEP, precision=precision)
    worlds.reset(v=thrown(MANY))
    timed("fall", worlds, 100)
    worlds.reset(q=rest, v=np.zeros(6 * COUNT))
    worlds.step(20)
    timed("at rest", worlds, 200)
    if not quick:
        worlds.reset(q=rest, v=thrown(MANY) * 1e-3 / FASTER)
        worlds.step(20)
        timed("kicked", worlds, 200)
        few = liaison.worlds(scene(), MANY // 8, step=STEP, precision=precision)
        few.reset(v=thrown(MANY // 8))
        timed("coming together, first", few, 250)
        timed("coming together, then", few, 50)


def main() -> None:
    print(HEAD)
    one = liaison.worlds(scene(), 1, step=STEP, device="processor")
    one.step(RESTING)
    for precision in ("double", "single"):
        table(precision, one.q[:, 0], quick="--quick" in sys.argv)


if __name__ == "__main__":
    main()
