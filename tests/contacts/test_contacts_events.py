"""What happens to contacts, and when: against closed forms, at any tolerance."""

import math
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd

G = 9.81
EXAMPLES = Path(__file__).parents[2] / "examples"
POINT = """
gravity = [0, 0, -9.81] m/s^2 ;
let body1 = body mass = 1 kg, inertia = 1 g*m^2 end ;
let P = join earth and body1 with link(x, y, z)
  dof1 = [x, 0, 0], dof2 = [0, y, 0], dof3 = [0, 0, z] end ;
let floor = contact body1 and earth with point {properties} end ;
{more}
start P.x = 0 ; start P.y = 0 ; start P.z = 0 ;
"""


def run_of(properties, more="", until=2.0, **options):
    text = POINT.format(properties=properties, more=more)
    return liaison.simulate(read_lsd(text), until=until, **{"rtol": 1e-10, "atol": 1e-12} | options)


def happened(run):
    return [(x.name, x.what) for x in run.events]


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9, 1e-11])
def test_a_growing_pull_makes_it_slip_and_then_lifts_it(rtol):
    """Both begin without acceleration: slip at 4t = μ(g − 10t), flight at t = g/10."""
    pull = """
    apply actuator force = 4 N*t/(1 s) end on P.x ;
    apply actuator force = 10 N*t/(1 s) end on P.z ;
    """
    run = run_of("friction = 0.5", pull, rtol=rtol, atol=rtol / 100)
    assert happened(run) == [
        ("floor: sliding", "slips"),
        ("floor", "opens"),
        ("floor: sliding", "opens"),
    ]
    assert run.events[0].t == pytest.approx(0.5 * G / 9, abs=1e-9)
    assert run.events[1].t == pytest.approx(G / 10, abs=1e-9)
    # ẍ = 4t − μ(g − 10t) from the slip to the lift, then 4t
    assert run.events[1].v[0] == pytest.approx(4.5 * (G / 10 - 0.5 * G / 9) ** 2, rel=1e-6)


def test_static_friction_lets_go_later_and_with_a_jump_of_force():
    pull = "apply actuator force = 2 N*t/(1 s) end on P.x ;"
    run = run_of("friction = 0.2, static = 0.3", pull, series=("contacts",))
    (slip,) = run.events
    assert slip.t == pytest.approx(0.3 * G / 2, abs=1e-9)
    force = run["contacts.floor: sliding x"]
    assert np.min(force) == pytest.approx(-0.3 * G, rel=1e-6)
    assert force[run.t > slip.t] == pytest.approx(-0.2 * G, rel=1e-9)


@pytest.mark.parametrize("way", [0.0, 0.7, 2.0, 3.0])
def test_a_thrown_point_stops_after_v_over_mu_g_in_any_direction(way):
    start = {"P.x'": 2 * math.cos(way), "P.y'": 2 * math.sin(way)}
    run = run_of("friction = 0.4", start=start)
    (stop,) = run.events
    assert stop.what == "sticks"
    assert stop.t == pytest.approx(2 / (0.4 * G), abs=1e-9)
    assert math.hypot(*stop.q[:2]) == pytest.approx(4 / (0.8 * G), abs=1e-9)
    assert np.max(np.abs(run.v[-1])) < 1e-12


def test_viscous_friction_alone_slows_exponentially():
    run = run_of("viscous = 3 N*s/m", start={"P.x'": 2.0})
    assert not run.events
    assert run["P.x'"][-1] == pytest.approx(2 * math.exp(-6), rel=1e-8)


def test_dry_and_viscous_friction_together():
    """v̇ = −μg − c v stops at ln(1 + c v₀/(μ g))/c."""
    run = run_of("friction = 0.1, viscous = 3 N*s/m", start={"P.x'": 2.0})
    (stop,) = run.events
    assert stop.t == pytest.approx(math.log(1 + 6 / (0.1 * G)) / 3, abs=1e-9)


def test_stribeck_friction_falls_from_static_to_dynamic():
    """The force at a speed v is μ + (μ₀ − μ) exp(−(v/v_s)²)."""
    run = run_of(
        "friction = 0.2, static = 0.4, stribeck = 0.1 m/s",
        start={"P.x'": 1.0},
        series=("contacts",),
    )
    moving = np.abs(run["P.x'"]) > 1e-6
    speed, force = run["P.x'"][moving], -run["contacts.floor: sliding x"][moving]
    want = G * (0.2 + 0.2 * np.exp(-((speed / 0.1) ** 2)))
    assert force == pytest.approx(want, rel=1e-9)
    assert run.events[-1].what == "sticks"


def test_friction_across_is_that_of_an_ellipse():
    """Thrown along one axis, each has its own coefficient; in between power is lost most."""
    along = run_of("friction = 0.2, across = 0.5", start={"P.x'": 1.0})
    across = run_of("friction = 0.2, across = 0.5", start={"P.y'": 1.0})
    assert along.events[0].t == pytest.approx(1 / (0.2 * G), abs=1e-9)
    assert across.events[0].t == pytest.approx(1 / (0.5 * G), abs=1e-9)
    both = run_of(
        "friction = 0.2, across = 0.5",
        start={"P.x'": 1.0, "P.y'": 1.0},
        series=("contacts",),
        until=0.05,
    )
    a = np.array([0.2, 0.5]) * G
    u = both.v[:, :2]
    want = -(a**2) * u / np.linalg.norm(a * u, axis=1)[:, None]
    assert both.series["contacts"].values[:, 1:3] == pytest.approx(want, rel=1e-9)


def test_slip_that_turns_round_is_listed():
    """A block thrown up a slope too steep for it slides back down."""
    slope = "apply actuator force = -6 N end on P.x ;"
    run = run_of("friction = 0.3", slope, start={"P.x'": 1.0})
    assert happened(run) == [("floor: sliding", "slips")]
    assert run.events[0].t == pytest.approx(1 / (6 + 0.3 * G), abs=1e-9)


def test_friction_that_is_zero_for_a_while_holds_nothing():
    pads = "parameter mu = 0 ;\napply actuator force = 1 N end on P.x ;"
    text = POINT.replace("let floor", "{first}\nlet floor").format(
        properties="friction = mu, pivoting = 0 m, rolling = 0 m",
        first="parameter mu = 0 ;",
        more=pads.split("\n")[1],
    )
    run = liaison.simulate(read_lsd(text), until=1.0)
    assert not run.events
    assert run["P.x'"][-1] == pytest.approx(1.0, rel=1e-9)


def test_an_impact_with_friction_turns_a_ball():
    """A ball thrown flat: it slips through the impact, or leaves rolling, by its friction."""
    ball = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let ball = body mass = 1 kg, inertia = 2/5*1 kg*(10 cm)^2 end ;
    let F = join earth and ball with free end ;
    let floor = contact ball and earth with ball
      radius = 10 cm, friction = {mu}, restitution = 0.5 end ;
    start F = [0, 0, 60] cm ++ 0 deg || [0, 0, 1] ;
    start F.vx = 2 m/s ;
    """
    speed = math.sqrt(2 * G * 0.5)
    for mu in (0.05, 0.9):
        run = liaison.simulate(read_lsd(ball.format(mu=mu)), until=0.5)
        hit = next(x for x in run.events if x.what == "impact")
        at = {x.name: k for k, x in enumerate(run.labels["v"])}
        pulled = min(mu * 1.5 * speed, 2 * 2 / 7)
        # μ P while it slips; 2/7 of the momentum makes it roll
        assert abs(2 - hit.v[at["F.vx"]]) == pytest.approx(pulled, rel=1e-9)
        assert hit.v[at["F.vz"]] == pytest.approx(0.5 * speed, rel=1e-9)


@pytest.mark.parametrize("rtol", [1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_the_woodpecker_goes_on_at_any_tolerance(examples, rtol):
    model = examples / "reference" / "woodpecker.lsd"
    run = liaison.simulate(model, until=1.0, rtol=rtol, atol=rtol / 100, only_series=())
    pecks = [x.t for x in run.events if (x.name, x.what) == ("beak", "impact")]
    assert np.diff(pecks) == pytest.approx(0.146, abs=3e-4)


def test_runs_one_after_the_other_and_side_by_side_do_not_disturb_each_other(examples):
    """Code that hands on where a run lies is used again by the next one."""
    from liaison.simulation import Run, Settings

    mechanism = liaison.read(examples / "reference" / "bouncing_ball.lsd")
    tree = liaison.span(mechanism)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    state = liaison.assemble(tree)
    alone = liaison.simulate(kernel, state, until=2.0)
    one, other = (Run(kernel, state, 2.0, Settings()) for _ in range(2))
    for _ in range(200):
        for run in (one, other):
            if not run.is_over:
                run.go(3)
    for run in (one, other, Run(kernel, state, 2.0, Settings())):
        assert [x.t for x in run.finish(series=()).events] == [x.t for x in alone.events]


SLIDER = """
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let Z = join earth and b with prismatic axis = [0, 0, 1] end ;
let stop = require Z >= 0 with restitution = 0.5 end ;
"""


def test_an_impact_at_the_start_is_listed():
    run = liaison.simulate(SLIDER, until=1, start={"Z'": -1})
    (hit,) = run.events
    assert (hit.name, hit.what, hit.t, hit.before[0], hit.v[0]) == ("stop", "impact", 0, -1, 0.5)


@pytest.mark.parametrize("options", [{}, {"step": 1e-3, "method": "moreau"}])
def test_a_drive_into_a_stop_is_told_as_such(options):
    with pytest.raises(SimulationError, match="closures or drives") as told:
        liaison.simulate(SLIDER + "impose Z = 1 m - 1 m/s*t ;", until=2, **options)
    assert told.value.t == pytest.approx(1, abs=2e-3)


def test_a_one_way_clutch_on_a_rocker_is_entered_without_a_jump():
    text = (EXAMPLES / "four_bar.lsd").read_text(encoding="utf-8")
    text += """
    let shaft = body mass = 2 kg, inertia = 20 g*m^2 end ;
    let S = join earth and shaft with revolute axis = [0, 1, 0] end ;
    apply friction viscous = 0.2 N*m*s/rad end on S ;
    let clutch = require S' >= D' ;
    start S' = 20 rad/s ;
    """
    run = liaison.simulate(text, until=3)
    told = [x for x in run.events if x.name == "clutch"]
    assert [x.what for x in told[:4]] == ["enters", "leaves"] * 2
    assert all(np.abs(x.v - x.before).max() < 1e-12 for x in told)
    assert (run["S'"] - run["D'"]).min() > -1e-6
