"""Which reactions closures leave undetermined, and what would free them."""

from dataclasses import replace

import pytest

import liaison
from liaison.mobility import mobility
from liaison.model import Cylindrical, Fixed, Marker, PointOnLine, Revolute, Spherical
from liaison.model.describe import body, ground, join, mechanism

from .built import mechanism_of
from .linkages import CASES

TYPES = {"Spherical": Spherical(), "Cylindrical": Cylindrical(), "PointOnLine": PointOnLine()}


def test_a_four_bar_leaves_what_is_out_of_its_plane(examples):
    found = mobility(liaison.read(examples / "four_bar.lsd")).redundancy
    assert found.count == 3
    out_of_plane = ("moment about x", "moment about y", "force along z")
    assert dict(found.undetermined) == dict.fromkeys("ABCD", out_of_plane)
    assert "planar" in found.families[0]


@pytest.mark.parametrize(
    "name", ["four_bar", "spherical_4r", "bennett", "goldberg", "bricard_line"]
)
def test_the_proposal_takes_the_redundancy_away_and_keeps_the_mobility(name):
    given = mechanism_of(CASES[name])
    before = mobility(given, primes=1, order=130)
    change = dict(before.redundancy.proposal)
    joints = tuple(
        replace(joint, type=TYPES[change[joint.name]], coordinates=())
        if joint.name in change
        else joint
        for joint in given.joints
    )
    after = mobility(replace(given, joints=joints), primes=1, order=130)
    assert before.redundancy.count > 0
    assert after.redundancy.count == 0
    assert after.finite == before.finite == (1, 1)
    assert after.status == "regular"


def test_a_door_on_three_hinges(examples):
    found = mobility(liaison.read(examples / "door.lsd"))
    assert (found.finite, found.redundant_rows) == ((1, 1), 10)
    report = found.redundancy
    everything_but_the_turn = (
        "moment about x", "moment about y", "force along x", "force along y", "force along z",
    )  # fmt: skip
    assert dict(report.undetermined) == dict.fromkeys(
        ("low", "middle", "high"), everything_but_the_turn
    )
    assert report.proposal == (
        ("low", "taken away"), ("middle", "PointOnLine"), ("high", "Spherical"),
    )  # fmt: skip
    assert report.remaining == 0


def test_a_shaky_mechanism_gets_no_proposal():
    found = mobility(mechanism_of(CASES["shaky_6r"]), primes=1)
    assert (found.redundancy.count, found.redundancy.proposal) == (1, ())


def test_a_welded_stewart_platform_loses_one_freedom_and_nothing_is_redundant(examples):
    given = liaison.read(examples / "stewart.lsd")
    length = next(start.value for start in given.starts if start.label == "P1")
    slider = given.joint("P1")
    far = Marker(slider.predecessor.body, slider.predecessor.R, (0, 0, length))
    weld = replace(slider, type=Fixed(), coordinates=(), predecessor=far)
    stiff = replace(
        given,
        joints=tuple(weld if joint.name == "P1" else joint for joint in given.joints),
        starts=tuple(start for start in given.starts if not start.label.startswith("P1")),
        forces=(), inputs=(), outputs=(),
    )  # fmt: skip
    found = mobility(stiff, primes=1)
    assert (found.mode, found.finite, found.redundancy.count) == ("exact", (5, 5), 0)


def test_a_determined_loop_says_nothing():
    """Two balls and two hinges: the coupler turns about itself, nothing is redundant."""
    a, b, c = (body(name, mass=1) for name in "abc")
    loop = mechanism(
        join(ground, a, Revolute, name="A"),
        join(a.at((1, 0, 0)), b.at((1, 0, 0)), Spherical, name="B"),
        join(b.at((2, 3, 1)), c.at((2, 3, 1)), Spherical, name="C"),
        join(c.at((4, 0, 0)), ground.at((4, 0, 0)), Revolute, name="D", axis=(0, 1, 2)),
    )
    found = mobility(loop, primes=1)
    assert (found.finite, found.redundancy.count, found.redundancy.sentences()[1:]) == (
        (2, 2),
        0,
        [],
    )
