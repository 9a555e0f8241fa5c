"""Few contacts of a scene, solved together to rounding where sweeps alone are not enough.

Public names: FEW, settle, dense_size.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import (
    COUNT,
    K_BLOCKS,
    K_CONTACT,
    LAW,
    ROWS,
    Z_DENSE,
    Z_FORCE,
    Z_LAW,
    Z_PUSH,
    Z_ROWS,
)
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.solvers.cones.cones import DISC, ONE_WAY, cone_area, solve_cones

FEW = 20
"""Contacts up to which they are solved together."""


@loop
def settle(mu: f64, free: ptr, z: ptr, k: iptr) -> None:
    """Impulses of all contacts from their rates without any, `free`, by the problem of cones."""
    m = 3 * k[COUNT]
    A = at(z, k[Z_DENSE])
    b = at(A, m * m)
    f = at(b, m)
    limits = at(f, m)
    blocks = at(k, k[K_BLOCKS])
    for c in range(k[COUNT]):
        block = at(blocks, 8 * c)
        limit = at(limits, 6 * c)
        block[0] = ONE_WAY
        block[1] = 3 * c
        block[2] = 1
        block[3] = -1
        block[4] = DISC
        block[5] = 3 * c + 1
        block[6] = 2
        block[7] = 2 * c
        for i in range(6):
            limit[i] = mu * z[k[Z_LAW] + LAW * c] if i == 3 or i == 4 else 0.0
        for d in range(k[COUNT]):
            mobility(c, d, A, z, k)
    for i in range(m):
        b[i] = free[i]
        f[i] = z[k[Z_FORCE] + i]
    solve_cones(m, 2 * k[COUNT], A, b, blocks, limits, f, at(limits, 6 * k[COUNT]))
    for i in range(m):
        z[k[Z_FORCE] + i] = f[i]


@loop
def mobility(c: i64, d: i64, A: ptr, z: ptr, k: iptr) -> None:
    """What unit impulses of one contact do to the rates of another: nine entries of A."""
    m = 3 * k[COUNT]
    for i in range(3):
        for j in range(3):
            total = 0.0
            for s in range(2):
                for t in range(2):
                    body = k[k[K_CONTACT] + 2 * c + s]
                    if body >= 0 and body == k[k[K_CONTACT] + 2 * d + t]:
                        row = at(z, k[Z_ROWS] + ROWS * c + 1 + 18 * s + 6 * i)
                        push = at(z, k[Z_PUSH] + 36 * d + 18 * t + 6 * j)
                        for x in range(6):
                            total += row[x] * push[x]
            A[(3 * c + i) * m + 3 * d + j] = total


def dense_size() -> int:
    """Doubles that `settle` works in."""
    m = 3 * FEW
    return m * m + 2 * m + 6 * FEW + cone_area(m, 2 * FEW)
