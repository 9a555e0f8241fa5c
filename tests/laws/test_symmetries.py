"""Law 8: what is chosen freely changes nothing: world, order, direction, cut, unit of mass."""

from dataclasses import replace

import numpy as np
import pytest

from liaison.errors import DerivationError
from liaison.expr import fingerprint
from liaison.tree import span
from samples import draw, relative_difference, sample, solved, some
from samples.derived import Solved
from samples.drawing import Sample, shuffled
from samples.numbers import floats, quaternion
from samples.random_parts import turned
from samples.symmetries import moved_world

SEEDS = some(range(20), 8)
TOLERANCE = 1e-9
"""Rounding through a system of condition up to 1e6."""


def by_label(x: Solved, vdot) -> dict[str, float]:
    names = [label.name for label in x.equations.labels["v"]]
    return dict(zip(names, np.asarray(vdot).tolist(), strict=True))


# the world frame


@pytest.mark.parametrize("seed", SEEDS)
def test_moving_the_world_frame_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    other = Solved(moved_world(sample(seed), (turned(rng), rng.normal(size=3))))
    x = solved(seed)
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < TOLERANCE


# the order of declaration


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_declaration_changes_nothing(seed):
    m, rng = sample(seed).mechanism, np.random.default_rng(seed)
    reordered = replace(
        m, bodies=(m.bodies[0], *shuffled(rng, m.bodies[1:])), joints=shuffled(rng, m.joints)
    )
    x, other = solved(seed), Solved(replace(sample(seed), mechanism=reordered))
    for a, b in ((x.equations.dynamics, other.equations.dynamics),):
        assert fingerprint(list(a.f)) == fingerprint(list(b.f))
        assert fingerprint(list(a.M.values())) == fingerprint(list(b.M.values()))
    names = [[label.name for label in y.equations.labels["lam"]] for y in (x, other)]
    assert names[0] == names[1]


# predecessor and successor

TURNING = ("Fixed", "Revolute", "Prismatic", "Helical", "Cylindrical", "Spherical")


def turned_round(s: Sample) -> Sample:
    """Every joint told the other way: M becomes F, and coordinates change their sign."""
    q, v = dict(s.q), dict(s.v)
    joints = []
    for joint in s.mechanism.joints:
        joints.append(replace(joint, predecessor=joint.successor, successor=joint.predecessor))
        if joint.type.name != "Spherical":
            q |= {label: -s.q[label] for label in joint.coordinates}
            v |= {label: -s.v[label] for label in joint.speeds}
            continue
        R = floats(joint.type.pose([s.q[x] for x in joint.coordinates])[0])
        W = floats(joint.type.subspace([s.q[x] for x in joint.coordinates]))[:3]
        omega = -R @ W @ np.array([s.v[x] for x in joint.speeds])
        q |= dict(zip(joint.coordinates, quaternion(R.T).tolist(), strict=True))
        v |= dict(zip(joint.speeds, omega.tolist(), strict=True))
    return replace(s, mechanism=replace(s.mechanism, joints=tuple(joints)), q=q, v=v)


@pytest.mark.parametrize("seed", some(range(12), 5))
def test_swapping_predecessor_and_successor_changes_nothing(seed):
    s = draw(
        seed, bodies=(3, 5), loops=(0, 1), kinds=TURNING, closing=TURNING, relations=False,
        along=False, attitudes=False,
    )  # fmt: skip
    x, other = Solved(s), Solved(turned_round(s))
    assert relative_difference(x.accelerations(), other.accelerations()) < TOLERANCE
    first = x.call("reactions", x=np.concatenate(x.dense))
    second = other.call("reactions", x=np.concatenate(other.dense))
    for joint in s.mechanism.joints:
        R, p = (floats(a) for a in joint.type.pose([s.q[k] for k in joint.coordinates]))
        moment, push = np.split(-first[joint.name], 2)
        there = np.concatenate([R @ moment + np.cross(p, R @ push), R @ push])
        assert relative_difference(there, second[joint.name]) < TOLERANCE


# the cut


def cuts_of(s: Sample) -> list[tuple[str, ...]]:
    """Every joint that can be cut alone, the rest being chosen."""
    found = []
    for joint in s.mechanism.joints:
        try:
            tree = span(s.mechanism, cuts=(joint.name,))
        except DerivationError:
            continue
        if joint.name in {closure.joint.name for closure in tree.closures}:
            found.append((joint.name,))
    return found


def compared_cuts(s: Sample) -> float:
    """Worst difference of accelerations and reactions over all cuts of a sample."""
    x = Solved(s)
    determined = not x.equations.closures.vanished
    reactions = x.call("reactions", x=np.concatenate(x.dense))
    worst = 0.0
    for cut in cuts_of(s):
        other = Solved(s, cuts=cut)
        forward = other.forward
        worst = max(
            worst,
            relative_difference(x.accelerations(), other.accelerations()),
            relative_difference(x.accelerations(), other.accelerations(forward["vdot"])),
        )
        if determined and not other.equations.closures.vanished:
            both = np.concatenate([forward["vdot"], forward["lam"]])
            again = other.call("reactions", x=both)
            names = [joint.name for joint in s.mechanism.joints]
            worst = max(
                worst, *(relative_difference(reactions[name], again[name]) for name in names)
            )
    return worst


@pytest.mark.parametrize("seed", some(range(14), 4))
def test_moving_the_cut_changes_nothing(seed):
    s = draw(100 + seed, bodies=(3, 4), loops=(1, 1))
    assert len(cuts_of(s)) > 1
    assert compared_cuts(s) < TOLERANCE


# the unit of mass


@pytest.mark.parametrize("scale", [1e6, 1e-6])
@pytest.mark.parametrize("seed", some(range(12), 5))
def test_masses_times_a_factor_leave_accelerations(seed, scale):
    s = draw(seed, loads=False, loops=(1, 2))
    heavier = tuple(
        replace(
            body,
            mass=body.mass * scale,
            inertia=tuple(tuple(scale * x for x in row) for row in body.inertia),
        )
        for body in s.mechanism.bodies
    )
    x = Solved(s)
    other = Solved(replace(s, mechanism=replace(s.mechanism, bodies=heavier)))
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < TOLERANCE
    lam = scale * np.asarray(x.forward["lam"])
    assert relative_difference(lam / scale, other.forward["lam"] / scale) < TOLERANCE
    assert by_label(x, x.forward["vdot"]).keys() == by_label(other, other.forward["vdot"]).keys()
