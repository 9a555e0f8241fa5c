"""A mechanism with contacts scaled in length, mass and time has the same events at scaled times.

A description is read with other units, so that nothing of it is written anew: with m standing for
2⁻²⁰ m a centimetre is 9.5 nm. Tolerances that are absolute somewhere show as other events.
"""

import sys
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

import liaison
from liaison import units
from liaison.formats import read, read_lsd
from liaison.numeric import State
from liaison.simulation.plan.plan import plan_of
from liaison.simulation.plan.scales import units_of
from liaison.simulation.plan.settings import Settings

TINY, HUGE = Fraction(1, 2**20), Fraction(2**20)
SHORT = {"table_edge": 1.0, "hopping_leg": 1.0, "stops": 1.0}
LONG = {
    "backlash": 1.0, "bearing": 1.0, "box_on_hills": 1.0, "box_over_edge": 1.0, "cam_lift_off": 1.0,
    "cosine_track": 0.5, "cradle": 0.5, "loop": 1.0, "marble_in_bowl": 0.5, "parabolic_bowl": 0.5,
    "rattleback": 0.5, "skis": 1.0, "stick_slip": 1.0, "two_balls": 0.5,
}  # fmt: skip


def forget():
    """Nothing read in other units is remembered."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("liaison.formats", "liaison.units")):
            for x in list(vars(module).values()):
                getattr(x, "cache_clear", lambda: None)()


@contextmanager
def world(length, mass, time):
    """Where a metre, a kilogram and a second have these sizes."""
    had = dict(units.UNITS)
    for word, unit in had.items():
        m, kg, s, *_ = unit.dimension
        factor = unit.factor * length**m * mass**kg * time**s
        units.UNITS[word] = units.Unit(factor, unit.dimension, unit.pi)
    forget()
    try:
        yield
    finally:
        units.UNITS.update(had)
        forget()


def scaled(path, length=Fraction(1), mass=Fraction(1), time=Fraction(1)):
    with world(length, mass, time):
        return read(path)


def both(path, until, length, time, **options):
    """The run of a description, and that of it scaled, of the same density."""
    one = liaison.simulate(read(path), until=until, **options)
    if "step" in options:
        options["step"] *= float(time)
    text = scaled(path, length, length**3, time)
    return one, liaison.simulate(text, until=until * float(time), **options)


def check(one, other, length, time, off):
    """The same events at scaled times, and the same end."""
    assert [(e.name, e.what) for e in other.events] == [(e.name, e.what) for e in one.events]
    at = np.array([e.t for e in other.events]) / float(time)
    assert at == pytest.approx([e.t for e in one.events], abs=off)
    sizes = {"m": length, "m/s": length / time, "rad/s": 1 / time}
    for name in ("q", "v"):
        size = np.array([float(sizes.get(x.unit, 1)) for x in one.labels[name]])
        end = getattr(other, name)[-1] / size
        assert end == pytest.approx(getattr(one, name)[-1], abs=100 * off, rel=100 * off)


@pytest.mark.parametrize("length", [TINY, HUGE], ids=["tiny", "huge"])
@pytest.mark.parametrize("name", SHORT)
def test_events_scale_under_the_same_weight(examples, name, length):
    time = Fraction(float(length) ** 0.5)
    runs = both(examples / "contact" / f"{name}.lsd", SHORT[name], length, time)
    # atol is that of the scaled coordinates: both runs are right to 1e-8 of their sizes
    check(*runs, length, time, off=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("length", [TINY, HUGE], ids=["tiny", "huge"])
@pytest.mark.parametrize("name", LONG)
def test_events_of_all_examples_scale_under_the_same_weight(examples, name, length):
    time = Fraction(float(length) ** 0.5)
    runs = both(examples / "contact" / f"{name}.lsd", LONG[name], length, time)
    check(*runs, length, time, off=1e-7)


@pytest.mark.parametrize(
    ("length", "time"),
    [(Fraction(1, 10**6), 1), (Fraction(10**6), 1), (1, Fraction(1, 10**6)), (1, 10**6)],
    ids=["small", "large", "fast", "slow"],
)
def test_events_scale_in_length_and_time_alone(examples, length, time):
    length, time = Fraction(length), Fraction(time)
    runs = both(examples / "contact" / "table_edge.lsd", 1.0, length, time)
    check(*runs, length, time, off=1e-6)


@pytest.mark.parametrize("length", [TINY, HUGE], ids=["tiny", "huge"])
def test_fixed_steps_scale_bit_by_bit(examples, length):
    time = Fraction(float(length) ** 0.5)
    path = examples / "contact" / "hopping_leg.lsd"
    one, other = both(path, 0.6, length, time, method="moreau", step=1e-3)
    assert np.array_equal(other.t / float(time), one.t)
    assert np.array_equal(other.q / float(length), one.q)
    assert [e.what for e in other.events] == [e.what for e in one.events]


def units_at_start(mechanism, until=1.0):
    run = liaison.simulate(mechanism, until=1e-12, series=())
    state = State(0.0, run.q[0], run.v[0])
    return units_of(plan_of(liaison.compile(mechanism), state, until, Settings()))


def test_units_are_one_of_what_has_ordinary_size(examples):
    for name in ("table_edge", "stops", "hopping_leg"):
        found = units_at_start(read(examples / "contact" / f"{name}.lsd"))
        assert found.time == 1
        for x in (found.position, found.velocity, found.gap, found.rate, found.force):
            assert np.all(x == 1)


def test_units_follow_the_mechanism(examples):
    time = Fraction(1, 2**10)
    tiny = scaled(examples / "contact" / "table_edge.lsd", TINY, TINY**3, time)
    found = units_at_start(tiny, float(time))
    assert found.time == time
    assert np.all(found.gap == TINY)
    assert np.all(found.rate == TINY / time)
    assert np.all(found.acceleration == 1)
    assert np.all(found.force == TINY**3)


def test_units_do_not_depend_on_where_a_run_begins_and_ends(examples):
    tiny = scaled(examples / "contact" / "table_edge.lsd", TINY, TINY**3, Fraction(1, 2**10))
    assert np.all(units_at_start(tiny, until=1.0).gap == TINY)
    assert np.all(units_at_start(read(examples / "contact" / "loop.lsd"), until=1e-6).rate == 1)


def test_a_stop_of_an_angle_is_measured_by_angles(examples):
    time = Fraction(1, 2**10)
    found = units_at_start(scaled(examples / "contact" / "stops.lsd", TINY, TINY**3, time))
    assert np.all(found.gap == 1)


BALLS = """
gravity = [0, 0, -9.81] m/s^2 ;
for i = 1 to 3
  let ball[i] = body mass = 200 g, inertia = 1e-4 kg*m^2, shape = sphere(radius = 3 cm) end ;
  let F[i] = join earth and ball[i] with free end ;
  start F[i] = [i*1 mm, 0, i*HEIGHT] ;
end ;
let all = collide ball[*], earth with friction = 0.2, restitution = 0.5 end ;
"""


def scene(height, length, time):
    with world(length, length**3, time):
        return liaison.collide(read_lsd(BALLS.replace("HEIGHT", height)))


@pytest.mark.parametrize("length", [TINY, HUGE], ids=["tiny", "huge"])
def test_scenes_scale(length):
    time = Fraction(float(length) ** 0.5)
    one = scene("7 cm", Fraction(1), Fraction(1)).simulate(0.2, step=1e-3)
    other = scene("7 cm", length, time).simulate(0.2 * float(time), step=1e-3 * float(time))
    check(one, other, length, time, off=1e-8)


def test_tiny_bodies_that_begin_inside_each_other_are_rejected():
    with pytest.raises(liaison.errors.SimulationError, match="begin"):
        scene("4 cm", TINY, Fraction(1, 2**10)).simulate(1e-4, step=1e-6)


def test_batches_and_steppers_scale(examples):
    time = Fraction(1, 2**10)
    path = examples / "contact" / "table_edge.lsd"
    tiny = scaled(path, TINY, TINY**3, time)
    end = liaison.simulate(tiny, until=float(time), series=())
    starts = [State(0.0, end.q[0], end.v[0])] * 2
    runs = liaison.simulate_batch(tiny, starts, until=float(time), every=float(time))
    assert runs.end_q[0] == pytest.approx(end.q[-1], rel=1e-6)
    assert [e.what for e in runs.events[0]] == [e.what for e in end.events]
    step = liaison.stepper(tiny)
    for _ in range(8):
        last = step.step(None, float(time) / 8)
    assert last.q == pytest.approx(end.q[-1], rel=1e-6)
