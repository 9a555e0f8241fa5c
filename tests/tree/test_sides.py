"""One-sided rows: signs by simple cases, rates and accelerations against differentiation."""

import numpy as np
import pytest

from liaison.errors import ModelError
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


GROUPS = ("friction = 0.3, restitution = 0.5",
          "friction = 0.3, rolling = 1 mm, pivoting = 2 mm")  # fmt: skip
HILLS = "surface = 5 cm * sin(x/(50 cm)) * cos(y/(1 m))"
OVAL = "curve = [50 cm*cos(s), 40 cm*sin(s)], span = [0, 2*pi]"
CAM = "profile = 30 cm + 2 cm*cos(2*angle)"
ALL = {
    "ball": BALL.replace(*GROUPS),
    "disc": DISC.replace(*GROUPS),
    "point": POINT,
    "puck": PUCK,
    "cylinder": DISC.replace("with disc", "with cylinder length = 5 cm,").replace(*GROUPS),
    "box": POINT.replace("with point", "with box size = [1, 2, 3] cm,"),
    "ball on a ball": BALL.replace("10 cm,", "10 cm, outside = 30 cm,").replace(*GROUPS),
    "ball in a ball": BALL.replace("10 cm,", "10 cm, inside = 3 m,").replace(*GROUPS),
    "corners in a ball": POINT.replace("point", "box size = [1, 0, 3] cm, inside = 2 m,"),
    "point on a surface": POINT.replace(
        "with point", "with point surface = 20 cm * sin(x/(50 cm)) * cos(y/(1 m)),"
    ).replace(*GROUPS),
    "ball on a surface": BALL.replace("10 cm,", f"10 cm, {HILLS},").replace(*GROUPS),
    "disc on a surface": DISC.replace("10 cm,", f"10 cm, {HILLS},").replace(*GROUPS),
    "cylinder on a surface": DISC.replace("with disc", "with cylinder length = 5 cm,").replace(
        "10 cm,", f"10 cm, {HILLS},"
    ),
    "ball on a profile": BALL.replace("10 cm,", f"10 cm, {CAM},").replace(*GROUPS),
    "ball on a curve": BALL.replace("10 cm,", f"10 cm, {OVAL},").replace(*GROUPS),
    "point on a profile": POINT.replace("with point", f"with point {CAM},"),
    "ellipsoid": POINT.replace("with point", "with ellipsoid size = [1, 2, 3] m,").replace(*GROUPS),
    "capsule": DISC.replace("with disc", "with capsule length = 5 cm,").replace(*GROUPS),
    **{
        f"{what.split()[0]} {side} a ball": DISC.replace(
            "with disc", f"with {what} {side} = {r} cm,"
        ).replace(*GROUPS)
        for what in ("disc", "cylinder length = 5 cm,", "capsule length = 5 cm,")
        for side, r in (("outside", 30), ("inside", 300))
    },
    "ball on a block": BALL.replace("10 cm,", "10 cm, block = [30, 20, 10] cm,").replace(*GROUPS),
    "corners on a block": POINT.replace(
        "with point", "with box size = [1, 0, 3] cm, block = [4, 4, 4] m,"
    ),
    "point on a plate": POINT.replace("with point", "with point block = [4, 4, 0] m,"),
    "rod on a rod": DISC.replace(
        "with disc", "with capsule length = 2 m, outside = 5 cm, along = 3 m,"
    ),
    "ball on a rod": BALL.replace("10 cm,", "10 cm, outside = 5 cm, along = 1 m,").replace(*GROUPS),
    "rod in a tube": DISC.replace(
        "with disc", "with capsule length = 5 cm, inside = 2 m, along = 1 m,"
    ),
    "edges": POINT.replace("with point", "with edge length = 8 m, edge = 8 m,"),
    "box on a ball": POINT.replace("with point", "with box size = [1, 2, 3] cm, outside = 30 cm,"),
    "joints": """
    let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let c = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let A = join earth and a with revolute axis = [1, 2, 3] end ;
    let B = join [1, 0, 0] m @ a and b with spherical end ;
    let C = join [1, 2, 0] m @ b and c with prismatic axis = [0, 1, 2] end ;
    apply friction coefficient = 0.3, radius = 2 cm end on A ;
    apply friction coefficient = 0.3, radius = 2 cm end on B ;
    apply friction coefficient = 0.3 end on C ;
    apply friction dry = if(t, 2 N, 3 N), static = 5 N end on C ;
    contact gap = C + A*(1 m), slip = [A'*(1 m), C' - 2 m/s], friction = 0.3 end ;
    """,
}


@pytest.mark.parametrize("text", ALL.values(), ids=[*ALL])
def test_rows_are_what_differentiation_gives(text):
    q, v, qdot, blocks = sides_of(text)
    at = at_random(q, v)
    for row in (row for block in blocks for row in block.rows):
        formula = as_expr(row.rate if row.value is None else row.value)
        if row.value is not None and evaluate([formula], at) == [1.0]:
            continue  # nothing is near: its rate is that of what would be
        again = relation_row(formula, q, v, qdot, of_speeds=row.value is None)
        pairs = [(row.rate, again.rate), (row.gamma, again.gamma), (row.nu, again.nu)]
        pairs += [(row.G.get(j, 0), again.G.get(j, 0)) for j in range(len(v))]
        for a, b in pairs:
            a, b = evaluate([as_expr(a), as_expr(b)], at | {symbol("t"): 0.3})
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


def values(blocks, at):
    """Gaps of all blocks."""
    return [evaluate([as_expr(x.rows[0].value)], at)[0] for x in blocks if x.kind == "gap"]


FREE = """
let one = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
let F = join earth and one with free end ;
contact one and earth with {} end ;
"""


def still(q, v, **given):
    """All at zero but what is given, upright; labels with _ for the dot."""
    named = {x.name: x for x in (*q, *v)}
    at = dict.fromkeys((*q, *v), 0.0) | {named["F.qw"]: 1.0}
    return at | {named[label.replace("_", ".")]: x for label, x in given.items()}


@pytest.mark.parametrize(
    ("what", "place", "gaps"),
    [
        ("box size = [2, 4, 6] m", (0, 0, 5), [2.0, 8.0] * 4),
        ("box size = [2, 0, 6] m", (0, 0, 5), [2.0, 8.0] * 2),  # flat
        ("ball radius = 1 m, outside = 2 m", (3, 0, 4), [2.0]),
        ("ball radius = 1 m, inside = 7 m", (3, 0, 4), [1.0]),
        ("point surface = 3/4*x + 1 m", (4, 7, 9), [4.0]),  # 5 m above a slope 3 : 4
        ("cylinder radius = 2 m, length = 6 m, axis = [0, 1, 0]", (1, 2, 3), [1.0, 1.0]),
        ("capsule radius = 2 m, length = 6 m, axis = [0, 1, 0]", (1, 2, 3), [1.0, 1.0]),
        ("ellipsoid size = [2, 4, 6] m", (1, 2, 5), [2.0]),
        ("ball radius = 1 m, surface = 3/4*x + 1 m", (4, 7, 9), [3.0]),
        ("disc radius = 1 m, axis = [0, 1, 0], surface = 3/4*x + 1 m", (4, 7, 9), [3.0]),
        ("ball radius = 1 m, profile = 2 m", (3, 4, 7), [2.0]),
        ("ball radius = 1 m, curve = [2 m*cos(s), 2 m*sin(s)], span = [0, 2*pi]", (3, 4, 7), [2.0]),
        (
            "ball radius = 1 m, curve = [-s*(1 m), s^2*(1 m)], span = [-3, 3]",
            (0, 3, 1),
            [np.sqrt(2.75) - 1],
        ),
        ("disc radius = 1 m, outside = 1 m", (0, 0.5, 3), [2.0]),  # its face
        ("disc radius = 1 m, outside = 1 m", (0, 4, 4), [4.0]),  # its rim, 3 : 4
        ("cylinder radius = 1 m, length = 2 m, outside = 1 m", (0, 4, 5), [4.0]),
        ("cylinder radius = 1 m, length = 4 m, outside = 1 m", (0, 4, 1), [2.0]),  # its side
        ("capsule radius = 1 m, length = 2 m, outside = 1 m", (0, 3, 5), [3.0]),
        ("box size = [2, 4, 6] m, outside = 1 m", (0, 1, 8), [4.0]),  # a face
        ("box size = [2, 4, 6] m, outside = 1 m", (0, 5, 7), [4.0]),  # an edge
        ("disc radius = 1 m, inside = 9 m", (0, 3, 3), [4.0]),  # a rim at 3 : 4
        ("cylinder radius = 3 m, length = 8 m, inside = 9 m", (0, 0, 0), [4.0, 4.0]),
        ("ball radius = 1 m, block = [2, 4, 6] m", (1, 0, 8), [4.0]),  # a face
        ("ball radius = 1 m, block = [2, 4, 6] m", (0, 5, 7), [4.0]),  # an edge
        ("ball radius = 1 m, block = [2, 4, 0] m", (1, 2, -5), [4.0]),  # a plate from below
        ("point block = [2, 4, 0] m", (0.5, 1, 3), [3.0]),
        ("point block = [2, 4, 6] m", (0.5, 1, 5), [1.0] * 5 + [2.0]),
        ("point block = [2, 4, 6] m", (-3, 1, 2), [2.0] + [1.0] * 5),
        (
            "capsule radius = 1 m, length = 4 m, axis = [1, 0, 0], outside = 2 m, along = 8 m",
            (1, 5, 3),
            [2.0],
        ),  # crossing
        (
            "capsule radius = 1 m, length = 4 m, axis = [1, 0, 0], outside = 2 m, along = 8 m",
            (5, 0, 8),
            [2.0],
        ),  # end to end, 3 : 4
        ("capsule radius = 1 m, length = 4 m, outside = 2 m, along = 8 m", (0, 5, 3), [2.0]),
        ("ball radius = 1 m, outside = 2 m, along = 8 m", (3, 0, 8), [2.0]),
        ("ball radius = 1 m, inside = 5 m, along = 8 m", (0, 2, 3), [2.0]),
        ("capsule radius = 1 m, length = 6 m, inside = 9 m", (4, 0, 0), [3.0, 3.0]),
    ],
)
def test_gaps_by_hand(what, place, gaps):
    q, v, _, blocks = sides_of(FREE.format(what))
    at = still(q, v, F_x=place[0], F_y=place[1], F_z=place[2])
    assert values(blocks, at) == pytest.approx(gaps)
    assert len({x.name for x in blocks}) == len(gaps)


@pytest.mark.parametrize("where", ["outside = 2 m", "inside = 9 m"])
@pytest.mark.parametrize("place", [(0, 0, 4), (0, 0, -4), (3, 0, 0), (-1, 2, 2)])
def test_tangents_of_a_ball_are_across_its_normal(where, place):
    q, v, _, blocks = sides_of(FREE.format(f"ball radius = 1 m, {where}, friction = 1"))
    at = still(q, v, F_x=place[0], F_y=place[1], F_z=place[2])
    rows = [row for block in blocks for row in block.rows]
    j = [x.name for x in v].index("F.vx")
    D = np.array([[evaluate([as_expr(row.G.get(j + k, 0))], at)[0] for k in range(3)]
                  for row in rows])  # fmt: skip
    # directions of the force on the ball, row by row: unit vectors across each other
    assert np.allclose(D @ D.T, np.eye(3), atol=1e-14)
    out = 1 if "outside" in where else -1
    assert D[0] == pytest.approx(out * np.array(place) / np.linalg.norm(place))


def test_a_ball_in_a_bowl_slips_where_it_touches():
    q, v, _, blocks = sides_of(FREE.format("ball radius = 1 m, inside = 9 m, friction = 1"))
    at = still(q, v, F_z=-8, F_vx=2, F_wy=3)
    gap, slip = blocks
    assert evaluate([as_expr(gap.rows[0].rate)], at) == [0.0]
    u = [evaluate([as_expr(row.rate)], at)[0] for row in slip.rows]
    # at the bottom v − r ω along x: 2 − 3
    assert np.linalg.norm(u) == pytest.approx(1.0)


def test_groups_of_friction_carry_their_coefficients():
    _, _, _, blocks = sides_of(FREE.format(
        "ball radius = 1 m, friction = 0.3, static = 0.4, across = 0.2, rolling = 1 mm, "
        "static_rolling = 2 mm, pivoting = 3 mm, static_pivoting = 4 mm, viscous = 5 N*s/m, "
        "viscous_rolling = 6 N*m*s/rad, viscous_pivoting = 7 N*m*s/rad, stribeck = 8 m/s, "
        "turning_speed = 9 rad/s"))  # fmt: skip
    told = [(x.name.rpartition(" ")[2], x.load, len(x.rows), x.friction, x.static, x.across,
             x.viscous, x.law, x.speed) for x in blocks[1:]]  # fmt: skip
    assert told == [
        ("sliding", 0, 2, 0.3, 0.4, 0.2, 5, "stribeck", 8),
        ("rolling", 0, 2, 0.001, 0.002, None, 6, "stribeck", 9),
        ("pivoting", 0, 1, 0.003, 0.004, None, 7, "stribeck", 9),
    ]


def test_every_corner_bounds_its_own_friction():
    _, _, _, blocks = sides_of(FREE.format("box size = [1, 1, 1] m, friction = 0.3"))
    assert [x.name for x in blocks[:4]] == [
        "box[1]", "box[1]: sliding", "box[2]", "box[2]: sliding"]  # fmt: skip
    assert all(
        blocks[x.load].name == x.name.partition(":")[0] for x in blocks if x.load is not None
    )


def test_friction_of_joints_has_its_rate_and_its_bound():
    q, v, _, blocks = sides_of(ALL["joints"])
    at = at_random(q, v) | {symbol("t"): 1.0}
    told = {x.name: x for x in blocks}
    pivot, ball, slider = (told[f"friction_on_{x}"] for x in "ABC")
    assert [(x.joint, x.arm, len(x.rows)) for x in (pivot, ball, slider)] == [
        ("A", 0.02, 1), ("B", 0.02, 3), ("C", 1, 1)]  # fmt: skip
    named = {x.name: x for x in v}
    assert pivot.rows[0].rate == named["A'"]
    assert evaluate([as_expr(slider.rows[0].rate)], at) == pytest.approx([at[named["C'"]]])
    turning = np.linalg.norm([evaluate([as_expr(x.rate)], at)[0] for x in ball.rows])
    assert turning == pytest.approx(np.linalg.norm([at[named[f"B.w{x}"]] for x in "xyz"]))
    brake = told["friction_on_C_2"]
    assert (brake.load, brake.joint, brake.static) == (None, "", 5)
    assert evaluate([as_expr(brake.friction)], at) == [2.0]


@pytest.mark.parametrize(
    ("what", "push"),
    [
        ("disc radius = 1 m, friction = 0.3, rolling = 1 mm", [0, 0, 0, 0, 0, 1]),  # on its center
        ("ball radius = 1 m, inside = 9 m, friction = 0.3", [0] * 6),  # nothing is near
    ],
)
def test_where_there_is_no_lowest_point_and_no_normal_rows_have_values(what, push):
    q, v, _, blocks = sides_of(FREE.format(what))
    at = still(q, v, F_wx=1, F_wy=2, F_vx=3)
    rows = [row for block in blocks for row in block.rows]
    told = [x for row in rows for x in (row.rate, row.gamma, *row.G.values())]
    assert np.isfinite(evaluate([as_expr(x) for x in told], at)).all()
    D = [evaluate([as_expr(rows[0].G.get(j, 0))], at)[0] for j in range(6)]
    assert push == D


def test_a_disc_that_is_nearly_flat_touches_with_its_rim():
    q, v, _, blocks = sides_of(FREE.format("disc radius = 1 m"))
    named = {x.name: x for x in q}
    tilt = 1e-6
    at = still(q, v, F_z=1, F_wx=1)
    at |= {named["F.qw"]: np.cos(tilt / 2), named["F.qx"]: np.sin(tilt / 2)}
    gap, rate = evaluate([as_expr(blocks[0].rows[0].value), as_expr(blocks[0].rows[0].rate)], at)
    # the rim is lower by sin of the slope, and sinks with it
    assert gap == pytest.approx(1 - 1e-6, abs=1e-12)
    assert rate == pytest.approx(-1, abs=1e-9)


def test_a_disc_on_a_profile_stays_in_its_plane():
    text = FREE.format("disc radius = 1 m, profile = 2 m")
    with pytest.raises(ModelError, match="their axes do not stay parallel"):
        sides_of(text)
    planar = text.replace("with free", "with planar")
    assert len(sides_of(planar)[-1]) == 1
