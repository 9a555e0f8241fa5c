"""Motors that balance gravity: their efforts as formulas of the position, also with closed loops.

With U the potential of gravity and Z the motions of the compensated coordinates that the closures
allow, all others following,

    effort = Zᵀ Nᵀ ∂U/∂q.                                                       (compensation-1)

Public names: compensations.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.equations.setting import Load, Setting, coordinate_row
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr
from liaison.model.loads.control import GravityCompensation
from liaison.spatial.arrays import dot, product
from liaison.tree import GROUND

from .shortest import dot_product, least_squares


def compensations(setting: Setting, forces: Sequence[GravityCompensation]) -> list[Load]:
    """The efforts of motors that together balance gravity.

    Args:
        setting: of the tree.
        forces: the motors, each on a coordinate.

    Raises:
        DerivationError: closed loops leave more freedom than there are such motors.
    """
    places = [next(iter(coordinate_row(setting.kinematics, x.coordinate).G)) for x in forces]
    need = setting.flows(_potential(setting))
    loads = []
    for force, j, way in zip(forces, places, _ways(setting, forces, places), strict=True):
        loads.append(Load(force.name, {j: dot_product(zip(way, need, strict=True))}))
    return loads


def _potential(setting: Setting) -> Expr:
    """U of gravity."""
    total = ZERO
    for i, node in enumerate(setting.tree.nodes):
        m, moment, _ = node.inertia
        at = setting.kinematics.motion(GROUND, i)
        weighted = product(at.R, moment)
        total = total - as_expr(dot(setting.gravity, weighted + at.p * m))
    return as_expr(total)


def _ways(
    setting: Setting, forces: Sequence[GravityCompensation], places: Sequence[int]
) -> list[list[Expr]]:
    """All velocities for a unit of each compensated one."""
    nv = len(setting.v)
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
