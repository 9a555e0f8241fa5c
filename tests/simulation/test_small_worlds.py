"""Worlds of small mechanisms: steps by fused entries are those of the general loops."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.contacts.stepping.small import small_words
from liaison.errors import SimulationError
from liaison.expr import ZERO
from liaison.formats import read_lsd
from liaison.program.gpu.fused import FUSED, fused
from liaison.program.program import Entry
from liaison.simulation.plan.plan import arrays_of
from liaison.simulation.worlds import module
from liaison.simulation.worlds.loops import march_small_world, march_world

ROOT = Path(__file__).parents[2]
ROBOTS, CONTACT = ROOT / "examples" / "robots", ROOT / "examples" / "contact"
H = 1e-3
ONE_STEP = 1e-12
"""Formulas are the same; sums are taken in another order."""

SHAKEN = """
name = "shaken" ;
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 0.3 kg, center = [0, 0, -10] cm, inertia = [1, 1, 0.1] g*m^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
let drive = require Z = 20 cm + 3 cm * sin(30 rad/s * t) ;
let foot = contact [0, 0, -20] cm @ thigh and earth with ball
  radius = 2 cm, friction = 0.4, restitution = 0.2 end ;
start A = 30 deg ;
"""

BRAKED = """
name = "braked" ;
gravity = [0, 0, -9.81] m/s^2 ;
let sledge = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let block = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and sledge with prismatic axis = [1, 0, 0] end ;
let Z = join sledge and block with prismatic axis = [0, 0, 1] end ;
let shoe = contact block and earth with point
  friction = 0.2, static = 0.5, stribeck = 0.3 m/s end ;
start X' = 0.5 m/s ;
"""

LIGHT = """
name = "light" ;
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 10 g, center = [0, 0, -10] cm, inertia = [30, 30, 1] g*cm^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
apply servo target = 10 deg, stiffness = 30 N*m/rad, damping = 1 N*m*s/rad{limit} end on A ;
apply spring stiffness = 200 N/m, rest = 30 cm end on Z ;
let foot = contact [0, 0, -20] cm @ thigh and earth with ball
  radius = 2 cm, friction = 0.4, restitution = 0.2 end ;
start A = 30 deg ;
start Z = 22 cm ;
start Z' = -1 m/s ;
"""

EVENTFUL = """
name = "eventful" ;
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let Z = join earth and ball with prismatic axis = [0, 0, 1] end ;
let stop = require Z >= 0 m with restitution = 0.5 end ;
event low when Z - 5 cm falling {action} ;
start Z = 10 cm ;
"""


def leg():
    return liaison.read(
        ROBOTS / "parallel_leg.urdf", ground=True, motors="position",
        srdf=ROBOTS / "parallel_leg.srdf", pose="crouch",
    )  # fmt: skip


def differences(description, steps):
    """How far worlds are from a run of `simulate`, after one step and after all of them."""
    worlds = liaison.worlds(description, 2, step=H, device="processor")
    run = liaison.simulate(description, until=steps * H, step=H, method="moreau", every=H)
    missed = []
    for done, k in ((1, 1), (steps - 1, steps)):
        worlds.step(done)
        both = np.concatenate([worlds.q[:, 0] - run.q[k], worlds.v[:, 0] - run.v[k]])
        missed.append(np.max(np.abs(both)))
    return worlds, missed


@pytest.mark.parametrize(
    "name",
    [
        *("marble_in_bowl", "cradle", "backlash"),
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("table_edge", "cam_lift_off")),
    ],
)
def test_steps_are_those_of_the_general_loops(name):
    """Turning bases, several contacts at once, stops, curved surfaces, closures."""
    worlds, (one, all_steps) = differences(liaison.read(CONTACT / f"{name}.lsd"), 60)
    assert one < ONE_STEP
    assert all_steps < 1e-9
    assert worlds.lost == 0


def test_a_closed_loop_lands_as_in_the_general_loops():
    worlds, (one, all_steps) = differences(leg(), 150)
    assert one < ONE_STEP
    assert all_steps < 1e-9
    assert worlds.contacts.max() == 2
    assert worlds.residuals.max() < 1e-13
    assert worlds.penetrations.max() < 1e-12


def test_closures_and_gaps_are_taken_at_their_own_times():
    """A driven platform: what `free` evaluates at the end is at the end, the rest midway."""
    worlds, (one, all_steps) = differences(read_lsd(SHAKEN), 200)
    assert one < ONE_STEP
    assert all_steps < 1e-9
    assert worlds.contacts.max() == 2


@pytest.mark.parametrize(
    "limit",
    [
        ", limit = 0.3 N*m, no_load = 4 rad/s",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("", ", limit = 1 N*m")),
    ],
)
def test_stiff_motors_within_their_limits_are_those_of_the_general_loops(limit):
    """A motor that comes to its limit and leaves it, on a light leg that hits the ground."""
    worlds, (one, all_steps) = differences(read_lsd(LIGHT.format(limit=limit)), 60)
    assert one < ONE_STEP
    assert all_steps < 1e-9
    assert worlds.lost == 0
    assert worlds.contacts.max() == 2


def test_friction_that_depends_on_the_slip_is_that_of_the_step_at_hand():
    """Stribeck's law takes the speed midway, of the free motion to begin with."""
    worlds, (one, all_steps) = differences(read_lsd(BRAKED), 100)
    assert one < ONE_STEP
    assert all_steps < 1e-12
    assert worlds.contacts.max() == 2


def test_a_step_that_fused_entries_do_not_take_is_taken_elsewhere(monkeypatch):
    """With pivots that are never good enough, every step goes through the general loops."""

    def doubtful(*args):
        whole = fused(*args)
        free = whole.entry("fused_free")
        entries = dict(whole.entries)
        outputs = [free.outputs[0], ZERO, *free.outputs[2:]]
        entries["fused_free"] = Entry("fused_free", outputs)
        return replace(whole, entries=entries)

    worlds = liaison.worlds(leg(), 2, step=H, device="processor")
    monkeypatch.setattr(module, "fused", doubtful)
    elsewhere = liaison.worlds(leg(), 2, step=H, device="processor")
    for one in (worlds, elsewhere):
        one.step(80)
    assert elsewhere.lost == 0
    assert not np.array_equal(elsewhere.residuals, worlds.residuals)  # of another solver
    assert np.max(np.abs(elsewhere.q - worlds.q)) < 1e-10


def test_which_mechanisms_are_small():
    plan = liaison.worlds(leg(), 1, step=H, device="processor").plan
    program = fused(plan.program, 0.5)
    assert list(program.entries) == [f"fused_{x}" for x in FUSED]
    run = arrays_of(plan).run
    left = len(program.entry("fused_free").outputs) + len(program.entry("fused_push").outputs)
    assert left <= small_words(run)
    assert "march_quick_world" in module.module_of(plan, gpu=False).text
    text = liaison.worlds(CONTACT / "stick_slip.lsd", 1, step=H, device="processor").plan
    assert fused(text.program, 0.5) is None  # a velocity without inertia
    assert march_small_world.name != march_world.name


def test_an_event_that_only_watches_is_left_out():
    worlds = liaison.worlds(
        read_lsd(EVENTFUL.format(action="record")), 2, step=H, device="processor"
    )
    worlds.step(200)
    assert worlds.lost == 0
    assert worlds.q[0].max() < 0.1


def test_an_event_that_stops_is_refused():
    with pytest.raises(SimulationError, match="'low' stops a run"):
        liaison.worlds(read_lsd(EVENTFUL.format(action="stop")), 2, step=H, device="processor")


def test_the_page_of_many_legs(tmp_path, capsys):
    main = runpy.run_path(str(ROBOTS / "many_legs.py"))["main"]
    main(str(tmp_path / "legs.html"), 9, "processor")
    text = (tmp_path / "legs.html").read_text(encoding="utf-8")
    assert "9 closed-loop legs on the ground" in text
    assert "@" not in text.replace("@media", "").split('id="data">')[0]
    assert "0 worlds lost" in capsys.readouterr().out


SLEDGE = """
name = "sledge" ;
gravity = [0, 0, -9.81] m/s^2 ;
let sledge = body mass = 1 kg, inertia = 1 g*m^2 end ;
let block = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and sledge with prismatic axis = [1, 0, 0] end ;
let Z = join sledge and block with prismatic axis = [0, 0, 1] end ;
let stop = require Z >= 0 m ;
let shoe = contact block and earth with point friction = 0.5 end ;
start X' = 1 m/s ;
"""

STRIBECK = """
name = "stribeck" ;
gravity = [-0.86, 0, -9.81] m/s^2 ;
let trunk = body mass = 2 kg, inertia = 0.02 kg*m^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
start Z = 0.449 ;
start Z' = -1.820 ;
let l0 = body mass = 0.102 kg, center = [0, 0, -10] cm, inertia = [0.62, 0.71, 0.37] g*m^2 end ;
let A0 = join trunk and l0 with revolute axis = [0, 1, 0] end ;
start A0 = -0.195 ;
let s0 = require A0 >= -72.7 deg with restitution = 0.3 end ;
let l1 = body mass = 0.011 kg, center = [0, 0, -10] cm, inertia = [2.51, 2.15, 1.50] g*m^2 end ;
let A1 = join [0, 0, -20] cm @ l0 and l1 with revolute axis = [0, 1, 0] end ;
start A1 = -0.691 ;
apply servo target = -57.4 deg, stiffness = 1.41 N*m/rad, damping = 0.233 N*m*s/rad,
  limit = 1.06 N*m end on A1 ;
let s1 = require A1 >= -75.3 deg with restitution = 0.8 end ;
let r1 = require A1 <= 74.3 deg ;
let foot = contact [0, 0, -20] cm @ l1 and earth with ball
  radius = 2 cm, friction = 0.2, static = 1.2, stribeck = 0.1 m/s, restitution = 0.0 end ;
let knee = contact [0, 0, -20] cm @ l0 and earth with ball
  radius = 2 cm, friction = 0.2, static = 1.2, stribeck = 0.1 m/s, restitution = 0.0 end ;
"""


@pytest.mark.parametrize(
    ("text", "steps"), [(SLEDGE, 200), pytest.param(STRIBECK, 90, marks=pytest.mark.slow)]
)
def test_loads_that_are_shared_and_coefficients_that_fall_are_those_of_simulate(text, steps):
    """A stop and a contact that repeat each other; friction by its slip where a motor bends.

    Rounding of impacts grows to 1e-9 within these steps.
    """
    mechanism = read_lsd(text)
    run = liaison.simulate(
        mechanism, until=steps * 1e-3, step=1e-3, every=1e-3, method="moreau", only_series=()
    )
    worlds = liaison.worlds(mechanism, 1, step=1e-3, device="processor")
    worlds.step(steps)
    assert worlds.lost == 0
    assert worlds.v[:, 0] == pytest.approx(run.v[-1], abs=1e-7)
