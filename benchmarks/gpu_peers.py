"""MuJoCo Warp's rows beside the tables of the GPU: steps a second, and what its steps miss.

Run on a machine with an NVIDIA GPU on which `mujoco`, `warp` and `mujoco_warp` can be imported:

    python benchmarks/gpu_peers.py [panda.urdf | like]

Models: the arm without limits and contacts, four four-bars in a row with loops by `connect`, the
humanoid of MuJoCo Warp's own tests on the floor, a hundred balls in a box as in `gpu_scenes.py`,
and the hundred balls of its own measurement (`like` there) with the rows of liaison beside it.
Steps are captured once and launched again, in single precision, the only one that it has. What
they miss is measured afterwards on 64 of the worlds, in double precision by MuJoCo itself: the
deepest penetration of a contact, the largest gap of a loop, and, of balls, by how much impulses and
rates along the normal of a next step miss complementarity, beside the strongest impulse.
"""

from __future__ import annotations

import sys
import time
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]

HEAD = (
    "MuJoCo Warp | worlds | steps a second | penetration [m] | gap of loops [m] | residual | "
    "not finite"
)
SAMPLED = 64


def arm(path: Path):
    """The arm of a URDF file without its shapes, fingers held, limits and contacts off."""
    import mujoco

    root = ET.parse(path).getroot()
    for link in root.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in root.findall("joint"):
        if "finger" in joint.get("name", ""):
            joint.set("type", "fixed")
        for follows in joint.findall("mimic"):
            joint.remove(follows)
    rules = {"fusestatic": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", {**rules, "balanceinertia": "true"})
    made = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    flags = mujoco.mjtDisableBit
    made.opt.disableflags |= int(flags.mjDSBL_LIMIT) | int(flags.mjDSBL_CONTACT)
    return made


def four_bars(count: int = 4):
    """The linkage of examples/n_four_bar.py: standing rods, each but the last with a lying one."""
    import mujoco

    hinge = '<joint axis="0 0 1"/>'
    across = 1 / 12
    bodies, loops = [], []
    for i in range(count + 1):
        top = (
            f'<body name="top{i}" pos="0 1 0">{hinge}<inertial pos="0.5 0 0" mass="1" '
            f'diaginertia="1e-6 {across} {across}"/></body>'
        )
        bodies.append(
            f'<body name="rod{i}" pos="{i} 0 0">{hinge}<inertial pos="0 0.5 0" mass="1" '
            f'diaginertia="{across} 1e-6 {across}"/>{top if i < count else ""}</body>'
        )
    for i in range(count):
        loops.append(f'<connect body1="top{i}" body2="rod{i + 1}" anchor="1 0 0"/>')
    made = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 -9.81 0" timestep="0.001"/><worldbody>{"".join(bodies)}'
        f"</worldbody><equality>{''.join(loops)}</equality></mujoco>"
    )
    made.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return made


def humanoid():
    """That of MuJoCo Warp's tests."""
    import mujoco

    folder = Path(find_spec("mujoco_warp").origin).parent
    return mujoco.MjModel.from_xml_path(str(folder / "test_data/humanoid/humanoid.xml"))


def balls():
    """The hundred balls of gpu_scenes.py in their box."""
    import mujoco
    from bench_contact import RADIUS, grid, mujoco_text

    apart = 2.2 * RADIUS
    return mujoco.MjModel.from_xml_string(mujoco_text(grid(100, 5, apart), 5.5 * apart))


def like_balls():
    """The hundred balls of `like` in gpu_scenes.py, all else as MuJoCo has it by itself."""
    import mujoco
    from gpu_scenes import LIKE_STEP, LIKE_WIDE, RADIUS, like_places

    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom size="{RADIUS}" mass="1"/></body>'
        for x, y, z in like_places()
    )
    walls = ((0, 0, "0 0 1"), (0, 0, "1 0 0"), (LIKE_WIDE, 0, "-1 0 0"), (0, 0, "0 1 0"))
    sides = "".join(
        f'<geom type="plane" size="1 1 .1" pos="{x} {y} 0" zaxis="{axis}"/>'
        for x, y, axis in (*walls, (0, LIKE_WIDE, "0 -1 0"))
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{LIKE_STEP}"/><worldbody>{sides}{balls}</worldbody></mujoco>'
    )


def complementarity(model, positions: np.ndarray, velocities: np.ndarray) -> float:
    """What a step of MuJoCo from some states of balls misses along normals."""
    import mujoco
    from bench_contact import mujoco_residual

    data, worst = mujoco.MjData(model), 0.0
    for q, v in zip(positions[:SAMPLED], velocities[:SAMPLED], strict=True):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_step(model, data)
        worst = max(worst, mujoco_residual(mujoco, model, data, model.opt.timestep))
    return worst


def missed(model, positions: np.ndarray) -> tuple[float, float]:
    """The deepest penetration and the largest gap of a loop at some positions."""
    import mujoco

    data, depth, gap = mujoco.MjData(model), 0.0, 0.0
    for q in positions[:SAMPLED]:
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        depth = max([depth, *(-data.contact.dist)])
        loops = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        gap = max([gap, *np.abs(data.efc_pos[: data.nefc][loops])])
    return depth, gap


def row(name: str, model, worlds: int, steps: int, rk4: bool = False, moves: str = "qvel") -> None:
    """One row of the table; starts are disturbed in velocities, or in positions."""
    import mujoco
    import mujoco_warp
    import warp

    if rk4:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    large = model.nv > 300
    there = mujoco_warp.put_model(model)
    room = {"nconmax": 1024 if large else 64, "njmax": 3200 if large else 256}
    many = mujoco_warp.put_data(model, data, nworld=worlds, **room)
    begins = getattr(data, moves)
    moved = np.random.default_rng(0).normal(0.0, 0.01, (worlds, len(begins)))
    getattr(many, moves).assign((begins + moved).astype(np.float32))
    mujoco_warp.step(there, many)
    with warp.ScopedCapture() as captured:
        mujoco_warp.step(there, many)
    for _ in range(5):
        warp.capture_launch(captured.graph)
    warp.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        warp.capture_launch(captured.graph)
    warp.synchronize()
    rate = worlds * steps / (time.perf_counter() - begin)
    q, v = many.qpos.numpy(), many.qvel.numpy()
    good = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
    depth, gap = missed(model, q[good])
    residual = f"{complementarity(model, q[good], v[good]):.1e}" if large else "–"
    lost = int(np.sum(~good))
    print(
        f"{name} | {worlds} | {rate:.3g} | {depth:.1e} | {gap:.1e} | {residual} | {lost}",
        flush=True,
    )


def rows(panda: Path | None) -> None:
    """All rows, those of `like` alone, or why there are none."""
    absent = [x for x in ("mujoco", "warp", "mujoco_warp") if find_spec(x) is None]
    if absent:
        print(f"MuJoCo Warp is not measured: {', '.join(absent)} cannot be imported here.")
        return
    print(HEAD)
    if panda is not None and panda.name == "like":
        like_table()
        return
    if panda is not None:
        row("arm, RK4", arm(panda), 65_536, 200, rk4=True)
    row("four four-bars, RK4", four_bars(), 65_536, 200, rk4=True)
    row("humanoid on the floor", humanoid(), 32_768, 300)
    row("a hundred balls, fall", balls(), 2048, 100)
    row("a hundred balls, coming together", balls(), 2048, 400)
    like_table()


def like_table() -> None:
    """Its own hundred balls, and the same of liaison in both precisions."""
    from gpu_scenes import HEAD as OURS
    from gpu_scenes import LIKE_STEPS, LIKE_WORLDS, like_rows

    for worlds in LIKE_WORLDS:
        row("a hundred balls, its own", like_balls(), worlds, LIKE_STEPS, moves="qpos")
    print(OURS)
    for precision in ("double", "single"):
        like_rows(precision)


if __name__ == "__main__":
    rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
