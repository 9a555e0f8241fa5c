"""Sparse maximal coordinates: loops over tables say and do what written-out equations do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from numpy.testing import assert_allclose

import liaison
from liaison.analyse.along.maximal_run import (
    maximal_ready,
    maximal_run,
    moving_bodies,
    sparse_ready,
)
from liaison.equations.vector.basic_joints import Side, basic_rows
from liaison.errors import DerivationError, NamingError, SimulationError
from liaison.expr import sin, symbol
from liaison.numeric import State
from liaison.simulation import Settings
from liaison.simulation.run import Run
from liaison.tree import assemble, span
from samples import chain, sample, some

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from n_four_bar import n_four_bar

KINDS = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar")
TIGHT = {"rtol": 1e-10, "atol": 1e-12}

ARM = """
gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 2 kg, center = [0.5, 0, 0] m, inertia = [0.01, 0.2, 0.2] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let c = body mass = 1 kg, center = [0.2, 0, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let A = join [0, 0, 2] m @ earth and a with revolute axis = [0, 1, 0] end ;
let B = join [1, 0, 0] m @ a and b with cylindrical axis = [1, 0, 0] end ;
let C = join [0.5, 0, 0] m @ b and c with revolute axis = [0, 0, 1] end ;
apply spring stiffness = 80 N/m, rest = 30 cm end on [0.5, 0, 0] m @ a and [0, 0.4, 0] m @ b ;
apply damper coefficient = 0.2 N*m*s/rad end on C ;
impose B.slide = 0.1 m * sin(3 rad/s * t) ;
start A' = 3 rad/s ; start B.angle' = 2 rad/s ;
"""


def two_kernels(mechanism, state):
    """Loops and written-out code at one state, which does not meet the closures."""
    loops, start = sparse_ready(mechanism, state)
    written, other = maximal_ready(mechanism, state)
    assert_allclose(start.q, other.q, atol=1e-15)
    rng = np.random.default_rng(1)
    q = written("retract", q=start.q, v=start.v, x=1e-3 * rng.normal(size=start.v.size))
    v = start.v + 1e-3 * rng.normal(size=start.v.size)
    return loops, written, {"t": 0.37, "q": q, "v": v}


@pytest.mark.parametrize("seed", some(range(8), 1))
def test_entries_are_those_of_written_out_equations(seed):
    """Loads, relations, imposed motions, kept coordinates; closures left by 1e-3 on purpose."""
    drawn = sample(seed, loops=(0, 1), bodies=(2, 2), kinds=KINDS, closing=KINDS)
    mechanism = replace(drawn.mechanism, starts=())
    tree = span(mechanism)
    at = drawn.at(tree)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    loops, written, here = two_kernels(mechanism, State(0.0, at["q"], at["v"], labels))
    nv, rng = len(here["v"]), np.random.default_rng(2)
    assert loops.program.labels["lam"] == written.program.labels["lam"]
    xi = 1e-2 * rng.normal(size=nv)
    # cond of the constrained system is drawn up to 1e6: ten digits are left of sixteen
    near = {"rtol": 1e-9, "atol": 1e-9}
    for name in ("retract", "rate", "closure", "energy", "poses", "correct_q", "correct_v"):
        ours, theirs = (kernel(name, **here, x=xi) for kernel in (loops, written))
        end = -1 if name in ("rate", "correct_q", "correct_v") else None
        assert_allclose(ours[:end], theirs[:end], **near, err_msg=name)
    ours, theirs = (kernel("forward", **here)[:-1] for kernel in (loops, written))
    size = 1 + np.abs(theirs).max()
    assert_allclose(ours / size, theirs / size, atol=1e-9)
    x = np.concatenate([theirs, np.zeros(100)])
    for name in ("reactions", "motions", "markers"):
        one, other = (kernel.call(name, **here, x=x) for kernel in (loops, written))
        for key, told in one.items():
            assert_allclose(told, other[key], rtol=1e-9, atol=1e-9 * size, err_msg=f"{name} {key}")


def test_a_run_is_that_of_written_out_equations():
    """A spring, a damper, an imposed slide; the drive of the slide and the wrenches agree."""
    mechanism = liaison.read(ARM)
    one, other = (maximal_run(mechanism, until=0.6, every=0.1, sparse=x, **TIGHT) for x in (1, 0))
    for label in (*one.labels["q"], *one.labels["v"]):  # the other keeps what its start names
        assert_allclose(one[label.name], other[label.name], atol=1e-6, err_msg=label.name)
    rows = [other.series["lam"].axes["row"].index(x) for x in one.series["lam"].axes["row"]]
    drives = other.series["lam"].values[:, rows]
    assert_allclose(one.series["lam"].values, drives, atol=1e-6 * np.abs(drives).max())
    for name in ("energy", "poses", "motions"):
        ours, theirs = one.series[name].values, other.series[name].values
        assert_allclose(ours, theirs, atol=1e-6 * (1 + np.abs(theirs).max()), err_msg=name)
    for joint in "ABC":
        assert_allclose(one.reaction(joint).values, other.reaction(joint).values, atol=1e-4)
    assert one.series["position_residual"].values.max() < 1e-13
    assert liaison.joint_motion(mechanism, one, "B").values[:, 3] == pytest.approx(
        0.1 * np.sin(3 * one.t), abs=1e-12
    )


def test_parameters_and_matrices():
    """Mass given by name; attitudes by matrices: the same motion."""
    text = ARM.replace("mass = 2 kg", "mass = m").replace(
        "gravity", "parameter m = 2 kg ;\ngravity", 1
    )
    mechanism = liaison.read(text)
    heavy = {"parameters": {"m": 3.0}, "until": 0.3, "every": 0.1, **TIGHT}
    own = maximal_run(mechanism, sparse=True, **heavy)
    matrix = maximal_run(mechanism, sparse=True, attitude=liaison.RotationMatrix(), **heavy)
    with pytest.raises(NamingError, match="'k'"):
        maximal_run(mechanism, sparse=True, until=0.3, parameters={"k": 3.0})
    plain = liaison.simulate(mechanism, until=0.3, every=0.1, parameters={"m": 3.0}, **TIGHT)
    poses = plain.series["poses"].values
    assert_allclose(own.series["poses"].values, poses, atol=1e-7)
    assert_allclose(matrix.series["poses"].values, poses, atol=1e-7)


def test_redundant_loops_of_thin_rods_run_by_loops():
    """Thirty four-bars in space: each has three rows too many, rods have no inertia about x."""
    mechanism = n_four_bar(30)
    start = assemble(span(mechanism), A0=-0.4)
    own = liaison.simulate(mechanism, state=start, until=0.2, every=0.1, **TIGHT)
    run = maximal_run(mechanism, start, until=0.2, every=0.1, **TIGHT)  # more than 20 bodies
    assert run.v.shape[1] == 6 * 61
    assert_allclose(run.series["poses"].values, own.series["poses"].values, atol=1e-7)
    energy = run.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) < 1e-6 * np.abs(run.series["energy"].values).max()


def sides(mechanism, moving, joint):
    """The two sides of a joint, told at their mass centers in the ground's axes."""
    found = []
    for marker in (joint.predecessor, joint.successor):
        R, p, twist = moving[marker.body]
        body = next(x for x in mechanism.bodies if x.name == marker.body)
        c = np.array(body.com, dtype=float)
        axes = np.array([[float(x) for x in row] for row in marker.R])
        arm = R @ (np.array(marker.p, dtype=float) - c)
        speed = R @ (twist[3:] + np.cross(twist[:3], c))
        found.append(Side(p + R @ c, speed, R @ twist[:3], arm, R @ axes))
    return found


def superlu(mechanism, moving):
    """Accelerations of mass centers and Ω̇ by the basic constraints and SciPy's sparse LU."""
    names = [body.name for body in mechanism.bodies[1:]]
    n, rows, right, force = len(names), [], [], []
    M = []
    for body in mechanism.bodies[1:]:
        R, _, twist = moving[body.name]
        I = R @ np.array(body.inertia, dtype=float) @ R.T
        omega = R @ twist[:3]
        M.append(scipy.sparse.block_diag([float(body.mass) * np.eye(3), I]))
        force += [0, 0, -9.81 * float(body.mass), *-np.cross(omega, I @ omega)]
    G = scipy.sparse.lil_array((5 * n, 6 * n))
    for joint in mechanism.joints:
        for row in basic_rows(joint.type, *sides(mechanism, moving, joint)):
            for body, v, turn in zip((joint.predecessor.body, joint.successor.body), row.J[:2],
                                     row.J[2:], strict=True):  # fmt: skip
                if body in names:
                    k = 6 * names.index(body)
                    G[[len(rows)], k : k + 6] = [*map(float, v), *map(float, turn)]
            rows.append(row)
            right.append(float(row.gamma))
    K = scipy.sparse.block_array([[scipy.sparse.block_diag(M), G.T], [G, None]]).tocsc()
    found = scipy.sparse.linalg.splu(K).solve(np.array([*force, *right]))
    return found[: 6 * n].reshape(n, 6)


@pytest.mark.parametrize("n", some((80, 300), 1))
def test_superlu_finds_the_same_accelerations_from_other_rows(n):
    """Rows of the basic constraints, numbers only, no formula of ours in between."""
    mechanism = chain(n, skew=1.0)
    tree = span(mechanism)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    state = State(0.0, np.linspace(-0.5, 0.5, n), np.linspace(1, -1, n) / n, labels)
    moving = moving_bodies(tree, state)
    kernel, start = sparse_ready(mechanism, state)
    forward = kernel("forward", q=start.q, v=start.v)
    told = kernel.call("motions", q=start.q, v=start.v, x=forward)
    found = superlu(mechanism, moving)
    for k, body in enumerate(mechanism.bodies[1:]):
        omega, _, alpha, a = np.split(told[body.name], 4)
        c = moving[body.name][0] @ np.array(body.com, dtype=float)
        center = a + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
        assert_allclose([*center, *alpha], found[k], atol=1e-8 * np.abs(found).max())


@pytest.mark.parametrize("n", some((150, 1000), 1))
def test_many_bodies_run(n):
    """Energy is kept and joints hold over the first steps of a long chain of skew hinges."""
    mechanism = chain(n, skew=1.0)
    run = maximal_run(mechanism, until=0.005, step=1e-3, series=("energy", "closure"))
    energy = run.series["energy"].values
    assert np.ptp(energy.sum(axis=1)) < 1e-9 * np.abs(energy).max()
    # places reach a kilometer: rounding of a place is 1e-13
    assert run.series["position_residual"].values.max() < 1e-12
    assert run.series["velocity_residual"].values.max() < 1e-13
    assert run.counts["steps"] == 5


def test_a_run_is_taken_up_from_its_checkpoint():
    mechanism = liaison.read(ARM)
    kernel, start = sparse_ready(mechanism)
    settings = Settings(step=1e-2)
    whole = Run(kernel, start, 0.2, settings).finish(series=())
    first = Run(kernel, start, 0.2, settings)
    first.go(7)
    again = Run(*sparse_ready(mechanism), 0.2, settings)
    again.restore(first.checkpoint())
    assert np.array_equal(again.finish(series=()).q, whole.q)


def test_what_loops_do_not_know_is_refused(examples):
    mechanism = liaison.read(ARM)
    with pytest.raises(SimulationError, match="'radau' needs entries"):
        maximal_run(mechanism, until=1, sparse=True, method="radau")
    massless = ARM.replace(
        "mass = 1 kg, center = [0.2, 0, 0] m, inertia = [0.01, 0.1, 0.1]",
        "mass = 0 kg, inertia = [0, 0, 0]",
    )
    with pytest.raises(DerivationError, match="'c' has no mass"):
        maximal_run(liaison.read(massless), until=1, sparse=True)


def test_what_loops_do_not_know_is_written_out_where_nobody_asked(monkeypatch):
    """Many bodies and an implicit method, or one without mass: the run is there all the same."""
    monkeypatch.setattr("liaison.analyse.along.maximal_run.MANY", 3)
    mechanism = liaison.read(ARM)
    by_size = maximal_run(mechanism, until=0.05, step=0.01)
    assert by_size.v.shape[1] == 18 + 3  # B and C are spoken of
    assert maximal_run(mechanism, until=0.05, step=0.01, method="radau").success


def test_inputs_outputs_and_stops():
    text = ARM + "input effort in N*m ; apply motor torque = effort end on A ; output twice = 2*A ;"
    mechanism = liaison.read(text)
    given = {"inputs": {"effort": 3 * sin(5 * symbol("t"))}, "stop": {"A": 0.8}, **TIGHT}
    one, other = (maximal_run(mechanism, until=2, sparse=x, **given) for x in (True, False))
    assert one.status == other.status == "stopped"
    assert one.t[-1] == pytest.approx(other.t[-1], abs=1e-9)
    assert one.series["outputs"].values[-1, 0] == pytest.approx(1.6, abs=1e-9)


@pytest.mark.parametrize("name", ["rolling_disc", "bicycle"])
def test_what_rolls_and_keeps_its_attitude(name, examples):
    """Rows of velocities, outputs that speak of a free body's place: as in its own coordinates."""
    mechanism = liaison.read(examples / f"{name}.lsd")
    run = maximal_run(mechanism, until=0.3, every=0.1, sparse=True, **TIGHT)
    own = liaison.simulate(mechanism, until=0.3, every=0.1, **TIGHT)
    assert_allclose(run.series["poses"].values, own.series["poses"].values, atol=1e-7)
    ours, theirs = run.series["outputs"].values, own.series["outputs"].values
    assert_allclose(ours, theirs, atol=1e-7 * (1 + np.abs(theirs).max()))
    assert run.series["position_residual"].values.max() < 1e-13
