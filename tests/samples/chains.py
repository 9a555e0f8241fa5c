"""A parametric family of trees."""

from __future__ import annotations

import math

from liaison.model import Body, Gravity, Joint, Marker, Mechanism, Prismatic, Revolute

KINDS = {"R": Revolute, "P": Prismatic}


def chain(
    n: int,
    *,
    branching: float = 1.0,
    skew: float = math.pi / 2,
    taper: float = 1.0,
    joints: str = "R",
) -> Mechanism:
    """n bodies in a tree of regular shape.

    Body i hangs on body ⌊(i − 2 + ⌈b⌉)/b⌋, so that branching 1 is a chain, 2 a binary tree, n a
    broom. Body i is a thin cylinder along x, a factor `taper` smaller than the one before it; the
    axis of each joint is turned by `skew` about x against the one it hangs on; the letters of
    `joints` are repeated.

    Source: RBDA appendix on spatial_v2, autoTree.
    Differs: the cylinder's radius is a twentieth of its length; joint types are a repeated word.
    """
    parents = [0] + [int((i - 2 + math.ceil(branching)) / branching) for i in range(2, n + 1)]
    turn = [[1, 0, 0], [0, math.cos(skew), -math.sin(skew)], [0, math.sin(skew), math.cos(skew)]]
    straight = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    bodies, links = [], []
    for i, parent in enumerate(parents, start=1):
        length, mass = taper ** (i - 1), taper ** (3 * (i - 1))
        radius = length / 20
        across = mass * (length**2 / 12 + radius**2 / 4)
        along = mass * radius**2 / 2
        inertia = ((along, 0, 0), (0, across, 0), (0, 0, across))
        bodies.append(Body(f"link {i}", mass, (length / 2, 0, 0), inertia))
        tip = taper ** (parent - 1) if parent else 0
        on = Marker(f"link {parent}", turn, (tip, 0, 0)) if parent else Marker("ground", straight)
        links.append(
            Joint(f"q{i}", KINDS[joints[(i - 1) % len(joints)]](), on, Marker(f"link {i}"))
        )
    return Mechanism(f"chain of {n}", tuple(bodies), tuple(links), forces=(Gravity(),))
