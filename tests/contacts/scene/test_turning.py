"""Rolling and pivoting friction in scenes against closed forms."""

import numpy as np
import pytest

import liaison
from liaison.contacts.scene import Laws
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls

G, R, STEP = 9.81, 0.05, 1e-3


def resisting(count, planes, sliding, rolling=0.0, pivoting=0.0, restitution=0.0):
    """One law for all, with all kinds of friction."""
    same = Laws.same(count, planes, sliding, restitution)
    values = np.array([[sliding, restitution, rolling, pivoting]])
    return Laws(same.bodies, same.planes, same.table, values, same.names)


@pytest.mark.parametrize("count", [1, 30])  # contacts solved together, and swept
def test_a_ball_that_rolls_is_slowed_as_its_moment_says(count):
    r, speed = 1e-3, 0.5
    speeds = np.tile([0.0, speed / R, 0, speed, 0, 0], (count, 1))
    row = balls([[0, k, R] for k in range(count)], speeds=speeds)
    scene = Scene(row, FLOOR, laws=resisting(count, 1, 0.4, rolling=r))
    slow = 5 / 7 * G * r / R
    run = scene.simulate(1.2 * speed / slow, step=STEP)
    for k in (0, count - 1):
        v = run[f"b{k}.vx"]
        early = run.t < 0.95 * speed / slow
        assert v[early] == pytest.approx(speed - slow * run.t[early], abs=2 * slow * STEP)
        assert abs(v[-1]) < 1e-9
        assert run[f"b{k}.x"][-1] == pytest.approx(speed**2 / (2 * slow), rel=2e-3)
        assert run[f"b{k}.wy"] == pytest.approx(v / R, abs=1e-5)
        (stop,) = [x for x in run.events if x.name == f"b{k}-plane 1: rolling"]
        assert stop.what == "sticks"
        assert stop.t == pytest.approx(speed / slow, abs=3 * STEP)
    assert run["residual"].max() < 1e-5


def test_a_ball_that_spins_stops_by_pivoting_friction():
    p, spin = 2e-3, 20.0
    slow = p * G / (0.4 * R**2)
    one = balls([[0, 0, R]], speeds=[[0, 0, spin, 0, 0, 0]])
    run = Scene(one, FLOOR, laws=resisting(1, 1, 0.3, pivoting=p)).simulate(1.2, step=STEP)
    early = run.t < 0.9 * spin / slow
    assert run["b0.wz"][early] == pytest.approx(spin - slow * run.t[early], abs=1.1 * slow * STEP)
    assert abs(run["b0.wz"][-1]) < 1e-6 * p * G * STEP / (0.4 * R**2)  # the tolerance
    assert np.max(np.abs(run["b0.x"])) < 1e-12
    ((name, what, t),) = [(x.name, x.what, x.t) for x in run.events]
    assert (name, what) == ("b0-plane 1: pivoting", "sticks")
    assert t == pytest.approx(spin / slow, abs=3 * STEP)


@pytest.mark.parametrize(("r", "stays"), [(0.011, True), (0.007, False)])
def test_a_ball_on_a_slope_stays_while_its_moment_can_hold_it(r, stays):
    lean = np.arctan(0.18)  # it stays if r ≥ R tan
    n = [np.sin(lean), 0, np.cos(lean), 0]
    one = balls([R * np.array(n[:3])])
    run = Scene(one, [n], laws=resisting(1, 1, 0.6, rolling=r)).simulate(0.5, step=STEP)
    down = (run["b0.x"][-1] - run["b0.x"][0]) / np.cos(lean)
    pull = 5 / 7 * G * (np.sin(lean) - r / R * np.cos(lean))
    assert down == pytest.approx(0 if stays else pull * 0.5**2 / 2, abs=1e-6 if stays else 2e-3)


def test_a_pile_with_rolling_friction_is_steeper_and_carries_its_weight():
    n = 20
    piles = []
    for r in (0.0, 0.02):
        laws = resisting(n, 1, 0.6, rolling=r, pivoting=r)
        run = Scene(balls(heap(n, side=2)), FLOOR, laws=laws).simulate(1.5, step=STEP, every=50)
        piles.append(run)
        force = run["planes"][-1].sum(axis=0)
        assert force[2] == pytest.approx(n * G, rel=1e-6)  # nothing falls any more
    spread = [np.std(x.q[-1].reshape(n, 7)[:, :2]) for x in piles]
    assert spread[1] < 0.7 * spread[0]


def test_energy_is_lost_to_turning_and_never_won():
    laws = resisting(12, 5, 0.3, rolling=2e-3, pivoting=2e-3)
    run = Scene(balls(heap(12, side=2)), walls(0.24), laws=laws).simulate(0.5, step=STEP)
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 3e-4 * total[0]


def test_few_balls_that_roll_are_solved_and_keep_their_restitution():
    # moments are found to the tolerance of the run, which is no miss where contacts are few
    laws = resisting(6, 5, 0.5, rolling=1e-3, pivoting=1e-3, restitution=0.5)
    run = Scene(balls(heap(6, side=2, seed=1)), walls(0.5), laws=laws).simulate(0.4, step=STEP)
    assert run["contacts"].max() <= 20  # contacts alone would be solved to 1e-10
    assert 1e-10 < run["residual"].max() <= 1e-6
    assert (run.counts["missed"], run.counts["limited"]) == (0, 0)
    assert "miss" not in run.message


STRUCK = """gravity = [0, 0, -9.81] m/s^2 ;
let drum = body mass = 1.3 kg, shape = cylinder(radius = 4 cm, length = 8 cm) end ;
let ball = body mass = 2.2 kg, shape = sphere(radius = 5 cm) end ;
let D = join earth and drum with free end ; let B = join earth and ball with free end ;
start D = [0, 0, 4.00000694 cm] ++ TILT rad || [-0.86, 0.51, 0] ;
start B = [0, 0, 13.05 cm] ; start B.vz = -1.93 m/s ;
collide all and earth with friction = 0.3, rolling = 1 mm, restitution = 0.2 end ;
collide drum, ball with friction = 0.5, restitution = 0.3 end ;"""


@pytest.mark.parametrize("tilt", [0, 1e-8, 1e-6])
def test_a_ball_on_a_drum_that_lies_on_eight_points_bounces_by_its_law(tilt):
    """Eight places share load and moments in many ways, and turns of both go on for long."""
    run = liaison.collide(STRUCK.replace("TILT", str(tilt))).simulate(2 * STEP, step=STEP)
    assert run.counts["missed"] == 0
    assert run["residual"].max() <= 1e-6
    assert run["ball.vz"][1] == pytest.approx(0.3 * 1.93, abs=G * STEP)
