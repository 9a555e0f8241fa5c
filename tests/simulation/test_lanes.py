"""Runs on vector lanes: each has the bits of a run that marches alone, whatever its neighbours."""

from __future__ import annotations

import contextlib
import ctypes
import math
from dataclasses import replace

import numpy as np
import pytest
import simulate_samples as batch_samples

import liaison
from liaison.errors import SimulationError
from liaison.expr import sin, symbol
from liaison.program import to_llvm
from liaison.program.kernel import SIGNATURE
from liaison.program.llvm.lane_loops import LANE_LOOPS, lane_loops
from liaison.program.lower import lower
from liaison.simulation import simulate, simulate_batch
from liaison.simulation.batch import run as batch_module
from liaison.simulation.batch.lane_layout import LOOPS
from liaison.simulation.batch.lanes import different_entries, lane_shares
from samples import solved, some

STATES = ("q", "v", "end_t", "end_q", "end_v", "recorded")
SEEDS = some((2, 0, 1, *range(3, 12)), 2)


def without_events(examples, name):
    lines = (examples / name).read_text(encoding="utf-8").splitlines()
    return liaison.read("\n".join(x for x in lines if not x.startswith("event ")))


@pytest.fixture(scope="module")
def four_bar(examples):
    """A kernel of a closed loop, and starts with other speeds, in the same position."""
    mechanism = without_events(examples, "four_bar.lsd")
    state = liaison.assemble(liaison.span(mechanism))
    speeds = np.random.default_rng(1).uniform(0.5, 1.5, 13)
    return liaison.compile(mechanism), [replace(state, v=np.asarray(state.v) * s) for s in speeds]


@pytest.fixture(scope="module")
def swing(examples):
    """A kernel of an open chain, and starts."""
    mechanism = without_events(examples, "double_pendulum.lsd")
    state, rng = liaison.assemble(liaison.span(mechanism)), np.random.default_rng(2)
    starts = [replace(state, v=rng.normal(size=2), q=rng.normal(size=2)) for _ in range(19)]
    return liaison.compile(mechanism), starts


def assert_same(one, other):
    """Two batches agree in every bit, count and word."""
    for name in STATES:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    for name, counts in one.counts.items():
        assert np.array_equal(counts, other.counts[name]), name
    for name, measured in one.measures.items():
        assert np.array_equal(measured, other.measures[name], equal_nan=True), name
    for name, (values, _) in one.series.items():
        assert np.array_equal(values, other.series[name][0], equal_nan=True), name
    assert one.statuses == other.statuses
    assert one.messages == other.messages
    assert one.reasons == other.reasons


def both(kernel, starts, until, **options):
    """A batch on lanes, which is the same as one after the other."""
    options = {"threads": 1, "on_failure": "return", **options}
    wide = simulate_batch(kernel, starts, until, lanes=True, **options)
    assert_same(wide, simulate_batch(kernel, starts, until, lanes=False, **options))
    return wide


# ---- entries


@pytest.mark.parametrize("seed", SEEDS)
def test_entries_over_lanes_have_the_bits_of_one_state(seed):
    x, lanes = solved(seed), 4
    kernel = to_llvm(lower(x.equations), lanes=lanes)
    program, rng = kernel.program, np.random.default_rng(seed)
    names = [n for n in ("rate", "retract", "closure", "correct_q") if n in program.entries]
    code = kernel.lane_code(*names)
    sizes = {a: max(1, program.sizes.get(f"n{a}", 0)) for a in "qvup"}
    at = {a: np.resize(np.append(x.at.get(a, ()), 0.1), n) for a, n in sizes.items()}
    at["p"] = np.resize(np.append(program.defaults.get("p", ()), 1.0), sizes["p"])
    at["x"] = np.zeros(4 * sizes["v"] + sizes["q"])
    for name in names:
        shifts = {a: 1e-3 * rng.normal(size=(y.size, lanes)) for a, y in at.items()}
        arrays = {a: np.ascontiguousarray(y[:, None] + shifts[a]) for a, y in at.items()}
        out = np.zeros((kernel.out_size(name), lanes))
        work = np.zeros(max(1, code.work_size))
        listed = [arrays[a].ctypes.data for a in "qvupx"]
        SIGNATURE(code.addresses[name])(0.3, *listed, out.ctypes.data, work.ctypes.data)
        for k in range(lanes):
            alone, space = np.zeros(len(out)), np.zeros(max(1, kernel.work_size(name)))
            own = [np.ascontiguousarray(arrays[a][:, k]) for a in "qvupx"]
            kernel.function(name)(0.3, *own, alone, space)
            assert np.array_equal(alone, out[:, k], equal_nan=True), (name, k)


def test_a_far_angle_changes_no_neighbour(swing):
    kernel, _ = swing
    code = kernel.lane_code("forward")
    lanes = code.lanes
    q, v = np.full((2, lanes), 0.7), np.full((2, lanes), 0.2)
    q[0, 1] = 1e7  # where libm is asked
    out, work, none = np.zeros((kernel.out_size("forward"), lanes)), np.zeros(9999), np.zeros(64)
    listed = [x.ctypes.data for x in (q, v, none, none, none, out, work)]
    SIGNATURE(code.addresses["forward"])(0.0, *listed)
    for k in range(lanes):
        assert np.array_equal(out[:, k], kernel("forward", q=q[:, k], v=v[:, k]))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_loops_on_vectors_are_the_loops():
    """Machine code of loops over lanes, against the same loops as plain Python."""
    rng, lanes, rows = np.random.default_rng(0), 4, 5
    for trial in range(4):  # the last with numbers that are not finite
        numbers = {a: rng.normal(size=(rows, lanes)) for a in "xyabc"}
        if trial == 3:
            numbers["x"][1, 2], numbers["a"][0, 1] = math.inf, math.nan
        marks = {a: rng.integers(0, 2, size=(1, lanes)) for a in "mnk"}
        unit = np.array([1.0, 2.0, 1.0, 0.1, 1.0])
        calls = {
            "largest_of": (rows, lanes, "x", unit, "a", "b"),
            "infinite_of": (rows, lanes, "x", "b"),
            "replaced": (rows, lanes, "m", "x", "y"),
            "count_above": (lanes, 0.1, "x", "m"),
            "count_pending": (lanes, 0.3, "a", "b", "c", "m", "n"),
            "count_open": (lanes, "a", "b", "m"),
            "count_stuck": (lanes, 0.5, 2.0, "a", "b", "c", "m", "n", "k"),
        }
        assert set(calls) == set(LANE_LOOPS)
        for name, args in calls.items():
            expected = outcome(LOOPS[name], args, numbers, marks)
            found = outcome(machine_code(name, lanes, LOOPS[name]), args, numbers, marks)
            assert found[0] == expected[0], name
            for one, other in zip(found[1], expected[1], strict=True):
                same = one[0] if name in ("largest_of", "infinite_of") else one
                rest = other[0] if name in ("largest_of", "infinite_of") else other
                assert np.array_equal(same, rest, equal_nan=True), name


def machine_code(name, lanes, loop):
    kinds = [ctypes.c_double if x == "f64" else ctypes.c_int64 for x in kinds_of(loop)]
    result = ctypes.c_int64 if loop.function.__annotations__["return"] == "i64" else None
    call = ctypes.CFUNCTYPE(result, *kinds)(lane_loops(lanes)[name])
    return lambda *args: call(*(x.ctypes.data if isinstance(x, np.ndarray) else x for x in args))


def kinds_of(loop):
    return [x for name, x in loop.function.__annotations__.items() if name != "return"]


def outcome(call, args, numbers, marks):
    """What a loop returns, and its arrays afterwards."""
    own = {**{a: x.copy() for a, x in numbers.items()}, **{a: x.copy() for a, x in marks.items()}}
    passed = [own[x].reshape(-1) if isinstance(x, str) else x for x in args]
    found = call(*passed)
    return found, [own[x] for x in args if isinstance(x, str) and x not in "xb"]


# ---- runs


@pytest.mark.parametrize(("count", "every"), [(2, None), (8, 0.013), (13, 2e-3), (13, 0.013)])
def test_closed_loops(four_bar, count, every):
    kernel, starts = four_bar
    runs = both(kernel, starts[:count], 0.13, step=2e-3, every=every)
    assert set(runs.statuses) == {"done"}
    assert runs["position_residual"].max() < 1e-12


@pytest.mark.parametrize("method", ["rk4", "euler", "tsitouras", "dormand-prince"])
def test_open_chains(swing, method):
    kernel, starts = swing
    runs = both(kernel, starts, 0.5, step=5e-3, method=method, every=0.0371)
    alone = simulate(kernel, starts[11], 0.5, step=5e-3, method=method, every=runs.t)
    assert np.array_equal(alone.q, runs[11].q)
    assert alone.counts == runs[11].counts


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_the_number_of_lanes_changes_nothing(swing, lanes):
    kernel, starts = swing
    own = to_llvm(kernel.program, lanes=lanes)
    options = {"step": 5e-3, "every": 0.07, "threads": 1}
    wide = simulate_batch(own, starts, 0.3, lanes=True, **options)
    assert_same(wide, simulate_batch(kernel, starts, 0.3, lanes=False, **options))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(four_bar, threads):
    kernel, starts = four_bar
    options = {"step": 2e-3, "every": 0.05, "lanes": True}
    one = simulate_batch(kernel, starts, 0.15, threads=1, **options)
    assert_same(one, simulate_batch(kernel, starts, 0.15, threads=threads, **options))


def test_neighbours_change_nothing(four_bar):
    kernel, starts = four_bar
    options = {"step": 2e-3, "lanes": True, "threads": 1}
    whole = simulate_batch(kernel, starts, 0.15, **options)
    other = simulate_batch(kernel, [starts[7], starts[2], starts[7]], 0.15, **options)
    for k, i in enumerate((7, 2, 7)):
        assert other.q[k].tobytes() == whole.q[i].tobytes()


def test_parameters_inputs_and_formulas_by_run():
    kernel = to_llvm(batch_samples.driven())
    start = [
        liaison.State(0.0, [1.0], [0.0], {k: kernel.program.labels[k] for k in "qv"})
        for _ in range(11)
    ]
    k, u = np.linspace(0.5, 4.0, 11), np.linspace(-1.0, 1.0, 11)
    options = {"parameters": {"k": k}, "step": 0.01, "every": 0.13}
    both(kernel, start, 1.5, inputs={"motor": u}, **options)
    law = sin(3 * symbol("t")) - 2 * symbol("A") * symbol("A'")
    both(kernel, start, 1.5, inputs={"motor": law}, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_mechanisms(seed):
    """Any joints, loads and closures; a start that is off its closures fails as it does alone."""
    x = solved(seed)
    kernel, rng = to_llvm(lower(x.equations)), np.random.default_rng(seed)
    labels = {k: kernel.program.labels[k] for k in "qv"}
    starts = [
        liaison.State(0.0, x.at["q"], x.at["v"] * (s if k != 3 else 1.0), labels)
        for k, s in enumerate(rng.uniform(0.99999999, 1.0, 11))
    ]
    options = {"step": 1e-3, "every": 0.011, "watch": False, "series": (), "on_failure": "return"}
    alone = simulate_batch(kernel, starts, 0.06, lanes=False, threads=1, **options)
    with contextlib.suppress(SimulationError):  # entries that differ, drives whose rates jump
        assert_same(simulate_batch(kernel, starts, 0.06, lanes=True, threads=1, **options), alone)


def test_an_entry_whose_lanes_differ_is_seen(swing):
    """A product fused on vectors alone is found among the states that are compared."""
    kernel, _ = swing
    code = kernel.lane_code("forward", "energy")
    assert different_entries(kernel, code) == ()
    plain = to_llvm(kernel.program, portable=True)  # fuses nothing
    assert different_entries(plain, code) == ("forward", "energy")


# ---- what cannot go on


def test_a_lane_that_fails_changes_no_other(four_bar):
    kernel, starts = four_bar
    wrong = list(starts)
    wrong[3] = replace(starts[3], v=np.asarray(starts[3].v) * 1e200)
    wrong[9] = replace(starts[9], v=np.asarray(starts[9].v) + 1.0)  # off its closures
    runs = both(kernel, wrong, 0.15, step=2e-3, every=0.05)
    assert [k for k, x in enumerate(runs.reasons) if x] == [3, 9]
    good = simulate_batch(kernel, starts, 0.15, step=2e-3, every=0.05, lanes=True)
    for k in {*range(13)} - {3, 9}:
        assert runs.q[k].tobytes() == good.q[k].tobytes()


def test_a_run_that_fails_under_way_is_reported_as_alone(swing):
    kernel, starts = swing
    wrong = [*starts[:10], replace(starts[10], v=np.array([3e7, -1e8])), *starts[11:]]
    runs = both(kernel, wrong, 0.2, step=5e-3)
    alone = simulate(kernel, wrong[10], 0.2, step=5e-3, on_failure="return", every=runs.t)
    assert (runs.statuses[10], runs.messages[10]) == (alone.status, alone.message)
    assert runs.reasons[10] == "not finite"


def test_too_many_steps_are_told(swing):
    kernel, starts = swing
    runs = both(kernel, starts[:9], 0.2, step=5e-3, max_steps=17)
    assert set(runs.reasons) == {"too many steps"}


def test_rejected_runs_leave_no_gap():
    shares = lane_shares(30, 2, 8, {0, 5, 6})
    runs = [k for share in shares for k in share]
    assert runs == [k for k in range(30) if k not in (0, 5, 6)]
    assert {len(x) % 8 for x in shares[:-1]} == {0}


def test_a_time_limit_ends_runs_on_lanes(swing, monkeypatch):
    """Runs under way are left where they are, as runs that march alone."""
    kernel, starts = swing
    monkeypatch.setattr(batch_module, "SLICE", 1e-3)
    runs = simulate_batch(
        kernel, starts, 1e5, step=1e-3, lanes=True, threads=1, time_limit=0.05,
        max_steps=10**12, on_failure="return",
    )  # fmt: skip
    assert runs.statuses[0] == "time limit"
    assert 0 < runs.end_t[0] < 1e5
    assert runs.counts["steps"][0] > 0
    assert np.all(np.isfinite(runs.end_q))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "adaptive"),
        ({"step": 0.01, "method": "gauss4"}, "not explicit"),
        ({"step": 0.01, "stop": {"A": 0.5}}, "events"),
    ],
)
def test_lanes_that_cannot_be_are_refused_in_words(swing, options, why):
    kernel, starts = swing
    with pytest.raises(SimulationError, match=f"lanes is True, .*{why}"):
        simulate_batch(kernel, starts, 0.1, lanes=True, **options)
    simulate_batch(kernel, starts, 0.1, **options)


def test_contacts_march_alone():
    puck = """name = "puck" ; gravity = [0, 0, -9.81] m/s^2 ;
    let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and puck with link(z) dof1 = [0, 0, z] end ;
    let floor = contact gap = X.z, restitution = 0.5 end ;
    start X.z = 10 cm ;"""
    with pytest.raises(SimulationError, match="unilateral"):
        liaison.simulate_batch(puck, start={"X": [0.1, 0.2]}, until=0.1, step=1e-3, lanes=True)


def test_studies_store_the_same(examples, tmp_path):
    """A study has the same keys and measures with and without lanes."""
    text = (examples / "four_bar.lsd").read_text(encoding="utf-8").replace("event full", "(*")
    text = text.replace("rising record ;", "*)")
    how = {
        "vary": {"a": "9 cm .. 11 cm"}, "measure": {"swing": "max(D) - min(D)"}, "until": 0.2,
        "step": "2 ms", "design": "latin hypercube", "count": 20,
    }  # fmt: skip
    found = [liaison.study(text, **how, lanes=x, folder=tmp_path / str(x)) for x in (True, False)]
    exports = []
    for k, one in enumerate(found):
        one.export(tmp_path / f"{k}.csv")
        exports.append((tmp_path / f"{k}.csv").read_bytes())
    assert exports[0] == exports[1]
