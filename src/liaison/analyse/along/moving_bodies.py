"""Where all bodies are at a state and how they move, in numbers: one sweep, however many there are.

Public names: moving_bodies.

Source: JB94 §3.5 (recursive velocities).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liaison.equations.sweeps.classes import number
from liaison.equations.sweeps.sweeps import known_values
from liaison.numeric import Array, State
from liaison.spatial.arrays import vector
from liaison.tree import Kinematics, Tree


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
    found = {}
    for body, (node_of, (R_NB, p_NB)) in tree.frames.items():
        carrier = ground if node_of < 0 else nodes[node_of]
        found[body] = _carried(carrier, floats(R_NB), floats(p_NB), still)
    return found


def _carried(
    parent: tuple[Array, Array, Array], R: Array, p: Array, twist: Array
) -> tuple[Array, Array, Array]:
    """A frame at (R, p) of a moving one, with a twist of its own in its own axes."""
    above, place, moving = parent
    omega, v = moving[:3], moving[3:]
    carried = np.concatenate([R.T @ omega, R.T @ (v + np.cross(omega, p))])
    return above @ R, place + above @ p, carried + twist
