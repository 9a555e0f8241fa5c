"""Contacts of mechanisms of many bodies run by loops over nodes: users notice only speed."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from test_many_bodies import RUN, by_both, check_same, hanging

import liaison
from liaison.program.many import closed_kernel
from liaison.tree import span
from liaison.verbs import ready

SERIES = ("momentum", "reactions", "accelerations")


def lying(n, more="", z=-0.3, law="friction = 0.3, restitution = 0.5"):
    """A planar chain of n rods that falls; a ball at its end, above a floor."""
    text = "gravity = [0, 0, -9.81] m/s^2 ;\ninput u = 0.2 N*m ;\n"
    for k in range(n):
        on = f"[1, 0, 0] m @ b{k - 1}" if k else "earth"
        text += (
            f"let b{k} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{k} = join {on} and b{k} with revolute axis = [0, -1, 0] end ;\n"
        )
    tip = f"[1, 0, 0] m @ b{n - 1}"
    floor = f"contact {tip} and [0, 0, {z}] m @ earth with ball radius = 10 cm, {law} end"
    return f"{text}let floor = {floor} ;\n{more}"


STOPPED = """
let stop = require J1 >= -12 deg with restitution = 0.3 end ;
let brake = apply friction dry = 0.3 N*m, smoothing = 0 end on J2 ;
apply motor torque = u*sin(4 rad/s*t) end on J0 ;
apply spring stiffness = 20 N/m, rest = 50 cm end on b1 and [0, 0, 1] m @ earth ;
output swing = J0 + J1 in deg ;
"""


def loops(n, z=-0.001, more=""):
    """A net of n by n rods with ball joints that hangs from a beam, a ball below each column."""
    text = "gravity = [-0.8, 0.2, -9.81] m/s^2 ;\n"
    for i in range(n):
        for j in range(n):
            on = f"[{i}, 0, 0] m @ earth" if j == 0 else f"[0, 0, -1] m @ d{i}_{j - 1}"
            text += (
                f"let d{i}_{j} = body mass = 1 kg, center = [0, 0, -0.5] m, "
                "inertia = [0.1, 0.1, 0.01] kg*m^2 end ;\n"
                f"let D{i}_{j} = join {on} and d{i}_{j} with ball end ;\n"
            )
            if i:
                text += (
                    f"let a{i}_{j} = body mass = 1 kg, center = [0.5, 0, 0] m, "
                    "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
                    f"let K{i}_{j} = join [0, 0, -1] m @ d{i - 1}_{j} and a{i}_{j} with ball "
                    "end ;\n"
                    f"let L{i}_{j} = join [1, 0, 0] m @ a{i}_{j} and [0, 0, -1] m @ d{i}_{j} with "
                    "ball end ;\n"
                )
        text += (
            f"let c{i} = contact [0, 0, -1] m @ d{i}_{n - 1} and 3 deg || [0, 1, 0] @ "
            f"([0, 0, {-n - 0.1 + z}] m @ earth) with ball radius = 10 cm, friction = 0.3 end ;\n"
        )
    return text + more


def test_a_run_has_everything_that_unrolled_code_has(monkeypatch):
    text = lying(6, STOPPED)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.35, step=0.001, every=0.05, series=SERIES, inputs={"u": 0.7}
        ),
    )
    check_same(looped, unrolled)
    assert {"floor", "stop"} <= {x.name for x in looped.events}
    assert np.max(looped["contacts"]) > 0


def test_balls_that_bounce_lose_what_impacts_take_and_nothing_else(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    text = lying(6, law="restitution = 1")
    run = liaison.simulate(text, until=0.6, step=0.0005, every=0.01)
    assert sum(x.name == "floor" for x in run.events) > 1
    energy = run["energy"].sum(axis=1)
    # without friction, and impacts that give everything back
    assert np.max(np.abs(energy - energy[0])) < 1e-6 * np.max(np.abs(run["energy"][:, 0]))
    assert np.min(run["gaps"]) > -1e-9


def test_friction_lies_in_its_cone_and_gaps_do_not_pull(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(lying(8, law="friction = 0.3"), until=0.6, step=0.001, every=0.01)
    force = run["contacts"]
    names = run.series["contacts"].axes["contact"]
    normal = force[:, names.index("floor")]
    along = force[:, [k for k, x in enumerate(names) if x.startswith("floor: sliding")]]
    assert np.max(normal) > 0
    assert np.min(normal) > -1e-9
    assert np.all(np.linalg.norm(along, axis=1) <= 0.3 * normal + 1e-9)
    # nothing moves along the gap while it is closed, and friction only takes energy
    closed = normal > 1e-6
    slips = run["slips"]
    assert np.max(np.abs(slips[closed][1:, names.index("floor")])) < 1e-9
    assert np.min(run["dissipated"]) > -1e-12


def test_closed_mechanisms_with_contacts_by_both(monkeypatch):
    text = loops(2)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.25, step=0.001, every=0.05, series=("reactions", "closure")
        ),
    )
    check_same(looped, unrolled)
    assert looped.events
    assert np.max(np.abs(looped["position_residual"])) < 1e-10


def test_steps_by_their_error_meet_the_same_impacts(monkeypatch):
    text = lying(6)
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(text, until=0.4, rtol=1e-10, only_series=())
    )
    times = [[x.t for x in run.events] for run in (looped, unrolled)]
    assert len(times[0]) > 1
    np.testing.assert_allclose(*times, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        lying(6, STOPPED),
        lying(4, law="friction = 0.3, viscous = 2 N*s/m"),
        loops(2),
        hanging(5).replace("crossing", "falling"),
    ],
)
def test_moreaus_steps_by_both(text, monkeypatch):
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(text, until=0.3, step=0.001, every=0.05, method="moreau"),
    )
    check_same(looped, unrolled)


def test_a_stepper_and_a_checkpoint(monkeypatch):
    text = lying(5, z=-0.1)
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.stepper(text, step=0.001).step({"u": 1.5}, 0.05).q
    )
    np.testing.assert_allclose(looped, unrolled, atol=RUN)
    monkeypatch.setattr(ready, "UNROLLED", 3)
    runs = []
    for _ in range(2):
        kernel, state = ready.ready_for(text, None, None, None, evaluations=0.0)
        assert kernel.program.facts["formalism"] == "newton_euler, looped"
        runs.append(liaison.Run(kernel, state, 0.1, liaison.Settings(step=0.001)))
    first, again = runs
    first.go()
    again.restore(first.checkpoint())
    for run in runs:
        while not run.is_over:
            run.go()
    np.testing.assert_array_equal(first.trajectory().q, again.trajectory().q)


def test_runs_of_a_batch_are_single_runs_to_the_bit(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    how = {"until": 0.3, "step": 0.001, "every": 0.1}
    batch = liaison.simulate_batch(lying(5), start={"J0": [0.0, 0.1]}, **how)
    for k, value in enumerate((0.0, 0.1)):
        one = liaison.simulate(lying(5), start={"J0": value}, **how)
        np.testing.assert_array_equal(batch[k].q, one.q)


def test_code_is_chosen_by_counted_cost_and_says_nothing(caplog):
    small, large = span(liaison.read(lying(20))), span(liaison.read(lying(200)))
    assert ready.is_unrolled(small, 0.0)
    assert not ready.is_unrolled(large, 0.0)
    assert not ready.is_unrolled(large, 1e9)  # a dense metric is slower than sweeps
    assert not ready.is_unrolled(large, 1e4, is_stepped=True)
    assert ready.is_unrolled(large, 1e9, is_stepped=True)
    assert ready.written_out_seconds(large) > ready.LONG
    with caplog.at_level(logging.INFO, logger="liaison.equations"):
        assert ready.looped_kernel(large) is not None
    assert not [x for x in caplog.records if "written out in full" in x.message]


def test_long_chains_lie_on_the_floor():
    run = liaison.simulate(lying(150, z=-0.1), until=0.01, step=0.001, only_series=("contacts",))
    assert run.status == "done"
    assert run.meta["equations"] == ready.looped_identity(liaison.read(lying(150, z=-0.1)))
    assert np.max(np.abs(run["gaps"])) < 1e-12


def test_an_impact_at_the_start_is_noted(monkeypatch):
    text = lying(5, z=-0.1) + "start J4' = -1 rad/s ;\n"
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(text, until=0.05, step=0.001, every=0.01)
    )
    check_same(looped, unrolled)
    assert (looped.events[0].t, looped.events[0].what) == (0.0, "impact")


def test_frames_of_closed_mechanisms_may_be_formulas_of_parameters(monkeypatch, examples):
    text = (examples / "four_bar.lsd").read_text() + "let stop = require A <= 200 deg ;"
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(text, until=1, step=0.001, every=0.1), least=0
    )
    check_same(looped, unrolled)
    assert "stop" in {x.name for x in looped.events}


def test_friction_in_bearings_by_both(monkeypatch):
    text = lying(5, "let rub = apply friction coefficient = 0.3, radius = 5 cm end on J0 ;\n")
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(text, until=0.3, step=0.001, every=0.05)
    )
    check_same(looped, unrolled)
    assert np.max(looped["dissipated"]) > 0


def test_however_many_bodies_there_are(monkeypatch):
    monkeypatch.setattr(closed_kernel, "DENSE", 3)
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(lying(5), until=0.3, step=0.001, every=0.1)
    )
    check_same(looped, unrolled)


def sliders(n, more):
    text = "gravity = [0, 0, -9.81] m/s^2 ;\n"
    for k in range(n):
        text += f"let b{k} = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;\n"
        text += f"let Z{k} = join earth and b{k} with prismatic axis = [0, 0, 1] end ;\n"
    return text + more


@pytest.mark.parametrize(
    "stop",
    [
        "let s = require 10 cm - max(-Z0 - 3 m, 0 m) >= 0 m ;\n",
        "let s = require min(t/(100 ms), 1)*Z0 >= -1 m ;\n",
        "let s = contact gap = 1 m + Z0, slip = min(t/(100 ms), 1)*Z1', friction = 0.9 end ;\n",
        "let s = require min(t/(100 ms), 1)*Z0' >= -2 m/s ;\n",
    ],
)
def test_rows_that_vanish_where_a_run_begins_hold_later(stop):
    """Formulas may have no slope at t = 0, or far from a stop: they hold where they have one."""
    few, many = (
        liaison.simulate(sliders(n, stop), until=0.85, step=0.001, every=0.05) for n in (5, 60)
    )
    assert few.q[:, 0].min() > -3.2
    assert many.q[:, :2] == pytest.approx(few.q[:, :2], abs=1e-9)


def test_more_switches_than_the_log_had_room_for_do_not_stop_a_run():
    """From 121 unilateral constraints on, the log of one instant never fitted: no run ended."""
    text = "gravity = [0, 0, -10] m/s^2 ;\n"
    for i in range(130):
        text += (
            f"let b{i} = body mass = 1 kg, inertia = 1 kg*m^2 end ;\n"
            f"let Z{i} = join earth and b{i} with prismatic end ;\n"
            f"let stop{i} = require Z{i} >= 0 m ; start Z{i} = {5 if i < 2 else 500} mm ;\n"
        )
    run = liaison.simulate(text, until=0.05, step=0.01, time_limit=20)
    assert run.status == "done"
    landed = {x.name for x in run.events if x.what == "impact"}
    assert landed == {"stop0", "stop1"}
    assert run["Z0"][-1] == pytest.approx(0, abs=1e-9)
