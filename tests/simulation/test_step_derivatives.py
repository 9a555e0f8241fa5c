"""Derivatives of a step of worlds: against differences of the step itself, and laws."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan import plan
from liaison.simulation.worlds.derivatives import Asked
from liaison.simulation.worlds.worlds import Worlds

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
H = 1e-3
GOOD = 1e-7
"""Of differences with steps of 1e-6 beside rounding of 1e-15, relative to the largest entry."""

SLOW, REST = 1e-3, 1e-6
"""Rates of gaps whose sign a change may turn, and those that count as rest [m/s]."""

HOPPER = """
name = "hopper" ;
gravity = [0, 0, -9.81] m/s^2 ;
input wish = 20 deg ;
input kick = 0 N ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 0.3 kg, center = [0, 0, -10] cm, inertia = [1, 1, 0.1] g*m^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
let lower = require A >= -40 deg with restitution = 0.3 end ;
let slow = require A' <= 6 rad/s ;
apply motor force = kick end on Z ;
apply servo target = wish, stiffness = 40 N*m/rad, damping = 0.5 N*m*s/rad, limit = 3 N*m end on A ;
let foot = contact [0, 0, -20] cm @ thigh and earth with ball
  radius = 2 cm, friction = 0.5, restitution = 0.4 end ;
start Z = 25 cm ;
start A = 30 deg ;
"""

TRIPOD = """
name = "tripod" ;
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 2 kg, inertia = [3, 4, 6] g*m^2 end ;
let F = join earth and b with free end ;
{feet}
start F.z = 9 cm ; start F.vx = 0.8 m/s ; start F.vy = 0.3 m/s ;
start F.wz = 3 rad/s ; start F.wx = 2 rad/s ; start F.wy = 1 rad/s ;
"""
FOOT = "let c{k} = contact [{x}, {y}, -5] cm @ b and earth with point {law} end ;"
LAWS = (
    "friction = 0.2, across = 0.5",
    "friction = 0.3, viscous = 4 N*s/m",
    "friction = 0.2, static = 0.5, stribeck = 0.4 m/s",
)


def feet(laws, places=((8, 5), (-8, 5), (1, -7))):
    listed = zip(laws, places, strict=True)
    lines = [FOOT.format(k=k, x=x, y=y, law=law) for k, (law, (x, y)) in enumerate(listed)]
    return TRIPOD.format(feet="\n".join(lines))


def worlds_of(text, count=1, **options):
    return liaison.worlds(read_lsd(text), count, step=H, device="processor", **options)


@pytest.fixture(scope="module", autouse=True)
def placed_to_rounding():
    """Contacts are placed to 1e-13 m by default, which differences of 1e-6 would show."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "GAP", 1e-16)
        yield


@pytest.fixture(scope="module")
def leg():
    description = liaison.read(
        ROBOTS / "parallel_leg.urdf", ground=True, motors="position",
        srdf=ROBOTS / "parallel_leg.srdf", pose="crouch",
    )  # fmt: skip
    return liaison.worlds(description, 2, step=H, device="processor")


def carried(worlds):
    """What worlds keep from step to step, a column each; groups keep their problems behind it."""
    size = max(1, worlds._sizes()["carried"])
    return worlds._carried.ravel()[: size * worlds.count].reshape(size, worlds.count)


class Differences:
    """Ends of steps from states about that of the first world, in coordinates about its end."""

    def __init__(self, worlds):
        self.worlds, self.kernel = worlds, worlds.plan.kernel
        self.nv, self.nu = worlds.plan.size("nv"), worlds.plan.inputs.held.size
        self.q, self.v = worlds.q[:, 0].copy(), worlds.v[:, 0].copy()
        self.u = (worlds.u[:, 0] if worlds.u.ndim > 1 else worlds.u).copy()
        self.t = float(worlds.t[0])

    def moved(self, q, xi):
        return self.kernel("retract", self.t, q=q, v=self.v, x=xi)

    def ends(self, changes, steps=1):
        """(ξ, δv) at the end, a row for each change of (ξ, v, u) at the beginning; and modes."""
        many = [np.zeros(2 * self.nv + self.nu), *changes]
        w = Worlds(self.worlds.plan, len(many), self.worlds.place, self.worlds.precision, {})
        u = np.empty((self.nu, len(many)))
        for k, change in enumerate(many):
            xi, dv, du = np.split(change, [self.nv, 2 * self.nv])
            w.q[:, k], w.v[:, k], u[:, k] = self.moved(self.q, xi), self.v + dv, self.u + du
        carried(w)[...] = carried(self.worlds)[:, :1]
        w._codes[1], w.t[...] = self.worlds.steps_taken[0], self.t
        w.step(steps, inputs=u if self.nu else None)
        assert w.lost == 0
        there = [self.kernel("difference", self.t, q=w.q[:, 0], x=q) for q in w.q.T]
        modes = carried(w)[len(carried(w)) - len(sides_in(w.plan.program)) :]
        return np.hstack([np.array(there), (w.v - w.v[:, :1]).T])[1:], modes

    def slopes(self, far=1e-6, steps=1):
        """All columns: central differences, extrapolated."""
        n = 2 * self.nv + self.nu
        ways = [h * s * np.eye(n)[c] for c in range(n) for h in (far, far / 2) for s in (1, -1)]
        ends, modes = self.ends(ways, steps)
        assert np.all(modes == modes[:, :1])
        wide, near = (
            (ends[k::4] - ends[k + 1 :: 4]) / (2 * h) for k, h in ((0, far), (2, far / 2))
        )
        return ((4 * near - wide) / 3).T

    def pressing(self, rng):
        """A direction within closures that presses contacts at rest; others keep their sign."""
        d = rng.normal(size=2 * self.nv + self.nu)
        xi, dv = d[: self.nv], d[self.nv : 2 * self.nv]
        call = self.kernel.call
        first = {"q": self.q, "v": self.v, "u": self.u}
        here, G = call("one_sided", self.t, **first), self.rows(first)
        rest = [
            block[3] for k, block in enumerate(sides_in(self.worlds.plan.program))
            if block[2] == "gap" and abs(here["gap"][k]) < 1e-8
            and abs(here["rate"][block[3]]) < SLOW
        ]  # fmt: skip
        D = here["D"].reshape(-1, self.nv)[rest]
        held = np.vstack([D, G])
        asked = np.concatenate([-np.abs(D @ xi), 0 * G[:, 0]])
        xi += np.linalg.lstsq(held, asked - held @ xi, rcond=None)[0]
        small = 1e-6
        there = {**first, "q": self.moved(self.q, small * xi), "v": self.v + small * dv}
        rates = (call("one_sided", self.t, **there)["rate"] - here["rate"])[rest] / small
        missed = self.rows(there) @ there["v"] / small
        sign = np.where(here["rate"][rest] > REST, 1.0, -1.0)
        asked = np.concatenate([sign * np.abs(rates) - rates, -missed])
        dv += np.linalg.lstsq(held, asked, rcond=None)[0]
        return d

    def rows(self, state):
        return self.kernel.call("terms", self.t, **state)["G"].reshape(-1, self.nv)

    def along(self, d, far):
        """The derivative along a direction, from four points on its side alone."""
        ends, modes = self.ends([k * far * d for k in (1, 2, 3, 4)])
        assert np.all(modes == modes[:, :1])
        return np.array([-13 / 3, 19 / 2, -7, 11 / 6]) @ ends / far


def matrix(worlds, i=0):
    """A and B side by side, after a look at what is noted."""
    slopes = worlds.derivatives()
    assert not slopes.statuses[i]
    assert not slopes.at_edge[i], slopes.why(i)
    return np.hstack(slopes.world(i)).astype(float)


def check_all(worlds, far=1e-6, limit=GOOD):
    exact, differences = matrix(worlds), Differences(worlds).slopes(far)
    assert np.max(np.abs(exact - differences)) < limit * np.max(np.abs(exact))


def check_pressing(worlds, count=4, far=5e-7):
    exact, differences = matrix(worlds), Differences(worlds)
    rng = np.random.default_rng(3)
    for _ in range(count):
        d = differences.pressing(rng)
        d /= np.max(np.abs(d))
        missed = np.max(np.abs(exact @ d - differences.along(d, far)))
        assert missed < GOOD * max(1.0, np.max(np.abs(exact @ d)))


def test_in_flight_and_in_an_impact_with_restitution():
    """A leg with a motor and stops; then its foot hits the ground and bounces."""
    worlds = worlds_of(HOPPER)
    worlds.step(1)
    check_all(worlds)
    worlds.step(1, inputs={"wish": 1.4})  # the motor is at its limit
    assert np.max(np.abs(matrix(worlds)[:, -2])) < 1e-15
    worlds.step(18, inputs={"wish": 0.35})
    bounced = 0
    for _ in range(300):
        worlds.step(1)
        ahead = worlds.derivatives()
        if np.abs(ahead.A[2, 2, 0] + 0.4) < 1e-2 and not ahead.at_edge[0] and not bounced:
            check_all(worlds)
            bounced = 1
    assert bounced
    assert worlds.derivatives().rests[0]
    check_pressing(worlds)


@pytest.mark.slow
def test_a_body_that_slides_and_turns_on_three_feet():
    """In the air, on one foot, on two and three: friction by each of its laws, feet placed."""
    worlds = worlds_of(feet(LAWS))
    carried = []
    for steps in (40, 39, 14, 10, 17):
        worlds.step(steps)
        carried.append(int(np.count_nonzero(worlds._carried[:9:3, 0])))
        check_pressing(worlds)
    assert carried == [0, 1, 2, 3, 3]


@pytest.mark.slow
def test_where_forces_are_taken_counts():
    """Also with friction in the joint that slips, then sticks."""
    dry = "let dry = apply friction dry = 0.05 N*m, static = 0.06 N*m end on A ;\n"
    worlds = worlds_of(HOPPER + dry, theta=0.8)
    for steps in (2, 85):
        worlds.step(steps)
        check_all(worlds, far=1e-7, limit=1e-6)
    assert abs(worlds.v[1, 0]) < 1e-12


def test_the_closed_leg_with_motors_in_the_air_and_on_the_ground(leg):
    """Also along changes that break the closures: steps bring them back."""
    leg.reset(spread=0.05, seed=3)
    leg.step(20, inputs={"front_hip.target": 0.2, "rear_hip.target": 0.0})
    check_all(leg, far=2e-5)
    leg.step(500)
    assert leg.derivatives().rests[0]
    check_pressing(leg)


@pytest.mark.slow
def test_the_quadruped_stands():
    description = liaison.read(
        ROBOTS / "quadruped.urdf", ground=True, floating=True, motors="position",
        srdf=ROBOTS / "quadruped.srdf", pose="stand",
    )  # fmt: skip
    worlds = liaison.worlds(description, 1, step=H, device="processor")
    worlds.step(900)
    slopes = worlds.derivatives()
    assert slopes.A.shape == (36, 36, 1)
    assert slopes.B.shape == (36, 12, 1)
    assert slopes.rests[0]
    check_pressing(worlds)


def test_a_chain_of_steps_is_the_product_of_their_derivatives(leg):
    leg.reset(spread=0.05, seed=5)
    leg.step(3)
    whole = Differences(leg).slopes(2e-5, steps=3)
    n = 2 * leg.plan.size("nv")
    product = np.hstack([np.eye(n), np.zeros((n, 2))])
    for _ in range(3):
        A, B = leg.derivatives().world(0)
        product = A @ product
        product[:, n:] += B
        leg.step(1)
    assert np.max(np.abs(product - whole)) < GOOD * np.max(np.abs(product))


def test_steps_of_a_conservative_motion_with_constant_inertia_are_symplectic():
    """Half of the way, a kick, half of the way: Aᵀ Ω A = Ω with Ω of (q, M v)."""
    text = """
    name = "springs" ;
    let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let b = body mass = 3 kg, inertia = 1 g*m^2 end ;
    let X = join earth and a with prismatic axis = [1, 0, 0] end ;
    let Y = join a and b with prismatic axis = [1, 0, 0] end ;
    apply spring stiffness = 900 N/m end on X ;
    apply spring stiffness = 700 N/m end on Y ;
    start X = 0.3 m ; start Y = -0.2 m ;
    """
    worlds = worlds_of(text)
    worlds.step(50)
    A, _ = worlds.derivatives().world(0)
    M = worlds.plan.kernel.call("terms", q=worlds.q[:, 0], v=worlds.v[:, 0])["M"].reshape(2, 2)
    omega = np.block([[np.zeros((2, 2)), M], [-M, np.zeros((2, 2))]])
    assert np.max(np.abs(A.T @ omega @ A - omega)) < 1e-13
    check_all(worlds)


@pytest.mark.slow
def test_inputs_that_are_formulas_of_the_state_are_part_of_the_step():
    push = {"kick": -3 * liaison.symbol("Z'") - 50 * liaison.symbol("Z")}
    worlds = worlds_of(HOPPER, inputs=push)
    worlds.step(1)
    exact = matrix(worlds)
    assert np.max(np.abs(exact[:, -1])) == 0.0
    differences = Differences(worlds)
    d = np.random.default_rng(1).normal(size=6)
    d[-1] = 0.0
    assert np.max(np.abs(exact @ d - differences.along(d, 1e-6))) < GOOD * np.max(np.abs(exact @ d))


def test_single_precision_is_that_of_double(leg):
    single = liaison.worlds(
        leg.plan.kernel, 2, step=H, state=leg.plan.state, device="processor", precision="single"
    )
    leg.reset(spread=0.02, seed=2)
    for worlds in (leg, single):
        worlds.step(1, inputs={"front_hip.target": 0.1, "rear_hip.target": -0.1})
    for steps in (87, 800):
        leg.step(steps)
        for name in ("q", "v", "_carried"):
            getattr(single, name)[...] = getattr(leg, name)
        single._codes[1] = leg.steps_taken
        one, two = leg.derivatives(), single.derivatives()
        assert two.A.dtype == np.float32
        assert np.max(np.abs(one.A - two.A)) < 1e-5 * np.max(np.abs(one.A))
        assert np.max(np.abs(one.B - two.B)) < 1e-5 * max(1.0, np.max(np.abs(one.B)))


def test_each_world_has_its_own_and_stays_where_it_is():
    worlds = worlds_of(HOPPER, 3)
    worlds.reset(spread={"A": 0.2}, seed=4)
    worlds.step(30, inputs={"kick": [0.0, 1.0, 2.0]})
    before = [x.copy() for x in (worlds.q, worlds.v, worlds.t, worlds._carried, worlds._codes)]
    slopes = worlds.derivatives(inputs={"kick": [3.0, 1.0, 2.0]})
    after = (worlds.q, worlds.v, worlds.t, worlds._carried, worlds._codes)
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))
    assert np.ptp(slopes.A[3, 3]) > 1e-6
    alone = worlds_of(HOPPER)
    alone.q[...], alone.v[...], alone._carried[...] = (
        x[:, 1:2] for x in (before[0], before[1], before[3])
    )
    alone._codes[1], alone.t[...] = 30, before[2][1]
    again = alone.derivatives(inputs={"kick": 1.0, "wish": worlds.u[0, 1]})
    assert np.array_equal(again.A[..., 0], slopes.A[..., 1])


def test_threads_of_a_world_share_its_columns(monkeypatch):
    """As on a GPU that has few worlds."""
    worlds = worlds_of(HOPPER, 2)
    worlds.reset(spread={"A": 0.2}, seed=4)
    worlds.step(10)
    alone = worlds.derivatives()
    monkeypatch.setattr(Asked, "lanes", property(lambda _: 4))
    worlds._slopes = None
    shared = worlds.derivatives()
    assert pytest.approx(alone.A, abs=1e-14) == shared.A
    assert pytest.approx(alone.B, abs=1e-14) == shared.B
    assert np.array_equal(shared.edges, alone.edges)


def test_a_lost_world_has_no_derivative_and_says_so():
    worlds = worlds_of(HOPPER, 2)
    worlds.step(5, inputs={"kick": [0.0, 1e308]})
    assert worlds.lost == 1
    slopes = worlds.derivatives()
    assert slopes.lost == 1
    assert slopes.why(1) == worlds.why(1)
    assert np.all(np.isnan(slopes.A[..., 1]))
    assert np.all(np.isnan(slopes.B[..., 1]))
    assert np.all(np.isfinite(slopes.A[..., 0]))
    assert "1 without derivative" in repr(slopes)


def test_a_motor_at_its_limit_exactly_is_at_an_edge():
    """The limit of 3 N·m, at the angle at which the step takes the effort of its end."""
    text = HOPPER.replace("damping = 0.5", "damping = 0")
    worlds, beyond = worlds_of(text), worlds_of(text)
    worlds.step(1)
    beyond.step(1)
    beyond.step(1, inputs={"wish": 1.4})
    (angle,), (speed,), (later,) = worlds.q[1], worlds.v[1], beyond.v[1]
    wish = angle + 0.5 * H * speed + 0.25 * H * (later - speed) + 3.0 / 40.0
    for far, is_noted in ((0.0, True), (1e-6, False), (-1e-6, False)):
        slopes = worlds.derivatives(inputs={"wish": wish + far})
        assert bool(slopes.at_edge[0]) == is_noted
    assert "bends" in worlds.derivatives(inputs={"wish": wish}).why(0)


def test_a_foot_that_ends_the_step_on_the_ground_is_at_an_edge():
    text = """
    name = "ball" ; gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let Z = join earth and b with prismatic axis = [0, 0, 1] end ;
    let floor = contact b and earth with ball radius = 5 cm end ;
    start Z = 50 cm ;
    """
    worlds = worlds_of(text, 3)
    fall = 2.0 * H + 0.5 * 9.81 * H**2
    worlds.reset(q=np.array([[0.05 + fall, 0.051 + fall, 0.049 + fall]]), v=np.array([-2.0]))
    slopes = worlds.derivatives()
    assert slopes.at_edge.tolist() == [True, False, False]
    assert "just touches" in slopes.why(0)
    assert slopes.A[..., 1] == pytest.approx(np.array([[1, H], [0, 1]]), abs=1e-15)
    assert slopes.A[..., 2] == pytest.approx(np.zeros((2, 2)), abs=1e-15)


@pytest.mark.slow
def test_a_load_that_four_feet_share_while_they_slip_is_noted():
    places = ((8, 5), (-8, 5), (-8, -5), (8, -5))
    worlds = worlds_of(feet(["friction = 0.3"] * 4, places))
    worlds.step(200)
    assert worlds.contacts[0] == 8
    slopes = worlds.derivatives()
    assert "leave open" in slopes.why(0)
    assert np.all(np.isfinite(slopes.A))


def test_what_has_no_derivative_is_an_error():
    worlds = worlds_of(HOPPER)
    with pytest.raises(SimulationError, match="one step, and a table of inputs"):
        worlds.derivatives(inputs=np.zeros((3, 2, 1)))
    balls = """
    name = "balls" ; gravity = [0, 0, -9.81] m/s^2 ;
    let a = body density = 700 kg/m^3, shape = sphere(radius = 4 cm) end ;
    let F = join earth and a with free end ;
    start F.z = 10 cm ;
    """
    scene = liaison.worlds(liaison.collide(read_lsd(balls)), 1, step=H, device="processor")
    with pytest.raises(SimulationError, match="is a scene"):
        scene.derivatives()


def test_it_shows_itself_with_labels_and_units():
    worlds = worlds_of(HOPPER, 2)
    worlds.step(1)
    slopes = worlds.derivatives()
    assert [str(x) for x in slopes.labels] == ["Z [m]", "A [rad]", "Z' [m/s]", "A' [rad/s]"]
    assert [x.name for x in slopes.inputs] == ["wish", "kick"]
    text = str(slopes)
    assert "A of world 0" in text
    assert "B of world 0" in text
    assert "a step of 0.001 s in 2 worlds" in repr(slopes)
