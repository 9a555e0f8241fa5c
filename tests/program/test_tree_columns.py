"""Derivatives of trees by sweeps: the same as by differentiating the graph, for every joint."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.errors import DerivationError
from liaison.expr import symbol
from liaison.model import (
    Actuator,
    Body,
    Coordinate,
    Damper,
    Distance,
    Free,
    Gravity,
    Input,
    Joint,
    Marker,
    Mechanism,
    Revolute,
    Spring,
    Universal,
)
from liaison.program import lower, to_llvm, to_numpy
from liaison.program.derivatives import derivatives
from liaison.program.derivatives.columns import Columns
from liaison.program.derivatives.stages import Stages
from liaison.program.derivatives.tree_columns import runs
from liaison.tree import span
from samples import some
from samples.chains import chain
from samples.drawing import sample

CLOSE = 1e-10
"""Beside the largest entry: rounding times the condition of the drawn mass matrices."""


@pytest.fixture
def always_staged(monkeypatch):
    """Sweeps, whatever they cost."""
    monkeypatch.setattr(derivatives, "STAGED_WEIGHT", 1e-9)
    monkeypatch.setattr(derivatives, "LEAST_STAGED", 0)


def program_of(mechanism):
    return lower(newton_euler(span(mechanism)))


def turned(angle):
    c, s = math.cos(angle), math.sin(angle)
    return [[1, 0, 0], [0, c, -s], [0, s, c]]


def humanoid(legs=2, knees=3, *, base=Free, loads=(), inputs=(), neck=Revolute):
    """A trunk that carries limbs of some hinges each, and a head on a joint of its own."""
    bodies = [Body("trunk", 3.0, (0.1, 0.0, 0.2), ((0.4, 0, 0.01), (0, 0.3, 0), (0.01, 0, 0.2)))]
    joints = [Joint("root", base(), Marker("ground"), Marker("trunk"))]
    for leg in range(legs):
        carrier = "trunk"
        for k in range(knees):
            name = f"limb {leg} {k}"
            tensor = ((0.02, 0, 0), (0, 0.04, 0.001), (0, 0.001, 0.05))
            bodies.append(Body(name, 0.8, (0.3, 0.02, 0.0), tensor))
            on = Marker(carrier, turned(0.6 + k + leg), (0.2, 0.1 * leg, 0.3))
            joints.append(Joint(f"h{leg}{k}", Revolute(), on, Marker(name)))
            carrier = name
    bodies.append(Body("head", 0.5, (0.0, 0.0, 0.1), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.01))))
    joints.append(Joint("neck", neck(), Marker("trunk", turned(0.3), (0, 0, 0.5)), Marker("head")))
    return Mechanism(
        "humanoid", tuple(bodies), tuple(joints), forces=(Gravity(), *loads), inputs=inputs
    )


@cache
def large():
    """A robot of 19 velocities."""
    return program_of(humanoid(legs=3, knees=4))


def state_of(program, seed=0):
    rng, sizes = np.random.default_rng(seed), program.sizes
    q = rng.uniform(-1, 1, sizes["nq"])
    for k, label in enumerate(program.labels["q"]):
        if label.name.endswith(".qw"):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return {"q": q, "v": rng.uniform(-1, 1, sizes["nv"])}


def blocks_of(program, given, entry="d_forward"):
    nv = program.sizes["nv"]
    called = to_llvm(program).call(entry, **given)
    return {name: np.asarray(x).reshape(nv, -1) for name, x in called.items() if x.size}


def check_same(program, given, entry="d_forward"):
    """Machine code against the formulas, which come from differentiating the graph."""
    assert isinstance(program.entry(entry).columns, Stages)
    expected = to_numpy(program)(entry, **given)
    found = to_llvm(program, cache=False, optimize=0)(entry, **given)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * np.abs(expected).max())


@pytest.mark.parametrize("seed", some([3, 8, 27, *range(30, 50)], 3))
def test_random_trees_of_all_joints_and_loads(seed, always_staged):
    """Of the drawn seeds each joint type is there, reversed ones and angles as attitudes too."""
    x = sample(seed, bodies=(2, 3), loops=(0, 0), relations=False, floating=bool(seed % 2))
    program = program_of(x.mechanism)
    if program.sizes["nv"] < derivatives.FEWEST:
        pytest.skip("too few velocities")
    check_same(program, x.at(program))


def test_a_humanoid_with_springs_dampers_and_inputs(always_staged):
    loads = (
        Spring("spring", Coordinate("h01"), 4.0, 0.2),
        Damper("damper", Coordinate("h10"), 0.7),
        Spring("rope", Distance(Marker("head"), Marker("limb 0 1")), 3.0, 0.1),
        Actuator("motor", Coordinate("h00"), symbol("a") * symbol("h10")),
    )
    inputs = (Input("a", "N", 1.5), Input("b", "N"))
    program = program_of(humanoid(knees=2, loads=loads, inputs=inputs, neck=Universal))
    given = state_of(program)
    check_same(program, given)
    rate = blocks_of(program, given, "d_rate")
    assert isinstance(program.entry("d_rate").columns, Stages)
    assert rate.keys() == {"vdot_q", "vdot_v"}
    forward = blocks_of(program, given)
    for name, found in rate.items():
        np.testing.assert_allclose(found, forward[name], rtol=0, atol=1e-13 * np.abs(found).max())


def test_springs_on_the_first_body_are_no_gravity(always_staged):
    """A free first body is answered by itself only where no load depends on it."""
    rope = Spring("rope", Distance(Marker("ground"), Marker("trunk")), 3.0, 0.1)
    program = program_of(humanoid(knees=1, loads=(rope,)))
    check_same(program, state_of(program))


def test_ground_and_several_trees(always_staged):
    program = program_of(humanoid(knees=2, base=Revolute))
    check_same(program, state_of(program))
    one, other = chain(3, skew=0.4), humanoid(legs=1, knees=1)
    more = tuple(body for body in other.bodies if body.name != "ground")
    both = Mechanism(
        "both", (*one.bodies, *more), (*one.joints, *other.joints), forces=(Gravity(),)
    )
    program = program_of(both)
    check_same(program, state_of(program))


def test_invariances_of_a_floating_robot():
    """No place changes anything; an attitude turns gravity, which all bodies share."""
    program = large()
    assert isinstance(program.entry("d_forward").columns, Stages)
    given = state_of(program)
    found = blocks_of(program, given)
    slides = [k for k, x in enumerate(program.labels["v"]) if x.name.startswith("root.v")]
    turns = [k for k, x in enumerate(program.labels["v"]) if x.name.startswith("root.w")]
    assert len(slides) == len(turns) == 3
    assert not found["vdot_q"][:, slides].any()
    assert not np.delete(found["vdot_q"], slides, axis=0)[:, turns].any()
    assert np.abs(found["vdot_q"][np.ix_(slides, turns)]).max() > 1.0
    n = program.sizes["nv"]
    M = to_llvm(program)("mass_matrix", q=given["q"]).reshape(n, n)
    np.testing.assert_allclose(found["vdot_tau"] @ M, np.eye(n), atol=1e-11)


@pytest.mark.slow
def test_two_methods_agree_in_machine_code(monkeypatch):
    """Sweeps over the tree against columns differentiated on the graph."""
    program = large()
    given = state_of(program)
    swept = blocks_of(program, given)
    monkeypatch.setattr(derivatives, "STAGED_WEIGHT", 1e9)
    program = program_of(humanoid(legs=3, knees=4))
    assert isinstance(program.entry("d_forward").columns, Columns)
    for name, expected in blocks_of(program, given).items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(swept[name], expected, rtol=0, atol=CLOSE * scale)


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (chain(8, skew=0.7), Stages),
        (chain(12, branching=12.0, skew=0.7), Columns),
        (chain(7, branching=2.0, skew=0.7), Columns),
        (humanoid(legs=4, knees=4), Stages),
    ],
)
def test_fewer_operations_decide(mechanism, kind):
    assert isinstance(program_of(mechanism).entry("d_forward").columns, kind)


@pytest.mark.parametrize("mechanism", [chain(8, skew=0.7), chain(9, branching=2.0, skew=0.5)])
def test_columns_are_counted_before_they_are_derived(mechanism, monkeypatch):
    equations = newton_euler(span(mechanism))
    counted = derivatives.Derivatives(equations, None, None).columns_cost(("q", "v", "tau", "u"))
    monkeypatch.setattr(derivatives, "STAGED_WEIGHT", 1e9)
    derived = lower(equations).operations("d_forward").total()
    assert 0.7 * derived < counted < 1.4 * derived


def test_sweeps_take_a_fraction_of_the_operations():
    """A robot of 19 velocities: the numbers of operations that performance.md rests on."""
    program, equations = large(), newton_euler(span(humanoid(legs=3, knees=4)))
    columns = derivatives.Derivatives(equations, None, None).columns_cost(("q", "v", "tau", "u"))
    assert program.operations("d_forward").total() < 0.6 * columns


def test_a_joint_that_moves_no_mass_is_rejected(always_staged):
    robot = humanoid()
    bodies = [
        replace(x, mass=0, inertia=((0,) * 3,) * 3) if x.name == "head" else x for x in robot.bodies
    ]
    with pytest.raises(DerivationError, match="inertia"):
        program_of(replace(robot, bodies=tuple(bodies))).entry("d_forward")


def test_runs_are_limbs():
    tree = span(humanoid())
    listed = runs(newton_euler(tree).dynamics.swept.kinematics.tree)
    assert listed == [(0, 6), (6, 3), (9, 3), (12, 1)]
    assert runs(newton_euler(span(chain(11))).dynamics.swept.kinematics.tree) == [(0, 8), (8, 3)]


def test_nothing_is_written_beyond_the_results():
    kernel = to_llvm(large())
    given = state_of(kernel.program)
    size, work = kernel.out_size("d_forward"), kernel.work_size("d_forward")
    whole, space = np.full(size + 16, 7.5), np.full(work + 16, 7.5)
    arrays = [given["q"], given["v"], np.zeros(1), np.zeros(1), np.zeros(1)]
    for skip in range(8):  # wherever the workspace lies
        kernel.function("d_forward")(0.0, *arrays, whole[8:], space[skip : skip + work])
        assert np.all(whole[:8] == 7.5)
        assert np.all(whole[8 + size :] == 7.5)
        assert np.all(space[skip + work :] == 7.5)
        assert np.array_equal(whole[8 : 8 + size], kernel("d_forward", **given))
