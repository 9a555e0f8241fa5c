"""Many runs at once: each as it would be alone, whatever the threads; failures are told."""

from __future__ import annotations

import math

import numpy as np
import pytest
import simulate_samples as samples

import liaison
from liaison.errors import AssemblyError, NamingError, SimulationError
from liaison.expr import sqrt, symbol
from liaison.numeric import State
from liaison.program import to_llvm, to_numpy
from liaison.simulation import Runs, simulate, simulate_batch


def states_of(program, values):
    labels = {k: x for k, x in program.labels.items() if k in ("q", "v")}
    return [State(0.0, [q], [v], labels) for q, v in values]


@pytest.fixture(scope="module")
def pendulum():
    program = samples.pendulum()
    starts = states_of(program, [(0.1 + 0.05 * k, 0.01 * k) for k in range(23)])
    return to_llvm(program), starts


def same(one, runs, k):
    """The k-th run of a batch is what simulate gives, bit for bit.

    Where an event stops it, a single run records that state also beside a list of instants.
    """
    found, count = runs[k], len(runs[k].t)
    for name in ("t", "q", "v"):
        assert np.array_equal(getattr(one, name)[:count], getattr(found, name)), name
    if one.status == "stopped":
        end = runs.ends(k)
        assert one.t[count:].tolist() == [end.t]
        assert np.array_equal(one.y[:, -1], [*end.q, *end.v])
        assert np.all(np.isnan(runs.q[k, count:]))
    assert (one.status, one.message, one.counts) == (found.status, found.message, found.counts)
    assert [(e.name, e.t) for e in one.events] == [(e.name, e.t) for e in found.events]
    for name in found.series:
        assert found[name] == pytest.approx(one[name][:count], rel=1e-14, abs=1e-14), name


@pytest.mark.parametrize("options", [{}, {"step": 0.01}, {"method": "dormand-prince"}])
def test_each_run_is_what_it_would_be_alone(pendulum, options):
    kernel, starts = pendulum
    runs = simulate_batch(kernel, starts, 3.0, every=0.25, threads=3, **options)
    for k in (0, 7, 22):
        same(simulate(kernel, starts[k], 3.0, every=runs.t, **options), runs, k)


@pytest.mark.parametrize("method", ["radau", "gauss4"])
def test_implicit_methods(method):
    mechanism = four_bar()
    angles, options = np.array([-0.2, 0.1, 0.3]), {"method": method, "step": 0.01}
    runs = liaison.simulate_batch(mechanism, start={"A0": angles}, until=0.2, every=0.1, **options)
    kernel = liaison.compile(mechanism)
    start = assembled(mechanism, runs, 1, A0=0.1)
    same(simulate(kernel, start, 0.2, every=runs.t, **options), runs, 1)


def assembled(mechanism, runs, k, **start):
    """Where run k of a batch starts: what is assembled alone, to rounding."""
    alone = liaison.assemble(liaison.span(mechanism), **start)
    begin = State(runs.t[0], runs.q[k, 0], runs.v[k, 0], alone.labels)
    assert begin.q == pytest.approx(alone.q, abs=1e-13)
    assert begin.v == pytest.approx(alone.v, abs=1e-13)
    return begin


@pytest.mark.parametrize("threads", [1, 2, 5, 40])
def test_threads_change_nothing(pendulum, threads):
    kernel, starts = pendulum
    one = simulate_batch(kernel, starts, 2.0, every=0.5, threads=1)
    many = simulate_batch(kernel, starts, 2.0, every=0.5, threads=threads)
    assert one.q.tobytes() == many.q.tobytes()
    assert one.v.tobytes() == many.v.tobytes()
    assert all(np.array_equal(one.counts[k], many.counts[k]) for k in one.counts)
    assert one.messages == many.messages


def test_parameters_and_inputs_by_run():
    """q̈ = u − k q from rest at 1: q = u/k + (1 − u/k) cos √k t."""
    kernel = to_llvm(samples.driven())
    start = states_of(kernel.program, [(1.0, 0.0)])[0]
    k, u = np.linspace(0.5, 4.0, 8), np.linspace(-1.0, 1.0, 8)
    runs = simulate_batch(
        kernel, start, 2.0, parameters={"k": k}, inputs={"motor": u}, every=[0.5, 2.0]
    )
    exact = (u / k)[:, None] + (1 - u / k)[:, None] * np.cos(np.sqrt(k)[:, None] * runs.t)
    assert runs["A"] == pytest.approx(exact, abs=1e-7)
    assert runs[3].meta["parameters"] == {"k": k[3]}
    assert np.array_equal(runs.parameters[:, 0], k)


def test_closed_loops_from_many_starts():
    """Four-bars through their flat position: energy stays, closures hold, as in single runs."""
    mechanism = four_bar()
    angles = np.linspace(-0.3, 0.3, 6)
    runs = liaison.simulate_batch(mechanism, start={"A0": angles}, until=0.5, step=1e-3, every=0.25)
    assert runs["A0"][:, 0] == pytest.approx(angles, abs=1e-9)
    energy = runs["energy"].sum(axis=2)
    assert np.abs(energy - energy[:, :1]).max() < 1e-6
    assert runs["position_residual"].max() < 1e-9
    kernel = liaison.compile(mechanism)
    for k in (0, 5):
        start = assembled(mechanism, runs, k, A0=float(angles[k]))
        alone = simulate(kernel, start, 0.5, step=1e-3, every=runs.t)
        assert np.array_equal(alone.q, runs[k].q)


def four_bar():
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
    from n_four_bar import n_four_bar

    return n_four_bar(1)


def test_events_and_stops(pendulum):
    kernel, starts = pendulum
    runs = simulate_batch(kernel, starts[5:9], 6.0, every=1.0, stop="bottom")
    for k, start in enumerate(starts[5:9]):
        alone = simulate(kernel, start, 6.0, every=runs.t, stop="bottom")
        n = int(runs.recorded[k])
        assert n == len(alone) - 1  # its last state lies beside the instants that all runs share
        assert np.array_equal(alone.q[:n], runs[k].q)
        assert (alone.status, alone.message) == (runs[k].status, runs[k].message)
        assert runs.statuses[k] == "stopped"
        assert runs.end_t[k] == alone.events[-1].t
        assert runs.ends(k)["A"] == pytest.approx(0.0, abs=1e-9)
        assert np.isnan(runs.q[k, int(runs.recorded[k]) :]).all()


def test_a_stop_at_the_last_instant_has_no_row_of_its_own(pendulum):
    """There is room for the common instants and no more."""
    kernel, starts = pendulum
    late = simulate(kernel, starts[5], 6.0, stop="bottom").t[-1]
    runs = simulate_batch(
        kernel, starts[5:6] * 40, late + 1.0, every=[0.0, late / 2], stop="bottom"
    )
    assert set(runs.recorded.tolist()) == {2}
    assert np.isfinite(runs.q).all()
    assert runs.end_t == pytest.approx(late, abs=1e-12)


def test_more_events_than_the_buffer_holds():
    """Hundreds of crossings in a run are all kept."""
    kernel = to_llvm(samples.pendulum())
    starts = states_of(kernel.program, [(0.1, 0.0), (0.2, 0.0)])
    runs = simulate_batch(kernel, starts, 600.0, step=0.1)
    alone = simulate(kernel, starts[1], 600.0, step=0.1, every=runs.t)
    assert len(alone.events) > 128
    same(alone, runs, 1)


def blow_up():
    """q̈ = √q: no number once q is negative."""
    return to_llvm(samples.plain("root", lambda q, v: [sqrt(q[0])]))


def test_a_failing_run_is_told_and_spoils_no_other():
    kernel = blow_up()
    starts = states_of(kernel.program, [(1.0, 0.0), (0.5, -3.0), (2.0, 0.0)])
    with pytest.raises(
        SimulationError, match=r"1 of 3 runs of the batch failed; run 1: "
    ) as caught:
        simulate_batch(kernel, starts, 1.0, step=0.01, every=0.5)
    assert caught.value.status == "not finite"
    runs = simulate_batch(kernel, starts, 1.0, step=0.01, every=0.5, on_failure="return")
    assert list(runs.success) == [True, False, True]
    assert np.isfinite(runs.q[[0, 2]]).all()
    assert np.isnan(runs.q[1, int(runs.recorded[1]) :]).all()
    assert math.isfinite(runs.end_t[1])
    assert np.isfinite(runs.end_q[1]).all()
    alone = simulate(kernel, starts[1], 1.0, step=0.01, every=runs.t, on_failure="return")
    assert runs.messages[1] == alone.message
    assert caught.value.trajectory.messages == runs.messages


def test_series_without_a_value_fail_their_run():
    q = symbol("q[0]")
    program = samples.plain("lost", lambda x, v: [-x[0]], entries={"energy": [sqrt(q), q]})
    kernel = to_llvm(program)
    starts = states_of(program, [(1.0, 0.0), (-1.0, 0.0)])
    runs = simulate_batch(kernel, starts, 0.5, on_failure="return")
    assert runs.statuses == ("done", "failed")
    assert "'energy.T' is nan" in runs.messages[1]


def test_time_limit():
    kernel = to_llvm(samples.oscillator())
    starts = states_of(kernel.program, [(1.0, 0.0)] * 4)
    runs = simulate_batch(
        kernel, starts, 1e6, step=1e-3, time_limit=0.2, max_steps=10**10, on_failure="return",
        threads=2, lanes=False,
    )  # fmt: skip
    assert not runs.success.any()
    assert set(runs.statuses) == {"time limit", "interrupted"}
    assert np.isfinite(runs.end_q).all()


def test_bad_input_is_refused(pendulum):
    kernel, starts = pendulum
    with pytest.raises(SimulationError, match="that is one run"):
        simulate_batch(kernel, starts[0], 1.0)
    with pytest.raises(SimulationError, match="of no runs"):
        simulate_batch(kernel, [], 1.0)
    with pytest.raises(SimulationError, match="share their instants"):
        simulate_batch(kernel, [starts[0], State(1.0, [0.0], [0.0])], 2.0)
    with pytest.raises(SimulationError, match="state 1 of the batch"):
        simulate_batch(kernel, [starts[0], State(0.0, [math.nan], [0.0])], 2.0)
    with pytest.raises(SimulationError, match="interpreted"):
        simulate_batch(to_numpy(kernel.program), starts, 1.0)
    with pytest.raises(NamingError, match="reactions"):
        simulate_batch(kernel, starts, 1.0, series=("reactions",))
    with pytest.raises(SimulationError, match="threads is 0"):
        simulate_batch(kernel, starts, 1.0, threads=0)
    with pytest.raises(SimulationError, match="cannot end"):
        simulate_batch(kernel, starts, -1.0)


def test_bad_values_are_refused():
    kernel = to_llvm(samples.driven())
    start = states_of(kernel.program, [(1.0, 0.0)])[0]
    with pytest.raises(NamingError, match="'mass'"):
        simulate_batch(kernel, start, 1.0, parameters={"mass": [1.0, 2.0]})
    with pytest.raises(SimulationError, match="'k' is nan in run 1"):
        simulate_batch(kernel, start, 1.0, parameters={"k": [1.0, math.nan]})
    with pytest.raises(SimulationError, match="differ in length"):
        simulate_batch(
            kernel, start, 1.0, parameters={"k": [1.0, 2.0]}, inputs={"motor": np.zeros(3)}
        )
    control = (0.1, lambda t, state: 0.0)
    with pytest.raises(SimulationError, match="asks no Python"):
        simulate_batch(kernel, [start] * 2, 1.0, inputs={"motor": control})


def test_lists_of_different_lengths_are_refused():
    """Five starts with three values: an error that names both, never three runs."""
    mechanism = four_bar()
    with pytest.raises(SimulationError, match=r"5 of start 'A0', 3 of start .A0'"):
        liaison.simulate_batch(
            mechanism, start={"A0": np.linspace(0.1, 0.2, 5), "A0'": [0.1, 0.2, 0.3]}, until=0.1
        )


def test_a_list_of_one_serves_all_runs():
    kernel = to_llvm(samples.driven())
    starts = states_of(kernel.program, [(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)])
    one = simulate_batch(kernel, starts, 1.0, parameters={"k": [2.0]}, inputs={"motor": [0.5]})
    all_ = simulate_batch(kernel, starts, 1.0, parameters={"k": 2.0}, inputs={"motor": 0.5})
    assert np.array_equal(one.q, all_.q)
    many = simulate_batch(kernel, starts[:1], 1.0, parameters={"k": [2.0, 3.0]})
    assert len(many) == 2
    assert many[0].q[-1] != many[1].q[-1]


def test_runs_show_themselves(pendulum):
    kernel, starts = pendulum
    runs = simulate_batch(kernel, starts, 1.0)
    assert isinstance(runs, Runs)
    assert repr(runs) == "<Runs pendulum: 23 runs, 0 to 1 s in 2 instants; 23 done>"
    assert len(list(runs)) == len(runs) == 23
    assert runs["energy.T"].shape == (23, 2)
    with pytest.raises(NamingError, match="'B'"):
        runs["B"]
    with pytest.raises(IndexError):
        runs[23]


LENGTHS = [0.05, 0.30, 0.31, 0.04, 0.32]  # of the coupler; the first and the fourth are too short


def test_a_run_that_cannot_be_assembled_fails_alone(examples):
    path, how = examples / "four_bar.lsd", {"until": 0.02, "every": 0.01}
    runs = liaison.simulate_batch(path, parameters={"b": LENGTHS}, on_failure="return", **how)
    assert runs.success.tolist() == [False, True, True, False, True]
    assert [x == "not assembled" for x in runs.reasons] == [True, False, False, True, False]
    assert "is inconsistent" in runs.messages[3]
    assert np.isnan(runs["A"][[0, 3]]).all()
    assert np.isnan(runs["energy.T"][0]).all()
    assert np.isnan(runs.end_q[0]).all()
    assert runs[3].status == "failed"
    good = [LENGTHS[k] for k in (1, 2, 4)]
    apart = liaison.simulate_batch(path, parameters={"b": good}, **how)
    assert np.array_equal(runs["A"][[1, 2, 4]], apart["A"])


def test_an_error_of_assembly_names_its_run(examples):
    path = examples / "four_bar.lsd"
    with pytest.raises(AssemblyError, match=r"run 0: the start A .* is inconsistent"):
        liaison.simulate_batch(path, until=0.02, parameters={"b": LENGTHS})
    with pytest.raises(AssemblyError, match=r"run 2: the start A .* is inconsistent"):
        liaison.simulate_batch(path, until=0.02, parameters={"b": LENGTHS[1:]})
    with pytest.raises(AssemblyError, match="none of the 2 runs"):
        liaison.simulate_batch(
            path, until=0.02, parameters={"b": [0.04, 0.05]}, on_failure="return"
        )


@pytest.mark.parametrize("k", [0, 2])
def test_nan_in_a_list_names_parameter_and_run(examples, k):
    lengths = [0.3] * 3
    lengths[k] = math.nan
    with pytest.raises(SimulationError, match=f"parameter 'b' is nan in run {k}"):
        liaison.simulate_batch(examples / "four_bar.lsd", until=0.02, parameters={"b": lengths})
