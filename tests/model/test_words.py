"""Words of the Python door: units convert, joints go by their words, mechanisms are parts."""

import math
from fractions import Fraction

import pytest

import liaison
from liaison import (
    LiaisonError,
    ModelError,
    NamingError,
    Rod,
    body,
    coordinate,
    gravity,
    ground,
    join,
    mechanism,
    motor,
    output,
    parameter,
    rate,
    signal,
    start,
)
from liaison.expr import PI, as_expr
from liaison.model.values import floats


def pendulum(*parts, **options):
    rod = body("rod", mass=2, center=(0, 0, -1), inertia=(1, 1, 0))
    return mechanism(join(ground, rod, "revolute", name="A", axis="y"), gravity(), parts, **options)


@pytest.mark.parametrize(
    ("given", "unit", "kept", "label"),
    [(250, "mm", Fraction(1, 4), "m"), (2, "kN/m", 2000, "N/m"), (3, "kg*m^2", 3, "kg*m^2"),
     (1.5, "km", 1500.0, "m"), (5, "N*m*s/rad", 5, "N*m*s/rad"), (7, "J", 7, "J"), (4, "", 4, "")],
)  # fmt: skip
def test_a_parameter_is_given_in_its_unit_and_kept_in_si(given, unit, kept, label):
    found = parameter("p", given, unit, low=0, high=2 * given)
    assert (found.value, found.low, found.high, found.unit) == (kept, 0, 2 * kept, label)


def test_degrees_and_revolutions_stay_exact():
    assert as_expr(parameter("a", 30, "deg").value) is PI / 6
    assert as_expr(parameter("w", 60, "rpm").value) is 2 * PI
    assert parameter("w", 60, "rpm").unit == "rad/s"
    assert parameter("x", unit="mm").value is None


def test_the_default_of_an_input_is_given_in_its_unit():
    found = signal("u", "kN", 3)
    assert (found.default, found.unit) == (3000, "N")


def test_an_output_is_shown_in_its_unit():
    made = pendulum(start("A", 0.5), output("a", coordinate("A"), "deg"), output("b", 2, "mm"))
    run = liaison.simulate(made, until=0.1)
    assert run["a"] == pytest.approx(run["A"] * 180 / math.pi, rel=1e-14)
    assert run.unit("a") == "deg"
    assert run["b"][0] == 2000.0


def test_python_and_lsd_agree_on_an_output():
    text = """let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and b with revolute end ; output a = A' in rpm ;"""
    read, made = liaison.read(text).outputs[0], output("a", rate("A"), "rpm")
    assert floats(read.formula, {"A'": 3.0}) == floats(made.formula, {"A'": 3.0})
    assert read.unit == made.unit


@pytest.mark.parametrize("unit", ["furlong", "m m", "MM"])
def test_a_unit_that_is_none_is_refused_where_it_stands(unit):
    for said in (parameter, signal):
        with pytest.raises(LiaisonError) as refused:
            said("p", unit=unit)
        assert refused.value.place is not None
    with pytest.raises(LiaisonError):
        output("p", 1, unit)


@pytest.mark.parametrize(
    ("formula", "unit"),
    [(coordinate("A"), "mm"), (rate("A"), "rad"), (rate("A"), "Hz"), (rate("A"), "m/s")],
)
def test_an_output_that_is_a_coordinate_has_a_unit_of_its_dimension(formula, unit):
    with pytest.raises(ModelError, match="A"):
        pendulum(output("x", formula, unit))
    pendulum(output("x", 2 * formula / coordinate("A"), unit))  # a dimension nobody knows


@pytest.mark.parametrize("word", ["revolute", "spherical_pin", "free", "Planar"])
def test_a_joint_goes_by_the_word_of_lsd(word):
    joint = join(ground, body("b", 1), word)
    assert joint.type.name.lower() == word.replace("_", "").lower()
    assert joint.name == "ground_b"


def test_a_joint_that_cannot_be_is_refused_in_words():
    b = body("b", 1)
    with pytest.raises(NamingError, match="revolute"):
        join(ground, b, "revolut")
    with pytest.raises(ModelError, match="length"):
        join(ground, b, Rod)
    with pytest.raises(ModelError, match="pitch"):
        join(ground, b, "helical")
    with pytest.raises(ModelError, match="Revolute"):
        join(ground, b, 3)
    with pytest.raises(ModelError, match=r"body\.at"):
        join("ground", b, "revolute")


def test_a_mechanism_may_be_a_part_of_another():
    torque = signal("torque", "N*m")
    first = pendulum(start("A", 0.5), start("A", speed=2), name="robot")
    driven = mechanism(first, motor("A", effort=torque), torque, start("A", 0.1))
    assert driven.name == "robot"
    assert len(driven.bodies) == len(first.bodies)
    assert {x.label: x.value for x in driven.starts} == {"A": 0.1, "A'": 2}
    assert liaison.simulate(driven, until=0.1, inputs={"torque": 3.0}).success
