"""Runs share what they have in common, and nothing else: each is as on a kernel never used."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from subprocess import run as started

import numpy as np
import pytest
from simulate_samples import driven, hanging, plain, start

import liaison
from liaison.errors import LiaisonError, SimulationError
from liaison.expr import sin, symbol
from liaison.numeric import State
from liaison.program import to_llvm, to_numpy
from liaison.simulation import Projection, Run, Settings, simulate, stepper
from liaison.simulation.prepared import CHOICES, WORKPLACES
from liaison.units import Label

TIME, Q = symbol("t"), symbol("q[0]")

VARIED = (
    {},
    {"rtol": 1e-5},
    {"atol": 1e-6},
    {"parameters": {"k": 4.0}},
    {"inputs": {"motor": 0.5}},
    {"inputs": {"motor": 0.25}},
    {"inputs": {"motor": sin(3 * TIME)}},
    {"inputs": {"motor": sin(2 * TIME)}},
    {"inputs": {"motor": ([0.0, 1.0, 2.0], [0.0, 1.0, -1.0])}},
    {"inputs": {"motor": (0.1, lambda t, state: -state["A'"])}},
    {"stop": {"A": 0.5}},
    {"stop": {"A": 0.25}},
    {"stop": {"A'": 0.25}},
    {"stop": Q - 0.75},
    {"stop": [Q - 0.75, Q - 0.5]},
    {"every": 0.25},
    {"every": 1},
    {"every": [0.0, 0.5, 1.0]},
    {"every": np.array([0.25, 0.5, 1.0])},
    {"every": (0.25, 0.5)},
    {"step": 0.01},
    {"step": 0.02},
    {"step": 0.02, "method": "dormand-prince"},
    {"method": "dormand-prince"},
    {"max_step": 0.05},
    {"max_steps": 1000},
    {"projection": Projection(position=1e-7)},
    {"residual": 1e-6},
)

METHODS = (
    {"method": "radau"},
    {"method": "generalized-alpha", "step": 0.01},
    {"method": "generalized-alpha", "step": 0.01, "spectral_radius": 0.5},
    {"method": "gauss4", "step": 0.01},
    {"method": "rattle", "step": 0.01},
    {"method": "rattle4", "step": 0.02},
)


def test_all_settings_count_but_the_instants_to_record():
    """A setting that is added later is one of those that runs share, or tells instants."""
    assert len(Settings().lasting) == len(fields(Settings)) - 1


@pytest.fixture(scope="module")
def spring():
    """A program with an input and a parameter, and where it starts."""
    p = driven()
    return p, start(p, [1], [0])


def ball_of(examples):
    tree = liaison.span(liaison.read(examples / "reference" / "bouncing_ball.lsd"))
    return liaison.lower(liaison.newton_euler(tree)), liaison.assemble(tree)


def assert_same(one, other):
    """Two runs to the last bit, and in every word."""
    for name in ("t", "q", "v"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    for name in ("name", "status", "message", "counts", "meta", "labels"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.series.keys() == other.series.keys()
    for name, x in one.series.items():
        assert x.values.tobytes() == other.series[name].values.tobytes(), name
    assert len(one.events) == len(other.events)
    for a, b in zip(one.events, other.events, strict=True):
        assert (a.name, a.t, a.what) == (b.name, b.t, b.what)
        assert (a.q.tobytes(), a.v.tobytes()) == (b.q.tobytes(), b.v.tobytes())
        assert np.array_equal(a.before, b.before)


# one run after the other


def test_every_option_counts_whatever_ran_before(spring):
    program, state = spring
    kernel = to_llvm(program)
    alone = [simulate(to_llvm(program), state, 2.0, **options) for options in VARIED]
    again = [k for order in (range(len(VARIED)), reversed(range(len(VARIED)))) for k in order]
    for k in again:
        assert_same(simulate(kernel, state, 2.0, **VARIED[k]), alone[k])


def test_methods_do_not_disturb_each_other(examples):
    tree = liaison.span(liaison.read(examples / "four_bar.lsd"))
    program, state = liaison.lower(liaison.newton_euler(tree)), liaison.assemble(tree)
    kernel = to_llvm(program)
    for options in (*METHODS, {}, *METHODS[::-1]):
        fresh = simulate(to_llvm(program), state, 0.2, **options)
        assert_same(simulate(kernel, state, 0.2, **options), fresh)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_kernels_and_loops_of_plain_python_begin_anew(spring, is_compiled):
    program, state = spring
    kernel = to_numpy(program) if is_compiled else to_llvm(program)
    for x in (1.0, 0.5, 1.0):
        begin = state.changed({"A": x})
        found = Run(kernel, begin, 0.3, Settings(), is_compiled=is_compiled).finish(series=())
        fresh = to_numpy(program) if is_compiled else to_llvm(program)
        other = Run(fresh, begin, 0.3, Settings(), is_compiled=is_compiled).finish(series=())
        assert_same(found, other)


def test_states_and_ends_count(spring):
    program, state = spring
    kernel = to_llvm(program)
    cases = [
        (state, 2.0),
        (state.changed({"A": 0.5}), 2.0),
        (state.changed({"A'": -1.0}), 2.0),
        (state.changed(t=1.0), 2.0),
        (state, 0.5),
        (state, 0.0),
        (State(0.0, state.q, state.v), 2.0),
    ]
    for begin, end in cases + cases[::-1]:
        assert_same(simulate(kernel, begin, end), simulate(to_llvm(program), begin, end))


@pytest.mark.parametrize("options", [{}, {"impacts": "newton"}, {"method": "moreau", "step": 1e-3}])
def test_contacts_begin_anew(examples, options):
    program, state = ball_of(examples)
    kernel = to_llvm(program)
    lower_start = state.changed({state.labels["q"][0].name: 0.25})
    for begin, end in ((state, 2.0), (lower_start, 1.0), (state, 1.0), (state, 2.0)):
        fresh = liaison.simulate(to_llvm(program), begin, until=end, **options)
        assert_same(liaison.simulate(kernel, begin, until=end, **options), fresh)


def test_closures_begin_anew():
    """Entries compiled in a run before are asked for again, as in the first."""
    program = hanging()
    kernel, state = to_llvm(program), start(program, [1, 0], [0, 0])
    for tolerance in (1e-3, 1e-9, 1e-3, 1e-9):
        fresh = simulate(to_llvm(program), state, 3.0, rtol=tolerance)
        assert_same(simulate(kernel, state, 3.0, rtol=tolerance), fresh)


def test_a_long_recording_leaves_nothing_to_a_short_one(spring):
    program, state = spring
    kernel = to_llvm(program)
    short = simulate(kernel, state, 0.1, step=1e-3)
    assert len(simulate(kernel, state, 5.0, step=1e-3)) == 5001
    assert_same(simulate(kernel, state, 0.1, step=1e-3), short)


def test_default_values_are_those_of_the_program(spring):
    program, state = spring
    kernel = to_llvm(replace(program, defaults={"u": np.zeros(1), "p": np.ones(1)}))
    first = simulate(kernel, state, 1.0)
    changed = replace(program, defaults={"u": np.array([0.5]), "p": np.array([4.0])})
    later = simulate(to_llvm(changed), state, 1.0)
    given = simulate(to_llvm(program), state, 1.0, parameters={"k": 4.0}, inputs={"motor": 0.5})
    assert later.q.tobytes() == given.q.tobytes()
    assert later.q.tobytes() != first.q.tobytes()


# trajectories keep what they have


def test_trajectories_stay_as_they_were_after_later_runs(examples):
    program, state = ball_of(examples)
    kernel = to_llvm(program)
    name = state.labels["q"][0].name
    starts = [state.changed({name: z}) for z in (1.0, 0.5, 0.25)]
    runs = [liaison.simulate(kernel, begin, until=2.0) for begin in starts]
    # events, words and counts are read only now
    for run, begin in zip(runs, starts, strict=True):
        assert_same(run, liaison.simulate(to_llvm(program), begin, until=2.0))
    memory = [x for run in runs for x in (run.t, run.q, run.v, *(e.q for e in run.events))]
    for k, one in enumerate(memory):
        assert not one.flags.writeable
        assert not any(np.may_share_memory(one, x) for x in memory[k + 1 :])


def test_what_is_told_later_is_pickled_copied_and_replaced(spring):
    program, state = spring
    run, other = (simulate(to_llvm(program), state, 1.0, stop={"A": 0.8}) for _ in range(2))
    assert_same(pickle.loads(pickle.dumps(run)), other)
    renamed = replace(simulate(to_llvm(program), state, 1.0), name="another")
    assert (renamed.name, renamed.labels) == ("another", run.labels)
    assert run.events is run.events
    for known in (run, renamed, pickle.loads(pickle.dumps(run))):
        with pytest.raises(AttributeError, match="no attribute 'evnts'"):
            known.evnts  # noqa: B018


# at the same time


def test_threads_run_one_kernel_at_once(examples):
    program, state = ball_of(examples)
    kernel, name = to_llvm(program), state.labels["q"][0].name
    starts = [state.changed({name: 0.1 + 0.05 * k}) for k in range(12)]
    alone = [liaison.simulate(to_llvm(program), x, until=1.0) for x in starts]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(4):
            found = pool.map(lambda x: liaison.simulate(kernel, x, until=1.0), starts)
            for one, other in zip(found, alone, strict=True):
                assert_same(one, other)


def test_a_controller_may_run_the_kernel_that_asks_it(spring):
    program, state = spring
    kernel = to_llvm(program)

    def ahead(t, now):
        return -simulate(kernel, now, t + 0.1, inputs={"motor": 0.0}).q[-1, 0]

    def elsewhere(t, now):
        return -simulate(to_llvm(program), now, t + 0.1, inputs={"motor": 0.0}).q[-1, 0]

    one = simulate(kernel, state, 1.0, inputs={"motor": (0.1, ahead)})
    assert_same(one, simulate(to_llvm(program), state, 1.0, inputs={"motor": (0.1, elsewhere)}))


def test_a_run_under_way_keeps_its_place(spring):
    program, state = spring
    kernel = to_llvm(program)
    under_way = Run(kernel, state, 2.0, Settings())
    under_way.go(3)
    simulate(kernel, state.changed({"A": 7.0}), 2.0)
    assert_same(under_way.finish(series=()), simulate(to_llvm(program), state, 2.0, series=()))


def test_a_stepper_begins_anew(spring):
    program, state = spring
    one, other = stepper(to_llvm(program), state), stepper(to_llvm(program), state)
    last = [one.step({"motor": 1.0}, 0.1), one.step({"motor": 2.0}, 0.1)][-1]
    other.step({"motor": 5.0}, 1.0)
    assert other.reset(state).q.tobytes() == state.q.tobytes()
    again = [other.step({"motor": 1.0}, 0.1), other.step({"motor": 2.0}, 0.1)][-1]
    assert (again.q.tobytes(), again.v.tobytes()) == (last.q.tobytes(), last.v.tobytes())


# refusals


REFUSED = (
    ({"until": -1.0}, "cannot end"),
    ({"until": np.inf}, "cannot end"),
    ({"parameters": {"q": 1.0}}, "parameter"),
    ({"parameters": {"k": np.nan}}, "needs a finite value"),
    ({"inputs": {"k": 1.0}}, "input"),
    ({"inputs": {"motor": np.inf}}, "must be finite"),
    ({"stop": "B"}, "event"),
    ({"stop": {"B": 1.0}}, "coordinate"),
    ({"every": [0.5, 3.0]}, "outside the run"),
    ({"every": [0.5, 0.25]}, "finite and increase"),
    ({"every": 1e-9}, "records"),
    ({"rtol": -1.0}, "rtol"),
    ({"method": "rk4"}, "fixed step"),
    ({"method": "euler"}, "method"),
    ({"series": ("heat",)}, "series"),
    ({"on_failure": "shrug"}, "on_failure"),
    ({"max_steps": 3}, "not enough"),
)


@pytest.mark.parametrize(("wrong", "said"), REFUSED)
def test_what_was_refused_first_is_refused_later_in_the_same_words(spring, wrong, said):
    program, state = spring
    kernel = to_llvm(program)
    good = simulate(kernel, state, 2.0)
    with pytest.raises(LiaisonError) as first:
        simulate(to_llvm(program), state, **({"until": 2.0} | wrong))
    for _ in range(2):
        with pytest.raises(type(first.value)) as later:
            simulate(kernel, state, **({"until": 2.0} | wrong))
        assert str(later.value) == str(first.value)
        assert said in str(later.value)
        assert_same(simulate(kernel, state, 2.0), good)


def test_states_are_looked_at_each_time(spring):
    program, state = spring
    kernel = to_llvm(program)
    simulate(kernel, state, 1.0)
    with pytest.raises(SimulationError, match="'A' = nan, not finite"):
        simulate(kernel, state.changed({"A": np.nan}), 1.0)
    with pytest.raises(SimulationError, match="2 numbers in q"):
        simulate(kernel, State(0.0, [1, 2], [0]), 1.0)
    named = {"q": (Label("B", "rad"),), "v": state.labels["v"]}
    with pytest.raises(SimulationError, match=r"q is \(B\)"):
        simulate(kernel, State(0.0, state.q, state.v, named), 1.0)
    pair = plain("pair", lambda q, v: [-q[0], -q[1]], 2)
    huge = start(pair, [1e308, 1e308], [0, 0])  # whose sum is no number
    assert simulate(to_llvm(pair), huge, 1e-3).q[0].tolist() == [1e308, 1e308]


# what is kept


def test_a_kernel_remembers_so_many_choices_and_places(spring):
    program, state = spring
    kernel = to_llvm(program)
    runs = [simulate(kernel, state, 0.1, rtol=10.0**-k / 3) for k in range(2, 2 + CHOICES)]
    assert len({*map(len, runs)}) > 1
    for k in range(3 * CHOICES):
        simulate(kernel, state, 0.1, rtol=1e-6 * (1 + k))
    assert len(kernel.prepared) <= CHOICES
    with ThreadPoolExecutor(WORKPLACES + 4) as pool:
        list(pool.map(lambda _: simulate(kernel, state, 0.1), range(100)))
    assert all(len(x._free) <= WORKPLACES for x in kernel.prepared.values())


def test_formulas_of_a_run_are_compiled_once(spring):
    program, state = spring
    kernel = to_llvm(program)
    given = {"inputs": {"motor": sin(3 * TIME)}, "stop": {"A": 0.5}}
    first, second = (Run(kernel, state, 1.0, **given).plan.added for _ in range(2))
    other = Run(kernel, state, 1.0, inputs={"motor": sin(2 * TIME)}).plan.added
    assert first is second
    assert first is not None
    assert other is not first


LOOP = """
import gc, sys
import liaison
for _ in range(3):
    liaison.simulate(sys.argv[1], until=0.01)
gc.collect()
gc.disable()
liaison.simulate(sys.argv[1], until=0.01)
print(gc.collect())
"""


def test_a_run_from_a_text_leaves_nothing_to_collect(examples):
    """Kernel and prepared runs refer to each other: a loop over models would grow until then.

    In a process of its own: models of other tests may leave the cache during the fourth run.
    """
    done = started(
        [sys.executable, "-c", LOOP, str(examples / "pendulum.lsd")], capture_output=True
    )
    assert int(done.stdout) < 100
