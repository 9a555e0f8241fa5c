"""Verbs that look at one smooth motion never pretend about unilateral constraints."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
import liaison as doors
from liaison.equations.formalisms.virtual_power import translation
from liaison.errors import DerivationError, LiaisonError, SimulationError
from liaison.program import lower
from liaison.program.gpu.to_ptx import to_ptx

BLOCK = """
name = "block" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter stiff = {stiff} ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
apply motor force = -stiff*X.z end on X.z ;
apply motor force = -1 N/m*X.x end on X.x ;
let floor = contact [0, 0, -10] cm @ block and earth with point friction = 0.3 end ;
start X.z = {z} m ;
"""


def block(z: float = 1.0, stiff: str = "0 N/m"):
    return liaison.read(BLOCK.format(z=z, stiff=stiff))


def test_an_open_contact_is_no_matter():
    raised = block(stiff="5 N/m")
    free = replace(raised, contacts=())
    np.testing.assert_allclose(doors.linearize(raised).A, doors.linearize(free).A, atol=1e-15)
    assert doors.solutions(raised).ways[0].missed < 1e-12
    assert doors.verify(raised, until=0.2).holds
    run = liaison.simulate(raised, until=0.2, every=0.01)
    assert doors.sensitivities(raised, run, ["stiff"])["X.z", "stiff"][-1] != 0
    assert np.abs(doors.inverse_dynamics(raised, run, ["X.z"])["X.z"]).max() < 1e-4


@pytest.mark.parametrize("verb", [doors.linearize, doors.solutions])
def test_a_closed_one_is_refused_by_name(verb):
    with pytest.raises(
        SimulationError, match=rf"'floor' .* is closed at t = 0 s; {verb.__name__} does not account"
    ):
        verb(block(z=0.1))


def test_friction_of_its_own_rubs_always():
    rubbing = liaison.read("""
        let slide = body mass = 1 kg, inertia = 1 g*m^2 end ;
        let S = join earth and slide with prismatic(s) axis = [1, 0, 0] end ;
        let pad = apply friction dry = 1 N, smoothing = 0 m/s end on S.s ;
    """)
    with pytest.raises(SimulationError, match=r"'pad' .* has friction at t = 0 s; linearize"):
        doors.linearize(rubbing)


@pytest.mark.parametrize("verb", ["sensitivities", "inverse_dynamics"])
def test_a_run_that_met_the_floor_is_refused(verb):
    falling = block()
    run = liaison.simulate(falling, until=0.6, every=0.01)
    assert [event.what for event in run.events][:1] == ["impact"]
    more = {"inverse_dynamics": (["X.z"],)}.get(verb, ())
    with pytest.raises(
        SimulationError, match=rf"'floor' .*\(impact at .*; {verb} does not account"
    ):
        getattr(doors, verb)(falling, run, *more)


def test_a_saved_run_is_refused_as_well(tmp_path):
    falling = block()
    run = liaison.simulate(falling, until=0.6, every=0.01)
    run.save(tmp_path / "run.nc")
    again = liaison.load(tmp_path / "run.nc")
    assert [(x.name, x.t, x.what) for x in again.events] == [
        (x.name, x.t, x.what) for x in run.events
    ]
    np.testing.assert_array_equal(again.events[0].before, run.events[0].before)
    with pytest.raises(SimulationError, match="impact"):
        doors.sensitivities(falling, again)


@pytest.mark.parametrize(
    "file", ["contact/box_on_hills", "contact/skis", "contact/bearing", "chaplygin_unilateral"]
)
def test_theorems_hold_with_the_forces_of_contacts(examples, file):
    found = doors.verify(examples / f"{file}.lsd", until=1.0)
    assert found.holds, found.worst
    assert max(x.error for x in found.theorems[1:8]) < 1e-11


def test_a_wrong_force_of_a_contact_breaks_the_theorems_and_friction_takes_energy():
    falling = block()
    run = liaison.simulate(falling, until=0.6, start={"X.x'": 3.0}, every=1e-3)
    found = doors.verify(falling, run)
    assert found.holds, found.worst
    power = dict(zip(found.powers.axes["load"], found.powers.values.T, strict=True))
    assert power["floor: sliding"].min() < -1
    assert np.abs(power["floor"]).max() < 1e-6
    forces = run.series["contacts"]
    wrong = replace(forces, values=forces.values * 1.01)
    other = replace(run, series={**run.series, "contacts": wrong})
    assert not doors.verify(falling, other).holds
    bare = replace(run, series={k: x for k, x in run.series.items() if k != "contacts"})
    with pytest.raises(SimulationError, match=r"'floor' .*impact at .*verify without the series"):
        doors.verify(falling, bare)


def test_drives_do_not_lead_through_the_floor():
    laws = {"X.z": 1 - liaison.time, "X.x": 0}
    assert doors.kinematic_run(block(), laws, until=0.8).success
    with pytest.raises(SimulationError, match=r"is closed at t = 0\.9 s; kinematic_run"):
        doors.kinematic_run(block(), laws, until=1.0)


@pytest.mark.parametrize("verb", [liaison.reduce, liaison.parametrizations])
def test_other_velocities_are_refused_where_the_author_said_it(verb):
    with pytest.raises(DerivationError, match=rf"'floor' .*; {verb.__name__} does not") as refused:
        verb(block())
    assert refused.value.place.line == 9


@pytest.mark.parametrize(
    "options",
    [
        {"parametrization": "cartesian", "treatment": {"X": "eliminate"}},
        {"parametrization": "full_joint", "treatment": {}},
    ],
)
def test_treated_equations_do_not_drop_it(options):
    with pytest.raises(DerivationError, match=r"'floor' .* in fewer velocities do not carry"):
        liaison.derive(block(), **options)


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("balance", lambda m: liaison.balance(liaison.span(m), ["block"])),
        ("motorized", lambda m: liaison.motorized(liaison.span(m))),
        (
            "virtual_power",
            lambda m: liaison.virtual_power(liaison.derive(m), ["block"], translation((1, 0, 0))),
        ),
    ],
)
def test_balances_of_bodies_are_refused(verb, call):
    with pytest.raises(DerivationError, match=rf"'floor' .*; {verb} does not account"):
        call(block())


def test_marches_on_a_gpu_are_refused():
    program = lower(liaison.derive(block()))
    with pytest.raises(LiaisonError, match=r"'floor' .*; a march on a GPU") as refused:
        to_ptx(program, "march")
    assert "simulate_batch" in refused.value.hint


def test_differences_of_runs_tell_what_sensitivities_refuse():
    """Before the block meets the floor, both tell how its spring changes where it is."""
    falling = block()
    run = liaison.simulate(falling, until=0.6, every=0.01)
    with pytest.raises(SimulationError) as refused:
        doors.sensitivities(falling, run, ["stiff"])
    assert "simulate_batch" in refused.value.hint
    runs = liaison.simulate_batch(falling, until=0.3, parameters={"stiff": [-0.5, 0.5]})
    slope = (runs["X.z"][1, -1] - runs["X.z"][0, -1]) / 1.0
    free = liaison.simulate(falling, until=0.3, every=0.3 / 200)
    smooth = doors.sensitivities(falling, free, ["stiff"])["X.z", "stiff"][-1]
    assert slope == pytest.approx(smooth, rel=1e-3)


def test_answers_about_the_free_mechanism_say_so():
    found = liaison.mobility(block())
    assert found.finite == (2, 2)
    assert "without 'floor', which is unilateral." in str(found)
    modes = liaison.assembly_modes(block(), at={"X.x": 0, "X.z": -1})
    assert "without 'floor', which is unilateral" in str(modes)
    compared = liaison.compare(block(), ["lagrange", "kane"], timed=False)
    assert compared.all_equal
    assert str(compared).endswith("Without 'floor', which is unilateral.")
    for told in (
        liaison.vector_equations(block(), "vector"),
        liaison.vector_equations(block(), "scalar"),
        liaison.generation(liaison.span(block(), exact=True)),
    ):
        assert str(told).endswith("Without 'floor', which is unilateral.")
