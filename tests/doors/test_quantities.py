"""Texts with a number and a unit mean what the same number in SI means, or are rejected."""

import math
from fractions import Fraction

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError, ModelError, NamingError
from liaison.units import quantity, si_exact, si_value

PENDULUM = "examples/pendulum.lsd"


@pytest.mark.parametrize(
    ("text", "unit", "value", "power"),
    [
        ("250 g", "kg", Fraction(1, 4), 0),
        ("250g", "kg", Fraction(1, 4), 0),
        (" -9.81 m/s^2 ", "m/s^2", Fraction(-981, 100), 0),
        ("−9.81 m/s²", "m/s^2", Fraction(-981, 100), 0),
        ("1/3 m", "m", Fraction(1, 3), 0),
        ("40 deg", "rad", Fraction(2, 9), 1),
        ("pi/2 rad", "rad", Fraction(1, 2), 1),
        ("2*pi rad/s", "rad/s", Fraction(2), 1),
        ("1e-3 N·m", "N*m", Fraction(1, 1000), 0),
        ("5 1/s", "1/s", Fraction(5), 0),
        ("5/s", "1/s", Fraction(5), 0),
        ("5 mm/rev", "m/rad", Fraction(1, 400), -1),
        (".5 N / mm", "N/m", Fraction(500), 0),
    ],
)
def test_a_text_is_exact(text, unit, value, power):
    assert si_exact(text, unit, "x") == (value, power)
    assert si_value(text, unit, "x") == pytest.approx(float(value) * math.pi**power, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("2", "kg", "'2', a text without a unit; write '2 kg', or a number"),
        ("2 m", "kg", "'2 m'; it must be in kg, or in a unit that converts"),
        ("2 kgg", "kg", "no unit is named 'kgg'; did you mean 'kg'?"),
        ("heavy", "kg", "a text is a number and a unit, such as '1 kg'"),
        ("", "kg", "a text is a number and a unit"),
        ("nan kg", "kg", "a text is a number and a unit"),
        ("1/0 kg", "kg", "a division by 0"),
        ("1e9999 kg", "kg", "is no unit; units are written like"),
        ("9" * 300 + " kg", "kg", "a text is a number and a unit"),
        ("3 Hz", "rad/s", "it must be in rad/s"),
        ("5 mm", "m/rad", "it must be in m/rad"),
        ("2 m", "", "it has no unit, and is a number alone"),
        ("0.3", "", "a text without a unit; write the number itself"),
    ],
)
def test_a_text_that_is_no_such_quantity_is_rejected(text, unit, words):
    with pytest.raises(ArgumentError) as error:
        si_value(text, unit, "the mass of 'a'")
    assert words in error.value.message
    assert "the mass of 'a' is " in error.value.message


def test_numbers_beyond_a_float_are_rejected():
    with pytest.raises(ArgumentError, match="too large"):
        si_value("1e308 km", "m", "x")
    with pytest.raises(ModelError, match="too large"):
        liaison.body("b", "1e308 tonne")


def test_number_and_unit_of_a_text_are_apart():
    assert quantity("2π rad/s", "x").unit == "rad/s"
    assert quantity("-3 kg", "x").value == -3


def described(in_texts: bool) -> liaison.Mechanism:
    """One mechanism, in texts or in exact SI numbers."""

    def x(text: str, number: object) -> object:
        return text if in_texts else number

    turn = liaison.PI / 6
    ball = liaison.Sphere(x("5 cm", Fraction(1, 20)), p=(x("1 mm", Fraction(1, 1000)), 0, 0))
    a = liaison.body("a", x("250 g", Fraction(1, 4)), center=(x("1 cm", Fraction(1, 100)), 0, 0),
                     inertia=[x("2 kg*cm^2", Fraction(1, 5000))] * 3)  # fmt: skip
    b = liaison.body("b", density=x("1 g/cm^3", 1000), shapes=ball)
    at = liaison.ground.at(
        (x("10 cm", Fraction(1, 10)), 0, 0), liaison.turned("x", x("30 deg", turn))
    )
    A = liaison.join(at, a, "revolute", name="A")
    S = liaison.join(a, b, "prismatic", name="S")
    screw = liaison.Helical(x("5 mm/rev", Fraction(1, 400) / liaison.PI))
    H = liaison.join(b, liaison.body("c", 1, inertia=(1, 1, 1)), screw, name="H")
    rough = liaison.Friction(Fraction(1, 5), rolling=x("1 mm", Fraction(1, 1000)))
    return liaison.mechanism(
        A, S, H,
        liaison.gravity(0, 0, x("-9.81 m/s^2", Fraction(-981, 100))),
        liaison.spring("A", stiffness=x("2 N*m/rad", 2), rest=x("10 deg", liaison.PI / 18)),
        liaison.spring(S, stiffness=x("2 N/mm", 2000), rest=x("10 cm", Fraction(1, 10))),
        liaison.spring(a, b.at((0, x("1 m", 1), 0)), stiffness=x("1 kN/m", 1000), name="far"),
        liaison.damper("S", coefficient=x("1 kN*s/m", 1000)),
        liaison.motor("A", effort=x("3 N*m", 3)),
        liaison.law("S", effort=x("3 kN", 3000)),
        liaison.friction("S", dry=x("1 N", 1), smoothing=x("1 cm/s", Fraction(1, 100))),
        liaison.friction("A", dry=x("1 N*m", 1), static=x("2 N*m", 2), name="held"),
        liaison.wrench(b, force=(x("1 kN", 1000), 0, 0), moment=(0, 0, x("1 kJ", 1000))),
        liaison.gear("H", x("2 rad/m", 2), "S", offset=x("90 deg", liaison.PI / 2)),
        liaison.contact(
            b, liaison.ground, "ball", radius=x("5 cm", Fraction(1, 20)), friction=rough
        ),
        liaison.parameter("l", x("30 cm", Fraction(3, 10)), "" if in_texts else "m"),
        liaison.signal("u", "N", x("1 kN", 1000)),
        liaison.start("A", x("40 deg", 2 * liaison.PI / 9), x("10 rpm", liaison.PI / 3)),
        liaison.guess({"S": x("2 cm", Fraction(1, 50))}),
        name="both",
    )  # fmt: skip


def test_a_description_in_texts_is_the_one_in_exact_numbers():
    texts, numbers = described(in_texts=True), described(in_texts=False)
    assert texts == numbers
    assert liaison.write_lsd(texts) == liaison.write_lsd(numbers)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (lambda: liaison.spring("A", stiffness="2 N/m"), "must be in N*m/rad"),
        (lambda: liaison.spring("X", stiffness="2 N/m"), "no coordinate is named 'X'"),
        (lambda: liaison.spring("A", stiffness="-2 N*m/rad"), "must not be negative"),
        (lambda: liaison.friction("A", dry="2 N*m", static="1 N*m"), "must not be less"),
        (lambda: liaison.friction("A", dry="2 N*m", smoothing="0 rad/s"), "must be a positive"),
        (lambda: liaison.start("A", "40 cm"), "must be in rad"),
        (lambda: liaison.start("X", "40 deg"), "no coordinate or speed is named 'X'"),
        (lambda: liaison.imposed("A", "4 m"), "must be in rad"),
    ],
)
def test_units_of_a_label_are_decided_by_the_mechanism(parts, words):
    A = liaison.join(liaison.ground, liaison.body("b", 1, inertia=(1, 1, 1)), "revolute", name="A")
    with pytest.raises((ModelError, NamingError)) as error:
        liaison.mechanism(A, parts())
    assert words in str(error.value)
    assert "test_quantities.py" in str(error.value)


def test_parameters_without_a_unit_take_no_texts():
    A = liaison.join(liaison.ground, liaison.body("b", 1, inertia=(1, 1, 1)), "revolute", name="A")
    m = liaison.mechanism(A, liaison.parameter("k", 2))
    with pytest.raises(LiaisonError, match="it has no unit, and is a number alone"):
        liaison.simulate(m, until=1, parameters={"k": "2 m"})


def test_verbs_take_texts():
    start, turn = {"A": "40 deg", "A'": "-10 rpm"}, {"A": 2 * math.pi / 9, "A'": -math.pi / 3}
    texts = liaison.simulate(
        PENDULUM, until="100 ms", every="10 ms", start=start, max_step="5 ms",
        parameters={"m": "250 g", "l": "90 cm"}, time_limit="1 min",
    )  # fmt: skip
    numbers = liaison.simulate(
        PENDULUM, until=0.1, every=0.01, start=turn, max_step=0.005,
        parameters={"m": 0.25, "l": 0.9},
    )  # fmt: skip
    assert np.array_equal(texts.t, numbers.t)
    assert np.array_equal(texts.q, numbers.q)
    options = liaison.RunOptions(every=["10 ms", "20 ms"])
    assert liaison.simulate(PENDULUM, until="20 ms", options=options).t.tolist() == [0.01, 0.02]
    assert liaison.simulate(PENDULUM, until="1 s", stop={"A": "30 deg"}, start=start).q[-1] == (
        pytest.approx(math.pi / 6, abs=1e-12)
    )
    assert np.array_equal(
        liaison.bias(PENDULUM, {"A": "40 deg"}, parameters={"m": "250 g"}),
        liaison.bias(PENDULUM, {"A": turn["A"]}, parameters={"m": 0.25}),
    )
    assert liaison.check(PENDULUM, start).start.state.q[0] == turn["A"]
    assert liaison.mobility(PENDULUM, at={"A": "40 deg"}, time_limit="1 min").is_proved
    runs = liaison.simulate_batch(
        PENDULUM, until="10 ms", every="5 ms", parameters={"m": ["250 g", "1/2 kg"]}
    )
    assert runs.parameters[:, 0].tolist() == [0.25, 0.5]
    moved = liaison.stepper(PENDULUM, start=start).step(None, "10 ms")
    assert moved.t == 0.01
    assert moved.changed({"A": "40 deg"}, t="2 s").q[0] == turn["A"]
    driven = liaison.kinematic_run(PENDULUM, {"A": liaison.time}, until="20 ms", every="10 ms")
    assert driven.t.tolist() == [0.0, 0.01, 0.02]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: liaison.simulate(PENDULUM, until="1"), "simulate: until is '1', a text without"),
        (lambda: liaison.simulate(PENDULUM, until="1 m"), "simulate: until is '1 m'; it must be"),
        (lambda: liaison.simulate(PENDULUM, until=1, every="3 N"), "every is '3 N'; it must be"),
        (lambda: liaison.simulate(PENDULUM, until=1, start={"A": "3 m"}), "start of 'A' is '3 m'"),
        (lambda: liaison.simulate(PENDULUM, until=1, parameters={"l": "3 s"}), "must be in m,"),
        (lambda: liaison.simulate(PENDULUM, until=1, stop={"A": "3 m"}), "must be in rad"),
        (lambda: liaison.mass_matrix(PENDULUM, {"A": "3"}), "q of 'A' is '3', a text without"),
        (lambda: liaison.mobility(PENDULUM, at={"A": "3 m"}), "at of 'A' is '3 m'"),
        (lambda: liaison.simulate(PENDULUM, until=1, start={"B": "3 m"}), "is named 'B'"),
    ],
)
def test_verbs_reject_texts_of_another_dimension(call, words):
    with pytest.raises(LiaisonError) as error:
        call()
    assert words in str(error.value)


def test_inputs_of_a_run_and_periods_of_controllers_take_texts():
    A = liaison.join(liaison.ground, liaison.body("b", 1, inertia=(1, 1, 1)), "revolute", name="A")
    u = liaison.signal("u", "N*m")
    m = liaison.mechanism(A, u, liaison.motor("A", effort=u))
    run = liaison.simulate(m, until="1 s", inputs={"u": "2 kJ"}, every="1 s")
    assert run.q[-1, 0] == pytest.approx(1000, rel=1e-9)
    sampled = liaison.simulate(m, until="1 s", inputs={"u": ("100 ms", lambda t, state: 2.0)})
    assert sampled.q[-1, 0] == pytest.approx(1, rel=1e-9)
    with pytest.raises(ArgumentError, match=r"must be in N\*m"):
        liaison.simulate(m, until="1 s", inputs={"u": "2 N"})
