"""Imposed motions that jump are refused; at a corner the drive gives an impulse, noted as such."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read

CARTS = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let c = body mass = 3 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
let Y = join b and c with slider axis = [1, 0, 0] end ;
{more}
impose X = {law} ;
"""
RAMP = '1 m*table(t/(1 s), [0, 0.5, 2], [0, 0, 3], "linear")'
"""At rest, then 2 m/s."""


def driven(law, more="", until=1.0, **options):
    return liaison.simulate(read(CARTS.format(law=law, more=more)), until=until, **options)


@pytest.mark.parametrize("options", [{}, {"step": 0.01}, {"step": 0.01, "method": "moreau"}])
@pytest.mark.parametrize(
    "law", ["1 m*if(t - 0.5 s, 1, 0)", "1 m*sign(t - 0.5 s)/2", "1 m*if(-sin(3 rad/s*t), 0, 1)"]
)
def test_a_jump_is_refused_with_its_instant(law, options):
    with pytest.raises(SimulationError, match="'imposed_X' jumps by 1 at t = ") as refusal:
        driven(law, until=2.0, **options)
    instant = np.pi / 3 if "sin" in law else 0.5
    assert refusal.value.t == pytest.approx(instant, abs=1e-12)


def test_a_jump_outside_of_the_run_is_none():
    assert driven("1 m*if(t - 5 s, 1, 0)").status == "done"


METHODS = [
    {}, {"method": "radau"}, {"step": 0.013}, {"step": 0.013, "method": "moreau"},
    {"step": 0.013, "method": "rattle"}, {"step": 0.013, "method": "gauss4"},
    {"step": 0.013, "method": "generalized-alpha"},
]  # fmt: skip


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_at_a_corner_the_drive_gives_an_impulse(options):
    """The cart that nothing drives keeps its momentum: Y' = −X'."""
    run = driven(RAMP, **options)
    (kick,) = run.events
    assert (kick.name, kick.what) == ("imposed_X", "impulse")
    assert kick.t == pytest.approx(0.5, abs=1e-15)
    assert kick.before == pytest.approx([0, 0], abs=1e-12)
    assert kick.v == pytest.approx([2, -2], abs=1e-12)
    assert run.q[-1] == pytest.approx([1, -1], abs=1e-12)
    assert run.v[-1] == pytest.approx([2, -2], abs=1e-12)


def test_the_other_end_of_a_lever_takes_its_share():
    """A rod of uniform mass, driven at one end from rest: its other end goes back at half speed."""
    rod = read("""
let a = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let rod = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = [0, 1/12, 1/12] kg*m^2 end ;
let Y = join earth and a with slider axis = [0, 1, 0] end ;
let A = join a and rod with hinge axis = [0, 0, 1] end ;
impose Y = 1 m*max(0, t/(1 s) - 0.3) ;
""")
    run = liaison.simulate(rod, until=0.3 + 1e-9)
    (kick,) = run.events
    # tip: Y' + A' · 1 m = 1 − 3/2
    assert kick.v == pytest.approx([1, -1.5], rel=1e-9)


def test_a_contact_meets_the_impulse_of_a_drive():
    """Pushed, the cart in front takes the speed at once; pulled, it stays behind."""
    pushed = driven(RAMP, "require -Y <= 0 m ;")
    assert [x.what for x in pushed.events] == ["impulse", "impact"]
    assert pushed.v[-1] == pytest.approx([2, 0], abs=1e-9)
    left = driven(RAMP, "require Y <= 0 m ;")
    assert [x.what for x in left.events] == ["impulse", "opens"]
    assert left.v[-1] == pytest.approx([2, -2], abs=1e-9)


def test_batches_and_parameters_move_the_corner():
    law = "1 m*max(0, (t - begin)/(1 s))"
    model = read(CARTS.format(law=law, more="parameter begin = 0.5 s ;"))
    runs = liaison.simulate_batch(model, until=1.0, parameters={"begin": [0.25, 0.5, 0.75]})
    assert runs.q[:, -1, 0] == pytest.approx([0.75, 0.5, 0.25], abs=1e-9)
    assert runs.q[:, -1, 1] == pytest.approx([-0.75, -0.5, -0.25], abs=1e-9)
    alone = liaison.simulate(model, until=1.0, parameters={"begin": 0.25})
    assert alone.t_events["imposed_X"] == pytest.approx([0.25], abs=1e-15)


def test_a_corner_comes_after_runs_without_one():
    """Runs of one kernel share their arrays, which the first of them sizes."""
    law = "1 m*max(0, (t - begin)/(1 s))"
    model = read(CARTS.format(law=law, more="parameter begin = 0.5 s ;"))
    kernel = liaison.compile(model)
    for before in ({"until": 0.3}, {"until": 1.0, "parameters": {"begin": 2.0}}):
        assert not liaison.simulate(kernel, **before).events
        run = liaison.simulate(kernel, until=1.0, time_limit=10.0)
        assert run.t_events["imposed_X"] == pytest.approx([0.5], abs=1e-15)
        assert run.q[-1] == pytest.approx([0.5, -0.5], abs=1e-12)


def test_a_stepper_passes_a_corner():
    its = liaison.stepper(read(CARTS.format(law=RAMP, more="")), max_steps=1000)
    for t in (0.25, 0.5, 0.75, 1.0):
        state = its.step(None, t - its.state.t)
    assert state.q == pytest.approx([1, -1], abs=1e-12)
    assert state.v == pytest.approx([2, -2], abs=1e-12)


@pytest.mark.parametrize("more", ["", "require Y <= 1 m with restitution = 0.5 end ;"])
@pytest.mark.parametrize(
    ("law", "speed"),
    [
        ("2 m/s * max(t, 0 s)", 2.0),
        ('1 m * table(t/(1 s), [0, 1], [0, 3], "linear", outside = "hold")', 3.0),
        ("2 m/s * abs(t) - 1 m/s * t", 1.0),
    ],
)
@pytest.mark.parametrize("options", [{}, {"step": 0.01}])
def test_a_corner_at_the_start_is_an_impulse(law, speed, options, more):
    """A ramp from the instant at which the run begins; a free slider beside it does not move."""
    text = f"""let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ; impose X = {law} ;
    let c = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let Y = join earth and c with prismatic end ; start Y = 20 cm ; {more}"""
    run = liaison.simulate(text, until=0.3, every=0.1, **options)
    assert run.status == "done"
    assert run["X"] == pytest.approx(speed * run.t, abs=1e-9)
    assert run["X'"][1:] == pytest.approx(speed, abs=1e-9)
    assert [(e.name, e.what, round(e.t, 12)) for e in run.events] == [("imposed_X", "impulse", 0.0)]
    assert run["Y"] == pytest.approx(0.2, abs=1e-12)


def test_a_jump_at_the_start_is_rejected():
    text = """let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and b with prismatic end ; impose X = 1 m * if(t, 1, 0) ;"""
    with pytest.raises(SimulationError, match="jumps by 1 at t = 0 s"):
        liaison.simulate(text, until=1.0)
