"""Scenes run as every mechanism does: instants, stop conditions, limits, checkpoints."""

import pickle
import signal
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.contacts.scene.layout import World
from liaison.errors import Interrupted, NamingError, SimulationError
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls

STEP, G = 1e-3, 9.81
NOWHERE = np.zeros((0, 4))


def drop(height=0.2, **options):
    return Scene(balls([[0, 0, 0.05 + height]], speeds=[[0, 0, 2, 0.3, 0, 0]]), FLOOR, **options)


def fast():
    """So fast that more pairs may meet within a step than there is room for in the beginning."""
    rng = np.random.default_rng(5)
    places = 0.3 * np.array([[x, y, z] for z in range(4) for y in range(4) for x in range(5)])
    speeds = np.column_stack([np.zeros((80, 3)), rng.normal(size=(80, 3)) * 150])
    thrown = balls(places, speeds=speeds)
    return Scene(thrown, NOWHERE, gravity=(0, 0, 0), restitution=0.5, friction=0.2)


def same(one, other):
    """Two runs are the same to the bit."""
    listed = [[(x.name, x.what, x.t, x.speed) for x in run.events] for run in (one, other)]
    arrays = all(np.array_equal(getattr(one, x), getattr(other, x)) for x in ("t", "q", "v"))
    series = all(np.array_equal(one[x], other[x]) for x in one.series)
    return arrays and series and listed[0] == listed[1] and one.counts == other.counts


# what is recorded


def test_instants_within_steps_lie_on_the_motion():
    t = np.array([0.0, 0.00037, 0.01, 0.0123, 0.1])
    run = drop().simulate(0.1, step=STEP, every=t)
    assert np.array_equal(run.t, t)
    # velocities are linear in flight; places are so between the ends of a step
    assert run["b0.vz"] == pytest.approx(-G * t, abs=1e-12)
    assert run["b0.z"] == pytest.approx(0.25 - G * t**2 / 2, abs=G * STEP**2 / 8 + 1e-15)
    assert run["b0.x"] == pytest.approx(0.3 * t, abs=1e-15)
    assert run["b0.qz"] == pytest.approx(np.sin(t), abs=1e-12)  # it turns at 2 rad/s
    assert np.linalg.norm(run.q[:, 3:], axis=1) == pytest.approx(np.ones(5), abs=1e-15)


def test_instants_at_ends_of_steps_are_those_of_the_steps():
    scene = Scene(balls(heap(9, side=3)), walls(0.34), friction=0.3, restitution=0.3)
    steps = scene.simulate(0.2, step=STEP, every=1)
    third = scene.simulate(0.2, step=STEP, every=3)
    listed = scene.simulate(0.2, step=STEP, every=steps.t[[0, 60, 131]])
    assert np.array_equal(third.t, steps.t[[*range(0, 200, 3), 200]])
    assert np.array_equal(third.q, steps.q[[*range(0, 200, 3), 200]])
    assert np.array_equal(listed.v, steps.v[[0, 60, 131]])
    assert np.array_equal(listed["planes"], steps["planes"][[0, 60, 131]])


def test_a_period_that_is_no_whole_number_of_steps_is_kept():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let a = body mass = 1 kg, inertia = 1 g*m^2, shape = box([10, 10, 10] cm) end ;
    let b = body mass = 1 kg, inertia = 1 g*m^2, shape = box([10, 10, 10] cm) end ;
    let A = join earth and a with free end ;
    let B = join earth and b with free end ;
    start A.z = 1 m ; start B.z = 2 m ;
    collide a, b, earth with friction = 0.1 end ;
    """
    run = liaison.simulate(text, until=0.01, step=STEP, every=0.0025)
    assert "as a scene" in run.message
    assert run.t == pytest.approx([0, 0.0025, 0.005, 0.0075, 0.01], abs=1e-15)
    assert run["A.z"] == pytest.approx(1 - G * run.t**2 / 2, abs=G * STEP**2 / 8 + 1e-14)
    odd = liaison.simulate(text, until=0.01, step=STEP, every=0.0035)
    assert odd.t == pytest.approx([0, 0.0035, 0.007, 0.01], abs=1e-15)  # the end as well
    with pytest.raises(SimulationError, match=r"every is -1\.0; it must be positive"):
        liaison.simulate(text, until=0.01, every=-1.0)


# what ends it


def test_a_stop_condition_ends_a_scene_at_its_instant():
    run = drop(restitution=0.5).simulate(1, step=STEP, stop={"b0.z": 0.15})
    assert run.status == "stopped"
    assert "stopped by event 'b0.z'" in run.message
    assert run.t[-1] == pytest.approx(np.sqrt(2 * 0.1 / G), abs=G * STEP**2)
    assert run["b0.z"][-1] == pytest.approx(0.15, abs=1e-12)
    assert [(x.name, x.t) for x in run.events] == [("b0.z", run.t[-1])]


def test_a_formula_of_several_bodies_ends_a_scene():
    pair = balls([[0, 0, 0], [1, 0, 0]], speeds=[[0, 0, 0, 0.3, 0, 0], [0] * 6])
    scene = Scene(pair, NOWHERE, gravity=(0, 0, 0))
    run = scene.simulate(5, step=0.01, stop=liaison.symbol("b1.x") - liaison.symbol("b0.x") - 0.5)
    assert run.t[-1] == pytest.approx(0.5 / 0.3, abs=1e-12)


def test_a_scene_stops_when_something_touches():
    run = drop().simulate(1, step=STEP, stop={"contacts": 0.5})
    assert run.t[-1] == pytest.approx(np.sqrt(2 * 0.2 / G), abs=2 * STEP)
    # the step in which it lands is not taken to its end, and what happens there is no event
    assert all(x.t <= run.t[-1] for x in run.events)
    with pytest.raises(NamingError, match="contact"):
        drop().simulate(1, step=STEP, stop={"contact": 0.5})


def test_stop_conditions_and_events_left_out_go_together():
    options = {"step": STEP, "stop": {"b0.z": 0.15}}
    bare = drop(restitution=0.5).simulate(1, events=False, **options)
    assert [x.name for x in bare.events] == ["b0.z"]


def test_limits_return_what_was_reached():
    scene = drop()
    with pytest.raises(SimulationError, match="out of time at t =") as caught:
        scene.simulate(1e9, step=STEP, every=10**9, time_limit=0.02)
    assert caught.value.status == "time limit"
    assert "more time" in caught.value.hint
    assert caught.value.trajectory.t[-1] == caught.value.t > 0
    part = scene.simulate(1e9, step=STEP, every=10**9, time_limit=0.02, on_failure="return")
    assert part.status == "time limit"
    assert part["b0.z"][-1] == pytest.approx(0.05, abs=1e-6)
    with pytest.raises(SimulationError, match="on_failure is 'stop'"):
        scene.simulate(1, step=STEP, on_failure="stop")


def test_an_interruption_carries_the_run_so_far():
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Interrupted, match="interrupted at t =") as caught:
            drop().simulate(1e9, step=STEP, every=10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value.trajectory.t[-1] == caught.value.t > 0.1


def test_a_state_that_is_no_longer_finite_ends_with_the_last_good_one():
    scene = Scene(balls([[0, 0, 1]]), NOWHERE, gravity=(0, 0, 1e307))
    with pytest.raises(SimulationError, match="no longer finite after") as caught:
        scene.simulate(100, step=1.0)
    assert caught.value.status == "not finite"
    assert np.all(np.isfinite(caught.value.trajectory.v))
    assert len(caught.value.trajectory.t) > 1


def test_the_error_of_a_mechanism_carries_its_own_coordinates():
    parts = ["gravity = [0, 0, -9.81] m/s^2 ;"]
    for k in range(12):
        parts.append(
            f"let b{k} = body mass = 1 kg, inertia = 1 g*m^2, shape = sphere(radius = 1 cm) end ;"
            f"let F{k} = join earth and b{k} with free end ; start F{k}.z = {k + 1} m ;"
        )
    text = "\n".join([*parts, "collide b[*], earth with friction = 0.1 end ;"])
    with pytest.raises(SimulationError, match="out of time") as caught:
        liaison.simulate(text, until=1e9, step=STEP, every=1e5, time_limit=0.02)
    assert caught.value.trajectory["F3.z"][0] == 4
    part = liaison.simulate(text, until=1e9, every=1e5, time_limit=0.02, on_failure="return")
    assert part.status == "time limit"
    assert part["F3.z"][0] == 4


# what is kept


@pytest.mark.parametrize("make", [drop, fast])
def test_a_scene_goes_on_from_a_checkpoint_to_the_bit(make):
    options = {"until": 0.3, "step": STEP} if make is drop else {"until": 0.05, "step": 5e-3}
    scene = make()
    whole = scene.simulate(**options)
    begun = scene.run(**options)
    room = World(begun.arrays.run.beside).capacity
    begun.go(5)
    begun.go(3)  # more room is a slice of its own
    assert (World(begun.arrays.run.beside).capacity > room) == (make is fast)
    kept = begun.checkpoint()
    assert 0 < begun.t < options["until"]
    later = make().run(**options)
    later.restore(kept)
    assert later.t == begun.t
    assert same(later.finish(), whole)
    later.restore(kept)  # back to it, from the end
    assert same(later.finish(), whole)
    early = scene.run(**options)
    early.restore(make().run(**options).checkpoint())
    assert same(early.finish(), whole)
    other = Scene(scene.bodies, scene.planes, gravity=scene.gravity, restitution=0.25)
    with pytest.raises(SimulationError, match="belongs to another run"):
        other.run(**options).restore(kept)


def test_a_run_goes_on_step_by_step():
    run = drop().run(1, step=STEP)
    run.go(10)
    assert run.t == pytest.approx(10 * STEP)
    assert run.state["b0.vz"] == pytest.approx(-G * 10 * STEP)
    assert run.trajectory().t[-1] == run.t
    assert same(run.finish(), drop().simulate(1, step=STEP))


# step by step


def test_steps_of_a_stepper_are_those_of_a_run_to_the_bit():
    scene = Scene(balls(heap(9, side=3)), walls(0.34), friction=0.3, restitution=0.3)
    whole = scene.simulate(0.2, step=STEP)
    its, n, events = scene.stepper(step="1 ms"), 0, []
    for dt, count in ((STEP, 50), (5 * STEP, 10), ("10 ms", 10)):
        for _ in range(count):
            state = its.step(None, dt)
            events += its.events
            n += round(1000 * liaison.units.si_value(dt, "s", "dt"))
            assert state.t == whole.t[n]
            assert np.array_equal(state.q, whole.q[n])
            assert np.array_equal(state.v, whole.v[n])
    assert [(x.name, x.what, x.t) for x in events] == [(x.name, x.what, x.t) for x in whole.events]
    assert its.modes["b0-plane 1"] == "closed"
    assert its.modes["b0-plane 1: sliding"] in ("sticks", "slips")
    with pytest.raises(SimulationError, match="a scene has no inputs"):
        its.step({"contacts": 1.0}, STEP)


def test_a_stepper_of_a_scene_is_copied_and_begins_anew_to_the_bit():
    scene = Scene(balls(heap(5, side=2)), walls(0.23), friction=0.3)
    its = scene.stepper(step=STEP)
    first = its.state
    its.step(None, 0.1)
    other = pickle.loads(pickle.dumps(its))
    for _ in range(3):
        assert np.array_equal(its.step(None, 0.0107).q, other.step(None, 0.0107).q)
    last = its.step(None, 0.05)
    its.reset(first)
    its.step(None, 0.1)
    for _ in range(3):
        its.step(None, 0.0107)
    assert np.array_equal(its.step(None, 0.05).v, last.v)


# many at once


def test_a_scene_of_a_batch_has_the_bits_that_it_has_alone():
    scene = Scene(balls(heap(9, side=3)), walls(0.34), friction=0.3, restitution=0.3)
    start = {"b0.vx": [0.0, 1.0, -2.0], "b4.vz": -1.0}
    runs = scene.simulate_batch(0.1, step=STEP, start=start, every=20, threads=2)
    again = scene.simulate_batch(0.1, step=STEP, start=start, every=20, threads=1)
    assert np.array_equal(runs.q, again.q)
    assert runs.statuses == ("done",) * 3
    assert runs.success.all()
    for k, speed in enumerate(start["b0.vx"]):
        moved = scene.bodies.speed.copy()
        moved[0, 3], moved[4, 5] = speed, -1.0
        alone = Scene(
            replace(scene.bodies, speed=moved), scene.planes, friction=0.3, restitution=0.3
        ).simulate(0.1, step=STEP, every=20)
        assert same(runs[k], alone)
        assert runs[k].meta == {**alone.meta, "parameters": {}}
        assert np.array_equal(runs["contacts"][k], alone["contacts"])
    assert np.array_equal(runs.end_q[2], runs.q[2, -1])


def test_a_start_that_does_not_hold_is_named_and_the_others_run():
    scene = Scene(balls([[0, 0, 1.0]]), FLOOR)
    heights = {"b0.z": [1.0, 0.01, 2.0]}
    why = r"1 of 3 .* run 1: .* body 'b0' begins 0.04 m below"
    with pytest.raises(SimulationError, match=why) as refusal:
        scene.simulate_batch(0.01, step=STEP, start=heights)
    assert refusal.value.status == "inconsistent start"
    runs = scene.simulate_batch(0.01, step=STEP, start=heights, on_failure="return")
    assert runs.reasons == ("", "inconsistent start", "")
    assert runs.end_t[1] == 0.0
    alone = Scene(balls([[0, 0, 2.0]]), FLOOR).simulate(0.01, step=STEP)
    assert np.array_equal(runs.end_q[2], alone.q[-1])
    with pytest.raises(SimulationError, match=r"run 2 .* 'b0' .* not finite"):
        scene.simulate_batch(0.01, step=STEP, start={"b0.z": [1.0, 1.0, np.nan]})


def test_a_start_with_one_part_of_a_quaternion_is_a_run_that_failed():
    """The others keep theirs, so that all four are no attitude."""
    scene = Scene(balls([[0, 0, 1.0]]), FLOOR)
    runs = scene.simulate_batch(0.01, step=STEP, start={"b0.qx": [0.0, 0.7]}, on_failure="return")
    assert runs.statuses[0] == "done"
    assert "quaternion of body 'b0' has the length 1.22" in runs.messages[1]
    turned = {"b0.qw": [0.8], "b0.qx": [0.6]}
    assert scene.simulate_batch(0.01, step=STEP, start=turned).statuses == ("done",)


def test_a_batch_of_scenes_says_what_is_wrong(tmp_path):
    scene = drop()
    with pytest.raises(NamingError, match=r"b0\.vx"):
        scene.simulate_batch(0.01, step=STEP, start={"b0.wx'": [1.0, 2.0]})
    with pytest.raises(SimulationError, match="one run, not a batch"):
        scene.simulate_batch(0.01, step=STEP, start={"b0.vx": 1.0})
    with pytest.raises(SimulationError, match="threads is 0"):
        scene.simulate_batch(0.01, step=STEP, start={"b0.vx": [1.0]}, threads=0)
    wild = Scene(balls([[0, 0, 1]]), NOWHERE, gravity=(0, 0, 1e307))
    options = {"step": 1.0, "every": 1, "start": {"b0.vx": [0.0, 1.0]}}
    with pytest.raises(SimulationError, match="2 of 2 runs of the batch failed; run 0"):
        wild.simulate_batch(100, **options)
    runs = wild.simulate_batch(100, on_failure="return", **options)
    assert runs.reasons == ("not finite", "not finite")
    assert np.all(np.isnan(runs.q[0, runs.recorded[0] :]))
    assert runs.recorded[0] < len(runs.t)
    runs.save(tmp_path / "runs.nc")
    assert np.array_equal(liaison.Runs.load(tmp_path / "runs.nc").end_q, runs.end_q)


@pytest.mark.parametrize("shape", [liaison.Capsule(0.025, 0.06), liaison.Cylinder(0.04, 0.08)])
def test_states_of_a_run_are_starts(shape):
    """Places that turn with their bodies are fixed midway: ends of steps are deeper than they say.

    By size · angle²/8 of a step, here a few micrometres, which a start pushes out.
    """
    bodies = [liaison.body(x, mass=1, inertia=(1e-3,) * 3, shapes=shape) for x in "ab"]
    joints = [liaison.join(liaison.ground, x, "free", name=x.name.upper()) for x in bodies]
    rng, start = np.random.default_rng(0), {"A.z": 0.25, "B.z": 0.08}
    start |= {f"A.{x}": 0.03 * rng.normal() for x in "xy"}
    start |= {f"{x}.w{k}": 8 * rng.normal() for x in "AB" for k in "xyz"}
    falling = liaison.mechanism(*joints, liaison.gravity((0, 0, -9.81)))
    scene = liaison.collide(falling, friction=0.5, start=start)
    run = scene.simulate(0.21, step=STEP)
    rows = np.arange(160, 210, 5)
    worlds = liaison.worlds(scene, len(rows), step=STEP, device="processor")
    worlds.reset(q=run.q[rows].T, v=run.v[rows].T)
    worlds.step(1)
    assert worlds.lost == 0
    assert np.max(np.abs(worlds.q.T - run.q[rows + 1])) < 1e-4
    for k in rows:
        again = copy(scene)
        pose, speed = run.q[k].reshape(-1, 7), run.v[k].reshape(-1, 6)
        again.bodies = replace(scene.bodies, pose=pose, speed=speed)
        assert again.simulate(STEP, step=STEP).q[-1] == pytest.approx(run.q[k + 1], abs=1e-4)
