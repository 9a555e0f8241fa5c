"""The change drills: eight things, each added from one file and then used in everything.

The files lie in `drills/`; nothing else of the package is touched. Each thing is registered for one
test, then used in everything that the package has for things of its kind, and forgotten again.
"""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.cli import main
from liaison.equations import FORMALISMS
from liaison.equations.completion import plain_dynamics
from liaison.equations.vector.basic_joints import Side, basic_rows
from liaison.errors import (
    LiaisonError,
    ModelError,
    NamingError,
    ProgramError,
    SimulationError,
    TextError,
)
from liaison.formats import read_lsd
from liaison.model import JOINT_TYPES
from liaison.model.contacts import PAIRS, SHAPE_KINDS
from liaison.model.loads import LOAD_KINDS
from liaison.model.relations import RELATION_KINDS
from liaison.program import to_numpy
from liaison.program.back_ends import BACK_ENDS, BackEnd
from liaison.program.lower import lower
from liaison.simulation.steps.rungekutta import TABLEAUX
from liaison.verbs.given import is_conservative
from liaison.view.drawing import drawing
from liaison.view.links import links
from liaison.view.symbols import symbols

DRILLS = Path(__file__).parent / "drills"
EIGHT = {
    "joint type": "pin_in_slot", "load": "cubic_spring", "relation": "elliptic_gear",
    "contact shape": "torus", "integrator": "bogacki_shampine", "formalism": "maggi",
    "back end": "julia", "verb": "census",
}  # fmt: skip


def test_eight_things_are_one_file_each(capsys):
    with capsys.disabled():
        for thing, name in EIGHT.items():
            lines = len((DRILLS / f"{name}.py").read_text(encoding="utf-8").splitlines())
            print(f"\ndrill: {thing:<14} drills/{name}.py, {lines} lines", end="")
        print()


PENDULUM = """
name = "pendulum in a slot" ;
gravity = [0, -9.81, 0] m/s^2 ;
let bar = body mass = 2 kg, center = [0, -1/2, 0] m, inertia = [1/6, 0, 1/6] kg*m^2 end ;
let P = join earth and bar with pin_in_slot end ;
apply spring stiffness = 30 N/m end on P.slide ;
start P.slide = 10 cm ;
start P.angle = 30 deg ;
"""

# a crank whose pin slides in a slot of a rocker: one freedom, and the slot is where it is cut
SHAPER = """
name = "quick return" ;
gravity = [0, -9.81, 0] m/s^2 ;
let crank = body mass = 1 kg, center = [1/5, 0, 0] m, inertia = [1/100, 1/50, 1/50] kg*m^2 end ;
let rocker = body mass = 2 kg, center = [1/2, 0, 0] m, inertia = [1/100, 1/6, 1/6] kg*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [0, -1, 0] m @ earth and rocker with revolute end ;
let P = join rocker and [2/5, 0, 0] m @ crank with pin_in_slot end ;
start A = 90 deg ;
start A' = 2 rad/s ;
start B = 90 deg ;
"""

ENERGY = 1e-6  # of the largest energy, at the tolerances of `simulate`
CLOSED = 1e-9  # [m, rad]
SAME = 1e-6  # two runs of one mechanism at the tolerances of `simulate` [1, m]


def drill(name: str):
    """The module of a file in `drills/`."""
    spec = importlib.util.spec_from_file_location(f"drill_{name}", DRILLS / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_line(*words) -> int:
    """The exit status of a command line."""
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code or 0


def energies(run) -> np.ndarray:
    return run.series["energy"].values.sum(axis=1)


# A joint type -----------------------------------------------------------------------------------


@pytest.fixture
def PinInSlot():
    kind = drill("pin_in_slot").PinInSlot
    with JOINT_TYPES.including(kind):
        yield kind


@pytest.fixture
def CurvedSlot():
    kind = drill("curved_slot").CurvedSlot
    with JOINT_TYPES.including(kind):
        yield kind


@pytest.fixture(params=[PENDULUM, SHAPER], ids=["tree", "loop"])
def slotted(request, PinInSlot):
    return read_lsd(request.param)


def test_a_joint_type_is_registered_and_forgotten():
    kind, before = drill("pin_in_slot").PinInSlot, list(JOINT_TYPES)
    with JOINT_TYPES.including(kind):
        assert [*JOINT_TYPES] == [*before, kind]
        assert liaison.PinInSlot is kind
        assert read_lsd(PENDULUM).joints[0].type == kind()
        with pytest.raises(ModelError, match="word 'pin_in_slot'"):
            JOINT_TYPES.add(drill("pin_in_slot").PinInSlot)
    assert [*JOINT_TYPES] == before
    with pytest.raises(AttributeError, match="PinInSlot"):
        _ = liaison.PinInSlot
    with pytest.raises(NamingError, match="pin_in_slot"):
        read_lsd(PENDULUM)


def test_an_unfinished_joint_type_is_refused():
    class Unfinished(liaison.JointType):
        """Has no motion."""

    with pytest.raises(ModelError, match="does not define pose, subspace"):
        JOINT_TYPES.add(Unfinished)
    assert Unfinished not in JOINT_TYPES


def test_a_joint_type_is_read_and_written(slotted, PinInSlot):
    text = liaison.write_lsd(slotted)
    assert "with pin_in_slot" in text
    assert read_lsd(text) == slotted
    assert liaison.write_lsd(read_lsd(text)) == text
    assert slotted.joints[-1].coordinates == ("P.slide", "P.angle")


def test_a_joint_type_takes_an_axis_other_words_and_names(PinInSlot):
    text = PENDULUM.replace("with pin_in_slot", "with slotted_pin(x, a) axis = [0, 1, 0]")
    text = text.replace("P.slide", "P.x").replace("P.angle", "P.a")
    found = read_lsd(text)
    assert found.joints[0].coordinates == ("P.x", "P.a")
    assert found.joints[0].successor.R != ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    written = liaison.write_lsd(found)
    assert "pin_in_slot axis = [0, 1, 0]" in written
    assert read_lsd(written) == found


def test_a_joint_type_is_known_at_the_python_door(PinInSlot):
    bar = liaison.body("bar", mass=1, inertia=(1, 1, 1))
    for given in ("pin_in_slot", PinInSlot, PinInSlot(), liaison.PinInSlot):
        joint = liaison.join(liaison.ground, bar, given, name="P")
        assert joint.type == PinInSlot()
    with pytest.raises(NamingError, match="pin_in_slot"):
        liaison.join(liaison.ground, bar, "pin_in_slots")


def test_all_formalisms_agree_on_a_joint_type(slotted):
    found = liaison.compare(slotted, timed=False)
    assert [row.formalism for row in found.rows] == list(FORMALISMS)
    assert all(row.equations for row in found.rows), str(found)
    assert found.all_proved, str(found)


def test_all_parametrizations_agree_on_a_joint_type(slotted):
    found = liaison.parametrizations(slotted, until=0.05)
    assert [x.name for x in found.columns] == ["minimal", "joint", "full_joint", "cartesian"]
    for column in found.columns:
        assert not column.why_not
        assert column.difference < 1e-9, column.name
    assert found["cartesian"].parameters == 3 * (len(slotted.bodies) - 1)  # it moves in a plane


def test_a_joint_type_closes_a_loop(PinInSlot):
    tree = liaison.span(read_lsd(SHAPER))
    (closure,) = tree.closures
    assert closure.joint.type == PinInSlot()
    labels = [label.name for label in liaison.derive(tree.mechanism).labels["lam"]]
    assert set(labels) <= {f"P: {x}" for x in PinInSlot.ROWS}
    assert len(labels) == 1  # in a plane only the force across the slot is felt
    run = liaison.simulate(tree.mechanism, until=1.0)
    assert np.abs(run.series["position_residual"].values).max() < CLOSED


def test_a_run_of_a_joint_type_keeps_its_energy_and_is_that_of_its_motions(slotted, PinInSlot):
    run = liaison.simulate(slotted, until=2.0, every=0.5)
    assert np.ptp(energies(run)) < ENERGY * np.abs(run.series["energy"].values).max()
    same = read_lsd(
        liaison.write_lsd(slotted).replace(
            "with pin_in_slot",
            "with link(slide, angle) dof1 = slide([1, 0, 0]), dof2 = turn([0, 0, 1])",
        )
    )
    assert type(same.joints[-1].type) is liaison.Composition
    other = liaison.simulate(same, until=2.0, every=0.5)
    for body in (body.name for body in slotted.bodies[1:]):
        mine, there = (
            x.series["poses"].values[:, x.series["poses"].axes["body"].index(body)]
            for x in (run, other)
        )
        assert_allclose(mine, there, atol=SAME)


def test_a_slot_neither_pulls_along_itself_nor_turns_its_pin(slotted):
    if slotted.forces[1:]:  # a spring in the slot is no part of the reaction
        slotted = read_lsd(PENDULUM.replace("apply spring stiffness = 30 N/m end on P.slide ;", ""))
    run = liaison.simulate(slotted, until=0.5, series=("reactions", "poses"))
    found = run.reaction("P", frame="rocker" if len(slotted.bodies) > 2 else "ground").values
    assert np.abs(found).max() > 1
    assert np.abs(found[:, 3]).max() < 1e-8  # force along x of the slot
    assert np.abs(found[:, 2]).max() < 1e-8  # moment about the pin


def test_the_mobility_of_a_joint_type_is_proved(slotted):
    found = liaison.mobility(slotted)
    assert found.is_proved
    freedoms = 1 if len(slotted.bodies) > 2 else 2
    assert found.finite == (freedoms, freedoms)


def test_a_joint_type_is_drawn(slotted, tmp_path):
    run = liaison.simulate(slotted, until=0.5, every=0.05)
    drawn = drawing(run, slotted)
    pieces = drawn.pieces[slotted.joints[-1].predecessor.body]
    assert [piece.kind for piece in pieces[-3:]] == ["cylinder", "box", "cylinder"]
    _, slot, rail = pieces[-3:]
    assert slot.size[0] > slot.size[1]
    assert_allclose(np.abs(rail.R[:, 2]), [1, 0, 0], atol=1e-12)
    page = tmp_path / "page.html"
    liaison.page(run, slotted, page)
    assert page.stat().st_size > 10_000
    liaison.save_plot(run, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").exists()


def test_a_joint_type_is_composed_of_basic_constraints(PinInSlot, joined_sides):
    rows = basic_rows(PinInSlot(), *joined_sides)
    assert len(rows) == 6 - PinInSlot().nv


@pytest.fixture
def joined_sides():
    still = np.zeros(3)
    return [Side(still, still, still, still, np.eye(3)) for _ in range(2)]


def test_the_command_line_knows_a_joint_type(PinInSlot, tmp_path, capsys):
    file = tmp_path / "shaper.lsd"
    file.write_text(SHAPER)
    assert run_line("check", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["freedoms"] == 1
    assert run_line("format", file) == 0
    assert "with pin_in_slot" in capsys.readouterr().out
    assert run_line("mobility", file) == 0
    capsys.readouterr()
    file.write_text(SHAPER.replace("pin_in_slot", "pin_in_slots"))
    assert run_line("check", file) == 1
    assert "pin_in_slot" in capsys.readouterr().err


ARC = PENDULUM.replace("pin_in_slot", "curved_slot radius = 2 m").replace(
    "apply spring stiffness = 30 N/m end on P.slide ;", ""
)
ARC = ARC.replace("start P.slide = 10 cm ;\nstart P.angle = 30 deg ;", "start P = -60 deg ;")


def test_defaults_serve_a_joint_type_that_says_the_least(CurvedSlot):
    found = read_lsd(ARC)
    assert found.joints[0].type == CurvedSlot(2)
    assert "curved_slot radius = 2 m" in liaison.write_lsd(found)
    assert read_lsd(liaison.write_lsd(found)) == found
    assert liaison.compare(found, timed=False).all_proved
    run = liaison.simulate(found, until=1.0)
    assert np.ptp(energies(run)) < ENERGY * np.abs(run.series["energy"].values).max()
    assert drawing(run, found).pieces["ground"][-1].kind == "sphere"
    with pytest.raises(LiaisonError, match="elementary motions are not known") as refused:
        liaison.mobility(found)
    assert "MOTIONS" in refused.value.hint


def test_an_option_of_a_joint_type_is_asked_for(CurvedSlot):
    with pytest.raises(LiaisonError, match="needs 'radius"):
        read_lsd(ARC.replace("radius = 2 m", ""))
    with pytest.raises(LiaisonError, match="radius"):
        read_lsd(ARC.replace("radius = 2 m", "radius = 2 kg"))
    bar = liaison.body("bar", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="needs its radius"):
        liaison.join(liaison.ground, bar, "curved_slot")


# A tableau --------------------------------------------------------------------------------------


@pytest.fixture
def method():
    tableau = drill("bogacki_shampine").BOGACKI_SHAMPINE
    with TABLEAUX.including(tableau):
        yield tableau


def test_a_tableau_has_the_order_that_it_says(method, examples):
    def end(**options):
        run = liaison.simulate(examples / "pendulum.lsd", until=1.0, **options)
        return run.q[-1, 0]

    exact = end(method="dormand-prince", rtol=1e-13, atol=1e-13)
    steps = np.array([0.05, 0.025, 0.0125])
    errors = np.array([abs(end(method=method.name, step=h) - exact) for h in steps])
    orders = np.log2(errors[:-1] / errors[1:])
    assert_allclose(orders, method.order, atol=0.35)


def test_a_tableau_chooses_its_steps(method, examples):
    run = liaison.simulate(examples / "pendulum.lsd", until=1.0, method=method.name, rtol=1e-6)
    fine = liaison.simulate(examples / "pendulum.lsd", until=1.0, method=method.name, rtol=1e-9)
    assert run.success
    assert fine.success
    assert len(fine.t) > 3 * len(run.t)
    at = np.linspace(0, 1, 17)
    assert_allclose(run.resample(at).q, fine.resample(at).q, atol=1e-4)


def test_a_tableau_is_known_to_the_command_line_and_forgotten(method, examples, capsys):
    words = ("simulate", examples / "pendulum.lsd", "--until", "0.1", "--method")
    assert run_line(*words, method.name) == 0
    assert run_line(*words, "bogacki") == 2
    assert method.name in capsys.readouterr().err
    TABLEAUX.remove(method.name)
    with pytest.raises(NamingError, match=method.name):
        liaison.simulate(examples / "pendulum.lsd", until=0.1, method=method.name)


def test_a_tableau_whose_numbers_do_not_fit_is_refused(method):
    for wrong, said in (
        ({"b": (1, 1, 0, 0)}, "sum to 2"),
        ({"dense": method.dense[:3]}, "as many"),
        ({"dense": (*method.dense[:3], (0, 0, 1))}, "interpolation"),
        ({"e": (1, 0, 0, 0)}, "not to 0"),
        ({"scheme": "magic"}, "scheme 'magic'"),
        ({"name": "rk4"}, "of that name"),
    ):
        with pytest.raises(SimulationError, match=said):
            TABLEAUX.add(replace(method, **({"name": "other"} | wrong)))


# A formalism ------------------------------------------------------------------------------------


@pytest.fixture
def maggi():
    function = drill("maggi").maggi
    with FORMALISMS.including(function):
        yield function


def test_a_formalism_is_proved_equal(maggi, examples):
    found = liaison.compare(examples / "double_pendulum.lsd", timed=False)
    assert found.rows[-1].formalism == "maggi"
    assert found.rows[-1].verdict.is_proved
    assert found.all_proved


def test_a_wrong_formalism_is_not_proved_equal(examples):
    def half(tree):
        made = liaison.newton_euler(tree)
        M, h, tau = dict(made.dynamics.M), made.dynamics.h, made.dynamics.tau
        wrong = plain_dynamics(made.symbols.vdot, M, [x / 2 for x in h], list(tau))
        return replace(made, formalism="half", dynamics=wrong)

    with FORMALISMS.including(half):
        found = liaison.compare(examples / "double_pendulum.lsd", ["half"], timed=False)
    assert found.rows[0].verdict.equal is False


def test_a_formalism_derives_by_name(maggi, examples, capsys):
    file = examples / "double_pendulum.lsd"
    assert liaison.derive(file, "maggi").formalism == "maggi"
    kernel, usual = liaison.compile(file, "maggi"), liaison.compile(file)
    n = kernel.program.sizes["nq"]
    q, v = np.linspace(0.2, 0.9, n), np.linspace(-1, 1, n)
    assert_allclose(kernel("forward", q=q, v=v), usual("forward", q=q, v=v), rtol=1e-11)
    assert run_line("derive", file, "--formalism", "maggi") == 0
    assert "maggi" in capsys.readouterr().out
    columns = liaison.parametrizations(file, formalism="maggi", until=0.02).columns
    assert all(column.difference < 1e-9 for column in columns)
    FORMALISMS.remove("maggi")
    assert run_line("derive", file, "--formalism", "maggi") == 2
    with pytest.raises(NamingError, match="maggi"):
        liaison.derive(file, "maggi")


# A back end -------------------------------------------------------------------------------------


@pytest.fixture
def julia():
    module = drill("julia")
    with BACK_ENDS.including(module.JULIA):
        yield module


def test_a_back_end_computes_what_the_interpreter_does(julia, examples):
    file = examples / "double_pendulum.lsd"
    mine = liaison.compile(file, back_end="julia")
    assert type(mine) is julia.JuliaKernel
    reference = to_numpy(lower(liaison.derive(file)))
    n = mine.program.sizes["nq"]
    draw = np.random.default_rng(3)
    for _ in range(5):
        state = {"q": draw.uniform(-1, 1, n), "v": draw.uniform(-1, 1, n)}
        for entry in ("forward", "energy", "poses"):
            assert_allclose(mine(entry, **state), reference(entry, **state), rtol=1e-13)


def test_a_run_goes_through_a_back_end(julia, examples):
    file = examples / "pendulum.lsd"
    kernel = liaison.compile(file, back_end="julia")
    start = liaison.assemble(liaison.span(liaison.read(file)))
    options = {"until": 0.2, "step": 0.01, "series": ("energy",)}
    found = liaison.simulate(kernel, start, **options)
    usual = liaison.simulate(liaison.compile(file), start, **options)
    assert_allclose(found.q, usual.q, rtol=1e-12)


def test_a_back_end_is_a_target_of_build(julia, examples, tmp_path, capsys):
    words = ("build", examples / "pendulum.lsd", "--out", tmp_path, "--target")
    assert run_line(*words, "julia", "--json") == 0
    files = json.loads(capsys.readouterr().out)
    text = Path(files["forward"]).read_text()
    assert text.startswith("function forward(t, q, v, u, p, x)")
    assert run_line(*words, "julia", "--shared") == 2
    assert run_line(*words, "numpy") == 2
    assert "julia" in capsys.readouterr().err
    with pytest.raises(NamingError, match="c, julia, llvm, numpy"):
        liaison.compile(examples / "pendulum.lsd", back_end="fortran")


def test_a_back_end_that_does_nothing_is_refused(julia):
    with pytest.raises(ProgramError, match="neither computes nor writes"):
        BACK_ENDS.add(BackEnd("nothing"))
    with pytest.raises(ProgramError, match="already"):
        BACK_ENDS.add(julia.JULIA)


# Loads, relations, contact shapes ---------------------------------------------------------------

SAME_FORCES = 1e-9  # accelerations of two parametrizations, relative: rounding of a solved system
KEPT = 1e-7  # energy over a run with steps of 1e-9, relative to what moves


@pytest.fixture
def kind(request):
    """The module of one drill, registered while the test runs."""
    kinds = (LOAD_KINDS, RELATION_KINDS, SHAPE_KINDS)
    before, pairs = [list(x) for x in kinds], dict(PAIRS)
    spec = importlib.util.spec_from_file_location(
        f"drill_{request.param}", DRILLS / f"{request.param}.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    for family, known in zip(kinds, before, strict=True):
        for one in [x for x in family if x not in known]:
            family.remove(one)
    for pair in PAIRS.keys() - pairs.keys():
        del PAIRS[pair]
    del sys.modules[spec.name]


def registered(name):
    return pytest.mark.parametrize("kind", [name], indirect=True)


def rod(name, length=0.5, mass=1):
    return liaison.body(name, mass, center=(0, 0, -length / 2), inertia=(0.03, 0.03, 0.001))


def double_pendulum(*loads):
    first, second = rod("first"), rod("second")
    return (
        first,
        second,
        [
            liaison.join(liaison.ground, first, "revolute", name="A", axis="y"),
            liaison.join(first.at((0, 0, -0.5)), second, "revolute", name="B", axis="y"),
            liaison.gravity(),
            liaison.start("A", 0.4, 0.3),
            liaison.start("B", -0.7, 0.1),
        ],
    )


def sprung(along="distance"):
    """A double pendulum with a cubic spring between two markers, or on a joint."""
    _, second, parts = double_pendulum()
    where = (
        (liaison.ground.at((0.3, 0, -0.4)), second.at((0, 0, -0.3)))
        if along == "distance"
        else ("B",)
    )
    spring = liaison.cubic_spring(*where, stiffness=30, rest=0.1, name="bumper")
    return liaison.mechanism(parts, spring, name=f"sprung {along}")


def geared():
    """Two pendulums whose hinges are tied by elliptic gears."""
    first, second = rod("first"), rod("second", 0.3, mass=3)
    return liaison.mechanism(
        liaison.join(liaison.ground, first, "revolute", name="A", axis="y"),
        liaison.join(liaison.ground.at((0.6, 0, 0)), second, "revolute", name="B", axis="y"),
        liaison.elliptic_gear("B", "A", 0.3, name="mesh"),
        liaison.gravity(),
        liaison.start("A", 0.5, 0.4),
        name="elliptic gears",
    )


def tyre(friction=0.4, restitution=0.5, height=0.6):
    wheel = liaison.body("wheel", 2, inertia=(0.05, 0.05, 0.09))
    return liaison.mechanism(
        liaison.join(liaison.ground, wheel, liaison.Free(), name="f"),
        liaison.contact(wheel, liaison.ground, "torus", ring=0.25, tube=0.05, name="floor",
                   friction=friction, restitution=restitution),
        liaison.gravity(),
        liaison.start({"f.z": height, "f.wx": 0.0, "f.wz": -4.0, "f.vx": 1.2,
                  "f.qw": np.cos(0.6), "f.qx": np.sin(0.6)}),
        name="tyre",
    )  # fmt: skip


# ---- a load


@registered("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_load_is_written_and_read_again(kind, along):
    mechanism = sprung(along)
    text = liaison.write_lsd(mechanism)
    assert "apply cubic_spring stiffness = 30" in text
    assert liaison.read(text) == mechanism


@registered("cubic_spring")
def test_a_load_has_its_word_at_the_python_door(kind):
    assert liaison.cubic_spring is kind.cubic_spring
    assert is_conservative(sprung())


def test_a_word_is_gone_with_its_kind():
    with pytest.raises(AttributeError, match="cubic_spring"):
        _ = liaison.cubic_spring
    _, _, parts = double_pendulum()
    text = liaison.write_lsd(liaison.mechanism(parts, liaison.spring("B", stiffness=1)))
    with pytest.raises(NamingError, match="cubic_spring"):
        liaison.read(text.replace("apply spring", "apply cubic_spring"))


@registered("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_all_formalisms_agree_about_a_load(kind, along):
    found = liaison.compare(sprung(along))
    assert {row.formalism for row in found.rows} >= set(FORMALISMS) - {"maximal", "stabilized"}
    assert found.all_proved


@registered("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_load_acts_the_same_in_all_parametrizations(kind, along):
    table = liaison.parametrizations(sprung(along), until=0.05)
    used = [column for column in table.columns if not column.why_not]
    assert "cartesian" in {column.name for column in used}
    assert all(column.difference < SAME_FORCES for column in used if column.name != "joint")


@registered("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_run_with_a_load_keeps_energy_and_the_theorems(kind, along):
    mechanism = sprung(along)
    run = liaison.simulate(
        mechanism, until=1.0, rtol=1e-10, series=("energy", "reactions", "poses")
    )
    energy = run.series["energy"].values.sum(axis=1)
    moving = np.ptp(run.series["energy"].values[:, 0])
    assert np.ptp(energy) < KEPT * moving
    plain = liaison.simulate(liaison.mechanism(double_pendulum()[2]), until=1.0)
    assert not np.allclose(run.q[-1], plain.q[-1], atol=0.05)  # it does act
    assert liaison.verify(mechanism, until=0.5).holds


@registered("cubic_spring")
def test_a_load_is_drawn_as_it_says(kind):
    mechanism = sprung()
    run = liaison.simulate(mechanism, until=0.1)
    (coil,) = links(drawing(run, mechanism), mechanism)
    assert coil.is_coil
    assert coil.name == "bumper"
    assert [(x.kind, x.symbol) for x in symbols(mechanism)] == [
        ("gravity", "field"), ("cubic_spring", "coil")
    ]  # fmt: skip


@registered("cubic_spring")
def test_bad_loads_are_refused(kind):
    with pytest.raises(ModelError, match="the stiffness of cubic spring 'x' is -1; it must not be"):
        liaison.cubic_spring("B", stiffness=-1, name="x")
    text = liaison.write_lsd(sprung("joint"))
    with pytest.raises(NamingError, match="no property 'stifness'; did you mean 'stiffness'"):
        liaison.read(text.replace("stiffness =", "stifness ="))
    with pytest.raises(TextError, match=r"stiffness of cubic_spring .* must be"):
        liaison.read(text.replace("stiffness = 30 N*m/rad^3", "stiffness = 30 N/m"))


# ---- a relation


@registered("elliptic_gear")
def test_a_relation_is_written_and_read_again(kind):
    mechanism = geared()
    text = liaison.write_lsd(mechanism)
    assert "couple A and B with elliptic_gear eccentricity = 0.3f end" in text
    assert liaison.read(text) == mechanism
    assert [(x.kind, x.symbol) for x in symbols(mechanism)][-1] == ("elliptic_gear", "gear")


@registered("elliptic_gear")
def test_a_relation_takes_a_freedom(kind):
    assert liaison.elliptic_gear is kind.elliptic_gear
    found = liaison.mobility(geared())
    assert found.finite == (1, 1)
    assert liaison.check(geared()).freedoms == 1


@registered("elliptic_gear")
def test_all_formalisms_and_parametrizations_agree_about_a_relation(kind):
    assert liaison.compare(geared()).all_proved
    table = liaison.parametrizations(geared(), until=0.05)
    used = [column for column in table.columns if not column.why_not]
    assert {"joint", "cartesian"} <= {column.name for column in used}
    assert all(column.difference < SAME_FORCES for column in used if column.name != "joint")


@registered("elliptic_gear")
def test_a_run_with_a_relation_holds_it_and_the_theorems(kind):
    mechanism = geared()
    run = liaison.simulate(mechanism, until=1.0, rtol=1e-10, series=("energy", "lam", "closure"))
    a, b = run.q.T
    assert np.abs(b + a + 0.3 * np.sin(a)).max() < 1e-9
    energy = run.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) < KEPT * np.ptp(run.series["energy"].values[:, 0])
    (labels,) = run.series["lam"].axes.values()
    assert labels == ("mesh",)
    assert np.abs(run.series["lam"].values).max() > 0.1  # a torque passes through the teeth
    assert liaison.verify(mechanism, until=0.5).holds


@registered("elliptic_gear")
def test_bad_relations_are_refused(kind):
    with pytest.raises(ModelError, match="ties 'A' to itself; it must tie two"):
        liaison.elliptic_gear("A", "A", 0.1)
    text = liaison.write_lsd(geared())
    with pytest.raises(NamingError, match=r"elliptic_gears.*did you mean"):
        liaison.read(text.replace("elliptic_gear ", "elliptic_gears "))
    with pytest.raises(TextError, match="needs 'eccentricity = …'"):
        liaison.read(text.replace("eccentricity = 0.3f ", ""))


# ---- a contact shape


@registered("torus")
def test_a_contact_shape_is_written_and_read_again(kind):
    mechanism = tyre()
    text = liaison.write_lsd(mechanism)
    assert "with torus ring = 0.25f m, tube = 0.05f m" in text
    assert liaison.read(text) == mechanism
    assert liaison.check(mechanism).freedoms == 6


@registered("torus")
@pytest.mark.parametrize(
    "options", [{}, {"method": "moreau", "step": 2e-4}], ids=["events", "moreau"]
)
def test_a_contact_shape_bounces_slides_and_rests(kind, options):
    run = liaison.simulate(tyre(), until=1.2, **options)
    z, R = run.q[:, 2], run.series["poses"].values[:, -1]
    axis = np.sqrt(np.maximum(1 - R.reshape(len(z), 3, 4)[:, 2, 2] ** 2, 0))
    gap = z - 0.25 * axis - 0.05
    assert gap.min() > -2e-3 if options else gap.min() > -1e-8
    assert gap.min() < 1e-3  # it touches
    energy = run.series["energy"].values.sum(axis=1)
    assert energy[-1] < energy[0] - 0.1  # impacts and friction take energy
    assert np.diff(energy).max() < 1e-3 * energy[0]  # and nothing gives any


@registered("torus")
def test_a_torus_without_a_ring_is_a_ball(kind):
    states = []
    for shape in ({"kind": "torus", "ring": 1e-9, "tube": 0.1}, {"kind": "ball", "radius": 0.1}):
        ball = liaison.body("ball", 1, inertia=(0.004, 0.004, 0.004))
        free = liaison.join(liaison.ground, ball, liaison.Free(), name="f")
        touch = liaison.contact(
            ball, liaison.ground, friction=0.3, restitution=0.4, name="floor", **shape
        )
        start = liaison.start({"f.z": 0.4, "f.vx": 1.0})
        run = liaison.simulate(liaison.mechanism(free, touch, liaison.gravity(), start), until=0.8)
        states.append(np.concatenate([run.q[-1], run.v[-1]]))
    assert np.abs(states[0] - states[1]).max() < 1e-5


@registered("torus")
def test_the_theorems_hold_while_a_contact_shape_rolls(kind):
    mechanism = tyre(friction=0.9, restitution=0, height=0.25 * np.sin(1.2) + 0.05)
    assert liaison.verify(mechanism, until=0.2).holds


@registered("torus")
def test_a_contact_shape_is_drawn_as_it_says(kind):
    mechanism = tyre()
    drawn = drawing(liaison.simulate(mechanism, until=0.05), mechanism)
    (mesh,) = [piece for piece in drawn.pieces["wheel"] if piece.kind == "mesh"]
    assert np.linalg.norm(mesh.surface.vertices[:, :2], axis=1).max() == pytest.approx(0.3)
    assert symbols(mechanism)[-1].symbol == "mesh"


@registered("torus")
def test_bad_contact_shapes_are_refused(kind):
    wheel = liaison.body("wheel", 1)
    with pytest.raises(ModelError, match=r"the tube of contact .* is -1 m; it must be positive"):
        liaison.contact(wheel, liaison.ground, "torus", ring=1, tube=-1)
    with pytest.raises(ModelError, match="is of a torus; give its tube"):
        liaison.contact(wheel, liaison.ground, "torus", ring=1)
    with pytest.raises(ModelError, match="is of a torus, which has no radius"):
        liaison.contact(wheel, liaison.ground, "torus", ring=1, tube=1, radius=1)
    with pytest.raises(ModelError, match="is of a ball, which has no ring"):
        liaison.contact(wheel, liaison.ground, "ball", ring=1, radius=1)
    with pytest.raises(ModelError, match="of a torus with a ball, which is not known"):
        liaison.contact(wheel, liaison.ground, "torus", ring=1, tube=1, outside=1)
    with pytest.raises(NamingError, match=r"'rings'.*did you mean 'ring'"):
        liaison.contact(wheel, liaison.ground, "torus", rings=1, tube=1)


# A verb ------------------------------------------------------------------------------------------


def words(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "liaison", *(str(x) for x in arguments)]
    known = {**os.environ, "COLUMNS": "80", **variables}
    return subprocess.run(line, capture_output=True, text=True, env=known)


def test_a_new_verb_is_one_file(tmp_path, repository):
    shutil.copy(DRILLS / "census.py", tmp_path)
    own = {"LIAISON_VERBS": str(tmp_path)}
    four_bar = repository / "examples" / "four_bar.lsd"
    listed = words("--help", **own).stdout
    assert "census" in listed
    assert "Count the bodies of a mechanism, heavy ones apart" in listed
    helped = words("census", "--help", **own).stdout
    assert "Mass from which on a body is heavy" in helped
    assert "Count each body two times" in helped
    done = words("census", four_bar, "--twice", "--json", **own)
    assert json.loads(done.stdout) == {"bodies": 6, "heavy": 3}
    assert words("census", four_bar, **own).stdout.splitlines() == ["bodies: 3", "heavy: 3"]
    assert words("census", four_bar, "--heavier", 1, **own).returncode == 2
    code = f"import liaison; print(liaison.census({str(four_bar)!r}, heavier_than=1e9))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **own}
    )
    assert done.stdout.strip() == "{'bodies': 3, 'heavy': 0}"
    assert "census" not in words("--help").stdout


@pytest.mark.parametrize("file", sorted(DRILLS.glob("*.py")), ids=lambda path: path.stem)
def test_a_drill_touches_only_what_is_public(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("liaison"):
            assert not any(alias.name.startswith("_") for alias in node.names)


@pytest.fixture
def examples(repository) -> Path:
    return repository / "examples"
