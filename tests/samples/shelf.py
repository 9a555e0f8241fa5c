"""Shipped examples as samples: each at its assembled start, with speeds at random."""

from __future__ import annotations

import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from liaison.equations import Equations, newton_euler
from liaison.expr import as_expr, directional, evaluate
from liaison.formats import read
from liaison.model import Mechanism
from liaison.tree import assemble, span

from .drawing import Sample, constrained, values_of
from .numbers import axial

EXAMPLES = Path(__file__).parents[2] / "examples"


# those whose equations are not derived, large ones of which smaller kin are here, and those that at
# speeds at random have no accelerations: some of their velocities belong to no motion
LEFT_OUT = {"chaplygin_unilateral", "degenerate_unilateral", "antenna_shared", "antenna_double",
            "three_upu", "antenna_mesh", "shaky_6r", "triangle_flat", "pile"}  # fmt: skip


def shelf() -> list[Path]:
    """Every example that is a text, and the one that is a program."""
    found = [p for p in EXAMPLES.iterdir() if p.suffix in (".lsd", ".urdf", ".py")]
    return sorted(p for p in found if p.stem not in LEFT_OUT)


def mechanism_of(path: Path) -> Mechanism:
    """The mechanism that an example describes; two loops of the one that has any number."""
    if path.suffix == ".py":
        return runpy.run_path(str(path))["n_four_bar"](2)
    return read(path)


@cache
def example(path: Path, seed: int = 0) -> Sample:
    """An example where it starts, moving at random as its joints allow.

    Where it starts in a singular position, not every v with G v = ν belongs to a motion; such an
    example moves as it says itself.
    """
    mechanism = mechanism_of(path)
    tree = span(mechanism)
    equations = newton_euler(tree)
    state = assemble(tree)
    names = {k: [label.name for label in equations.labels[k]] for k in "qv"}
    q = dict(zip(names["q"], state.q.tolist(), strict=True))

    def moving(v: np.ndarray) -> Sample:
        speeds = dict(zip(names["v"], v.tolist(), strict=True))
        return Sample(mechanism, seed, q, speeds, {}, {}, t=state.t)

    v = state.v + np.random.default_rng(seed).uniform(-1.0, 1.0, len(state.v))
    _, G, rate = constrained(equations, moving(v))
    if len(G):
        v = v - np.linalg.lstsq(G, rate, rcond=1e-10)[0]
    found = moving(v) if is_motion(equations, moving(v), G) else moving(state.v)
    return seen(equations, found)


def is_motion(equations: Equations, s: Sample, G: np.ndarray) -> bool:
    """Whether some v̇ satisfies G v̇ = γ."""
    if not len(G):
        return True
    values = values_of(equations, s.at(equations))
    gamma = np.array([float(x) for x in evaluate(list(equations.closures.gamma), values)])
    vdot = np.linalg.lstsq(G, gamma, rcond=1e-10)[0]
    return bool(np.max(np.abs(G @ vdot - gamma)) < 1e-9 * max(1.0, np.max(np.abs(gamma))))


def seen(equations: Equations, s: Sample) -> Sample:
    """The sample with poses and twists of its bodies, from the formulas of their poses."""
    symbols = equations.symbols
    qdot = [as_expr(0)] * len(symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[j]
    flow = dict(zip(symbols.q, qdot, strict=True))
    values = values_of(equations, s.at(equations))
    poses, twists = {"ground": (np.eye(3), np.zeros(3))}, {}
    for body, pose in equations.reports.poses.items():
        at = np.array([float(x) for x in evaluate(list(pose), values)])
        rate = np.array([float(x) for x in evaluate(directional(list(pose), flow), values)])
        R, Rdot = at[:9].reshape(3, 3), rate[:9].reshape(3, 3)
        poses[body] = (R, at[9:])
        twists[body] = (axial(Rdot @ R.T), rate[9:])
    return replace(s, poses=poses, twists=twists)
