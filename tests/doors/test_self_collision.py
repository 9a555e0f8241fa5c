"""Links that touch each other, but for neighbours: of URDF, and geoms of MJCF with meshes."""

import numpy as np
import pytest

import liaison
from doors.test_urdf_robots import joint, link, robot
from liaison.errors import ModelError
from liaison.formats import reading_of_mjcf
from liaison.formats.urdf import collisions
from liaison.formats.urdf.read import reading_of_urdf

SHAPES = {
    "box": '<box size="0.1 0.1 0.3"/>',
    "cylinder": '<cylinder radius="0.05" length="0.3"/>',
    "sphere": '<sphere radius="0.05"/>',
    "capsule": '<capsule radius="0.05" length="0.2"/>',
}


def solid(form):
    return f'<collision><origin xyz="0 0 -0.2"/><geometry>{form}</geometry></collision>'


def chain(first="box", last="cylinder"):
    """A base, an upper and a lower arm; a tip that is fixed to the lower one."""
    links = link("base", 3, "0 0 0", solid(SHAPES[first])) + link(
        "upper", more=solid(SHAPES["box"])
    )
    links += link("lower", more=solid(SHAPES[last])) + link("tip", more=solid(SHAPES["sphere"]))
    joints = joint("hip", "base", "upper", xyz="0.3 0 0") + joint(
        "knee", "upper", "lower", xyz="0 0 -0.4"
    )
    joints += joint("wrist", "lower", "tip", "fixed", xyz="0 0 -0.4")
    return robot(links=links, joints=joints)


def names(content):
    return [x.name for x in content.mechanism.contacts]


def test_neighbours_and_what_is_fixed_together_pass_through_each_other():
    content = reading_of_urdf(chain(), self_collision=True)
    assert names(content) == ["base on lower", "base on tip"]
    assert "2 pairs of shapes of links may touch, without neighbours" in content.deduced
    srdf = '<robot name="r"><disable_collisions link1="tip" link2="base"/></robot>'
    content = reading_of_urdf(chain(), self_collision=True, srdf=srdf)
    assert names(content) == ["base on lower"]
    assert not any("disable_collisions" in x for x in content.notes)
    assert names(reading_of_urdf(chain())) == []


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("last", SHAPES)
def test_every_two_shapes_can_touch(first, last):
    content = reading_of_urdf(chain(first, last), self_collision=True)
    assert names(content) == ["base on lower", "base on tip"]


def test_an_arm_that_folds_comes_to_rest_on_the_base():
    model = liaison.read(chain(), self_collision=True, limits=False)
    start = {"knee": 3.0, "knee'": -5.0}
    run = liaison.simulate(model, until=0.3, start=start, method="moreau", step=1e-3)
    free = liaison.simulate(
        liaison.read(chain(), limits=False), until=0.3, start=start, method="moreau", step=1e-3
    )
    assert any(x.what == "impact" for x in run.events)
    assert run.meta["penetration"] < 1e-9
    assert np.abs(run.q[-1] - free.q[-1]).max() > 0.1
    energy = run["energy"].sum(axis=1)
    assert np.diff(energy).max() < 1e-4 * np.ptp(energy)


def test_too_many_pairs_are_an_error_that_names_the_srdf_file(monkeypatch):
    monkeypatch.setattr(collisions, "MOST", 1)
    with pytest.raises(ModelError, match="2 pairs of collision shapes") as error:
        reading_of_urdf(chain(), self_collision=True)
    assert "disable_collisions" in str(error.value)


MESH = "0 0 0 .1 0 0 0 .1 0 0 0 .1"
FACES = "0 2 1 0 1 3 1 2 3 0 3 2"


def test_geoms_of_mjcf_touch_in_every_way():
    bodies = "".join(
        f'<body name="b{k}" pos="{k} 0 1"><freejoint/><geom {x}/></body>'
        for k, x in enumerate(('type="box" size=".1 .1 .1"', 'type="cylinder" size=".1 .1"',
                               'type="mesh" mesh="m"', 'type="capsule" size=".1 .1"'))
    )  # fmt: skip
    text = (
        f'<mujoco><asset><mesh name="m" vertex="{MESH}" face="{FACES}"/></asset><worldbody>'
        f'<geom name="floor" type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>'
    )
    content = reading_of_mjcf(text, contacts=True)
    assert len(content.mechanism.contacts) == 4 + 6
    assert any("contacts have no formulas, and are found by loops" in x for x in content.notes)
    assert not any("are not read" in x for x in content.notes)


def test_a_mesh_of_mjcf_stands_on_the_ground():
    text = (
        f'<mujoco><asset><mesh name="m" vertex="{MESH}" face="{FACES}"/></asset><worldbody>'
        '<geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.05"><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    model = reading_of_mjcf(text, contacts=True).mechanism
    run = liaison.simulate(model, until=0.3, method="moreau", step="1 ms", every=0.1)
    assert run.q[-1, 2] == pytest.approx(0, abs=1e-9)
    assert np.abs(run.v[-1]).max() < 1e-9
