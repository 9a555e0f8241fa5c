"""Every example reads, and is what its comments say."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison import check, simulate
from liaison.cli import main
from liaison.equations.readable.forms import as_sympy
from liaison.expr import symbols_of, to_text
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.formats import read
from liaison.model import Composition, Fixed, Free, Law, PointWrench, Revolute, Spherical
from liaison.tree import assembly, span

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted([*EXAMPLES.glob("*.lsd"), *EXAMPLES.glob("*.urdf")])

# moving bodies, joints, loops, velocities of the tree
COUNTS = {
    "pendulum": (1, 1, 0, 1),
    "double_pendulum": (2, 2, 0, 2),
    "elliptic_pendulum": (2, 2, 0, 2),
    "spinning_top": (1, 1, 0, 3),
    "four_bar": (3, 4, 1, 3),
    "slider_crank": (3, 4, 1, 3),
    "stewart": (13, 18, 5, 21),
    "stewart_welded": (13, 18, 5, 20),
    "slider_crank_equal": (3, 4, 1, 3),
    "gimbals": (3, 3, 0, 3),
    "satellite": (4, 4, 0, 9),
    "arm7": (9, 9, 0, 7),
    "door": (1, 3, 2, 1),
    "shaky_6r": (5, 6, 1, 5),
    "triangle": (3, 4, 1, 6),
    "triangle_flat": (3, 4, 1, 6),
    "slider_crank_offset": (3, 4, 1, 3),
    "bennett": (3, 4, 1, 3),
    "goldberg": (4, 5, 1, 4),
    "bricard_line": (5, 6, 1, 5),
    "bricard_trihedral": (5, 6, 1, 5),
    "sarrus": (5, 6, 1, 5),
    "double_cardan": (5, 6, 1, 5),
    "saliere": (3, 4, 1, 4),
    "three_upu": (13, 15, 2, 13),
    "antenna_mesh": (8, 9, 1, 9),
    "antenna_shared": (13, 15, 2, 15),
    "antenna_double": (14, 18, 4, 15),
    "differential": (5, 5, 0, 5),
    "planetary_gear": (5, 5, 0, 5),
    "belt_drive": (3, 3, 0, 3),
    "geared_arm": (6, 6, 0, 6),
    "cam": (2, 2, 0, 2),
    "rolling_ball": (2, 2, 0, 7),
    "rolling_disc": (1, 1, 0, 6),
    "chaplygin": (1, 1, 0, 3),
    "chaplygin_unilateral": (1, 1, 0, 3),
    "degenerate_unilateral": (1, 1, 0, 1),
    "bicycle": (4, 4, 0, 9),
    "quarter_car": (3, 3, 0, 3),
    "double_wishbone": (4, 6, 2, 6),
    "excavator": (9, 12, 3, 9),
    "leg": (9, 9, 0, 8),
}
SLOW = {"antenna_shared", "antenna_double", "three_upu", "stewart", "stewart_welded"}

# freedoms of the velocities at the start, counted by the rank of all rows
FREEDOMS = {
    "four_bar": 1,
    "bennett": 1,
    "goldberg": 1,
    "bricard_line": 1,
    "bricard_trihedral": 1,
    "sarrus": 1,
    "double_cardan": 1,
    "saliere": 1,
    "three_upu": 3,
    "antenna_mesh": 4,  # of velocities; the finite mobility is 3
    "differential": 2,
    "planetary_gear": 1,
    "rolling_disc": 3,
    "bicycle": 3,
    "double_wishbone": 2,
    "excavator": 3,
    "leg": 4,
}


def test_the_examples_that_are_counted_are_there():
    assert set(COUNTS) <= {path.stem for path in FILES}


COUNTED = [path for path in FILES if path.stem in COUNTS]


@pytest.mark.parametrize("path", COUNTED, ids=lambda path: path.stem)
def test_an_example_has_the_bodies_joints_and_loops_it_says(path):
    mechanism = read(path)
    tree = span(mechanism)
    found = (len(mechanism.bodies) - 1, len(mechanism.joints), tree.loops, tree.nv)
    assert found == COUNTS[path.stem]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_starts_where_it_says_and_closed(path):
    mechanism = read(path)
    found = assembly(span(mechanism))
    assert found.residual < 1e-12  # rounding of positions of the order of 1 m
    assert found.rate_residual < 1e-11  # of speeds up to 300 rad/s at 0.1 m
    labels = [label.name for label in (*found.state.labels["q"], *found.state.labels["v"])]
    values = dict(zip(labels, [*found.state.q, *found.state.v], strict=True))
    for start in mechanism.starts:
        assert values.keys() >= {start.label}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_body_of_an_example_can_be_seen(path):
    invisible = {body.name for body in read(path).bodies if not body.shapes}
    assert invisible <= {"ground"}


@pytest.mark.parametrize("name", FREEDOMS)
def test_an_example_has_the_freedoms_its_geometry_gives(name):
    assert check(read(EXAMPLES / f"{name}.lsd")).freedoms == FREEDOMS[name]


RUNS = [
    pytest.param(path, marks=pytest.mark.slow) if path.stem in SLOW else path
    for path in FILES
    if path.stem != "shaky_6r"
]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_an_example_moves_for_a_while_and_stays_closed(path):
    run = simulate(read(path), until=0.5, every=0.1)
    assert run.success
    for level in {"position_residual", "velocity_residual"} & run.series.keys():
        # what projection leaves: rounding of positions of some metres and speeds of some m/s
        assert np.abs(run.series[level].values).max() < 1e-8


def test_the_sleigh_of_one_side_flies_then_catches_and_is_held():
    """V_G = (−1/2, 1/2) and ω = 1 are kept while it flies; u = 0 again at a quarter of a turn."""
    run = simulate(
        read(EXAMPLES / "chaplygin_unilateral.lsd"), until=10, every=0.01, rtol=1e-10, atol=1e-12
    )
    assert [(x.name, x.what) for x in run.events] == [("blade", "enters")]
    entered = run.events[0].t
    assert entered == pytest.approx(np.pi / 2, abs=1e-9)
    flies = run.t < entered
    mass_center = run["S.x"] + 0.5 * np.cos(run["S.angle"])
    assert mass_center[flies] == pytest.approx(0.5 - 0.5 * run.t[flies], abs=1e-9)
    assert np.max(np.abs(run["across"][~flies])) < 1e-9
    a, c2, since = 0.5, 1 / (1 + 0.5**2), run.t[~flies] - entered
    E = np.sqrt(0.5**2 + 1 / c2)
    held = E * np.tanh(a * c2 * E * since + np.arctanh(0.5 / E))
    assert run["along"][~flies] == pytest.approx(held, abs=1e-7)
    speeds = np.abs(np.diff(run.v, axis=0))
    assert np.max(speeds) < 0.02  # no jump: as much as a hundredth of a second changes


def test_the_slider_that_may_not_go_away_stops_in_the_middle():
    run = simulate(read(EXAMPLES / "degenerate_unilateral.lsd"), until=3, every=0.01)
    assert [(x.name, x.what) for x in run.events] == [("inwards", "impact"), ("inwards", "held")]
    impact = run.events[0]
    assert impact.t == pytest.approx(np.sqrt(2), abs=1e-9)
    assert impact.before[0] == pytest.approx(-np.sqrt(2), abs=1e-9)
    assert abs(impact.v[0]) < 1e-12
    assert np.max(np.abs(run["X"][run.t > impact.t])) < 1e-12


def test_the_bicycle_of_the_benchmark_sways_as_published():
    run = simulate(read(EXAMPLES / "bicycle.lsd"), until=1.0, every=1.0)
    # an independent model of eight coordinates; its steering axis points down
    assert np.radians(run["steer"][-1]) == pytest.approx(-0.0027221086947, abs=1e-8)
    assert run["speed"][-1] == pytest.approx(3.9998700595, abs=1e-8)


def test_chaplygins_sleigh_follows_its_closed_form():
    run = simulate(read(EXAMPLES / "chaplygin.lsd"), until=1.0, every=1.0)
    assert run["speed"][-1] == pytest.approx(0.6355888097476875, abs=1e-8)
    assert run["S.angle'"][-1] == pytest.approx(0.8419153710075701, abs=1e-8)


def test_the_ball_on_the_turntable_runs_on_a_circle():
    """Its acceleration is 2/7 of the table's rate across its velocity."""
    run = simulate(read(EXAMPLES / "rolling_ball.lsd"), until=2.0, every=0.01)
    x, y = run["x"], run["y"]
    ax, ay = np.gradient(np.gradient(x, 0.01), 0.01), np.gradient(np.gradient(y, 0.01), 0.01)
    vx, vy = np.gradient(x, 0.01), np.gradient(y, 0.01)
    rate = (vx * ay - vy * ax) / (vx**2 + vy**2)
    # central differences twice, over 10 ms of a motion of 1 rad/s: 1e-4
    assert rate[5:-5] == pytest.approx(2 / 7 * 2, rel=2e-4)


def test_the_second_shaft_of_the_double_cardan_turns_as_the_first():
    run = simulate(read(EXAMPLES / "double_cardan.lsd"), until=1.0)
    assert run["turned_out"] == pytest.approx(-run["turned_in"], abs=1e-6)


def test_the_carrier_of_the_planetary_gear_is_four_times_slower():
    run = simulate(read(EXAMPLES / "planetary_gear.lsd"), until=0.2)
    assert run["ratio"] == pytest.approx(4.0, rel=1e-9)


def test_numbers_are_kept_exact():
    text = (EXAMPLES / "four_bar.lsd").read_text(encoding="utf-8")
    lengths = {x.name: x.value for x in read(text).parameters}
    tenths = {
        "a": Fraction(1, 10),
        "b": Fraction(3, 10),
        "c": Fraction(7, 20),
        "d": Fraction(9, 20),
    }
    assert lengths == tenths
    mechanism = read(text.replace("parameter ", "let "))
    crank = mechanism.body("crank")
    assert crank.mass == Fraction(1, 5)
    assert crank.com == (Fraction(1, 20), 0, 0)
    assert crank.inertia[1][1] == Fraction(1, 6000)
    assert mechanism.joint("D").predecessor.p == (Fraction(9, 20), 0, 0)
    exact = {int, Fraction}
    entries = [x for body in mechanism.bodies for x in (body.mass, *body.com)]
    assert {type(x) for x in entries} <= exact


def test_the_arm_is_welded_to_the_ground_or_free():
    welded, free = read(EXAMPLES / "arm7.urdf"), read(EXAMPLES / "arm7.urdf", floating=True)
    assert isinstance(welded.joint("root").type, Fixed)
    assert isinstance(free.joint("root").type, Free)


# ---- the satellite as it was printed


def printed_satellite() -> str:
    """The example up to the line where the printed text ends."""
    text = (EXAMPLES / "satellite.lsd").read_text(encoding="utf-8")
    return text.split("(* ---- Here the printed text ends.")[0]


def test_the_satellite_has_two_unknown_lengths_and_three_unknown_laws():
    mechanism = read(printed_satellite())
    lengths = [p.name for p in mechanism.parameters if p.value is None and p.unit == "m"]
    assert lengths == ["reflecteur.iframe.z", "satellite_bras_primaire.satellite.z"]
    laws = [to_text(force.effort) for force in mechanism.forces if isinstance(force, Law)]
    assert [text.partition("(")[0] for text in laws] == [
        "satellite_bras_primaire.torque.x",
        "bras_primaire_bras_secondeaire.force.y",
        "bras_secondeaire_reflecteur.torque.y",
    ]


def test_the_satellite_names_what_it_leaves_unsaid():
    unknown = [p.name for p in read(printed_satellite()).parameters if p.unit != "m"]
    inertia = [f"satellite.inertia.{x}" for x in "xyz"]
    assert unknown == ["satellite.mass", *inertia, "reflecteur.mass"]


def test_earth_is_the_predecessor_of_the_satellite():
    joint = read(printed_satellite()).joint("ground_satellite")
    assert (joint.predecessor.body, joint.successor.body) == ("ground", "satellite")
    assert isinstance(joint.type, Composition)
    assert joint.coordinates == tuple(
        f"ground_satellite.{part}" for part in ("x", "y", "z", "ps", "th", "ph")
    )


def test_the_unknown_forces_on_the_satellite_are_inputs_in_its_axes():
    mechanism = read(printed_satellite())
    forces = [force for force in mechanism.forces if isinstance(force, PointWrench)]
    assert [(force.marker.body, force.axes.body) for force in forces] == [
        ("satellite", "satellite"),
        ("reflecteur", "satellite"),
    ]
    assert len(mechanism.inputs) == 6
    assert [to_text(x) for x in forces[1].force] == [f"force_on_reflecteur.{x}" for x in "xyz"]


@pytest.fixture
def printed_file(tmp_path):
    path = tmp_path / "satellite.lsd"
    path.write_text(printed_satellite(), encoding="utf-8")
    return path


def test_the_satellite_is_checked_and_compiled_as_it_was_printed(printed_file, capsys):
    """Nothing is added: unknown lengths in the frames of joints stand in no closure."""
    with pytest.raises(SystemExit) as left:
        main(["check", "--explain", str(printed_file)])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert "9 free velocities" in out
    assert "unknown 'satellite_bras_primaire.satellite.z' [m]" in out
    # the document's compiled form: mu_2 := 0, MIg_2 := 0, MOIo_2 := 0, VOT_1_15 = 0
    arm = out.partition("body 'bras_primaire'")[2].partition("body")[0]
    assert arm.count("= 0") + arm.count("= [0, 0, 0]") == 4
    assert "deduced   center = [0, 0, 0]: the origin of its iframe" in out


def test_the_equations_of_the_satellite_as_it_was_printed(printed_file):
    """T is the one of the example with the same values for what is unknown."""
    unknown = liaison.derive(printed_file, "lagrange", exact=True)
    known = liaison.derive(EXAMPLES / "satellite.lsd", "lagrange", exact=True)
    T, wanted = (x.reports.energy[0] for x in (unknown, known))
    assert {"reflecteur.iframe.z", "satellite_bras_primaire.satellite.z"} < {
        x.name for x in symbols_of([T])
    }
    assert vanishes_exactly(T - wanted)


def test_an_unknown_length_beside_a_loop_does_not_stop_its_assembly():
    text = (EXAMPLES / "four_bar.lsd").read_text(encoding="utf-8")
    more = """
let rider = body mass = 1 kg, inertia = 0 end ;
join [0, 0, ?s] ++ 1 @ ground and rider.frame with link(x) dof = [0, x, 0] end ;
"""
    plain, ridden = liaison.check(read(text)), liaison.check(read(text + more))
    assert ridden.start is not None
    assert ridden.rank == plain.rank
    assert np.array_equal(ridden.start.state.q[: plain.tree.nq], plain.start.state.q)


def test_a_script_for_sympy_has_the_unknown_laws_as_functions(printed_file):
    from sympy.core.function import AppliedUndef

    page = liaison.readable(printed_file, integrals=False)
    names: dict = {}
    exec(as_sympy(page), names)
    laws = {str(f.func) for row in names["equations"] for f in row.atoms(AppliedUndef)}
    assert laws == {
        "satellite_bras_primaire.torque.x",
        "bras_primaire_bras_secondeaire.force.y",
        "bras_secondeaire_reflecteur.torque.y",
    }


def test_the_satellite_of_the_example_has_no_unknowns_left():
    mechanism = read(EXAMPLES / "satellite.lsd")
    assert all(parameter.value is not None for parameter in mechanism.parameters)
    laws = [to_text(force.effort) for force in mechanism.forces if isinstance(force, Law)]
    assert laws
    assert not any("torque.x(" in text for text in laws)


def test_the_elliptic_pendulum_keeps_its_momentum_and_its_ellipse():
    run = simulate(read(EXAMPLES / "elliptic_pendulum.lsd"), until=1.0)
    # at the default tolerances of 1e-8 and 1e-10 a second of motion is good to 1e-7
    assert np.abs(run["momentum"]).max() < 1e-7
    assert np.abs(run["ellipse"] - 1).max() < 1e-7


# ---- the generator


def n_four_bar(n: int):
    sys.path.insert(0, str(EXAMPLES))
    try:
        from n_four_bar import n_four_bar as generate
    finally:
        sys.path.remove(str(EXAMPLES))
    return generate(n)


@pytest.mark.parametrize("n", [1, 4])
def test_n_four_bar_has_n_loops_and_begins_as_the_benchmark_says(n):
    mechanism = n_four_bar(n)
    tree = span(mechanism)
    assert (len(mechanism.bodies) - 1, len(mechanism.joints)) == (2 * n + 1, 3 * n + 1)
    assert tree.loops == n
    state = assembly(tree).state
    speeds = dict(zip((label.name for label in state.labels["v"]), state.v, strict=True))
    # all standing rods turn alike, so that every top moves at 1 m/s
    for i in range(n + 1):
        assert speeds[f"A{i}'"] == pytest.approx(-1.0, abs=1e-12)
    assert all(isinstance(joint.type, Revolute) for joint in mechanism.joints)


def test_n_four_bar_prints_what_it_is():
    command = [sys.executable, str(EXAMPLES / "n_four_bar.py"), "4"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("n_four_bar_4: 9 rods, 13 hinges, 4 loops.")


def test_the_top_is_held_by_a_ball_joint():
    assert isinstance(read(EXAMPLES / "spinning_top.lsd").joint("S").type, Spherical)
