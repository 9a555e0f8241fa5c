"""Balls and discs on curves and surfaces given by formulas, against independent computations."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize, minimize_scalar

import liaison

G = 9.81
FINE = {"rtol": 1e-11, "atol": 1e-13}


def parallel(s, h, slope, bend, r):
    """Center of a ball that touches z = h(x) at x = s, and its derivative by s.

    The curve at a distance is parallel to the curve: c' = (1 − κ r) f', κ = h''/√(1 + h'²)³.
    """
    steep = np.hypot(1, slope)
    center = np.array([s - r * slope / steep, h + r / steep])
    return center, (1 - r * bend / steep**3) * np.array([1, slope])


def track(s, r=0.05, depth=0.1, wave=0.2):
    turn = s / wave
    slope, bend = depth / wave * np.sin(turn), depth / wave**2 * np.cos(turn)
    return parallel(s, -depth * np.cos(turn), slope, bend, r)


def test_a_ball_rolls_along_a_cosine_track_as_energy_tells(examples):
    text = (examples / "contact/cosine_track.lsd").read_text() + "event bottom when F.x crossing ;"
    run = liaison.simulate(text, until=0.7, **FINE)
    (bottom,) = run.events  # it neither slips nor opens
    s0 = 0.25
    top = track(s0)[0][1]

    def slowness(turn):
        """dt/d(turn) of s = s0 cos(turn), by 7/10 v² = g Δz and v = |c'| ds/dt."""
        center, along = track(s0 * np.cos(turn))
        return s0 * np.sin(turn) * np.hypot(*along) / np.sqrt(10 / 7 * G * (top - center[1]))

    quarter = quad(slowness, 1e-6, np.pi / 2, epsabs=1e-13)[0] + 1e-6 * slowness(1e-6)
    assert bottom.t == pytest.approx(quarter, abs=1e-9)
    z, (vx, vz, turning) = bottom.q[1], bottom.v
    assert vx == pytest.approx(-np.sqrt(10 / 7 * G * (top - z)), rel=1e-9)
    assert turning == pytest.approx(vx / 0.05, rel=1e-9)
    assert (z, vz) == pytest.approx((-0.05, 0), abs=1e-10)
    assert np.abs(run["gaps.track"]).max() < 1e-10


def bowl(t, y, p=0.3, r=0.04):
    """Point on the surface of revolution parallel to a parabola: s and its rate, momentum kept."""
    s, rate, _ = y
    step = 1e-5

    def meridian(x):
        return parallel(x, x * x / (2 * p), x / p, 1 / p, r)

    (rho, _), along = meridian(s)
    bend = (meridian(s + step)[1] - meridian(s - step)[1]) / (2 * step)
    pull = bowl.momentum**2 / rho**3 * along[0] - G * along[1] - rate**2 * (along @ bend)
    return [rate, pull / (along @ along), bowl.momentum / rho**2]


def test_a_smooth_ball_circles_in_a_bowl_as_a_point_on_the_parallel_surface(examples):
    run = liaison.simulate(examples / "contact/parabolic_bowl.lsd", until=1, **FINE)
    (rho, _), _ = parallel(0.2, 0.2**2 / 0.6, 0.2 / 0.3, 1 / 0.3, 0.04)
    bowl.momentum = rho * 0.8
    start = [0.2, 0, 0]
    again = solve_ivp(bowl, (0, 1), start, rtol=1e-11, atol=1e-13, method="DOP853")
    s, _, turn = again.y[:, -1]
    (far, z), _ = parallel(s, s * s / 0.6, s / 0.3, 1 / 0.3, 0.04)
    wanted = [far * np.cos(turn), far * np.sin(turn), z]
    assert run.q[-1, :3] == pytest.approx(wanted, abs=1e-8)
    assert np.abs(run["gaps.bowl"]).max() < 1e-10


def pitch(s, base=0.04, lift=0.006, r=0.01):
    """Center of a roller that touches ϱ(s), in the cam's axes."""
    rho, slope = base + lift * np.cos(2 * s), -2 * lift * np.sin(2 * s)
    out, along = np.array([np.cos(s), np.sin(s)]), np.array([-np.sin(s), np.cos(s)])
    tangent = slope * out + rho * along
    normal = np.array([tangent[1], -tangent[0]]) / np.hypot(*tangent)
    return rho * out + r * normal


def height(angle):
    """Distance of the roller's center from the axis, at an angle about it."""
    lean = brentq(
        lambda s: np.arctan2(*(pitch(angle + s) @ np.array([[-np.sin(angle), np.cos(angle)],
                                                           [np.cos(angle), np.sin(angle)]]).T)),
        -0.5, 0.5, xtol=1e-15,
    )  # fmt: skip
    return np.hypot(*pitch(angle + lean))


def test_the_follower_of_a_fast_cam_lifts_off_when_nothing_presses_it(examples):
    run = liaison.simulate(examples / "contact/cam_lift_off.lsd", until=0.03, **FINE)
    first = run.events[0]
    assert [first.name, first.what] == ["lobes", "opens"]
    speed, m, k = 30 * np.pi, 0.3, 300.0

    def load(t):
        """m (z̈ + g) + k (z + free), z̈ by differences of sixth order."""
        angles = np.pi / 2 + speed * t + 0.02 * np.arange(-3, 4)
        z = np.array([height(a) for a in angles])
        weights = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
        return m * ((weights @ z) / 0.02**2 * speed**2 + G) + k * (z[3] + 0.08)

    assert first.t == pytest.approx(brentq(load, 1e-4, 0.02), abs=1e-7)
    # and it comes down where the profile meets its flight
    down = next(x for x in run.events if x.what == "impact")
    assert down.q[1] == pytest.approx(height(np.pi / 2 + speed * down.t), abs=1e-10)


HILLS = """
let one = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
let F = join earth and one with free end ;
let hills = contact one and earth with {} surface = 10 cm*sin(x/(30 cm))*cos(y/(40 cm)) end ;
"""


def hills(x, y):
    return 0.1 * np.sin(x / 0.3) * np.cos(y / 0.4)


@pytest.mark.parametrize("place", [(0.1, 0.2, 0.3), (-0.4, 0.3, 0.15), (0.6, -0.5, 0.5)])
def test_the_gap_of_a_ball_is_its_distance(place):
    run = liaison.simulate(HILLS.format("ball radius = 5 cm,"), until=1e-6, series=("contacts",),
                           start=dict(zip(("F.x", "F.y", "F.z"), place, strict=True)))  # fmt: skip
    exact = {"xatol": 1e-10, "fatol": 1e-15}
    far = minimize(lambda w: np.linalg.norm(np.array([*w, hills(*w)]) - place), place[:2],
                   method="Nelder-Mead", options=exact)  # fmt: skip
    assert run["gaps.hills"][0] == pytest.approx(far.fun - 0.05, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_rim_of_a_disc_is_lowest_where_the_gap_is_told(seed):
    rng = np.random.default_rng(seed)
    quaternion = rng.normal(size=4)
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    # the first two axes of the disc in the ground's
    e1 = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    e2 = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    center = np.array([*rng.uniform(-0.5, 0.5, 2), 0.3])
    angles = np.linspace(0, 2 * np.pi, 2001)[:, None]

    def above(angle):
        px, py, pz = (center + 0.05 * (e1 * np.cos(angle) + e2 * np.sin(angle))).T
        return pz - hills(px, py)

    near = angles[np.argmin(above(angles))]
    lowest = minimize_scalar(lambda a: above(np.array([[a]]))[0],
                             bracket=(near[0] - 0.01, near[0] + 0.01), tol=1e-14)  # fmt: skip
    px, py, _ = center + 0.05 * (e1 * np.cos(lowest.x) + e2 * np.sin(lowest.x))
    slopes = [np.cos(px / 0.3) * np.cos(py / 0.4) / 3, -np.sin(px / 0.3) * np.sin(py / 0.4) / 4]
    start = dict(zip(("F.x", "F.y", "F.z", "F.qw", "F.qx", "F.qy", "F.qz"),
                     (*center, w, x, y, z), strict=True))  # fmt: skip
    run = liaison.simulate(HILLS.format("disc radius = 5 cm,"), until=1e-6, start=start)
    # a search by values alone knows the angle to the root of rounding
    steep = np.hypot(1, np.hypot(*slopes))
    assert run["gaps.hills"][0] == pytest.approx(lowest.fun / steep, abs=1e-9)


def test_a_wheel_rolls_down_a_slope_given_by_a_formula():
    run = liaison.simulate("""
    gravity = [0, 0, -9.81] m/s^2 ;
    let wheel = body mass = 1 kg, inertia = [1, 1, 2] * 0.0025 kg*m^2 end ;
    let F = join earth and wheel with link(x, z, turn)
      dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = turn || [0, 1, 0] end ;
    let slope = contact wheel and earth with {kind} axis = [0, 1, 0], radius = 10 cm,
      surface = -3/4*x, friction = 0.9 end ;
    start F.z = 12.5 cm ;
    """.format(kind="disc"), until=1, **FINE)  # fmt: skip
    # a = g sin α/(1 + I/m r²), I about the axis
    along = 9.81 * 0.6 / (1 + 0.0025 / 0.01) / 2
    assert run["F.x"][-1] == pytest.approx(0.8 * along, abs=1e-9)
    assert run["F.turn"][-1] == pytest.approx(along / 0.1, abs=1e-8)


@pytest.mark.parametrize("speed", [3.5, 4.0, 4.5])
def test_a_ball_leaves_a_loop_where_nothing_presses_it(examples, speed):
    path = examples / "contact/loop.lsd"
    run = liaison.simulate(path, until=1, start={"F.x'": speed}, **FINE)
    leaves = next(x for x in run.events if x.what == "opens")
    far = 0.45
    wanted = (2 - speed**2 / (G * far)) / 3
    assert -leaves.q[1] / far == pytest.approx(wanted, abs=1e-8)
    assert np.hypot(*leaves.q[:2]) == pytest.approx(far, abs=1e-9)


def test_a_ball_that_is_fast_enough_goes_around_the_loop(examples):
    run = liaison.simulate(examples / "contact/loop.lsd", until=2, start={"F.x'": 4.8}, **FINE)
    assert 5 * G * 0.45 < 4.8**2
    assert not run.events
    assert run["F.z"].max() == pytest.approx(0.45, abs=1e-3)
    assert np.abs(run["gaps.track"]).max() < 1e-9


@pytest.mark.parametrize("start", [0.3, 1.0, 2.0])
def test_a_cycloid_takes_the_same_time_from_everywhere(start):
    """Huygens: to the bottom of x = a (s + sin s), z = a (1 − cos s) in π √(a/g)."""
    run = liaison.simulate(f"""
    gravity = [0, 0, -9.81] m/s^2 ; let a = 20 cm ; let s0 = {start} ;
    let bead = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let F = join earth and bead with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
    let track = contact bead and 90 deg || [1, 0, 0] @ earth with point
      curve = [-a*(s + sin(s)), a*(1 - cos(s))], span = [-3, 3] end ;
    start F.x = a*(s0 + sin(s0)) ; start F.z = a*(1 - cos(s0)) ;
    event bottom when F.x falling ;
    """, until=0.6, **FINE)  # fmt: skip
    (bottom,) = [x for x in run.events if x.name == "bottom"]
    assert bottom.t == pytest.approx(np.pi * np.sqrt(0.2 / G), abs=1e-9)


def test_a_ball_too_large_for_a_hollow_is_as_near_as_its_sides():
    """Below its center the bottom is no nearest point, though the condition of a foot holds."""
    x = np.linspace(-1, 1, 200001)
    for z in (0.55, 0.6, 0.7):
        run = liaison.simulate(
            TRACK.format("ball radius = 50 cm, surface = -10 cm*cos(x/(20 cm))"),
            until=1e-6, start={"F.z": z},
        )  # fmt: skip
        far = np.hypot(x, z + 0.1 * np.cos(x / 0.2)).min()
        assert far < z + 0.1 - 1e-4
        assert run["gaps.track"][0] == pytest.approx(far - 0.5, abs=1e-9)


TRACK = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0.001 kg*m^2 end ;
let F = join earth and ball with link(x, z, turn)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = turn || [0, 1, 0] end ;
let track = contact ball and earth with {} end ;
"""


def test_a_ball_lies_in_a_groove_of_two_contacts():
    text = TRACK.format("ball radius = 5 cm, surface = x")
    text += "let other = contact ball and earth with ball radius = 5 cm, surface = -x end ;"
    run = liaison.simulate(text, until=3, start={"F.x": 0.05, "F.z": 0.5})
    assert run.q[-1, :2] == pytest.approx([0, 0.05 * np.sqrt(2)], abs=1e-8)
    for name in ("track", "other"):
        assert run[f"contacts.{name}"][-1] == pytest.approx(G / np.sqrt(2), rel=1e-8)


def test_a_wheel_too_large_for_a_hollow_is_as_low_as_its_sides():
    angle = np.linspace(-np.pi, 0, 200001)
    run = liaison.simulate(
        TRACK.format("disc axis = [0, 1, 0], radius = 50 cm, surface = -10 cm*cos(x/(20 cm))"),
        until=1e-6, start={"F.z": 0.6},
    )  # fmt: skip
    x = 0.5 * np.cos(angle)
    heights = 0.6 + 0.5 * np.sin(angle) + 0.1 * np.cos(x / 0.2)
    k = heights.argmin()
    assert abs(x[k]) > 0.05
    steep = np.hypot(1, 0.5 * np.sin(x[k] / 0.2))
    assert run["gaps.track"][0] == pytest.approx(heights[k] / steep, abs=1e-6)
