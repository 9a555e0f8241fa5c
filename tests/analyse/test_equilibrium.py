"""equilibrium: closed forms, energy least, balance of weights, and refusals."""

import numpy as np
import pytest

import liaison
from liaison.errors import ModelError, NamingError, SimulationError

HANGING = """
gravity = [0, 0, -10] m/s^2 ;
parameter k = 50 N/m ;
let bob = body mass = 2 kg, inertia = 0.1 kg*m^2 end ;
let x = join earth and bob with prismatic end ;
apply spring stiffness = k, rest = 0.1 m end on x ;
input pull = 0 N ;
apply actuator force = pull end on x ;
"""


def test_a_hanging_weight_stretches_its_spring():
    rest = liaison.equilibrium(HANGING)
    assert rest["x"] == pytest.approx(0.1 - 20 / 50, abs=1e-14)
    assert rest.linear.frequencies[0] == pytest.approx(5 / (2 * np.pi))
    assert liaison.equilibrium(HANGING, parameters={"k": 100})["x"] == pytest.approx(-0.1)
    assert liaison.equilibrium(HANGING, inputs={"pull": 20.0})["x"] == pytest.approx(0.1)


def test_entries_of_rounding_do_not_keep_eigenvalues_from_converging():
    crane = """
gravity = [0, 0, -9.81] m/s^2 ;
let trolley = body mass = 20 kg, inertia = 1 kg*m^2 end ;
let load = body mass = 50 kg, center = [0, 0, -3] m, inertia = [2, 2, 1] kg*m^2 end ;
let X = join earth and trolley with prismatic axis = [1, 0, 0] end ;
let U = join trolley and load with universal end ;
apply damper coefficient = 3 N*s/m end on X ;
start U = [10 deg, 5 deg] ;
"""
    rest = liaison.equilibrium(crane, kind="nearest")
    assert rest.linear.frequencies.max() == pytest.approx(0.534116, abs=1e-6)


def test_a_pendulum_hangs_from_any_start_and_nearest_may_stand(examples):
    for angle in (0.1, 1.5, 3.0, -3.1):
        rest = liaison.equilibrium(examples / "pendulum.lsd", start={"A": angle})
        assert np.sin(rest["A"]) == pytest.approx(0, abs=1e-12)
        assert np.cos(rest["A"]) > 0
        assert rest.is_stable
    top = liaison.equilibrium(examples / "pendulum.lsd", start={"A": 3.0}, kind="nearest")
    assert np.cos(top["A"]) < 0
    assert not top.is_stable


@pytest.mark.parametrize("model", ["four_bar", "double_pendulum", "reference/bricard_A04"])
def test_a_stable_rest_is_a_rest_and_has_the_least_energy(examples, model):
    mechanism = liaison.read(examples / f"{model}.lsd")
    rest = liaison.equilibrium(mechanism)
    assert rest.residual < 1e-9
    assert rest.is_stable
    run = liaison.simulate(mechanism, rest.state, until=0.2, series=("energy",))
    assert np.max(np.abs(run.v)) < 1e-6
    lowest = rest.run["energy.U"][0]
    speeds = rest.linear.shapes[len(run.v[0]) :, rest.linear.positions :]
    rng = np.random.default_rng(1)
    for _ in range(4):
        v = speeds @ rng.normal(size=speeds.shape[1])
        state = liaison.State(0.0, rest.state.q, v, rest.state.labels)
        near = liaison.simulate(mechanism, state, until=0.02, series=("energy",))
        assert np.all(near["energy.U"] >= lowest - 1e-9 * (1 + abs(lowest)))


def test_joints_bear_the_weight(examples):
    """Of the 3D four-bar only the determined part is told; it carries all the weight."""
    mechanism = liaison.read(examples / "four_bar.lsd")
    rest = liaison.equilibrium(mechanism)
    total = sum(rest.run.reaction(x, frame="ground").values[0, 3:] for x in "AD")
    weight = 9.81 * sum(float(body.mass) for body in mechanism.bodies[1:])
    assert total[2] == pytest.approx(weight, rel=1e-12)
    assert total[0] == pytest.approx(0, abs=1e-12)
    assert rest.to_dict()["reactions"]["A"].count(None) == 3


def test_a_loop_is_kept_closed(examples):
    rest = liaison.equilibrium(examples / "reference/bricard_A04.lsd")
    kernel = liaison.compile(examples / "reference/bricard_A04.lsd")
    assert np.max(np.abs(kernel.call("closure", q=rest.state.q, v=rest.state.v)["phi"])) < 1e-12


def test_what_has_no_rest_says_so():
    falling = HANGING.replace("apply spring stiffness = k, rest = 0.1 m end on x ;", "")
    with pytest.raises(SimulationError, match="no equilibrium"):
        liaison.equilibrium(falling)
    with pytest.raises(NamingError, match="kind of equilibrium"):
        liaison.equilibrium(HANGING, kind="best")


def test_it_does_not_stay_where_it_would_fall(examples):
    """Upright, and level with no stiffness at all: both are left."""
    upright = liaison.equilibrium(examples / "reference/four_bars_A02.lsd")
    assert upright.is_stable
    assert np.cos(upright["A0"]) < -0.999
    level = liaison.equilibrium(examples / "reference/pendulum_A01.lsd")
    assert level["p.y"] == pytest.approx(-1, abs=1e-9)
    stays = liaison.equilibrium(examples / "reference/four_bars_A02.lsd", kind="nearest")
    assert not stays.is_stable


def test_a_long_step_that_opens_a_loop_is_cut(examples):
    rest = liaison.equilibrium(examples / "goldberg.lsd")
    assert rest.residual < 1e-9


def test_what_is_driven_is_not_at_rest(examples):
    with pytest.raises(ModelError, match="'imposed_T' moves"):
        liaison.equilibrium(examples / "rolling_ball.lsd")


BESIDE = """
gravity = [0, 0, -9.81] m/s^2 ;
let bob = body mass = {bob}, center = [0, 0, -1] m, inertia = 0 end ;
let block = body mass = {block}, inertia = 0 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
let X = join earth and block with prismatic axis = [1, 0, 0] end ;
apply spring stiffness = {stiffness} N/m end on X ;
start A = {A} ; start X = 10 cm ;
"""


@pytest.mark.parametrize("stiffness", ["1e-6", "1e3", "1e9", "1e12"])
@pytest.mark.parametrize(
    "masses", [("100 g", "0.1 g"), ("1e-6 kg", "100 kg"), ("1000 kg", "1e-6 kg")]
)
def test_a_stiff_or_soft_neighbour_changes_nothing(stiffness, masses):
    """A pendulum beside a spring that does not touch it: hanging is stable, upright is not."""
    values = {"stiffness": stiffness, "bob": masses[0], "block": masses[1]}
    for A in ("1", "180 deg"):
        found = liaison.equilibrium(BESIDE.format(A=A, **values))
        assert np.cos(found["A"]) == pytest.approx(1, abs=1e-15)
        assert abs(np.sin(found["A"])) < 1e-9
        assert abs(found["X"]) < 1e-9
        assert found.is_stable
    upright = liaison.equilibrium(BESIDE.format(A="180 deg", **values), kind="nearest")
    assert np.cos(upright["A"]) == pytest.approx(-1, abs=1e-15)
    assert not upright.is_stable
    assert upright.linear.eigenvalues.real[0] == pytest.approx(np.sqrt(9.81), rel=1e-6)


def test_two_masses_on_a_stiff_spring_hang_on_a_soft_one():
    """Stiff and soft in one: 1e9 N/m between masses, 1 N/m to the ground."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let a = body mass = 1 kg, inertia = 0 end ;
    let b = body mass = 2 kg, inertia = 0 end ;
    let X = join earth and a with prismatic axis = [0, 0, 1] end ;
    let Y = join a and b with prismatic axis = [0, 0, 1] end ;
    apply spring stiffness = 1 N/m end on X ;
    apply spring stiffness = 1e9 N/m end on Y ;
    """
    found = liaison.equilibrium(text)
    assert found["X"] == pytest.approx(-3 * 9.81, rel=1e-9)
    assert found["Y"] == pytest.approx(-2 * 9.81 / 1e9, rel=1e-6)
    assert found.is_stable


def test_what_rolls_or_glides_is_pushed_off_a_maximum_too():
    """A skate, which glides along its blade only, carries a pendulum that stands upright."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let skate = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
    let bob = body mass = 0.1 kg, center = [0, 0, -1] m, inertia = 0 end ;
    let S = join earth and skate with planar end ;
    let A = join skate and bob with revolute axis = [0, 1, 0] end ;
    require S.y' * cos(S.angle) = S.x' * sin(S.angle) ;
    apply spring stiffness = 10 N/m end on S.x ;
    apply spring stiffness = 10 N*m/rad end on S.angle ;
    start A = 180 deg ;
    """
    found = liaison.equilibrium(text)
    assert np.cos(found["A"]) == pytest.approx(1, abs=1e-12)
    assert found.is_stable


def test_a_block_on_the_ground_beside_a_stiff_spring_is_let_down():
    """Contacts measure each way by its own size, too."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let ball = body mass = 100 g, inertia = 0 end ;
    let bob = body mass = 100 g, center = [0, 0, -1] m, inertia = 0 end ;
    let block = body mass = 1 kg, inertia = 0 end ;
    let Z = join earth and ball with prismatic axis = [0, 0, 1] end ;
    let A = join earth and bob with revolute axis = [0, 1, 0] end ;
    let X = join earth and block with prismatic axis = [1, 0, 0] end ;
    apply spring stiffness = 1e9 N/m end on X ;
    require Z >= 0 m ;
    start Z = 20 cm ; start A = 1 ;
    """
    found = liaison.equilibrium(text)
    assert abs(found["Z"]) < 1e-9
    assert abs(found["A"]) < 1e-6
    (force,) = [x for x, _ in found.contacts.values()]
    assert force == pytest.approx(0.981, rel=1e-6)
