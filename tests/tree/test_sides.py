"""One-sided rows: signs by simple cases, rates and accelerations against differentiation."""

import numpy as np
import pytest

from liaison.expr import as_expr, evaluate, symbol
from liaison.formats import read_lsd
from liaison.tree import Kinematics, relation_row, side_blocks, span

BALL = """
let table = body mass = 5 kg, inertia = [1, 1, 2] kg*m^2 end ;
let T = join earth and table with revolute axis = [1, 1, 5] end ;
let ball = body mass = 1 kg, inertia = 0.004 kg*m^2, center = [1, 2, 0] cm end ;
let F = join earth and ball with free end ;
let floor = contact ball and 20 deg || [0, 1, 0] @ table with ball
  radius = 10 cm, friction = 0.3, restitution = 0.5 end ;
"""
DISC = BALL.replace("with ball\n  radius", "with disc axis = [0, 1, 0],\n  radius")
POINT = BALL.replace("with ball\n  radius = 10 cm,", "with point")
PUCK = """
let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
let S = join earth and puck with planar end ;
let wall = require S.x <= 2 m ;
let blade = require sin(S.angle)*S.x' - cos(S.angle)*S.y' <= 0.1 m/s ;
"""


def sides_of(text):
    """Blocks of a text, with its symbols and N v."""
    tree = span(read_lsd(text))
    q = np.array([symbol(label.name) for label in tree.position_labels()])
    v = np.array([symbol(label.name) for label in tree.velocity_labels()])
    qdot = []
    for node in tree.nodes:
        qdot += [as_expr(x) for x in node.joint.type.kinematic_map(q[node.q]) @ v[node.v]]
    return q, v, qdot, side_blocks(Kinematics(tree, q, v), qdot)


def at_random(q, v, seed=3):
    """Numbers for the symbols, quaternions of unit length."""
    rng = np.random.default_rng(seed)
    values = {x: rng.uniform(-1, 1) for x in (*q, *v)}
    parts = [x for x in q if ".q" in x.name]
    length = np.sqrt(sum(values[x] ** 2 for x in parts))
    return values | {x: values[x] / length for x in parts}


@pytest.mark.parametrize("text", [BALL, DISC, POINT, PUCK], ids=["ball", "disc", "point", "puck"])
def test_rows_are_what_differentiation_gives(text):
    q, v, qdot, blocks = sides_of(text)
    at = at_random(q, v)
    for row in (row for block in blocks for row in block.rows):
        formula = as_expr(row.rate if row.value is None else row.value)
        again = relation_row(formula, q, v, qdot, of_speeds=row.value is None)
        pairs = [(row.rate, again.rate), (row.gamma, again.gamma), (row.nu, again.nu)]
        pairs += [(row.G.get(j, 0), again.G.get(j, 0)) for j in range(len(v))]
        for a, b in pairs:
            a, b = evaluate([as_expr(a), as_expr(b)], at)
            assert a == pytest.approx(b, abs=1e-12)


def test_the_allowed_side_is_positive():
    q, v, _, blocks = sides_of(PUCK)
    assert [(x.name, x.kind, x.load) for x in blocks] == [
        ("wall", "gap", None), ("blade", "rate", None)]  # fmt: skip
    x, y, angle = 0.5, 0.0, 0.0
    at = dict(zip([*q, *v], [x, y, angle, 1.0, 3.0, 0.0], strict=True))
    wall, blade = blocks[0].rows[0], blocks[1].rows[0]
    # 1.5 m before the wall, and nearer by 1 m a second
    assert evaluate([as_expr(wall.value), as_expr(wall.rate)], at) == [1.5, -1.0]
    # W v + w = −3 − 0.1
    assert evaluate([as_expr(blade.rate), as_expr(blade.nu)], at) == pytest.approx([3.1, -0.1])


def test_a_ball_on_the_ground_has_a_gap_and_a_slip():
    q, v, _, blocks = sides_of("""
    let ball = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
    let F = join earth and ball with free end ;
    let floor = contact ball and earth with ball
      radius = 10 cm, friction = 0.3, restitution = 0.5 end ;
    """)
    assert [(x.name, x.owner, x.kind, x.load, len(x.rows)) for x in blocks] == [
        ("floor", "floor", "gap", None, 1),
        ("floor: sliding", "floor", "friction", 0, 2),
    ]
    assert (blocks[0].restitution, blocks[1].friction) == (0.5, 0.3)
    at = dict.fromkeys((*q, *v), 0.0)
    named = {x.name: x for x in (*q, *v)}
    at |= {named["F.z"]: 1.5, named["F.qw"]: 1.0, named["F.wy"]: 2.0, named["F.vx"]: 0.2}
    found = [as_expr(blocks[0].rows[0].value), *(as_expr(row.rate) for row in blocks[1].rows)]
    # it slips by v − r ω: 0.2 m/s − 0.1 m · 2 rad/s
    assert evaluate(found, at) == pytest.approx([1.4, 0.0, 0.0], abs=1e-15)


def test_without_friction_nothing_slips():
    _, _, _, blocks = sides_of(POINT.replace("friction = 0.3, ", ""))
    assert [x.name for x in blocks] == ["floor"]
