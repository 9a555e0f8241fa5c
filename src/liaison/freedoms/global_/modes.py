"""One assembly mode: coordinates, poses and a state of the tree, with its certificate.

Public names: Mode, mode_at, joint_coordinates, sorted_modes, closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import as_expr, evaluate
from liaison.freedoms.engines.systems import Solution, Solved
from liaison.lazy import Shown
from liaison.model import Joint, Mechanism
from liaison.numeric import State
from liaison.spatial import array
from liaison.tree import span

from .links import Links, Passive

LISTED = 8
"""Coordinates of a mode that are printed for reading."""

ROUNDING = 1e-15
"""Coordinates below it are printed as 0."""

Floats: TypeAlias = NDArray[np.float64]
Poses: TypeAlias = Mapping[int, tuple[Any, Any]]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Mode(Shown):
    """One way in which a mechanism closes."""

    label: str
    coordinates: Mapping[str, float]  # of all joints, also those cut in the tree [m, rad]
    state: State  # of the tree, at rest
    residual: float  # the largest gap at a joint, in floats [m, 1]
    proof: str  # "exact", "Krawczyk", or "" where its existence is not proved
    radius: float  # within which the exact position lies
    multiplicity: int = 1  # above 1 where modes coincide; 0 where it is not known

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "label": self.label, "coordinates": dict(self.coordinates), "residual": self.residual,
            "proof": self.proof, "radius": self.radius, "multiplicity": self.multiplicity,
        }  # fmt: skip

    def __str__(self) -> str:
        rounded = {k: 0.0 if abs(x) < ROUNDING else x for k, x in self.coordinates.items()}
        listed = [f"{name} = {x:.9g}" for name, x in rounded.items()]
        more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
        coordinates = ", ".join(listed[:LISTED]) + more
        proved = f"proved ({self.proof})" if self.proof else "not proved"
        double = f", {self.multiplicity}-fold" if self.multiplicity > 1 else ""
        return f"{self.label}: {coordinates}; {proved}, gap {self.residual:.1e}{double}"


def mode_at(mechanism: Mechanism, links: Links, poses: Poses, solution: Solution) -> Mode:
    """The mode in which links have these poses in ground's axes.

    Args:
        mechanism: as its author gave it.
        links: of it.
        poses: (R, p) of each link, in floats.
        solution: what is known of it.
    """
    bodies = _bodies(links, poses)
    starts = {s.label: _float(s.value) for s in links.mechanism.starts}
    held = {label: _float(x) for label, x in links.held.items()}
    coordinates: dict[str, list[float]] = {}
    worst = 0.0
    for joint in links.mechanism.joints:
        R, p = _relative(joint, bodies)
        rows = joint.type.residual(array(R), array(p)) or [0]
        worst = max(worst, *(abs(_float(x)) for x in rows))
        coordinates[joint.name] = _coordinates(joint, R, p, starts | held)
    return Mode(
        "", _by_label(links, coordinates), _state(mechanism, coordinates), worst,
        solution.proof, solution.radius, solution.multiplicity,
    )  # fmt: skip


def joint_coordinates(links: Links, passive: Passive, poses: Poses) -> list[float]:
    """Coordinates of a joint between links of known poses, near its start."""
    F = _compose(poses[passive.a], _floats(passive.F))
    M = _compose(poses[passive.b], _floats(passive.M))
    starts = {s.label: _float(s.value) for s in links.mechanism.starts}
    return _coordinates(passive.joint, *_compose(_inverse(F), M), starts)


def _by_label(links: Links, coordinates: Mapping[str, list[float]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for joint in links.mechanism.joints:
        values |= dict(zip(joint.coordinates, coordinates[joint.name], strict=True))
    return values


def _bodies(links: Links, poses: Poses) -> dict[str, tuple[Floats, Floats]]:
    """Poses of all bodies in ground's axes."""
    by_link = {0: (np.eye(3), np.zeros(3)), **poses}
    return {body: _compose(by_link[link], _floats(X)) for body, (link, X) in links.bodies.items()}


def _relative(joint: Joint, bodies: Mapping[str, tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The successor's marker seen from the predecessor's."""
    first, second = joint.predecessor, joint.successor
    F = _compose(bodies[first.body], _floats((first.rotation, first.position)))
    M = _compose(bodies[second.body], _floats((second.rotation, second.position)))
    return _compose(_inverse(F), M)


def _coordinates(joint: Joint, R: Floats, p: Floats, near: Mapping[str, float]) -> list[float]:
    neutral = [_float(x) for x in joint.type.neutral()]
    begun = [near.get(label, x) for label, x in zip(joint.coordinates, neutral, strict=True)]
    coordinates = joint.type.coordinates_of(array(R), array(p), begun)
    return begun if coordinates is None else [_float(x) for x in coordinates]


def _state(mechanism: Mechanism, coordinates: Mapping[str, Sequence[float]]) -> State:
    tree = span(mechanism)
    q = np.zeros(tree.nq)
    for node in tree.nodes:
        q[node.q] = coordinates[node.joint.name]
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    return State(0.0, q, np.zeros(tree.nv), labels)


def sorted_modes(modes: Sequence[Mode]) -> tuple[Mode, ...]:
    """Modes in the order of their coordinates, and labelled in it."""
    listed = sorted(modes, key=lambda m: [round(x, 9) for x in m.coordinates.values()])
    return tuple(replace(mode, label=f"mode {k}") for k, mode in enumerate(listed, 1))


def closed(solution: Solved) -> tuple[bool, str]:
    """Whether the list of modes is complete, and why, for a system solved over the rationals."""
    if solution.is_full:
        return True, f"all of them, proved: {solution.points} complex solutions, as many as can be"
    if not solution.is_stable:
        return False, "not proved to be all: near a singular position rounding makes a difference"
    by = "" if solution.engine == "FLINT" else f", if {solution.engine} is right"
    if solution.is_exact:
        return True, f"all of them, proved over the rationals{by}"
    rounding = str(solution.digits).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return (
        True,
        f"all of them for data rounded to 2⁻{rounding}, each proved for the data themselves{by}",
    )


def _float(x: Any) -> float:
    return float(evaluate(as_expr(x)))


def _floats(X: Any) -> tuple[Floats, Floats]:
    R, p = X
    turned = np.array([[_float(x) for x in row] for row in R])
    return turned, np.array([_float(x) for x in p])


def _compose(A: tuple[Any, Any], B: tuple[Any, Any]) -> tuple[Floats, Floats]:
    return A[0] @ B[0], A[0] @ B[1] + A[1]


def _inverse(A: tuple[Any, Any]) -> tuple[Floats, Floats]:
    return A[0].T, -A[0].T @ A[1]
