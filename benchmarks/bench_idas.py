"""liaison beside SUNDIALS IDAS on the same equations: errors, CPU times, ratios at equal error.

    python benchmarks/bench_idas.py

IDAS runs through CasADi (peers_idas.py), an extra: where it is absent that is said, and nothing
is measured. Errors are those of positions at the end, beside 1 + |q|, against a run of liaison's at
1e-13 (radau and tsitouras agree there). The ratio takes liaison's quickest run that is no less
accurate.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from peers_idas import Idas, clocked

import liaison
from liaison.analyse.along.maximal_run import maximal_state
from liaison.equations import Equations, maximal, newton_euler
from liaison.program import Kernel, lower, to_llvm
from liaison.simulation import simulate

ROOT = Path(__file__).parents[1]
PROBLEMS = {
    "pendulum": ("pendulum", 10.0, False),
    "pendulum, body free": ("pendulum", 10.0, True),
    "four-bar": ("four_bar", 3.0, False),
    "Andrews' squeezer": ("reference/andrews", 0.03, False),
    "heavy top": ("reference/heavy_top", 0.5, False),
}
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)


def ready(name: str, is_free: bool) -> tuple[Equations, Kernel, liaison.State]:
    """Equations, code and start of an example; with its bodies free if wanted."""
    told = liaison.read(ROOT / "examples" / f"{name}.lsd")
    tree = liaison.span(told)
    state = liaison.assemble(tree)
    if is_free:
        tree = liaison.span(replace(told, starts=(), outputs=(), events=()))
        equations, state = maximal(tree), maximal_state(tree, state)
    else:
        equations = newton_euler(tree)
    return equations, to_llvm(lower(equations)), state


def ours(kernel: Kernel, state: liaison.State, until: float, exact: np.ndarray) -> list[tuple]:
    """Method, tolerance, CPU seconds and error of liaison's runs."""
    found = []
    for method in ("tsitouras", "radau"):
        for tolerance in 10.0 ** -np.arange(3, 13):

            def run(method=method, tolerance=tolerance) -> liaison.Trajectory:
                return simulate(
                    kernel, state, until, method=method, rtol=tolerance, atol=tolerance * 1e-2,
                    every=[until], series=(),
                )  # fmt: skip

            run()
            spent, made = clocked(run)
            found.append((method, tolerance, spent, error(made.q[-1], exact)))
    return found


def error(q: np.ndarray, exact: np.ndarray) -> float:
    """Of positions, beside 1 + |q|."""
    return float(np.max(np.abs(q - exact) / (1 + np.abs(exact))))


def measured(name: str) -> list[dict[str, object]]:
    """All runs of IDAS on a problem, each beside liaison's quickest that is as accurate."""
    path, until, is_free = PROBLEMS[name]
    equations, kernel, state = ready(path, is_free)
    exact = simulate(kernel, state, until, rtol=1e-13, atol=1e-15, every=[until], series=()).q[-1]
    forward = kernel("forward", state.t, q=state.q, v=state.v)[:-1]
    own, found = ours(kernel, state, until, exact), []
    forms = {"index 1": False, "GGL": True} if equations.symbols.lam else {"ODE": False}
    for form, ggl in forms.items():
        peer = Idas(equations, state, until, ggl=ggl)
        for tolerance in TOLERANCES:
            row: dict[str, object] = {"problem": name, "form": form, "tolerance": tolerance}
            try:
                spent, q = peer.run(forward, tolerance)
            except RuntimeError as failure:
                found.append(row | {"failure": str(failure).strip().splitlines()[-1][:60]})
                continue
            found.append(row | beside(spent, error(q, exact), own))
    return found


def beside(spent: float, off: float, own: list[tuple]) -> dict[str, object]:
    """A run of IDAS and the run of liaison that it is compared with."""
    row: dict[str, object] = {"idas": spent, "error": off}
    able = [x for x in own if x[3] <= off]
    if able:
        method, _, best, exactness = min(able, key=lambda x: x[2])
        row |= {"liaison": best, "method": method, "own error": exactness, "ratio": spent / best}
    return row


def line(row: dict[str, object]) -> str:
    """A row of the table."""
    start = f"| {row['problem']} | {row['form']} | {row['tolerance']:.0e} |"
    if "failure" in row:
        return f"{start} gave up | | | | | |"
    start += f" {row['error']:.0e} | {1e3 * row['idas']:.2f} ms |"
    if "ratio" not in row:
        return f"{start} | | | – |"
    own = f" {row['method']} | {row['own error']:.0e} | {1e3 * row['liaison']:.2f} ms |"
    return f"{start}{own} {row['ratio']:.1f} |"


def main() -> None:
    """Prints the table, and keeps it in out/idas.json."""
    if find_spec("casadi") is None:
        print("CasADi, which brings SUNDIALS IDAS, is not installed: nothing is compared.")
        return
    print("| problem | IDAS | tolerance | error | CPU | liaison | error | CPU | IDAS ÷ liaison |")
    print("|---|---|---|---|---|---|---|---|---|")
    found = []
    for name in PROBLEMS:
        rows = quietly(name)
        found += rows
        print("\n".join(map(line, rows)), flush=True)
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / "idas.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def quietly(name: str) -> list[dict[str, object]]:
    """The rows of a problem; what IDAS writes to the error channel when it gives up is left out."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        return measured(name)
    finally:
        os.dup2(kept, 2)


if __name__ == "__main__":
    main()
