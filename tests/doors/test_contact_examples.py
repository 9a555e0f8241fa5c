"""Examples of contacts and friction: each is read, written, and moves as its comments say."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from liaison import check, simulate, with_values
from liaison.formats import read, read_lsd
from liaison.formats.lsd.write.write import write_lsd

EXAMPLES = Path(__file__).parents[2] / "examples" / "contact"
FILES = sorted(EXAMPLES.glob("*.lsd"))
G = 9.81


def example(name, **values):
    """An example, with other values of its parameters."""
    found = read(EXAMPLES / f"{name}.lsd")
    return with_values(found, values) if values else found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_read_checked_and_written(path):
    mechanism = read(path)
    assert check(mechanism).to_dict()["one_sided"] == [x.name for x in mechanism.contacts] != []
    assert read_lsd(write_lsd(mechanism)) == mechanism


def happened(run, what):
    return [e.t for e in run.events if e.what == what]


def test_the_marble_swings_as_a_slow_pendulum():
    run = simulate(example("marble_in_bowl"), until=1.0, every=0.02)
    lean = np.arctan2(run["F.x"], -run["F.z"])

    def rate(_, y):
        return [y[1], -5 / 7 * G / 0.2 * np.sin(y[0])]

    found = solve_ivp(rate, (0, 1), [np.pi / 6, 0], t_eval=run.t, rtol=1e-11, atol=1e-12)
    # tolerances 1e-8 of the run on an angle of 0.5
    assert np.abs(lean - found.y[0]).max() < 1e-8
    assert np.abs(np.hypot(run["F.x"], run["F.z"]) - 0.2).max() < 1e-9


def test_smooth_balls_part_at_a_right_angle():
    run = simulate(example("two_balls"), until=0.3)
    (t,) = happened(run, "impact")
    # centers 6 cm apart where they touch, 2 cm off the middle
    along = np.array([np.sqrt(32), -2]) / 6
    assert t == pytest.approx(0.2 - 0.01 * np.sqrt(32), abs=1e-9)
    struck = np.array([run["B.vx"][-1], run["B.vy"][-1]])
    left = np.array([run["W.vx"][-1], run["W.vy"][-1]])
    assert struck == pytest.approx(along[0] * along, abs=1e-9)
    assert left @ struck == pytest.approx(0, abs=1e-9)


def test_rough_balls_spin_and_keep_their_moment():
    run = simulate(example("two_balls", f=0.05), until=0.3)
    (hit,) = [e for e in run.events if e.what == "impact"]
    q, v = hit.q.reshape(2, 7), hit.v.reshape(2, 6)  # of each ball: upright until then
    spin = 2 / 5 * 0.2 * 0.03**2 * v[:, 2].sum()
    turning = 0.2 * np.sum(q[:, 0] * v[:, 4] - q[:, 1] * v[:, 3])
    # about the origin: 0.2 kg · 1 m/s, 2 cm off
    assert spin + turning == pytest.approx(-0.2 * 0.02, abs=1e-12)
    # f times the normal impulse m v cos, at the radius, on 2/5 m r²
    assert -v[:, 2] == pytest.approx(5 / 2 * 0.05 * np.sqrt(32) / 6 / 0.03, rel=1e-9)


def test_the_mass_sticks_and_slips_with_its_period():
    run = simulate(example("stick_slip"), until=4.0, every=0.01)
    stuck, loose = happened(run, "sticks"), happened(run, "slips")
    # slides from 2 cm on one side of the spring's 3 cm to 2 cm on the other, with v/ω = 1 cm
    back = (np.pi + 2 * np.arctan(0.5)) / 10
    assert np.diff(stuck[1:]) == pytest.approx(0.4 + back, abs=1e-8)
    assert np.array(loose[1:]) - stuck[1 : len(loose)] == pytest.approx(0.4, abs=1e-8)


def test_the_pendulum_slows_in_its_bearing_and_is_held():
    run = simulate(example("bearing"), until=30.0, every=0.5, rtol=1e-10, atol=1e-12)
    f, r = 0.3, 0.03

    def felt(y, alpha):
        """Torque on the rod less what moves it, at an angular acceleration."""
        across, along = G * np.sin(y[0]) + alpha / 2, G * np.cos(y[0]) + y[1] ** 2 / 2
        drag = f * r * np.hypot(across, along) * np.sign(y[1])
        return -G / 2 * np.sin(y[0]) - drag - alpha / 3

    def rate(_, y):
        return [y[1], brentq(lambda alpha: felt(y, alpha), -100, 100, xtol=1e-14)]

    turn = happened(run, "slips")[0]
    first = solve_ivp(rate, (0, 0.8), [np.radians(20), -1e-12], rtol=1e-10, atol=1e-12)
    early = simulate(example("bearing"), until=0.8, rtol=1e-10, atol=1e-12)
    assert turn > 0.8
    assert early["A"][-1] == pytest.approx(first.y[0, -1], abs=1e-8)
    # held where the torque of the weight is within f r m g: sin A < 2 f r / l
    assert np.ptp(run["A"][-4:]) == 0
    assert 0 < abs(np.sin(run["A"][-1])) < 2 * f * r


def test_stops_give_back_their_parts():
    run = simulate(example("stops"), until=2.0)
    hits = [e for e in run.events if e.what == "impact"]
    back = {"hard": 0.8, "soft": 0.2}
    assert {e.name for e in hits} == set(back)
    for e in hits:
        assert e.v[0] == pytest.approx(-back[e.name] * e.before[0], rel=1e-9)
    assert np.degrees(run["A"]).max() < 25 + 1e-6
    assert np.degrees(run["A"]).min() > -10 - 1e-6


def test_a_ski_across_the_slope_holds_and_a_turned_one_runs():
    held = simulate(example("skis", heading=np.pi / 2), until=2.0)
    assert np.abs(held["J.x"]).max() < 1e-12
    run = simulate(example("skis"), until=2.0)
    way = np.array([run["J.x"][-1], run["J.y"][-1]])
    # from rest it goes straight, where the force of the ellipse and the weight have that direction
    turn, slope = np.radians(30), np.radians(20)
    along = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    mu = np.array([0.05, 0.8])

    def pull(angle):
        u = along @ [np.cos(angle), np.sin(angle)]
        dry = -(mu**2) * u / np.linalg.norm(mu * u) * np.cos(slope)
        return G * (np.array([np.sin(slope), 0]) + along.T @ dry)

    def sideways(angle):
        return pull(angle) @ [-np.sin(angle), np.cos(angle)]

    angle = brentq(sideways, 0.0, turn)
    assert np.arctan2(*way[::-1]) == pytest.approx(angle, abs=1e-8)
    assert np.linalg.norm(way) == pytest.approx(2 * np.linalg.norm(pull(angle)), rel=1e-7)


def test_a_ball_joint_slows_the_spin_evenly():
    run = simulate(example("ball_joint"), until=3.0, every=0.5)
    slowing = 0.2 * 0.02 * G / 0.005
    expected = np.maximum(20 - slowing * run.t, 0)
    assert run["S.wz"] == pytest.approx(expected, abs=1e-8)
    assert happened(run, "sticks") == pytest.approx([20 / slowing], abs=1e-8)


def test_the_box_comes_to_rest_on_the_hills():
    run = simulate(example("box_on_hills"), until=4.0, method="moreau", step=1e-3, every=0.1)
    names = [f"F.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")]
    assert max(abs(run[name][-1]) for name in names) < 1e-6
    corners = [np.array([x, y, z]) for x in (-0.1, 0.1) for y in (-0.125, 0.125)
               for z in (-0.1, 0.1)]  # fmt: skip
    w, *v = (run[f"F.q{k}"][-1] for k in "wxyz")
    tilde = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    turned = np.eye(3) + 2 * w * tilde + 2 * tilde @ tilde
    at = [turned @ c + [run[f"F.{k}"][-1] for k in "xyz"] for c in corners]
    gaps = [z - 0.08 * np.cos(x / 0.4) * np.cos(y / 0.4) for x, y, z in at]
    # three corners at least carry it, and none is below by more than a step's rounding
    assert sum(abs(gap) < 1e-4 for gap in gaps) >= 3
    assert min(gaps) > -1e-4
