"""A mechanism is whole or refused; a refusal names the element, the rule, the value, a way out."""

import pickle
from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, ModelError, NamingError, Place
from liaison.expr import PI, symbol
from liaison.model import (
    GROUND,
    Actuator,
    Body,
    Coordinate,
    Coupling,
    Damper,
    Distance,
    Event,
    Fixed,
    Free,
    Gravity,
    Helical,
    Holonomic,
    Input,
    Joint,
    JointFriction,
    Law,
    Marker,
    Mechanism,
    Nonholonomic,
    Output,
    Parameter,
    PointWrench,
    Potential,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Spherical,
    Spring,
    Start,
)

HERE = Place("arm.lsd", 7, 3, "  the line", 3)
t, A, dA, m = symbol("t"), symbol("A"), symbol("A'"), symbol("m")


def arm(**changes):
    """Two bodies in a row: a hinge A on ground, a slider B on the arm."""
    parts = {
        "name": "arm",
        "bodies": (Body("arm", 1, (0.5, 0, 0), np.diag([0.0, 0.1, 0.1])), Body("sled", 2)),
        "joints": (
            Joint("A", Revolute(), Marker("ground"), Marker("arm")),
            Joint("B", Prismatic(), Marker("arm", p=(1, 0, 0)), Marker("sled")),
        ),
    }
    return Mechanism(**(parts | changes))


def with_joints(*joints):
    return arm(joints=(*arm().joints, *joints))


# What a description is --------------------------------------------------------------------------


def test_ground_comes_first_and_is_added():
    assert [body.name for body in arm().bodies] == ["ground", "arm", "sled"]
    again = arm(bodies=(Body("sled", 2), GROUND, Body("arm")))
    assert again.bodies[0] is GROUND
    assert len(again.bodies) == 3


def test_records_are_equal_by_value_and_can_be_keys():
    assert arm() == arm()
    assert hash(arm()) == hash(arm())
    assert Marker("arm", np.eye(3), np.zeros(3)) == Marker("arm", np.eye(3), [0.0, 0.0, 0.0])
    assert Body("a", place=HERE) == Body("a")
    assert len({Body("a", m), Body("a", m), Body("a", 2 * m)}) == 2


def test_records_are_changed_by_replacing():
    heavier = replace(arm(), bodies=tuple(replace(b, mass=2 * b.mass) for b in arm().bodies))
    assert heavier.body("sled").mass == 4
    assert arm().body("sled").mass == 2
    with pytest.raises(FrozenInstanceError):
        arm().name = "leg"


def test_records_travel_between_processes():
    loaded = pickle.loads(
        pickle.dumps(arm(parameters=(Parameter("m", 2),), bodies=(Body("arm", m), Body("sled", 2))))
    )
    assert loaded.body("arm").mass is m


def test_exact_numbers_stay_exact():
    body = Body("b", Decimal("0.1"), (np.float64(0.5), np.int64(2), Fraction(1, 3)))
    assert body.mass == Fraction(1, 10)
    assert body.com == (0.5, 2, Fraction(1, 3))
    assert type(body.com[1]) is int
    assert Parameter("a", PI / 5).value is PI / 5


def test_coordinates_and_speeds_have_labels():
    mechanism = with_joints(Joint("C", Spherical(), Marker("sled"), Marker("arm")))
    assert mechanism.coordinates == ("A", "B", "C.qw", "C.qx", "C.qy", "C.qz")
    assert mechanism.speeds == ("A'", "B'", "C.wx", "C.wy", "C.wz")
    named = Joint("A", Revolute(), Marker("ground"), Marker("arm"), ("theta",))
    assert named.speeds == ("theta'",)
    free = Joint("F", Free(), Marker("ground"), Marker("arm"))
    assert free.coordinates[:3] == ("F.x", "F.y", "F.z")
    assert free.speeds == ("F.wx", "F.wy", "F.wz", "F.vx", "F.vy", "F.vz")


def test_records_give_arrays_and_quantities():
    body = arm().body("arm")
    assert body.spatial_inertia.about((0, 0, 0))[2, 2] == pytest.approx(0.1 + 0.25)
    marker = body.at((1, 2, 3))
    assert marker.position.tolist() == [1, 2, 3]
    assert marker.pose.relative_to == body.frame
    assert Gravity().acceleration[2] == Fraction(-981, 100)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(NamingError, match="no body is named 'sledge'; did you mean 'sled'"):
        arm().body("sledge")
    with pytest.raises(NamingError, match="no joint is named 'C'"):
        arm().joint("C")


def test_formulas_may_use_everything_that_is_declared():
    mechanism = arm(
        bodies=(Body("arm", m, inertia=np.diag([0, 1, 1]) * m), Body("sled", 2)),
        parameters=(Parameter("m", 2, "kg", 1, 3), Parameter("unknown")),
        inputs=(Input("u", "N*m"),),
        forces=(
            Gravity((0, -m, 0)),
            Law("law", Coordinate("A"), symbol("u") * A - dA * t + m),
            Potential("potential", A**2 * dA),
        ),
        constraints=(
            PrescribedMotion("drive", "B", t**2 * m),
            Holonomic("tie", A - symbol("B") - t),
            Nonholonomic("roll", dA * A - symbol("B'")),
        ),
        starts=(Start("A", m / 2), Start("A'", 1)),
        events=(Event("top", A - PI, 1, "stop"),),
        outputs=(Output("power", symbol("u") * dA, "W"),),
    )
    assert mechanism.parameters[1].value is None


def test_events_and_outputs_may_name_outputs():
    high, low, event = symbol("high"), symbol("low"), Event("e", symbol("high") - symbol("low"))
    outputs = (Output("high", 2 * low + t), Output("low", A * m), Output("plain", 1))
    made = arm(outputs=outputs, events=(event,), parameters=(Parameter("m", 1),))
    assert [x.formula for x in made.outputs] == [2 * (A * m) + t, A * m, 1]
    assert made.events[0].formula is 2 * (A * m) + t - A * m
    assert replace(made, name="again").events == made.events
    assert outputs[1] * 2 + high is 2 * low + high


def test_rates_of_quaternion_components_may_be_used():
    mechanism = with_joints(Joint("C", Spherical(), Marker("sled"), Marker("ground")))
    output = Output("o", symbol("C.qw'") * symbol("C.wx"))
    assert replace(mechanism, outputs=(output,)).outputs == (output,)


# What is refused --------------------------------------------------------------------------------

REFUSALS = {
    "negative mass": (
        lambda: Body("arm", -1),
        "the mass of body 'arm' is -1 kg; it must not be negative.",
    ),
    "mass that is no number": (
        lambda: Body("arm", "2"),
        "the mass of body 'arm' is '2', a text without a unit; write '2 kg', or a number, which "
        "is in SI.",
    ),
    "mass that is a truth value": (
        lambda: Body("arm", True),
        "the mass of body 'arm' is True; it must be a number or a formula.",
    ),
    "infinite mass": (
        lambda: Body("arm", float("inf")),
        "the mass of body 'arm' is inf; it must be a finite number.",
    ),
    "center not finite": (
        lambda: Body("arm", 1, (0, float("nan"), 0)),
        "the center of mass of body 'arm' is nan; it must be a finite number.",
    ),
    "center of two components": (
        lambda: Body("arm", 1, (0, 0)),
        "the center of mass of body 'arm' has 2 components, (0, 0); it must have three.",
    ),
    "center that is a number": (
        lambda: Body("arm", 1, 3),
        "the center of mass of body 'arm' is 3; it must be a list of three.",
    ),
    "impossible inertia": (
        lambda: Body("arm", 1, (0, 0, 0), np.diag([1, 1, 3])),
        "the inertia of body 'arm' is impossible: largest principal moment ≤ sum of the other two "
        "fails, 3 > 1 + 1 = 2 kg·m².",
    ),
    "impossible inertia at a parameter's value": (
        lambda: arm(
            bodies=(Body("arm", 1, (0, 0, 0), ((1, 0, 0), (0, 1, 0), (0, 0, m))), Body("sled")),
            parameters=(Parameter("m", 5),),
        ),
        "the inertia of body 'arm' is impossible at the values of the parameters: largest "
        "principal moment ≤ sum of the other two fails, 5 > 1 + 1 = 2 kg·m².",
    ),
    "negative mass at a parameter's value": (
        lambda: arm(bodies=(Body("arm", -m), Body("sled")), parameters=(Parameter("m", 5),)),
        "the inertia of body 'arm' is impossible at the values of the parameters: mass ≥ 0 fails, "
        "the mass is -5 kg.",
    ),
    "a name that is none": (
        lambda: Body(""),
        "a body is named ''; a name is a text that is not empty.",
    ),
    "a name with a quote": (
        lambda: Parameter("a'"),
        'parameter "a\'": a name has no quotes (they mark rates) and no spaces around it.',
    ),
    "a mirror for a rotation": (
        lambda: Marker("arm", np.diag([1, 1, -1]), (0, 0, 0), "tip"),
        "the rotation of marker 'tip' on body 'arm' is no rotation: RᵀR differs from 1 by 2.0e+00, "
        "or it mirrors; give an axis and an angle, or a matrix to full precision.",
    ),
    "a joint of one body": (
        lambda: Joint("A", Revolute(), Marker("arm"), Marker("arm")),
        "joint 'A' connects body 'arm' with itself; it must connect two bodies.",
    ),
    "too many coordinates": (
        lambda: Joint("A", Revolute(), Marker("ground"), Marker("arm"), ("a", "b")),
        "joint 'A' names 2 coordinates, a, b; a Revolute joint has 1: angle.",
    ),
    "two bodies of one name": (
        lambda: arm(bodies=(Body("arm"), Body("arm"), Body("sled"))),
        "the name 'arm' is given to two bodies; each name is used once.",
    ),
    "two joints of one name": (
        lambda: with_joints(Joint("A", Fixed(), Marker("ground"), Marker("sled"))),
        "the name 'A' is given to two joints; each name is used once.",
    ),
    "a parameter named as a coordinate": (
        lambda: arm(parameters=(Parameter("A", 1),)),
        "the name 'A' is given to two of joints, coordinates, parameters, inputs and outputs; "
        "each name is used once.",
    ),
    "an input named as time": (
        lambda: arm(inputs=(Input("t"),)),
        "the name 't' means the time; nothing else can have it.",
    ),
    "a marker on no body": (
        lambda: with_joints(Joint("C", Fixed(), Marker("sld"), Marker("ground"))),
        "no body is named 'sld'; did you mean 'sled'?\n    Declared: arm, ground, sled.",
    ),
    "a force on no body": (
        lambda: arm(forces=(Spring("s", Distance(Marker("ground"), Marker("leg")), 1),)),
        "no body is named 'leg'.\n    Declared: arm, ground, sled.",
    ),
    "a body on no joint": (
        lambda: arm(bodies=(Body("arm"), Body("sled"), Body("moon"))),
        "body 'moon' is not connected to ground by joints; join each to another body, or to ground "
        "with a Free joint.",
    ),
    "bodies joined only to each other": (
        lambda: arm(
            bodies=(*arm().bodies, Body("a"), Body("b")),
            joints=(*arm().joints, Joint("C", Fixed(), Marker("a"), Marker("b"))),
        ),
        "bodies 'a', 'b' are not connected to ground by joints; join each to another body, or to "
        "ground with a Free joint.",
    ),
    "an unknown symbol in a mass": (
        lambda: arm(bodies=(Body("arm", symbol("mm")), Body("sled")), parameters=(Parameter("m"),)),
        "no parameter in body 'arm' is named 'mm'; did you mean 'm'?\n    Declared: m.",
    ),
    "an unknown symbol in an effort": (
        lambda: arm(forces=(Law("push", Coordinate("A"), symbol("AA'")),)),
        "no symbol in force 'push' is named \"AA'\"; did you mean \"A'\"?\n"
        "    Declared: A, A', B, B', t.",
    ),
    "an unknown symbol in a joint": (
        lambda: with_joints(Joint("C", Helical(symbol("h")), Marker("sled"), Marker("ground"))),
        "no parameter in joint 'C' is named 'h'.\n    Declared: none.",
    ),
    "a mass that depends on a coordinate": (
        lambda: arm(bodies=(Body("arm", A), Body("sled"))),
        "body 'arm' depends on 'A'; it may depend on parameters only.",
    ),
    "a holonomic relation with a rate": (
        lambda: arm(constraints=(Holonomic("tie", A - dA),)),
        "constraint 'tie' depends on 'A''; it may depend on time, parameters and coordinates only.",
    ),
    "an imposed motion of a coordinate": (
        lambda: arm(constraints=(PrescribedMotion("drive", "A", symbol("B")),)),
        "constraint 'drive' depends on 'B'; it may depend on time and parameters only.",
    ),
    "a nonholonomic relation without rates": (
        lambda: arm(constraints=(Nonholonomic("roll", A - 1),)),
        "constraint 'roll' is no relation A q̇ + b = 0: no rate is in it; make it a Holonomic one.",
    ),
    "a motor on no coordinate": (
        lambda: arm(forces=(Actuator("motor", Coordinate("C"), 1),)),
        "no coordinate is named 'C'.\n    Declared: A, B.",
    ),
    "friction on a part of a quaternion": (
        lambda: arm(
            joints=(arm().joints[0], Joint("B", Spherical(), Marker("arm"), Marker("sled"))),
            forces=(JointFriction("f", "B.qx", 1),),
        ),
        "'f' acts on 'B.qx', which is one of several components of an attitude; it must act on a "
        "coordinate that moves alone.",
    ),
    "a gear to itself": (
        lambda: Coupling("gear", "A", 2, "A"),
        "coupling 'gear' ties 'A' to itself; it must tie two.",
    ),
    "a start of nothing": (
        lambda: arm(starts=(Start("C", 1),)),
        "no coordinate or speed is named 'C'.\n    Declared: A, A', B, B'.",
    ),
    "two starts of one": (
        lambda: arm(starts=(Start("A", 1), Start("A", 2))),
        "the name 'A' is given to two starts; each name is used once.",
    ),
    "two gravities": (
        lambda: arm(forces=(Gravity(), Gravity((0, 0, -1), "moon"))),
        "gravity is given 2 times; it must be given once.",
    ),
    "gravity not finite": (
        lambda: Gravity((0, 0, float("-inf"))),
        "gravity is -inf; it must be a finite number.",
    ),
    "negative stiffness": (
        lambda: Spring("s", Coordinate("A"), -3),
        "the stiffness of spring 's' is -3; it must not be negative.",
    ),
    "negative damping": (
        lambda: Damper("d", Coordinate("A"), -0.5),
        "the coefficient of damper 'd' is -0.5; it must not be negative.",
    ),
    "friction without smoothing": (
        lambda: JointFriction("f", "A", 0, 1, 0),
        "the smoothing of friction 'f' is 0; it must be a positive speed.",
    ),
    "a force not finite": (
        lambda: PointWrench("w", Marker("arm"), (0, float("nan"), 0)),
        "the force of wrench 'w' is nan; it must be a finite number.",
    ),
    "a parameter out of its bounds": (
        lambda: Parameter("m", 5, "kg", 1, 3),
        "parameter 'm' is 5; it must be within its bounds 1 … 3.",
    ),
    "bounds the wrong way round": (
        lambda: Parameter("m", None, "kg", 3, 1),
        "parameter 'm' has bounds 3 … 1; the lower must not exceed the upper.",
    ),
    "a parameter made of another": (
        lambda: Parameter("c", 2 * m),
        "the value of parameter 'c' is the formula 2*m; it must be a number. Use the formula "
        "itself where the value is meant: it follows what it is made of.",
    ),
    "a bound made of a parameter": (
        lambda: Parameter("c", 2, "m", high=m),
        "the high of parameter 'c' is the formula m; it must be a number. Use the formula "
        "itself where the value is meant: it follows what it is made of.",
    ),
    "an input's default made of a parameter": (
        lambda: Input("u", "N", Parameter("m", 2)),
        "the default of input 'u' is the formula m; it must be a number. Use the formula "
        "itself where the value is meant: it follows what it is made of.",
    ),
    "an output made of itself": (
        lambda: arm(
            outputs=(Output("h", A + 1), Output("a", symbol("b")), Output("b", symbol("a")))
        ),
        "output 'a' is made of itself by way of 'b'; write it in terms of coordinates, speeds, "
        "inputs and parameters.",
    ),
    "an effort made of an output": (
        lambda: arm(forces=(Law("push", Coordinate("A"), symbol("h")),), outputs=(Output("h", A),)),
        "force 'push' depends on 'h'; it may depend on time, parameters, inputs, coordinates and "
        "speeds only.",
    ),
    "a direction that is none": (
        lambda: Event("e", A, 2),
        "event 'e' has direction 2; it must be 1 (rising), -1 (falling) or 0 (both); "
        "`event` also takes these words.",
    ),
    "an action that is none": (
        lambda: Event("e", A, 0, "explode"),
        "event 'e' has action 'explode'; it must be record or stop.",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSALS.values(), ids=REFUSALS)
def test_what_no_mechanism_can_have_is_refused(make, message):
    with pytest.raises(LiaisonError) as refusal:
        make()
    assert isinstance(refusal.value, ModelError | NamingError)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    "make",
    [
        lambda: Body("arm", -1, place=HERE),
        lambda: Body("arm", 1, (0, 0, 0), np.diag([1, 1, 3]), place=HERE),
        lambda: Joint("A", Revolute(), Marker("arm"), Marker("arm"), place=HERE),
        lambda: arm(bodies=(*arm().bodies, Body("moon", place=HERE))),
        lambda: arm(bodies=(*arm().bodies, Body("arm", place=HERE))),
        lambda: with_joints(Joint("C", Fixed(), Marker("sld"), Marker("ground"), place=HERE)),
        lambda: arm(forces=(Law("push", Coordinate("A"), symbol("x"), place=HERE),)),
        lambda: arm(forces=(Law("push", Coordinate("C"), 1, place=HERE),)),
        lambda: arm(constraints=(Nonholonomic("roll", A, place=HERE),)),
        lambda: arm(starts=(Start("C", 1, place=HERE),)),
        lambda: arm(parameters=(Parameter("A", 1, place=HERE),)),
        lambda: arm(outputs=(Output("o", symbol("x"), place=HERE),)),
        lambda: Spring("s", Coordinate("A"), -3, place=HERE),
        lambda: Parameter("m", 5, "kg", 1, 3, place=HERE),
        lambda: Event("e", A, 2, place=HERE),
    ],
)
def test_refusals_say_where(make):
    with pytest.raises(LiaisonError) as refusal:
        make()
    assert refusal.value.place is HERE
    assert str(refusal.value).startswith("arm.lsd, line 7: ")
    assert "    7 |   the line" in str(refusal.value)


@pytest.mark.parametrize(
    ("load", "value", "words"),
    [
        (lambda x: liaison.spring("A", stiffness=x), "-5 N*m/rad", "the stiffness of spring"),
        (
            lambda x: liaison.damper("A", coefficient=2 * x),
            "-1 N*m*s/rad",
            "the coefficient of damper",
        ),
    ],
)
def test_a_load_is_checked_at_the_values_of_parameters(load, value, words):
    k = liaison.parameter("k", value.replace("-", ""))
    arm = liaison.body("arm", 1, inertia=(1, 1, 1))
    made = liaison.mechanism(liaison.join(liaison.ground, arm, "revolute", name="A"), k, load(k))
    with pytest.raises(ModelError, match=f"{words} .* at the values of the parameters; it must"):
        liaison.simulate(made, until=0.1, parameters={"k": value})


def test_a_joint_is_checked_at_the_values_of_parameters():
    p = liaison.parameter("p", "5 mm/rad")
    nut = liaison.body("nut", 1, inertia=(1, 1, 1))
    made = liaison.mechanism(liaison.join(liaison.ground, nut, liaison.Helical(p), name="N"), p)
    with pytest.raises(ModelError, match="joint 'N' at the values of the parameters: the pitch"):
        liaison.simulate(made, until=0.1, parameters={"p": 0})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Body("b", 1, (0, 0, -(10**200))),
        lambda: Body("b", 1, (0, 0, -1e200)),
        lambda: Body("b", 1e308),
        lambda: Body("b", 1).at((1e150, 0, 0)),
        lambda: Parameter("l", 1e101, "m"),
    ],
)
def test_quantities_whose_products_overflow_are_refused(make):
    """Moments of inertia would be inf, and derivation end with NaN."""
    with pytest.raises(ModelError, match="too large a quantity"):
        make()
