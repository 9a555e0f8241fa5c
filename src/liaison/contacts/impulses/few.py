"""Few contacts of a scene, solved together to rounding where sweeps alone are not enough.

Public names: settle.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import World
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.solvers.cones.cones import DISC, ONE_WAY, solve_cones


@loop
def settle(mu: f64, world: World) -> None:
    """Impulses of all contacts from their rates without any, by the problem of cones."""
    count = world.contacts
    m = 3 * count
    f = world.few_forces
    for c in range(count):
        block = world.cone_blocks[8 * c :]
        limit = world.cone_limits[6 * c :]
        block[0] = ONE_WAY
        block[1] = 3 * c
        block[2] = 1
        block[3] = -1
        block[4] = DISC
        block[5] = 3 * c + 1
        block[6] = 2
        block[7] = 2 * c
        contact = world.contact[c]
        for i in range(6):
            limit[i] = mu * contact.friction if i == 3 or i == 4 else 0.0
        for d in range(count):
            mobility(c, d, world.mobility, world)
        for r in range(3):
            f[3 * c + r] = contact.force[r]
    solve_cones(
        m,
        2 * count,
        world.mobility,
        world.few_rates,
        world.cone_blocks,
        world.cone_limits,
        f,
        world.cones,
    )
    for c in range(count):
        for r in range(3):
            world.contact[c].force[r] = f[3 * c + r]


@loop
def mobility(c: i64, d: i64, A: ptr, world: World) -> None:
    """What unit impulses of one contact do to the rates of another: nine entries of A."""
    m = 3 * world.contacts
    one = world.contact[c]
    other = world.contact[d]
    for i in range(3):
        for j in range(3):
            total = 0.0
            for s in range(2):
                for t in range(2):
                    body = one.body[s]
                    if body >= 0 and body == other.body[t]:
                        row = one.rows[18 * s + 6 * i :]
                        push = other.push[18 * t + 6 * j :]
                        for x in range(6):
                            total += row[x] * push[x]
            A[(3 * c + i) * m + 3 * d + j] = total
