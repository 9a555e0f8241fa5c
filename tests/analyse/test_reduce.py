"""Equations in independent velocities against equations with multipliers, and what refuses."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.analyse import reduce
from liaison.equations import newton_euler, reduced, transformed
from liaison.errors import DerivationError, NamingError, SimulationError
from liaison.expr import evaluate, symbol
from liaison.model.describe import coordinate, holonomic, imposed, time
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import assemble, span
from liaison.units import Label
from samples import some


def terms(mechanism):
    """M, G, f, γ, ν as functions of t, q, v."""
    kernel = to_numpy(lower(newton_euler(span(mechanism))))
    layout = kernel.program.entry("terms").layout

    def at(q, v, t=0.0):
        parts = np.split(kernel("terms", t, q=q, v=v), np.cumsum([n for _, n in layout])[:-1])
        found = dict(zip([name for name, _ in layout], parts, strict=True))
        n = len(v)
        return found | {"M": found["M"].reshape(n, n), "G": found["G"].reshape(-1, n)}

    return at


def with_multipliers(found):
    """v̇ from M v̇ − Gᵀ λ = f, G v̇ = γ, by least squares: redundant rows do not matter."""
    M, G = found["M"], found["G"]
    system = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([found["f"], found["gamma"]])
    return np.linalg.lstsq(system, right, rcond=1e-9)[0][: len(M)]


def of(reduction, values):
    """The entries of the independent velocities."""
    names = [label.name for label in reduction.state.labels["v"]]
    return values[[names.index(name) for name in reduction.independent]]


def check_along(reduction, reference, times, rtol=1e-7):
    """u̇ equals the reference's at every instant of the motion; closures and their rates hold."""
    q, v = reduction.follow(times)
    for t, position, speed in zip(times, q, v, strict=True):
        found = reference(position, speed, t)
        u = of(reduction, speed)
        expected = of(reduction, with_multipliers(found))
        scale = np.max(np.abs(expected)) + 1.0
        assert reduction.acceleration(position, u, t) == pytest.approx(expected, abs=rtol * scale)
        assert np.max(np.abs(found["phi"]), initial=0.0) < 1e-7  # followed, never projected
        assert np.max(np.abs(found["G"] @ speed - found["nu"]), initial=0.0) < 1e-7


LINKAGES = ["four_bar", "slider_crank", "bennett", "sarrus", "goldberg", "bricard_line",
            "double_cardan", "three_upu"]  # fmt: skip


@pytest.mark.parametrize("name", some(LINKAGES, 4))
def test_the_acceleration_is_that_with_multipliers_all_along_the_motion(name, examples):
    given = liaison.read(examples / f"{name}.lsd")
    reduction = reduce(given, order=130, primes=1)
    assert reduction.size == reduction.mobility.finite[0]
    check_along(reduction, terms(given), np.linspace(0, 0.3, 4))


REGULAR = ["belt_drive", "bicycle", "cam", "differential", "door", "double_wishbone", "saliere",
           "rolling_ball", "triangle_flat", "excavator", "leg", "planetary_gear", "quarter_car",
           "satellite", "stewart", "stewart_welded", "triangle"]  # fmt: skip


@pytest.mark.parametrize("name", some(REGULAR, 9))
def test_every_other_example_starts_with_the_acceleration_that_multipliers_give(name, examples):
    given = liaison.read(examples / f"{name}.lsd")
    reduction = reduce(given, primes=1)
    q, v = reduction.state.q, reduction.state.v
    expected = of(reduction, with_multipliers(terms(given)(q, v)))
    found = reduction.acceleration(q, reduction.start())
    assert found == pytest.approx(expected, abs=1e-9 * (1 + np.max(np.abs(expected))))


@pytest.mark.parametrize("name", some(["antenna_mesh", "antenna_double"], 1))
def test_on_a_non_reduced_component_it_is_that_of_the_mechanism_made_reduced(name, examples):
    """Said outright that each side stays parallel to itself, the closures have full rank again.

    Without that, multipliers find another acceleration: on the variety the closures leave one
    direction too many.
    """
    given = liaison.read(examples / f"{name}.lsd")
    reduction = reduce(given, primes=1)
    assert reduction.equations.deflated
    assert reduction.size == reduction.mobility.finite[0] == reduction.mobility.first_order - 1
    labels = {x.name for x in span(given).position_labels()}
    # the last hinge of a side that ends at the ground is read from the ground
    back = {j.name for j in given.joints[2::3] if j.predecessor.body == "ground"}
    turns = [(j.name, -1 if j.name in back else 1) for j in given.joints]
    sides = [turns[k : k + 3] for k in range(0, len(turns), 3)]
    rows = [
        holonomic(f"side {k}", sum(sign * coordinate(x) for x, sign in side))
        for k, side in enumerate(sides)
        if labels.issuperset(x for x, _ in side)
    ]
    straight = replace(given, constraints=tuple(rows))
    check_along(reduction, terms(straight), np.linspace(0, 0.4, 3), rtol=1e-6)
    plain = with_multipliers(terms(given)(reduction.state.q, reduction.state.v))
    right = reduction.acceleration(reduction.state.q, reduction.start())
    assert np.max(np.abs(of(reduction, plain) - right)) > 1e-3 * np.max(np.abs(right))


def test_psi_is_the_parametrization_of_mobility(examples):
    given = liaison.read(examples / "slider_crank.lsd")
    reduction = reduce(given, primes=1)
    told = reduction.mobility.psi.rates(1.0)
    v = reduction.velocity(reduction.state.q, [1.0])
    for label, speed in zip(reduction.state.labels["v"], v, strict=True):
        assert speed == pytest.approx(told[label.name.rstrip("'")], abs=1e-12)


def test_other_coordinates_can_be_independent(examples):
    given = liaison.read(examples / "four_bar.lsd")
    by_crank, by_rocker = reduce(given, ["A"], primes=1), reduce(given, ["D"], primes=1)
    assert (by_crank.independent, by_rocker.independent) == (("A'",), ("D'",))
    q, v = by_crank.state.q, by_crank.state.v
    found = [r.velocity(q, of(r, v)) for r in (by_crank, by_rocker)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_imposed_motions_drive_what_is_left(examples):
    """v = Ψ u + ψ with ψ ≠ 0: the crank is turned, the rest of the excavator's arm is free."""
    given = liaison.read(examples / "double_pendulum.lsd")
    first = given.coordinates[0]
    driven = replace(given, constraints=(imposed(first, 0.3 * time * time),), starts=())
    reduction = reduce(driven, primes=1)
    assert reduction.size == 1
    assert np.max(np.abs([float(x.value) for x in reduction.equations.psi.values()
                          if x.op == "const"])) == 1.0  # fmt: skip
    check_along(reduction, terms(driven), np.linspace(0, 0.5, 3))


@pytest.mark.parametrize(("name", "size"), [("rolling_disc", 3), ("chaplygin", 2)])
def test_relations_of_speeds_take_velocities_away(name, size, examples):
    given = liaison.read(examples / f"{name}.lsd")
    reduction = reduce(given, primes=1)
    assert reduction.size == size
    check_along(reduction, terms(given), np.linspace(0, 0.3, 3))


def test_a_basis_given_as_formulas_serves_as_well(examples):
    """Ψ by elimination, handed in again as formulas: β is now found by differentiation."""
    given = liaison.read(examples / "four_bar.lsd")
    equations = newton_euler(span(given))
    state = assemble(span(given))
    values = dict(zip(equations.symbols.q, state.q, strict=True)) | {equations.symbols.t: 0.0}
    values |= dict(zip(equations.symbols.p, equations.defaults["p"], strict=True))
    first = reduced(equations, values, ["A"])
    second = transformed(equations, first.psi, [Label("w", "rad/s")])
    for told in (first, second):
        here = values | {told.u[0]: 7.0}
        told_rates = evaluate([*told.velocity, *told.bias, *told.accelerations()], here)
        if told is first:
            expected = told_rates
        else:
            assert told_rates == pytest.approx(expected, rel=1e-11)


def test_the_statement_is_one_line_for_each_freedom(examples):
    mechanism = liaison.read(examples / "four_bar.lsd")
    told = reduce(mechanism, primes=1).equations
    (line,) = told.statement()
    values = {told.t: 0.0, told.u[0]: 2.0, told.udot[0]: 3.0}
    assert line.name == "A'"
    state = reduce(mechanism, primes=1).state
    values |= dict(zip(told.q, state.q, strict=True))
    values |= {symbol(x.name): float(x.value) for x in mechanism.parameters}
    mass, force, left = evaluate([told.M[0, 0], told.force[0], line.left], values)
    assert left == pytest.approx(3 * mass, rel=1e-12)
    assert evaluate(line.right, values) == force


def test_where_branches_meet_there_are_no_such_equations(examples):
    flat = dict.fromkeys(("C1", "C2", "C3", "C4"), 0)
    with pytest.raises(DerivationError, match="no single branch"):
        reduce(liaison.read(examples / "saliere.lsd"), at=flat, primes=1)


def test_coordinates_that_cannot_be_independent_are_refused(examples):
    given = liaison.read(examples / "four_bar.lsd")
    with pytest.raises(DerivationError, match="cannot be independent"):
        reduce(given, ["A", "B"], primes=1)
    with pytest.raises(NamingError, match="'X'"):
        reduce(given, ["X"], primes=1)


@pytest.mark.parametrize(("name", "apart"), some([("four_bar", 1e-6), ("antenna_mesh", 1e-6)], 1))
def test_a_reduced_run_keeps_energy_and_closures_and_is_near_that_with_multipliers(
    name, apart, examples
):
    """The mesh too: what its closures leave unsaid is added to the rows that have multipliers."""
    given = liaison.read(examples / f"{name}.lsd")
    run = reduce(given, primes=1).simulate(0.5, every=0.1)
    total = run["energy"].sum(axis=1)
    assert np.ptp(total) < 1e-8  # of some J, at rtol 1e-10
    assert np.max(np.abs(run.series["position_residual"].values)) < 1e-9
    with_rows = liaison.simulate(given, until=0.5, every=0.1)
    assert np.max(np.abs(run.q - with_rows.q)) < apart
    assert run.series["poses"].values.shape[0] == len(run) == 6


def test_a_dead_centre_of_the_independent_coordinate_is_refused(examples):
    """x of a slider crank stands still where crank and rod are in line: at A = π first."""
    reduction = liaison.reduce(examples / "slider_crank.lsd", ["x"], primes=1)
    run = liaison.simulate(examples / "slider_crank.lsd", until=0.1, stop={"A": np.pi})
    with pytest.raises(SimulationError, match="dead centre") as caught:
        reduction.simulate(2.0)
    assert caught.value.t == pytest.approx(run.t[-1], rel=1e-6)
    before = reduction.simulate(0.045, every=0.02)
    truth = liaison.simulate(examples / "slider_crank.lsd", until=0.045, every=0.02, rtol=1e-11)
    np.testing.assert_allclose(before.q, truth.q, atol=1e-7)
    np.testing.assert_allclose(before.t, [0, 0.02, 0.04, 0.045])


def test_events_of_a_reduced_run_are_recorded_and_stop_it(examples):
    path = examples / "slider_crank.lsd"
    run = liaison.simulate(path, until=0.3, every=0.1, rtol=1e-11, atol=1e-12)
    reduction = liaison.reduce(path, primes=1)
    found = reduction.simulate(0.3, every=0.1)
    for name, instants in run.t_events.items():
        np.testing.assert_allclose(found.t_events[name], instants, rtol=1e-7)
    assert run.t_events
    stopped = reduction.simulate(0.3, every=0.1, stop="dead_centre")
    assert stopped.status == "stopped"
    assert stopped.t[-1] == pytest.approx(run.t_events["dead_centre"][0], rel=1e-7)
