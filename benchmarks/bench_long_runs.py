"""What is left of closures and energy after long runs, and the orders of all methods.

`python benchmarks/bench_long_runs.py [orders] [drift] [invariants] [steps]` prints the tables
named, all if none is: orders of convergence, drift by way of stabilisation, and what stays constant
in a million steps (or as many as told) of five mechanisms, one of them also with its bodies free,
where no angle counts turns. The figures go to out/orders.json, out/drift.json and
out/invariants.json; `make orders` and `make invariants` do so.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

import liaison
from liaison.analyse.along.maximal_run import maximal_ready
from liaison.equations import Equations, newton_euler, stabilized
from liaison.errors import LiaisonError
from liaison.program import Kernel, lower, to_llvm
from liaison.program.ggl import ggl
from liaison.simulation import Projection, simulate

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
RUNS = {
    "pendulum": 0.02,
    "four_bar": 0.002,
    "four_bar, bodies free": 0.002,
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
ROLLING = ("rolling_disc", "bicycle")
DRIFTING = 60.0
NONE = Projection(position=1e6, velocity=1e6, lost=1e9)


def ready(
    name: str, stab: float | None = None, way: Callable[..., Equations] = stabilized
) -> tuple[Kernel, liaison.State]:
    """A mechanism compiled and assembled; stabilized one way or the other if a time is given."""
    name, free, _ = name.partition(", bodies free")
    told_so = liaison.read(EXAMPLES / f"{name}.lsd")
    tree = liaison.span(told_so)
    if free:  # nothing speaks of angles, so none is kept
        bare = replace(told_so, starts=(), events=(), outputs=())
        return maximal_ready(bare, liaison.assemble(tree))
    equations = newton_euler(tree)
    if stab is not None:
        equations = way(equations, stab)
    return to_llvm(lower(equations)), liaison.assemble(tree)


def worst(run: liaison.Trajectory, series: str) -> float:
    """The largest residual at the recorded instants; nothing is held where there is none."""
    return float(np.abs(run.series[series].values).max()) if series in run.series else 0.0


def scaled(run: liaison.Trajectory, series: str) -> float:
    """The same beside 1 + the largest |q| or |v|: a residual's rounding grows with them."""
    size = 1 + np.abs(run.q if series.startswith("pos") else run.v).max()
    return worst(run, series) / float(size)


def told(size: float) -> str:
    """Two digits; nothing for an exact zero."""
    return "0" if size == 0 else f"{size:.1e}"


def long_run(name: str, method: str, steps: int) -> dict[str, object]:
    """Residuals, range of the energy's error and its change from half to half."""
    kernel, state = ready(name)
    h = RUNS[name]
    chosen = np.random.default_rng(0).choice(steps - 1, 798, replace=False) + 1
    instants = np.sort([0, *chosen, steps]) * h
    began = time.process_time()
    run = simulate(
        kernel, state, steps * h, step=h, method=method, every=instants, max_steps=10 * steps,
        on_failure="return",
    )  # fmt: skip
    spent = time.process_time() - began
    energy = run.series["energy"].values.sum(axis=1)
    error = (energy - energy[0]) / np.abs(run.series["energy"].values).max()
    half = len(error) // 2
    return {
        "mechanism": name, "method": method, "step": h, "steps": steps, "status": run.status,
        "until": float(run.t[-1]), "largest q": float(np.abs(run.q).max()),
        "position": worst(run, "position_residual"),
        "position scaled": scaled(run, "position_residual"),
        "velocity": worst(run, "velocity_residual"),
        "velocity scaled": scaled(run, "velocity_residual"),
        "energy range": float(np.ptp(error)),
        "energy trend": float(error[half:].mean() - error[:half].mean()),
        "trend noise": float(error.std() / math.sqrt(half)), "us a step": 1e6 * spent / steps,
    }  # fmt: skip


def long_line(row: dict[str, object]) -> str:
    """A row of the first table."""
    if row["status"] != "done":
        return f"| {row['mechanism']} | {row['method']} | {row['status']} at {row['until']:.4g} s |"
    keys = ("position", "position scaled", "velocity", "velocity scaled", "energy range")
    cells = [row["mechanism"], row["method"], f"{row['largest q']:.2g}"]
    cells += [told(row[key]) for key in keys]
    cells += [f"{row['energy trend']:+.1e} ± {row['trend noise']:.0e}", f"{row['us a step']:.1f}"]
    return f"| {' | '.join(cells)} |"


def rolled(name: str) -> dict[str, object]:
    """Energy over 20 s of what rolls, at tolerances of 1e-10."""
    run = simulate(*ready(name), 20.0, rtol=1e-10, atol=1e-12, every=0.05)
    energy = run.series["energy"].values.sum(axis=1)
    error = float(np.abs(energy - energy[0]).max() / np.abs(energy[0]))
    return {"mechanism": name, "energy": error, "steps": run.counts["steps"]}


def drift(name: str, stab: float | None, projection: Projection, words: str) -> str:
    """One row: what closures are off by during a run of rk4."""
    kernel, state = ready(name, stab, ggl if words.startswith("GGL") else stabilized)
    run = simulate(
        kernel, state, DRIFTING, step=0.005, method="rk4", projection=projection, every=0.5,
        on_failure="return",
    )  # fmt: skip
    energy = run.series["energy"].values.sum(axis=1)
    cells = [told(scaled(run, "position_residual")), told(scaled(run, "velocity_residual"))]
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


def print_invariants(steps: int) -> None:
    """What stays constant in long runs, and the energy of what rolls."""
    print(
        f"\n{steps} steps; Φ and G v as they are, and beside 1 + |q| and 1 + |v|; energy beside its"
    )
    print("largest part\n")
    print(
        "| | method | largest q | Φ | scaled | G v | scaled | energy, range | trend | µs a step |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    found: dict[str, list[dict[str, object]]] = {"long": [], "rolling": []}
    for name in RUNS:
        for method in LONG_METHODS if "free" not in name else ("rk4",):
            try:
                found["long"].append(long_run(name, method, steps))
                print(long_line(found["long"][-1]), flush=True)
            except LiaisonError as refusal:
                print(f"| {name} | {method} | {refusal.message.split(';')[0]} | | | | | | | |")
    print("\n| 20 s, tolerance 1e-10 | energy, relative | steps |\n|---|---|---|")
    for name in ROLLING:
        row = rolled(name)
        found["rolling"].append(row)
        print(f"| {name} | {told(row['energy'])} | {row['steps']} |", flush=True)
    kept("invariants", found)


def print_drift() -> None:
    """Ways of stabilisation."""
    print(f"\n{DRIFTING:g} s of rk4, step 5 ms; Φ beside 1 + |q|, G v beside 1 + |v|\n")
    print("| | stabilisation | Φ | G v | energy | projections | |")
    print("|---|---|---|---|---|---|---|")
    above = Projection(position=1e-6, velocity=1e-5)
    ways = [(None, NONE, "none"), *((x, NONE, f"Baumgarte, T = {x} s") for x in (0.1, 0.02))]
    ways += [(x, NONE, f"GGL, T = {x} s") for x in (0.1, 0.02)]
    ways += [(None, above, "projection above 1e-6"), (None, Projection(), "projection each step")]
    lines = [drift(name, *way) for name in ("slider_crank", "four_bar") for way in ways]
    print("\n".join(lines), flush=True)
    kept("drift", lines)


def print_orders() -> None:
    """Orders of convergence."""
    print("\nOrders between three step sizes, each half of the one before\n")
    print(f"| | {' | '.join(ORDERS)} |")
    print("|---" * (len(ORDERS) + 1) + "|")
    found: dict[str, dict[str, str]] = {}
    for method in METHODS:
        found[method] = {}
        for name in ORDERS:
            try:
                found[method][name] = order(name, method)
            except LiaisonError:
                found[method][name] = "–"
        print(f"| {method} | {' | '.join(found[method].values())} |", flush=True)
    kept("orders", found)


def kept(name: str, found: object) -> None:
    """The figures of a table under out/."""
    (ROOT / "out").mkdir(exist_ok=True)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    (ROOT / "out" / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main(words: list[str]) -> None:
    """The tables named, or all."""
    steps = next((int(word) for word in words if word.isdigit()), 1_000_000)
    named = [word for word in words if not word.isdigit()] or ["orders", "drift", "invariants"]
    tables = {
        "orders": print_orders, "drift": print_drift, "invariants": lambda: print_invariants(steps),
    }  # fmt: skip
    for name in named:
        tables[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
