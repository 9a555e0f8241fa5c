"""Starts nobody gave: a joint that closes a loop begins as the other joints describe it."""

import math
from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.expr import symbol
from liaison.model import (
    Body,
    Coupling,
    Cylindrical,
    Free,
    Helical,
    Joint,
    Marker,
    Mechanism,
    Parameter,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Start,
    Universal,
)
from liaison.tree import assembly, span
from liaison.tree.starts import Starts

ROUNDING = 1e-12
"""What a start that closes but for rounding may move."""

HALF = math.sqrt(0.5)
CLOSERS = {
    "revolute": (Revolute(), (0.7,)),
    "prismatic": (Prismatic(), (0.3,)),
    "cylindrical": (Cylindrical(), (2.5, -0.4)),
    "helical": (Helical(0.2), (1.2,)),
    "universal": (Universal(), (0.5, -0.9)),
    "spherical": (Spherical(), (0.5, -0.5, 0.5, -0.5)),
    "planar": (Planar(), (0.3, -0.2, 1.1)),
    "free": (Free(), (0.1, 0.2, -0.3, HALF, 0.0, HALF, 0.0)),
}
"""Type of a joint that closes a loop, and its coordinates there."""


def link(name: str) -> Body:
    return Body(name, 1, (0, 0, 0.1), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))


def at(body: str, R=None, p=(0, 0, 0)) -> Marker:
    return Marker(body, (np.eye(3) if R is None else np.array(R, float)).tolist(), tuple(p))


def turned(angle: float) -> np.ndarray:
    """About y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def loop(kind, q, off=(0.0, 0.0, 0.0), **parts) -> Mechanism:
    """Two links on hinges about their own z; where both are at 0, the second meets the ground."""
    R, p = (np.array(x, dtype=float) for x in kind.pose(list(q)))
    far = at("two", R, p + np.array(off))
    first, second = turned(0.4), turned(-1.1)
    joints = (
        Joint("h1", Revolute(), at("ground"), at("one", first)),
        Joint("h2", Revolute(), at("one", p=(0.5, 0, 0.1)), at("two", second)),
    )
    # the frame of the closing joint on the ground: such that its marker is met by that on the link
    R1 = first.T
    R2, p2 = R1 @ second.T, R1 @ np.array((0.5, 0, 0.1))
    near = at("ground", R2, p2)
    return Mechanism("loop", (link("one"), link("two")), (*joints, Joint("C", kind, near, far)),
                     **parts)  # fmt: skip


@pytest.mark.parametrize("cut", ["C", "h1", "h2"])
@pytest.mark.parametrize("name", CLOSERS)
def test_a_loop_that_closes_as_described_starts_there(name, cut):
    kind, q = CLOSERS[name]
    assembled = assembly(span(loop(kind, q), cuts=[cut], keep=["C"]))
    state = assembled.state
    hinges = [x for x in ("h1", "h2") if x in {label.name for label in state.labels["q"]}]
    assert all(abs(state[x]) <= ROUNDING for x in hinges)
    labels = liaison.join(liaison.ground, liaison.body("b", mass=1), kind, name="C").coordinates
    assert [state[x] for x in labels] == pytest.approx(q, abs=1e-9)
    assert assembled.moved <= ROUNDING


def test_given_starts_of_other_joints_count():
    kind, q = CLOSERS["spherical"]
    mechanism = loop(kind, q, starts=(Start("C.qw", 1), Start("C.qx", 0)))
    tree = span(mechanism, cuts=["h2"])
    starts = Starts(tree)
    first, _ = starts.positions(starts.begin({}, {}, {}), (), {})
    found = dict(zip(starts.q_names, first.tolist(), strict=True))
    assert [found[f"C.q{x}"] for x in "wxyz"] == [1.0, 0.0, 0.0, 0.0]  # given: not described


def test_what_describes_nothing_is_left_at_zero():
    kind, q = CLOSERS["revolute"]
    tree = span(loop(kind, q, off=(3, 3, 3)), cuts=["h2"])
    starts = Starts(tree)
    first, _ = starts.positions(starts.begin({}, {}, {}), (), {})
    assert first.tolist() == [0.0, 0.0]


def test_one_coordinate_that_alone_may_move_is_left_to_the_closures():
    kind, q = CLOSERS["revolute"]
    tree = span(loop(kind, q, starts=(Start("h1", 0), Start("h2", 0))), cuts=["h2"])
    starts = Starts(tree)
    begin = starts.begin({}, {}, {})
    first = dict(zip(starts.q_names, starts.positions(begin, begin.held, {})[0], strict=True))
    assert first["C"] == 0.0
    assert assembly(tree).state["C"] == pytest.approx(0.7, abs=1e-12)


def test_lengths_that_are_parameters_have_their_values():
    """A run by itself, and as a row among others: the same start."""
    size = symbol("size")
    mechanism = loop(*CLOSERS["revolute"])
    h1, h2, C = mechanism.joints
    p = h2.predecessor.p
    scaled = [replace(x, p=tuple(size * y for y in x.p)) for x in (h2.predecessor, C.predecessor)]
    joints = (h1, replace(h2, predecessor=scaled[0]), replace(C, predecessor=scaled[1]))
    named = replace(
        mechanism, joints=joints, parameters=(Parameter("size", 1),), starts=(Start("h1", 0.2),)
    )
    assert p == (0.5, 0, 0.1)
    sizes = [1.0, 1.5]
    runs = liaison.simulate_batch(
        replace(named, starts=()), until=1e-3, parameters={"size": sizes}, method="rk4", step=1e-3
    )
    for k, x in enumerate(sizes):
        alone = liaison.simulate(
            replace(named, starts=()), until=1e-3, parameters={"size": x}, method="rk4", step=1e-3
        )
        assert runs[k].q[0].tolist() == alone.q[0].tolist()
        assert abs(alone["h1"][0]) <= ROUNDING


def test_rows_of_starts_have_what_each_describes():
    mechanism = loop(*CLOSERS["spherical"])
    rows = [0.0, 0.01]
    options = {"until": 1e-3, "method": "rk4", "step": 1e-3}
    runs = liaison.simulate_batch(mechanism, guess={"h1": rows}, **options)
    for k, x in enumerate(rows):
        alone = liaison.simulate(mechanism, guess={"h1": x}, **options)
        assert runs[k].q[0].tolist() == alone.q[0].tolist()


def test_a_follower_does_not_pull_its_leader():
    joints = tuple(
        Joint(name, Revolute(), at("ground", p=(k, 0, 0)), at(f"link {name}"))
        for k, name in enumerate("abc")
    )
    gears = (Coupling("bc", "c", 3, "b", 0.1), Coupling("ab", "b", -0.5, "a", 0.02))
    bodies = tuple(link(f"link {name}") for name in "abc")
    state = assembly(span(Mechanism("gears", bodies, joints, constraints=gears))).state
    assert [state[x] for x in "abc"] == [0.0, 0.02, 3 * 0.02 + 0.1]


def test_held_coordinates_are_named_where_nothing_closes():
    mechanism = loop(*CLOSERS["revolute"], off=(0.3, 0.2, 0.1), starts=(Start("h1", 0.2),))
    with pytest.raises(liaison.AssemblyError) as error:
        assembly(span(mechanism))
    assert "Held by starts: h1" in error.value.hint
    assert "guess" in error.value.hint


CONNECTED = """<mujoco><worldbody>
<body name="A" pos="0 0 1" euler="6 11 17"><joint name="a" axis="0 1 0"/><geom size=".1"/>
  <body name="B" pos="0 0 -.4"><joint name="b" axis="0 1 0"/>
    <joint name="b2" type="slide" axis="0.2 0 1"/><geom size=".1" pos=".3 0 0"/></body></body>
<body name="C" pos="0.6 0 1" euler="0 6 0"><freejoint name="c"/><geom size=".1"/></body>
</worldbody><equality><connect body1="B" body2="C" anchor="0.3 0 0"/></equality></mujoco>"""


def test_points_that_an_equality_connects_where_bodies_are_do_not_move_them():
    state = liaison.check(liaison.read(CONNECTED)).start.state
    assert abs(state["a"]) < ROUNDING
    assert abs(state["b"]) < ROUNDING
    assert [state[f"c.{x}"] for x in "xyz"] == [0.6, 0.0, 1.0]
    near = liaison.simulate(liaison.read(CONNECTED), until=1e-6, guess={"a": 0.02}).state(0)
    assert 0 < near["a"] < 0.02  # the least change of a, b and b2 together
