"""The table of scenes on a GPU: worlds of balls, boxes and hulls, with what their steps miss.

Run on a machine with an NVIDIA GPU and its driver:

    python benchmarks/gpu_scenes.py [--quick] [balls] [like] [boxes] [capsules] [hulls] [double]
        [single]

A hundred balls fall into a box, the scene of `bench_contact.py`; thirty boxes, capsules, or hulls
of twelve corners fall into a smaller one. Velocities at the start are random, so that no two worlds
are alike. Parts of the way are timed: the fall until bodies meet, the heap at rest, the same in all
worlds; of fewer worlds the way to rest, part by part (steps are hardest while the heap comes
together: contacts open and slip in ever new sets) and all of it; and the heap at rest in the first
20 steps after random velocities of 1 mm/s.
Before, two worlds are compared with the same code on the processor after one step. With --quick the
two hard parts are left out.

`like` is the scene of the peers' measurement: balls of 1 kg and radius 5 cm in a box of 60 cm,
friction 1, steps of 2 ms, 100 of them after 6 from starts that are disturbed by 1 cm (one standard
deviation; balls that begin in each other are pushed apart). `gpu_peers.py` prints its row beside
that of MuJoCo Warp.
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
SOLIDS, WIDE, CELL = 30, 0.36, 0.12  # boxes or hulls, the box that they fall into, room for one [m]
RESTING = 1200  # steps after which the heap is at rest
PARTS = (
    ("first", 100), ("101 to 250", 150), ("coming together", 50), ("301 to 400", 100),
    ("401 to 600", 200), ("601 to 1200", RESTING - 600),
)  # fmt: skip
FEW, KICKED = 2 * 1980, 20  # worlds of the way to rest, of which 1980 are under way at once; steps
LIKE_STEP, LIKE_WIDE, LIKE_FRICTION, DISTURBED = 2e-3, 0.6, 1.0, 0.01
LIKE_WORLDS, LIKE_FIRST, LIKE_STEPS, PUSHED = (2048, MANY), 6, 100, 50
HEAD = (
    "part | precision | worlds | steps | worlds · steps a second | residual | penetration [m] | "
    "contacts | lost"
)


def scene() -> Scene:
    """A hundred balls above a box."""
    apart = 2.2 * RADIUS
    return Scene(bodies(grid(COUNT, 5, apart)), planes(5.5 * apart), friction=FRICTION)


def like_places() -> np.ndarray:
    """Where the balls of the peers' measurement begin, in four layers of five by five."""
    k = np.arange(COUNT)
    cells = np.column_stack([k % 5, k // 5 % 5, k // 25])
    return 0.1 + cells * [0.11, 0.11, 0.12]


def like_scene() -> Scene:
    """The scene of the peers' measurement."""
    return Scene(bodies(like_places()), planes(LIKE_WIDE), friction=LIKE_FRICTION)


def like_rows(precision: str) -> None:
    """That scene, as the peers are timed."""
    scene = like_scene()
    for count in LIKE_WORLDS:
        worlds = liaison.worlds(scene, count, step=LIKE_STEP, precision=precision)
        like_start(worlds)
        worlds.step(LIKE_FIRST)
        timed("balls as the peers'", worlds, LIKE_STEPS)


def like_start(worlds: liaison.Worlds) -> None:
    """Disturbed starts, out of each other."""
    poses = np.repeat(bodies(like_places()).pose.reshape(-1, 1), worlds.count, axis=1)
    moved = np.random.default_rng(0).normal(0.0, DISTURBED, (COUNT, 3, worlds.count))
    poses.reshape(COUNT, 7, -1)[:, :3] += moved
    worlds.reset(q=poses)
    for _ in range(PUSHED):
        # the least spread: what is near is brought out of penetration on the device
        worlds.reset(q=worlds.q, spread=1e-12, seed=1)
        if worlds.lost == 0:
            return


def solids(shape: object) -> Scene:
    """Thirty bodies of a shape, turned at random, in layers above a box."""
    rng = np.random.default_rng(3)
    parts, start = [], {}
    for k in range(SOLIDS):
        body = liaison.body(f"b{k}", mass=0.2, inertia=(2e-4, 2e-4, 2e-4), shapes=shape)
        parts.append(liaison.join(liaison.ground, body, "free", name=f"F{k}"))
        turn = rng.normal(size=4)
        place = np.array([k % 3 + 0.5, k // 3 % 2 + 0.75, k // 6 + 0.6]) * CELL
        values = [*place, *turn / np.linalg.norm(turn)]
        names = ("x", "y", "z", "qw", "qx", "qy", "qz")
        start |= {f"F{k}.{x}": y for x, y in zip(names, values, strict=True)}
    mechanism = liaison.mechanism(*parts, liaison.gravity((0, 0, -9.81)))
    return liaison.collide(mechanism, planes=planes(WIDE), friction=FRICTION, start=start)


def boxes() -> Scene:
    """Thirty boxes of 8 × 6 × 5 cm."""
    return solids(liaison.Box(0.08, 0.06, 0.05))


def capsules() -> Scene:
    """Thirty capsules of radius 3 cm, 10 cm long."""
    return solids(liaison.Capsule(0.03, 0.04))


def hulls() -> Scene:
    """Thirty hulls of twelve corners on an ellipsoid."""
    corners = np.random.default_rng(5).normal(size=(12, 3))
    corners *= np.array([0.045, 0.04, 0.035]) / np.linalg.norm(corners, axis=1)[:, None]
    return solids(liaison.Hull(corners.tolist()))


def timed(name: str, worlds: liaison.Worlds, steps: int) -> None:
    """One row of the table."""
    worlds.place.driver.synchronize()
    begin = time.perf_counter()
    worlds.step(steps)
    worlds.place.driver.synchronize()
    note(name, worlds, steps, time.perf_counter() - begin)


def note(name: str, worlds: liaison.Worlds, steps: int, seconds: float) -> None:
    """Prints a row."""
    print(
        f"{name} | {worlds.precision} | {worlds.count} | {steps} | "
        f"{worlds.count * steps / seconds:.3g} | "
        f"{worlds.residuals.max():.1e} | {worlds.penetrations.max():.1e} | "
        f"{worlds.contacts.max():.0f} | {worlds.lost}",
        flush=True,
    )
    for code in np.unique(worlds.statuses[worlds.statuses != 0]):
        i = int(np.flatnonzero(worlds.statuses == code)[0])
        print(f"  {int(np.sum(worlds.statuses == code))} × {worlds.why(i)}")


def thrown(bodies: int, count: int) -> np.ndarray:
    """Random velocities."""
    return np.random.default_rng(1).uniform(-FASTER, FASTER, (6 * bodies, count))


def checked(scene: Scene, precision: str) -> None:
    """Prints how far two worlds are from those of the processor after a step."""
    begin = time.perf_counter()
    here, there = (
        liaison.worlds(scene, 2, step=STEP, device=x, precision=precision)
        for x in ("processor", "gpu")
    )
    n = len(scene.bodies.names)
    for worlds in (here, there):
        worlds.reset(v=thrown(n, 2))
        worlds.step(1)
    missed = np.max(np.abs(there.q.numpy() - here.q))
    ready = time.perf_counter() - begin
    print(
        f"after a step, {precision}: {missed:.1e}; registers, bytes {there.resources}; "
        f"ready after {ready:.0f} s"
    )


def table(name: str, scene: Scene, precision: str, *, quick: bool) -> None:
    """All rows of a scene in a precision."""
    checked(scene, precision)
    n = len(scene.bodies.names)
    worlds = liaison.worlds(scene, MANY, step=STEP, precision=precision)
    worlds.reset(v=thrown(n, MANY))
    timed(f"{name}, fall", worlds, 100)
    rest = resting(scene)
    worlds.reset(q=rest, v=np.zeros(6 * n))
    worlds.step(20)
    timed(f"{name}, at rest", worlds, 200)
    if quick:
        return
    few = liaison.worlds(scene, FEW, step=STEP, precision=precision)
    few.reset(v=thrown(n, FEW))
    seconds = 0.0
    for part, steps in PARTS:
        few.place.driver.synchronize()
        begin = time.perf_counter()
        few.step(steps)
        few.place.driver.synchronize()
        seconds += time.perf_counter() - begin
        note(f"{name}, {part}", few, steps, time.perf_counter() - begin)
    note(f"{name}, to rest", few, RESTING, seconds)
    few.reset(q=rest, v=thrown(n, FEW) * 1e-3 / FASTER)
    timed(f"{name}, kicked", few, KICKED)


def resting(scene: Scene) -> np.ndarray:
    """The heap at rest, from the processor."""
    one = liaison.worlds(scene, 1, step=STEP, device="processor")
    one.step(RESTING)
    return np.asarray(one.q[:, 0])


def main() -> None:
    words = [x for x in sys.argv[1:] if not x.startswith("-")]
    scenes = {"balls": scene, "boxes": boxes, "capsules": capsules, "hulls": hulls}
    chosen = [x for x in scenes if x in words]
    chosen = chosen if chosen or "like" in words else list(scenes)
    print(HEAD)
    precisions = [x for x in ("double", "single") if x in words] or ["double", "single"]
    for precision in precisions:
        for name in chosen:
            table(name, scenes[name](), precision, quick="--quick" in sys.argv)
        if "like" in words or len(chosen) == len(scenes):
            like_rows(precision)


if __name__ == "__main__":
    main()
