"""The sweeps: bodies of one node, unrolled over a tree or told once for each class of nodes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from liaison.equations import newton_euler, sweeps
from liaison.equations.setting import Setting
from liaison.equations.sweeps.articulated import (
    Articulated,
    articulated_body,
    move_articulated,
    of_body,
    solve_symmetric,
)
from liaison.equations.sweeps.recursion import generalized, required_wrenches
from liaison.errors import DerivationError
from liaison.expr import count_operations, evaluate, fingerprint, symbol
from liaison.model import (
    Body,
    Coordinate,
    Fixed,
    Gravity,
    Helical,
    Holonomic,
    Joint,
    Marker,
    Mechanism,
    Parameter,
    Revolute,
    Spring,
)
from liaison.spatial.arrays import array, vector, zeros
from liaison.spatial.plucker import act_force, act_motion_inverse, move_inertia
from liaison.tree import merged, span
from samples import chain, relative_difference, sample
from samples.drawing import values_of

TREES = {"loops": (0, 0), "loads": False, "relations": False, "bodies": (3, 6)}
SOLVED = 1e-10  # relative; states are drawn with cond(M) up to 1e6, so six digits are the solver's
ROUNDING = 1e-13  # of sums and products of moderate numbers


def unrolled(mechanism, *, merge=True):
    """Setting, symbols of τ, and v̇ by articulated bodies."""
    tree = span(mechanism)
    setting = Setting(merged(tree) if merge else tree)
    tau = [symbol(f"tau {j}") for j in range(tree.nv)]
    return setting, tau, articulated_body(setting.kinematics, tau, setting.gravity)


@pytest.mark.parametrize("merge", [True, False], ids=["merged", "with welds"])
@pytest.mark.parametrize("seed", range(8))
def test_articulated_bodies_solve_what_composite_inertias_state(seed, merge):
    drawn = sample(seed, **TREES)
    _, tau, vdot = unrolled(drawn.mechanism, merge=merge)
    equations = newton_euler(span(drawn.mechanism))
    values = values_of(equations, drawn.at(equations))
    given = np.random.default_rng(seed).normal(size=len(tau))
    M = np.zeros((len(tau), len(tau)))
    for (i, j), entry in equations.dynamics.M.items():
        M[i, j] = M[j, i] = evaluate([entry], values)[0]
    h = np.array(evaluate(equations.dynamics.h, values))
    found = evaluate(vdot, values | dict(zip(tau, given.tolist(), strict=True)))
    assert relative_difference(found, np.linalg.solve(M, given - h)) < SOLVED


def test_articulated_bodies_grow_with_the_bodies_and_no_faster():
    counts = [sum(count_operations(unrolled(chain(n))[2]).values()) for n in (8, 16, 24)]
    assert counts[2] - counts[1] == counts[1] - counts[0]


@pytest.mark.parametrize("n", range(1, 7))
def test_symmetric_systems_are_solved_for_vectors_and_matrices(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n))
    D, B, b = half @ half.T + np.eye(n), rng.normal(size=(n, 4)), rng.normal(size=n)
    found = solve_symmetric(array(D), array(B), array(b))
    np.testing.assert_allclose(found[0].astype(float), np.linalg.solve(D, B), rtol=1e-9)
    np.testing.assert_allclose(found[1].astype(float), np.linalg.solve(D, b), rtol=1e-9)


def six_by_six(body):
    return np.block([[body.A, body.B], [body.B.T, body.C]]).astype(float)


def rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def test_a_moved_articulated_inertia_is_the_one_between_moved_motions_and_wrenches():
    rng = np.random.default_rng(3)
    half = rng.normal(size=(6, 6))
    I = half @ half.T
    R, p = rotation(rng), rng.normal(size=3)
    moved = move_articulated(R, p, Articulated(I[:3, :3], I[:3, 3:], I[3:, 3:], np.ones(6)))
    columns = [act_force(R, p, I @ act_motion_inverse(R, p, e)) for e in np.eye(6)]
    np.testing.assert_allclose(six_by_six(moved), np.array(columns).T, atol=ROUNDING * 100)
    np.testing.assert_allclose(moved.wrench, act_force(R, p, np.ones(6)))


def test_a_rigid_body_moves_as_an_articulated_one():
    rng = np.random.default_rng(4)
    half = rng.normal(size=(3, 3))
    inertia = (2.5, rng.normal(size=3), half @ half.T)
    R, p = rotation(rng), rng.normal(size=3)
    moved = move_articulated(R, p, of_body(inertia, zeros(6)))
    told = of_body(move_inertia(R, p, *inertia), zeros(6))
    np.testing.assert_allclose(six_by_six(moved), six_by_six(told), atol=ROUNDING * 100)


def test_a_joint_that_moves_no_inertia_is_refused():
    idle = Body("idle")
    mechanism = Mechanism(
        "idle", (idle,), (Joint("A", Revolute(), Marker("ground"), Marker("idle")),)
    )
    with pytest.raises(DerivationError, match="moves no inertia"):
        unrolled(mechanism)


def test_formulas_of_a_class_do_not_grow_with_the_number_of_nodes():
    few, many = (sweeps(span(chain(n, joints="RPR"))) for n in (12, 90))
    assert few.classes == many.classes == ("Revolute", "Prismatic")
    for a, b in ((few.inverse, many.inverse), (few.forward, many.forward)):
        for one, other in zip(a.sweeps, b.sweeps, strict=True):
            assert list(map(fingerprint, one.formulas)) == list(map(fingerprint, other.formulas))


def test_a_loop_costs_a_node_about_what_unrolling_does():
    one = sweeps(span(chain(20, skew=0.3)))
    looped = sum(sum(count_operations(s.formulas[0]).values()) for s in one.forward.sweeps)
    counts = [sum(count_operations(unrolled(chain(n, skew=0.3))[2]).values()) for n in (10, 20)]
    assert looped == pytest.approx((counts[1] - counts[0]) / 10, rel=0.15)


def test_classes_differ_by_type_own_numbers_and_direction():
    ends = [("a", "ground"), ("b", "a"), ("c", "b"), ("c", "d"), ("e", "d")]
    kinds = [Helical(Fraction(1, 10)), Helical(Fraction(1, 10)), Helical(Fraction(1, 5)),
             Helical(Fraction(1, 5)), Helical(Fraction(1, 10))]  # fmt: skip
    eye = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    bodies = tuple(Body(name, 1, (0, 0, 0), eye) for name in "abcde")
    joints = tuple(
        Joint(f"j{k}", kind, Marker(a), Marker(b))
        for k, (kind, (b, a)) in enumerate(zip(kinds, ends, strict=True))
    )
    found = sweeps(span(Mechanism("screws", bodies, joints)))
    assert found.classes == ("Helical", "Helical", "Helical reversed")
    assert found.nodes[:, 0].tolist() == [0, 0, 1, 2, 0]


def test_what_nodes_share_is_folded_and_what_differs_is_read():
    alike, tapered = (sweeps(span(chain(6, taper=taper))) for taper in (1.0, 0.9))
    assert tapered.constants.size > alike.constants.size
    shared = [
        sum(count_operations(s.inverse.sweeps[0].formulas[0]).values()) for s in (alike, tapered)
    ]
    assert shared[0] < shared[1]


def test_welded_bodies_have_no_sweep_of_their_own():
    mechanism = chain(3)
    tip = Body("tip", 1, (0, 0, 0), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    weld = Joint("weld", Fixed(), Marker("link 3"), Marker("tip"))
    carried = replace(mechanism, bodies=(*mechanism.bodies, tip), joints=(*mechanism.joints, weld))
    assert sweeps(span(carried)).nodes.shape == (3, 6)


def test_inverse_dynamics_unrolled_through_the_bodies_is_m_vdot_plus_h():
    setting = Setting(span(chain(4, joints="RP")))
    vdot = vector(setting.symbols.vdot)
    full = generalized(setting.kinematics, required_wrenches(setting.kinematics, vdot, zeros(3)))
    rest = generalized(setting.kinematics, required_wrenches(setting.kinematics, None, zeros(3)))
    names = [*setting.symbols.q, *setting.symbols.v, *setting.symbols.vdot]
    values = dict(zip(names, np.random.default_rng(0).normal(size=12).tolist(), strict=True))
    still = values | dict.fromkeys(setting.symbols.vdot, 0.0)
    np.testing.assert_allclose(evaluate(full, still), evaluate(rest, values), atol=ROUNDING * 10)
    assert max(abs(np.array(evaluate(full, values)) - evaluate(rest, values))) > 0.1


SPRING = Spring("soft", Coordinate("q1"), 3, 0)
RELATION = Holonomic("tied", symbol("q1") - symbol("q2"))
BACK = Joint("back", Revolute(), Marker("ground"), Marker("link 3"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forces": (Gravity(), SPRING)}, r"has loads \(soft\)"),
        ({"constraints": (RELATION,)}, r"has relations \(tied\)"),
        ({"joints": (*chain(3).joints, BACK)}, r"has joints that close loops \("),
    ],
)
def test_what_looped_sweeps_do_not_know_is_refused(change, message):
    with pytest.raises(DerivationError, match=message):
        sweeps(span(replace(chain(3), **change)))


def test_parameters_take_their_values_and_unknown_ones_are_refused():
    eye = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    body = Body("a", symbol("m"), (0, 0, 0), eye)
    joint = Joint("A", Revolute(), Marker("ground"), Marker("a", eye, (symbol("l"), 0, 0)))
    known = (Parameter("m", 2), Parameter("l"))
    tree = span(Mechanism("pendulum", (body,), (joint,), parameters=known))
    with pytest.raises(DerivationError, match="'l' has no value"):
        sweeps(tree)
    (a, b) = (sweeps(tree, {"l": length}).inverse.sweeps[0].formulas for length in (1.0, 2.0))
    assert fingerprint(a[0]) != fingerprint(b[0])


def test_a_mechanism_that_cannot_move_is_refused():
    weld = Joint("weld", Fixed(), Marker("ground"), Marker("a"))
    with pytest.raises(DerivationError, match="nothing moves"):
        sweeps(span(Mechanism("block", (Body("a"),), (weld,))))
