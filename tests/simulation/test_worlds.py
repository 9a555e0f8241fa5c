"""Worlds: many copies through contacts, by the code of a GPU on this processor."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError, NamingError, ProgramError, SimulationError
from liaison.formats import read_lsd
from liaison.program.gpu.cuda import driver

ONE_STEP = 1e-12
"""Loops and entries are the same; sums are fused in another order."""

HOPPER = """
name = "hopper" ;
gravity = [0, 0, -9.81] m/s^2 ;
input wish = 20 deg ;
input kick = 0 N ;
parameter mu = 0.5 ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 0.3 kg, center = [0, 0, -10] cm, inertia = [1, 1, 0.1] g*m^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
let lower = require A >= -40 deg with restitution = 0.3 end ;
let upper = require A <= 60 deg with restitution = 0.3 end ;
let slow = require A' <= 6 rad/s ;
let dry = apply friction dry = 0.05 N*m end on A ;
apply motor force = kick end on Z ;
apply servo target = wish, stiffness = 40 N*m/rad, damping = 0.5 N*m*s/rad, limit = 3 N*m end on A ;
let foot = contact [0, 0, -20] cm @ thigh and earth with ball
  radius = 2 cm, friction = mu, restitution = 0.4 end ;
start Z = 25 cm ;
start A = 30 deg ;
"""

H = 1e-3
ROBOTS = Path(__file__).parents[2] / "examples" / "robots"


def hoppers(count=4, **options):
    return liaison.worlds(read_lsd(HOPPER), count, step=H, device="processor", **options)


def simulated(steps, **start):
    return liaison.simulate(
        read_lsd(HOPPER), until=steps * H, step=H, method="moreau", start=start or None, every=H
    )


def test_worlds_move_as_a_run_by_moreau_steps_does():
    """Contact with friction and restitution, stops, dry friction, a rate, a motor with a limit."""
    worlds, run = hoppers(), simulated(400)
    worlds.step(1)
    assert np.max(np.abs(worlds.q[:, 0] - run.q[1])) < ONE_STEP
    assert np.max(np.abs(worlds.v[:, 0] - run.v[1])) < ONE_STEP
    worlds.step(399)
    assert worlds.lost == 0
    assert worlds.contacts.max() >= 3
    assert worlds.q == pytest.approx(np.tile(run.q[-1][:, None], 4), abs=1e-9)
    assert worlds.t == pytest.approx(0.4, abs=1e-12)
    assert worlds.residuals.max() < 1e-12
    assert worlds.penetrations.max() < 1e-9


def test_many_launches_are_one():
    """What a step carries to the next, impulses and modes, is kept between launches."""
    one, many = hoppers(), hoppers()
    one.step(200)
    for steps in (1, 9, 90, 100):
        many.step(steps)
    assert np.max(np.abs(one.q - many.q)) < 1e-13
    assert np.max(np.abs(one.v - many.v)) < 1e-11


def test_single_precision_follows_double():
    double, single = hoppers(), hoppers(precision="single")
    assert single.q.dtype == np.float32
    for worlds in (double, single):
        worlds.step(100)
    assert single.q == pytest.approx(double.q, abs=1e-5)
    assert single.lost == 0
    assert single.residuals.max() < 1e-5


def test_closed_loops_stay_closed_on_the_ground():
    leg = liaison.read(
        ROBOTS / "parallel_leg.urdf", ground=True, motors="position",
        srdf=ROBOTS / "parallel_leg.srdf", pose="crouch",
    )  # fmt: skip
    worlds = liaison.worlds(leg, 6, step=H, device="processor")
    worlds.reset(spread=0.1, seed=4)
    assert np.ptp(worlds.q, axis=1).min() > 0.01
    runs = worlds.simulate(100, every=50)
    for name in ("position_residual", "velocity_residual"):
        assert np.max(runs.series[name][0]) < 1e-9
    assert worlds.lost == 0


def test_a_lost_world_stays_at_its_last_good_state_and_is_counted():
    worlds = hoppers()
    worlds.step(10)
    before = worlds.state(2)
    worlds.step(5, inputs={"kick": np.array([0.0, 1.0, 1e308, 2.0])})
    assert worlds.lost == 1
    assert worlds.why(2) == "no mode"
    assert worlds.why(1) == ""
    assert worlds.state(2).q == pytest.approx(before.q, abs=0)
    assert np.all(np.isfinite(worlds.q))
    assert np.all(np.isfinite(worlds.v))
    assert worlds.steps_taken.tolist() == [15, 15, 10, 15]
    runs = worlds.simulate(2)
    assert runs.statuses[2] == "failed"
    assert "no mode" in runs.messages[2]
    assert [x for x in runs.statuses if x == "done"] == ["done"] * 3
    worlds.step(1, inputs={"kick": 0.0})
    worlds.reset(2)
    worlds.step(3)
    assert worlds.lost == 0
    assert worlds.steps_taken[2] == 3


def blocks(count):
    """Blocks beside each other on springs by formulas, which steps take explicitly."""
    text = "gravity = [0, 0, -9.81] m/s^2 ;\n"
    for k in range(count):
        text += f"""
        let block{k} = body mass = 1 kg, inertia = 1 g*m^2 end ;
        let S{k} = join earth and block{k} with prismatic axis = [1, 0, 0] end ;
        apply potential value = 1/2 * 1e9 N/m * S{k}^2 end ;
        """
    return text


@pytest.mark.parametrize("count", [1, 14])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_world_whose_steps_are_too_long_runs_away_by_name(count, precision):
    """Of a spring with h √(k/m) = 32 each step multiplies what it is out of rest by a thousand.

    A world at rest stays there; the others are lost before their numbers are, at a good state.
    """
    options = {"step": H, "device": "processor", "precision": precision}
    worlds = liaison.worlds(read_lsd(blocks(count)), 4, **options)
    q = np.zeros((count, 4))
    q[0] = [1e-3, 0.0, 1e-9, 1e-3]
    worlds.reset(q=q)
    worlds.step(30)
    away = "ran away: its steps are too long"
    assert [worlds.why(k) for k in range(4)] == [away, "", away, away]
    assert worlds.lost == 3
    first, rest, later, _ = worlds.steps_taken
    assert 0 < first < later < rest == 30
    assert np.all(np.isfinite(worlds.q))
    assert np.all(np.isfinite(worlds.v))
    assert np.all(worlds.v[:, 1] == 0.0)
    runs = worlds.simulate(2)
    assert runs.statuses == ("failed", "done", "failed", "failed")
    assert away in runs.messages[0]


def test_random_starts_are_those_of_their_seed():
    worlds, again = hoppers(32), hoppers(32, precision="single")
    for x in (worlds, again):
        x.reset(spread={"A": 0.2, "Z'": 0.5}, seed=9)
    assert worlds.q == pytest.approx(again.q, abs=1e-6)
    assert np.ptp(worlds.q[1]) > 0.3
    assert np.max(np.abs(worlds.q[1] - np.deg2rad(30))) <= 0.2
    assert np.ptp(worlds.v[0]) > 0.7
    first = worlds.q.copy()
    worlds.reset([3, 5], spread={"A": 0.2}, seed=10)
    moved = np.flatnonzero(np.any(worlds.q != first, axis=0))
    assert moved.tolist() == [3, 5]
    again = worlds.q.copy()
    worlds.reset([3, 5], spread={"A": "0.2 rad"}, seed=10)
    assert np.all(worlds.q == again)


def test_places_and_turns_of_a_free_body_have_random_starts_by_name():
    text = """let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let F = join earth and b with free end ; start F.z = 1 m ;"""
    free = liaison.worlds(text, 64, step=H, device="processor")
    names = [x.name for x in free.plan.program.labels["q"]]
    free.reset(spread={"F.z": "2 cm", "F.qx": "3 deg", "F.vx": 0.1, "F.wy": 0.2}, seed=1)
    q, v = (dict(zip(*x, strict=True)) for x in (
        (names, free.q), ([x.name for x in free.plan.program.labels["v"]], free.v)
    ))  # fmt: skip
    assert 0.01 < np.max(np.abs(q["F.z"] - 1)) <= 0.02
    assert 0.02 < np.max(np.abs(2 * np.arcsin(q["F.qx"]))) <= np.deg2rad(3)
    assert 0.05 < np.max(np.abs(v["F.vx"])) <= 0.1
    assert 0.1 < np.max(np.abs(v["F.wy"])) <= 0.2
    still = [q[x] for x in ("F.x", "F.y", "F.qy", "F.qz")]
    still += [v[x] for x in ("F.vy", "F.vz", "F.wx", "F.wz")]
    assert not np.any(still)


def test_a_table_of_inputs_is_steps_one_by_one():
    wishes = np.zeros((3, 2, 4))
    wishes[:, 0] = np.linspace(-0.2, 0.6, 12).reshape(3, 4)
    table, single = hoppers(), hoppers()
    table.step(30, inputs=wishes)
    for row in wishes:
        single.step(10, inputs=row)
    assert table.q == pytest.approx(single.q, abs=1e-13)
    assert np.ptp(table.q[1]) > 1e-3


def test_inputs_may_be_formulas_of_time_and_state():
    wish = {"wish": liaison.symbol("t") * 2.0}
    worlds = hoppers(2, inputs=wish)
    worlds.step(150)
    run = liaison.simulate(
        HOPPER_M, until=150 * H, step=H, method="moreau", inputs=wish, every=150 * H
    )
    assert worlds.q[:, 1] == pytest.approx(run.q[-1], abs=1e-11)


def test_worlds_have_parameters_of_their_own():
    kernel, _ = liaison.compile(read_lsd(HOPPER)), None
    worlds = liaison.worlds(
        kernel, 3, step=H, device="processor", parameters={"mu": np.array([0.0, 0.5, 1.0])}
    )
    worlds.step(300)
    assert worlds.lost == 0
    assert np.ptp(worlds.q[1]) > 1e-6


def test_results_have_labels_and_units():
    runs = hoppers().simulate(20, every=10)
    assert isinstance(runs, liaison.Runs)
    assert runs["A"].shape == (4, 3)
    assert [str(x.unit) for x in runs.labels["q"]] == ["m", "rad"]
    assert runs.t == pytest.approx([0.0, 0.01, 0.02])
    assert runs.series["energy"][0].shape[:2] == (4, 3)
    assert set(runs.measures) == {"penetration", "complementarity", "contacts"}


def test_memory_that_does_not_fit_is_refused_before_anything_is_taken():
    with pytest.raises(SimulationError, match=r"need .* GB, and .* free: \d+ worlds fit"):
        hoppers(10**13)


def one(**options):
    return liaison.worlds(HOPPER_M, 1, **{"step": H, "device": "processor", **options})


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ArgumentError, "'gpu:1' for the second", lambda w: one(device="tpu")),
        (SimulationError, "precision is 'half'", lambda w: one(precision="half")),
        (SimulationError, "0 worlds", lambda w: hoppers(0)),
        (SimulationError, "step", lambda w: one(step=-1)),
        (SimulationError, "0 steps", lambda w: w.step(0)),
        (SimulationError, "shape", lambda w: w.step(1, inputs=np.zeros((3, 7)))),
        (SimulationError, "not finite", lambda w: w.step(1, inputs=[np.nan, 0.0])),
        (NamingError, "wosh", lambda w: w.step(1, inputs={"wosh": 1.0})),
        (SimulationError, "0 to 3", lambda w: w.reset([4])),
        (SimulationError, "shape", lambda w: w.reset(q=np.zeros(5))),
        (NamingError, "B", lambda w: w.reset(spread={"B": 1.0})),
        (SimulationError, "table", lambda w: w.simulate(4, inputs=np.zeros((3, 2, 4)))),
        (SimulationError, "not negative", lambda w: w.reset(spread=-1.0)),
        (SimulationError, "it is a number", lambda w: w.reset(spread="5 deg")),
        (ArgumentError, "rad", lambda w: w.reset(spread={"A": "1 m"})),
        (SimulationError, "0 to 3; found 4", lambda w: w.state(4)),
        (SimulationError, "0 to 3; found -1", lambda w: w.why(-1)),
        (SimulationError, "0 to 3; found 4", lambda w: w.derivatives().why(4)),
        (SimulationError, "0 to 3; found 4", lambda w: w.derivatives().world(4)),
    ],
)
def test_wrong_arguments_are_rejected(error, words, call):
    with pytest.raises(error, match=words):
        call(WORLDS)


HOPPER_M = read_lsd(HOPPER)


class _Later:
    """Made when first used, and shared by the rows above."""

    made = None

    def __getattr__(self, name):
        if _Later.made is None:
            _Later.made = hoppers()
        return getattr(_Later.made, name)


WORLDS = _Later()


def test_a_start_that_penetrates_is_a_lost_world():
    worlds = hoppers()
    q = np.tile(worlds.plan.state.q[:, None], 4)
    q[0, 1] = 0.0
    worlds.reset(q=q)
    worlds.step(2)
    assert worlds.statuses.tolist()[0] == 0
    assert worlds.why(1) == "inconsistent start"


def test_no_gpu_is_said_in_words():
    try:
        driver()
    except ProgramError:
        with pytest.raises(LiaisonError, match=r"no NVIDIA driver|driver reports"):
            liaison.worlds(HOPPER_M, 1, step=H)
    else:
        pytest.skip("this computer has a GPU")


def test_inputs_that_a_kernel_determines_and_rows_of_worlds_are_errors():
    """Both were taken without a word: the one had no effect, the other was a table in time."""
    fixed = hoppers(inputs={"wish": 0.3 + 0.1 * liaison.sin(liaison.t)})
    with pytest.raises(SimulationError, match="part of the kernel"):
        fixed.step(1, inputs={"wish": 0.3})
    with pytest.raises(SimulationError, match="a row for each world"):
        hoppers().step(1, inputs=np.zeros((4, 2)))
    for bad in ({"wish": lambda t: t}, {"wish": 1j}, np.array([["a"] * 4] * 2)):
        with pytest.raises(LiaisonError):
            hoppers().step(1, inputs=bad)
