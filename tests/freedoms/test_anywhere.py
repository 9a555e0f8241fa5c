"""Full rank at positions in floats: proved by Krawczyk's test and the groups of the loops."""

from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from random import Random

import pytest

import liaison
from liaison.expr import PI, symbol
from liaison.freedoms import mobility
from liaison.freedoms.clock import bounded
from liaison.freedoms.home import home_of, loops_of
from liaison.freedoms.local.open_loops import group_sizes
from liaison.freedoms.local.transport import Carried, carried
from liaison.freedoms.placing import valued
from liaison.model import Parameter, Revolute
from liaison.model.describe import body, ground, join, mechanism, parameter, start
from liaison.spatial import compose, identity, zeros
from liaison.tree import GROUND, as_float
from liaison.tree.kinematics import Kinematics

from .built import mechanism_of
from .linkages import CASES
from .real_cases import on_crank

EXAMPLES = Path(__file__).parents[2] / "examples"

# name: (coordinates that are set, half the width around their starts, mobility)
POSITIONS = {
    "four_bar": (["A"], 1.2, 1),
    "slider_crank": (["A"], 1.2, 1),
    "excavator": ([f"jack{k}.P" for k in (1, 2, 3)], 0.05, 3),
    "double_wishbone": (["L"], 0.2, 2),
    "stewart": ([f"P{k}" for k in range(1, 7)], 0.02, 6),
}


def proved_at(name, positions, seed=1):
    """Mobilities of an example at random positions; assembly finds the other coordinates."""
    labels, width, _ = POSITIONS[name]
    given = liaison.read(EXAMPLES / f"{name}.lsd")
    starts = {x.label: float(as_float(x.value)) for x in given.starts if x.label in labels}
    others = {"B", "x"} if name == "slider_crank" else set()
    given = replace(given, starts=tuple(x for x in given.starts if x.label not in others))
    draw = Random(seed)
    for _ in range(positions):
        at = {label: starts[label] + draw.uniform(-width, width) for label in labels}
        yield mobility(given, at=at)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "excavator"])
def test_examples_are_proved_at_random_positions(name):
    for found in proved_at(name, 4):
        assert (found.mode, found.finite) == ("numeric", (POSITIONS[name][2],) * 2)
        assert found.is_proved
        assert found.finite_complex == found.finite


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
def test_examples_are_proved_at_twenty_random_positions(name):
    for found in proved_at(name, 20, seed=7):
        assert (found.finite, found.is_proved) == ((POSITIONS[name][2],) * 2, True)


# Overconstrained loops: the proof of an exact position, carried along the motion -----------------


@pytest.mark.parametrize(
    ("name", "at"), [("bennett", 0.3), ("goldberg", 0.3), ("bricard_trihedral", 0.3)]
)
def test_a_proof_is_carried_along_the_motion(name, at):
    """A loop of Bennett's generates all motions: six equations, of which three are independent."""
    found = liaison.mobility(EXAMPLES / f"{name}.lsd", at={"H1": at})
    assert (found.mode, found.finite, found.is_proved) == ("numeric", (1, 1), True)
    assert found.finite_complex == (1, 1)
    assert "carried along the motion from an exact position" in found.proof


def test_a_position_written_in_the_description_is_reached_from_where_frames_coincide():
    given = liaison.read(EXAMPLES / "bennett.lsd")
    starts = tuple(replace(x, value=F(3, 10)) if x.label == "H1" else x for x in given.starts)
    found = mobility(replace(given, starts=starts))
    assert (found.finite, found.is_proved) == ((1, 1), True)


def bennett_path():
    """Bennett's linkage at its exact position, and poses at H1 = 0.3 rad."""
    given = liaison.read(EXAMPLES / "bennett.lsd")
    home = home_of(given)
    tree = liaison.span(given)
    state = liaison.assemble(tree, H1=0.3)
    kinematics = Kinematics(tree, state.q)
    poses = {"ground": (identity(3), zeros(3))}
    for name, (node, X) in tree.frames.items():
        if node != GROUND:
            seen = kinematics.motion(GROUND, node)
            poses[name] = compose(seen.R, seen.p, *X)
    return home, poses


def test_a_motion_that_does_not_exist_is_not_followed():
    """Asked to carry two dimensions, of which the closure has one, no piece is proved; nor does a
    path lead to a position that is off the closure."""
    home, poses = bennett_path()
    assert isinstance(carried(home, 1, poses, ["H1"]), Carried)
    assert "is not proved" in carried(home, 2, poses, ["H1"])
    R, p = poses["bar1"]
    assert isinstance(carried(home, 1, poses | {"bar1": (R, p + F(1, 10))}, ["H1"]), str)


def test_a_limit_of_time_leaves_what_floats_say():
    home, poses = bennett_path()
    with bounded(time_limit=1e-6):
        assert "given up" in carried(home, 1, poses, ["H1"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("bennett", -2, 2), ("goldberg", -1, 1.2), ("bricard_line", -0.3, 0.4), ("sarrus", -0.4, 0.6)],
)
def test_proofs_are_carried_to_random_positions(name, low, high):
    """Bennett's linkage passes half turns of its hinges on the way."""
    draw = Random(5)
    for _ in range(5):
        at = draw.uniform(low, high)
        found = liaison.mobility(EXAMPLES / f"{name}.lsd", at={"H1": at})
        assert (found.finite, found.is_proved) == ((1, 1), True), (at, found.proof)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("four_bar", [3]), ("spherical_4r", [3]), ("bennett", [6]), ("sarrus", [6])],
)
def test_groups_of_opened_loops(name, sizes):
    given = mechanism_of(CASES[name])
    assert group_sizes(given, loops_of(given)) == sizes


def quadrilateral(offset):
    """Bars 2, 6, 7 on a ground of 9, the last hinge lifted out of the plane by an offset."""
    a, b, c = (body(name, mass=1) for name in "abc")
    return mechanism(
        join(ground, a, Revolute, name="A"),
        join(a.at((2, 0, 0)), b, Revolute, name="B"),
        join(b.at((6, 0, 0)), c.at((7, 0, 0)), Revolute, name="C"),
        join(ground.at((9, 0, offset)), c, Revolute, name="D"),
        start({"A": 0.3}),
    )


def test_a_loop_whose_ends_lie_outside_its_group_is_refused():
    """Parallel hinges keep their heights: with an offset the loop never closes."""
    flat, lifted = quadrilateral(0), quadrilateral(F(1, 100))
    assert group_sizes(flat, loops_of(flat)) == [3]
    assert group_sizes(lifted, loops_of(lifted)) is None


def with_parameter(place):
    """The four-bar with its crank's far hinge at a place that holds the parameter a = 2."""
    given = quadrilateral(0)
    first, second, *others = given.joints
    moved = replace(second, predecessor=replace(second.predecessor, p=place))
    joints = (first, moved, *others)
    return replace(given, joints=joints, parameters=(Parameter("a", 2, "m"),))


def test_a_parameter_in_a_length_is_answered_for_its_value_and_near_it():
    found = mobility(with_parameter((symbol("a"), 0, 0)))
    assert (found.finite, found.is_proved) == ((1, 1), True)
    assert (found.generic.parameters, found.generic.finite) == (("a",), (1, 1))
    assert found.generic.is_proved
    assert found.to_dict()["generic"]["finite"] == (1, 1)
    assert "For other values of a near these: 1, proved" in str(found)


def test_a_parameter_that_lifts_a_hinge_out_of_the_plane_promises_nothing():
    found = mobility(with_parameter((2, 0, symbol("a") - 2)))
    assert (found.finite, found.is_proved) == ((1, 1), True)
    assert (found.generic.finite, found.generic.is_proved) == ((0, 1), False)


def test_reduce_and_singularities_take_parameters_in_lengths():
    given = with_parameter((symbol("a"), 0, 0))
    assert liaison.reduce(given).mobility.finite == (1, 1)
    assert liaison.singularities(given, steps=20) is not None


def test_without_loops_every_joint_moves_freely():
    """An attitude that is not exact, and nothing to close."""
    found = mobility(liaison.read(EXAMPLES / "spinning_top.lsd"))
    assert (found.finite, found.is_proved) == ((3, 3), True)
    assert "moves freely" in found.proof
    assert found.evidence[0].is_proved


# Floats are the decimals they are written as ------------------------------------------------------


@pytest.mark.parametrize("angle", [0.3, 1.1, F(3, 10)])
def test_what_is_straight_stays_straight_at_an_angle_in_floats(angle):
    """Four bars stretched on a crank: rounded products would put their hinges off the line."""
    result = mobility(on_crank(), at={"A": angle}, primes=1)
    assert (result.mode, result.finite, result.is_proved) == ("exact", (1, 1), True)


def four_bar(a, b, c, d, *lengths, **starts):
    links = [body(name, mass=1) for name in "abc"]
    joints = [
        join(ground, links[0], Revolute, name="A"),
        join(links[0].at((a, 0, 0)), links[1], Revolute, name="B"),
        join(links[1].at((b, 0, 0)), links[2].at((c, 0, 0)), Revolute, name="C"),
        join(ground.at((d, 0, 0)), links[2], Revolute, name="D"),
    ]
    return mechanism(*lengths, *joints, start(starts))


def test_next_to_a_singular_position_floats_are_not_relied_on():
    """Bars of 1 + 2 + 3 on a ground of 6: assembly is off by 1e-8, and the rank looks full."""
    result = mobility(four_bar(1, 2, 3, 6, A=0), primes=1)
    assert (result.mode, result.finite, result.is_proved) == ("exact", (0, 0), True)
    longer = mobility(four_bar(1, 2, 3, 6 + F(1, 10**16), A=0), primes=1)
    assert (longer.mode, longer.is_proved) == ("numeric", False)
    assert longer.finite[0] == 0
    assert "a singular position is near" in longer.proof


def test_a_singular_position_that_may_lie_anywhere_is_exact():
    """The same on a crank: assembly turns the crank to some angle, and the bars stay on a line."""
    crank, *bars = (body(name, mass=1) for name in ("crank", "a", "b", "c"))
    joints = [
        join(ground, crank, Revolute, name="A"),
        join(crank, bars[0], Revolute, name="B0"),
        join(bars[0].at((1, 0, 0)), bars[1], Revolute, name="B1"),
        join(bars[1].at((2, 0, 0)), bars[2].at((3, 0, 0)), Revolute, name="B2"),
        join(crank.at((6, 0, 0)), bars[2], Revolute, name="B3"),
    ]
    result = mobility(mechanism(*joints), primes=1)
    assert (result.mode, result.finite, result.is_proved) == ("exact", (1, 1), True)
    assert result.finite_complex == (2, 2)
    assert "balls" in result.evidence[0].numbers


def test_lengths_of_parameters_are_multiplied_exactly():
    """0.1 + 0.2 = 0.3 for lengths as they are written: the bars are stretched."""
    u, v = parameter("u", 0.1), parameter("v", 0.2)
    result = mobility(four_bar(u, v, 3 * u, 2 * (u + v), u, v, A=0, B=0, D=PI), primes=1)
    assert (result.mode, result.finite, result.is_proved) == ("exact", (0, 0), True)


def test_frames_in_floats_are_exact_rotations_next_to_them():
    """An axis in floats has a rotation whose rows are unit vectors up to rounding only."""
    axis = (0.1, 0.2, 0.97)
    given = mechanism(
        join(ground, body("a", mass=1).at((0.3, 0, 0)), Revolute, name="A", axis=axis)
    )
    notes = []
    (joint,) = valued(given, notes).joints
    R = joint.predecessor.R
    assert R == joint.successor.R
    for i, row in enumerate(R):
        for k, other in enumerate(R):
            assert sum(x * y for x, y in zip(row, other, strict=True)) == int(i == k)
    assert all(abs(float(x) - y) < 1e-15 for row, old in zip(R, given.joints[0].predecessor.R,
               strict=True) for x, y in zip(row, old, strict=True))  # fmt: skip
    assert "proved of these" in notes[0]
