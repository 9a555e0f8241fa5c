"""The table of worlds on a GPU: steps a second through contacts, with what they miss.

Run on a machine with an NVIDIA GPU and its driver:

    python benchmarks/gpu_worlds.py [MODEL …] [--long]

Models are `leg` (a closed loop of five bars, one foot, stops, motors), `quadruped` (18 velocities,
four feet, 48 contacts, stops and friction blocks), `humanoid` (27 velocities, 19 capsules and balls
that touch the floor, stops: that of the wheel mujoco_warp, or the file HUMANOID names), or the path
of a description. Each is compared after a step and after 100 with the same code on the processor,
then timed on many worlds from random starts. With --long the leg takes 10⁹ steps under random
targets.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import liaison  # noqa: E402
from liaison.model import Contact  # noqa: E402

ROBOTS = ROOT / "examples" / "robots"
STEP, STEPS, CHECKED = 1e-3, 100, 256
COUNTS = {"leg": 262_144, "quadruped": 65_536, "humanoid": 29_568}
HEAD = (
    "model | precision | worlds | steps a second | registers | local bytes | after a step | "
    "after 100 | cone residual | penetration [m] | lost | ready [s]"
)


def model(name: str) -> object:
    """A robot on the ground, its motors following positions; or what a path describes."""
    if name == "leg":
        files = {"urdf": "parallel_leg.urdf", "srdf": ROBOTS / "parallel_leg.srdf"}
        return liaison.read(
            ROBOTS / files["urdf"],
            ground=True,
            motors="position",
            srdf=files["srdf"],
            pose="crouch",
        )
    if name == "quadruped":
        return liaison.read(
            ROBOTS / "quadruped.urdf", ground=True, floating=True, motors="position",
            srdf=ROBOTS / "quadruped.srdf", pose="stand",
        )  # fmt: skip
    return humanoid() if name == "humanoid" else liaison.read(name)


def humanoid() -> liaison.Mechanism:
    """MuJoCo's humanoid on the floor, without contacts of its parts with each other."""
    wheel = importlib.util.find_spec("mujoco_warp")
    found = Path(wheel.origin).parent if wheel and wheel.origin else Path()
    path = Path(os.environ.get("HUMANOID", found / "test_data/humanoid/humanoid.xml"))
    if not path.is_file():
        raise SystemExit(f"{path} is not there: install mujoco_warp, or set HUMANOID to its file.")
    whole = liaison.read(path, contacts=True)
    parts = [x for x in whole.contacts if not isinstance(x, Contact) or "floor" in x.name]
    return replace(whole, contacts=tuple(parts))


def differences(description: object, gpu: liaison.Worlds, precision: str) -> list[float]:
    """How far q is from that of the processor after one step, and after 100."""
    here = liaison.worlds(
        description, gpu.count, step=STEP, device="processor", precision=precision
    )
    for worlds in (gpu, here):
        worlds.reset(spread=0.02, seed=5)
    missed = []
    for steps in (1, 99):
        for worlds in (gpu, here):
            worlds.step(steps)
        missed.append(float(np.max(np.abs(gpu.q.numpy() - here.q))))
    return missed


def row(name: str, precision: str) -> None:
    """One row of the table."""
    description = model(name)
    begin = time.perf_counter()
    small = liaison.worlds(description, CHECKED, step=STEP, precision=precision)
    small.step(1)
    small.place.driver.synchronize()
    ready = time.perf_counter() - begin
    missed = differences(description, small, precision)
    count = COUNTS.get(name, 262_144)
    worlds = liaison.worlds(description, count, step=STEP, precision=precision)
    worlds.reset(spread=0.02, seed=5)
    worlds.step(5)
    worlds.place.driver.synchronize()
    begin = time.perf_counter()
    worlds.step(STEPS)
    worlds.place.driver.synchronize()
    rate = count * STEPS / (time.perf_counter() - begin)
    registers, local = worlds.resources
    print(
        f"{Path(name).stem} | {precision} | {count} | {rate:.3g} | {registers} | {local} | "
        f"{missed[0]:.1e} | {missed[1]:.1e} | {worlds.residuals.max():.1e} | "
        f"{worlds.penetrations.max():.1e} | {worlds.lost} | {ready:.1f}",
        flush=True,
    )


def long_run(count: int = 262_144, steps: int = 4000, hold: int = 50) -> None:
    """10⁹ steps of legs whose motors are given random targets."""
    worlds = liaison.worlds(model("leg"), count, step=STEP)
    worlds.reset(spread=0.02, seed=1)
    rng = np.random.default_rng(2)
    begin = time.perf_counter()
    for _ in range(0, steps, hold):
        worlds.step(hold, inputs=rng.uniform(-1.0, 1.0, (2, count)))
    lost, q = worlds.lost, worlds.q.numpy()
    taken = time.perf_counter() - begin
    print(
        f"{count * steps:.2e} steps of legs under random targets in {taken:.0f} s: {lost} lost, "
        f"{int(np.sum(~np.isfinite(q)))} not finite, cone residual {worlds.residuals.max():.1e}, "
        f"penetration {worlds.penetrations.max():.1e} m; largest |q| {np.max(np.abs(q)):.3g}",
        flush=True,
    )
    for code in np.unique(worlds.statuses[worlds.statuses != 0]):
        i = int(np.flatnonzero(worlds.statuses == code)[0])
        print(f"  {int(np.sum(worlds.statuses == code))} × {worlds.why(i)}")


def main() -> None:
    names = [x for x in sys.argv[1:] if not x.startswith("--")]
    print(HEAD)
    for name in names or ["leg", "quadruped", str(ROOT / "examples/contact/hopping_leg.lsd")]:
        for precision in ("double", "single"):
            row(name, precision)
    if "--long" in sys.argv:
        long_run()


if __name__ == "__main__":
    main()
