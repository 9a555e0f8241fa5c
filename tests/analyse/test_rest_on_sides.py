"""Rest on contacts: gaps closed by forces that push, friction within its cone; nothing moves."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import liaison
from liaison.analyse import equilibrium
from liaison.analyse.rest.equilibrium import least
from liaison.cli import app
from liaison.errors import SimulationError

BLOCK = """
name = "block" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter stiff = 0 N/m ; parameter f = 0.3 ;
input push = 0 N ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
apply motor force = -stiff*X.z end on X.z ;
apply motor force = push - 1 N/m*X.x end on X.x ;
let floor = contact gap = X.z, slip = X.x', friction = f end ;
"""


def test_a_block_falls_on_the_floor_and_its_spring_draws_it_to_the_middle():
    found = liaison.equilibrium(BLOCK, start={"X.z": 1.3, "X.x": 0.2})
    assert found.state.q == pytest.approx([0, 0], abs=1e-9)
    assert found.contacts["floor"] == (pytest.approx(2 * 9.81), "N")
    assert found.is_stable is None
    assert found.run["modes.floor"] == 1


def test_friction_holds_it_where_it_begins_up_to_its_bound():
    """1 N/m × x against f m g = 5.886 N."""
    found = liaison.equilibrium(BLOCK, start={"X.x": 5.8})
    assert found["X.x"] == 5.8
    assert found.contacts["floor: sliding"][0] == pytest.approx(5.8)
    assert liaison.equilibrium(BLOCK, start={"X.x": 6.0})["X.x"] == pytest.approx(0, abs=1e-9)
    pushed = liaison.equilibrium(BLOCK, start={"X.x": 0.0}, inputs={"push": 3.0})
    assert pushed["X.x"] == 0.0
    assert pushed.contacts["floor: sliding"][0] == pytest.approx(-3.0)
    loose = liaison.equilibrium(BLOCK, parameters={"f": 0.0}, inputs={"push": 3.0})
    assert loose["X.x"] == pytest.approx(3.0)


@pytest.mark.parametrize("kind", ["stable", "nearest"])
def test_a_spring_presses_on_the_floor_or_lifts_off(kind):
    raised = BLOCK.replace("gap = X.z", "gap = X.z + 3 m")
    above = liaison.equilibrium(raised, parameters={"stiff": 10.0}, kind=kind)
    assert above["X.z"] == pytest.approx(-1.962)
    assert above.is_stable
    on = liaison.equilibrium(raised, parameters={"stiff": 5.0}, kind=kind)
    assert on["X.z"] == pytest.approx(-3.0)
    assert on.contacts["floor"][0] == pytest.approx(19.62 - 15)


TRACK = """
name = "track" ;
gravity = [0, 0, -9.81] m/s^2 ;
let bead = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and bead with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let track = contact gap = X.z - 0.1 m*cos(X.x/(1 m)) end ;
start X.x = 0.0 m ; start X.z = 0.1 m ;
"""


def test_from_a_crest_it_goes_down_unless_the_nearest_is_asked_for():
    assert liaison.equilibrium(TRACK, kind="nearest")["X.x"] == 0.0
    low = liaison.equilibrium(TRACK)
    assert abs(low["X.x"]) == pytest.approx(np.pi, abs=1e-6)
    assert low["X.z"] == pytest.approx(-0.1)
    assert low.contacts["track"][0] == pytest.approx(9.81)


def test_a_block_that_begins_inside_comes_out():
    found = liaison.equilibrium(BLOCK, start={"X.z": -0.3})
    assert found["X.z"] == pytest.approx(0, abs=1e-12)


DIE = """
name = "die" ;
gravity = [0, 0, -9.81] m/s^2 ;
let die = body mass = 5 g, inertia = 5 g*(16 mm)^2/6 end ;
let F = join earth and die with free end ;
let table = contact die and earth with box
  size = [16, 16, 16] mm, surface = 0 m, friction = 0.3 end ;
"""


def test_a_die_lies_on_a_face_from_any_attitude():
    """Four corners carry a quarter of its weight each, whichever face it comes to lie on."""
    kernel, rng = liaison.compile(DIE), np.random.default_rng(3)
    first = liaison.assemble(liaison.span(liaison.read(DIE)))
    for _ in range(6):
        attitude = rng.normal(size=4)
        q = [0, 0, 0.15, *attitude / np.linalg.norm(attitude)]
        found = equilibrium(kernel, liaison.State(0.0, q, np.zeros(6), first.labels))
        assert found["F.z"] == pytest.approx(8e-3, abs=1e-12)
        pushes = sorted(x for row, (x, _) in found.contacts.items() if "sliding" not in row)
        assert pushes == pytest.approx([0] * 4 + [5e-3 * 9.81 / 4] * 4, rel=1e-5)
        run = liaison.simulate(kernel, found.state, until=0.3)
        assert np.abs(run.q - found.state.q).max() < 1e-9


RESTING = [
    "contact/box_on_hills", "contact/hopping_leg", "contact/marble_in_bowl",
    "reference/ball_on_table", "reference/block_on_incline", "reference/point_on_incline",
    "reference/slider_crank_clearance", "contact/ball_joint",
]  # fmt: skip


@pytest.mark.parametrize("name", RESTING)
def test_what_rests_stays(examples, name):
    """A run from an equilibrium goes nowhere, and its forces are those of the equilibrium."""
    path = examples / f"{name}.lsd"
    found = liaison.equilibrium(path)
    assert found.residual < 1e-9
    run = liaison.simulate(path, found.state, until=0.5, every=0.1)
    assert np.abs(run.q - found.state.q).max() < 1e-8
    for row, (force, _) in found.contacts.items():
        assert run[f"contacts.{row}"] == pytest.approx(force, abs=1e-4), row


def test_corners_of_a_box_carry_its_weight(examples):
    found = liaison.equilibrium(examples / "reference" / "block_on_incline.lsd")
    normal = sum(x for name, (x, _) in found.contacts.items() if "sliding" not in name)
    along = sum(x for name, (x, _) in found.contacts.items() if "sliding x" in name)
    assert normal == pytest.approx(2 * 9.81 * np.cos(np.radians(10)), rel=1e-9)
    assert along == pytest.approx(-2 * 9.81 * np.sin(np.radians(10)), rel=1e-6)


def test_what_slides_on_is_refused_with_what_would_do(examples):
    with pytest.raises(SimulationError, match="no equilibrium with the contacts") as refused:
        liaison.equilibrium(examples / "reference" / "cylinder_on_incline.lsd")
    assert refused.value.status == "no equilibrium"
    assert "simulate with damping" in refused.value.hint


def test_the_command_tells_forces_of_contacts(examples):
    path = str(examples / "reference" / "point_on_incline.lsd")
    said = CliRunner().invoke(app, ["equilibrium", path])
    assert "rests on contacts" in said.stdout
    told = json.loads(CliRunner().invoke(app, ["equilibrium", path, "--json"]).stdout)
    assert told["contacts"]["foot"] == pytest.approx(2 * 9.81 * np.cos(np.radians(10)))
    assert told["is_stable"] is None


def test_the_shortest_vector_beyond_planes():
    A = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    assert least(A, np.array([1.0, -5.0, 0.0])) == pytest.approx([1, 0])
    assert least(A, np.array([1.0, 4.0, 9.0])) == pytest.approx([4.5, 4.5])
    assert least(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None
