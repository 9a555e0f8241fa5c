"""Many copies of gymnasium's hopper: a batch on two threads against its vectors of environments.

    python benchmarks/bench_hopper.py

200 steps of `Hopper-v5`, four steps of 2 ms each, of 64 copies with torques of their own: by
`SyncVectorEnv` (one thread), by `AsyncVectorEnv` (a process for each copy) and by `simulate_batch`
from the same file, in Moreau's steps of 2 ms with hard contacts and stops. Needs gymnasium.
CPU seconds are those of all threads, the least of several; a batch on two idle cores takes half.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import liaison

COPIES, STEPS, SKIP, STEP = 64, 200, 4, 0.002
REPEATS = 3


def cost(call: Callable[[], Any], children: bool = False) -> tuple[float, float]:
    """CPU and wall seconds of a call, the least of several, after one that is not counted."""
    call()
    spent = []
    for _ in range(REPEATS):
        began, cpu = time.perf_counter(), processor(children)
        call()
        spent.append((processor(children) - cpu, time.perf_counter() - began))
    return min(x for x, _ in spent), min(x for _, x in spent)


def processor(children: bool) -> float:
    """CPU seconds of this process so far, and of those it has waited for."""
    own = time.process_time()
    if not children:
        return own
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own + used.ru_utime + used.ru_stime


def torques() -> Any:
    """A constant action for each copy, shape (copies, 3)."""
    return np.random.default_rng(1).uniform(-0.3, 0.3, (COPIES, 3)).astype(np.float32)


def environments(gymnasium: Any) -> Callable[[], Any]:
    """Makes one environment that does not end when the hopper falls."""
    return lambda: gymnasium.make("Hopper-v5", terminate_when_unhealthy=False)


def by_sync(gymnasium: Any) -> Callable[[], None]:
    """All copies one after the other, in one thread."""
    vector = gymnasium.vector.SyncVectorEnv([environments(gymnasium)] * COPIES)
    actions = torques()

    def run() -> None:
        vector.reset(seed=1)
        for _ in range(STEPS):
            vector.step(actions)

    return run


def by_async(gymnasium: Any) -> Callable[[], None]:
    """A process for each copy; made and ended within the call, so that its time is counted."""
    actions = torques()

    def run() -> None:
        vector = gymnasium.vector.AsyncVectorEnv([environments(gymnasium)] * COPIES)
        vector.reset(seed=1)
        for _ in range(STEPS):
            vector.step(actions)
        vector.close()

    return run


def by_batch(path: Path) -> Callable[[], None]:
    """All copies in one call, recorded after every four steps."""
    hopper = liaison.compile(liaison.read(path, contacts=True))
    state = hopper.origin.state(hopper, {}, {}, {})
    inputs = {f"actuator {k + 1} ctrl": x for k, x in enumerate(torques().T.astype(float))}
    options = {"until": STEPS * SKIP * STEP, "step": STEP, "every": SKIP * STEP, "threads": 2}

    def run() -> None:
        liaison.simulate_batch(
            hopper, [state] * COPIES, method="moreau", inputs=inputs, only_series=(), **options
        )

    return run


def main() -> None:
    """The table: CPU and wall seconds of each, and ratios to the batch."""
    try:
        import gymnasium
        from gymnasium.envs import mujoco
    except ImportError:
        print("gymnasium is not there: pip install gymnasium mujoco imageio")
        return
    path = Path(mujoco.__file__).parent / "assets" / "hopper.xml"
    rows = {
        "simulate_batch, 2 threads": cost(by_batch(path)),
        "SyncVectorEnv": cost(by_sync(gymnasium)),
        "AsyncVectorEnv": cost(by_async(gymnasium), children=True),
    }
    ours = rows["simulate_batch, 2 threads"]
    print(f"{COPIES} copies, {STEPS} steps of {SKIP} x {1e3 * STEP:g} ms")
    print("                            CPU [s]   wall [s]   CPU / batch   CPU / (batch on 2 cores)")
    for name, (cpu, wall) in rows.items():
        ratio = cpu / ours[0]
        print(f"{name:26} {cpu:8.3f} {wall:10.3f} {ratio:13.1f} {2 * ratio:22.1f}")


if __name__ == "__main__":
    main()
