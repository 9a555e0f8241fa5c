"""Closed mechanisms of many bodies run by loops over their nodes: users notice only speed."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
import pytest
from test_many_bodies import EVERYTHING, RUN, by_both, check_same

import liaison
from liaison.tree import span
from liaison.verbs import ready


def ring(n, more=""):
    """A closed chain of n hinges, the ground between its ends, from a regular polygon."""
    turn = 360 / n
    x, y = -cos(radians(turn)), sin(radians(turn))
    text = 'name = "ring" ;\nparameter k = 2 N*m/rad ;\ninput u = 0.2 N*m ;\n'
    text += "gravity = [0, -9.81, 0] m/s^2 ;\n"
    for i in range(n - 1):
        on = f"[1, 0, 0] m @ b{i - 1}" if i else "earth"
        text += (
            f"let b{i} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{i} = join {on} and b{i} with revolute axis = [0, 0, 1] end ;\n"
            f"{'start' if i < n - 3 else 'guess'} J{i} = {turn if i else 10.0!r} deg ;\n"
        )
    text += (
        f"let C = join [1, 0, 0] m @ b{n - 2} and [{x!r}, {y!r}, 0] m @ earth with revolute "
        "axis = [0, 0, 1] end ;\n"
    )
    return text + more


LOADED = """
apply motor torque = u*sin(4 rad/s*t) end on J0 ;
apply spring stiffness = k end on J3 ;
apply damper coefficient = 0.1 N*m*s/rad end on J4 ;
apply force value = [0, 3, 0] N end on b2 ;
output swing = J0 + J4 in deg ;
output height = position(b3).y in mm ;
event flat when J3 - 0.7 crossing ;
"""


def test_a_run_has_everything_that_unrolled_code_has(monkeypatch):
    text = ring(8, LOADED)
    assert any(x.ghost is not None for x in span(liaison.read(text)).closures)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.4, step=0.002, every=0.1, series=(*EVERYTHING, "lam", "closure"),
            parameters={"k": 8}, inputs={"u": 0.7}, start={"J0'": 1.0},
        ),
    )  # fmt: skip
    check_same(looped, unrolled)
    assert looped.events
    balance = looped.meta["energy_balance"]
    assert balance["missed"] < 1e-6 * balance["turned_over"]
    assert np.max(looped.series["position_residual"].values) < 1e-12


def four_bars(n):
    """Four-bars on each other, with rotors, a state of a load and a tendon of coordinates."""
    rod = "body mass = 1 kg, center = [0, 0.5, 0] m, inertia = [0.1, 0.02, 0.1] kg*m^2 end"
    text = "gravity = [0.3, -9.81, 0] m/s^2 ;\n"
    for i in range(n):
        on = "[0, 0, 0] m @ earth", "[1, 0, 0] m @ earth"
        on = (f"s{i - 1}", f"[1, 0, 0] m @ s{i - 1}") if i else on
        text += "".join(f"let {x}{i} = {rod} ;\n" for x in "lrs")
        pairs = {"L": f"{on[0]} and l{i}", "R": f"{on[1]} and r{i}",
                 "T": f"[0, 1, 0] m @ l{i} and s{i}",
                 "C": f"[0, 1, 0] m @ r{i} and [1, 0, 0] m @ s{i}"}  # fmt: skip
        for name, pair in pairs.items():
            text += f"let {name}{i} = join {pair} with revolute axis = [0, 0, 1] end ;\n"
        text += f"start L{i} = {0.2 + 0.1 * i} ;\n"
    return (
        text
        + """
    apply armature inertia = 0.3 kg*m^2 end on L0 ;
    let z = apply state rate = (L1' - z)/(0.1 s), unit = "rad/s" end ;
    apply motor torque = z*(0.3 N*m*s/rad) end on T0 ;
    apply damper coefficient = 2 N*s/m end on cable(10 cm, L0, -20 cm, T1) ;
    let stop = require L1 <= 40 deg with restitution = 0.3 end ;
    start z = 0.7 ;
    start L1' = 2 rad/s ;
    """
    )


@pytest.mark.parametrize("method", ["rk4", "moreau"])
def test_rotors_and_states_of_loads_beside_loops(method, monkeypatch):
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            four_bars(2), until=0.2, step=0.002, every=0.05, method=method, series=EVERYTHING
        ),
    )
    check_same(looped, unrolled)
    assert any(x.name == "stop" for x in looped.events)


def test_energy_is_conserved_and_loops_stay_closed(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(ring(20), until=1.0, rtol=1e-10, atol=1e-12)
    assert run.meta["equations"] == ready.looped_identity(liaison.read(ring(20)))
    energy = run["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-7 * np.max(np.abs(run["energy"]))
    assert np.max(run.series["position_residual"].values) < 1e-11


def test_starts_are_assembled_as_unrolled_code_does(monkeypatch):
    text = ring(7).replace("start J3 =", "guess J3 =")
    starts = {"J0": 0.3, "J1": 0.7, "J1'": 0.5, "J2'": -0.25}
    looped, unrolled = by_both(
        monkeypatch, lambda: ready.ready_for(text, None, starts, None, evaluations=0.0)[1]
    )
    np.testing.assert_allclose(looped.q, unrolled.q, atol=1e-9)
    np.testing.assert_allclose(looped.v, unrolled.v, atol=1e-9)


def test_a_loop_that_cannot_be_closed_is_said_in_the_same_words(monkeypatch):
    text = ring(5).replace("let C = join [1, 0, 0]", "let C = join [9, 0, 0]")
    messages = []
    for unrolled in (3, 10_000):
        monkeypatch.setattr(ready, "UNROLLED", unrolled)
        with pytest.raises(liaison.AssemblyError) as caught:
            liaison.simulate(text, until=0.1)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_batch_is_runs_one_after_another(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    text, speeds = ring(8), [0.1, 0.2, -0.3]
    ask = {"until": 0.1, "step": 0.01}
    runs = liaison.simulate_batch(text, start={"J1'": speeds}, **ask)
    alone = [liaison.simulate(text, start={"J1'": x}, **ask) for x in speeds]
    for k, run in enumerate(alone):
        np.testing.assert_array_equal(runs.q[k, -1], run.q[-1])
    again = liaison.simulate_batch(text, [x.state(0) for x in alone], **ask)
    np.testing.assert_array_equal(again.q, runs.q)
    monkeypatch.setattr(ready, "UNROLLED", 10_000)
    unrolled = liaison.simulate_batch(text, start={"J1'": speeds}, **ask)
    np.testing.assert_allclose(runs.q, unrolled.q, atol=1e-9)


def test_a_batch_with_runs_that_cannot_start(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    ask = {"until": 0.02, "step": 0.01, "on_failure": "return"}
    start = {"J0": 0.2, "J1": [1.0, 0.0, 1.1], "J2": [1.1, 0.0, 1.0]}  # straight: too far
    looped = liaison.simulate_batch(ring(6), start=start, **ask)
    monkeypatch.setattr(ready, "UNROLLED", 10_000)
    unrolled = liaison.simulate_batch(ring(6), start=start, **ask)
    assert looped.statuses == unrolled.statuses == ("done", "failed", "done")


def test_accelerations_at_a_state(monkeypatch):
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.forward_dynamics(ring(8, LOADED), {"J0": 0.3, "J2'": 2.0})
    )
    np.testing.assert_allclose(looped, unrolled, rtol=RUN, atol=RUN)


def test_what_has_no_inertia_or_no_room_is_left_to_unrolled_code(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    weightless = ring(6).replace(
        "let b3 = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end",
        "let b3 = body mass = 0 kg, center = [0.5, 0, 0] m, inertia = [0, 0, 0] kg*m^2 end",
    )
    run = liaison.simulate(weightless, until=0.01, step=0.005, only_series=())
    assert run.status == "done"
    assert run.meta["equations"] != ready.looped_identity(liaison.read(weightless))
    looped, unrolled = by_both(monkeypatch, lambda: liaison.forward_dynamics(weightless))
    np.testing.assert_allclose(looped, unrolled, rtol=RUN)
    rates = ring(6) + "require J1'*J1' = 2*J0'*J0' ;"
    assert ready.looped_kernel(span(liaison.read(rates))) is None


@pytest.mark.parametrize("method", ["radau", "rattle"])
def test_methods_that_need_other_entries_take_unrolled_code(method, monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(ring(6), until=0.01, step=0.005, method=method, only_series=())
    assert run.status == "done"


def test_code_is_chosen_by_counted_cost():
    short = span(liaison.read(ring(20)))
    assert ready.is_unrolled(short, 0.0)
    tree = span(liaison.read(ring(60)))
    seconds = 60 * ready.CLOSED  # and more for each two joints
    assert not ready.is_unrolled(tree, 0.0)
    assert not ready.is_unrolled(tree, seconds / (ready.FASTER * 60))
    assert ready.is_unrolled(tree, 1e7)


@pytest.mark.slow
def test_a_ring_of_forty_by_both(monkeypatch):
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(ring(40), until=0.02, step=0.001, every=0.01, series=EVERYTHING),
    )
    check_same(looped, unrolled)


def test_what_is_written_out_in_full_is_said_before(caplog, monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    monkeypatch.setattr(ready, "LONG", 0.0)
    caplog.set_level("INFO", logger="liaison.equations")
    contact = "let touch = contact b2 and [0, 0, -1] m @ earth with ball radius = 1 cm end ;\n"
    hull = "hull([0, 0, 0] m, [1, 0, 0] m, [0, 1, 0] m, [0, 0, 1] m)"
    corner = "let corner = contact b2 and [0, 0, 5] m @ earth with box size = [1, 1, 1] cm, "
    liaison.simulate(ring(6), until=0.01)
    liaison.simulate(ring(6, contact), until=0.01)
    assert "written out" not in caplog.text
    how = {"until": 0.01, "step": 0.001, "method": "moreau"}
    liaison.simulate(ring(6, f"{corner} hull = {hull} end ;\n"), **how)
    assert "ring is written out in full, 6 velocities" in caplog.text
    assert "places of contact 'corner' are found by loops" in caplog.text
    liaison.simulate(ring(6), until=0.01, step=0.01, method="radau")
    assert "derivatives" in caplog.text


KEEPING = f"output turns = {' + '.join(f'{2 + i}*J{i}' for i in range(7))} + C ;\n"
"""Of every hinge of a ring of eight: the one that is cut keeps its angle."""


def test_rotors_of_coordinates_that_cut_joints_keep_are_left_to_unrolled_code(monkeypatch):
    tree = span(liaison.read(ring(8, KEEPING)))
    cut = next(x.joint.name for x in tree.closures if x.ghost is not None)
    text = ring(8, KEEPING + f"apply armature inertia = 3 kg*m^2 end on {cut} ;\n")
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.forward_dynamics(text, {"J0": 0.3, "J2'": 2.0})
    )
    np.testing.assert_allclose(looped, unrolled, rtol=RUN, atol=RUN)


@pytest.mark.parametrize("method", ["rk4", "moreau"])
def test_states_of_loads_beside_coordinates_that_cut_joints_keep(method, monkeypatch):
    more = """
    let z = apply state rate = (C' - z)/(0.1 s), unit = "rad/s" end ;
    apply motor torque = z*(0.3 N*m*s/rad) end on J2 ;
    let P = apply pid target = 20 deg, stiffness = 3 N*m/rad, integral = 2 N*m/rad/s end on J1 ;
    start z = 0.7 ;
    """
    text = ring(8, KEEPING + more)
    assert any(x.ghost is not None for x in span(liaison.read(text)).closures)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.1, step=0.002, every=0.05, method=method, series=(*EVERYTHING, "lam")
        ),
    )
    check_same(looped, unrolled)
    assert np.ptp(looped["z"]) > 0.1


SCREW = """
gravity = [1, 0, -9.81] m/s^2 ;
let a = body mass = 1 kg, center = [0.1, 0, 0] m, inertia = [0.1, 0.2, 0.2] kg*m^2 end ;
let b = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
let c = body mass = 1 kg, center = [0.3, 0, 0] m, inertia = 0.1 kg*m^2 end ;
let A = join earth and a with prismatic end ;
let B = join earth and b with revolute end ;
let C = join a and b with helical pitch = 50 mm/rev end ;
let D = join a and c with revolute axis = [0, 1, 0] end ;
start A = 10 mm ;
start D' = 1 rad/s ;
"""


def test_a_screw_closes_a_loop(monkeypatch):
    """Its pitch is a formula of pi, not a number."""
    assert span(liaison.read(SCREW)).cuts == ["C"]
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(SCREW, until=0.05, step=0.005, series=EVERYTHING),
        least=0,
    )
    check_same(looped, unrolled)


def test_rows_are_in_the_axes_of_what_an_ancestor_is_welded_to(monkeypatch):
    text = ring(6).replace("earth", "plate") + (
        "let plate = body mass = 1 kg, inertia = 1 kg*m^2 end ;\n"
        "let W = join earth and 40 deg || [0, 0, 1] @ plate with fixed end ;\n"
    )
    ask = {"until": 0.05, "step": 0.005, "series": (*EVERYTHING, "lam")}
    looped, unrolled = by_both(monkeypatch, lambda: liaison.simulate(text, **ask))
    check_same(looped, unrolled)
    assert any(x.endswith("of ground") for x in looped.series["lam"].axes["row"])


def test_runs_that_ask_for_first_integrals_go_by_loops_where_none_is_looked_for(monkeypatch):
    """As every run of the command line does."""
    monkeypatch.setattr(ready, "UNROLLED", 3)
    monkeypatch.setattr(ready, "LARGEST", 10)
    for n, is_looped in ((20, True), (8, False)):
        run = liaison.simulate(ring(n), until=0.01, step=0.002, invariants=True)
        own = run.meta["equations"] == ready.looped_identity(liaison.read(ring(n)))
        assert own is is_looped


def test_what_is_undetermined_is_listed_in_part(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(ring(40), until=0.01, step=0.002, series=("reactions",))
    assert ", and 28 more" in run.message, run.message
    assert len(run.message) < 200
