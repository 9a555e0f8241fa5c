"""Where everything lies in the arrays of a mechanism told by blocks: `n`, `c`, and the work space.

`n` (int64) begins with counts and offsets, tables and addresses of kernels follow; `c` (float64)
holds constants; `work` is divided by the offsets W_….

Public names: the names of the slots of `n`, and of the columns of its tables.
"""

from __future__ import annotations

(
    BODIES, KEPT, UNKNOWNS, ROW_TABLE, LENT_TABLE, CLOSED_TABLE, PIVOTS, RELATIONS, TERMS,
    TAUS, POSES, NQ, NV, NC, NPHI, RECORD, RECORDED, SLOTS,
    O_NODES, O_ROWS, O_LENT, O_CLOSED, O_JOINTS, O_PIVOTS, O_EDGES, O_TARGETS, O_SIZES,
    O_RELATIONS, O_TERMS, O_TAUS, O_POSES,
    E_NODES, E_ENDS, E_RETRACT, E_RATE, E_REST,
    C_NODES, C_ENDS, C_GROUND, C_POSES, C_MARKERS,
    W_RECORDS, W_DIAGONAL, W_BLOCKS, W_SCALE, W_X, W_GIVEN, W_LEFT, W_TAU, W_TAUS, W_RELATIONS,
    W_Q, W_SPACE, W_KERNEL, W_ALL,
    HEADER,
) = range(56)  # fmt: skip
"""Slots of `n`: counts, offsets in n (O), of addresses (E), in c (C), in work (W)."""

SECOND, PHI, RATE = range(3)
"""Levels of what is left over of a row: Φ̈ at v̇ = 0, Φ, Φ̇."""

REST_TAU, REST_ROWS, REST_POTENTIAL = range(3)
"""Kernels of what is written out."""

ROW = 6  # unknown, body, slot, offset, stride, turned
LENT = 8  # body, other body, slot, offset on the one, on the other, stride, rows, unknown
CLOSED = 10  # class, two nodes, constants, results, kept q, kept v, rows, ties, first multiplier
JOINT = 5  # node, parent, offset of its pairs, first v, nv
RELATION = 4  # unknown, how many terms, multiplier, is of positions
TERM = 8  # place of G, two sources, two targets, what is left over, stride of it, tie or −1
