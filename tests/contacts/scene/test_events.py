"""Events of scenes: what closes, opens, sticks, slips and hits, against what bodies must do."""

import numpy as np
import pytest

from liaison.contacts.scene import Laws
from liaison.simulation import load
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls

STEP = 1e-3


def told(run, *whats):
    return [x for x in run.events if not whats or x.what in whats]


def test_a_ball_that_bounces_tells_each_impact_and_then_rest():
    height, e, g = 0.2, 0.5, 9.81
    run = Scene(balls([[0, 0, 0.05 + height]]), FLOOR, restitution=e).simulate(2, step=STEP)
    impacts = told(run, "impact")
    first = np.sqrt(2 * height / g)
    # instants and speeds are those of the fall to within a step; each bounce may add one
    for k, x in enumerate(impacts[:5]):
        late = first * (1 + 2 * sum(e**j for j in range(1, k + 1)))
        assert x.t == pytest.approx(late, abs=(k + 1) * STEP)
        assert x.speed == pytest.approx(g * first * e**k, abs=(k + 1) * g * STEP)
    assert {x.name for x in run.events} == {"b0-plane 1"}
    assert [x.what for x in run.events[-2:]] == ["rests", "closes"]
    assert run.events[-1].t == pytest.approx(3 * first, abs=15 * STEP)
    # bounces shorter than two steps are rest, so that there are no more than these
    assert len(impacts) <= 1 + np.log(g * first / (g * STEP)) / np.log(1 / e)


def test_a_ball_that_slides_sticks_when_it_rolls():
    speed, mu = 1.0, 0.2
    struck = balls([[0, 0, 0.05]], speeds=[[0, 0, 0, speed, 0, 0]])
    run = Scene(struck, FLOOR, friction=mu).simulate(0.5, step=STEP)
    ((name, what, t),) = [(x.name, x.what, x.t) for x in run.events]
    # it begins on the floor, which is no event; it rolls at 5/7 of its speed
    assert (name, what) == ("b0-plane 1: sliding", "sticks")
    assert t == pytest.approx(2 / 7 * speed / (mu * 9.81), abs=2 * STEP)


def test_a_ball_that_is_thrown_up_lands_once():
    # the step in which it lands ends half a millimetre above the floor, which is no second flight
    thrown = balls([[0, 0, 0.05], [1, 0, 0.05]], speeds=[[0] * 6, [0, 0, 0, 0, 0, 2]])
    run = Scene(thrown, FLOOR).simulate(0.6, step=STEP)
    listed = [(x.name, x.what) for x in run.events]
    assert listed == [("b1-plane 1", "impact"), ("b1-plane 1", "closes")]
    assert run.events[0].t == pytest.approx(2 * 2 / 9.81, abs=2 * STEP)


def test_a_ball_that_rolls_off_another_opens():
    pair = balls([[0, 0, 0.05], [0.02, 0, 0.05 + np.sqrt(0.01 - 0.0004)]])
    run = Scene(pair, FLOOR).simulate(0.5, step=STEP)
    x = run.q.reshape(-1, 2, 7)[:, :, :3]
    apart = np.linalg.norm(x[:, 1] - x[:, 0], axis=1) - 0.1
    left = run.t[np.flatnonzero(apart > 1e-5)[0]]
    ((t,),) = [[x.t for x in run.events if (x.name, x.what) == ("b0-b1", "opens")]]
    assert left - 0.02 < t <= left
    assert [x.name for x in told(run, "impact")] == ["b1-plane 1"]


def test_balls_that_meet_tell_the_speed_of_approach():
    pair = balls([[0, 0, 0], [0.3, 0, 0]], speeds=[[0, 0, 0, 1, 0, 0], [0, 0, 0, -2, 0, 0]])
    run = Scene(pair, np.zeros((0, 4)), restitution=0.7, gravity=(0, 0, 0)).simulate(0.2, step=STEP)
    ((name, what, t, speed),) = [(x.name, x.what, x.t, x.speed) for x in run.events]
    assert (name, what) == ("b0-b1", "impact")
    assert t == pytest.approx(0.2 / 3, abs=1e-9)
    assert speed == pytest.approx(3, rel=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.3])
def test_a_pile_at_rest_has_no_events(e):
    scene = Scene(balls(heap(20, side=3)), walls(0.34), friction=0.3, restitution=e)
    run = scene.simulate(2.5, step=STEP, every=50)
    assert np.max(np.abs(run.v[-1].reshape(20, 6)[:, 3:])) < 1e-3  # one may spin on
    assert len(run.events) > 200  # it fell, and not in silence
    assert not [x for x in run.events if x.t > 2.0]
    assert [x.t for x in run.events] == sorted(x.t for x in run.events)


@pytest.mark.parametrize("e", [0.0, 0.3])
def test_what_closes_opens_and_what_sticks_slips_in_turn(e):
    scene = Scene(balls(heap(20, side=3)), walls(0.34), friction=0.3, restitution=e)
    run = scene.simulate(1.0, step=STEP, every=50)
    last = {}
    for x in told(run, "closes", "opens", "sticks", "slips"):
        assert last.get(x.name) != x.what, (x.name, x.what, x.t)
        last[x.name] = x.what
        if x.what == "opens":  # friction begins anew with the next closing
            last.pop(f"{x.name}: sliding", None)


def test_events_may_be_left_out_and_change_nothing():
    scene = Scene(balls(heap(9, side=3)), walls(0.34), friction=0.3, restitution=0.3)
    full, bare = (scene.simulate(0.5, step=STEP, events=x) for x in (True, False))
    assert len(full.events) > 10
    assert not bare.events
    assert np.array_equal(full.q, bare.q)


def test_more_events_than_their_buffer_holds_are_all_told():
    scene = Scene(balls(heap(27, side=3)), walls(0.34), friction=0.3, restitution=0.6)
    run = scene.simulate(1.0, step=STEP, every=100)
    # a coarser record asks for fewer drains, and must not lose an event
    fine = scene.simulate(1.0, step=STEP, every=1)
    assert len(run.events) > 500
    assert [(x.name, x.t, x.what) for x in run.events] == [
        (x.name, x.t, x.what) for x in fine.events
    ]


def test_each_pair_of_surfaces_has_its_law():
    n = 3
    laws = Laws(
        bodies=np.array([0, 1, 2]), planes=np.array([3]),
        table=np.array([[-1, -1, -1, 0], [-1, -1, -1, 1], [-1, -1, -1, -1], [0, 1, -1, -1]]),
        values=np.array([[0, 0.8, 0, 0], [0, 0.2, 0, 0]]), names=("floor",),
    )  # fmt: skip
    dropped = balls([[0, 0, 0.25], [0.2, 0, 0.25], [0.21, 0, 0.25]])
    run = Scene(dropped, FLOOR, laws=laws).simulate(0.3, step=STEP)
    up = [run[f"b{k}.vz"].max() for k in range(n)]
    fast = np.sqrt(2 * 9.81 * 0.2)
    assert up[:2] == pytest.approx([0.8 * fast, 0.2 * fast], abs=0.02)
    assert up[2] == 0  # touches nothing: it falls through the floor, and through its neighbor
    assert {x.name for x in run.events} == {"b0-floor", "b1-floor"}


@pytest.mark.parametrize("count", [2, 30])  # contacts solved together, and swept
def test_each_pair_of_surfaces_has_its_friction(count):
    mu = np.linspace(0.1, 0.5, count)
    laws = Laws(
        bodies=np.arange(count), planes=np.array([count]),
        table=np.full((count + 1, count + 1), -1), values=np.zeros((count, 4)), names=("floor",),
    )  # fmt: skip
    laws.values[:, 0] = mu
    laws.table[:count, count] = laws.table[count, :count] = np.arange(count)
    speeds = np.tile([0.0, 0, 0, 2, 0, 0], (count, 1))
    row = balls([[0.2 * k, k, 0.05] for k in range(count)], speeds=speeds)
    run = Scene(row, FLOOR, laws=laws).simulate(0.1, step=STEP)
    assert [run[f"b{k}.vx"][-1] for k in range(count)] == pytest.approx(
        2 - mu * 9.81 * 0.1, abs=1e-6
    )


def test_events_are_saved_with_a_run(tmp_path):
    run = Scene(balls([[0, 0, 0.25]]), FLOOR, restitution=0.5, friction=0.1).simulate(1, step=STEP)
    run.save(tmp_path / "run.nc")
    again = load(tmp_path / "run.nc")
    assert [(x.name, x.t, x.what, x.speed) for x in again.events] == [
        (x.name, x.t, x.what, x.speed) for x in run.events
    ]
