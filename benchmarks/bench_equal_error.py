"""liaison beside Exudyn and MuJoCo at equal error: `python benchmarks/bench_equal_error.py`.

Each peer runs the same mechanism from the same start at several step sizes; its error is that of
all mass centers at the end, beside the largest of their distances, against liaison at 1e-13. That
the error goes to zero with the step shows that the model is the same. liaison's run beside it is
the quickest, over tolerances and methods, whose error is no larger. CPU time of whole runs, nothing
recorded on the way; liaison's with its set-up in Python, the peers' without theirs. Peers are an
extra: where one is absent, or cannot say a mechanism, that is said.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from peers_idas import clocked
from peers_rigid import Exudyn, Model, Mujoco

import liaison
from liaison.equations import newton_euler
from liaison.program import Kernel, lower, to_llvm
from liaison.simulation import simulate
from liaison.tree import assemble, span

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from samples import chain

ROOT = Path(__file__).parents[1]
STEPS = {"Exudyn": (4e-3, 2e-3, 1e-3, 5e-4), "MuJoCo": (2e-2, 1e-2, 5e-3, 2e-3, 1e-3)}
FINE = {"Exudyn": (2e-3, 1e-3, 5e-4, 2.5e-4), "MuJoCo": (2e-3, 1e-3, 5e-4, 2.5e-4)}
FAST = {"Exudyn": (6e-5, 3e-5, 1.5e-5), "MuJoCo": (6e-5, 3e-5, 1.5e-5, 7.5e-6)}


def example(name: str, until: float, **more: object) -> Model:
    tree = span(liaison.read(ROOT / "examples" / f"{name}.lsd"))
    return Model(tree, assemble(tree), until, **more)


def chained(n: int) -> Model:
    tree = span(chain(n, skew=1.0))
    return Model(tree, assemble(tree), 1.0)


def andrews() -> Model:
    P2, P3 = ("K2", (-0.028, 0, 0)), ("K3", (0, -0.035, 0))
    P4, P6 = ("K4", (0, -0.02, 0)), ("K6", (0.02, 0, 0))
    spring = (("K3", (0.02, -0.018, 0)), ("ground", (0.014, 0.072, 0)), 4530.0, 0.07785)
    return example(
        "reference/andrews", 0.03, ties=((P2, P3), (P2, P4), (P2, P6)), spring=spring,
        torque=("K1", 0.033), is_planar=True,
    )  # fmt: skip


PROBLEMS: dict[str, tuple[Callable[[], Model], dict[str, tuple[float, ...]]]] = {
    "pendulum of 10 skew links, 1 s": (lambda: chained(10), STEPS),
    "heavy top, 0.5 s": (lambda: example("reference/heavy_top", 0.5), FINE),
    "spatial slider-crank, 1 s": (lambda: example("reference/spatial_slider_crank", 1.0), FINE),
    "Andrews' squeezer, 30 ms": (andrews, FAST),
    "rolling disc, 1 s": (lambda: example("rolling_disc", 1.0), STEPS),
}


def ours(kernel: Kernel, model: Model, exact: np.ndarray) -> list[tuple[str, float, float]]:
    """What liaison's runs take, and their errors."""
    ways = [{"method": "tsitouras", "rtol": r, "atol": r * 1e-2} for r in 10.0 ** -np.arange(2, 13)]
    counts = (20, 50, 100, 200, 500, 1000, 2000)
    ways += [{"method": "rk4", "step": model.until / n} for n in counts]
    found = []
    for way in ways:

        def run(way: dict[str, object] = way) -> liaison.Trajectory:
            return simulate(
                kernel, model.state, model.until, every=[model.until], series=(), **way
            )  # fmt: skip

        try:
            run()
            spent, made = clocked(run)
        except liaison.LiaisonError:
            continue
        found.append((way["method"], spent, error(placed(kernel, model, made), exact)))
    return found


def placed(kernel: Kernel, model: Model, run: liaison.Trajectory) -> np.ndarray:
    """Mass centers at the end of a run."""
    told = kernel.call("poses", run.t[-1], q=run.q[-1], v=run.v[-1])
    return model.centers({n: (x[:9].reshape(3, 3), x[9:]) for n, x in told.items()})


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """Of mass centers, beside the largest distance."""
    return float(np.abs(found - exact).max() / np.linalg.norm(exact, axis=1).max())


def theirs(peer: str, model: Model, step: float) -> tuple[float, np.ndarray]:
    """CPU seconds of a peer's run, and mass centers at its end."""
    spent, found = [], None
    for _ in range(3):
        made = Exudyn(model) if peer == "Exudyn" else Mujoco(model, step)
        spent.append(clocked(lambda made=made: made.solve(step), 1)[0])
        found = made.found()
    return min(spent), found


def measured(name: str) -> list[dict[str, object]]:
    """Rows of a problem: each run of each peer beside liaison's."""
    make, steps = PROBLEMS[name]
    model = make()
    kernel = to_llvm(lower(newton_euler(model.tree)))
    tight = simulate(
        kernel, model.state, model.until, rtol=1e-13, atol=1e-15, every=[model.until], series=()
    )
    exact = placed(kernel, model, tight)
    own, found = ours(kernel, model, exact), []
    for peer in ("Exudyn", "MuJoCo"):
        for step in steps[peer]:
            row: dict[str, object] = {"problem": name, "peer": peer, "step": step}
            try:
                spent, centers = theirs(peer, model, step)
            except ImportError as why:
                found.append(row | {"absent": f"not installed ({why})"})
                break
            except KeyError:
                found.append(row | {"absent": "cannot say it"})
                break
            off = error(centers, exact)
            able = [x for x in own if x[2] <= off]
            row |= {"error": off, "peer seconds": spent}
            if able:
                method, best, exactness = min(able, key=lambda x: x[1])
                row |= {"seconds": best, "method": method, "own error": exactness}
                row |= {"ratio": spent / best}
            found.append(row)
    return found


def line(row: dict[str, object]) -> str:
    """A row of the table."""
    start = f"| {row['problem']} | {row['peer']} |"
    if "absent" in row:
        return f"{start} | {row['absent']} | | | | | |"
    start += (
        f" {1e3 * row['step']:.3g} ms | {row['error']:.0e} | {1e3 * row['peer seconds']:.3g} ms |"
    )
    if "ratio" not in row:
        return f"{start} | | | – |"
    own = f" {row['method']} | {row['own error']:.0e} | {1e3 * row['seconds']:.2f} ms |"
    return f"{start}{own} {row['ratio']:.{int(row['ratio'] < 10)}f} |"


def main(words: list[str]) -> None:
    """Prints the table, and keeps it in out/equal_error.json; words choose problems."""
    print("| problem | peer | its step | error | CPU | liaison | error | CPU | peer ÷ liaison |")
    print("|---|---|---|---|---|---|---|---|---|")
    found = []
    for name in PROBLEMS:
        if not words or any(word in name for word in words):
            rows = measured(name)
            found += rows
            print("\n".join(map(line, rows)), flush=True)
    (ROOT / "out").mkdir(exist_ok=True)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    (ROOT / "out" / "equal_error.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
