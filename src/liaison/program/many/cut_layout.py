"""Records of joints that close loops of a tree: tables of paths and rows, and the work space.

Every cut joint has a *path*: the nodes from its two ends to the ground, children first. A *step* is
a node on the path of one cut joint. Relations between frames are cut joints, too, whose reaction is
a force where they touch. Relations between coordinates follow the cut joints as further
ones of one row each; the path of one is that of the nodes whose velocities it names. A *term* is
the number of its row at one of these. The matrix G M⁻¹ Gᵀ is kept row by row, each from its first
number that is not zero on.

Public names: CutSystem, CutWork, Cut, PathStep, Term, KeptTerm.
"""

from __future__ import annotations

from liaison.program.loops.language import i64, iptr, ptr
from liaison.program.loops.records import Part, Record, Rows, rows, size, sized


class Cut(Record):
    """A cut joint: its class, its nodes (−1: the ground), where its numbers and its path begin."""

    kind: i64
    first: i64
    second: i64
    root: i64
    constants: i64
    result: i64
    rows: i64  # that hold, then those that tie coordinates that it keeps
    held: i64
    q: i64  # which it keeps
    v: i64
    nq: i64
    row: i64  # its first row among all rows
    begin: i64  # its first step
    end: i64
    at_first: i64  # steps of its nodes; −1: the ground
    at_second: i64
    at_root: i64


class PathStep(Record):
    """A node on the path of a cut joint."""

    node: i64
    above: i64  # the step of its parent; −1: the ground
    cut: i64
    place: i64  # of y and z of every row in the efforts
    nv: i64


class Term(Record):
    """A velocity in a relation: its place in v, the step of its node, and its place there."""

    v: i64
    step: i64  # −1: a cut joint keeps it
    at: i64


class KeptTerm(Record):
    """A velocity in a relation that a cut joint keeps, and steps of the joint's nodes."""

    relation: i64
    term: i64
    v: i64
    cut: i64
    row: i64  # that ties it
    at_first: i64  # −1: the ground
    at_second: i64
    at_root: i64


class CutSystem(Record):
    """All that the loops know of the cut joints of a tree, for as long as it lives."""

    n_nodes: i64 = size()
    nq: i64 = size()
    nv: i64 = size()
    nc: i64 = size()
    n_joints: i64 = size()  # cut joints, then relations between frames
    n_frames: i64 = size()  # of the latter
    n_relations: i64 = size()
    n_terms: i64 = size()
    n_kept_terms: i64 = size()
    n_cuts: i64 = size()  # cut joints, then relations
    n_classes: i64 = size()
    n_kinds: i64 = size()
    n_steps: i64 = size()
    n_rows: i64 = size()
    n_results: i64 = size()
    n_efforts: i64 = size()
    n_matrix: i64 = size()
    longest: i64 = size()
    n_pieces: i64 = size()
    tree_words: i64  # of the work of a tree
    entries: iptr = sized("n_classes")
    carry_entries: iptr = sized("n_kinds")
    cuts: Rows[Cut] = rows("n_cuts")
    steps: Rows[PathStep] = rows("n_steps")
    passing: iptr = sized("n_steps")  # steps, by node
    passing_begin: iptr = sized("n_nodes + 1")
    n_ties: i64
    nphi: i64  # multipliers of rows that hold positions, the first ones
    is_driven: i64  # whether a relation moves with time
    relation_entries: iptr = sized("n_pieces")  # which write all about relations
    term_begin: iptr = sized("n_relations + 1")
    terms: Rows[Term] = rows("n_terms")
    kept_begin: iptr = sized("n_relations + 1")
    kept_terms: Rows[KeptTerm] = rows("n_kept_terms")
    place: iptr = sized("n_rows")  # multiplier of a row; from nc on those that vanish
    order: iptr = sized("nc")  # row of the matrix of a multiplier
    owner: iptr = sized("nc")  # cut joint of a multiplier
    is_tie: iptr = sized("nc")  # whether its row ties a coordinate
    first: iptr = sized("nc")  # first column of a row of the matrix
    start: iptr = sized("nc")  # where column 0 of a row would be
    reach: ptr = sized("nc")
    shown: iptr = sized("n_joints")  # place of a cut joint among reactions
    components: iptr = sized("n_frames", "3")  # rows that are the force along x, y, z; −1: none
    touch_entries: iptr = sized("n_classes")  # where the force of a relation between frames acts
    constants: ptr = sized()
    markers: ptr = sized("n_joints", "12")


class CutWork(Part):
    """Scratch space of an entry, behind that of two passes over the tree."""

    results: ptr = sized("n_results")
    second: ptr = sized("n_relations")  # Φ̈ at v̇ = 0, and what follows, as one entry writes them
    phi: ptr = sized("n_relations")
    rate: ptr = sized("n_relations")
    nu: ptr = sized("n_relations")
    coefficients: ptr = sized("n_terms")
    efforts: ptr = sized("n_efforts")
    matrix: ptr = sized("n_matrix")
    factors: ptr = sized("n_matrix")
    pivots: ptr = sized("nc")
    noise: ptr = sized("n_cuts")
    right_side: ptr = sized("nc")
    x: ptr = sized("nc")
    left: ptr = sized("nc")
    lam: ptr = sized("nc")
    pushes: ptr = sized("n_nodes + 1", "6")  # wrenches on nodes in their axes, the ground first
    pulls: ptr = sized("nv")  # efforts of relations
    forces: ptr = sized("longest + 1", "12")  # wrenches and efforts on the path of a cut joint
    handed: ptr = sized("24")
    kept: ptr = sized("24")  # positions of a cut joint, then its velocities
    vdot: ptr = sized("nv")
    zeros: ptr = sized("nv")
    moved: ptr = sized("nq")
    pose: ptr = sized("12")
    wrench: ptr = sized("12")
