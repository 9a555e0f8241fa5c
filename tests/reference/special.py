"""What the reference problems share, and those that are no plain run of a model."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import liaison

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
