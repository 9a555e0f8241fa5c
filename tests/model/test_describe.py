"""Mechanisms written in Python: short to write, the same records in the end."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.errors import ModelError, NamingError
from liaison.expr import Expr, atan2, select, sin, symbol
from liaison.model import (
    GROUND,
    Actuator,
    Angle,
    Box,
    Composition,
    Cone,
    Coordinate,
    Coupling,
    Cylinder,
    Cylindrical,
    Distance,
    Line,
    Marker,
    Mesh,
    Prismatic,
    Revolute,
    Rotation,
    Sphere,
    Spherical,
    Start,
)
from liaison.model.describe import (
    body,
    coordinate,
    damper,
    dissipation,
    event,
    friction,
    gear,
    gravity,
    ground,
    holonomic,
    imposed,
    join,
    law,
    mechanism,
    motor,
    nonholonomic,
    output,
    parameter,
    potential,
    rate,
    signal,
    spring,
    start,
    time,
    turned,
    wrench,
)
from liaison.spatial import number


def floats(a):
    return np.vectorize(number, otypes=[float])(np.array(a, dtype=object))


def four_bar():
    """Crank 1, coupler 3, rocker 2, base 3, all hinges about y."""
    links = [body(name, mass=1, inertia=(0, 1, 1)) for name in ("crank", "coupler", "rocker")]
    crank, coupler, rocker = links
    return mechanism(
        join(ground, crank, Revolute, name="A", axis="y"),
        join(crank.at((1, 0, 0)), coupler, Revolute, name="B", axis="y"),
        join(coupler.at((3, 0, 0)), rocker.at((2, 0, 0)), Revolute, name="C", axis="y"),
        join(ground.at((3, 0, 0)), rocker, Revolute, name="D", axis="y"),
        gravity(),
        start("A", 0.3, speed=1),
        name="four-bar",
    )


def test_a_mechanism_is_its_joints_and_what_acts():
    made = four_bar()
    assert made.name == "four-bar"
    assert [b.name for b in made.bodies] == ["ground", "crank", "coupler", "rocker"]
    assert made.coordinates == ("A", "B", "C", "D")
    assert made.starts == (Start("A", 0.3), Start("A'", 1))
    assert made == four_bar()


def test_the_axis_becomes_z_of_both_markers():
    joint = four_bar().joint("C")
    for marker in (joint.predecessor, joint.successor):
        assert marker.rotation[:, 2].tolist() == [0, 1, 0]
    skew = join(ground, body("b", 1), Revolute, axis=(1, 2, 2))
    assert skew.predecessor.rotation[:, 2].tolist() == [Fraction(k, 3) for k in (1, 2, 2)]
    turned_body = body("c", 1).at(rotation=turned("x", math.pi / 2))
    across = join(turned_body, ground, Prismatic, axis="y")
    assert_allclose(floats(across.predecessor.R)[:, 2], [0, 0, 1], atol=1e-15)


def test_parts_come_in_any_order_and_nesting():
    b = body("b", 1)
    joint = join(ground, b, Revolute)
    parts = [gravity(), [joint, (start(joint, 1), [signal("u")])], b]
    made = mechanism(*parts)
    assert made == mechanism(*reversed(parts))
    assert made.joints[0].name == "ground_b"
    assert made.inputs[0].name == "u"
    with pytest.raises(ModelError, match="42 is no part of a mechanism"):
        mechanism(joint, 42)


def test_the_markers_forget_the_bodies_they_came_from():
    made = four_bar()
    assert all(j.predecessor.owner is None and j.successor.owner is None for j in made.joints)


def test_two_different_bodies_of_one_name_are_refused():
    with pytest.raises(NamingError, match="the name 'b' is given to two bodies"):
        mechanism(
            join(ground, body("b", 1), Revolute, name="A"),
            join(ground, body("b", 2), Revolute, name="B"),
        )


def test_parameters_and_inputs_stand_for_their_symbols():
    L, k, u = parameter("L", 2, "m", low=1), parameter("k", 3), signal("u", "N*m")
    for found, expected in [
        (2 * L + 1, 2 * L.symbol + 1),
        (L / k - u, L.symbol / k.symbol - u.symbol),
        (1 - L, 1 - L.symbol),
        (1 / L, 1 / L.symbol),
        (-L, -L.symbol),
        (L**2, L.symbol**2),
        (1 + L, 1 + L.symbol),
        (L * k, L.symbol * k.symbol),
        (2**L, 2**L.symbol),
        (sin(L), sin(L.symbol)),
        (atan2(1, k), atan2(1, k.symbol)),
        (L.symbol * k, L.symbol * k.symbol),
        (select(u, L, 0), select(u.symbol, L.symbol, 0)),
        (+u, symbol("u")),
    ]:
        assert isinstance(found, Expr)
        assert found is expected
    b = body("b", mass=k, center=(L / 2, 0, 0))
    joint = join(ground.at((L, 0, 0)), b, Revolute, name="A")
    made = mechanism(joint, L, k, u, motor(joint, effort=u), spring("A", stiffness=k))
    assert made.body("b").mass is symbol("k")
    assert made.forces[0] == Actuator("motor A", Coordinate("A"), symbol("u"))
    assert made.joint("A").predecessor.p[0] is symbol("L")


def test_inertias_are_given_in_three_ways():
    three = body("b", 1, inertia=(1, 2, 3)).inertia
    assert three == ((1, 0, 0), (0, 2, 0), (0, 0, 3))
    six = body("b", 1, inertia=(2, 3, 4, 0.1, 0.2, 0.3)).inertia
    assert six == ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 4))
    assert body("b", 1, inertia=np.diag([1, 2, 3])).inertia == three
    with pytest.raises(ModelError, match="the inertia of body 'b' has 4 entries"):
        body("b", 1, inertia=(1, 2, 3, 4))


def test_bodies_are_made_from_shapes():
    box = body("box", density=1000, shapes=Box(1, 2, 3))
    assert box.mass == 6000
    assert box.inertia[0][0] == 6000 * 13 * Fraction(1, 12)
    assert body("box", mass=6000, shapes=Box(1, 2, 3)) == box
    ball = body("ball", density=3, shapes=[Sphere(1, p=(5, 0, 0))])
    assert number(ball.mass) == pytest.approx(4 * math.pi)
    assert floats(ball.com).tolist() == [5, 0, 0]
    cone = body("cone", mass=1, shapes=Cone(1, 4))
    assert cone.com == (0, 0, 1)
    assert body("picture", shapes=[Mesh("a.stl"), Line([(0, 0, 0), (1, 0, 0)])]).mass == 0
    assert body("drawn", shapes=Sphere(1)).mass == 0
    assert body("point", mass=2, shapes=Line([(0, 0, 0), (1, 0, 0)])).mass == 2


def test_several_shapes_are_one_body():
    """Two half bars are one bar, whether by density or by mass."""
    whole = body("bar", mass=6, shapes=Box(2, 1, 1))
    halves = [Box(1, 1, 1, p=(Fraction(s, 2), 0, 0)) for s in (-1, 1)]
    for made in (body("bar", mass=6, shapes=halves), body("bar", density=3, shapes=halves)):
        assert_allclose(floats(made.inertia), floats(whole.inertia))
        assert made.com == (0, 0, 0)
        assert made.mass == 6


def test_a_turned_shape_has_a_turned_inertia():
    rod = body("rod", mass=1, shapes=Cylinder(0.1, 2, R=turned("y", math.pi / 2)))
    moments = np.diag(floats(rod.inertia))
    assert moments[0] == pytest.approx(0.005)
    assert moments[1] == moments[2] == pytest.approx(0.0025 + 1 / 3)


def test_efforts_act_between_markers_on_joints_and_along_measures():
    a, b = ground.at((1, 0, 0)), body("b", 1)
    distance = spring(a, b, stiffness=2, rest=1)
    assert distance.measure == Distance(a, b.at())
    assert distance.name == "spring ground-b"
    hinge = join(ground, b, Revolute, name="A")
    assert damper(hinge, coefficient=1).measure == Coordinate("A")
    assert law("A", effort=-(coordinate("A") ** 3)).effort is -(symbol("A") ** 3)
    angle = Angle(Marker("ground"), Marker("b"))
    assert motor(angle, effort=1, name="m").measure is angle
    assert friction(hinge, dry=2).smoothing == Fraction(1, 1000)
    assert friction(hinge, dry=2, smoothing=0.1).smoothing == 0.1
    assert wrench(b, force=(0, 0, 1), axes=b).axes == Marker("b")
    with pytest.raises(ModelError, match="3 places are given to act on"):
        spring(a, a, b, stiffness=1)


def test_a_joint_of_several_coordinates_must_be_told_which():
    shaft = join(ground, body("b", 1), Cylindrical, name="S")
    with pytest.raises(ModelError, match=r"joint 'S' has 2 coordinates; name one of S\.angle"):
        motor(shaft, effort=1)
    assert motor("S.slide", effort=1).measure == Coordinate("S.slide")


def test_everything_together_is_a_mechanism():
    b, c = body("b", 1), body("c", 1, inertia=(1, 1, 1))
    A = join(ground, b, Revolute, name="A", coordinates="theta")
    B = join(b.at((1, 0, 0)), c, Composition((Rotation("x"), Rotation("z"))), name="B")
    made = mechanism(
        A,
        B,
        gravity(0, -9.81, 0),
        potential("well", coordinate(A) ** 2),
        dissipation("drag", rate(A) ** 2),
        imposed("B.dof1", 2 * time),
        gear("B.dof2", 3, A, offset=1),
        holonomic("tie", coordinate("B.dof1") - 2 * time),
        nonholonomic("roll", rate(A) - rate("B.dof1")),
        output("speed", rate(A), "rad/s"),
        event("top", coordinate(A), direction="rising", stop=True),
        start({"theta": 1, "theta'": 2}),
    )
    assert made.coordinates == ("theta", "B.dof1", "B.dof2")
    assert made.constraints[1] == Coupling("gear B.dof2-theta", "B.dof2", 3, "theta", 1)
    assert (made.events[0].direction, made.events[0].action) == (1, "stop")


def test_gravity_is_given_as_three_numbers_a_vector_or_nothing():
    assert gravity().vector == (0, 0, Fraction(-981, 100))
    assert gravity(0, -1, 0).vector == gravity((0, -1, 0)).vector == (0, -1, 0)


def test_refusals_point_at_the_line_of_the_script():
    lonely = body("moon", 1)
    with pytest.raises(ModelError, match="body 'moon' is not connected") as refusal:
        mechanism(join(ground, body("b", 1), Spherical), lonely)
    assert refusal.value.place.file == __file__
    assert 'lonely = body("moon", 1)' in refusal.value.place.text


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda b: join(ground, b, Revolute, name="A", axis=(0, 0, 0)), "joint 'A': the axis"),
        (lambda b: join(ground, b, Revolute, axis="q"), "axis 'q' is not known"),
        (lambda b: join(ground, b, Revolute, axis=(0, 0, math.inf)), "axis .* is inf"),
        (lambda b: body("c", 1, density=2, shapes=Box(1, 1, 1)), "a mass and a density"),
        (lambda b: body("c", density=2), "a density but no shape"),
        (lambda b: body("c", 1, shapes=Box(1, 0, 1)), "the y of a box is 0 m"),
        (lambda b: body("c", 1, shapes=Sphere(-1)), "the radius of a sphere is -1 m"),
        (lambda b: body("c", 1, shapes=Cylinder(1, math.nan)), "the length of a cylinder is nan"),
        (lambda b: turned((0, 0, 0), 1), r"axis \(0, 0, 0\)"),
    ],
)
def test_impossible_wishes_are_refused(make, said):
    with pytest.raises(ModelError, match=said):
        make(body("b", 1))


def test_ground_is_the_ground():
    assert ground is GROUND


def test_alike_bodies_made_apart_under_one_name_are_not_one_body():
    rods = [body("rod", 1, inertia=(1, 1, 1)) for _ in range(2)]
    hinges = [join(ground, x, Revolute, name=f"A{k}") for k, x in enumerate(rods)]
    with pytest.raises(ModelError, match="two bodies that were made apart are both named 'rod'"):
        mechanism(*hinges)
    once = mechanism(*(join(ground, rods[0], Revolute, name=f"A{k}") for k in range(2)))
    assert [x.name for x in once.bodies] == ["ground", "rod"]


def test_a_body_read_again_is_that_of_the_mechanism_it_is_joined_to():
    swing = mechanism(join(ground, body("rod", 1, inertia=(1, 1, 1)), Revolute, name="A"))
    again = pickle.loads(pickle.dumps(swing)).bodies[1]
    longer = mechanism(swing, join(again, body("tip", 1, inertia=(1, 1, 1)), Revolute, name="B"))
    assert [x.name for x in longer.bodies] == ["ground", "rod", "tip"]
