"""Many runs with contacts: a batch on two threads against single runs in a Python loop.

python benchmarks/bench_batch.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import liaison

EXAMPLES = Path(__file__).parents[1] / "examples"

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


def main() -> None:
    """A toy of long runs and a puck of short ones, in both ways to march."""
    print("             a run    alone      1 thread   2 threads")
    for options in ({}, {"method": "moreau", "step": 1e-4}):
        bird = EXAMPLES / "reference" / "woodpecker.lsd"
        study(bird, "mu", np.linspace(0.2, 0.4, 200), 0.3, options)
    for options in ({}, {"method": "moreau", "step": 1e-3}):
        study(PUCK, "f", np.linspace(0.05, 0.5, 1000), 1.0, options)


if __name__ == "__main__":
    main()
