"""Mechanisms of many bodies with relations run by loops over their nodes: only speed differs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from test_many_bodies import EVERYTHING, RUN, by_both, check_same
from test_many_loops import ring

import liaison
from liaison.tree import span
from liaison.verbs import ready

LINKS = 7


def chain(n, more=""):
    """A chain of hinges about alternating axes, a spring at one of them."""
    text = 'name = "chain" ;\nparameter k = 2 N*m/rad ;\ngravity = [0, 0, -9.81] m/s^2 ;\n'
    for i in range(n):
        on = f"[0.3, 0, 0] m @ b{i - 1}" if i else "earth"
        axis = "[0, 1, 0]" if i % 2 else "[0, 0.6, 0.8]"
        text += (
            f"let b{i} = body mass = {1 + i % 4} kg, center = [0.15, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{i} = join {on} and b{i} with revolute axis = {axis} end ;\n"
        )
    return text + "apply spring stiffness = k end on J2 ;\n" + more


def fours(n, more=""):
    """Four-bars beside each other, their cranks L, not parallelograms."""
    rod = "center = [0, 0.5, 0] m, inertia = [0.1, 0.02, 0.1] kg*m^2"
    text = "gravity = [0.3, -9.81, 0] m/s^2 ;\n"
    for i in range(n):
        text += (
            f"let l{i} = body mass = 1 kg, {rod} end ;\nlet r{i} = body mass = 2 kg, {rod} end ;\n"
            f"let s{i} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.02, 0.1, 0.1] kg*m^2 end ;\n"
            f"let L{i} = join [{3 * i}, 0, 0] m @ earth and l{i} with revolute "
            "axis = [0, 0, 1] end ;\n"
            f"let R{i} = join [{3 * i + 1.2}, 0, 0] m @ earth and r{i} with revolute "
            "axis = [0, 0, 1] end ;\n"
            f"let T{i} = join [0, 1, 0] m @ l{i} and s{i} with revolute axis = [0, 0, 1] end ;\n"
            f"let C{i} = join [0, 1, 0] m @ r{i} and [1, 0, 0] m @ s{i} with revolute "
            "axis = [0, 0, 1] end ;\n"
        )
    return text + more


CAR = """
name = "differential" ;
let case = body mass = 2 kg, inertia = [0.3, 0.2, 0.2] kg*m^2 end ;
let left = body mass = 1 kg, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let right = body mass = 1.5 kg, inertia = [0.15, 0.1, 0.1] kg*m^2 end ;
let A = join earth and case with revolute axis = [1, 0, 0] end ;
let B = join earth and left with revolute axis = [1, 0, 0] end ;
let C = join earth and right with revolute axis = [1, 0, 0] end ;
require 2*A' = B' + C' ;
apply motor torque = 1.5 N*m end on A ;
apply damper coefficient = 0.3 N*m*s/rad end on B ;
start B' = 2 rad/s ;
start C' = -1 rad/s ;
"""

SKATE = """
name = "skate" ;
gravity = [0, -3, -9.81] m/s^2 ;
let a = body mass = 0.1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let X = join earth and a with prismatic axis = [1, 0, 0] end ;
let b = body mass = 2 kg, inertia = [1, 1, 1] kg*m^2 end ;
let Y = join a and b with prismatic axis = [0, 1, 0] end ;
let c = body mass = 1 kg, center = [0.1, 0, 0] m, inertia = [0.2, 0.2, 0.3] kg*m^2 end ;
let Z = join b and c with revolute axis = [0, 0, 1] end ;
require X'*sin(Z) - Y'*cos(Z) = 0 ;
start Z' = 2 rad/s ;
start Z = 0.4 ;
start X' = 1 m/s ;
"""

MECHANISMS = {
    "gear": chain(LINKS, "require J1 + 2*J5 = 0 ;\nstart J3' = 1 rad/s ;"),
    "drive": chain(LINKS, "require J0 = 3 rad/s*t + 0.2*sin(5 rad/s*t) ;\nstart J3 = 0.4 ;"),
    "ring": ring(8, "require J1 = 2*J0 + 0.5 ;\nstart J2' = 0.3 rad/s ;").replace(
        "start J1", "guess J1"
    ),
    "kept": ring(
        8, "require J3 + 0.5*J4 = J2 + 0.6 ;\nrequire J6' = 0.2*J3' + 0.1 rad/s ;"
    ).replace("start J", "guess J"),
    "twice": chain(5, "require J1 = 2*J3 ;\nrequire 3*J1 = 6*J3 ;\nstart J4' = 1 rad/s ;"),
    "geared cranks": fours(2, "require L0 + L1 = 0.3 ;\nstart L0 = -0.2 ;\nstart L0' = 1 rad/s ;"),
    "driven crank": fours(2, "require L0 = 2 rad/s*t - 0.2 ;\nguess R0 = -0.2 ;"),
    "differential": CAR,
    "skate": SKATE,
}


def run_of(text):
    return liaison.simulate(
        text, until=0.3, step=0.003, every=0.1, series=(*EVERYTHING, "lam", "closure")
    )


def without_lam(run):
    assert np.all(np.isnan(run["lam"]))
    return replace(run, series={k: x for k, x in run.series.items() if k != "lam"})


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_run_has_everything_that_unrolled_code_has(name, monkeypatch):
    looped, unrolled = by_both(monkeypatch, lambda: run_of(MECHANISMS[name]), least=0)
    if name == "twice":  # the two have one effort, whose parts are not determined
        looped, unrolled = (without_lam(run) for run in (looped, unrolled))
    check_same(looped, unrolled)
    balances = [x.meta["energy_balance"] for x in (looped, unrolled)]
    for key, value in balances[1].items():
        if isinstance(value, float):
            assert abs(balances[0][key] - value) < RUN * (1 + balances[1]["turned_over"]), key


TRAIN = "gravity = [0, 0, -9.81] m/s^2 ;\napply force value = [90, 0, 0] N end on w0 ;\n" + "".join(
    f"let w{k} = body mass = {10 + k} kg, inertia = [1, 1, 1] kg*m^2 end ;\n"
    f"let T{k} = join [{k}, 0, 0.5] m @ earth and w{k} with prismatic axis = [1, 0, 0] end ;\n"
    f"let r{k} = body mass = 1 kg, inertia = [0.3, 0.3, 0.5] kg*m^2 end ;\n"
    f"let A{k} = join 90 deg || [1, 0, 0] @ w{k} and r{k} with revolute end ;\n"
    f"let R{k} = couple r{k} and earth with rolling_disc radius = 0.5 m end ;\n"
    + (f"apply spring stiffness = 100 N/m, rest = 1 m end on w{k - 1} and w{k} ;\n" if k else "")
    for k in range(3)
)


@pytest.mark.parametrize("name", ["train", "examples/wheel_set.lsd"])
def test_wheels_that_roll_run_with_everything(name, monkeypatch):
    """A wheel set holds its wheels twice along their axle: which forces are determined, too."""
    ask = partial(
        liaison.simulate, TRAIN if name == "train" else name, until=0.1, step=0.005, every=0.05,
        series=(*EVERYTHING, "markers", "lam"),
    )  # fmt: skip
    looped, unrolled = by_both(monkeypatch, ask, least=1)
    check_same(looped, unrolled)
    for x, y in ((looped.series[s], unrolled.series[s]) for s in ("reactions", "lam")):
        np.testing.assert_array_equal(x.undetermined, y.undetermined)


def test_a_relation_names_a_coordinate_that_a_cut_joint_keeps():
    tree = span(liaison.read(MECHANISMS["kept"]))
    kept = [tree.nodes[x.ghost].joint.name for x in tree.closures if x.ghost is not None]
    assert {*kept} & {"J3", "J4"}


def test_starts_are_assembled_as_unrolled_code_does(monkeypatch):
    text = MECHANISMS["geared cranks"] + "require L0' + 2*R1' = T1' ;"
    looped, unrolled = by_both(
        monkeypatch,
        lambda: ready.ready_for(text, None, {"L0": 0.1}, None, evaluations=0.0)[1],
        least=0,
    )
    np.testing.assert_allclose(looped.q, unrolled.q, atol=1e-9)
    np.testing.assert_allclose(looped.v, unrolled.v, atol=1e-9)


def test_accelerations_at_a_time(monkeypatch):
    """A drive that is not at rest, at a time that is not 0."""
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.forward_dynamics(MECHANISMS["drive"], {"J3": 0.3, "J2'": 2.0}, t=0.2),
        least=0,
    )
    np.testing.assert_allclose(looped, unrolled, rtol=RUN, atol=RUN)


def test_a_drive_does_the_work_that_energy_shows(monkeypatch):
    monkeypatch.setattr(ready, "UNROLLED", 0)
    run = liaison.simulate(MECHANISMS["drive"], until=0.5, rtol=1e-10, atol=1e-12)
    assert run.meta["equations"] == ready.looped_identity(liaison.read(MECHANISMS["drive"]))
    energy = run["energy"].sum(axis=1)
    assert np.ptp(energy) > 1.0
    balance = run.meta["energy_balance"]
    assert balance["missed"] < 1e-7 * balance["turned_over"]


def test_starts_that_clash_are_said_in_the_same_words(monkeypatch):
    text = chain(4, "require J1 = 2*J2 ;\nstart J1 = 1 ;\nstart J2 = 1 ;")
    messages = []
    for unrolled in (0, 10_000):
        monkeypatch.setattr(ready, "UNROLLED", unrolled)
        with pytest.raises(liaison.AssemblyError) as caught:
            liaison.simulate(text, until=0.1)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_code_is_chosen_by_counted_cost():
    relation = "require J1 + J0 = 0 ;"
    assert ready.is_unrolled(span(liaison.read(chain(20, relation))), 0.0)
    tree = span(liaison.read(chain(60, relation)))
    assert not ready.is_unrolled(tree, 0.0)
    assert ready.is_unrolled(tree, 1e7)


MASSLESS = """
gravity = [1, 2, -9.81] m/s^2 ;
let a = body mass = 0 kg, inertia = [0, 0, 0] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0.2] m, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;
let A = join [0.1, 0.2, 0.3] m @ earth and a with revolute axis = [0.36, 0.48, 0.8] end ;
let B = join a and b with revolute axis = [0.36, 0.48, 0.8] end ;
require A = 0.5*B ;
"""


@pytest.mark.parametrize("axis", ["[0.36, 0.48, 0.8]", "[0, 0, 1]"])
def test_a_joint_that_only_a_relation_moves_is_left_to_unrolled_code(axis, monkeypatch):
    """Whether rounding leaves it an inertia or not."""
    text = MASSLESS.replace("[0.36, 0.48, 0.8]", axis)
    for ask in (liaison.forward_dynamics, multipliers):
        looped, unrolled = by_both(monkeypatch, partial(ask, text), least=0)
        np.testing.assert_array_equal(looped, unrolled)


def multipliers(text):
    return run_of(text)["lam"]


def test_energy_is_watched_in_moreaus_steps_beside_a_drive_alone(monkeypatch):
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(MECHANISMS["drive"], until=0.1, step=0.002, method="moreau"),
    )
    check_same(looped, unrolled)
    kept = [x.meta["energy_balance"]["watched"] for x in (looped, unrolled)]
    assert kept[0] == kept[1] != ""
