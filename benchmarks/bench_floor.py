"""Robots on the floor by Moreau's steps of 1 ms, on one core, beside MuJoCo.

    python benchmarks/bench_floor.py

MuJoCo's humanoid falls onto the floor and lies there (27 velocities, 19 capsules and balls that
touch the floor, 42 stops, no contacts of its parts with each other), by hard contacts solved to
rounding here and by MuJoCo's soft ones with the same step; and the quadruped of the examples
stands. CPU time of a step, the least of several runs from the start to each instant; the height of
the humanoid's torso shows that both run the same motion until it lies. The humanoid's file is that
of the wheel mujoco_warp, or the file HUMANOID names; without it and MuJoCo the rows are left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gpu_worlds

import liaison

STEP, REPEATS = 1e-3, 8
UNTIL = (0.3, 1.0, 2.0)


def least(call: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU seconds of several calls after one that is not counted, and what one gives."""
    result, spent = call(), []
    for _ in range(REPEATS):
        began = time.process_time()
        result = call()
        spent.append(time.process_time() - began)
    return min(spent), result


def ours(name: str) -> None:
    """Rows of a model here."""
    kernel = liaison.compile(gpu_worlds.model(name))
    options: dict[str, Any] = {"method": "moreau", "step": STEP, "only_series": ()}
    for until in UNTIL:
        spent, run = least(lambda until=until: liaison.simulate(kernel, until=until, **options))
        height = f"{run['root.z'][-1]:.4f} m" if name == "humanoid" else ""
        row(name, "liaison", until, spent, height)


def theirs() -> None:
    """The same of MuJoCo's humanoid in MuJoCo, without contacts of its parts with each other."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(os.environ["HUMANOID"])
    model.opt.timestep = STEP
    for geom in range(model.ngeom):
        model.geom_contype[geom] = int(model.geom_bodyid[geom] == 0)
        model.geom_conaffinity[geom] = 1 - model.geom_contype[geom]
    data = mujoco.MjData(model)

    def run(steps: int) -> float:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=steps)
        return float(data.qpos[2])

    for until in UNTIL:
        spent, height = least(lambda until=until: run(round(until / STEP)))
        row("humanoid", "MuJoCo", until, spent, f"{height:.4f} m")


def row(name: str, by: str, until: float, spent: float, height: str) -> None:
    """Prints one."""
    print(f"{name} | {by} | {until} s | {1e6 * spent * STEP / until:.1f} us a step | {height}")


def main() -> None:
    ours("quadruped")
    wheel = find_spec("mujoco_warp")
    folder = Path(wheel.origin).parent if wheel and wheel.origin else Path("mujoco_warp")
    os.environ.setdefault("HUMANOID", str(folder / "test_data/humanoid/humanoid.xml"))
    if not Path(os.environ["HUMANOID"]).is_file():
        print("humanoid: left out, its file is not there; HUMANOID names it")
        return
    ours("humanoid")
    if find_spec("mujoco") is None:
        print("humanoid in MuJoCo: left out, it is not installed")
        return
    theirs()


if __name__ == "__main__":
    main()
