"""Forces of contacts that repeat each other lie inside their bounds, whatever slips elsewhere."""

import numpy as np
import pytest

import liaison

RESTING = """
gravity = [0, 0, -9.81] m/s^2 ;
let rod = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = 0.08 kg*m^2 end ;
let A = join earth and rod with revolute axis = [0, 1, 0] end ;
let stop = require A <= 20 deg ;
let fr = apply friction dry = 0.01 N*m, static = 0.012 N*m end on A ;
start A = 20 deg ;
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let P = join [3, 0, 0] m @ earth and b with link(x, z) dof = [x, 0, z] end ;
let floor = contact b and earth with ball radius = 5 cm, friction = 0.4 end ;
start P.z = 5 cm ;
start P.x' = 1 m/s ;
"""


@pytest.mark.parametrize("options", [{"method": "moreau", "step": 1e-3}, {}])
def test_a_stop_carries_what_friction_cannot(options):
    """The rod's weight rests on its stop; dry friction there takes 12 N·mm at most.

    A ball that slides on another body changes nothing of it.
    """
    run = liaison.simulate(RESTING, until=0.05, every=0.01, **options)
    weight = 9.81 * 0.5 * np.cos(np.radians(20))
    friction = run["contacts.fr"][1:]
    assert np.max(np.abs(friction)) <= 0.012 * (1 + 1e-9)
    assert run["contacts.stop"][1:] - friction == pytest.approx(weight, abs=1e-8)
    assert run["contacts.floor"][1:] == pytest.approx(9.81, abs=1e-8)


def table(friction):
    """A table that turns and slides on six legs."""
    legs = "".join(
        f"""
        let p{k} = [{0.5 * np.cos(k * np.pi / 3):.15f}, {0.5 * np.sin(k * np.pi / 3):.15f}, -0.45] m
            @ b ;
        let c{k} = contact p{k} and earth with ball radius = 5 cm, friction = {mu} end ;"""
        for k, mu in enumerate(friction)
    )
    return f"""
    gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 20 kg, inertia = [2, 2, 3] kg*m^2 end ;
    let F = join earth and b with free end ;
    start F.z = 0.5 m ; start F.wz = 6 rad/s ; start F.vx = 0.3 m/s ;{legs}
    """


def test_legs_that_slip_share_a_load_alike_in_steps_and_from_event_to_event():
    """Loads of six legs with other coefficients each are not unique, and the brake depends on them.

    Recorded forces of Moreau's steps are those by which the table moves.
    """
    text = table([0.2, 0.34, 0.48, 0.62, 0.76, 0.9])
    exact = liaison.simulate(text, until=0.1, every=0.02)
    run = liaison.simulate(text, until=0.1, step=5e-4, method="moreau")
    loads = [f"contacts.c{k}" for k in range(6)]
    assert [run[x][-1] for x in loads] == pytest.approx([exact[x][-1] for x in loads], rel=1e-4)
    assert run.v[-1] == pytest.approx(exact.v[-1], abs=3e-4)  # 3e-3 with other loads
    over = [x for x in liaison.verify(text, run).theorems if x.name.endswith("over time")]
    assert max(x.error for x in over) < 6e-4  # 3e-3, whatever the step
