"""assemble: q and v on the closures, near the start; refusals that say where and how far."""

import math
import re
from importlib import import_module

import numpy as np
import pytest

from liaison.errors import AssemblyError, NamingError
from liaison.expr import sin, symbol
from liaison.formats import read, read_lsd
from liaison.model import (
    Body,
    Coupling,
    Joint,
    Marker,
    Mechanism,
    Nonholonomic,
    Parameter,
    PrescribedMotion,
    Revolute,
    Start,
)
from liaison.tree import assemble, assembly, span
from liaison.tree.assemble import short
from samples import draw, relative_difference
from samples.derived import Solved

CLOSED = 1e-11
"""Assembly stops at 1e-12 of the mechanism's size."""


def bar(name: str, length: float) -> Body:
    return Body(name, 1, (length / 2, 0, 0), ((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))


def four_bar(a=1.0, b=3.0, c=2.5, ground=3.0, **parts) -> Mechanism:
    """Crank a, coupler b, rocker c; hinges A, B, C, D along z."""

    def at(body, x=0):
        return Marker(body, p=(x, 0, 0))

    joints = (
        Joint("A", Revolute(), at("ground"), at("crank")),
        Joint("B", Revolute(), at("crank", a), at("coupler")),
        Joint("C", Revolute(), at("rocker", c), at("coupler", b)),
        Joint("D", Revolute(), at("ground", ground), at("rocker")),
    )
    bodies = (bar("crank", 1.0), bar("coupler", 3.0), bar("rocker", 2.5))
    return Mechanism("four-bar", bodies, joints, **parts)


def test_the_given_angle_is_held_and_the_others_follow():
    found = assembly(span(four_bar()), A=0.7)
    state = found.state
    assert state["A"] == 0.7
    assert found.residual < CLOSED
    # freudenstein's equation: the end of the coupler is that of the rocker
    crank = np.array([math.cos(0.7), math.sin(0.7)])
    angle = {"A": 0.7} | {k: state[k] for k in ("B", "D") if k in known(state)}
    tip = np.array([3 + 2.5 * math.cos(angle["D"]), 2.5 * math.sin(angle["D"])])
    assert math.hypot(*(tip - crank)) == pytest.approx(3.0, abs=CLOSED)


def known(state) -> set[str]:
    return {label.name for key in "qv" for label in state.labels[key]}


@pytest.mark.parametrize("side", [1, -1])
def test_a_start_that_cannot_be_held_chooses_the_way_it_is_put_together(side):
    state = assemble(span(four_bar(starts=(Start("D", side * 1.5),))), A=0.7)
    assert state["A"] == 0.7
    assert math.copysign(1, math.sin(state["D"])) == side


def test_speeds_follow_the_given_one():
    state = assemble(span(four_bar()), **{"A": 0.7, "A'": 2.0})
    h = 1e-6
    tree = span(four_bar())
    after, before = (assemble(tree, A=0.7 + s * h) for s in (1, -1))
    assert state["A'"] == 2.0
    rate = (after["D"] - before["D"]) / (2 * h) * 2.0
    assert state["D'"] == pytest.approx(rate, rel=1e-7)


def test_how_far_it_moved_is_said():
    found = assembly(span(four_bar()), A=0.7)
    moved = max(abs(found.state[k]) for k in known(found.state) & {"B", "C", "D"})
    assert found.moved == pytest.approx(moved)


def test_imposed_motion_is_taken_at_its_time():
    t = symbol("t")
    m = four_bar(constraints=(PrescribedMotion("drive", "A", 0.3 + sin(2 * t)),))
    state = assemble(span(m), t=0.4)
    assert state["A"] == pytest.approx(0.3 + math.sin(0.8), abs=CLOSED)
    assert state["A'"] == pytest.approx(2 * math.cos(0.8), abs=CLOSED)


def test_relations_between_coordinates_and_speeds_hold():
    def turning(name: str) -> Joint:
        return Joint(name, Revolute(), Marker("ground"), Marker(f"wheel {name}"))

    m = Mechanism(
        "wheels",
        tuple(bar(f"wheel {name}", 1.0) for name in "xyz"),
        tuple(turning(name) for name in "xyz"),
        constraints=(
            Coupling("gear", "y", -2, "x", offset=0.1),
            Nonholonomic("belt", symbol("z'") - 3 * symbol("x'")),
        ),
    )
    state = assemble(span(m), **{"x": 0.5, "x'": 1.5})
    assert state["y"] == pytest.approx(-0.9, abs=CLOSED)
    assert (state["y'"], state["z'"]) == pytest.approx((-3.0, 4.5), abs=CLOSED)
    assert state["z"] == 0.0


def test_parameters_of_the_call_win():
    length = symbol("length")
    m = four_bar(c=length, parameters=(Parameter("length", 2.5, "m"),))
    states = [assemble(span(m), p, A=0.7) for p in ({}, {"length": 2.6})]
    assert states[0]["D"] != pytest.approx(states[1]["D"], abs=1e-3)
    tip = 3 + 2.6 * math.cos(states[1]["D"]), 2.6 * math.sin(states[1]["D"])
    assert math.dist(tip, (math.cos(0.7), math.sin(0.7))) == pytest.approx(3.0, abs=CLOSED)


def test_a_loop_that_cannot_close_is_refused_with_its_joint():
    with pytest.raises(AssemblyError, match="cannot be assembled"):
        assemble(span(four_bar(b=9.0)))


def test_inconsistent_angles_are_refused_and_near_ones_offered():
    m = four_bar(starts=(Start("A", 0.7), Start("B", 0.1), Start("C", 0.0), Start("D", 1.0)))
    with pytest.raises(AssemblyError):
        assemble(span(m), A=0.7, B=0.1, D=1.0)


def test_inconsistent_speeds_are_refused():
    with pytest.raises(AssemblyError, match="speeds"):
        assemble(span(four_bar()), **{"A": 0.7, "A'": 1.0, "D'": 40.0})


def test_a_name_that_nothing_has_is_refused():
    with pytest.raises(NamingError, match="'E'"):
        assemble(span(four_bar()), E=1.0)


def test_a_coordinate_of_a_cut_joint_is_refused_with_a_way_out():
    tree = span(four_bar(), cuts=("A",))
    for name in ("A", "A'"):
        with pytest.raises(AssemblyError, match="cut in this tree"):
            assemble(tree, **{name: 0.7})
    kept = span(four_bar(starts=(Start("A", 0.5),)), cuts=("A",))
    assert assemble(kept, A=0.7)["A"] == 0.7


def test_a_parameter_without_value_is_named():
    m = four_bar(c=symbol("length"), parameters=(Parameter("length"),))
    with pytest.raises(AssemblyError, match="length"):
        assemble(span(m))


@pytest.mark.parametrize("seed", range(12))
def test_a_consistent_state_is_left_where_it_is(seed):
    s = draw(300 + seed, loops=(1, 2))
    x = Solved(s)
    at = s.at(x.tree)
    names = {"q": x.tree.position_labels(), "v": x.tree.velocity_labels()}
    start = {
        label.name: value
        for key in "qv"
        for label, value in zip(names[key], at[key].tolist(), strict=True)
    }
    found = assembly(x.tree, t=s.t, **start)
    assert relative_difference(found.state.q, at["q"]) < CLOSED
    assert relative_difference(found.state.v, at["v"]) < 1e-9
    assert found.attempts == 1


WHEEL = """let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with revolute end ;
"""


@pytest.mark.parametrize("second", ["2 rad/s * t", "1 rad/s * t + 10 deg"])
def test_two_laws_for_one_coordinate_are_told_so(second):
    text = f"{WHEEL} impose A = 1 rad/s * t ; impose A = {second} ;"
    with pytest.raises(AssemblyError, match=r"'A' is imposed 2 times") as refused:
        assemble(span(read(text)))
    assert refused.value.place is not None


def test_a_gap_is_told_with_its_unit_and_rounding_as_zero():
    text = """let a = body mass = 1 kg end ; let b = body mass = 1 kg end ;
    let A = join earth and a with revolute end ;
    let B = join [1, 0, 0] m @ a and b with revolute end ;
    let C = join [1, 0, 0] m @ b and [2, 0, 0] m @ earth with revolute end ;
    start A = 0 ; start B = 60 deg ;"""
    with pytest.raises(AssemblyError) as refused:
        assemble(span(read(text)))
    assert re.search(r"leaves [\d.]+ (m|rad) at '[BC]'", refused.value.message)
    assert [short(x) for x in (9.42e-27, -1e-13, 1e-6, 0.25)] == ["0", "0", "1e-06", "0.25"]


def test_parts_of_a_quaternion_that_are_given_stay():
    """The others take what is left of the length 1; what has no such completion is refused."""
    text = """
    let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let S = join earth and b with spherical end ;
    """
    tree = span(read(text))
    for parts in ({"S.qx": 0.3}, {"S.qx": 0.3, "S.qz": -0.4}, {"S.qw": 0.0, "S.qy": 1.0}):
        state = assemble(tree, None, **parts)
        assert {x: state[x] for x in parts} == parts
        assert np.linalg.norm(state.q) == pytest.approx(1, abs=1e-15)
    with pytest.raises(AssemblyError, match="longer than 1"):
        assemble(tree, None, **{"S.qx": 1.2})
    with pytest.raises(AssemblyError, match="leaves the others open"):
        assemble(tree, None, **{"S.qw": 0.5})


TURNED = """
let a = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
let b = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
let A = join earth and a with revolute end ;
let B = join a and b with ball attitude = euler end ;
let C = join [0, 1, 0] m @ a and [0, 1, 0] m @ b with cylindrical axis = [1, 0, 0] end ;
output turn = B.nutation + C.angle ;
guess B = 0.4 rad || [1, 0, 0] ;
guess C.angle = 0.4 rad ;
start A' = 1 rad/s ;
"""


def test_a_search_that_ends_where_angles_are_singular_is_said_so(monkeypatch):
    """Exactly there, which rounding alone decides: rates have no value, and no SVD either."""
    problem = import_module("liaison.tree.assemble")._Problem
    closed = np.array([0, 0, 0, math.pi, 0, math.pi])
    monkeypatch.setattr(problem, "_newton", lambda self, q, free: closed)
    with pytest.raises(AssemblyError, match="angles of joint 'B' are singular"):
        assemble(span(read_lsd(TURNED)))
