"""Few contacts of a scene, solved together to rounding where sweeps alone are not enough.

Public names: settle.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import World
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.solvers.cones.cones import DISC, ONE_WAY, Limit, solve_cones


@loop
def settle(mu: f64, world: World) -> None:
    """Impulses of all contacts from their rates without any, by the problem of cones."""
    count = world.contacts
    m = 3 * count
    f = world.few_forces
    blocks = 0
    for c in range(count):
        contact = world.contact[c]
        load = world.cone_block[blocks]
        load.kind = ONE_WAY
        load.first = 3 * c
        load.rows = 1
        load.load = -1
        disc = world.cone_block[blocks + 1]
        disc.kind = DISC
        disc.first = 3 * c + 1
        disc.rows = 2
        disc.load = blocks
        bound(0.0, world.cone_limit[blocks])
        bound(mu * contact.friction, world.cone_limit[blocks + 1])
        blocks += 2
        for d in range(count):
            mobility(c, d, world.mobility, world)
        for r in range(3):
            f[3 * c + r] = contact.force[r]
    solve_cones(
        m,
        blocks,
        world.mobility,
        world.few_rates,
        world.cone_block,
        world.cone_limit,
        f,
        world.cones,
    )
    for c in range(count):
        for r in range(3):
            world.contact[c].force[r] = f[3 * c + r]


@loop
def bound(coefficient: f64, limit: Limit) -> None:
    """A bound in proportion to the load, the same along both rows."""
    limit.coefficient[0] = coefficient
    limit.coefficient[1] = coefficient
    limit.constant = 0.0


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
                        row = one.rows[3 * s + i]
                        push = other.push[3 * t + j]
                        for x in range(6):
                            total += row[x] * push[x]
            A[(3 * c + i) * m + 3 * d + j] = total
