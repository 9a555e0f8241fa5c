"""Many runs: with contacts on two threads against a Python loop, smooth ones on vector lanes.

python benchmarks/bench_batch.py [lanes]

With "lanes" only the second part: RK4 of arms and of closed loops on one thread, a run in each lane
of a vector against one run after the other, in CPU time, the best of several; both must agree in
every bit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import liaison
from liaison.program.llvm.machine import vector_lanes

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

ASKED = {8: 3.0, 4: 2.0}
"""By how much runs on lanes of a processor with AVX-512 and with AVX2 must be faster."""

PUCK = """
name = "puck" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter f = 0.3 ;
let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and puck with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let floor = contact gap = X.z, slip = X.x', friction = f, restitution = 0.5 end ;
start X.z = 10 cm ; start X.x' = 1 m/s ;
"""


def best(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of three calls, after one that is not counted."""
    call()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def study(source: Any, name: str, values: Any, until: float, options: dict[str, Any]) -> None:
    """One line: milliseconds a run, one by one and in batches, and their ratio."""
    mechanism = liaison.read(source)
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    told = {"until": until, "every": [0.0, until], "series": ("energy",), **options}

    def loop() -> None:
        for x in values:
            liaison.simulate(kernel, state, parameters={name: x}, **told)

    def batch(threads: int) -> Any:
        return liaison.simulate_batch(
            kernel, state, parameters={name: values}, threads=threads, **told
        )

    alone, one, two = best(loop), best(lambda: batch(1)), best(lambda: batch(2))
    cost = [f"{1e3 * x / len(values):7.3f} ms" for x in (alone, one, two)]
    way = options.get("method", "events")
    print(f"{mechanism.name:12} {way:7} {' '.join(cost)}   x {alone / two:.1f}")


def lane_cases() -> dict[str, Any]:
    """Arms and closed loops without events, by what they are."""
    from n_four_bar import n_four_bar

    text = (EXAMPLES / "four_bar.lsd").read_text(encoding="utf-8")
    four_bar = "\n".join(x for x in text.splitlines() if not x.startswith("event "))
    cases = {"arm of 7 axes": liaison.read(EXAMPLES / "arm7.urdf")}
    panda = Path(sys.prefix, "lib").glob(
        "python*/site-packages/cmeel.prefix/share/example-robot-data/robots/"
        "panda_description/urdf/panda.urdf"
    )
    for path in panda:
        cases["Panda"] = liaison.read(path)
    return cases | {"four-bar": liaison.read(four_bar), "four four-bars": n_four_bar(4)}


def lanes_row(name: str, mechanism: Any, steps: int = 5000, count: int = 32) -> None:
    """One line: nanoseconds a step of RK4, alone and on lanes, and their ratio."""
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    rng, n = np.random.default_rng(1), state.v.size
    closed = kernel.program.sizes["nc"] > 0
    starts = [
        replace(state, v=state.v * rng.uniform(0.8, 1.2) if closed else rng.normal(size=n))
        for _ in range(count)
    ]
    best_of = {False: np.inf, True: np.inf}
    ends: dict[bool, Any] = {}
    for _ in range(9):
        for lanes in best_of:
            began = time.process_time()
            ends[lanes] = liaison.simulate_batch(
                kernel, starts, until=steps * 1e-3, step=1e-3, threads=1, lanes=lanes,
                only_series=(),
            )  # fmt: skip
            best_of[lanes] = min(best_of[lanes], time.process_time() - began)
    assert ends[True].end_q.tobytes() == ends[False].end_q.tobytes()
    alone, wide = (1e9 * best_of[x] / (steps * count) for x in (False, True))
    asked = ASKED.get(vector_lanes(), 1.0)
    print(f"{name:16} {alone:8.0f} ns {wide:8.0f} ns   x {alone / wide:.2f}  (asked: {asked:g})")


def lanes_rows() -> None:
    """Runs on vector lanes."""
    print(f"a step of RK4       alone     {vector_lanes()} lanes, one thread")
    for name, mechanism in lane_cases().items():
        lanes_row(name, mechanism)


def main() -> None:
    """A toy of long runs and a puck of short ones, in both ways to march; then lanes."""
    if sys.argv[1:] == ["lanes"]:
        return lanes_rows()
    print("             a run    alone      1 thread   2 threads")
    for options in ({}, {"method": "moreau", "step": 1e-4}):
        bird = EXAMPLES / "reference" / "woodpecker.lsd"
        study(bird, "mu", np.linspace(0.2, 0.4, 200), 0.3, options)
    for options in ({}, {"method": "moreau", "step": 1e-3}):
        study(PUCK, "f", np.linspace(0.05, 0.5, 1000), 1.0, options)
    return lanes_rows()


if __name__ == "__main__":
    main()
