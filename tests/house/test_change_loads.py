"""Change drills: a load, a relation and a contact shape, each from one file, used in everything.

The files of `drills/` are all that is written for them; nothing else knows of them.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import liaison as ln
from liaison.equations import FORMALISMS
from liaison.errors import ModelError, NamingError, TextError
from liaison.model.contacts import PAIRS, SHAPE_KINDS
from liaison.model.loads import LOAD_KINDS
from liaison.model.relations import RELATION_KINDS
from liaison.verbs.summary import is_conservative
from liaison.view.drawing import drawing
from liaison.view.links import links
from liaison.view.symbols import symbols

DRILLS = Path(__file__).parent / "drills"
SAME = 1e-9  # accelerations of two parametrizations, relative: rounding of a solved system
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


def drill(name):
    return pytest.mark.parametrize("kind", [name], indirect=True)


def rod(name, length=0.5, mass=1):
    return ln.body(name, mass, center=(0, 0, -length / 2), inertia=(0.03, 0.03, 0.001))


def double_pendulum(*loads):
    first, second = rod("first"), rod("second")
    return (
        first,
        second,
        [
            ln.join(ln.ground, first, "revolute", name="A", axis="y"),
            ln.join(first.at((0, 0, -0.5)), second, "revolute", name="B", axis="y"),
            ln.gravity(),
            ln.start("A", 0.4, 0.3),
            ln.start("B", -0.7, 0.1),
        ],
    )


def sprung(along="distance"):
    """A double pendulum with a cubic spring between two markers, or on a joint."""
    _, second, parts = double_pendulum()
    where = (
        (ln.ground.at((0.3, 0, -0.4)), second.at((0, 0, -0.3))) if along == "distance" else ("B",)
    )
    spring = ln.cubic_spring(*where, stiffness=30, rest=0.1, name="bumper")
    return ln.mechanism(parts, spring, name=f"sprung {along}")


def geared():
    """Two pendulums whose hinges are tied by elliptic gears."""
    first, second = rod("first"), rod("second", 0.3, mass=3)
    return ln.mechanism(
        ln.join(ln.ground, first, "revolute", name="A", axis="y"),
        ln.join(ln.ground.at((0.6, 0, 0)), second, "revolute", name="B", axis="y"),
        ln.elliptic_gear("B", "A", 0.3, name="mesh"),
        ln.gravity(),
        ln.start("A", 0.5, 0.4),
        name="elliptic gears",
    )


def tyre(friction=0.4, restitution=0.5, height=0.6):
    wheel = ln.body("wheel", 2, inertia=(0.05, 0.05, 0.09))
    return ln.mechanism(
        ln.join(ln.ground, wheel, ln.Free(), name="f"),
        ln.contact(wheel, ln.ground, "torus", ring=0.25, tube=0.05, name="floor",
                   friction=friction, restitution=restitution),
        ln.gravity(),
        ln.start({"f.z": height, "f.wx": 0.0, "f.wz": -4.0, "f.vx": 1.2,
                  "f.qw": np.cos(0.6), "f.qx": np.sin(0.6)}),
        name="tyre",
    )  # fmt: skip


# ---- a load


@drill("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_load_is_written_and_read_again(kind, along):
    mechanism = sprung(along)
    text = ln.write_lsd(mechanism)
    assert "apply cubic_spring stiffness = 30" in text
    assert ln.read(text) == mechanism


@drill("cubic_spring")
def test_a_load_has_its_word_at_the_python_door(kind):
    assert ln.cubic_spring is kind.cubic_spring
    assert is_conservative(sprung())


def test_a_word_is_gone_with_its_kind():
    with pytest.raises(AttributeError, match="cubic_spring"):
        _ = ln.cubic_spring
    _, _, parts = double_pendulum()
    text = ln.write_lsd(ln.mechanism(parts, ln.spring("B", stiffness=1)))
    with pytest.raises(NamingError, match="cubic_spring"):
        ln.read(text.replace("apply spring", "apply cubic_spring"))


@drill("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_all_formalisms_agree_about_a_load(kind, along):
    found = ln.compare(sprung(along))
    assert {row.formalism for row in found.rows} >= set(FORMALISMS) - {"maximal", "stabilized"}
    assert found.all_proved


@drill("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_load_acts_the_same_in_all_parametrizations(kind, along):
    table = ln.parametrizations(sprung(along), until=0.05)
    used = [column for column in table.columns if not column.why_not]
    assert "cartesian" in {column.name for column in used}
    assert all(column.difference < SAME for column in used if column.name != "joint")


@drill("cubic_spring")
@pytest.mark.parametrize("along", ["distance", "joint"])
def test_a_run_with_a_load_keeps_energy_and_the_theorems(kind, along):
    mechanism = sprung(along)
    run = ln.simulate(mechanism, until=1.0, rtol=1e-10, series=("energy", "reactions", "poses"))
    energy = run.series["energy"].values.sum(axis=1)
    moving = np.ptp(run.series["energy"].values[:, 0])
    assert np.ptp(energy) < KEPT * moving
    plain = ln.simulate(ln.mechanism(double_pendulum()[2]), until=1.0)
    assert not np.allclose(run.q[-1], plain.q[-1], atol=0.05)  # it does act
    assert ln.verify(mechanism, until=0.5).holds


@drill("cubic_spring")
def test_a_load_is_drawn_as_it_says(kind):
    mechanism = sprung()
    run = ln.simulate(mechanism, until=0.1)
    (coil,) = links(drawing(run, mechanism), mechanism)
    assert coil.is_coil
    assert coil.name == "bumper"
    assert [(x.kind, x.symbol) for x in symbols(mechanism)] == [
        ("gravity", "field"), ("cubic_spring", "coil")
    ]  # fmt: skip


@drill("cubic_spring")
def test_bad_loads_are_refused(kind):
    with pytest.raises(ModelError, match="the stiffness of cubic spring 'x' is -1; it must not be"):
        ln.cubic_spring("B", stiffness=-1, name="x")
    text = ln.write_lsd(sprung("joint"))
    with pytest.raises(NamingError, match="no property 'stifness'; did you mean 'stiffness'"):
        ln.read(text.replace("stiffness =", "stifness ="))
    with pytest.raises(TextError, match=r"stiffness of cubic_spring .* must be"):
        ln.read(text.replace("stiffness = 30 N*m/rad^3", "stiffness = 30 N/m"))


# ---- a relation


@drill("elliptic_gear")
def test_a_relation_is_written_and_read_again(kind):
    mechanism = geared()
    text = ln.write_lsd(mechanism)
    assert "couple A and B with elliptic_gear eccentricity = 0.3f end" in text
    assert ln.read(text) == mechanism
    assert [(x.kind, x.symbol) for x in symbols(mechanism)][-1] == ("elliptic_gear", "gear")


@drill("elliptic_gear")
def test_a_relation_takes_a_freedom(kind):
    assert ln.elliptic_gear is kind.elliptic_gear
    found = ln.mobility(geared())
    assert found.finite == (1, 1)
    assert ln.check(geared()).freedoms == 1


@drill("elliptic_gear")
def test_all_formalisms_and_parametrizations_agree_about_a_relation(kind):
    assert ln.compare(geared()).all_proved
    table = ln.parametrizations(geared(), until=0.05)
    used = [column for column in table.columns if not column.why_not]
    assert {"joint", "cartesian"} <= {column.name for column in used}
    assert all(column.difference < SAME for column in used if column.name != "joint")


@drill("elliptic_gear")
def test_a_run_with_a_relation_holds_it_and_the_theorems(kind):
    mechanism = geared()
    run = ln.simulate(mechanism, until=1.0, rtol=1e-10, series=("energy", "lam", "closure"))
    a, b = run.q.T
    assert np.abs(b + a + 0.3 * np.sin(a)).max() < 1e-9
    energy = run.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) < KEPT * np.ptp(run.series["energy"].values[:, 0])
    (labels,) = run.series["lam"].axes.values()
    assert labels == ("mesh",)
    assert np.abs(run.series["lam"].values).max() > 0.1  # a torque passes through the teeth
    assert ln.verify(mechanism, until=0.5).holds


@drill("elliptic_gear")
def test_bad_relations_are_refused(kind):
    with pytest.raises(ModelError, match="ties 'A' to itself; it must tie two"):
        ln.elliptic_gear("A", "A", 0.1)
    text = ln.write_lsd(geared())
    with pytest.raises(NamingError, match=r"elliptic_gears.*did you mean"):
        ln.read(text.replace("elliptic_gear ", "elliptic_gears "))
    with pytest.raises(TextError, match="needs 'eccentricity = …'"):
        ln.read(text.replace("eccentricity = 0.3f ", ""))


# ---- a contact shape


@drill("torus")
def test_a_contact_shape_is_written_and_read_again(kind):
    mechanism = tyre()
    text = ln.write_lsd(mechanism)
    assert "with torus ring = 0.25f m, tube = 0.05f m" in text
    assert ln.read(text) == mechanism
    assert ln.check(mechanism).freedoms == 6


@drill("torus")
@pytest.mark.parametrize(
    "options", [{}, {"method": "moreau", "step": 2e-4}], ids=["events", "moreau"]
)
def test_a_contact_shape_bounces_slides_and_rests(kind, options):
    run = ln.simulate(tyre(), until=1.2, **options)
    z, R = run.q[:, 2], run.series["poses"].values[:, -1]
    axis = np.sqrt(np.maximum(1 - R.reshape(len(z), 3, 4)[:, 2, 2] ** 2, 0))
    gap = z - 0.25 * axis - 0.05
    assert gap.min() > -2e-3 if options else gap.min() > -1e-8
    assert gap.min() < 1e-3  # it touches
    energy = run.series["energy"].values.sum(axis=1)
    assert energy[-1] < energy[0] - 0.1  # impacts and friction take energy
    assert np.diff(energy).max() < 1e-3 * energy[0]  # and nothing gives any


@drill("torus")
def test_a_torus_without_a_ring_is_a_ball(kind):
    states = []
    for shape in ({"kind": "torus", "ring": 1e-9, "tube": 0.1}, {"kind": "ball", "radius": 0.1}):
        ball = ln.body("ball", 1, inertia=(0.004, 0.004, 0.004))
        free = ln.join(ln.ground, ball, ln.Free(), name="f")
        touch = ln.contact(ball, ln.ground, friction=0.3, restitution=0.4, name="floor", **shape)
        start = ln.start({"f.z": 0.4, "f.vx": 1.0})
        run = ln.simulate(ln.mechanism(free, touch, ln.gravity(), start), until=0.8)
        states.append(np.concatenate([run.q[-1], run.v[-1]]))
    assert np.abs(states[0] - states[1]).max() < 1e-5


@drill("torus")
def test_the_theorems_hold_while_a_contact_shape_rolls(kind):
    mechanism = tyre(friction=0.9, restitution=0, height=0.25 * np.sin(1.2) + 0.05)
    assert ln.verify(mechanism, until=0.2).holds


@drill("torus")
def test_a_contact_shape_is_drawn_as_it_says(kind):
    mechanism = tyre()
    drawn = drawing(ln.simulate(mechanism, until=0.05), mechanism)
    (mesh,) = [piece for piece in drawn.pieces["wheel"] if piece.kind == "mesh"]
    assert np.linalg.norm(mesh.surface.vertices[:, :2], axis=1).max() == pytest.approx(0.3)
    assert symbols(mechanism)[-1].symbol == "mesh"


@drill("torus")
def test_bad_contact_shapes_are_refused(kind):
    wheel = ln.body("wheel", 1)
    with pytest.raises(ModelError, match=r"the tube of contact .* is -1 m; it must be positive"):
        ln.contact(wheel, ln.ground, "torus", ring=1, tube=-1)
    with pytest.raises(ModelError, match="is of a torus; give its tube"):
        ln.contact(wheel, ln.ground, "torus", ring=1)
    with pytest.raises(ModelError, match="is of a torus, which has no radius"):
        ln.contact(wheel, ln.ground, "torus", ring=1, tube=1, radius=1)
    with pytest.raises(ModelError, match="is of a ball, which has no ring"):
        ln.contact(wheel, ln.ground, "ball", ring=1, radius=1)
    with pytest.raises(ModelError, match="of a torus with a ball, which is not known"):
        ln.contact(wheel, ln.ground, "torus", ring=1, tube=1, outside=1)
    with pytest.raises(NamingError, match=r"'rings'.*did you mean 'ring'"):
        ln.contact(wheel, ln.ground, "torus", rings=1, tube=1)
