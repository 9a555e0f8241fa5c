"""Trees of many bodies run by loops over their nodes: users notice only speed."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.numeric import State
from liaison.tree import span
from liaison.verbs import ready
from samples import sample

RUN = 1e-9  # relative, of whole runs
LINKS = 12
EVERYTHING = ("momentum", "reactions", "motions", "accelerations")


def hanging(n):
    """A chain with springs, a force at its end, its first joint driven, some joints reversed."""
    text = 'name = "chain" ;\nparameter k = 5 N*m/rad ;\ninput u = 0.2 N*m ;\n'
    text += "gravity = [0, 0, -9.81] m/s^2 ;\n"
    for i in range(n):
        on = f"[0.3, 0, 0] m @ b{i - 1}" if i else "earth"
        pair = f"b{i} and {on}" if i % 3 == 2 else f"{on} and b{i}"
        axis = "[0, 1, 0]" if i % 2 else "[0, 0, 1]"
        text += (
            f"let b{i} = body mass = {1 + i % 4} kg, center = [0.15, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{i} = join {pair} with revolute axis = {axis} end ;\n"
            f"start J{i} = {0.1 + 0.01 * i} ;\n"
            f"apply spring stiffness = k end on J{i} ;\n"
        )
    text += "apply motor torque = u*sin(4 rad/s*t) end on J0 ;\n"
    text += f"apply force value = [0, 3, 2*sin(5 rad/s*t)] N end on b{n - 1} ;\n"
    text += f"apply spring stiffness = 20 N/m end on b{n // 2} and [0, 0.5, 1] m @ earth ;\n"
    return text + f"output swing = J0 + J1 in deg ;\nevent back when J{n - 1} crossing ;\n"


def by_both(monkeypatch, ask, least=3):
    """The answer by loops, and by unrolled code."""
    monkeypatch.setattr(ready, "UNROLLED", least)
    looped = ask()
    monkeypatch.setattr(ready, "UNROLLED", 10_000)
    return looped, ask()


def check_same(looped, unrolled):
    assert looped.meta["equations"] != unrolled.meta["equations"]  # one went by loops
    assert looped.status == unrolled.status == "done"
    assert looped.labels == unrolled.labels
    for name in looped.counts.keys() - {"projections"}:  # rounding decides whether one is needed
        assert looped.counts[name] == unrolled.counts[name], name
    assert looped.series.keys() == unrolled.series.keys()
    for name, series in unrolled.series.items():
        mine = looped.series[name]
        assert (mine.axes, mine.unit) == (series.axes, series.unit)
        scale = 1 + np.max(np.abs(series.values), initial=0.0)
        assert np.max(np.abs(mine.values - series.values), initial=0.0) < RUN * scale, name
    np.testing.assert_allclose(looped.q, unrolled.q, rtol=0, atol=RUN)
    assert [x.name for x in looped.events] == [x.name for x in unrolled.events]
    times = [[x.t for x in run.events] for run in (looped, unrolled)]
    np.testing.assert_allclose(*times, atol=RUN)


def test_a_run_has_everything_that_unrolled_code_has(monkeypatch):
    text = hanging(LINKS)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.6, step=0.002, every=0.1, series=EVERYTHING, parameters={"k": 8},
            inputs={"u": 0.7},
        ),
    )  # fmt: skip
    check_same(looped, unrolled)
    assert looped.events
    assert (
        looped.meta["energy_balance"]["missed"]
        < 1e-4 * looped.meta["energy_balance"]["turned_over"]
    )


ROBOTIC = """
apply armature inertia = 0.3 kg*m^2 end on J1 ;
apply armature inertia = 0.05 kg*m^2 end on J4 ;
let z = apply state rate = (J2' - z)/(50 ms), unit = "rad/s" end ;
apply motor torque = z*(0.3 N*m*s/rad) end on J3 ;
apply damper coefficient = 2 N*s/m end on cable(10 cm, J1, -20 cm, J4) ;
start z = 0.5 ;
"""


@pytest.mark.parametrize("method", ["rk4", "moreau"])
def test_rotors_tendons_and_states_of_loads(method, monkeypatch):
    stop = "let stop = require J2 <= 8 deg with restitution = 0.3 end ;" * (method == "moreau")
    text = hanging(LINKS) + ROBOTIC + stop
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(
            text, until=0.2, step=0.002, every=0.05, method=method, series=EVERYTHING
        ),
    )
    check_same(looped, unrolled)
    assert np.ptp(looped["z"]) > 0.1


def test_steps_by_their_error_and_a_stop(monkeypatch):
    text = hanging(LINKS)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(text, until=2, rtol=1e-10, stop={"J1": 0.2}, only_series=()),
    )
    assert looped.status == unrolled.status == "stopped"
    np.testing.assert_allclose(looped.t[-1], unrolled.t[-1], atol=1e-7)


def test_a_stepper_and_analyses_of_a_run(monkeypatch):
    text = hanging(5)
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.stepper(text, step=0.001).step({"u": 1.5}, 0.01).q
    )
    np.testing.assert_allclose(looped, unrolled, atol=RUN)
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(text, until=0.1, step=0.001, every=0.05, only_series=())
    joints = [f"J{i}" for i in range(5)]
    efforts = liaison.inverse_dynamics(text, run, joints).values.values
    assert np.max(np.abs(efforts)) < 1e-10  # nothing but its loads moved it


@pytest.mark.parametrize("method", ["radau", "rattle", "generalized-alpha"])
def test_methods_that_need_other_entries_take_unrolled_code(method, monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    run = liaison.simulate(hanging(4), until=0.01, step=0.005, method=method, only_series=())
    assert run.status == "done"


def test_a_run_is_taken_up_from_its_checkpoint(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 3)
    settings = liaison.Settings(step=0.001)
    runs = []
    for _ in range(2):
        kernel, state = ready.ready_for(hanging(5), None, None, None, evaluations=0.0)
        assert kernel.program.facts["formalism"] == "newton_euler, looped"
        runs.append(liaison.Run(kernel, state, 0.1, settings))
    first, again = runs
    first.go()
    assert not first.is_over
    again.restore(first.checkpoint())
    for run in runs:
        while not run.is_over:
            run.go()
    np.testing.assert_array_equal(first.trajectory().q, again.trajectory().q)


def test_accelerations_at_a_state(monkeypatch):
    start = {"J1": 0.3, "J2'": 2.0}
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.forward_dynamics(hanging(5), start, inputs={"u": 2.0})
    )
    np.testing.assert_allclose(looped, unrolled, rtol=RUN)
    monkeypatch.setattr(ready, "UNROLLED", 3)
    assert not np.allclose(looped, liaison.forward_dynamics(hanging(5), start, parameters={"k": 9}))


def test_code_is_chosen_by_counted_cost():
    tree = span(liaison.read(hanging(70)))
    for evaluations, is_looped in ((0.0, True), (1e5, True), (1e6, False)):
        assert (ready.looped_kernel(tree, evaluations) is not None) == is_looped
    assert ready.looped_kernel(span(liaison.read(hanging(60)))) is None
    assert ready.evaluations_of({"step": 0.001}, 2.0, None) == 8000
    assert ready.evaluations_of({"rtol": 1e-9}, 2.0, None) == 0
    assert ready.evaluations_of({"method": "radau"}, 2.0, None) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 22, 23, 27])
def test_random_trees_with_loads_of_all_kinds(seed, monkeypatch):
    drawn = sample(seed, loops=(0, 0), relations=False, bodies=(3, 6), loads=True)
    tree = span(drawn.mechanism)
    at = drawn.at(tree)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    state = State(0.0, np.array(at["q"]), 0.3 * np.array(at["v"]), labels)
    monkeypatch.setattr(ready, "UNROLLED", 0)
    assert ready.looped_kernel(tree) is not None
    how = {"until": 0.2, "every": 0.05, "rtol": 1e-11, "atol": 1e-12, "series": EVERYTHING}
    looped, unrolled = by_both(
        monkeypatch, lambda: liaison.simulate(drawn.mechanism, state, **how), least=0
    )
    check_same(looped, unrolled)


@pytest.mark.slow
def test_a_chain_of_seventy_bodies_by_both(monkeypatch):
    text = hanging(70)
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(text, until=0.02, step=0.001, every=0.01, series=EVERYTHING),
    )
    check_same(looped, unrolled)


def rope(n, inertia="0", more=""):
    """Point masses on ball joints: each turns about the line to the one above without effort."""
    text = "gravity = [0, 0, -9.81] m/s^2 ;\n"
    for i in range(n):
        on = f"[7, 5, 3] cm @ b{i - 1}" if i else "earth"
        text += (
            f"let b{i} = body mass = 0.1 kg, center = [7, 5, 3] cm, inertia = {inertia} end ;\n"
            f"let J{i} = join {on} and b{i} with ball end ;\n"
        )
    return text + more


WEIGHTLESS = """
let e = body mass = 0, inertia = 0 end ;
let E = join b29 and e with revolute end ;
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [(rope(30), "'J29.w"), (rope(30, "1e-5 kg*m^2", WEIGHTLESS), '"E\'"')],
    ids=["point masses", "no mass"],
)
def test_velocities_without_inertia_are_named_whatever_their_number(text, name):
    message = f"nothing gives {name}.*inertia"
    for how in ({}, {"step": 0.001}, {"step": 0.001, "method": "moreau"}):
        with pytest.raises(liaison.DerivationError, match=message):
            liaison.simulate(text, until=0.01, **how)
    with pytest.raises(liaison.DerivationError, match=message):
        liaison.forward_dynamics(text)
    with pytest.raises(liaison.DerivationError, match=message):
        liaison.simulate_batch(text, start={"J0.wx": [0.1, 0.2]}, until=0.01)


def test_rotors_give_inertia_where_no_mass_does():
    rotor = "apply armature inertia = 0.01 kg*m^2 end on E ;\n"
    text = rope(30, "1e-5 kg*m^2", WEIGHTLESS + rotor)
    run = liaison.simulate(text, until=0.002, step=0.001, only_series=())
    assert run.status == "done"
