"""Every example reads, and is what its comments say."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from liaison.corridor import simulate
from liaison.expr import to_text
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
    "gimbals": (3, 3, 0, 3),
    "satellite": (4, 4, 0, 9),
    "arm7": (9, 9, 0, 7),
}


def test_all_examples_are_counted():
    assert {path.stem for path in FILES} == set(COUNTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
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
    assert invisible == {"ground"}


def test_numbers_are_kept_exact():
    mechanism = read(EXAMPLES / "four_bar.lsd")
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
