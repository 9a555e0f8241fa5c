"""Assembling in compiled code: the states of the interpreter, refusals in its words, quick."""

import math
import pickle
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import AssemblyError, NamingError, SimulationError
from liaison.numeric import State
from liaison.simulation import assembly as compiled_assembly
from liaison.tree import assemble, span
from liaison.verbs.assembling import Assembling, Wanted
from liaison.verbs.ready import compiled, equations_at

EXAMPLES = Path(__file__).parents[2] / "examples"

SAME = 1e-12
"""Both iterate alike; rounding differs."""

LINKAGE = """
name = "linkage" ;
parameter a = 10 cm ; parameter b = 30 cm ; parameter c = 35 cm ; parameter d = 45 cm ;
let crank = body mass = 0.2 kg, center = [a/2, 0, 0], inertia = 1 g*m^2 end ;
let coupler = body mass = 0.5 kg, center = [b/2, 0, 0], inertia = 4 g*m^2 end ;
let rocker = body mass = 0.6 kg, center = [c/2, 0, 0], inertia = 6 g*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [a, 0, 0] @ crank and coupler with revolute end ;
let C = join [b, 0, 0] @ coupler and [c, 0, 0] @ rocker with revolute end ;
let D = join [d, 0, 0] @ earth and rocker with revolute end ;
start A = 90 deg ;
start A' = 10 rad/s ;
output rocker_angle = D in deg ;
"""


def made(text) -> Assembling:
    tree = span(liaison.read(text))
    whole, equations = equations_at(tree, assemble(tree))
    return Assembling(tree, compiled(whole, equations))


@pytest.fixture(scope="module")
def linkage() -> Assembling:
    return made(LINKAGE)


def close_to(x: State, y: State) -> bool:
    return bool(np.allclose(x.q, y.q, rtol=0, atol=SAME) and np.allclose(x.v, y.v, atol=SAME))


@pytest.mark.parametrize(
    "name", ["bennett", "stewart", "planetary_gear", "double_wishbone", "bicycle", "triangle_flat"]
)
def test_examples_start_where_the_interpreter_starts_them(name):
    examples = made(EXAMPLES / f"{name}.lsd")
    examples._interpreted = None  # no way around the compiled loop
    assert close_to(examples.state(), assemble(examples.tree))


def test_lengths_starts_and_guesses_vary(linkage):
    tree = linkage.tree
    guess = {"B": -0.9, "D": 2.2}
    for values in ({"a": 0.11}, {"a": 0.11, "b": 0.29, "c": 0.36, "d": 0.44}):
        for start in ({}, {"A": 1.3, "A'": -2.0}):
            alone = assemble(tree, values, guess=guess, **start)
            assert close_to(linkage.state(start, guess, values), alone)


def test_a_guess_chooses_the_branch(linkage):
    """The two ways to put the linkage together are mirrored about the line from B to D."""
    up, down = (linkage.state({}, {"B": x, "D": y}) for x, y in ((-0.9, 2.0), (-2.5, -2.5)))
    assert up["A"] == down["A"] == math.pi / 2
    assert math.sin(up["D"]) > 0 > math.sin(down["D"])
    tip = [np.array([0.45 + 0.35 * math.cos(x["D"]), 0.35 * math.sin(x["D"])]) for x in (up, down)]
    pin = np.array([0.0, 0.1])
    for x in tip:
        assert np.linalg.norm(x - pin) == pytest.approx(0.30, abs=1e-12)


def test_a_guess_of_a_speed_is_moved_least(linkage):
    """Without starts of speeds the least change of the guess meets G v = 0."""
    tree = span(liaison.read(LINKAGE.replace("start A' = 10 rad/s ;", "guess A' = 10 rad/s ;")))
    v = assemble(tree).v
    t = linkage.state().v / np.linalg.norm(linkage.state().v)  # the tangent
    assert np.allclose(v, t * (t[0] * 10.0), atol=1e-12)


def test_many_rows_are_the_single_ones(linkage):
    rng = np.random.default_rng(1)
    lengths = {"a": 0.1 * rng.uniform(0.9, 1.1, 20), "d": 0.45 * rng.uniform(0.95, 1.05, 20)}
    wanted = Wanted({"A": np.linspace(0, 6, 20), "A'": 3.0}, {"D": 2.0}, lengths)
    states = linkage.states(wanted, 20)
    for k in (0, 7, 19):
        one = wanted.row(k)
        alone = assemble(linkage.tree, one.parameters, guess=one.guess, **one.start)
        assert close_to(states[k], alone)


def test_relations_of_parameters_are_followed_in_every_row():
    geared = made(
        """
        name = "gears" ;
        parameter n = 5 ;
        let w1 = body mass = 1 kg, inertia = 1 kg*m^2 end ;
        let w2 = body mass = 1 kg, inertia = 1 kg*m^2 end ;
        let X = join earth and w1 with revolute end ;
        let Y = join earth and w2 with revolute end ;
        couple X and Y with gear teeth = [n, 1] end ;
        start X = 40 rad ; start X' = 1 rad/s ;
        """
    )
    states = geared.states(Wanted({}, {}, {"n": np.array([5.0, -7.0, 31.0])}), 3)
    assert [x["Y"] for x in states] == pytest.approx([-200.0, 280.0, -1240.0], abs=1e-9)
    assert [x["Y'"] for x in states] == pytest.approx([-5.0, 7.0, -31.0], abs=1e-9)


def test_refusals_have_the_words_of_the_interpreter(linkage):
    for start in ({"A": 0.3, "B": -1.0, "D": 0.1}, {"A'": 1, "D'": 40}):
        with pytest.raises(AssemblyError) as alone:
            assemble(linkage.tree, **start)
        with pytest.raises(AssemblyError) as many:
            linkage.state(start)
        assert str(many.value) == str(alone.value)
    with pytest.raises(NamingError, match="'E'"):
        linkage.state({"E": 1.0})
    with pytest.raises(NamingError, match="'e'"):
        linkage.state(parameters={"e": 1.0})


def test_a_start_that_cannot_be_held_with_the_others_wins(linkage):
    """B = −0.95 excludes the mechanism's own A = 90°, which then only begins the search."""
    state = linkage.state({"B": -0.95}, {"D": 2.2})
    assert state["B"] == -0.95
    assert state["A"] == pytest.approx(math.pi / 2, abs=0.2)


def test_a_linkage_with_four_lengths_takes_a_fifth_of_a_millisecond(linkage):
    """The least of many: other work on the machine does not count."""
    seconds = []
    for k in range(40):
        begun = time.process_time()
        linkage.state({}, {"B": -0.9, "D": 2.2}, {"a": 0.1 + 1e-4 * k})
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 2e-4


def test_runs_and_analyses_of_a_mechanism_assemble_in_compiled_code(linkage, monkeypatch):
    """The interpreter of closures is not asked; states are those of a kernel, bit for bit."""
    mechanism = liaison.read(LINKAGE)
    monkeypatch.setattr(import_module("liaison.tree.assemble"), "_Problem", None)
    expected = linkage.state({"A": 1.1})
    run = liaison.simulate(mechanism, until=0.01, start={"A": 1.1})
    assert run.q[0].tolist() == expected.q.tolist()
    assert run.v[0].tolist() == expected.v.tolist()
    assert liaison.stepper(mechanism, start={"A": 1.1}).state.q.tolist() == expected.q.tolist()
    batch = liaison.simulate_batch(mechanism, until=0.01, start={"A": [1.1]}, only_series=())
    assert batch[0].q[0] == pytest.approx(expected.q, abs=SAME)
    assert liaison.forward_dynamics(mechanism, {"A": 1.1}).shape == (3,)
    assert liaison.linearize(mechanism, start={"A": 1.1}).A.shape == (2, 2)
    assert liaison.equilibrium(mechanism).state.q.shape == (3,)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange_reduced"])
def test_runs_of_a_kernel_assemble_in_compiled_code(formalism, monkeypatch):
    """One kernel, other lengths and starts: the runs of the mechanism, without the interpreter."""
    mechanism = liaison.read(LINKAGE)
    kernel = liaison.compile(mechanism, formalism)
    cases = [
        {"parameters": {"a": 0.1 * x, "c": 0.35 / x}, "start": {"A": x}, "guess": {"D": 2.0}}
        for x in (0.9, 1.0, 1.1)
    ]
    expected = [liaison.simulate(mechanism, until=0.05, rtol=1e-11, **x) for x in cases]
    monkeypatch.setattr("liaison.verbs.assembling.assemble", None)
    for case, run in zip(cases, expected, strict=True):
        again = liaison.simulate(kernel, until=0.05, rtol=1e-11, **case)
        assert np.max(np.abs(again.q[0] - run.q[0])) < SAME
        assert np.max(np.abs(again.q[-1] - run.q[-1])) < 1e-8
        assert again.meta["parameters"]["a"] == case["parameters"]["a"]
    copied = liaison.simulate(pickle.loads(pickle.dumps(kernel)), until=0.05, rtol=1e-11, **case)
    assert copied.q.tolist() == again.q.tolist()


def test_an_interpreted_kernel_assembles_too():
    kernel = liaison.compile(LINKAGE, back_end="numpy")
    state = kernel.origin.state(kernel, {"A": 1.0}, None, None)
    assert close_to(state, assemble(span(liaison.read(LINKAGE)), A=1.0))


def test_the_loop_as_plain_python_gives_the_same():
    """One iteration of the loops on the arrays of a compiled assembler."""
    one = made(LINKAGE)
    assembler = one._assembler
    begin, fixed = one._begin(Wanted({}, {}, {}))
    q, held = one.starts.positions(begin, begin.held, fixed)
    v, speeds = one.starts.speeds(begin, begin.held)
    u, p = (one._defaults[x].copy() for x in "up")
    masks = np.array([held, speeds], dtype=np.int64).ravel()
    status = np.zeros(1, dtype=np.int64)
    compiled_assembly.assemble_each(
        assembler._work, 1, 1, masks, q, v, u, 0, p, 4, status, assembler._scratch
    )
    assert status[0] == compiled_assembly.CLOSED
    assert close_to(State(0.0, q, v, one.state().labels), one.state())


def test_a_batch_assembles_with_lengths_that_vary():
    """Hundreds of closed loops in one batch; each is the four-bar of its own lengths."""
    rng = np.random.default_rng(0)
    lengths = {"a": 0.1 * rng.uniform(0.9, 1.1, 300), "b": 0.3 * rng.uniform(0.98, 1.02, 300)}
    mechanism = liaison.read(LINKAGE)
    liaison.simulate_batch(mechanism, until=0.001, parameters={"a": [0.1, 0.11]})  # compiled now
    begun = time.process_time()
    runs = liaison.simulate_batch(mechanism, until=0.001, guess={"D": 2.2}, parameters=lengths)
    assert time.process_time() - begun < 2.0  # interpreted, the assembly alone takes longer
    A, D = runs["A"][:, 0], runs["D"][:, 0]
    tip = np.array([0.45 + 0.35 * np.cos(D), 0.35 * np.sin(D)])
    pin = lengths["a"] * np.array([np.cos(A), np.sin(A)])
    assert np.linalg.norm(tip - pin, axis=0) == pytest.approx(lengths["b"], abs=1e-12)


def test_lists_of_a_batch_have_one_length():
    with pytest.raises(SimulationError, match="5 of start 'A', 3 of parameter 'a'"):
        liaison.simulate_batch(
            LINKAGE, until=0.1, start={"A": np.linspace(0, 1, 5)}, parameters={"a": [0.1] * 3}
        )


def test_a_batch_starts_joints_that_are_cut():
    """C is cut, and keeps its coordinate where a start names it."""
    runs = liaison.simulate_batch(LINKAGE, until=0.01, start={"A": [0.2, 0.4]}, guess={"C": 1.0})
    assert runs["C"].shape == (2, 2)
