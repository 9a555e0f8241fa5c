"""Worlds that touch at one place or none: steps in few numbers are those of the general loops."""

import re
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd
from liaison.program.llvm.machine import ptx
from liaison.program.loops import read, tree
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.layout import NO_MODE, Entries, Run
from liaison.simulation.worlds import loops, module

ROOT = Path(__file__).parents[2]
ROBOTS, CONTACT = ROOT / "examples" / "robots", ROOT / "examples" / "contact"
H = 1e-3
ONE_STEP = 1e-12
"""Formulas are the same; sums are taken in another order."""

TURNING = 2e-11
"""The same of legs that turn at up to 45 rad/s: corrections are Newton's and leave squares of what
they correct, 1e-4 of a radian a step, in one way or the other."""

PRESSED = """
name = "pressed" ;
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 10 g, center = [0, 0, -10] cm, inertia = [30, 30, 1] g*cm^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
apply servo target = 10 deg, stiffness = 30 N*m/rad, damping = 1 N*m*s/rad, limit = 0.3 N*m
  end on A ;
let foot = contact [0, 0, -20] cm @ thigh and earth with ball
  radius = 2 cm, friction = 0.4, restitution = {restitution} end ;
start A = {angle} ;
start Z = 23 cm ;
start Z' = -1 m/s ;
"""


@loop
def refused_step(t: f64, t_new: f64, h: f64, e: Entries, run: Run, scratch: ptr) -> i64:
    """In the place of a step of the other kind: it loses the world."""
    return NO_MODE


@loop
def refused_elsewhere(e: Entries, run: Run, scratch: ptr) -> i64:
    """In the place of the general loops."""
    return NO_MODE


@pytest.fixture
def refuse(monkeypatch):
    """Puts another loop in the place of one that steps call."""

    def forget():
        read.routine.cache_clear()
        tree.scope_of.cache_clear()

    def put(name, other):
        monkeypatch.setattr(loops, name, other)
        forget()

    yield put
    monkeypatch.undo()
    forget()


def leg():
    return liaison.read(
        ROBOTS / "parallel_leg.urdf", ground=True, motors="position",
        srdf=ROBOTS / "parallel_leg.srdf", pose="crouch",
    )  # fmt: skip


def worlds_of(description, count, precision="double"):
    return liaison.worlds(description, count, step=H, device="processor", precision=precision)


@pytest.mark.parametrize("precision", ["single", pytest.param("double", marks=pytest.mark.slow)])
def test_legs_that_land_and_stand_take_no_other_way(refuse, precision):
    """Flight, landings, slip and rest of random legs: all steps are taken in few numbers."""
    refuse("whole_small_step", refused_step)
    legs = worlds_of(leg(), 128, precision)
    legs.reset(spread=0.02, seed=5)
    legs.step(105)
    assert legs.lost == 0
    assert legs.contacts.max() == 2
    assert legs.penetrations.max() < (1e-12 if precision == "double" else 3e-6)


def test_several_contacts_take_the_other_way(refuse):
    """Which is what the test before would see."""
    whole = worlds_of(liaison.read(CONTACT / "cradle.lsd"), 1)
    whole.step(60)
    refuse("whole_small_step", refused_step)
    worlds = worlds_of(liaison.read(CONTACT / "cradle.lsd"), 1)
    worlds.step(60)
    assert whole.lost == 0
    assert worlds.lost == 1


@pytest.mark.slow
def test_steps_under_random_targets_are_those_of_the_general_loops(monkeypatch):
    """Motors at limits, stops, one contact and several: each beside a step of the general loops."""
    count = 48
    legs = worlds_of(leg(), count)
    monkeypatch.setattr(module, "fused", lambda *args: None)
    others = worlds_of(leg(), count)
    rng = np.random.default_rng(3)
    legs.reset(spread=0.02, seed=1)
    others.reset(spread=0.02, seed=1)
    missed, met, targets = [], 0, np.zeros((2, count))
    for k in range(400):
        targets = rng.uniform(-1.0, 1.0, (2, count)) if k % 50 == 0 else targets
        for array in ("q", "v", "_carried"):
            getattr(others, array)[:] = getattr(legs, array)
        for worlds in (legs, others):
            worlds.step(1, inputs=targets)
        off = np.abs(legs.v - others.v) / (1.0 + np.abs(others.v))
        missed += [np.max(np.abs(legs.q - others.q)), np.max(off)]
        met = max(met, int(legs.contacts.max()))
    assert legs.lost == others.lost == 0
    assert met > 2
    assert max(missed) < TURNING


def test_a_motor_that_meets_its_limit_takes_no_general_loops(refuse):
    """Slopes are taken anew by fused entries; without them the general loops would be asked."""
    description = read_lsd(PRESSED.format(restitution=0.2, angle="30 deg"))
    usual = worlds_of(description, 1)
    usual.step(80)
    refuse("step_elsewhere", refused_elsewhere)
    worlds = worlds_of(description, 1)
    worlds.step(80)
    refuse("small_bent", loops.step_elsewhere)
    without = worlds_of(description, 1)
    without.step(80)
    assert (worlds.lost, without.lost) == (0, 1)
    np.testing.assert_array_equal(worlds.q, usual.q)


@pytest.mark.parametrize(
    "restitution",
    [0.2, pytest.param(0.0, marks=pytest.mark.slow), pytest.param(0.9, marks=pytest.mark.slow)],
)
def test_impacts_are_those_of_a_run(restitution):
    description = read_lsd(PRESSED.format(restitution=restitution, angle="30 deg"))
    run = liaison.simulate(description, until=0.1, step=H, method="moreau", every=H)
    worlds = worlds_of(description, 1)
    missed = []
    for k in range(1, 101):
        worlds.step(1)
        missed += [np.max(np.abs(worlds.q[:, 0] - run.q[k]))]
    assert missed[0] < ONE_STEP
    assert max(missed) < 1e-9
    assert worlds.contacts.max() == 2


def test_an_angle_beyond_the_reach_of_short_sines_is_taken_elsewhere(refuse):
    """Sines without branches are NaN there: the step is the same, by the other way."""
    description = read_lsd(PRESSED.format(restitution=0.2, angle="2e5 rad"))
    run = liaison.simulate(description, until=5 * H, step=H, method="moreau", every=H)
    worlds = worlds_of(description, 1)
    worlds.step(5)
    np.testing.assert_allclose(worlds.q[:, 0], run.q[-1], rtol=1e-14, atol=1e-12)
    refuse("whole_small_step", refused_step)
    alone = worlds_of(description, 1)
    alone.step(5)
    assert (worlds.lost, alone.lost) == (0, 1)


def test_launches_may_be_cut_anywhere():
    """What a world keeps between launches is all that the next step needs, to the bit."""
    description = leg()
    whole, parts = (worlds_of(description, 16) for _ in range(2))
    for worlds in (whole, parts):
        worlds.reset(spread=0.02, seed=5)
    whole.step(90)
    for steps in (1, 7, 30, 2, 50):
        parts.step(steps)
    for array in ("q", "v", "_carried"):
        np.testing.assert_array_equal(getattr(whole, array), getattr(parts, array))


def test_nothing_of_a_step_in_registers_lies_in_memory():
    """On a GPU: no room beside the run, and between phases no exact quotient, root or far sine."""
    plan = worlds_of(leg(), 1).plan
    written = module.module_of(plan, gpu=True)
    text = ptx(written.text, "sm_90", passes=True)
    march = text[text.index(".entry march") :]
    depot = int(re.search(r"__local_depot\d+\[(\d+)\]", march)[1])
    assert depot == 8 * written.words
    between = march[march.index("bar.sync") : march.rindex("bar.sync")]
    assert "rsqrt.approx" in between
    for slow in ("div.rn", "sqrt.rn", "call"):
        assert slow not in between


@pytest.mark.parametrize(
    ("name", "is_quick"), [("hopping_leg", True), ("cradle", True), ("marble_in_bowl", False)]
)
def test_which_mechanisms_take_steps_in_registers(name, is_quick):
    """Not those whose friction is a disc: they would begin every step with contact twice."""
    plan = worlds_of(liaison.read(CONTACT / f"{name}.lsd"), 1).plan
    text = module.module_of(plan, ("march",), gpu=False).text
    assert ("march_quick_world" in text) == is_quick
