"""Seven ways to solve the constrained system say the same, or say why they do not apply."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

import liaison
from liaison.analyse.along.maximal_run import maximal_ready
from liaison.analyse.rest.solutions import accelerations, compare_solutions
from liaison.errors import ModelError, NamingError
from liaison.numeric.constrained import METHODS, Partition, Unsolvable, solve_udu, udu
from samples import some

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOPS = ["four_bar", "slider_crank", "bennett", "rolling_disc", "cam", "planetary_gear", "stewart"]
ALWAYS = ["null_space", "pseudo_inverse", "partition", "projector", "proximal"]
NEEDS_ROWS = ["augmented", "schur"]


def system(nv, nc, redundant, seed):
    """Random M > 0, G of rank nc with `redundant` more rows, f, and γ that does not contradict."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(nv, nv))
    M = A @ A.T + nv * np.eye(nv)
    G = rng.normal(size=(nc, nv))
    G = np.vstack([G, rng.normal(size=(redundant, nc)) @ G])
    return M, G, rng.normal(size=nv), G @ rng.normal(size=nv)


@given(st.integers(1, 8), st.integers(0, 3), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_independent_rows_every_way_solves_the_system(nv, more, seed):
    nc = max(0, nv - 1 - more)
    M, G, f, gamma = system(nv, nc, 0, seed)
    K = np.block([[M, -G.T], [G, np.zeros((nc, nc))]])
    expected = np.linalg.solve(K, np.concatenate([f, gamma]))
    limit = 1e-12 * np.linalg.cond(K)
    for name, method in METHODS.items():
        found = method(M, G, f, gamma)
        scale = np.abs(expected).max()
        assert np.abs(found.a - expected[:nv]).max() <= limit * scale, name
        assert np.abs(found.lam - expected[nv:]).max(initial=0) <= limit * scale, name
        assert found.rank == nc


@pytest.mark.parametrize("seed", range(5))
def test_dependent_rows_leave_accelerations_and_the_shortest_multipliers(seed):
    M, G, f, gamma = system(7, 3, 2, seed)
    independent = METHODS["augmented"](M, G[:3], f, gamma[:3])
    shortest = np.linalg.pinv(G.T) @ (M @ independent.a - f)
    for name in ALWAYS:
        found = METHODS[name](M, G, f, gamma)
        np.testing.assert_allclose(found.a, independent.a, rtol=1e-8, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(found.lam, shortest, rtol=1e-7, atol=1e-8, err_msg=name)
        assert found.rank == 3, name
    for name in NEEDS_ROWS:
        with pytest.raises(Unsolvable, match="2 of 5 rows depend"):
            METHODS[name](M, G, f, gamma)


def test_velocities_without_inertia_need_ways_that_do_not_invert_it():
    M, G, f, gamma = system(4, 2, 0, 3)
    M[0] = M[:, 0] = 0.0
    K = np.block([[M, -G.T], [G, np.zeros((2, 2))]])
    expected = np.linalg.solve(K, np.concatenate([f, gamma]))[:4]
    for name in ("augmented", "null_space", "partition", "proximal"):
        np.testing.assert_allclose(METHODS[name](M, G, f, gamma).a, expected, rtol=1e-7, atol=1e-8)
    for name in ("schur", "pseudo_inverse", "projector"):
        with pytest.raises(Unsolvable, match="without inertia of their own are velocity 0"):
            METHODS[name](M, G, f, gamma)


@pytest.mark.parametrize("name", METHODS)
def test_a_free_motion_without_inertia_is_refused_by_all(name):
    M, G = np.diag([1.0, 0.0]), np.array([[1.0, 0.0]])
    with pytest.raises(Unsolvable, match="inerti"):
        METHODS[name](M, G, np.ones(2), np.zeros(1))


def test_udu_is_what_it_says():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    U, D = udu(A)
    np.testing.assert_allclose(U @ np.diag(D) @ U.T, A, atol=1e-13)
    np.testing.assert_allclose(U, np.triu(U))
    b = rng.normal(size=(6, 2))
    np.testing.assert_allclose(solve_udu((U, D), b), sla.solve(A, b), atol=1e-12)


def test_a_partition_is_kept_until_it_no_longer_serves():
    """x = cos s, y = sin s: dy/ds serves until s = π/2, then x must be chosen."""
    ways, chosen = Partition(limit=1e3), []
    for s in np.linspace(0.3, 1.5707, 200):
        G = np.array([[np.cos(s), np.sin(s)]])
        found = ways.solve(np.eye(2), G, np.array([0.0, -1.0]), np.zeros(1))
        chosen.append(found.chosen)
        np.testing.assert_allclose(G @ found.a, 0, atol=1e-12)
    assert ways.choices <= 2
    assert len(set(chosen)) == ways.choices


@pytest.mark.parametrize("name", some(LOOPS, 5))
def test_the_ways_agree_on_mechanisms(name):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    state = liaison.assemble(liaison.span(mechanism))
    report = compare_solutions(liaison.compile(mechanism), state)
    applied = [way for way in report.ways if not way.why_not]
    assert {way.method for way in applied} >= {"null_space", "partition", "proximal"}
    for way in applied:
        assert way.missed <= 1e-8, way
        assert way.agreement <= 1e-7, way
        assert way.multipliers <= 1e-6, way
    assert report.rank <= report.rows
    assert "null_space" in str(report)


def test_ways_that_need_independent_rows_refuse_the_others():
    mechanism = liaison.read(EXAMPLES / "bennett.lsd")
    state = liaison.assemble(liaison.span(mechanism))
    report = compare_solutions(liaison.compile(mechanism), state)
    assert report.rank == 2  # three angles of the tree, one freedom
    assert report.rows > report.rank
    assert {way.method for way in report.ways if way.why_not} == set(NEEDS_ROWS)


def test_every_body_by_itself_the_four_bar_is_redundant_and_says_what_refuses():
    """Three bodies, four hinges of five rows, three angles read by starts: 21, 23 and 20."""
    report = liaison.solutions(EXAMPLES / "four_bar.lsd", maximal=True)
    assert (report.velocities, report.rows, report.rank) == (21, 23, 20)
    why = {way.method: way.why_not for way in report.ways if way.why_not}
    assert {*why} == {"augmented", "schur", "pseudo_inverse", "projector"}
    assert "3 of 23 rows depend" in why["augmented"]
    assert "free crank.wx" in why["projector"]  # rods are thin: no inertia about their own axes
    for way in report.ways:
        assert way.agreement <= 1e-9, way
        assert way.why_not or way.missed <= 1e-12, way


def test_rows_that_hold_whatever_moves_are_told():
    report = liaison.solutions(EXAMPLES / "four_bar.lsd")
    assert (report.rows, report.rank, len(report.vanished)) == (2, 2, 3)
    assert "C: moment about x" in str(report)
    assert report.to_dict()["vanished"] == [*report.vanished]


@pytest.mark.parametrize("path", ["four_bar", "stewart", "reference/andrews"])
def test_all_seven_ways_solve_the_shown_mechanisms(path):
    report = liaison.solutions(EXAMPLES / f"{path}.lsd")
    assert len(report.ways) == 8
    for way in report.ways:
        assert not way.why_not, way
        assert max(way.agreement, way.multipliers, way.missed) <= 1e-10, way
        assert way.seconds > 0, way


def test_a_refusal_names_velocities_as_the_mechanism_does():
    mechanism = liaison.read(EXAMPLES / "four_bar.lsd")
    kernel, state = maximal_ready(mechanism)
    with pytest.raises(Unsolvable, match=r"crank\.wx"):
        accelerations(kernel, state, method="projector")


def test_a_way_by_name():
    mechanism = liaison.read(EXAMPLES / "slider_crank.lsd")
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    expected = kernel.call("forward", q=state.q, v=state.v)["vdot"]
    np.testing.assert_allclose(accelerations(kernel, state).a, expected, rtol=1e-8, atol=1e-8)
    with pytest.raises(NamingError, match="null_space"):
        accelerations(kernel, state, method="nul_space")


def test_contradictory_rows_are_named():
    """Two drives on one axis that ask for different motions."""
    mechanism = liaison.read(EXAMPLES / "pendulum.lsd")
    axis = mechanism.joints[0].coordinates[0]
    drives = [liaison.imposed(axis, k * liaison.time**2, name=f"drive {k}") for k in (1, 2)]
    twice = replace(mechanism, constraints=(*mechanism.constraints, *drives))
    kernel = liaison.compile(twice)
    state = liaison.State(0.0, np.zeros(1), np.zeros(1), kernel.program.labels)
    with pytest.raises(ModelError, match="contradict"):
        accelerations(kernel, state)
