"""Where everything lies in the two arrays of a scene: `z` (float64) and `k` (int64).

Public names: the slots, blocks and status codes below; SceneSizes, scene_arrays, and how
many numbers each thing has: ROWS, LIVE, EVENT, SOLID, FEATURE, LAW.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.impulses.cone_pairs import interior_size
from liaison.contacts.impulses.elimination import block_room, table_size
from liaison.numeric import Array
from liaison.program.pairs import PAIR_ROWS

# named slots of z
T, STEP, T_START, T_END, H, FRICTION, RESTITUTION, GX, GY, GZ, RESIDUAL = range(11)
TOLERANCE, DEPTH, MARGIN, WORST_RESIDUAL, WORST_DEPTH, STRONGEST, SIZE, TOUCH = range(11, 19)
TURNING_RESIDUAL, LEFT = 19, 20
FLOATS = 24

# named slots of k: sizes, choices, progress
BODIES, BALLS, COLLIDERS, PLANES, CAPACITY, COUNT, CANDIDATES, TABLE = range(8)
STEPS, RECORDED, RECORDS, EVERY, SWEEPS_ALLOWED, SWEEPS, MOST, IS_BEGUN = range(8, 16)
TOUCHING, HAPPENED, LIVING, CLASSES = range(16, 20)
# offsets of blocks: in k, then in z
K_OWNER, K_ORDER, K_PAIRS, K_CONTACT, K_ACTIVE, K_TABLE, K_NEXT = range(20, 27)
Z_POSE, Z_SPEED, Z_MASS, Z_INERTIA, Z_BALL, Z_PLANE, Z_MID, Z_END = range(30, 38)
Z_FREE, Z_NEW, Z_INVERSE, Z_BOX, Z_ROWS, Z_PUSH, Z_FORCE, Z_RIGHT = range(38, 46)
Z_SCALE, Z_KEPT, Z_SUM, Z_OUT, Z_LAST, Z_DENSE, K_BLOCKS = range(46, 53)
K_LIVE, K_CLASS, K_LAWS, Z_LIVE, Z_LAW, Z_LAWS, EVENT_ROOM = range(53, 60)
BOXES, K_KIND, K_FEATURE, K_NEAR, Z_FEATURE, Z_SOLID, Z_WORK = range(60, 67)
BLOCKS, K_SPARSE, Z_INSIDE, MISSED, TURNS = range(67, 72)
HAS_TURNING, Z_MOMENT, Z_MOMENT_KEPT, PARTS, TRIED = range(72, 77)
INTS = 96

ROWS = PAIR_ROWS
"""Numbers of a contact: its gap, three rows on the first body, three on the second."""
LIVE = 28
"""Numbers of a pair of bodies that is followed for its events; `notes` says which."""
EVENT = 5
"""Numbers of an event: what, first (−1 − plane, or body), second, instant, speed of approach."""
SOLID = 10
"""Numbers of a box: its center on its body, its half sizes, the quaternion of its axes there."""
FEATURE = 16
"""Numbers of a candidate as the kernel of pairs takes them: ten of the first, six of the second."""
LAW = 4
"""Numbers of a law: friction, restitution, rolling and pivoting friction [m]."""

# entries of the kernel of pairs
KINDS = 5
BALL_BALL, BALL_PLANE, BALL_BOX, POINT_FACE, EDGE_EDGE = range(KINDS)
PAIR_ENTRIES = (
    "ball_ball", "ball_plane", "ball_box", "point_face", "edge_edge",
    "ball_ball_gap", "ball_plane_gap", "ball_box_gap", "point_face_gap", "edge_edge_gap",
)  # fmt: skip

# what `scene_march` returns
GOOD, DONE, FULL, CROWDED, NOT_FINITE, UNSOLVED = range(6)


@final
@dataclass(frozen=True, slots=True)
class SceneSizes:
    """What the arrays of a scene are sized by."""

    bodies: int
    balls: int
    colliders: int
    planes: int
    capacity: int
    dense: int
    blocks: int
    classes: int
    laws: int
    boxes: int


def scene_arrays(s: SceneSizes) -> tuple[Array, NDArray[np.int64]]:
    """Arrays of these sizes, offsets filled in, all else zero."""
    n, c = s.bodies, s.capacity
    table = 1 << (4 * c - 1).bit_length()
    wide = s.balls + s.boxes
    ints = {
        K_OWNER: s.colliders, K_ORDER: wide, K_PAIRS: 2 * c, K_CONTACT: 2 * c, K_ACTIVE: c,
        K_KIND: c, K_FEATURE: c, K_NEAR: 2 * c,
        K_TABLE: 2 * table, K_NEXT: c, K_BLOCKS: s.blocks, K_LIVE: 2 * table,
        K_CLASS: s.colliders + s.planes, K_LAWS: s.classes**2, K_SPARSE: table_size(n, c),
    }  # fmt: skip
    floats = {
        Z_POSE: 7 * n, Z_SPEED: 6 * n, Z_MASS: n, Z_INERTIA: 18 * n, Z_BALL: 4 * s.colliders,
        Z_PLANE: 4 * s.planes, Z_MID: 7 * n, Z_END: 7 * n, Z_FREE: 6 * n, Z_NEW: 6 * n,
        Z_INVERSE: 9 * n, Z_BOX: 6 * wide, Z_ROWS: ROWS * c, Z_PUSH: 36 * c, Z_FORCE: 3 * c,
        Z_RIGHT: 3 * c, Z_SCALE: 2 * c, Z_KEPT: 3 * c, Z_SUM: 3 * s.planes, Z_OUT: 64,
        Z_LAST: 6 * c + 12 * n, Z_DENSE: s.dense, Z_LIVE: 2 * LIVE * c, Z_LAW: LAW * c,
        Z_LAWS: LAW * s.laws, Z_FEATURE: FEATURE * c, Z_SOLID: SOLID * s.boxes, Z_WORK: 192,
        Z_MOMENT: 3 * c, Z_MOMENT_KEPT: 3 * c,
        Z_INSIDE: interior_size(n, c),
    }  # fmt: skip
    offsets: dict[int, int] = {}
    k = np.zeros(_place(ints, INTS, offsets), dtype=np.int64)
    z = np.zeros(_place(floats, FLOATS, offsets))
    for slot, offset in offsets.items():
        k[slot] = offset
    k[[BODIES, BALLS, COLLIDERS, PLANES]] = s.bodies, s.balls, s.colliders, s.planes
    k[[CAPACITY, TABLE, CLASSES, BOXES]] = c, table, s.classes, s.boxes
    k[BLOCKS] = block_room(n)
    return z, k


def _place(blocks: dict[int, int], start: int, offsets: dict[int, int]) -> int:
    for slot, size in blocks.items():
        offsets[slot] = start
        start += size
    return start
