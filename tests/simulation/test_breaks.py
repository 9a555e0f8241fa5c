"""Instants at which time alone makes equations jump or bend: steps end there and begin anew."""

import numpy as np
import pytest
from simulate_samples import driven, plain, start

import liaison
from liaison.expr import (
    Table,
    absolute,
    as_expr,
    cos,
    exp,
    maximum,
    select,
    sign,
    sin,
    sqrt,
    symbol,
)
from liaison.formats import read
from liaison.program import to_llvm
from liaison.program.instants import NOTHING, instants_between, timed
from liaison.simulation import Run, Settings, simulate, simulate_batch
from liaison.units import Label

T, Q, P = symbol("t"), symbol("q[0]"), symbol("p[0]")


def instants(formulas, end=10.0, **values):
    """Instants from 0 to `end`, with the parameters as constants of the run."""
    return instants_between(timed(T, formulas, [P]), 0.0, end, {P: values.get("p", 0.0)})


def test_switches_of_time_tell_their_instants():
    found = instants([sign(T - 0.5), absolute(3 - 2 * T), sign(T - Q), sign(as_expr(2) * Q)])
    assert found.breaks.tolist() == [0.5, 1.5]
    assert instants([sign(Q)]) is NOTHING


def test_kinks_and_jumps_of_formulas_are_found():
    formulas = [sign(T - 1), absolute(T - 2) * Q, maximum(T, 3), select(T - 4, Q, 0), cos(T)]
    assert instants(formulas).breaks.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_formula_that_is_undefined_for_a_while_is_none_of_an_error_here():
    """The run meets it, and says so."""
    found = instants([sqrt(P - T) * Q], p=0.3)
    assert np.all(np.isfinite(found.breaks))
    assert np.all(np.isfinite(found.waypoints))


def test_a_parameter_moves_its_instant():
    assert instants([sign(T - P) * Q], p=2.5).breaks.tolist() == [2.5]


def test_switches_that_are_not_affine_are_solved():
    found = instants([sign(sin(10 * T)), sign(T * T - 2)]).breaks
    truth = sorted([*(np.arange(0, 32) * np.pi / 10), np.sqrt(2)])
    assert found == pytest.approx(truth, abs=1e-14)


def test_points_of_tables_are_breaks():
    table = Table([0, 4.999, 5, 5.001, 12], [0, 0, 1, 0, 0], "linear")
    assert instants([table(T) * Q]).breaks.tolist() == [0, 4.999, 5, 5.001, 12]
    found = instants([Table([-2, 0.5, 2], [0, 0, 1])(sin(T))]).breaks
    assert found == pytest.approx(np.add.outer([0, 2 * np.pi], [np.pi / 6, 5 * np.pi / 6]).ravel())


@pytest.mark.parametrize(
    ("formula", "center", "width"),
    [
        (exp(-(((T - 5) / 0.001) ** 2)), 5, 1e-3),
        (1 / (1 + ((T - 3) / 0.001) ** 2), 3, 1e-3),
        (exp(-(((T - P) / 0.02) ** 2)) + sin(T), 4, 2e-2),
    ],
)
def test_a_narrow_pulse_bounds_steps_beside_it(formula, center, width):
    """No step that begins before a pulse goes past it, and steps within are no longer than it."""
    found = instants([formula * Q], p=4.0)

    def reach(t):
        return found.reach[np.searchsorted(found.waypoints, t, side="right") - 1]

    for t in (0.0, center - 20 * width, center - 2 * width):
        steps = 0
        while t < center:
            t, steps = reach(t), steps + 1
        assert t < center + 2 * width
        assert steps < 60
    assert reach(center) - center < width
    assert found.unbounded == 0


def test_oscillations_bound_steps_by_their_period():
    found = instants([sin(100 * T) * Q])
    assert found.longest < 2 * np.pi / 100
    assert not len(found.waypoints)
    assert instants([(2 * T + 1) * Q]).longest == np.inf


def test_a_brake_that_is_pressed_at_an_instant_is_exact_at_loose_tolerances(examples):
    run = liaison.simulate(examples / "reference" / "brake.lsd", until=2.0, rtol=1e-5, atol=1e-7)
    pressed, stuck = run.events
    assert pressed.t == pytest.approx(0.1, abs=1e-15)
    assert stuck.t == pytest.approx(1.1, abs=1e-12)
    assert run.q[-1, 0] == pytest.approx(0.6, abs=1e-12)
    assert run.counts["rejected"] == 0


def test_a_bump_between_two_rests_is_not_stepped_over(examples):
    """Six steps of Radau in 2 s passed a road's bump of 0.2 s, on which all rates are zero."""
    model = examples / "quarter_car.lsd"
    one = liaison.simulate(model, until=2.0, method="radau", rtol=1e-6, atol=1e-8)
    other = liaison.simulate(model, until=2.0)
    assert one["R"].max() == pytest.approx(0.05, abs=1e-4)
    assert one.q[-1] == pytest.approx(other.q[-1], abs=1e-8)


def pushed(instants, **more):
    """q̈ = u − q, with u = 1 between each two instants and 0 elsewhere."""
    program = driven()
    push = sum(((-1) ** k * (1 + sign(T - x)) / 2 for k, x in enumerate(instants)), as_expr(0))
    return program, start(program, [0], [0]), {"inputs": {"motor": push}, **more}


def exact(t, instants):
    """q of that push: a cosine from each instant on."""
    parts = [(-1) ** k * (1 - np.cos(t - x)) * (t > x) for k, x in enumerate(instants)]
    return sum(parts)


def test_inputs_by_formulas_break_too():
    instants = (0.3, 0.7, 1.0, 1.00001, 2.5)
    program, state, options = pushed(instants)
    run = simulate(to_llvm(program), state, 4.0, rtol=1e-10, atol=1e-12, **options)
    assert np.max(np.abs(run.q[:, 0] - exact(run.t, instants))) < 1e-9
    assert run.counts["rejected"] <= len(instants)  # some twenty each, if steps went across
    for x in instants:
        assert np.min(np.abs(run.t - x)) < 1e-15 * (1 + x)


def test_instants_at_and_beyond_the_ends_do_no_harm():
    instants = (-1.0, 0.0, 0.5, 1.0, 9.0)
    program, state, options = pushed(instants)
    kernel = to_llvm(program)
    run = simulate(kernel, state.changed(t=0.0), 1.0, **options)
    assert (run.t[0], run.t[-1], run.success) == (0.0, 1.0, True)
    assert simulate(kernel, state.changed(t=0.5), 0.5, **options).t.tolist() == [0.5]
    later = simulate(kernel, state.changed(t=2.0), 3.0, **options)
    assert (later.t[0], later.t[-1]) == (2.0, 3.0)


def test_instants_to_record_stay_what_was_asked_for():
    instants = (0.3, 0.6)
    program, state, options = pushed(instants)
    kernel = to_llvm(program)
    run = simulate(kernel, state, 0.9, every=0.1, rtol=1e-10, atol=1e-12, **options)
    assert run.t == pytest.approx(np.arange(10) / 10, abs=1e-15)
    assert np.max(np.abs(run.q[:, 0] - exact(run.t, instants))) < 1e-9
    asked = [0.0, 0.3, 0.6, 0.9]
    run = simulate(kernel, state, 0.9, every=asked, rtol=1e-10, atol=1e-12, **options)
    assert run.t.tolist() == asked
    assert np.max(np.abs(run.q[:, 0] - exact(run.t, instants))) < 1e-9


def test_fixed_steps_stay_where_they_are():
    program, state, options = pushed((0.123,))
    run = simulate(to_llvm(program), state, 0.5, step=0.1, **options)
    assert run.t == pytest.approx(np.arange(6) / 10, abs=1e-15)


def test_controllers_and_breaks_end_steps_side_by_side():
    program = plain("two", lambda q, v: [symbol("u[0]") * 1 + sign(T - 0.35)], nu=1,
                    labels={"u": (Label("motor", "N"),)},
                    defaults={"u": np.zeros(1)}, facts={"breaks": (0.35,)})  # fmt: skip
    asked = []

    def control(t, state):
        asked.append(t)
        return 0.0

    run = simulate(
        to_llvm(program), start(program, [0], [0]), 0.7, inputs={"motor": (0.1, control)}
    )
    assert asked == pytest.approx(np.arange(7) / 10)
    assert run.q[-1, 0] == pytest.approx(-(0.35**2), abs=1e-12)


def test_a_checkpoint_before_a_break_goes_on_over_it():
    program, state, options = pushed((0.3, 0.7))
    kernel = to_llvm(program)
    whole = Run(kernel, state, 2.0, Settings(), **options).finish()
    first, second = (Run(kernel, state, 2.0, Settings(), **options) for _ in range(2))
    first.go(3)
    second.restore(first.checkpoint())
    assert second.finish().q.tobytes() == whole.q.tobytes()


def test_batches_break_where_single_runs_do():
    program, state, options = pushed((0.3, 0.7))
    kernel = to_llvm(program)
    starts = [state.changed({"A": x}) for x in (0.0, 0.5, -1.0)]
    runs = simulate_batch(kernel, starts, 1.0, every=0.1, **options)
    for k, begin in enumerate(starts):
        alone = simulate(kernel, begin, 1.0, every=0.1, **options)
        assert runs[k].q.tobytes() == alone.q.tobytes()


SLIDER = """
{more}
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
apply force value = [{force}, 0, 0] end on b ;
"""
PULSES = {
    "table": ('1 kN*table(t/(1 s), [0,4.999,5,5.001,10], [0,0,1,0,0], "linear")', 1.0),
    "bell": ("1 kN*exp(-((t - 5 s)/(1 ms))^2)", np.sqrt(np.pi)),
    "switched": ("1 kN*if(t - begin, 1, 0)*if(begin + 1 ms - t, 1, 0)", 1.0),
    "sine": ("1 kN*if(sin(10 rad/s*t) - 1 + 1e-6, 1, 0)", 2000 * np.arccos(1 - 1e-6) / 10 * 16),
}


@pytest.mark.parametrize("name", PULSES)
def test_a_pulse_between_two_rests_acts(name):
    """Velocity after it: impulse over mass; all its parts lie within a step of a body at rest."""
    force, impulse = PULSES[name]
    model = read(SLIDER.format(force=force, more="parameter begin = 3.3 s ;"))
    run = liaison.simulate(model, until=10)
    assert run["X'"][-1] == pytest.approx(impulse, rel=2e-8)


def test_a_pulse_of_an_input_table_acts():
    model = read(SLIDER.format(force="push", more="input push = 0 N ;"))
    table = ([0, 4.999, 5, 5.001, 10], [0, 0, 1000, 0, 0], "linear")
    run = liaison.simulate(model, until=10, inputs={"push": table})
    assert run["X'"][-1] == pytest.approx(1, rel=1e-9)


def test_a_pulse_acts_in_steps_of_a_stepper_and_in_batches():
    force = PULSES["bell"][0].replace("5 s", "begin")
    model = read(SLIDER.format(force=force, more="parameter begin = 3.3 s ;"))
    stepper = liaison.stepper(model)
    for _ in range(5):
        stepper.step(None, 2.0)
    assert stepper.state["X'"] == pytest.approx(np.sqrt(np.pi), rel=1e-8)
    runs = liaison.simulate_batch(model, until=10, parameters={"begin": [2.0, 7.77]})
    assert runs.v[:, -1, 0] == pytest.approx(np.sqrt(np.pi), rel=1e-8)


def test_more_instants_than_are_at_hand():
    """Two thousand pulses of 0.1 ms with 0.9 ms between them."""
    times = np.add.outer(np.arange(2000) * 1e-3, [0, 1e-7, 1e-4, 1.001e-4]).ravel()
    pushes = np.tile([0, 1000, 1000, 0], 2000)
    model = read(SLIDER.format(force="push", more="input push = 0 N ;"))
    run = liaison.simulate(model, until=2, inputs={"push": (times, pushes, "linear")}, every=1)
    assert run["X'"][-1] == pytest.approx(200, rel=1e-9)
