"""A ladder between two guides, one of which rubs by what it carries: held against its own algebra.

Block a slides up and down, block b to and fro, a rod between them. With friction on a in proportion
to the force across its guide, pushing b may lift a or lock it (Painlevé's question with a bilateral
guide): the load that presses is made by the rod, and the friction changes what the rod pushes.
"""

import numpy as np
import pytest

import liaison

A, B, ROD, G = 1.0, 2.0, 0.3, 9.81  # masses [kg]; the rod is 1 m long
J = ROD / 12


def accelerations(lean, turning, push, f, way):
    """All (d²lean/dt², force across the guide of a) that fit, while a slides up (way 1) or down."""
    c, s = np.cos(lean), np.sin(lean)
    found = []
    for sign in (1, -1):
        # unknown: d²lean/dt², forces of a and of b on the rod (x, z each)
        rows = [
            [-ROD * s / 2, -1, 0, -1, 0],
            [ROD * c / 2, 0, -1, 0, -1],
            [-J, s / 2, c / 2, -s / 2, -c / 2],
            [A * c, f * sign * way, 1, 0, 0],
            [-B * s, 0, 0, 1, 0],
        ]
        square = turning**2
        right = [ROD * c * square / 2, ROD * s * square / 2 - ROD * G, 0]
        right += [A * s * square - A * G, B * c * square - push]
        x = np.linalg.solve(rows, right)
        if sign * x[1] >= 0:
            found.append((x[0], x[1]))
    return found


LADDER = f"""
gravity = [0, 0, -{G}] m/s^2 ;
parameter f = 1 ; parameter push = 10 N ;
let a = body mass = {A} kg, inertia = 1 g*m^2 end ;
let b = body mass = {B} kg, inertia = 1 g*m^2 end ;
let rod = body mass = {ROD} kg, center = [0.5, 0, 0] m, inertia = {J} kg*m^2 end ;
let Z = join earth and a with prismatic axis = [0, 0, 1] end ;
let X = join earth and b with prismatic axis = [1, 0, 0] end ;
let R = join a and rod with revolute axis = [0, 1, 0] end ;
join [1, 0, 0] m @ rod and b with revolute axis = [0, 1, 0] end ;
let guide = apply friction coefficient = f end on Z ;
apply force value = [-push, 0 N, 0 N], body = earth end on b ;
"""


def moved(lean, turning, push, f, until):
    c, s = np.cos(lean), np.sin(lean)
    start = {"Z": s, "X": c, "R": lean, "Z'": c * turning, "X'": -s * turning, "R'": turning}
    options = {"start": start, "parameters": {"f": f, "push": push}, "rtol": 1e-10, "atol": 1e-12}
    return liaison.simulate(LADDER, until=until, series=("accelerations", "contacts"), **options)


@pytest.mark.parametrize("f", [0.1, 0.9, 1.3])
def test_friction_fits_the_load_that_it_changes_itself(f):
    """At f = 1.3 the load takes nine tenths of the friction back: rounds alone settle slowly."""
    ((want, load),) = accelerations(0.6, 0.5, 100, f, 1)
    run = moved(0.6, 0.5, 100.0, f, 1e-5)
    # about 1e-13 of loads near locking, where they are a hundred times those of f = 0
    assert run["R''"][0] == pytest.approx(want, rel=1e-10)
    assert run["contacts.guide"][0] == pytest.approx(-f * load, rel=1e-10)


def test_a_guide_that_locks_is_told_as_such():
    assert not accelerations(0.6, 0.5, 100, 1.5, 1)
    with pytest.raises(liaison.SimulationError, match="Painlevé") as refusal:
        moved(0.6, 0.5, 100.0, 1.5, 1e-3)
    assert refusal.value.status == "no mode"


def test_what_comes_to_rest_is_held_by_the_load_at_rest():
    """At rest the guide carries 3 N, too little to hold 11 N; it carried more in motion."""
    run = moved(0.5, 2.0, 3.0, 1.0, 0.15)
    assert [x.what for x in run.events] == ["slips"]
    assert run["Z'"][-1] < -0.05
