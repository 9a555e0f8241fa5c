"""Closures of second order: completed where they are so all along, refused where nothing moves."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.equations.start_checks import is_obstructed
from liaison.errors import DerivationError
from liaison.verbs.ready import ready_for
from samples import some

SECOND_ORDER = ["antenna_mesh", "triangle_flat"]
FIRST_ORDER = ["four_bar", "bennett", "bricard_line", "sarrus", "rolling_disc", "pendulum", "cam"]


def plain(mechanism):
    """The equations with the closures as they are, and the start."""
    return liaison.derive(mechanism), liaison.assemble(liaison.span(mechanism))


@pytest.mark.parametrize("name", [*SECOND_ORDER, "shaky_6r", "slider_crank_equal"])
def test_velocities_that_lead_nowhere_are_seen(name, examples):
    assert is_obstructed(*plain(liaison.read(examples / f"{name}.lsd")))


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_redundant_rows_alone_obstruct_nothing(name, examples):
    assert not is_obstructed(*plain(liaison.read(examples / f"{name}.lsd")))


@pytest.mark.parametrize(
    "name", [*SECOND_ORDER, pytest.param("antenna_double", marks=pytest.mark.slow)]
)
def test_completed_rows_have_the_rank_of_the_variety_and_obstruct_nothing(name, examples):
    given = liaison.read(examples / f"{name}.lsd")
    whole = liaison.deflate(given)
    added = [x.name for x in whole.constraints[len(given.constraints) :]]
    assert added == ["second order 1"]
    kernel = liaison.compile(whole)
    state = liaison.assemble(liaison.span(given))
    assert not is_obstructed(liaison.derive(whole), state)
    terms = kernel.call("terms", q=state.q, v=state.v)
    G = terms["G"].reshape(-1, len(state.v))
    rank = np.linalg.matrix_rank(G, tol=1e-6)
    assert len(state.v) - rank == liaison.mobility(given).finite[0]
    assert np.max(np.abs(terms["phi"])) < 1e-12


@pytest.mark.slow
def test_a_run_with_multipliers_is_that_without(examples):
    """Both are right to their tolerance: 1e-10 a step, some hundred steps."""
    given = liaison.read(examples / "antenna_mesh.lsd")
    free = liaison.reduce(given).simulate(1.0, every=0.1, rtol=1e-12)
    run = liaison.simulate(given, until=1.0, every=0.1, rtol=1e-10, atol=1e-12)
    assert np.max(np.abs(run.q - free.q)) < 1e-9
    assert np.max(np.abs(run.v - free.v)) < 1e-9
    assert np.max(np.abs(free.q[-1] - free.q[0])) > 0.1
    lam = liaison.simulate(given, until=1.0, every=0.1, series=("lam",))["lam"]
    assert np.nanmax(np.abs(lam)) < 1e3  # it was 1e7 with rows that are nearly dependent
    assert np.all(np.any(np.isnan(lam), axis=1))  # some are not determined, and masked


@pytest.mark.parametrize("name", some(SECOND_ORDER[::-1], 1))
def test_the_theorems_hold_where_closures_are_of_second_order(name, examples):
    found = liaison.verify(examples / f"{name}.lsd")
    assert found.holds, found.worst
    assert max(x.error for x in found.theorems[:8]) < 1e-12


def test_what_is_shaky_cannot_move(examples):
    path = examples / "shaky_6r.lsd"
    for ask in (liaison.verify, lambda x: liaison.simulate(x, until=0.1)):
        with pytest.raises(DerivationError, match="'shaky 6R' cannot move: its mobility is 0"):
            ask(path)


def test_where_branches_meet_nothing_is_added(examples):
    path = examples / "slider_crank_equal.lsd"
    with pytest.raises(DerivationError, match="no single motion where it is assembled"):
        liaison.deflate(liaison.read(path))
    kernel, _ = ready_for(path, None, None, None)
    assert kernel.program.sizes["nc"] == liaison.compile(path).program.sizes["nc"]


def test_a_regular_mechanism_is_left_as_it_is(examples):
    given = liaison.read(examples / "four_bar.lsd")
    assert liaison.deflate(given) is given


def test_velocities_that_are_not_told_keep_what_was_added(examples):
    """One hinge of the mesh is pushed; the others follow so that the motion goes on."""
    still = replace(liaison.read(examples / "antenna_mesh.lsd"), starts=())
    tight = {"rtol": 1e-10, "atol": 1e-12, "every": 0.005}
    run = liaison.simulate(still, until=0.5, start={"H1'": 0.3, "H4'": -0.1}, **tight)
    assert (run["H1'"][0], run["H4'"][0]) == pytest.approx((0.3, -0.1), abs=1e-15)
    assert np.max(np.abs(run.v[0])) < 1  # least, not far
    assert np.max(run.series["velocity_residual"].values) < 1e-10
    assert liaison.verify(still, run).holds


def test_a_velocity_that_leads_nowhere_is_refused_at_the_start(examples):
    """The flat triangle may turn as a whole; its bars cannot turn against each other."""
    path = examples / "triangle_flat.lsd"
    with pytest.raises(liaison.SimulationError, match="second order 1"):
        liaison.simulate(path, until=0.1, start={"A'": 1.0})
