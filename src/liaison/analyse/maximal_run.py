"""maximal_run: a mechanism in maximal coordinates, from where its own coordinates start.

Six velocities a body and a multiplier a row of every joint: the series "lam" has each as the force
or moment that it is, `run.reaction(…)` the wrenches, `joint_motion(…)` what the joints do.

Public names: maximal_run, maximal_ready, maximal_state.

Source: LL 4.4, 4.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liaison.equations import maximal, newton_euler
from liaison.equations.maximal import star
from liaison.errors import AssemblyError
from liaison.model import Attitude, Free, Mechanism, Quaternion, RotationMatrix
from liaison.numeric import Array, State
from liaison.program import Kernel, to_llvm, to_numpy
from liaison.program.lower import lower
from liaison.simulate import Trajectory
from liaison.simulate import simulate as run
from liaison.spatial import quaternion_of
from liaison.tree import Tree, assemble, span

SERIES = ("energy", "outputs", "poses", "closure", "motions", "reactions", "lam")


def maximal_run(
    mechanism: Mechanism,
    state: State | None = None,
    *,
    until: float,
    attitude: Attitude | None = None,
    **options: Any,
) -> Trajectory:
    """Lets a mechanism move in maximal coordinates.

    Args:
        mechanism: as described or read.
        state: where it starts, in its own coordinates; assembled if not given.
        until: the last instant [s].
        attitude: of the bodies: `Quaternion()` if not given, or `RotationMatrix()`.
        **options: as `liaison.simulate` has them; by default all series that joints need.
    """
    kernel, begin = maximal_ready(mechanism, state, attitude)
    return run(kernel, begin, until=until, **{"series": SERIES, **options})


def maximal_ready(
    mechanism: Mechanism, state: State | None = None, attitude: Attitude | None = None
) -> tuple[Kernel, State]:
    """The machine code of a mechanism in maximal coordinates, and where it starts."""
    tree, attitude = span(mechanism), attitude or Quaternion()
    begin = maximal_state(tree, state or assemble(tree), attitude)
    return to_llvm(lower(maximal(tree, attitude=attitude))), begin


def maximal_state(tree: Tree, state: State, attitude: Attitude | None = None) -> State:
    """The same instant with every body free: places, attitudes and twists in the bodies' axes."""
    attitude = attitude or Quaternion()
    loosened = star(tree, attitude)
    bodies = to_numpy(lower(newton_euler(tree)))
    poses = bodies.call("poses", state.t, q=state.q)
    still = np.zeros(tree.nv)
    motions = bodies.call("motions", state.t, q=state.q, v=state.v, x=still)
    q, v = np.zeros(loosened.nq), np.zeros(loosened.nv)
    for node in loosened.nodes:
        if isinstance(node.joint.type, Free) and node.joint.name == f"free {node.body}":
            pose, motion = poses[node.body], motions[node.body]
            q[node.q], v[node.v] = _free(pose, motion, attitude)
        else:
            q[node.q] = [_own(state, label) for label in node.joint.coordinates]
            v[node.v] = [_own(state, label) for label in node.joint.speeds]
    labels = {"q": loosened.position_labels(), "v": loosened.velocity_labels()}
    return State(state.t, q, v, labels)


def _free(pose: Array, motion: Array, attitude: Attitude) -> tuple[list[float], list[float]]:
    """Place and attitude of a body, and its twist in its own axes."""
    R, place = pose[:9].reshape(3, 3), pose[9:12]
    turned = R.ravel() if isinstance(attitude, RotationMatrix) else quaternion_of(R)
    return [*place, *turned], [*(R.T @ motion[:3]), *(R.T @ motion[3:6])]


def _own(state: State, label: str) -> float:
    """A coordinate that a force or an output speaks of, as the mechanism's own state has it."""
    known = {x.name for group in state.labels.values() for x in group}
    if label not in known:
        raise AssemblyError(
            f"the start has no {label!r}, which the maximal coordinates keep.",
            hint="Give a state of a tree in which that joint is not cut.",
        )
    return float(state[label])
