"""What a run costs besides its steps: `python benchmarks/bench_short.py`.

Runs of 1 ms of a pendulum, one stop of a brake, and the start of a four-bar with other lengths, on
kernels used before; beside the pendulum by SciPy's `solve_ivp` with equations written by hand. CPU
time of the quickest of many runs, and of the compiled loop alone. Written to
benchmarks/out/short.json.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy.integrate import solve_ivp

import liaison
from liaison.simulation import Run, Settings

HERE = Path(__file__).parent
MODELS = HERE.parent / "examples"
FLOOR = 1.5
"""How many times quicker than SciPy's the pendulum of 1 ms is, at least."""
CLOSED = 2e-4
"""Seconds in which the loop of a four-bar is closed, at most."""


def least(run: Callable[[], Any]) -> float:
    """CPU seconds of the quickest of runs that take some 0.3 s."""
    best, over = math.inf, time.process_time() + 0.3
    while time.process_time() < over:
        begun = time.process_time()
        run()
        best = min(best, time.process_time() - begun)
    return best


def ready(model: str) -> tuple[Any, Any]:
    """A kernel, and where it starts."""
    tree = liaison.span(liaison.read(MODELS / f"{model}.lsd"))
    return liaison.to_llvm(liaison.lower(liaison.newton_euler(tree))), liaison.assemble(tree)


def in_the_loop(kernel: Any, state: Any, until: float, settings: Settings) -> float:
    """CPU seconds of the compiled loop alone."""
    best = math.inf
    for _ in range(300):
        run = Run(kernel, state, until, settings)
        begun = time.process_time()
        while not run.is_over:
            run.go()
        best = min(best, time.process_time() - begun)
        run.leave()
    return best


def pendulum() -> dict[str, float]:
    """Seconds of a run with several options."""
    kernel, state = ready("pendulum")
    name = state.labels["q"][0].name
    stepper = liaison.stepper(kernel, state)

    def run(**options: Any) -> float:
        return least(lambda: liaison.simulate(kernel, state, until=1e-3, **options))

    return {
        "in the loop": in_the_loop(kernel, state, 1e-3, Settings()),
        "states only": run(only_series=()),
        "with energy, outputs, poses": run(),
        "other parameters": run(only_series=(), parameters={"m": 2.0}),
        "every 0.1 ms": run(only_series=(), every=1e-4),
        "a stop condition": run(only_series=(), stop={name: 5.0}),
        "a stepper's reset": least(lambda: stepper.reset(state)),
    }


def brake() -> dict[str, float]:
    """Seconds of a run through one change of mode."""
    kernel, state = ready("reference/brake")
    options = {"rtol": 1e-6, "atol": 1e-8}
    run = lambda: liaison.simulate(kernel, state, until=2.0, only_series=(), **options)  # noqa: E731
    return {
        "brake, in the loop": in_the_loop(kernel, state, 2.0, Settings(**options)),
        "brake, states only": least(run),
        "brake, events read": least(lambda: run().events),
    }


def four_bar() -> dict[str, float]:
    """Seconds in which loops are closed, with lengths that differ from the last ones."""
    kernel = liaison.compile(MODELS / "four_bar.lsd")
    lengths = {"a": 0.1, "b": 0.3, "c": 0.35, "d": 0.45}
    again = [
        {x: y * (1 + (k + j) / 99) for j, (x, y) in enumerate(lengths.items())} for k in range(7)
    ]
    turn = itertools.cycle(again)
    close = kernel.origin.state
    return {"four-bar, four lengths": least(lambda: close(kernel, {"A": 1.2}, None, next(turn)))}


def scipy() -> float:
    """Seconds of the same pendulum by SciPy."""

    def rate(t: float, y: Any) -> tuple[float, float]:
        return y[1], -9.81 * math.sin(y[0])

    return least(lambda: solve_ivp(rate, (0, 1e-3), [0.5, 0.0], rtol=1e-8, atol=1e-10))


def main() -> int:
    """Prints the table; 1 if a run of 1 ms, or the start of the four-bar, takes too long."""
    found = {**pendulum(), **brake(), **four_bar(), "SciPy": scipy()}
    for name, seconds in found.items():
        print(f"{name:30} {seconds * 1e6:7.1f} µs")
    ratio = found["SciPy"] / found["states only"]
    print(f"{ratio:.1f}x SciPy's pendulum of 1 ms (at least {FLOOR}x)")
    out = HERE / "out" / "short.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    closed = found["four-bar, four lengths"]
    print(
        f"{closed * 1e3:.3f} ms to close a four-bar with other lengths (at most {CLOSED * 1e3} ms)"
    )
    return 1 if ratio < FLOOR or closed > CLOSED else 0


if __name__ == "__main__":
    sys.exit(main())
