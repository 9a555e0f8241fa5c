"""Many runs through contacts at once: each as it would be alone; one that fails tells why."""

from __future__ import annotations

import _thread
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import Interrupted, SimulationError
from liaison.numeric import State
from liaison.simulation import simulate, simulate_batch

EXAMPLES = Path(__file__).parents[2] / "examples"
MOREAU = {"method": "moreau", "step": 1e-3}
SERIES = ("energy", "closure", "contacts")
TOLD = ("contacts", "slips", "gaps", "modes", "dissipated")

DROP = """
name = "drop" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 1 kg ; parameter f = 0.3 ; parameter e = 0.5 ;
let puck = body mass = m, inertia = 1 g*m^2 end ;
let X = join earth and puck with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
input push = 0 N ;
apply force value = [push, 0, 0] end on puck ;
let floor = contact gap = X.z, slip = X.x', friction = f, restitution = e end ;
start X.z = 10 cm ; start X.x' = 1 m/s ;
"""


@pytest.fixture(scope="module")
def drop():
    return liaison.compile(liaison.read(DROP))


def states_of(kernel, values):
    labels = {k: x for k, x in kernel.program.labels.items() if k in ("q", "v")}
    return [State(0.0, q, v, labels) for q, v in values]


def same(one, runs, k):
    """The k-th run of a batch is what simulate gives, bit for bit."""
    found = runs[k]
    for name in ("t", "q", "v"):
        assert np.array_equal(getattr(one, name), getattr(found, name)), name
    assert (one.status, one.message, one.counts) == (found.status, found.message, found.counts)
    assert [(e.name, e.t, e.what) for e in one.events] == [
        (e.name, e.t, e.what) for e in found.events
    ]
    for a, b in zip(one.events, found.events, strict=True):
        assert np.array_equal(a.q, b.q)
        assert np.array_equal(a.v, b.v)
        assert np.array_equal(a.before, b.before) if a.before is not None else b.before is None
    for name in TOLD:
        assert np.array_equal(one[name], found[name]), name
    assert one.meta == found.meta


CASES = [
    ("reference/woodpecker.lsd", 0.2),
    ("reference/slider_crank_clearance.lsd", 0.25),  # more events than their buffer holds
    ("reference/ball_on_table.lsd", 1.0),
    ("contact/box_on_hills.lsd", 0.3),
    ("contact/backlash.lsd", 0.5),
    ("chaplygin_unilateral.lsd", 1.0),
]


@pytest.mark.parametrize("options", [{}, MOREAU])
@pytest.mark.parametrize(("name", "until"), CASES)
def test_each_run_is_what_it_would_be_alone(name, until, options):
    mechanism = liaison.read(EXAMPLES / name)
    kernel = liaison.compile(mechanism)
    start = liaison.assemble(liaison.span(mechanism))
    speeds = (1.0, 1.05, 0.95)
    starts = [State(0.0, start.q, scale * start.v, start.labels) for scale in speeds]
    runs = simulate_batch(kernel, starts, until, every=0.1, series=SERIES, threads=2, **options)
    for k in (2, 0):
        same(simulate(kernel, starts[k], until, every=runs.t, **options), runs, k)


@pytest.mark.parametrize("options", [{}, {"step": 1e-3}, MOREAU])
@pytest.mark.parametrize("name", ["contact/table_edge", "reference/slider_crank_clearance"])
def test_starts_at_random_among_them_bad_ones(name, options):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    kernel, rng = liaison.compile(mechanism), np.random.default_rng(0)
    start = liaison.assemble(liaison.span(mechanism))
    starts = []
    for k in range(8):
        q = start.q + rng.normal(scale=0.01, size=start.q.size) * (k % 2)
        v = start.v + rng.normal(scale=0.3, size=start.v.size) * (k % 3 > 0)
        starts.append(State(0.0, q, v, start.labels))
    told = {"every": 0.05, "on_failure": "return", "max_steps": 3000} | options
    runs = simulate_batch(kernel, starts, 0.3, threads=3, **told)
    for k, state in enumerate(starts):
        one, n = simulate(kernel, state, 0.3, **told), int(runs.recorded[k])
        assert np.array_equal(one.q[:n], runs.q[k, :n])
        assert (one.message, one.counts) == (runs[k].message, runs[k].counts)
        assert [(x.what, x.t) for x in one.events] == [(x.what, x.t) for x in runs.events[k]]


@pytest.mark.parametrize("options", [{}, MOREAU])
def test_friction_restitution_and_mass_by_run(drop, options):
    """e² of the height is left by an impact, and f (1 + e) of its speed is lost along the floor."""
    e, f, m = np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.2, 0.05]), np.array([1.0, 2.0, 0.3])
    values = {"e": e, "f": f, "m": m}
    start = states_of(drop, [([0.0, 0.1], [1.0, 0.0])])[0]
    runs = simulate_batch(drop, start, 0.3, parameters=values, every=0.1, series=SERIES, **options)
    fall = np.sqrt(2 * 9.81 * 0.1)
    first = np.array([next(x.v for x in run.events if x.what == "impact") for run in runs])
    near = 1e-9 if not options else 9.81e-3 * 2  # a step of falling
    assert first[:, 1] == pytest.approx(e * fall, abs=near)
    assert first[:, 0] == pytest.approx(1 - f * (1 + e) * fall, abs=near)
    for k in range(3):
        one = {name: x[k] for name, x in values.items()}
        same(simulate(drop, start, 0.3, every=runs.t, parameters=one, **options), runs, k)


@pytest.mark.parametrize("options", [{}, MOREAU])
def test_pushes_by_run_stick_or_slip(drop, options):
    """A push within f m g holds, one beyond it moves by (push − f m g)/m."""
    start = states_of(drop, [([0.0, 0.0], [0.0, 0.0])])[0]
    push = np.array([1.0, 2.9, 4.0])
    runs = simulate_batch(drop, start, 1.0, inputs={"push": push}, series=SERIES, **options)
    assert runs["X.x"][:, -1] == pytest.approx(
        np.maximum(push - 0.3 * 9.81, 0) / 2, abs=1e-9 if not options else 2e-3
    )
    modes = runs["modes.floor: sliding"][:, -1]
    assert list(modes) == [1, 1, 2]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(drop, threads):
    start = states_of(drop, [([0.0, 0.1], [1.0, 0.0])])[0]
    values = {"f": np.linspace(0.0, 0.5, 21)}
    one, many = (
        simulate_batch(drop, start, 0.5, parameters=values, every=0.1, series=SERIES, threads=x)
        for x in (1, threads)
    )
    assert one.q.tobytes() == many.q.tobytes()
    assert one["contacts"].tobytes() == many["contacts"].tobytes()
    assert [[(x.what, x.t) for x in e] for e in one.events] == [
        [(x.what, x.t) for x in e] for e in many.events
    ]


@pytest.mark.parametrize("options", [{}, MOREAU])
def test_a_failing_run_is_told_and_spoils_no_other(drop, options):
    places = [([0.0, 0.1], [1.0, 0.0]), ([0.0, -0.1], [1.0, 0.0]), ([0.0, 0.2], [1.0, 0.0])]
    starts = states_of(drop, places)
    with pytest.raises(SimulationError, match=r"1 of 3 runs .*; run 1: .*'floor'") as caught:
        simulate_batch(drop, starts, 0.5, **options)
    assert caught.value.status == "inconsistent start"
    runs = simulate_batch(drop, starts, 0.5, on_failure="return", series=SERIES, **options)
    assert list(runs.success) == [True, False, True]
    assert runs.reasons == ("", "inconsistent start", "")
    alone = simulate(drop, starts[1], 0.5, on_failure="return", **options)
    assert runs.messages[1] == alone.message
    assert np.array_equal(runs[1].q, alone.q)  # the state it could not begin from
    for k in (0, 2):
        same(simulate(drop, starts[k], 0.5, every=runs.t, **options), runs, k)


def test_no_solution_at_an_instant_fails_its_run_only():
    """Painlevé's rod: above mu = 4/3 it has no motion in one mode at the lean where it starts."""
    mechanism = liaison.read(EXAMPLES / "reference" / "painleve_rod.lsd")
    kernel = liaison.compile(mechanism)
    start = liaison.assemble(liaison.span(mechanism))
    values = np.array([0.5, 1.5, 1.3, 2.0])
    runs = simulate_batch(
        kernel, start, 0.3, parameters={"mu": values}, on_failure="return", series=SERIES
    )
    assert list(runs.success) == [True, False, True, False]
    for k, mu in enumerate(values):
        alone = simulate(
            kernel, start, 0.3, every=runs.t, parameters={"mu": mu}, on_failure="return"
        )
        assert (runs.statuses[k], runs.messages[k]) == (alone.status, alone.message)
        assert runs.end_t[k] == alone.t[-1]


def test_a_relation_that_loses_its_row_is_held_in_each_run():
    mechanism = liaison.read(EXAMPLES / "degenerate_unilateral.lsd")
    kernel = liaison.compile(mechanism)
    starts = states_of(kernel, [([x], [0.0]) for x in (0.5, 1.0, 2.0)])
    runs = simulate_batch(kernel, starts, 3.0, every=0.5, series=SERIES)
    arrivals = [next(x.t for x in events if x.what == "held") for events in runs.events]
    assert arrivals == pytest.approx(np.sqrt(2 * np.array([0.5, 1.0, 2.0])), abs=1e-6)
    for k in range(3):
        same(simulate(kernel, starts[k], 3.0, every=runs.t), runs, k)


def test_stops_laws_of_impact_and_progress(drop):
    starts = states_of(drop, [([0.0, 0.1 + 0.01 * k], [1.0, 0.0]) for k in range(6)])
    options = {"stop": {"X.x": 0.12}, "impacts": "newton"}
    seen: list[float] = []
    runs = simulate_batch(drop, starts, 1.0, progress=seen.append, series=SERIES, **options)
    assert seen[-1] == 1.0
    assert set(runs.statuses) == {"stopped"}
    for k in (0, 5):
        one = simulate(drop, starts[k], 1.0, every=runs.t, **options)
        assert (one.message, one.counts) == (runs[k].message, runs[k].counts)


def test_time_limit_and_ctrl_c(drop):
    starts = states_of(drop, [([0.0, 0.1], [1.0, 0.0])] * 4)
    options = {"method": "moreau", "step": 1e-6, "max_steps": 10**12, "on_failure": "return"}
    runs = simulate_batch(drop, starts, 1e4, time_limit=0.2, threads=2, **options)
    assert set(runs.statuses) == {"time limit", "interrupted"}
    assert np.isfinite(runs.end_q).all()
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(Interrupted, match="after 0 of 4 runs") as caught:
        simulate_batch(drop, starts, 1e4, threads=2, **options)
    runs = caught.value.trajectory
    assert set(runs.statuses) == {"interrupted"}
    assert runs.end_t.max() > 0


def test_from_a_description():
    runs = liaison.simulate_batch(
        EXAMPLES / "reference" / "woodpecker.lsd",
        until=0.1,
        parameters={"mu": np.array([0.2, 0.3, 0.4])},
        series=("contacts",),
    )
    assert all(events for events in runs.events)
    assert runs["modes"].shape == (3, 2, 6)
    assert runs["Y"][:, -1].max() < 0


@pytest.mark.parametrize("options", [{}, MOREAU])
def test_events_of_hundreds_of_runs_stay_with_their_runs(drop, options):
    """Threads keep events of many runs in one buffer; among them one that fails and one inside."""
    heights = np.linspace(0.0, 0.1, 700)
    heights[[100, 400]] = -0.1, -1e-7
    starts = states_of(drop, [([0.0, z], [1.0, 0.0]) for z in heights])
    runs = simulate_batch(drop, starts, 0.3, threads=2, on_failure="return", **options)
    assert [k for k in range(700) if not runs.success[k]] == [100]
    for k in (0, 1, 99, 100, 101, 255, 256, 257, 400, 401, 699):
        one = simulate(drop, starts[k], 0.3, every=runs.t, on_failure="return", **options)
        assert (one.message, one.meta) == (runs[k].message, runs[k].meta)
        assert [(x.name, x.t, x.what) for x in one.events] == [
            (x.name, x.t, x.what) for x in runs.events[k]
        ]


def test_runs_are_sent_elsewhere_with_their_events(drop):
    starts = states_of(drop, [([0.0, 0.1], [1.0, 0.0])] * 2)
    runs = simulate_batch(drop, starts, 0.5, series=SERIES)
    again = pickle.loads(pickle.dumps(runs.events))
    assert [[(x.what, x.t) for x in e] for e in again] == [
        [(x.what, x.t) for x in e] for e in runs.events[:]
    ]
    with pytest.raises(IndexError):
        runs.events[2]


def test_methods_that_do_not_find_contacts_are_refused(drop):
    start = states_of(drop, [([0.0, 0.1], [1.0, 0.0])] * 2)
    with pytest.raises(SimulationError, match="'radau' does not find where contacts"):
        simulate_batch(drop, start, 1.0, method="radau")
