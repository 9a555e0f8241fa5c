"""Which reactions closures leave undetermined, and what would free them."""

from dataclasses import replace

import pytest

import liaison
from liaison.freedoms import mobility
from liaison.model import Composition, Cylindrical, PointOnLine, Revolute, Rotation, Spherical
from liaison.model.describe import body, ground, join, mechanism

from .built import mechanism_of
from .linkages import CASES

TYPES = {
    "Spherical": Spherical(),
    "Cylindrical": Cylindrical(),
    "PointOnLine": PointOnLine(),
    "Universal (about z and x)": Composition((Rotation("z"), Rotation("x"))),
    "Universal (about z and y)": Composition((Rotation("z"), Rotation("y"))),
}


def freed(given, proposal):
    """The mechanism with the proposal carried out, in the same position."""
    change = dict(proposal)
    joints, turned = [], {}
    for joint in given.joints:
        kind = change.get(joint.name)
        if kind == "taken away":
            continue
        if kind is not None:
            old = joint.coordinates[0]
            joint = replace(joint, type=TYPES[kind], coordinates=())
            if kind.startswith(("Cylindrical", "Universal")):
                turned[old] = joint.coordinates[0]  # the same turn by another name
        joints.append(joint)
    known = {x for joint in joints for x in joint.coordinates}
    starts = (replace(x, label=turned.get(x.label, x.label)) for x in given.starts)
    kept = tuple(start for start in starts if start.label in known)
    return replace(given, joints=tuple(joints), starts=kept, forces=(), inputs=(), outputs=(),
                   events=())  # fmt: skip


EXAMPLES = ["four_bar", "door", "slider_crank", "bennett", "goldberg", "bricard_line",
            "bricard_trihedral", "sarrus", "double_cardan", "saliere", "triangle"]  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_proposal_for_an_example_keeps_its_motion_and_frees_it(name, examples):
    given = liaison.read(examples / f"{name}.lsd")
    before = mobility(given, primes=1, order=130)
    assert before.redundancy.count > 0
    assert before.redundancy.is_exact
    changed = freed(given, before.redundancy.proposal)
    at = {} if name != "door" else {"high": 0}
    after = mobility(
        changed, at={k: x for k, x in at.items() if k in changed.coordinates}, primes=1
    )
    assert after.redundancy.count == before.redundancy.remaining == 0
    assert after.finite == before.finite


def test_a_determined_component_is_told_beside_the_others(examples):
    found = mobility(liaison.read(examples / "four_bar.lsd"), primes=1).redundancy
    assert dict(found.determined) == dict.fromkeys("ABCD", ("force along x", "force along y"))


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
    after = mobility(freed(given, before.redundancy.proposal), primes=1, order=130)
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
    found = mobility(liaison.read(examples / "stewart_welded.lsd"), primes=1)
    assert (found.mode, found.finite, found.redundancy.count) == ("exact", (5, 5), 0)
    assert found.redundancy.undetermined == found.redundancy.proposal == ()
    weld = dict(found.redundancy.determined)["weld"]
    assert len(weld) == 6
    assert "every reaction is determined" in str(found)


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


def test_many_loops_and_joints_are_listed_in_part():
    text = ""
    for i in range(14):
        on = f"[{3 * i}, 0, 0] m @ earth", f"[{3 * i + 1}, 0, 0] m @ earth"
        for x in "lrs":
            text += f"let {x}{i} = body mass = 1 kg, inertia = 1 kg*m^2 end ;\n"
        pairs = (
            f"{on[0]} and l{i}", f"{on[1]} and r{i}", f"[0, 1, 0] m @ l{i} and s{i}",
            f"[0, 1, 0] m @ r{i} and [1, 0, 0] m @ s{i}",
        )  # fmt: skip
        for k, pair in enumerate(pairs):
            text += f"let J{i}_{k} = join {pair} with revolute end ;\n"
        text += f"start J{i}_0 = 20 deg ; guess J{i}_2 = -20 deg ;\n"
    redundancy = liaison.mobility(text).redundancy
    sentences = redundancy.sentences()
    assert redundancy.count == 42
    assert len(redundancy.families) == 14
    assert "… and 2 more loops." in sentences
    assert max(map(len, sentences)) < 300
