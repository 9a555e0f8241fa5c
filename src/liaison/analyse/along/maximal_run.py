"""maximal_run: a mechanism in maximal coordinates, from where its own coordinates start.

Six velocities a body and a multiplier a row of every joint: the series "lam" has each as the force
or moment that it is, `run.reaction(…)` the wrenches, `joint_motion(…)` what the joints do.

Where all bodies are at a state and how they move, in numbers: one sweep, however many there are.

Public names: maximal_run, maximal_ready, sparse_ready, maximal_state, MANY, ROUNDED, moving_bodies.

Source: LL 4.4, 4.5; JB94 §3.5 (recursive velocities).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from liaison.arguments import checked
from liaison.equations import blocks_of, maximal
from liaison.equations.formalisms.maximal import star
from liaison.equations.sweeps.classes import number
from liaison.equations.sweeps.rest import rest_of
from liaison.equations.sweeps.sweeps import known_values
from liaison.errors import AssemblyError, DerivationError, NamingError, SimulationError
from liaison.model import Attitude, Free, Mechanism, Quaternion, RotationMatrix
from liaison.numeric import Array, State
from liaison.program import Kernel, to_llvm
from liaison.program.lower import lower
from liaison.program.many.sparse_kernel import sparse_kernel
from liaison.simulation import Projection, Trajectory
from liaison.simulation import simulate as run
from liaison.simulation.plan.options import OF_RUNS, OF_SCENES, RunKeywords, RunOptions, run_options
from liaison.spatial import quaternion_of
from liaison.spatial.arrays import vector
from liaison.tree import Kinematics, Tree, assemble, span


def moving_bodies(
    tree: Tree, state: State, values: Mapping[str, float] | None = None
) -> dict[str, tuple[Array, Array, Array]]:
    """Body -> R and p of its frame in the ground, and its twist (ω, v) in its own axes.

    Args:
        tree: of the mechanism.
        state: of the tree.
        values: of parameters, where they differ from the description's.
    """
    known = known_values(tree, values)

    def floats(entries: Array) -> Array:
        flat = [float(number(x, known)) for x in entries.flat]
        return np.array(flat).reshape(entries.shape)

    kinematics = Kinematics(tree, vector(map(float, state.q)))
    ground = (np.eye(3), np.zeros(3), np.zeros(6))
    nodes: list[tuple[Array, Array, Array]] = []
    for i, node in enumerate(tree.nodes):
        parent = ground if node.parent < 0 else nodes[node.parent]
        R, p = map(floats, kinematics.pose(i))
        S = floats(kinematics.subspace(i))
        nodes.append(_carried(parent, R, p, S @ state.v[node.v]))
    still = np.zeros(6)
    bodies = {}
    for body, (node_of, (R_NB, p_NB)) in tree.frames.items():
        carrier = ground if node_of < 0 else nodes[node_of]
        bodies[body] = _carried(carrier, floats(R_NB), floats(p_NB), still)
    return bodies


def _carried(
    parent: tuple[Array, Array, Array], R: Array, p: Array, twist: Array
) -> tuple[Array, Array, Array]:
    """A frame at (R, p) of a moving one, with a twist of its own in its own axes."""
    above, place, moving = parent
    omega, v = moving[:3], moving[3:]
    carried = np.concatenate([R.T @ omega, R.T @ (v + np.cross(omega, p))])
    return above @ R, place + above @ p, carried + twist


MANY = 20
"""Bodies from which on loops over tables are taken of themselves."""

CONSISTENCY = 1e-6
"""Largest relative miss of a row that is still a solution: there is no second solver to ask."""

ROUNDED = Projection(position=4e-16, velocity=4e-16)
"""Relative accuracy of places: below it corrections cost evaluations and improve nothing."""

EXPLICIT = ("rk4", "tsitouras", "dormand-prince")
TAKEN = tuple(x for x in OF_RUNS if x not in OF_SCENES)
"""Options of a run that is no scene."""

SERIES = ("energy", "outputs", "poses", "closure", "motions", "reactions", "lam")


@checked
def maximal_run(
    mechanism: Mechanism,
    state: State | None = None,
    *,
    until: float,
    attitude: Attitude | None = None,
    sparse: bool | None = None,
    parameters: Mapping[str, float] | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Trajectory:
    """Lets a mechanism move in maximal coordinates.

    Args:
        mechanism: as described or read.
        state: where it starts, in its own coordinates; assembled if not given.
        until: the last instant [s].
        attitude: of the bodies: `Quaternion()` if not given, or `RotationMatrix()`.
        sparse: bodies and joints as loops over tables, ready in seconds however many there are;
            if not given, from 20 bodies on where the loops know all of the mechanism and the
            method is explicit. Below that written-out code is faster.
        parameters: name -> value instead of the description's.
        options: how to run, as a record.
        **keywords: the same one by one, as for `liaison.simulate`; by default all series that
            joints need.

    Raises:
        DerivationError: sparse, and the mechanism has what the loops do not know.
        SimulationError: the method needs derivatives, which the loops do not give.

    Example:
        >>> import liaison
        >>> run = liaison.maximal_run(liaison.read("examples/pendulum.lsd"), until=0.1)
        >>> run.status
        'done'
    """
    chosen = run_options("maximal_run", options, keywords, TAKEN)
    method = chosen.get("method")
    if sparse is None:
        kernel, begin = _by_size(mechanism, state, attitude, parameters, method)
    elif sparse:
        _check_explicit(method)
        kernel, begin = sparse_ready(mechanism, state, attitude, parameters)
    else:
        kernel, begin = maximal_ready(mechanism, state, attitude, parameters)
    if "terms" in kernel.program.entries:
        chosen["parameters"] = parameters
    else:  # parameters are numbers in the loops
        chosen = {"residual": CONSISTENCY, "projection": ROUNDED} | chosen
    return run(kernel, begin, until=until, **{"series": SERIES} | chosen)


def _by_size(
    mechanism: Mechanism,
    state: State | None,
    attitude: Attitude | None,
    parameters: Mapping[str, float] | None,
    method: str | None,
) -> tuple[Kernel, State]:
    """Loops for many bodies, where they know all of the mechanism; written-out code elsewhere."""
    if len(mechanism.bodies) - 1 >= MANY and method in (None, *EXPLICIT):
        with suppress(DerivationError):
            return sparse_ready(mechanism, state, attitude, parameters)
    return maximal_ready(mechanism, state, attitude, parameters)


def _check_explicit(method: str | None) -> None:
    """Raises an error for methods that need derivatives of the dynamics, or its terms."""
    if method not in (None, *EXPLICIT):
        raise SimulationError(
            f"method {method!r} needs entries that sparse maximal coordinates do not have.",
            hint=f"Take one of {', '.join(EXPLICIT)}; or sparse=False for up to some hundred "
            "bodies.",
        )


def maximal_ready(
    mechanism: Mechanism,
    state: State | None = None,
    attitude: Attitude | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[Kernel, State]:
    """The machine code of a mechanism in maximal coordinates, and where it starts."""
    tree, attitude = span(mechanism), attitude or Quaternion()
    begin = maximal_state(tree, state or assemble(tree, parameters), attitude, parameters)
    return to_llvm(lower(maximal(tree, attitude=attitude))), begin


def sparse_ready(
    mechanism: Mechanism,
    state: State | None = None,
    attitude: Attitude | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[Kernel, State]:
    """The same with bodies and joints as loops; parameters are numbers in it.

    Raises:
        DerivationError: the mechanism has what the loops do not know.
    """
    for name in parameters or {}:
        if name not in (named := [x.name for x in mechanism.parameters]):
            raise NamingError.unknown("parameter", name, named)
    tree, attitude = span(mechanism), attitude or Quaternion()
    begun = replace(mechanism, starts=())  # an angle is not kept because the start names it
    loosened = star(replace(tree, mechanism=begun), attitude)
    blocks = blocks_of(loosened, parameters, with_rest=True)
    known = known_values(loosened, parameters)

    def flat(pose: tuple[Any, Any]) -> list[float]:
        return [float(number(x, known)) for part in pose for x in part.flat]

    frames = {
        body.name: (loosened.frames[body.name][0], flat(loosened.frames[body.name][1]))
        for body in mechanism.bodies[1:]
    }
    marks = {x.joint.name: flat(x.successor[1]) for x in loosened.closures}
    kernel = sparse_kernel(blocks, rest_of(loosened, parameters), bodies=frames, joints=marks)
    begin = state or assemble(tree, parameters)
    return kernel, maximal_state(tree, begin, attitude, parameters, loosened)


def maximal_state(
    tree: Tree,
    state: State,
    attitude: Attitude | None = None,
    parameters: Mapping[str, float] | None = None,
    loosened: Tree | None = None,
) -> State:
    """The same instant with every body free: places, attitudes and twists in the bodies' axes.

    Args:
        tree: of the mechanism.
        state: of the tree.
        attitude: of the bodies.
        parameters: name -> value instead of the description's.
        loosened: the mechanism with every joint cut, if it is known already.
    """
    attitude = attitude or Quaternion()
    loosened = loosened or star(tree, attitude)
    moving = moving_bodies(tree, state, parameters)
    known = {x.name for group in state.labels.values() for x in group}
    q, v = np.zeros(loosened.nq), np.zeros(loosened.nv)
    for node in loosened.nodes:
        if isinstance(node.joint.type, Free) and node.joint.name == f"free {node.body}":
            R, place, v[node.v] = moving[node.body]
            turned = R.ravel() if isinstance(attitude, RotationMatrix) else quaternion_of(R)
            q[node.q] = [*place, *turned]
        else:
            q[node.q] = [_own(state, label, known) for label in node.joint.coordinates]
            v[node.v] = [_own(state, label, known) for label in node.joint.speeds]
    labels = {"q": loosened.position_labels(), "v": loosened.velocity_labels()}
    return State(state.t, q, v, labels)


def _own(state: State, label: str, known: set[str]) -> float:
    """A coordinate used by a force or an output, from the mechanism's own state."""
    if label not in known:
        raise AssemblyError(
            f"the start has no {label!r}, which the maximal coordinates keep.",
            hint="Give a state of a tree in which that joint is not cut.",
        )
    return float(state[label])
