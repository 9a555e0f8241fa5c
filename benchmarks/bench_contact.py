"""Many contacts beside MuJoCo: `python benchmarks/bench_contact.py [--table] [--peer] [--large]`.

A hundred balls fall into a box: the same scene, the same step, CPU time of this thread; then one
step of a pile with a thousand contacts. Penetrations and residuals of complementarity of both are
printed. The residual is |min(u_n, a f_n)| of the worst contact beside the largest a f_n, a being
what a unit impulse does to the normal velocity u_n; ours counts friction too. MuJoCo's contacts
are soft by design, so that its figures there are a choice and not a defect.

`--table` runs the hundred balls for twelve pairs of friction and restitution; `--peer` runs MuJoCo
with several steps, solvers, iterations and stiffnesses, and says what each reached at what cost;
`--large` lets ten thousand balls fall, by one thread and by two: CPU of all, CPU of the first one
and wall. All three take minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from liaison.contacts.scene import Bodies
from liaison.simulation.scene import Scene

cpu = time.thread_time
OUT = Path(__file__).parent / "out"
RADIUS, MASS, STEP, FRICTION = 0.05, 1.0, 1e-3, 0.3
SECONDS = 2.0
LIMIT = 0.1  # s for a step with a thousand contacts


def grid(n: int, side: int, apart: float, seed: int = 0) -> np.ndarray:
    """Places of balls in layers, each beside the one below."""
    rng = np.random.default_rng(seed)
    k = np.arange(n)
    layer = k // side**2
    x, y = k % side + 0.5 + 0.25 * (layer % 2), k // side % side + 0.5 + 0.25 * (layer % 2)
    z = layer * 0.9 + 0.55
    return np.column_stack([x, y, z]) * apart + rng.uniform(-0.02, 0.02, (n, 3)) * RADIUS


def bodies(places: np.ndarray) -> Bodies:
    """Equal balls at rest."""
    n = len(places)
    return Bodies(
        names=tuple(f"b{k}" for k in range(n)), mass=np.full(n, MASS),
        inertia=np.tile(0.4 * MASS * RADIUS**2 * np.eye(3), (n, 1, 1)),
        pose=np.column_stack([places, np.ones(n), np.zeros((n, 3))]), speed=np.zeros((n, 6)),
        owner=np.arange(n), ball=np.tile([0.0, 0.0, 0.0, RADIUS], (n, 1)),
    )  # fmt: skip


def planes(wide: float) -> np.ndarray:
    """The floor and four walls."""
    walls = [[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, -wide], [0, 1, 0, 0], [0, -1, 0, -wide]]
    return np.array(walls, dtype=float)


def mujoco_text(
    places: np.ndarray, wide: float, step: float = STEP, option: str = "", geom: str = ""
) -> str:
    """The same scene for MuJoCo, with further options of it and of its contacts."""
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom size="{RADIUS}" mass="{MASS}"/></body>'
        for x, y, z in places
    )
    sides = "".join(
        f'<geom type="plane" size="9 9 1" pos="{x} {y} 0" zaxis="{zaxis}"/>'
        for x, y, zaxis in (
            (0, 0, "0 0 1"), (0, 0, "1 0 0"), (wide, 0, "-1 0 0"), (0, 0, "0 1 0"),
            (0, wide, "0 -1 0"),
        )
    )  # fmt: skip
    return (
        f'<mujoco><option timestep="{step}" gravity="0 0 -9.81" cone="elliptic" {option}/>'
        f'<size memory="200M"/><default><geom friction="{FRICTION} 0 0" condim="3" {geom}/>'
        "</default>"
        f"<worldbody>{sides}{balls}</worldbody></mujoco>"
    )


def mujoco_run(
    places: np.ndarray, wide: float, step: float = STEP, option: str = "", geom: str = ""
) -> dict[str, float]:
    """Cost and quality of MuJoCo's steps."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_text(places, wide, step, option, geom))
    data = mujoco.MjData(model)
    spent, deepest, missed = 0.0, [], []
    for _ in range(round(SECONDS / step)):
        begin = cpu()
        mujoco.mj_step(model, data)
        spent += cpu() - begin
        deepest.append(-min([0.0, *data.contact.dist]))
        missed.append(mujoco_residual(mujoco, model, data, step))
    steps = len(deepest)
    return {
        "s": spent, "ms": spent / steps * 1e3, "contacts": data.ncon, "penetration": max(deepest),
        "penetration_rest": deepest[-1], "residual": float(np.median(missed[steps // 2 :])),
        "residual_rest": missed[-1],
    }  # fmt: skip


def mujoco_residual(mujoco, model, data, step: float) -> float:
    """What impulses of the step miss of complementarity with the velocities after it."""
    speed = np.zeros((model.nbody, 3))
    speed[1:] = data.qvel.reshape(-1, 6)[:, :3]
    worst, strongest, force = 0.0, 1e-300, np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        first, second = model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2]
        mujoco.mj_contactForce(model, data, k, force)
        u = contact.frame[:3] @ (speed[second] - speed[first])
        push = ((first > 0) + (second > 0)) / MASS * force[0] * step
        worst, strongest = max(worst, abs(min(u, push))), max(strongest, push)
    return worst / strongest


def our_run(
    places: np.ndarray, wide: float, step: float = STEP, tolerance: float = 1e-6
) -> dict[str, float]:
    """Cost and quality of liaison's steps."""
    scene = Scene(bodies(places), planes(wide), friction=FRICTION)
    scene.simulate(2 * step, step=step)  # compiled
    begin = cpu()
    run = scene.simulate(SECONDS, step=step, tolerance=tolerance)
    spent = cpu() - begin
    steps = run.counts["steps"]
    residual = run["residual"]
    return {
        "s": spent, "ms": spent / steps * 1e3, "contacts": float(run["contacts"][-1]),
        "penetration": float(run["penetration"].max()),
        "penetration_rest": float(run["penetration"][-1]),
        "residual": float(np.median(residual[steps // 2 :])),
        "residual_rest": float(residual[-1]), "residual_worst": float(residual.max()),
        "sweeps": run.counts["sweeps"] / steps, "turns": run.counts["turns"] / steps,
        "solved": float(np.mean(residual[1:] <= 1e-6)),
    }  # fmt: skip


def thousand() -> dict[str, float]:
    """A pile with more than a thousand contacts: its first step from nothing, then sixty more."""
    side, n, step = 8, 400, 2 * STEP
    places, wide = grid(n, side, 2.2 * RADIUS), (side + 0.5) * 2.2 * RADIUS
    falls = Scene(bodies(places), planes(wide), friction=FRICTION)
    # it comes to rest by a coarse run, which is not measured
    rest = falls.simulate(2.4, step=step, every=100, tolerance=1e-4, sweeps=400)
    pose = rest.q[-1].reshape(n, 7)
    scene = Scene(replace(falls.bodies, pose=pose), falls.planes, friction=FRICTION)
    began = cpu()
    once = scene.simulate(step, step=step)
    first = cpu() - began
    run = scene.simulate(61 * step, step=step)
    spent = cpu() - began - 2 * first
    residual = run["residual"][1:]
    return {
        "contacts": float(run["contacts"][-1]), "cold_ms": first * 1e3,
        "cold_residual": float(once["residual"][-1]), "cold_turns": float(once.counts["turns"]),
        "ms": spent / 60 * 1e3, "residual_worst": float(residual.max()),
        "solved": float(np.mean(residual <= 1e-6)), "penetration": float(run["penetration"][-1]),
        "floor": float(run["planes"][-1].sum(axis=0)[2] / (n * MASS * 9.81) - 1),
    }  # fmt: skip


def pairs_table(places: np.ndarray, wide: float) -> dict[str, dict[str, float]]:
    """The hundred balls with twelve pairs of friction and restitution."""
    rows = {}
    for mu in (0.0, 0.3, 0.5, 1.0):
        for e in (0.0, 0.5, 0.9):
            scene = Scene(bodies(places), planes(wide), friction=mu, restitution=e)
            begin = cpu()
            run = scene.simulate(SECONDS, step=STEP)
            residual, energy = run["residual"][1:], run["energy"].sum(axis=1)
            rows[f"mu {mu} e {e}"] = {
                "ms": (cpu() - begin) / run.counts["steps"] * 1e3,
                "solved": float(np.mean(residual <= 1e-6)), "worst": float(residual.max()),
                "missed": run.counts["missed"], "limited": run.counts["limited"],
                "unfound": run.meta["unfound"],
                "gain": float(np.max(np.diff(energy))),
                "penetration": float(run["penetration"].max()),
            }  # fmt: skip
            show(f"mu {mu} e {e}", rows[f"mu {mu} e {e}"])
    return rows


def peer_table(places: np.ndarray, wide: float) -> dict[str, dict[str, float]]:
    """Steps and tolerances of ours; steps, solvers, iterations, stiffness of MuJoCo's contacts."""
    rows = {}
    for step in (1e-3, 4e-3):
        for tolerance in (1e-6, 1e-3):
            name = f"liaison {step * 1e3:g} ms, tolerance {tolerance:g}"
            rows[name] = our_run(places, wide, step, tolerance)
            show(name, rows[name])
    for step in (1e-4, 2.5e-4, 1e-3, 2e-3, 4e-3):
        for solver, count in (("Newton", 100), ("Newton", 4), ("CG", 20), ("PGS", 20)):
            for stiff in (False, True):
                option = f'solver="{solver}" iterations="{count}"'
                geom = f'solref="{2 * step} 1" solimp="0.99 0.9999 0.0001"' if stiff else ""
                name = f"{step * 1e3:g} ms {solver} {count}{' stiff' if stiff else ''}"
                rows[name] = mujoco_run(places, wide, step, option, geom)
                show(name, rows[name])
    return rows


def large(threads: int) -> dict[str, float]:
    """Ten thousand balls on the way to a heap: sixty steps of 2 ms, by so many threads."""
    side, n, step = 25, 10_000, 2 * STEP
    places, wide = grid(n, side, 2.2 * RADIUS), (side + 0.5) * 2.2 * RADIUS
    scene = Scene(bodies(places), planes(wide), friction=FRICTION)
    scene.simulate(2 * step, step=step, threads=threads)  # compiled
    begin, first, wall = time.process_time(), cpu(), time.perf_counter()
    run = scene.simulate(60 * step, step=step, every=10, threads=threads)
    return {
        "ms": (time.process_time() - begin) / 60 * 1e3, "ms_first": (cpu() - first) / 60 * 1e3,
        "ms_wall": (time.perf_counter() - wall) / 60 * 1e3, "contacts": float(run["contacts"][-1]),
        "residual_worst": float(run["residual"].max()), "missed": run.counts["missed"],
        "penetration": float(run["penetration"].max()),
    }  # fmt: skip


def show(name: str, found: dict[str, float]) -> None:
    """One line."""
    told = "  ".join(f"{key} {value:.3g}" for key, value in found.items())
    print(f"{name:12} {told}")


def main() -> None:
    """All rows, and a file of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("table", "peer", "large"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    places, wide = grid(100, 5, 2.2 * RADIUS), 5.5 * 2.2 * RADIUS
    rows = {"liaison": our_run(places, wide)}
    show("liaison", rows["liaison"])
    try:
        rows["mujoco"] = mujoco_run(places, wide)
        show("mujoco", rows["mujoco"])
        print(f"cost: liaison ÷ MuJoCo = {rows['liaison']['ms'] / rows['mujoco']['ms']:.2f}")
    except ImportError:
        print("mujoco       not installed")
    rows["thousand"] = thousand()
    show("1000 contacts", rows["thousand"])
    if max(rows["thousand"]["ms"], rows["thousand"]["cold_ms"]) > LIMIT * 1e3:
        print(f"1000 contacts: over {LIMIT * 1e3:g} ms")
    if asked.table:
        rows |= pairs_table(places, wide)
    if asked.peer:
        rows |= peer_table(places, wide)
    if asked.large:
        for threads in (1, 2):
            name = f"10,000 balls, {threads} threads"
            rows[name] = large(threads)
            show(name, rows[name])
    OUT.mkdir(exist_ok=True)
    (OUT / "contact.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
