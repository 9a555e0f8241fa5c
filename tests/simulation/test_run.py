"""Runs: recording, slices, checkpoints, interruption, limits, failures that carry their past."""

import contextlib
import importlib
import io
import signal
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from simulate_samples import driven, hanging, oscillator, pendulum, plain, start

import liaison
from liaison.equations import newton_euler
from liaison.errors import (
    ArgumentError,
    Interrupted,
    LiaisonError,
    NamingError,
    SimulationError,
)
from liaison.expr import log, sqrt, symbol
from liaison.model import Fixed
from liaison.model.describe import body, ground, join, mechanism
from liaison.numeric import State
from liaison.program import Entry, to_llvm
from liaison.program.lower import lower
from liaison.simulation import Projection, Run, Settings, map_entry, simulate, stepper
from liaison.simulation.outcome import slowness
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.sides_layout import Sides
from liaison.tree import assemble, span
from liaison.units import Label


@pytest.fixture(scope="module")
def swing():
    p = oscillator()
    return to_llvm(p), start(p, [1], [0])


# recording


def test_every_step_is_recorded_by_default(swing):
    run = simulate(*swing, 1.0, step=0.1)
    assert run.t == pytest.approx(np.arange(11) / 10, abs=1e-15)
    assert run["A"] == pytest.approx(np.cos(run.t), abs=1e-6)


def test_a_period_gives_its_multiples_and_the_end(swing):
    run = simulate(*swing, 1.05, every=0.25)
    assert run.t == pytest.approx([0, 0.25, 0.5, 0.75, 1.0, 1.05], abs=1e-15)
    run = simulate(*swing, 1.0, step=0.1, every=0.25)
    assert run.t == pytest.approx([0, 0.25, 0.5, 0.75, 1.0], abs=1e-15)


def test_given_instants_are_recorded_and_no_others(swing):
    asked = [0.1, 0.123, 0.9999, 1.0]
    run = simulate(*swing, 1.0, every=asked)
    assert run.t.tolist() == asked
    assert run["A"] == pytest.approx(np.cos(asked), abs=1e-7)
    run = simulate(*swing, 2.0, every=asked)
    assert run.t.tolist() == asked


def test_a_long_recording_overflows_no_buffer(swing):
    run = simulate(*swing, 20.0, step=1e-3)
    assert len(run.t) == 20_001
    assert np.max(np.diff(run.t)) < 1.001e-3
    assert np.max(np.abs(run["A"] - np.cos(run.t))) < 1e-11


def test_the_end_is_hit_exactly_after_many_steps(swing):
    run = simulate(*swing, 100.0, step=1e-3, every=100.0)
    assert run.t[-1] == 100.0
    assert run.counts["steps"] == 100_000


def test_a_run_of_no_length_gives_the_start(swing):
    kernel, state = swing
    run = simulate(kernel, state, 0.0)
    assert run.t.tolist() == [0.0]
    assert run.status == "done"


def test_what_cannot_move_stands_still():
    m = mechanism(
        join(ground, body("b", mass=1.0, inertia=(1, 1, 1)), Fixed, name="A"), name="post"
    )
    kernel, state = to_llvm(lower(newton_euler(span(m)))), assemble(span(m))
    for settings in ({}, {"step": 0.1}):
        run = simulate(kernel, state, until=1.0, **settings)
        assert run.t[-1] == 1.0
        assert run.q.shape[1] == 0
        assert run["poses"][-1, 0] == pytest.approx(np.eye(3, 4))
        assert run["energy"][-1] == pytest.approx([0, 0])


def test_series_are_evaluated_where_asked(swing):
    p = pendulum()
    run = simulate(to_llvm(p), start(p, [1.0], [0.0]), 1.0, every=0.1)
    assert run["energy"][:, 0] == pytest.approx(run["A'"] ** 2 / 2)
    assert run["energy"].sum(axis=1) == pytest.approx(-np.cos(1.0), abs=1e-8)
    bare = simulate(to_llvm(p), start(p, [1.0], [0.0]), 1.0, series=())
    assert not bare.series
    with pytest.raises(NamingError, match="did you mean 'energy'"):
        simulate(to_llvm(p), start(p, [1.0], [0.0]), 1.0, series=("enery",))


def test_map_entry_is_the_entry_at_every_row():
    p = driven()
    kernel = to_llvm(p)
    rows = np.random.default_rng(2).normal(size=(7, 4))
    x = np.random.default_rng(3).normal(size=(7, 1))
    found = map_entry(kernel, "rate", rows, np.array([2.0]), x)
    for row, xi, out in zip(rows, x, found, strict=True):
        one = kernel("rate", row[0], q=row[1:2], v=row[2:3], u=row[3:], p=[2.0], x=xi)
        assert out == pytest.approx(one, abs=1e-15)


# slices and checkpoints


def whole(kernel, state, settings, slices, **more):
    run = Run(kernel, state, 3.0, settings, **more)
    while not run.is_over:
        run.go(slices)
    return run


@pytest.mark.parametrize("settings", [Settings(step=0.01, every=0.03), Settings(every=0.1)])
def test_slices_do_not_change_a_bit(settings):
    p = hanging()
    kernel, state = to_llvm(p), start(p, [1, 0], [0, 0])
    a, b = (whole(kernel, state, settings, n).trajectory() for n in (1, 1000))
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)
    assert a.counts == b.counts


@pytest.mark.parametrize("settings", [Settings(step=0.01, every=0.03), Settings(every=0.1)])
def test_a_restart_is_bit_identical(settings):
    p = hanging()
    kernel, state = to_llvm(p), start(p, [1, 0], [0, 0])
    more = {"stop": None}
    run = Run(kernel, state, 3.0, settings, **more)
    while run.t < 1.0:
        run.go(5)
    kept = run.checkpoint()
    other = Run(to_llvm(p), state, 3.0, settings, **more)
    other.restore(kept)
    a, b = run.finish(), other.finish()
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)
    assert a.counts == b.counts


def test_a_restart_remembers_its_controllers():
    p = driven()
    kernel, state = to_llvm(p), start(p, [1], [0])
    inputs = {"motor": (0.1, lambda t, s: -0.5 * s["A'"])}
    run = Run(kernel, state, 3.0, inputs=inputs)
    while run.t < 1.05:
        run.go(1)
    other = Run(kernel, state, 3.0, inputs=inputs)
    other.restore(run.checkpoint())
    assert np.array_equal(run.finish().q, other.finish().q)


def test_a_checkpoint_of_another_run_is_refused(swing):
    p = hanging()
    kept = Run(to_llvm(p), start(p, [1, 0], [0, 0]), 1.0).checkpoint()
    with pytest.raises(SimulationError, match="another run: not the same mechanism, equations"):
        Run(*swing, 1.0).restore(kept)
    with pytest.raises(SimulationError, match="no checkpoint"):
        Run(*swing, 1.0).restore(kept[:100])


def test_a_checkpoint_whose_member_is_no_array_is_refused(swing):
    """NumPy hands such a member over as bytes."""
    run = Run(*swing, 1.0)
    for name in ("run", "calls", "status"):
        again = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(run.checkpoint())) as old,
            zipfile.ZipFile(again, "w") as new,
        ):
            for x in old.namelist():
                new.writestr(x, b"other" if x == f"{name}.npy" else old.read(x))
        with pytest.raises(SimulationError, match="no array"):
            Run(*swing, 1.0).restore(again.getvalue())


@pytest.mark.parametrize("record", [at.Run, Sides])
def test_a_checkpoint_of_another_layout_is_refused(swing, monkeypatch, record):
    kept = Run(*swing, 1.0).checkpoint()
    Run(*swing, 1.0).restore(kept)
    monkeypatch.setattr(record, "mark", lambda: "another")
    with pytest.raises(SimulationError, match="lays out a run in another way"):
        Run(*swing, 1.0).restore(kept)


def test_a_checkpoint_of_other_equations_of_equal_shape_is_refused(swing):
    heavier = plain("oscillator", lambda q, v: [-2 * q[0]])
    kept = Run(to_llvm(heavier), swing[1], 1.0).checkpoint()
    with pytest.raises(SimulationError, match="another run: not the same equations"):
        Run(*swing, 1.0).restore(kept)


@pytest.mark.parametrize(
    ("settings", "until", "words"),
    [
        (Settings(step=0.02), 1.0, r"the same step \(step 0.02 there, 0.01 here\)"),
        (Settings(step=0.01, every=0.1), 1.0, "the same recorded instants"),
        (Settings(step=0.01), 2.0, r"the same end \(end 2.0 there, 1.0 here\)"),
        (Settings(step=0.01, projection=Projection(lost=1e-3)), 1.0, "the same projection"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(swing, settings, until, words):
    kept = Run(*swing, until, settings).checkpoint()
    with pytest.raises(SimulationError, match=words):
        Run(*swing, 1.0, Settings(step=0.01)).restore(kept)


DRIVEN = """
let s = body mass = 1 kg, inertia = 1 g*m^2 end ; let r = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and s with prismatic axis = [1, 0, 0] end ;
let Y = join s and r with prismatic axis = [0, 1, 0] end ;
impose X = 1 m * table(t/(1 s), [0, 0.5, 1], [0, 0.1, 0.3], "linear") ;
event far when Y - 70 cm crossing ;
start Y' = 1 m/s ;
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.3]", "0.9]", "equations"),  # the same accelerations, 0, before and after the corner
        ("70 cm", "20 cm", "equations"),
        ("crossing", "crossing stop", "events"),
        ("far", "near", "events"),
    ],
)
def test_a_checkpoint_of_other_imposed_motions_or_events_is_refused(old, new, words):
    state = liaison.stepper(DRIVEN).state
    run = Run(liaison.compile(DRIVEN), state, 0.9)
    run.go(tries=3)
    other = Run(liaison.compile(DRIVEN.replace(old, new)), state, 0.9)
    with pytest.raises(SimulationError, match=f"another run: not the same {words}"):
        other.restore(run.checkpoint())


# ends that were not asked for


def test_an_interrupted_run_carries_what_it_has(swing):
    def interrupt(fraction):
        raise KeyboardInterrupt

    for on_failure in ("raise", "return"):
        options = {"progress": interrupt, "on_failure": on_failure}
        with pytest.raises(Interrupted, match="interrupted at t =") as found:
            simulate(*swing, 1e9, step=1e-3, every=1e5, **options)
        assert isinstance(found.value, KeyboardInterrupt)
        assert not isinstance(found.value, Exception)
        assert found.value.trajectory.status == "interrupted"
        assert found.value.trajectory.t[-1] == found.value.t > 0
        assert not found.value.trajectory.success


@pytest.fixture
def alarm():
    """Ctrl-C, in so many seconds."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda after: signal.setitimer(signal.ITIMER_REAL, after)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def runs_for_ever(swing):
    while True:
        with contextlib.suppress(LiaisonError):
            simulate(*swing, 1e9, step=1e-3, every=1e5)


def test_control_c_stops_a_loop_over_failures(swing, alarm):
    """`except LiaisonError: continue` is no way to miss Ctrl-C."""
    alarm(0.1)
    with pytest.raises(KeyboardInterrupt):
        runs_for_ever(swing)


def test_control_c_reaches_a_stepper(swing, alarm):
    waiting = stepper(*swing, step=1e-4)
    alarm(0.1)
    with pytest.raises(Interrupted, match="interrupted at t =") as found:
        waiting.step(None, 1e9)
    assert 0 < found.value.t == waiting.state.t


def test_control_c_while_nothing_moves_yet():
    def raising(*_, **__):
        raise KeyboardInterrupt

    for verb, ready in (("simulate", "ready_for"), ("stepper", "ready_for"),
                        ("simulate_batch", "_assembled")):  # fmt: skip
        module = importlib.import_module(f"liaison.verbs.motion.{verb}")
        options = {} if verb == "stepper" else {"until": 1.0}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, ready, raising)
            with pytest.raises(Interrupted, match="interrupted") as found:
                getattr(module, verb)("examples/pendulum.lsd", **options)
        assert found.value.trajectory is None


def test_control_c_reaches_a_run_in_compiled_code(swing, alarm):
    """A signal during the loop is honoured when its slice ends."""
    alarm(0.15)
    began = time.perf_counter()
    with pytest.raises(Interrupted):
        simulate(*swing, 1e9, step=1e-3, every=1e5)
    assert time.perf_counter() - began < 60


def test_draining_after_an_interruption_takes_each_row_once(swing):
    run = Run(*swing, 1.0, Settings(step=0.01))
    run.go(10)
    before = run.arrays.run.ints.copy()
    run._drain()
    run.arrays.run.ints[:] = before  # as if interrupted before the buffer was marked empty
    found = run.finish()
    assert found.t == pytest.approx(np.arange(101) / 100, abs=1e-14)


def test_the_time_limit_ends_a_run(swing):
    with pytest.raises(SimulationError, match="out of time at t =") as found:
        simulate(*swing, 1e9, step=1e-3, every=1e5, time_limit=0.05)
    assert found.value.status == "time limit"
    assert found.value.trajectory.t[-1] > 0


@pytest.mark.parametrize(
    ("options", "cure"),
    [({"step": 1e-3}, "a longer step"), ({"method": "tsitouras"}, "method='radau'")],
)
def test_a_run_that_would_take_days_says_so(swing, options, cure):
    plan = Run(*swing, 1.0, Settings(**options)).plan
    words = slowness(plan, 1e-4, 60.0)
    assert words.startswith("at this rate the whole takes 6.94 days; ")
    assert cure in words
    assert "takes 17 hours" in slowness(plan, 1e-3, 60.0)
    assert "takes an hour;" in slowness(plan, 1e-3, 4.0)
    assert slowness(plan, 0.02, 60.0) == ""  # 50 minutes
    assert slowness(plan, 0.0, 60.0).startswith("none of it in 60 s; ")


def test_the_pace_of_a_run_taken_up_is_that_of_the_rest(swing, monkeypatch):
    """Else the part that was done before would seem to be of these seconds."""
    parts = []
    name = "liaison.simulation.outcome.slowness"
    monkeypatch.setattr(name, lambda plan, done, seconds: parts.append(done) or "")
    run = Run(*swing, 1.0, Settings(step=1e-6, every=0.1))
    while run.fraction < 0.5:
        run.go(100_000)
    run.finish(time_limit=1e-3, on_failure="return")
    assert len(parts) == 1
    assert parts[0] < 0.4


def test_progress_rises_to_one(swing):
    seen = []
    simulate(*swing, 1.0, step=1e-4, every=0.1, progress=seen.append)
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def escaping():
    """q̈ = 1e4 (1 + q²) v: beyond all bounds in finite time."""
    return plain("escaping", lambda q, v: [v[0] * v[0] * v[0]])


def test_a_state_that_is_no_longer_finite_is_refused_with_the_last_good_one():
    p = escaping()
    with pytest.raises(SimulationError, match="no longer finite") as found:
        simulate(to_llvm(p), start(p, [0], [1.0]), 10.0, step=0.05)
    error = found.value
    assert error.status == "not finite"
    assert 0.4 < error.t < 1.0  # v = (1 − 2t)^(−1/2) ends at 0.5
    assert np.all(np.isfinite(error.trajectory.q))
    assert np.all(np.isfinite(error.trajectory.v))
    assert error.trajectory.t[-1] == error.t


def test_an_adaptive_step_that_becomes_too_small_is_refused():
    p = escaping()
    with pytest.raises(SimulationError, match=r"step became too small|no longer finite") as found:
        simulate(to_llvm(p), start(p, [0], [1.0]), 10.0)
    assert found.value.status in ("step too small", "not finite")
    assert found.value.t == pytest.approx(0.5, abs=1e-6)
    again = simulate(to_llvm(p), start(p, [0], [1.0]), 10.0, on_failure="return")
    assert again.status == "failed"
    assert "too small" in again.message or "finite" in again.message


def test_nan_from_the_equations_never_enters_the_trajectory():
    """v̇ = log(1 − t) ends at t = 1."""
    p = plain("log", lambda q, v: [log(1 - symbol("t"))])
    for method in ({"step": 0.03}, {}):
        with pytest.raises(SimulationError) as found:
            simulate(to_llvm(p), start(p, [0], [0]), 2.0, **method)
        assert found.value.t <= 1.0
        assert np.all(np.isfinite(found.value.trajectory.v))


def test_an_acceleration_that_is_not_finite_at_the_start_is_named():
    p = plain("root", lambda q, v: [q[0], sqrt(q[1] - 1)], n=2)
    for method in ({"step": 0.1}, {}):
        with pytest.raises(SimulationError, match='acceleration of "A1\'" is not finite at t = 0'):
            simulate(to_llvm(p), start(p, [0, 0], [0, 0]), 1.0, **method)
    with pytest.raises(SimulationError) as found:
        simulate(to_llvm(p), start(p, [0, 0], [0, 0]), 1.0)
    assert "rtol" not in str(found.value)


def test_an_output_without_a_value_is_refused_by_its_name_and_time():
    """√(1 − t) has none after one second."""
    labels = {"outputs": (Label("depth", "m"),)}
    entries = {"outputs": [sqrt(1 - symbol("t"))]}
    p = oscillator(entries=entries, labels=labels)
    p = replace(p, entries={**p.entries, "outputs": Entry("outputs", *entries.values(), DEPTH)})
    whole = simulate(to_llvm(p), start(p, [1], [0]), 0.9, every=0.1)
    assert whole.success
    with pytest.raises(SimulationError, match=r"output 'depth' is nan at t = 1\.1 s") as found:
        simulate(to_llvm(p), start(p, [1], [0]), 2.0, every=0.1)
    assert found.value.status == "not finite"
    assert found.value.trajectory.t[-1] == 2.0
    kept = simulate(to_llvm(p), start(p, [1], [0]), 2.0, every=0.1, on_failure="return")
    assert kept.status == "failed"
    assert "'depth'" in kept.message


DEPTH = (("depth", 1),)


def test_too_many_steps(swing):
    with pytest.raises(SimulationError, match="10 steps were not enough") as found:
        simulate(*swing, 1.0, step=0.01, max_steps=10)
    assert found.value.status == "too many steps"
    assert found.value.t == pytest.approx(0.1)


def test_a_failure_can_be_returned(swing):
    run = simulate(*swing, 1.0, step=0.01, max_steps=10, on_failure="return")
    assert run.status == "failed"
    assert "not enough" in run.message
    assert len(run.t) == 11


# what is refused before it begins


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"step": 0.0}, "step is 0.0"),
        ({"step": float("nan")}, "step is nan"),
        ({"rtol": -1.0}, "rtol is -1.0"),
        ({"atol": 0.0}, "atol 0.0"),
        ({"method": "rk4"}, "needs a fixed step"),
        ({"method": "eulerian"}, "no method is named 'eulerian'"),
        ({"every": -1.0}, "every is -1.0"),
        ({"every": 1e-300}, "asks for 1e\\+300 instants"),
        ({"every": 5e-324}, "asks for inf instants"),
        ({"every": [0.2, 0.1]}, "must be finite and increase"),
        ({"every": [0.2, 5.0]}, "outside the run"),
        ({"on_failure": "ignore"}, "on_failure is 'ignore'"),
        ({"step": 0.1, "rtol": 1e-3}, "rtol is 0.001 beside step=0.1"),
        ({"step": 0.1, "method": "radau", "atol": 1e-3}, "atol is 0.001 beside step=0.1"),
        ({"step": 0.1, "max_step": 1e-3}, "max_step is 0.001 beside step=0.1"),
        ({"step": 10.0}, "step is 10 s, longer than the run from 0 to 1 s"),
        ({"impacts": "newton"}, "impacts is 'newton'; .* has no contacts"),
    ],
)
def test_wrong_settings_are_refused(swing, more, message):
    with pytest.raises((NamingError, SimulationError, ArgumentError), match=message):
        simulate(*swing, 1.0, **more)


def test_a_last_step_that_is_shorter_is_reported(swing):
    run = simulate(*swing, 1.0, step=0.3)
    assert run.t[-2:] == pytest.approx([0.9, 1.0])
    assert run.message.endswith("The last step was 0.1 s: steps of 0.3 s do not divide 1 s.")
    for step in (0.1, 1 / 3, 1e-3, 1.0):
        assert simulate(*swing, 1.0, step=step).message == "reached t = 1 s."


def test_a_start_too_fast_for_impacts_is_refused_by_name():
    with pytest.raises(
        SimulationError, match=r"start has A' = 1e\+300 rad/s: so fast that impacts"
    ):
        liaison.simulate("examples/contact/stops.lsd", until=0.1, start={"A'": 1e300})


def test_wrong_starts_are_refused(swing):
    kernel, _ = swing
    p = kernel.program
    with pytest.raises(SimulationError, match="'A' = nan, not finite"):
        simulate(kernel, start(p, [np.nan], [0]), 1.0)
    with pytest.raises(SimulationError, match="cannot end at -1"):
        simulate(kernel, start(p, [1], [0]), -1.0)
    with pytest.raises(SimulationError, match="cannot end at inf"):
        simulate(kernel, start(p, [1], [0]), np.inf)
    other = State(0, np.zeros(1), np.zeros(1), {"q": (Label("B"),), "v": (Label("B'"),)})
    with pytest.raises(SimulationError, match=r"the state's q is \(B\), but that of .* is \(A\)"):
        simulate(kernel, other, 1.0)
    with pytest.raises(SimulationError, match="2 numbers in q, but 'oscillator' has 1"):
        simulate(kernel, State(0, np.zeros(2), np.zeros(1)), 1.0)


def test_entries_are_compiled_only_when_needed():
    p = hanging()
    kernel = to_llvm(p)
    run = Run(kernel, start(p, [0, -1], [0, 0]), 1.0, Settings(step=0.1))  # hangs at rest
    while not run.is_over:
        run.go()
    assert run.status == at.DONE
    assert "correct_q" not in kernel._addresses
    assert "terms" not in kernel._addresses


# deprecated names


def test_old_names_of_event_rows_warn_and_return_the_same(swing):
    kernel, state = swing
    run = Run(kernel, state, 5.0, Settings(), stop={"A": -0.5})
    run.finish()
    rows = run.event_rows
    assert len(rows) == 1
    with pytest.warns(DeprecationWarning, match=r"Run\.event_rows") as caught:
        assert run.happened.tobytes() == rows.tobytes()
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"Run\.take_event_rows"):
        assert run.take_happened().tobytes() == rows.tobytes()
    assert len(run.event_rows) == 0
