"""Wheels and balls that roll: rows against differentiation, energy, and a published run."""

from fractions import Fraction

import numpy as np
import pytest

from liaison import simulate
from liaison.equations import newton_euler
from liaison.errors import ModelError
from liaison.expr import as_expr, evaluate, symbols_of
from liaison.formats import read_lsd
from liaison.model import Marker, Rolling
from liaison.tree import Kinematics, closure_rows, relation_row, span

DISC = """
gravity = [0, 0, -9.80665] m/s^2 ;
let wheel = body mass = 2 kg, inertia = [0.12, 0.06, 0.12] kg*m^2 end ;
let F = join earth and wheel with free end ;
let R = couple wheel and earth with rolling_disc radius = 0.3 m, axis = [0, 1, 0] end ;
start F.x = 0.2 m ; start F.y = 0.2 m ; start F.z = 0.3 m ;
start F.wx = 1 rad/s ; start F.wy = 5 rad/s ; start F.wz = 0 ;
"""
BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let table = body mass = 5 kg, inertia = [1, 1, 2] kg*m^2 end ;
let T = join earth and table with revolute axis = [1, 1, 5] end ;
let ball = body mass = 1 kg, inertia = 0.004 kg*m^2, center = [1, 2, 0] cm end ;
let F = join earth and ball with free end ;
let R = couple ball and 20 deg || [0, 1, 0] @ table with rolling_ball radius = 10 cm end ;
start T = 0.2 rad ; start T' = 1 rad/s ;
"""


def rows_of(text):
    tree = span(read_lsd(text))
    symbols = newton_euler(tree).symbols
    q, v = np.array(symbols.q), np.array(symbols.v)
    kinematics = Kinematics(tree, q, v)
    qdot = []
    for node in tree.nodes:
        qdot += list(node.joint.type.kinematic_map(q[node.q]) @ v[node.v])
    return q, v, [as_expr(x) for x in qdot], closure_rows(kinematics, qdot)


@pytest.mark.parametrize("text", [DISC, BALL], ids=["disc", "ball"])
def test_rows_of_rolling_are_what_differentiation_gives(text):
    q, v, qdot, rows = rows_of(text)
    rng = np.random.default_rng(3)
    values = {x: rng.uniform(-1, 1) for x in (*q, *v)}
    names = [label.name for label, _ in rows]
    assert names == ["R: contact", "R: slip along x", "R: slip along y"]
    for _, row in rows:
        formula = as_expr(row.rate if row.value is None else row.value)
        again = relation_row(formula, q, v, qdot, of_speeds=row.value is None)
        # off the unit sphere a quaternion's rows differ: compare on it
        pairs = [(row.rate, again.rate), (row.gamma, again.gamma)]
        pairs += [(row.G.get(j, 0), again.G.get(j, 0)) for j in range(len(v))]
        at = {**values, **unit_quaternion(q, values)}
        for a, b in pairs:
            a, b = evaluate([as_expr(a), as_expr(b)], at)
            assert a == pytest.approx(b, abs=1e-12)


def unit_quaternion(q, values):
    """The attitude in the values, made a unit."""
    parts = [x for x in q if x.name.startswith("F.q")]
    length = np.sqrt(sum(values[x] ** 2 for x in parts))
    return {x: values[x] / length for x in parts}


@pytest.mark.parametrize("text", [DISC, BALL], ids=["disc", "ball"])
def test_rolling_keeps_the_energy(text):
    run = simulate(read_lsd(text), until=1.0)
    energy = run.series["energy"].values.sum(axis=1)
    # tolerances 1e-8 and 1e-10 of the run, on 10 J
    assert np.ptp(energy) < 1e-6
    assert np.abs(run.series["position_residual"].values).max() < 1e-8
    assert np.abs(run.series["velocity_residual"].values).max() < 1e-8


def test_the_rolling_wheel_of_the_modelica_library():
    run = simulate(read_lsd(DISC), until=2.0, every=1.0)
    # an independent integration, good to nine digits; a Dymola run agrees to four
    assert run["F.x"][1:] == pytest.approx([0.70057939066, -0.83939067774], abs=1e-7)
    assert run["F.y"][1:] == pytest.approx([-0.70935886593, -0.43261897919], abs=1e-7)
    assert run["F.z"][1:] == pytest.approx([0.24246627419, 0.21921134134], abs=1e-7)


def test_a_ball_rolls_down_a_slope_as_a_slider_with_more_mass():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let ball = body mass = 2 kg, inertia = 2/5 * 2 kg * (5 cm)^2 end ;
    let slope = 30 deg || [0, 1, 0] @ earth ;
    let F = join slope and ball with free end ;
    couple ball and slope with rolling_ball radius = 5 cm end ;
    start F.z = 5 cm ;
    """
    run = simulate(read_lsd(text), until=1.0)
    # g sin 30° / (1 + 2/5)
    assert run["F.x"][-1] == pytest.approx(9.81 * 0.5 / 1.4 / 2, rel=1e-8)


def test_wheels_are_refused_by_their_names():
    on = Marker("wheel")
    with pytest.raises(ModelError, match="radius of rolling 'R' is -1 m"):
        Rolling("R", on, -1, Marker("ground"))
    with pytest.raises(ModelError, match="disc or a ball"):
        Rolling("R", on, Fraction(1, 3), Marker("ground"), "cube")
    with pytest.raises(ModelError, match="on itself"):
        Rolling("R", on, 1, on)


def test_symbols_of_the_template_do_not_stay():
    _, _, _, rows = rows_of(DISC)
    names = {x.name for _, row in rows for x in symbols_of([as_expr(row.gamma)])}
    assert not any(name.startswith("closure.") for name in names)
