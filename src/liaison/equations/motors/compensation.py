"""Motors that balance gravity: their efforts as formulas of the position, also with closed loops.

With U the potential of gravity and Z the motions of the compensated coordinates that the closures
allow, all others following,

    effort = Zᵀ Nᵀ ∂U/∂q.                                                       (compensation-1)

Public names: compensations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr
from liaison.model.loads.control import GravityCompensation
from liaison.spatial.arrays import Array, dot, product
from liaison.tree import GROUND, Kinematics, Tree

from .shortest import dot_product, least_squares


class Moving(Protocol):
    """What a tree on formulas says of itself, for the efforts that balance it."""

    tree: Tree
    kinematics: Kinematics

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall [m/s²]."""

    @property
    def rows(self) -> Any:
        """Rows that constrain, and those that vanish."""

    def flows(self, potential: Expr) -> list[Expr]:
        """Nᵀ ∂V/∂q."""


def compensations(
    setting: Moving, forces: Sequence[GravityCompensation]
) -> list[tuple[str, int, Expr]]:
    """The efforts of motors that together balance gravity: names, places in v, formulas.

    Args:
        setting: of the tree.
        forces: the motors, each on a coordinate.

    Raises:
        DerivationError: closed loops leave more freedom than there are such motors.
    """
    places = [setting.kinematics.places[f"{x.coordinate}'"] for x in forces]
    need = setting.flows(_potential(setting))
    ways = _ways(setting, forces, places)
    return [
        (force.name, j, dot_product(zip(way, need, strict=True)))
        for force, j, way in zip(forces, places, ways, strict=True)
    ]


def _potential(setting: Moving) -> Expr:
    """U of gravity."""
    total = ZERO
    for i, node in enumerate(setting.tree.nodes):
        m, moment, _ = node.inertia
        at = setting.kinematics.motion(GROUND, i)
        weighted = product(at.R, moment)
        total = total - as_expr(dot(setting.gravity, weighted + at.p * m))
    return as_expr(total)


def _ways(
    setting: Moving, forces: Sequence[GravityCompensation], places: Sequence[int]
) -> list[list[Expr]]:
    """All velocities for a unit of each compensated one."""
    nv = setting.tree.nv
    ways = [[ZERO] * nv for _ in places]
    for way, j in zip(ways, places, strict=True):
        way[j] = as_expr(1)
    rows = [{j: as_expr(x) for j, x in row.G.items()} for _, row in setting.rows[0]]
    moving = sorted({j for row in rows for j in row} - {*places})
    if not moving:
        return ways
    if len(rows) < len(moving):
        names = [x.name for x in setting.tree.velocity_labels()]
        raise DerivationError(
            f"the closures leave more freedom than there are motors with gravity compensation: "
            f"{len(rows)} rows for {', '.join(names[j] for j in moving)}.",
            place=forces[0].place,
            hint="Apply one on a coordinate for each degree of freedom of the closed loops.",
        )
    K = [[row.get(j, ZERO) for j in moving] for row in rows]
    sides = [[-row.get(j, ZERO) for j in places] for row in rows]
    for j, solution in zip(moving, least_squares(K, sides), strict=True):
        for way, entry in zip(ways, solution, strict=True):
            way[j] = entry
    return ways
