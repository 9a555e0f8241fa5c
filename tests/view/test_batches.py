"""Crowds and arrows as a few nodes: each copy where its body is, and nothing where nothing acts."""

from dataclasses import replace

import numpy as np
import pytest

from liaison.model import Free, Sphere, body, gravity, ground, join
from liaison.model.mechanism import Mechanism
from liaison.model.shapes import Box
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.view import show
from liaison.view.marks import MOMENT_COLOR, SLIPS, Mark, struck
from liaison.view.solids import cone, cube, globe, pillar
from liaison.view.stage import MOST_NODES, MarkBatches, _arrows

COUNT = MOST_NODES + 6


def crowd(count: int) -> tuple[Trajectory, Mechanism]:
    """Balls and boxes that rise, each at a place of its own."""
    rng = np.random.default_rng(3)
    solids = [Sphere(0.05) if k % 2 else Box(0.1, 0.2, 0.3) for k in range(count)]
    bodies = [
        body(f"b{k}", 1, inertia=(0.01,) * 3, shapes=[solid]) for k, solid in enumerate(solids)
    ]
    joints = [join(ground, x, Free, name=f"F{k}") for k, x in enumerate(bodies)]
    mechanism = Mechanism("crowd", tuple(bodies), tuple(joints), forces=(gravity(),))
    t = np.linspace(0, 1, 11)
    poses = np.tile(np.eye(3, 4), (11, count, 1, 1))
    poses[:, :, :, 3] = rng.normal(size=(count, 3)) + t[:, None, None] * [0, 0, 1]
    names = tuple(x.name for x in bodies)
    empty = np.zeros((11, 0))
    labels = {"q": (), "v": ()}
    return Trajectory("crowd", t, empty, empty, labels, {"poses": Series.of_poses(poses, names)}), (
        mechanism
    )


def test_many_bodies_are_a_node_for_each_kind_of_solid():
    run, mechanism = crowd(COUNT)
    with show(run, mechanism, browser=False, port=0) as view:
        parts = view._stage._crowd._parts
        assert [len(mine) for _, mine in parts] == [COUNT // 2, COUNT // 2]
        assert set(view._stage._bodies) == {"ground"}
        view.pause()
        view.seek(1.0)
        batch, mine = parts[0]
        k = [int(name[1:]) for name, _ in mine]
        places = run["poses"][-1, k, :, 3]
        np.testing.assert_allclose(batch._now["batched_positions"], places, atol=1e-6)
    with show(run, mechanism, browser=False, port=0, labels=True) as view:
        assert len(view._stage._bodies) == COUNT + 1


def test_bodies_flash_where_they_are_struck_and_not_faintly():
    run, _ = crowd(3)
    none = np.zeros(0)
    hits = [("b0-b1", 0.3, 2.0), ("b1-plane 1", 0.75, 1.0), ("b2-b1", 0.5, 0.1)]
    events = tuple(EventRecord(x, t, none, none, "impact", speed=v) for x, t, v in hits)
    seen = struck(replace(run, events=events), ["b0", "b1", "b2"], speed=1.0)
    at = {name: run.t[is_hit].round(9).tolist() for name, is_hit in seen.items()}
    assert at == {"b0": [0.3], "b1": [0.3, 0.8], "b2": []}


@pytest.mark.parametrize(
    ("solid", "whole"),
    [(globe(), 4 / 3 * np.pi), (cube(), 1.0), (pillar(), np.pi), (cone(1.0, 1.0), np.pi / 3)],
    ids=["globe", "cube", "pillar", "cone"],
)
def test_solids_are_closed_and_face_outwards(solid, whole):
    corners = solid.vertices[solid.faces]
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(whole, rel=0.05)  # what is round has flat pieces
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    np.testing.assert_allclose(area, 0, atol=1e-9)  # a closed surface


def test_an_arrow_ends_where_it_must_and_a_short_one_has_a_small_head():
    start, vector = np.zeros((3, 3)), np.array([[0, 0, 2.0], [0.01, 0, 0], [0, 0, 0]])
    (place, _, bar), (foot, _, head) = _arrows(start, vector, size=1.0)
    way = np.array([[0, 0, 1.0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(foot + head[:, 2:] * way, vector, atol=1e-12)  # the tip
    np.testing.assert_allclose(place, foot / 2, atol=1e-12)
    np.testing.assert_allclose(bar[:, 2] + head[:, 2], [2.0, 0.01, 0], atol=1e-12)
    assert head[1, 2] == pytest.approx(0.005)
    assert not np.any(bar[2])


class Nothing:
    """A scene that keeps nothing."""

    def add_batched_meshes_simple(self, *_, **__):
        return self


def test_a_moment_has_two_heads():
    still = np.zeros((1, 3))
    acts = (np.array([[0, 0, 1.0]]), np.array([[0.5, 0, 0]]))
    mark = Mark("a", still, *acts, np.array([SLIPS]), np.array([False]), 0.1)
    _, shafts, heads = MarkBatches(Nothing(), "/contacts", [mark], 1.0).at(0)
    assert len(shafts.position) == 2
    assert len(heads.position) == 3
    assert tuple(heads.color[-1]) == MOMENT_COLOR
    gap = heads.position[1] - heads.position[2]
    np.testing.assert_allclose(gap, [0.8 * 0.075, 0, 0], atol=1e-12)
