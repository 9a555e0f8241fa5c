"""What is left of closures and energy after long runs, and the orders of all methods.

`python benchmarks/bench_long_runs.py [steps]` prints three tables: a million steps (or as many as
told) of five mechanisms, drift by way of stabilisation, and orders of convergence.
"""

from __future__ import annotations

import math
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import liaison
from liaison.equations import newton_euler, stabilized
from liaison.errors import LiaisonError
from liaison.program import Kernel, lower, to_llvm
from liaison.simulate import Projection, simulate

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = {
    "pendulum": 0.02,
    "four_bar": 0.002,
    "spinning_top": 0.002,
    "rolling_disc": 0.002,
    "bicycle": 0.002,
}
LONG_METHODS = ("rattle", "rattle4", "gauss4", "rk4")
ORDERS = {
    "double_pendulum": (0.2, (20, 40, 80)),
    "spinning_top": (0.2, (100, 200, 400)),
    "four_bar": (0.2, (50, 100, 200)),
    "rolling_disc": (0.2, (20, 40, 80)),
}
METHODS = (
    "rk4", "tsitouras", "dormand-prince", "radau", "gauss4", "gauss6", "generalized-alpha",
    "rattle", "rattle4", "rattle6",
)  # fmt: skip
DRIFTING = 60.0
NONE = Projection(position=1e6, velocity=1e6, lost=1e9)


def ready(name: str, stab: float | None = None) -> tuple[Kernel, liaison.State]:
    """A mechanism compiled and assembled; with Baumgarte's terms if a time is given."""
    tree = liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))
    equations = newton_euler(tree)
    if stab is not None:
        equations = stabilized(equations, stab)
    return to_llvm(lower(equations)), liaison.assemble(tree)


def worst(run: liaison.Trajectory, series: str) -> float:
    """The largest residual at the recorded instants, beside 1 + the largest |q| or |v|."""
    if series not in run.series:
        return 0.0
    size = 1 + np.abs(run.q if series.startswith("pos") else run.v).max()
    return float(np.abs(run.series[series].values).max() / size)


def told(size: float) -> str:
    """Two digits; nothing for an exact zero."""
    return "0" if size == 0 else f"{size:.1e}"


def long_run(name: str, method: str, steps: int) -> str:
    """One row: residuals, range of the energy's error and its change from half to half."""
    kernel, state = ready(name)
    h = RUNS[name]
    chosen = np.random.default_rng(0).choice(steps - 1, 798, replace=False) + 1
    instants = np.sort([0, *chosen, steps]) * h
    began = time.perf_counter()
    run = simulate(
        kernel, state, steps * h, step=h, method=method, every=instants, max_steps=10 * steps,
        on_failure="return",
    )  # fmt: skip
    spent = time.perf_counter() - began
    if run.status != "done":
        return f"| {name} | {method} | ended at {run.t[-1]:.4g} s: {run.message} |"
    energy = run.series["energy"].values.sum(axis=1)
    error = (energy - energy[0]) / np.abs(run.series["energy"].values).max()
    half = len(error) // 2
    trend = error[half:].mean() - error[:half].mean()
    noise = error.std() / math.sqrt(half)
    cells = [told(worst(run, "position_residual")), told(worst(run, "velocity_residual"))]
    cells += [told(np.ptp(error)), f"{trend:+.1e} ± {noise:.0e}", f"{spent / steps * 1e6:.1f}"]
    return f"| {name} | {method} | {' | '.join(cells)} |"


def drift(name: str, stab: float | None, projection: Projection, words: str) -> str:
    """One row: what closures are off by during a run of rk4."""
    kernel, state = ready(name, stab)
    run = simulate(
        kernel, state, DRIFTING, step=0.005, method="rk4", projection=projection, every=0.5,
        on_failure="return",
    )  # fmt: skip
    energy = run.series["energy"].values.sum(axis=1)
    cells = [told(worst(run, "position_residual")), told(worst(run, "velocity_residual"))]
    cells += [
        told(np.abs(energy - energy[0]).max() / abs(energy).max()),
        str(run.counts["projections"]),
    ]
    return f"| {name} | {words} | {' | '.join(cells)} | {run.status} at {run.t[-1]:g} s |"


def order(name: str, method: str) -> str:
    """Orders from errors of positions and velocities at three step sizes."""
    kernel, state = ready(name)
    end, counts = ORDERS[name]
    exact = simulate(kernel, state, end, rtol=1e-13, atol=1e-14)
    errors = []
    for steps in counts:
        run = simulate(kernel, state, end, step=end / steps, method=method)
        errors.append(
            max(np.abs(run.q[-1] - exact.q[-1]).max(), np.abs(run.v[-1] - exact.v[-1]).max())
        )
    return ", ".join(f"{math.log2(a / b):.2f}" for a, b in pairwise(errors))


def print_long_runs(steps: int) -> None:
    """The first table."""
    print(
        f"\n{steps} steps; Φ beside 1 + |q|, G v beside 1 + |v|, energy beside its largest part\n"
    )
    print("| | method | Φ | G v | energy, range | trend, half to half | µs a step |")
    print("|---|---|---|---|---|---|---|")
    for name in RUNS:
        for method in LONG_METHODS:
            try:
                print(long_run(name, method, steps), flush=True)
            except LiaisonError as refusal:
                print(f"| {name} | {method} | – | – | {refusal.message.split(';')[0]} | | |")


def print_drift() -> None:
    """The second table."""
    print(f"\n{DRIFTING:g} s of rk4, step 5 ms\n")
    print("| | stabilisation | Φ | G v | energy | projections | |")
    print("|---|---|---|---|---|---|---|")
    for name in ("slider_crank", "four_bar"):
        print(drift(name, None, NONE, "none"))
        for stab in (0.1, 0.02):
            print(drift(name, stab, NONE, f"Baumgarte, T = {stab} s"))
        print(drift(name, None, Projection(position=1e-6, velocity=1e-5), "projection above 1e-6"))
        print(drift(name, None, Projection(), "projection each step"), flush=True)


def print_orders() -> None:
    """The third table."""
    print("\nOrders between three step sizes, each half of the one before\n")
    print(f"| | {' | '.join(ORDERS)} |")
    print("|---" * (len(ORDERS) + 1) + "|")
    for method in METHODS:
        cells = []
        for name in ORDERS:
            try:
                cells.append(order(name, method))
            except LiaisonError:
                cells.append("–")
        print(f"| {method} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """All tables."""
    print_orders()
    print_drift()
    print_long_runs(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)


if __name__ == "__main__":
    main()
