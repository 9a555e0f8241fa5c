"""sensitivities: against differences of runs, closed loops and wheels among them."""

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, NamingError, SimulationError
from liaison.expr import maximum, sin, symbol

LOOP = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg ;
parameter r = 5 cm ;
let crank = body mass = m, center = [r/2, 0, 0], inertia = [2, 4, 2] g*m^2 end ;
let rod = body mass = 0.3 kg, center = [6.5, 0, 0] cm, inertia = [0.1, 0.4, 0.4] g*m^2 end ;
let piston = body mass = 0.4 kg, inertia = 0 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [r, 0, 0] @ crank and rod with revolute axis = [0, -1, 0] end ;
let P = join [13, 0, 0] cm @ rod and piston with revolute axis = [0, -1, 0] end ;
let x = join earth and piston with prismatic axis = [1, 0, 0] end ;
let drive = apply motor end on A ;
start A = 90 deg ; start A' = 10 rad/s ; start B = -150 deg ;
output speed = x' ;
"""

BRANCH = "start B = -150 deg"
"""On the branch, but held: taken out where only A is given."""

PENDULUM = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter l = 1 m ;
parameter k = 2 ;
parameter a = 0.5 rad ;
let bob = body mass = 1 kg, center = [0, 0, -l], inertia = 0 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
let u = apply motor end on A ;
output twice = 2 * A ;
start A = a ;
"""

EXACT = {"rtol": 1e-12, "atol": 1e-13, "series": ("outputs",)}


def slope(text, name, value, step, *, label="A", **options):
    """d label(end)/d parameter from four runs, to about the fourth power of the step."""

    def end(x):
        options.setdefault("every", options["until"])
        return liaison.simulate(text, parameters={name: x}, **(EXACT | options))[label][-1]

    ends = [end(value + k * step) for k in (1, -1, 2, -2)]
    return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step)


@pytest.mark.parametrize("every", [0.5, 0.1, (0.0, 0.03, 1.0)])
def test_they_do_not_depend_on_the_recorded_instants(every):
    run = liaison.simulate(PENDULUM, until=1.0, every=every)
    found = liaison.sensitivities(PENDULUM, run, ["l"])
    truth = slope(PENDULUM, "l", 1.0, 1e-3, until=1.0)
    np.testing.assert_array_equal(found.t, run.t)
    assert found["A", "l"][-1] == pytest.approx(truth, rel=1e-8)
    assert 0 < found.error < 1e-7


def test_a_label_alone_is_no_derivative():
    run = liaison.simulate(PENDULUM, until=0.1)
    with pytest.raises(ArgumentError, match="a label and a parameter"):
        liaison.sensitivities(PENDULUM, run, ["l"])["A"]


def test_formulas_of_inputs_are_differentiated_through():
    """Feedback of a coordinate, a gain that is a parameter, and one input that reads time."""
    A, k, t = symbol("A"), symbol("k"), symbol("t")
    for formula in (-5 * A, -k * A, k * sin(3 * t) - symbol("A'")):
        inputs = {"u": formula}
        run = liaison.simulate(PENDULUM, until=1.0, every=0.25, inputs=inputs)
        found = liaison.sensitivities(PENDULUM, run, ["l", "k"])
        for name, value in (("l", 1.0), ("k", 2.0)):
            truth = slope(PENDULUM, name, value, 1e-3, until=1.0, inputs=inputs)
            assert found["A", name][-1] == pytest.approx(truth, rel=1e-8, abs=1e-11)


def test_what_a_file_says_of_a_run_is_enough(tmp_path):
    run = liaison.simulate(
        PENDULUM, until=1.0, every=0.5, parameters={"l": 0.7}, inputs={"u": -5 * symbol("A")}
    )
    run.save(tmp_path / "run.nc")
    kept = liaison.load(tmp_path / "run.nc")
    found, again = (liaison.sensitivities(PENDULUM, x, ["l"]) for x in (run, kept))
    np.testing.assert_array_equal(found.values, again.values)


def test_integrals_of_outputs_are_integrated_with_the_motion():
    run = liaison.simulate(PENDULUM, until=1.0, every=0.5)
    found = liaison.sensitivities(PENDULUM, run, ["l"])

    def total(length):
        fine = liaison.simulate(PENDULUM, until=1.0, every=0.002, parameters={"l": length}, **EXACT)
        from scipy.integrate import simpson

        return simpson(fine["twice"], x=fine.t)

    truth = (total(1.001) - total(0.999)) / 0.002
    assert found.integral("twice", "l") == pytest.approx(truth, rel=1e-6)
    assert found["twice", "l"][-1] == pytest.approx(2 * found["A", "l"][-1], rel=1e-12)


def test_an_output_without_derivative_has_no_integral_of_it():
    """√A has none where the pendulum begins, at A = 0; its motion has."""
    text = PENDULUM.replace("2 * A", "sqrt(A)").replace("start A = a", "start A' = 1")
    run = liaison.simulate(text, until=0.5, every=0.25)
    found = liaison.sensitivities(text, run, ["l"])
    assert np.isnan(found.integral("twice", "l"))
    truth = slope(text, "l", 1.0, 1e-3, until=0.5)
    assert found["A", "l"][-1] == pytest.approx(truth, rel=1e-8)


def test_starts_that_are_formulas_of_parameters():
    run = liaison.simulate(PENDULUM, until=1.0, every=0.5)
    found = liaison.sensitivities(PENDULUM, run, ["a"])
    assert found["A", "a"][0] == 1.0
    assert found["A", "a"][-1] == pytest.approx(
        slope(PENDULUM, "a", 0.5, 1e-3, until=1.0), rel=1e-8
    )


def test_parameters_of_mass_and_of_geometry():
    """A length of a loop: the start that is given stays, the other coordinates follow."""
    text = LOOP.replace(f"{BRANCH} ;", "")
    run = liaison.simulate(text, until=0.4, every=0.1)
    found = liaison.sensitivities(text, run)
    assert found.parameters == ("m", "r")
    assert found["A", "r"][0] == 0.0
    assert found.error < 1e-6
    for name, value in (("m", 2.0), ("r", 0.05)):
        for label in ("A", "speed"):
            truth = slope(text, name, value, 1e-3 * value, label=label, until=0.4)
            assert found[label, name][-1] == pytest.approx(truth, rel=1e-7)


def test_a_wheel_that_rolls():
    """By the mass of a rolling body: nothing of its motion changes without gravity."""
    text = """
    parameter m = 2 kg ;
    parameter I = 0.06 kg*m^2 ;
    gravity = [0, 0, -9.81] m/s^2 ;
    let disc = body mass = m, inertia = [0.12 kg*m^2, I, 0.12 kg*m^2] end ;
    let F = join earth and disc with free end ;
    couple disc and earth with rolling_disc radius = 0.3 m, axis = [0, 1, 0] end ;
    start F = [0, 0, 0.3] m ++ 0 deg || [0, 0, 1] ;
    start F.wx = 1 rad/s ; start F.wy = 5 rad/s ; start F.wz = 0 ;
    output x = F.x ;
    """
    run = liaison.simulate(text, until=0.4, every=0.1)
    found = liaison.sensitivities(text, run)
    for name, value in (("m", 2.0), ("I", 0.06)):
        truth = slope(text, name, value, 1e-3 * value, label="x", until=0.4)
        assert found["x", name][-1] == pytest.approx(truth, rel=1e-7, abs=1e-9)


def test_starts_that_do_not_determine_the_start_are_refused():
    """All given: no start is left for another length. None given: which one is not determined."""
    all_given = LOOP.replace(BRANCH, "start x = 12 cm")
    run = liaison.simulate(all_given, until=0.1)
    with pytest.raises(SimulationError, match="for this value of 'r' alone"):
        liaison.sensitivities(all_given, run, ["r"])
    found = liaison.sensitivities(all_given, run, ["r"], held=("A", "A'"))
    assert found["x", "r"][0] == pytest.approx(-0.05 / 0.12, rel=1e-9)
    assert liaison.sensitivities(all_given, run, ["m"])["A", "m"][0] == 0.0
    with pytest.raises(SimulationError, match="do not determine the start"):
        liaison.sensitivities(all_given, run, ["r"], held=())


def test_refusals():
    run = liaison.simulate(PENDULUM, until=0.1)
    with pytest.raises(NamingError, match="'z'"):
        liaison.sensitivities(PENDULUM, run, ["z"])
    with pytest.raises(NamingError, match="'Z'"):
        _ = liaison.sensitivities(PENDULUM, run)["Z", "l"]
    with pytest.raises(NamingError, match="'Z'"):
        liaison.sensitivities(PENDULUM, run).integral("Z", "l")
    controlled = liaison.simulate(PENDULUM, until=0.1, inputs={"u": (0.01, lambda t, s: -s["A"])})
    with pytest.raises(SimulationError, match="Python controller"):
        liaison.sensitivities(PENDULUM, controlled)
    other = liaison.simulate(PENDULUM.replace("9.81", "5"), until=1.0, every=0.5)
    with pytest.raises(SimulationError, match="not the motion of this mechanism"):
        liaison.sensitivities(PENDULUM, other)


def test_a_force_that_jumps_at_an_instant_that_moves_is_refused():
    """sign(A): the instant of A = 0 moves with l. A bend there is no jump."""
    from liaison.expr import sign

    A = symbol("A")
    jumps = liaison.simulate(PENDULUM, until=2.0, every=0.5, inputs={"u": -sign(A)})
    with pytest.raises(SimulationError, match="jump at t"):
        liaison.sensitivities(PENDULUM, jumps, ["l"])
    bends = {"u": -5 * maximum(0, A)}
    run = liaison.simulate(PENDULUM, until=2.0, every=0.5, inputs=bends)
    found = liaison.sensitivities(PENDULUM, run, ["l"])
    truth = slope(PENDULUM, "l", 1.0, 1e-4, until=2.0, inputs=bends)
    assert found["A", "l"][-1] == pytest.approx(truth, rel=1e-6)
