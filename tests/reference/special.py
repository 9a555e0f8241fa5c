"""What the reference problems share, and those that are no plain run of a model."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import liaison
from liaison.analyse import linearize, sensitivities

MODELS = Path(__file__).parents[2] / "examples" / "reference"

simulate = liaison.simulate

Found = list[tuple[str, float, str, float]]
"""Comparison, worst error, worst component, tolerance."""


@lru_cache(maxsize=2)
def ready(model: str) -> tuple[Any, Any]:
    """The machine code of a model and the state it starts in."""
    tree = liaison.span(liaison.read(MODELS / model))
    return liaison.to_llvm(liaison.lower(liaison.newton_euler(tree))), liaison.assemble(tree)


def index_of(run: Any, instant: float) -> int:
    k = int(np.argmin(np.abs(run.t - instant)))
    assert abs(run.t[k] - instant) <= 1e-9 * max(1, abs(instant)), f"no record at {instant} s"
    return k


def column(run: Any, label: str) -> Any:
    """A column by its label; with a minus before it, its opposite."""
    return -run[label[1:]] if label.startswith("-") else run[label]


def worst_of(
    values: dict[str, float], reference: dict[str, Any], measure: str, sign: int = 1
) -> tuple[float, str]:
    """The largest error and its label; NaN counts as infinite."""
    found = []
    for label, given in reference.items():
        want = float(given)
        size = {"absolute": 1.0, "relative": abs(want), "mixed": 1.0 + abs(want)}[measure]
        error = abs(sign * values[label] - want) / size
        found.append((error if error == error else float("inf"), label))
    return max(found)


def kuka_inverse(problem: dict[str, Any]) -> Found:
    """Torques that hold the arm, and that let its joints turn evenly; where its last link is."""
    kernel, state = ready(problem["model"])
    still = kernel("inverse", q=state.q, v=np.zeros(7), x=np.zeros(7))
    even = kernel("inverse", q=state.q, v=problem["rates"], x=np.zeros(7))
    pose = kernel.call("poses", q=state.q)["link7"]
    place = problem["fk_at_q"]
    pairs = [
        ("torques at rest", still, problem["tau_static"], "motor"),
        ("torques at even rates", even, problem["tau_velocity_only"], "motor"),
        ("pose of the last link", pose, [*np.ravel(place["R"]), *place["p"]], "entry "),
    ]
    return [compared(name, found, want, word, problem["tol"]) for name, found, want, word in pairs]


def compared(name: str, found: Any, want: Any, word: str, tol: float) -> Any:
    """The largest absolute error of two arrays, told by its place in them."""
    error = np.abs(np.ravel(found) - np.ravel(want))
    k = int(np.argmax(error))
    return name, float(error[k]), f"{word}{k + 1}", tol


def whipple_linear(problem: dict[str, Any]) -> Found:
    """Matrices of the upright bicycle, its eigenvalues, and the speeds where it becomes stable."""
    g, tol = problem["gravity"], problem["tol_matrices"]
    M, _, K = upright(problem, 0.0).second_order
    _, C1, K1 = upright(problem, 1.0).second_order
    found = [
        compared("M", M, problem["M"], "entry ", tol),
        compared("C1", C1, problem["C1"], "entry ", tol),
        compared("K0", K / g, problem["K0"], "entry ", tol),
        compared("K2", K1 - K, problem["K2"], "entry ", problem["tol_K2"]),
    ]
    for speed, pairs in problem["eigenvalues"].items():
        values = upright(problem, float(speed)).eigenvalues
        error = max(np.min(np.abs(values - complex(*pair))) for pair in pairs)
        name = f"eigenvalues at {speed} m/s"
        found.append((name, float(error), "all four", problem["tol_eigenvalues"]))
    for word, near in (("weave", True), ("capsize", False)):
        want = problem[f"{word}_speed"]
        speed = crossing(problem, want - 0.05, want + 0.05, weave=near)
        found.append((f"{word} speed", abs(speed - want), "m/s", problem["tol_speeds"]))
    return found


@lru_cache(maxsize=1)
def spanned(model: str) -> tuple[Any, Any]:
    tree = liaison.span(liaison.read(MODELS / model))
    return tree, liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))


def upright(problem: dict[str, Any], speed: float) -> Any:
    """Roll and steer of the bicycle that goes straight ahead."""
    tree, kernel = spanned(problem["model"])
    turning = -speed / problem["rear_radius"]
    state = liaison.assemble(tree, None, **{"F.roll'": 0.0, "R'": turning})
    linear = linearize(kernel, state, independent=("F.roll", "steer", "R"))
    return linear.part("F.roll", "steer", "F.roll'", "steer'")


def crossing(problem: dict[str, Any], low: float, high: float, *, weave: bool) -> float:
    """The speed at which the largest real part of an oscillation, or of a real root, is zero."""
    from scipy.optimize import brentq

    def growth(speed: float) -> float:
        values = upright(problem, speed).eigenvalues
        swings = np.abs(values.imag) > 1e-6
        return float(np.max(values.real[swings == weave]))

    return float(brentq(growth, low, high, xtol=1e-13))


def hoop_stability(problem: dict[str, Any]) -> Found:
    """s² of the lean is a − b v²: the speed where it vanishes, from two speeds."""
    tree, kernel = spanned(problem["model"])
    squares = []
    for rate in (2.0, 3.0):
        state = liaison.assemble(tree, None, **{"F.spin'": rate / problem["radius"]})
        values = linearize(kernel, state, independent=("F.lean", "F.yaw", "F.spin")).eigenvalues
        squares.append((rate**2, float((values[np.argmax(np.abs(values))] ** 2).real)))
    (v1, s1), (v2, s2) = squares
    critical = v1 - s1 * (v2 - v1) / (s2 - s1)
    ratio = critical / (problem["gravity"] * problem["radius"])
    error = abs(ratio - problem["critical"]) / problem["critical"]
    return [("critical speed", error, "v²/(g r)", problem["tol"])]


def sundials_integral(problem: dict[str, Any]) -> Found:
    """∫ of the kinetic energy, and its derivatives by stiffness and damping."""
    from scipy.integrate import simpson

    kernel, state = ready(problem["model"])
    options = {"every": problem["until"] / 4000, "series": ("outputs",), **problem["settings"]}
    run = simulate(kernel, state, until=problem["until"], **options)
    whole = simpson(run["kinetic"], x=run.t)
    slopes = sensitivities(kernel, run, ("k", "c"))
    pairs = [
        ("integral", whole, float(problem["integral"]), 1.0, 1e-9),
        ("integral as published", whole, problem["published_integral"], 3.0, 2e-4),
    ]
    for name, want in zip("kc", problem["slopes"], strict=True):
        found = slopes.integral("kinetic", name)
        pairs.append((f"its derivative by {name}", found, want, abs(want), 2e-4))
    return [(name, abs(x - want) / size, "G", tol) for name, x, want, size, tol in pairs]


def andrews_quick(problem: dict[str, Any]) -> Found:
    """Seven digits of the positions, and the CPU seconds of such a run; the best of nine."""
    kernel, state = ready(problem["model"])
    wanted, best = problem["quick"], float("inf")
    end = problem["until"]
    exact = {"rtol": wanted["rtol"], "atol": wanted["atol"], "every": [0.0, end], "series": ()}
    for _ in range(9):
        begun = time.process_time()
        run = simulate(kernel, state, until=end, **exact)
        best = min(best, time.process_time() - begun)
    reference = problem["checks"][0]["rows"][str(end)]
    values = {label: float(run[label][-1]) for label in reference}
    error, worst = worst_of(values, reference, "relative")
    return [
        ("seven digits of positions", error, worst, wanted["error"]),
        ("CPU of seven digits", best, "seconds", wanted["cpu"]),
    ]
