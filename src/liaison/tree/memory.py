"""States of loads in a tree: velocities without a coordinate, of nodes that nothing moves.

A state z with ż = f is one more entry of v, behind those of the joints. Its node is a massless body
that stays where the ground is: S = 0, N has no row for it, and the equations give it the row
1 · ż = f. Its local coordinate ξ = ∫ z dt within a step moves nothing. So every formalism, time
step and back end takes it as it takes any velocity.

Public names: StateType, state_joint, is_state.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.model import Joint, JointType, Marker
from liaison.spatial import Array, Entries, identity, zeros
from liaison.units import Label


@final
@dataclass(frozen=True, slots=True)
class StateType(JointType):
    """No motion, and one velocity that is a state of a load."""

    unit: str = ""

    @property
    def speed_names(self) -> tuple[str, ...]:
        return ("",)  # the velocity is called as the joint

    @property
    def speed_units(self) -> tuple[str, ...]:
        return (self.unit,)

    @property
    def freedom(self) -> int:
        return 0

    @property
    def charts(self) -> tuple[tuple[str, int, int], ...]:
        return (("state", 0, 1),)

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return identity(3), zeros(3)

    def subspace(self, q: Entries) -> Array:
        return zeros(6, 1)

    def kinematic_map(self, q: Entries) -> Array:
        return zeros(0, 1)

    def retract(self, q: Entries, xi: Entries) -> Array:
        return zeros(0)

    def difference(self, q0: Entries, q1: Entries) -> Array:
        return zeros(1)


def state_joint(label: Label, body: str) -> Joint:
    """The joint whose only velocity is a state."""
    return Joint(label.name, StateType(label.unit), Marker("ground"), Marker(body))


def is_state(joint: Joint) -> bool:
    """Whether it is the joint of a state."""
    return isinstance(joint.type, StateType)
