"""A ladder that slides down a wall, rough at both ends, against its own equations."""

from math import cos, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison

G, HALF = 9.81, 1.0
J = HALF**2 / 3  # of 1 kg
LADDER = f"""
gravity = [0, 0, -{G}] m/s^2 ;
parameter floor = 0.2 ; parameter wall = 0.3 ;
let ladder = body mass = 1 kg, inertia = {J} kg*m^2 end ;
let P = join earth and ladder with link(x, z, a)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = a || [0, 1, 0] end ;
let foot = contact [{HALF}, 0, 0] m @ ladder and earth with point friction = floor end ;
let top = contact [{-HALF}, 0, 0] m @ ladder and 90 deg || [0, 1, 0] @ earth with point
  friction = wall end ;
"""


def sliding(lean, rate, floor, wall):
    """d²lean/dt², and the loads of foot and top, while both slide down and away."""
    c, s = cos(lean), sin(lean)
    rows = [[-s, floor, -1], [c, -1, -wall], [J, c - floor * s, -s - wall * c]]
    return np.linalg.solve(rows, [c * rate**2, s * rate**2 - G, 0])


@pytest.mark.parametrize(("lean", "floor", "wall"), [(1.0, 0.2, 0.3), (0.7, 0.4, 0.3)])
def test_a_ladder_leaves_the_wall_where_its_load_ends(lean, floor, wall):
    def load(_, y):
        return sliding(*y, floor, wall)[2]

    def slide(_, y):
        return [y[1], sliding(*y, floor, wall)[0]]

    load.terminal, load.direction = True, -1
    own = solve_ivp(slide, (0, 3), [lean, 0.0], events=load, rtol=1e-11, atol=1e-13)
    start = {"P.a": lean, "P.x": HALF * cos(lean), "P.z": HALF * sin(lean)}
    options = {"start": start, "parameters": {"floor": floor, "wall": wall}, "rtol": 1e-10}
    run = liaison.simulate(LADDER, until=own.t[-1] + 0.05, atol=1e-12, **options)
    first = run.events[0]
    assert (first.name, first.what) == ("top", "opens")
    assert first.t == pytest.approx(own.t[-1], abs=1e-8)
    assert [first.q[2], first.v[2]] == pytest.approx(own.y[:, -1], abs=1e-8)


def test_a_rough_floor_holds_a_steep_ladder():
    """Against a smooth wall it stands where tan lean ≥ 1/(2 μ)."""
    for lean, stands in ((np.arctan(1 / 0.6) + 1e-3, True), (np.arctan(1 / 0.6) - 1e-3, False)):
        start = {"P.a": lean, "P.x": HALF * cos(lean), "P.z": HALF * sin(lean)}
        options = {"start": start, "parameters": {"floor": 0.3, "wall": 0.0}}
        run = liaison.simulate(LADDER, until=0.5, **options)
        assert (np.ptp(run["P.a"]) < 1e-12) == stands


@pytest.mark.parametrize(
    "options", [{}, {"method": "moreau", "step": 1e-3}], ids=["events", "steps"]
)
@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_no_leg_of_a_table_pulls(options, spin):
    """Its weight is nearly above one leg: the forces nearest zero would pull at another."""
    text = f"""
    gravity = [0, 0, -10] m/s^2 ;
    let table = body mass = 1 kg, center = [9.5, 9.5, 0] cm, inertia = [10, 10, 20] g*m^2 end ;
    let F = join earth and table with free end ;
    let legs = contact table and earth with box size = [20, 20, 2] cm, friction = 0.3 end ;
    start F.z = 1 cm ; start F.wz = {spin} rad/s ;
    """
    run = liaison.simulate(text, until=0.2, series=("contacts",), **options)
    loads = np.array([run[f"contacts.legs[{k}]"] for k in (1, 3, 5, 7)])
    assert loads.min() > -1e-7
    assert run["dissipated"].min() > -1e-6  # where slip ends it is what a step left of it
    if not spin:
        # loads are (t, 1/4 − t, 1/4 − t, 19/2 + t) N; of those ≥ 0 t = 0 is nearest zero
        assert np.sort(loads[:, -1]) == pytest.approx([0, 0.25, 0.25, 9.5], abs=1e-6)


def test_what_holds_a_table_stays_inside_its_bounds():
    """Pulled by 2 N of the 3 N that its legs can hold together; evenly shared, three could not."""
    text = """
    gravity = [0, 0, -10] m/s^2 ;
    let table = body mass = 1 kg, center = [9, 9, 0] cm, inertia = [10, 10, 20] g*m^2 end ;
    let F = join earth and table with free end ;
    let legs = contact table and earth with box size = [20, 20, 2] cm, friction = 0.3 end ;
    apply force value = [2, 0, 0] N, body = earth end on [9, 9, 0] cm @ table ;
    start F.z = 1 cm ;
    """
    run = liaison.simulate(text, until=0.1, series=("contacts",))
    assert not run.events
    legs = [f"contacts.legs[{k}]" for k in (1, 3, 5, 7)]
    loads = np.array([run[leg] for leg in legs])
    along, across = (np.array([run[f"{leg}: sliding {x}"] for leg in legs]) for x in "xy")
    assert np.all(np.hypot(along, across) <= 0.3 * loads + 1e-8)
    assert along.sum(axis=0) == pytest.approx(-2, abs=1e-8)
    assert across.sum(axis=0) == pytest.approx(0, abs=1e-8)
    assert loads.sum(axis=0) == pytest.approx(10, abs=1e-8)
