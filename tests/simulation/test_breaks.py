"""Instants at which time alone makes equations jump or bend: steps end there and begin anew."""

import numpy as np
import pytest
from simulate_samples import driven, plain, start

import liaison
from liaison.expr import absolute, as_expr, cos, maximum, select, sign, sin, symbol
from liaison.program import to_llvm
from liaison.program.extend import breaks, breaks_of
from liaison.simulation import Run, Settings, simulate, simulate_batch
from liaison.units import Label

T, Q, P = symbol("t"), symbol("q[0]"), symbol("p[0]")


def test_switches_that_are_affine_in_time_alone_tell_their_instant():
    found = [T - 0.5, 3 - 2 * T, T - Q, T - P, sin(T), T * T - 1, as_expr(2)]
    assert breaks(T, found) == (0.5, 1.5)


def test_kinks_and_jumps_of_formulas_are_found():
    formulas = [sign(T - 1), absolute(T - 2) * Q, maximum(T, 3), select(T - 4, Q, 0), cos(T)]
    assert breaks_of(driven(), formulas) == (1.0, 2.0, 3.0, 4.0)


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
