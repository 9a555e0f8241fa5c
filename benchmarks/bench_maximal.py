"""A chain of many bodies in sparse maximal coordinates: one evaluation, and one step of RK4.

    python benchmarks/bench_maximal.py [bodies …]

Every joint is a closure of five rows: 1000 bodies are 6000 accelerations and 5000 multipliers.
Accelerations are compared with those of the articulated bodies in joint coordinates.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from liaison.equations import blocks_of, sweeps
from liaison.equations.maximal import star
from liaison.model import Quaternion
from liaison.program import looped, looped_loops
from liaison.spatial import quaternion_of, rotation_x, rotation_z
from liaison.tree import span
from samples import chain

SKEW, CALLS = 1.0, 10


def main(sizes: list[int]) -> None:
    """Prints a line for each size."""
    print(
        f"{'bodies':>7} {'rows':>7} {'ready':>9} {'evaluation':>11} {'RK4 step':>10} {'error':>9}"
    )
    for n in sizes:
        print(line(n))


def line(n: int) -> str:
    """Seconds to the first answer, milliseconds of an evaluation and of a step, and the error."""
    begin = time.process_time()
    tree = span(chain(n, skew=SKEW))
    loosened = star(tree, Quaternion())
    made = looped_loops(blocks_of(loosened))
    angles, rates = np.linspace(-0.5, 0.5, n), np.linspace(1, -1, n) / n
    q, v = placed(loosened, angles, rates)
    vdot, multipliers = made.forward(q, v)
    ready = time.process_time() - begin
    evaluation = median(lambda: made.forward(q, v))
    step = median(lambda: stepped(made, q, v, 1e-4))
    own = np.asarray(looped(sweeps(tree)).forward(angles, rates, np.zeros(n)))
    error = np.max(np.abs(hinge_rates(loosened, vdot, angles) - own)) / np.max(np.abs(own))
    return (
        f"{n:7d} {len(multipliers):7d} {ready:7.2f} s {1e3 * evaluation:8.2f} ms "
        f"{1e3 * step:7.2f} ms {error:9.1e}"
    )


def median(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    spent = []
    for _ in range(CALLS):
        begin = time.process_time()
        call()
        spent.append(time.process_time() - begin)
    return float(np.median(spent))


def placed(tree: object, angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places, attitudes and twists of the links, from their joints' angles and rates."""
    q, v = np.zeros(tree.nq), np.zeros(tree.nv)
    R, place, omega, speed = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for k, node in enumerate(tree.nodes):
        turn = np.array(rotation_z(float(angles[k])), dtype=float)
        if k:
            tip = np.array([1.0, 0.0, 0.0])
            place, speed = place + R @ tip, speed + np.cross(omega, tip)
            turn = np.array(rotation_x(SKEW), dtype=float) @ turn
        R, omega, speed = R @ turn, turn.T @ omega + [0, 0, rates[k]], turn.T @ speed
        q[node.q] = [*place, *quaternion_of(R)]
        v[node.v] = [*omega, *speed]
    return q, v


def hinge_rates(tree: object, vdot: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """θ̈ of every hinge: along its z, ω̇ of a link less that of the link before."""
    alpha = np.array([vdot[node.v][:3] for node in tree.nodes])
    found = alpha[:, 2].copy()
    for k in range(1, len(angles)):
        turn = rotation_x(SKEW) @ rotation_z(float(angles[k]))
        found[k] -= np.array(turn, dtype=float)[:, 2] @ alpha[k - 1]
    return found


def stepped(made: object, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """One step of RK4, with four evaluations; quaternions are made unit again."""
    slopes = [(flow(q, v), made.forward(q, v)[0])]
    for part in (h / 2, h / 2, h):
        at, moving = q + part * slopes[-1][0], v + part * slopes[-1][1]
        slopes.append((flow(at, moving), made.forward(at, moving)[0]))
    weights = np.array([1, 2, 2, 1]) * h / 6
    q = q + sum(w * x for w, (x, _) in zip(weights, slopes, strict=True))
    v = v + sum(w * x for w, (_, x) in zip(weights, slopes, strict=True))
    rows = q.reshape(-1, 7)
    rows[:, 3:] /= np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    return q, v


def flow(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q̇: places move by R v, quaternions (w, x) by ½ (−x · ω, w ω + x × ω)."""
    rows, (omega, speed) = q.reshape(-1, 7), np.split(v.reshape(-1, 6), 2, axis=1)
    w, x = rows[:, 3:4], rows[:, 4:]
    once = 2 * np.cross(x, speed)
    place = speed + w * once + np.cross(x, once)
    turned = [-np.sum(x * omega, axis=1, keepdims=True), w * omega + np.cross(x, omega)]
    return np.hstack([place, 0.5 * turned[0], 0.5 * turned[1]]).ravel()


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [100, 1000, 10_000])
