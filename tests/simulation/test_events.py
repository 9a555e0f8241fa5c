"""Events: located to rounding, in order, once; stops; chatter."""

import numpy as np
import pytest
from simulate_samples import oscillator, pendulum, pendulum_period, plain, start

from liaison.errors import NamingError, SimulationError
from liaison.expr import ONE, select, sin, sqrt, symbol
from liaison.program import to_llvm
from liaison.simulation import simulate

Q, V, TIME = symbol("q[0]"), symbol("v[0]"), symbol("t")


def with_events(*events):
    """The oscillator with events (name, formula, direction, action)."""
    facts = {"events": tuple((name, way, action) for name, _, way, action in events)}
    return oscillator(entries={"events": [f for _, f, _, _ in events]}, facts=facts)


def times(program, until, q=1.0, v=0.0, **more):
    more = more if "step" in more else {"rtol": 1e-12, "atol": 1e-14, **more}
    return simulate(to_llvm(program), start(program, [q], [v]), until, **more)


def test_crossings_of_the_oscillator_are_located():
    p = with_events(("zero", Q, 0, "record"))
    run = times(p, 20.0)
    expected = np.pi / 2 + np.pi * np.arange(6)
    assert run.t_events["zero"] == pytest.approx(expected, abs=1e-10)
    assert np.max(np.abs([event.q[0] for event in run.events])) < 1e-10


def test_an_event_of_time_alone_is_located_to_rounding():
    p = with_events(("noon", TIME - 12.3456789, 0, "record"))
    run = times(p, 20.0, rtol=1e-6)
    assert run.t_events["noon"] == pytest.approx([12.3456789], abs=1e-14)


def test_a_pendulum_passes_its_bottom_at_known_times():
    p = pendulum()
    run = simulate(to_llvm(p), start(p, [1.0], [0.0]), 30.0, rtol=1e-12, atol=1e-14)
    period = pendulum_period(1.0)
    found = run.t_events["bottom"]
    assert found == pytest.approx(period / 4 + period / 2 * np.arange(len(found)), abs=1e-10)
    assert len(found) == int((30.0 - period / 4) / (period / 2)) + 1


def test_direction_chooses():
    p = with_events(("up", Q, 1, "record"), ("down", Q, -1, "record"))
    run = times(p, 10.0)
    assert run.t_events["down"] == pytest.approx([np.pi / 2, 5 * np.pi / 2], abs=1e-10)
    assert run.t_events["up"] == pytest.approx([3 * np.pi / 2], abs=1e-10)


def test_two_crossings_in_one_step_are_both_seen():
    """One step of 2.5 s, in which sin t rises above 0.9 and falls below it again."""
    p = with_events(("level", sin(TIME) - 0.9, 0, "record"))
    run = times(p, 2.5, step=2.5, method="rk4")
    assert run.counts["steps"] == 1
    edge = np.arcsin(0.9)
    assert run.t_events["level"] == pytest.approx([edge, np.pi - edge], abs=1e-12)


def test_events_come_in_order_of_time_and_together_if_simultaneous():
    p = with_events(
        ("late", TIME - 0.7, 0, "record"),
        ("same", 2 * TIME - 1, 0, "record"),
        ("early", TIME - 0.2, 0, "record"),
        ("again", TIME - 0.5, 0, "record"),
    )
    run = times(p, 1.0, step=1.0)
    assert run.events[0].name == "early"
    assert {event.name for event in run.events[1:3]} == {"same", "again"}
    assert run.events[3].name == "late"
    assert run.events[1].t == pytest.approx(run.events[2].t, abs=1e-14)


def test_an_event_at_the_start_does_not_fire_and_the_next_one_fires_once():
    p = with_events(("zero", Q, 0, "record"))
    for nudge in (0.0, 1e-17, -1e-17):
        run = times(p, 4.0, q=nudge, v=1.0)
        assert run.t_events["zero"] == pytest.approx([np.pi], abs=1e-9)


def test_reaching_zero_without_crossing_counts_once():
    p = with_events(("touch", select(1 - TIME, 1 - TIME, 0 * TIME), 0, "record"))
    run = times(p, 2.0)
    assert len(run.events) == 1
    assert run.events[0].t == pytest.approx(1.0, abs=1e-9)


def test_a_stopping_event_ends_the_run_at_its_instant():
    p = with_events(("zero", Q, 0, "stop"), ("turn", V, 0, "record"))
    run = times(p, 20.0, every=0.1)
    assert run.status == "stopped"
    assert run.success
    assert run.t[-1] == pytest.approx(np.pi / 2, abs=1e-10)
    assert abs(run.q[-1, 0]) < 1e-10
    assert len(run.t) == 17  # 0, 0.1, … 1.5, and the end
    assert [event.name for event in run.events] == ["zero"]


def test_what_happens_at_the_instant_of_a_stop_is_recorded_with_it():
    p = with_events(("a", TIME - 0.5, 0, "stop"), ("b", 2 * TIME - 1, 0, "record"))
    run = times(p, 1.0)
    assert {event.name for event in run.events} == {"a", "b"}
    assert run.t[-1] == 0.5


def test_going_on_from_a_stop_does_not_stop_again_at_once():
    p = with_events(("zero", Q, 0, "stop"))
    kernel = to_llvm(p)
    run = times(p, 20.0)
    state = start(p, run.q[-1], run.v[-1], t=run.t[-1])
    again = simulate(kernel, state, 20.0, rtol=1e-12, atol=1e-14)
    assert again.t[-1] == pytest.approx(3 * np.pi / 2, abs=1e-9)


def test_stop_conditions_of_the_caller():
    p = pendulum()
    kernel = to_llvm(p)
    state = start(p, [1.0], [0.0])
    by_formula = simulate(kernel, state, 30.0, stop=symbol("A") - 0.5)
    assert by_formula.status == "stopped"
    assert by_formula.q[-1, 0] == pytest.approx(0.5, abs=1e-9)
    by_name = simulate(kernel, state, 30.0, stop="bottom", rtol=1e-11)
    assert by_name.t[-1] == pytest.approx(pendulum_period(1.0) / 4, abs=1e-9)
    named = simulate(kernel, state, 30.0, stop={"half": symbol("A") - 0.5})
    assert named.events[-1].name == "half"
    by_value = simulate(kernel, state, 30.0, stop={"A": 0.5})
    assert by_value.q[-1, 0] == pytest.approx(0.5, abs=1e-9)
    by_time = simulate(kernel, state, 30.0, stop=["bottom", {"t": 0.25}])
    assert by_time.t[-1] == 0.25
    with pytest.raises(NamingError, match="no coordinate, rate or output is named 'B'"):
        simulate(kernel, state, 1.0, stop={"B": 1.0})
    with pytest.raises(NamingError, match="did you mean 'bottom'"):
        simulate(kernel, state, 1.0, stop="botom")
    with pytest.raises(NamingError, match="no coordinate"):
        simulate(kernel, state, 1.0, stop=symbol("B"))
    with pytest.raises(SimulationError, match="stop="):
        simulate(kernel, state, 1.0, stop=3.0)


def test_a_chattering_event_is_refused():
    """A relay v̇ = −sign(v) crosses v = 0 at every step once the step is tiny."""
    relay = select(V, -ONE, ONE) * 1e3
    p = plain(
        "relay", lambda q, v: [relay], entries={"events": [V]},
        facts={"events": (("turn", 0, "record"),)},
    )  # fmt: skip
    with pytest.raises(SimulationError) as found:
        simulate(to_llvm(p), start(p, [0.0], [1.0]), 10.0, rtol=1e-12, atol=1e-14)
    assert found.value.status in ("event chatter", "step too small")
    assert found.value.t == pytest.approx(1e-3, rel=1e-2)


def test_events_at_constrained_states_lie_on_the_closures():
    from simulate_samples import hanging

    p = hanging()
    kernel = to_llvm(p)
    run = simulate(kernel, start(p, [1, 0], [0, 0]), 3.0, stop=symbol("P.x"), step=0.05)
    event = run.events[-1]
    assert np.max(np.abs(kernel("closure", q=event.q, v=event.v))) < 1e-10
    assert run.q[-1, 1] == pytest.approx(-1.0, abs=1e-9)


def test_an_event_without_a_value_is_refused():
    p = with_events(("never", sqrt(Q - 5), 0, "stop"))
    for method in ({"step": 0.1}, {}):
        with pytest.raises(SimulationError, match="event 'never' has no value at t = 0 s") as found:
            times(p, 1.0, **method)
        assert found.value.status == "not finite"
    later = with_events(("fine", Q, 0, "record"), ("later", sqrt(1 - TIME) - 0.5, 0, "record"))
    with pytest.raises(SimulationError, match="event 'later' has no value after t = ") as found:
        times(later, 2.0, step=0.1)
    assert found.value.trajectory.t_events["later"] == pytest.approx([0.75])
    assert found.value.t == pytest.approx(1.0, abs=0.1)


def test_a_stop_may_come_before_a_value_that_does_not_exist():
    p = with_events(("end", TIME - 0.96, 0, "stop"), ("root", sqrt(1 - TIME), 0, "record"))
    run = times(p, 2.0, step=0.1)
    assert run.status == "stopped"
    assert run.t[-1] == pytest.approx(0.96)
