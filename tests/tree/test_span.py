"""span: which joints carry, which are cut, and what follows from the order alone."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from liaison.errors import DerivationError, NamingError
from liaison.expr import symbol, topological
from liaison.model import (
    Actuator,
    Body,
    Composition,
    Coordinate,
    Fixed,
    Gravity,
    Helical,
    Joint,
    Marker,
    Mechanism,
    Output,
    Planar,
    Prismatic,
    Revolute,
    Rotation,
    Spherical,
)
from liaison.tree import GROUND, merged, span
from liaison.tree.closure import residual_template
from liaison.tree.tree import natural
from samples import chain, draw, sample
from samples.derived import Solved

UNIT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def ring(*kinds, **parts) -> Mechanism:
    """Bodies b1, b2, … in a ring from the ground to the ground, joined by j1, j2, …"""
    names = ["ground", *(f"b{i}" for i in range(1, len(kinds))), "ground"]
    ends = list(pairwise(names))
    joints = tuple(
        Joint(f"j{i}", kind, Marker(a), Marker(b))
        for i, (kind, (a, b)) in enumerate(zip(kinds, ends, strict=True), start=1)
    )
    bodies = tuple(Body(name, 1, (0, 0, 0), UNIT) for name in names[1:-1])
    return Mechanism("ring", bodies, joints, **parts)


def cut_joints(tree) -> list[str]:
    return [closure.joint.name for closure in tree.closures]


def test_a_ring_is_cut_in_the_middle_so_that_branches_are_short():
    tree = span(ring(*[Revolute()] * 5))
    assert max(len(tree.path(i)) for i in range(len(tree.nodes))) == 2
    assert len(cut_joints(tree)) == tree.loops == 1
    assert cut_joints(tree) == ["j3"]


def test_names_that_count_alike_are_still_told_apart():
    names = ["j", "j1", "j01", "j2", "j10", "k"]
    assert sorted(names, key=natural) == ["j", "j01", "j1", "j2", "j10", "k"]
    joints = [Joint(name, Revolute(), Marker("ground"), Marker("b")) for name in ("j1", "j01")]
    body = Body("b", 1, (0, 0, 0), UNIT)
    trees = [span(Mechanism("m", (body,), order)) for order in (joints, joints[::-1])]
    assert [tree.nodes[0].joint.name for tree in trees] == ["j01", "j01"]


def test_no_body_is_taken_for_a_ghost():
    """A body may have any name that looks like "b at T"."""
    outputs = (Output("o", symbol("j2")),)
    m = ring(Revolute(), Revolute(), Revolute(), outputs=outputs)
    bodies = tuple(replace(b, name="b2 at j2") if b.name == "b1" else b for b in m.bodies)
    joints = tuple(
        replace(
            joint,
            **{
                end: replace(getattr(joint, end), body="b2 at j2")
                for end in ("predecessor", "successor")
                if getattr(joint, end).body == "b1"
            },
        )
        for joint in m.joints
    )
    tree = span(replace(m, bodies=bodies, joints=joints), cuts=["j2"])
    names = [node.body for node in tree.nodes]
    assert len(set(names)) == len(names) == 3
    assert tree.frames["b2 at j2"][0] == names.index("b2 at j2")


def test_an_exact_pitch_closes_by_exact_formulas():
    rounded, exact = (residual_template(Helical(pitch)) for pitch in (0.5, Fraction(1, 2)))
    numbers = [x.value for x in topological(exact) if x.op == "const"]
    assert not any(isinstance(x, float) for x in numbers)
    assert rounded != exact


def test_of_equally_deep_joints_the_one_with_most_freedoms_is_cut():
    assert cut_joints(span(ring(Revolute(), Revolute(), Spherical(), Revolute()))) == ["j3"]
    assert cut_joints(span(ring(Revolute(), Spherical(), Revolute(), Revolute()))) == ["j2"]


def test_a_joint_whose_coordinate_is_used_is_rather_kept():
    motor = Actuator("motor", Coordinate("j3"), 1)
    kinds = (Revolute(), Revolute(), Revolute(), Revolute())
    assert cut_joints(span(ring(*kinds, forces=(motor,)))) == ["j2"]
    seen = Output("angle", symbol("j2"))
    assert cut_joints(span(ring(*kinds, outputs=(seen,)))) == ["j3"]
    sequence = Composition((Rotation("z"),))  # no closed form: it would keep its coordinate
    assert cut_joints(span(ring(Revolute(), sequence, Revolute(), Revolute()))) == ["j3"]


def test_a_cut_joint_keeps_its_coordinates_only_where_they_are_used():
    kinds = (Revolute(), Planar(), Revolute())
    plain = span(ring(*kinds), cuts=("j2",))
    assert (plain.nv, [c.rows for c in plain.closures]) == (2, [slice(0, 3)])
    motor = Actuator("motor", Coordinate("j2.x"), 1)
    kept = span(ring(*kinds, forces=(motor,)), cuts=("j2",))
    assert (kept.nv, [c.rows for c in kept.closures]) == (5, [slice(0, 6)])
    assert {"j2.x", "j2.y", "j2.angle"} <= {label.name for label in kept.position_labels()}


def test_numbers_in_names_count():
    m = chain(12, branching=12)
    tree = span(m)
    assert [node.joint.name for node in tree.nodes] == [f"q{i}" for i in range(1, 13)]


def test_parents_come_before_children_and_slices_follow_each_other():
    for seed in range(10):
        tree = span(sample(seed).mechanism)
        assert all(node.parent < i for i, node in enumerate(tree.nodes))
        q = [k for node in tree.nodes for k in range(node.q.start, node.q.stop)]
        v = [k for node in tree.nodes for k in range(node.v.start, node.v.stop)]
        assert (q, v) == (list(range(tree.nq)), list(range(tree.nv)))
        assert len(tree.position_labels()) == tree.nq
        assert len(tree.velocity_labels()) == tree.nv


def test_the_order_of_declaration_does_not_matter():
    m = sample(4).mechanism
    other = replace(m, bodies=(m.bodies[0], *m.bodies[:0:-1]), joints=m.joints[::-1])
    a, b = span(m), span(other)
    assert [(n.body, n.joint, n.parent) for n in a.nodes] == [
        (n.body, n.joint, n.parent) for n in b.nodes
    ]
    assert a.closures[0].joint == b.closures[0].joint


def test_common_ancestor():
    tree = span(chain(7, branching=2))  # 1 carries 2 and 3, 2 carries 4 and 5, 3 carries 6 and 7
    at = {node.body: i for i, node in enumerate(tree.nodes)}

    def ancestor(a: int, b: int) -> str:
        return tree.nodes[tree.common_ancestor(at[f"link {a}"], at[f"link {b}"])].body

    assert ancestor(4, 5) == "link 2"
    assert ancestor(4, 7) == "link 1"
    assert ancestor(2, 4) == "link 2"
    assert tree.common_ancestor(GROUND, at["link 5"]) == GROUND


def test_unknown_and_impossible_cuts_are_refused_by_name():
    m = ring(Revolute(), Revolute(), Revolute())
    with pytest.raises(NamingError, match="no joint is named 'j7'"):
        span(m, cuts=("j7",))
    with pytest.raises(DerivationError, match="body 'b1' hangs on nothing"):
        span(m, cuts=("j1", "j2"))


def test_merging_welds_changes_no_motion():
    for seed in range(6):
        s = draw(200 + seed, bodies=(3, 5), kinds=("Fixed", "Revolute", "Spherical", "Prismatic"))
        tree = span(s.mechanism)
        small = merged(tree)
        assert all(node.joint.type.nv for node in small.nodes)
        assert small.position_labels() == tree.position_labels()
        x = Solved(s)
        assert np.allclose(x.accelerations(), Solved(s, "lagrange").accelerations(), rtol=1e-9)


def test_a_mechanism_of_welds_alone_has_no_velocities():
    bar = Body("bar", 1, (0, 0, 0), UNIT)
    m = Mechanism("post", (bar,), (Joint("w", Fixed(), Marker("ground"), Marker("bar")),))
    tree = span(m)
    assert (tree.nq, tree.nv, tree.loops) == (0, 0, 0)


def test_exact_numbers_are_kept_where_they_are_asked_for():
    m = ring(Prismatic(), Revolute(), forces=(Gravity(),))
    exact, plain = span(m, exact=True), span(m)
    assert type(exact.nodes[0].inertia[0]) is int
    assert exact.nodes[0].joint == plain.nodes[0].joint
