"""Records of a mechanism in blocks: tables of bodies, joints and rows, and the work space.

`System` holds what does not change: tables, constants, entries of the kernels of one node and of
one closure. `Work` is the scratch space of an entry. A place is an index into the numbers of
`Work`, counted from its beginning: rows of joints lie in the records of bodies, those of closures
and relations behind them.

Public names: System, Work, Node, Body, State, Row, Lent, Closed, Joint, Relation, Term, Pivot,
Edge, SECOND, PHI, RATE.
"""

from __future__ import annotations

from liaison.equations.sweeps.blocks import ROWS_SLOT, STATE
from liaison.program.loops.language import i64, iptr, kernel, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, size, sized

SECOND, PHI, RATE = range(3)
"""Levels of the residual of a row: Φ̈ at v̇ = 0, Φ, Φ̇."""


class Node(Record):
    """A node of the tree: its class, and where its numbers begin."""

    kind: i64
    parent: i64  # -1: the ground
    q: i64
    v: i64
    constants: i64
    nv: i64


class Row(Record):
    """The rows of an unknown on one body: a block of the system."""

    unknown: i64
    body: i64
    block: i64
    place: i64  # of J
    stride: i64
    is_turned: i64  # the block is Jᵀ


class Lent(Record):
    """Rows that add J Λ Jᵀ to the inertia of their two bodies."""

    bodies: iptr = inline(2)
    block: i64  # between the bodies; -1 - block where it belongs to the second one's rows
    places: iptr = inline(2)
    stride: i64
    count: i64
    unknown: i64


class Closed(Record):
    """A cut joint: its class, its two nodes, where its numbers begin."""

    kind: i64
    nodes: iptr = inline(2)
    constants: i64
    place: i64  # of J on both nodes, then of the residuals at three levels
    q: i64
    v: i64
    count: i64  # rows that hold the markers
    ties: i64  # rows of the coordinates that the joint keeps
    multiplier: i64


class Joint(Record):
    """A joint of the tree: pairs of six numbers that take v̇ out of accelerations."""

    node: i64
    parent: i64
    place: i64
    v: i64
    nv: i64


class Relation(Record):
    """A relation between coordinates: its unknown, how many terms it has, its multiplier."""

    unknown: i64
    count: i64
    multiplier: i64
    is_of_positions: i64


class Term(Record):
    """One velocity in a relation."""

    sources: iptr = inline(2)
    targets: iptr = inline(2)  # -1: a body that does not move
    residual: i64  # place of the residual of its tie; -1: it has none
    stride: i64  # between the levels of that residual
    tie: i64  # multiplier of its tie; -1: it has none


class Pivot(Record):
    """An unknown in the order of elimination, its edges, and the first slot that they update."""

    unknown: i64
    first: i64
    end: i64
    target: i64


class Edge(Record):
    """A neighbour that is eliminated later, and the block between the two."""

    unknown: i64
    block: i64


class State(Record):
    """Pose and motion of a node at v̇ = 0, in the ground's axes."""

    R: ptr = inline(9)
    p: ptr = inline(3)
    twist: ptr = inline(6)  # ω, v
    drift: ptr = inline(6)  # α, a


class Body(Record):
    """What the kernel of a node computes: its state, then its part of the system."""

    R: ptr = inline(9)
    p: ptr = inline(3)
    twist: ptr = inline(6)
    drift: ptr = inline(6)
    inertia: ptr = inline(6, 6)
    force: ptr = inline(6)
    weights: ptr = inline(2)  # rotational and translational inertia that scale rows
    pairs: ptr = inline(72)  # rows of its joint on itself and on its parent


assert State.header == STATE, "a state is what the formulas of a node compute"
assert Body.fields["pairs"].slot == ROWS_SLOT, "rows lie where the formulas of a node compute them"


class System(Record):
    """All that the loops know of a mechanism, for as long as it lives."""

    bodies: i64 = size()
    kept: i64 = size()
    unknowns: i64 = size()
    n_blocks: i64 = size()
    degree: i64 = size()
    nq: i64 = size()
    nv: i64 = size()
    nc: i64 = size()
    nphi: i64 = size()
    n_results: i64 = size()
    n_scratch: i64 = size()
    n_rows: i64 = size()
    n_lent: i64 = size()
    n_closed: i64 = size()
    n_relations: i64 = size()
    n_terms: i64 = size()
    n_pivots: i64 = size()
    n_edges: i64 = size()
    n_targets: i64 = size()
    n_taus: i64 = size()
    n_frames: i64 = size()
    n_markers: i64 = size()
    n_classes: i64 = size()
    n_closing: i64 = size()
    tau_entry: kernel
    relation_entry: kernel
    potential_entry: kernel
    node_entries: iptr = sized("n_classes")
    retract_entries: iptr = sized("n_classes")
    rate_entries: iptr = sized("n_classes")
    closure_entries: iptr = sized("n_closing")
    nodes: Rows[Node] = rows("bodies + kept")
    couplings: Rows[Row] = rows("n_rows")
    lent: Rows[Lent] = rows("n_lent")
    closed: Rows[Closed] = rows("n_closed")
    joints: Rows[Joint] = rows("bodies")
    relations: Rows[Relation] = rows("n_relations")
    terms: Rows[Term] = rows("n_terms")
    pivots: Rows[Pivot] = rows("n_pivots")
    edges: Rows[Edge] = rows("n_edges")
    targets: iptr = sized("n_targets")
    sizes: iptr = sized("unknowns")
    taus: iptr = sized("n_taus")
    framed: iptr = sized("n_frames")
    constants: ptr = sized()
    closure_constants: ptr = sized()
    ground: ptr = sized("24")
    frames: ptr = sized("n_frames", "12")
    markers: ptr = sized("n_markers", "12")


class Work(Part):
    """Scratch space of an entry, sized by its system."""

    states: Rows[Body] = rows("bodies + 1")  # the ground first
    results: ptr = sized("n_results")
    diagonal: ptr = sized("unknowns", "36")
    blocks: ptr = sized("n_blocks + 1", "36")
    scale: ptr = sized("unknowns", "6")
    x: ptr = sized("unknowns", "6")
    right_side: ptr = sized("unknowns", "6")
    left: ptr = sized("unknowns", "6")
    tau: ptr = sized("nv")
    loads: ptr = sized("n_taus")
    residuals: ptr = sized("3", "n_relations")  # of relations at each level, and behind them:
    coefficients: ptr = sized("n_terms")
    moved: ptr = sized("nq")
    rows_left: ptr = sized("nc")
    pose: ptr = sized("12")
    wrench: ptr = sized("12")
    space: ptr = sized("degree + 1", "36")
    scratch: ptr = sized("n_scratch")
