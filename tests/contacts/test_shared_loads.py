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
