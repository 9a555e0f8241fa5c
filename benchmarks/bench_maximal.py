"""Many bodies: from a text to the first steps; sparse maximal coordinates, evaluation and step.

    python benchmarks/bench_maximal.py [bodies …]

Every joint is a closure of five rows: 1000 bodies are 6000 accelerations and 5000 multipliers. A
step is one of `simulate` with rk4, four evaluations and the projection of positions and velocities
in it. Accelerations of chains are compared with those of the articulated bodies in joint
coordinates.

The first table is of chains of hinged rods in their own coordinates, by loops over their nodes:
processor seconds from text through `simulate` to ten steps, and from a `Mechanism` to its first
accelerations, without a cache; code that belongs to no mechanism is compiled before.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from n_four_bar import n_four_bar

from liaison import forward_dynamics, read
from liaison import simulate as run_text
from liaison.analyse.along.maximal_run import ROUNDED, sparse_ready
from liaison.equations import sweeps
from liaison.equations.formalisms.maximal import star
from liaison.model import Coordinate, Damper, Mechanism, Quaternion, Spring
from liaison.numeric import State
from liaison.program import looped
from liaison.simulation import simulate
from liaison.spatial import quaternion_of, rotation_x, rotation_z
from liaison.tree import span
from samples import chain

SKEW, CALLS, STEPS = 1.0, 10, 10


def main(sizes: list[int]) -> None:
    """Prints a line for each size."""
    print_first_results(sizes)
    print("| | velocities | multipliers | ready | evaluation | step | energy | Φ | error of v̇ |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n in sizes:
        tree = span(chain(n, skew=SKEW))
        labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
        angles, rates = np.linspace(-0.5, 0.5, n), np.linspace(1, -1, n) / n
        begin = State(0.0, angles, rates, labels)
        own = np.asarray(looped(sweeps(tree)).forward(angles, rates, np.zeros(n)))
        loosened = star(tree, Quaternion())

        def error(vdot: np.ndarray, tree=loosened, angles=angles, own=own) -> float:
            return np.max(np.abs(hinge_rates(tree, vdot, angles) - own)) / np.max(np.abs(own))

        print(line(f"chain of {n}", tree.mechanism, begin, error), flush=True)
    for n in (s // 2 for s in sizes):
        tree = span(n_four_bar(n))
        labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
        signs = np.array([-1.0 if x.name[0] == "A" else 1.0 for x in labels["q"]])
        begin = State(0.0, 0.3 * signs, signs, labels)  # all rods that stand lean alike
        print(line(f"{n} four-bars", tree.mechanism, begin), flush=True)
    for n in (s for s in sizes if s <= 1000):
        print(line(f"chain of {n}, springs and dampers", sprung(n)), flush=True)


def print_first_results(sizes: list[int]) -> None:
    """Processor seconds to the first steps, and to the first accelerations."""
    print("| chain of hinged rods | text to ten steps | mechanism to accelerations |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LIAISON_CACHE"] = folder
        for n in (70, *sizes):
            text = hinged(n, "slider" if n == 70 else "revolute")
            clock = time.process_time()
            run_text(text, until=0.01, step=0.001, only_series=())
            spent = [time.process_time() - clock]
            mechanism = read(text)
            clock = time.process_time()
            forward_dynamics(mechanism)
            spent += [time.process_time() - clock]
            if n != 70:  # which compiles what all share
                print(f"| {n} | {spent[0]:.2f} s | {spent[1]:.2f} s |", flush=True)
    del os.environ["LIAISON_CACHE"]
    print()


def hinged(n: int, kind: str) -> str:
    """LSD of a chain of equal rods."""
    text = ["gravity = [0, 0, -9.81] m/s^2 ;"]
    for k in range(n):
        on = f"[1, 0, 0] m @ b{k - 1}" if k else "earth"
        text += [
            f"let b{k} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;",
            f"let J{k} = join {on} and b{k} with {kind} axis = [0, -1, 0] end ;",
        ]
    return "\n".join(text)


def sprung(n: int) -> Mechanism:
    """A chain with a spring and a damper in every hinge, whose angles are kept as coordinates."""
    made = chain(n, skew=SKEW)
    hinges = [Coordinate(f"q{i}") for i in range(1, n + 1)]
    springs = tuple(Spring(f"s {x.label}", x, 50.0) for x in hinges)
    dampers = tuple(Damper(f"d {x.label}", x, 0.5) for x in hinges)
    return replace(made, forces=made.forces + springs + dampers)


def line(
    name: str,
    mechanism: Mechanism,
    begin: State | None = None,
    error: Callable[[np.ndarray], float] | None = None,
) -> str:
    """Seconds to the first answer, milliseconds of an evaluation and of a step, what is kept."""
    clock = time.process_time()
    kernel, state = sparse_ready(mechanism, begin)
    sizes = kernel.program.sizes
    call = kernel.bind("forward", state.q, state.v, np.zeros(0), np.zeros(0), np.zeros(sizes["nx"]))
    vdot = np.array(call())[: sizes["nv"]]
    ready = time.process_time() - clock
    run, spent = stepped(kernel, state, 1e-3)
    energy = run.series["energy"].values
    kept = np.ptp(energy.sum(axis=1)) / max(1.0, np.abs(energy).max())
    is_lost = any(isinstance(force, Damper) for force in mechanism.forces)
    off = run.series["position_residual"].values.max()
    cells = [name, sizes["nv"], sizes["nc"], f"{ready:.2f} s", f"{1e3 * median(call):.2f} ms"]
    cells += [f"{1e3 * spent:.1f} ms", "–" if is_lost else f"{kept:.0e}", f"{off:.0e}"]
    cells += [f"{error(vdot):.0e}" if error else "–"]
    return f"| {' | '.join(map(str, cells))} |"


def stepped(kernel: object, state: State, h: float) -> tuple[object, float]:
    """A run of some steps, and processor seconds of one of them, what is compiled left aside."""
    given = {"step": h, "projection": ROUNDED}
    simulate(kernel, state, h, series=(), **given)
    clock = time.process_time()
    simulate(kernel, state, STEPS * h, every=STEPS * h, series=(), **given)
    spent = (time.process_time() - clock) / STEPS
    run = simulate(kernel, state, STEPS * h, series=("energy", "closure"), **given)
    return run, spent


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


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [100, 1000, 10_000])
